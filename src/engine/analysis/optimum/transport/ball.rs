//! All candidates within some records of a centre.

/// The candidates of n records in k categories, in lexicographic order.
pub struct Lattice {
    k: usize,
    n: u32,
    /// How many ways there are to divide m records among p places, at p (n + 1) + m.
    ways: Vec<usize>,
}

impl Lattice {
    pub fn new(k: usize, n: u64) -> Self {
        let size = n as usize + 1;
        let mut ways = vec![0; size];
        ways[0] = 1;
        for places in 1..=k {
            for m in 0..size {
                let fewer = if m == 0 { 0 } else { ways[places * size + m - 1] };
                ways.push(fewer + ways[(places - 1) * size + m]);
            }
        }
        Self { k, n: n as u32, ways }
    }

    /// How many places come before those whose first of `places` counts is `count`, where `left` records are
    /// left.
    fn before(&self, places: usize, left: u32, count: u32) -> usize {
        let of = |m: u32| self.ways[places * (self.n as usize + 1) + m as usize];
        of(left) - of(left - count)
    }

    /// The place of a candidate.
    pub fn rank(&self, counts: &[u32]) -> usize {
        let (mut left, mut rank) = (self.n, 0);
        for (i, &count) in counts.iter().enumerate() {
            rank += self.before(self.k - i, left, count);
            left -= count;
        }
        rank
    }

    /// Visits every candidate at most `radius` records from `centre`: its counts, its place, and how many
    /// records it is away.
    pub fn ball(&self, centre: &[u32], radius: u32, each: &mut dyn FnMut(&[u32], usize, u32)) {
        let walk = Walk { lattice: self, centre, radius };
        walk.descend(
            0,
            Part { left: self.n, more: 0, fewer: 0, rank: 0 },
            &mut vec![0; self.k],
            each,
        );
    }
}

struct Walk<'a> {
    lattice: &'a Lattice,
    centre: &'a [u32],
    radius: u32,
}

/// The counts that are chosen so far: the records that are left, those by which some exceed and some fall
/// short of the centre, and the place.
#[derive(Clone, Copy)]
struct Part {
    left: u32,
    more: u32,
    fewer: u32,
    rank: usize,
}

impl Walk<'_> {
    fn descend(
        &self,
        i: usize,
        part: Part,
        counts: &mut [u32],
        each: &mut dyn FnMut(&[u32], usize, u32),
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
                rank: rank + self.lattice.before(counts.len() - i, left, count),
            };
            self.descend(i + 1, next, counts, each);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::posterior::model::hamming_distance;
    use crate::posterior::simplex::list_compositions;

    #[test]
    fn a_ball_has_what_is_near_each_at_its_place() {
        for (k, n, centre) in [(2, 5, vec![2, 3]), (3, 6, vec![1, 0, 5]), (4, 5, vec![2, 1, 2, 0])]
        {
            let lattice = Lattice::new(k, n);
            let all = list_compositions(n, k);
            for radius in 0..=n as u32 {
                let mut found = Vec::new();
                lattice.ball(&centre, radius, &mut |counts, rank, away| {
                    assert_eq!(lattice.rank(counts), rank);
                    found.push((rank, f64::from(away)));
                });
                let wide: Vec<u64> = centre.iter().map(|&c| u64::from(c)).collect();
                let away = all.iter().map(|x| hamming_distance(x, &wide)).enumerate();
                let expected: Vec<_> =
                    away.filter(|(_, away)| *away <= f64::from(radius)).collect();
                assert_eq!(found, expected);
            }
        }
    }
}
