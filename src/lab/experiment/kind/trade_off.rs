//! The trade-off between false alarms and misses, between the two data sets that an observer tells
//! apart best. A curve's name in the table says which of the two is the null hypothesis.

use super::curves::{self, EXACT, point};
use super::prelude::*;
use super::privacy::audit_size;
use super::profile::{POINTS, complete_key, curve_of, note, over_mechanisms};
use crate::experiment::ScopeName;
use crate::experiment::digest::by_case;
use crate::experiment::naming::parenthesised;
use engine::analysis::audit;
use system::console::short_or_dash;
use table::{CurveRow, distinct};

/// What an observer who guesses can reach.
const GUESSING: &str = "guessing";

kind! {
    "trade-off": "false alarms against misses of the worst pair of data sets";
    /// The curve of every mechanism, and that of a mere guess.
    pub struct TradeOff {
        /// Over which data sets the loss is taken. Default: all of n records.
        "scope" => scopes: Vec<ScopeName>,
    }
}

impl Kind for TradeOff {
    fn rules(&self) -> Rules {
        Rules { names: Some(LineName::InLegend), ..Rules::USUAL }
    }

    fn place(&self, _: &Panel, abscissa: &Abscissa, case: &Case) -> Option<String> {
        Some(abscissa.naming.name(case))
    }

    fn complete_key(&self, layout: &Layout, case: &Case, key: &mut CellKey) {
        complete_key(&self.scopes, layout, case, key);
    }

    fn rows(&self, task: &Task) -> Result<Tables, Refusal> {
        let Task { layout, panel, case, .. } = *task;
        let mut tables = over_mechanisms(task, &self.scopes, |law, scope| {
            let best = audit::delta_at(law, &case.setting, scope, 0.0)?;
            if best.from == best.to {
                return Ok((EXACT.to_owned(), Vec::new()));
            }
            let curve = audit::trade_off(law, &case.setting, &best.from, &best.to)?;
            Ok((hypotheses(&curve), drawable(&curve)))
        })?;
        let facet = layout.name(case);
        let guess = [0.0, 1.0]
            .map(|alarm| point(panel, facet.as_str(), "", GUESSING, (alarm, 1.0 - alarm)));
        tables.curves.extend(guess);
        Ok(tables)
    }

    /// One figure for every case. All curves end at the same point, so their names stand below.
    fn figures(&self, panel: &Panel, tables: &Tables) -> Vec<(String, Figure)> {
        let note = note(panel, &self.scopes);
        let own: Vec<&CurveRow> = panel.own(&tables.curves).collect();
        // Hypotheses are too long for a legend. If all curves of a figure share them, its note says
        // what they are.
        let named = |row: &&&CurveRow| !row.mechanism.is_empty();
        let tested = |facet: &str| {
            let here = own.iter().filter(named).filter(|row| row.facet == facet);
            match distinct(here.map(|row| row.curve.as_str()))[..] {
                [] => note.clone(),
                [one] => format!("{note}, {one}"),
                _ => format!("{note}; curves.csv has the null hypotheses"),
            }
        };
        let exact = |row: &&CurveRow| match row.mechanism.as_str() {
            "" => (*row).clone(),
            _ => CurveRow { curve: EXACT.to_owned(), ..(*row).clone() },
        };
        let drawn: Vec<CurveRow> = own.iter().map(exact).collect();
        let drawn: Vec<&CurveRow> = drawn.iter().collect();
        curves::figures_of(panel, &drawn, "trade-off", EXACT, |facet| {
            (
                tested(facet),
                CurveFigure {
                    x_label: "probability of a false alarm".to_owned(),
                    y_label: "probability of a miss".to_owned(),
                    x_scale: Scale::Linear,
                    y_scale: Scale::Linear,
                    x_range: Some((0.0, 1.0)),
                    y_range: Some((0.0, 1.0)),
                    ..CurveFigure::default()
                },
            )
        })
    }

    /// How much better than chance an observer does. A curve begins at (0, 1): this is not negative.
    fn digests(&self, panel: &Panel, tables: &Tables) -> Vec<Digest> {
        let cell = |setting: usize, label: &str| {
            let points = curve_of(panel, tables, setting, label).into_iter();
            short_or_dash(points.map(|(alarm, miss)| 1.0 - alarm - miss).reduce(f64::max))
        };
        vec![by_case(
            panel,
            "membership advantage: largest detection rate minus false-alarm rate",
            cell,
        )]
    }

    fn size(&self, panel: &Panel, case: &Case) -> Result<CaseSize, Refusal> {
        audit_size(panel, case, &self.scopes, size::TRADE_OFF)
    }

    /// A curve has as many corners as there are outputs, or is thinned.
    fn row_count(&self, panel: &Panel, _: &Case, size: &CaseSize) -> f64 {
        panel.variants.len() as f64 * size.candidates.min(f64::from(POINTS)) + 2.0
    }
}

/// What is tested against what: a false alarm is one at the null hypothesis, a miss one at the other.
fn hypotheses(curve: &audit::TradeOff) -> String {
    let (null, other) = (parenthesised(&curve.to), parenthesised(&curve.from));
    format!("null hypothesis {null} against {other}")
}

/// The curve's own corners; if there are many, evenly spread points, which look the same.
fn drawable(curve: &audit::TradeOff) -> Vec<(f64, f64)> {
    if curve.corners.len() <= 2 * POINTS as usize {
        return curve.corners.clone();
    }
    let alarms = (0..=POINTS).map(|i| f64::from(i) / f64::from(POINTS));
    alarms.map(|alarm| (alarm, curve.misses(alarm))).collect()
}
