//! The mechanisms: their formulas, options and guarantees.
//!
//! A mechanism only says *what* is drawn, as a [`Recipe`]; the exact law and the sampler come from
//! [`crate::mechanism::law`]. Those that come with dpbi are values in `built_in`.

mod built_in;
pub mod law;
mod options;
pub mod own;
pub mod prepared;
pub mod sampling;
mod usual_guarantee;

pub use built_in::{ALL, HISTORICAL};
pub use options::{Choice, Global, OneOf, Options, Slot, Smooth};
pub use own::Definition;
pub use usual_guarantee::usual_guarantee;

use std::sync::Arc;

use crate::mechanism::law::{Plan, Recipe, Remap};
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

#[allow(missing_docs)]
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

/// A way to release a posterior privately (or a benchmark for one).
pub trait Mechanism: Sync {
    /// The name in a config.
    fn id(&self) -> &'static str;

    /// The name in a figure.
    fn title(&self) -> &'static str;

    /// What it draws, in one line.
    fn draws(&self) -> &'static str;

    /// Its colour in figures, red, green and blue. The user's own have none.
    fn colour(&self) -> Option<u32> {
        None
    }

    /// The options that it understands.
    fn choices(&self) -> &'static [Choice];

    /// Whether δ matters to it.
    fn uses_delta(&self) -> bool {
        false
    }

    /// What is proved about it.
    fn guarantee(&self, setting: &Setting, options: &Options) -> Guarantee;

    /// Why it cannot be used for as many records as the setting has, as far as that is known without any
    /// work.
    fn refusal(&self, _: &Setting) -> Option<Refusal> {
        None
    }

    /// Its definition, if the user wrote it.
    fn definition(&self) -> Option<&'static Definition> {
        None
    }

    /// Whether it treats all categories alike under a prior that does.
    fn is_symmetric(&self) -> bool {
        true
    }

    /// A recipe that tells what kind of law the mechanism has and what that costs, without sensitivities,
    /// which take long for many categories. The rate of an exponential recipe is that of data without
    /// records, and means nothing.
    fn outline(&self, setting: &Setting, options: &Options) -> Result<Recipe, Refusal> {
        self.recipe(&setting.at(vec![0; setting.posterior.k()]), options)
    }

    /// How its output is made at one setting.
    fn recipe(&self, setting: &Setting, options: &Options) -> Result<Recipe, Refusal>;
}

/// The mechanism called `id`.
pub fn find(id: &str) -> Option<&'static dyn Mechanism> {
    ALL.iter().copied().find(|mechanism| mechanism.id() == id)
}

/// The mechanism or the historical mechanism called `id`.
pub fn find_any(id: &str) -> Option<&'static dyn Mechanism> {
    ALL.iter().chain(HISTORICAL).copied().find(|mechanism| mechanism.id() == id)
}

/// A mechanism with its options and its label, as a config asks for it.
#[derive(Clone)]
pub struct Variant {
    /// The mechanism.
    pub mechanism: &'static dyn Mechanism,
    /// Its options.
    pub options: Options,
    /// Its name in tables and figures; unique within a config.
    pub label: String,
    /// What is released in place of its outputs, where a remapping has been found.
    pub remap: Option<Arc<Remap>>,
}

/// In a label: the mechanism is calibrated.
const CALIBRATED: &str = "calibrated";
/// In a label: its outputs are remapped.
const REMAP: &str = "remap";

impl Variant {
    /// The mechanism without options, labelled by its id.
    pub fn plain(mechanism: &'static dyn Mechanism) -> Self {
        Self::new(mechanism, Options::default(), mechanism.id().to_owned())
    }

    /// The mechanism with `options`. It is neither calibrated nor remapped yet.
    pub fn new(mechanism: &'static dyn Mechanism, options: Options, label: String) -> Self {
        Self { mechanism, options, label, remap: None }
    }

    /// The mechanism, labelled by its id and by what is to be done with it, such as `ehds+calibrated`.
    pub fn tuned(mechanism: &'static dyn Mechanism, calibrated: bool, remap: bool) -> Self {
        let mut variant = Self::plain(mechanism);
        variant.options.calibrated = calibrated;
        variant.options.remap = remap;
        for (set, name) in [(calibrated, CALIBRATED), (remap, REMAP)] {
            if set {
                variant.label += &format!("+{name}");
            }
        }
        variant
    }

    /// The mechanism of a label, which may hold white space: its id, with `+calibrated` and `+remap` after
    /// it where they are wanted.
    pub fn parse(label: &str) -> Result<Self, Refusal> {
        let parts: Vec<&str> = label.split('+').map(str::trim).collect();
        let id = parts[0];
        if let Some(historical) = HISTORICAL.iter().find(|one| one.id() == id) {
            return Err(Self::plain(*historical).historical_refusal());
        }
        if own::is_kind(id) {
            return Err(Refusal::new(
                format!("`{id}` is a mechanism of your own, and it is not said which"),
                "give an expression with -m '{EXPR}', or define the mechanism in a config",
            ));
        }
        let mechanism = find(id).ok_or_else(|| {
            let ids = ALL.iter().map(|mechanism| mechanism.id());
            Refusal::new(format!("unknown mechanism `{id}`"), suggest(id, ids))
        })?;
        let tuning = Self::tuning(&label[label.find('+').unwrap_or(label.len())..])?;
        let tuned = Self::tuned(mechanism, tuning.calibrated, tuning.remap);
        Ok(Self { label: parts.join("+"), ..tuned })
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
        let identity = |variant: &Self| (variant.mechanism.id(), variant.mechanism.definition());
        identity(self) == identity(other)
    }

    /// Whether only a figure in print uses it, and no document describes it.
    pub fn is_historical(&self) -> bool {
        let listed = HISTORICAL.iter().any(|one| one.id() == self.mechanism.id());
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
        if self.label != self.mechanism.id() {
            return self.label.clone();
        }
        let Options { calibrated, remap, .. } = self.options;
        let tuned = [(calibrated, ", calibrated"), (remap, ", remapped")];
        let tuned = tuned.into_iter().filter(|(set, _)| *set).map(|(_, words)| words);
        self.mechanism.title().to_owned() + &tuned.collect::<String>()
    }

    /// What is known about what it releases in this setting: proved, or computed by calibration. Without
    /// its calibration it releases nothing: see [`Self::recipe`].
    pub fn guarantee(&self, setting: &Setting) -> Guarantee {
        match self.options.calibrated {
            true => Guarantee::Computed(setting.epsilon.get()),
            false => self.mechanism.guarantee(setting, &self.options),
        }
    }

    /// Whether it is known to be private at the setting's own ε, and δ if there is one.
    pub fn is_private(&self, setting: &Setting) -> bool {
        self.guarantee(setting).is_within_both(setting.epsilon.get(), setting.delta)
    }

    /// Whether it is known to be private at the setting's own ε, without any δ.
    pub fn is_purely_private(&self, setting: &Setting) -> bool {
        self.guarantee(setting).is_within(setting.epsilon.get())
    }

    /// The recipe of its output, and the remapping of that output.
    pub fn plan(&self, setting: &Setting) -> Result<Plan, Refusal> {
        Ok(Plan { recipe: self.recipe(setting)?, remap: self.remap.clone() })
    }

    /// How its output is made, after the checks that concern every mechanism. A mechanism that is
    /// still to be calibrated is refused: its guarantee is not that of the stated ε.
    pub fn recipe(&self, setting: &Setting) -> Result<Recipe, Refusal> {
        if self.options.calibrated && self.options.inner_epsilon.is_none() {
            let cause = format!("`{}` is still to be calibrated", self.label);
            return Err(Refusal::new(
                cause,
                "take what `tuning::tune` makes of it in this setting",
            ));
        }
        self.checked(self.mechanism.recipe(setting, &self.options)?, setting)
    }

    /// What [`Mechanism::outline`] tells, after the same checks.
    pub fn outline(&self, setting: &Setting) -> Result<Recipe, Refusal> {
        if let Some(refusal) = self.mechanism.refusal(setting) {
            return Err(refusal);
        }
        self.checked(self.mechanism.outline(setting, &self.options)?, setting)
    }

    fn checked(&self, recipe: Recipe, setting: &Setting) -> Result<Recipe, Refusal> {
        let refused = setting.distance.refuses_scores(&setting.posterior);
        if let Some(Refusal { cause, remedy, .. }) = refused.filter(|_| recipe.uses_score()) {
            let cause = format!("{} weighs candidates, and {cause}", self.mechanism.id());
            return Err(Refusal::new(cause, remedy));
        }
        if recipe.needs_ball() && setting.posterior.n() > MOST_WEIGHED {
            let cause = format!(
                "{} weighs the candidates near the data, and of {} records they are too many",
                self.mechanism.id(),
                setting.posterior.n()
            );
            let remedy = format!(
                "use at most {MOST_WEIGHED} records, or mechanisms that add noise to the counts"
            );
            return Err(Refusal::new(cause, remedy));
        }
        let prior = setting.posterior.prior();
        let open = recipe.leaves_total_open();
        match setting.distance.refuses_open_totals(prior).filter(|_| open) {
            Some(cause) => {
                let usual = |one: &dyn Mechanism| one.outline(setting, &Options::default());
                let restores =
                    |one: &&&dyn Mechanism| usual(**one).is_ok_and(|r| r.restores_total());
                let ids: Vec<&str> = ALL.iter().filter(restores).map(|one| one.id()).collect();
                Err(Refusal::new(
                    format!("{} does not restore the total, and {cause}", self.mechanism.id()),
                    format!(
                        "use a prior whose parameters sum to more than 1, another distance, or a \
                         mechanism that restores the total ({})",
                        ids.join(", ")
                    ),
                ))
            }
            None => Ok(recipe),
        }
    }

    /// A text that says everything about the mechanism: part of the name of a random stream.
    pub fn key(&self, setting: &Setting) -> String {
        let options = self.options.key(self.mechanism.choices(), setting.gamma);
        let definition = self.mechanism.definition().map(|definition| format!(" {definition}"));
        format!("{}{}{options}", self.mechanism.id(), definition.unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::posterior::model::Prior;
    use crate::posterior::privacy::{Delta, Epsilon, Gamma};

    #[test]
    fn ids_are_unique() {
        let all = || ALL.iter().chain(HISTORICAL);
        for mechanism in all() {
            assert_eq!(all().filter(|other| other.id() == mechanism.id()).count(), 1);
        }
        assert!(find("ehds").is_some() && find("laplace").is_none());
    }

    /// Results are told apart, and figures named, by what a mechanism says that it depends on.
    #[test]
    fn who_uses_delta_or_gamma_says_so() {
        let prior = Prior::new(vec![1.0; 3]).unwrap();
        let setting = Setting::new(prior, vec![4, 5, 6], Epsilon::new(0.5).unwrap());
        let with = |delta, gamma| Setting {
            delta: Delta::new(delta).ok(),
            gamma: Gamma::new(gamma).unwrap(),
            ..setting.clone()
        };
        for mechanism in ALL {
            let recipe = |setting: Setting| mechanism.recipe(&setting, &Options::default()).ok();
            let usual = recipe(with(1e-3, 1.0));
            let (delta, gamma) = (recipe(with(1e-6, 1.0)), recipe(with(1e-3, 0.5)));
            assert_eq!(delta != usual, mechanism.uses_delta(), "{}", mechanism.id());
            let says_so = mechanism.choices().contains(&Choice::Gamma);
            assert_eq!(gamma != usual, says_so, "{}", mechanism.id());
        }
    }

    /// The guarantee of a calibrated mechanism is that of its inner ε, which it does not have yet.
    #[test]
    fn what_is_still_to_be_calibrated_is_refused() {
        let prior = Prior::new(vec![1.0; 2]).unwrap();
        let setting = Setting::new(prior, vec![4, 5], Epsilon::new(0.5).unwrap());
        let variant = Variant::parse("ehdl+calibrated").unwrap();
        assert!(variant.recipe(&setting).unwrap_err().cause.contains("still to be calibrated"));
        assert!(variant.plan(&setting).is_err() && variant.outline(&setting).is_ok());
        let tuned = crate::analysis::tuning::tune(&variant, &setting).unwrap().variant;
        assert!(tuned.recipe(&setting).is_ok());
        assert_eq!(tuned.guarantee(&setting), Guarantee::Computed(0.5));
    }

    /// What is known does not depend on what was computed before.
    #[test]
    fn the_guarantee_of_tight_stays_the_same() {
        let prior = Prior::new(vec![1.0; 3]).unwrap();
        let setting = Setting::new(prior, vec![4, 5, 2], Epsilon::new(0.05).unwrap());
        let tight = Variant::plain(find("tight").unwrap());
        let before = tight.guarantee(&setting);
        assert!(tight.recipe(&setting).is_ok());
        assert_eq!(tight.guarantee(&setting), before);
    }

    #[test]
    fn guarantees_follow_divisors_and_scales() {
        let prior = Prior::new(vec![1.0; 3]).unwrap();
        let setting = Setting::new(prior, vec![4, 5, 6], Epsilon::new(0.5).unwrap());
        let stated = |id: &str, options: Options| {
            find(id).unwrap().guarantee(&setting, &options).to_string()
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
