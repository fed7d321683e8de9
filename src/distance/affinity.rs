//! sqrt(1 − Π b_i): what the Hellinger distance and the print distance have in common.

use std::borrow::Cow;

use crate::model::Posterior;
use crate::numeric::gamma::{Table, half_gap, half_gap_table};
use crate::numeric::{LN_NEGLIGIBLE, exp_accurate, expm1};
use crate::simplex::{Region, Window};

/// One category: the table of D, and of s·D in the two forms that need no further function.
struct Category {
    /// D(a_i, v − x_i).
    log: Table,
    /// b_i = e^(s D).
    keep: Table,
    /// u_i = 1 − e^(s D).
    loss: Table,
}

/// The factors e^(s D_i) of every category, s the power to which the Bhattacharyya coefficient is
/// raised (1 for Hellinger).
pub struct Affinity {
    posterior: Posterior,
    power: f64,
    categories: Vec<Category>,
}

impl Affinity {
    /// Tabulates each category as far as its factor alone does not make the distance 1, and over
    /// `reach`.
    pub fn new(posterior: &Posterior, power: f64, reach: &[Window]) -> Self {
        // One unit of slack: rounding must not let a category end before the ball does.
        let floor = (LN_NEGLIGIBLE - 1.0) / power;
        let categories = (0..posterior.k())
            .map(|i| {
                let (alpha, x) = (posterior.alpha(i), posterior.counts()[i]);
                let log = half_gap_table(alpha, x, reach[i], posterior.n(), floor);
                Category {
                    keep: log.map(|d| exp_accurate(power * d)),
                    loss: log.map(|d| -expm1(power * d)),
                    log,
                }
            })
            .collect();
        Self { posterior: posterior.clone(), power, categories }
    }

    /// The posterior that distances are measured from.
    pub fn posterior(&self) -> &Posterior {
        &self.posterior
    }

    /// D(a_i, v − x_i), from the table or, far out, step by step.
    pub fn log(&self, i: usize, v: u64) -> f64 {
        self.categories[i].log.get(v).unwrap_or_else(|| {
            let d = v as i64 - self.posterior.counts()[i] as i64;
            half_gap(self.posterior.parameter(i), d)
        })
    }

    /// D(a_i, · − x_i) at `start`, …, `start + len − 1`, borrowed from the table if possible.
    pub fn logs(&self, i: usize, start: u64, len: usize) -> Cow<'_, [f64]> {
        let table = self.categories[i].log.slice(start, len).map(Cow::from);
        table.unwrap_or_else(|| (start..).take(len).map(|v| self.log(i, v)).collect())
    }

    /// The distances of one row of compositions of n (SPEC 2's product form): with
    /// b_i = e^(s D_i) and u_i = 1 − b_i,
    ///
    /// ```text
    /// H² = u_1 + b_1 (u_2 + b_2 (u_3 + …)),
    /// ```
    ///
    /// only positive terms and no transcendental function.
    pub fn row(&self, head: &[u64], start: u64, rest: u64, out: &mut [f64]) {
        let place = head.len();
        let (mut lost, mut kept) = (0.0, 1.0);
        for (category, &v) in self.categories.iter().zip(head) {
            lost += kept * category.loss.get(v).unwrap_or(1.0);
            kept *= category.keep.get(v).unwrap_or(0.0);
        }
        let (running, last) = (&self.categories[place], &self.categories[place + 1]);
        let len = out.len();
        let last_start = rest + 1 - start - len as u64;
        let slices = (
            running.loss.slice(start, len),
            running.keep.slice(start, len),
            last.loss.slice(last_start, len),
        );
        if let (Some(u), Some(b), Some(w)) = slices {
            for ((h, (u, b)), w) in out.iter_mut().zip(u.iter().zip(b)).zip(w.iter().rev()) {
                *h = (lost + kept * (u + b * w)).min(1.0).sqrt();
            }
        } else {
            for (h, v) in out.iter_mut().zip(start..) {
                let u = running.loss.get(v).unwrap_or(1.0);
                let b = running.keep.get(v).unwrap_or(0.0);
                let w = last.loss.get(rest - v).unwrap_or(1.0);
                *h = (lost + kept * (u + b * w)).min(1.0).sqrt();
            }
        }
    }

    /// The compositions that can be nearer than distance 1.
    pub fn ball(&self) -> Region {
        let tables = self.categories.iter().map(|c| c.log.map(|d| self.power * d)).collect();
        Region::ball(self.posterior.counts().to_vec(), tables)
    }
}

/// Σ of the windows, as the window of the total.
pub fn total_window(reach: &[Window]) -> Window {
    reach.iter().fold((0, 0), |(low, high), w| (low + w.0, high + w.1))
}
