//! How a release is made: a mechanism, tuned and checked before the data are read.

use std::sync::Arc;

use super::Amount;
use super::discrete::{Ratio, Source, falls, is_accepted, noisy, sum_zero, within};
use super::weighed::{self, Weights};
use engine::analysis::cost::number;
use engine::analysis::tuning::{self, Tuned, TuningCache};
use engine::mechanism::law::tight::Tight;
use engine::mechanism::law::{CandidateWeights, LatticeNoise, Noise, Recipe};
use engine::mechanism::{Options, Variant};
use engine::posterior::distance::HELLINGER;
use engine::posterior::model::{Posterior, approximate_compositions};
use engine::posterior::privacy::{Epsilon, Guarantee};
use engine::posterior::setting::Setting;
use engine::posterior::simplex::uniform_composition;
use engine::refusal::Refusal;

/// The most candidates that are weighed one by one.
const MOST_WEIGHED: f64 = 1e7;

/// The most categories for which `hamming` is drawn: with more, nearly all proposals are rejected.
const MOST_HAMMING: usize = 8;

/// A mechanism that can release data of n records. It depends on public values only.
pub struct Method {
    variant: Variant,
    /// The setting of some data set of n records: all in the first category.
    template: Setting,
    epsilon: Amount,
    price: Amount,
    way: Way,
}

/// How an output is drawn.
enum Way {
    /// Noise of this rate on the counts, in whole numbers.
    Noise { noise: Noise, rate: Ratio, restored: bool },
    /// A candidate with weight e^(−rate · d), in whole numbers. `half` is half the rate.
    Hamming { rate: Ratio, half: Ratio },
    /// Noise that sums to 0, in whole numbers. `half` is half its rate. The result is clamped; or it is
    /// drawn again until it is a candidate and accepted by its weight.
    Lattice { half: Ratio, tight: Option<Arc<Tight>> },
    /// A candidate with its computed weight, a double.
    Weighed,
}

impl Way {
    /// What rounding of the weights costs. Without rounding, all normalisers of tight weights are 1.
    fn price(&self) -> Amount {
        match self {
            Self::Lattice { tight: Some(tight), .. } if !tight.is_clipped() => {
                Amount::round_up(tight.shift())
            }
            _ => Amount::ZERO,
        }
    }
}

impl Method {
    /// Checks and tunes `variant` for data of as many records as `template` has; its ε is replaced. If its
    /// weights are rounded, a little less than ε is drawn with, so that what is spent is ε.
    pub fn new(
        variant: &Variant,
        template: &Setting,
        epsilon: Amount,
        tuning: &TuningCache,
    ) -> Result<Self, Refusal> {
        Self::check(variant, template, epsilon)?;
        let parts: &[u128] = if is_rounded(variant, template)? { &RESERVES } else { &[0] };
        for part in parts {
            let reserve = epsilon.units() * part / 1_000_000_000_000;
            let inner = Amount::from_units(epsilon.units() - reserve);
            let method = Self::drawn_with(inner, variant, template, tuning)?;
            if inner + method.price <= epsilon {
                return Ok(Self { epsilon, ..method });
            }
        }
        Err(not_exact(variant))
    }

    /// The mechanism at this ε, and what rounding costs besides.
    fn drawn_with(
        epsilon: Amount,
        variant: &Variant,
        template: &Setting,
        tuning: &TuningCache,
    ) -> Result<Self, Refusal> {
        let template = Setting { epsilon: Epsilon::new(epsilon.to_f64())?, ..template.clone() };
        let Tuned { variant, .. } = tuning.tune(variant, &template)?;
        let (way, price) = match variant.recipe(&template)? {
            Recipe::Exponential { rate } => {
                (Way::Weighed, weighed_price(&variant, rate, &template)?)
            }
            recipe => {
                let way = exact_way(&variant, recipe, &template, epsilon)?;
                let price = found_price(&variant) + way.price();
                (way, price)
            }
        };
        Ok(Self { variant, template, epsilon, price, way })
    }

    /// Refuses what [`Self::new`] refuses, as far as that is known without any work.
    pub fn check(variant: &Variant, template: &Setting, epsilon: Amount) -> Result<(), Refusal> {
        let template = &Setting { epsilon: Epsilon::new(epsilon.to_f64())?, ..template.clone() };
        refuse_what_is_not_private(variant, template)?;
        tuning::check(variant, template)?;
        match variant.outline(template)? {
            Recipe::Exponential { .. } => refuse_many_candidates(variant, template),
            Recipe::Hamming { weights: CandidateWeights::Tight, .. } => Ok(()),
            Recipe::Hamming { .. } => refuse_many_categories(variant, template.posterior.k()),
            Recipe::Historical { .. } => Err(variant.historical_refusal()),
            Recipe::Weighed { .. } | Recipe::OwnNoise { .. } | Recipe::Table { .. } => {
                Err(Refusal::new(
                    format!("`{}` is not drawn without floating-point errors", variant.label),
                    "release real data with a built-in mechanism",
                ))
            }
            Recipe::Noise { .. } | Recipe::Lattice { .. } => Ok(()),
        }
    }

    /// The mechanism, tuned.
    pub fn variant(&self) -> &Variant {
        &self.variant
    }

    /// The setting of some data set of n records.
    pub fn template(&self) -> &Setting {
        &self.template
    }

    /// What is proved or computed about it.
    pub fn guarantee(&self) -> Guarantee {
        self.variant.guarantee(&self.template)
    }

    /// The ε that was asked for.
    pub fn epsilon(&self) -> Amount {
        self.epsilon
    }

    /// The part of ε that pays for rounding errors of the weights.
    pub fn price(&self) -> Amount {
        self.price
    }

    /// Draws a release of `counts`.
    ///
    /// # Panics
    /// If `counts` do not have as many records as the method is made for.
    pub fn draw(&self, counts: &[u64], rng: &mut impl Source) -> Vec<u64> {
        self.prepare(counts).draw(rng)
    }

    /// Prepares draws of `counts`.
    ///
    /// # Panics
    /// If `counts` do not have as many records as the method is made for.
    pub fn prepare<'a>(&'a self, counts: &'a [u64]) -> Ready<'a> {
        let n = self.template.posterior.n();
        assert_eq!(counts.iter().sum::<u64>(), n, "made for another number of records");
        let weights = matches!(self.way, Way::Weighed).then(|| {
            let prior = self.template.posterior.prior().clone();
            let posterior = Posterior::new(prior, counts.to_vec());
            let setting = Setting { posterior, ..self.template.clone() };
            let rate = self.variant.recipe(&setting).ok().and_then(|recipe| recipe.rate());
            Weights::new(rate.expect("as at the template"), &setting)
        });
        Ready { method: self, counts, weights }
    }
}

/// How much of ε is kept for rounding errors, in parts of 10⁻¹²: if the first does not suffice, the next.
const RESERVES: [u128; 4] = [1, 1_000, 100_000, 100_000_000];

/// Whether a mechanism draws by weights that are rounded.
fn is_rounded(variant: &Variant, template: &Setting) -> Result<bool, Refusal> {
    Ok(match variant.outline(template)? {
        Recipe::Exponential { .. } | Recipe::Hamming { weights: CandidateWeights::Tight, .. } => {
            true
        }
        Recipe::Hamming { .. }
        | Recipe::Weighed { .. }
        | Recipe::Noise { .. }
        | Recipe::OwnNoise { .. }
        | Recipe::Lattice { .. }
        | Recipe::Historical { .. }
        | Recipe::Table { .. } => variant.options.calibrated,
    })
}

/// A method and its data: only this type holds both.
pub struct Ready<'a> {
    method: &'a Method,
    counts: &'a [u64],
    /// The weights of the candidates, if they are weighed.
    weights: Option<Weights>,
}

impl Ready<'_> {
    /// Draws a release.
    pub fn draw(&self, rng: &mut impl Source) -> Vec<u64> {
        let n = self.method.template.posterior.n();
        let drawn = match (&self.method.way, &self.weights) {
            (&Way::Noise { noise, rate, restored }, _) => {
                draw_noisy(noise, rate, restored, self.counts, n, rng)
            }
            (&Way::Hamming { rate, half }, _) => draw_hamming((rate, half), self.counts, n, rng),
            (Way::Lattice { half, tight: None }, _) => draw_lattice(*half, self.counts, n, rng),
            (Way::Lattice { half, tight: Some(tight) }, _) => {
                draw_tight(*half, tight, self.counts, rng)
            }
            (Way::Weighed, Some(weights)) => weights.draw(rng),
            (Way::Weighed, None) => unreachable!("weights are prepared"),
        };
        match &self.method.variant.remap {
            Some(remap) => remap.replace(&drawn).into_owned(),
            None => drawn,
        }
    }
}

fn refuse_what_is_not_private(variant: &Variant, template: &Setting) -> Result<(), Refusal> {
    if variant.is_purely_private(template) {
        return Ok(());
    }
    let (label, guarantee) = (&variant.label, variant.guarantee(template));
    let needs_delta = variant.mechanism.uses_delta() && template.delta.is_none();
    let cause = match guarantee {
        Guarantee::None if needs_delta => {
            format!("`{label}` is private only with a δ, but a release must be ε-private without δ")
        }
        Guarantee::Approximate(..) => {
            format!("`{label}` is {guarantee}, but a release must be ε-private without δ")
        }
        Guarantee::None => format!("`{label}` is not private: it is a benchmark"),
        Guarantee::Claimed(..) => {
            format!("`{label}` is ({guarantee}), but its proof is incomplete")
        }
        _ => format!("`{label}` is {guarantee}, which is more than ε"),
    };
    let calibrates = variant.mechanism.choices().contains(&engine::mechanism::Choice::Calibrated);
    let remedy = match calibrates && !variant.mechanism.uses_delta() {
        true => format!("for few records, `{label}+calibrated` is private by computation"),
        false => {
            "leave --mechanism out; dpbi then takes the most accurate private mechanism".to_owned()
        }
    };
    Err(Refusal::new(cause, remedy))
}

/// The remedy if candidates cannot be weighed.
const NOISE: &str = "use a mechanism that adds noise to the counts, such as geometric";

fn refuse_many_candidates(variant: &Variant, template: &Setting) -> Result<(), Refusal> {
    // The bounds behind the price are proved for this distance.
    if template.distance.id() != HELLINGER.id() {
        let cause = "mechanisms with weights are released for the Hellinger distance only";
        return Err(Refusal::new(cause, "use another mechanism, or the Hellinger distance"));
    }
    let (n, k) = (template.posterior.n(), template.posterior.k());
    let candidates = approximate_compositions(n, k);
    if candidates <= MOST_WEIGHED {
        return Ok(());
    }
    let cause = format!(
        "`{}` would weigh {} candidates, and {} are the limit",
        variant.mechanism.id(),
        number(candidates),
        number(MOST_WEIGHED)
    );
    Err(Refusal::new(cause, NOISE))
}

/// The price of computed weights; refused if the weights are too small.
fn weighed_price(variant: &Variant, rate: f64, template: &Setting) -> Result<Amount, Refusal> {
    let exponent = weighed::largest_exponent(rate, template);
    if exponent > weighed::LARGEST_EXPONENT {
        let cause = format!(
            "weights of `{}` may be as small as e^-{exponent:.0}, too small to be drawn exactly",
            variant.mechanism.id()
        );
        return Err(Refusal::new(cause, NOISE));
    }
    Ok(Amount::round_up(weighed::price(exponent)))
}

/// The price of a rate that was found by calibration: the inner ε is rounded to a double.
fn found_price(variant: &Variant) -> Amount {
    let found = variant.options.inner_epsilon;
    found.map_or(Amount::ZERO, |inner| Amount::round_up(1e-15 * inner.get()))
}

/// The way of a mechanism whose law has one rate. The rate is ε over a whole number, which is read off
/// the recipe at ε = 1. If the mechanism was calibrated, the rate is the double that was found.
fn exact_way(
    variant: &Variant,
    recipe: Recipe,
    template: &Setting,
    epsilon: Amount,
) -> Result<Way, Refusal> {
    let (numerator, denominator) = epsilon.fraction();
    let unit = Setting { epsilon: one(), ..template.clone() };
    let options = Options { inner_epsilon: None, ..variant.options };
    let at_one = Variant { options, ..variant.clone() }.recipe(&unit)?;
    let over = |divisor: f64| {
        let whole = (divisor.fract() == 0.0 && divisor >= 1.0).then_some(divisor as u64)?;
        Ratio::new(numerator, denominator)?.over(whole)
    };
    let way = match (recipe, at_one) {
        (Recipe::Noise { noise, restored, .. }, Recipe::Noise { scale, .. }) => {
            over(scale).map(|rate| Way::Noise { noise, rate, restored })
        }
        (
            Recipe::Hamming { rate, weights: CandidateWeights::Flat },
            Recipe::Hamming { rate: at_one, .. },
        ) => {
            let rate = match variant.options.inner_epsilon {
                Some(_) => Ratio::from_f64(rate),
                None => over(1.0 / at_one),
            };
            rate.and_then(|rate| Some(Way::Hamming { rate, half: rate.over(2)? }))
        }
        (Recipe::Hamming { rate, weights: CandidateWeights::Tight }, _) => {
            let tight = CandidateWeights::Tight.tight(&template.posterior, rate);
            // With clipped weights the rate was found as a double.
            let exact = if rate == epsilon.to_f64() { over(1.0) } else { Ratio::from_f64(rate) };
            exact.and_then(|rate| Some(Way::Lattice { half: rate.over(2)?, tight }))
        }
        (Recipe::Lattice { .. }, Recipe::Lattice { noise: LatticeNoise::Geometric { rate } }) => {
            over(1.0 / rate)
                .and_then(|rate| Some(Way::Lattice { half: rate.over(2)?, tight: None }))
        }
        (Recipe::Exponential { .. }, _)
        | (Recipe::Weighed { .. }, _)
        | (Recipe::Noise { .. }, _)
        | (Recipe::OwnNoise { .. }, _)
        | (Recipe::Hamming { .. }, _)
        | (Recipe::Lattice { .. }, _)
        | (Recipe::Historical { .. }, _)
        | (Recipe::Table { .. }, _) => None,
    };
    way.ok_or_else(|| not_exact(variant))
}

fn not_exact(variant: &Variant) -> Refusal {
    Refusal::new(
        format!("`{}` cannot be drawn exactly with this ε", variant.label),
        "use a mechanism that is not calibrated, or an ε that is not so small",
    )
}

fn one() -> Epsilon {
    Epsilon::new(1.0).expect("1 is an ε")
}

fn refuse_many_categories(variant: &Variant, k: usize) -> Result<(), Refusal> {
    if k <= MOST_HAMMING {
        return Ok(());
    }
    let id = variant.mechanism.id();
    let cause = format!("`{id}` is drawn for at most {MOST_HAMMING} categories, not for {k}");
    Err(Refusal::new(cause, NOISE))
}

fn draw_noisy(
    noise: Noise,
    rate: Ratio,
    restored: bool,
    counts: &[u64],
    n: u64,
    rng: &mut impl Source,
) -> Vec<u64> {
    let mut released = counts.to_vec();
    let free = counts.len() - usize::from(restored);
    released[..free].iter_mut().for_each(|v| *v = noisy(noise, rate, *v, n, rng));
    if restored && let Some((last, others)) = released.split_last_mut() {
        *last = others.iter().fold(n, |left, &v| left.saturating_sub(v));
    }
    released
}

/// If all weights are at least e to minus this, candidates are proposed uniformly.
const WIDE: u64 = 3;

/// A candidate with P ∝ e^(−rate·d), d = ½ Σ |v_i − x_i|, by rejection.
///
/// If all weights are near 1, candidates are proposed uniformly. Otherwise every coordinate but the last
/// is drawn from [0, n] with its factor e^(−rate·|v_i − x_i|/2) of the weight. The last one is n minus
/// their sum, if that is not negative, and is accepted with the probability of its own factor. With
/// two categories both counts move by the same number of records, so the first coordinate is drawn
/// with the whole weight.
fn draw_hamming(
    (rate, half): (Ratio, Ratio),
    counts: &[u64],
    n: u64,
    rng: &mut impl Source,
) -> Vec<u64> {
    let mut released = counts.to_vec();
    let last = counts.len() - 1;
    loop {
        if rate.times_is_at_most(n, WIDE) {
            uniform_composition(n, &mut released, rng);
            let moved: u64 = released.iter().zip(counts).map(|(v, x)| v.saturating_sub(*x)).sum();
            if falls(rate, moved, rng) {
                return released;
            }
            continue;
        }
        let part = if last == 1 { rate } else { half };
        for (v, &x) in released[..last].iter_mut().zip(counts) {
            *v = within(part, x, n, rng);
        }
        let taken = released[..last].iter().fold(0_u64, |sum, &v| sum.saturating_add(v));
        if let Some(left) = n.checked_sub(taken) {
            released[last] = left;
            if last == 1 || falls(half, left.abs_diff(counts[last]), rng) {
                return released;
            }
        }
    }
}

/// x plus noise that sums to 0, clamped to [0, n].
fn draw_lattice(half: Ratio, counts: &[u64], n: u64, rng: &mut impl Source) -> Vec<u64> {
    let noise = sum_zero(half, counts.len(), rng);
    let clamped = |(&x, z): (&u64, i128)| i128::from(x).saturating_add(z).clamp(0, i128::from(n));
    counts.iter().zip(noise).map(clamped).map(|v| v as u64).collect()
}

/// A candidate with P = w(r) e^(−rate · d): x plus noise that sums to 0, until it is a candidate, and is
/// accepted with probability w / max w. If no weight was set to 0, a trial succeeds with a chance that is
/// the same for all data: the number of trials tells nothing about them.
fn draw_tight(half: Ratio, tight: &Tight, counts: &[u64], rng: &mut impl Source) -> Vec<u64> {
    let n: u64 = counts.iter().sum();
    let wide = half.times_is_at_most(2 * n, WIDE);
    loop {
        let drawn = match wide {
            true => try_tight_uniformly(half, tight, counts, rng),
            false => try_tight(half, tight, counts, rng),
        };
        if let Some(drawn) = drawn {
            return drawn;
        }
    }
}

/// One trial for noise so wide that it would rarely be a candidate: all candidates are proposed alike.
fn try_tight_uniformly(
    half: Ratio,
    tight: &Tight,
    counts: &[u64],
    rng: &mut impl Source,
) -> Option<Vec<u64>> {
    let mut drawn = counts.to_vec();
    uniform_composition(counts.iter().sum(), &mut drawn, rng);
    let steps: u64 = drawn.iter().zip(counts).map(|(v, x)| v.abs_diff(*x)).sum();
    let accepted =
        falls(half, steps, rng) && is_accepted(tight.weight(&drawn), tight.largest(), rng);
    accepted.then_some(drawn)
}

/// One trial.
fn try_tight(
    half: Ratio,
    tight: &Tight,
    counts: &[u64],
    rng: &mut impl Source,
) -> Option<Vec<u64>> {
    let noise = sum_zero(half, counts.len(), rng);
    let moved = |(&x, z): (&u64, i128)| u64::try_from(i128::from(x).saturating_add(z)).ok();
    let drawn: Vec<u64> = counts.iter().zip(noise).map(moved).collect::<Option<_>>()?;
    is_accepted(tight.weight(&drawn), tight.largest(), rng).then_some(drawn)
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::rng::stream;

    /// The chance of a trial is the same whatever the data: the centre, an edge and a corner, at 40 records
    /// (all weights) and at 1000 (a table).
    #[test]
    fn the_number_of_trials_does_not_depend_on_the_data() {
        let trials = 200_000;
        for (n, data) in [
            (40, [[14, 13, 13], [20, 20, 0], [40, 0, 0]]),
            (1000, [[333, 333, 334], [999, 1, 0], [0, 0, 1000]]),
        ] {
            let tight = Tight::find(3, n, 1.0).unwrap();
            let half = Ratio::new(1, 2).unwrap();
            // Far from all faces a trial succeeds with w∞ / max w.
            let far = Tight::find(3, 1_000_000, 1.0).unwrap().weight(&[333_333, 333_333, 333_334]);
            let p = far / tight.largest();
            for counts in data {
                let mut rng = stream(7, &format!("trials {counts:?}"));
                let tried =
                    (0..trials).filter(|_| try_tight(half, &tight, &counts, &mut rng).is_some());
                let z = (tried.count() as f64 - f64::from(trials) * p)
                    / (f64::from(trials) * p * (1.0 - p)).sqrt();
                // Five standard deviations: 6e-7. A chance that is 2 % off is noticed.
                assert!(z.abs() < 5.0, "{counts:?}: {z}");
            }
        }
    }
}
