use super::*;
use crate::analysis::audit::{self, Scope};
use crate::mechanism::{self, Variant};
use crate::numeric::{exp_accurate, expm1, lgamma, ln, sum::sum};
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

/// δ of independent losses with these probabilities, by all sequences of outcomes.
fn by_all_sequences(profiles: &[&Profile], epsilon: f64) -> f64 {
    let mut outcomes = vec![(0.0, 1.0)];
    for profile in profiles {
        let losses = profile.losses();
        let next = |&(loss, mass): &(f64, f64)| {
            losses.iter().map(move |(more, p)| (loss + *more as f64 * 1e-18, mass * p)).collect()
        };
        outcomes = outcomes.iter().flat_map::<Vec<(f64, f64)>, _>(next).collect();
    }
    let above = outcomes.into_iter().filter(|(loss, _)| *loss > epsilon);
    sum(above.map(|(loss, mass)| mass * -expm1(epsilon - loss)))
}

/// δ after m releases whose loss is ε, 0 or −ε: the trinomial sum.
fn trinomial(m: u32, one: f64, likely: f64, epsilon: f64) -> f64 {
    let shrunk = exp_accurate(-one);
    let rest = 1.0 - likely - likely * shrunk;
    let ln_factorial = |n: u32| lgamma(f64::from(n) + 1.0);
    let mut terms = Vec::new();
    for up in 0..=m {
        for down in 0..=m - up {
            let (loss, same) = (one * (f64::from(up) - f64::from(down)), m - up - down);
            if loss > epsilon {
                let ways =
                    ln_factorial(m) - ln_factorial(up) - ln_factorial(down) - ln_factorial(same);
                let ln_mass = ways
                    + f64::from(up) * ln(likely)
                    + f64::from(down) * ln(likely * shrunk)
                    + f64::from(same) * ln(rest);
                terms.push(exp_accurate(ln_mass) * -expm1(epsilon - loss));
            }
        }
    }
    sum(terms)
}

/// P[loss = ε] of `tight` for three categories, by the audit.
fn likely(n: u64, epsilon: f64) -> f64 {
    let prior = Prior::new(vec![1.0; 3]).unwrap();
    let setting = Setting::new(prior, vec![n, 0, 0], Epsilon::new(epsilon).unwrap());
    let tight = Variant::plain(mechanism::find("tight").unwrap());
    audit::delta_at(&tight, &setting, &Scope::All, 0.0).unwrap().delta / -expm1(-epsilon)
}

#[test]
fn many_tight_releases_are_a_trinomial_sum() {
    let q = likely(20, 0.1);
    let profile = Profile::new(knots(&[("0", -q * expm1(-0.1)), ("0.1", 0.0)])).unwrap();
    for m in [1, 2, 5, 20] {
        let together = repeated(&profile, m);
        for epsilon in ["0", "0.05", "0.1", "0.3", "1", "1.95"] {
            let found = together.delta(amount(epsilon));
            let exact = trinomial(m as u32, 0.1, q, epsilon.parse().unwrap());
            assert!(found >= exact * (1.0 - 1e-12), "{m} {epsilon}: {found} below {exact}");
            assert!(found <= exact * (1.0 + 1e-11) + 1e-20, "{m} {epsilon}: {found} {exact}");
        }
    }
    let together = repeated(&profile, 20);
    assert_eq!(together.sum(), amount("2"));
    let epsilon = together.epsilon(1e-6).to_f64();
    assert!((1.625..1.635).contains(&epsilon), "{epsilon}");
    let at = |epsilon: f64| trinomial(20, 0.1, q, epsilon);
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
    let step = together.distribution().step().to_f64();
    assert!(step < 1e-3);
    for at in ["0", "0.1", "0.5", "1", "1.5", "1.9"].map(amount) {
        let (epsilon, found) = (at.to_f64(), together.delta(at));
        let exact = by_all_sequences(&mixed, epsilon);
        assert!(found >= exact * (1.0 - 1e-12), "{epsilon}: {found} below {exact}");
        let earlier = by_all_sequences(&mixed, epsilon - step);
        assert!(found <= earlier, "{epsilon}: {found} further above {exact} than a step");
    }
    assert_eq!(together.delta(together.sum()), 0.0);
}

#[test]
fn the_order_of_releases_does_not_matter() {
    let mut releases: Vec<_> = ["0.1", "0.25", "0.1", "0.7"]
        .map(|text| (amount(text), Profile::pure(amount(text))))
        .into();
    let bits =
        |releases: &[(Amount, Profile)]| Composition::new(releases).delta(amount("0.5")).to_bits();
    let before = bits(&releases);
    releases.reverse();
    assert_eq!(bits(&releases), before);
}

#[test]
fn nothing_released_is_nothing_lost() {
    let nothing = Composition::new(&[]);
    assert_eq!(nothing.sum(), Amount::ZERO);
    assert_eq!(nothing.delta(Amount::ZERO), 0.0);
    assert_eq!(nothing.epsilon(1e-6), Amount::ZERO);
    let zero = repeated(&Profile::pure(Amount::ZERO), 3);
    assert_eq!(zero.epsilon(1e-6), Amount::ZERO);
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
    let refused = |pairs: &[(&str, f64)]| Profile::new(knots(pairs)).unwrap_err();
    assert_eq!(refused(&[]), ProfileError::Order);
    assert_eq!(refused(&[("0.1", 0.0)]), ProfileError::Order);
    assert_eq!(refused(&[("0", 0.1), ("0", 0.0)]), ProfileError::Order);
    assert_eq!(refused(&[("0", 0.1), ("1", 0.2), ("2", 0.0)]), ProfileError::Range);
    assert_eq!(refused(&[("0", f64::NAN), ("1", 0.0)]), ProfileError::Range);
    assert_eq!(refused(&[("0", 0.1), ("1", 0.01)]), ProfileError::End);
}

#[test]
fn large_and_many_losses_are_no_trouble() {
    let releases: Vec<_> = (1..=300)
        .map(|i| Amount::from_units(i * 37_123_456_789_012_345))
        .chain([amount("1000000"), amount("0.000000000000000001")])
        .map(|epsilon| (epsilon, Profile::pure(epsilon)))
        .collect();
    let together = Composition::new(&releases);
    let delta = together.delta(amount("5"));
    assert!(delta > 0.9 && delta <= 1.0, "{delta}");
    assert_eq!(together.delta(together.sum()), 0.0);
    let small: Vec<_> = releases.iter().take(300).cloned().collect();
    let together = Composition::new(&small);
    let found = together.epsilon(1e-6);
    assert!(found < together.sum() && together.delta(found) <= 1e-6);
}
