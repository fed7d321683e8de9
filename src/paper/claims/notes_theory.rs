//! Claim 11: the first comparison of the exponential and the Laplace mechanism.

use super::contest::{Contest, NEAR, title, tuple};
use super::{Claim, ClaimPart, Finding, Lab, Reading};

pub static CLAIM: Claim = Claim {
    number: 11,
    title: "MH beats Laplace noise at (49, 49), loses with more categories",
    source: "notes §4.4, Figures 5 to 8",
    figures: &["notes/fig5", "notes/fig6", "notes/fig7", "notes/fig8"],
    statement: "Prior of ones, ε = 0.8, δ = 0.0005. At x = (49, 49) the exponential \
                mechanism (MH) is better than Laplace. At (20, 20, 20) Laplace is \
                slightly better (by at most 10 %). At (20, 20, 20, 20) and (1, 1, 1, \
                77) Laplace is clearly better (by more).",
    meant: Some(
        "§4.4 computes its curves with the exponent εc/S. The mechanism that §2.3 \
         defines and proves private has εc/2S.",
    ),
    outputs: 5e6,
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
            ForExponential => "MH is better",
            SlightlyForLaplace => "Laplace is slightly better",
            ClearlyForLaplace => "Laplace is clearly better",
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
        "Laplace: noise of scale 2/ε (notes §3.1), the total restored. That is LSDim if k = 2, and \
         LSHist otherwise."
            .into(),
    );
    let sharper = with_divisor_one(lab);
    for (counts, verdict) in DATA {
        let name = format!("x = {}", tuple(counts));
        let setting = lab.setting(&vec![1.0; counts.len()], counts, 0.8, Some(0.0005));
        let readings = readings(counts.len());
        let contest = Contest::new(lab, &setting, &[&["mh-beta"], readings].concat());
        let ratio = contest.ratio("mh-beta", readings[0]);
        let numbers = std::iter::once(("MH / Laplace".into(), ratio)).chain(contest.means());
        let stated = ClaimPart::new(verdict.words(), &name, verdict.agrees(ratio), numbers);
        let ratio = sharper.mean(&setting, "mh-beta") / lab.mean(&setting, readings[0]);
        let numbers = [("MH / Laplace", ratio)];
        let case = format!("{name}, with εc/S");
        let meant = ClaimPart::new(verdict.words(), case, verdict.agrees(ratio), numbers);
        finding.parts.extend([stated.read(Reading::Stated), meant.read(Reading::Meant)]);
        let objection = contest.objection("mh-beta", readings[0]);
        finding.remarks.extend(objection.map(|objection| format!("{name}: {objection}")));
        finding.remarks.extend(readings[1..].iter().map(|id| {
            let ratio = contest.ratio("mh-beta", id);
            let agrees = if verdict.agrees(ratio) { "agrees" } else { "does not agree" };
            let id = title(id);
            format!("{name}: with {id} as Laplace MH / Laplace is {ratio:.3}, which {agrees}")
        }));
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
