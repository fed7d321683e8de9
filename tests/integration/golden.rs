//! The exact engine against reference values computed independently of it (`tests/golden`).

use std::sync::OnceLock;

use crate::common::assert_close;
use engine::posterior::distance;
use engine::posterior::error_field::Reach;
use engine::posterior::model::{Posterior, Prior};
use service::selftest::golden::{Comparison, Measure, compare_all};

/// How many values every group has: none is lost on the way.
const VALUES: [usize; 19] =
    [186, 270, 126, 153, 31, 504, 852, 1140, 852, 500, 210, 660, 660, 118, 118, 100, 30, 450, 19];

/// All comparisons, made once.
fn found() -> &'static [Comparison] {
    static FOUND: OnceLock<Vec<Comparison>> = OnceLock::new();
    FOUND.get_or_init(compare_all)
}

#[test]
fn every_reference_value_comes_out() {
    let found = found();
    for Comparison { name, tolerance, worst: (deviation, place), .. } in found {
        assert!(deviation <= tolerance, "{name}: {place} (off by {deviation:e})");
    }
    assert_eq!(found.iter().map(|group| group.values).collect::<Vec<_>>(), VALUES);
    // These come out better than the self-test asks.
    for (name, tolerance) in [("privacy losses", 1e-10), ("the tight mechanism", 1e-12)] {
        let group = found.iter().find(|group| group.name == name).unwrap();
        assert!(group.worst.0 <= tolerance, "{name}: {:?}", group.worst);
    }
}

/// One more reference value that is off by slightly more than the tolerance, however it is measured.
#[test]
fn a_wrong_value_is_noticed() {
    for found in found() {
        assert!(found.passes(), "{}", found.name);
        for reference in [0.3_f64, -7.0] {
            let unit = match found.measure {
                Measure::Relative => reference.abs(),
                Measure::Absolute => 1.0,
                Measure::Either => reference.abs().max(1.0),
            };
            let with = |steps: f64| {
                let mut all = found.clone();
                let changed = reference + steps * unit * found.tolerance;
                all.add(reference, changed, || "the changed one".to_owned());
                all
            };
            assert!(with(0.9).passes() && with(-0.9).passes(), "{}", found.name);
            for all in [with(1.1), with(-1.1), with(f64::NAN)] {
                assert!(!all.passes(), "{}", found.name);
                assert!(all.worst.1.starts_with("the changed one: "), "{}", all.worst.1);
                assert_eq!(all.values, found.values + 1);
            }
        }
    }
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
