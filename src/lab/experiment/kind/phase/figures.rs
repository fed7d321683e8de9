//! Two maps of one plane: who wins, and by how much.

use super::{Among, Phase, ordinate, place};
use crate::experiment::axis::Axis;
use crate::experiment::{Case, DataSpec, Naming, Panel, naming};
use figure::{Figure, HeatFigure, HeatValues, Scale, Series};
use table::{PhaseRow, Tables};

/// Margins are told apart by shades: how strong a colour is from which margin on, and what that
/// means.
const SHADES: [(f64, f64, &str); 4] = [
    (0.0, 0.15, "better by < 1 %"),
    (0.01, 0.4, "1–10 %"),
    (0.1, 0.7, "10–100 %"),
    (1.0, 1.0, "> 100 %"),
];

/// Margins below this many percent look alike on the scale of colours.
const LEAST_PERCENT: f64 = 0.1;

/// Who wins where, and by how much.
pub(super) fn figures(kind: &Phase, panel: &Panel, tables: &Tables) -> Vec<(String, Figure)> {
    let Some(axis) = ordinate(panel) else { return Vec::new() };
    let maps = kind.contests().iter().flat_map(|&among| {
        let map = Map::new(kind, panel, axis, among, tables);
        let suffix = if among == Among::All { "" } else { "-without" };
        [
            (format!("winner{suffix}"), map.winners(panel)),
            (format!("margin{suffix}"), map.margins(panel)),
        ]
    });
    maps.collect()
}

/// The rows of the table in their places.
struct Map<'a> {
    kind: &'a Phase,
    axis: Axis,
    among: Among,
    x: Vec<f64>,
    y: Vec<f64>,
    /// One row for each y, one column for each x.
    rows: Vec<Vec<Option<&'a PhaseRow>>>,
}

impl<'a> Map<'a> {
    fn new(
        kind: &'a Phase,
        panel: &'a Panel,
        axis: Axis,
        among: Among,
        tables: &'a Tables,
    ) -> Self {
        let places = || panel.cases.iter().filter_map(|case| place(axis, case));
        let x = ascending(places().map(|place| place.0));
        let y = ascending(places().map(|place| place.1));
        let mut rows = vec![vec![None; x.len()]; y.len()];
        for row in among.rows(panel, tables) {
            let at = panel.case(row.setting).and_then(|case| place(axis, case));
            let index = |all: &[f64], one: f64| all.iter().position(|other| *other == one);
            if let Some((at_x, at_y)) = at
                && let (Some(column), Some(line)) = (index(&x, at_x), index(&y, at_y))
            {
                rows[line][column] = Some(row);
            }
        }
        Self { kind, axis, among, x, y, rows }
    }

    /// The same of every row.
    fn each<T>(&self, value: impl Fn(Option<&PhaseRow>) -> T) -> Vec<Vec<T>> {
        self.rows.iter().map(|line| line.iter().map(|row| value(*row)).collect()).collect()
    }

    fn winners(&self, panel: &Panel) -> Figure {
        let wins =
            |label: &str| self.rows.iter().flatten().flatten().any(|row| row.winner == label);
        let all = panel.series();
        let variants = || {
            let variants = panel.variants.iter().zip(&all);
            let own = variants.filter(|(variant, _)| self.kind.competes(self.among, variant));
            own.map(|(variant, series)| (variant, series.clone()))
        };
        let series: Vec<(&str, Series)> = variants()
            .filter(|(variant, _)| wins(&variant.label))
            .map(|(variant, series)| (variant.label.as_str(), series))
            .collect();
        let losers: Vec<String> = variants()
            .filter(|(variant, _)| !wins(&variant.label))
            .map(|(_, series)| series.label)
            .collect();
        let mut note = format!(
            "the best of {} mechanisms by exact mean {}; {}",
            self.kind.competitors(self.among, panel).count(),
            panel.distance.title(),
            common(panel)
        );
        if !losers.is_empty() && !series.is_empty() {
            note += &format!("; nowhere best: {}", losers.join(", "));
        }
        let winner = |row: &PhaseRow| series.iter().position(|(label, _)| *label == row.winner);
        let body = HeatFigure {
            values: HeatValues::Categories {
                values: self.each(|row| row.and_then(winner)),
                strength: Some(self.each(|row| row.map_or(0.0, strength))),
                key: SHADES.map(|(_, strength, text)| (strength, text.to_owned())).to_vec(),
                series: series.into_iter().map(|(_, series)| series).collect(),
            },
            ..self.figure(panel)
        };
        Figure::new(format!("{}: the winner", self.kind.title(self.among, panel)), note, body)
    }

    fn margins(&self, panel: &Panel) -> Figure {
        let percent = |row: &PhaseRow| row.margin.map(|margin| 100.0 * margin);
        let values = self.each(|row| row.and_then(percent).map(|value| value.max(LEAST_PERCENT)));
        let largest =
            values.iter().flatten().flatten().fold(10.0 * LEAST_PERCENT, |a, b| a.max(*b));
        let note = format!(
            "the lead of the best of {} mechanisms over the second; {}",
            self.kind.competitors(self.among, panel).count(),
            common(panel)
        );
        let body = HeatFigure {
            values: HeatValues::Numbers {
                values,
                label: "error of the second best above the best, in %".to_owned(),
                scale: Scale::Log,
                range: Some((LEAST_PERCENT, largest)),
            },
            ..self.figure(panel)
        };
        Figure::new(format!("{}: the margin", self.kind.title(self.among, panel)), note, body)
    }

    fn figure(&self, panel: &Panel) -> HeatFigure {
        HeatFigure {
            x_label: "number of records n".to_owned(),
            y_label: self.axis.label(panel).unwrap_or_default(),
            x: self.x.clone(),
            y: self.y.clone(),
            x_scale: size_scale(&self.x),
            ..HeatFigure::default()
        }
    }
}

/// Sizes that grow, from one to ten times as many or more, are told apart by their quotients.
fn size_scale(sizes: &[f64]) -> Scale {
    let steps = ascending(sizes.windows(2).map(|pair| pair[1] - pair[0]));
    match (sizes.first(), sizes.last()) {
        (Some(first), Some(last)) if *first > 0.0 && *last >= 10.0 * first && steps.len() > 1 => {
            Scale::Log
        }
        _ => Scale::Auto,
    }
}

fn ascending(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values.dedup();
    values
}

/// A winner that makes no error at all wins by any margin.
fn strength(row: &PhaseRow) -> f64 {
    let margin = row.margin.unwrap_or(f64::INFINITY);
    let reached = SHADES.iter().rev().find(|(least, _, _)| margin >= *least);
    reached.map_or(0.0, |(_, strength, _)| *strength)
}

/// What all points have in common.
fn common(panel: &Panel) -> String {
    let naming = Naming::new(&panel.cases);
    let case: &Case = &panel.cases[0];
    let mut parts = vec![match naming.priors {
        true => format!("{} categories", case.setting.k()),
        false => naming::prior(case),
    }];
    parts.extend((!naming.epsilons).then(|| naming::epsilon(case)));
    parts.extend(match &panel.grid.data {
        DataSpec::Balanced { proportions: None, .. } => Some("balanced data".to_owned()),
        DataSpec::Balanced { proportions: Some(shares), .. } => {
            Some(format!("data in proportions {}", naming::parenthesised(shares)))
        }
        _ => None,
    });
    parts.join(", ")
}
