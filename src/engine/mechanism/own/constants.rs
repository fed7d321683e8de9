//! The numbers behind the names of an expression that are the same for all candidates.

use super::names::Name;
use crate::expression::Expression;
use crate::posterior::model::Posterior;
use crate::posterior::sensitivity::CandidatesInBeta;
use crate::posterior::setting::Setting;
use crate::refusal::Refusal;

/// The numbers in an expression that are the same for all candidates. Those that it does not use mean
/// nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Constants {
    epsilon: f64,
    delta: f64,
    gamma: f64,
    local: f64,
    global: f64,
    smooth: f64,
    smooth_beta: f64,
}

/// What stands for the sensitivities.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sensitivities {
    /// The numbers themselves.
    Exact,
    /// 1, where only the shape of the law is asked for: they take long for many categories.
    One,
}

impl Constants {
    /// The numbers that `expression` uses, with γ as given.
    pub fn new(
        expression: &Expression,
        setting: &Setting,
        gamma: f64,
        sensitivities: Sensitivities,
    ) -> Result<Self, Refusal> {
        let uses = |name: Name| expression.variables().iter().any(|(v, _)| *v == name.variable());
        let needed = |name: Name| match uses(name) {
            true => {
                setting.delta.map(|delta| Some(delta.get())).ok_or_else(|| no_delta(expression))
            }
            false => Ok(None),
        };
        let mut constants = Self {
            epsilon: setting.epsilon.get(),
            delta: needed(Name::Delta)?.unwrap_or(0.0),
            gamma,
            local: 1.0,
            global: 1.0,
            smooth: 1.0,
            smooth_beta: 1.0,
        };
        needed(Name::SmoothBeta)?;
        // Without records nothing can move, and there is only one candidate.
        if sensitivities == Sensitivities::One || setting.posterior.n() == 0 {
            return Ok(constants);
        }
        let found = [Name::Local, Name::Global, Name::Smooth, Name::SmoothBeta];
        if !found.into_iter().any(uses) {
            return Ok(constants);
        }
        let sensitivity = setting.sensitivity();
        if uses(Name::Local) {
            constants.local = sensitivity.local();
        }
        if uses(Name::Global) {
            constants.global = sensitivity.global();
        }
        if uses(Name::Smooth) {
            constants.smooth = sensitivity.gamma_smooth(gamma);
        }
        if let Some(beta) =
            setting.beta(CandidatesInBeta::default()).filter(|_| uses(Name::SmoothBeta))
        {
            constants.smooth_beta = sensitivity.beta_smooth(beta);
        }
        Ok(constants)
    }

    /// The number behind a name at one posterior, if it is the same for all candidates.
    pub fn get(&self, name: Name, posterior: &Posterior) -> Option<f64> {
        Some(match name {
            Name::N => posterior.n() as f64,
            Name::K => posterior.k() as f64,
            Name::Local => self.local,
            Name::Smooth => self.smooth,
            Name::SmoothBeta => self.smooth_beta,
            Name::X(i) => *posterior.counts().get(i)? as f64,
            Name::Alpha(i) => *posterior.prior().alpha().get(i)?,
            name => self.public(name)?,
        })
    }

    /// The number behind a name, if it is the same at all data.
    pub fn public(&self, name: Name) -> Option<f64> {
        match name {
            Name::Epsilon => Some(self.epsilon),
            Name::Delta => Some(self.delta),
            Name::Gamma => Some(self.gamma),
            Name::Global => Some(self.global),
            _ => None,
        }
    }
}

fn no_delta(expression: &Expression) -> Refusal {
    let names = [Name::Delta, Name::SmoothBeta].map(Name::variable);
    let place = expression.variables().into_iter().find(|(v, _)| names.contains(v));
    Refusal::new("the expression needs a delta, and none is given", "give one, for example 1e-8")
        .within(place.map(|(_, span)| span))
}

/// Refuses an expression that names a category which is not there.
pub fn refuse_missing_categories(expression: &Expression, k: usize) -> Result<(), Refusal> {
    let missing = expression
        .variables()
        .into_iter()
        .find(|(variable, _)| Name::of(*variable).category().is_some_and(|i| i >= k));
    match missing {
        None => Ok(()),
        Some((_, span)) => {
            let name = &expression.text()[span.clone()];
            Err(Refusal::new(
                format!("the expression uses `{name}`, but there are {k} categories"),
                format!("use indices from 1 to {k}"),
            )
            .within(Some(span)))
        }
    }
}
