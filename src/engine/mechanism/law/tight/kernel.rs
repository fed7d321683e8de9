//! Sums over all candidates of weight times a^d, in linear time for each row of candidates.
//!
//! d(x, r) = ½ Σ |r_i − x_i| is the number of records that are moved from x to r, and a = e^(−rate).
//! Let the first k − 2 coordinates of r be fixed, and let s be the number of records by which they exceed
//! those of x. Along the row of such r the exponent 2d is least, and constant, while the running
//! coordinate lies between x_(k−1) and x_(k−1) − s, and grows by 2 with every step beyond. So the sum over
//! a row is a sum of weights between two places, and two sums that decay by a from there on. All three
//! are read off running sums of the row.

use crate::numeric::{Sum, exp_accurate};
use crate::operations::{Operation, count};
use crate::parallel;

/// All candidates of n records in k categories, up to the order of categories that can be exchanged.
pub struct Orbits {
    k: usize,
    n: usize,
    /// One candidate of each orbit, one after the other: the counts of categories that can be exchanged are
    /// in descending order.
    members: Vec<u32>,
    /// How many candidates each orbit has.
    pub sizes: Vec<f64>,
    /// For every candidate in lexicographic order its orbit.
    orbit_of: Vec<u32>,
    /// Where the row of every head (the first k − 2 counts, in lexicographic order) starts.
    starts: Vec<usize>,
    /// The number of heads with at most m records in j places, at j (n + 1) + m.
    heads: Vec<usize>,
}

/// All candidates in lexicographic order.
fn for_each_candidate(k: usize, n: usize, mut visit: impl FnMut(&[u32])) {
    let mut r = vec![0_u32; k];
    r[k - 1] = n as u32;
    loop {
        visit(&r);
        // The last place gives one record to the nearest place before it that can take one.
        let Some(gives) = (1..k).rev().find(|&i| r[i] > 0) else { break };
        let given = std::mem::take(&mut r[gives]);
        r[gives - 1] += 1;
        r[k - 1] = given - 1;
    }
}

impl Orbits {
    /// All orbits, where any two categories can be exchanged.
    pub fn new(k: usize, n: u64) -> Self {
        Self::under(k, n, &[(0..k).collect()])
    }

    /// All orbits, where the categories of each group can be exchanged.
    pub fn under(k: usize, n: u64, groups: &[Vec<usize>]) -> Self {
        let n = n as usize;
        let mut heads = vec![1; n + 1];
        for places in 1..k {
            for m in 0..=n {
                let below = if m == 0 { 0 } else { heads[places * (n + 1) + m - 1] };
                heads.push(below + heads[(places - 1) * (n + 1) + m]);
            }
        }
        let mut orbits = Self {
            k,
            n,
            members: Vec::new(),
            sizes: Vec::new(),
            orbit_of: Vec::new(),
            starts: Vec::new(),
            heads,
        };
        orbits.list(groups);
        orbits
    }

    /// The number of categories.
    pub fn k(&self) -> usize {
        self.k
    }

    /// The number of orbits.
    pub fn len(&self) -> usize {
        self.sizes.len()
    }

    /// One candidate of an orbit.
    pub fn member(&self, orbit: usize) -> &[u32] {
        &self.members[orbit * self.k..][..self.k]
    }

    /// The orbit of every candidate, in lexicographic order.
    pub fn orbit_of(&self) -> &[u32] {
        &self.orbit_of
    }

    fn list(&mut self, groups: &[Vec<usize>]) {
        let (k, n) = (self.k, self.n);
        let mut places = std::collections::HashMap::new();
        let mut sorted = vec![0_u32; k];
        let mut counts = Vec::with_capacity(k);
        for_each_candidate(k, n, |r| {
            if r[k - 2] == 0 {
                self.starts.push(self.orbit_of.len());
            }
            sorted.copy_from_slice(r);
            for group in groups {
                counts.clear();
                counts.extend(group.iter().map(|&i| r[i]));
                counts.sort_unstable_by(|a, b| b.cmp(a));
                group.iter().zip(&counts).for_each(|(&i, &count)| sorted[i] = count);
            }
            let place = *places.entry(sorted.clone()).or_insert_with(|| {
                self.members.extend(&sorted);
                self.sizes.push(0.0);
                self.sizes.len() - 1
            });
            self.sizes[place] += 1.0;
            self.orbit_of.push(place as u32);
        });
    }

    /// For every orbit a row: the sums of a^(d(x, r)) over all r of each orbit, at one of its x.
    pub fn matrix(&self, rate: f64) -> Vec<Vec<f64>> {
        let powers: Vec<f64> = (0..=self.n).map(|d| exp_accurate(-rate * d as f64)).collect();
        parallel::map_range(0..self.len(), |orbit| {
            let (x, mut row) = (self.member(orbit), vec![0.0; self.len()]);
            let mut orbits = self.orbit_of.iter();
            for_each_candidate(self.k, self.n, |r| {
                let steps: u32 = x.iter().zip(r).map(|(x, r)| x.saturating_sub(*r)).sum();
                let orbit = orbits.next().expect("an orbit for every candidate");
                row[*orbit as usize] += powers[steps as usize];
            });
            row
        })
    }

    /// Among the heads that follow number `first`, with `places` counts to choose and `left` records for
    /// them: the first one whose next count is r, and the records that are left then.
    fn next_head(&self, places: usize, first: usize, left: usize, r: usize) -> (usize, usize) {
        let of = |m: usize| self.heads[places * (self.n + 1) + m];
        (first + of(left) - of(left - r), left - r)
    }
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
    /// One for every place of a row, and one beyond its end.
    cells: Vec<Cell>,
}

/// What a sum needs to know about one place of a row.
#[derive(Clone, Copy, Default)]
struct Cell {
    /// The sum of the weights before this place: rounded, and what rounding lost.
    before: (f64, f64),
    /// Σ_{j >= 1} a^j w(this place − j).
    behind: f64,
    /// Σ_{j >= 1} a^j w(this place + j − 1).
    ahead: f64,
}

impl<'a> Rows<'a> {
    /// For weights by orbit.
    pub fn new(orbits: &'a Orbits, decay: &'a Decay, weights: &[f64]) -> Self {
        let candidates = orbits.orbit_of.len();
        let mut cells = vec![Cell::default(); candidates + orbits.starts.len()];
        let ends = orbits.starts.iter().skip(1).copied().chain([candidates]);
        for (row, (&start, end)) in orbits.starts.iter().zip(ends).enumerate() {
            let cells = &mut cells[start + row..=end + row];
            let members = &orbits.orbit_of[start..end];
            let (mut run, mut sum) = (0.0, Sum::default());
            for (place, &orbit) in members.iter().enumerate() {
                let weight = weights[orbit as usize];
                run = decay.ratio * (run + weight);
                sum.add(weight);
                cells[place + 1].behind = run;
                cells[place + 1].before = sum.parts();
            }
            run = 0.0;
            for (place, &orbit) in members.iter().enumerate().rev() {
                run = decay.ratio * (run + weights[orbit as usize]);
                cells[place].ahead = run;
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
        self.descend(self.orbits.member(orbit), 0, (0, self.orbits.n), 0, &mut sum);
        sum.value()
    }

    /// Adds all rows whose heads begin with the same `fixed` counts, which are `apart` from those of x.
    /// The first such head has the number `first`; `left` records are left for the other counts.
    fn descend(
        &self,
        x: &[u32],
        fixed: usize,
        (first, left): (usize, usize),
        apart: usize,
        sum: &mut Sum,
    ) {
        let heads = self.orbits.k - 2;
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
            let next = self.orbits.next_head(heads - fixed, first, left, r);
            self.descend(x, fixed + 1, next, apart + r.abs_diff(centre), sum);
        }
    }

    /// The sum over one row of `left` records, whose head is `apart` from that of x.
    #[inline]
    fn row(&self, x: &[u32], row: usize, left: usize, apart: usize) -> f64 {
        count(Operation::TightRow, 1);
        let k = self.orbits.k;
        let (running, last) = (x[k - 2] as usize, x[k - 1] as usize);
        let exponent = apart + (running + last).abs_diff(left);
        let Some(&power) = self.decay.powers.get(exponent) else { return 0.0 };
        // Between these two places of the running coordinate d is least.
        let other = left.saturating_sub(last);
        let (low, high) = (running.min(other), running.max(other).min(left));
        let place = self.orbits.starts[row] + row;
        let (from, to) = (&self.cells[place + low], &self.cells[place + high + 1]);
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

/// The sums of a^(‖z‖₁/2) over all z of k whole numbers with Σ z = 0 that move d records, for d = 0, 1, …
/// until they do not matter.
pub fn shells(k: usize, rate: f64) -> Vec<f64> {
    let mut shells = vec![1.0];
    // They rise as long as rate · d < k.
    for d in 1.. {
        let shell = shell(k, rate, d);
        shells.push(shell);
        if shell < FAINT && rate * d as f64 > k as f64 {
            break;
        }
    }
    shells
}

/// The sum of a^(‖z‖₁/2) over all z that move d >= 1 records.
pub fn shell(k: usize, rate: f64, d: u64) -> f64 {
    shell_size(k, d) * exp_accurate(-rate * d as f64)
}

/// Shells smaller than this are left out.
const FAINT: f64 = 1e-22;

/// The sums of `values` from each place on, and 0 at the end.
pub fn tails(values: &[f64]) -> Vec<f64> {
    let mut tails = vec![0.0; values.len() + 1];
    for place in (0..values.len()).rev() {
        tails[place] = tails[place + 1] + values[place];
    }
    tails
}
