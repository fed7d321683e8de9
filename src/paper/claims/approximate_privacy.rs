//! Claim 8: (ε, δ)-privacy of MH, by exhaustive computation.

use super::contest::tuple;
use super::{Claim, ClaimPart, Finding, Lab, balanced};
use crate::analysis::audit::{self, DeltaAt, Loss, Scope};
use crate::posterior::setting::Setting;

/// The claim.
pub static CLAIM: Claim = Claim {
    number: 8,
    source: "notes Lemma 2.3",
    statement: "MH with β-smooth sensitivity is (ε, δ)-private. (The proof in print is incomplete; \
                all data sets of each setting are tried.)",
    effort: 0.3,
    judge,
};

/// Priors, and the numbers of records whose data sets are all tried. The proof counts n + 1
/// candidates, which is too few for k >= 3; and with a lopsided prior the sensitivities of
/// neighbours differ most, so that more than ε can be lost.
const CASES: &[(&[f64], &[u64])] = &[
    (&[1.0, 1.0], &[1, 3, 10, 50, 200]),
    (&[0.1, 0.1], &[1, 3, 10, 50]),
    (&[7.0, 4.0], &[10, 50]),
    (&[1.0; 3], &[1, 3, 8, 15]),
    (&[0.1; 3], &[1, 3, 8, 15]),
    (&[7.0, 4.0, 5.0], &[12]),
    (&[10.0, 10.0, 300.0], &[6, 12]),
    (&[1e3, 1e3, 1e6], &[6, 12]),
    (&[0.1; 4], &[2, 6]),
];

/// ε and δ: those of the documents, and some that make β large.
const PRIVACY: &[(f64, f64)] =
    &[(1.0, 1e-8), (0.8, 5e-4), (0.8, 0.8), (5.0, 0.06), (8.0, 4e-4), (12.0, 1e-5)];

fn judge(lab: &Lab) -> Finding {
    let audited: Vec<Audited> =
        PRIVACY.iter().map(|(epsilon, delta)| Audited::new(lab, *epsilon, *delta)).collect();
    let losing = audited.iter().filter(|audited| audited.loss.0 > audited.epsilon);
    let remarks = losing.map(Audited::remark).collect();
    Finding { parts: audited.iter().map(Audited::part).collect(), remarks }
}

/// The worst of all settings with one ε and δ.
struct Audited {
    epsilon: f64,
    delta: f64,
    settings: f64,
    /// The largest δ at ε.
    needed: f64,
    /// The largest loss, and where it is.
    loss: (f64, String),
}

impl Audited {
    fn new(lab: &Lab, epsilon: f64, delta: f64) -> Self {
        let mut audited =
            Self { epsilon, delta, settings: 0.0, needed: 0.0, loss: (0.0, "".into()) };
        for (prior, n) in
            CASES.iter().flat_map(|(prior, sizes)| sizes.iter().map(move |n| (prior, n)))
        {
            let setting = lab.setting(prior, &balanced(*n, prior.len()), epsilon, Some(delta));
            let (loss, needed) = audit(lab, &setting);
            audited.settings += 1.0;
            audited.needed = audited.needed.max(needed.delta);
            if loss.loss > audited.loss.0 {
                audited.loss = (loss.loss, format!("prior {}, n = {n}", tuple(prior)));
            }
        }
        audited
    }

    /// "ε = 1, δ = 1e-8".
    fn name(&self) -> String {
        let Self { epsilon, delta, .. } = self;
        let delta = if *delta < 1e-3 { format!("{delta:e}") } else { delta.to_string() };
        format!("ε = {epsilon}, δ = {delta}")
    }

    fn part(&self) -> ClaimPart {
        let numbers = [
            ("settings", self.settings),
            ("largest δ at ε", self.needed),
            ("largest loss / ε", self.loss.0 / self.epsilon),
        ];
        ClaimPart::new("", self.name(), self.needed <= self.delta, numbers)
    }

    fn remark(&self) -> String {
        let Self { needed, loss: (loss, place), .. } = self;
        let name = self.name();
        format!(
            "{name}: MH loses {loss:.3} > ε ({place}), so it is not ε-private \
             and does need a δ; the largest needed is {needed:.2e}"
        )
    }
}

fn audit(lab: &Lab, setting: &Setting) -> (Loss, DeltaAt) {
    let variant = lab.variant("mh-beta");
    let loss = audit::loss(&variant, setting, &Scope::All);
    let needed = audit::delta_at(&variant, setting, &Scope::All, setting.epsilon.get());
    (loss.expect("a setting that fits"), needed.expect("a setting that fits"))
}
