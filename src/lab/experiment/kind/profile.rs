//! The privacy profile ε ↦ δ: what a mechanism gives away, not only at its worst output.

use super::curves::{self, EXACT, point};
use super::prelude::*;
use super::privacy::{audit_size, or_all};
use crate::experiment::ScopeName;
use crate::experiment::digest::by_case;
use engine::analysis::audit::{self, Scope};
use engine::mechanism::law::Law;
use engine::named::Named;
use engine::parallel;
use system::console::short;
use table::CurveRow;

/// The number of points of a curve, beside the first.
pub(super) const POINTS: u32 = 100;

kind! {
    "profile": "the privacy profile: δ at every ε";
    /// δ of every mechanism at ε from 0 to its loss.
    pub struct Profile {
        /// Over which data sets the loss is taken. Default: all of n records.
        "scope" => scopes: Vec<ScopeName>,
    }
}

impl Kind for Profile {
    fn rules(&self) -> Rules {
        Rules { names: Some(LineName::InLegend), ..Rules::USUAL }
    }

    fn place(&self, _: &Panel, abscissa: &Abscissa, case: &Case) -> Option<String> {
        Some(abscissa.naming.name(case))
    }

    fn complete_key(&self, layout: &Layout, case: &Case, key: &mut CellKey) {
        complete_key(&self.scopes, layout, case, key);
    }

    /// Each δ is the largest over all pairs of adjacent data sets, which need not be the pair of the
    /// largest loss.
    fn rows(&self, task: &Task) -> Result<Tables, Refusal> {
        over_mechanisms(task, &self.scopes, |law, scope| {
            let setting = &task.case.setting;
            let loss = audit::loss(law, setting, scope)?.loss;
            // An infinite loss has no end: there is a δ at every ε.
            let loss = if loss.is_finite() { loss } else { 2.0 * setting.epsilon.get() };
            let grid: Vec<f64> =
                (0..=POINTS).map(|i| loss * (f64::from(i) / f64::from(POINTS))).collect();
            let found = audit::examine(law, setting, scope, &grid)?;
            let points = found.deltas.iter().map(|at| (at.epsilon, at.delta)).collect();
            Ok((EXACT.to_owned(), points))
        })
    }

    /// One figure for every case. δ is 0 at the loss: there the curves leave the logarithmic axis,
    /// all at its bottom, so that their names stand below.
    fn figures(&self, panel: &Panel, tables: &Tables) -> Vec<(String, Figure)> {
        let note = note(panel, &self.scopes);
        let least = |facet: &str| {
            let own = |row: &&CurveRow| row.facet == facet && row.y > 0.0;
            panel.own(&tables.curves).filter(own).map(|row| row.y).fold(1.0, f64::min)
        };
        let mut figures = curves::figures(panel, tables, "profile", EXACT, |facet| {
            (
                note.clone(),
                CurveFigure {
                    x_label: "ε".to_owned(),
                    y_label: "δ(ε), the largest over all pairs".to_owned(),
                    y_scale: Scale::Log,
                    y_range: Some((0.5 * least(facet).max(1e-4), 1.0)),
                    ..CurveFigure::default()
                },
            )
        });
        for (_, figure) in &mut figures {
            if let Body::Curve(CurveFigure { lines, y_range: Some((bottom, _)), .. }) =
                &mut figure.body
            {
                for line in lines {
                    line.exact.iter_mut().for_each(|point| point.1 = point.1.max(*bottom));
                }
            }
        }
        figures
    }

    /// Where a privacy profile begins and where it ends.
    fn digests(&self, panel: &Panel, tables: &Tables) -> Vec<Digest> {
        let cell = |setting: usize, label: &str| {
            let points = curve_of(panel, tables, setting, label);
            match (points.first(), points.last()) {
                (Some(first), Some(last)) => format!("{}, {}", short(first.1), short(last.0)),
                _ => "–".to_owned(),
            }
        };
        vec![by_case(panel, "δ at ε = 0, and the ε from which on δ is 0 (the privacy loss)", cell)]
    }

    fn size(&self, panel: &Panel, case: &Case) -> Result<CaseSize, Refusal> {
        audit_size(panel, case, &self.scopes, size::PROFILE)
    }

    fn row_count(&self, panel: &Panel, _: &Case, _: &CaseSize) -> f64 {
        panel.variants.len() as f64 * f64::from(POINTS + 1)
    }
}

/// The rows name the case, and depend on the first scope.
pub(super) fn complete_key(scopes: &[ScopeName], layout: &Layout, case: &Case, key: &mut CellKey) {
    key.put("name", layout.name(case));
    key.put_all("scope", or_all(scopes).iter().map(|scope| scope.id()));
}

/// A curve with its name for every mechanism, over the data sets of the first scope.
pub(super) fn over_mechanisms(
    task: &Task,
    scopes: &[ScopeName],
    curve: impl Fn(&dyn Law, &Scope) -> Result<(String, Vec<(f64, f64)>), Refusal>,
) -> Result<Tables, Refusal> {
    let Task { layout, panel, case, .. } = *task;
    let (facet, scope) = (layout.name(case), or_all(scopes)[0].scope(case));
    let mut tables = Tables::default();
    for place in parallel::steps(0..panel.variants.len()) {
        let variant = &panel.variants[place];
        let (name, points) = curve(panel.prepared(variant, case)?.law.as_ref(), &scope)?;
        let rows = points.into_iter().map(|at| point(panel, &facet, &variant.label, &name, at));
        tables.curves.extend(rows);
    }
    Ok(tables)
}

/// The points of a mechanism's curve at a case, where each case has a figure of its own.
pub(super) fn curve_of(
    panel: &Panel,
    tables: &Tables,
    setting: usize,
    label: &str,
) -> Vec<(f64, f64)> {
    let naming = Naming::new(&panel.cases);
    let facet = panel.case(setting).map(|case| naming.name(case)).unwrap_or_default();
    let own = |row: &&CurveRow| row.facet == facet && row.mechanism == label;
    panel.own(&tables.curves).filter(own).map(|row| (row.x, row.y)).collect()
}

/// What all cases share.
pub(super) fn note(panel: &Panel, scopes: &[ScopeName]) -> String {
    let (case, naming) = (&panel.cases[0], Naming::new(&panel.cases));
    let mut parts = naming.shared(case);
    parts.push(or_all(scopes)[0].title().to_owned());
    parts.join(", ")
}
