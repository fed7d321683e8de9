//! Z(x) at all data sets of n records, up to the order of the categories.

use crate::numeric::{exp_accurate, first_after, ln};
use crate::operations::{Operation, count};
use crate::parallel;

/// The data sets with falling counts, and which of them are adjacent.
pub struct DataSets {
    k: usize,
    n: usize,
    /// k counts for each, in lexicographic order.
    counts: Vec<u32>,
    /// Places of adjacent data sets.
    pairs: Vec<(u32, u32)>,
}

/// What is known about the normalisers.
pub struct Shift {
    /// The largest |ln Z(x) − ln Z(x')| over adjacent data sets, bounded from above.
    pub shift: f64,
    /// The smallest Z(x).
    pub smallest: f64,
}

/// Data sets that one thread takes at a time; neighbours in the list share their first sums.
const CHUNK: usize = 512;

impl DataSets {
    /// All data sets of n records in k categories.
    pub fn new(k: usize, n: u64) -> Self {
        let mut counts = Vec::new();
        let mut x = Vec::with_capacity(k);
        list(k, n as u32, n as u32, &mut x, &mut counts);
        let mut data_sets = Self { k, n: n as usize, counts, pairs: Vec::new() };
        data_sets.pairs = data_sets.adjacent();
        data_sets
    }

    fn len(&self) -> usize {
        self.counts.len() / self.k
    }

    fn get(&self, place: usize) -> &[u32] {
        &self.counts[place * self.k..][..self.k]
    }

    fn place(&self, x: &[u32]) -> u32 {
        let beyond = |place: u64| self.get(place as usize) > x;
        (first_after(0, self.len() as u64, beyond) - 1) as u32
    }

    /// Every pair up to the order of the categories: a record leaves a count for a smaller one. Of equal
    /// counts the last one gives the record and the first one takes it, so that counts keep falling. A pair
    /// whose counts are only exchanged has the same normaliser twice.
    fn adjacent(&self) -> Vec<(u32, u32)> {
        let of = |place: usize| {
            let x = self.get(place);
            let mut pairs = Vec::new();
            for i in (0..self.k - 1).filter(|&i| x[i] > x[i + 1]) {
                for j in (i + 1..self.k).filter(|&j| x[j - 1] > x[j] && x[i] > x[j] + 1) {
                    let mut moved = x.to_vec();
                    moved[i] -= 1;
                    moved[j] += 1;
                    pairs.push((place as u32, self.place(&moved)));
                }
            }
            pairs
        };
        parallel::map_range(0..self.len(), of).concat()
    }

    /// How far the normalisers are apart.
    pub fn shift(&self, rate: f64, zero: f64, one: f64) -> Shift {
        let normalisers = self.normalisers(rate, zero, one);
        let logs: Vec<f64> = parallel::map(&normalisers, |&z| ln(z));
        let apart = |&(a, b): &(u32, u32)| (logs[a as usize] - logs[b as usize]).abs();
        // Of a difference that is not a number nothing is known.
        let larger =
            |a: f64, b: f64| if a.is_nan() || b.is_nan() { f64::INFINITY } else { a.max(b) };
        let chunks: Vec<&[(u32, u32)]> = self.pairs.chunks(CHUNK).collect();
        let largest_of = |chunk: &&[(u32, u32)]| chunk.iter().map(apart).fold(0.0, larger);
        let largest = parallel::map(&chunks, largest_of).into_iter().fold(0.0, larger);
        let largest_log = logs.iter().fold(0.0, |most: f64, log| most.max(log.abs()));
        let least_edge = zero.min(one).min(1.0);
        let rounding = 4.0 * f64::EPSILON * (self.rounding() / least_edge + largest_log);
        let shift = if self.pairs.is_empty() { 0.0 } else { largest + rounding };
        let smallest = normalisers.iter().copied().fold(f64::INFINITY, f64::min);
        Shift { shift, smallest }
    }

    /// An upper bound on the relative error of a normaliser, in units of half of `f64::EPSILON`, if no edge is
    /// below 1. Then all terms are positive, and none goes through more than two additions for each record and
    /// category. If an edge is below 1, a part of at most one minus the edge is taken away again.
    fn rounding(&self) -> f64 {
        self.k as f64 * (2.0 * self.n as f64 + 10.0)
    }

    /// Z(x) = Σ_r Π g(r_i) e^(−rate · d(x, r)) at every data set.
    pub fn normalisers(&self, rate: f64, zero: f64, one: f64) -> Vec<f64> {
        count(Operation::Edged, self.len() * (self.n + 1));
        let powers: Vec<f64> =
            (0..=self.n + 1).map(|v| exp_accurate(-0.5 * rate * v as f64)).collect();
        let chunk = |chunk: usize| {
            let mut sums = Sums::new(self.k, self.n, &powers, [zero, one]);
            let places = chunk * CHUNK..self.len().min((chunk + 1) * CHUNK);
            places.map(|place| sums.normaliser(self.get(place))).collect::<Vec<f64>>()
        };
        parallel::map_range(0..self.len().div_ceil(CHUNK), chunk).concat()
    }
}

/// Lists all falling counts that sum to `left`, the first at most `most`, in lexicographic order.
fn list(k: usize, left: u32, most: u32, x: &mut Vec<u32>, counts: &mut Vec<u32>) {
    if x.len() + 1 == k {
        if left <= most {
            counts.extend(&*x);
            counts.push(left);
        }
        return;
    }
    // The others hold at most as much each.
    let others = (k - x.len()) as u32;
    for v in left.div_ceil(others)..=left.min(most) {
        x.push(v);
        list(k, left - v, v, x, counts);
        x.pop();
    }
}

/// Sums of the weights of all ways to fill the first coordinates with m records, for every m.
struct Sums<'a> {
    k: usize,
    n: usize,
    /// e^(−rate · v / 2).
    powers: &'a [f64],
    edges: [f64; 2],
    /// The counts for which `tables` were made.
    counts: Vec<u32>,
    tables: Vec<Vec<f64>>,
    to_end: Vec<f64>,
    from_start: Vec<f64>,
}

impl<'a> Sums<'a> {
    fn new(k: usize, n: usize, powers: &'a [f64], edges: [f64; 2]) -> Self {
        let zeros = vec![0.0; n + 1];
        Self {
            k,
            n,
            powers,
            edges,
            counts: Vec::with_capacity(k),
            tables: vec![zeros.clone(); k - 1],
            to_end: zeros.clone(),
            from_start: zeros,
        }
    }

    fn normaliser(&mut self, x: &[u32]) -> f64 {
        let same = self.counts.iter().zip(x).take_while(|(a, b)| a == b).count();
        self.counts.truncate(same);
        for &count in &x[same.min(self.k - 1)..self.k - 1] {
            self.extend(count as usize);
            self.counts.push(count);
        }
        let last = x[self.k - 1] as usize;
        let table = &self.tables[self.k - 2];
        let mut total: f64 = (0..=last).map(|v| table[self.n - v] * self.powers[last - v]).sum();
        let above = table[..self.n - last].iter().rev().zip(&self.powers[1..]);
        total += above.map(|(ways, power)| ways * power).sum::<f64>();
        for (v, edge) in self.edges.into_iter().enumerate().take(self.n + 1) {
            total += (edge - 1.0) * self.powers[v.abs_diff(last)] * table[self.n - v];
        }
        total
    }

    /// g(v) e^(−rate |v − x| / 2).
    fn factor(&self, x: usize, v: usize) -> f64 {
        self.edges.get(v).copied().unwrap_or(1.0) * self.powers[v.abs_diff(x)]
    }

    /// One coordinate more, with count x.
    fn extend(&mut self, x: usize) {
        let depth = self.counts.len();
        if depth == 0 {
            for v in 0..=self.n {
                self.tables[0][v] = self.factor(x, v);
            }
            return;
        }
        let (before, after) = self.tables.split_at_mut(depth);
        let (before, after) = (&before[depth - 1], &mut after[0]);
        let ratio = self.powers[1];
        // v >= x: Σ_u ratio^u before(m − x − u).
        let mut run = 0.0;
        after[..x].fill(0.0);
        for (sum, value) in after[x..].iter_mut().zip(before) {
            run = run * ratio + value;
            *sum = run;
        }
        // v < x: ratio · Σ_{j < x} ratio^j before(m − x + 1 + j), by blocks of x places: a window is the end
        // of one block and the beginning of the next. So nothing is subtracted.
        if x > 0 {
            let blocks = before.chunks(x).zip(self.to_end.chunks_mut(x));
            for ((values, to_end), from_start) in blocks.zip(self.from_start.chunks_mut(x)) {
                let mut run = 0.0;
                for (sum, value) in to_end.iter_mut().zip(values).rev() {
                    run = value + ratio * run;
                    *sum = run;
                }
                run = 0.0;
                for ((sum, value), power) in from_start.iter_mut().zip(values).zip(self.powers) {
                    run += power * value;
                    *sum = run;
                }
            }
            // Windows that begin before 0.
            let before_0 = after.iter_mut().zip(&self.from_start).take(x - 1);
            for (m, (sum, from_start)) in before_0.enumerate() {
                *sum += ratio * self.powers[x - 1 - m] * from_start;
            }
            // The window that begins at `first` ends at first + x − 1.
            let starts = (0..(self.n + 2).saturating_sub(x)).step_by(x);
            for start in starts {
                let last = (start + x).min(self.n + 2 - x);
                after[start + x - 1] += ratio * self.to_end[start];
                for first in start + 1..last {
                    let rest = self.powers[x - (first - start)] * self.from_start[first + x - 1];
                    after[first + x - 1] += ratio * (self.to_end[first] + rest);
                }
            }
        }
        // The edges: g(0) and g(1) in place of 1. Where g is below 1, something is taken away again, of
        // what was added before.
        for (v, edge) in self.edges.into_iter().enumerate() {
            let more = (edge - 1.0) * self.powers[v.abs_diff(x)];
            for (sum, value) in after.iter_mut().skip(v).zip(before) {
                *sum += more * value;
            }
        }
    }
}
