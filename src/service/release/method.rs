//! How a release is made: one of four mechanisms, checked before the data are read.
//!
//! Each of them adds noise in whole numbers, which is drawn exactly, and whose posterior is computed for any
//! number of records.

use std::sync::Arc;

use super::Amount;
use super::discrete::{Ratio, Source, falls, is_accepted, noisy, sum_zero};
use engine::mechanism::law::tight::Tight;
use engine::mechanism::{self, Options, Variant};
use engine::posterior::model::approximate_compositions;
use engine::posterior::privacy::Epsilon;
use engine::posterior::setting::Setting;
use engine::posterior::simplex::uniform_composition;
use engine::refusal::Refusal;

const GEOMETRIC: &str = "geometric";
const GEOMETRIC_ALL: &str = "geometric-all";
const TIGHT: &str = "tight";
const LATTICE: &str = "lattice";

/// The mechanisms that release.
pub const MECHANISMS: [&str; 4] = [GEOMETRIC, GEOMETRIC_ALL, TIGHT, LATTICE];

/// The most candidates at which `tight` is the usual mechanism: its weights are found in a moment.
const MOST_CANDIDATES: f64 = 1e4;

/// The usual mechanism for histograms of these settings: `geometric` for two categories; else `tight`, up to 10,000
/// candidates and if ε is not so small that weights may be negative; else `lattice`.
pub fn usual(templates: &[Setting]) -> Variant {
    let has_two = |template: &Setting| template.posterior.k() == 2;
    let has_weights = |template: &Setting| {
        let (k, n) = (template.posterior.k(), template.posterior.n());
        let epsilon = template.epsilon.get();
        approximate_compositions(n, k) <= MOST_CANDIDATES
            && !Tight::may_be_clipped(k, n, epsilon)
            && Tight::find(k, n, epsilon).is_ok_and(|tight| !tight.is_clipped())
    };
    let id = match () {
        () if templates.iter().all(has_two) => GEOMETRIC,
        () if templates.iter().all(has_weights) => TIGHT,
        () => LATTICE,
    };
    Variant::plain(mechanism::find(id).expect("a mechanism of this name"))
}

/// Refuses a mechanism that does not release, and names the nearest one that does.
pub fn check_releases(variant: &Variant, k: usize) -> Result<(), Refusal> {
    let id = variant.mechanism.id();
    if MECHANISMS.contains(&id) && variant.options == Options::default() {
        return Ok(());
    }
    let (reason, nearest) = match id {
        _ if MECHANISMS.contains(&id) => {
            ("what is said about a release knows its noise, and a remap adds nothing to that", id)
        }
        "lszhang" => (LAPLACE, GEOMETRIC_ALL),
        "lsdim" | "lshist" => (LAPLACE, GEOMETRIC),
        _ if variant.mechanism.uses_delta() => {
            ("it needs a δ, and a release is ε-private without one", GEOMETRIC)
        }
        _ => ("what it draws tells little about the shares, or is private in few settings", TIGHT),
    };
    let nearest = if k == 2 { GEOMETRIC } else { nearest };
    Err(Refusal::new(
        format!("`{}` does not release data: {reason}", variant.label),
        format!("the nearest mechanism that does is {nearest} (of {})", MECHANISMS.join(", ")),
    ))
}

/// Why rounded Laplace noise is not drawn.
const LAPLACE: &str = "geometric noise of the same ε tells more than rounded Laplace noise";

/// A mechanism that can release data of n records. It depends on public values only.
pub struct Method {
    variant: Variant,
    /// The setting of some data set of n records: all in the first category.
    template: Setting,
    epsilon: Amount,
    price: Amount,
    noise: Noise,
}

/// How an output is drawn.
enum Noise {
    /// Independent noise of this rate, on all counts; or on all but the last, which is what the others leave.
    Independent { rate: Ratio, restored: bool },
    /// Noise of this rate that sums to 0, clamped.
    Lattice { rate: Ratio },
    /// The same noise, drawn again until the result is a candidate, and accepted by its weight.
    Tight { rate: Ratio, weights: Arc<Tight> },
}

impl Method {
    /// Checks `variant` for data of as many records as `template` has; its ε is replaced. Weights are rounded: where
    /// there are some, a little less than ε is drawn with, so that what is spent is ε.
    pub fn new(variant: &Variant, template: &Setting, epsilon: Amount) -> Result<Self, Refusal> {
        check_releases(variant, template.posterior.k())?;
        let reserves: &[u128] = if variant.mechanism.id() == TIGHT { &RESERVES } else { &[0] };
        for part in reserves {
            let reserve = epsilon.units() * part / 1_000_000_000_000;
            let inner = Amount::from_units(epsilon.units() - reserve);
            let template = Setting { epsilon: Epsilon::new(inner.to_f64())?, ..template.clone() };
            let noise = Noise::new(variant, &template, inner)?;
            let price = noise.price();
            if inner + price <= epsilon {
                return Ok(Self { variant: variant.clone(), template, epsilon, price, noise });
            }
        }
        Err(not_exact(variant))
    }

    /// The mechanism.
    pub fn variant(&self) -> &Variant {
        &self.variant
    }

    /// The setting of some data set of n records.
    pub fn template(&self) -> &Setting {
        &self.template
    }

    /// The ε that was asked for.
    pub fn epsilon(&self) -> Amount {
        self.epsilon
    }

    /// The part of ε that pays for rounding errors of the weights.
    pub fn price(&self) -> Amount {
        self.price
    }

    /// Why it cannot have released these counts, if so.
    pub fn refuses(&self, counts: &[u64]) -> Option<String> {
        let n = self.template.posterior.n();
        if let Some(count) = counts.iter().find(|count| **count > n) {
            return Some(format!("a count is {count}, and there are {n} records"));
        }
        let sum: u128 = counts.iter().map(|&count| u128::from(count)).sum();
        let (whole, larger) = (sum == u128::from(n), sum > u128::from(n));
        let fits = match self.noise {
            // The last count is what the others leave, and 0 if they leave nothing.
            Noise::Independent { restored: true, .. } => {
                whole || (larger && counts.ends_with(&[0]))
            }
            Noise::Independent { restored: false, .. } => true,
            // The noise has the sum 0. Only counts that would be negative, and become 0, add to the total.
            Noise::Lattice { .. } => whole || (larger && counts.contains(&0)),
            Noise::Tight { .. } => whole,
        };
        (!fits).then(|| {
            let label = &self.variant.label;
            format!("their sum is {sum}, and `{label}` does not release such counts of {n} records")
        })
    }

    /// Draws a release of `counts`.
    ///
    /// # Panics
    /// If `counts` do not have as many records as the method is made for.
    pub fn draw(&self, counts: &[u64], rng: &mut impl Source) -> Vec<u64> {
        let n = self.template.posterior.n();
        assert_eq!(counts.iter().sum::<u64>(), n, "made for another number of records");
        match &self.noise {
            &Noise::Independent { rate, restored } => draw_independent(rate, restored, counts, rng),
            &Noise::Lattice { rate } => draw_lattice(rate, counts, rng),
            Noise::Tight { rate, weights } => draw_tight(*rate, weights, counts, rng),
        }
    }
}

/// How much of ε is kept for rounding errors, in parts of 10⁻¹²: if the first does not suffice, the next.
const RESERVES: [u128; 4] = [1, 1_000, 100_000, 100_000_000];

impl Noise {
    /// The noise of a mechanism at this ε. A moved record changes two counts by one; of two counts, one is drawn.
    fn new(variant: &Variant, template: &Setting, epsilon: Amount) -> Result<Self, Refusal> {
        // It may be refused: `geometric-all` is for three or more categories.
        variant.outline(template)?;
        let (k, n) = (template.posterior.k(), template.posterior.n());
        let (numerator, denominator) = epsilon.fraction();
        let whole = Ratio::new(numerator, denominator).ok_or_else(|| not_exact(variant))?;
        let half = whole.over(2).ok_or_else(|| not_exact(variant))?;
        Ok(match variant.mechanism.id() {
            GEOMETRIC if k == 2 => Self::Independent { rate: whole, restored: true },
            GEOMETRIC => Self::Independent { rate: half, restored: true },
            GEOMETRIC_ALL => Self::Independent { rate: half, restored: false },
            LATTICE => Self::Lattice { rate: half },
            _ => {
                let weights = Tight::find(k, n, template.epsilon.get())?;
                if weights.is_clipped() {
                    let cause = format!(
                        "some weights of `{TIGHT}` are negative at this ε, for {n} records in {k} categories"
                    );
                    return Err(Refusal::new(cause, format!("use {LATTICE}, or a larger ε")));
                }
                Self::Tight { rate: half, weights }
            }
        })
    }

    /// What rounding of the weights costs. Without rounding, all normalisers of the weights are 1.
    fn price(&self) -> Amount {
        match self {
            Self::Tight { weights, .. } => Amount::round_up(weights.shift()),
            Self::Independent { .. } | Self::Lattice { .. } => Amount::ZERO,
        }
    }
}

fn not_exact(variant: &Variant) -> Refusal {
    Refusal::new(
        format!("`{}` cannot be drawn exactly with this ε", variant.label),
        "use an ε that is not so small, or has fewer digits",
    )
}

fn draw_independent(
    rate: Ratio,
    restored: bool,
    counts: &[u64],
    rng: &mut impl Source,
) -> Vec<u64> {
    let n: u64 = counts.iter().sum();
    let mut released = counts.to_vec();
    let free = counts.len() - usize::from(restored);
    released[..free].iter_mut().for_each(|v| *v = noisy(rate, *v, n, rng));
    if restored && let Some((last, others)) = released.split_last_mut() {
        *last = others.iter().fold(n, |left, &v| left.saturating_sub(v));
    }
    released
}

/// x plus noise that sums to 0, clamped to [0, n].
fn draw_lattice(rate: Ratio, counts: &[u64], rng: &mut impl Source) -> Vec<u64> {
    let n: u64 = counts.iter().sum();
    let noise = sum_zero(rate, counts.len(), rng);
    let clamped = |(&x, z): (&u64, i128)| i128::from(x).saturating_add(z).clamp(0, i128::from(n));
    counts.iter().zip(noise).map(clamped).map(|v| v as u64).collect()
}

/// If e to minus this is the least that noise contributes to a weight, candidates are proposed uniformly.
const WIDE: u64 = 3;

/// A candidate with P = w(r) e^(−2 rate · d): x plus noise that sums to 0, until it is a candidate, and is
/// accepted with probability w / max w. A trial succeeds with a chance that is the same for all data: the
/// number of trials tells nothing about them.
fn draw_tight(rate: Ratio, weights: &Tight, counts: &[u64], rng: &mut impl Source) -> Vec<u64> {
    let n: u64 = counts.iter().sum();
    let wide = rate.times_is_at_most(2 * n, WIDE);
    loop {
        let drawn = match wide {
            true => try_tight_uniformly(rate, weights, counts, rng),
            false => try_tight(rate, weights, counts, rng),
        };
        if let Some(drawn) = drawn {
            return drawn;
        }
    }
}

/// One trial for noise so wide that it would rarely be a candidate: all candidates are proposed alike.
fn try_tight_uniformly(
    rate: Ratio,
    weights: &Tight,
    counts: &[u64],
    rng: &mut impl Source,
) -> Option<Vec<u64>> {
    let mut drawn = counts.to_vec();
    uniform_composition(counts.iter().sum(), &mut drawn, rng);
    let steps: u64 = drawn.iter().zip(counts).map(|(v, x)| v.abs_diff(*x)).sum();
    let accepted =
        falls(rate, steps, rng) && is_accepted(weights.weight(&drawn), weights.largest(), rng);
    accepted.then_some(drawn)
}

/// One trial.
fn try_tight(
    rate: Ratio,
    weights: &Tight,
    counts: &[u64],
    rng: &mut impl Source,
) -> Option<Vec<u64>> {
    let noise = sum_zero(rate, counts.len(), rng);
    let moved = |(&x, z): (&u64, i128)| u64::try_from(i128::from(x).saturating_add(z)).ok();
    let drawn: Vec<u64> = counts.iter().zip(noise).map(moved).collect::<Option<_>>()?;
    is_accepted(weights.weight(&drawn), weights.largest(), rng).then_some(drawn)
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use engine::posterior::model::Prior;
    use engine::rng::stream;

    pub fn template(k: usize, n: u64, epsilon: f64) -> Setting {
        let counts = [vec![n], vec![0; k - 1]].concat();
        let prior = Prior::new(vec![1.0; k]).unwrap();
        Setting::new(prior, counts, Epsilon::new(epsilon).unwrap())
    }

    #[test]
    fn the_usual_mechanism_follows_a_rule() {
        for (k, n, epsilon, expected) in [
            (2, 50, 1.0, GEOMETRIC),
            (2, 10_000_000, 0.001, GEOMETRIC),
            (3, 50, 1.0, TIGHT),
            // C(141, 2) = 9870 candidates and C(142, 2) = 10,011.
            (3, 139, 1.0, TIGHT),
            (3, 140, 1.0, LATTICE),
            (3, 50, 0.01, LATTICE),
            (30, 1_000_000, 1.0, LATTICE),
            (10_000, 20_000, 1.0, LATTICE),
        ] {
            let found = usual(&[template(k, n, epsilon)]).label;
            assert_eq!(found, expected, "{k} {n} {epsilon}");
        }
        let groups = [template(3, 50, 1.0), template(3, 5000, 1.0)];
        assert_eq!(usual(&groups).label, LATTICE);
    }

    #[test]
    fn weights_that_are_negative_are_refused() {
        let tight = Variant::plain(mechanism::find(TIGHT).unwrap());
        let method =
            |epsilon: &str| Method::new(&tight, &template(3, 30, 1.0), epsilon.parse().unwrap());
        assert!(method("1").is_ok());
        let refusal = method("0.01").map(|_| ()).unwrap_err();
        assert!(refusal.cause.contains("are negative at this ε"), "{}", refusal.cause);
    }

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
