//! Claim 8: (ε, δ)-privacy of MH, by exhaustive computation, and by symmetry for many categories.

use super::alike_categories::AlikeCategories;
use super::contest::tuple;
use super::range::{Point, ranges};
use super::{Claim, ClaimPart, Finding, Lab, balanced};
use engine::analysis::audit::{self, DeltaAt, Loss, Scope};
use engine::posterior::setting::Setting;

pub static CLAIM: Claim = Claim {
    number: 8,
    title: "MH with β-smooth sensitivity is (ε, δ)-private",
    source: "notes Lemma 2.3",
    figures: &["notes/fig2", "notes/fig3", "arxiv/fig6"],
    statement: "MH with β-smooth sensitivity is (ε, δ)-private.",
    meant: None,
    outputs: 3e7,
    judge,
};

/// Priors, and the numbers of records whose data sets are all tried. With a lopsided prior the
/// sensitivities of neighbours differ most, so that more than ε can be lost.
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

/// The numbers of categories in these cases.
const FEW: &[usize] = &[2, 3, 4];

/// ε and δ: those of the documents, and some that make β large.
const PRIVACY: &[(f64, f64)] =
    &[(1.0, 1e-8), (0.8, 5e-4), (0.8, 0.8), (5.0, 0.06), (8.0, 4e-4), (12.0, 1e-5)];

/// One data set and its neighbour with a growing number of categories. The proof counts n + 1
/// candidates, where there are C(n + k − 1, n).
struct Family {
    n: u64,
    epsilon: f64,
    delta: f64,
}

/// The first needs few records and candidates; the second has the fewest categories that were found.
const FAMILIES: &[Family] =
    &[Family { n: 10, epsilon: 16.0, delta: 1e-8 }, Family { n: 16, epsilon: 13.5, delta: 1e-6 }];

/// The prior of all categories but the last, and of the last.
const PRIOR: (f64, f64) = (1e3, 1e9);
/// The numbers of categories that are tried.
const MANY: std::ops::RangeInclusive<usize> = 5..=18;

fn judge(lab: &Lab) -> Finding {
    let audited: Vec<Audited> = FEW.iter().map(|&k| Audited::new(lab, k)).collect();
    let along: Vec<Vec<Point>> = FAMILIES.iter().map(|family| family.along(lab)).collect();
    let many = FAMILIES.iter().zip(&along).flat_map(|(family, points)| family.parts(points));
    let losing = audited.iter().filter(|audited| audited.loss.0 > 1.0).map(Audited::remark);
    let failing = FAMILIES.iter().zip(&along).filter_map(|(family, points)| family.remark(points));
    Finding {
        parts: audited.iter().map(Audited::part).chain(many).collect(),
        remarks: failing.chain([small_prior(lab), SEARCH.to_owned()]).chain(losing).collect(),
    }
}

/// How far the search for counterexamples went.
const SEARCH: &str = "A search on a coarse grid (priors (a, …, a, b) with all records in the last category, \
                      k from 3 to 100, n from 2 to 28, a from 1 to 10000, ε from 0.5 to 40, δ from 0.5 \
                      to 10⁻¹²) found no counterexample with fewer than 13 categories, fewer than 8 \
                      records, ε below 9 or a below 4.";

/// The smallest prior that was found, where much more than δ is needed.
fn small_prior(lab: &Lab) -> String {
    let (alike, epsilon, delta) =
        (AlikeCategories { k: 24, small: 4.0, large: 4e6, n: 24 }, 11.0, 1e-4);
    let needed = alike.delta(lab, "mh-beta", epsilon, delta);
    format!(
        "Prior 4 in 23 categories and 4e6 in the last, all 24 records in the last, ε = {epsilon}, \
         δ = {delta:e}: MH needs δ = {needed:.3e}."
    )
}

impl Family {
    fn along(&self, lab: &Lab) -> Vec<Point> {
        let &Self { n, epsilon, delta } = self;
        let point = |k: usize| {
            let alike = AlikeCategories { k, small: PRIOR.0, large: PRIOR.1, n };
            let ratio = alike.delta(lab, "mh-beta", epsilon, delta) / delta;
            Point { at: k as u64, holds: ratio <= 1.0, ratio }
        };
        MANY.map(point).collect()
    }

    fn name(&self) -> String {
        let Self { n, epsilon, delta } = self;
        format!("n = {n}, ε = {epsilon}, δ = {delta:e}")
    }

    fn parts(&self, points: &[Point]) -> Vec<ClaimPart> {
        ranges("", &self.name(), "k", "δ needed / δ", points)
    }

    /// The counterexample with the fewest categories.
    fn remark(&self, points: &[Point]) -> Option<String> {
        let Point { at: k, ratio, .. } = points.iter().find(|point| !point.holds)?;
        let Self { n, delta, .. } = self;
        let (small, large) = PRIOR;
        Some(format!(
            "{}: MH fails from k = {k} on. Prior {small} in {} categories and {large:e} in the last, \
             all {n} records in the last: at ε it needs δ = {:.5e}. The reason: β counts {} \
             candidates, and there are many more.",
            self.name(),
            k - 1,
            ratio * delta,
            n + 1
        ))
    }
}

/// The worst of all settings with k categories.
struct Audited {
    k: usize,
    settings: f64,
    /// The largest δ at ε, in units of δ.
    needed: f64,
    /// The largest loss in units of ε, and where it is.
    loss: (f64, String),
}

impl Audited {
    fn new(lab: &Lab, k: usize) -> Self {
        let mut audited = Self { k, settings: 0.0, needed: 0.0, loss: (0.0, "".into()) };
        let cases = CASES.iter().filter(|(prior, _)| prior.len() == k);
        let cases = cases.flat_map(|(prior, sizes)| sizes.iter().map(move |n| (prior, n)));
        for (prior, n) in cases {
            for &(epsilon, delta) in PRIVACY {
                let setting = lab.setting(prior, &balanced(*n, k), epsilon, Some(delta));
                let (loss, needed) = audit(lab, &setting);
                audited.settings += 1.0;
                audited.needed = audited.needed.max(needed.delta / delta);
                if loss.loss / epsilon > audited.loss.0 {
                    let place = format!("prior {}, n = {n}, ε = {epsilon}", tuple(prior));
                    audited.loss = (loss.loss / epsilon, place);
                }
            }
        }
        audited
    }

    fn part(&self) -> ClaimPart {
        let numbers = [
            ("largest δ needed / δ", self.needed),
            ("largest loss / ε", self.loss.0),
            ("settings", self.settings),
        ];
        let holds = self.needed <= 1.0;
        let told = if holds { ", no counterexample" } else { "" };
        let when = format!("k = {} ({} settings{told})", self.k, self.settings);
        ClaimPart::new("", when, holds, numbers)
    }

    fn remark(&self) -> String {
        let Self { k, loss: (loss, place), .. } = self;
        format!("k = {k}: MH does need a δ. It loses {loss:.3} ε, more than ε ({place}).")
    }
}

fn audit(lab: &Lab, setting: &Setting) -> (Loss, DeltaAt) {
    let epsilon = setting.epsilon.get();
    let found =
        audit::examine(lab.law(setting, "mh-beta").as_ref(), setting, &Scope::All, &[epsilon]);
    let mut found = found.expect("a setting that fits");
    (found.loss, found.deltas.swap_remove(0))
}
