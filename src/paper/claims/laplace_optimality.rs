//! Claim 13: the error of LSHist in units of the local sensitivity.

use std::f64::consts::LOG2_E;

use super::{Claim, ClaimPart, Finding, Lab, Reading, balanced};
use crate::formula::laplace_error::{RATIO_BOUND, failure, laplace_error};
use crate::formula::steps;
use engine::numeric::ln;
use engine::posterior::model::Counts;
use engine::posterior::setting::SettingWithData;

pub static CLAIM: Claim = Claim {
    number: 13,
    title: "The error of LSHist is at most a multiple of LS",
    source: "bounds Theorems 4.1 to 4.4, Corollary 4.4.1",
    figures: &["bounds/optimality"],
    statement: "Let ELap(x) be the smallest t with P[H(x, LSHist(x)) ≤ t] ≥ 1 - γ. \
                With γ = e^(-ε), ELap(x)/LS(x) and ELap(x)/(ε LS(x)) are bounded as \
                n grows (Theorem 4.1), the first by 2 (Corollary 4.4.1). ELap(x)/(ε \
                LS(x)) is O(ε) (Theorem 4.2). For any γ, ELap(x) is at most the \
                largest distance of lg(1/γ)/ε steps (Theorem 4.3).",
    meant: Some(
        "The proof of Theorem 4.2 gives 1/ε where the theorem says O(ε), and that of \
         Theorem 4.4 uses lg as the natural logarithm.",
    ),
    outputs: 5e6,
    judge,
};

/// Sizes are powers of two up to 2^17 = 131072; half of them are larger than the square root of that.
const DOUBLINGS: std::ops::RangeInclusive<u32> = 2..=17;
const EPSILONS: &[f64] = &[0.1, 0.5, 1.0, 2.0];
const GAMMAS: &[f64] = &[0.5, 0.05, 0.01];

/// 'Bounded': over the second half of the doublings the ratio is nowhere larger than this times its
/// maximum over the first half.
const NO_GROWTH: f64 = 1.01;
/// The two sides may be equal; rounding must not decide.
const ROUNDING: f64 = 1e-9;

/// How the data of n records are made.
type Data = fn(u64) -> Counts;

const DATA: &[(&str, Data)] =
    &[("balanced data", |n| balanced(n, 2)), ("x = (1, n-1)", |n| vec![1, n - 1])];

fn judge(lab: &Lab) -> Finding {
    let parts = DATA.iter().flat_map(|(name, data)| {
        let ratios = ratios(lab, *data);
        let bounds = [bounded(name, &ratios), at_most_two(name, &ratios)];
        let stated = step_bound(lab, &format!("lg to base 2, {name}"), *data, LOG2_E);
        let meant = step_bound(lab, &format!("lg = ln, {name}"), *data, 1.0);
        let stated = stated.into_iter().map(|part| part.read(Reading::Stated));
        let meant = meant.into_iter().map(|part| part.read(Reading::Meant));
        bounds.into_iter().chain(by_epsilon(name, &ratios)).chain(stated).chain(meant)
    });
    parts.collect()
}

/// ELap/LS for every ε and doubling, with γ = e^(−ε).
fn ratios(lab: &Lab, data: Data) -> Vec<Vec<f64>> {
    let ratio = |epsilon: f64, n: u64| {
        let setting = lab.setting(&[1.0, 1.0], &data(n), epsilon, None);
        error(lab, &setting, failure(epsilon)) / setting.sensitivity().local()
    };
    let along = |epsilon: f64| DOUBLINGS.map(|power| ratio(epsilon, 1 << power)).collect();
    EPSILONS.iter().map(|&epsilon| along(epsilon)).collect()
}

fn error(lab: &Lab, setting: &SettingWithData, gamma: f64) -> f64 {
    laplace_error(&lab.distribution(setting, "lshist"), gamma)
}

fn bounded(name: &str, ratios: &[Vec<f64>]) -> ClaimPart {
    let growth = ratios.iter().map(|along| {
        let (first, second) = along.split_at(along.len() / 2);
        largest(second.iter().copied()) / largest(first.iter().copied())
    });
    let growth = largest(growth);
    let most = largest(ratios.iter().flatten().copied());
    let numbers = [("largest ELap/LS", most), ("growth over the second half of the n", growth)];
    ClaimPart::new("ELap/LS is bounded", name, growth <= NO_GROWTH, numbers)
}

fn at_most_two(name: &str, ratios: &[Vec<f64>]) -> ClaimPart {
    let most = largest(ratios.iter().flatten().copied());
    let numbers = [("largest ELap/LS", most)];
    ClaimPart::new("ELap/LS is at most 2", name, most <= RATIO_BOUND, numbers)
}

/// Theorem 4.3: ELap is at most the largest distance of `unit` · ln(1/γ)/ε steps. One part for the
/// ε and γ of which that is true, and one for the others.
fn step_bound(lab: &Lab, name: &str, data: Data, unit: f64) -> Vec<ClaimPart> {
    let all = excesses(lab, data, unit);
    let (within, beyond): (Vec<Excess>, Vec<Excess>) = all.iter().partition(|e| e.is_none());
    if within.is_empty() || beyond.is_empty() {
        return vec![step_part(name.to_owned(), &all)];
    }
    let failing: Vec<String> = beyond
        .iter()
        .map(|Excess { epsilon, gamma, .. }| format!("({epsilon}, {gamma})"))
        .collect();
    let failing = failing.join(", ");
    vec![
        step_part(format!("{name}, all (ε, γ) but {failing}"), &within),
        step_part(format!("{name}, (ε, γ) = {failing}"), &beyond),
    ]
}

fn step_part(when: String, excesses: &[Excess]) -> ClaimPart {
    let all = || excesses.iter().flat_map(|excess| excess.excess);
    let failures = all().filter(|excess| *excess > ROUNDING).count() as f64;
    let numbers = [
        ("cases", all().count() as f64),
        ("failures", failures),
        ("largest (ELap - distance) / LS", largest(all())),
    ];
    ClaimPart::new("ELap is within lg(1/γ)/ε steps (Theorem 4.3)", when, failures == 0.0, numbers)
}

/// The error minus the distance, in units of LS, for every n.
#[derive(Clone, Copy)]
struct Excess {
    epsilon: f64,
    gamma: f64,
    excess: [f64; 3],
}

impl Excess {
    fn is_none(&self) -> bool {
        self.excess.iter().all(|excess| *excess <= ROUNDING)
    }
}

fn excesses(lab: &Lab, data: Data, unit: f64) -> Vec<Excess> {
    let pairs = EPSILONS.iter().flat_map(|&e| GAMMAS.iter().map(move |&gamma| (e, gamma)));
    let excess = |(epsilon, gamma): (f64, f64)| {
        let steps = (unit * ln(1.0 / gamma) / epsilon).floor() as i64;
        let excess = [8, 12, 16].map(|power| {
            let setting = lab.setting(&[1.0, 1.0], &data(1 << power), epsilon, None);
            let distances = [steps, -steps].map(|t| within(&setting, t));
            let excess = error(lab, &setting, gamma) - distances[0].max(distances[1]);
            excess / setting.sensitivity().local()
        });
        Excess { epsilon, gamma, excess }
    };
    pairs.map(excess).collect()
}

/// The distance after t steps, or after as many as there are records.
fn within(setting: &SettingWithData, t: i64) -> f64 {
    let counts = setting.counts();
    let last = |count: u64| i64::try_from(count).unwrap_or(i64::MAX);
    let t = t.clamp(-last(counts[0]), last(counts[1]));
    steps::distance(setting, t).expect("no more steps than records")
}

fn largest(values: impl Iterator<Item = f64>) -> f64 {
    values.fold(f64::NEG_INFINITY, f64::max)
}

/// Theorem 4.2 at the largest n. ELap/(ε LS) is O(ε) if its ratio to ε stays bounded as ε falls; the
/// proof says that ELap/(ε LS) is 1/ε.
fn by_epsilon(name: &str, ratios: &[Vec<f64>]) -> [ClaimPart; 2] {
    let last = ratios.iter().filter_map(|along| along.last());
    let each: Vec<(f64, f64)> = EPSILONS.iter().copied().zip(last.copied()).collect();
    let over_square = |(epsilon, ratio): &(f64, f64)| ratio / (epsilon * epsilon);
    let (small, large) = each.split_at(each.len() / 2);
    let growth = largest(small.iter().map(over_square)) / largest(large.iter().map(over_square));
    let told = |power: &str, value: &dyn Fn(&(f64, f64)) -> f64| {
        let numbers = each.iter().map(|at| (format!("ELap/{power} for ε = {}", at.0), value(at)));
        numbers.collect::<Vec<_>>()
    };
    let stated = told("(ε² LS)", &over_square);
    let meant = told("(ε LS)", &|(epsilon, ratio)| ratio / epsilon);
    let exact = each.iter().all(|(_, ratio)| (ratio - 1.0).abs() <= ROUNDING);
    let case = |words: &str| format!("{words}, {name}");
    [
        ClaimPart::new(FORM, case("O(ε)"), growth <= NO_GROWTH, stated).read(Reading::Stated),
        ClaimPart::new(FORM, case("1/ε"), exact, meant).read(Reading::Meant),
    ]
}

const FORM: &str = "ELap/(ε LS) depends on ε as Theorem 4.2 says";
