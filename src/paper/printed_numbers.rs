//! Numbers that the documents print, computed again.

use crate::claims::{Lab, balanced};
use engine::mechanism::law::noise::Noise;
use engine::numeric::gamma::ln_phi;
use engine::numeric::sum::sum;
use engine::numeric::{exp_accurate, expm1, ln};
use engine::posterior::distance::{self, HELLINGER};
use engine::posterior::model::{Posterior, Prior};
use engine::posterior::sensitivity::{CandidatesInBeta, beta};
use schemars::JsonSchema;
use serde::Serialize;

/// A printed number and ours.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct PrintedNumber {
    /// Where it is printed.
    pub place: &'static str,
    pub what: String,
    /// As it is printed.
    pub printed: &'static str,
    /// The number that we compute.
    pub computed: f64,
    /// How far apart they may be.
    #[serde(skip)]
    pub allowed: f64,
    pub agrees: bool,
    /// Whether it agrees only if the authors' rounding errors are repeated.
    pub by_their_rounding: bool,
    /// What a reader should know.
    pub note: String,
}

impl PrintedNumber {
    fn new(
        place: &'static str,
        what: String,
        printed: &'static str,
        computed: f64,
        allowed: f64,
    ) -> Self {
        let value: f64 = printed.parse().unwrap_or(f64::NAN);
        let agrees = (computed - value).abs() <= allowed;
        let (by_their_rounding, note) = (false, String::new());
        Self { place, what, printed, computed, allowed, agrees, by_their_rounding, note }
    }

    /// One unit of the last printed digit is allowed: digits may be rounded or cut off.
    fn to_the_last_digit(
        place: &'static str,
        what: String,
        printed: &'static str,
        computed: f64,
    ) -> Self {
        let decimals = printed.split('.').nth(1).map_or(0, str::len) as i32;
        Self::new(place, what, printed, computed, libm::pow(10.0, f64::from(-decimals)))
    }
}

pub fn all() -> Vec<PrintedNumber> {
    let mut numbers = table_one();
    numbers.extend(captions());
    numbers.extend(early_captions());
    numbers.extend(unrounded_laplace());
    numbers.extend(records());
    numbers
}

/// icml Table 1: P[⌊Y⌋ = t], one side, ε = 1.
fn table_one() -> Vec<PrintedNumber> {
    const PRINTED: &[(&str, f64, [&str; 3])] = &[
        ("LSDim", 2.0, ["0.19673467014", "0.11932560927", "0.07237464051"]),
        ("LSHist", 1.0, ["0.31606027941", "0.11627207896", "0.04277410743"]),
    ];
    let rows = PRINTED.iter().flat_map(|&(mechanism, scale, digits)| {
        (0..).zip(digits).map(move |(t, printed)| {
            let computed = Noise::Laplace.probability(scale, 300, 600, 300 + t);
            let what = format!("{mechanism}, P[H = c({t})]");
            PrintedNumber::to_the_last_digit("icml, Table 1", what, printed, computed)
        })
    });
    rows.collect()
}

/// notes Figure 3: β and the global sensitivity in its captions.
fn captions() -> Vec<PrintedNumber> {
    const PLACE: &str = "notes, captions of Figure 3";
    let of_beta = |n: u64, printed: &'static str| {
        let computed = beta(0.8, 0.8, n, CandidatesInBeta::N);
        let with_text = beta(0.8, 0.8, n, CandidatesInBeta::NPlusOne);
        let what = format!("β, ε = δ = 0.8, n = {n}");
        let number = PrintedNumber::to_the_last_digit(PLACE, what, printed, computed);
        let note = format!("with n candidates; the n + 1 of the text give {with_text:.12}");
        PrintedNumber { note, ..number }
    };
    let below_prior = (-expm1(ln_phi(3.0) + ln_phi(7.0))).sqrt();
    let exact = Prior::new(vec![7.0, 4.0, 5.0])
        .map(|prior| HELLINGER.sensitivity(&Posterior::new(prior, vec![50, 25, 25])).global());
    let global = PrintedNumber {
        note: format!(
            "sqrt(1 − φ(3) φ(7)), a neighbour below the prior; the global sensitivity is {:.12}",
            exact.unwrap_or_default()
        ),
        ..PrintedNumber::to_the_last_digit(
            PLACE,
            "GS, prior (7, 4, 5)".to_owned(),
            "0.239992747797",
            below_prior,
        )
    };
    vec![of_beta(100, "0.0699407108115"), of_beta(120, "0.0677791100173"), global]
}

/// early Figure 2: β and the local sensitivity in its pictures, which fix n, ε and the data.
fn early_captions() -> Vec<PrintedNumber> {
    const PLACE: &str = "early, pictures of Figure 2";
    /// What cancels in 1 − BC, if BC is computed by differences of log-gammas.
    const CANCELLED: f64 = 5e-12;
    let of = |epsilon: f64, x: [u64; 2], printed: [&'static str; 2]| {
        let what = |name: &str| format!("{name}, ε = {epsilon}, δ = 0.8, x = ({}, {})", x[0], x[1]);
        let beta = beta(epsilon, 0.8, x[0] + x[1], CandidatesInBeta::N);
        let (a, b) = (7.0 + x[0] as f64, 4.0 + x[1] as f64);
        // The program looked at one of the two neighbours only.
        let [local, other] =
            [(a, b - 1.0), (a - 1.0, b)].map(|(a, b)| (-expm1(ln_phi(a) + ln_phi(b))).sqrt());
        let [printed_beta, printed_local] = printed;
        let number = PrintedNumber::new(PLACE, what("LS"), printed_local, local, CANCELLED);
        let note = format!(
            "of the neighbour with one record more in the first category; over both neighbours LS is \
             {:.12}. The last digits in print are lost to cancellation",
            local.max(other)
        );
        [
            PrintedNumber::to_the_last_digit(PLACE, what("β"), printed_beta, beta),
            PrintedNumber { note, ..number },
        ]
    };
    let first = of(0.5, [110, 190], ["0.0370683338738", "0.0414073535766"]);
    let second = of(0.8, [117, 83], ["0.0623778858305", "0.0495834131367"]);
    first.into_iter().chain(second).collect()
}

/// notes Figure 4 (b): |Lap(2/ε)| is added to all three parameters without rounding, so that the ℓ1
/// error is 2/ε times a Gamma variable of shape 3. The printed quartiles are those of 200 runs.
fn unrounded_laplace() -> Vec<PrintedNumber> {
    const READ: &[(&str, f64, &str)] = &[
        ("lower quartile", 0.25, "4.51"),
        ("median", 0.5, "6.77"),
        ("upper quartile", 0.75, "10.08"),
    ];
    /// The standard errors that are allowed.
    const ALLOWED: f64 = 4.0;
    const RUNS: f64 = 200.0;
    const READING: f64 = 0.02;
    let scale = 2.0 / 0.8;
    READ.iter()
        .map(|&(name, p, printed)| {
            let quantile = gamma_3_quantile(p);
            let density = 0.5 * quantile * quantile * exp_accurate(-quantile) / scale;
            let standard_error = (p * (1.0 - p) / RUNS).sqrt() / density;
            let what = format!("{name} of the ℓ1 error, Laplace, ε = 0.8");
            let allowed = ALLOWED * standard_error + READING;
            let note = format!(
                "of noise that is not rounded; printed from 200 runs, with a standard error of \
                 {standard_error:.2}"
            );
            let place = "notes, Figure 4 (b)";
            PrintedNumber {
                note,
                ..PrintedNumber::new(place, what, printed, scale * quantile, allowed)
            }
        })
        .collect()
}

/// The p-quantile of a Gamma variable of shape 3 and scale 1: P[T > t] = e^(−t) (1 + t + t²/2).
fn gamma_3_quantile(p: f64) -> f64 {
    let (mut low, mut high) = (0.0, 50.0);
    for _ in 0..80 {
        let t = 0.5 * (low + high);
        let above = exp_accurate(-t) * (1.0 + t + 0.5 * t * t);
        if 1.0 - above < p { low = t } else { high = t }
    }
    0.5 * (low + high)
}

/// The authors' record of P[H = 0] at balanced data, with the print distance. Their digits are
/// reproduced only if the distance is computed as they did, by a difference of log-gammas; the note
/// gives the accurate value.
fn records() -> Vec<PrintedNumber> {
    const PRINTED: &[(u64, &str)] =
        &[(10_000, "0.24491118982"), (100_000, "0.244918709378"), (1_000_000, "0.244550415711")];
    PRINTED
        .iter()
        .map(|&(n, printed)| {
            let what = format!("P[H = 0], n = {n}, divisor 2, print distance");
            let (computed, accurate) = (p_exact_by_cancellation(n), accurate_p_exact(n));
            let note = format!(
                "evaluated as the authors did, by differences of log-gammas; accurately it is \
                 {accurate:.12}"
            );
            let number = |computed: f64| {
                let (place, what) = ("the authors' record", what.clone());
                PrintedNumber::to_the_last_digit(place, what, printed, computed)
            };
            let by_their_rounding = !number(accurate).agrees;
            PrintedNumber { note, by_their_rounding, ..number(computed) }
        })
        .collect()
}

/// P[H = 0] at n balanced records, from the exact law.
fn accurate_p_exact(n: u64) -> f64 {
    let lab = Lab::new(distance::find("print").unwrap_or(HELLINGER));
    let setting = lab.setting(&[1.0, 1.0], &balanced(n, 2), 1.0, None);
    lab.exact(&setting, "mh-gamma").p_exact
}

/// The same with H = sqrt(1 − exp(g((a+b)/2) − (g(a) + g(b))/2)), g(v) = Σ lnΓ(v_i) / ln Σ v_i, computed
/// literally: terms of size n cancel down to 1/(2 n ln n), and digits are lost.
fn p_exact_by_cancellation(n: u64) -> f64 {
    let (half, total) = ((n / 2) as f64, n as f64 + 2.0);
    let g = |x: f64, y: f64| (stirling(x) + stirling(y)) / ln(total);
    let a = half + 1.0;
    let distance = |t: f64| {
        let middle = g(a + 0.5 * t, a - 0.5 * t);
        let z = middle - 0.5 * (g(a, a) + g(a + t, a - t));
        (1.0 - exp_accurate(z)).max(0.0).sqrt()
    };
    let step = distance(1.0);
    let weight = |t: f64| exp_accurate(-distance(t) / (2.0 * step));
    // Weights farther out do not count, and nearer to the end Stirling's series is inaccurate.
    let reach = (n / 3).min(40_000) as i64;
    1.0 / sum((-reach..=reach).map(|t| weight(t as f64)))
}

/// lnΓ(x) by Stirling's series with three terms, exact to the last bits for x >= 1000.
fn stirling(x: f64) -> f64 {
    const HALF_LN_TWO_PI: f64 = 0.918_938_533_204_672_8;
    let p = 1.0 / (x * x);
    let series = (p / 1260.0 - 1.0 / 360.0) * p + 1.0 / 12.0;
    (x - 0.5) * ln(x) - x + HALF_LN_TWO_PI + series / x
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_agrees() {
        for number in all() {
            assert!(number.agrees, "{number:?}");
        }
    }

    #[test]
    fn a_wrong_number_does_not() {
        let PrintedNumber { place, what, printed, computed, .. } = table_one().remove(0);
        assert!(!PrintedNumber::to_the_last_digit(place, what, printed, computed + 2e-11).agrees);
    }

    #[test]
    fn the_record_evaluated_accurately() {
        // In 50-digit arithmetic.
        let accurate = [0.244_911_196_90, 0.244_918_062_96, 0.244_918_612_43];
        for (n, accurate) in [10_000, 100_000, 1_000_000].into_iter().zip(accurate) {
            let ours = accurate_p_exact(n);
            assert!((ours - accurate).abs() < 1e-11, "{n}: {ours}");
        }
    }
}
