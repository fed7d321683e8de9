//! A mechanism as a heat map.

use std::collections::BTreeSet;

use engine::posterior::model::Counts;
use figure::{HeatFigure, HeatValues, Scale};

/// Cells of smaller probability have the colour of this one.
const FAINTEST: f64 = 1e-6;

/// A mechanism as a heat map: the probability of every release (up) at every data set (across). What
/// is not listed is never released.
pub fn release_map(cells: &[(Counts, Counts, f64)]) -> HeatFigure {
    let distinct = |of: fn(&(Counts, Counts, f64)) -> &Counts| {
        let all: BTreeSet<Counts> = cells.iter().map(|cell| of(cell).clone()).collect();
        all.into_iter().collect::<Vec<_>>()
    };
    let (inputs, mut outputs) = (distinct(|cell| &cell.0), distinct(|cell| &cell.1));
    // If only data sets are released, those that never are get a row, too.
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
