//! Candidates weighed by the number of records that are moved: P(r|x) ∝ w(r) e^(−rate · d(x, r)).
//!
//! d(x, r) = ½ Σ |r_i − x_i| splits over the coordinates, so e^(−rate·d) is a product of two-sided
//! geometric weights. If w is 1, then the sum over all compositions is a k-fold convolution, and so are
//! draws.

use rand::Rng;

use super::effort::{Effort, total_length};
use super::noise::{steps_within, window};
use super::tight::Tight;
use super::{Law, Product};
use crate::numeric::{Sum, Table, exp_accurate, expm1};
use crate::operations::{Operation, count};
use crate::posterior::model::Posterior;
use crate::posterior::simplex::{BLOCK, Region, Shape, Window};
use crate::rng::uniform;

/// The weights w(r) of the candidates, which do not depend on the data.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum CandidateWeights {
    /// 1.
    Flat,
    /// Those with which every normaliser is 1: see [`super::tight`].
    Tight,
}

impl CandidateWeights {
    /// The tight weights, if these are they.
    ///
    /// # Panics
    /// If there are none for as many records, in which case no recipe asks for them.
    pub fn tight(self, posterior: &Posterior, rate: f64) -> Option<std::sync::Arc<Tight>> {
        let find = || Tight::find(posterior.k(), posterior.n(), rate);
        (self == Self::Tight).then(|| find().expect("a recipe has been made with these weights"))
    }
}

/// The candidates that carry all but a negligible part of the probability.
pub fn region(posterior: &Posterior, rate: f64) -> Region {
    region_where(posterior, rate, None)
}

/// What the law takes: one convolution for each category but the first two, unless the weights are tight.
pub fn effort(posterior: &Posterior, rate: f64, weights: CandidateWeights) -> Effort {
    let region = region(posterior, rate);
    let length = total_length(region.windows());
    let mut effort = Effort::walk(region, &posterior.categories());
    if weights != CandidateWeights::Tight {
        let convolved = posterior.k() as f64 * length;
        effort.add(Effort { convolved, kept: convolved, ..Effort::default() });
    }
    effort
}

/// The same candidates; or, if `gain` names categories (i, j), those with r_i >= x_i and r_j <= x_j.
fn region_where(posterior: &Posterior, rate: f64, gain: Option<(usize, usize)>) -> Region {
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

/// Σ w(r) e^(−rate · d(x, r)) over all candidates r; or, if `gain` names categories (i, j), over those with
/// r_i >= x_i and r_j <= x_j.
pub fn normaliser(
    posterior: &Posterior,
    rate: f64,
    weights: CandidateWeights,
    gain: Option<(usize, usize)>,
) -> f64 {
    let x = posterior.counts();
    match (weights, x, gain) {
        (CandidateWeights::Flat, &[first, second], _) => {
            // On a line the sum is two geometric series, one for each side of x.
            let series = |steps: u64| -> f64 {
                exp_accurate(-rate) * (expm1(-rate * steps as f64) / expm1(-rate))
            };
            match gain {
                Some((_, j)) => 1.0 + series(x[j]),
                None => 1.0 + series(first) + series(second),
            }
        }
        (CandidateWeights::Tight, _, None) => {
            weights.tight(posterior, rate).expect("these weights are tight").normaliser(x)
        }
        (CandidateWeights::Tight, _, Some(_)) => {
            let region = region_where(posterior, rate, gain);
            total_mass(&Product::hamming_within(posterior, rate, weights, region))
        }
        (CandidateWeights::Flat, ..) => {
            let region = region_where(posterior, rate, gain);
            Convolutions::new(posterior, rate, region.windows()).normaliser()
        }
    }
}

/// The sum of the masses of all outputs, for tight weights.
///
/// # Panics
/// If there are too many outputs to be walked: no recipe has tight weights for as many.
pub fn total_mass(law: &dyn Law) -> f64 {
    let (mut sum, mut masses) = (Sum::default(), [0.0; BLOCK]);
    let blocks = law.blocks().expect("tight weights are refused long before 10^10 outputs");
    for block in 0..blocks.len() {
        law.region().walk(blocks, block, |row| {
            let masses = &mut masses[..row.len];
            law.masses(row, masses);
            masses.iter().for_each(|&mass| sum.add(mass));
        });
    }
    sum.value()
}

/// The weights e^(−rate |v − x_i| / 2) of every coordinate over its window.
pub fn factors(posterior: &Posterior, rate: f64, windows: &[Window]) -> Vec<Table> {
    let factor = |(&x, &window): (&u64, &Window)| factor(x, rate, window);
    posterior.counts().iter().zip(windows).map(factor).collect()
}

fn factor(x: u64, rate: f64, (low, high): Window) -> Table {
    let weight = |v: u64| exp_accurate(-0.5 * rate * v.abs_diff(x) as f64);
    Table::new(low, (low..=high).map(weight).collect())
}

/// Sums of the weights of all ways to fill the coordinates i, …, k with m records.
pub struct Convolutions {
    counts: Vec<u64>,
    rate: f64,
    windows: Vec<Window>,
    suffixes: Vec<Table>,
}

impl Convolutions {
    /// For candidates in these windows, all with w = 1.
    pub fn new(posterior: &Posterior, rate: f64, windows: &[Window]) -> Self {
        let counts = posterior.counts().to_vec();
        let last = counts.len() - 1;
        let mut suffixes = vec![factor(counts[last], rate, windows[last])];
        for i in (0..last).rev() {
            suffixes.push(convolve(&suffixes[last - 1 - i], counts[i], windows[i], 0.5 * rate));
        }
        suffixes.reverse();
        Self { counts, rate, windows: windows.to_vec(), suffixes }
    }

    pub fn normaliser(&self) -> f64 {
        let n = self.counts.iter().sum();
        self.suffixes[0].get(n).expect("every window holds its count, and the counts sum to n")
    }

    /// Draws coordinate by coordinate.
    pub fn draw(&self, rng: &mut dyn Rng, out: &mut [u64]) {
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
    count(Operation::Convolved, g.len());
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::posterior::model::{Prior, hamming_distance};
    use crate::posterior::simplex::list_compositions;

    #[test]
    fn windows_in_linear_time_equal_direct_sums() {
        let f = [0.3, 2.0, 0.0, 1.0, 5.0, 0.25, 4.0];
        for length in 1..10 {
            let fast = decayed_windows(&f, length, 0.7);
            for (p, sum) in (1 - length as i64..).zip(fast) {
                let direct: f64 = (0..length as i64)
                    .filter_map(|u| {
                        Some(0.7_f64.powi(u as i32) * f.get(usize::try_from(p + u).ok()?)?)
                    })
                    .sum();
                assert!((sum - direct).abs() < 1e-13, "{length} {p}: {sum} {direct}");
            }
        }
    }

    #[test]
    fn the_normaliser_is_the_sum_over_all_candidates() {
        for counts in
            [vec![5, 0], vec![3, 0, 9], vec![0, 0, 12], vec![4, 1, 0, 6], vec![2, 2, 2, 2, 2]]
        {
            for rate in [0.05, 0.7, 4.0] {
                let k = counts.len();
                let prior = Prior::new(vec![1.0; k]).unwrap();
                let posterior = Posterior::new(prior, counts.clone());
                check_normaliser(&posterior, rate);
            }
        }
    }

    fn check_normaliser(posterior: &Posterior, rate: f64) {
        let (k, counts) = (posterior.k(), posterior.counts());
        let near = region(posterior, rate);
        let fast = Convolutions::new(posterior, rate, near.windows()).normaliser();
        let gain = |gain| normaliser(posterior, rate, CandidateWeights::Flat, gain);
        let (mut direct, mut gained) = (0.0, 0.0);
        for r in list_compositions(posterior.n(), k) {
            let weight = exp_accurate(-rate * hamming_distance(counts, &r));
            direct += weight;
            if r[1] >= counts[1] && r[0] <= counts[0] {
                gained += weight;
            }
        }
        for (fast, direct) in [(fast, direct), (gain(None), direct), (gain(Some((1, 0))), gained)] {
            let what = format!("{counts:?} {rate}: {fast} {direct}");
            assert!((fast / direct - 1.0).abs() < 1e-13, "{what}");
        }
    }

    #[test]
    fn tight_weights_over_a_part_of_the_candidates() {
        for (counts, rate) in [(vec![3, 0, 9], 1.0), (vec![2, 2, 1, 0], 0.2), (vec![4, 7], 0.6)] {
            let prior = Prior::new(vec![1.0; counts.len()]).unwrap();
            let posterior = Posterior::new(prior, counts.clone());
            let tight = CandidateWeights::Tight.tight(&posterior, rate).unwrap();
            let all = list_compositions(posterior.n(), posterior.k());
            let gained = all.iter().filter(|r| r[1] >= counts[1] && r[0] <= counts[0]);
            let mass =
                |r: &Vec<u64>| tight.weight(r) * exp_accurate(-rate * hamming_distance(&counts, r));
            let (direct, whole): (f64, f64) = (gained.map(mass).sum(), all.iter().map(mass).sum());
            let sum = |gain| normaliser(&posterior, rate, CandidateWeights::Tight, gain);
            assert!((sum(Some((1, 0))) - direct).abs() < 1e-14);
            assert!((sum(None) - whole).abs() < 1e-13);
        }
    }
}
