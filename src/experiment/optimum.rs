//! How far from the best possible (bounds §4 asks whether Laplace noise is optimal): the mean error
//! of every mechanism over the prior's predictive law, as a multiple of the least that any private
//! mechanism can have.

use std::collections::BTreeSet;

use super::axis::Abscissa;
use super::curves::line;
use super::{Case, Finished, Panel, naming};
use crate::analysis::optimum::{self, Goal, Optimum, ReleaseSet};
use crate::analysis::predictive_error::over_all_data;
use crate::experiment::table::{OptimalRow, OptimumRow, Tables};
use crate::figure::{CurveFigure, Figure, HeatFigure, HeatValues, Scale};
use crate::mechanism::{Options, Variant};
use crate::posterior::metric::Metric;
use crate::posterior::model::{Counts, vector};

/// The optimum and every mechanism's error. A panel of one case also tells the optimal mechanism.
pub(super) fn at_case(panel: &Panel, case: usize, finished: &Finished) -> Tables {
    let (setting, case) = (panel.first + case, &panel.cases[case]);
    let metric = Metric::from_distance(panel.distance);
    let mut tables = Tables::default();
    let best = optimum::solve(&case.setting, Goal::Bayes, ReleaseSet::Same).ok();
    for (place, variant) in panel.variants.iter().enumerate() {
        let tuned = panel.tuned(variant, case).variant;
        let found = over_all_data(&tuned, &case.setting, metric).expect("checked by the config");
        tables.optimum.extend(found.map(|found| OptimumRow {
            setting,
            mechanism: variant.label.clone(),
            mean: found.mean,
            worst: found.worst,
            optimum: best.as_ref().map(|best| best.value),
            lower: best.as_ref().map(|best| best.lower),
            upper: best.as_ref().map(|best| best.upper),
            ratio: best.as_ref().and_then(|best| best.multiple(found.mean)),
        }));
        finished(place);
    }
    if let (1, Some(best)) = (panel.cases.len(), best) {
        tables.optimal = optimal_rows(setting, &best);
    }
    tables
}

fn optimal_rows(setting: usize, best: &Optimum) -> Vec<OptimalRow> {
    let mechanism = &best.mechanism;
    let row = |(x, counts): (usize, &Counts)| {
        let released = move |(r, output): (usize, &Counts)| OptimalRow {
            setting,
            counts: vector(counts),
            released: vector(output),
            probability: mechanism.probability(x, r),
        };
        mechanism.outputs.iter().enumerate().map(released).collect::<Vec<_>>()
    };
    let rows = mechanism.inputs.iter().enumerate().flat_map(row);
    rows.filter(|row| row.probability > 0.0).collect()
}

/// Every mechanism's multiple of the optimum against what distinguishes the cases; for a panel of
/// one case the optimal mechanism itself.
#[must_use]
pub fn figures(panel: &Panel, tables: &Tables) -> Vec<(String, Figure)> {
    if panel.cases.len() == 1 {
        let own = |row: &&OptimalRow| panel.owns(row.setting);
        let rows: Vec<&OptimalRow> = tables.optimal.iter().filter(own).collect();
        let map = (!rows.is_empty()).then(|| optimal_map(panel, tables, &rows));
        return map.map(|map| ("release".to_owned(), Figure::Heat(map))).into_iter().collect();
    }
    vec![("multiple".to_owned(), Figure::Curve(multiples(panel, tables)))]
}

fn multiples(panel: &Panel, tables: &Tables) -> CurveFigure {
    let abscissa = Abscissa::new(panel);
    let (case, naming) = (&panel.cases[0], &abscissa.naming);
    let lines = panel.variants.iter().zip(panel.series()).map(|(variant, series)| {
        let own = |row: &&OptimumRow| panel.owns(row.setting) && row.mechanism == variant.label;
        let point = |row: &OptimumRow| Some((abscissa.place(panel, row.setting)?, row.ratio?));
        line(series, tables.optimum.iter().filter(own).filter_map(point).collect())
    });
    let mut note: Vec<String> = (!naming.sizes).then(|| naming.data(case)).into_iter().collect();
    note.extend(naming.shared(case));
    CurveFigure {
        title: panel.title.clone(),
        note: note.join(", "),
        x_label: abscissa.axis.label(panel).unwrap_or_default(),
        y_label: "mean error / least possible".to_owned(),
        y_scale: Scale::Log,
        lines: lines.collect(),
        references: vec![(1.0, "optimum".to_owned())],
        categories: abscissa.categories(panel),
        ..CurveFigure::default()
    }
}

fn optimal_map(panel: &Panel, tables: &Tables, rows: &[&OptimalRow]) -> HeatFigure {
    let case = &panel.cases[0];
    let optimum = tables.optimum.iter().find(|row| panel.owns(row.setting));
    let value = optimum.and_then(|row| row.optimum);
    let parse = |text: &str| text.split(';').filter_map(|v| v.parse().ok()).collect::<Counts>();
    let cells: Vec<(Counts, Counts, f64)> = rows
        .iter()
        .map(|row| (parse(&row.counts), parse(&row.released), row.probability))
        .collect();
    HeatFigure {
        title: panel.title.clone(),
        note: format!(
            "n = {}, {}, {}; mean error {}; white: never",
            case.setting.posterior.n(),
            naming::prior(case),
            naming::epsilon(case),
            value.map_or("–".to_owned(), |value| format!("{value:.6}")),
        ),
        ..release_map(&cells)
    }
}

/// Cells of smaller probability have the colour of this one.
const FAINTEST: f64 = 1e-6;

/// A mechanism as a heat map: the probability of every release (up) at every data set (across). What
/// is not listed is never released.
#[must_use]
pub fn release_map(cells: &[(Counts, Counts, f64)]) -> HeatFigure {
    let distinct = |of: fn(&(Counts, Counts, f64)) -> &Counts| {
        let all: BTreeSet<Counts> = cells.iter().map(|cell| of(cell).clone()).collect();
        all.into_iter().collect::<Vec<_>>()
    };
    let (inputs, mut outputs) = (distinct(|cell| &cell.0), distinct(|cell| &cell.1));
    // Data sets that are never released are shown too, unless releases are of another kind.
    if outputs.iter().all(|output| inputs.binary_search(output).is_ok()) {
        outputs.clone_from(&inputs);
    }
    let mut values = vec![vec![None; inputs.len()]; outputs.len()];
    for (x, r, probability) in cells {
        if let (Ok(x), Ok(r)) = (inputs.binary_search(x), outputs.binary_search(r)) {
            values[r][x] = Some(probability.max(FAINTEST));
        }
    }
    let least = values.iter().flatten().flatten().copied().fold(0.1, f64::min);
    let (x_label, x) = axis("the data", &inputs);
    let (y_label, y) = axis("the release", &outputs);
    HeatFigure {
        x_label,
        y_label,
        x,
        y,
        x_scale: Scale::Linear,
        y_scale: Scale::Linear,
        values: HeatValues::Numbers {
            values,
            label: "probability of the release".to_owned(),
            scale: Scale::Log,
            range: Some((least, 1.0)),
        },
        ..HeatFigure::default()
    }
}

/// Two categories with a fixed total have one count; what has more is numbered.
fn axis(what: &str, all: &[Counts]) -> (String, Vec<f64>) {
    let total = |counts: &Counts| counts.iter().sum::<u64>();
    let fixed = all.windows(2).all(|pair| total(&pair[0]) == total(&pair[1]));
    if fixed && all.iter().all(|counts| counts.len() == 2) {
        let first = all.iter().map(|counts| counts[0] as f64).collect();
        (format!("first count of {what}"), first)
    } else {
        let numbers = (1..=all.len()).map(|number| number as f64).collect();
        (format!("{what}, in lexicographic order of counts"), numbers)
    }
}

/// A way to make a mechanism better without giving up privacy.
pub struct Step {
    /// What is done.
    pub name: String,
    /// Whether it is done to a mechanism as it is; otherwise something was done before.
    pub is_first: bool,
    /// The mechanism before it, by its place in the panel,
    from: usize,
    /// and after it.
    to: usize,
}

impl Step {
    /// Every step between two mechanisms of the panel: calibrating, remapping, and releasing whole
    /// numbers from the start instead of rounding down.
    #[must_use]
    pub fn all(panel: &Panel) -> Vec<Self> {
        let places = 0..panel.variants.len();
        let pairs = places.clone().flat_map(|from| places.clone().map(move |to| (from, to)));
        let step = |(from, to): (usize, usize)| {
            let name = improvement(&panel.variants[from], &panel.variants[to])?;
            let is_first = panel.variants[from].options == Options::default();
            Some(Self { name, is_first, from, to })
        };
        pairs.filter_map(step).collect()
    }

    /// At every case the part of the mean error that the step removes.
    #[must_use]
    pub fn gains(&self, panel: &Panel, tables: &Tables) -> Vec<f64> {
        let gain = |(setting, _): (usize, &Case)| {
            let mean = |place: usize| {
                row(tables, setting, &panel.variants[place].label).map(|row| row.mean)
            };
            Some(1.0 - mean(self.to)? / mean(self.from).filter(|mean| *mean > 0.0)?)
        };
        panel.settings().filter_map(gain).collect()
    }
}

/// What was done to `from` to make it `to`, if it is one thing.
fn improvement(from: &Variant, to: &Variant) -> Option<String> {
    let title = from.mechanism.title();
    let (before, after) = (from.options, to.options);
    if from.mechanism.id() == to.mechanism.id() {
        let calibrated = Options { calibrated: true, ..before };
        let remapped = Options { remap: true, ..before };
        let also = if before.calibrated { " after that" } else { "" };
        return match after {
            _ if after == before => None,
            _ if after == calibrated && !before.remap => Some(format!("calibrating {title}")),
            _ if after == remapped => Some(format!("remapping {title}{also}")),
            _ => None,
        };
    }
    let is_plain = before == Options::default() && after == Options::default();
    let whole = (from.mechanism.id(), to.mechanism.id()) == ("lshist", "geometric");
    (is_plain && whole).then(|| "removing the floor (LSHist to Geometric)".to_owned())
}

/// The row of a mechanism at a setting.
#[must_use]
pub fn row<'a>(tables: &'a Tables, setting: usize, label: &str) -> Option<&'a OptimumRow> {
    tables.optimum.iter().find(|row| row.setting == setting && row.mechanism == label)
}

/// At every case by how much the best mechanism exceeds the optimum, as a part of it, and which
/// mechanism that is.
#[must_use]
pub fn left_over(panel: &Panel, tables: &Tables) -> Vec<(usize, String, f64)> {
    let best = |(setting, _): (usize, &Case)| {
        let own = tables.optimum.iter().filter(|row| row.setting == setting);
        let ratios = own.filter_map(|row| Some((row, row.ratio?)));
        let (row, ratio) = ratios.min_by(|a, b| a.1.total_cmp(&b.1))?;
        // A certified optimum is never beaten but by its own width.
        Some((setting, row.mechanism.clone(), (ratio - 1.0).max(0.0)))
    };
    panel.settings().filter_map(best).collect()
}
