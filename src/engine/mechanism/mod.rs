//! The mechanisms: their formulas, options and guarantees.
//!
//! A mechanism names the [`Law`] of its output; what follows from that comes from
//! [`crate::mechanism::law`]. Those that come with dpbi are values in `built_in`.

mod built_in;
pub mod law;
mod options;
pub mod own;
pub mod sampling;
mod usual_guarantee;

pub use built_in::{ALL, HISTORICAL};
pub use options::{Choice, Global, OneOf, Options, Slot, Smooth};
pub use own::Definition;
pub use usual_guarantee::usual_guarantee;

use std::sync::Arc;

use crate::mechanism::law::{Law, OutputSet, Size};
use crate::posterior::privacy::Guarantee;
use crate::posterior::setting::Setting;
use crate::refusal::{Refusal, suggest};

/// The most records for mechanisms that weigh candidates. The tables of the candidates near the data
/// grow with the square root of the number of records, and take some hundred megabytes here.
const MOST_WEIGHED: u64 = 1_000_000_000_000;

/// What is done with a mechanism: whether it is calibrated, and whether its outputs are remapped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tuning {
    /// Whether its exact loss is ε.
    pub calibrated: bool,
    /// Whether every output is replaced by the best candidate.
    pub remap: bool,
}

impl Tuning {
    pub const NONE: Self = Self { calibrated: false, remap: false };
    pub const CALIBRATED: Self = Self { calibrated: true, remap: false };
    pub const REMAPPED: Self = Self { calibrated: false, remap: true };
    pub const BOTH: Self = Self { calibrated: true, remap: true };
}

/// As it stands behind a mechanism's name.
impl std::fmt::Display for Tuning {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let parts = [(self.calibrated, CALIBRATED), (self.remap, REMAP)];
        parts.iter().filter(|(set, _)| *set).try_for_each(|(_, name)| write!(f, "+{name}"))
    }
}

/// The law of a mechanism in a setting.
type MakeLaw = fn(&Kind, &Setting, &Options) -> Result<Arc<dyn Law>, Refusal>;

/// A way to release a posterior privately (or a benchmark for one), without its options.
#[derive(Clone)]
pub struct Kind {
    /// The name in a config.
    pub id: &'static str,
    title: &'static str,
    /// What it draws, in one line.
    pub draws: &'static str,
    /// Its colour in figures, red, green and blue. The user's own have none.
    pub colour: Option<u32>,
    /// The options that it understands.
    pub choices: &'static [Choice],
    pub uses_delta: bool,
    /// What is proved about it.
    pub guarantee: fn(&Setting, &Options) -> Guarantee,
    /// Why it cannot be used for as many records as the setting has, as far as that is known without any
    /// work.
    pub refusal: fn(&Setting) -> Option<Refusal>,
    /// What it takes to find what is public, before the law is made at any data.
    pub preparation: fn(&Setting) -> Size,
    /// Its definition, if the user wrote it.
    pub definition: Option<Definition>,
    /// The law that it is, if it is one.
    fixed: Option<Arc<dyn Law>>,
    outline: MakeLaw,
    law: MakeLaw,
}

impl Kind {
    /// What most of them have in common.
    const USUAL: Self = Self {
        id: "",
        title: "",
        draws: "",
        colour: None,
        choices: &[],
        uses_delta: false,
        guarantee: |_, _| Guarantee::None,
        refusal: |_| None,
        preparation: |_| Size::default(),
        definition: None,
        fixed: None,
        outline: |kind, setting, options| kind.law(&Setting { n: 0, ..setting.clone() }, options),
        law: |_, _, _| Err(Refusal::new("it has no law", "give it one")),
    };

    /// The name in a figure: its expression, if the user wrote one.
    pub fn title(&self) -> &str {
        let definition = self.definition.as_ref();
        definition.map_or(self.title, |own| own.log_weight().unwrap_or(self.id))
    }

    /// A law of the same kind and outputs, without sensitivities and weights, which may take long.
    pub fn outline(&self, setting: &Setting, options: &Options) -> Result<Arc<dyn Law>, Refusal> {
        (self.outline)(self, setting, options)
    }

    /// The law of its output at all data sets of as many records as the setting has. Whatever depends on
    /// public values only is done here, once.
    pub fn law(&self, setting: &Setting, options: &Options) -> Result<Arc<dyn Law>, Refusal> {
        (self.law)(self, setting, options)
    }
}

/// What a law of one's own is. Nothing is proved about it.
const OF_LAW: Kind = Kind {
    id: "law",
    title: "law",
    draws: "what a law says",
    choices: &[Choice::Calibrated],
    guarantee: |_, _| Guarantee::Unstated,
    law: |kind, setting, options| match (&kind.fixed, options.inner_epsilon) {
        (Some(law), None) => Ok(Arc::clone(law)),
        (Some(law), Some(_)) => law.widened(1.0 / options.factor(setting)),
        (None, _) => (Kind::USUAL.law)(kind, setting, options),
    },
    ..Kind::USUAL
};

impl From<&'static Kind> for Kind {
    fn from(kind: &'static Kind) -> Self {
        kind.clone()
    }
}

pub fn find(id: &str) -> Option<&'static Kind> {
    ALL.iter().copied().find(|kind| kind.id == id)
}

/// The mechanism or the historical mechanism called `id`.
pub fn find_any(id: &str) -> Option<&'static Kind> {
    ALL.iter().chain(HISTORICAL).copied().find(|kind| kind.id == id)
}

/// A mechanism: what it is, its options, and its label.
#[derive(Clone)]
pub struct Mechanism {
    pub kind: Kind,
    pub options: Options,
    /// Its name in tables and figures; unique within a config.
    pub label: String,
}

/// In a label: the mechanism is calibrated.
const CALIBRATED: &str = "calibrated";
/// In a label: its outputs are remapped.
const REMAP: &str = "remap";

impl Mechanism {
    /// The mechanism without options, labelled by its id.
    pub fn plain(kind: impl Into<Kind>) -> Self {
        Self::tuned(kind, Tuning::NONE)
    }

    /// A law of one's own.
    pub fn of_law(label: &str, law: impl Law + 'static) -> Self {
        let kind = Kind { fixed: Some(Arc::new(law)), ..OF_LAW };
        Self::new(kind, Options::default(), label.to_owned())
    }

    /// The mechanism with `options`. It is neither calibrated nor remapped yet.
    pub fn new(kind: impl Into<Kind>, options: Options, label: String) -> Self {
        Self { kind: kind.into(), options, label }
    }

    /// The mechanism, labelled by its id and by what is to be done with it, such as `ehds+calibrated`.
    pub fn tuned(kind: impl Into<Kind>, tuning: Tuning) -> Self {
        let Tuning { calibrated, remap } = tuning;
        let kind = kind.into();
        let label = format!("{}{tuning}", kind.id);
        Self::new(kind, Options { calibrated, remap, ..Options::default() }, label)
    }

    /// Every mechanism that comes with dpbi as it is, and where `tuned` also calibrated, remapped, and both.
    pub fn all(tuned: bool) -> Vec<Self> {
        let variants = |kind: &'static Kind| {
            let calibrates = kind.choices.contains(&Choice::Calibrated);
            let ways = [Tuning::NONE, Tuning::CALIBRATED, Tuning::REMAPPED, Tuning::BOTH];
            let ways = ways.into_iter().filter(move |way| {
                (tuned || *way == Tuning::NONE) && (calibrates || !way.calibrated)
            });
            ways.map(move |way| Self::tuned(kind, way))
        };
        ALL.iter().copied().flat_map(variants).collect()
    }

    /// The mechanism of a label, which may hold white space: its id, with `+calibrated` and `+remap` after
    /// it where they are wanted.
    pub fn parse(label: &str) -> Result<Self, Refusal> {
        let parts: Vec<&str> = label.split('+').map(str::trim).collect();
        let id = parts[0];
        if let Some(historical) = HISTORICAL.iter().find(|one| one.id == id) {
            return Err(Self::plain(*historical).historical_refusal());
        }
        if own::is_kind(id) {
            return Err(Refusal::new(
                format!("`{id}` is a mechanism of your own, and it is not said which"),
                "give an expression with -m '{EXPR}', or define the mechanism in a config",
            ));
        }
        let kind = find(id).ok_or_else(|| {
            let ids = ALL.iter().map(|kind| kind.id);
            Refusal::new(format!("unknown mechanism `{id}`"), suggest(id, ids))
        })?;
        let tuning = Self::tuning(&label[label.find('+').unwrap_or(label.len())..])?;
        Ok(Self { label: parts.join("+"), ..Self::tuned(kind, tuning) })
    }

    /// What `+calibrated` and `+remap` after a mechanism's name say.
    pub fn tuning(after: &str) -> Result<Tuning, Refusal> {
        let mut tuning = Tuning::NONE;
        let mut parts = after.split('+').map(str::trim);
        if let Some(before) = parts.next().filter(|before| !before.is_empty()) {
            let cause = format!("`{before}` cannot stand behind a mechanism");
            return Err(Refusal::new(cause, "write for example ehds+calibrated+remap"));
        }
        for part in parts {
            match part {
                CALIBRATED => tuning.calibrated = true,
                REMAP => tuning.remap = true,
                unknown => {
                    let cause = format!("`+{unknown}` means nothing");
                    return Err(Refusal::new(cause, suggest(unknown, [CALIBRATED, REMAP])));
                }
            }
        }
        Ok(tuning)
    }

    /// Whether this and another one are the same mechanism, perhaps with other options.
    pub fn is_same_mechanism(&self, other: &Self) -> bool {
        fn identity(variant: &Mechanism) -> (&str, Option<&Definition>) {
            (variant.kind.id, variant.kind.definition.as_ref())
        }
        identity(self) == identity(other)
    }

    /// Whether only a figure in print uses it, and no document describes it.
    pub fn is_historical(&self) -> bool {
        let listed = HISTORICAL.iter().any(|one| one.id == self.kind.id);
        listed || self.options.is_historical()
    }

    /// The refusal to do anything else with a historical mechanism than to draw a figure.
    pub fn historical_refusal(&self) -> Refusal {
        Refusal::new(
            format!(
                "`{}` is a historical curiosity, which only shows how a figure was made",
                self.label
            ),
            "use it in experiments of kind accuracy or theory, without remapping",
        )
    }

    /// The name in a figure: the label, or the mechanism's title if none was set.
    pub fn title(&self) -> String {
        if self.label != self.kind.id {
            return self.label.clone();
        }
        let Options { calibrated, remap, .. } = self.options;
        let tuned = [(calibrated, ", calibrated"), (remap, ", remapped")];
        let tuned = tuned.into_iter().filter(|(set, _)| *set).map(|(_, words)| words);
        self.kind.title().to_owned() + &tuned.collect::<String>()
    }

    /// What is known about what it releases in this setting: proved, or computed by calibration. Without
    /// its calibration it releases nothing: see [`Self::law`].
    pub fn guarantee(&self, setting: &Setting) -> Guarantee {
        match self.options.calibrated {
            true => Guarantee::Computed(setting.epsilon.get()),
            false => (self.kind.guarantee)(setting, &self.options),
        }
    }

    /// Whether it is known to be private at the setting's own ε, and δ if there is one.
    pub fn is_private(&self, setting: &Setting) -> bool {
        self.guarantee(setting).is_within(setting.epsilon.get(), setting.delta)
    }

    /// Whether it is known to be private at the setting's own ε, without any δ.
    pub fn is_purely_private(&self, setting: &Setting) -> bool {
        self.guarantee(setting).is_within(setting.epsilon.get(), None)
    }

    /// The law of its output before any remapping, after the checks that concern every mechanism. A
    /// mechanism that is still to be calibrated is refused: its guarantee is not that of the stated ε.
    pub fn law(&self, setting: &Setting) -> Result<Arc<dyn Law>, Refusal> {
        if self.options.calibrated && self.options.inner_epsilon.is_none() {
            let cause = format!("`{}` is still to be calibrated", self.label);
            let remedy = "take what `Mechanism::prepare` makes of it in this setting";
            return Err(Refusal::new(cause, remedy));
        }
        self.checked(self.kind.law(setting, &self.options)?, setting)
    }

    /// What [`Kind::outline`] tells, after the same checks.
    pub fn outline(&self, setting: &Setting) -> Result<Arc<dyn Law>, Refusal> {
        if let Some(refusal) = (self.kind.refusal)(setting) {
            return Err(refusal);
        }
        self.checked(self.kind.outline(setting, &self.options)?, setting)
    }

    fn checked(&self, law: Arc<dyn Law>, setting: &Setting) -> Result<Arc<dyn Law>, Refusal> {
        let (id, n) = (self.kind.id, setting.n);
        let refused = setting.distance.refuses_scores(&setting.prior, setting.n);
        if let Some(Refusal { cause, remedy, .. }) = refused.filter(|_| law.uses_score()) {
            return Err(Refusal::new(format!("{id} weighs candidates, and {cause}"), remedy));
        }
        if law.needs_ball() && n > MOST_WEIGHED {
            let cause = format!(
                "{id} weighs the candidates near the data, and of {n} records they are too many"
            );
            let remedy = format!(
                "use at most {MOST_WEIGHED} records, or mechanisms that add noise to the counts"
            );
            return Err(Refusal::new(cause, remedy));
        }
        let open = law.outputs().leaves_total_open();
        match setting.distance.refuses_open_totals(&setting.prior).filter(|_| open) {
            Some(cause) => {
                let usual = |one: &Kind| one.outline(setting, &Options::default());
                let restores =
                    |one: &&&Kind| usual(one).is_ok_and(|law| law.outputs() == OutputSet::Restored);
                let ids: Vec<&str> = ALL.iter().filter(restores).map(|one| one.id).collect();
                Err(Refusal::new(
                    format!("{id} does not restore the total, and {cause}"),
                    format!(
                        "use a prior whose parameters sum to more than 1, another distance, or a \
                         kind that restores the total ({})",
                        ids.join(", ")
                    ),
                ))
            }
            None => Ok(law),
        }
    }

    /// A text that says everything about the mechanism: part of the name of a random stream.
    pub fn key(&self, setting: &Setting) -> String {
        let options = self.options.key(self.kind.choices, setting.gamma);
        let definition = self.kind.definition.as_ref().map(|definition| format!(" {definition}"));
        format!("{}{}{options}", self.kind.id, definition.unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mechanism::law::Outputs;
    use crate::posterior::error_field::Reach;
    use crate::posterior::model::Prior;
    use crate::posterior::privacy::{Delta, Epsilon, Gamma};

    #[test]
    fn ids_are_unique() {
        let all = || ALL.iter().chain(HISTORICAL);
        for kind in all() {
            assert_eq!(all().filter(|other| other.id == kind.id).count(), 1);
        }
        assert!(find("ehds").is_some() && find("laplace").is_none());
    }

    /// Results are told apart, and figures named, by what a mechanism says that it depends on.
    #[test]
    fn who_uses_delta_or_gamma_says_so() {
        let prior = Prior::new(vec![1.0; 3]).unwrap();
        let setting = Setting::new(prior, 15, Epsilon::new(0.5).unwrap());
        let with = |delta, gamma| Setting {
            delta: Delta::new(delta).ok(),
            gamma: Gamma::new(gamma).unwrap(),
            ..setting.clone()
        };
        for kind in ALL {
            let logs = |setting: Setting| {
                let law = kind.law(&setting, &Options::default()).unwrap();
                let posterior = setting.at(vec![4, 5, 6]);
                let score = setting.distance.field(&posterior, &Reach::ball(&posterior));
                let outputs = Outputs::new(law.outputs(), setting.n, 3);
                law.at(&posterior).unwrap().ln_probabilities(outputs, score.as_ref())
            };
            let usual = logs(with(1e-3, 1.0));
            let (delta, gamma) = (logs(with(1e-6, 1.0)), logs(with(1e-3, 0.5)));
            assert_eq!(delta != usual, kind.uses_delta, "{}", kind.id);
            let says_so = kind.choices.contains(&Choice::Gamma);
            assert_eq!(gamma != usual, says_so, "{}", kind.id);
        }
    }

    /// The guarantee of a calibrated mechanism is that of its inner ε, which it does not have yet.
    #[test]
    fn what_is_still_to_be_calibrated_is_refused() {
        let prior = Prior::new(vec![1.0; 2]).unwrap();
        let setting = Setting::new(prior, 9, Epsilon::new(0.5).unwrap());
        let variant = Mechanism::parse("ehdl+calibrated").unwrap();
        let refused = variant.law(&setting).map(drop).unwrap_err();
        assert!(refused.cause.contains("still to be calibrated"));
        assert!(variant.outline(&setting).is_ok());
        assert!(variant.prepare(&setting).is_ok());
        assert_eq!(variant.guarantee(&setting), Guarantee::Computed(0.5));
    }

    #[test]
    fn guarantees_follow_divisors_and_scales() {
        let prior = Prior::new(vec![1.0; 3]).unwrap();
        let setting = Setting::new(prior, 15, Epsilon::new(0.5).unwrap());
        let stated = |id: &str, options: Options| {
            (find(id).unwrap().guarantee)(&setting, &options).to_string()
        };
        let divisor = |d: f64| Options { divisor: Some(d), ..Options::default() };
        let factor = |f: f64| Options { scale_factor: Some(f), ..Options::default() };
        for id in
            ["lszhang", "lsdim", "lshist", "ehd", "ehds", "geometric", "geometric-all", "hamming"]
        {
            assert_eq!(stated(id, Options::default()), "0.5-private", "{id}");
        }
        assert_eq!(stated("mh-gamma", Options::default()), "1-private");
        assert_eq!(stated("ehdl", Options::default()), "not private");
        assert_eq!(stated("ehd", divisor(1.0)), "1-private");
        assert_eq!(stated("ehds", divisor(2.0)), "1-private");
        assert_eq!(stated("mh-gamma", divisor(4.0)), "0.5-private");
        assert_eq!(stated("lsdim", factor(3.0)), "0.5-private");
        assert_eq!(stated("lshist", factor(1.0)), "1-private");
        assert_eq!(stated("geometric", factor(4.0)), "0.25-private");
    }
}
