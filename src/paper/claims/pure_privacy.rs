//! Claim 7: ε-privacy, by exhaustive computation.

use super::contest::title;
use super::{Claim, ClaimPart, Finding, Lab, balanced};
use engine::analysis::audit::{self, Scope};
use engine::posterior::privacy::Gamma;
use engine::posterior::setting::Setting;

pub static CLAIM: Claim = Claim {
    number: 7,
    title: "LSDim, LSHist, EHD, EHDS are ε-private, MH (γ) 2ε-private",
    source: "icml Theorem 5.2, bounds Theorem 3.1, arxiv Lemma 5.6",
    figures: &["icml/fig6", "arxiv/fig6"],
    statement: "LSDim, LSHist, EHD and EHDS are ε-private. MH with γ-smooth \
                sensitivity, γ = 1, is 2ε-private.",
    meant: None,
    outputs: 2e7,
    judge,
};

/// Each mechanism and the multiple of ε that is claimed.
const CLAIMED: &[(&str, f64)] =
    &[("lsdim", 1.0), ("lshist", 1.0), ("ehd", 1.0), ("ehds", 1.0), ("mh-gamma", 2.0)];

/// Priors, and the numbers of records whose data sets are all tried.
const CASES: &[(&[f64], &[u64])] = &[
    (&[1.0, 1.0], &[1, 2, 5, 20, 100]),
    (&[0.1, 0.1], &[1, 5, 50]),
    (&[7.0, 4.0], &[5, 50]),
    (&[0.01, 30.0], &[2, 30]),
    (&[1.0; 3], &[1, 4, 12]),
    (&[0.1; 3], &[2, 8]),
    (&[7.0, 4.0, 5.0], &[6]),
    (&[0.01, 1.0, 20.0], &[6]),
    (&[1.0; 4], &[1, 5]),
    (&[0.1; 4], &[4]),
];

const EPSILONS: &[f64] = &[0.1, 1.0, 5.0];

/// Some mechanisms lose exactly what is claimed; rounding must not decide.
const ROUNDING: f64 = 1e-9;

fn judge(lab: &Lab) -> Finding {
    CLAIMED.iter().map(|(id, multiple)| part(lab, id, *multiple)).collect()
}

fn part(lab: &Lab, id: &str, multiple: f64) -> ClaimPart {
    let (mut settings, mut largest) = (0.0, 0.0_f64);
    for setting in settings_of(lab, id) {
        let loss = audit::loss(lab.law(&setting, id).as_ref(), &setting, &Scope::All);
        settings += 1.0;
        largest = largest.max(loss.expect("a setting that fits").loss / setting.epsilon.get());
    }
    let name = if multiple == 1.0 { "ε".to_owned() } else { format!("{multiple}ε") };
    let numbers = [("largest loss / ε", largest), ("settings", settings)];
    let holds = largest <= multiple * (1.0 + ROUNDING);
    ClaimPart::new(format!("{} is {name}-private", title(id)), "", holds, numbers)
}

/// The settings in which a mechanism is tried; EHDS with more than one γ.
fn settings_of<'a>(lab: &'a Lab, id: &'a str) -> impl Iterator<Item = Setting> + 'a {
    let gammas: &[f64] = if id == "ehds" { &[0.5, 1.0, 2.0] } else { &[1.0] };
    let sizes = CASES.iter().flat_map(|(prior, sizes)| sizes.iter().map(move |n| (*prior, *n)));
    let cases = sizes.flat_map(|case| EPSILONS.iter().map(move |&epsilon| (case, epsilon)));
    cases.flat_map(move |((prior, n), epsilon)| {
        gammas.iter().map(move |&gamma| Setting {
            gamma: Gamma::new(gamma).expect("a γ"),
            ..Setting::clone(&lab.setting(prior, &balanced(n, prior.len()), epsilon, None))
        })
    })
}
