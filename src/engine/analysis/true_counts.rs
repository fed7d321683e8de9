//! The true counts behind an output, if the output has independent noise on every count.
//!
//! Before the release the counts x have the prior predictive probability P\[x\]; given the output they have
//! one proportional to P\[x\] · P\[output | x\]. Both are products over the categories, times the condition
//! that the counts sum to n. Candidates that are weighed by the number of moved records, and noise that
//! sums to 0, have such a form too: what does not depend on x cancels.

use crate::mechanism::law::noise::Noise;
use crate::numeric::{lgamma, ln, log1p, stirling};
use crate::posterior::model::Prior;
use crate::posterior::simplex::Window;

/// The law of independent noise on the counts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CountNoise {
    /// The law of one count.
    pub noise: Noise,
    pub scale: f64,
    /// How many counts, the first ones, have noise of their own.
    pub noisy: usize,
}

/// An output with independent noise on its counts.
#[derive(Clone, Copy, Debug)]
pub struct NoisyOutput<'a> {
    /// The law of the noise.
    pub noise: CountNoise,
    pub output: &'a [u64],
}

impl NoisyOutput<'_> {
    /// The output of category `i`, if it has noise of its own.
    fn seen(&self, i: usize) -> Option<u64> {
        self.output[..self.noise.noisy].get(i).copied()
    }

    fn rate(&self) -> f64 {
        1.0 / self.noise.scale
    }
}

/// The counts of every category that are likely enough to matter, given outputs for the same data:
/// every other data set is less likely than the likeliest one by a factor of e^`negligible`.
///
/// Three facts bound them. Between two data sets the logarithm of the predictive weight changes by at
/// most the sum of the ranges below. Noise of d steps has a probability smaller by e^(−d/scale). And
/// some data set is as likely as the likeliest counts of all categories, up to as many steps as these
/// are apart from n.
pub fn windows(outputs: &[NoisyOutput], prior: &Prior, n: u64, negligible: f64) -> Vec<Window> {
    let ranges: f64 = prior.alpha().iter().map(|&alpha| predictive_range(alpha, n)).sum();
    // The likeliest count of a category, and the exponent of its noise.
    let likeliest = |i: usize| {
        let seen = || outputs.iter().filter_map(|one| Some((one.seen(i)?, one.rate())));
        let exponent =
            |x: u64| -> f64 { seen().map(|(v, rate)| x.abs_diff(v) as f64 * rate).sum() };
        let all = seen().map(|(v, _)| (v, exponent(v)));
        all.min_by(|a, b| a.1.total_cmp(&b.1))
    };
    let best: Vec<Option<(u64, f64)>> = (0..prior.k()).map(likeliest).collect();
    let sum = best.iter().flatten().fold(0_u64, |sum, (v, _)| sum.saturating_add(*v));
    let apart = match best.iter().all(Option::is_some) {
        true => sum.abs_diff(n),
        false => sum.saturating_sub(n),
    };
    let others = |one: &NoisyOutput| -> f64 {
        let rates: f64 = outputs.iter().map(NoisyOutput::rate).sum();
        rates / one.rate() * apart as f64
    };
    let window = |i: usize| -> Option<Window> {
        let (_, exponent) = best[i]?;
        let around = |one: &NoisyOutput| {
            let v = one.seen(i)?;
            // A double too large for a u64 becomes the largest u64.
            let steps = (one.noise.scale * (negligible + ranges + exponent) + 2.0).ceil() as u64;
            let steps = steps.saturating_add(others(one).ceil() as u64);
            Some((v.saturating_sub(steps), v.saturating_add(steps).min(n)))
        };
        outputs.iter().filter_map(around).reduce(|a, b| (a.0.max(b.0), a.1.min(b.1)))
    };
    let mut windows: Vec<Window> = (0..prior.k()).map_while(window).collect();
    // The last count has no noise of its own if the output restores it.
    if windows.len() < prior.k() {
        let (low, high) = windows
            .iter()
            .fold((0_u64, 0_u64), |(l, h), w| (l.saturating_add(w.0), h.saturating_add(w.1)));
        windows.push((n.saturating_sub(high), n.saturating_sub(low)));
    }
    windows
}

/// The logarithm of the predictive weight of x records of category `i`, times the probability of its outputs, up to
/// the same factor for every x.
pub fn ln_weight(outputs: &[NoisyOutput], prior: &Prior, n: u64, i: usize, x: u64) -> f64 {
    ln_predictive(prior.alpha()[i], x) + ln_noise(outputs, n, i, x)
}

/// The logarithm of the probability of the outputs of category `i`, if it has x records.
fn ln_noise(outputs: &[NoisyOutput], n: u64, i: usize, x: u64) -> f64 {
    let seen = outputs.iter().filter_map(|one| Some((one.noise, one.seen(i)?)));
    seen.map(|(noise, v)| noise.noise.ln_probability(noise.scale, x, n, v)).sum()
}

/// ln Γ(α + x) − ln x!, without the digits that both have in common.
pub fn ln_predictive(alpha: f64, x: u64) -> f64 {
    let x = x as f64;
    if x.min(x + alpha) < stirling::FROM {
        return lgamma(alpha + x) - lgamma(x + 1.0);
    }
    let tails = stirling::tail(x + alpha) - stirling::tail(x + 1.0);
    (x + 0.5) * log1p((alpha - 1.0) / (x + 1.0)) + (alpha - 1.0) * (ln(x + alpha) - 1.0) + tails
}

/// The largest change of ln C(α + x − 1, x) over 0 <= x <= n: it is 0 at x = 0 and ln α at x = 1, and
/// from there on it grows (α > 1) or falls.
fn predictive_range(alpha: f64, n: u64) -> f64 {
    let last = lgamma(alpha + n as f64) - lgamma(alpha) - lgamma(n as f64 + 1.0);
    let ends = [0.0, ln(alpha), last];
    let fold = |pick: fn(f64, f64) -> f64| ends.into_iter().fold(0.0, pick);
    fold(f64::max) - fold(f64::min)
}
