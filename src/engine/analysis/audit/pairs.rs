//! The pairs of adjacent data sets that an audit looks at.

use std::collections::HashSet;

use crate::mechanism::law::Pair;
use crate::parallel::steps;
use crate::posterior::model::{Counts, compositions, neighbours};
use crate::posterior::simplex::{Region, list_compositions};

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

impl Scope {
    /// Every unordered pair of the scope once, in a fixed order. Of pairs that are alike there may be
    /// one only: of those with the same changes the first.
    pub(super) fn pairs(&self, n: u64, k: usize, alike: Alike) -> Vec<Pair> {
        let symmetric = alike == Alike::Permuted;
        let stands = |pair: &Pair| !symmetric || represents(pair);
        let downwards = |x: &Counts| downwards(x).filter(stands).collect::<Vec<_>>();
        match (self, alike) {
            (Self::All, Alike::Changed(noisy)) => changed(n, k, noisy),
            (Self::All, _) => {
                let all = if symmetric { descending(n, k) } else { list_compositions(n, k) };
                steps(0..all.len()).flat_map(|index| downwards(&all[index])).collect()
            }
            (Self::Corners, _) => corners(n, k)
                .iter()
                .filter(|x| !symmetric || is_descending(x))
                .flat_map(downwards)
                .filter(|pair| is_corner(&pair.neighbour))
                .collect(),
            (Self::One(x), _) => {
                neighbours(x).filter_map(|neighbour| Pair::between(x, &neighbour)).collect()
            }
            (Self::Pair(x, neighbour), _) => Pair::between(x, neighbour).into_iter().collect(),
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

/// The pairs of x and what it becomes if a record moves to a later category.
fn downwards(x: &Counts) -> impl Iterator<Item = Pair> {
    let moves = (0..x.len()).flat_map(|i| (i + 1..x.len()).map(move |j| (i, j)));
    moves.filter_map(|(i, j)| Pair::new(x, i, j))
}

/// Whether a pair stands for all its permutations, x being sorted with the largest count first.
///
/// Let y, y' = y − e_a + e_b be any pair. If y_a > y_b, the record leaves the larger count of y; else
/// it leaves the larger count of y' when the move is read backwards. Sorting the counts of y, or of
/// y', gives a pair with x_i > x_j, i < j. Among equal counts the last one gives the record and the
/// first one takes it.
fn represents(pair: &Pair) -> bool {
    let Pair { x, leaves: i, enters: j, .. } = pair;
    x[*i] > x[*j] && x[*i] > x[i + 1] && x[j - 1] > x[*j]
}

/// Of all pairs where the same counts of the first `noisy` categories change, the first.
fn changed(n: u64, k: usize, noisy: usize) -> Vec<Pair> {
    // The first data set has its records as late as possible: only the last three categories matter.
    let late = k.min(3);
    let data_sets = list_compositions(n, late);
    let moves: Vec<(usize, usize)> =
        (0..late).flat_map(|i| (i + 1..late).map(move |j| (i, j))).collect();
    let mut seen = HashSet::new();
    let mut found = Vec::new();
    for index in steps(0..data_sets.len()) {
        let x = &data_sets[index];
        for &(i, j) in &moves {
            let [leaves, enters] = [i, j].map(|late_category| k - late + late_category);
            let changes = [(leaves, x[i]), (enters, x[j])];
            if x[i] > 0 && seen.insert(changes.map(|(at, count)| (at < noisy).then_some(count))) {
                found.extend(Pair::new(&[vec![0; k - late], x.clone()].concat(), leaves, enters));
            }
        }
    }
    found
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
    let reversed = |(x, _): (Counts, f64)| x.into_iter().rev().collect();
    let ascending = Region::simplex(n, k).folded(&vec![(); k]).list();
    let mut found: Vec<Counts> = ascending.into_iter().map(reversed).collect();
    found.sort_unstable();
    found
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::orbits::permutations;

    fn sorted_pair(pair: &Pair) -> (Counts, Counts) {
        (pair.x.clone().min(pair.neighbour.clone()), pair.x.clone().max(pair.neighbour.clone()))
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
        let sizes =
            [(0, 3), (1, 3), (7, 2), (9, 2), (6, 3), (8, 3), (5, 4), (6, 4), (4, 5), (4, 6)];
        for (n, k, noisy) in sizes.into_iter().flat_map(|(n, k)| [(n, k, k - 1), (n, k, k)]) {
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
                assert!(
                    few.is_sorted_by(|a, b| a.x <= b.x) && few.iter().all(|a| is_descending(&a.x))
                );
                let orbits: Vec<BTreeSet<_>> = few
                    .iter()
                    .map(|pair| {
                        let permuted = |map: &Vec<usize>| {
                            let apply = |x: &Counts| map.iter().map(|&i| x[i]).collect::<Counts>();
                            let (x, y) = (apply(&pair.x), apply(&pair.neighbour));
                            (x.clone().min(y.clone()), x.max(y))
                        };
                        permutations(k, &[(0..k).collect()]).iter().map(permuted).collect()
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
