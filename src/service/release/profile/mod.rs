//! The privacy profile of a release, for the account of many. It is computed from public values.

use super::Amount;
use super::method::Method;
use engine::analysis::audit::{self, Scope};
use engine::analysis::composition::{Knot, Profile};
use engine::analysis::cost::{self, BRIEF, rates};
use engine::mechanism::law::{CandidateWeights, LatticeNoise, Noise, Recipe};
use engine::numeric::exp_accurate;

/// The most categories for which it is audited: with more, even predicting the time takes long.
const MOST_CATEGORIES: usize = 6;

/// The number of knots above ε = 0.
const KNOTS: u32 = 20;

/// The most additions for the profile of `lattice`.
const MOST_SUMS: f64 = 2e7;

/// The probabilities of an audit that are not weighed have a relative error of at most this.
const ROUNDING: f64 = 1e-13;

/// An upper bound of δ(ε) of a release by `method`, price included. It is exact for `tight`, `lattice` and
/// two categories of `geometric`, but for rounding outwards. For other mechanisms δ is computed at some ε.
/// If that takes long, the profile is that of any ε-private release.
pub fn profile(method: &Method) -> Profile {
    audited(method).unwrap_or_else(|| Profile::pure(method.epsilon()))
}

fn audited(method: &Method) -> Option<Profile> {
    let template = method.template();
    let recipe = method.variant().recipe(template).ok()?;
    let k = template.posterior.k();
    match recipe {
        // The loss is −ε, 0 or ε.
        Recipe::Lattice { noise: noise @ LatticeNoise::Geometric { .. } } => {
            let sums = (k * k) as f64 * noise.reach(k).0 as f64;
            // The noise does not depend on the data: all pairs are alike.
            let x = template.posterior.counts().to_vec();
            let mut moved = x.clone();
            (moved[0], moved[1]) = (moved[0].checked_sub(1)?, moved[1] + 1);
            let scope = Scope::Pair(x, moved);
            (sums <= MOST_SUMS).then(|| from_audit(method, &scope, 1))?
        }
        // With two categories it is −ε or ε, as for randomised response.
        Recipe::Noise { noise: Noise::Geometric, .. } if k == 2 => None,
        Recipe::Hamming { weights: CandidateWeights::Tight, .. } => {
            is_quick(method, recipe).then(|| from_audit(method, &Scope::All, 1))?
        }
        _ => is_quick(method, recipe).then(|| from_audit(method, &Scope::All, KNOTS))?,
    }
}

/// Whether the audit over all data sets is predicted to take little time.
fn is_quick(method: &Method, recipe: Recipe) -> bool {
    let template = method.template();
    template.posterior.k() <= MOST_CATEGORIES && {
        let passes = 1.0 + rates::PASSES_PER_PROFILE;
        BRIEF.admit(&cost::predict_passes(template, &[recipe], true, passes).sum())
    }
}

/// The profile with so many knots above ε = 0.
///
/// The probabilities that are drawn differ from those of the audit by factors between e^(−p/2) and e^(p/2),
/// where p is the price. So δ(ε) is at most e^p times δ of the audit at ε − p; and δ(−p) is at most
/// δ(0) + p.
fn from_audit(method: &Method, scope: &Scope, knots: u32) -> Option<Profile> {
    let (variant, template) = (method.variant(), method.template());
    let price = method.price().to_f64();
    let loss = audit::loss(variant, template, scope).ok()?.bound;
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
    let found = audit::examine(variant, template, scope, &at).ok()?;
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
