//! Claim 17: what MH really loses, and what arxiv concludes about its accuracy.

use super::contest::{Contest, NEAR, objections, tuple};
use super::range::{Point, ranges};
use super::{Claim, ClaimPart, Finding, Lab, balanced};
use crate::analysis::audit::{self, Scope};

/// The claim.
pub static CLAIM: Claim = Claim {
    number: 17,
    source: "arxiv §7.3, Figure 6; §8",
    statement: "k = 2, prior (1, 1), ε = 1, δ = 0.0005: the concrete ε of MH is below the bound (ε \
                with β-smooth, 2ε with γ-smooth sensitivity). MH beats the baseline (LSDim) for \
                small priors but not the improved Laplace (LSHist), and is comparable to it (within \
                10 %) for large priors.",
    effort: 0.2,
    judge,
};

const EPSILON: f64 = 1.0;
/// δ of the privacy figure, and of the accuracy figures.
const DELTA: [f64; 2] = [0.0005, 1e-8];
const SIZES: &[u64] = &[50, 100, 200, 300, 400, 600, 800, 1000];

/// Small priors (b, b).
const SMALL: &[f64] = &[1.0, 5.0];
/// The sizes of balanced data at which they are tested.
const DATA: &[u64] = &[50, 100, 200, 300, 500, 1000, 3000, 10_000];
/// Large priors (b, b), tried with x = (50, 50) as in the document's figure.
const LARGE: &[f64] = &[200.0, 500.0, 1000.0, 2000.0];

/// The mechanisms: MH, the baseline, and the improved one.
const THREE: &[&str] = &["mh-beta", "lsdim", "lshist"];

fn judge(lab: &Lab) -> Finding {
    let mut finding = Finding::default();
    for (id, clause, bound) in [
        ("mh-beta", "§7.3, β-smooth: loss below ε", 1.0),
        ("mh-gamma", "§7.3, γ-smooth: loss below 2ε", 2.0),
    ] {
        let balanced = |n| Scope::One(balanced(n, 2));
        finding.parts.extend(losses(lab, id, clause, "balanced data", bound, balanced));
        finding.parts.extend(losses(lab, id, clause, "all data sets", bound, |_| Scope::All));
    }
    for &b in SMALL {
        let prior = format!("prior {}", tuple(&[b, b]));
        let contests: Vec<Contest> =
            DATA.iter().map(|&n| contest(lab, b, &balanced(n, 2))).collect();
        finding.parts.extend(small_prior(&prior, &contests));
        let along = DATA.iter().copied().zip(&contests);
        let objections = objections("mh-beta", &THREE[1..], "n", along);
        finding.remarks.extend(objections.into_iter().map(|told| format!("{prior}: {told}")));
    }
    finding.parts.extend(LARGE.iter().map(|&b| comparable(lab, b)));
    finding.remarks.extend([with_delta(lab), without_the_two(lab)]);
    finding
}

/// The loss against n.
fn losses(
    lab: &Lab,
    id: &str,
    clause: &str,
    data: &str,
    bound: f64,
    scope: impl Fn(u64) -> Scope,
) -> Vec<ClaimPart> {
    let point = |&n: &u64| {
        let template = lab.setting(&[1.0, 1.0], &balanced(n, 2), EPSILON, Some(DELTA[0]));
        let loss = lab.loss(&template, id, &scope(n));
        Point { at: n, holds: loss < bound * EPSILON, ratio: loss }
    };
    ranges(clause, data, "n", "loss", &SIZES.iter().map(point).collect::<Vec<_>>())
}

fn contest(lab: &Lab, b: f64, x: &[u64]) -> Contest {
    Contest::new(lab, &lab.setting(&[b, b], x, EPSILON, Some(DELTA[1])), THREE)
}

fn small_prior(prior: &str, contests: &[Contest]) -> Vec<ClaimPart> {
    let against = |rival: &str, holds: fn(f64) -> bool| -> Vec<Point> {
        let point = |(n, contest): (u64, &Contest)| {
            let ratio = contest.ratio("mh-beta", rival);
            Point { at: n, holds: holds(ratio), ratio }
        };
        DATA.iter().copied().zip(contests).map(point).collect()
    };
    let baseline = against("lsdim", |ratio| ratio < 1.0);
    let improved = against("lshist", |ratio| ratio >= 1.0);
    let beats = "§8, small priors: MH beats the baseline";
    let does_not = "§8, small priors: MH does not beat the improved";
    let beats = ranges(beats, prior, "n", "ratio of means", &baseline);
    [beats, ranges(does_not, prior, "n", "ratio of means", &improved)].concat()
}

fn comparable(lab: &Lab, b: f64) -> ClaimPart {
    let ratio = contest(lab, b, &[50, 50]).ratio("mh-beta", "lshist");
    let holds = ratio.max(1.0 / ratio) <= NEAR;
    let clause = "§8, large priors: MH comparable to the improved";
    let when = format!("x = (50, 50), prior {}", tuple(&[b, b]));
    ClaimPart::new(clause, when, holds, [("ratio of means", ratio)])
}

/// The largest loss, and δ at half of it.
fn with_delta(lab: &Lab) -> String {
    let template = lab.setting(&[1.0, 1.0], &balanced(1000, 2), EPSILON, Some(DELTA[0]));
    let variant = lab.variant("mh-beta");
    let loss = audit::loss(&variant, &template, &Scope::All).expect("a setting that fits");
    let half = audit::delta_at(&variant, &template, &Scope::All, 0.5 * loss.loss);
    let half = half.expect("a setting that fits").delta;
    format!(
        "β-smooth, n = 1000: the largest loss {:.4} is between x = ({}, {}) and ({}, {}); δ at half \
         of it is {half:.4}",
        loss.loss, loss.from[0], loss.from[1], loss.to[0], loss.to[1]
    )
}

/// Some printed curves of MH leave out the 2 before the sensitivity.
fn without_the_two(lab: &Lab) -> String {
    let mut variant = lab.variant("mh-beta");
    variant.options.divisor = Some(1.0);
    let lab = lab.clone().substitute("mh-beta", variant);
    let told = LARGE.iter().map(|&b| {
        let template = lab.setting(&[b, b], &[50, 50], EPSILON, Some(DELTA[1]));
        let ratio = contest(&lab, b, &[50, 50]).ratio("mh-beta", "lshist");
        let loss = lab.loss(&template, "mh-beta", &Scope::All);
        format!("{ratio:.3} with a loss of {loss:.3} (b = {b})")
    });
    format!(
        "with weights e^(-εH/S) MH / LSHist at the large priors would be {}; losses over all data sets \
         of 100 records, at ε = {EPSILON}",
        told.collect::<Vec<_>>().join(", ")
    )
}
