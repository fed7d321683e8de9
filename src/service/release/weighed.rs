//! Candidates drawn with exactly the weights that were computed.
//!
//! A weight e^(−rate·H) is a double, and so a whole multiple of 2⁻¹⁰⁷⁴. In this unit all weights are
//! whole numbers, their sum is computed without rounding, and a uniform whole number below the sum
//! picks the candidate. So sampling is exact. But a computed weight differs from that of the formula
//! by rounding: this error is bounded, and paid for in ε.

use rand::Rng;

use super::discrete::decode;
use engine::numeric::gamma::ln_phi;
use engine::numeric::{exp_accurate, expm1};
use engine::posterior::error_field::Reach;
use engine::posterior::setting::Setting;
use engine::posterior::simplex::{BLOCK, Region, unrank};

/// A bound on the relative error of rate · H: the sensitivities (tested to 1e-11), the
/// distance (to 1e-12) and the rounding of the products.
const EXPONENT_ACCURACY: f64 = 1.2e-11;

/// A bound on the relative error of the exponential of a double: four units of its last place.
const EXP_ACCURACY: f64 = 1e-15;

/// The largest exponent that is allowed: the smallest weight still has all its digits.
pub const LARGEST_EXPONENT: f64 = 700.0;

/// A bound on rate · H for all data sets of as many records as the template has, from the rate at
/// the template.
///
/// The rate is inversely proportional to a sensitivity between the local and the global one. At any
/// data a record of some category i can move to some other j, hence
/// LS² >= 1 − φ(a_i − 1) φ(a_j) >= 1 − φ(α_max + n)²: φ grows, and neither argument is larger.
/// H is at most 1.
pub fn largest_exponent(rate: f64, template: &Setting) -> f64 {
    let posterior = &template.posterior;
    let largest = posterior.prior().alpha().iter().copied().fold(0.0, f64::max);
    let least_local = (-expm1(2.0 * ln_phi(largest + posterior.n() as f64))).sqrt();
    rate * template.sensitivity().global() / least_local
}

/// The price of computed weights in ε: four times the error of the logarithm of a weight. A loss is the
/// logarithm of a ratio of two probabilities, and each is a weight over a sum of weights.
pub fn price(largest_exponent: f64) -> f64 {
    4.0 * (largest_exponent * EXPONENT_ACCURACY + EXP_ACCURACY)
}

/// The weights of all candidates at one data set, in the order of
/// [`list_compositions`](engine::posterior::simplex::list_compositions).
pub struct Weights {
    n: u64,
    k: usize,
    weights: Vec<f64>,
    total: Fixed,
}

impl Weights {
    /// The weights e^(−rate·H).
    pub fn new(rate: f64, setting: &Setting) -> Self {
        let posterior = &setting.posterior;
        let (n, k) = (posterior.n(), posterior.k());
        let reach = Reach { windows: vec![(0, n); k], ball: false };
        let field = setting.distance.field(posterior, &reach);
        let region = Region::simplex(n, k);
        let blocks = region.blocks();
        let mut weights = Vec::new();
        let mut distances = [0.0; BLOCK];
        for block in 0..blocks.len() {
            region.walk(&blocks, block, |row| {
                let distances = &mut distances[..row.len];
                field.row(row, distances);
                weights.extend(distances.iter().map(|distance| exp_accurate(-rate * distance)));
            });
        }
        let mut total = Fixed::ZERO;
        weights.iter().for_each(|&weight| total.add(weight));
        Self { n, k, weights, total }
    }

    /// Draws a candidate with probability proportional to its weight: the one at which the sum of
    /// the weights passes a uniform number. All weights are always added, so that the time does not
    /// depend on the outcome.
    pub fn draw(&self, rng: &mut impl Rng) -> Vec<u64> {
        let target = self.total.uniform_below(rng);
        let mut sum = Fixed::ZERO;
        let mut passed = 0;
        for &weight in &self.weights {
            sum.add(weight);
            passed += usize::from(sum <= target);
        }
        unrank(passed, self.n, self.k)
    }
}

/// Limbs of 64 bits, the least significant first: 1088 bits after the binary point, 64 before it.
const LIMBS: usize = 18;
/// Bits after the binary point.
const POINT: i32 = 1088;

/// A number of at least 0 and below 2⁶⁴, with all bits that a double in this range can have.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Fixed([u64; LIMBS]);

impl Fixed {
    const ZERO: Self = Self([0; LIMBS]);

    /// Adds a double of at most 1, exactly.
    fn add(&mut self, value: f64) {
        let Some((mantissa, exponent)) = decode(value) else { return };
        let shift = (exponent + POINT) as usize;
        let wide = u128::from(mantissa) << (shift % 64);
        let mut carry = false;
        let mut place = shift / 64;
        for limb in [wide as u64, (wide >> 64) as u64] {
            let (sum, over) = self.0[place].overflowing_add(limb);
            let (sum, once_more) = sum.overflowing_add(u64::from(carry));
            (self.0[place], carry) = (sum, over || once_more);
            place += 1;
        }
        while carry {
            (self.0[place], carry) = self.0[place].overflowing_add(1);
            place += 1;
        }
    }

    /// A uniform number on the grid, at least 0 and below this one, by rejection.
    fn uniform_below(&self, rng: &mut impl Rng) -> Self {
        let top = self.0.iter().rposition(|&limb| limb > 0).expect("a sum of positive weights");
        let mask = u64::MAX >> self.0[top].leading_zeros();
        loop {
            let mut drawn = Self::ZERO;
            drawn.0[..=top].fill_with(|| rng.next_u64());
            drawn.0[top] &= mask;
            if drawn < *self {
                return drawn;
            }
        }
    }
}

impl PartialOrd for Fixed {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Fixed {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.iter().rev().cmp(other.0.iter().rev())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::mechanism::{self, Variant};
    use engine::posterior::distance::HELLINGER;
    use engine::posterior::model::{Posterior, Prior};
    use engine::posterior::privacy::{Epsilon, Gamma};
    use engine::posterior::simplex::list_compositions;

    #[test]
    fn sums_on_the_grid_are_exact() {
        let mut sum = Fixed::ZERO;
        for value in [1.0, 2_f64.powi(-600), 5e-324, 0.5, 1.0 - 2_f64.powi(-53)] {
            sum.add(value);
        }
        let mut other = Fixed::ZERO;
        for value in [5e-324, 1.0 - 2_f64.powi(-53), 2_f64.powi(-600), 0.5, 1.0] {
            other.add(value);
        }
        assert_eq!(sum, other);
        // Carries run through all limbs: 1 is 2^m parts of 2^-m.
        let mut ones = Fixed::ZERO;
        (0..4096).for_each(|_| ones.add(2_f64.powi(-12)));
        let mut one = Fixed::ZERO;
        one.add(1.0);
        assert_eq!(ones, one);
        let mut more = one.clone();
        more.add(5e-324);
        assert!(one < more && Fixed::ZERO < one);
    }

    #[test]
    fn numbers_below_are_uniform() {
        let mut bound = Fixed::ZERO;
        bound.add(0.75);
        let (mut quarter, mut half) = (Fixed::ZERO, Fixed::ZERO);
        quarter.add(0.25);
        half.add(0.5);
        let mut rng = engine::rng::stream(3, "fixed");
        let mut thirds = [0_i32; 3];
        for _ in 0..30_000 {
            let drawn = bound.uniform_below(&mut rng);
            thirds[usize::from(drawn >= quarter) + usize::from(drawn >= half)] += 1;
        }
        // Six standard deviations.
        assert!(thirds.iter().all(|count| (count - 10_000).abs() < 500), "{thirds:?}");
    }

    #[test]
    fn no_data_set_has_a_larger_exponent_than_the_bound() {
        for alpha in [vec![1.0, 1.0], vec![0.3, 7.0], vec![2.0, 1.0, 0.5]] {
            let prior = Prior::new(alpha).unwrap();
            let n = 12;
            let at = |counts: Vec<u64>| Setting {
                posterior: Posterior::new(prior.clone(), counts),
                epsilon: Epsilon::new(1.3).unwrap(),
                delta: None,
                gamma: Gamma::new(1.0).unwrap(),
                distance: HELLINGER,
            };
            for id in ["ehd", "ehdl", "ehds"] {
                let variant = Variant::plain(mechanism::find(id).unwrap());
                let rate = |setting: &Setting| variant.recipe(setting).unwrap().rate().unwrap();
                for template in list_compositions(n, prior.k()).into_iter().map(at) {
                    let bound = largest_exponent(rate(&template), &template);
                    for x in list_compositions(n, prior.k()) {
                        assert!(rate(&at(x)) <= bound * (1.0 + 1e-12));
                    }
                }
            }
        }
    }
}
