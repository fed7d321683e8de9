//! The tight mechanism and its relatives: privacy by exhaustive audit, and independent numbers.

use crate::common::{Sandbox, of_size, setting, words};
use engine::analysis::audit::Scope;
use engine::mechanism::{self, Mechanism, Options};

fn variant(id: &str, remap: bool) -> Mechanism {
    let options = Options { remap, ..Options::default() };
    Mechanism::new(mechanism::find(id).unwrap(), options, id.to_owned())
}

/// The loss over all pairs is ε, clipped weights included, and is never above it by more than rounding.
#[test]
fn the_loss_is_epsilon() {
    let cases = [(3, 1..=20_u64), (4, 1..=10), (5, 1..=6)];
    for (k, sizes) in cases {
        for n in sizes {
            for epsilon in [0.1, 0.7, 3.0] {
                let setting = of_size(&vec![1.0; k], n, epsilon, "hellinger");
                let tight = variant("tight", false).prepare(&setting).unwrap();
                let found = tight.loss(&Scope::All, &[]).unwrap().loss;
                let what = format!("k = {k}, n = {n}, ε = {epsilon}: {found:?}");
                assert!(found.bound <= epsilon + 1e-12, "{what}");
                assert!(found.loss >= epsilon * (1.0 - 1e-11) - 1e-15, "{what}");
            }
        }
    }
}

#[test]
fn with_two_categories_it_is_geometric() {
    for (counts, epsilon) in [([3, 9], 0.3), ([0, 40], 1.0), ([500, 250], 2.0), ([1, 0], 0.05)] {
        let setting = setting(&[0.7, 2.0], &counts, epsilon, "hellinger");
        let exact =
            |id: &str| variant(id, false).prepare(&setting).unwrap().at(&counts).unwrap().summary();
        let (tight, geometric) = (exact("tight"), exact("geometric"));
        assert!((tight.p_exact - geometric.p_exact).abs() < 1e-12, "{counts:?}");
        let means = [tight, geometric].map(|exact| exact.error.unwrap().mean);
        assert!((means[0] - means[1]).abs() < 1e-12, "{counts:?} {means:?}");
    }
}

/// Computed independently, by brute force.
#[test]
fn remapped_lattice_noise() {
    let cases =
        [(12, 1.0, 0.352_137_473_0), (12, 0.5, 0.514_012_878_4), (12, 2.0, 0.160_335_151_0)];
    for (n, epsilon, expected) in cases {
        let setting = of_size(&[1.0; 3], n, epsilon, "hellinger");
        let remapped = variant("lattice", true).prepare(&setting).unwrap();
        let mean = remapped.error().unwrap().unwrap().mean;
        assert!((mean - expected).abs() < 1e-9, "n = {n}, ε = {epsilon}: {mean}");
    }
}

/// With many records candidates are found by descent, and the text says so.
#[test]
fn remapping_at_scale() {
    let sandbox = Sandbox::new();
    let line =
        "inspect --prior 0.5,3,10 --counts 300,600,100 --epsilon 2 --mechanism tight,tight+remap";
    let text = sandbox.succeed(&words(line));
    assert!(text.contains("Remapped by descent, not proved best: tight+remap"), "{text}");
    let found = sandbox.json(&words(&format!("{line} --json")));
    let mean = |place: usize| found["mechanisms"][place]["mean"].as_f64().unwrap();
    assert!(mean(1) > 0.0 && mean(1) < 1.2 * mean(0), "{found}");
}
