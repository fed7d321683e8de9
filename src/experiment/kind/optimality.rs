//! Is Laplace noise optimal? bounds Theorems 4.1 to 4.4 compare its error ELap(x), the distance that
//! it keeps with probability 1 − γ, γ = e^(−ε), with the local sensitivity.

use super::curves::{self, against_n, point};
use super::prelude::*;
use crate::experiment::table::CurveRow;
use crate::paper::formula::laplace_error::{failure, laplace_error};

const BY_LOCAL: &str = "ELap / LS";
const BY_EPSILON: &str = "ELap / (ε LS)";

kind! {
    "optimality": "the error of Laplace noise over the local sensitivity";
    /// Both ratios.
    pub struct Optimality {}
}

impl Kind for Optimality {
    fn why_untuned(&self) -> Option<&'static str> {
        Some(CHECKS_FORMULAS)
    }

    fn needs_two_categories(&self) -> bool {
        true
    }

    fn place(&self, _: &Panel, _: &Abscissa, case: &Case) -> Option<String> {
        Some(format!("{}, {}", case.setting.posterior.n(), naming::epsilon(case)))
    }

    fn rows(&self, task: &Task) -> Result<Tables, Refusal> {
        let Task { panel, case, .. } = *task;
        let epsilon = case.setting.epsilon.get();
        let n = case.setting.posterior.n() as f64;
        let local = case.setting.sensitivity().local();
        let [Some(law), ..] = &panel.distributions(case)?[..] else { return Ok(Tables::default()) };
        let error = laplace_error(law, failure(epsilon));
        let ratios = [(BY_LOCAL, error / local), (BY_EPSILON, error / (epsilon * local))];
        let row = |(facet, ratio)| point(panel, facet, "", naming::epsilon(case), (n, ratio));
        Ok(Tables { curves: ratios.map(row).to_vec(), ..Tables::default() })
    }

    /// One figure for each ratio, one line for each ε.
    fn figures(&self, panel: &Panel, tables: &Tables) -> Vec<(String, Figure)> {
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
        curves::figures(panel, tables, "optimality", None, |facet| CurveFigure {
            y_scale: Scale::Linear,
            y_range: Some((0.0, top(facet))),
            references: match facet {
                BY_LOCAL => vec![(2.0, "2, by Corollary 4.4.1".to_owned())],
                _ => Vec::new(),
            },
            ..against_n(note.clone(), facet)
        })
    }

    fn figure_count(&self, panel: &Panel) -> usize {
        let first = &panel.variants[0];
        if panel.cases.iter().any(|case| panel.is_walked(first, case)) { 2 } else { 0 }
    }

    fn digests(&self, panel: &Panel, tables: &Tables) -> Vec<Digest> {
        curves::digests(panel, tables)
    }
}
