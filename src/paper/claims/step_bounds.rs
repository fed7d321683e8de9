//! Claim 12: bounds Theorem 4.5 and its corollaries.

use std::ops::RangeInclusive;

use super::grid::{Case, parts, parts_of};
use super::{Claim, ClaimPart, Finding, Lab, Reading, balanced};
use crate::formula::{overtaking, step_bounds as formula, steps};
use engine::mechanism::Global;
use engine::parallel;
use engine::posterior::setting::SettingWithData;

pub static CLAIM: Claim = Claim {
    number: 12,
    title: "Theorem 4.5 bounds P[H < t]; LSHist overtakes EHD",
    source: "bounds Theorem 4.5, Corollaries 4.5.1 to 4.5.3",
    figures: &["bounds/thm45", "bounds/cor45"],
    statement: "Let k' be the largest number of steps whose distance is below t. \
                Then P[H < t] is (1 - ½(e^(-k'ε/2) + e^(-(k'+1)ε/2)))² ≥ (1 - \
                e^(-k'ε/2))² for LSZhang, and 1 - ½(e^(-k'ε) + e^(-(k'+1)ε)) ≥ 1 - \
                e^(-k'ε) for LSHist. For EHD it lies between (2k' e^(-ε) + 1)/n and \
                (2k' + 1)/(n e^(-ε)), for EHDL between the same bounds with ε/2LS \
                for ε. Therefore LSHist is more accurate than EHD above n = \
                (2k'+1)e^ε/(1 - e^(-ε)) (Corollary 4.5.1). EHD is more accurate \
                below n = (2k' e^(-ε) + 1)/(1 - ½(e^(-k'ε) + e^(-(k'+1)ε))) (4.5.2). \
                LSHist stays within LS more often than EHD above n = e^ε/(1 - \
                e^(-ε)) (4.5.3). (The corollaries write O(…); the constant 1 is \
                tested.)",
    meant: Some(
        "The proofs of Corollaries 4.5.1 and 4.5.3 give other thresholds than are \
         stated: n > (2k'+1)e^ε/(1 - e^(-k'ε)), and n > 3e^(ε/c)/(1 - e^(-ε)) with c \
         = 2 sqrt(1 - π/4).",
    ),
    outputs: 7e7,
    judge,
};

/// About four sizes for every factor of ten, even and odd.
const SIZES: &[u64] = &[10, 17, 30, 56, 100, 101, 178, 317, 562, 1000, 1779, 3162, 5623, 10_000];
const STEPS: &[u32] = &[1, 2, 5];
const EPSILONS: &[f64] = &[0.1, 0.5, 1.0, 2.0];

/// The relative difference up to which two numbers are equal.
const EQUAL: f64 = 1e-9;
/// The two sides of an inequality may be equal; rounding must not decide.
const ROUNDING: f64 = 1e-12;

/// The largest n at which LSHist and EHD are compared.
const LAST: u64 = 10_000;

fn judge(lab: &Lab) -> Finding {
    // EHD's global sensitivity as bounds §1 defines it.
    let own = with_global_bound(lab);
    let comparisons = comparisons(&own);
    let mut finding: Finding = theorem(&own).into_iter().chain(corollaries(&comparisons)).collect();
    finding.remarks =
        vec![crossings(&own, &comparisons), exact_global(lab), totals(lab), unbalanced(lab)];
    finding
}

/// The lab with GS = sqrt(1 − π/4) in EHD.
fn with_global_bound(lab: &Lab) -> Lab {
    let mut ehd = lab.variant("ehd");
    if ehd.kind.id == "ehd" {
        ehd.options.global = Some(Global::Bound);
    }
    lab.clone().substitute("ehd", ehd)
}

/// A clause of the theorem: the decisive number at one case, and whether the clause is true.
type Clause = fn(&SettingWithData, u32, f64) -> (f64, bool);

/// Each clause with the mechanism it is about, and the number that decides it. The third argument
/// of a clause is the exact P[H <= c(k')].
const CLAUSES: &[(&str, &str, &str, Clause)] = &[
    ("the formula for LSZhang", "lszhang", "exact / formula", |setting, k, exact| {
        equal(exact, formula::lszhang(k, setting.epsilon.get()))
    }),
    ("the lower bound for LSZhang", "lszhang", "exact / bound", |setting, k, exact| {
        at_least(exact, formula::lszhang_lower(k, setting.epsilon.get()))
    }),
    ("the formula for LSHist", "lshist", "exact / formula", |setting, k, exact| {
        equal(exact, formula::lshist(k, setting.epsilon.get()))
    }),
    ("the lower bound for LSHist", "lshist", "exact / bound", |setting, k, exact| {
        at_least(exact, formula::lshist_lower(k, setting.epsilon.get()))
    }),
    ("the lower bound for EHD", "ehd", "exact / bound", |setting, k, exact| {
        above(exact, formula::ehd(k, setting.epsilon.get(), setting.n).0)
    }),
    ("the upper bound for EHD", "ehd", "exact / bound", |setting, k, exact| {
        below(exact, formula::ehd(k, setting.epsilon.get(), setting.n).1)
    }),
    ("the lower bound for EHDL", "ehdl", "exact / bound", |setting, k, exact| {
        above(exact, ehdl(setting, k).0)
    }),
    ("the upper bound for EHDL", "ehdl", "exact / bound", |setting, k, exact| {
        below(exact, ehdl(setting, k).1)
    }),
];

fn ehdl(setting: &SettingWithData, k: u32) -> (f64, f64) {
    let local = setting.sensitivity().local();
    formula::ehdl(k, setting.epsilon.get(), setting.n, local)
}

fn equal(exact: f64, formula: f64) -> (f64, bool) {
    (exact / formula, (exact / formula - 1.0).abs() <= EQUAL)
}

fn at_least(exact: f64, bound: f64) -> (f64, bool) {
    (exact / bound, exact >= bound * (1.0 - ROUNDING))
}

fn above(exact: f64, bound: f64) -> (f64, bool) {
    (exact / bound, exact > bound)
}

fn below(exact: f64, bound: f64) -> (f64, bool) {
    (exact / bound, exact < bound)
}

fn theorem(lab: &Lab) -> Vec<ClaimPart> {
    let mut cases: Vec<Vec<Case>> = CLAUSES.iter().map(|_| Vec::new()).collect();
    for (epsilon, n) in epsilons_and_sizes() {
        let setting = setting(lab, n, epsilon);
        let laws = ["lszhang", "lshist", "ehd", "ehdl"].map(|id| (id, within(lab, &setting, id)));
        for (cases, (_, id, _, clause)) in cases.iter_mut().zip(CLAUSES) {
            let (_, exact) = laws.iter().find(|(other, _)| other == id).expect("its law");
            for (&steps, exact) in STEPS.iter().zip(exact) {
                let (value, holds) = clause(&setting, steps, *exact);
                cases.push(Case { n, steps, epsilon, holds, value });
            }
        }
    }
    let told = CLAUSES.iter().zip(&cases);
    told.flat_map(|((clause, _, value, _), cases)| parts(clause, value, cases)).collect()
}

fn epsilons_and_sizes() -> impl Iterator<Item = (f64, u64)> {
    EPSILONS.iter().flat_map(|&epsilon| SIZES.iter().map(move |&n| (epsilon, n)))
}

fn setting(lab: &Lab, n: u64, epsilon: f64) -> SettingWithData {
    lab.setting(&[1.0, 1.0], &balanced(n, 2), epsilon, None)
}

/// The exact P[H <= c(k')] for every k'.
fn within(lab: &Lab, setting: &SettingWithData, id: &str) -> Vec<f64> {
    let law = lab.distribution(setting, id);
    STEPS.iter().map(|&steps| law.at_most(radius(setting, steps))).collect()
}

fn radius(setting: &SettingWithData, steps: u32) -> f64 {
    steps::radius(setting, steps).expect("a size with enough records")
}

/// P[H <= c(k')] of LSHist and of EHD at one n.
#[derive(Clone, Copy)]
struct AtSize {
    n: u64,
    lshist: f64,
    ehd: f64,
}

impl AtSize {
    /// For every k' for which some candidates are more than k' steps away.
    fn all(lab: &Lab, epsilon: f64, n: u64) -> Vec<Option<Self>> {
        let setting = setting(lab, n, epsilon);
        let [lshist, ehd] = ["lshist", "ehd"].map(|id| lab.distribution(&setting, id));
        let at = |&steps: &u32| {
            sizes_beyond(steps).contains(&n).then(|| {
                let radius = radius(&setting, steps);
                Self { n, lshist: lshist.at_most(radius), ehd: ehd.at_most(radius) }
            })
        };
        STEPS.iter().map(at).collect()
    }
}

/// LSHist against EHD for one k' and ε, at many n.
struct Comparison {
    steps: u32,
    epsilon: f64,
    sizes: Vec<AtSize>,
}

/// The sizes n at which balanced data have candidates more than k' steps away.
fn sizes_beyond(k: u32) -> RangeInclusive<u64> {
    2 * u64::from(k) + 1..=LAST
}

/// All comparisons, by k', then by ε. The laws at one n and ε are used for every k'.
fn comparisons(lab: &Lab) -> Vec<Comparison> {
    let sizes = overtaking::sizes(sizes_beyond(STEPS[0]));
    let at_epsilon =
        |&epsilon: &f64| (epsilon, parallel::map(&sizes, |&n| AtSize::all(lab, epsilon, n)));
    let each: Vec<_> = EPSILONS.iter().map(at_epsilon).collect();
    let of_steps = |(place, &steps): (usize, &u32)| {
        let comparison = move |(epsilon, sizes): &(f64, Vec<Vec<Option<AtSize>>>)| {
            let sizes = sizes.iter().filter_map(|all| all[place]).collect();
            Comparison { steps, epsilon: *epsilon, sizes }
        };
        each.iter().map(comparison).collect::<Vec<_>>()
    };
    STEPS.iter().enumerate().flat_map(of_steps).collect()
}

/// A corollary: for some k' and n, one of LSHist and EHD is the more accurate one.
struct Corollary {
    name: &'static str,
    /// The sizes n that it is about, in words.
    sizes: &'static str,
    steps: &'static [u32],
    is_about: fn(n: f64, k: u32, epsilon: f64) -> bool,
    lshist_ahead: bool,
    /// Whether the n is the one that is stated or the one that is proved.
    reading: Reading,
}

const COROLLARIES: &[Corollary] = &[
    Corollary {
        name: "Corollary 4.5.1",
        sizes: "n above (2k'+1)e^ε/(1 - e^(-ε)) up to 10000",
        steps: STEPS,
        is_about: |n, k, epsilon| n > overtaking::lshist_wins_above_as_stated(k, epsilon),
        lshist_ahead: true,
        reading: Reading::Stated,
    },
    Corollary {
        name: "Corollary 4.5.1",
        sizes: "n above (2k'+1)e^ε/(1 - e^(-k'ε)) up to 10000",
        steps: STEPS,
        is_about: |n, k, epsilon| n > overtaking::lshist_wins_above(k, epsilon),
        lshist_ahead: true,
        reading: Reading::Meant,
    },
    Corollary {
        name: "Corollary 4.5.2",
        sizes: "n from 2k'+1 to its threshold",
        steps: STEPS,
        is_about: |n, k, epsilon| n < overtaking::ehd_wins_below(k, epsilon),
        lshist_ahead: false,
        reading: Reading::Both,
    },
    Corollary {
        name: "Corollary 4.5.3",
        sizes: "n above e^ε/(1 - e^(-ε)) up to 10000",
        steps: &[1],
        is_about: |n, _, epsilon| n > overtaking::good_outputs_above_as_stated(epsilon),
        lshist_ahead: true,
        reading: Reading::Stated,
    },
    Corollary {
        name: "Corollary 4.5.3",
        sizes: "n above 3e^(ε/c)/(1 - e^(-ε)) up to 10000",
        steps: &[1],
        is_about: |n, _, epsilon| n > overtaking::good_outputs_above(epsilon),
        lshist_ahead: true,
        reading: Reading::Meant,
    },
];

fn corollaries(comparisons: &[Comparison]) -> Vec<ClaimPart> {
    COROLLARIES.iter().flat_map(|corollary| corollary.parts(comparisons)).collect()
}

impl Corollary {
    fn parts(&self, comparisons: &[Comparison]) -> Vec<ClaimPart> {
        let mut cases = Vec::new();
        for Comparison { steps, epsilon, sizes } in comparisons {
            let meant = |at: &&AtSize| {
                self.steps.contains(steps) && (self.is_about)(at.n as f64, *steps, *epsilon)
            };
            cases.extend(sizes.iter().filter(meant).map(|&AtSize { n, lshist, ehd }| {
                let holds = if self.lshist_ahead { lshist > ehd } else { lshist < ehd };
                Case { n, steps: *steps, epsilon: *epsilon, holds, value: lshist / ehd }
            }));
        }
        let parts = parts_of(self.name, self.sizes, "LSHist / EHD", &cases);
        parts.into_iter().map(|part| part.read(self.reading)).collect()
    }
}

/// Where LSHist really overtakes EHD.
fn crossings(lab: &Lab, comparisons: &[Comparison]) -> String {
    let first = comparisons.iter().filter(|comparison| comparison.steps == 1);
    let told = first.map(|Comparison { epsilon, sizes, .. }| {
        let lead = |n: u64| {
            let known = sizes.iter().find(|at| at.n == n).copied();
            let at = known.or_else(|| AtSize::all(lab, *epsilon, n)[0]);
            at.map_or(0.0, |at| at.lshist - at.ehd)
        };
        let ahead = overtaking::leads_from(sizes_beyond(1), lead);
        let ahead = ahead.map_or("no n".to_owned(), |n| format!("n = {n}"));
        let low = overtaking::ehd_wins_below(1, *epsilon);
        let high = overtaking::lshist_wins_above(1, *epsilon);
        format!("{ahead} for ε = {epsilon} (corollaries: {low:.1} to {high:.1})")
    });
    let told: Vec<String> = told.collect();
    format!("k' = 1: LSHist is ahead of EHD from {}", told.join(", "))
}

/// The upper bound of EHD when GS is the exact maximum over all data sets.
fn exact_global(lab: &Lab) -> String {
    let mut largest = f64::NEG_INFINITY;
    for (epsilon, n) in epsilons_and_sizes() {
        for (&k, exact) in STEPS.iter().zip(within(lab, &setting(lab, n, epsilon), "ehd")) {
            largest = f64::max(largest, exact / formula::ehd(k, epsilon, n).1);
        }
    }
    format!(
        "with the exact GS in place of sqrt(1 - π/4) the exact probability of EHD reaches \
         {largest:.3} times the upper bound"
    )
}

/// LSZhang does not restore the total, so that steps and distance do not correspond.
fn totals(lab: &Lab) -> String {
    let setting = setting(lab, 1000, 1.0);
    let exact = within(lab, &setting, "lszhang")[0];
    format!(
        "LSZhang, n = 1000, ε = 1, k' = 1: P[H ≤ c(1)] is {exact:.4}, the formula {:.4}",
        formula::lszhang(1, 1.0)
    )
}

/// If the two directions differ, the candidates within t are not those of at most k' steps.
fn unbalanced(lab: &Lab) -> String {
    let setting = lab.setting(&[1.0, 1.0], &[10, 90], 1.0, None);
    let law = lab.distribution(&setting, "lshist");
    let [down, up] = [-5, 5].map(|t| steps::distance(&setting, t).expect("ten records"));
    format!(
        "LSHist at x = (10, 90), ε = 1, k' = 5: the two candidates of 5 steps have distances \
         {down:.4} and {up:.4}, P[H ≤ t] there is {:.6} and {:.6}, the formula {:.6}",
        law.at_most(down),
        law.at_most(up),
        formula::lshist(5, 1.0)
    )
}
