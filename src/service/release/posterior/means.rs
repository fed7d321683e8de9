//! The mean of the shares of several groups, and that of several others: which one is larger, and by how much. Every
//! group counts equally. The mean of the difference is exact; all else is computed from draws.

use super::counts_law::{CountsLaw, Within};
use super::draws::{Cell, Drawn, Sampler, in_blocks, ln_sum};
use engine::numeric::{exp_accurate, ln};

/// How two means of shares compare.
#[derive(Clone, Copy, Debug)]
pub struct Means {
    /// P\[the first mean is larger\].
    pub larger: Drawn,
    /// The mean of the first less the second; it is exact.
    pub mean_difference: f64,
    /// The limits of that difference.
    pub difference: [Drawn; 2],
    /// The lower limit, the median and the upper limit of the first over the second.
    pub ratio: [Drawn; 3],
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
        let draws = self.log_means(sides);
        let mut log_ratios: Vec<f64> = draws.iter().map(|(a, b)| a - b).collect();
        let larger = log_ratios.iter().filter(|log| **log > 0.0).count();
        let mut differences: Vec<f64> =
            draws.iter().map(|(a, b)| exp_accurate(*a) - exp_accurate(*b)).collect();
        let low = 0.5 * (1.0 - level);
        Means {
            larger: Drawn::probability(larger, log_ratios.len()),
            mean_difference: first_mean - second_mean,
            difference: [low, 1.0 - low].map(|p| Drawn::quantile(&mut differences, p)),
            ratio: [low, 0.5, 1.0 - low].map(|p| Drawn::quantile(&mut log_ratios, p).exp()),
        }
    }

    /// Draws of the logarithms of both means.
    fn log_means(&self, sides: [&[Within]; 2]) -> Vec<(f64, f64)> {
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
            let means = |row| (ln_mean(a, row), ln_mean(b, row));
            (0..columns[0].len()).map(means).collect::<Vec<_>>()
        });
        draws.concat()
    }
}

/// The logarithm of the mean share of pairs of columns. Shares may be too small for doubles.
fn ln_mean(columns: &[Vec<f64>], row: usize) -> f64 {
    let share = |pair: &[Vec<f64>]| pair[0][row] - ln_sum(&[pair[0][row], pair[1][row]]);
    let shares: Vec<f64> = columns.chunks_exact(2).map(share).collect();
    ln_sum(&shares) - ln(shares.len() as f64)
}
