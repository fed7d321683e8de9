//! How large an experiment is, and whether it is started at all.

use std::collections::BTreeSet;

use rayon::prelude::*;
use schemars::JsonSchema;
use serde::Serialize;

use crate::experiment::{Case, CaseSize, Experiment, Panel};
use crate::run::store::Shard;
use crate::run::sweep::Sweep;
use engine::analysis::ranking::Data;
use engine::analysis::size::{self, Size};
use engine::analysis::tuning;
use engine::words;
use figure::{self, Format, Width};
use system::diagnostic::Diagnostic;
use system::platform::available_memory;

/// Bytes of a process that has read its config.
const START: f64 = 7e6;

/// Bytes on the disk: of the config and the manifest, of a row of a table and of the log, and of a cell in the
/// manifest; of a figure of lines, and of one of pixels, which takes more while it is drawn.
const FOLDER: f64 = 6e3;
const TABLE_ROW: f64 = 105.0;
const CELL: f64 = 30.0;
const VECTOR_FIGURE: f64 = 3e4;
const PIXEL_FIGURE: f64 = 5.5e4;
const PIXELS: f64 = 3.5e7;

/// The size of an experiment.
pub struct ExperimentSize {
    /// Panel by panel and case by case.
    panels: Vec<Vec<CaseSize>>,
    /// Whether each case is done by this process.
    own: Vec<Vec<bool>>,
    /// Bytes on the disk for all figures, and in memory for each that is drawn.
    drawing: (f64, f64),
    /// Why a figure cannot be drawn, if one cannot.
    undrawable: Option<String>,
}

impl ExperimentSize {
    /// Of an experiment whose figures are drawn so.
    pub fn new(experiment: &Experiment, formats: &[Format], width: Width) -> Self {
        let panels: Vec<_> = experiment.panels.iter().map(panel_size).collect();
        let own = panels.iter().map(|cases: &Vec<CaseSize>| vec![true; cases.len()]).collect();
        let undrawable = match formats.is_empty() {
            true => None,
            false => experiment.panels.iter().find_map(|panel| undrawable(panel, width)),
        };
        let plots =
            experiment.panels.iter().map(|panel| panel.kind.plot_count(panel)).sum::<usize>();
        let one =
            |format: &Format| if *format == Format::Png { PIXEL_FIGURE } else { VECTOR_FIGURE };
        let disk = FOLDER + plots as f64 * formats.iter().map(one).sum::<f64>();
        let bytes = if formats.contains(&Format::Png) { PIXELS } else { 0.0 };
        Self { panels, own, drawing: (disk, bytes), undrawable }
    }

    /// Only a part of the experiment, which draws nothing.
    pub fn take_part(&mut self, experiment: &Experiment, shard: Shard) {
        let part = Sweep::new(experiment, Some(shard));
        self.keep_only(|panel, case| part.has_case(panel, case));
        self.drawing = (0.0, 0.0);
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
    pub fn own(&self, panel: usize) -> Vec<(usize, &CaseSize)> {
        let all = self.panels[panel].iter().enumerate();
        all.filter(|(case, _)| self.own[panel][*case]).collect()
    }

    /// The outputs that are walked at a case.
    pub fn outputs_at(&self, panel: usize, case: usize) -> f64 {
        self.panels[panel][case].outputs()
    }

    /// The outputs that are walked.
    pub fn outputs(&self) -> f64 {
        self.cases().map(CaseSize::outputs).sum()
    }

    /// The most candidates of a case.
    pub fn candidates(&self) -> f64 {
        self.cases().map(|case| case.candidates).fold(0.0, f64::max)
    }

    /// Bytes of memory. At a time, as many cases as there are threads need memory that they give back.
    pub fn bytes(&self, threads: usize) -> f64 {
        let mut passing: Vec<f64> = self.cases().map(CaseSize::bytes).collect();
        passing.sort_by(|a, b| b.total_cmp(a));
        let passing: f64 = passing.iter().take(threads).sum();
        let kept: f64 = self.cases().map(|case| case.kept).sum();
        START + kept + passing.max(self.drawing.1 * threads as f64)
    }

    /// Bytes on the disk.
    pub fn disk(&self) -> f64 {
        self.drawing.0 + self.cases().map(|case| case.disk).sum::<f64>()
    }

    fn cases(&self) -> impl Iterator<Item = &CaseSize> {
        (0..self.panels.len()).flat_map(|panel| self.own(panel)).map(|(_, case)| case)
    }

    /// Refuses work that needs more memory than there is, unless forced, and figures that cannot be drawn.
    pub fn admit(&self, what: &str, threads: usize, force: bool) -> Result<(), Diagnostic> {
        if let Some(cause) = &self.undrawable {
            return Err(Diagnostic::new(format!("{what}: {cause}")).help(
                "use fewer mechanisms, or divide them among panels; --format none draws nothing",
            ));
        }
        let candidates = words::number(self.candidates());
        let what = format!("{what} ({candidates} candidates in its largest setting)");
        admit(&what, self.bytes(threads), force, || {
            "fewer runs, records or categories, or mechanisms that need no enumeration (lshist, \
             geometric)"
                .to_owned()
        })
    }
}

/// Refuses work that needs more memory than there is, unless forced. `remedy` says what would do.
pub fn admit(
    what: &str,
    bytes: f64,
    force: bool,
    remedy: impl FnOnce() -> String,
) -> Result<(), Diagnostic> {
    let memory = available_memory();
    if bytes <= memory || force {
        return Ok(());
    }
    let [needed, there] = [bytes, memory].map(words::bytes);
    let cause = format!(
        "{what}: this needs more memory than there is: {needed}, and {there} are available"
    );
    Err(Diagnostic::new(cause).help(format!("{}; --force starts it all the same", remedy())))
}

fn panel_size(panel: &Panel) -> Vec<CaseSize> {
    let mut cases: Vec<CaseSize> =
        panel.cases.par_iter().map(|case| size_of(panel, case)).collect();
    // A mechanism is made ready once for all data sets of a size.
    let mut ready = BTreeSet::new();
    for (case, size) in panel.cases.iter().zip(&mut cases) {
        for (variant, cell) in panel.variants.iter().zip(&mut size.cells) {
            let data = || Data::Given(case.setting.counts().to_vec());
            let making = || size::tuning(variant, &case.setting, &data());
            // Most mechanisms need no preparation. They are skipped before a key is made for each
            // setting.
            if !tuning::needs_tuning(variant) && making() == Size::default() {
                continue;
            }
            if ready.insert(tuning::key(variant, &case.setting)) {
                *cell = making().then(*cell);
            }
        }
    }
    cases
}

/// The config reader has asked every mechanism: none refuses here.
fn size_of(panel: &Panel, case: &Case) -> CaseSize {
    let mut size =
        panel.kind.size(panel, case).expect("a config whose mechanisms refuse no setting");
    let rows = 1.0 + panel.kind.row_count(panel, case, &size);
    size.disk += TABLE_ROW * rows + CELL * size.cells.len().max(1) as f64;
    size
}

/// Why a figure of a panel cannot be drawn, as far as its names tell: they make it large.
fn undrawable(panel: &Panel, width: Width) -> Option<String> {
    let sketches = panel.kind.sketches(panel);
    let error = sketches.iter().find_map(|sketch| figure::check_size(sketch, width).err())?;
    let panel_name = if panel.id.is_empty() { String::new() } else { format!("{}: ", panel.id) };
    Some(format!("{panel_name}{error}: it names {} mechanisms", panel.variants.len()))
}

/// The mechanisms that have no exact law in a setting, each with the setting's place in the panel.
pub fn sampled_only<'a>(
    panel: &'a Panel,
    cases: &'a [(usize, &CaseSize)],
) -> impl Iterator<Item = (usize, &'a str)> {
    cases.iter().flat_map(|&(case, size)| {
        let variants = panel.variants.iter().zip(&size.sampled_only);
        variants.filter(|(_, only)| **only).map(move |(variant, _)| (case, variant.label.as_str()))
    })
}

/// What an experiment consists of, and how large it is.
#[derive(Serialize, JsonSchema)]
pub struct SizeDocument {
    name: String,
    panels: usize,
    settings: usize,
    /// The most mechanisms of a panel.
    mechanisms: Option<usize>,
    /// The most runs of a panel.
    runs: Option<u64>,
    /// The most candidates of a setting.
    candidates: f64,
    /// Outputs whose probabilities are computed, and what takes as long.
    outputs: f64,
    /// Memory in bytes.
    bytes: f64,
    /// Bytes that results take.
    disk: f64,
    /// How long it takes, to an order of magnitude.
    time: &'static str,
    /// Mechanisms that have no exact law there, because it is too large.
    sampled_only: Vec<SampledOnly>,
}

#[derive(Serialize, JsonSchema)]
struct SampledOnly {
    setting: usize,
    mechanism: String,
}

/// How long so many outputs take, to an order of magnitude.
pub fn time(outputs: f64, threads: usize) -> &'static str {
    words::magnitude(size::SECONDS_PER_OUTPUT * outputs / threads as f64)
}

impl SizeDocument {
    pub fn new(experiment: &Experiment, size: &ExperimentSize, threads: usize) -> Self {
        let panels = || experiment.panels.iter();
        let own: Vec<_> = (0..panels().len()).map(|place| size.own(place)).collect();
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
            candidates: size.candidates(),
            outputs: size.outputs(),
            bytes: size.bytes(threads),
            disk: size.disk(),
            time: time(size.outputs(), threads),
            sampled_only: sampled_only.collect(),
        }
    }
}
