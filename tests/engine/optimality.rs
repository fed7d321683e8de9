//! When the tight mechanism is optimal, by flows: against reference values.

use crate::settings::of_size;
use engine::analysis::optimum::{self, FlowBound};
use engine::posterior::setting::Setting;

fn bound(setting: &Setting) -> FlowBound {
    optimum::check_by_flows(setting).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn the_tight_mechanism_becomes_optimal_where_the_reference_says() {
    let rows = include_str!("../golden/optimality.csv").lines().skip(1);
    let mut tested = 0;
    for row in rows {
        let cells: Vec<&str> = row.split(',').collect();
        let number = |place: usize| cells[place].parse::<f64>().expect("a number");
        let prior: Vec<f64> = cells[2].split(';').map(|a| a.parse().expect("a number")).collect();
        let at = |epsilon| bound(&of_size(&prior, number(1) as u64, epsilon, "hellinger"));
        // The reference has six digits.
        assert!(!at(number(3) - 1e-6).is_tight_optimal(), "{row}");
        assert!(at(number(4) + 1e-6).is_tight_optimal(), "{row}");
        tested += 1;
    }
    assert_eq!(tested, 17);
}

/// Costs are much larger than prices there, and rounding must not hide the proof.
#[test]
fn it_stays_optimal_at_a_large_epsilon() {
    for epsilon in [3.0, 8.0, 16.0] {
        for (prior, n) in [(vec![1.0; 3], 12), (vec![1.0; 4], 6), (vec![1.0; 2], 40)] {
            let found = bound(&of_size(&prior, n, epsilon, "hellinger"));
            assert!(found.is_tight_optimal(), "{prior:?} {n} {epsilon}: {found:?}");
        }
    }
}
