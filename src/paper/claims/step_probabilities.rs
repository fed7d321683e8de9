//! Claim 14: mechanisms whose step probabilities change with n.

use super::contest::title;
use super::{Claim, ClaimPart, Finding, Lab, balanced};
use crate::formula::tail;

pub static CLAIM: Claim = Claim {
    number: 14,
    title: "Only ℓ1 mechanisms keep their step probabilities as n grows",
    source: "icml §8",
    figures: &["icml/fig2", "icml/fig3", "icml/table1"],
    statement: "Mechanisms calibrated to the ℓ1 norm (LSDim, LSHist) release the \
                candidates of 0, 1 and 2 steps with probabilities that stay the same \
                when n changes. For mechanisms calibrated to the Hellinger distance \
                (EHD, EHDL, EHDS) these probabilities vary.",
    meant: None,
    outputs: 5e6,
    judge,
};

/// Balanced data, far from the ends, where clamping does not count.
const SIZES: &[u64] = &[100, 1000, 10_000];
const EPSILON: f64 = 1.0;
const STEPS: &[f64] = &[0.0, 1.0, 2.0];

/// 'The same' means that no probability changes by more than this, relatively. 'Varying' is the opposite.
const FIXED: f64 = 1e-9;

/// The mechanisms of each kind, and whether their probabilities should stay the same.
const KINDS: &[(&str, &[&str], bool)] = &[
    ("LSDim and LSHist keep their probabilities", &["lsdim", "lshist"], true),
    ("EHD, EHDL and EHDS change theirs", &["ehd", "ehdl", "ehds"], false),
];

fn judge(lab: &Lab) -> Finding {
    let each =
        KINDS.iter().flat_map(|(clause, ids, fixed)| ids.iter().map(|id| (*clause, *id, *fixed)));
    let parts = each.flat_map(|(clause, id, fixed)| {
        let along: Vec<_> = SIZES.iter().map(|&n| probabilities(lab, id, n)).collect();
        let part = move |i: usize| {
            let change = change(&along[i], &along[i + 1]);
            let numbers = [
                ("largest relative change", change),
                ("P[0 steps] before", along[i][0]),
                ("P[0 steps] after", along[i + 1][0]),
            ];
            let when = format!("{}, n from {} to {}", title(id), SIZES[i], SIZES[i + 1]);
            ClaimPart::new(clause, when, (change <= FIXED) == fixed, numbers)
        };
        (0..SIZES.len() - 1).map(part)
    });
    Finding { parts: parts.collect(), remarks: vec![limits(lab)] }
}

/// The limits of P[0 steps]: H/LS tends to the number of steps.
fn limits(lab: &Lab) -> String {
    let n = 1_000_000;
    let setting = lab.setting(&[1.0, 1.0], &balanced(n, 2), EPSILON, None);
    let [ehd, ehdl, ehds] = ["ehd", "ehdl", "ehds"].map(|id| lab.exact(&setting, id).p_exact);
    let limit = |divisor: f64| 1.0 / tail::normaliser_limit(EPSILON, divisor);
    format!(
        "n = {n}: P[0 steps] is {ehd:.2e} in EHD, {ehdl:.6} in EHDL (limit tanh(ε/4) = {:.6}), and \
         {ehds:.6} in EHDS (limit tanh(ε/8) = {:.6})",
        limit(2.0),
        limit(4.0)
    )
}

fn probabilities(lab: &Lab, id: &str, n: u64) -> Vec<f64> {
    let setting = lab.setting(&[1.0, 1.0], &balanced(n, 2), EPSILON, None);
    let steps = lab.distribution_of(&setting, id, "steps");
    STEPS.iter().map(|&t| steps.exactly(t)).collect()
}

fn change(before: &[f64], after: &[f64]) -> f64 {
    let changes = before.iter().zip(after).map(|(a, b)| (b / a - 1.0).abs());
    changes.fold(0.0, f64::max)
}
