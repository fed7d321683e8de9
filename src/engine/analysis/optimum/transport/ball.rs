//! All candidates within some records of a centre.

use crate::orbits::{Orbits, Places};

/// Visits every candidate at most `radius` records from the one that represents the orbit `centre`, in lexicographic
/// order: its counts, its index, and how many records it is away.
pub fn ball(orbits: &Orbits, centre: usize, radius: u64, each: &mut dyn FnMut(&[u64], usize, u64)) {
    let (places, centre) = (&orbits.places, orbits.member(centre));
    let start = Part { left: places.n, more: 0, fewer: 0, rank: 0 };
    Walk { places, centre, radius }.descend(0, start, &mut vec![0; places.k], each);
}

struct Walk<'a> {
    places: &'a Places,
    centre: &'a [u64],
    radius: u64,
}

/// The counts that are chosen so far: the records that are left, those by which some exceed and some fall
/// short of the centre, and the index.
#[derive(Clone, Copy)]
struct Part {
    left: u64,
    more: u64,
    fewer: u64,
    rank: usize,
}

impl Walk<'_> {
    fn descend(
        &self,
        i: usize,
        part: Part,
        counts: &mut [u64],
        each: &mut dyn FnMut(&[u64], usize, u64),
    ) {
        let centre = self.centre[i];
        let Part { left, more, fewer, rank } = part;
        if i + 1 == counts.len() {
            let away = more + left.saturating_sub(centre);
            if away <= self.radius {
                counts[i] = left;
                each(counts, rank, away);
            }
            return;
        }
        let low = centre.saturating_sub(self.radius - fewer);
        let high = left.min(centre + self.radius - more);
        for count in low..=high {
            counts[i] = count;
            let next = Part {
                left: left - count,
                more: more + count.saturating_sub(centre),
                fewer: fewer + centre.saturating_sub(count),
                rank: rank + self.places.before(counts.len() - i, left as usize, count as usize),
            };
            self.descend(i + 1, next, counts, each);
        }
    }
}
