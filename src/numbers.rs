//! Numbers that the documents print, computed again.

use crate::claims::{Lab, balanced};
use crate::distance::{self, HELLINGER};
use crate::law::Noise;
use crate::model::{Posterior, Prior};
use crate::numeric::gamma::ln_phi;
use crate::numeric::{expm1, ln};
use crate::sensitivity::{CandidatesInBeta, Sensitivity, beta};

/// A number in print beside ours.
#[derive(Clone, Debug, PartialEq)]
pub struct PrintedNumber {
    /// Where it is printed.
    pub place: &'static str,
    /// What it is.
    pub what: String,
    /// Its digits in print.
    pub printed: &'static str,
    /// Ours.
    pub computed: f64,
    /// How far apart they may be.
    pub allowed: f64,
    /// Whether all digits in print are to come out; if not, those that rounding has left.
    pub to_the_last_digit: bool,
    /// What a reader should know.
    pub note: String,
}

impl PrintedNumber {
    /// Whether the number comes out.
    #[must_use]
    pub fn agrees(&self) -> bool {
        (self.computed - self.value()).abs() <= self.allowed
    }

    fn value(&self) -> f64 {
        self.printed.parse().unwrap_or(f64::NAN)
    }

    /// One unit of the last digit in print: digits may be rounded or cut off.
    fn to_the_last_digit(
        place: &'static str,
        what: String,
        printed: &'static str,
        computed: f64,
    ) -> Self {
        let decimals = printed.split('.').nth(1).map_or(0, str::len) as i32;
        let allowed = libm::pow(10.0, f64::from(-decimals));
        let note = String::new();
        Self { place, what, printed, computed, allowed, to_the_last_digit: true, note }
    }
}

/// Every number.
#[must_use]
pub fn all() -> Vec<PrintedNumber> {
    let mut numbers = table_one();
    numbers.extend(captions());
    numbers.extend(records());
    numbers
}

/// icml Table 1: P[⌊Y⌋ = t], one side, ε = 1.
fn table_one() -> Vec<PrintedNumber> {
    const PRINTED: [(&str, f64, [&str; 3]); 2] = [
        ("LSDim", 2.0, ["0.19673467014", "0.11932560927", "0.07237464051"]),
        ("LSHist", 1.0, ["0.31606027941", "0.11627207896", "0.04277410743"]),
    ];
    let rows = PRINTED.into_iter().flat_map(|(mechanism, scale, digits)| {
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
        .map(|prior| Sensitivity::new(&Posterior::new(prior, vec![50, 25, 25]), 1.0).global());
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

/// The authors' record of P[H = 0] at balanced data, with the print distance.
fn records() -> Vec<PrintedNumber> {
    const PRINTED: [(u64, &str); 3] =
        [(10_000, "0.24491118982"), (100_000, "0.244918709378"), (1_000_000, "0.244550415711")];
    let lab = Lab::new(distance::find("print").unwrap_or(HELLINGER));
    PRINTED
        .into_iter()
        .map(|(n, printed)| {
            let setting = lab.setting(&[1.0, 1.0], &balanced(n, 2), 1.0, None);
            let computed = lab.exact(&setting, "mh-gamma").p_exact;
            PrintedNumber {
                place: "the authors' record (not in print)",
                what: format!("P[H = 0], n = {n}, divisor 2, print distance"),
                printed,
                computed,
                allowed: computed * cancellation(n),
                to_the_last_digit: false,
                note: format!(
                    "agrees within what the authors' own rounding leaves: a difference of log-gammas \
                     of size n has the squared distance of one step uncertain by {:.0e} of itself",
                    cancellation(n)
                ),
            }
        })
        .collect()
}

/// What rounding leaves uncertain, relatively, of the squared distance of one step, when it is
/// computed as a difference of log-gammas over ln n: terms of size n, rounded to 2⁻⁵³ of that, whose
/// difference is 1/(2 n ln n).
fn cancellation(n: u64) -> f64 {
    let n = n as f64;
    n * f64::EPSILON * 2.0 * n * ln(n)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_comes_out() {
        for number in all() {
            assert!(number.agrees(), "{number:?}");
        }
    }

    #[test]
    fn a_wrong_number_does_not() {
        let right = table_one().remove(0);
        let wrong = PrintedNumber { computed: right.computed + 2e-11, ..right };
        assert!(!wrong.agrees());
    }

    #[test]
    fn the_record_evaluated_accurately() {
        // In 50-digit arithmetic.
        let accurate = [0.244_911_196_90, 0.244_918_062_96, 0.244_918_612_43];
        for (number, accurate) in records().iter().zip(accurate) {
            assert!((number.computed - accurate).abs() < 1e-11, "{number:?}");
        }
    }
}
