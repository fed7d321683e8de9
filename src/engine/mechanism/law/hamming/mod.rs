//! Candidates weighed by the number of records that are moved: P(r|x) ∝ w(r) e^(−rate · d(x, r)).
//!
//! d(x, r) = ½ Σ |r_i − x_i| splits over the coordinates, so e^(−rate·d) is a product of two-sided
//! geometric weights. If w is 1, then the sum over all compositions is a k-fold convolution, and so are
//! draws.

pub mod pair;

use std::sync::{Arc, OnceLock};

use rand::Rng;

use super::lattice::{LatticeNoise, LatticeSampler};
use super::noise::{steps_within, window};
use super::pair::Comparisons;
use super::size::total_length;
use super::tight::{Tight, TightLaw};
use super::{Factors, Law, LawAt, OutputLaw, Outputs, PairSize, Product};
use crate::numeric::{Table, exp_accurate, expm1, ln};
use crate::posterior::distance::Distance;
use crate::posterior::error_field::Field;
use crate::posterior::model::{Counts, Posterior, Prior, hamming_distance};
use crate::posterior::setting::Setting;
use crate::posterior::simplex::{Region, Shape, Window};
use crate::refusal::Refusal;
use crate::rng::{Stream, uniform};
use pair::{HammingAt as Compared, HammingData};

/// The law with the weights w = 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hamming {
    /// The number before the distance.
    pub rate: f64,
}

/// The relative error of a convolution is at most this.
const CONVOLVED: f64 = 1e-13;

impl Law for Hamming {
    fn at(&self, posterior: &Posterior) -> Result<Box<dyn LawAt + '_>, Refusal> {
        Ok(Box::new(HammingAt::new(self.rate, posterior)))
    }

    fn widened(&self, factor: f64) -> Result<Arc<dyn Law>, Refusal> {
        Ok(Arc::new(Self { rate: self.rate / factor }))
    }

    fn exchangeable(&self, prior: &Prior) -> Vec<Vec<usize>> {
        vec![(0..prior.k()).collect()]
    }

    /// One convolution for every category but two.
    fn table_entries(&self, posterior: &Posterior) -> f64 {
        posterior.k() as f64 * total_length(region(posterior, self.rate, None).windows())
    }

    /// Two categories have a formula.
    fn pair_size(&self, posterior: &Posterior, _: &dyn Distance) -> Option<PairSize> {
        let sums = if posterior.k() > 2 { self.table_entries(posterior) } else { 0.0 };
        let compared = PairSize::CLOSED.compared + 2.0 * sums;
        Some(PairSize { compared, classes: sums, ..PairSize::CLOSED })
    }

    fn comparisons<'a>(
        &'a self,
        setting: &'a Setting,
        data_sets: &[&Counts],
    ) -> Result<Box<dyn Comparisons + 'a>, Refusal> {
        Ok(Box::new(data(self.rate, setting, data_sets)))
    }
}

/// The law with this rate at several data sets.
pub fn data<'a>(rate: f64, setting: &Setting, data: &[&Counts]) -> HammingData<'a> {
    let nearer = move |x: &Posterior, gain| normaliser(x, rate, Some(gain));
    let at = |posterior: Posterior| {
        let normaliser = normaliser(&posterior, rate, None);
        Compared { posterior, normaliser, error: CONVOLVED }
    };
    HammingData::new(rate, nearer, setting, data, at)
}

/// The law at one data set, with any weights.
pub struct HammingAt {
    /// The number before the distance.
    rate: f64,
    posterior: Posterior,
    /// `None` if all are 1.
    weights: Option<Arc<Tight>>,
}

impl HammingAt {
    /// With the weights w = 1.
    pub fn new(rate: f64, posterior: &Posterior) -> Self {
        Self { rate, posterior: posterior.clone(), weights: None }
    }

    pub fn weighed(law: &TightLaw, posterior: &Posterior) -> Self {
        Self { weights: Some(Arc::clone(&law.weights)), ..Self::new(law.rate, posterior) }
    }

    /// The law whose outputs in `region` are walked.
    pub fn product(&self, region: Region) -> Product<'_> {
        let (posterior, rate, x) = (&self.posterior, self.rate, self.posterior.counts());
        let table = move |(&x, &window): (&u64, &Window)| factor(x, rate, window);
        let tables = Box::new(move |windows: &[Window]| x.iter().zip(windows).map(table).collect());
        let of = |region, normaliser, p_exact, draw| {
            Product::new(
                posterior,
                Factors { region, alike: x.len(), tables, normaliser, p_exact, draw },
            )
        };
        let Some(weights) = &self.weights else {
            let convolutions = Convolutions::new(posterior, rate, region.windows());
            let normaliser = convolutions.normaliser();
            let draw =
                Box::new(move |rng: &mut Stream, out: &mut [u64]| convolutions.draw(rng, out));
            return of(region, normaliser, 1.0 / normaliser, draw);
        };
        let (normaliser, sampler) = (weights.normaliser(x), OnceLock::new());
        let draw = move |rng: &mut Stream, out: &mut [u64]| {
            let noise = LatticeNoise::geometric(rate);
            weights.draw(sampler.get_or_init(|| LatticeSampler::new(noise, x.len())), x, rng, out);
        };
        of(region, normaliser, weights.weight(x) / normaliser, Box::new(draw))
            .times(|row, masses| weights.weigh(row, masses))
    }
}

impl LawAt for HammingAt {
    fn region(&self) -> Option<Region> {
        Some(region(&self.posterior, self.rate, None))
    }

    fn ln_probabilities(&self, outputs: Outputs, _: &dyn Field) -> Vec<f64> {
        let x = self.posterior.counts();
        let normaliser = match &self.weights {
            Some(weights) => weights.normaliser(x),
            None => normaliser(&self.posterior, self.rate, None),
        };
        let ln_normaliser = ln(normaliser);
        let ln_p = |r: &Counts| {
            let ln_weight = self.weights.as_ref().map_or(0.0, |weights| ln(weights.weight(r)));
            -self.rate * hamming_distance(x, r) + ln_weight - ln_normaliser
        };
        outputs.list().iter().map(ln_p).collect()
    }

    fn output_law(&self) -> Box<dyn OutputLaw + '_> {
        Box::new(self.product(region(&self.posterior, self.rate, None)))
    }
}

/// The candidates that carry all but a negligible part of the probability; or, if `gain` names categories (i, j),
/// those of them with r_i >= x_i and r_j <= x_j.
pub fn region(posterior: &Posterior, rate: f64, gain: Option<(usize, usize)>) -> Region {
    let (x, n) = (posterior.counts(), posterior.n());
    // The weight falls by e in 2/rate steps of Σ |r_i − x_i|, as noise of that scale would.
    let steps = steps_within(2.0 / rate, posterior.k());
    let mut windows: Vec<Window> = x.iter().map(|&x| window(x, n, steps)).collect();
    if let Some((i, j)) = gain {
        windows[i].0 = x[i];
        windows[j].1 = x[j];
    }
    Region::diamond(Shape::Simplex, x.to_vec(), windows, steps)
}

/// Σ e^(−rate · d(x, r)) over all candidates r; or, if `gain` names categories (i, j), over those with
/// r_i >= x_i and r_j <= x_j.
pub fn normaliser(posterior: &Posterior, rate: f64, gain: Option<(usize, usize)>) -> f64 {
    if let &[first, second] = posterior.counts() {
        // On a line the sum is two geometric series, one for each side of x.
        let series = |steps: u64| -> f64 {
            exp_accurate(-rate) * (expm1(-rate * steps as f64) / expm1(-rate))
        };
        return match gain {
            Some((_, j)) => 1.0 + series(posterior.counts()[j]),
            None => 1.0 + series(first) + series(second),
        };
    }
    let region = region(posterior, rate, gain);
    Convolutions::new(posterior, rate, region.windows()).normaliser()
}

/// The weights e^(−rate |v − x| / 2) of one coordinate over its window.
fn factor(x: u64, rate: f64, (low, high): Window) -> Table {
    let weight = |v: u64| exp_accurate(-0.5 * rate * v.abs_diff(x) as f64);
    Table::new(low, (low..=high).map(weight).collect())
}

/// Sums of the weights of all ways to fill the coordinates i, …, k with m records.
struct Convolutions {
    counts: Vec<u64>,
    rate: f64,
    windows: Vec<Window>,
    suffixes: Vec<Table>,
}

impl Convolutions {
    /// For candidates in these windows, all with w = 1.
    fn new(posterior: &Posterior, rate: f64, windows: &[Window]) -> Self {
        let counts = posterior.counts().to_vec();
        let last = counts.len() - 1;
        let mut suffixes = vec![factor(counts[last], rate, windows[last])];
        for i in (0..last).rev() {
            suffixes.push(convolve(&suffixes[last - 1 - i], counts[i], windows[i], 0.5 * rate));
        }
        suffixes.reverse();
        Self { counts, rate, windows: windows.to_vec(), suffixes }
    }

    fn normaliser(&self) -> f64 {
        let n = self.counts.iter().sum();
        self.suffixes[0].get(n).expect("every window holds its count, and the counts sum to n")
    }

    /// Draws coordinate by coordinate.
    fn draw(&self, rng: &mut dyn Rng, out: &mut [u64]) {
        let mut left: u64 = self.counts.iter().sum();
        if let Some((last, others)) = out.split_last_mut() {
            for (i, v) in others.iter_mut().enumerate() {
                *v = self.draw_coordinate(i, left, rng);
                left -= *v;
            }
            *last = left;
        }
    }

    /// Coordinate i takes v of the `left` records with weight w_i(v) · (ways to fill the rest). The
    /// search goes outwards from x_i, where the mass is.
    fn draw_coordinate(&self, i: usize, left: u64, rng: &mut dyn Rng) -> u64 {
        let mass = |v: u64| {
            let ways = self.suffixes[i + 1].get(left.checked_sub(v)?)?;
            let decayed = exp_accurate(-0.5 * self.rate * v.abs_diff(self.counts[i]) as f64);
            Some(decayed * ways)
        };
        let mut target = uniform(rng) * self.suffixes[i].get(left).unwrap_or(0.0);
        // If rounding leaves a remainder, the last possible value is taken.
        let mut drawn = 0;
        for v in outwards(self.counts[i], self.windows[i]) {
            if let Some(mass) = mass(v) {
                drawn = v;
                target -= mass;
                if target < 0.0 {
                    break;
                }
            }
        }
        drawn
    }
}

/// x, x+1, x−1, x+2, … within a window.
fn outwards(x: u64, (low, high): Window) -> impl Iterator<Item = u64> {
    let furthest = (x - low).max(high - x);
    (0..=furthest).flat_map(move |d| {
        let up = (d <= high - x).then_some(x + d.min(high - x));
        let down = (d > 0 && d <= x - low).then_some(x - d.min(x - low));
        up.into_iter().chain(down)
    })
}

/// g(m) = Σ_v e^(−rate |v − x|) f(m − v) over v in the window, in linear time.
pub(super) fn convolve(f: &Table, x: u64, (low, high): Window, rate: f64) -> Table {
    let ratio = exp_accurate(-rate);
    let values = f.slice(f.first(), (f.end() - f.first()) as usize).unwrap_or(&[]);
    let (down, up) = ((x - low) as usize, (high - x) as usize);
    // v = x − u, u = 0..=down looks ahead in f; v = x + u, u = 1..=up looks back.
    let ahead = decayed_windows(values, down + 1, ratio);
    let mut backward: Vec<f64> = values.to_vec();
    backward.reverse();
    let mut behind = decayed_windows(&backward, up.max(1), ratio);
    behind.reverse();
    let mut g = vec![0.0; values.len() + down + up];
    // ahead[i] belongs to m − x = first(f) − down + i, that is g[i]; behind[i] to g[down + 1 + i].
    g[..ahead.len()].copy_from_slice(&ahead);
    if up > 0 {
        for (sum, term) in g[down + 1..].iter_mut().zip(&behind) {
            *sum += ratio * term;
        }
    }
    Table::new(f.first() + low, g)
}

/// A[p] = Σ_{u=0}^{length−1} ratio^u f[p + u] for p = −(length−1), …, len−1, f being 0 outside.
///
/// Blocks of `length`: a window is the end of one block and the beginning of the next, and both
/// are running sums. Only additions of positive terms, so nothing cancels (a sliding window that
/// subtracts what leaves it would).
fn decayed_windows(f: &[f64], length: usize, ratio: f64) -> Vec<f64> {
    let pad = length - 1;
    let at = |i: usize| i.checked_sub(pad).and_then(|i| f.get(i)).copied().unwrap_or(0.0);
    let padded = (f.len() + 2 * pad).next_multiple_of(length);
    let mut power = vec![1.0; length + 1];
    for u in 1..=length {
        power[u] = power[u - 1] * ratio;
    }
    let (mut to_end, mut from_start) = (vec![0.0; padded + 1], vec![0.0; padded]);
    for i in (0..padded).rev() {
        let beyond = if (i + 1) % length == 0 { 0.0 } else { to_end[i + 1] };
        to_end[i] = at(i) + ratio * beyond;
    }
    for i in 0..padded {
        let before = if i % length == 0 { 0.0 } else { from_start[i - 1] };
        from_start[i] = before + power[i % length] * at(i);
    }
    (0..f.len() + pad)
        .map(|p| match p % length {
            0 => to_end[p],
            inside => to_end[p] + power[length - inside] * from_start[p + length - 1],
        })
        .collect()
}
