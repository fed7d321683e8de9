//! The kinds of experiments, and what each wants to know.

/// What is computed for every case. One module for each kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Errors of sampled releases beside their exact laws: [`super::accuracy`].
    Accuracy,
    /// P[H = c] and P[H <= c], exactly: [`super::theory`].
    Theory,
    /// Local, global and smooth sensitivities along the data: [`super::sensitivity`].
    Sensitivity,
    /// How far one record changes the score of every candidate: [`super::change`].
    Change,
    /// The exact privacy loss: [`super::privacy`].
    Privacy,
    /// The privacy profile ε ↦ δ: [`super::profile`].
    Profile,
    /// False alarms against misses: [`super::profile::trade_off`].
    TradeOff,
    /// Every mechanism's error as a multiple of the least possible: [`super::optimum`].
    Optimum,
    /// The probability of an answer within a few steps: [`super::within`].
    Within,
    /// The probability of an answer some steps off on one side: [`super::steps`].
    Steps,
    /// The n from which on one mechanism beats another: [`super::crossover`].
    Crossover,
    /// The error of Laplace noise over the local sensitivity: [`super::optimality`].
    Optimality,
    /// The tail of the error and its bounds: [`super::tail`].
    Tail,
    /// The normaliser of an exponential mechanism: [`super::tail::normaliser`].
    Normaliser,
    /// The tail of the ℓ1 error: [`super::l1_tail`].
    L1Tail,
    /// The numbers of icml Table 1: [`super::table_one`].
    TableOne,
    /// The mechanism of least error over a plane: [`super::phase`].
    Phase,
    /// How the work grows with the number of records: [`super::scaling`].
    Scaling,
}

impl Kind {
    /// Every kind.
    pub const ALL: [Self; 18] = [
        Self::Accuracy,
        Self::Theory,
        Self::Sensitivity,
        Self::Change,
        Self::Privacy,
        Self::Profile,
        Self::TradeOff,
        Self::Optimum,
        Self::Within,
        Self::Steps,
        Self::Crossover,
        Self::Optimality,
        Self::Tail,
        Self::Normaliser,
        Self::L1Tail,
        Self::TableOne,
        Self::Phase,
        Self::Scaling,
    ];

    /// The name in a config.
    #[must_use]
    pub fn id(self) -> &'static str {
        match self {
            Self::Accuracy => "accuracy",
            Self::Theory => "theory",
            Self::Sensitivity => "sensitivity",
            Self::Change => "change",
            Self::Privacy => "privacy",
            Self::Profile => "profile",
            Self::TradeOff => "trade-off",
            Self::Optimum => "optimum",
            Self::Within => "within",
            Self::Steps => "steps",
            Self::Crossover => "crossover",
            Self::Optimality => "optimality",
            Self::Tail => "tail",
            Self::Normaliser => "normaliser",
            Self::L1Tail => "l1-tail",
            Self::TableOne => "table1",
            Self::Phase => "phase",
            Self::Scaling => "scaling",
        }
    }

    /// What it computes, in one line.
    #[must_use]
    pub fn computes(self) -> &'static str {
        match self {
            Self::Accuracy => "errors of sampled releases beside their exact law",
            Self::Theory => "P[H = c] and P[H ≤ c], exactly",
            Self::Sensitivity => "local, global and smooth sensitivities along the data",
            Self::Change => "how far one record changes the score of every candidate",
            Self::Privacy => "the exact privacy loss",
            Self::Profile => "the privacy profile: δ at every ε",
            Self::TradeOff => "false alarms against misses of the worst pair of data sets",
            Self::Optimum => "every mechanism's error as a multiple of the least possible",
            Self::Within => "the probability of an answer within a few steps",
            Self::Steps => "the probability of an answer some steps off on one side",
            Self::Crossover => "the n from which on one mechanism beats another",
            Self::Optimality => "the error of Laplace noise over the local sensitivity",
            Self::Tail => "the tail of the error and its bounds",
            Self::Normaliser => "the normaliser of an exponential mechanism",
            Self::L1Tail => "the tail of the ℓ1 error",
            Self::TableOne => "the numbers of icml Table 1",
            Self::Phase => "the mechanism of least error over a plane",
            Self::Scaling => "how the work grows with the number of records",
        }
    }

    /// Whether it compares mechanisms; if not, a config names none.
    #[must_use]
    pub fn compares_mechanisms(self) -> bool {
        !matches!(self, Self::Sensitivity | Self::Change)
    }

    /// Whether its mechanisms may be calibrated and remapped; where formulas of the documents are
    /// checked they may not.
    #[must_use]
    pub fn tunes_mechanisms(self) -> bool {
        matches!(
            self,
            Self::Accuracy
                | Self::Theory
                | Self::Privacy
                | Self::Profile
                | Self::TradeOff
                | Self::Optimum
                | Self::Phase
                | Self::L1Tail
        )
    }

    /// Whether it is about two categories only.
    #[must_use]
    pub fn needs_two_categories(self) -> bool {
        matches!(
            self,
            Self::Within
                | Self::Steps
                | Self::Crossover
                | Self::Optimality
                | Self::Normaliser
                | Self::TableOne
        )
    }

    /// Whether values read off a printed figure can be compared with what it computes.
    #[must_use]
    pub fn compares_readings(self) -> bool {
        matches!(self, Self::Accuracy | Self::Theory | Self::Sensitivity | Self::Privacy)
    }

    /// The keys of [`Parameters`] that it understands.
    #[must_use]
    pub fn keys(self) -> &'static [&'static str] {
        match self {
            Self::Accuracy => &["figures"],
            Self::Theory | Self::Tail => &["view"],
            Self::Sensitivity => &["sensitivities"],
            Self::Privacy => &["scope", "at_epsilon"],
            Self::Profile | Self::TradeOff => &["scope"],
            Self::Within | Self::Steps | Self::Crossover | Self::TableOne => &["steps"],
            Self::Change
            | Self::Optimum
            | Self::Optimality
            | Self::Normaliser
            | Self::L1Tail
            | Self::Scaling => &[],
            Self::Phase => &["without"],
        }
    }
}

/// What some kinds want to know beside the grid.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Parameters {
    /// The part of the horizontal axis that is drawn.
    pub view: Option<(f64, f64)>,
    /// Which sensitivities; all if empty.
    pub sensitivities: Vec<SensitivityName>,
    /// Which data sets are compared.
    pub scopes: Vec<ScopeName>,
    /// The ε at which δ is computed too.
    pub at_epsilon: Option<f64>,
    /// Which figures of the accuracy experiment are drawn; boxes and means if empty.
    pub figures: Vec<FigureName>,
    /// Numbers of steps.
    pub steps: Vec<u64>,
    /// Labels of mechanisms that take no part in a second contest.
    pub without: Vec<String>,
}

impl Parameters {
    /// The scopes asked for; all data sets unless said otherwise.
    #[must_use]
    pub fn scopes_or_all(&self) -> Vec<ScopeName> {
        if self.scopes.is_empty() { vec![ScopeName::All] } else { self.scopes.clone() }
    }
}

/// A figure of the accuracy experiment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FigureName {
    /// A box for every setting and mechanism.
    Box,
    /// Mean error against what the settings differ in.
    Mean,
    /// The error of single runs, as lines.
    Runs,
}

impl FigureName {
    /// Every figure.
    pub const ALL: [Self; 3] = [Self::Box, Self::Mean, Self::Runs];

    /// The name in a config and of the file.
    #[must_use]
    pub fn id(self) -> &'static str {
        match self {
            Self::Box => "box",
            Self::Mean => "mean",
            Self::Runs => "runs",
        }
    }
}

/// Which data sets a privacy loss is taken over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScopeName {
    /// All of size n.
    All,
    /// Those with at most three records in one category.
    Corners,
    /// The given data set and its neighbours.
    Data,
}

impl ScopeName {
    /// Every scope.
    pub const ALL: [Self; 3] = [Self::All, Self::Corners, Self::Data];

    /// The name in a config.
    #[must_use]
    pub fn id(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Corners => "corners",
            Self::Data => "data",
        }
    }

    /// In words.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::All => "all data sets",
            Self::Corners => "corner data sets",
            Self::Data => "this data set",
        }
    }
}

/// A sensitivity of the score.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SensitivityName {
    /// LS.
    Local,
    /// GS.
    Global,
    /// S_γ.
    GammaSmooth,
    /// S_β.
    BetaSmooth,
}

impl SensitivityName {
    /// Every sensitivity.
    pub const ALL: [Self; 4] = [Self::Local, Self::Global, Self::GammaSmooth, Self::BetaSmooth];

    /// The name in a config and of its column in `settings.csv`.
    #[must_use]
    pub fn id(self) -> &'static str {
        match self {
            Self::Local => "local",
            Self::Global => "global",
            Self::GammaSmooth => "gamma_smooth",
            Self::BetaSmooth => "beta_smooth",
        }
    }

    /// On a figure.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::Local => "local LS",
            Self::Global => "global GS",
            Self::GammaSmooth => "γ-smooth S_γ",
            Self::BetaSmooth => "β-smooth S_β",
        }
    }
}
