//! The data sets that a privacy loss is taken over, by their names in a config.

use super::Case;
use crate::experiment::value::NamedValue;
use engine::analysis::audit::Scope;
use engine::named;

named! {
    /// Which data sets a privacy loss is taken over.
    pub enum ScopeName {
        /// All of size n.
        All = "all": "all data sets",
        /// Those with at most three records outside one category.
        Corners = "corners": "corner data sets",
        /// The given data set and its neighbours.
        Data = "data": "this data set",
    }
}

impl NamedValue for ScopeName {}

impl ScopeName {
    /// The data sets it means at one case.
    pub fn scope(self, case: &Case) -> Scope {
        match self {
            Self::All => Scope::All,
            Self::Corners => Scope::Corners,
            Self::Data => Scope::One(case.setting.counts().to_vec()),
        }
    }
}
