//! The exact engine against reference values computed independently of it (`tests/golden`).

use crate::common::assert_close;
use dpbi::posterior::distance;
use dpbi::posterior::error_field::Reach;
use dpbi::posterior::model::{Posterior, Prior};
use dpbi::service::selftest::golden::{Comparison, GROUPS, compare_all};

/// How many values every group has: none is lost on the way.
const VALUES: [usize; 18] =
    [186, 270, 126, 153, 31, 504, 852, 1140, 852, 500, 210, 660, 660, 118, 118, 100, 30, 12];

#[test]
fn every_reference_value_comes_out() {
    let found = compare_all();
    for Comparison { name, tolerance, worst: (deviation, place), .. } in &found {
        assert!(deviation <= tolerance, "{name}: {place} (off by {deviation:e})");
    }
    assert_eq!(found.iter().map(|group| group.values).collect::<Vec<_>>(), VALUES);
}

#[test]
fn a_wrong_value_is_noticed() {
    let mut found = GROUPS[0].compare();
    assert!(found.passes() && found.worst.0 > 0.0);
    found.worst.0 = 1.01 * found.tolerance;
    assert!(!found.passes());
}

/// A tiny prior parameter is not lost beside the count. 60-digit arithmetic.
#[test]
fn tiny_priors_keep_their_digits() {
    let posterior = Posterior::new(Prior::new(vec![1e-12, 1.0]).unwrap(), vec![1, 5]);
    let field = distance::HELLINGER.field(&posterior, &Reach::ball(&posterior));
    assert_close(field.at(&[0, 6]), 0.999_999_132_024_005_8, 1e-15, "prior 1e-12");
    let local = distance::HELLINGER.sensitivity(&posterior).local();
    assert_close(local, 0.999_999_132_024_005_8, 1e-15, "prior 1e-12, local");
}
