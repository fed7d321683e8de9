//! The privacy profile of one release: an upper bound of δ(ε).
//!
//! As a function of t = e^ε, δ of one pair of data sets is convex, so the maximum over all pairs is, too.
//! The chords between points of an upper bound are then an upper bound. A function that is linear in t
//! between its knots is the profile of a pair of distributions whose privacy losses are at the knots.
//! Where a pair of data sets is looked at, it is looked at in both orders; so for negative losses
//! δ(−ε) = 1 − e^(−ε) + e^(−ε) δ(ε).

use crate::numeric::{Sum, exp_accurate, expm1};
use crate::posterior::amount::Amount;
use crate::refusal::Refusal;

/// δ at one ε.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Knot {
    pub epsilon: Amount,
    /// δ, or an upper bound.
    pub delta: f64,
}

/// An upper bound of δ(ε) of one release, over all ordered pairs of adjacent data sets.
#[derive(Clone, Debug, PartialEq)]
pub struct Profile {
    /// Convex, from ε = 0 to the ε from which on δ is 0.
    knots: Vec<Knot>,
}

/// A relative error that a few operations do not exceed.
const FEW: f64 = 8.0 * f64::EPSILON;

impl Profile {
    /// The chords between `knots`, as far as they are convex: of any others the chord that leaves them out
    /// is an upper bound, too.
    pub fn new(knots: impl IntoIterator<Item = Knot>) -> Result<Self, Refusal> {
        let refused = |cause: &str| {
            Err(Refusal::new(cause, "let δ fall from ε = 0 to the ε from which on it is 0"))
        };
        let knots: Vec<Knot> = knots.into_iter().collect();
        let first_is_zero = knots.first().is_some_and(|knot| knot.epsilon == Amount::ZERO);
        if !first_is_zero || !knots.is_sorted_by(|a, b| a.epsilon < b.epsilon) {
            return refused("the knots of a profile begin at ε = 0, and their ε increases");
        }
        let in_range = knots.iter().all(|knot| (0.0..=1.0).contains(&knot.delta));
        if !in_range || !knots.is_sorted_by(|a, b| a.delta >= b.delta) {
            return refused("δ lies between 0 and 1, and does not increase with ε");
        }
        if knots.last().is_some_and(|knot| knot.delta > 0.0) {
            return refused("δ is 0 at the last knot of a profile");
        }
        let mut hull: Vec<Knot> = Vec::new();
        for knot in knots {
            while let [.., a, b] = hull[..]
                && !is_convex(a, b, knot)
            {
                hull.pop();
            }
            hull.push(knot);
        }
        while let [first, next, ..] = hull[..] {
            hull[0].delta = first.delta.min(middle(next));
            match hull[..] {
                [a, b, c, ..] if !is_convex(a, b, c) => hull.remove(1),
                _ => break,
            };
        }
        Ok(Self { knots: hull })
    }

    /// The profile of every release that is ε-private without δ: that of randomised response, whose loss
    /// is ε or −ε.
    pub fn pure(epsilon: Amount) -> Self {
        let last = Knot { epsilon, delta: 0.0 };
        let first = Knot { epsilon: Amount::ZERO, delta: middle(last) };
        Self { knots: if epsilon == Amount::ZERO { vec![last] } else { vec![first, last] } }
    }

    /// The profile of releases of groups of which each record stays in its own, so that only one of them
    /// changes: the larger δ at every ε.
    #[must_use]
    pub fn max(self, other: &Self) -> Self {
        let mut indices: Vec<Amount> =
            self.knots.iter().chain(&other.knots).map(|knot| knot.epsilon).collect();
        indices.sort_unstable();
        indices.dedup();
        let knot = |epsilon| Knot { epsilon, delta: self.at(epsilon).max(other.at(epsilon)) };
        let mut delta = 1.0_f64;
        // Rounding might make δ grow by a last digit.
        let falling = indices.into_iter().map(knot).map(|knot| {
            delta = delta.min(knot.delta);
            Knot { delta, ..knot }
        });
        let knots: Vec<Knot> = falling.collect();
        Self::new(knots.clone()).unwrap_or(Self { knots })
    }

    /// δ at this ε, rounded up.
    pub fn at(&self, epsilon: Amount) -> f64 {
        let above = self.knots.partition_point(|knot| knot.epsilon <= epsilon);
        match (above.checked_sub(1).map(|below| self.knots[below]), self.knots.get(above)) {
            (Some(a), _) if a.epsilon == epsilon => a.delta,
            (Some(a), Some(b)) => {
                let (before, after) = (gap(a.epsilon, epsilon), gap(epsilon, b.epsilon));
                // (e^b − e^ε) / (e^b − e^a) and the rest, without large powers.
                let whole = -expm1(-before - after);
                let (of_a, of_b) =
                    (-expm1(-after) / whole, -exp_accurate(-after) * expm1(-before) / whole);
                ((of_a * a.delta + of_b * b.delta) * (1.0 + FEW)).min(a.delta)
            }
            _ => 0.0,
        }
    }

    pub fn knots(&self) -> &[Knot] {
        &self.knots
    }

    /// What tells profiles apart.
    pub(super) fn key(&self) -> Vec<(Amount, u64)> {
        self.knots.iter().map(|knot| (knot.epsilon, knot.delta.to_bits())).collect()
    }

    /// The ε from which on δ is 0.
    pub fn last(&self) -> Amount {
        self.knots.last().map_or(Amount::ZERO, |knot| knot.epsilon)
    }

    /// The losses of the dominating pair in ascending order, and their probabilities, rounded up.
    pub fn pair(&self) -> Vec<(f64, f64)> {
        let mut losses = self.losses();
        losses.sort_by_key(|(loss, _)| *loss);
        let shown = |loss: i128| {
            let size = Amount::from_units(loss.unsigned_abs()).to_f64();
            if loss < 0 { -size } else { size }
        };
        losses.into_iter().map(|(loss, mass)| (shown(loss), mass)).collect()
    }

    /// The losses of the dominating pair, in units of [`Amount`], and their probabilities, rounded up.
    ///
    /// At t_j = e^(ε_j) the slope of δ grows by q_j. The loss ε_j has the probability t_j q_j, the loss
    /// −ε_j has q_j, and the loss 0 has the rest.
    pub(super) fn losses(&self) -> Vec<(i128, f64)> {
        let mut losses = Vec::new();
        let mut rest = Sum::default();
        rest.add(1.0);
        for (j, knot) in self.knots.iter().enumerate().skip(1) {
            let (falls, goes_on) = (
                rise(self.knots[j - 1], *knot),
                self.knots.get(j + 1).map_or(0.0, |&next| fall(*knot, next)),
            );
            let shrunk = exp_accurate(-knot.epsilon.to_f64());
            let mass = (falls - goes_on).max(0.0);
            let bound = mass + FEW * (falls + goes_on);
            rest.add(-mass);
            rest.add(-mass * shrunk);
            let loss = i128::try_from(knot.epsilon.units()).unwrap_or(i128::MAX);
            losses.extend([(loss, bound), (-loss, bound * shrunk * (1.0 + FEW))]);
        }
        losses.push((0, rest.value().max(0.0) + FEW));
        losses
    }
}

/// The difference of two amounts, the larger one second.
fn gap(a: Amount, b: Amount) -> f64 {
    Amount::from_units(b.units() - a.units()).to_f64()
}

/// δ at 0 of the chord from a knot to its mirror image at −ε, rounded up.
fn middle(knot: Knot) -> f64 {
    let epsilon = knot.epsilon.to_f64();
    let shrunk = exp_accurate(-epsilon);
    let delta = (2.0 * shrunk * knot.delta - expm1(-epsilon)) / (1.0 + shrunk);
    (delta * (1.0 + FEW)).min(1.0)
}

/// e^b times minus the slope of the chord from a to b.
fn rise(a: Knot, b: Knot) -> f64 {
    (a.delta - b.delta) / -expm1(-gap(a.epsilon, b.epsilon))
}

/// e^a times minus the slope of the chord from a to b.
fn fall(a: Knot, b: Knot) -> f64 {
    (a.delta - b.delta) / expm1(gap(a.epsilon, b.epsilon))
}

/// Whether b lies below the chord from a to c.
fn is_convex(a: Knot, b: Knot, c: Knot) -> bool {
    rise(a, b) > fall(b, c)
}
