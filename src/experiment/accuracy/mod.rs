//! The accuracy experiment: every mechanism is run many times at every case, and its errors are
//! tabulated beside the exact law's own mean, median and 90 % quantile.

mod figures;
mod readings;
mod tables;

pub use figures::figures;

use rayon::prelude::*;

use super::{Case, Draws, Finished, Panel, PlacedReadings, draw};
use crate::law::{Exact, Plan};
use crate::mechanism::Variant;
use crate::table::{ReadingRow, Tables};
use crate::workbench::Workbench;

/// One mechanism at one case.
struct Cell {
    /// Exact numbers about each error.
    exact: Vec<Exact>,
    /// Sampled releases with their errors.
    draws: Draws,
    /// What was read off the printed figure, beside our law.
    readings: Vec<ReadingRow>,
}

/// Runs every cell.
#[must_use]
pub fn compute(panel: &Panel, finished: &Finished) -> Tables {
    let placed = panel.placed_readings();
    let case = |(index, case)| run_case(panel, &placed, case, &|variant| finished(index, variant));
    let results: Vec<Vec<Cell>> = panel.cases.par_iter().enumerate().map(case).collect();
    tables::tables(panel, results)
}

fn run_case(
    panel: &Panel,
    placed: &PlacedReadings,
    case: &Case,
    finished: &(dyn Fn(usize) + Sync),
) -> Vec<Cell> {
    let plans = panel.plans(case);
    let bench = Workbench::with_summaries(&case.setting, &plans, &panel.metrics);
    let cell = |(index, (variant, plan)): (usize, (&Variant, &Plan))| {
        let law = bench.law(plan);
        let fields: Vec<_> = bench.fields().collect();
        let key = format!("{} mechanism={}", case.setting.key(), variant.key(&case.setting));
        let k = case.setting.posterior.k();
        let exact: Vec<Exact> =
            fields.iter().map(|&field| Exact::new(law.as_ref(), field)).collect();
        let readings = placed.of(&variant.label, case).collect();
        let readings = readings::compare(panel, readings, law.as_ref(), fields[0], &exact[0]);
        let draws = draw(law.as_ref(), &fields, k, panel.runs, panel.seed, &key);
        finished(index);
        Cell { exact, draws, readings }
    };
    panel.variants.par_iter().zip(&plans).enumerate().map(cell).collect()
}
