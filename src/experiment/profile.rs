//! The privacy profile ε ↦ δ, and the trade-off between false alarms and misses: what a mechanism
//! gives away, not only at its worst output.

use super::curves::{self, EXACT, point};
use super::{Case, Finished, Layout, Naming, Panel, ScopeName};
use crate::analysis::audit::{self, Scope, TradeOff};
use crate::experiment::table::{CurveRow, Tables};
use crate::figure::{CurveFigure, Figure, Scale};
use crate::mechanism::Variant;

/// So many points of a curve, beside the first.
const POINTS: u32 = 100;

/// What an observer who guesses can reach.
const GUESSING: &str = "guessing";

/// The data sets of the panel's first scope.
fn scope(panel: &Panel, case: &Case) -> Scope {
    panel.parameters.scopes_or_all().first().map_or(Scope::All, |name| name.scope(case))
}

fn over_mechanisms(
    layout: &Layout,
    case: usize,
    finished: &Finished,
    curve: impl Fn(&Variant, &Case) -> Vec<(f64, f64)>,
) -> Tables {
    let panel = layout.panel;
    let (facet, case) = (layout.name(case), &panel.cases[case]);
    let mut tables = Tables::default();
    for (place, variant) in panel.variants.iter().enumerate() {
        let points = curve(&panel.tuned(variant, case).variant, case);
        let rows = points.into_iter().map(|at| point(panel, &facet, &variant.label, EXACT, at));
        tables.curves.extend(rows);
        finished(place);
    }
    tables
}

/// δ of every mechanism at ε from 0 to its loss. Each δ is the largest over all
/// pairs of adjacent data sets, which need not be the pair of the largest loss.
pub(super) fn at_case(layout: &Layout, case: usize, finished: &Finished) -> Tables {
    over_mechanisms(layout, case, finished, |variant, case| {
        let (setting, scope) = (&case.setting, scope(layout.panel, case));
        let loss = audit::loss(variant, setting, &scope).expect("checked by the config").loss;
        let grid: Vec<f64> =
            (0..=POINTS).map(|i| loss * (f64::from(i) / f64::from(POINTS))).collect();
        let found = audit::examine(variant, setting, &scope, &grid).expect("checked by the config");
        found.deltas.iter().map(|at| (at.epsilon, at.delta)).collect()
    })
}

/// One figure for every case. δ is 0 at the loss: there the curves leave the logarithmic axis, all at
/// its bottom, so that their names stand below.
#[must_use]
pub fn figures(panel: &Panel, tables: &Tables) -> Vec<(String, Figure)> {
    let mut figures = drawn(panel, tables);
    for (_, figure) in &mut figures {
        if let Figure::Curve(CurveFigure { lines, y_range: Some((bottom, _)), .. }) = figure {
            for line in lines {
                line.exact.iter_mut().for_each(|point| point.1 = point.1.max(*bottom));
                line.label_end = false;
            }
        }
    }
    figures
}

fn drawn(panel: &Panel, tables: &Tables) -> Vec<(String, Figure)> {
    let note = note(panel);
    let least = |facet: &str| {
        let own = |row: &&CurveRow| row.panel == panel.id && row.facet == facet && row.y > 0.0;
        tables.curves.iter().filter(own).map(|row| row.y).fold(1.0, f64::min)
    };
    curves::figures(panel, tables, "profile", |facet| CurveFigure {
        note: join(facet, &note),
        x_label: "ε".to_owned(),
        y_label: "δ(ε), the largest of all pairs".to_owned(),
        y_scale: Scale::Log,
        y_range: Some((0.5 * least(facet).max(1e-4), 1.0)),
        ..CurveFigure::default()
    })
}

fn join(facet: &str, note: &str) -> String {
    let parts = [facet, note].into_iter().filter(|part| !part.is_empty());
    parts.collect::<Vec<_>>().join(", ")
}

/// What all cases share.
fn note(panel: &Panel) -> String {
    let (case, naming) = (&panel.cases[0], Naming::new(&panel.cases));
    let mut parts = naming.shared(case);
    let scope = panel.parameters.scopes_or_all().first().map(|scope| scope.title().to_owned());
    parts.extend(scope);
    parts.join(", ")
}

/// False alarms against misses, between the two data sets that an observer tells apart best.
pub mod trade_off {
    use super::*;

    /// The curve of every mechanism, and that of a mere guess.
    pub(in crate::experiment) fn at_case(
        layout: &Layout,
        case: usize,
        finished: &Finished,
    ) -> Tables {
        let panel = layout.panel;
        let mut tables = over_mechanisms(layout, case, finished, |variant, case| {
            let (setting, scope) = (&case.setting, scope(panel, case));
            let best =
                audit::delta_at(variant, setting, &scope, 0.0).expect("checked by the config");
            if best.from == best.to {
                return Vec::new();
            }
            let curve = audit::trade_off(variant, setting, &best.from, &best.to)
                .expect("checked by the config");
            drawable(&curve)
        });
        let facet = layout.name(case);
        let guess = [0.0, 1.0]
            .map(|alarm| point(panel, facet.as_str(), "", GUESSING, (alarm, 1.0 - alarm)));
        tables.curves.extend(guess);
        tables
    }

    /// The curve's own corners, unless they are so many that evenly spread points look the same.
    fn drawable(curve: &TradeOff) -> Vec<(f64, f64)> {
        if curve.corners.len() <= 2 * POINTS as usize {
            return curve.corners.clone();
        }
        let alarms = (0..=POINTS).map(|i| f64::from(i) / f64::from(POINTS));
        alarms.map(|alarm| (alarm, curve.misses(alarm))).collect()
    }

    /// One figure for every case. All curves end at the same point, so their names stand below.
    #[must_use]
    pub fn figures(panel: &Panel, tables: &Tables) -> Vec<(String, Figure)> {
        let mut figures = drawn(panel, tables);
        for (_, figure) in &mut figures {
            if let Figure::Curve(figure) = figure {
                figure.lines.iter_mut().for_each(|line| line.label_end = false);
            }
        }
        figures
    }

    fn drawn(panel: &Panel, tables: &Tables) -> Vec<(String, Figure)> {
        let note = note(panel);
        curves::figures(panel, tables, "trade-off", |facet| CurveFigure {
            note: join(facet, &note),
            x_label: "probability of a false alarm".to_owned(),
            y_label: "probability of a miss".to_owned(),
            x_scale: Scale::Linear,
            y_scale: Scale::Linear,
            x_range: Some((0.0, 1.0)),
            y_range: Some((0.0, 1.0)),
            ..CurveFigure::default()
        })
    }
}

impl ScopeName {
    /// The data sets it means at one case.
    #[must_use]
    pub fn scope(self, case: &Case) -> Scope {
        match self {
            Self::All => Scope::All,
            Self::Corners => Scope::Corners,
            Self::Data => Scope::One(case.setting.posterior.counts().to_vec()),
        }
    }
}
