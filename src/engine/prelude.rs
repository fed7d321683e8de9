//! What most uses need.

pub use crate::analysis::audit::Scope;
pub use crate::analysis::optimum::Optimum;
pub use crate::analysis::ranking::choose;
pub use crate::mechanism::Mechanism;
pub use crate::mechanism::law::listed::ListedAt;
pub use crate::mechanism::law::{Law, LawAt, OutputSet, Outputs};
pub use crate::posterior::model::{Posterior, Prior};
pub use crate::posterior::privacy::{Delta, Epsilon, Gamma, Guarantee};
pub use crate::posterior::setting::Setting;
pub use crate::prepared::{Here, Prepared};
pub use crate::refusal::Refusal;
