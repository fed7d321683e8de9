use super::*;
use crate::analysis::audit::{self, Scope};
use crate::mechanism::Mechanism;
use crate::numeric::{expm1, sum::sum};
use crate::posterior::model::Prior;
use crate::posterior::privacy::Epsilon;
use crate::posterior::setting::Setting;

fn amount(text: &str) -> Amount {
    text.parse().unwrap()
}

fn knots(pairs: &[(&str, f64)]) -> Vec<Knot> {
    pairs.iter().map(|&(epsilon, delta)| Knot { epsilon: amount(epsilon), delta }).collect()
}

/// Many releases of one profile.
fn repeated(profile: &Profile, times: usize) -> Composition {
    Composition::new(&vec![(profile.last(), profile.clone()); times])
}

/// δ of independent losses with these probabilities, by all sequences of outcomes; those with the same sum are one.
fn by_all_sequences(profiles: &[&Profile], epsilon: f64) -> f64 {
    let mut outcomes = BTreeMap::from([(0, 1.0)]);
    for profile in profiles {
        let mut longer = BTreeMap::new();
        for (loss, mass) in outcomes {
            for (more, p) in profile.losses() {
                *longer.entry(loss + more).or_insert(0.0) += mass * p;
            }
        }
        outcomes = longer;
    }
    let losses = outcomes.into_iter().map(|(loss, mass)| (loss as f64 * 1e-18, mass));
    let above = losses.filter(|(loss, _)| *loss > epsilon);
    sum(above.map(|(loss, mass)| mass * -expm1(epsilon - loss)))
}

/// P[loss = ε] of `tight` for three categories, by the audit.
fn likely(n: u64, epsilon: f64) -> f64 {
    let prior = Prior::new(vec![1.0; 3]).unwrap();
    let setting = Setting::new(prior, n, Epsilon::new(epsilon).unwrap());
    let tight = Mechanism::parse("tight").unwrap().law(&setting).unwrap();
    audit::delta_at(tight.as_ref(), &setting, &Scope::All, 0.0).unwrap().delta / -expm1(-epsilon)
}

#[test]
fn many_tight_releases_are_composed_exactly() {
    let q = likely(20, 0.1);
    let profile = Profile::new(knots(&[("0", -q * expm1(-0.1)), ("0.1", 0.0)])).unwrap();
    for m in [1, 2, 5, 20] {
        let together = repeated(&profile, m);
        for epsilon in ["0", "0.05", "0.1", "0.3", "1", "1.95"] {
            let found = together.delta(amount(epsilon));
            let exact = by_all_sequences(&vec![&profile; m], epsilon.parse().unwrap());
            assert!(found >= exact * (1.0 - 1e-12), "{m} {epsilon}: {found} below {exact}");
            assert!(found <= exact * (1.0 + 1e-11) + 1e-20, "{m} {epsilon}: {found} {exact}");
        }
    }
    let together = repeated(&profile, 20);
    assert_eq!(together.sum, amount("2"));
    let epsilon = together.epsilon(1e-6).to_f64();
    assert!((1.625..1.635).contains(&epsilon), "{epsilon}");
    let at = |epsilon: f64| by_all_sequences(&[&profile; 20], epsilon);
    assert!(at(epsilon) <= 1e-6 && at(epsilon - 3e-9) > 1e-6);
}

#[test]
fn losses_without_a_common_step_are_rounded_upwards_and_little() {
    let profiles = [
        Profile::pure(amount("0.123456789123456789")),
        Profile::pure(amount("0.3")),
        Profile::new(knots(&[("0", 0.08), ("0.1", 0.04), ("0.271828", 0.0)])).unwrap(),
        Profile::pure(amount("0.314159265358979323")),
    ];
    let mixed: Vec<&Profile> = profiles.iter().chain(&profiles).collect();
    let releases: Vec<_> = mixed.iter().map(|&one| (one.last(), one.clone())).collect();
    let together = Composition::new(&releases);
    let step = together.distribution.step().to_f64();
    assert!(step < 1e-3);
    for at in ["0", "0.1", "0.5", "1", "1.5", "1.9"].map(amount) {
        let (epsilon, found) = (at.to_f64(), together.delta(at));
        let exact = by_all_sequences(&mixed, epsilon);
        assert!(found >= exact * (1.0 - 1e-12), "{epsilon}: {found} below {exact}");
        let earlier = by_all_sequences(&mixed, epsilon - step);
        assert!(found <= earlier, "{epsilon}: {found} further above {exact} than a step");
    }
    assert_eq!(together.delta(together.sum), 0.0);
}

#[test]
fn nothing_released_is_nothing_lost() {
    let zero = repeated(&Profile::pure(Amount::ZERO), 3);
    for nothing in [Composition::new(&[]), zero] {
        assert_eq!((nothing.sum, nothing.epsilon(1e-6)), (Amount::ZERO, Amount::ZERO));
        assert_eq!(nothing.delta(Amount::ZERO), 0.0);
    }
}

#[test]
fn the_probabilities_of_a_profile_give_its_delta() {
    let profile =
        Profile::new(knots(&[("0", 0.2), ("0.2", 0.1), ("0.5", 0.03), ("1", 0.0)])).unwrap();
    assert_eq!(profile.knots().len(), 4);
    let total = sum(profile.losses().iter().map(|(_, mass)| *mass));
    assert!((total - 1.0).abs() < 1e-13, "{total}");
    for epsilon in ["0", "0.1", "0.2", "0.37", "0.5", "0.9"] {
        let (epsilon, at) = (epsilon.parse().unwrap(), profile.at(amount(epsilon)));
        let found = by_all_sequences(&[&profile], epsilon);
        assert!((found / at - 1.0).abs() < 1e-12, "{epsilon}: {found} {at}");
    }
}

#[test]
fn a_knot_above_the_chord_is_left_out() {
    let profile = Profile::new(knots(&[("0", 0.2), ("0.5", 0.19), ("1", 0.0)])).unwrap();
    assert_eq!(profile.knots(), knots(&[("0", 0.2), ("1", 0.0)]));
    // No release that is 0.1-private has a δ of 0.5 at 0.
    let large = Profile::new(knots(&[("0", 0.5), ("0.1", 0.0)])).unwrap();
    assert_eq!(large, Profile::pure(amount("0.1")));
    // The chord from ε to −ε leaves out what is above it, too.
    let large = Profile::new(knots(&[("0", 0.5), ("0.1", 0.3), ("0.2", 0.0)])).unwrap();
    assert_eq!(large, Profile::pure(amount("0.2")));
    let again = Profile::new(large.knots().to_vec()).unwrap();
    assert_eq!(again, large);
}

#[test]
fn the_larger_of_two_profiles() {
    let steep = Profile::new(knots(&[("0", 0.2), ("0.5", 0.0)])).unwrap();
    let long = Profile::new(knots(&[("0", 0.1), ("1", 0.0)])).unwrap();
    let both = steep.clone().max(&long);
    for epsilon in ["0", "0.2", "0.3", "0.5", "0.8", "1"].map(amount) {
        let largest = steep.at(epsilon).max(long.at(epsilon));
        assert!(both.at(epsilon) >= largest, "{epsilon}");
    }
    assert_eq!(both.at(Amount::ZERO), 0.2);
    assert_eq!(both.at(amount("0.5")), long.at(amount("0.5")));
    assert_eq!(long.clone().max(&long), long);
}

#[test]
fn what_is_no_profile_is_refused() {
    const ORDER: &str = "the knots of a profile begin at ε = 0, and their ε increases";
    const RANGE: &str = "δ lies between 0 and 1, and does not increase with ε";
    let refused = |pairs: &[(&str, f64)]| Profile::new(knots(pairs)).unwrap_err().cause;
    assert_eq!(refused(&[]), ORDER);
    assert_eq!(refused(&[("0.1", 0.0)]), ORDER);
    assert_eq!(refused(&[("0", 0.1), ("0", 0.0)]), ORDER);
    assert_eq!(refused(&[("0", 0.1), ("1", 0.2), ("2", 0.0)]), RANGE);
    assert_eq!(refused(&[("0", f64::NAN), ("1", 0.0)]), RANGE);
    assert_eq!(refused(&[("0", 0.1), ("1", 0.01)]), "δ is 0 at the last knot of a profile");
}

/// Nor does their order matter.
#[test]
fn large_and_many_losses_are_no_trouble() {
    let small = (1..=300).map(|i| Amount::from_units(i * 37_123_456_789_012_345));
    let large = [amount("1000000"), amount("0.000000000000000001")];
    let releases: Vec<_> =
        small.chain(large).map(|epsilon| (epsilon, Profile::pure(epsilon))).collect();
    let together = Composition::new(&releases);
    let delta = together.delta(amount("5"));
    assert!(delta > 0.9 && delta <= 1.0, "{delta}");
    assert_eq!(together.delta(together.sum), 0.0);
    assert_eq!(Composition::new(releases.iter().rev()).delta(amount("5")), delta);
    let together = Composition::new(&releases[..300]);
    let found = together.epsilon(1e-6);
    assert!(found < together.sum && together.delta(found) <= 1e-6);
}
