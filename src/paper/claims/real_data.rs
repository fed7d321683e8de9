//! Claim 4: the order of the exponential mechanisms on real data.

use super::contest::{Contest, title, tuple};
use super::{Claim, ClaimPart, Finding, Lab};

pub static CLAIM: Claim = Claim {
    number: 4,
    title: "On real data EHD is worst, EHDS better, EHDL better still",
    source: "icml §7.1.2, Figures 4 and 5",
    figures: &["icml/fig4", "icml/fig5"],
    statement: "On every real data set, with ε = 1 and a prior of ones, EHD is the \
                worst of the five mechanisms, EHDS is better than EHD, and EHDL is \
                better than both.",
    meant: None,
    outputs: 5e6,
    judge,
};

/// The data sets of the figures.
const DATA: &[(&str, &[u64])] = &[
    ("bike", &[231, 500]),
    ("cryotherapy", &[42, 48]),
    ("immunotherapy", &[19, 71]),
    ("badges", &[84, 210]),
    ("bike weather", &[463, 247, 21]),
    ("cryotherapy type", &[54, 9, 27]),
    ("immunotherapy type", &[47, 22, 21]),
];

const FIVE: &[&str] = &["lsdim", "lshist", "ehd", "ehdl", "ehds"];

fn judge(lab: &Lab) -> Finding {
    let mut finding = Finding::default();
    for &(name, counts) in DATA {
        let name = format!("{name} {}", tuple(counts));
        let setting = lab.setting(&vec![1.0; counts.len()], counts, 1.0, None);
        let contest = Contest::new(lab, &setting, FIVE);
        finding.parts.extend([
            ClaimPart::new("EHD is worst", &name, contest.is_worst("ehd"), contest.means()),
            better(&contest, "EHDS is better than EHD", &name, &[("ehds", "ehd")]),
            better(
                &contest,
                "EHDL is better than both",
                &name,
                &[("ehdl", "ehd"), ("ehdl", "ehds")],
            ),
        ]);
        // Everyone should be better than EHD.
        let over_ehd = FIVE.iter().filter(|id| **id != "ehd").map(|id| (*id, "ehd"));
        let pairs = over_ehd.chain([("ehdl", "ehds")]);
        let objections = pairs.filter_map(|(a, b)| contest.objection(a, b));
        finding.remarks.extend(objections.map(|objection| format!("{name}: {objection}")));
    }
    finding
}

/// Whether the first of each pair is better than the second.
fn better(contest: &Contest, clause: &str, when: &str, pairs: &[(&str, &str)]) -> ClaimPart {
    let holds = pairs.iter().all(|(a, b)| contest.beats(a, b));
    let numbers =
        pairs.iter().map(|(a, b)| (format!("{} / {}", title(a), title(b)), contest.ratio(a, b)));
    ClaimPart::new(clause, when, holds, numbers)
}
