//! The operations that are forecast, against those that are counted.

use super::*;
use crate::analysis::audit::{self, Scope};
use crate::analysis::predictive_error;
use crate::analysis::ranking::Data;
use crate::analysis::tuning::{self, TuningCache};
use crate::mechanism::{self, Choice, Variant};
use crate::operations::Operation;
use crate::operations::counted::{self, Counts};
use crate::posterior::model::Prior;
use crate::posterior::privacy::{Delta, Epsilon};

/// A forecast may be wrong by this factor.
const FACTOR: f64 = 4.0;

/// Processor seconds below which a forecast need not be right.
const INSTANT: f64 = 1e-2;

/// The seconds of counted operations, at the rates of the forecasts.
fn seconds(counts: &Counts, k: usize) -> f64 {
    let pair = if k == 2 { rates::NS_PER_LINE_PAIR } else { rates::NS_PER_PAIR };
    let rates = [
        (Operation::Law, rates::NS_PER_CELL),
        (Operation::Pair, pair),
        (Operation::Entry, rates::NS_PER_ENTRY),
        (Operation::Row, rates::ns_per_walked_row(k)),
        (Operation::Output, rates::PART_FOR_MEAN * rates::NS_PER_RESTORED),
        (Operation::Compared, rates::NS_PER_COMPARISON),
        (Operation::LineClass, rates::NS_PER_LINE_CLASS),
        (Operation::LogTerm, rates::NS_PER_LOG_TERM),
        (Operation::Convolved, rates::NS_PER_CONVOLVED),
        (Operation::Product, rates::NS_PER_PRODUCT),
        (Operation::Replaced, rates::NS_PER_TABLED_OUTPUT),
        (Operation::Term, rates::NS_PER_TERM),
        (Operation::TightRow, rates::ns_per_tight_row(k)),
    ];
    rates.iter().map(|&(operation, ns)| 1e-9 * ns * counts.of(operation)).sum()
}

fn setting(k: usize, n: u64, epsilon: f64) -> Setting {
    let mut counts = vec![0; k];
    counts[0] = n;
    let prior = Prior::new(vec![1.0; k]).unwrap();
    let setting = Setting::new(prior, counts, Epsilon::new(epsilon).unwrap());
    Setting { delta: Delta::new(1e-6).ok(), ..setting }
}

fn variants() -> Vec<Variant> {
    let ways = |mechanism: &'static dyn mechanism::Mechanism| {
        let calibrates = mechanism.choices().contains(&Choice::Calibrated);
        [(false, false), (true, false), (false, true), (true, true)]
            .into_iter()
            .filter(move |&(calibrated, _)| calibrates || !calibrated)
            .map(move |(calibrated, remap)| Variant::tuned(mechanism, calibrated, remap))
    };
    mechanism::ALL.iter().copied().flat_map(ways).collect()
}

/// The number of forecasts that were compared with counts, and those that were wrong.
#[derive(Default)]
struct Forecasts {
    compared: usize,
    wrong: Vec<String>,
}

impl Forecasts {
    fn compare(&mut self, what: &str, said: f64, counts: &Counts, k: usize) {
        self.compared += 1;
        let counted = seconds(counts, k);
        let ratio = (said + INSTANT) / (counted + INSTANT);
        if !(1.0 / FACTOR..=FACTOR).contains(&ratio) {
            let found = format!("{said:.1e} s said, {counted:.1e} s counted {counts:?}");
            self.wrong.push(format!("{what}: {found}"));
        }
    }

    fn are_right(&self) {
        let Self { compared, wrong } = self;
        assert!(wrong.is_empty(), "{} of {compared}:\n{}", wrong.len(), wrong.join("\n"));
        assert!(*compared > 150, "{compared}");
    }
}

#[test]
fn every_mechanism_and_option_takes_what_was_forecast() {
    let mut forecasts = Forecasts::default();
    for (k, n) in [(2, 60), (2, 400), (3, 14), (4, 6)] {
        for epsilon in [0.1, 1.0, 5.0] {
            let setting = setting(k, n, epsilon);
            for variant in variants() {
                let Some(forecast) = predict_error(&variant, &setting, Data::PriorPredictive)
                    .filter(|work| work.cpu_seconds < 0.1)
                else {
                    continue;
                };
                if tuning::check(&variant, &setting).is_err() {
                    continue;
                }
                let work = || {
                    let tuned = TuningCache::default().tune(&variant, &setting).ok()?;
                    let metric = Metric::from_distance(setting.distance);
                    predictive_error::over_all_data(&tuned.variant, &setting, metric).ok()?
                };
                let (Some(_), counts) = counted::during(work) else { continue };
                let said = forecast.cpu_seconds;
                let what = format!("{} k = {k} n = {n} ε = {epsilon}", variant.label);
                forecasts.compare(&what, said, &counts, k);
            }
        }
    }
    forecasts.are_right();
}

#[test]
fn every_audit_takes_what_was_forecast() {
    let mut forecasts = Forecasts::default();
    for (k, n) in [(2, 60), (2, 600), (3, 7), (3, 14), (4, 4)] {
        for epsilon in [0.1, 0.5, 3.0] {
            let setting = setting(k, n, epsilon);
            for mechanism in mechanism::ALL.iter().copied() {
                let variant = Variant::plain(mechanism);
                let Ok(recipe) = variant.outline(&setting) else { continue };
                let passes = rates::PASSES_PER_TRADE_OFF;
                let audited = predict_passes(&setting, &[recipe], true, passes).cells[0];
                let tuned = predict_tuning(&variant, &setting, Data::PriorPredictive);
                let said = audited.cpu_seconds + tuned.cpu_seconds;
                if said > 1.0 {
                    continue;
                }
                let work = || audit::examine(&variant, &setting, &Scope::All, &[0.0]).ok();
                let (Some(_), counts) = counted::during(work) else { continue };
                let what = format!("{} k = {k} n = {n} ε = {epsilon}", variant.label);
                forecasts.compare(&what, said, &counts, k);
            }
        }
    }
    forecasts.are_right();
}
