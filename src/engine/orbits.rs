//! Candidates, the vectors of k counts that sum to n, and pairs of them, up to exchange of categories.
//!
//! Groups of categories are given. What exchanges within them make of a candidate is its orbit.

use crate::posterior::model::Counts;

/// The places of candidates in lexicographic order.
pub struct Places {
    /// The number of categories.
    pub k: usize,
    pub n: u64,
    /// How many ways there are to divide m records among p categories, at p (n + 1) + m.
    ways: Vec<usize>,
}

impl Places {
    /// Of the candidates of n records in k categories.
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
        Self { k, n, ways }
    }

    /// Among the vectors of `categories` counts that sum to `left`: how many begin with less than `count`.
    #[inline]
    pub fn before(&self, categories: usize, left: usize, count: usize) -> usize {
        let of = |m: usize| self.ways[categories * (self.n as usize + 1) + m];
        of(left) - of(left - count)
    }

    /// The place of a candidate. Its last count, which the others determine, may be left out.
    pub fn of(&self, counts: &[u64]) -> usize {
        let (mut left, mut place) = (self.n as usize, 0);
        for (i, &count) in counts.iter().enumerate() {
            let count = count as usize;
            place += self.before(self.k - i, left, count);
            left -= count;
        }
        place
    }
}

/// Calls `visit` with all candidates in lexicographic order.
pub fn for_each_candidate(k: usize, n: u64, mut visit: impl FnMut(&[u64])) {
    let mut r = vec![0; k];
    r[k - 1] = n;
    loop {
        visit(&r);
        // The last category gives one record to the nearest one before it that can take one.
        let Some(gives) = (1..k).rev().find(|&i| r[i] > 0) else { break };
        let given = std::mem::take(&mut r[gives]);
        r[gives - 1] += 1;
        r[k - 1] = given - 1;
    }
}

/// The orbits of all candidates, in the order of their first members.
pub struct Orbits {
    /// The places of candidates.
    pub places: Places,
    /// One candidate of each orbit, one after the other: see [`descending`].
    members: Vec<u64>,
    /// The place of the first candidate of each orbit.
    pub firsts: Vec<u32>,
    /// How many candidates each orbit has.
    pub sizes: Vec<f64>,
    /// The orbit of every candidate, by its place.
    pub of: Vec<u32>,
    /// Where every row starts: the candidates that differ in their last two counts only.
    pub rows: Vec<usize>,
}

impl Orbits {
    /// The orbits of the candidates of n records in k categories.
    pub fn new(k: usize, n: u64, groups: &[Vec<usize>]) -> Self {
        let (places, mut place) = (Places::new(k, n), 0);
        let of = vec![u32::MAX; places.ways[k * (n as usize + 1) + n as usize]];
        let (members, firsts, sizes) = (Vec::new(), Vec::new(), Vec::new());
        let mut orbits = Self { places, members, firsts, sizes, of, rows: Vec::new() };
        for_each_candidate(k, n, |r| {
            if r[k - 2] == 0 {
                orbits.rows.push(place);
            }
            let [member] = descending(groups, [r.to_vec()]);
            let known = orbits.places.of(&member);
            if orbits.of[known] == u32::MAX {
                orbits.of[known] = orbits.len() as u32;
                orbits.members.extend(member);
                orbits.firsts.push(place as u32);
                orbits.sizes.push(0.0);
            }
            orbits.of[place] = orbits.of[known];
            orbits.sizes[orbits.of[known] as usize] += 1.0;
            place += 1;
        });
        orbits
    }

    /// How many orbits there are.
    pub fn len(&self) -> usize {
        self.sizes.len()
    }

    /// The candidate that represents an orbit.
    pub fn member(&self, orbit: usize) -> &[u64] {
        &self.members[orbit * self.places.k..][..self.places.k]
    }

    /// The value of every candidate's orbit.
    pub fn unfold(&self, values: &[f64]) -> Vec<f64> {
        self.of.iter().map(|&orbit| values[orbit as usize]).collect()
    }
}

/// The vectors after the exchange that makes the columns (the counts of one category in all of them) descend
/// within every group: of all vectors that are exchanged together, one choice.
pub fn descending<const M: usize>(groups: &[Vec<usize>], mut vectors: [Counts; M]) -> [Counts; M] {
    for group in groups {
        let column = |&i: &usize| std::array::from_fn(|m| vectors[m][i]);
        let mut columns: Vec<[u64; M]> = group.iter().map(column).collect();
        columns.sort_unstable_by(|a, b| b.cmp(a));
        for (&i, column) in group.iter().zip(columns) {
            vectors.iter_mut().zip(column).for_each(|(vector, count)| vector[i] = count);
        }
    }
    vectors
}

/// How many orders of the categories permute each group within itself.
pub fn orders(groups: &[Vec<usize>]) -> f64 {
    groups.iter().flat_map(|group| 1..=group.len()).map(|i| i as f64).product()
}

/// Every order of k categories that permutes each group within itself.
pub fn permutations(k: usize, groups: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let mut all = vec![(0..k).collect::<Vec<usize>>()];
    for group in groups {
        for place in 0..group.len() {
            let swap = |order: &Vec<usize>| {
                let swapped = |&with: &usize| {
                    let mut order = order.clone();
                    order.swap(group[place], with);
                    order
                };
                group[place..].iter().map(swapped).collect::<Vec<_>>()
            };
            all = all.iter().flat_map(swap).collect();
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::posterior::simplex::list_compositions;

    #[test]
    fn orbits_are_what_permutations_make_of_candidates() {
        for (k, n, groups) in [
            (2, 0, vec![vec![0, 1]]),
            (2, 9, vec![vec![0, 1]]),
            (3, 6, vec![]),
            (3, 7, vec![vec![0, 2]]),
            (4, 6, vec![vec![0, 3], vec![1, 2]]),
            (4, 7, vec![vec![0, 1, 2, 3]]),
            (5, 4, vec![vec![1, 2, 4]]),
        ] {
            let (all, orders) = (list_compositions(n, k), permutations(k, &groups));
            let orbit = |vectors: [&Counts; 2]| -> BTreeSet<[Counts; 2]> {
                let moved = |order: &Vec<usize>| {
                    vectors.map(|x| order.iter().map(|&i| x[i]).collect::<Counts>())
                };
                orders.iter().map(moved).collect()
            };
            let orbits = Orbits::new(k, n, &groups);
            let mut seen = Vec::new();
            for (place, x) in all.iter().enumerate() {
                assert_eq!(orbits.places.of(x), place);
                assert_eq!(orbits.places.of(&x[..k - 1]), place);
                let own = orbit([x, x]);
                if !seen.contains(&own) {
                    let number = seen.len();
                    assert_eq!(orbits.firsts[number] as usize, place);
                    assert_eq!(orbits.sizes[number], own.len() as f64);
                    // The last member in lexicographic order.
                    assert_eq!(own.last().unwrap()[0], orbits.member(number));
                    seen.push(own.clone());
                }
                assert_eq!(seen[orbits.of[place] as usize], own);
                let pair = [x, &all[all.len() / 2]];
                assert_eq!(Some(&descending(&groups, pair.map(Clone::clone))), orbit(pair).last(),);
            }
            assert_eq!(orbits.len(), seen.len());
        }
    }
}
