//! The privacy profile of a release, for the account of many. It is computed from public values.

use super::Amount;
use super::method::Method;
use engine::analysis::audit::{self, Scope};
use engine::analysis::composition::{Knot, Profile};
use engine::analysis::ranking::Data;
use engine::analysis::size;
use engine::numeric::exp_accurate;

/// The most categories for which it is audited.
const MOST_CATEGORIES: usize = 6;

/// The number of knots above ε = 0.
const KNOTS: u32 = 20;

/// The probabilities of an audit that are not weighed have a relative error of at most this.
const ROUNDING: f64 = 1e-13;

/// An upper bound of δ(ε) of a release by `method`, price included. It is exact for `tight`, `lattice` and
/// two categories of `geometric`, but for rounding outwards. For other mechanisms δ is computed at some ε.
/// If that takes long, the profile is that of any ε-private release.
pub fn profile(method: &Method) -> Profile {
    audited(method).unwrap_or_else(|| Profile::pure(method.epsilon()))
}

fn audited(method: &Method) -> Option<Profile> {
    let (law, setting) = (method.law(), method.setting());
    let (k, knots) = (setting.k(), if law.has_three_losses() { 1 } else { KNOTS });
    if law.is_uniform() {
        let x = setting.anywhere().counts().to_vec();
        let mut moved = x.clone();
        (moved[0], moved[1]) = (moved[0].checked_sub(1)?, moved[1] + 1);
        return from_audit(method, &Scope::Pair(x, moved), knots);
    }
    // Noise on one of two counts has the losses −ε and ε, as randomised response.
    let is_two = k == 2 && law.noisy_counts(k) == Some(1);
    (!is_two && is_small(method)).then(|| from_audit(method, &Scope::All, knots))?
}

/// Whether the audit over all data sets is small.
fn is_small(method: &Method) -> bool {
    let setting = method.setting();
    setting.k() <= MOST_CATEGORIES && {
        let audit = size::audit(method.law(), setting, &Data::PriorPredictive, f64::from(KNOTS));
        audit.outputs <= size::SMALL_BUDGET && audit.bytes <= size::LARGEST
    }
}

/// The profile with so many knots above ε = 0.
///
/// The probabilities that are drawn differ from those of the audit by factors between e^(−p/2) and e^(p/2),
/// where p is the price. So δ(ε) is at most e^p times δ of the audit at ε − p; and δ(−p) is at most
/// δ(0) + p.
fn from_audit(method: &Method, scope: &Scope, knots: u32) -> Option<Profile> {
    let (law, setting) = (method.law(), method.setting());
    let price = method.price().to_f64();
    let loss = audit::loss(law, setting, scope).ok()?.bound;
    let last = match knots {
        // What was chosen exactly is kept exactly.
        1 => method.epsilon(),
        _ => Amount::ceiling(loss + price).min(method.epsilon()),
    };
    let step = last.units().div_ceil(u128::from(knots));
    let places: Vec<Amount> =
        (0..knots).map(|i| Amount::from_units(step * u128::from(i))).collect();
    let last = Amount::from_units(step * u128::from(knots));
    let at: Vec<f64> = places.iter().map(|place| (place.to_f64() - price).max(0.0)).collect();
    let found = audit::examine(law, setting, scope, &at).ok()?;
    let outwards = 4.0 * (found.rounding + ROUNDING);
    let mut least = 1.0_f64;
    let mut knot = |(place, delta): (Amount, f64)| {
        let paid = if place == Amount::ZERO { price } else { 0.0 };
        least = least.min((delta + outwards + paid) * exp_accurate(price));
        Knot { epsilon: place, delta: least }
    };
    let deltas = found.deltas.iter().map(|at| at.delta);
    let inside: Vec<Knot> = places.iter().copied().zip(deltas).map(&mut knot).collect();
    let end = Knot { epsilon: last, delta: 0.0 };
    let knots = inside.into_iter().filter(|knot| knot.epsilon < last).chain([end]);
    Profile::new(knots).ok()
}

#[cfg(test)]
mod tests;
