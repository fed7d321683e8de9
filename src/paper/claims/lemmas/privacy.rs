//! arxiv Lemma 5.5.

use std::f64::consts::LN_2;

use super::super::{ClaimPart, Lab};
use super::instance::Instance;
use super::{SIZES, privacies};
use engine::analysis::audit::{self, Scope};
use engine::numeric::ln;

/// The lemma with its largest ε' = ε + 2 ln 2, and with the δ of the mechanism, over all pairs of
/// adjacent data sets.
pub fn part(lab: &Lab) -> ClaimPart {
    let (mut loss_left, mut largest_delta, mut holds) = (f64::INFINITY, 0.0_f64, true);
    for (epsilon, delta) in privacies() {
        for &n in SIZES {
            let setting = lab.setting(&[1.0, 1.0], &[n, 0], epsilon, Some(delta));
            let (law, stated) = (lab.law(&setting, "mh-beta"), epsilon + 2.0 * LN_2);
            let found = audit::examine(law.as_ref(), &setting, &Scope::All, &[stated])
                .expect("a setting that fits");
            let at = found.deltas[0].delta;
            loss_left = loss_left.min(stated - found.loss.loss);
            largest_delta = largest_delta.max(at);
            holds &= at <= delta;
        }
    }
    let numbers = [("least ε' - loss", loss_left), ("largest δ at ε'", largest_delta)];
    ClaimPart::new("arxiv Lemma 5.5", "ε' = ε + 2 ln 2 and the mechanism's δ", holds, numbers)
}

/// The δ that the lemma states has λ = ln(S(x)/S(x') · ln(NL(x)/NL(x'))) in it.
pub fn stated_delta(instances: &[Instance]) -> String {
    let (mut pairs, mut undefined, mut negative) = (0, 0, 0);
    for pair in instances.windows(2).filter(|pair| pair[1].x == pair[0].x + 1) {
        for (a, b) in [(&pair[0], &pair[1]), (&pair[1], &pair[0])] {
            // NL is the reciprocal of the probability of the true posterior.
            let normalisers = ln(b.values[0].probability / a.values[0].probability);
            let ratio = a.sensitivity / b.sensitivity * normalisers;
            pairs += 1;
            undefined += u32::from(ratio <= 0.0);
            negative += u32::from(ratio > 0.0 && a.far(ratio) > 1.0);
        }
    }
    format!(
        "the δ stated in arxiv Lemma 5.5 is undefined (the logarithm of a negative number) at \
         {undefined} of {pairs} ordered pairs of adjacent data sets and negative at {negative}"
    )
}
