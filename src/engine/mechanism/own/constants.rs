//! The numbers behind the names of an expression that are the same for all candidates.

use std::collections::BTreeMap;

use super::names::Name;
use crate::expression::Expression;
use crate::posterior::model::Posterior;
use crate::posterior::sensitivity::CandidatesInBeta;
use crate::posterior::setting::Setting;
use crate::refusal::Refusal;

/// The numbers behind the variables of an expression that are the same for all candidates.
pub type Constants = BTreeMap<Name, f64>;

/// The numbers that `expression` uses at these data, with γ as given. If the law is only
/// outlined, sensitivities are 1: they take long for many categories.
pub fn constants(
    expression: &Expression<Name>,
    setting: &Setting,
    posterior: &Posterior,
    gamma: f64,
    outlined: bool,
) -> Result<Constants, Refusal> {
    let sensitivity = setting.distance.sensitivity(posterior);
    // Without records nothing can move, and there is only one candidate.
    let is_one = outlined || posterior.n() == 0;
    let mut found = Constants::new();
    for (name, span) in expression.variables() {
        if matches!(name, Name::Delta | Name::SmoothBeta) && setting.delta.is_none() {
            let cause = "the expression needs a delta, and none is given";
            return Err(Refusal::at(span, cause, "give one, for example 1e-8"));
        }
        let number = match name {
            Name::N => Some(posterior.n() as f64),
            Name::K => Some(posterior.k() as f64),
            Name::Epsilon => Some(setting.epsilon.get()),
            Name::Delta => setting.delta.map(|delta| delta.get()),
            Name::Gamma => Some(gamma),
            Name::Local | Name::Global | Name::Smooth | Name::SmoothBeta if is_one => Some(1.0),
            Name::Local => Some(sensitivity.local()),
            Name::Global => Some(sensitivity.global()),
            Name::Smooth => Some(sensitivity.gamma_smooth(gamma)),
            Name::SmoothBeta => {
                let beta = setting.beta(CandidatesInBeta::default());
                beta.map(|beta| sensitivity.beta_smooth(beta))
            }
            Name::X(i) => posterior.counts().get(i).map(|&x| x as f64),
            Name::Alpha(i) => posterior.prior().alpha().get(i).copied(),
            Name::H | Name::D | Name::L1 | Name::L2 | Name::T | Name::R(_) => None,
        };
        found.extend(number.map(|number| (name, number)));
    }
    Ok(found)
}

/// Why the value of a log weight cannot be used. `at` says where.
pub fn not_a_number(
    expression: &Expression<Name>,
    value: &dyn Fn(Name) -> f64,
    at: &str,
) -> Refusal {
    match expression.fault(value) {
        Some(fault) => Refusal { cause: format!("{} {at}", fault.cause), ..fault },
        None => Refusal::new(
            format!("the log weight is not a number {at}"),
            "let it be finite, or −inf for a weight of 0",
        ),
    }
}

/// Refuses an expression that names a category which is not there.
pub fn refuse_missing_categories(expression: &Expression<Name>, k: usize) -> Result<(), Refusal> {
    let missing = expression
        .variables()
        .into_iter()
        .find(|(name, _)| name.category().is_some_and(|i| i >= k));
    match missing {
        None => Ok(()),
        Some((_, span)) => {
            let name = &expression.text()[span.clone()];
            let cause = format!("the expression uses `{name}`, but there are {k} categories");
            Err(Refusal::at(span, cause, format!("use indices from 1 to {k}")))
        }
    }
}
