//! Experiments: what a config asks for, checked and laid out panel by panel and case by case.
//!
//! A [`Panel`] is one kind of computation over one grid of settings; an [`Experiment`] is one or
//! more panels that share a name, a seed and a results folder. Every kind has a module of its own:
//! what it computes (rows of [`Tables`]) and what it draws from them.

pub mod accuracy;
mod axis;
mod cell;
pub mod change;
pub mod config;
pub mod crossover;
mod curves;
pub mod data;
mod dataset;
mod kind;
pub mod l1_tail;
pub mod naming;
pub mod optimality;
pub mod optimum;
pub mod phase;
pub mod privacy;
pub mod profile;
pub mod reading;
mod sampling;
pub mod scaling;
pub mod sensitivity;
mod sketch;
pub mod stats;
pub mod steps;
pub mod table;
pub mod table_one;
pub mod tail;
pub mod theory;
pub mod within;

pub use cell::{Cell, Content, Group, Keeper, Layout, NUMERICS, groups};
pub use dataset::{DataSet, DataSpec};
pub use kind::{FigureName, Kind, Parameters, ScopeName, SensitivityName};
pub use naming::Naming;
pub use sampling::{Draws, RUNS_PER_BLOCK, Sampler};
pub use sketch::sketches;

use axis::{Abscissa, Axis};

use std::sync::Arc;

use rayon::prelude::*;

use crate::analysis::tuning::{Tuned, TuningCache};
use crate::experiment::reading::{Reading, ReadingSet, largest_deviation};
use crate::experiment::stats::Whiskers;
use crate::experiment::table::{CalibrationRow, PanelRow, ReadingRow, SettingRow, Tables};
use crate::figure::{Figure, Series, colour, distinguish};
use crate::mechanism::Variant;
use crate::mechanism::law::{Distribution, Plan, Recipe};
use crate::mechanism::prepared::PreparedSetting;
use crate::posterior::distance::Distance;
use crate::posterior::metric::Metric;
use crate::posterior::model::{Prior, compositions, vector};
use crate::posterior::privacy::{Delta, Epsilon, Gamma};
use crate::posterior::sensitivity::CandidatesInBeta;
use crate::posterior::setting::Setting;

/// The lists that a config combines.
#[derive(Clone, Debug, PartialEq)]
pub struct Grid {
    /// Priors.
    pub priors: Vec<Prior>,
    /// ε.
    pub epsilons: Vec<Epsilon>,
    /// δ; may be empty.
    pub deltas: Vec<Delta>,
    /// γ; if empty, 1.
    pub gammas: Vec<Gamma>,
    /// The data.
    pub data: DataSpec,
}

impl Grid {
    /// Every δ, or once none.
    #[must_use]
    pub fn deltas_or_none(&self) -> Vec<Option<Delta>> {
        if self.deltas.is_empty() {
            vec![None]
        } else {
            self.deltas.iter().copied().map(Some).collect()
        }
    }

    /// Every γ, or once 1.
    #[must_use]
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
    /// The setting.
    pub setting: Setting,
    /// The name of the data set, if it has one.
    pub label: Option<String>,
    /// Its abscissa in a figure, if one was given.
    pub at: Option<f64>,
}

impl Case {
    /// Its row of `settings.csv`.
    fn row(&self, number: usize) -> SettingRow {
        let setting = &self.setting;
        let posterior = &setting.posterior;
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

/// How figures look.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Look {
    /// Where whiskers end.
    pub whiskers: Whiskers,
    /// Whether data beyond the whiskers are drawn.
    pub outliers: bool,
}

impl Default for Look {
    fn default() -> Self {
        Self { whiskers: Whiskers::Iqr(1.5), outliers: false }
    }
}

/// A checked experiment.
#[derive(Clone)]
pub struct Experiment {
    /// The name of the results folder.
    pub name: String,
    /// What it shows.
    pub title: String,
    /// Where it stands in a document, such as "Figure 2, §7.1.1".
    pub source: Option<String>,
    /// What a reader should know: what is assumed, what differs from the document.
    pub notes: Vec<String>,
    /// The seed of all random streams.
    pub seed: u64,
    /// Its panels, at least one.
    pub panels: Vec<Panel>,
}

impl Experiment {
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
    /// The title of its figures.
    pub title: String,
    /// What is computed.
    pub kind: Kind,
    /// What the kind wants to know beside the grid.
    pub parameters: Parameters,
    /// The seed of all random streams.
    pub seed: u64,
    /// How many releases are sampled for each case and mechanism.
    pub runs: u64,
    /// Score, sensitivity and error are measured in this distance.
    pub distance: &'static dyn Distance,
    /// Further errors.
    pub metrics: Vec<Metric>,
    /// The mechanisms.
    pub variants: Vec<Variant>,
    /// The lists that were combined.
    pub grid: Grid,
    /// Their combinations.
    pub cases: Vec<Case>,
    /// The number of its first setting: settings are numbered through all panels, from 1.
    pub first: usize,
    /// How figures look.
    pub look: Look,
    /// Values read off the printed figure, to be compared with ours.
    pub readings: Option<ReadingSet>,
    /// Its tuned mechanisms, and those of the panels with which it shares them.
    pub tuning: Arc<TuningCache>,
}

impl Panel {
    /// The errors that are tabulated: the distance first, then the metrics asked for.
    #[must_use]
    pub fn errors(&self) -> Vec<Metric> {
        let distance = Metric::from_distance(self.distance);
        std::iter::once(distance).chain(self.metrics.iter().copied()).collect()
    }

    /// Every case with the number of its setting.
    pub fn settings(&self) -> impl Iterator<Item = (usize, &Case)> {
        (self.first..).zip(&self.cases)
    }

    /// The case of a setting's number, if it is one of this panel's.
    #[must_use]
    pub fn case(&self, setting: usize) -> Option<&Case> {
        self.cases.get(setting.checked_sub(self.first)?)
    }

    /// Whether a setting's number is one of this panel's.
    #[must_use]
    pub fn owns(&self, setting: usize) -> bool {
        self.case(setting).is_some()
    }

    /// The plans of all mechanisms at one case: calibrated and remapped where the config says so.
    ///
    /// # Panics
    /// If a mechanism refuses the case; the config reader has asked all of them.
    #[must_use]
    pub fn plans(&self, case: &Case) -> Vec<Plan> {
        self.variants.iter().map(|variant| self.plan(variant, case)).collect()
    }

    /// The plan of one mechanism at one case.
    fn plan(&self, variant: &Variant, case: &Case) -> Plan {
        self.tuned(variant, case).variant.plan(&case.setting).expect("checked by the config")
    }

    /// One mechanism, tuned for data sets of the size of a case.
    fn tuned(&self, variant: &Variant, case: &Case) -> Tuned {
        self.tuning.tune(variant, &case.setting).expect("checked by the config")
    }

    /// The recipes of all mechanisms at one case, before any tuning.
    ///
    /// # Panics
    /// If a mechanism refuses the case; the config reader has asked all of them.
    #[must_use]
    pub fn recipes(&self, case: &Case) -> Vec<Recipe> {
        let recipe =
            |variant: &Variant| variant.recipe(&case.setting).expect("checked by the config");
        self.variants.iter().map(recipe).collect()
    }

    /// The same in outline: enough to say what they cost.
    ///
    /// # Panics
    /// If a mechanism refuses the case; the config reader has asked all of them.
    #[must_use]
    pub fn outlines(&self, case: &Case) -> Vec<Recipe> {
        let outline =
            |variant: &Variant| variant.outline(&case.setting).expect("checked by the config");
        self.variants.iter().map(outline).collect()
    }

    /// The law of the error of every mechanism at one case; `None` for one that is too large.
    fn distributions(&self, case: &Case) -> Vec<Option<Distribution>> {
        let plans = self.plans(case);
        let bench = PreparedSetting::new(&case.setting, &plans, &[]);
        let field = bench.fields().next().expect("the distance");
        let law = |plan| Distribution::new(bench.law(plan).as_ref(), field);
        plans.iter().map(law).collect()
    }

    /// The probability that every mechanism releases the truth at one case.
    fn p_exact(&self, case: &Case) -> Vec<f64> {
        let plans = self.plans(case);
        let bench = PreparedSetting::new(&case.setting, &plans, &[]);
        plans.iter().map(|plan| bench.law(plan).p_exact()).collect()
    }

    /// The readings, to be found by mechanism and case.
    fn placed_readings(&self) -> PlacedReadings<'_> {
        let readings = self.readings.as_ref().map_or(&[][..], |set| &set.readings);
        PlacedReadings { readings, abscissa: Abscissa::new(self) }
    }

    /// A reading that belongs to no cell of the panel.
    #[must_use]
    pub fn unplaced_reading(&self) -> Option<&Reading> {
        let abscissa = Abscissa::new(self);
        let named = |reading: &Reading| match self.kind {
            Kind::Sensitivity => reading.mechanism == SensitivityName::Local.id(),
            _ => self.variants.iter().any(|variant| variant.label == reading.mechanism),
        };
        let placed = |reading: &Reading| match self.kind {
            Kind::Theory => self.cases.len() == 1,
            _ => self.cases.iter().any(|case| abscissa.is_at(case, &reading.at)),
        };
        let mut all = self.readings.iter().flat_map(|set| &set.readings);
        all.find(|reading| !named(reading) || !placed(reading))
    }

    /// Whether two cases would stand at the same place of the same figure: one curve of them would
    /// be two.
    #[must_use]
    pub fn is_crowded(&self) -> bool {
        let abscissa = Abscissa::new(self);
        let ordinate = Axis::beside_size(self, &abscissa.naming).unwrap_or(abscissa.axis);
        let place = |case: &Case| {
            let n = case.setting.posterior.n().to_string();
            match self.kind {
                Kind::Accuracy | Kind::Theory | Kind::Change => None,
                Kind::Profile | Kind::TradeOff => Some(abscissa.naming.name(case)),
                Kind::Sensitivity | Kind::Privacy | Kind::Optimum => {
                    Some(abscissa.axis.name(case, &abscissa.naming))
                }
                Kind::Within | Kind::Steps | Kind::Normaliser => Some(n),
                Kind::Tail => Some(abscissa.naming.data(case)),
                Kind::L1Tail => Some(vector(case.setting.posterior.counts())),
                Kind::Optimality => Some(n + &naming::epsilon(case)),
                Kind::Crossover => Some(naming::epsilon(case)),
                Kind::TableOne => Some(String::new()),
                Kind::Scaling => Some(format!("{n}, k = {}", case.setting.posterior.k())),
                Kind::Phase => Some(format!("{n}, {}", ordinate.name(case, &abscissa.naming))),
            }
        };
        let mut places: Vec<String> = self.cases.iter().filter_map(place).collect();
        places.sort_unstable();
        places.windows(2).any(|pair| pair[0] == pair[1])
    }

    /// How each mechanism is drawn.
    fn series(&self) -> Vec<Series> {
        let first = &self.cases[0].setting;
        let mut series: Vec<Series> = (self.variants.iter())
            .map(|variant| Series {
                label: variant.title(),
                colour: colour(variant.mechanism.id()),
                private: variant.guarantee(first).is_private(),
            })
            .collect();
        distinguish(&mut series);
        series
    }

    /// What is known of its cases without any work: `panels.csv` and `settings.csv`.
    #[must_use]
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

    /// The rows of one case, in kinds that draw nothing. `finished` is called with each mechanism's
    /// place when it is done.
    fn rows_of_case(&self, layout: &Layout, case: usize, finished: &Finished) -> Tables {
        let mut tables = match self.kind {
            // Its cells are smaller.
            Kind::Accuracy => Tables::default(),
            Kind::Theory => theory::at_case(self, case, finished),
            Kind::Sensitivity => sensitivity::at_case(layout, case),
            Kind::Change => change::at_case(self, case),
            Kind::Privacy => privacy::at_case(layout, case, finished),
            Kind::Profile => profile::at_case(layout, case, finished),
            Kind::TradeOff => profile::trade_off::at_case(layout, case, finished),
            Kind::Optimum => optimum::at_case(self, case, finished),
            Kind::Within => within::at_case(self, case),
            Kind::Steps => steps::at_case(self, case),
            Kind::Crossover => crossover::at_case(self, case),
            Kind::Optimality => optimality::at_case(self, case),
            Kind::Tail => tail::at_case(layout, case),
            Kind::Normaliser => tail::normaliser::at_case(self, case),
            Kind::L1Tail => l1_tail::at_case(self, case),
            Kind::TableOne => table_one::at_case(self, case),
            Kind::Phase => phase::at_case(self, case, finished),
            Kind::Scaling => scaling::at_case(self, case),
        };
        let certificate = |variant: &Variant| {
            let certificate = self.tuned(variant, &self.cases[case]).certificate?;
            Some(CalibrationRow::new(self.first + case, &variant.label, &certificate))
        };
        tables.calibration = self.variants.iter().filter_map(certificate).collect();
        tables
    }

    /// Its figures with their file names (without ending), drawn from tables.
    #[must_use]
    pub fn figures(&self, tables: &Tables) -> Vec<(String, Figure)> {
        let figures = match self.kind {
            Kind::Accuracy => accuracy::figures(self, tables),
            Kind::Theory => theory::figures(self, tables),
            Kind::Sensitivity => sensitivity::figures(self, tables),
            Kind::Change => change::figures(self, tables),
            Kind::Privacy => privacy::figures(self, tables),
            Kind::Profile => profile::figures(self, tables),
            Kind::TradeOff => profile::trade_off::figures(self, tables),
            Kind::Optimum => optimum::figures(self, tables),
            Kind::Within => within::figures(self, tables),
            Kind::Steps => steps::figures(self, tables),
            Kind::Crossover => crossover::figures(self, tables),
            Kind::Optimality => optimality::figures(self, tables),
            Kind::Tail => tail::figures(self, tables),
            Kind::Normaliser => tail::normaliser::figures(self, tables),
            Kind::L1Tail => l1_tail::figures(self, tables),
            Kind::TableOne => table_one::figures(self, tables),
            Kind::Phase => phase::figures(self, tables),
            Kind::Scaling => scaling::figures(self, tables),
        };
        let named = |(name, mut figure): (String, Figure)| {
            self.note_deviation(&mut figure, tables);
            match self.id.as_str() {
                "" => (name, figure),
                id => (format!("{id}-{name}"), figure),
            }
        };
        figures.into_iter().map(named).collect()
    }

    /// Says in a figure that shows readings how far they are off.
    fn note_deviation(&self, figure: &mut Figure, tables: &Tables) {
        let own: Vec<&ReadingRow> =
            tables.readings.iter().filter(|row| row.panel == self.id).collect();
        if let Some(note) = figure.note_beside_readings()
            && let Some(largest) = largest_deviation(own.iter().copied())
        {
            *note += &format!("; readings deviate by at most {largest}");
        }
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

/// Called with a mechanism's place in the panel when its part of a case is done.
pub type Finished<'a> = dyn Fn(usize) + Sync + 'a;
