//! The options of a mechanism.

use std::fmt::Write;

use crate::posterior::privacy::{Epsilon, Gamma};
use crate::posterior::sensitivity::CandidatesInBeta;
use crate::posterior::setting::Setting;

/// Which global sensitivity `ehd` divides by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Global {
    /// The exact maximum over all data sets of size n.
    #[default]
    Exact,
    /// sqrt(1 − π/4), valid when every α_i >= 1.
    Bound,
    /// H(α, α + (1, −1, 0, …)), which the programs behind the figures of notes and early used. It is not
    /// the global sensitivity of any number of records.
    Neighbour,
}

impl Global {
    /// Every choice.
    pub const ALL: &[Self] = &[Self::Exact, Self::Bound, Self::Neighbour];

    /// The name in a config.
    pub fn name(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Bound => "bound",
            Self::Neighbour => "neighbour",
        }
    }
}

/// Which sensitivity `mh-beta` divides by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Smooth {
    /// The β-smooth sensitivity.
    #[default]
    Beta,
    /// The local one: in the programs behind the figures of notes and early, errors in S_β made it equal
    /// to LS.
    Local,
}

impl Smooth {
    /// Every choice.
    pub const ALL: &[Self] = &[Self::Beta, Self::Local];

    /// The name in a config.
    pub fn name(self) -> &'static str {
        match self {
            Self::Beta => "beta",
            Self::Local => "local",
        }
    }
}

/// The options that a mechanism may understand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// `gamma`
    Gamma,
    /// `divisor`
    Divisor,
    /// `global`
    Global,
    /// `scale_factor`
    ScaleFactor,
    /// `candidates_in_beta`
    CandidatesInBeta,
    /// `smooth`
    Smooth,
    /// `calibrated`
    Calibrated,
}

impl Choice {
    /// The key in a config.
    pub fn key(self) -> &'static str {
        match self {
            Self::Gamma => "gamma",
            Self::Divisor => "divisor",
            Self::Global => "global",
            Self::ScaleFactor => "scale_factor",
            Self::CandidatesInBeta => "candidates_in_beta",
            Self::Smooth => "smooth",
            Self::Calibrated => "calibrated",
        }
    }
}

/// What was set; the rest is the mechanism's default.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Options {
    /// γ of the smooth sensitivity.
    pub gamma: Option<Gamma>,
    /// The number before the sensitivity.
    pub divisor: Option<f64>,
    /// Which global sensitivity is used.
    pub global: Option<Global>,
    /// The noise scale is this over ε.
    pub scale_factor: Option<f64>,
    /// What β counts.
    pub candidates_in_beta: Option<CandidatesInBeta>,
    /// Which sensitivity stands for the β-smooth one.
    pub smooth: Option<Smooth>,
    /// Whether the weight's ε is moved until the exact loss over all data sets is the stated ε.
    pub calibrated: bool,
    /// Whether outputs are replaced by the candidates that are best given them.
    pub remap: bool,
    /// ε in the weight, where calibration has found one; else the stated ε.
    pub inner_epsilon: Option<Epsilon>,
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
        let mut key = String::new();
        let mut put = |choice: Choice, value: Option<String>| {
            if let Some(value) = value {
                // Writing to a String cannot fail.
                let _ = write!(key, " {}={value}", choice.key());
            }
        };
        let text = |value: Option<f64>| value.map(|v| v.to_string());
        let uses_gamma = choices.contains(&Choice::Gamma);
        put(Choice::Gamma, text(uses_gamma.then(|| self.gamma_or(gamma))));
        put(Choice::Divisor, text(self.divisor));
        put(Choice::Global, self.global.map(|global| global.name().to_owned()));
        put(Choice::ScaleFactor, text(self.scale_factor));
        put(
            Choice::CandidatesInBeta,
            self.candidates_in_beta.map(|candidates| candidates.name().to_owned()),
        );
        put(Choice::Smooth, self.smooth.map(|smooth| smooth.name().to_owned()));
        put(Choice::Calibrated, self.calibrated.then(|| "true".to_owned()));
        if self.remap {
            key += " remap=true";
        }
        key
    }
}
