//! The self-test as a library: with fewer draws than `dpbi selftest` makes.
//!
//! A correct build raises a false alarm with probability 10⁻⁶ at most over all trials, whatever the
//! number of draws (and, seeds being fixed, never more than once). That the trials have power is shown
//! by samplers with a scale that is 5 % wrong, which must be rejected.

use engine::numeric::exp_accurate;
use engine::rng;
use rayon::prelude::*;
use service::selftest::samplers::{SamplerCase, cases};
use service::selftest::{
    ENOUGH, Extent, FALSE_ALARMS, MOST_TRIALS, Report, Scope, Subject, machine, run_samplers,
};
use std::collections::BTreeSet;
use std::sync::Mutex;

/// In settings of all kinds; releases at several ε, in the whole-number arithmetic in which they are drawn.
#[test]
fn every_sampler_follows_its_exact_law() {
    let cases = cases(Scope::All);
    let is_release = |case: &SamplerCase| case.sampler().starts_with("release ");
    assert!(cases.len() > 350 && cases.len() < MOST_TRIALS);
    assert!(cases.iter().filter(|case| is_release(case)).count() > 50);
    let rejected = |case: &SamplerCase| {
        let trial = case.try_out(1.0, 20_000, 1).unwrap();
        assert_eq!(trial.draws, 20_000);
        trial.is_rejected().then_some(trial)
    };
    let rejected: Vec<_> = cases.par_iter().filter_map(rejected).collect();
    assert!(rejected.is_empty(), "{rejected:#?}");
}

const EXTENT: Extent = Extent { scope: Scope::Powered, draws: 200_000, seed: 7, threads: 2 };

#[test]
fn right_samplers_pass_and_wrong_ones_are_seen() {
    let heard = Mutex::new(Vec::new());
    let report = run_samplers(&EXTENT, |share| heard.lock().unwrap().push(share));
    let heard = heard.into_inner().unwrap();
    assert_eq!(report.failures(), [""; 0]);
    assert_eq!(heard.len(), report.trials.len() + report.wrong.len());
    assert!((heard.iter().sum::<f64>() - 1.0).abs() < 1e-9);
    // Every mechanism plain and remapped, six of them calibrated; eleven can be released, and tuned.
    let lines = report.lines();
    let tuned = |line: &&service::selftest::Line| {
        line.sampler.starts_with("release ") && line.sampler.contains('+')
    };
    let tuned = lines.iter().filter(tuned).count();
    assert!(tuned >= 12, "{tuned}");
    let plain = 2 * engine::mechanism::ALL.len() + 6 + 11;
    assert_eq!((lines.len() - tuned, report.wrong.len()), (plain, 2 * plain));
    let names: BTreeSet<&str> = lines.iter().map(|line| line.sampler).collect();
    assert_eq!(names.len(), lines.len());
    for mechanism in engine::mechanism::ALL {
        assert!(
            names.contains(mechanism.id()) && names.contains(&*format!("{}+remap", mechanism.id()))
        );
    }
    assert!(lines.iter().all(|line| line.power() >= ENOUGH && line.powered > 0), "{lines:#?}");
    assert!(report.greatest_miss() < 1e-6, "{}", report.greatest_miss());
    assert!(report.wrong.iter().all(|wrong| wrong.trial.is_rejected()));
    // What it may do wrong by chance is more than what its trials may.
    assert!(report.false_alarms() >= FALSE_ALARMS && report.false_alarms() < 1e-5);
}

#[test]
fn a_seed_repeats_a_test() {
    let extent = Extent { draws: 2_000, ..EXTENT };
    let first = run_samplers(&extent, |_| ());
    assert_eq!(first, run_samplers(&extent, |_| ()));
    let other = run_samplers(&Extent { seed: 8, ..extent }, |_| ());
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
        wrong: vec![law(2.0 * 1.05), law(2.0 / 1.05)],
    };
    let mut stream = rng::stream(1, "elsewhere");
    let mut draw = |scale: f64| {
        let mut geometric = || (scale * rng::standard_exponential(&mut stream)).floor() as i64;
        (x + geometric() - geometric()).clamp(0, n) as usize
    };
    let right = subject.check(400_000, || draw(2.0));
    assert!(!right.is_rejected() && right.power() >= ENOUGH, "{right:#?}");
    let wrong = subject.check(400_000, || draw(2.1));
    assert!(wrong.is_rejected(), "{wrong:#?}");
    let mut report = Report {
        extent: EXTENT,
        trials: vec![right],
        wrong: vec![],
        golden: vec![],
        machine: vec![],
    };
    assert_eq!(report.failures(), [""; 0]);
    report.trials.push(wrong);
    let failures = report.failures();
    assert_eq!(failures.len(), 1);
    assert!(failures[0].starts_with("geometric, again (2t = "), "{failures:?}");
    assert!(
        failures[0].ends_with("does not follow its exact law at x = 3, n = 12"),
        "{failures:?}"
    );
}

#[test]
fn the_machine_is_sound() {
    let checks = machine::check_all(3, 2);
    assert_eq!(checks.len(), 3);
    assert!(checks.iter().all(|check| check.passes), "{checks:#?}");
    assert_ne!(machine::seed(), machine::seed());
}
