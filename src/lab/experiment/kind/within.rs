//! The probability of an answer within a few steps of the truth, beside the formulas and bounds of
//! bounds Theorem 4.5.

use super::check_steps;
use super::curves::{EXACT, against_n, figures_of, point};
use super::prelude::*;
use crate::experiment::value::Count;
use engine::mechanism::Mechanism;
use paper::formula::{step_bounds, steps};
use table::CurveRow;

kind! {
    "within": "the probability of an answer within a few steps";
    /// P[H <= c(k')] for every mechanism and number of steps k'.
    pub struct Within {
        /// Numbers of steps.
        "steps" => steps: Vec<Count>,
    }
}

impl Kind for Within {
    fn rules(&self) -> Rules {
        Rules { names: Some(LineName::OnPlot), ..Rules::OF_FORMULAS }
    }

    fn check(&self, _: &Panel) -> Result<(), Complaint> {
        check_steps(self, &self.steps)
    }

    fn place(&self, _: &Panel, _: &Abscissa, case: &Case) -> Option<String> {
        Some(case.setting.n.to_string())
    }

    fn complete_key(&self, _: &Layout, _: &Case, key: &mut CellKey) {
        key.put_all("steps", self.steps.iter().map(|steps| steps.0));
    }

    fn rows(&self, task: &Task) -> Result<Tables, Refusal> {
        let Task { panel, case, .. } = *task;
        let n = case.setting.n as f64;
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

    /// Two figures for every number of steps: P for the mechanisms whose P, or whose bounds of it,
    /// fall towards 0, and 1 − P for those whose P stays near 1.
    fn figures(&self, panel: &Panel, tables: &Tables) -> Vec<(String, Figure)> {
        let all: Vec<&CurveRow> = panel.own(&tables.curves).collect();
        let mut figures = Part::Within.figures(panel, &all);
        figures.extend(Part::Beyond.figures(panel, &all));
        figures
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

/// Rarer than this, 1 − P has lost too many digits to be drawn.
const LEAST_BEYOND: f64 = 1e-12;

/// What one of the two figures shows.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    /// P[H <= c(k')] of EHD and EHDL with their bounds, which fall like 1/n.
    Within,
    /// P[H > c(k')] of all mechanisms but EHD.
    Beyond,
}

impl Part {
    fn shows(self, variant: &Mechanism, curve: &str) -> bool {
        match (self, variant.kind.id) {
            (Self::Within, id) => ["ehd", "ehdl"].contains(&id),
            (Self::Beyond, "ehd") => false,
            // The bounds of EHDL are far from it, and stand in the other figure.
            (Self::Beyond, "ehdl") => curve == EXACT,
            (Self::Beyond, _) => true,
        }
    }

    /// The row as the figure shows it.
    fn turned(self, row: &CurveRow) -> CurveRow {
        let mut row = row.clone();
        if self == Self::Beyond {
            row.y = 1.0 - row.y;
            if row.y < LEAST_BEYOND {
                row.y = 0.0;
            }
            row.curve = match row.curve.as_str() {
                LOWER => UPPER.to_owned(),
                UPPER => LOWER.to_owned(),
                _ => row.curve,
            };
        }
        row
    }

    fn figures(self, panel: &Panel, all: &[&CurveRow]) -> Vec<(String, Figure)> {
        let case = &panel.cases[0];
        let settings = format!("{}, {}, balanced data", naming::prior(case), naming::epsilon(case));
        let is_shown = |row: &CurveRow| {
            let mut variants = panel.variants.iter();
            variants.any(|one| one.label == row.mechanism && self.shows(one, &row.curve))
        };
        // A bound that is above 1 everywhere would be a name without a line.
        let says_something = |row: &CurveRow| {
            let same = |other: &CurveRow| {
                (&other.facet, &other.mechanism, &other.curve)
                    == (&row.facet, &row.mechanism, &row.curve)
            };
            all.iter().any(|other| same(other) && other.y <= 1.0)
        };
        let own = all.iter().filter(|row| is_shown(row) && says_something(row));
        let rows: Vec<CurveRow> = own.map(|row| self.turned(row)).collect();
        let rows: Vec<&CurveRow> = rows.iter().collect();
        let (name, y_label, missing) = match self {
            Self::Within => {
                ("within", "P[H ≤ c(k′)], within k′ steps", "bounds above 1 are not shown")
            }
            Self::Beyond => {
                ("beyond", "P[H > c(k′)], not within k′ steps", "values below 1e-12 are not shown")
            }
        };
        let mut figures = figures_of(panel, &rows, name, EXACT, |facet| {
            let values = || rows.iter().filter(|row| row.facet == facet).map(|row| row.y);
            let least = values().filter(|y| *y > 0.0).fold(1.0, f64::min);
            let is_cut = values().any(|y| y > 1.0 || y == 0.0);
            let mut note = format!("{settings}; dotted: formulas and bounds");
            if is_cut {
                note += &format!("; {missing}");
            }
            let axes = CurveFigure {
                y_scale: Scale::Log,
                y_range: Some((least.max(LEAST_BEYOND) / 1.5, 1.0)),
                ..against_n(y_label)
            };
            (note, axes)
        });
        let heads = figures.iter_mut().map(|(_, figure)| &mut figure.head);
        heads.for_each(|head| head.title += &format!(", {name} k′ steps"));
        figures
    }
}

const LOWER: &str = "lower bound";
const UPPER: &str = "upper bound";

/// What the theorem says about a mechanism.
fn bounds(variant: &Mechanism, case: &Case, steps: u32) -> Vec<(&'static str, f64)> {
    let setting = &case.setting;
    let (epsilon, n) = (setting.epsilon.get(), setting.n);
    let between = |(lower, upper)| vec![(LOWER, lower), (UPPER, upper)];
    match variant.kind.id {
        "lszhang" => vec![
            ("formula", step_bounds::lszhang(steps, epsilon)),
            (LOWER, step_bounds::lszhang_lower(steps, epsilon)),
        ],
        "lshist" => vec![
            ("formula", step_bounds::lshist(steps, epsilon)),
            (LOWER, step_bounds::lshist_lower(steps, epsilon)),
        ],
        "ehd" => between(step_bounds::ehd(steps, epsilon, n)),
        "ehdl" => between(step_bounds::ehdl(steps, epsilon, n, setting.sensitivity().local())),
        _ => Vec::new(),
    }
}
