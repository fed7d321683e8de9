//! Sums over geometric noise on the lattice, in closed form.
//!
//! Let b = e^(−rate/2) and W_{z,p}(t) = Σ b^(u_1 + … + u_z + w_1 + … + w_p) over all u, w >= 0 with
//! Σ u − Σ w = t. For t >= 0 it is C(z−1+t, t) b^t F(z+t, p; 1+t; b²) with the hypergeometric function F. By Pfaff's
//! transformation and with g = 1 − b² this is
//!
//! ```text
//! C(z−1+t, t) b^t g^(1−z−p) Σ_j C(z−1, j) (p)_j / (1+t)_j b^(2j) g^(z−1−j)
//! ```
//!
//! over j = 0, …, z−1, where (p)_j = p (p+1) … (p+j−1): a finite sum of positive terms. For t < 0 the parts z and p
//! change places.

use crate::numeric::{exp_accurate, expm1, ln};

/// The sums of one rate.
#[derive(Clone, Copy, Debug)]
pub struct LatticeSums {
    rate: f64,
    /// b² and g.
    square: f64,
    gap: f64,
}

/// Sums beyond this, or below its inverse, are scaled.
const HUGE: f64 = 1e100;

impl LatticeSums {
    pub fn new(rate: f64) -> Self {
        // Noise of a smaller rate is uniform in double precision, and its terms are too large for it.
        let rate = rate.max(1e-150);
        Self { rate, square: exp_accurate(-rate), gap: -expm1(-rate) }
    }

    /// W_{zeros,tops}(t) b^(−|t|) g^(zeros+tops−1), divided by e to the second number, which is 0 unless the sum is
    /// huge or tiny.
    fn scaled(&self, zeros: usize, tops: usize, t: i64) -> (f64, f64) {
        let is_turned = t < 0 || (t == 0 && zeros == 0);
        let (z, p) = if is_turned { (tops, zeros) } else { (zeros, tops) };
        if z == 0 {
            // Without u and w the sum is 0.
            return (if t == 0 { 1.0 / self.gap } else { 0.0 }, 0.0);
        }
        let t = t.unsigned_abs() as f64;
        let factors = (1..z).map(|i| (t + i as f64) / i as f64 * self.gap);
        let first: f64 = factors.clone().product();
        let (mut term, mut ln_scale) = match (1.0 / HUGE..HUGE).contains(&first) {
            true => (first, 0.0),
            false => (1.0, factors.map(ln).sum()),
        };
        let mut sum = term;
        for j in 1..z {
            let ratio = (z - j) as f64 / j as f64 * ((p + j - 1) as f64 / (t + j as f64));
            term *= ratio * (self.square / self.gap);
            sum += term;
            if sum > HUGE {
                (term, sum, ln_scale) = (term / HUGE, sum / HUGE, ln_scale + ln(HUGE));
            }
        }
        (sum, ln_scale)
    }

    /// ln W_{zeros,tops}(t).
    pub fn ln_ways(&self, zeros: usize, tops: usize, t: i64) -> f64 {
        let (sum, ln_scale) = self.scaled(zeros, tops, t);
        let powers = (zeros + tops) as f64 - 1.0;
        ln(sum) + ln_scale - powers * ln(self.gap) - 0.5 * self.rate * t.unsigned_abs() as f64
    }

    /// ln Σ b^(|z_1| + … + |z_k|) over all z that sum to 0. Each factor b^|z| has the generating function
    /// g / ((1 − bs)(1 − b/s)), so that the sum is g^k W_{k,k}(0).
    pub fn ln_whole(&self, k: usize) -> f64 {
        let (sum, ln_scale) = self.scaled(k, k, 0);
        ln(sum) + ln_scale - (k as f64 - 1.0) * ln(self.gap)
    }

    /// The same sum for k − 1, divided by g and by that for k.
    pub fn ratio(&self, k: usize) -> f64 {
        let [(fewer, ln_fewer), (all, ln_all)] = [k - 1, k].map(|k| self.scaled(k, k, 0));
        fewer / all * exp_accurate(ln_fewer - ln_all)
    }

    /// W_{z,p}(t) divided by the whole sum for k, for |t| up to `last`.
    pub fn shares(&self, k: usize, last: u64) -> LatticeShares {
        let (whole, ln_whole) = self.scaled(k, k, 0);
        let decay = |t: u64| exp_accurate(-0.5 * self.rate * t as f64);
        let decays: Vec<f64> = (0..=last).map(decay).collect();
        let table = |(z, p): (usize, usize)| -> Vec<f64> {
            // No more than k coordinates can be clamped.
            let Some(inside) = k.checked_sub(z + p) else { return Vec::new() };
            let inside = self.gap.powi(inside as i32) / whole;
            let share = |(t, decay): (i64, &f64)| {
                let (sum, ln_scale) = self.scaled(z, p, t);
                inside * decay * sum * exp_accurate(ln_scale - ln_whole)
            };
            (0..).zip(&decays).map(share).collect()
        };
        let pairs = (0..=k).flat_map(|z| (0..=k).map(move |p| (z, p)));
        LatticeShares { k, tables: pairs.map(table).collect() }
    }
}

/// What [`LatticeSums::shares`] finds.
#[derive(Clone, Debug)]
pub struct LatticeShares {
    k: usize,
    /// For every z, and every p, the values at t = 0, 1, …
    tables: Vec<Vec<f64>>,
}

impl LatticeShares {
    pub fn get(&self, zeros: usize, tops: usize, t: i64) -> f64 {
        let (z, p) = if t >= 0 { (zeros, tops) } else { (tops, zeros) };
        let table = &self.tables[z * (self.k + 1) + p];
        table.get(t.unsigned_abs() as usize).copied().unwrap_or(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// ln W_{zeros,tops}(t), term by term.
    fn series_of_ways(rate: f64, zeros: usize, tops: usize, t: i64) -> f64 {
        let (more, fewer) = if t >= 0 { (zeros, tops) } else { (tops, zeros) };
        let t = t.unsigned_abs();
        if more == 0 && t > 0 {
            return f64::NEG_INFINITY;
        }
        // Σ_s C(t+s+p−1, p−1) C(s+q−1, q−1) a^s, where s is what the smaller sum is.
        let a = exp_accurate(-rate);
        let choose = |sum: u64, parts: usize| match parts {
            0 => f64::from(u8::from(sum == 0)),
            _ => (1..parts as u64).map(|i| (sum + i) as f64 / i as f64).product(),
        };
        let (mut sum, mut power) = (0.0, 1.0);
        for s in 0.. {
            let term = choose(t + s, more) * choose(s, fewer) * power;
            sum += term;
            power *= a;
            // Terms fall by at least a half of what a does once s is large.
            let settled = term * 1e18 <= sum && s as f64 * rate > 4.0 * (zeros + tops) as f64;
            if fewer == 0 || more == 0 || settled {
                break;
            }
        }
        ln(sum) - 0.5 * rate * t as f64
    }

    #[test]
    fn closed_forms_agree_with_series() {
        for rate in [0.02, 0.3, 1.7, 9.0] {
            for k in 2..8 {
                // Each factor b^|z| is that of u and w, times 1 − b².
                let whole = series_of_ways(rate, k, k, 0) + k as f64 * ln(-expm1(-rate));
                let ours = LatticeSums::new(rate).ln_whole(k);
                assert!((ours - whole).abs() < 1e-12, "{k} {rate}: {ours} {whole}");
            }
            for (zeros, tops, t) in
                [(1, 0, 3), (3, 2, 5), (2, 3, -4), (0, 2, -7), (4, 4, 0), (2, 1, 60)]
            {
                let series = series_of_ways(rate, zeros, tops, t);
                let ours = LatticeSums::new(rate).ln_ways(zeros, tops, t);
                assert!(
                    (ours - series).abs() < 1e-12 * series.abs().max(1.0),
                    "{zeros} {tops} {t}"
                );
            }
            assert_eq!(LatticeSums::new(rate).ln_ways(2, 0, -1), f64::NEG_INFINITY);
        }
        // Thousands of categories, where neither sum is a double.
        let sums = LatticeSums::new(1.0);
        let (one, many) = (sums.ln_whole(2), sums.ln_whole(5000));
        assert!(many > 2000.0 * one && many.is_finite() && sums.ratio(5000) > 0.0);
        // Where a series would have 10^11 terms.
        let wide = LatticeSums::new(1e-9).ln_whole(3);
        // The sum is an integral of e^(−(|u| + |v| + |u + v|)), 3/2, over squares of 2/rate.
        assert!((wide - ln(1.5 * (2e9_f64).powi(2))).abs() < 1e-8, "{wide}");
    }
}
