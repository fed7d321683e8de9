//! What an experiment will take, and whether it is started at all.

use std::collections::BTreeSet;

use rayon::prelude::*;
use schemars::JsonSchema;
use serde::Serialize;

use crate::experiment::{Case, Experiment, Panel};
use crate::run::store::Shard;
use crate::run::sweep::Sweep;
use engine::analysis::cost::{self, SettingWork, Work, rates};
use engine::analysis::ranking::Data;
use engine::analysis::tuning;
use figure::{self, Format, Width};
use system::diagnostic::Diagnostic;
use system::platform::available_memory;

/// The prediction of an experiment.
pub struct Forecast {
    /// Panel by panel and case by case.
    panels: Vec<Vec<SettingWork>>,
    /// Whether each case is done by this process.
    own: Vec<Vec<bool>>,
    /// Of all figures.
    drawing: Work,
    /// Why a figure cannot be drawn, if one cannot.
    undrawable: Option<String>,
}

impl Forecast {
    /// Predicts an experiment whose figures are drawn so.
    pub fn new(experiment: &Experiment, formats: &[Format], width: Width) -> Self {
        let panels: Vec<_> = experiment.panels.iter().map(predict).collect();
        let own = panels.iter().map(|cases: &Vec<SettingWork>| vec![true; cases.len()]).collect();
        let undrawable = match formats.is_empty() {
            true => None,
            false => experiment.panels.iter().find_map(|panel| undrawable(panel, width)),
        };
        let mut drawing = Work { disk: rates::DISK_PER_FOLDER, ..Work::default() };
        for panel in &experiment.panels {
            for _ in 0..panel.kind.plot_count(panel) {
                formats.iter().for_each(|&format| drawing.add(one_figure(format)));
            }
        }
        Self { panels, own, drawing, undrawable }
    }

    /// Only a part of the experiment, which draws nothing.
    pub fn take_part(&mut self, experiment: &Experiment, shard: Shard) {
        let part = Sweep::new(experiment, Some(shard));
        self.keep_only(|panel, case| part.has_case(panel, case));
        self.drawing = Work::default();
        self.undrawable = None;
    }

    /// Only the cases for which `is_kept` holds, given panel and case.
    pub fn keep_only(&mut self, is_kept: impl Fn(usize, usize) -> bool) {
        for (panel, own) in self.own.iter_mut().enumerate() {
            for (case, own) in own.iter_mut().enumerate() {
                *own &= is_kept(panel, case);
            }
        }
    }

    /// The cases of a panel that are done by this process, with their places.
    pub fn own(&self, panel: usize) -> Vec<(usize, &SettingWork)> {
        let all = self.panels[panel].iter().enumerate();
        all.filter(|(case, _)| self.is_own(panel, *case)).collect()
    }

    /// Whether a case is done by this process.
    fn is_own(&self, panel: usize, case: usize) -> bool {
        self.own[panel][case]
    }

    /// The seconds of one thread that a mechanism takes at a case.
    pub fn cell(&self, panel: usize, case: usize, variant: usize) -> f64 {
        let cell = self.panels[panel][case].cells.get(variant);
        cell.map_or(0.0, |cell| cell.cpu_seconds)
    }

    /// The seconds of one thread that it takes to put all files together.
    pub fn writing_seconds(&self) -> f64 {
        self.settings().map(|setting| setting.sum().serial_seconds).sum()
    }

    /// The seconds of one thread that all take for which `is_wanted` holds, given panel, case and
    /// mechanism.
    pub fn cpu_seconds(&self, is_wanted: impl Fn(usize, usize, usize) -> bool) -> f64 {
        let mut sum = 0.0;
        for panel in 0..self.panels.len() {
            for (case, work) in self.own(panel) {
                let wanted = (0..work.cells.len().max(1)).filter(|&v| is_wanted(panel, case, v));
                let wanted: Vec<f64> = wanted.map(|v| self.cell(panel, case, v)).collect();
                sum += wanted.iter().sum::<f64>();
                sum += if wanted.is_empty() { 0.0 } else { work.common.cpu_seconds };
            }
        }
        sum
    }

    /// What the process takes on this number of threads.
    pub fn total(&self, threads: usize) -> Work {
        let mut total = cost::total(self.settings(), threads);
        total.add(self.drawing);
        total
    }

    /// The most candidates of a setting.
    pub fn candidates(&self) -> f64 {
        self.settings().map(|setting| setting.candidates).fold(0.0, f64::max)
    }

    fn settings(&self) -> impl Iterator<Item = &SettingWork> {
        (0..self.panels.len()).flat_map(|panel| self.own(panel)).map(|(_, setting)| setting)
    }

    /// Refuses work that cannot be done, unless forced, and figures that cannot be drawn.
    pub fn admit(&self, what: &str, threads: usize, force: bool) -> Result<(), Diagnostic> {
        if let Some(cause) = &self.undrawable {
            return Err(Diagnostic::new(format!("{what}: {cause}")).help(
                "use fewer mechanisms, or divide them among panels; --format none draws nothing",
            ));
        }
        admit(what, &self.total(threads), self.candidates(), threads, force)
    }
}

/// Refuses work that cannot be done, unless forced.
pub fn admit(
    what: &str,
    work: &Work,
    candidates: f64,
    threads: usize,
    force: bool,
) -> Result<(), Diagnostic> {
    match objection(what, work, candidates, threads) {
        Some(objection) if !force => Err(objection.help(
            "fewer runs, records or categories, or mechanisms that need no enumeration (lshist, \
             geometric); --force starts it all the same",
        )),
        _ => Ok(()),
    }
}

/// Why work cannot be done, without a remedy.
pub fn objection(what: &str, work: &Work, candidates: f64, threads: usize) -> Option<Diagnostic> {
    let memory = available_memory();
    let objection = cost::objection(work, candidates, threads, memory, cost::LONGEST)?;
    Some(Diagnostic::new(format!("{what}: {objection}")))
}

fn predict(panel: &Panel) -> Vec<SettingWork> {
    let mut work: Vec<SettingWork> =
        panel.cases.par_iter().map(|case| cost_of(panel, case)).collect();
    // A mechanism is made ready once for all data sets of a size.
    let mut ready = BTreeSet::new();
    for (case, work) in panel.cases.iter().zip(&mut work) {
        for (variant, cell) in panel.variants.iter().zip(&mut work.cells) {
            let making = || cost::predict_tuning(variant, &case.setting, Data::Given);
            // Most mechanisms need no preparation. They are skipped before a key is made for each
            // setting.
            if !tuning::needs_tuning(variant) && making() == Work::default() {
                continue;
            }
            if ready.insert(tuning::key(variant, &case.setting)) {
                cell.add(making());
            }
        }
    }
    work
}

/// The config reader has asked every mechanism: none refuses here.
fn cost_of(panel: &Panel, case: &Case) -> SettingWork {
    let mut work =
        panel.kind.cost(panel, case).expect("a config whose mechanisms refuse no setting");
    let rows = 1.0 + panel.kind.row_count(panel, case, &work);
    let cells = work.cells.len().max(1) as f64;
    work.common.disk += rates::DISK_PER_TABLE_ROW * rows + rates::DISK_PER_CELL * cells;
    work
}

/// Why a figure of a panel cannot be drawn, as far as its names tell: they make it large.
fn undrawable(panel: &Panel, width: Width) -> Option<String> {
    let sketches = panel.kind.sketches(panel);
    let error = sketches.iter().find_map(|sketch| figure::check_size(sketch, width).err())?;
    let panel_name = if panel.id.is_empty() { String::new() } else { format!("{}: ", panel.id) };
    Some(format!("{panel_name}{error}: it names {} mechanisms", panel.variants.len()))
}

fn one_figure(format: Format) -> Work {
    let (ns, passing, disk) = match format {
        Format::Png => (
            rates::NS_PER_PIXEL_FIGURE,
            rates::BYTES_PER_PIXEL_FIGURE,
            rates::DISK_PER_PIXEL_FIGURE,
        ),
        _ => (rates::NS_PER_VECTOR_FIGURE, 0.0, rates::DISK_PER_VECTOR_FIGURE),
    };
    Work { serial_seconds: 1e-9 * ns, passing, disk, ..Work::default() }
}

/// The mechanisms that have no exact law in a setting, each with the setting's place in the panel.
pub fn sampled_only<'a>(
    panel: &'a Panel,
    work: &'a [(usize, &SettingWork)],
) -> impl Iterator<Item = (usize, &'a str)> {
    work.iter().flat_map(|&(case, work)| {
        let variants = panel.variants.iter().zip(&work.sampled_only);
        variants.filter(|(_, only)| **only).map(move |(variant, _)| (case, variant.label.as_str()))
    })
}

/// What an experiment consists of, and what it will take.
#[derive(Serialize, JsonSchema)]
pub struct ForecastDocument {
    name: String,
    panels: usize,
    settings: usize,
    /// The most mechanisms of a panel.
    mechanisms: Option<usize>,
    /// The most runs of a panel.
    runs: Option<u64>,
    /// The most candidates of a setting.
    candidates: f64,
    /// Outputs whose probabilities are computed.
    outputs: f64,
    /// Memory in bytes.
    bytes: f64,
    /// Bytes that results take.
    disk: f64,
    seconds: f64,
    /// Mechanisms that have no exact law there, because it is too large.
    sampled_only: Vec<SampledOnly>,
}

#[derive(Serialize, JsonSchema)]
struct SampledOnly {
    setting: usize,
    mechanism: String,
}

impl ForecastDocument {
    pub fn new(experiment: &Experiment, work: &Forecast, threads: usize) -> Self {
        let sum = work.total(threads);
        let panels = || experiment.panels.iter();
        let own: Vec<_> = (0..panels().len()).map(|place| work.own(place)).collect();
        let sampled_only = panels().zip(&own).flat_map(|(panel, own)| {
            sampled_only(panel, own).map(|(case, label)| SampledOnly {
                setting: panel.first + case,
                mechanism: label.to_owned(),
            })
        });
        Self {
            name: experiment.name.clone(),
            panels: panels().len(),
            settings: own.iter().map(Vec::len).sum::<usize>(),
            mechanisms: panels().map(|panel| panel.variants.len()).max(),
            runs: panels().map(|panel| panel.runs).max(),
            candidates: work.candidates(),
            outputs: sum.outputs,
            bytes: sum.bytes(),
            disk: sum.disk,
            seconds: sum.seconds(threads),
            sampled_only: sampled_only.collect(),
        }
    }
}
