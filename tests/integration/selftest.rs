//! The self-test as a library: with fewer draws than `dpbi selftest` makes.
//!
//! A correct build raises a false alarm with a probability of about 10⁻⁶ over all trials, whatever the number
//! of draws (and, seeds being fixed, never more than once). That the trials have power is shown by samplers
//! with a scale that is 5 % wrong, which must be rejected.

use engine::numeric::exp_accurate;
use engine::rng;
use rayon::prelude::*;
use service::selftest::samplers::{SamplerCase, cases, powered};
use service::selftest::{ENOUGH, MOST_TRIALS, Report, Subject, WRONG, try_all};
use std::collections::BTreeSet;
fn is_release(case: &&SamplerCase) -> bool {
    case.sampler().starts_with("release ")
}

/// In settings of all kinds; releases at several ε, in the whole-number arithmetic in which they are drawn.
#[test]
fn every_sampler_follows_its_exact_law() {
    let cases = cases();
    assert!(cases.len() > 350 && cases.len() < MOST_TRIALS);
    assert!(cases.iter().filter(is_release).count() > 20);
    let report = try_all(&cases, 20_000, 1);
    assert_eq!(report.failures(), [""; 0]);
    assert!(report.trials.iter().all(|trial| trial.draws == 20_000));
}

#[test]
fn wrong_samplers_are_noticed() {
    let cases = powered();
    let report = try_all(&cases, 200_000, 7);
    assert_eq!(report.failures(), [""; 0]);
    let lines = report.lines();
    assert!(lines.iter().all(|line| line.power >= ENOUGH), "{lines:#?}");
    let names: BTreeSet<&str> = lines.iter().map(|line| line.sampler).collect();
    for mechanism in engine::mechanism::ALL {
        assert!(
            names.contains(mechanism.id) && names.contains(&*format!("{}+remap", mechanism.id))
        );
    }
    for released in ["geometric", "geometric-all", "tight", "lattice"] {
        assert!(names.contains(&*format!("release {released}")), "{released}");
    }
    let powerful = cases.iter().zip(&report.trials).filter(|(_, trial)| trial.power >= ENOUGH);
    let powerful: Vec<&SamplerCase> = powerful.map(|(case, _)| case).collect();
    let unnoticed = powerful.par_iter().flat_map_iter(|case| {
        let tried = [WRONG, 1.0 / WRONG].map(|off| case.try_out(off, 200_000, 7));
        tried.into_iter().flatten().filter(|trial| !trial.is_rejected())
    });
    let unnoticed: Vec<_> = unnoticed.collect();
    assert!(unnoticed.is_empty(), "{unnoticed:#?}");
}

#[test]
fn a_seed_repeats_a_test() {
    let cases = powered();
    let first = try_all(&cases, 2000, 7);
    assert_eq!(first, try_all(&cases, 2000, 7));
    let other = try_all(&cases, 2000, 8);
    assert!(first.trials.iter().zip(&other.trials).any(|(a, b)| a.statistic != b.statistic));
}

/// Two-sided geometric noise on a count, clamped, as a sampler from elsewhere would be described.
#[test]
fn any_sampler_can_be_checked() {
    let (x, n) = (3, 12);
    let law = |scale: f64| -> Vec<f64> {
        let decay = |steps: i64| exp_accurate(-(steps as f64) / scale);
        let weight = |v: i64| match v {
            0 => decay(x),
            v if v == n => decay(n - x),
            v => decay((v - x).abs()) * (1.0 - decay(1)),
        };
        (0..=n).map(|v| weight(v) / (1.0 + decay(1))).collect()
    };
    let subject = Subject {
        sampler: "geometric, again".to_owned(),
        setting: "x = 3, n = 12".to_owned(),
        law: law(2.0),
        wrong: vec![law(2.0 * WRONG), law(2.0 / WRONG)],
    };
    let mut stream = rng::stream(1, "elsewhere");
    let mut draw = |scale: f64| {
        let mut geometric = || (scale * rng::standard_exponential(&mut stream)).floor() as i64;
        (x + geometric() - geometric()).clamp(0, n) as usize
    };
    let right = subject.check(400_000, || draw(2.0));
    assert!(!right.is_rejected() && right.power >= ENOUGH, "{right:#?}");
    let wrong = subject.check(400_000, || draw(2.1));
    assert!(wrong.is_rejected(), "{wrong:#?}");
    let report = Report { seed: 1, trials: vec![right, wrong] };
    let failures = report.failures();
    assert_eq!(failures.len(), 1);
    assert!(failures[0].starts_with("geometric, again (G = "), "{failures:?}");
    assert!(
        failures[0].ends_with("does not follow its exact law at x = 3, n = 12"),
        "{failures:?}"
    );
}
