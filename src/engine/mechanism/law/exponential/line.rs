//! Distances of all candidates if there are two categories: they lie on a line.

use crate::numeric::exp::one_minus_exp;
use crate::numeric::gamma::ln_phi;
use crate::numeric::{LN_NEGLIGIBLE, Sum, log1p};
use crate::posterior::model::Posterior;

/// The distances sqrt(1 − BC^power) from `posterior` that are below 1 in double precision. They belong
/// to neighbouring candidates; returned with the first coordinate of the first of these.
///
/// A distance's field gives the same numbers. Here each candidate takes one logarithm in place of two
/// logarithms and four exponentials: an audit of all data sets needs every distance once.
pub fn distances(posterior: &Posterior, power: f64) -> (u64, Vec<f64>) {
    let category = |i: usize| Category { alpha: posterior.alpha(i), x: posterior.counts()[i] };
    let (first, second) = (category(0), category(1));
    let floor = LN_NEGLIGIBLE / power;
    let mut values = log_coefficients(second, first, floor);
    let start = first.x + 1 - values.len() as u64;
    values.reverse();
    values.extend(log_coefficients(first, second, floor).drain(1..));
    for value in &mut values {
        *value = one_minus_exp(power * *value).sqrt();
    }
    (start, values)
}

#[derive(Clone, Copy)]
struct Category {
    alpha: f64,
    x: u64,
}

/// ln BC between the posterior and the one with d records moved from `loses` to `gains`, for
/// d = 0, 1, … as far as it is above `floor`.
///
/// There are two chains, one of even and one of odd d. A step from d to d + 2 subtracts ½ log1p(g) for
/// the category that gains and ½ log1p(l) for the one that loses (see
/// [`crate::numeric::log_affinity`]). Together this is ½ log1p(g + l + g l), a sum of positive
/// terms.
fn log_coefficients(gains: Category, loses: Category, floor: f64) -> Vec<f64> {
    let a = gains.alpha + gains.x as f64;
    let mut values = vec![0.0];
    let Some(below) = loses.x.checked_sub(1) else { return values };
    let one = ln_phi(a) + ln_phi(loses.alpha + below as f64);
    let mut chains = [Sum::default(), Sum::from_iter([one])];
    let mut next = one;
    for d in 0.. {
        if next < floor {
            break;
        }
        values.push(next);
        let Some(left) = loses.x.checked_sub(d + 2) else { break };
        let c = loses.alpha + left as f64;
        let chain = &mut chains[(d % 2) as usize];
        let d = d as f64;
        let (middle, half) = (a + 0.5 * d, 1.0 + 0.5 * d);
        let gain = (a * (d + 1.0) + d * (1.0 + 0.75 * d)) / (middle * middle);
        let loss = (c * (d + 1.0) + half * half) / (c * (c + 1.0));
        chain.add(-0.5 * log1p(gain + loss + gain * loss));
        next = chain.value();
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::posterior::distance;
    use crate::posterior::error_field::Reach;
    use crate::posterior::model::Prior;

    #[test]
    fn the_same_distances_as_the_fields() {
        for &distance in distance::DOCUMENTED {
            for (prior, counts) in [
                ([1.0, 1.0], [40, 60]),
                ([0.3, 7.5], [0, 12]),
                ([1e-12, 2.0], [1, 0]),
                ([4.0, 1e-60], [3, 2]),
                ([1.0, 1.0], [700, 9_000]),
                ([1.0, 1.0], [2, 90_000]),
            ] {
                let posterior = Posterior::new(Prior::new(prior.to_vec()).unwrap(), counts.into());
                let field = distance.field(&posterior, &Reach::ball(&posterior));
                let (start, values) = distances(
                    &posterior,
                    distance.power(posterior.prior(), posterior.n()).unwrap(),
                );
                let n = posterior.n();
                for v in 0..=n {
                    let inside = v.checked_sub(start).and_then(|i| values.get(i as usize));
                    let (ours, theirs) = (inside.copied().unwrap_or(1.0), field.at(&[v, n - v]));
                    let what = format!("{} {prior:?} {counts:?} {v}", distance.id());
                    assert!((ours - theirs).abs() <= 2e-15 * theirs, "{what}: {ours} {theirs}");
                }
            }
        }
    }
}
