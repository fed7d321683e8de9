//! The mean of the shares of several groups, and that of several others: which one is larger, and by how much. Every
//! group counts equally. The mean of the difference is exact; all else is computed from draws.

use super::counts_law::{CountsLaw, Within};
use super::draws::{Cell, Drawn, Sampler, in_blocks, ln_sum};
use engine::numeric::{exp_accurate, ln};

/// How two means of shares compare.
#[derive(Clone, Debug)]
pub struct Means {
    /// P\[the first mean is larger\].
    pub larger: Drawn,
    /// The mean of the first less the second.
    pub mean_difference: f64,
    differences: Vec<f64>,
    log_ratios: Vec<f64>,
}

/// The cells of a group that are counted, and the rest of it.
type Pair = [Cell; 2];

impl CountsLaw {
    /// Compares the mean of shares within groups, each some cells and their group, to the mean of others; or says
    /// why that is not computed. No groups have a cell in common.
    pub fn compare_equally(&self, sides: [&[Within]; 2]) -> Result<Means, String> {
        let mut means = [0.0; 2];
        for (mean, side) in means.iter_mut().zip(sides) {
            for (cells, group) in side {
                *mean += self.try_within(cells, group)?.mean() / side.len() as f64;
            }
        }
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
        let draws: Vec<Vec<(f64, f64)>> = in_blocks(&sampler, all.len(), |columns| {
            let (first, second) = columns.split_at(split);
            let (a, b) = if swapped { (second, first) } else { (first, second) };
            (0..columns[0].len()).map(|row| (ln_mean(a, row), ln_mean(b, row))).collect()
        });
        let draws = || draws.iter().flatten();
        let log_ratios: Vec<f64> = draws().map(|(a, b)| a - b).collect();
        let larger = log_ratios.iter().filter(|log| **log > 0.0).count();
        Ok(Means {
            larger: Drawn::probability(larger, log_ratios.len()),
            mean_difference: means[0] - means[1],
            differences: draws().map(|(a, b)| exp_accurate(*a) - exp_accurate(*b)).collect(),
            log_ratios,
        })
    }
}

/// The logarithm of the mean share of pairs of columns. Shares may be too small for doubles.
fn ln_mean(columns: &[Vec<f64>], row: usize) -> f64 {
    let share = |pair: &[Vec<f64>]| pair[0][row] - ln_sum(&[pair[0][row], pair[1][row]]);
    let shares: Vec<f64> = columns.chunks_exact(2).map(share).collect();
    ln_sum(&shares) - ln(shares.len() as f64)
}

impl Means {
    /// The number x with P[first − second <= x] = p.
    pub fn difference_quantile(&mut self, p: f64) -> Drawn {
        Drawn::quantile(&mut self.differences, p)
    }

    /// The number x with P[first / second <= x] = p.
    pub fn ratio_quantile(&mut self, p: f64) -> Drawn {
        let log = Drawn::quantile(&mut self.log_ratios, p);
        let value = exp_accurate(log.value);
        Drawn { value, error: value * log.error }
    }
}
