//! Candidates weighed by an expression: P(r|x) ∝ e^(factor · log weight).

use std::sync::Arc;

use super::constants::constants;
use super::names::Name;
use super::weigher::{OwnWeigher, is_by_score};
use crate::expression::Expression;
use crate::mechanism::law::exponential::{ByScore, scored};
use crate::mechanism::law::hamming::{Hamming, HammingAt};
use crate::mechanism::law::{
    Comparisons, LARGEST_EXACT, Law, LawAt, OutputSet, PairSize, hamming, tabled,
};
use crate::posterior::distance::Distance;
use crate::posterior::model::{Counts, Posterior, Prior};
use crate::posterior::setting::Setting;
use crate::refusal::Refusal;

/// The sets of candidates that can be weighed.
pub const CANDIDATE_SETS: [OutputSet; 2] = [OutputSet::Simplex, OutputSet::Below];

/// The weights of all candidates at all data.
#[derive(Clone)]
pub struct OwnWeights {
    pub expression: Arc<Expression<Name>>,
    pub set: OutputSet,
    /// Everything but the data.
    pub setting: Setting,
    pub gamma: f64,
    /// Log weights are multiplied by this: 1, unless the weights are calibrated.
    pub factor: f64,
    /// Whether sensitivities are left out, and log weights are not examined.
    pub outlined: bool,
}

/// The law at one data set. Weights that are those of a built-in mechanism are computed as these are.
enum Form {
    Exponential { rate: f64 },
    Hamming { rate: f64 },
    Weighed(Box<OwnWeigher>),
}

impl OwnWeights {
    fn form(&self, posterior: &Posterior) -> Result<Form, Refusal> {
        let constants =
            constants(&self.expression, &self.setting, posterior, self.gamma, self.outlined)?;
        let weigher =
            OwnWeigher::new(&self.expression, constants, posterior, self.set, self.factor);
        if self.set == OutputSet::Simplex && posterior.n() > 0 {
            if let Some(rate) = weigher.rate(Name::H) {
                return Ok(Form::Exponential { rate });
            }
            let moved = weigher.rate(Name::D).or_else(|| Some(2.0 * weigher.rate(Name::L1)?));
            if let Some(rate) = moved.filter(|&rate| rate > 0.0) {
                return Ok(Form::Hamming { rate });
            }
        }
        let size = self.set.region(posterior.n(), posterior.k()).size_bound();
        if !self.needs_ball() && size > LARGEST_EXACT {
            return Err(Refusal::new(
                format!(
                    "the expression weighs every candidate, and there are {size:.1e} \
                     ({LARGEST_EXACT:.0e} at most)"
                ),
                "use fewer records or categories, or an expression in H or d alone",
            ));
        }
        let weigher =
            if self.outlined { weigher } else { weigher.examined(self.setting.distance)? };
        Ok(Form::Weighed(Box::new(weigher)))
    }
}

impl Law for OwnWeights {
    fn outputs(&self) -> OutputSet {
        self.set
    }

    fn at(&self, posterior: &Posterior) -> Result<Box<dyn LawAt + '_>, Refusal> {
        Ok(match self.form(posterior)? {
            Form::Exponential { rate } => Box::new(ByScore { rate }),
            Form::Hamming { rate } => Box::new(HammingAt::new(rate, posterior)),
            Form::Weighed(weigher) => weigher,
        })
    }

    fn widened(&self, factor: f64) -> Result<Arc<dyn Law>, Refusal> {
        Ok(Arc::new(Self { factor: self.factor / factor, ..self.clone() }))
    }

    fn uses_score(&self) -> bool {
        self.expression.uses(Name::H)
    }

    fn needs_ball(&self) -> bool {
        is_by_score(&self.expression, self.set)
    }

    fn exchangeable(&self, prior: &Prior) -> Vec<Vec<usize>> {
        match self.expression.variables().iter().any(|(name, _)| name.category().is_some()) {
            true => Vec::new(),
            false => prior.exchangeable(),
        }
    }

    fn pair_size(&self, posterior: &Posterior, distance: &dyn Distance) -> Option<PairSize> {
        match self.form(posterior) {
            Ok(Form::Exponential { .. }) => Some(PairSize::near(posterior, distance)),
            Ok(Form::Hamming { rate }) => Hamming { rate }.pair_size(posterior, distance),
            Ok(Form::Weighed(_)) => None,
            Err(_) => Some(PairSize::CLOSED),
        }
    }

    /// By the law that it is at all of these data sets; output by output, if that is not one.
    fn comparisons<'a>(
        &'a self,
        setting: &'a Setting,
        data: &[&Counts],
    ) -> Result<Box<dyn Comparisons + 'a>, Refusal> {
        let forms = data.iter().map(|x| self.form(&setting.at((*x).clone())));
        let forms = forms.collect::<Result<Vec<Form>, Refusal>>()?;
        let rates = |of: fn(&Form) -> Option<f64>| forms.iter().map(of).collect();
        let by_score: Option<Vec<f64>> = rates(|form| match form {
            Form::Exponential { rate } => Some(*rate),
            _ => None,
        });
        let by_moves: Option<Vec<f64>> = rates(|form| match form {
            Form::Hamming { rate } => Some(*rate),
            _ => None,
        });
        match (by_score, by_moves) {
            (Some(rates), _) => Ok(scored(setting, data, |index, _| rates[index])),
            (_, Some(rates)) if rates.iter().all(|rate| *rate == rates[0]) => {
                Ok(Box::new(hamming::data(rates[0], setting, data)))
            }
            _ => tabled::comparisons(self, setting, data),
        }
    }
}
