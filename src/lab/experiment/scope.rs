//! The data sets that a privacy loss is taken over, by their names in a config.

use super::Case;
use super::kind::key::Named;
use engine::analysis::audit::Scope;

/// Which data sets a privacy loss is taken over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScopeName {
    /// All of size n.
    All,
    /// Those with at most three records outside one category.
    Corners,
    /// The given data set and its neighbours.
    Data,
}

impl Named for ScopeName {
    const ALL: &'static [Self] = &[Self::All, Self::Corners, Self::Data];

    fn id(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Corners => "corners",
            Self::Data => "data",
        }
    }

    fn title(self) -> &'static str {
        match self {
            Self::All => "all data sets",
            Self::Corners => "corner data sets",
            Self::Data => "this data set",
        }
    }
}

impl ScopeName {
    /// The data sets it means at one case.
    pub fn scope(self, case: &Case) -> Scope {
        match self {
            Self::All => Scope::All,
            Self::Corners => Scope::Corners,
            Self::Data => Scope::One(case.setting.posterior.counts().to_vec()),
        }
    }
}
