//! Dividing an experiment into shards.
//!
//! The rule depends on the experiment alone, never on measured rates: shards that different machines
//! and different builds of dpbi have made can be joined, as long as [`DIVISION`] is the same.

use std::cmp::Reverse;

use crate::experiment::{Case, Experiment, Layout};
use engine::posterior::model::compositions;

/// The version of the rule in this file. It is raised whenever a case moves to another shard: shards
/// of different versions are not joined.
pub const DIVISION: u32 = 1;

/// For every panel the shard (from 1) of each case, out of `count` shards.
///
/// The cases of a panel are sorted by their number of candidates |R| and then by their place, both
/// descending, and dealt out in snake order: to shards 1, …, N, then N, …, 1, and so on. Every panel
/// goes on where the one before it stopped. This divides any cost that grows with |R| evenly.
pub(super) fn divide(experiment: &Experiment, count: usize) -> Vec<Vec<usize>> {
    let candidates = |case: &Case| {
        let posterior = case.setting.posterior();
        compositions(posterior.n(), posterior.k()).unwrap_or(u128::MAX)
    };
    let panels = experiment.panels.iter();
    let panels: Vec<Vec<u128>> =
        panels.map(|panel| panel.cases.iter().map(candidates).collect()).collect();
    deal(&panels, count)
}

/// How many cases and cells each of `count` shards has.
pub fn shard_sizes(experiment: &Experiment, count: usize) -> Vec<(usize, u64)> {
    let mut sizes = vec![(0, 0); count.max(1)];
    for (panel, shards) in experiment.panels.iter().zip(divide(experiment, count)) {
        let cells = Layout::new(panel).cells_per_case();
        for shard in shards {
            sizes[shard - 1].0 += 1;
            sizes[shard - 1].1 += cells;
        }
    }
    sizes
}

/// The same as `divide`, given the number of candidates of every case, by panel.
fn deal(panels: &[Vec<u128>], count: usize) -> Vec<Vec<usize>> {
    let count = count.max(1);
    let mut dealt = 0;
    let deal_panel = |candidates: &Vec<u128>| {
        let mut largest_first: Vec<usize> = (0..candidates.len()).collect();
        largest_first.sort_by_key(|&case| Reverse((candidates[case], case)));
        let mut shards = vec![1; candidates.len()];
        for case in largest_first {
            let (round, place) = (dealt / count, dealt % count);
            shards[case] = if round % 2 == 0 { place + 1 } else { count - place };
            dealt += 1;
        }
        shards
    };
    panels.iter().map(deal_panel).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Held values. If they change, raise `DIVISION`.
    #[test]
    fn division_1_is_this() {
        assert_eq!(DIVISION, 1);
        let panels = [vec![10, 20, 30, 20, u128::MAX], vec![], vec![7; 4], vec![1]];
        let dealt = |count| deal(&panels, count);
        assert_eq!(dealt(1), [vec![1; 5], vec![], vec![1; 4], vec![1]]);
        assert_eq!(dealt(2), [vec![1, 1, 2, 2, 1], vec![], vec![1, 1, 2, 2], vec![2]]);
        assert_eq!(dealt(3), [vec![2, 3, 2, 3, 1], vec![], vec![3, 2, 1, 1], vec![3]]);
        assert_eq!(dealt(8), [vec![5, 4, 2, 3, 1], vec![], vec![8, 8, 7, 6], vec![7]]);
    }

    #[test]
    fn costs_that_grow_with_the_candidates_are_divided_evenly() {
        let candidates: Vec<u128> = (1..=1000).map(|i| i % 37).collect();
        for count in [1, 2, 3, 8, 100] {
            let shards = deal(std::slice::from_ref(&candidates), count).remove(0);
            for power in [0.5, 1.0, 2.0] {
                let cost = |case: usize| (candidates[case] as f64).powf(power);
                let fair = (0..1000).map(cost).sum::<f64>() / count as f64;
                for shard in 1..=count {
                    let own = (0..1000).filter(|&case| shards[case] == shard);
                    let load: f64 = own.map(cost).sum();
                    assert!((load / fair - 1.0).abs() < 0.15, "{shard} of {count}: {load}, {fair}");
                }
            }
        }
    }

    #[test]
    fn every_shard_has_as_many_cases_give_or_take_one() {
        let panels = [vec![3; 10], vec![5; 7], vec![1; 2]];
        for count in 1..=25 {
            let dealt = deal(&panels, count).concat();
            let cases = |shard| dealt.iter().filter(|&&of| of == shard).count();
            let cases: Vec<usize> = (1..=count).map(cases).collect();
            assert!(cases.iter().all(|&cases| cases.abs_diff(19 / count) <= 1), "{cases:?}");
        }
    }
}
