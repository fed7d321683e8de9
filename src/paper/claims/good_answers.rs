//! Claim 2: which mechanisms give good answers at ε = 1.

use super::contest::title;
use super::{Claim, ClaimPart, Finding, Lab, balanced};
use engine::mechanism::law::Distribution;

pub static CLAIM: Claim = Claim {
    number: 2,
    title: "LSHist answers well most often, EHD least often",
    source: "icml §7.1.1, Figure 2",
    figures: &["icml/fig2"],
    statement: "Balanced data, n = 600, ε = 1. Of the private mechanisms LSHist \
                gives good answers with the highest probability, and EHD with the \
                lowest. This is so for k = 2 and for k = 3. (A mechanism gives \
                better answers if its P[H ≤ t] is larger for every t up to the \
                median of LSHist.)",
    meant: None,
    outputs: 5e6,
    judge,
};

const PRIVATE: &[&str] = &["lsdim", "lshist", "ehd", "ehds"];

fn judge(lab: &Lab) -> Finding {
    [2, 3].into_iter().flat_map(|k| in_dimension(lab, k)).collect()
}

fn in_dimension(lab: &Lab, k: usize) -> [ClaimPart; 2] {
    let setting = lab.setting(&vec![1.0; k], &balanced(600, k), 1.0, None);
    let laws: Vec<_> = PRIVATE.iter().map(|&id| (id, lab.distribution(&setting, id))).collect();
    let law = |id: &str| &laws.iter().find(|(other, _)| *other == id).expect("private").1;
    let median = law("lshist").quantile(0.5);
    // The least lead of P[H <= t] of `a` over that of `b`.
    let lead = |a: &str, b: &str| least_lead(law(a), law(b), median);
    let part = |clause: &str, leads: Vec<(String, f64)>| {
        let holds = leads.iter().all(|(_, lead)| *lead > 0.0);
        let masses = laws.iter().map(|(id, law)| {
            (format!("P[H ≤ median of LSHist], {}", title(id)), law.at_most(median))
        });
        let numbers = std::iter::once(("median of LSHist".into(), median));
        ClaimPart::new(clause, format!("k = {k}"), holds, numbers.chain(masses).chain(leads))
    };
    let others = |id: &'static str| PRIVATE.iter().copied().filter(move |other| *other != id);
    let ahead =
        others("lshist").map(|id| (format!("least lead over {}", title(id)), lead("lshist", id)));
    let behind = others("ehd").map(|id| (format!("least lead of {}", title(id)), lead(id, "ehd")));
    [
        part("LSHist answers well most often", ahead.collect()),
        part("EHD answers well least often", behind.collect()),
    ]
}

/// The smallest P_a[H <= t] − P_b[H <= t] over all t from 0 to `last`. Both sides are constant
/// between the values that they attain.
fn least_lead(a: &Distribution, b: &Distribution, last: f64) -> f64 {
    let attained = a.levels.iter().chain(&b.levels).map(|level| level.value);
    let lead = |t: f64| a.at_most(t) - b.at_most(t);
    attained.filter(|&t| t <= last).map(lead).fold(f64::INFINITY, f64::min)
}
