//! The ε from which on no weight of the tight mechanism is negative, and the ε from which on it is
//! optimal, against n.

use super::curves::{self, point};
use super::prelude::*;
use engine::analysis::optimum::{self, Goal, Question, Size};
use engine::analysis::predictive_error::over_all_data;
use engine::mechanism::law::OutputSet;
use engine::mechanism::law::tight::{Effort, Tight};
use engine::mechanism::{self, Variant};
use engine::posterior::metric::Metric;
use engine::posterior::privacy::Epsilon;
use engine::posterior::setting::Setting;
use figure::LineStyle;

kind! {
    "threshold": "the ε from which on no weight of the tight mechanism is negative, and from which on it is optimal";
    /// Two thresholds of ε for every number of categories and records.
    pub struct Threshold {}
}

/// The range of ε that is searched, from above.
const LARGEST: f64 = 8.0;
const SMALLEST: f64 = 0.02;

/// Each step downwards.
const STEP: f64 = 1.25;

/// Thresholds are found to within this, relatively: one by the signs of weights, one by linear programs.
const SIGNS: f64 = 1e-6;
const PROGRAMS: f64 = 2e-3;

/// Nearer to the certified lower bound than this, relatively, an error is called the least.
const OPTIMAL: f64 = 1e-6;

impl Kind for Threshold {
    fn compares_mechanisms(&self) -> bool {
        false
    }

    fn place(&self, _: &Panel, _: &Abscissa, case: &Case) -> Option<String> {
        Some(format!("{}, n = {}", naming::prior(case), case.setting.posterior.n()))
    }

    fn rows(&self, task: &Task) -> Result<Tables, Refusal> {
        let Task { panel, case, .. } = *task;
        let (k, n) = (case.setting.posterior.k(), case.setting.posterior.n());
        let is_signed = |epsilon: f64| Ok(!Tight::find(k, n, epsilon)?.is_clipped());
        let weights = least(is_signed, SIGNS)?;
        let best = least(|epsilon| is_optimal(&case.setting, epsilon), PROGRAMS)?;
        let found = [("no weight is negative", weights), ("optimal", best)];
        let curves = found.into_iter().filter_map(|(name, epsilon)| {
            Some(point(panel, "", "", format!("k = {k}: {name}"), (n as f64, epsilon?)))
        });
        Ok(Tables { curves: curves.collect(), ..Tables::default() })
    }

    fn figures(&self, panel: &Panel, tables: &Tables) -> Vec<(String, Figure)> {
        let axes = CurveFigure {
            x_label: "number of records n".to_owned(),
            y_label: "privacy parameter ε".to_owned(),
            y_scale: Scale::Log,
            ..CurveFigure::default()
        };
        let note = "from this ε on the statement holds";
        let axes = |_: &str| (note.to_owned(), axes.clone());
        let mut figures = curves::figures(panel, tables, "threshold", "", axes);
        // All curves are computed; a dotted one would be a claim.
        for (_, figure) in &mut figures {
            if let Body::Curve(curves) = &mut figure.body {
                curves.lines.iter_mut().for_each(|line| line.style = LineStyle::Solid);
            }
        }
        figures
    }

    fn digests(&self, panel: &Panel, tables: &Tables) -> Vec<Digest> {
        let mut digests = curves::digests(panel, tables);
        digests.iter_mut().for_each(|digest| {
            digest.caption = "the ε from which on the statement holds, by n".to_owned()
        });
        digests
    }

    fn cost(&self, _: &Panel, case: &Case) -> Result<SettingWork, Refusal> {
        let (k, n) = (case.setting.posterior.k(), case.setting.posterior.n());
        let mut work = cost::predict_changes(&case.setting);
        let question = Question::pure(Goal::Bayes, OutputSet::Simplex);
        for _ in 0..PROGRAMS_PER_THRESHOLD {
            work.common.add(Size::new(&case.setting, question).work);
        }
        let rows = Effort::new(k, n, 0.5).rows * WEIGHTS_PER_THRESHOLD;
        work.common.cpu_seconds += 1e-9 * cost::rates::ns_per_tight_row(k) * rows;
        Ok(work)
    }

    fn row_count(&self, _: &Panel, _: &Case, _: &SettingWork) -> f64 {
        2.0
    }
}

/// How many linear programs and how many sets of weights a threshold takes.
const PROGRAMS_PER_THRESHOLD: usize = 15;
const WEIGHTS_PER_THRESHOLD: f64 = 35.0;

/// The least ε from which on `holds`, as far as every [`STEP`] was tried; `None` if it holds down to
/// [`SMALLEST`], or does not hold at [`LARGEST`].
fn least(
    holds: impl Fn(f64) -> Result<bool, Refusal>,
    accuracy: f64,
) -> Result<Option<f64>, Refusal> {
    let (mut low, mut high) = (LARGEST, LARGEST);
    while holds(low)? {
        (low, high) = (low / STEP, low);
        if low < SMALLEST {
            return Ok(None);
        }
    }
    if low == LARGEST {
        return Ok(None);
    }
    while high > low * (1.0 + accuracy) {
        let middle = (low * high).sqrt();
        if holds(middle)? { high = middle } else { low = middle }
    }
    Ok(Some(high))
}

/// Whether the mean error of the tight mechanism is the least that is possible.
fn is_optimal(template: &Setting, epsilon: f64) -> Result<bool, Refusal> {
    let setting = Setting { epsilon: Epsilon::new(epsilon)?, ..template.clone() };
    let tight = Variant::plain(mechanism::find("tight").expect("a mechanism"));
    let metric = Metric::from_distance(setting.distance);
    let Some(found) = over_all_data(&tight, &setting, metric)? else { return Ok(false) };
    let best = optimum::solve(&setting, Goal::Bayes, OutputSet::Simplex).ok();
    Ok(best.is_some_and(|best| found.mean <= best.lower * (1.0 + OPTIMAL)))
}
