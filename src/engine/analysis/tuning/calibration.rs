//! Exact calibration: the inner ε at which the exact privacy loss over all data sets of a size is the
//! ε that was asked for (arxiv §8.2 asks how loose the stated guarantees are). It is the largest such
//! inner ε if losses grow with it, as they did wherever that was tried.
//!
//! The inner ε replaces ε in the weight only. The loss is computed, not bounded: the release is
//! private because every output of every pair of adjacent data sets was compared.

use std::sync::Arc;

use crate::analysis::audit::{self, Loss, Scope};
use crate::mechanism::law::Law;
use crate::mechanism::{ALL, Choice, Kind, Mechanism};
use crate::numeric::typed_around;
use crate::parallel;
use crate::posterior::model::vector;
use crate::posterior::privacy::Epsilon;
use crate::posterior::setting::Setting;
use crate::refusal::Refusal;

/// What makes a calibrated mechanism private.
#[derive(Clone, Debug, PartialEq)]
pub struct Certificate {
    /// The loss that may not be exceeded.
    pub target: f64,
    /// ε in the weight.
    pub inner_epsilon: Epsilon,
    /// The loss at the inner ε, over all data sets: below the target by more than the rounding of the
    /// computation.
    pub found: Loss,
}

impl Certificate {
    /// How far the loss is below the target.
    pub fn margin(&self) -> f64 {
        self.target - self.found.loss
    }
}

/// The number of decimal digits to which the inner ε is rounded down.
const DIGITS: usize = 11;

/// Finds the inner ε of a mechanism at data sets of as many records as `setting` has.
///
/// The loss is the maximum over pairs. A bisection finds the inner ε at which the worst pair attains
/// the target; it needs the two data sets of this pair only. There all pairs are audited. If another
/// pair is worse, the bisection is repeated with that pair. Few rounds are needed, because the worst
/// pair hardly depends on ε. The result is rounded down, and the audit at the rounded value is the
/// certificate: it rests on no assumption about how the loss grows.
pub fn calibrate(
    variant: &Mechanism,
    setting: &Setting,
) -> Result<(Arc<dyn Law>, Certificate), Refusal> {
    if let Some(refusal) = refusal(variant, setting) {
        return Err(refusal);
    }
    let search = Calibration { variant, setting, target: setting.epsilon.get() };
    let stated = search.audit(search.target, &Scope::All)?;
    if stated.pairs == 0 {
        return search.found(search.target, stated);
    }
    let mut inner = typed_around(search.solve(&stated, search.target)?, DIGITS).0;
    let mut step = unit(inner);
    loop {
        let loss = search.audit(inner, &Scope::All)?;
        if loss.bound <= search.target {
            return search.found(inner, loss);
        }
        // Another pair is worse here. If only its bound on rounding is, its own solution need not be
        // smaller: the inner ε is lowered all the same, by growing steps.
        let solved = typed_around(search.solve(&loss, inner)?, DIGITS).0;
        inner = solved.min(typed_around((inner - step).max(0.5 * inner), DIGITS).0);
        step *= 2.0;
    }
}

/// Why a mechanism cannot be calibrated.
pub fn refusal(variant: &Mechanism, setting: &Setting) -> Option<Refusal> {
    let (id, epsilon) = (variant.kind.id, setting.epsilon.get());
    if !variant.kind.choices.contains(&Choice::Calibrated) {
        let calibrated = |one: &&&Kind| one.choices.contains(&Choice::Calibrated);
        let ids: Vec<&str> = ALL.iter().filter(calibrated).map(|one| one.id).collect();
        return Some(Refusal::new(
            format!("`{id}` adds noise of a fixed scale and cannot be calibrated"),
            format!("calibrate {}, or a mechanism of yours", ids.join(", ")),
        ));
    }
    (!CALIBRATED.contains(&epsilon)).then(|| {
        Refusal::new(
            format!("`{id}` cannot be calibrated to ε = {epsilon:?}: losses are computed to 1e-14"),
            "use an ε between 1e-9 and 1e9",
        )
    })
}

/// The inner ε is looked for within this factor of the stated one, or of the last that was tried.
const FURTHEST: f64 = 1e12;

/// The ε at which a loss is much larger than its rounding errors.
const CALIBRATED: std::ops::RangeInclusive<f64> = 1e-9..=1e9;

struct Calibration<'a> {
    variant: &'a Mechanism,
    setting: &'a Setting,
    target: f64,
}

impl Calibration<'_> {
    fn at(&self, inner: f64) -> Result<Arc<dyn Law>, Refusal> {
        let inner = Epsilon::new(inner)
            .map_err(|error| Refusal::new(error.to_string(), "use a larger or smaller ε"))?;
        let mut variant = self.variant.clone();
        variant.options.inner_epsilon = Some(inner);
        variant.law(self.setting)
    }

    fn audit(&self, inner: f64, scope: &Scope) -> Result<Loss, Refusal> {
        // A calibration takes a few audits of all pairs.
        let _part = parallel::part(if *scope == Scope::All { 0.25 } else { 0.0 });
        audit::loss(self.at(inner)?.as_ref(), self.setting, scope)
    }

    /// The inner ε at which the pair of `worst` attains the target, from below.
    fn solve(&self, worst: &Loss, start: f64) -> Result<f64, Refusal> {
        let pair = Scope::Pair(worst.from.clone(), worst.to.clone());
        let exceeds = |inner: f64| Ok(self.audit(inner, &pair)?.bound > self.target);
        let (mut low, mut high) = (start, start);
        while exceeds(low)? {
            (low, high) = (0.5 * low, low);
            if low < start / FURTHEST {
                return Err(self.unsolved(worst, "above", "small"));
            }
        }
        while !exceeds(high)? {
            (low, high) = (high, 2.0 * high);
            if high > start * FURTHEST {
                return Err(self.unsolved(worst, "below", "large"));
            }
        }
        // Bisection until the digits that are kept are decided.
        while high - low > 0.1 * unit(low) {
            let middle = 0.5 * (low + high);
            if exceeds(middle)? { high = middle } else { low = middle }
        }
        Ok(low)
    }

    /// Why no inner ε was found. The built-in mechanisms have one; a mechanism of the user's own need not.
    fn unsolved(&self, worst: &Loss, side: &str, size: &str) -> Refusal {
        let Loss { from, to, output, .. } = worst;
        Refusal::new(
            format!(
                "`{}` cannot be calibrated: its loss stays {side} ε = {:?} however {size} the factor before \
                 its log weights is (data {} and {}, output {})",
                self.variant.label,
                self.target,
                vector(from),
                vector(to),
                vector(output)
            ),
            "let the weights be positive for all candidates, and let them depend on the data",
        )
    }

    fn found(&self, inner: f64, found: Loss) -> Result<(Arc<dyn Law>, Certificate), Refusal> {
        let inner_epsilon = Epsilon::new(inner).unwrap_or(self.setting.epsilon);
        Ok((self.at(inner)?, Certificate { target: self.target, inner_epsilon, found }))
    }
}

/// One unit in the last digit that is kept.
fn unit(value: f64) -> f64 {
    let (below, next) = typed_around(value, DIGITS);
    next - below
}
