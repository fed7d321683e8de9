//! The accuracy experiment: every mechanism is run many times at every case, and its errors are
//! tabulated beside the exact law's own mean, median and 90 % quantile.

mod figures;
mod tables;

pub use figures::figures;
pub use tables::{errors_csv, setting_rows, summary_rows};

use rayon::prelude::*;

use super::{Case, Draws, Experiment, draw};
use crate::law::{Exact, Recipe};
use crate::mechanism::Variant;
use crate::workbench::Workbench;

/// One mechanism at one case.
pub struct Cell {
    /// Exact numbers about each error.
    pub exact: Vec<Exact>,
    /// Sampled releases with their errors.
    pub draws: Draws,
}

/// For every case its cells, one for each mechanism.
pub type Results = Vec<Vec<Cell>>;

/// Runs the experiment. `finished` is called with case and mechanism whenever a cell is done, from
/// any thread.
#[must_use]
pub fn run(experiment: &Experiment, finished: &(dyn Fn(usize, usize) + Sync)) -> Results {
    let case = |(index, case)| run_case(experiment, case, &|variant| finished(index, variant));
    experiment.cases.par_iter().enumerate().map(case).collect()
}

fn run_case(experiment: &Experiment, case: &Case, finished: &(dyn Fn(usize) + Sync)) -> Vec<Cell> {
    let recipes = recipes(&experiment.variants, case);
    let bench = Workbench::new(&case.setting, &recipes, &experiment.metrics);
    let cell = |(index, (variant, &recipe)): (usize, (&Variant, &Recipe))| {
        let law = bench.law(recipe);
        let fields: Vec<_> = bench.fields().collect();
        let key = format!("{} mechanism={}", case.setting.key(), variant.key(&case.setting));
        let k = case.setting.posterior.k();
        let cell = Cell {
            exact: fields.iter().map(|&field| Exact::new(law.as_ref(), field)).collect(),
            draws: draw(law.as_ref(), &fields, k, experiment.runs, experiment.seed, &key),
        };
        finished(index);
        cell
    };
    experiment.variants.par_iter().zip(&recipes).enumerate().map(cell).collect()
}

/// The recipes of all mechanisms at one case.
///
/// # Panics
/// If a mechanism refuses the case; the config reader has asked all of them.
#[must_use]
pub fn recipes(variants: &[Variant], case: &Case) -> Vec<Recipe> {
    let recipe = |variant: &Variant| variant.recipe(&case.setting).expect("checked by the config");
    variants.iter().map(recipe).collect()
}
