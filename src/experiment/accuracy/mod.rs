//! The accuracy experiment: every mechanism is run many times at every case, and its errors are
//! tabulated beside the exact law's own mean, median and 90 % quantile.

mod figures;
mod readings;
mod tables;

pub use figures::{asked, facets, figures, shows_runs};
pub(super) use tables::tables;

use std::time::Instant;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::cell::{Cell, Content, Keeper, Layout, NUMERICS, UNNUMBERED};
use super::sampling::{RUNS_PER_BLOCK, Sampler, runs_of};
use super::{Case, Panel, PlacedReadings};
use crate::base::fault::{self, caught};
use crate::experiment::reading::Reading;
use crate::experiment::table::{CalibrationRow, ReadingRow};
use crate::mechanism::Variant;
use crate::mechanism::law::{Exact, Plan};
use crate::mechanism::prepared::PreparedSetting;

/// A block of runs of one mechanism at one case.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Block {
    /// What is known without any run; in the first block.
    known: Option<ExactNumbers>,
    /// Released counts, one run after the other.
    released: Vec<u64>,
    /// For each error its value in each run.
    errors: Vec<Vec<f64>>,
}

impl Block {
    /// Whether it is what block number `number` of a case must be. A log may come from a stranger.
    pub(super) fn fits(&self, panel: &Panel, case: usize, number: u64) -> bool {
        let runs = runs_of(number, panel.runs).count();
        let (k, metrics) = (panel.cases[case].setting.posterior.k(), panel.errors().len());
        self.released.len() == runs * k
            && self.errors.len() == metrics
            && self.errors.iter().all(|errors| errors.len() == runs)
            && self.errors.iter().flatten().all(|&error| error >= 0.0)
            && self.known.is_some() == (number == 0)
            && self.known.iter().all(|known| known.exact.len() == metrics)
    }
}

/// What is known about one mechanism at one case without any run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct ExactNumbers {
    /// Exact numbers about each error.
    exact: Vec<Exact>,
    /// Why it is private, if it was calibrated.
    calibration: Option<CalibrationRow>,
    /// What was read off the printed figure, beside our law.
    readings: Vec<ReadingRow>,
}

/// How many blocks the runs of one mechanism at one case are divided into.
pub(super) fn blocks(panel: &Panel) -> u64 {
    panel.runs.div_ceil(RUNS_PER_BLOCK)
}

/// The cells of one case: every mechanism's blocks.
pub(super) fn cells(layout: &Layout, index: usize) -> Vec<Cell> {
    let Layout { panel, placed, .. } = layout;
    let case = &panel.cases[index];
    let errors: Vec<&str> = panel.errors().iter().map(|metric| metric.id).collect();
    let setting = case.setting.key();
    let of_variant = |(place, variant): (usize, &Variant)| {
        let name = format!(
            "numerics={NUMERICS} kind=accuracy seed={} {setting} mechanism={} errors={}",
            panel.seed,
            variant.key(&case.setting),
            errors.join(","),
        );
        let label = &variant.label;
        let calibrated = variant.options.calibrated.then(|| format!(" label={label:?}"));
        let readings: Vec<&Reading> = placed.of(label, case).collect();
        let compared = (!readings.is_empty()).then(|| {
            format!(
                " panel={:?} whiskers={:?} readings={readings:?}",
                panel.id, panel.look.whiskers
            )
        });
        let known: String = calibrated.into_iter().chain(compared).collect();
        (0..blocks(panel)).map(move |block| {
            let runs = runs_of(block, panel.runs);
            let known = if block == 0 { known.as_str() } else { "" };
            let text = format!("{name} runs={}..{}{known}", runs.start, runs.end);
            Cell { case: index, variant: Some(place), block, text }
        })
    };
    panel.variants.iter().enumerate().flat_map(of_variant).collect()
}

/// Computes cells of one case.
pub(super) fn compute(layout: &Layout, wanted: &[Cell], keeper: &dyn Keeper) {
    let started = caught(|| run_case(layout, wanted, keeper));
    if let Err(cause) = started {
        for cell in wanted {
            keeper.keep(cell, Err(cause.clone()), 0.0);
        }
    }
}

fn run_case(layout: &Layout, wanted: &[Cell], keeper: &dyn Keeper) {
    let Layout { panel, placed, .. } = layout;
    let clock = Instant::now();
    let case = &panel.cases[wanted[0].case];
    let of_variant: Vec<&[Cell]> = wanted.chunk_by(|a, b| a.variant == b.variant).collect();
    let variant = |cells: &[Cell]| &panel.variants[cells[0].variant.unwrap_or_default()];
    let plans: Vec<Plan> =
        of_variant.iter().map(|cells| panel.plan(variant(cells), case)).collect();
    let bench = PreparedSetting::with_summaries(&case.setting, &plans, &panel.metrics);
    let shared = clock.elapsed().as_secs_f64() / of_variant.len() as f64;
    of_variant.par_iter().zip(&plans).for_each(|(cells, plan)| {
        if keeper.is_stopped() {
            return;
        }
        let job = Job { panel, case, placed, variant: variant(cells), cells, keeper, shared };
        if let Err(cause) = caught(|| job.run(&bench, plan)) {
            for cell in cells.iter().filter(|cell| !keeper.has(cell)) {
                keeper.keep(cell, Err(cause.clone()), 0.0);
            }
        }
    });
}

/// Cells of one mechanism at one case.
struct Job<'a> {
    panel: &'a Panel,
    case: &'a Case,
    placed: &'a PlacedReadings<'a>,
    variant: &'a Variant,
    cells: &'a [Cell],
    keeper: &'a dyn Keeper,
    /// Its share of the seconds that the case took before.
    shared: f64,
}

impl Job<'_> {
    fn run(&self, bench: &PreparedSetting, plan: &Plan) {
        let Self { panel, case, variant, cells, keeper, .. } = *self;
        fault::strike(panel.first + cells[0].case, &variant.label);
        let clock = Instant::now();
        let law = bench.law(plan);
        let fields: Vec<_> = bench.fields().collect();
        let key = format!("{} mechanism={}", case.setting.key(), variant.key(&case.setting));
        let known = (cells[0].block == 0).then(|| {
            let exact: Vec<Exact> =
                fields.iter().map(|&field| Exact::new(law.as_ref(), field)).collect();
            let readings = self.placed.of(&variant.label, case).collect();
            let readings = readings::compare(panel, readings, law.as_ref(), fields[0], &exact[0]);
            ExactNumbers { exact, calibration: self.calibration(), readings }
        });
        // What blocks share is divided among them.
        let shared = (self.shared + clock.elapsed().as_secs_f64()) / cells.len() as f64;
        let drawing = Instant::now();
        let sampler = Sampler {
            law: law.as_ref(),
            fields: &fields,
            k: case.setting.posterior.k(),
            runs: panel.runs,
            seed: panel.seed,
            key: &key,
        };
        let wanted: Vec<u64> = cells.iter().map(|cell| cell.block).collect();
        let part = 1.0 / blocks(panel) as f64;
        sampler.draw(
            &wanted,
            || keeper.is_stopped(),
            |block, draws| {
                let Some(cell) = cells.iter().find(|cell| cell.block == block) else { return };
                let known = known.clone().filter(|_| block == 0);
                let content = Block { known, released: draws.counts, errors: draws.errors };
                let seconds = shared + drawing.elapsed().as_secs_f64() / cells.len() as f64;
                keeper.keep(cell, Ok(Content::Runs(Box::new(content))), seconds);
                keeper.advance(cell.case, cell.variant.unwrap_or_default(), part);
            },
        );
    }

    fn calibration(&self) -> Option<CalibrationRow> {
        let certificate = self.panel.tuned(self.variant, self.case).certificate?;
        Some(CalibrationRow::new(UNNUMBERED, &self.variant.label, &certificate))
    }
}
