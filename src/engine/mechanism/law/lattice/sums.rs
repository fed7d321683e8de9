//! Sums over geometric noise on the lattice, in closed form: for noise so wide, or so many categories, that
//! tables of all sums would take long.
//!
//! Let b = e^(−rate/2) and W_{z,p}(t) = Σ b^(u_1 + … + u_z + w_1 + … + w_p) over all u, w >= 0 with
//! Σ u − Σ w = t. Its generating function is (1 − bs)^−z (1 − b/s)^−p. From
//!
//! ```text
//! (1 − b²) / ((1 − bs)(1 − b/s)) = 1 / (1 − bs) + (b/s) / (1 − b/s)
//! ```
//!
//! follows (1 − b²) W_{z,p}(t) = W_{z,p−1}(t) + b W_{z−1,p}(t + 1). For t >= 0 let
//! U_{z,p}(t) = W_{z,p}(t) b^−t (1 − b²)^(z+p−1). Then U_{z,p}(t) = U_{z,p−1}(t) + b² U_{z−1,p}(t + 1): all
//! terms are positive, and few are too large or too small for a double. For t < 0 the parts z and p change
//! places.

use crate::numeric::{exp_accurate, expm1, ln};

/// U_{z,p}(t) of all z and p up to some largest, from some t on.
#[derive(Clone, Debug)]
pub struct LatticeSums {
    rate: f64,
    /// 1 − b².
    gap: f64,
    parts: usize,
    first: u64,
    /// For every z, and every p, the values at t = first, first + 1, …
    tables: Vec<Vec<f64>>,
}

impl LatticeSums {
    /// For z and p up to `parts`, and for |t| from `first` to `last`.
    pub fn new(rate: f64, parts: usize, first: u64, last: u64) -> Self {
        let (gap, square) = (-expm1(-rate), exp_accurate(-rate));
        let mut tables: Vec<Vec<f64>> = Vec::with_capacity((parts + 1) * (parts + 1));
        for z in 0..=parts {
            // The next z needs one more place.
            let places = first..=last + (parts - z) as u64;
            for p in 0..=parts {
                let table = match (z, p) {
                    // Without u and w the sum is 0.
                    (0, _) => {
                        places.clone().map(|t| if t == 0 { power(gap, p) } else { 0.0 }).collect()
                    }
                    (_, 0) => places.clone().map(|t| ways(t, z, gap)).collect(),
                    _ => {
                        let fewer = &tables[(z - 1) * (parts + 1) + p][1..];
                        let before = &tables[z * (parts + 1) + p - 1];
                        before.iter().zip(fewer).map(|(a, b)| a + square * b).collect()
                    }
                };
                tables.push(table);
            }
        }
        Self { rate, gap, parts, first, tables }
    }

    /// The number of entries of all tables.
    pub fn entries(parts: usize, last: f64) -> f64 {
        let parts = parts as f64 + 1.0;
        parts * parts * (last + parts)
    }

    /// W_{zeros,tops}(t) b^−|t| (1 − b²)^(k−1): bounded, whatever the rate.
    pub fn share(&self, k: usize, zeros: usize, tops: usize, t: i64) -> f64 {
        let value = self.value(zeros, tops, t);
        value * self.gap.powi(k as i32 - (zeros + tops) as i32)
    }

    fn value(&self, zeros: usize, tops: usize, t: i64) -> f64 {
        let (z, p) = if t >= 0 { (zeros, tops) } else { (tops, zeros) };
        let place = t.unsigned_abs().checked_sub(self.first);
        let table = &self.tables[z * (self.parts + 1) + p];
        place.and_then(|place| table.get(place as usize)).copied().unwrap_or(0.0)
    }

    /// b^|t|.
    pub fn decay(&self, t: i64) -> f64 {
        exp_accurate(-0.5 * self.rate * t.unsigned_abs() as f64)
    }

    /// Σ b^(|z_1| + … + |z_k|) (1 − b²)^(k−1) over all z that sum to 0. Each factor b^|z| has the generating
    /// function (1 − b²) / ((1 − bs)(1 − b/s)), so that the sum is (1 − b²)^(2k−1) W_{k,k}(0).
    pub fn whole(rate: f64, k: usize) -> f64 {
        let (sum, ln_scale) = squares(rate, k, k);
        sum * exp_accurate(ln_scale)
    }

    /// The same of k − 1 over that of k.
    pub fn ratio(rate: f64, k: usize) -> f64 {
        let [(fewer, ln_fewer), (all, ln_all)] = [k - 1, k].map(|k| squares(rate, k, k));
        fewer / all * exp_accurate(ln_fewer - ln_all)
    }

    /// ln Σ b^(|z_1| + … + |z_k|) over all z that sum to 0.
    pub fn ln_whole(rate: f64, k: usize) -> f64 {
        let (sum, ln_scale) = squares(rate, k, k);
        ln(sum) + ln_scale - (k as f64 - 1.0) * ln(-expm1(-rate))
    }

    /// ln W_{zeros,tops}(t).
    pub fn ln_ways(rate: f64, zeros: usize, tops: usize, t: i64) -> f64 {
        if t == 0 {
            if zeros.min(tops) == 0 {
                return 0.0;
            }
            let (sum, ln_scale) = squares(rate, zeros, tops);
            return ln(sum) + ln_scale - (zeros as f64 + tops as f64 - 1.0) * ln(-expm1(-rate));
        }
        let far = t.unsigned_abs();
        let sums = Self::new(rate, zeros.max(tops), far, far);
        let powers = (zeros + tops) as f64 - 1.0;
        ln(sums.value(zeros, tops, t)) - powers * ln(sums.gap) - 0.5 * rate * far as f64
    }
}

/// (1 − b²)^(z+p−1) W_{z,p}(0), divided by e to the second number, which is 0 unless the sum is huge.
///
/// W_{z,p}(0) = Σ_m C(z−1+m, m) C(p−1+m, m) b^(2m) is the hypergeometric function F(z, p; 1; b²). By Euler's
/// transformation it is (1 − b²)^(1−z−p) F(1−z, 1−p; 1; b²) = (1 − b²)^(1−z−p) Σ_j C(z−1, j) C(p−1, j) b^(2j),
/// a finite sum of positive terms.
fn squares(rate: f64, z: usize, p: usize) -> (f64, f64) {
    const HUGE: f64 = 1e250;
    let square = exp_accurate(-rate);
    let (mut term, mut sum, mut ln_scale) = (1.0, 1.0, 0.0);
    for j in 1..z.min(p) {
        let ratio = (z - j) as f64 / j as f64 * ((p - j) as f64 / j as f64);
        term *= ratio * square;
        sum += term;
        if sum > HUGE {
            (term, sum, ln_scale) = (term / HUGE, sum / HUGE, ln_scale + ln(HUGE));
        }
    }
    (sum, ln_scale)
}

/// gap^(p − 1).
fn power(gap: f64, p: usize) -> f64 {
    gap.powi(p as i32 - 1)
}

/// The number of ways to write t as a sum of z numbers >= 0, times gap^(z − 1).
fn ways(t: u64, z: usize, gap: f64) -> f64 {
    (1..z as u64).map(|i| (t as f64 + i as f64) / i as f64 * gap).product()
}

#[cfg(test)]
mod tests {
    use super::super::LatticeNoise;
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
                let ours = LatticeSums::ln_whole(rate, k);
                assert!((ours - whole).abs() < 1e-12, "{k} {rate}: {ours} {whole}");
            }
            for (zeros, tops, t) in
                [(1, 0, 3), (3, 2, 5), (2, 3, -4), (0, 2, -7), (4, 4, 0), (2, 1, 60)]
            {
                let series = series_of_ways(rate, zeros, tops, t);
                let ours = LatticeSums::ln_ways(rate, zeros, tops, t);
                assert!(
                    (ours - series).abs() < 1e-12 * series.abs().max(1.0),
                    "{zeros} {tops} {t}"
                );
            }
            assert_eq!(LatticeSums::ln_ways(rate, 2, 0, -1), f64::NEG_INFINITY);
        }
        // Thousands of categories, where neither sum is a double.
        let (one, many) = (LatticeSums::ln_whole(1.0, 2), LatticeSums::ln_whole(1.0, 5000));
        assert!(many > 2000.0 * one && many.is_finite() && LatticeSums::ratio(1.0, 5000) > 0.0);
        // Where a series would have 10^11 terms.
        let wide = LatticeSums::ln_whole(1e-9, 3);
        // The sum is an integral of e^(−(|u| + |v| + |u + v|)), 3/2, over squares of 2/rate.
        assert!((wide - ln(1.5 * (2e9_f64).powi(2))).abs() < 1e-8, "{wide}");
        let noise = LatticeNoise::Geometric { rate: 1e-9 };
        assert!(noise.total(3).is_finite());
    }
}
