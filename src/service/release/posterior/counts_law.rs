//! The law of the true counts of all cells, given releases.

use super::beta_mixture::BetaMixture;
use super::comparison::{self, Comparison, Link, Linked};
use super::draws::{Cell, Sampler};
use super::pieces::Pieces;
use super::weights::{LogWeights, Weights};
use super::wide::WideLaw;
use engine::analysis::true_counts::{self, NoisyOutput};
use engine::mechanism::law::Law;
use engine::numeric::Sum;
use engine::parallel;
use engine::posterior::model::Prior;
use engine::posterior::setting::Setting;
use engine::posterior::simplex::Window;

/// The most products of a convolution: they take some seconds.
const MOST_PRODUCTS: f64 = 2e9;

/// The most possible counts of one cell: with more, credible intervals take long.
const MOST_COUNTS: f64 = 300_000.0;

/// The most pairs of counts, one of a group and one of some of its cells, behind a share within the group:
/// its interval takes a second.
const MOST_PAIRS: f64 = 4e6;

/// The most pairs of counts of two groups.
const MOST_LINKS: f64 = 2e7;

/// Weights are relative to the likeliest count of each cell on its own. If all weights of counts that
/// sum to n are smaller than this, they have lost digits.
pub(super) const FAINTEST: f64 = 1e-280;

/// What is said then.
pub(super) const FAINT: &str = "the released counts are too unlikely for double precision";

/// Every data set outside of the windows is less likely than the likeliest one by a factor of e to this.
const NEGLIGIBLE: f64 = 40.0;

/// A release, and how it was made.
#[derive(Clone, Copy)]
pub struct Seen<'a> {
    /// The law of the mechanism.
    pub law: &'a dyn Law,
    /// The setting of some data set of n records.
    pub setting: &'a Setting,
    pub released: &'a [u64],
}

impl<'a> Seen<'a> {
    fn noisy(&self) -> Result<NoisyOutput<'a>, String> {
        let Self { law, setting, released } = *self;
        let noise = law.count_noise(setting.k());
        let noise = noise.ok_or("the law is not independent noise on every count")?;
        Ok(NoisyOutput { noise, output: released })
    }
}

/// Some cells, and the group that they belong to.
pub type Within = (Vec<usize>, Vec<usize>);

/// The law of the true counts of all cells.
#[derive(Clone, Debug)]
pub struct CountsLaw {
    prior: Prior,
    /// The number of records; if it is not known, the largest that is possible. One more factor then weighs the
    /// records that are missing.
    n: u64,
    /// There may be one more than cells.
    factors: Factors,
}

/// w(x) ∝ Π_i f_i(x_i), if the counts sum to n: the factors f_i, and their convolutions from both ends.
#[derive(Clone, Debug)]
struct Factors {
    cells: Vec<Weights>,
    /// The weights of the sum of the counts before each cell.
    before: Vec<Weights>,
    /// The weights of the sum of the counts after each cell.
    after: Vec<Weights>,
}

impl Factors {
    fn new(cells: Vec<Weights>, n: u64) -> Self {
        let k = cells.len();
        let mut before = vec![Weights::certain(0)];
        let mut after = before.clone();
        for i in 1..k {
            before.push(before[i - 1].plus(&cells[i - 1], n));
            after.push(after[i - 1].plus(&cells[k - i], n));
        }
        after.reverse();
        Self { cells, before, after }
    }

    /// The number of possible sums of the counts of some cells, at most.
    fn width(&self, cells: &[usize], n: u64) -> f64 {
        let widths = cells.iter().map(|&i| self.cells[i].values.len() as f64 - 1.0);
        (widths.sum::<f64>() + 1.0).min(n as f64 + 1.0)
    }

    /// The weights of the sum of the counts of some cells; `cells` are sorted.
    fn sum(&self, cells: &[usize], n: u64) -> Weights {
        let k = self.cells.len();
        let others = all_but(k, [cells]);
        match (others.first(), others.last()) {
            // Few are left out.
            (Some(&first), Some(&last)) if others.len() < cells.len() => {
                let between: Vec<usize> =
                    cells.iter().copied().filter(|i| (first..last).contains(i)).collect();
                let around = self.before[first].plus(&self.after[last], n);
                around.plus(&self.one_by_one(&between, n), n)
            }
            _ => self.one_by_one(cells, n),
        }
    }

    fn one_by_one(&self, cells: &[usize], n: u64) -> Weights {
        let all = cells.iter().map(|&i| &self.cells[i]);
        all.fold(Weights::certain(0), |sum, cell| sum.plus(cell, n))
    }
}

impl CountsLaw {
    /// The true counts are these.
    pub fn exactly(prior: &Prior, counts: &[u64]) -> Self {
        let n = counts.iter().sum();
        let cells = counts.iter().map(|&count| Weights::certain(count)).collect();
        Self { prior: prior.clone(), n, factors: Factors::new(cells, n) }
    }

    /// The law given releases of the same data, all with the prior of the first one; or why it is not
    /// computed.
    pub fn given(seen: &[Seen]) -> Result<Self, String> {
        let Some(first) = seen.first() else { return Err("there is no release".to_owned()) };
        let (prior, n) = (first.setting.prior.clone(), first.setting.n);
        let noisy: Vec<NoisyOutput> = seen.iter().map(Seen::noisy).collect::<Result<_, _>>()?;
        Self::from_logs(&prior, n, &factors(&noisy, &prior, n)?)
    }

    /// Draws for the same, which say why it is not computed.
    pub(super) fn wide(seen: &[Seen], cause: String) -> Result<WideLaw, String> {
        let Some(first) = seen.first() else { return Err(cause) };
        let (prior, n) = (&first.setting.prior, first.setting.n);
        let noisy: Vec<NoisyOutput> = seen.iter().map(Seen::noisy).collect::<Result<_, _>>()?;
        let windows = true_counts::windows(&noisy, prior, n, NEGLIGIBLE);
        let pieces = |(i, window): (usize, Window)| {
            let corners = noisy.iter().filter_map(|one| one.output.get(i).copied());
            Pieces::new(window, corners, |x| Ok(true_counts::ln_weight(&noisy, prior, n, i, x)))
        };
        let counts = windows.into_iter().enumerate().map(pieces).collect::<Result<_, _>>()?;
        WideLaw::new(prior, (Some(n), n), counts, cause)
    }

    /// Whether some data set has a weight that has not lost digits.
    fn is_reached(&self) -> bool {
        let (cell, others) = (&self.factors.cells[0], &self.factors.after[0]);
        let weight = |x: u64| cell.get(x) * others.get(self.n - x);
        (cell.first..=cell.last().min(self.n)).any(|x| weight(x) > FAINTEST)
    }

    /// The law whose factors, which have these logarithms, weigh counts that sum to n.
    pub(super) fn from_logs(prior: &Prior, n: u64, logs: &[LogWeights]) -> Result<Self, String> {
        let tilted = |tilt: f64| {
            let cells = logs.iter().map(|one| one.tilted(tilt)).collect();
            Self { prior: prior.clone(), n, factors: Factors::new(cells, n) }
        };
        // If n is far from the likeliest counts of all cells, the weights of data sets are too small for doubles. A
        // factor e^(tilt x) of every count x is the same for all of them.
        let found = Some(tilted(0.0)).filter(Self::is_reached);
        found
            .or_else(|| Some(tilted(LogWeights::tilt(logs, n))).filter(Self::is_reached))
            .ok_or_else(|| FAINT.to_owned())
    }

    /// What is known of every cell.
    pub(super) fn cells(&self) -> Vec<Cell> {
        let cells = self.prior.alpha().iter().zip(&self.factors.cells);
        cells.map(|(&alpha, counts)| Cell { alpha, counts: counts.clone() }).collect()
    }

    /// The weights of the number of records that are missing from [`Self::most_records`].
    pub(super) fn missing(&self) -> Weights {
        self.factors.cells.get(self.prior.k()).cloned().unwrap_or(Weights::certain(0))
    }

    /// The number of records; if it is not known, the largest that is possible.
    pub(super) fn most_records(&self) -> u64 {
        self.n
    }

    /// Laws are put in the order of these numbers.
    pub(super) fn key(&self) -> Vec<u64> {
        let mut cells: Vec<Vec<u64>> = self.cells().iter().map(Cell::key).collect();
        cells.sort_unstable();
        [self.n].into_iter().chain(cells.into_iter().flatten()).collect()
    }

    /// Draws all cells, in the order of their keys; and for every cell its place there.
    pub(super) fn sampler(&self, name: &str) -> (Sampler, Vec<usize>) {
        let cells = self.cells();
        let mut in_order: Vec<usize> = (0..cells.len()).collect();
        in_order.sort_by_cached_key(|&cell| cells[cell].key());
        let mut places = vec![0; cells.len()];
        in_order.iter().enumerate().for_each(|(place, &cell)| places[cell] = place);
        let cells = in_order.iter().map(|&cell| cells[cell].clone()).collect();
        (Sampler::new(self.n, cells, self.missing(), name), places)
    }

    pub fn prior(&self) -> &Prior {
        &self.prior
    }

    /// The number of records, if it is known.
    pub fn n(&self) -> Option<u64> {
        (self.parts() == self.prior.k()).then_some(self.n)
    }

    /// How many counts sum to n: those of all cells, and maybe that of missing records.
    fn parts(&self) -> usize {
        self.factors.cells.len()
    }

    /// The law of the number of records: its smallest value and the probabilities from there on.
    pub fn total(&self) -> (u64, Vec<f64>) {
        if self.n().is_some() {
            return (self.n, vec![1.0]);
        }
        let last = self.parts() - 1;
        let (cells, missing) = (&self.factors.before[last], &self.factors.cells[last]);
        let (low, high) = (self.n - missing.last().min(self.n), self.n - missing.first);
        let weights: Vec<f64> =
            (low..=high).map(|n| cells.get(n) * missing.get(self.n - n)).collect();
        let sum = weights.iter().copied().collect::<Sum>().value();
        (low, weights.iter().map(|weight| weight / sum).collect())
    }

    /// Why shares of single cells are not computed, if so.
    pub(super) fn refusal(&self) -> Option<String> {
        let all: Vec<usize> = (0..self.prior.k()).collect();
        let pairs = all.iter().map(|&cell| self.group_pairs(&Part::new(&[cell], &all)));
        pairs.reduce(f64::max).filter(|pairs| *pairs > MOST_PAIRS).map(wide)
    }

    /// The posterior of the share of some cells, not all, among all records.
    pub fn share(&self, cells: &[usize]) -> BetaMixture {
        self.within(cells, &(0..self.prior.k()).collect::<Vec<_>>())
    }

    /// The posterior of the share of some cells within a group, some of its cells, not all; unless that takes long.
    pub fn try_within(&self, cells: &[usize], group: &[usize]) -> Option<BetaMixture> {
        let pairs = self.group_pairs(&Part::new(cells, group));
        (pairs <= MOST_PAIRS).then(|| self.within(cells, group))
    }

    /// The number of pairs of counts behind a share within a group, at most.
    fn group_pairs(&self, part: &Part) -> f64 {
        let width = |cells: &[usize]| self.factors.width(cells, self.n);
        let [cells, rest] = [&part.cells, &part.rest].map(|cells| width(cells));
        let totals = (cells + rest).min(width(&part.others(self.parts())));
        totals * cells.min(rest)
    }

    /// The same, however many pairs there are.
    pub fn within(&self, cells: &[usize], group: &[usize]) -> BetaMixture {
        let part = Part::new(cells, group);
        let sum = |cells: &[usize]| self.factors.sum(cells, self.n);
        let others = sum(&part.others(self.parts()));
        let rows = pairs(&sum(&part.cells), &sum(&part.rest), self.n, |t| others.get(self.n - t));
        BetaMixture::new(part.parameters(&self.prior), &rows)
    }

    /// The mean of the share of some cells within a group.
    pub(super) fn mean_within(&self, cells: &[usize], group: &[usize]) -> f64 {
        let part = Part::new(cells, group);
        let sum = |cells: &[usize]| self.factors.sum(cells, self.n);
        let (cells, rest) = (sum(&part.cells), sum(&part.rest));
        let others = sum(&part.others(self.parts()));
        let (alpha, beta) = part.parameters(&self.prior);
        // For every count of the cells the weight of all data sets, and the sum of shares that are weighed so.
        let sums = parallel::map_range(0..cells.values.len(), |place| {
            let m = cells.first + place as u64;
            let (mut weights, mut shares) = (Sum::default(), Sum::default());
            for (other, weight) in
                (rest.first..).zip(&rest.values).take_while(|(r, _)| m + r <= self.n)
            {
                let weight = cells.values[place] * weight * others.get(self.n - m - other);
                let (own, rest) = (alpha + m as f64, beta + other as f64);
                weights.add(weight);
                shares.add(weight * own / (own + rest));
            }
            (weights.value(), shares.value())
        });
        let total = |of: fn(&(f64, f64)) -> f64| sums.iter().map(of).collect::<Sum>().value();
        total(|sum| sum.1) / total(|sum| sum.0)
    }
}

impl CountsLaw {
    /// Compares the share of some cells within a group to that of others within another group, unless that
    /// takes more `products`. The groups have no cell in common.
    pub fn compare(
        &self,
        (cells_a, group_a): (&[usize], &[usize]),
        (cells_b, group_b): (&[usize], &[usize]),
        products: f64,
    ) -> Result<Comparison, String> {
        Comparison::new(self.linked((cells_a, group_a), (cells_b, group_b))?, products)
    }

    /// The shares of two groups, and how their counts depend on each other; or why that is not computed.
    fn linked(
        &self,
        (cells_a, group_a): (&[usize], &[usize]),
        (cells_b, group_b): (&[usize], &[usize]),
    ) -> Result<Linked, String> {
        let (a, b) = (&Part::new(cells_a, group_a), &Part::new(cells_b, group_b));
        let most = self.group_pairs(a).max(self.group_pairs(b));
        if most > MOST_PAIRS {
            return Err(wide(most));
        }
        let links = self.factors.width(group_a, self.n) * self.factors.width(group_b, self.n);
        if links > MOST_LINKS {
            return Err(wide(links));
        }
        let (rows_a, rows_b, joint) = self.joined(a, b);
        let mixture = |part: &Part, rows: &Rows| {
            BetaMixture::with_places(part.parameters(&self.prior), rows, comparison::NEGLIGIBLE)
        };
        let ((a, places_a), (b, places_b)) = (mixture(a, &rows_a), mixture(b, &rows_b));
        let link = |(i, j, ratio): (usize, usize, f64)| {
            let (a, b) = (places_a.binary_search(&i).ok()?, places_b.binary_search(&j).ok()?);
            Some(Link { a, b, ratio })
        };
        Ok(Linked { a, b, links: joint.into_iter().filter_map(link).collect() })
    }

    /// The weights of both groups' counts, and the joint weights of rows over the product of their
    /// weights, up to a factor.
    /// Only the totals of the groups depend on each other: the rest is left to the other cells.
    fn joined(&self, a: &Part, b: &Part) -> (Rows, Rows, Vec<(usize, usize, f64)>) {
        let (factors, n) = (&self.factors, self.n);
        let inside = [a.cells.as_slice(), &a.rest, &b.cells, &b.rest].concat();
        let others = all_but(self.parts(), [&inside]);
        let others = factors.sum(&others, n);
        let pair = |part: &Part| (factors.sum(&part.cells, n), factors.sum(&part.rest, n));
        let (pair_a, pair_b) = (pair(a), pair(b));
        let (total_a, total_b) = (pair_a.0.plus(&pair_a.1, n), pair_b.0.plus(&pair_b.1, n));
        // The weight that one group's count leaves to all other cells.
        let left = |t: u64, other: &Weights| -> f64 {
            let left = n - t;
            let low = other.first.max(left.saturating_sub(others.last()));
            let high = other.last().min(left.saturating_sub(others.first));
            (low..=high).map(|s| other.get(s) * others.get(left - s)).sum()
        };
        let rows_a = pairs(&pair_a.0, &pair_a.1, n, |t| left(t, &total_b));
        let rows_b = pairs(&pair_b.0, &pair_b.1, n, |t| left(t, &total_a));
        let lefts = |rows: &Rows, other: &Weights| -> Vec<f64> {
            parallel::map(rows, |(t, _)| left(*t, other))
        };
        let (left_a, left_b) = (lefts(&rows_a, &total_b), lefts(&rows_b, &total_a));
        let mut joint = Vec::new();
        for (i, (s, _)) in rows_a.iter().enumerate() {
            for (j, (t, _)) in rows_b.iter().enumerate() {
                let weight = (n - s).checked_sub(*t).map_or(0.0, |rest| others.get(rest));
                if weight > 0.0 {
                    joint.push((i, j, weight / left_a[i] / left_b[j]));
                }
            }
        }
        (rows_a, rows_b, joint)
    }
}

/// Why pairs of counts are not weighed.
fn wide(pairs: f64) -> String {
    format!(
        "the noise is so wide that {pairs:.0e} pairs of counts are possible, and exact sums take long"
    )
}

/// For every count t of a group the weights of its cells' count m.
type Rows = Vec<(u64, Weights)>;

/// All of k cells but these.
fn all_but<const N: usize>(k: usize, left_out: [&[usize]; N]) -> Vec<usize> {
    let mut kept = vec![true; k];
    left_out.into_iter().flatten().for_each(|&cell| kept[cell] = false);
    (0..k).filter(|&cell| kept[cell]).collect()
}

/// Some cells of a group, and the rest of it; sorted.
struct Part {
    cells: Vec<usize>,
    rest: Vec<usize>,
}

impl Part {
    fn new(cells: &[usize], group: &[usize]) -> Self {
        // There may be thousands of cells.
        let mut cells = cells.to_vec();
        cells.sort_unstable();
        let mut rest: Vec<usize> =
            group.iter().copied().filter(|cell| cells.binary_search(cell).is_err()).collect();
        rest.sort_unstable();
        Self { cells, rest }
    }

    /// The cells outside of the group.
    fn others(&self, k: usize) -> Vec<usize> {
        all_but(k, [&self.cells, &self.rest])
    }

    /// The prior's parameters of the cells and of the rest.
    fn parameters(&self, prior: &Prior) -> (f64, f64) {
        let sum = |cells: &[usize]| cells.iter().map(|&i| prior.alpha()[i]).sum();
        (sum(&self.cells), sum(&self.rest))
    }
}

/// For every count t of a group the weights of its cells' count m: those of m and t − m, times what is
/// left to the others.
fn pairs(cells: &Weights, rest: &Weights, n: u64, others: impl Fn(u64) -> f64 + Sync) -> Rows {
    let row = |t: u64| {
        let others = others(t);
        let (low, high) = (cells.first.max(t.saturating_sub(rest.last())), cells.last());
        let high = high.min(t.checked_sub(rest.first)?);
        if others == 0.0 || low > high {
            return None;
        }
        let values = (low..=high).map(|m| cells.get(m) * rest.get(t - m) * others).collect();
        Some((t, Weights { first: low, values }))
    };
    let (low, high) = (cells.first + rest.first, (cells.last() + rest.last()).min(n));
    let rows = parallel::map_range(low as usize..high as usize + 1, |t| row(t as u64));
    rows.into_iter().flatten().collect()
}

/// The predictive probability of x and the probability of the noise are both products over the cells.
fn factors(noisy: &[NoisyOutput], prior: &Prior, n: u64) -> Result<Vec<LogWeights>, String> {
    let windows = true_counts::windows(noisy, prior, n, NEGLIGIBLE);
    refuse_wide(&windows, n)?;
    let factor = |(i, (first, last)): (usize, Window)| {
        let log = |x| true_counts::ln_weight(noisy, prior, n, i, x);
        LogWeights { first, logs: (first..=last).map(log).collect() }
    };
    Ok(windows.into_iter().enumerate().map(factor).collect())
}

/// Refuses windows whose convolution takes long.
pub(super) fn refuse_wide(windows: &[Window], n: u64) -> Result<(), String> {
    let (mut products, mut length, mut widest) = (0.0, 1.0, 0.0_f64);
    for (low, high) in windows {
        let width = (high - low) as f64 + 1.0;
        products += 2.0 * length * width;
        length = (length + width).min(n as f64 + 1.0);
        widest = widest.max(width);
    }
    // Two cells need no convolution: each count tells the other.
    if widest > MOST_COUNTS || (windows.len() > 2 && products > MOST_PRODUCTS) {
        return Err(format!(
            "with {} cells, and noise so wide that {widest} counts of a cell are possible, exact sums take long",
            windows.len()
        ));
    }
    Ok(())
}
