//! The innermost loops: what is done for every output of a row.
//!
//! Each loop is compiled several times, for any processor and for those with AVX2 or AVX-512; which
//! version runs is chosen at run time. All give the same bits: no multiplication is fused with an
//! addition, and sums are made in `LANES` lanes that are joined in a fixed order, whatever the width
//! of the registers.
//! `DPBI_PORTABLE=1` in the environment chooses the version for any processor.

use std::sync::LazyLock;

use pulp::{Arch, NullaryFnOnce};

use super::exp::{exp, exp_nonpositive, one_minus_exp};
#[cfg(test)]
use super::rows;
use super::scale;

/// The number of partial sums.
const LANES: usize = 8;

/// What the loops are compiled for.
pub(super) static ARCH: LazyLock<Arch> =
    LazyLock::new(|| match std::env::var_os("DPBI_PORTABLE") {
        Some(wanted) if wanted == "1" => Arch::Scalar,
        _ => Arch::new(),
    });

/// One of the ways in which the loops are compiled.
#[cfg(test)]
#[derive(Clone, Copy, Debug)]
struct Path(Arch);

#[cfg(test)]
impl Path {
    /// Every way that this processor understands, the portable one first.
    fn all() -> Vec<Self> {
        #[cfg_attr(not(target_arch = "x86_64"), allow(unused_mut))]
        let mut all = vec![Self(Arch::Scalar)];
        #[cfg(target_arch = "x86_64")]
        {
            all.extend(pulp::x86::V3::try_new().map(|features| Self(Arch::V3(features))));
            all.extend(pulp::x86::V4::try_new().map(|features| Self(Arch::V4(features))));
        }
        all
    }

    /// Its name.
    fn name(self) -> &'static str {
        match self.0 {
            Arch::Scalar => "portable",
            #[cfg(target_arch = "x86_64")]
            Arch::V3(_) => "AVX2",
            #[cfg(target_arch = "x86_64")]
            Arch::V4(_) => "AVX-512",
            _ => "vector",
        }
    }
}

/// Declares a loop: a function, and its body once more for each set of processor features.
macro_rules! kernels {
    ($(
        $(#[$doc:meta])*
        pub fn $name:ident<$life:lifetime>($($arg:ident: $type:ty),* $(,)?) -> $out:ty $body:block
    )*) => {
        /// The loops compiled for chosen features.
        mod on {
            use super::*;
            $(pub fn $name<$life>(arch: Arch, $($arg: $type),*) -> $out {
                struct Kernel<$life>($($type,)* std::marker::PhantomData<&$life ()>);
                impl<$life> NullaryFnOnce for Kernel<$life> {
                    type Output = $out;
                    #[inline(always)]
                    fn call(self) -> $out {
                        let Self($($arg,)* _) = self;
                        $body
                    }
                }
                arch.dispatch(Kernel($($arg,)* std::marker::PhantomData))
            })*
        }
        $(
            $(#[$doc])*
            pub fn $name<$life>($($arg: $type),*) -> $out {
                on::$name(*ARCH, $($arg),*)
            }
        )*
    };
}
pub(super) use kernels;

kernels! {
    /// H = sqrt(lost + kept (u + b w)) at every place of a row; `w` runs backwards.
    pub fn distances<'a>(
        lost: f64,
        kept: f64,
        u: &'a [f64],
        b: &'a [f64],
        w: &'a [f64],
        out: &'a mut [f64],
    ) -> () {
        for ((h, (u, b)), w) in out.iter_mut().zip(u.iter().zip(b)).zip(w.iter().rev()) {
            *h = (lost + kept * (u + b * w)).min(1.0).sqrt();
        }
    }

    /// H = sqrt(1 − e^(fixed + log − total)) at every place of a row, the exponent clamped at 0.
    pub fn open_distances<'a>(
        fixed: f64,
        logs: &'a [f64],
        totals: &'a [f64],
        out: &'a mut [f64],
    ) -> () {
        for ((h, log), total) in out.iter_mut().zip(logs).zip(totals) {
            *h = one_minus_exp(((fixed + log) - total).min(0.0)).sqrt();
        }
    }

    /// Masses weight · e^(−rate · score); returns their sum and that of mass · score.
    pub fn weigh<'a>(
        rate: f64,
        weight: f64,
        scores: &'a [f64],
        masses: &'a mut [f64],
    ) -> (f64, f64) {
        // Two loops: in one, sums would keep the exponential from being vectorised.
        for (mass, score) in masses.iter_mut().zip(scores) {
            *mass = weight * exp_nonpositive(-rate * score);
        }
        let mut sums = ([0.0; LANES], [0.0; LANES]);
        each(scores, masses, |lane, score, mass| {
            sums.0[lane] += mass;
            sums.1[lane] += mass * score;
        });
        (join(sums.0), join(sums.1))
    }

    /// Turns scores into masses weight · e^(−rate · score).
    pub fn masses<'a>(rate: f64, weight: f64, scores: &'a mut [f64]) -> () {
        for score in scores {
            *score = weight * exp_nonpositive(-rate * *score);
        }
    }

    /// Turns logarithms of weights into masses weight · e^log.
    pub fn exponentials<'a>(weight: f64, logs: &'a mut [f64]) -> () {
        for log in logs {
            *log = weight * exp(*log);
        }
    }

    /// The sums of masses and of mass · value. A value without mass does not count, even if it is
    /// infinite.
    pub fn moments<'a>(values: &'a [f64], masses: &'a [f64]) -> (f64, f64) {
        let mut sums = ([0.0; LANES], [0.0; LANES]);
        each(values, masses, |lane, value, mass| {
            sums.0[lane] += mass;
            sums.1[lane] += if mass > 0.0 { mass * value } else { 0.0 };
        });
        (join(sums.0), join(sums.1))
    }

    /// The sum of mass · (value − centre)².
    pub fn spread<'a>(values: &'a [f64], masses: &'a [f64], centre: f64) -> f64 {
        let mut sums = [0.0; LANES];
        each(values, masses, |lane, value, mass| {
            let off = value - centre;
            sums[lane] += if mass > 0.0 { mass * (off * off) } else { 0.0 };
        });
        join(sums)
    }

    /// The bin of every value.
    pub fn bins<'a>(values: &'a [f64], bins: &'a mut [u32]) -> () {
        for (bin, value) in bins.iter_mut().zip(values) {
            *bin = scale::bin(*value) as u32;
        }
    }

    /// Appends the places of the values whose bit patterns are in a range.
    pub fn find<'a>(values: &'a [f64], range: (u64, u64), places: &'a mut Vec<usize>) -> () {
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
    }

    /// Masses head · p, and · q as well if the last coordinate has a factor; `q` runs backwards.
    pub fn products<'a>(
        head: f64,
        p: &'a [f64],
        q: Option<&'a [f64]>,
        masses: &'a mut [f64],
    ) -> () {
        match q {
            None => masses.iter_mut().zip(p).for_each(|(mass, p)| *mass = head * p),
            Some(q) => {
                for ((mass, p), q) in masses.iter_mut().zip(p).zip(q.iter().rev()) {
                    *mass = head * p * q;
                }
            }
        }
    }
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

/// The bits of every number that the loops compute from a row of values between 0 and 1 and from
/// masses, on one path.
#[cfg(test)]
fn bits(Path(arch): Path, values: &[f64], masses: &[f64]) -> Vec<u64> {
    let mut all = Vec::new();
    let mut out = vec![0.0; values.len()];
    let logs: Vec<f64> = values.iter().map(|value| -value * 40.0).collect();
    on::distances(arch, 0.1, 0.9, values, masses, values, &mut out);
    all.extend(out.iter().map(|v| v.to_bits()));
    on::open_distances(arch, -0.3, &logs, values, &mut out);
    all.extend(out.iter().map(|v| v.to_bits()));
    let (mass, first) = on::weigh(arch, 37.5, 6.0, values, &mut out);
    all.extend(out.iter().chain([&mass, &first]).map(|v| v.to_bits()));
    let (mass, first) = on::moments(arch, values, masses);
    all.extend([mass, first, on::spread(arch, values, masses, 0.3)].map(f64::to_bits));
    on::products(arch, 0.7, values, Some(masses), &mut out);
    all.extend(out.iter().map(|v| v.to_bits()));
    on::products(arch, 0.7, values, None, &mut out);
    on::masses(arch, 2.5, 3.0, &mut out);
    all.extend(out.iter().map(|v| v.to_bits()));
    let mut out: Vec<f64> = values.iter().map(|value| 1500.0 * (value - 0.5)).collect();
    on::exponentials(arch, 1.5, &mut out);
    all.extend(out.iter().map(|v| v.to_bits()));
    let mut found = Vec::new();
    on::find(arch, values, (0.1_f64.to_bits(), 0.3_f64.to_bits()), &mut found);
    all.extend(found.iter().map(|&place| place as u64));
    let mut places = vec![0; values.len()];
    on::bins(arch, values, &mut places);
    all.extend(places.iter().map(|&bin| u64::from(bin)));
    all.extend(rows::bits(arch, values));
    all
}

#[cfg(test)]
mod tests {
    use super::*;

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

    /// What every kernel makes of rows of all lengths.
    fn results(path: Path) -> Vec<u64> {
        let lengths = (0..70).chain([1000, 1023, 1024]);
        lengths
            .flat_map(|len| {
                let (values, masses) = samples(len);
                bits(path, &values, &masses)
            })
            .collect()
    }

    #[test]
    fn every_path_gives_the_same_bits() {
        let [portable, others @ ..] = &Path::all()[..] else { panic!("no path") };
        for path in others {
            assert!(results(*path) == results(*portable), "{}", path.name());
        }
    }

    /// A loop that is left out of `bits` could differ between processors unseen.
    #[test]
    fn every_loop_is_among_the_bits() {
        for (file, least) in [(include_str!("kernel.rs"), 10), (include_str!("rows.rs"), 3)] {
            let loops = file.lines().filter_map(|line| {
                line.strip_prefix("    pub fn ")?.split_once("<'a>(").map(|(name, _)| name)
            });
            let loops: Vec<&str> = loops.collect();
            assert!(loops.len() >= least, "{loops:?}");
            for name in loops {
                assert!(file.contains(&format!("on::{name}(arch")), "{name}");
            }
        }
    }

    /// The loops for any processor run in a process of their own: the version is chosen once for each
    /// process.
    #[test]
    fn every_processor_gives_the_same_bits() {
        let digest = |results: &[u64]| {
            results.iter().fold(0_u64, |sum, bits| sum.rotate_left(5) ^ bits.wrapping_mul(0x9e37))
        };
        if std::env::var_os("DPBI_PORTABLE").is_some() {
            println!("digest {:x}", digest(&results(Path(*ARCH))));
            return;
        }
        // The path of this test without the crate's name, as the test runner knows it.
        let here = module_path!().split_once("::").map_or("", |(_, path)| path);
        let name = format!("{here}::every_processor_gives_the_same_bits");
        let portable = std::process::Command::new(std::env::current_exe().unwrap())
            .args([&*name, "--exact", "--nocapture"])
            .env("DPBI_PORTABLE", "1")
            .output()
            .unwrap();
        let said = String::from_utf8(portable.stdout).unwrap();
        let ours = format!("digest {:x}", digest(&results(Path(*ARCH))));
        assert!(said.contains(&ours), "{ours}, but portable:\n{said}");
    }

    #[test]
    fn sums_are_those_of_plain_loops() {
        for len in [0, 1, 7, 8, 9, 500] {
            let (values, masses) = samples(len);
            let mut out = vec![0.0; len];
            let (mass, first) = weigh(3.0, 2.0, &values, &mut out);
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
