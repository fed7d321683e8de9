//! The probability of an answer within a few steps of the truth, beside the formulas and bounds of
//! bounds Theorem 4.5.

use std::collections::BTreeSet;

use super::check_steps;
use super::curves::{self, EXACT, against_n, point};
use super::key::Count;
use super::prelude::*;
use crate::mechanism::Variant;
use crate::paper::formula::{step_bounds, steps};

kind! {
    "within": "the probability of an answer within a few steps";
    /// P[H <= c(k')] for every mechanism and number of steps k'.
    pub struct Within {
        /// Numbers of steps.
        "steps" => steps: Vec<Count>,
    }
}

impl Kind for Within {
    fn why_untuned(&self) -> Option<&'static str> {
        Some(CHECKS_FORMULAS)
    }

    fn needs_two_categories(&self) -> bool {
        true
    }

    fn check(&self, _: &Panel) -> Result<(), Complaint> {
        check_steps(self, &self.steps)
    }

    fn place(&self, _: &Panel, _: &Abscissa, case: &Case) -> Option<String> {
        Some(case.setting.posterior.n().to_string())
    }

    fn complete_key(&self, _: &Layout, _: &Case, key: &mut CellKey) {
        key.put_all("steps", self.steps.iter().map(|steps| steps.0));
    }

    fn rows(&self, task: &Task) -> Result<Tables, Refusal> {
        let Task { panel, case, .. } = *task;
        let n = case.setting.posterior.n() as f64;
        let mut curves = Vec::new();
        for (variant, distribution) in panel.variants.iter().zip(panel.distributions(case)?) {
            let Some(distribution) = distribution else { continue };
            for (count, radius) in self.radii(case) {
                let mut put = |curve: &str, y: f64| {
                    curves.push(point(panel, facet(count), &variant.label, curve, (n, y)));
                };
                put(EXACT, distribution.at_most(radius));
                for (curve, bound) in bounds(variant, case, count) {
                    put(curve, bound);
                }
            }
        }
        Ok(Tables { curves, ..Tables::default() })
    }

    /// One figure for every number of steps.
    fn figures(&self, panel: &Panel, tables: &Tables) -> Vec<(String, Figure)> {
        let case = &panel.cases[0];
        let settings = format!("{}, {}, balanced data", naming::prior(case), naming::epsilon(case));
        curves::figures(panel, tables, "within", Some(EXACT), |facet| CurveFigure {
            y_scale: Scale::Log,
            // The upper bounds leave the probabilities far behind.
            y_range: Some((1e-4, 1.0)),
            ..against_n(
                format!("{facet}, {settings}; dotted: formulas and bounds"),
                "P[H ≤ c(k′)], within k′ steps",
            )
        })
    }

    fn figure_count(&self, panel: &Panel) -> usize {
        let walked = |case: &&Case| panel.variants.iter().any(|one| panel.is_walked(one, case));
        let cases = panel.cases.iter().filter(walked);
        cases
            .flat_map(|case| self.radii(case))
            .map(|(count, _)| count)
            .collect::<BTreeSet<_>>()
            .len()
    }

    fn sketches(&self, panel: &Panel) -> Vec<Figure> {
        vec![sketch::curves(panel, 1, true)]
    }
}

fn facet(count: u32) -> String {
    format!("k′ = {count}")
}

impl Within {
    /// Every number of steps and its distance from the truth; fewer records than steps have none.
    fn radii(&self, case: &Case) -> impl Iterator<Item = (u32, f64)> {
        let counts = self.steps.iter().map(|steps| u32::try_from(steps.0).unwrap_or(u32::MAX));
        counts.filter_map(|count| Some((count, steps::radius(&case.setting, count)?)))
    }
}

/// What the theorem says about a mechanism.
fn bounds(variant: &Variant, case: &Case, steps: u32) -> Vec<(&'static str, f64)> {
    let setting = &case.setting;
    let (epsilon, n) = (setting.epsilon.get(), setting.posterior.n());
    let between = |(lower, upper)| vec![("lower bound", lower), ("upper bound", upper)];
    match variant.mechanism.id() {
        "lszhang" => vec![
            ("formula", step_bounds::lszhang(steps, epsilon)),
            ("lower bound", step_bounds::lszhang_lower(steps, epsilon)),
        ],
        "lshist" => vec![
            ("formula", step_bounds::lshist(steps, epsilon)),
            ("lower bound", step_bounds::lshist_lower(steps, epsilon)),
        ],
        "ehd" => between(step_bounds::ehd(steps, epsilon, n)),
        "ehdl" => between(step_bounds::ehdl(steps, epsilon, n, setting.sensitivity().local())),
        _ => Vec::new(),
    }
}
