//! What is known about a mechanism with its usual options, in symbols.

use super::{HISTORICAL, Kind, Options};
use crate::posterior::model::Prior;
use crate::posterior::privacy::{Delta, Epsilon, Guarantee};
use crate::posterior::setting::Setting;

/// The guarantee of a mechanism with its usual options, in ε and δ.
pub fn usual_guarantee(kind: &Kind) -> String {
    if HISTORICAL.iter().any(|one| one.id == kind.id) {
        return "none, historical".to_owned();
    }
    // Any setting with ε = 1 and a δ will do.
    let prior = Prior::new(vec![1.0; 3]).expect("a prior that is positive");
    let setting = Setting::new(prior, 3, Epsilon::new(1.0).expect("an ε that is positive"));
    let setting = Setting { delta: Delta::new(0.5).ok(), ..setting };
    match (kind.guarantee)(&setting, &Options::default()) {
        Guarantee::Pure(1.0) => "ε".to_owned(),
        Guarantee::Pure(multiple) => format!("{multiple} ε (γ = 1)"),
        Guarantee::Computed(_) => "ε, computed".to_owned(),
        Guarantee::Approximate(..) => "(ε, δ)".to_owned(),
        Guarantee::Claimed(..) => "(ε, δ) claimed".to_owned(),
        Guarantee::None => "none".to_owned(),
        Guarantee::Unstated => "none stated".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mechanism::find;

    #[test]
    fn guarantees_are_in_symbols() {
        let of = |id| usual_guarantee(find(id).unwrap());
        assert_eq!((of("ehdl"), of("geometric")), ("none".into(), "ε".into()));
        assert_eq!((of("gaussian"), of("mh-beta")), ("(ε, δ)".into(), "(ε, δ) claimed".into()));
        assert_eq!(of("mh-gamma"), "2 ε (γ = 1)");
    }
}
