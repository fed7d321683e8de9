//! The ℓ1 error of noise on the counts, P[‖x̃ − x‖₁ >= t], beside the bound of notes §3.1.

use super::curves::{self, EXACT, point};
use super::{Case, Panel, naming};
use crate::experiment::table::Tables;
use crate::figure::{CurveFigure, Figure, Scale};
use crate::mechanism::law::Distribution;
use crate::mechanism::prepared::PreparedSetting;
use crate::paper::formula::laplace_tail;
use crate::posterior::metric;

/// The tail of every mechanism.
pub(super) fn at_case(panel: &Panel, case: usize) -> Tables {
    let case = &panel.cases[case];
    let posterior = &case.setting.posterior;
    let facet = format!("x = {}", naming::parenthesised(posterior.counts()));
    let (k, epsilon) = (posterior.k(), case.setting.epsilon.get());
    let mut curves = Vec::new();
    let mut furthest: f64 = 0.0;
    for (variant, law) in panel.variants.iter().zip(l1_laws(panel, case)) {
        let Some(law) = law else { continue };
        // Beyond, the tail is of no interest to anyone.
        let visible = law.tail().into_iter().take_while(|(_, tail)| *tail > 1e-9);
        for at in visible {
            curves.push(point(panel, facet.as_str(), &variant.label, EXACT, at));
            furthest = furthest.max(at.0);
        }
    }
    for t in 0..=furthest as u64 {
        let at = (t as f64, laplace_tail::bound(k, epsilon, t as f64));
        curves.push(point(panel, facet.as_str(), "", "bound of notes §3.1", at));
    }
    Tables { curves, ..Tables::default() }
}

fn l1_laws(panel: &Panel, case: &Case) -> Vec<Option<Distribution>> {
    let l1 = metric::find("l1").expect("the ℓ1 metric");
    let plans = panel.plans(case);
    let bench = PreparedSetting::new(&case.setting, &plans, &[l1]);
    let field = bench.fields().nth(1).expect("the metric that was asked for");
    let law = |plan| Distribution::new(bench.law(plan).as_ref(), field);
    plans.iter().map(law).collect()
}

/// One figure for every case.
#[must_use]
pub fn figures(panel: &Panel, tables: &Tables) -> Vec<(String, Figure)> {
    let case = &panel.cases[0];
    curves::figures(panel, tables, "l1-tail", |facet| CurveFigure {
        note: format!("{facet}, {}", naming::epsilon(case)),
        x_label: "ℓ1 error t".to_owned(),
        y_label: "P[‖x̃ − x‖₁ ≥ t]".to_owned(),
        y_scale: Scale::Log,
        y_range: Some((1e-6, 1.0)),
        ..CurveFigure::default()
    })
}
