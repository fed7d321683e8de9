//! Claim 1: the probabilities of icml Table 1.

use super::contest::title;
use super::{Claim, ClaimPart, Finding, Lab};
use crate::formula::table_one::one_sided;

pub static CLAIM: Claim = Claim {
    number: 1,
    title: "The step probabilities printed in Table 1 are right",
    source: "icml §6.1, Table 1",
    figures: &["icml/table1"],
    statement: "With ε = 1 the noise moves the first count by t = 0, 1, 2 with these \
                probabilities: 0.19673467014, 0.11932560927, 0.07237464051 for \
                LSDim, and 0.31606027941, 0.11627207896, 0.04277410743 for LSHist.",
    meant: None,
    outputs: 5e6,
    judge,
};

/// The printed digits.
const PRINTED: [(&str, [f64; 3]); 2] = [
    ("lsdim", [0.196_734_670_14, 0.119_325_609_27, 0.072_374_640_51]),
    ("lshist", [0.316_060_279_41, 0.116_272_078_96, 0.042_774_107_43]),
];

/// One unit of the last printed digit. Digits were cut off, not rounded.
const LAST_DIGIT: f64 = 1e-11;

/// Far from the ends of [0, n], where clamping does not count.
const BALANCED: u64 = 300;

fn judge(lab: &Lab) -> Finding {
    let setting = lab.setting(&[1.0, 1.0], &[BALANCED; 2], 1.0, None);
    let moved = |id: &str, t: u64| lab.probability(&setting, id, &[BALANCED + t, BALANCED - t]);
    let part = |id: &str, t: u64, printed: f64| {
        let exact = moved(id, t);
        let holds = (0.0..LAST_DIGIT).contains(&(exact - printed));
        let numbers = [("exact", exact), ("in print", printed), ("difference", exact - printed)];
        ClaimPart::new(
            format!("the probabilities of {}", title(id)),
            format!("t = {t}"),
            holds,
            numbers,
        )
    };
    let rows = PRINTED.iter();
    let parts = rows.flat_map(|(id, row)| (0..).zip(row).map(move |(t, p)| part(id, t, *p)));
    Finding { parts: parts.collect(), remarks: vec![both_sides(lab), formula_of_lshist()] }
}

/// The table's heading says P[H = c(t)], which includes steps to the other side.
fn both_sides(lab: &Lab) -> String {
    let setting = lab.setting(&[1.0, 1.0], &[BALANCED; 2], 1.0, None);
    let told = ["lsdim", "lshist"].map(|id| {
        let errors = lab.distribution(&setting, id);
        let whole = errors.levels.get(1).map_or(0.0, |level| level.probability);
        let down = lab.probability(&setting, id, &[BALANCED - 1, BALANCED + 1]);
        format!("{whole:.6} for {} ({down:.6} of it at t = -1)", title(id))
    });
    format!(
        "one side only: the whole P[H = c(1)], as the table's heading has it, is {} at balanced data",
        told.join(" and ")
    )
}

/// icml §6.1.2 writes e^(−εt/2), which is LSDim's law.
fn formula_of_lshist() -> String {
    let [(_, dim), (_, hist)] = PRINTED;
    let agree = |printed: [f64; 3], sensitivity: f64| {
        let formula = (0..).map(|t| one_sided(1.0, sensitivity, t));
        let differences = formula.zip(printed).map(|(formula, printed)| formula - printed);
        let all = differences.into_iter().all(|d| (0.0..LAST_DIGIT).contains(&d));
        if all { "agrees" } else { "does not agree" }
    };
    format!(
        "½(e^(-εt/Δ) - e^(-ε(t+1)/Δ)) with Δ = 2, which icml §6.1.2 writes for LSHist too, {} with \
         the printed values of LSHist ({:.6} at t = 0), and {} with those of LSDim; with Δ = 1 it {} \
         with those of LSHist",
        agree(hist, 2.0),
        one_sided(1.0, 2.0, 0),
        agree(dim, 2.0),
        agree(hist, 1.0),
    )
}
