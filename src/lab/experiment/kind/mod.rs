//! The kinds of experiments: what can be computed for the cases of a panel.
//!
//! A kind is one file (or folder) and one line in [`ALL`]. Its file knows everything about it: its
//! name, the keys of a config that it understands, what it refuses, what its rows depend on, what it
//! computes, its figures, its summary, its size. Nothing outside this folder asks which kind it is.

pub mod accuracy;
pub mod change;
pub mod crossover;
mod curves;
pub mod family;
pub mod key;
pub mod l1_tail;
pub mod normaliser;
pub mod optimality;
pub mod optimum;
pub mod phase;
pub mod privacy;
pub mod profile;
pub mod sensitivity;
pub mod sketch;
pub mod steps;
pub mod table_one;
pub mod tail;
pub mod theory;
pub mod threshold;
pub mod trade_off;
pub mod within;

use crate::experiment::Parameter;
use crate::experiment::axis::Abscissa;
use crate::experiment::cell::{CellKey, Layout, Runs, Task};
use crate::experiment::digest::Digest;
use crate::experiment::reading::Reading;
use crate::experiment::value::Count;
use crate::experiment::{Case, CaseSize, Panel};
use engine::analysis::ranking::Data;
use engine::analysis::size::{self, Size};
use engine::mechanism::law::Law;
use engine::refusal::Refusal;
use figure::{Figure, LineName};
use key::Keys;
use table::Tables;

/// What most kinds use.
mod prelude {
    pub(super) use super::key::kind;
    pub(super) use super::{About, Complaint, Kind, Rules, sketch};
    pub(super) use crate::experiment::digest::Digest;
    pub(super) use crate::experiment::{
        Abscissa, Case, CaseSize, CellKey, Layout, Naming, Panel, Task, naming,
    };
    pub(super) use engine::analysis::size::{self, Size};
    pub(super) use engine::refusal::Refusal;
    pub(super) use figure::{Body, CurveFigure, Figure, LineName, Scale};
    pub(super) use table::Tables;
}

/// Every kind, in the order in which they are listed. The first is the default.
pub static ALL: &[&dyn Kind] = &[
    &accuracy::Accuracy::NEW,
    &theory::Theory::NEW,
    &sensitivity::Sensitivity::NEW,
    &change::Change::NEW,
    &privacy::Privacy::NEW,
    &profile::Profile::NEW,
    &trade_off::TradeOff::NEW,
    &optimum::Optimum::NEW,
    &family::Family::NEW,
    &threshold::Threshold::NEW,
    &within::Within::NEW,
    &steps::Steps::NEW,
    &crossover::Crossover::NEW,
    &optimality::Optimality::NEW,
    &tail::Tail::NEW,
    &normaliser::Normaliser::NEW,
    &l1_tail::L1Tail::NEW,
    &table_one::TableOne::NEW,
    &phase::Phase::NEW,
];

/// A kind of experiment, with the values of its own keys.
pub trait Kind: Keys + Send + Sync {
    // What a config may ask for.

    /// What a config may ask of it.
    fn rules(&self) -> Rules {
        Rules::USUAL
    }

    /// Refuses what only this kind cannot do.
    fn check(&self, _panel: &Panel) -> Result<(), Complaint> {
        Ok(())
    }

    /// Where a case stands in the figures of the panel. Two cases at the same place are refused;
    /// `None` if every case has a place of its own.
    fn place(&self, _panel: &Panel, _abscissa: &Abscissa, _case: &Case) -> Option<String> {
        None
    }

    /// How to mend a panel of which two cases stand at the same place.
    fn uncrowding(&self) -> &'static str {
        "draws one line through its settings: use one prior, ε, δ and γ for each panel, and data that \
         differ in what its axis shows"
    }

    // Values read off a printed figure.

    /// Whether a reading belongs to a cell of the panel.
    fn has_place_for(&self, panel: &Panel, abscissa: &Abscissa, reading: &Reading) -> bool {
        panel.variants.iter().any(|variant| variant.label == reading.mechanism)
            && panel.cases.iter().any(|case| abscissa.is_at(case, &reading.at))
    }

    /// When a reading agrees, in words.
    fn criterion(&self, _boxes: bool) -> &'static str {
        "A reading agrees if it is within its reading error plus one pixel."
    }

    // Cells and rows.

    /// The version of its rows. To be raised when a change of this kind alone makes finished cells
    /// worthless.
    fn version(&self) -> u32 {
        1
    }

    /// Adds to the key of a case's cell what its rows depend on beside the setting, the mechanisms,
    /// the readings and the panel's name.
    fn complete_key(&self, _layout: &Layout, _case: &Case, _key: &mut CellKey) {}

    /// The rows of one case. A kind that samples has [`Kind::runs`] instead.
    fn rows(&self, _task: &Task) -> Result<Tables, Refusal> {
        Ok(Tables::default())
    }

    /// How it samples, if it does.
    fn runs(&self) -> Option<&dyn Runs> {
        None
    }

    // What people see.

    /// Its figures with their names (without ending), drawn from tables.
    fn figures(&self, panel: &Panel, tables: &Tables) -> Vec<(String, Figure)>;

    /// How many plots there are in the figures, if they take much room beside the tables.
    fn plot_count(&self, _panel: &Panel) -> usize {
        1
    }

    /// What was asked for the axis, for small figures on a page and for the lines or boxes of one, if the
    /// kind draws such figures.
    fn axes(&self) -> Option<[Option<Parameter>; 3]> {
        None
    }

    /// Figures without data, as large as the real ones, where mechanisms are named in them.
    fn sketches(&self, panel: &Panel) -> Vec<Figure> {
        self.rules().names.map(|name| sketch::curves(panel, 1, name)).into_iter().collect()
    }

    /// Small tables of what was found out, with mechanisms called by their labels.
    fn digests(&self, _panel: &Panel, _tables: &Tables) -> Vec<Digest> {
        Vec::new()
    }

    /// What the terminal shows after the digests.
    fn summary(&self, _panel: &Panel, _tables: &Tables, _most_printed: usize) -> String {
        String::new()
    }

    /// What was found out, in sentences.
    fn answers(&self, _panel: &Panel, _tables: &Tables) -> Vec<String> {
        Vec::new()
    }

    /// One digest of several panels, all of this kind.
    fn overall(&self, _panels: &[&Panel], _tables: &Tables) -> Vec<Digest> {
        Vec::new()
    }

    // How large it is.

    /// The size of one case: unless said otherwise, that of listing the error of every law once.
    fn size(&self, panel: &Panel, case: &Case) -> Result<CaseSize, Refusal> {
        laws(panel, case, 1.0)
    }

    /// About how many rows one case adds to the tables, beside its single runs: unless said otherwise, a few
    /// for every mechanism.
    fn row_count(&self, panel: &Panel, _case: &Case, _size: &CaseSize) -> f64 {
        3.0 * panel.variants.len() as f64
    }
}

/// What a config may ask of a kind.
pub struct Rules {
    /// Whether it compares mechanisms. If not, a config names none.
    pub compares_mechanisms: bool,
    /// Whether it checks formulas of the documents, which do not cover calibrated or remapped mechanisms.
    pub checks_formulas: bool,
    /// Whether it is about two categories only.
    pub needs_two_categories: bool,
    /// Whether it may show mechanisms that only printed figures used.
    pub draws_historical: bool,
    /// Whether readings can be compared with what it computes.
    pub compares_readings: bool,
    /// Where each mechanism's curve is named, if figures have one curve for each: more names need a larger page.
    pub names: Option<LineName>,
}

impl Rules {
    /// What most kinds say.
    pub const USUAL: Self = Self {
        compares_mechanisms: true,
        checks_formulas: false,
        needs_two_categories: false,
        draws_historical: false,
        compares_readings: false,
        names: None,
    };

    /// What those say that check formulas about two categories.
    pub const OF_FORMULAS: Self =
        Self { checks_formulas: true, needs_two_categories: true, ..Self::USUAL };
}

/// The size of a case where the error of every law is listed so many times.
fn laws(panel: &Panel, case: &Case, times: f64) -> Result<CaseSize, Refusal> {
    let listed = |law: &dyn Law| {
        size::listed(law, case.setting.posterior(), case.setting.distance).times(times)
    };
    Ok(CaseSize::of(&case.setting, &panel.outlines(case)?, listed))
}

/// The numbers of records that are tried for a crossover.
const SIZES_TRIED: f64 = 500.0;

/// The size of a case where the mean error of every mechanism over all data is computed.
fn means_over_all_data(panel: &Panel, case: &Case) -> Result<CaseSize, Refusal> {
    let mut all = CaseSize::of(&case.setting, &panel.outlines(case)?, |_| Size::default());
    for (variant, cell) in panel.variants.iter().zip(&mut all.cells) {
        *cell = size::error(variant, &case.setting, &Data::PriorPredictive).unwrap_or_default();
    }
    Ok(all)
}

/// What a kind refuses, and about what.
pub struct Complaint {
    pub about: About,
    /// Why, and what would be right.
    pub refusal: Refusal,
}

/// A part of a panel's config.
pub enum About {
    Data,
    /// The mechanism at this place.
    Mechanism(usize),
    /// A key of the kind.
    Key(&'static str),
}

impl About {
    /// A complaint about this part.
    pub fn wrong(self, cause: impl Into<String>, remedy: impl Into<String>) -> Complaint {
        Complaint { about: self, refusal: Refusal::new(cause, remedy) }
    }
}

/// Refuses a panel without `steps`.
fn check_steps(kind: &dyn Kind, steps: &[Count]) -> Result<(), Complaint> {
    if steps.is_empty() {
        let cause = format!("an experiment of kind `{}` needs `steps`", kind.id());
        return Err(About::Data.wrong(cause, "add for example steps = [1, 2, 5]"));
    }
    Ok(())
}

/// Refuses a mechanism whose outputs are not `steps` away from the truth, as its total is open.
fn check_totals(panel: &Panel) -> Result<(), Complaint> {
    for (place, variant) in panel.variants.iter().enumerate() {
        let law = variant.outline(&panel.cases[0].setting);
        if law.is_ok_and(|law| law.outputs().leaves_total_open()) {
            let cause = format!(
                "the released counts of `{}` need not sum to n, so that steps are not defined",
                variant.label
            );
            return Err(About::Mechanism(place).wrong(cause, "leave it out"));
        }
    }
    Ok(())
}
