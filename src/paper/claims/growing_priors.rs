//! Claim 10: MH against both Laplace mechanisms as the prior grows.

use super::contest::{Contest, objections};
use super::range::approaches;
use super::{Claim, ClaimPart, Finding, Lab};

pub static CLAIM: Claim = Claim {
    number: 10,
    title: "With larger priors MH overtakes LSDim and nears LSHist",
    source: "arxiv §7.2.2, Figure 5 (priors)",
    figures: &["arxiv/fig5-priors"],
    statement: "Data (50, 50), priors (b, b), ε = 1, δ = 10⁻⁸. For the smallest b \
                both Laplace mechanisms beat MH. As b grows, MH overtakes the \
                baseline LSDim and comes close to the improved LSHist (the ratio of \
                their means falls below 1.1).",
    meant: None,
    outputs: 5e6,
    judge,
};

/// The priors of the figure.
const PRIORS: &[u64] = &[
    20, 30, 40, 50, 100, 150, 200, 300, 400, 500, 600, 800, 1_000, 1_200, 1_400, 1_600, 1_800,
    2_000,
];

fn judge(lab: &Lab) -> Finding {
    let contests: Vec<Contest> = PRIORS.iter().map(|&b| at_prior(lab, b)).collect();
    let against = |rival: &str| -> Vec<f64> {
        contests.iter().map(|contest| contest.ratio("mh-beta", rival)).collect()
    };
    let (baseline, improved) = (against("lsdim"), against("lshist"));
    let last = PRIORS.len() - 1;
    let ends = |ratios: &[f64], rival: &str| {
        let name = |b: u64| format!("MH / {rival} at b = {b}");
        [(name(PRIORS[0]), ratios[0]), (name(PRIORS[last]), ratios[last])]
    };
    let at_first = [baseline[0], improved[0]].iter().all(|&ratio| ratio > 1.0);
    let both = ends(&baseline, "LSDim").into_iter().chain(ends(&improved, "LSHist"));
    let parts = [
        ClaimPart::new(
            "both Laplace mechanisms beat MH at first",
            format!("b = {}", PRIORS[0]),
            at_first,
            both.step_by(2),
        ),
        ClaimPart::new(
            "MH overtakes LSDim",
            "",
            stays_ahead_from(&baseline).is_some(),
            ends(&baseline, "LSDim"),
        ),
        ClaimPart::new(
            "MH comes close to LSHist",
            "",
            approaches(&improved),
            ends(&improved, "LSHist"),
        ),
    ];
    let mut remarks = vec![crossing(lab, stays_ahead_from(&baseline))];
    let along = PRIORS.iter().copied().zip(&contests);
    remarks.extend(objections("mh-beta", &["lsdim", "lshist"], "b", along));
    Finding { parts: parts.into(), remarks }
}

fn at_prior(lab: &Lab, b: u64) -> Contest {
    let setting = lab.setting(&[b as f64; 2], &[50, 50], 1.0, Some(1e-8));
    Contest::new(lab, &setting, &["mh-beta", "lsdim", "lshist"])
}

/// The first prior of those, up to the last, at which MH has the smaller mean.
fn stays_ahead_from(ratios: &[f64]) -> Option<u64> {
    let ahead = ratios.iter().rev().take_while(|&&ratio| ratio < 1.0).count();
    PRIORS.get(ratios.len() - ahead).copied()
}

/// The exact b from which on MH is ahead: the figure's priors are far apart, and may begin too late.
fn crossing(lab: &Lab, ahead: Option<u64>) -> String {
    let Some(known) = ahead else { return "MH does not stay ahead of LSDim".into() };
    let is_ahead = |b: &u64| at_prior(lab, *b).beats("mh-beta", "lsdim");
    let behind = (1..known).rev().find(|b| !is_ahead(b)).unwrap_or(0);
    format!("MH is ahead of LSDim from b = {} on", behind + 1)
}
