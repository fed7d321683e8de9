//! Claim 5: the exact privacy loss.

use super::range::{Point, ranges};
use super::{Claim, ClaimPart, Finding, Lab, Reading, balanced};
use engine::analysis::audit::Scope;

pub static CLAIM: Claim = Claim {
    number: 5,
    title: "EHD and EHDS lose less than ε in practice",
    source: "icml §7.2, Figure 6",
    figures: &["icml/fig6"],
    statement: "Two categories, prior (1, 1), ε = 1. The privacy loss of EHD and of \
                EHDS over all data sets of n records is smaller than ε. (That the \
                loss of EHDL is not is no sentence of the text. It is read off \
                Figure 6, and judged apart.)",
    meant: None,
    outputs: 3e7,
    judge,
};

/// From the figure's sizes; all data sets of 50000 records would take many times as long as these.
const SIZES: &[u64] = &[10, 14, 20, 35, 55, 100, 200, 500, 1_000, 2_000, 3_000, 5_000, 10_000];
const EPSILON: f64 = 1.0;

fn judge(lab: &Lab) -> Finding {
    let below = |loss: f64| loss < EPSILON;
    let parts = [
        along(lab, "ehd", "EHD loses less than ε", below),
        along(lab, "ehds", "EHDS loses less than ε", below),
        read_off_the_figure(along(lab, "ehdl", "EHDL loses ε or more", |loss| !below(loss))),
    ];
    Finding { parts: parts.concat(), remarks: vec![at_the_corners(lab), elsewhere(lab)] }
}

/// The text says nothing about EHDL. Its points in the figure lie above ε.
fn read_off_the_figure(parts: Vec<ClaimPart>) -> Vec<ClaimPart> {
    parts.into_iter().map(|part| part.read(Reading::Apart)).collect()
}

/// The figure goes on to n = 50000.
fn at_the_corners(lab: &Lab) -> String {
    let setting = lab.setting(&[1.0, 1.0], &balanced(50_000, 2), EPSILON, None);
    let [ehd, ehds, ehdl] =
        ["ehd", "ehds", "ehdl"].map(|id| lab.loss(&setting, id, &Scope::Corners));
    format!(
        "n = 50000, only data sets with at most three records in one category: EHD loses {ehd:.4}, EHDS \
         {ehds:.4}, EHDL {ehdl:.4}"
    )
}

/// EHDL where the local sensitivity of neighbours differs more than under the prior (1, 1).
fn elsewhere(lab: &Lab) -> String {
    let setting = lab.setting(&[1e2, 1e2, 1e4], &[8, 8, 9], EPSILON, None);
    let loss = lab.loss(&setting, "ehdl", &Scope::All);
    format!("under another prior, (100, 100, 10000) with n = 25, EHDL loses {loss:.4}")
}

fn along(lab: &Lab, id: &str, clause: &str, holds: impl Fn(f64) -> bool) -> Vec<ClaimPart> {
    let point = |&n: &u64| {
        let setting = lab.setting(&[1.0, 1.0], &balanced(n, 2), EPSILON, None);
        let loss = lab.loss(&setting, id, &Scope::All);
        Point { at: n, holds: holds(loss), ratio: loss }
    };
    ranges(clause, "", "n", "loss", &SIZES.iter().map(point).collect::<Vec<_>>())
}
