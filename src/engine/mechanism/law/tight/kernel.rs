//! Sums over all candidates of weight times a^d, in linear time for each row of candidates.
//!
//! d(x, r) = ½ Σ |r_i − x_i| is the number of records that are moved from x to r, and a = e^(−rate).
//! Let the first k − 2 coordinates of r be fixed, and let s be the number of records by which they exceed
//! those of x. Along the row of such r the exponent 2d is least, and constant, while the running
//! coordinate lies between x_(k−1) and x_(k−1) − s, and grows by 2 with every step beyond. So the sum over
//! a row is a sum of weights between two places, and two sums that decay by a from there on. All three
//! are read off running sums of the row.

use crate::numeric::{Sum, exp_accurate};
use crate::orbits::{Orbits, for_each_candidate};
use crate::parallel;

/// For every orbit a row: the sums of a^(d(x, r)) over all r of each orbit, at one of its x.
pub fn matrix(orbits: &Orbits, rate: f64) -> Vec<Vec<f64>> {
    let n = orbits.places.n;
    let powers: Vec<f64> = (0..=n).map(|d| exp_accurate(-rate * d as f64)).collect();
    parallel::map_range(0..orbits.len(), |orbit| {
        let (x, mut row) = (orbits.member(orbit), vec![0.0; orbits.len()]);
        let mut of = orbits.of.iter();
        for_each_candidate(orbits.places.k, n, |r| {
            let steps: u64 = x.iter().zip(r).map(|(x, r)| x.saturating_sub(*r)).sum();
            let orbit = of.next().expect("an orbit for every candidate");
            row[*orbit as usize] += powers[steps as usize];
        });
        row
    })
}

/// The powers of e^(−rate/2) from 1 down to those that matter.
pub struct Decay {
    ratio: f64,
    powers: Vec<f64>,
}

impl Decay {
    /// For vectors that move at most `steps` records.
    pub fn new(rate: f64, steps: u64) -> Self {
        let power = |j: u64| exp_accurate(-0.5 * rate * j as f64);
        Self { ratio: exp_accurate(-rate), powers: (0..=2 * steps).map(power).collect() }
    }
}

/// The running sums of one set of weights along the rows.
pub struct Rows<'a> {
    orbits: &'a Orbits,
    decay: &'a Decay,
    /// One for every index of a row, and one beyond its end.
    cells: Vec<Cell>,
}

/// What a sum needs to know about one place of a row.
#[derive(Clone, Copy, Default)]
struct Cell {
    /// The sum of the weights before this index: rounded, and what rounding lost.
    before: (f64, f64),
    /// Σ_{j >= 1} a^j w(this index − j).
    behind: f64,
    /// Σ_{j >= 1} a^j w(this index + j − 1).
    ahead: f64,
}

impl<'a> Rows<'a> {
    /// For weights by orbit.
    pub fn new(orbits: &'a Orbits, decay: &'a Decay, weights: &[f64]) -> Self {
        let candidates = orbits.of.len();
        let mut cells = vec![Cell::default(); candidates + orbits.rows.len()];
        let ends = orbits.rows.iter().skip(1).copied().chain([candidates]);
        for (row, (&start, end)) in orbits.rows.iter().zip(ends).enumerate() {
            let cells = &mut cells[start + row..=end + row];
            let members = &orbits.of[start..end];
            let (mut run, mut sum) = (0.0, Sum::default());
            for (index, &orbit) in members.iter().enumerate() {
                let weight = weights[orbit as usize];
                run = decay.ratio * (run + weight);
                sum.add(weight);
                cells[index + 1].behind = run;
                cells[index + 1].before = sum.parts();
            }
            run = 0.0;
            for (index, &orbit) in members.iter().enumerate().rev() {
                run = decay.ratio * (run + weights[orbit as usize]);
                cells[index].ahead = run;
            }
        }
        Self { orbits, decay, cells }
    }

    /// Σ_r w(r) a^(d(x, r)) at every orbit of x.
    pub fn sums(&self) -> Vec<f64> {
        parallel::map_range(0..self.orbits.len(), |x| self.sum(x))
    }

    fn sum(&self, orbit: usize) -> f64 {
        let mut sum = Sum::default();
        self.descend(self.orbits.member(orbit), 0, (0, self.orbits.places.n as usize), 0, &mut sum);
        sum.value()
    }

    /// Adds all rows whose heads begin with the same `fixed` counts, which are `apart` from those of x.
    /// The first such head has the number `first`; `left` records are left for the other counts.
    fn descend(
        &self,
        x: &[u64],
        fixed: usize,
        (first, left): (usize, usize),
        apart: usize,
        sum: &mut Sum,
    ) {
        let heads = self.orbits.places.k - 2;
        if fixed == heads {
            sum.add(self.row(x, first, left, apart));
            return;
        }
        let Some(reach) = (self.decay.powers.len() - 1).checked_sub(apart) else { return };
        let centre = x[fixed] as usize;
        let window = centre.saturating_sub(reach)..=left.min(centre + reach);
        if fixed + 1 == heads {
            // The rows of the last count of a head follow one another.
            let rows = window.map(|r| self.row(x, first + r, left - r, apart + r.abs_diff(centre)));
            sum.add(rows.sum());
            return;
        }
        for r in window {
            // A head and the number of records that it leaves are one count more.
            let next = first + self.orbits.places.before(heads - fixed + 1, left, r);
            self.descend(x, fixed + 1, (next, left - r), apart + r.abs_diff(centre), sum);
        }
    }

    /// The sum over one row of `left` records, whose head is `apart` from that of x.
    #[inline]
    fn row(&self, x: &[u64], row: usize, left: usize, apart: usize) -> f64 {
        let k = self.orbits.places.k;
        let (running, last) = (x[k - 2] as usize, x[k - 1] as usize);
        let exponent = apart + (running + last).abs_diff(left);
        let Some(&power) = self.decay.powers.get(exponent) else { return 0.0 };
        // Between these two places of the running coordinate d is least.
        let other = left.saturating_sub(last);
        let (low, high) = (running.min(other), running.max(other).min(left));
        let index = self.orbits.rows[row] + row;
        let (from, to) = (&self.cells[index + low], &self.cells[index + high + 1]);
        let between = (to.before.0 - from.before.0) + (to.before.1 - from.before.1);
        power * (between + from.behind + to.ahead)
    }
}

/// How many vectors of k whole numbers with the sum 0 move d >= 1 records.
///
/// If j of the numbers are positive, they can be chosen in C(k, j) ways, be d in sum in C(d−1, j−1) ways, and
/// leave C(d+k−j−1, k−j−1) ways to the others.
pub fn shell_size(k: usize, d: u64) -> f64 {
    let choose = |n: u64, m: u64| -> f64 {
        (1..=m).map(|i| (n + 1 - i.min(n + 1)) as f64 / i as f64).product()
    };
    let k = k as u64;
    let ways =
        (1..k).map(|j| choose(k, j) * choose(d - 1, j - 1) * choose(d + k - j - 1, k - j - 1));
    ways.sum()
}

/// The sum of a^(‖z‖₁/2) over all z of k whole numbers with Σ z = 0 that move d >= 1 records.
pub fn shell(k: usize, rate: f64, d: u64) -> f64 {
    shell_size(k, d) * exp_accurate(-rate * d as f64)
}
