//! Experiments: what a config asks for, checked and laid out panel by panel and case by case.
//!
//! A [`Panel`] is one kind of computation over one grid of settings; an [`Experiment`] is one or
//! more panels that share a name, a seed and a results folder. What is computed and drawn is the
//! panel's [`Kind`].

mod axis;
mod cell;
#[cfg(test)]
mod colours;
pub mod config;
pub mod data_file;
mod data_source;
pub mod digest;
mod fault;
pub mod kind;
pub mod naming;
pub mod nearest_optimum;
pub mod reading;
pub mod release_map;
mod scope;
mod size;
mod twin;
mod value;

pub use cell::{Cell, CellKey, Group, InMemory, Keeper, Layout, Runs, Task, groups};
pub use data_source::{DataSet, DataSpec};
pub use kind::Kind;
pub use naming::Naming;
pub use scope::ScopeName;
pub use size::CaseSize;

pub use axis::{Abscissa, Axis, Parameter};

use std::sync::Arc;

use rayon::prelude::*;

use crate::experiment::reading::{Reading, ReadingSet, largest_deviation};
use engine::analysis::size::is_sampled_only;
use engine::analysis::tuning::TuningCache;
use engine::mechanism::Mechanism;
use engine::mechanism::law::{Bench, Distribution, Law};
use engine::posterior::distance::Distance;
use engine::posterior::metric::Metric;
use engine::posterior::model::{Prior, compositions, vector};
use engine::posterior::privacy::{Delta, Epsilon, Gamma, Guarantee};
use engine::posterior::sensitivity::CandidatesInBeta;
use engine::posterior::setting::{Setting, SettingWithData};
use engine::prepared::Prepared;
use engine::refusal::Refusal;
use figure::{Body, Colour, Figure, Scale, Series, UNSTATED, distinguish, own_colour};
use table::{PanelRow, Row, SettingRow, Tables};

/// The lists that a config combines.
#[derive(Clone, Debug, PartialEq)]
pub struct Grid {
    pub priors: Vec<Prior>,
    pub epsilons: Vec<Epsilon>,
    /// δ; may be empty.
    pub deltas: Vec<Delta>,
    /// γ; if empty, 1.
    pub gammas: Vec<Gamma>,
    pub data: DataSpec,
}

impl Grid {
    /// Every δ, or once none.
    pub fn deltas_or_none(&self) -> Vec<Option<Delta>> {
        if self.deltas.is_empty() {
            vec![None]
        } else {
            self.deltas.iter().copied().map(Some).collect()
        }
    }

    /// Every γ, or once 1.
    pub fn gammas_or_one(&self) -> Vec<Gamma> {
        if self.gammas.is_empty() {
            Gamma::new(1.0).into_iter().collect()
        } else {
            self.gammas.clone()
        }
    }
}

/// One point of the grid.
#[derive(Clone)]
pub struct Case {
    pub setting: SettingWithData,
    /// The name of the data set, if it has one.
    pub label: Option<String>,
    /// Its abscissa in a figure, if one was given.
    pub at: Option<f64>,
}

impl Case {
    /// The same with n records of two categories, split evenly.
    fn balanced(&self, n: u64) -> Self {
        let setting = Setting { n, ..Setting::clone(&self.setting) };
        Self { setting: SettingWithData::new(setting, vec![n / 2, n - n / 2]), ..self.clone() }
    }

    /// Its row of `settings.csv`.
    fn row(&self, number: usize) -> SettingRow {
        let setting = &self.setting;
        let posterior = setting.posterior();
        let sensitivity = setting.sensitivity();
        let beta = setting.beta(CandidatesInBeta::NPlusOne);
        let candidates = compositions(posterior.n(), posterior.k());
        SettingRow {
            setting: number,
            k: posterior.k(),
            n: posterior.n(),
            prior: vector(posterior.prior().alpha()),
            counts: vector(posterior.counts()),
            epsilon: setting.epsilon.get(),
            delta: setting.delta.map(|delta| delta.get()),
            gamma: setting.gamma.get(),
            candidates: candidates.map_or(String::new(), |count| count.to_string()),
            local: sensitivity.local(),
            global: sensitivity.global(),
            gamma_smooth: sensitivity.gamma_smooth(setting.gamma.get()),
            beta_smooth: beta.map(|beta| sensitivity.beta_smooth(beta)),
        }
    }
}

/// What stands before the place in a document if the experiment differs from the one there.
const AFTER: &str = "after ";

/// A checked experiment.
#[derive(Clone)]
pub struct Experiment {
    /// The name of the results folder.
    pub name: String,
    pub title: String,
    /// Its place in a document, such as "Figure 2, §7.1.1"; with `after` before it, and what was changed
    /// behind it, if it is not the experiment there.
    pub source: Option<String>,
    /// What a reader should know: what is assumed, what differs from the document.
    pub notes: Vec<String>,
    /// The seed of all random streams.
    pub seed: u64,
    /// What was set on the command line, as lines of a config.
    pub changes: Vec<String>,
    /// Its panels, at least one.
    pub panels: Vec<Panel>,
}

impl Experiment {
    /// The figures of every panel with their file names (without ending), drawn from tables.
    pub fn figures(&self, tables: &Tables) -> Vec<Vec<(String, Figure)>> {
        let mut all: Vec<_> = self.panels.iter().map(|panel| panel.figures(tables)).collect();
        self.pair_boxes(&mut all);
        for (panel, figures) in self.panels.iter().zip(&mut all) {
            for (_, figure) in figures {
                figure.head.source = self.source_of(panel, figure, tables);
                figure.head.maker = format!("dpbi {}, {}", env!("CARGO_PKG_VERSION"), self.name);
            }
        }
        all
    }

    /// Where a figure comes from: the place in a document, whether it is as defined there or as printed,
    /// and how far values that were read off the print deviate.
    fn source_of(&self, panel: &Panel, figure: &Figure, tables: &Tables) -> String {
        let mut parts: Vec<String> = self.source.iter().cloned().collect();
        let is_original = self.source.is_some() && !self.is_changed();
        if is_original && self.panels.iter().any(Panel::is_as_printed) {
            let how = match panel.is_as_printed() {
                _ if twin::is_pair(figure) => "as defined and as printed",
                true if panel.readings.is_none() => "with the print distance",
                true => "as printed",
                false => "as defined",
            };
            parts.push(how.to_owned());
        }
        let largest = largest_deviation(panel.own(&tables.readings));
        parts.extend(largest.filter(|_| figure.shows_readings()).map(|largest| {
            let size = largest.split(" (").next().unwrap_or_default();
            format!("values read off the print deviate by at most {size}")
        }));
        parts.join("; ")
    }

    /// Whether it differs from the experiment of the document that it names.
    pub fn is_changed(&self) -> bool {
        self.source.as_ref().is_some_and(|source| source.starts_with(AFTER))
    }

    /// Lets all panels keep their tuned mechanisms in one cache.
    pub fn share_tuning(&mut self, cache: &Arc<TuningCache>) {
        self.panels.iter_mut().for_each(|panel| panel.tuning = Arc::clone(cache));
    }
}

/// One kind of computation over one grid.
#[derive(Clone)]
pub struct Panel {
    /// Its name within the experiment; empty if it is the only one.
    pub id: String,
    pub title: String,
    pub kind: Arc<dyn Kind>,
    /// The seed of all random streams.
    pub seed: u64,
    /// How many releases are sampled for each case and mechanism.
    pub runs: u64,
    /// Score, sensitivity and error are measured in this distance.
    pub distance: &'static dyn Distance,
    pub variants: Vec<Mechanism>,
    /// The lists that were combined.
    pub grid: Grid,
    /// Their combinations.
    pub cases: Vec<Case>,
    /// The number of its first setting: settings are numbered through all panels, from 1.
    pub first: usize,
    /// Values read off the printed figure, to be compared with ours.
    pub readings: Option<ReadingSet>,
    /// Why a known print of it is not compared, if so.
    pub not_compared: Option<String>,
    /// Its tuned mechanisms, and those of the panels with which it shares them.
    pub tuning: Arc<TuningCache>,
}

impl Panel {
    /// The errors of which runs are sampled: the distance first, then the metrics asked for. None if
    /// the kind samples nothing.
    pub fn errors(&self) -> Vec<Metric> {
        self.kind.runs().map_or_else(Vec::new, |runs| runs.errors(self))
    }

    /// Whether some figure shows single runs, and not only their summaries.
    pub fn shows_runs(&self) -> bool {
        self.kind.runs().is_some_and(Runs::are_shown)
    }

    /// Every case with the number of its setting.
    pub fn settings(&self) -> impl Iterator<Item = (usize, &Case)> {
        (self.first..).zip(&self.cases)
    }

    /// The case of a setting's number, if it is one of this panel's.
    pub fn case(&self, setting: usize) -> Option<&Case> {
        self.cases.get(setting.checked_sub(self.first)?)
    }

    /// Whether a setting's number is one of this panel's.
    pub fn owns(&self, setting: usize) -> bool {
        self.case(setting).is_some()
    }

    /// The rows of a table that belong to this panel.
    pub fn own<'a, R: Row>(&self, rows: &'a [R]) -> impl Iterator<Item = &'a R> + Clone {
        rows.iter().filter(|row| row.panel() == Some(&self.id))
    }

    /// The laws of all mechanisms at one case: calibrated and remapped where the config says so.
    pub fn laws(&self, case: &Case) -> Result<Vec<Arc<dyn Law>>, Refusal> {
        self.variants.iter().map(|variant| Ok(self.prepared(variant, case)?.law)).collect()
    }

    /// What these laws share at the data of a case.
    pub fn bench<'a>(
        &self,
        case: &'a Case,
        laws: &'a [Arc<dyn Law>],
        metrics: &[Metric],
    ) -> Result<Bench<'a>, Refusal> {
        Bench::new(
            case.setting.posterior(),
            case.setting.distance,
            laws.iter().map(AsRef::as_ref),
            metrics,
        )
    }

    /// One mechanism, prepared for data sets of the size of a case.
    fn prepared(&self, variant: &Mechanism, case: &Case) -> Result<Prepared, Refusal> {
        self.tuning.prepare(variant, &case.setting)
    }

    /// The laws of all mechanisms at one case in outline: enough to say what they cost.
    pub fn outlines(&self, case: &Case) -> Result<Vec<Arc<dyn Law>>, Refusal> {
        self.variants.iter().map(|variant| variant.outline(&case.setting)).collect()
    }

    /// The law of the error of every mechanism at one case; `None` for one that is too large.
    fn distributions(&self, case: &Case) -> Result<Vec<Option<Distribution>>, Refusal> {
        let laws = self.laws(case)?;
        let bench = self.bench(case, &laws, &[])?;
        let law = |place| Distribution::new(bench.law(place).as_ref(), bench.distance());
        Ok((0..laws.len()).map(law).collect())
    }

    /// Whether the law of a mechanism at a case is small enough to be walked.
    fn is_walked(&self, variant: &Mechanism, case: &Case) -> bool {
        let law = variant.outline(&case.setting);
        law.is_ok_and(|law| !is_sampled_only(law.as_ref(), case.setting.posterior()))
    }

    /// All readings of the panel.
    fn all_readings(&self) -> &[Reading] {
        self.readings.as_ref().map_or(&[], |set| &set.readings)
    }

    /// The readings, to be found by mechanism and case.
    fn placed_readings(&self) -> PlacedReadings<'_> {
        PlacedReadings { readings: self.all_readings(), abscissa: Abscissa::new(self) }
    }

    /// A reading that belongs to no cell of the panel.
    pub fn unplaced_reading(&self) -> Option<&Reading> {
        let abscissa = Abscissa::new(self);
        let has_place = |reading: &&Reading| self.kind.has_place_for(self, &abscissa, reading);
        self.all_readings().iter().find(|reading| !has_place(reading))
    }

    /// Whether two cases would stand at the same place of the same figure.
    pub fn is_crowded(&self) -> bool {
        let abscissa = Abscissa::new(self);
        let place = |case| self.kind.place(self, &abscissa, case);
        let mut places: Vec<String> = self.cases.iter().filter_map(place).collect();
        places.sort_unstable();
        places.windows(2).any(|pair| pair[0] == pair[1])
    }

    /// The scale of axes that may be logarithmic: linear beside readings, since the printed figures
    /// have linear axes.
    fn scale(&self) -> Scale {
        if self.readings.is_some() { Scale::Linear } else { Scale::Auto }
    }

    /// The title of the mechanism with this label; the label if there is none.
    pub fn title_of(&self, label: &str) -> String {
        let variant = self.variants.iter().find(|variant| variant.label == label);
        variant.map_or_else(|| label.to_owned(), Mechanism::title)
    }

    /// How each mechanism is drawn.
    fn series(&self) -> Vec<Series> {
        let first = &self.cases[0].setting;
        let mut own = 0..;
        let series = |variant: &Mechanism| {
            let guarantee = variant.guarantee(first);
            let title = variant.title();
            Series {
                label: match guarantee {
                    Guarantee::Unstated => format!("{title} {UNSTATED}"),
                    _ => title,
                },
                colour: match variant.kind.colour {
                    Some(colour) => Colour::hex(colour),
                    None => own_colour(own.next().unwrap_or(0)),
                },
                private: guarantee.is_private(),
            }
        };
        let mut series: Vec<Series> = self.variants.iter().map(series).collect();
        distinguish(&mut series);
        series
    }

    /// What is known of its cases without any work: `panels.csv` and `settings.csv`.
    pub fn rows(&self) -> Tables {
        let cases: Vec<(usize, &Case)> = self.settings().collect();
        let settings = cases.into_par_iter().map(|(number, case)| case.row(number));
        let panel = PanelRow {
            panel: self.id.clone(),
            kind: self.kind.id().to_owned(),
            distance: self.distance.id().to_owned(),
            title: self.title.clone(),
            first: self.first,
            last: self.first + self.cases.len() - 1,
        };
        Tables { panels: vec![panel], settings: settings.collect(), ..Tables::default() }
    }

    /// Its figures with their file names (without ending), drawn from tables.
    pub fn figures(&self, tables: &Tables) -> Vec<(String, Figure)> {
        let figures = self.kind.figures(self, tables);
        let named = |(name, figure): (String, Figure)| match self.id.as_str() {
            "" => (name, figure),
            id => (format!("{id}-{name}"), figure),
        };
        figures.into_iter().map(named).collect()
    }

    /// Whether it is drawn as a document prints it.
    pub fn is_as_printed(&self) -> bool {
        self.readings.is_some() || self.uses_print_distance()
    }

    /// Whether its distance is the one that the printed figures were drawn with.
    pub fn uses_print_distance(&self) -> bool {
        self.distance.id() == "print"
    }

    /// A figure under the panel's title.
    fn figure(&self, note: impl Into<String>, body: impl Into<Body>) -> Figure {
        Figure::new(self.title.clone(), note, body)
    }
}

/// The readings of a panel, and where they stand.
struct PlacedReadings<'a> {
    readings: &'a [Reading],
    abscissa: Abscissa,
}

impl<'a> PlacedReadings<'a> {
    /// The readings of one mechanism at one case.
    fn of(&self, label: &str, case: &Case) -> impl Iterator<Item = &'a Reading> {
        let own = move |reading: &&Reading| {
            reading.mechanism == label && self.abscissa.is_at(case, &reading.at)
        };
        self.readings.iter().filter(own)
    }
}
