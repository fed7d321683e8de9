//! Claim 12: bounds Theorem 4.5 and its corollaries.

use std::ops::RangeInclusive;

use rayon::prelude::*;

use super::grid::{Case, parts, parts_of};
use super::{Claim, ClaimPart, Finding, Lab, balanced};
use crate::mechanism::Global;
use crate::paper::formula::{overtaking, step_bounds as formula, steps};
use crate::posterior::setting::Setting;

/// The claim.
pub static CLAIM: Claim = Claim {
    number: 12,
    source: "bounds Theorem 4.5, Corollaries 4.5.1 to 4.5.3",
    statement: "With k' the largest number of steps whose distance is below t, P[H < t] is \
                (1 - ½(e^(-k'ε/2) + e^(-(k'+1)ε/2)))² ≥ (1 - e^(-k'ε/2))² for LSZhang, \
                1 - ½(e^(-k'ε) + e^(-(k'+1)ε)) ≥ 1 - e^(-k'ε) for LSHist, between \
                (2k' e^(-ε) + 1)/n and (2k' + 1)/(n e^(-ε)) for EHD, and between the same with \
                ε/2LS for ε for EHDL. So LSHist is more accurate than EHD above \
                n = (2k'+1)e^ε/(1 - e^(-k'ε)), EHD is below \
                n = (2k' e^(-ε) + 1)/(1 - ½(e^(-k'ε) + e^(-(k'+1)ε))), and LSHist keeps within LS \
                more often than EHD above n = 3e^(ε/c)/(1 - e^(-ε)), c = 2 sqrt(1 - π/4).",
    effort: 0.7,
    judge,
};

/// About four sizes for every factor of ten, even and odd.
const SIZES: &[u64] = &[10, 17, 30, 56, 100, 101, 178, 317, 562, 1000, 1779, 3162, 5623, 10_000];
const STEPS: &[u32] = &[1, 2, 5];
const EPSILONS: &[f64] = &[0.1, 0.5, 1.0, 2.0];

/// An equality is one if it holds to so many digits.
const EQUAL: f64 = 1e-9;
/// Both sides of an inequality may agree; rounding must not decide.
const ROUNDING: f64 = 1e-12;

/// The largest n at which LSHist and EHD are compared.
const LAST: u64 = 10_000;

fn judge(lab: &Lab) -> Finding {
    // EHD's global sensitivity as bounds §1 defines it.
    let own = with_global_bound(lab);
    let races = races(&own);
    let mut finding: Finding = theorem(&own).into_iter().chain(corollaries(&races)).collect();
    finding.remarks =
        vec![crossings(&own, &races), exact_global(lab), totals(lab), unbalanced(lab)];
    finding
}

/// The lab with GS = sqrt(1 − π/4) in EHD.
fn with_global_bound(lab: &Lab) -> Lab {
    let mut ehd = lab.variant("ehd");
    if ehd.mechanism.id() == "ehd" {
        ehd.options.global = Some(Global::Bound);
    }
    lab.clone().recast("ehd", ehd)
}

/// A clause of the theorem: the decisive number at one case, and whether the clause is true.
type Clause = fn(&Setting, u32, f64) -> (f64, bool);

/// Each clause with the mechanism it is about, and the number that decides it. The third argument
/// of a clause is the exact P[H <= c(k')].
const CLAUSES: &[(&str, &str, &str, Clause)] = &[
    ("LSZhang formula", "lszhang", "exact / formula", |setting, k, exact| {
        equal(exact, formula::lszhang(k, setting.epsilon.get()))
    }),
    ("LSZhang lower bound", "lszhang", "exact / bound", |setting, k, exact| {
        at_least(exact, formula::lszhang_lower(k, setting.epsilon.get()))
    }),
    ("LSHist formula", "lshist", "exact / formula", |setting, k, exact| {
        equal(exact, formula::lshist(k, setting.epsilon.get()))
    }),
    ("LSHist lower bound", "lshist", "exact / bound", |setting, k, exact| {
        at_least(exact, formula::lshist_lower(k, setting.epsilon.get()))
    }),
    ("EHD lower bound", "ehd", "exact / bound", |setting, k, exact| {
        above(exact, formula::ehd(k, setting.epsilon.get(), setting.posterior.n()).0)
    }),
    ("EHD upper bound", "ehd", "exact / bound", |setting, k, exact| {
        below(exact, formula::ehd(k, setting.epsilon.get(), setting.posterior.n()).1)
    }),
    ("EHDL lower bound", "ehdl", "exact / bound", |setting, k, exact| {
        above(exact, ehdl(setting, k).0)
    }),
    ("EHDL upper bound", "ehdl", "exact / bound", |setting, k, exact| {
        below(exact, ehdl(setting, k).1)
    }),
];

fn ehdl(setting: &Setting, k: u32) -> (f64, f64) {
    let local = setting.sensitivity().local();
    formula::ehdl(k, setting.epsilon.get(), setting.posterior.n(), local)
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

fn setting(lab: &Lab, n: u64, epsilon: f64) -> Setting {
    lab.setting(&[1.0, 1.0], &balanced(n, 2), epsilon, None)
}

/// The exact P[H <= c(k')] for every k'.
fn within(lab: &Lab, setting: &Setting, id: &str) -> Vec<f64> {
    let law = lab.distribution(setting, id);
    STEPS.iter().map(|&steps| law.at_most(radius(setting, steps))).collect()
}

fn radius(setting: &Setting, steps: u32) -> f64 {
    steps::radius(setting, steps).expect("a size with so many records")
}

/// P[H <= c(k')] of LSHist and of EHD.
#[derive(Clone, Copy)]
struct Lap {
    n: u64,
    lshist: f64,
    ehd: f64,
}

impl Lap {
    /// For every k' that leaves something beyond k' steps.
    fn all(lab: &Lab, epsilon: f64, n: u64) -> Vec<Option<Self>> {
        let setting = setting(lab, n, epsilon);
        let [lshist, ehd] = ["lshist", "ehd"].map(|id| lab.distribution(&setting, id));
        let lap = |&steps: &u32| {
            course(steps).contains(&n).then(|| {
                let radius = radius(&setting, steps);
                Self { n, lshist: lshist.at_most(radius), ehd: ehd.at_most(radius) }
            })
        };
        STEPS.iter().map(lap).collect()
    }
}

/// LSHist against EHD for one k' and ε.
struct Race {
    steps: u32,
    epsilon: f64,
    laps: Vec<Lap>,
}

/// The sizes that have k' steps to either side and something left beyond them.
fn course(k: u32) -> RangeInclusive<u64> {
    2 * u64::from(k) + 1..=LAST
}

/// By k', then by ε. The laws at one n and ε serve every k'.
fn races(lab: &Lab) -> Vec<Race> {
    let sizes = overtaking::sizes(course(STEPS[0]));
    let laps = |&epsilon: &f64| {
        let laps = sizes.par_iter().map(|&n| Lap::all(lab, epsilon, n));
        (epsilon, laps.collect::<Vec<_>>())
    };
    let each: Vec<_> = EPSILONS.iter().map(laps).collect();
    let race = |(place, &steps): (usize, &u32)| {
        let of_epsilon = move |(epsilon, laps): &(f64, Vec<Vec<Option<Lap>>>)| {
            let laps = laps.iter().filter_map(|laps| laps[place]).collect();
            Race { steps, epsilon: *epsilon, laps }
        };
        each.iter().map(of_epsilon).collect::<Vec<_>>()
    };
    STEPS.iter().enumerate().flat_map(race).collect()
}

/// A corollary: its name, how it is read, the k' it is about, the sizes it speaks of, and who should
/// be ahead.
struct Corollary {
    name: &'static str,
    /// The whole of its sizes; its own n depends on k' and ε.
    sizes: &'static str,
    steps: &'static [u32],
    speaks_of: fn(n: f64, k: u32, epsilon: f64) -> bool,
    lshist_ahead: bool,
    /// The fairest reading: with the n that is proved.
    fairest: bool,
}

const COROLLARIES: &[Corollary] = &[
    Corollary {
        name: "Corollary 4.5.1",
        sizes: "n above its own (as proved) up to 10000",
        steps: STEPS,
        speaks_of: |n, k, epsilon| n > overtaking::lshist_wins_above(k, epsilon),
        lshist_ahead: true,
        fairest: true,
    },
    Corollary {
        name: "Corollary 4.5.1",
        sizes: "n above (2k'+1)e^ε/(1 - e^(-ε)) (as stated) up to 10000",
        steps: STEPS,
        speaks_of: |n, k, epsilon| n > overtaking::lshist_wins_above_as_stated(k, epsilon),
        lshist_ahead: true,
        fairest: false,
    },
    Corollary {
        name: "Corollary 4.5.2",
        sizes: "n from 2k'+1 to its own",
        steps: STEPS,
        speaks_of: |n, k, epsilon| n < overtaking::ehd_wins_below(k, epsilon),
        lshist_ahead: false,
        fairest: true,
    },
    Corollary {
        name: "Corollary 4.5.3",
        sizes: "n above its own up to 10000",
        steps: &[1],
        speaks_of: |n, _, epsilon| n > overtaking::good_outputs_above(epsilon),
        lshist_ahead: true,
        fairest: true,
    },
];

fn corollaries(races: &[Race]) -> Vec<ClaimPart> {
    COROLLARIES.iter().flat_map(|corollary| corollary.parts(races)).collect()
}

impl Corollary {
    fn parts(&self, races: &[Race]) -> Vec<ClaimPart> {
        let mut cases = Vec::new();
        for Race { steps, epsilon, laps } in races {
            let meant = |lap: &&Lap| {
                self.steps.contains(steps) && (self.speaks_of)(lap.n as f64, *steps, *epsilon)
            };
            cases.extend(laps.iter().filter(meant).map(|&Lap { n, lshist, ehd }| {
                let holds = if self.lshist_ahead { lshist > ehd } else { lshist < ehd };
                Case { n, steps: *steps, epsilon: *epsilon, holds, value: lshist / ehd }
            }));
        }
        let parts = parts_of(self.name, self.sizes, "LSHist / EHD", &cases);
        parts
            .into_iter()
            .map(|part| if self.fairest { part } else { part.read_otherwise() })
            .collect()
    }
}

/// Where LSHist really overtakes EHD.
fn crossings(lab: &Lab, races: &[Race]) -> String {
    let told = races.iter().filter(|race| race.steps == 1).map(|Race { epsilon, laps, .. }| {
        let lead = |n: u64| {
            let known = laps.iter().find(|lap| lap.n == n).copied();
            let lap = known.or_else(|| Lap::all(lab, *epsilon, n)[0]);
            lap.map_or(0.0, |lap| lap.lshist - lap.ehd)
        };
        let ahead = overtaking::leads_from(course(1), lead);
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

/// Where the two directions differ, fewer or more candidates than those of k' steps are meant.
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
