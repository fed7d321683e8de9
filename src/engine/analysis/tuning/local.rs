//! A good candidate in place of one output, found near it.
//!
//! Let E(r) be the expected distance of candidate r from the true posterior, given the output. A descent over
//! candidates near each other ends where none of these is better. That the candidate is the best of all is not
//! proved; whatever it is, the map depends on the output only, and its error is exact.

use std::sync::Arc;

use super::remapping::SAME;
use crate::analysis::true_counts::{CountNoise, NoisyOutput, ln_weight, windows};
use crate::memo::Memo;
use crate::numeric::{exp_accurate, kernel};
use crate::posterior::error_field::{Field, Reach};
use crate::posterior::model::{Counts, approximate_compositions};
use crate::posterior::setting::Setting;
use crate::posterior::simplex::{BLOCK, Row, Tail, Window};

/// Data sets less likely than the likeliest one by a factor of e to this do not change which candidate is
/// best.
const NEGLIGIBLE: f64 = 42.0;

/// The most records that the noise may have brought to an empty category, in units of its scale.
const EMPTIED: f64 = 10.0;

/// A descent takes so many single steps before it takes longer ones.
const SHORT: u32 = 3;

/// The most numbers in the tables of candidates that are kept: some 800 MB.
const MOST_NUMBERS: f64 = 1e8;

/// The most outputs whose candidates are kept: some 100 MB.
const MOST_KNOWN: usize = 1_000_000;

/// The search for candidates, for data of one size under independent noise.
pub struct LocalSearch {
    setting: Setting,
    noise: CountNoise,
    fields: Memo<Counts, Arc<dyn Field>>,
    known: Memo<Counts, Counts>,
}

/// Data sets that differ in one running count, and in the last, with their probabilities given an output.
struct Line {
    head: Counts,
    start: u64,
    rest: u64,
    weights: Vec<f64>,
    /// The sum of the weights.
    mass: f64,
}

impl LocalSearch {
    /// For the outputs of a mechanism with this noise on the counts, at data of as many records as
    /// `setting` has. The distance must be the Hellinger distance.
    pub fn new(setting: &Setting, noise: CountNoise) -> Self {
        let most_fields = (MOST_NUMBERS / field_size(setting, &noise)) as usize;
        let (fields, known) = (Memo::new(most_fields), Memo::new(MOST_KNOWN));
        Self { setting: setting.clone(), noise, fields, known }
    }

    /// The data sets behind an output and their probabilities, the likeliest lines first.
    fn behind(&self, output: &[u64]) -> Vec<Line> {
        let (prior, n) = (&self.setting.prior, self.setting.n);
        let noisy = [NoisyOutput { noise: self.noise, output }];
        let windows = windows(&noisy, prior, n, NEGLIGIBLE);
        let logs = |(i, &(low, high)): (usize, &Window)| {
            (low..=high).map(|x| ln_weight(&noisy, prior, n, i, x)).collect()
        };
        let logs: Vec<Vec<f64>> = windows.iter().enumerate().map(logs).collect();
        let log = |x: &[u64]| -> f64 {
            let logs = x.iter().zip(&logs).zip(&windows);
            logs.map(|((x, logs), w)| x.checked_sub(w.0).and_then(|x| logs.get(x as usize)))
                .map(|log| log.copied().unwrap_or(f64::NEG_INFINITY))
                .sum()
        };
        // Some data set with the right total: what is more likely by less than it matters is kept.
        let likely = log(&self.nearest(output));
        let mut tops: Vec<f64> = logs
            .iter()
            .map(|logs| logs.iter().copied().fold(f64::NEG_INFINITY, f64::max))
            .collect();
        for i in (0..tops.len() - 1).rev() {
            tops[i] += tops[i + 1];
        }
        let mut found =
            Enumeration { windows: &windows, logs: &logs, tops: &tops, likely, lines: Vec::new() };
        found.descend(&mut Vec::new(), n, 0.0);
        let Enumeration { mut lines, likely: highest, .. } = found;
        normalise(&mut lines, highest);
        lines
    }

    /// The candidate nearest to the mean of the data sets behind an output.
    fn mean(&self, behind: &[Line]) -> Counts {
        let mut sums = vec![0.0; self.setting.k()];
        for Line { head, start, rest, weights, mass } in behind {
            let running: f64 = (*start..).zip(weights).map(|(x, weight)| x as f64 * weight).sum();
            let counts = head.iter().map(|&x| x as f64 * mass);
            let all = counts.chain([running, *rest as f64 * mass - running]);
            sums.iter_mut().zip(all).for_each(|(sum, part)| *sum += part);
        }
        self.nearest(&sums.into_iter().map(|sum| libm::round(sum) as u64).collect::<Vec<_>>())
    }

    /// The candidate nearest to an output: the output itself, if it has the total n.
    fn nearest(&self, output: &[u64]) -> Counts {
        let (mut counts, n) = (output.to_vec(), self.setting.n);
        let total: u64 = counts.iter().sum();
        if let Some(largest) = (0..counts.len()).max_by_key(|&i| counts[i]) {
            counts[largest] += n.saturating_sub(total);
        }
        // A surplus is taken evenly, as the noise is the same for all.
        let mut surplus = total.saturating_sub(n);
        while surplus > 0 {
            let positive = counts.iter().filter(|&&v| v > 0).count() as u64;
            let each = (surplus / positive).max(1);
            for v in &mut counts {
                let taken = each.min(*v).min(surplus);
                *v -= taken;
                surplus -= taken;
            }
        }
        counts
    }

    /// The candidate in place of an output.
    pub fn find(&self, output: &[u64]) -> Counts {
        self.known.get(output, || self.search(output))
    }

    /// The end of a descent from the output itself, or from the candidate nearest to it, or from the mean of the
    /// data sets behind it. A candidate that is equally good is no step. On a long way, each step moves twice as
    /// many records as the one before, until that is too many.
    fn search(&self, output: &[u64]) -> Counts {
        let behind = self.behind(output);
        let mut best = self.nearest(output);
        let mut least = self.error(&behind, &best, f64::INFINITY);
        let mean = self.mean(&behind);
        let error = self.error(&behind, &mean, least);
        if error < least * (1.0 - SAME) {
            (best, least) = (mean, error);
        }
        let (mut stride, mut taken) = (1, 0);
        loop {
            let start = best.clone();
            for moved in self.steps(&start, stride) {
                let error = self.error(&behind, &moved, least);
                if error < least * (1.0 - SAME) {
                    (best, least) = (moved, error);
                }
            }
            if best != start {
                taken += 1;
                stride <<= u32::from(taken > SHORT);
            } else if stride == 1 {
                return best;
            } else {
                stride /= 2;
            }
        }
    }

    /// The candidates that differ from r by so many moved records, or by all records of a category, as long as it
    /// may have been empty: if the prior expects that, the candidates on the way to there are worse.
    fn steps(&self, r: &Counts, stride: u64) -> Vec<Counts> {
        let few = EMPTIED * self.noise.scale;
        let pairs = || (0..r.len()).flat_map(|i| (0..r.len()).map(move |j| (i, j)));
        let moved = |i: usize, j: usize, records: u64| {
            let mut moved = r.clone();
            moved[i] -= records;
            moved[j] += records;
            moved
        };
        let some =
            pairs().filter(|&(i, j)| i != j && r[i] >= stride).map(|(i, j)| moved(i, j, stride));
        let may_be_empty = |i: usize| r[i] > stride && r[i] as f64 <= few;
        let all =
            pairs().filter(|&(i, j)| i != j && may_be_empty(i)).map(|(i, j)| moved(i, j, r[i]));
        some.chain(all).collect()
    }

    /// The expected distance of candidate r; or something larger than `enough`, if it is larger.
    fn error(&self, behind: &[Line], r: &Counts, enough: f64) -> f64 {
        let field = self.field(r);
        let mut distances = [0.0; BLOCK];
        let mut sum = 0.0;
        for line in behind {
            for (index, weights) in line.weights.chunks(BLOCK).enumerate() {
                let distances = &mut distances[..weights.len()];
                let row = Row {
                    head: &line.head,
                    start: line.start + (index * BLOCK) as u64,
                    len: weights.len(),
                    tail: Tail::Complement(line.rest),
                    weight: 1.0,
                };
                field.row(&row, distances);
                sum += kernel::moments(distances, weights).1;
            }
            if sum > enough * (1.0 + 2.0 * SAME) {
                break;
            }
        }
        sum
    }

    /// The distances from a candidate; they are symmetric.
    fn field(&self, r: &Counts) -> Arc<dyn Field> {
        self.fields.get(r, || {
            let noisy = [NoisyOutput { noise: self.noise, output: r }];
            let windows = windows(&noisy, &self.setting.prior, self.setting.n, NEGLIGIBLE);
            let reach = Reach { windows, ball: false };
            self.setting.distance.field(&self.setting.at(r.clone()), &reach).into()
        })
    }
}

/// About how many terms are added for one output.
pub fn terms(noise: &CountNoise, setting: &Setting) -> f64 {
    let (n, k) = (setting.n, setting.k());
    let free = k as f64 - 1.0;
    // The vectors that move at most d records are about C(2m, m) (d + 1/2)^m / m!, where m = k − 1.
    let coefficient: f64 = (1..k).map(|i| (free + i as f64) / (i * i) as f64).product();
    let steps = 0.5 * NEGLIGIBLE * noise.scale;
    let behind = coefficient * libm::pow(steps + 0.5, free);
    // A descent compares some neighbours at each of a few steps.
    let compared = 1.0 + 2.0 * k as f64 * free;
    behind.min(approximate_compositions(n, k)) * compared + 2.0 * field_size(setting, noise)
}

/// The numbers in the tables of one candidate: four for every category and count.
fn field_size(setting: &Setting, noise: &CountNoise) -> f64 {
    let window = (2.0 * NEGLIGIBLE * noise.scale).min(setting.n as f64) + 1.0;
    4.0 * window * setting.k() as f64
}

/// Turns logarithms into probabilities, the likeliest lines first.
fn normalise(lines: &mut [Line], highest: f64) {
    for line in lines.iter_mut() {
        line.weights.iter_mut().for_each(|log| *log = exp_accurate(*log - highest));
        line.mass = line.weights.iter().sum();
    }
    lines.sort_by(|a, b| b.mass.total_cmp(&a.mass).then_with(|| a.head.cmp(&b.head)));
    let total: f64 = lines.iter().rev().map(|line| line.mass).sum();
    for line in lines {
        line.weights.iter_mut().for_each(|weight| *weight /= total);
        line.mass /= total;
    }
}

/// The walk over all data sets that are likely enough.
struct Enumeration<'a> {
    windows: &'a [Window],
    logs: &'a [Vec<f64>],
    /// The largest possible sum of the logarithms from each category on.
    tops: &'a [f64],
    /// The largest logarithm found so far.
    likely: f64,
    lines: Vec<Line>,
}

impl Enumeration<'_> {
    fn descend(&mut self, head: &mut Counts, left: u64, log: f64) {
        let i = head.len();
        if log + self.tops[i] < self.likely - NEGLIGIBLE {
            return;
        }
        let (low, high) = self.windows[i];
        if i + 2 == self.windows.len() {
            return self.line(head, left, log);
        }
        for x in low..=high.min(left) {
            head.push(x);
            self.descend(head, left - x, log + self.logs[i][(x - low) as usize]);
            head.pop();
        }
    }

    fn line(&mut self, head: &[u64], left: u64, log: f64) {
        let i = head.len();
        let ((low, high), (last_low, last_high)) = (self.windows[i], self.windows[i + 1]);
        let low_here = low.max(left.saturating_sub(last_high));
        let Some(high_here) = left.checked_sub(last_low).map(|most| most.min(high)) else { return };
        if low_here > high_here {
            return;
        }
        let at = |x: u64| {
            log + self.logs[i][(x - low) as usize]
                + self.logs[i + 1][(left - x - last_low) as usize]
        };
        let logs: Vec<f64> = (low_here..=high_here).map(at).collect();
        self.likely = logs.iter().copied().fold(self.likely, f64::max);
        let matters = |log: &f64| *log >= self.likely - NEGLIGIBLE;
        let (Some(first), Some(last)) =
            (logs.iter().position(matters), logs.iter().rposition(matters))
        else {
            return;
        };
        self.lines.push(Line {
            head: head.to_vec(),
            start: low_here + first as u64,
            rest: left,
            weights: logs[first..=last].to_vec(),
            mass: 0.0,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::predictive_error;
    use crate::analysis::tuning::remapping;
    use crate::mechanism::Mechanism;
    use crate::mechanism::law::mapped::Mapped;
    use crate::mechanism::law::{Law, Outputs, Remap};
    use crate::posterior::model::Prior;
    use crate::posterior::privacy::Epsilon;

    /// The mean error over all data of a mechanism whose outputs are replaced.
    fn mean(law: &Arc<dyn Law>, setting: &Setting, remap: Remap) -> f64 {
        let law = Mapped { inner: Arc::clone(law), remap: remap.into() };
        predictive_error::over_all_data(&law, setting).unwrap().unwrap().mean
    }

    /// No map is better than the one that weighs all candidates, and the descent is nearly as good, also where
    /// the prior expects empty categories.
    #[test]
    fn the_descent_is_nearly_as_good_as_a_comparison_of_all_candidates() {
        let priors: [&[f64]; 5] =
            [&[1.0, 1.0, 1.0], &[0.1, 4.0, 9.0], &[0.5, 0.5], &[2.0, 0.3, 1.0, 1.0], &[0.3; 3]];
        for (prior, n) in priors.into_iter().zip([9, 11, 25, 5, 12]) {
            for (id, epsilon) in
                [("tight", 0.7), ("lattice", 1.5), ("lszhang", 1.0), ("geometric", 0.4)]
            {
                let epsilon = Epsilon::new(epsilon).unwrap();
                let setting = Setting::new(Prior::new(prior.to_vec()).unwrap(), n, epsilon);
                let variant = Mechanism::parse(&format!("{id}+remap")).unwrap();
                let law = variant.law(&setting).unwrap();
                let outputs = Outputs::new(law.outputs(), n, prior.len());
                let listed = remapping::best(&variant, law.as_ref(), &setting).unwrap();
                assert!(listed.is_listed());
                let noise = law.count_noise(prior.len()).unwrap();
                // So few are kept that they are forgotten again and again.
                let search =
                    LocalSearch { known: Memo::new(3), ..LocalSearch::new(&setting, noise) };
                let found = Remap::searched(outputs, Box::new(move |output| search.find(output)));
                let [best, found] = [listed, found].map(|map| mean(&law, &setting, map));
                let what = format!("{id} {prior:?}: {found} {best}");
                assert!(found >= best * (1.0 - 1e-9) && found <= 1.001 * best, "{what}");
            }
        }
    }
}
