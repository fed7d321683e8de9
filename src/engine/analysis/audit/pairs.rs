//! The pairs of adjacent data sets that an audit looks at.

use crate::posterior::model::{Counts, compositions};
use crate::posterior::simplex::list_compositions;

/// Which data sets an audit covers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scope {
    /// All data sets of n records.
    All,
    /// Data sets with at most three records outside of one category (for k = 2: at most three
    /// records in the other one), against those of their neighbours that are such data sets too.
    /// The largest losses are often here, and there are few of them whatever n.
    Corners,
    /// One data set against all its neighbours.
    One(Counts),
    /// Two adjacent data sets.
    Pair(Counts, Counts),
}

/// The most records outside of the main category of a data set in [`Scope::Corners`].
const OUTSIDE: u64 = 3;

/// Two adjacent data sets: x, and x' = x − e_i + e_j.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pair {
    pub x: Counts,
    pub moved: Counts,
    /// i: the category that the record leaves.
    pub leaves: usize,
    /// j: the category that it enters.
    pub enters: usize,
}

/// Which pairs one pair may represent, because a mechanism does the same at all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Alike {
    /// Itself.
    Same,
    /// Those that differ from it by a permutation of the categories.
    Permuted,
    /// Those where the same counts change, of the first so many categories, which have noise.
    Changed(usize),
}

impl Pair {
    /// The pair, if category i has a record to give.
    fn new(x: &[u64], leaves: usize, enters: usize) -> Option<Self> {
        let mut moved = x.to_vec();
        moved[leaves] = moved[leaves].checked_sub(1)?;
        moved[enters] += 1;
        Some(Self { x: x.to_vec(), moved, leaves, enters })
    }

    /// Where the pair stands in a list.
    fn place(&self) -> (&Counts, usize, usize) {
        (&self.x, self.leaves, self.enters)
    }

    /// The pair of two data sets, if they are adjacent.
    pub fn between(x: &[u64], moved: &[u64]) -> Option<Self> {
        let leaves = x.iter().zip(moved).position(|(a, b)| a > b)?;
        let enters = x.iter().zip(moved).position(|(a, b)| a < b)?;
        Self::new(x, leaves, enters).filter(|pair| pair.moved == moved)
    }
}

impl Scope {
    /// Every unordered pair of the scope once, in a fixed order. Of pairs that are alike there may be
    /// one only: of those with the same changes the first.
    pub(super) fn pairs(&self, n: u64, k: usize, alike: Alike) -> Vec<Pair> {
        let symmetric = alike == Alike::Permuted;
        let moves = |i: usize| (0..k).filter(move |&j| j != i).map(move |j| (i, j));
        let downwards = |x: &Counts| -> Vec<Pair> {
            let moves = (0..k).flat_map(moves).filter(|&(i, j)| i < j);
            let moves = moves.filter(|&(i, j)| !symmetric || represents(x, i, j));
            moves.filter_map(|(i, j)| Pair::new(x, i, j)).collect()
        };
        match self {
            Self::All if symmetric => descending(n, k).iter().flat_map(downwards).collect(),
            Self::All => match alike {
                Alike::Changed(noisy) => changed(n, k, noisy),
                _ => list_compositions(n, k).iter().flat_map(downwards).collect(),
            },
            Self::Corners => corners(n, k)
                .iter()
                .filter(|x| !symmetric || is_descending(x))
                .flat_map(downwards)
                .filter(|pair| is_corner(&pair.moved))
                .collect(),
            Self::One(x) => {
                (0..k).flat_map(moves).filter_map(|(i, j)| Pair::new(x, i, j)).collect()
            }
            Self::Pair(x, moved) => Pair::between(x, moved).into_iter().collect(),
        }
    }

    /// The number of unordered pairs, symmetric or not.
    pub(super) fn size(&self, n: u64, k: usize) -> u64 {
        match (self, n.checked_sub(1)) {
            (_, None) => 0,
            // A pair is a data set without one record, and two categories for it.
            (Self::All, Some(others)) => {
                let pairs = compositions(others, k).unwrap_or(u128::MAX);
                let pairs = pairs.saturating_mul((k * (k - 1) / 2) as u128);
                u64::try_from(pairs).unwrap_or(u64::MAX)
            }
            _ => self.pairs(n, k, Alike::Same).len() as u64,
        }
    }
}

/// Whether a move of one record from i to j > i stands for all its permutations, x being sorted
/// with the largest count first.
///
/// Let y, y' = y − e_a + e_b be any pair. If y_a > y_b, the record leaves the larger count of y; else
/// it leaves the larger count of y' when the move is read backwards. Sorting the counts of y, or of
/// y', gives a pair with x_i > x_j, i < j. Among equal counts the last one gives the record and the
/// first one takes it.
fn represents(x: &[u64], i: usize, j: usize) -> bool {
    x[i] > x[j] && x[i] > x[i + 1] && x[j - 1] > x[j]
}

/// Of all pairs where the same counts of the first `noisy` categories change, the first.
fn changed(n: u64, k: usize, noisy: usize) -> Vec<Pair> {
    // The first data set has its records as late as possible: only the last three categories matter.
    let late: Vec<(usize, usize)> =
        (k.saturating_sub(3)..k).flat_map(|i| (i + 1..k).map(move |j| (i, j))).collect();
    let first = |a: u64, b: Option<u64>| {
        let pairs = late.iter().filter_map(|&(i, j)| {
            let mut x = vec![0; k];
            x[i] = a;
            let rest = n - a - b.unwrap_or(0);
            match b {
                Some(b) if j < noisy => {
                    x[j] = b;
                    let last = (0..k).rev().find(|category| ![i, j].contains(category));
                    match last {
                        Some(last) => x[last] = rest,
                        None if rest > 0 => return None,
                        None => {}
                    }
                }
                None if i < noisy && j >= noisy => x[j] = rest,
                _ => return None,
            }
            Pair::new(&x, i, j)
        });
        pairs.min_by(|a, b| a.place().cmp(&b.place()))
    };
    let seconds = |a: u64| {
        let both = match (noisy, k) {
            (0 | 1, _) => 1..1,
            (_, 2) => n - a..n - a + 1,
            _ => 0..n - a + 1,
        };
        both.map(Some).chain((noisy < k).then_some(None))
    };
    let from = |a: u64| seconds(a).filter_map(move |b| first(a, b)).collect::<Vec<_>>();
    let mut pairs: Vec<Pair> = (1..=n).flat_map(from).collect();
    pairs.sort_unstable_by(|a, b| a.place().cmp(&b.place()));
    pairs
}

fn is_corner(x: &[u64]) -> bool {
    let most = x.iter().copied().max().unwrap_or(0);
    x.iter().sum::<u64>() - most <= OUTSIDE
}

/// Every data set that is a corner, in lexicographic order.
fn corners(n: u64, k: usize) -> Vec<Counts> {
    let outside = n.min(OUTSIDE);
    let mut found: Vec<Counts> = (0..k)
        .flat_map(|main| {
            list_compositions(outside, k).into_iter().map(move |mut x| {
                x[main] += n - outside;
                x
            })
        })
        .filter(|x| is_corner(x))
        .collect();
    found.sort_unstable();
    found.dedup();
    found
}

fn is_descending(x: &Counts) -> bool {
    x.is_sorted_by(|a, b| a >= b)
}

/// The data sets of n records whose counts descend, in the order of [`list_compositions`].
fn descending(n: u64, k: usize) -> Vec<Counts> {
    fn extend(rest: u64, k: usize, head: &mut Counts, found: &mut Vec<Counts>) {
        let left = (k - head.len()) as u64;
        if left == 0 {
            found.push(head.clone());
            return;
        }
        let most = head.last().map_or(rest, |&last| rest.min(last));
        // The later counts are at most as large as this one.
        let least = if left == 1 { rest } else { rest.div_ceil(left) };
        for count in least..=most {
            head.push(count);
            extend(rest - count, k, head, found);
            head.pop();
        }
    }
    let mut found = Vec::new();
    extend(n, k, &mut Vec::with_capacity(k), &mut found);
    found
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn sorted_pair(pair: &Pair) -> (Counts, Counts) {
        (pair.x.clone().min(pair.moved.clone()), pair.x.clone().max(pair.moved.clone()))
    }

    fn permutations(k: usize) -> Vec<Vec<usize>> {
        let all_maps = list_compositions(k as u64 * (k as u64 - 1) / 2, k);
        let maps = all_maps.into_iter().map(|x| x.iter().map(|&v| v as usize).collect::<Vec<_>>());
        maps.filter(|map| (0..k).all(|i| map.contains(&i))).collect()
    }

    #[test]
    fn descending_data_sets_are_listed_in_order() {
        for (n, k) in [(0, 3), (1, 2), (9, 2), (8, 3), (7, 5)] {
            let all = list_compositions(n, k);
            let expected: Vec<Counts> = all.into_iter().filter(is_descending).collect();
            assert_eq!(descending(n, k), expected, "n = {n}, k = {k}");
        }
    }

    #[test]
    fn every_pair_once_and_every_corner() {
        for (n, k) in [(0, 2), (1, 2), (7, 2), (9, 2), (1, 3), (5, 3), (8, 3), (6, 4)] {
            let data = list_compositions(n, k);
            let direct: BTreeSet<_> = data
                .iter()
                .flat_map(|x| data.iter().map(move |y| (x.clone(), y.clone())))
                .filter(|(x, y)| x < y && crate::posterior::model::hamming_distance(x, y) == 1.0)
                .collect();
            let listed = Scope::All.pairs(n, k, Alike::Same);
            assert_eq!(listed.iter().map(sorted_pair).collect::<BTreeSet<_>>(), direct);
            assert_eq!(listed.len(), direct.len());
            assert_eq!(listed.len() as u64, Scope::All.size(n, k));
            let corners: BTreeSet<_> =
                direct.into_iter().filter(|(x, y)| is_corner(x) && is_corner(y)).collect();
            let listed = Scope::Corners.pairs(n, k, Alike::Same);
            assert_eq!(listed.iter().map(sorted_pair).collect::<BTreeSet<_>>(), corners);
            assert_eq!(listed.len(), corners.len());
        }
    }

    /// Of all pairs where the same counts of noisy categories change, there is the first.
    #[test]
    fn pairs_with_the_same_changes_are_listed_once() {
        for (n, k, noisy) in [
            (7, 2, 1),
            (9, 2, 2),
            (6, 3, 2),
            (8, 3, 3),
            (1, 3, 3),
            (5, 4, 3),
            (6, 4, 4),
            (4, 5, 5),
            (4, 6, 5),
            (0, 3, 2),
        ] {
            let changes =
                |pair: &Pair| [pair.leaves, pair.enters].map(|i| (i < noisy).then(|| pair.x[i]));
            let all = Scope::All.pairs(n, k, Alike::Same);
            let mut firsts: Vec<&Pair> = Vec::new();
            for pair in &all {
                if !firsts.iter().any(|first| changes(first) == changes(pair)) {
                    firsts.push(pair);
                }
            }
            let listed = Scope::All.pairs(n, k, Alike::Changed(noisy));
            assert_eq!(listed.iter().collect::<Vec<_>>(), firsts, "{n} {k} {noisy}");
        }
    }

    #[test]
    fn representatives_stand_for_every_pair_once() {
        for (n, k) in [(1, 2), (6, 2), (7, 2), (5, 3), (8, 3), (6, 4)] {
            for scope in [Scope::All, Scope::Corners] {
                let few = scope.pairs(n, k, Alike::Permuted);
                let orbits: Vec<BTreeSet<_>> = few
                    .iter()
                    .map(|pair| {
                        let permuted = |map: &Vec<usize>| {
                            let apply = |x: &Counts| map.iter().map(|&i| x[i]).collect::<Counts>();
                            let (x, y) = (apply(&pair.x), apply(&pair.moved));
                            (x.clone().min(y.clone()), x.max(y))
                        };
                        permutations(k).iter().map(permuted).collect()
                    })
                    .collect();
                let covered: usize = orbits.iter().map(BTreeSet::len).sum();
                let union: BTreeSet<_> = orbits.into_iter().flatten().collect();
                assert_eq!(covered, union.len(), "{scope:?} {n} {k}: a pair twice");
                assert_eq!(covered as u64, scope.size(n, k), "{scope:?} {n} {k}: a pair missing");
            }
        }
    }
}
