//! The options of a mechanism.

use crate::named;
use crate::named::Named;
use crate::posterior::privacy::{Epsilon, Gamma};
use crate::posterior::sensitivity::CandidatesInBeta;
use crate::posterior::setting::Setting;

named! {
    /// Which global sensitivity `ehd` divides by.
    #[derive(Default)]
    pub enum Global {
        /// The exact maximum over all data sets of size n.
        #[default]
        Exact = "exact",
        /// sqrt(1 − π/4), valid when every α_i >= 1.
        Bound = "bound",
        /// H(α, α + (1, −1, 0, …)), which the programs behind the figures of notes and early used. It is not
        /// the global sensitivity of any number of records.
        Neighbour = "neighbour",
    }
}

named! {
    /// Which sensitivity `mh-beta` divides by.
    #[derive(Default)]
    pub enum Smooth {
        /// The β-smooth sensitivity.
        #[default]
        Beta = "beta",
        /// The local one: in the programs behind the figures of notes and early, errors in S_β made it equal
        /// to LS.
        Local = "local",
    }
}

/// The place of an option's value.
pub enum Slot<'a> {
    Gamma(&'a mut Option<Gamma>),
    Number(&'a mut Option<f64>),
    Name(&'a mut dyn OneOf),
    Flag(&'a mut bool),
}

/// One of several names, or none.
pub trait OneOf {
    /// All of them. The first stands for none.
    fn names(&self) -> Vec<&'static str>;
    /// What was set.
    fn name(&self) -> Option<&'static str>;
    fn set(&mut self, name: &str);
}

impl<T: Named> OneOf for Option<T> {
    fn names(&self) -> Vec<&'static str> {
        T::ALL.iter().map(|one| one.id()).collect()
    }

    fn name(&self) -> Option<&'static str> {
        self.map(T::id)
    }

    fn set(&mut self, name: &str) {
        *self = T::ALL.iter().copied().find(|one| one.id() == name);
    }
}

impl Slot<'_> {
    fn text(&self) -> Option<String> {
        match self {
            Self::Gamma(gamma) => gamma.map(|gamma| gamma.get().to_string()),
            Self::Number(number) => number.map(|number| number.to_string()),
            Self::Name(one) => one.name().map(str::to_owned),
            Self::Flag(flag) => flag.then(|| flag.to_string()),
        }
    }
}

/// The options, each once: what it means, and where its value stands, by its key in a config.
macro_rules! options {
    ($($(#[doc = $about:literal])+ $choice:ident => $field:ident: $value:ty as $slot:ident,)+) => {
        /// The options that a mechanism may understand. All understand `Remap`.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Choice {
            $($(#[doc = $about])+ $choice,)+
        }

        impl Choice {
            pub const ALL: &[Self] = &[$(Self::$choice),+];

            /// The key in a config.
            pub fn key(self) -> &'static str {
                match self {
                    $(Self::$choice => stringify!($field),)+
                }
            }

            pub fn about(self) -> &'static str {
                let about = match self {
                    $(Self::$choice => concat!($($about),+),)+
                };
                about.trim()
            }
        }

        /// What was set; the rest is the mechanism's default.
        #[derive(Clone, Copy, Debug, Default, PartialEq)]
        pub struct Options {
            $($(#[doc = $about])+ pub $field: $value,)+
            /// ε in the weight, where calibration has found one; else the stated ε.
            pub inner_epsilon: Option<Epsilon>,
        }

        impl Options {
            /// Where the value of an option stands.
            pub fn slot(&mut self, choice: Choice) -> Slot<'_> {
                match choice {
                    $(Choice::$choice => Slot::$slot(&mut self.$field),)+
                }
            }
        }
    };
}

options! {
    /// γ of the smooth sensitivity. Default: the config's.
    Gamma => gamma: Option<Gamma> as Gamma,
    /// The number before the sensitivity in the weight.
    Divisor => divisor: Option<f64> as Number,
    /// Which global sensitivity: the exact one, the bound sqrt(1 − π/4), or that of two neighbours of
    /// the prior (only figures in print use the last).
    Global => global: Option<Global> as Name,
    /// The scale of the noise is this number divided by ε.
    ScaleFactor => scale_factor: Option<f64> as Number,
    /// What β counts: as in the text, or as in print.
    CandidatesInBeta => candidates_in_beta: Option<CandidatesInBeta> as Name,
    /// Which sensitivity: the β-smooth one, or the local one (only figures in print use it).
    Smooth => smooth: Option<Smooth> as Name,
    /// Change the ε in the weight (or a factor of its logarithm) until the exact privacy loss is the ε
    /// asked for.
    Calibrated => calibrated: bool as Flag,
    /// Replace every output by the candidate with the least expected error given that output.
    Remap => remap: bool as Flag,
}

impl Options {
    /// γ: the mechanism's own, else the setting's.
    pub fn gamma_or(&self, gamma: Gamma) -> f64 {
        self.gamma.unwrap_or(gamma).get()
    }

    /// Whether an option was set that only figures in print use.
    pub(super) fn is_historical(&self) -> bool {
        self.global == Some(Global::Neighbour) || self.smooth == Some(Smooth::Local)
    }

    /// ε in the weight.
    pub fn inner(&self, setting: &Setting) -> f64 {
        self.inner_epsilon.unwrap_or(setting.epsilon).get()
    }

    /// The factor of the log weight that calibration has found; else 1.
    pub fn factor(&self, setting: &Setting) -> f64 {
        self.inner_epsilon.map_or(1.0, |inner| inner.get() / setting.epsilon.get())
    }

    /// What was set, and γ as resolved, as text.
    pub(super) fn key(&self, choices: &[Choice], gamma: Gamma) -> String {
        let uses_gamma = choices.contains(&Choice::Gamma);
        let gamma = uses_gamma.then_some(self.gamma.unwrap_or(gamma));
        let mut resolved = Self { gamma, ..*self };
        let mut part =
            |&choice: &Choice| Some(format!(" {}={}", choice.key(), resolved.slot(choice).text()?));
        Choice::ALL.iter().filter_map(&mut part).collect()
    }
}
