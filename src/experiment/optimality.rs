//! Is Laplace noise optimal? bounds Theorems 4.1 to 4.4 compare its error ELap(x), the distance that
//! it keeps with probability 1 − γ, γ = e^(−ε), with the local sensitivity.

use super::curves::{self, against_n, point};
use super::{Case, Panel, naming};
use crate::experiment::table::{CurveRow, Tables};
use crate::figure::{CurveFigure, Figure, Scale};
use crate::paper::formula::laplace_error::{failure, laplace_error};

const BY_LOCAL: &str = "ELap / LS";
const BY_EPSILON: &str = "ELap / (ε LS)";

/// Both ratios.
pub(super) fn at_case(panel: &Panel, case: usize) -> Tables {
    Tables { curves: points(panel, &panel.cases[case]), ..Tables::default() }
}

fn points(panel: &Panel, case: &Case) -> Vec<CurveRow> {
    let epsilon = case.setting.epsilon.get();
    let n = case.setting.posterior.n() as f64;
    let local = case.setting.sensitivity().local();
    let [Some(law), ..] = &panel.distributions(case)[..] else { return Vec::new() };
    let error = laplace_error(law, failure(epsilon));
    [(BY_LOCAL, error / local), (BY_EPSILON, error / (epsilon * local))]
        .map(|(facet, ratio)| point(panel, facet, "", naming::epsilon(case), (n, ratio)))
        .to_vec()
}

/// One figure for each ratio, one line for each ε.
#[must_use]
pub fn figures(panel: &Panel, tables: &Tables) -> Vec<(String, Figure)> {
    let note = format!(
        "{} of the error of {}, γ = e^(−ε), {}",
        "smallest t with P[H ≤ t] ≥ 1 − γ",
        panel.variants[0].title(),
        naming::prior(&panel.cases[0])
    );
    let top = |facet: &str| {
        let own = |row: &&CurveRow| row.panel == panel.id && row.facet == facet;
        let least = if facet == BY_LOCAL { 2.0 } else { 1.0 };
        1.1 * tables.curves.iter().filter(own).map(|row| row.y).fold(least, f64::max)
    };
    curves::figures(panel, tables, "optimality", |facet| CurveFigure {
        y_scale: Scale::Linear,
        y_range: Some((0.0, top(facet))),
        references: match facet {
            BY_LOCAL => vec![(2.0, "2, by Corollary 4.4.1".to_owned())],
            _ => Vec::new(),
        },
        ..against_n(note.clone(), facet)
    })
}
