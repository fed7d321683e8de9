//! Claim 17: what MH really loses, and what arxiv concludes about its accuracy.

use super::contest::{Contest, NEAR, objections, tuple};
use super::range::{Point, ranges};
use super::{Claim, ClaimPart, Finding, Lab, Reading, balanced};
use engine::analysis::audit::{self, Scope};

pub static CLAIM: Claim = Claim {
    number: 17,
    title: "MH loses less than its bound, and rivals LSHist at large priors",
    source: "arxiv §7.3, Figure 6; §8",
    figures: &["arxiv/fig6", "arxiv/fig5-priors", "arxiv/fig4"],
    statement: "Two categories, prior (1, 1), ε = 1, δ = 0.0005. MH really loses \
                less than its bound: ε with β-smooth sensitivity, 2ε with γ-smooth \
                sensitivity. For small priors MH beats the baseline LSDim, but not \
                the improved LSHist. For large priors MH is comparable to LSHist \
                (within 10 %).",
    meant: Some(
        "The document's accuracy figures, on which its conclusions rest, have δ = \
         10⁻⁸. Only the figure of the losses has δ = 0.0005.",
    ),
    outputs: 2e7,
    judge,
};

const EPSILON: f64 = 1.0;
/// The δ that is stated, of the figure of the losses.
const STATED: f64 = 0.0005;
/// The δ of the accuracy figures.
const MEANT: f64 = 1e-8;
/// The readings of the sentences about accuracy.
const READINGS: [(Reading, f64, &str); 2] =
    [(Reading::Stated, STATED, "δ = 0.0005"), (Reading::Meant, MEANT, "δ = 1e-8")];
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
        ("mh-beta", "MH with β-smooth sensitivity loses less than ε", 1.0),
        ("mh-gamma", "MH with γ-smooth sensitivity loses less than 2ε", 2.0),
    ] {
        let balanced = |n| Scope::One(balanced(n, 2));
        finding.parts.extend(losses(lab, id, clause, "balanced data", bound, balanced));
        finding.parts.extend(losses(lab, id, clause, "all data sets", bound, |_| Scope::All));
    }
    for (reading, delta, name) in READINGS {
        let accuracy = Accuracy { lab, delta, name };
        let (mut parts, remarks) = accuracy.at_small_priors();
        parts.extend(LARGE.iter().map(|&b| accuracy.comparable(b)));
        finding.parts.extend(parts.into_iter().map(|part| part.read(reading)));
        finding.remarks.extend(remarks);
    }
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
        let setting = lab.setting(&[1.0, 1.0], &balanced(n, 2), EPSILON, Some(STATED));
        let loss = lab.loss(&setting, id, &scope(n));
        Point { at: n, holds: loss < bound * EPSILON, ratio: loss }
    };
    ranges(clause, data, "n", "loss", &SIZES.iter().map(point).collect::<Vec<_>>())
}

/// The sentences about accuracy, with one δ.
struct Accuracy<'a> {
    lab: &'a Lab,
    delta: f64,
    name: &'static str,
}

impl Accuracy<'_> {
    fn contest(&self, b: f64, x: &[u64]) -> Contest {
        Contest::new(self.lab, &self.lab.setting(&[b, b], x, EPSILON, Some(self.delta)), THREE)
    }

    /// The parts, and where the medians disagree with the means.
    fn at_small_priors(&self) -> (Vec<ClaimPart>, Vec<String>) {
        let (mut parts, mut remarks) = (Vec::new(), Vec::new());
        for &b in SMALL {
            let case = format!("{}, prior {}", self.name, tuple(&[b, b]));
            let contests: Vec<Contest> =
                DATA.iter().map(|&n| self.contest(b, &balanced(n, 2))).collect();
            parts.extend(small_prior(&case, &contests));
            let along = DATA.iter().copied().zip(&contests);
            let objections = objections("mh-beta", &THREE[1..], "n", along);
            remarks.extend(objections.into_iter().map(|told| format!("{case}: {told}")));
        }
        (parts, remarks)
    }

    fn comparable(&self, b: f64) -> ClaimPart {
        let ratio = self.contest(b, &[50, 50]).ratio("mh-beta", "lshist");
        let holds = ratio.max(1.0 / ratio) <= NEAR;
        let clause = "MH is comparable to LSHist at large priors";
        let when = format!("{}, x = (50, 50), prior {}", self.name, tuple(&[b, b]));
        ClaimPart::new(clause, when, holds, [("ratio of means", ratio)])
    }
}

fn small_prior(case: &str, contests: &[Contest]) -> Vec<ClaimPart> {
    let against = |rival: &str, holds: fn(f64) -> bool| -> Vec<Point> {
        let point = |(n, contest): (u64, &Contest)| {
            let ratio = contest.ratio("mh-beta", rival);
            Point { at: n, holds: holds(ratio), ratio }
        };
        DATA.iter().copied().zip(contests).map(point).collect()
    };
    let baseline = against("lsdim", |ratio| ratio < 1.0);
    let improved = against("lshist", |ratio| ratio >= 1.0);
    let beats = "MH beats LSDim at small priors";
    let does_not = "MH does not beat LSHist at small priors";
    let beats = ranges(beats, case, "n", "ratio of means", &baseline);
    [beats, ranges(does_not, case, "n", "ratio of means", &improved)].concat()
}

/// The largest loss, and δ at half of it.
fn with_delta(lab: &Lab) -> String {
    let setting = lab.setting(&[1.0, 1.0], &balanced(1000, 2), EPSILON, Some(STATED));
    let law = lab.law(&setting, "mh-beta");
    let loss = audit::loss(law.as_ref(), &setting, &Scope::All).expect("a setting that fits");
    let half = audit::delta_at(law.as_ref(), &setting, &Scope::All, 0.5 * loss.loss);
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
        let setting = lab.setting(&[b, b], &[50, 50], EPSILON, Some(MEANT));
        let ratio = Contest::new(&lab, &setting, THREE).ratio("mh-beta", "lshist");
        let loss = lab.loss(&setting, "mh-beta", &Scope::All);
        format!("{ratio:.3} with a loss of {loss:.3} (b = {b})")
    });
    format!(
        "with weights e^(-εH/S) MH / LSHist at the large priors would be {}; losses over all data sets \
         of 100 records, at ε = {EPSILON}",
        told.collect::<Vec<_>>().join(", ")
    )
}
