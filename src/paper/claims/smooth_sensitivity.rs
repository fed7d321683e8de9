//! Claim 6: the sensitivities of icml §5.3.

use std::collections::HashMap;

use super::{Claim, ClaimPart, Finding, Lab};
use engine::posterior::error_field::Reach;
use engine::posterior::model::{Counts, neighbours};
use engine::posterior::simplex::list_compositions;

pub static CLAIM: Claim = Claim {
    number: 6,
    title: "The sensitivities are smooth; the true posterior attains LS",
    source: "icml Theorem 5.1, Lemma 5.4",
    figures: &["icml/fig1", "arxiv/fig1", "arxiv/fig2", "notes/fig1", "early/fig1"],
    statement: "The γ-smooth sensitivity S satisfies 1/S(x) - 1/S(x') ≤ γ for \
                adjacent data sets. Between adjacent data sets no candidate changes \
                its score by more than the true posterior BI(x) does, and BI(x) \
                changes it by LS(x).",
    meant: None,
    outputs: 2e7,
    judge,
};

const BINARY: &[&[f64]] = &[&[1.0, 1.0], &[0.1, 0.1], &[7.0, 4.0], &[0.5, 30.0]];
const TERNARY: &[&[f64]] = &[&[1.0; 3], &[0.1; 3], &[7.0, 4.0, 5.0], &[0.5, 3.0, 30.0]];
const GAMMAS: &[f64] = &[0.5, 1.0, 2.0];

/// Both sides of the theorem are often equal; rounding must not decide.
const ROUNDING: f64 = 1e-9;

fn judge(lab: &Lab) -> Finding {
    [
        theorem(lab, "k = 2", BINARY, &[1, 2, 10, 50, 200]),
        theorem(lab, "k = 3", TERNARY, &[1, 2, 5, 15, 30]),
        lemma(lab, "k = 2", BINARY, &[1, 5, 20, 40]),
        lemma(lab, "k = 3", TERNARY, &[1, 4, 10]),
    ]
    .into_iter()
    .collect()
}

/// The largest 1/S(x) − 1/S(x'), in units of γ, over all adjacent data sets of the given sizes.
fn theorem(lab: &Lab, when: &str, priors: &[&[f64]], sizes: &[u64]) -> ClaimPart {
    let (mut pairs, mut largest) = (0.0, f64::NEG_INFINITY);
    for (prior, n, gamma) in cases(priors, sizes) {
        let all = list_compositions(n, prior.len());
        let smooth = |x: &Counts| (lab.smooth)(&lab.setting(prior, x, 1.0, None), gamma);
        let reciprocal: HashMap<&Counts, f64> = all.iter().map(|x| (x, 1.0 / smooth(x))).collect();
        for x in &all {
            for y in neighbours(x) {
                pairs += 1.0;
                largest = f64::max(largest, (reciprocal[x] - reciprocal[&y]) / gamma);
            }
        }
    }
    let numbers = [("pairs", pairs), ("largest (1/S(x) - 1/S(x')) / γ", largest)];
    ClaimPart::new("1/S(x) - 1/S(x') ≤ γ (Theorem 5.1)", when, largest <= 1.0 + ROUNDING, numbers)
}

fn cases<'a>(
    priors: &'a [&'a [f64]],
    sizes: &'a [u64],
) -> impl Iterator<Item = (&'a [f64], u64, f64)> {
    let of_prior = move |prior: &'a [f64]| {
        sizes.iter().flat_map(move |&n| GAMMAS.iter().map(move |&gamma| (prior, n, gamma)))
    };
    priors.iter().flat_map(move |&prior| of_prior(prior))
}

/// The largest change of score of any candidate, as a multiple of LS(x), and the change of score of
/// BI(x) itself.
fn lemma(lab: &Lab, when: &str, priors: &[&[f64]], sizes: &[u64]) -> ClaimPart {
    let (mut largest, mut own_least, mut own_most) = (0.0, f64::INFINITY, 0.0);
    for (&prior, &n) in priors.iter().flat_map(|prior| sizes.iter().map(move |n| (prior, n))) {
        let all = list_compositions(n, prior.len());
        let place: HashMap<&Counts, usize> = all.iter().zip(0..).collect();
        let scores: Vec<Vec<f64>> = all.iter().map(|x| scores(lab, prior, x, &all)).collect();
        for (x, of_x) in all.iter().zip(&scores) {
            let local = lab.setting(prior, x, 1.0, None).sensitivity().local();
            let moved: Vec<&Vec<f64>> = neighbours(x).map(|y| &scores[place[&y]]).collect();
            let seen_by = |r: usize| {
                let changes = moved.iter().map(|of_y| (of_x[r] - of_y[r]).abs());
                changes.fold(0.0, f64::max) / local
            };
            largest = (0..all.len()).map(seen_by).fold(largest, f64::max);
            own_least = f64::min(own_least, seen_by(place[x]));
            own_most = f64::max(own_most, seen_by(place[x]));
        }
    }
    let numbers = [
        ("largest change / LS(x)", largest),
        ("least change at BI(x) / LS(x)", own_least),
        ("largest change at BI(x) / LS(x)", own_most),
    ];
    let is_one = |ratio: f64| (ratio - 1.0).abs() <= ROUNDING;
    let holds = is_one(largest) && is_one(own_least) && is_one(own_most);
    ClaimPart::new("BI(x) attains LS(x) (Lemma 5.4)", when, holds, numbers)
}

/// The distance of every candidate from the posterior of `x`.
fn scores(lab: &Lab, prior: &[f64], x: &Counts, candidates: &[Counts]) -> Vec<f64> {
    let setting = lab.setting(prior, x, 1.0, None);
    let posterior = setting.posterior();
    let reach = Reach { windows: vec![(0, posterior.n()); x.len()], ball: false };
    let field = lab.distance.field(posterior, &reach);
    candidates.iter().map(|candidate| field.at(candidate)).collect()
}
