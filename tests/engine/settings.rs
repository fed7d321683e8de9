//! Settings in a line, and how numbers are compared.

use engine::posterior::model::{Posterior, Prior};
use engine::posterior::privacy::{Delta, Epsilon, Gamma};
use engine::posterior::setting::Setting;

/// |ours − theirs| <= relative · |theirs|, with a message that says what was compared.
pub fn assert_close(ours: f64, theirs: f64, relative: f64, what: &str) {
    let error = (ours - theirs).abs();
    assert!(
        error <= relative * theirs.abs(),
        "{what}: {ours:e} instead of {theirs:e} (relative error {:.1e})",
        error / theirs.abs()
    );
}

/// A setting with δ = 10⁻³ and γ = 1.
pub fn setting(prior: &[f64], counts: &[u64], epsilon: f64, distance: &str) -> Setting {
    Setting {
        posterior: Posterior::new(Prior::new(prior.to_vec()).unwrap(), counts.to_vec()),
        epsilon: Epsilon::new(epsilon).unwrap(),
        delta: Some(Delta::new(1e-3).unwrap()),
        gamma: Gamma::new(1.0).unwrap(),
        distance: engine::posterior::distance::find(distance).unwrap(),
    }
}

/// The same with n records, wherever they are.
pub fn of_size(prior: &[f64], n: u64, epsilon: f64, distance: &str) -> Setting {
    let mut counts = vec![0; prior.len()];
    counts[0] = n;
    setting(prior, &counts, epsilon, distance)
}

/// The same setting with other counts.
pub fn at(template: &Setting, counts: &[u64]) -> Setting {
    let prior = template.posterior.prior().clone();
    Setting { posterior: Posterior::new(prior, counts.to_vec()), ..template.clone() }
}
