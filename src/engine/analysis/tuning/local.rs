//! The best candidate in place of one output, found near it and proved to be the best of all.
//!
//! Let E(r) be the expected distance of candidate r from the true posterior, given the output. A descent
//! over candidates that differ by one moved record ends at some r* with E(r*) = e. The Hellinger distance
//! H is a metric: E(r) >= H(r, r*) − E(r*). So no candidate with H(r, r*) > 2e is better than r*, and all
//! others are compared, or excluded in the same way by one that was.

use std::cmp::Ordering;
use std::sync::Arc;

use super::remapping::SAME;
use crate::analysis::true_counts::CountNoise;
use crate::mechanism::law::BestCandidate;
use crate::memo::Memo;
use crate::numeric::log_affinity::log_affinity_table;
use crate::numeric::{exp_accurate, kernel, log1p};
use crate::operations::{Operation, count};
use crate::posterior::error_field::{Field, Reach};
use crate::posterior::model::{Counts, Posterior, Prior, approximate_compositions, neighbours};
use crate::posterior::setting::Setting;
use crate::posterior::simplex::{BLOCK, Region, Row, Shape, Tail, Window};

/// Data sets less likely than the likeliest one by a factor of e to this do not change which candidate is
/// best.
const NEGLIGIBLE: f64 = 42.0;

/// The candidates that are compared at a small scale of the noise, as measured.
const COMPARED: f64 = 12.0;

/// The most records of two categories for which all distances fit into memory.
pub(super) const LONGEST_LINE: u64 = 1500;

/// The most candidates whose tables are kept.
const MOST_FIELDS: usize = 100_000;

/// The most outputs whose best candidates are kept: some 100 MB.
const MOST_KNOWN: usize = 1_000_000;

/// The search for the best candidate, for data of one size under independent noise.
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

/// The data sets behind one output.
struct Behind {
    lines: Vec<Line>,
}

impl LocalSearch {
    /// For the outputs of a mechanism with this noise on the counts, at data of as many records as
    /// `setting` has. The distance must be the Hellinger distance.
    pub fn new(setting: &Setting, noise: CountNoise) -> Self {
        let (fields, known) = (Memo::new(MOST_FIELDS), Memo::new(MOST_KNOWN));
        Self { setting: setting.clone(), noise, fields, known }
    }

    fn prior(&self) -> &Prior {
        self.setting.posterior.prior()
    }

    fn n(&self) -> u64 {
        self.setting.posterior.n()
    }

    /// The number of data sets behind one output, roughly, and of terms that are added for it.
    pub fn effort(&self) -> (f64, f64) {
        let (n, k) = (self.n(), self.setting.posterior.k());
        let free = k as f64 - 1.0;
        // The vectors that move at most d records are about C(2m, m) (d + 1/2)^m / m!, where m = k − 1.
        let coefficient: f64 = (1..k).map(|i| (free + i as f64) / (i * i) as f64).product();
        let steps = 0.5 * NEGLIGIBLE * self.noise.scale;
        let all = approximate_compositions(n, k);
        let data_sets = (coefficient * libm::pow(steps + 0.5, free)).min(all);
        // Noise as wide as the posterior leaves no candidate far from the best: few are excluded.
        let width = (self.noise.scale / libm::sqrt(n as f64)).min(1.0);
        let wide = 1.0 + 6.0 * (free - 1.0) * libm::pow(width, 1.5);
        let compared = wide * COMPARED * libm::pow(1.0 + self.noise.scale, 0.75 * free);
        (data_sets, data_sets * compared.min(all))
    }

    /// The number of terms that are added for all outputs of [`Self::line`], roughly.
    pub fn line_effort(&self) -> f64 {
        let records = self.n() as f64 + 1.0;
        let data_sets = (2.0 * NEGLIGIBLE * self.noise.scale + 1.0).min(records);
        let levels = libm::log2(records) + 1.0;
        2.0 * levels * records * data_sets
    }

    /// What replaces the outputs (0, n), (1, n − 1), …, (n, 0) of two categories.
    ///
    /// The best candidate ascends with the output, so that every output that is settled divides the
    /// candidates between those below and above it. For candidates r < r' the difference of their log
    /// affinities to x is g((x + r)/2) − g((x + r')/2), up to what does not depend on x, where
    /// g(t) = ln B(α + t, β + n − t) is convex: it falls with x. So H(x, r') − H(x, r) changes its sign at
    /// most once, from + to −. The noise is log-concave, hence the larger the output, the larger is x in
    /// the likelihood ratio order, and the expected difference changes its sign at most once, too.
    pub fn line(&self) -> Vec<Counts> {
        let n = self.n();
        let mut best = vec![0; n as usize + 1];
        self.divide(&mut best, 0, (0, n));
        best.into_iter().map(|r| vec![r, n - r]).collect()
    }

    /// Settles the outputs from `first` on; their best candidates lie in the window.
    fn divide(&self, best: &mut [u64], first: u64, (low, high): Window) {
        if best.is_empty() {
            return;
        }
        let middle = best.len() / 2;
        let output = first + middle as u64;
        let equal = self.best_within(output, (low, high));
        let (lowest, highest) = (equal[0], equal[equal.len() - 1]);
        best[middle] = if equal.contains(&output) { output } else { lowest };
        let (before, rest) = best.split_at_mut(middle);
        rayon::join(
            || self.divide(before, first, (low, highest)),
            || self.divide(&mut rest[1..], output + 1, (lowest, high)),
        );
    }

    /// The candidates of a window, by their first counts, that are the best in place of an output.
    fn best_within(&self, output: u64, (low, high): Window) -> Vec<u64> {
        let n = self.n();
        let behind = self.behind(&[output, n - output]);
        let (mut least, mut errors) = (f64::INFINITY, Vec::new());
        for r in low..=high {
            let error = self.error(&behind, &vec![r, n - r], least);
            least = least.min(error);
            errors.push((r, error));
        }
        errors.retain(|(_, error)| *error <= least * (1.0 + SAME));
        errors.into_iter().map(|(r, _)| r).collect()
    }

    fn search(&self, output: &[u64]) -> Counts {
        let behind = self.behind(output);
        let own = self.nearest(output);
        let (best, least) = self.descend(&behind, own.clone());
        let rivals = self.rivals(&behind, best, least);
        // Of several that are equally good the output itself is taken, else the first.
        let least = rivals.iter().map(|(_, error)| *error).fold(least, f64::min);
        let equal = || rivals.iter().filter(|(_, e)| *e <= least * (1.0 + SAME)).map(|(r, _)| r);
        let is_output = |r: &&Counts| own == output && **r == own;
        equal().find(is_output).or_else(|| equal().min()).unwrap_or(&own).clone()
    }

    /// `best`, whose error is `least`, and all candidates whose error may not be larger.
    ///
    /// They are looked for from afar. If E(r) exceeds the least error, then so does that of every
    /// candidate nearer to r than the difference: far from the best one candidate excludes many.
    fn rivals(&self, behind: &Behind, best: Counts, mut least: f64) -> Vec<(Counts, f64)> {
        let mut open = self.near(behind, &best, least);
        let mut rivals = vec![(best.clone(), least)];
        for (line, place) in open.farthest_first() {
            if !open.is_open(line, place) {
                continue;
            }
            let r = open.candidate(line, place);
            if r == best {
                continue;
            }
            let error = self.error(behind, &r, f64::INFINITY);
            least = least.min(error);
            let margin = (error - least * (1.0 + 2.0 * SAME)) * (1.0 - 1e-9);
            if margin > 0.0 {
                open.close(self.field(&r).as_ref(), margin);
            } else {
                rivals.push((r, error));
            }
        }
        rivals
    }

    /// The data sets behind an output and their probabilities.
    fn behind(&self, output: &[u64]) -> Behind {
        let (prior, n) = (self.prior(), self.n());
        let windows = self.noise.windows(prior, n, output, NEGLIGIBLE);
        let logs: Vec<Vec<f64>> = (windows.iter().enumerate())
            .map(|(i, &window)| self.noise.ln_weights(prior, n, output, i, window))
            .collect();
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
        let (lines, highest) = (found.lines, found.likely);
        let mut behind = Behind { lines };
        behind.normalise(highest);
        behind
    }

    /// The candidate nearest to an output: the output itself, if it has the total n.
    fn nearest(&self, output: &[u64]) -> Counts {
        let mut counts = output.to_vec();
        let n = self.n();
        loop {
            let total: u64 = counts.iter().sum();
            match total.cmp(&n) {
                Ordering::Equal => return counts,
                Ordering::Less => {
                    let missing = n - total;
                    let last = (0..counts.len()).max_by_key(|&i| counts[i]).unwrap_or(0);
                    counts[last] += missing;
                }
                Ordering::Greater => {
                    // The surplus is taken evenly, as the noise is the same for all.
                    let positive = counts.iter().filter(|&&v| v > 0).count() as u64;
                    let each = ((total - n) / positive).max(1);
                    let mut left = total - n;
                    for v in counts.iter_mut().filter(|v| **v > 0) {
                        let taken = each.min(*v).min(left);
                        *v -= taken;
                        left -= taken;
                    }
                }
            }
        }
    }

    /// A candidate to which none that differs by one moved record is preferred, and its error.
    fn descend(&self, behind: &Behind, start: Counts) -> (Counts, f64) {
        let mut best = (self.error(behind, &start, f64::INFINITY), start);
        loop {
            let mut next = best.clone();
            for moved in neighbours(&best.1) {
                let error = self.error(behind, &moved, next.0);
                if error < next.0 {
                    next = (error, moved);
                }
            }
            if next.1 == best.1 {
                return (best.1, best.0);
            }
            best = next;
        }
    }

    /// All candidates within 2 `error` of `centre` that may have as small an error.
    ///
    /// H² = 1 − Π b_i >= 1 − b_i for every category, and b_i falls the farther two counts are apart. So a
    /// candidate with a count beyond those of all data sets is at least as far from every one of them as
    /// this count is from the nearest of theirs.
    fn near(&self, behind: &Behind, centre: &Counts, error: f64) -> Open {
        let (n, k) = (self.n(), centre.len());
        let radius = 2.0 * error * (1.0 + 1e-9);
        let around = |i: usize, count: u64, distance: f64| {
            if distance >= 1.0 {
                return (0, n);
            }
            let (alpha, floor) = (self.prior().alpha()[i], log1p(-distance * distance));
            let table = log_affinity_table(alpha, count, (count, count), n, floor);
            (table.first(), table.end() - 1)
        };
        let window = |i: usize| {
            let (least, most) = behind.counts(i);
            let (low, high) = around(i, centre[i], radius);
            let error = error * (1.0 + 1e-9);
            (low.max(around(i, least, error).0), high.min(around(i, most, error).1))
        };
        let region = Region::new(n, Shape::Simplex, (0..k).map(window).collect());
        let blocks = region.blocks();
        let field = self.field(centre);
        let mut open = Open { k, lines: Vec::new() };
        for block in 0..blocks.len() {
            region.walk(&blocks, block, |row| {
                let mut distances = vec![0.0; row.len];
                field.row(row, &mut distances);
                count(Operation::Term, row.len);
                open.lines.extend(OpenLine::new(row, distances, radius));
            });
        }
        open
    }

    /// The expected distance of candidate r; or something larger than `enough`, if it is larger.
    fn error(&self, behind: &Behind, r: &Counts, enough: f64) -> f64 {
        let field = self.field(r);
        let mut distances = [0.0; BLOCK];
        let mut sum = 0.0;
        for line in &behind.lines {
            for (place, weights) in line.weights.chunks(BLOCK).enumerate() {
                let distances = &mut distances[..weights.len()];
                let row = Row {
                    head: &line.head,
                    start: line.start + (place * BLOCK) as u64,
                    len: weights.len(),
                    tail: Tail::Complement(line.rest),
                    weight: 1.0,
                };
                field.row(&row, distances);
                count(Operation::Term, row.len);
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
            let posterior = Posterior::new(self.prior().clone(), r.clone());
            let n = self.n();
            // On a line candidates are compared at data that are far from them, too.
            let windows = match r.len() == 2 && n <= LONGEST_LINE {
                true => vec![(0, n); 2],
                false => self.noise.windows(self.prior(), n, r, NEGLIGIBLE),
            };
            let reach = Reach { windows, ball: false };
            self.setting.distance.field(&posterior, &reach).into()
        })
    }
}

impl BestCandidate for LocalSearch {
    fn best(&self, output: &[u64]) -> Counts {
        self.known.get(output, || self.search(output))
    }
}

/// The candidates that are not yet known to be worse than the best.
struct Open {
    k: usize,
    lines: Vec<OpenLine>,
}

/// Open candidates that differ in one running count, and in the last.
struct OpenLine {
    head: Counts,
    start: u64,
    tail: Tail,
    /// How far each candidate is from the best one; infinite, if it is closed.
    distances: Vec<f64>,
}

impl Open {
    /// All candidates, each as its line and its place on the line.
    fn farthest_first(&self) -> Vec<(usize, usize)> {
        let mut places: Vec<(usize, usize, f64)> = Vec::new();
        for (number, line) in self.lines.iter().enumerate() {
            let open = line.distances.iter().enumerate().filter(|(_, d)| d.is_finite());
            places.extend(open.map(|(place, &distance)| (number, place, distance)));
        }
        places.sort_by(|a, b| b.2.total_cmp(&a.2).then_with(|| (b.0, b.1).cmp(&(a.0, a.1))));
        places.into_iter().map(|(line, place, _)| (line, place)).collect()
    }

    fn is_open(&self, line: usize, place: usize) -> bool {
        self.lines[line].distances[place].is_finite()
    }

    fn candidate(&self, line: usize, place: usize) -> Counts {
        let mut r = vec![0; self.k];
        self.lines[line].row(place, 1).output(0, &mut r);
        r
    }

    /// Closes all candidates that are nearer than `margin` to the one that `field` belongs to.
    fn close(&mut self, field: &dyn Field, margin: f64) {
        let mut distances = [0.0; BLOCK];
        for line in &mut self.lines {
            let is_open = |distance: &f64| distance.is_finite();
            let Some(first) = line.distances.iter().position(is_open) else { continue };
            let last = line.distances.iter().rposition(is_open).unwrap_or(first);
            let distances = &mut distances[..=last - first];
            field.row(&line.row(first, distances.len()), distances);
            count(Operation::Term, distances.len());
            for (known, distance) in line.distances[first..].iter_mut().zip(distances) {
                if *distance < margin {
                    *known = f64::INFINITY;
                }
            }
        }
    }
}

impl OpenLine {
    /// The candidates of a row within a radius, if there are any.
    fn new(row: &Row, mut distances: Vec<f64>, radius: f64) -> Option<Self> {
        distances.iter_mut().filter(|d| **d > radius).for_each(|d| *d = f64::INFINITY);
        let any = distances.iter().any(|d| d.is_finite());
        any.then(|| Self { head: row.head.to_vec(), start: row.start, tail: row.tail, distances })
    }

    fn row(&self, first: usize, len: usize) -> Row<'_> {
        let start = self.start + first as u64;
        Row { head: &self.head, start, len, tail: self.tail, weight: 1.0 }
    }
}

impl Behind {
    /// The least and the largest count of a category.
    fn counts(&self, i: usize) -> Window {
        let of = |line: &Line| {
            let first = line.start;
            let last = first + line.weights.len() as u64 - 1;
            match i.checked_sub(line.head.len()) {
                None => (line.head[i], line.head[i]),
                Some(0) => (first, last),
                Some(_) => (line.rest - last, line.rest - first),
            }
        };
        let wider = |a: Window, b: Window| (a.0.min(b.0), a.1.max(b.1));
        self.lines.iter().map(of).reduce(wider).expect("some data set is behind an output")
    }

    /// Turns logarithms into probabilities, the likeliest lines first, and drops what does not matter.
    fn normalise(&mut self, highest: f64) {
        for line in &mut self.lines {
            line.weights.iter_mut().for_each(|log| *log = exp_accurate(*log - highest));
            line.mass = line.weights.iter().sum();
        }
        self.lines.sort_by(|a, b| b.mass.total_cmp(&a.mass).then_with(|| a.head.cmp(&b.head)));
        let total: f64 = self.lines.iter().rev().map(|line| line.mass).sum();
        for line in &mut self.lines {
            line.weights.iter_mut().for_each(|weight| *weight /= total);
        }
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
    use crate::analysis::tuning::remapping;
    use crate::mechanism::law::{Outputs, ln_probabilities};
    use crate::mechanism::{self, Options, Variant};
    use crate::posterior::distance::HELLINGER;
    use crate::posterior::privacy::Epsilon;

    /// The search finds what a comparison of all candidates under all data sets finds.
    #[test]
    fn the_search_finds_the_best_of_all_candidates() {
        let priors: [&[f64]; 4] =
            [&[1.0, 1.0, 1.0], &[0.1, 4.0, 9.0], &[0.5, 0.5], &[2.0, 0.3, 1.0, 1.0]];
        for (prior, n) in priors.into_iter().zip([9, 11, 25, 5]) {
            let mut counts = vec![0; prior.len()];
            counts[0] = n;
            for (id, epsilon) in
                [("tight", 0.7), ("lattice", 1.5), ("lszhang", 1.0), ("geometric", 0.4)]
            {
                let epsilon = Epsilon::new(epsilon).unwrap();
                let setting =
                    Setting::new(Prior::new(prior.to_vec()).unwrap(), counts.clone(), epsilon);
                let options = Options { remap: true, ..Options::default() };
                let variant = Variant::new(mechanism::find(id).unwrap(), options, id.to_owned());
                let recipe = variant.recipe(&setting).unwrap();
                let listed = remapping::best(&variant, &setting).unwrap();
                assert!(listed.is_listed());
                let noise = CountNoise::of(recipe, &setting.posterior).unwrap();
                // So few are kept that they are forgotten again and again.
                let search =
                    LocalSearch { known: Memo::new(3), ..LocalSearch::new(&setting, noise) };
                // An output that is impossible at one data set is impossible at all.
                let outputs = Outputs::of(recipe, n, prior.len());
                let field = HELLINGER.field(&setting.posterior, &Reach::ball(&setting.posterior));
                let logs = ln_probabilities(recipe, &setting.posterior, field.as_ref(), outputs);
                let possible =
                    outputs.list().into_iter().zip(logs).filter(|(_, log)| log.is_finite());
                for (output, _) in possible {
                    let what = format!("{id} {prior:?} {output:?}");
                    assert_eq!(search.best(&output), listed.replace(&output).to_vec(), "{what}");
                    assert!(search.known.known() <= 3);
                }
            }
        }
    }
}
