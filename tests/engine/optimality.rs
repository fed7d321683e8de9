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
