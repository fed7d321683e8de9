//! The account against attackers who compare any data sets they like, at every step anew.

use super::*;
use crate::release::method::tests::method;
use engine::analysis::composition::Composition;
use engine::mechanism::law::Outputs;
use engine::numeric::{expm1, sum::sum};
use engine::posterior::error_field::Reach;
use engine::posterior::model::neighbours;
use engine::posterior::simplex::list_compositions;

const MECHANISMS: [&str; 3] = ["tight", "lattice", "geometric"];

/// The losses ln P_x(r) − ln P_x'(r) with their probabilities P_x(r), at one ordered pair.
type Losses = Vec<(f64, f64)>;

/// Equal losses, but for rounding, become one.
fn merged(mut losses: Losses) -> Losses {
    losses.sort_by(|a, b| a.0.total_cmp(&b.0));
    losses.dedup_by(|next, kept| {
        let same = next.0 - kept.0 < 1e-11;
        kept.1 += if same { next.1 } else { 0.0 };
        same
    });
    losses
}

/// The losses at every ordered pair of adjacent data sets, output by output, without the audit.
fn all_pairs(method: &Method) -> Vec<Losses> {
    let setting = method.setting();
    let (n, k) = (setting.n, setting.k());
    let logs = |counts: &[u64]| {
        let posterior = setting.at(counts.to_vec());
        let score = setting.distance.field(&posterior, &Reach::ball(&posterior));
        let outputs = Outputs::new(method.law().outputs(), n, k);
        let law = method.law().at(&posterior).unwrap();
        law.ln_probabilities(outputs, score.as_ref())
    };
    let mut pairs: Vec<Losses> = Vec::new();
    for x in &list_compositions(n, k) {
        for moved in neighbours(x) {
            let both = logs(x).into_iter().zip(logs(&moved));
            let possible = both.filter(|(at_x, _)| *at_x > f64::NEG_INFINITY);
            let losses = possible.map(|(at_x, at_moved)| (at_x - at_moved, exp_accurate(at_x)));
            pairs.push(merged(losses.collect()));
        }
    }
    pairs
}

fn delta(losses: &Losses, epsilon: f64) -> f64 {
    let above = losses.iter().filter(|(loss, _)| *loss > epsilon);
    sum(above.map(|(loss, mass)| mass * -expm1(epsilon - loss)))
}

/// The largest δ after m releases if the attacker chooses the next pair after every output:
/// δ_m(ε) is the largest Σ_r P_x(r) δ_(m−1)(ε − loss(r)) over all pairs.
fn adaptive(pairs: &[Losses], m: u32, epsilon: f64) -> f64 {
    if m == 0 {
        return (-expm1(epsilon)).max(0.0);
    }
    let later = |losses: &Losses| {
        sum(losses.iter().map(|(loss, mass)| mass * adaptive(pairs, m - 1, epsilon - loss)))
    };
    pairs.iter().map(later).fold(0.0, f64::max)
}

fn account(profile: &Profile, method: &Method, m: usize) -> Composition {
    Composition::new(&vec![(method.epsilon(), profile.clone()); m])
}

/// Settings small enough for every sequence of outputs.
fn small() -> impl Iterator<Item = (String, Method)> {
    let settings: [(&[f64], u64, &str); 4] = [
        (&[1.0, 1.0], 3, "0.5"),
        (&[1.0, 2.0], 2, "1"),
        (&[1.0; 3], 2, "0.5"),
        (&[1.0; 3], 1, "1"),
    ];
    settings.into_iter().flat_map(|(prior, n, epsilon)| {
        MECHANISMS
            .into_iter()
            .map(move |id| (format!("{id} {prior:?} {n} {epsilon}"), method(id, prior, n, epsilon)))
    })
}

/// Values of ε between 0 and `most`, no knots among them.
fn places(most: f64) -> impl Iterator<Item = f64> {
    [0.0, 0.07, 0.21, 0.33, 0.52, 0.71, 0.93].into_iter().map(move |part| part * most)
}

#[test]
fn no_attacker_who_chooses_the_next_pair_finds_more() {
    for (name, method) in small() {
        let (pairs, profile) = (all_pairs(&method), profile(&method));
        let branches = pairs.iter().map(Vec::len).sum::<usize>() as f64;
        let deepest = (1..=4).take_while(|&m| libm::pow(branches, f64::from(m)) < 3e5);
        for m in deepest {
            let account = account(&profile, &method, m as usize);
            for epsilon in places(f64::from(m) * method.epsilon().to_f64()) {
                let at = Amount::ceiling(epsilon);
                let (found, exact) = (account.delta(at), adaptive(&pairs, m, at.to_f64()));
                assert!(found >= exact - 1e-15, "{name} m = {m}, ε = {epsilon}: {found} {exact}");
            }
        }
    }
}

#[test]
fn the_profile_is_no_larger_than_it_must_be() {
    for (name, method) in small() {
        let (pairs, profile) = (all_pairs(&method), profile(&method));
        for knot in profile.knots() {
            let epsilon = knot.epsilon.to_f64();
            let exact = pairs.iter().map(|pair| delta(pair, epsilon)).fold(0.0, f64::max);
            let outwards = 1e-11 + method.price().to_f64();
            assert!((knot.delta - exact).abs() <= outwards, "{name} at {epsilon}");
        }
        // The chords of three losses are exact between the knots, too.
        if name.starts_with("tight") || name.starts_with("lattice") {
            assert_eq!(profile.knots().len(), 2, "{name}");
            for epsilon in places(method.epsilon().to_f64()) {
                let at = Amount::ceiling(epsilon);
                let exact = pairs.iter().map(|pair| delta(pair, at.to_f64())).fold(0.0, f64::max);
                assert!((profile.at(at) - exact).abs() <= 1e-11, "{name} at {epsilon}");
            }
        }
    }
}

#[test]
fn a_profile_that_is_one_percent_too_small_is_noticed() {
    for (name, method) in small() {
        let (pairs, whole) = (all_pairs(&method), profile(&method));
        let smaller = whole.knots().iter().map(|knot| Knot { delta: 0.99 * knot.delta, ..*knot });
        let smaller = Profile::new(smaller).unwrap();
        let account = account(&smaller, &method, 2);
        let misses = |epsilon: f64| {
            let at = Amount::ceiling(epsilon);
            account.delta(at) < adaptive(&pairs, 2, at.to_f64()) - 1e-15
        };
        assert!(places(2.0 * method.epsilon().to_f64()).any(misses), "{name}");
    }
}

#[test]
fn what_takes_long_has_the_profile_of_randomised_response() {
    let large = method("geometric", &[1.0; 8], 300, "1");
    assert_eq!(profile(&large), Profile::pure(large.epsilon()));
    // The noise of `lattice` does not depend on the data.
    let many = method("lattice", &[1.0; 20], 2000, "0.5");
    let known = profile(&many);
    assert!(known.at(Amount::ZERO) < 0.7 * Profile::pure(many.epsilon()).at(Amount::ZERO));
}
