//! The mean of the shares of several groups, and that of several others: which one is larger, and by how much. Every
//! group counts equally. Where the law of the counts is computed, the mean of the difference is exact; all else is
//! computed from draws.

use super::counts_law::{CountsLaw, Within};
use super::draws::{Cell, Drawn, Sampler, in_blocks};
use engine::numeric::{exp_accurate, ln, ln_sum};

/// How two means of shares compare.
#[derive(Clone, Copy, Debug)]
pub struct Means {
    /// P\[the first mean is larger\].
    pub larger: Drawn,
    /// The mean of the first less the second.
    pub mean_difference: f64,
    /// The limits of that difference.
    pub difference: [Drawn; 2],
    /// The lower limit, the median and the upper limit of the first over the second.
    pub ratio: [Drawn; 3],
}

#[derive(Clone, Copy)]
struct Draw {
    /// The logarithms of both means.
    logs: [f64; 2],
    is_first_larger: bool,
}

/// The cells of a group that are counted, and the rest of it.
type Pair = [Cell; 2];

impl CountsLaw {
    /// Compares the mean of shares within groups, each some cells and their group, to the mean of others, with
    /// intervals at a level. No groups have a cell in common.
    pub fn compare_means(&self, sides: [&[Within]; 2], level: f64) -> Means {
        let [first_mean, second_mean] = sides.map(|side| {
            let means = side.iter().map(|(cells, group)| self.mean_within(cells, group));
            means.sum::<f64>() / side.len() as f64
        });
        let means = Means::of_draws(&self.draws_of_means(sides), level);
        Means { mean_difference: first_mean - second_mean, ..means }
    }

    fn draws_of_means(&self, sides: [&[Within]; 2]) -> Vec<Draw> {
        let all = self.cells();
        let merged = |some: &[usize]| {
            Cell::merged(some.iter().map(|&cell| &all[cell]).collect(), self.most_records())
        };
        let pair = |(cells, group): &Within| -> Pair {
            let rest: Vec<usize> = group.iter().copied().filter(|i| !cells.contains(i)).collect();
            [merged(cells), merged(&rest)]
        };
        let key = |pair: &Pair| pair.each_ref().map(Cell::key);
        let [a, b] = sides.map(|side| {
            let mut pairs: Vec<Pair> = side.iter().map(pair).collect();
            pairs.sort_by_cached_key(key);
            pairs
        });
        let inside: Vec<usize> =
            sides.into_iter().flatten().flat_map(|(_, group)| group).copied().collect();
        let others: Vec<usize> = (0..all.len()).filter(|cell| !inside.contains(cell)).collect();
        let rest = merged(&others).counts.plus(&self.missing(), self.most_records());
        // Of two sides that are swapped the same draws are made.
        let is_first = |a: &[Pair], b: &[Pair]| a.iter().map(key).le(b.iter().map(key));
        let swapped = !is_first(&a, &b);
        let (first, second) = if swapped { (b, a) } else { (a, b) };
        let split = 2 * first.len();
        let cells = first.into_iter().chain(second).flatten().collect();
        let sampler = Sampler::new(self.most_records(), cells, rest, "means");
        let draws = in_blocks(&sampler, all.len(), |columns| {
            let (first, second) = columns.split_at(split);
            let (a, b) = if swapped { (second, first) } else { (first, second) };
            (0..columns[0].len()).map(|row| Draw::new(a, b, row)).collect::<Vec<_>>()
        });
        draws.concat()
    }
}

impl Means {
    /// From draws of the first groups and of the second ones: two columns for each group, that of the cells that are
    /// counted and that of the rest.
    pub(super) fn of_columns(first: &[Vec<f64>], second: &[Vec<f64>], level: f64) -> Self {
        let draws: Vec<Draw> =
            (0..first[0].len()).map(|row| Draw::new(first, second, row)).collect();
        Self::of_draws(&draws, level)
    }

    fn of_draws(draws: &[Draw], level: f64) -> Self {
        let mut log_ratios: Vec<f64> =
            draws.iter().map(|draw| draw.logs[0] - draw.logs[1]).collect();
        let larger = draws.iter().filter(|draw| draw.is_first_larger).count();
        let difference = |Draw { logs: [a, b], .. }: &Draw| exp_accurate(*a) - exp_accurate(*b);
        let mut differences: Vec<f64> = draws.iter().map(difference).collect();
        let low = 0.5 * (1.0 - level);
        Self {
            larger: Drawn::probability(larger, log_ratios.len()),
            mean_difference: Drawn::mean(&differences).rounded(),
            difference: [low, 1.0 - low].map(|p| Drawn::quantile(&mut differences, p)),
            ratio: [low, 0.5, 1.0 - low].map(|p| Drawn::quantile(&mut log_ratios, p).exp()),
        }
    }
}

impl Draw {
    /// From the columns of the first groups and of the second ones, two for each.
    fn new(first: &[Vec<f64>], second: &[Vec<f64>], row: usize) -> Self {
        let means = |place: usize| [first, second].map(|columns| ln_mean(columns, row, place));
        let logs @ [a, b] = means(0);
        // Means that are 1 as doubles may differ: what is missing from 1 tells them apart.
        let is_first_larger = match a < -std::f64::consts::LN_2 {
            true => a > b,
            false => {
                let [a, b] = means(1);
                a < b
            }
        };
        Self { logs, is_first_larger }
    }
}

/// The logarithm of a mean of shares: of the first or the second one of every two columns. Shares may be too small for
/// doubles.
fn ln_mean(columns: &[Vec<f64>], row: usize, place: usize) -> f64 {
    let share = |pair: &[Vec<f64>]| pair[place][row] - ln_sum([pair[0][row], pair[1][row]]);
    let shares: Vec<f64> = columns.chunks_exact(2).map(share).collect();
    ln_sum(shares.iter().copied()) - ln(shares.len() as f64)
}
