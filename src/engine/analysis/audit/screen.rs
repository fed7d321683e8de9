//! Bounds on the loss of a pair that need no walk over its outputs. They show that most pairs do not
//! have the largest loss, so that these need not be compared.
//!
//! For two categories and a distance h = sqrt(1 − e^(−p)), p = −s ln BC, at neighbours x and x' with
//! rates ρ and ρ', let ε(r) = ρ' h(x', r) − ρ h(x, r), so that ln P_x(r) − ln P_x'(r) = ε(r) + ln Z'/Z.
//!
//! *Weights.* h is a metric: |ε(r)| <= e = min(ρ, ρ') h(x, x') + |ρ − ρ'|, since h <= 1. Therefore
//! |ln Z'/Z| <= e, and the loss is at most 2e.
//!
//! *Normalisers.* Let x hold one record more in the first category, and compare output r at x with
//! output r − 1 at x', which is as many records away from x' as r is from x: |ρ' h(x', r−1) − ρ h(x, r)| <= t = min(ρ, ρ') T +
//! |ρ − ρ'|, T being the largest |h(x', r−1) − h(x, r)|. At the ends one output is left over on each
//! side; weights fall with the distance along the line, so an end at which m records lie between it and
//! the data has at most the (m+1)-th part of all weight. Hence |ln Z'/Z| <= t + 1/m, where m is the
//! smaller of what x has in the first and x' in the second category, and the loss is at most e + t + 1/m.
//!
//! *Shifts.* −ln BC is a sum of two convexity gaps of ln Γ, ∫ K(y) ψ'(y) dy with the same kernel K >= 0
//! at x and at x', over intervals that are one apart. As ψ'(y) = ψ'(y+1) + 1/y² and ψ'(y) >= 1/y, the
//! integrands differ by a factor between 1 and 1 + (u+1)/u², u being the lower end of the lower interval,
//! and so do the integrals. Thus |ln p' − ln p| <= κ = (u+1)/u² for the smallest such u, and
//! |h' − h| <= κ max p e^(−p) / 2 sqrt(1 − e^(−p)), or 1 − h <= e^(−p) if that is less. If a category
//! with parameter c has lost d, then u = c − d, and p >= s d² / 8(c+1) because ψ'(y) >= 1/y again.

use crate::numeric::gamma::ln_phi;
use crate::numeric::{exp_accurate, expm1};
use crate::posterior::model::Posterior;

/// The records that two adjacent data sets have in common: each data set has one more.
#[derive(Clone, Copy, Debug)]
pub struct Common {
    /// s.
    power: f64,
    /// The posterior parameters after the records in common.
    parameters: [f64; 2],
    /// The numbers of records in common, by category.
    counts: [u64; 2],
}

impl Common {
    /// For two categories and a distance sqrt(1 − BC^`power`).
    pub fn new(posterior: &Posterior, power: f64, x: &[u64], moved: &[u64]) -> Self {
        let counts = [0, 1].map(|i| x[i].min(moved[i]));
        let parameters = [0, 1].map(|i| posterior.alpha(i) + counts[i] as f64);
        Self { power, parameters, counts }
    }

    /// An upper bound, but for rounding, on the loss of a mechanism with these rates at the two data
    /// sets.
    pub fn loss(&self, rates: [f64; 2]) -> f64 {
        let (rate, change) = (rates[0].min(rates[1]), (rates[0] - rates[1]).abs());
        let weights = rate * self.step() + change;
        let records = self.counts[0].min(self.counts[1]) + 1;
        let normalisers = rate * self.shift() + change + 1.0 / records as f64;
        weights + weights.min(normalisers)
    }

    /// h(x, x').
    fn step(&self) -> f64 {
        let [a, b] = self.parameters;
        (-expm1(self.power * (ln_phi(a) + ln_phi(b)))).sqrt()
    }

    /// An upper bound on T, whichever of the two categories loses records.
    fn shift(&self) -> f64 {
        let [a, b] = self.parameters;
        self.shift_if_loses(a, b).max(self.shift_if_loses(b, a))
    }

    /// The category with parameter `loses` keeps at least a half of it, or a quarter, and so on up to
    /// [`HALVINGS`]; or it keeps less. Each case has its own bound.
    fn shift_if_loses(&self, loses: f64, gains: f64) -> f64 {
        let nearest = |lost: f64| self.power * (lost * lost) / (8.0 * (loses + 1.0));
        let piece = |halvings: i32| {
            let kept = loses * 0.5_f64.powi(halvings);
            let p = nearest(loses - kept);
            let lowest = gains.min(0.5 * kept);
            let kappa = (lowest + 1.0) / (lowest * lowest);
            (kappa * steepest(p)).min(exp_accurate(-p))
        };
        let beyond = exp_accurate(-nearest(loses * (1.0 - 0.5_f64.powi(HALVINGS))));
        (0..HALVINGS).map(piece).fold(beyond, f64::max)
    }
}

/// The number of halvings that are told apart.
const HALVINGS: i32 = 8;

/// The largest |dh / d ln p| = p e^(−p) / 2 sqrt(1 − e^(−p)) from p on. It rises to 0.2455 at p = 0.645,
/// and falls.
fn steepest(p: f64) -> f64 {
    if p < 1.0 { 0.2455 } else { 0.5 * p * exp_accurate(-p) / (-expm1(-p)).sqrt() }
}

#[cfg(test)]
mod tests {
    use super::super::Audit;
    use super::super::pairs::Scope;
    use super::*;
    use crate::mechanism::{self, Variant};
    use crate::posterior::distance::{self, Distance};
    use crate::posterior::model::Prior;
    use crate::posterior::privacy::{Delta, Epsilon};
    use crate::posterior::setting::Setting;

    fn template(distance: &'static dyn Distance, prior: [f64; 2], n: u64, epsilon: f64) -> Setting {
        let prior = Prior::new(prior.to_vec()).unwrap();
        let setting = Setting::new(prior, vec![n, 0], Epsilon::new(epsilon).unwrap());
        Setting { delta: Delta::new(1e-4).ok(), distance, ..setting }
    }

    #[test]
    fn the_steepest_place() {
        let slope = |p: f64| 0.5 * p * exp_accurate(-p) / (-expm1(-p)).sqrt();
        let grid = (1..20_000).map(|i| f64::from(i) * 1e-3);
        for p in grid {
            assert!(slope(p) < 0.2455 && slope(p) <= steepest(p), "{p}");
            assert!(p < 0.65 || slope(p + 1e-3) < slope(p), "{p}");
        }
        assert!(slope(0.645) > 0.2454);
    }

    /// Screening does not change the result in any bit.
    #[test]
    fn screening_changes_nothing() {
        let mut dropped = 0;
        for &distance in distance::DOCUMENTED {
            for (prior, n) in [([1.0, 1.0], 400), ([0.3, 7.5], 251), ([40.0, 2.5], 300)] {
                let template = template(distance, prior, n, 1.0);
                for id in ["ehd", "ehdl", "ehds", "mh-beta", "mh-gamma"] {
                    let variant = Variant::plain(mechanism::find(id).unwrap());
                    let all = Audit::new(&variant, &template, &Scope::All).unwrap();
                    let mut screened = Audit::new(&variant, &template, &Scope::All).unwrap();
                    screened.screen().unwrap();
                    let what = format!("{} {prior:?} {id}", distance.id());
                    dropped += all.pairs.len() - screened.pairs.len();
                    let found = |audit: &Audit| {
                        let largest = audit.largest(|comparison| {
                            vec![comparison.loss(), comparison.loss() + comparison.rounding()]
                        });
                        let best = largest.unwrap().into_iter();
                        best.map(|best| format!("{:?} {:?}", best.value, best.pair)).collect()
                    };
                    let (all, screened): (Vec<String>, Vec<String>) =
                        (found(&all), found(&screened));
                    assert_eq!(all, screened, "{what}");
                }
            }
        }
        assert!(dropped > 1000, "{dropped}");
    }

    /// Every pair of many settings: no loss is above its bound, and some bounds are nearly attained.
    #[test]
    fn no_loss_is_above_its_bound() {
        let mut largest_ratio: f64 = 0.0;
        for &distance in distance::DOCUMENTED {
            for (prior, n, epsilon) in [
                ([1.0, 1.0], 1, 1.0),
                ([1.0, 1.0], 400, 1.0),
                ([1.0, 1.0], 401, 8.0),
                ([0.3, 7.5], 150, 1.0),
                ([1e-3, 2.0], 60, 0.1),
                ([40.0, 2.5], 300, 30.0),
                ([1e4, 1e2], 100, 2.0),
            ] {
                let template = template(distance, prior, n, epsilon);
                for id in ["ehd", "ehdl", "ehds", "mh-beta", "mh-gamma"] {
                    let variant = Variant::plain(mechanism::find(id).unwrap());
                    let audit = Audit::new(&variant, &template, &Scope::All).unwrap();
                    for pair in &audit.pairs {
                        let [x, moved] = [&pair.x, &pair.moved];
                        let power = distance.power(&template.posterior).unwrap();
                        let common = Common::new(&template.posterior, power, x, moved);
                        let rates = [x, moved].map(|counts| audit.rate(counts).unwrap().unwrap());
                        let loss = audit.compared(pair, |comparison| comparison.loss()).unwrap();
                        let bound = common.loss(rates);
                        let what = format!("{} {prior:?} {x:?} {id}", distance.id());
                        assert!(loss <= bound + 1e-12, "{what}: {loss} {bound}");
                        largest_ratio = largest_ratio.max(loss / bound);
                    }
                }
            }
        }
        assert!(largest_ratio > 0.9, "{largest_ratio}");
    }
}
