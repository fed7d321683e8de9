//! Claim 11: the first comparison of the exponential and the Laplace mechanism.

use super::contest::{Contest, NEAR, title, tuple};
use super::{Claim, ClaimPart, Finding, Lab};

/// The claim.
pub static CLAIM: Claim = Claim {
    number: 11,
    source: "notes §4.4, Figures 5 to 8",
    statement: "Priors all ones, ε = 0.8, δ = 0.0005: the exponential mechanism (MH) beats \
                Laplace at x = (49, 49); Laplace is slightly better at (20, 20, 20) (by at most \
                10 %), and clearly at (20, 20, 20, 20) and (1, 1, 1, 77) (by more).",
    effort: 0.4,
    judge,
};

/// What the notes say about a data set.
#[derive(Clone, Copy)]
enum Verdict {
    ForExponential,
    SlightlyForLaplace,
    ClearlyForLaplace,
}

use Verdict::{ClearlyForLaplace, ForExponential, SlightlyForLaplace};

const DATA: &[(&[u64], Verdict)] = &[
    (&[49, 49], ForExponential),
    (&[20, 20, 20], SlightlyForLaplace),
    (&[20, 20, 20, 20], ClearlyForLaplace),
    (&[1, 1, 1, 77], ClearlyForLaplace),
];

/// The mechanisms that 'Laplace' may mean, likeliest first. The notes give the scale 2/ε (§3.1) and count
/// steps between candidates (§4.4), so the total is restored: that is LSDim if k = 2 and LSHist
/// otherwise. LSDim has the scale k/ε, LSZhang noise on every count and no restored total (too many
/// outputs to be walked in passing if k = 4).
fn readings(k: usize) -> &'static [&'static str] {
    match k {
        2 => &["lsdim", "lszhang"],
        3 => &["lshist", "lsdim", "lszhang"],
        _ => &["lshist", "lsdim"],
    }
}

impl Verdict {
    fn words(self) -> &'static str {
        match self {
            ForExponential => "MH better",
            SlightlyForLaplace => "Laplace slightly better",
            ClearlyForLaplace => "Laplace clearly better",
        }
    }

    fn agrees(self, ratio: f64) -> bool {
        match self {
            ForExponential => ratio < 1.0,
            SlightlyForLaplace => ratio > 1.0 && ratio <= NEAR,
            ClearlyForLaplace => ratio > NEAR,
        }
    }
}

fn judge(lab: &Lab) -> Finding {
    let mut finding = Finding::default();
    finding.remarks.push(
        "Laplace: noise of scale 2/ε (notes §3.1), the total restored; LSDim if k = 2, LSHist \
         otherwise"
            .into(),
    );
    let sharper = with_divisor_one(lab);
    for (counts, verdict) in DATA {
        let name = tuple(counts);
        let setting = lab.setting(&vec![1.0; counts.len()], counts, 0.8, Some(0.0005));
        let readings = readings(counts.len());
        let contest = Contest::new(lab, &setting, &[&["mh-beta"], readings].concat());
        let ratio = contest.ratio("mh-beta", readings[0]);
        let numbers = contest.means().chain([("MH / Laplace".into(), ratio)]);
        finding.parts.push(ClaimPart::new(verdict.words(), &name, verdict.agrees(ratio), numbers));
        let objection = contest.objection("mh-beta", readings[0]);
        finding.remarks.extend(objection.map(|objection| format!("{name}: {objection}")));
        let others = readings[1..].iter().map(|id| (title(id), contest.ratio("mh-beta", id)));
        let half = sharper.mean(&setting, "mh-beta") / lab.mean(&setting, readings[0]);
        let exponent = ("the exponent ε c / S that §4.4 writes", half);
        for (reading, ratio) in others.chain([exponent]) {
            let agrees = if verdict.agrees(ratio) { "agrees" } else { "does not agree" };
            finding.remarks.push(format!(
                "{name}: with {reading} MH / Laplace is {ratio:.3}, which {agrees} with the claim"
            ));
        }
    }
    finding
}

/// The lab with the exponent of notes §4.4, which divides by S. Privacy is claimed for that of §2.3, which
/// divides by 2 S.
fn with_divisor_one(lab: &Lab) -> Lab {
    let mut variant = lab.variant("mh-beta");
    variant.options.divisor = Some(1.0);
    lab.clone().substitute("mh-beta", variant)
}
