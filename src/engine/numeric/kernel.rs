//! The innermost loops: what is done for every output of a row.
//!
//! Each loop is compiled several times, for any processor and for those with AVX2 or AVX-512; which
//! version runs is chosen at run time. All give the same bits: no multiplication is fused with an
//! addition, and sums are made in `LANES` lanes that are joined in a fixed order, whatever the width
//! of the registers.
//! `DPBI_PORTABLE=1` in the environment chooses the version for any processor.

use std::sync::LazyLock;

use pulp::Arch;

use super::exp::{exp, exp_nonpositive, one_minus_exp};
use super::scale;

/// The number of partial sums.
const LANES: usize = 8;

/// Runs a loop in the version for this processor. A closure that is not `#[inline(always)]` and `move` is not
/// vectorised: it would be called, or read what it captures again for every number.
#[inline(always)]
pub(super) fn vectorised<T>(work: impl FnOnce() -> T) -> T {
    static ARCH: LazyLock<Arch> = LazyLock::new(|| match std::env::var_os("DPBI_PORTABLE") {
        Some(wanted) if wanted == "1" => Arch::Scalar,
        _ => Arch::new(),
    });
    #[cfg(test)]
    if let Some(arch) = tests::CHOSEN.get() {
        return arch.dispatch(work);
    }
    ARCH.dispatch(work)
}

/// Replaces every number of a row.
#[inline(always)]
pub(super) fn replace(row: &mut [f64], result: impl Fn(f64) -> f64) {
    vectorised(
        #[inline(always)]
        move || {
            for a in row {
                *a = result(*a);
            }
        },
    );
}

/// Replaces every number of a row by the result with its partner.
#[inline(always)]
pub(super) fn combine(row: &mut [f64], partners: &[f64], result: impl Fn(f64, f64) -> f64) {
    vectorised(
        #[inline(always)]
        move || {
            for (a, b) in row.iter_mut().zip(partners) {
                *a = result(*a, *b);
            }
        },
    );
}

/// H = sqrt(lost + kept (u + b w)) at every place of a row; `w` runs backwards.
pub fn distances(lost: f64, kept: f64, u: &[f64], b: &[f64], w: &[f64], out: &mut [f64]) {
    vectorised(
        #[inline(always)]
        move || {
            for ((h, (u, b)), w) in out.iter_mut().zip(u.iter().zip(b)).zip(w.iter().rev()) {
                *h = (lost + kept * (u + b * w)).min(1.0).sqrt();
            }
        },
    )
}

/// H = sqrt(1 − e^(fixed + log − total)) at every place of a row, the exponent clamped at 0.
pub fn open_distances(fixed: f64, logs: &[f64], totals: &[f64], out: &mut [f64]) {
    for ((h, log), total) in out.iter_mut().zip(logs).zip(totals) {
        *h = ((fixed + log) - total).min(0.0);
    }
    replace(
        out,
        #[inline(always)]
        move |log| one_minus_exp(log).sqrt(),
    );
}

/// Turns scores into masses weight · e^(−rate · score).
pub fn masses(rate: f64, weight: f64, scores: &mut [f64]) {
    replace(
        scores,
        #[inline(always)]
        move |score| weight * exp_nonpositive(-rate * score),
    );
}

/// Turns logarithms of weights into masses weight · e^log.
pub fn exponentials(weight: f64, logs: &mut [f64]) {
    replace(
        logs,
        #[inline(always)]
        move |log| weight * exp(log),
    );
}

/// The sums of masses and of mass · value. A value without mass does not count, even if it is
/// infinite.
pub fn moments(values: &[f64], masses: &[f64]) -> (f64, f64) {
    vectorised(
        #[inline(always)]
        move || {
            let mut sums = ([0.0; LANES], [0.0; LANES]);
            each(values, masses, |lane, value, mass| {
                sums.0[lane] += mass;
                sums.1[lane] += if mass > 0.0 { mass * value } else { 0.0 };
            });
            (join(sums.0), join(sums.1))
        },
    )
}

/// The sum of mass · (value − centre)².
pub fn spread(values: &[f64], masses: &[f64], centre: f64) -> f64 {
    vectorised(
        #[inline(always)]
        move || {
            let mut sums = [0.0; LANES];
            each(values, masses, |lane, value, mass| {
                let off = value - centre;
                sums[lane] += if mass > 0.0 { mass * (off * off) } else { 0.0 };
            });
            join(sums)
        },
    )
}

/// The bin of every value.
pub fn bins(values: &[f64], bins: &mut [u32]) {
    vectorised(
        #[inline(always)]
        move || {
            for (bin, value) in bins.iter_mut().zip(values) {
                *bin = scale::bin(*value) as u32;
            }
        },
    )
}

/// Appends the places of the values whose bit patterns are in a range.
pub fn find(values: &[f64], range: (u64, u64), places: &mut Vec<usize>) {
    vectorised(
        #[inline(always)]
        move || {
            let within = |value: &f64| value.to_bits() >= range.0 && value.to_bits() < range.1;
            let (wide, rest) = values.as_chunks::<16>();
            for (index, values) in wide.iter().enumerate() {
                let mut any = false;
                for value in values {
                    any |= within(value);
                }
                if any {
                    let found = values.iter().enumerate().filter(|(_, value)| within(value));
                    places.extend(found.map(|(place, _)| 16 * index + place));
                }
            }
            let found = rest.iter().enumerate().filter(|(_, value)| within(value));
            places.extend(found.map(|(place, _)| values.len() - rest.len() + place));
        },
    )
}

/// Masses head · p, and · q as well if the last coordinate has a factor; `q` runs backwards.
pub fn products(head: f64, p: &[f64], q: Option<&[f64]>, masses: &mut [f64]) {
    vectorised(|| match q {
        None => masses.iter_mut().zip(p).for_each(|(mass, p)| *mass = head * p),
        Some(q) => {
            for ((mass, p), q) in masses.iter_mut().zip(p).zip(q.iter().rev()) {
                *mass = head * p * q;
            }
        }
    })
}

/// Calls `add` with the lane, the value and the mass of every place.
#[inline(always)]
fn each(values: &[f64], masses: &[f64], mut add: impl FnMut(usize, f64, f64)) {
    let (wide, rest) = values.as_chunks::<LANES>();
    let (wide_masses, rest_masses) = masses.as_chunks::<LANES>();
    for (values, masses) in wide.iter().zip(wide_masses) {
        for lane in 0..LANES {
            add(lane, values[lane], masses[lane]);
        }
    }
    for (lane, (value, mass)) in rest.iter().zip(rest_masses).enumerate() {
        add(lane, *value, *mass);
    }
}

/// The sum of all lanes.
#[inline(always)]
fn join(lanes: [f64; LANES]) -> f64 {
    let [a, b, c, d, e, f, g, h] = lanes;
    ((a + e) + (c + g)) + ((b + f) + (d + h))
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;
    use crate::numeric::rows;

    thread_local! {
        /// What the loops of this thread are compiled for.
        pub static CHOSEN: Cell<Option<Arch>> = const { Cell::new(None) };
    }

    /// Values of all sizes, and masses of which some are 0.
    fn samples(len: usize) -> (Vec<f64>, Vec<f64>) {
        let value =
            |i: usize| libm::fabs(libm::sin(i as f64 * 1.7)) * libm::exp(-(i as f64) * 0.01);
        let mass = |i: usize| if i % 7 == 3 { 0.0 } else { 1.0 / (1.0 + i as f64) };
        let mut values: Vec<f64> = (0..len).map(value).collect();
        values.iter_mut().skip(17).step_by(50).for_each(|value| *value = 1.0);
        values.iter_mut().skip(31).step_by(50).for_each(|value| *value = 0.0);
        (values, (0..len).map(mass).collect())
    }

    /// Every way that this processor understands, the portable one first.
    fn paths() -> Vec<Arch> {
        #[cfg_attr(not(target_arch = "x86_64"), allow(unused_mut))]
        let mut all = vec![Arch::Scalar];
        #[cfg(target_arch = "x86_64")]
        {
            all.extend(pulp::x86::V3::try_new().map(Arch::V3));
            all.extend(pulp::x86::V4::try_new().map(Arch::V4));
        }
        all
    }

    /// The bits of every number that the loops compute from a row of values between 0 and 1 and from masses.
    fn bits(values: &[f64], masses: &[f64]) -> Vec<u64> {
        let mut all = Vec::new();
        let mut keep = |numbers: &[f64]| all.extend(numbers.iter().map(|v| v.to_bits()));
        let mut out = vec![0.0; values.len()];
        let logs: Vec<f64> = values.iter().map(|value| -value * 40.0).collect();
        distances(0.1, 0.9, values, masses, values, &mut out);
        keep(&out);
        open_distances(-0.3, &logs, values, &mut out);
        keep(&out);
        let (mass, first) = moments(values, masses);
        keep(&[mass, first, spread(values, masses, 0.3)]);
        products(0.7, values, Some(masses), &mut out);
        keep(&out);
        products(0.7, values, None, &mut out);
        super::masses(2.5, 3.0, &mut out);
        keep(&out);
        let mut out: Vec<f64> = values.iter().map(|value| 1500.0 * (value - 0.5)).collect();
        exponentials(1.5, &mut out);
        keep(&out);
        let mut found = Vec::new();
        find(values, (0.1_f64.to_bits(), 0.3_f64.to_bits()), &mut found);
        all.extend(found.iter().map(|&place| place as u64));
        let mut places = vec![0; values.len()];
        bins(values, &mut places);
        all.extend(places.iter().map(|&bin| u64::from(bin)));
        all.extend(rows::tests::bits(values));
        all
    }

    #[test]
    fn every_path_gives_the_same_bits() {
        let lengths = || (0..70).chain([1000, 1023, 1024]);
        let results = |arch: Arch| -> Vec<Vec<u64>> {
            CHOSEN.set(Some(arch));
            lengths().map(samples).map(|(values, masses)| bits(&values, &masses)).collect()
        };
        let portable = results(Arch::Scalar);
        for arch in paths() {
            assert!(results(arch) == portable, "{arch:?}");
        }
    }

    #[test]
    fn sums_are_those_of_plain_loops() {
        for len in [0, 1, 7, 8, 9, 500] {
            let (values, masses) = samples(len);
            let mut out = values.clone();
            super::masses(3.0, 2.0, &mut out);
            let (mass, first) = moments(&values, &out);
            let plain: Vec<f64> = values.iter().map(|v| 2.0 * libm::exp(-3.0 * v)).collect();
            let near = |a: f64, b: f64| (a - b).abs() <= 1e-14 * b.abs();
            assert!(out.iter().zip(&plain).all(|(a, b)| near(*a, *b)));
            assert!(near(mass, plain.iter().sum()), "{len}");
            assert!(near(first, plain.iter().zip(&values).map(|(m, v)| m * v).sum()));
            let squares = values.iter().zip(&masses).map(|(v, m)| m * (v - 0.2) * (v - 0.2)).sum();
            assert!(near(spread(&values, &masses, 0.2), squares));
        }
    }

    #[test]
    fn what_has_no_mass_does_not_count() {
        let (values, masses) = ([1.0, f64::INFINITY, 3.0], [0.5, 0.0, 0.5]);
        assert_eq!(moments(&values, &masses), (1.0, 2.0));
        assert_eq!(spread(&values, &masses, 2.0), 1.0);
    }

    #[test]
    fn values_are_found_where_they_are() {
        let (values, _) = samples(100);
        let range = (0.2_f64.to_bits(), 0.4_f64.to_bits());
        let mut places = vec![];
        find(&values, range, &mut places);
        let plain: Vec<usize> = (0..100).filter(|&i| (0.2..0.4).contains(&values[i])).collect();
        assert!(plain.len() > 5);
        assert_eq!(places, plain);
    }
}
