//! Settings in a line, and how numbers are compared.

use engine::posterior::model::Prior;
use engine::posterior::privacy::{Delta, Epsilon, Gamma};
use engine::posterior::setting::{Setting, SettingWithData};

/// |ours − theirs| <= relative · |theirs|, with a message that says what was compared.
pub fn assert_close(ours: f64, theirs: f64, relative: f64, what: &str) {
    let error = (ours - theirs).abs();
    assert!(
        error <= relative * theirs.abs(),
        "{what}: {ours:e} instead of {theirs:e} (relative error {:.1e})",
        error / theirs.abs()
    );
}

/// A setting with n records, δ = 10⁻³ and γ = 1.
pub fn of_size(prior: &[f64], n: u64, epsilon: f64, distance: &str) -> Setting {
    Setting {
        prior: Prior::new(prior.to_vec()).unwrap(),
        n,
        epsilon: Epsilon::new(epsilon).unwrap(),
        delta: Some(Delta::new(1e-3).unwrap()),
        gamma: Gamma::new(1.0).unwrap(),
        distance: engine::posterior::distance::find(distance).unwrap(),
    }
}

/// The same with these counts.
pub fn setting(prior: &[f64], counts: &[u64], epsilon: f64, distance: &str) -> SettingWithData {
    let setting = of_size(prior, counts.iter().sum(), epsilon, distance);
    SettingWithData::new(setting, counts.to_vec())
}
