//! Cases on a grid of n, steps k' and ε, described in few words.

use std::fmt::Display;

use super::ClaimPart;
use super::range::{ends, extent};

pub struct Case {
    pub n: u64,
    /// k' of bounds Theorem 4.5.
    pub steps: u32,
    pub epsilon: f64,
    /// Whether the claim is true there.
    pub holds: bool,
    pub value: f64,
}

/// One part for the cases where the clause is true, and one for those where it is not.
pub fn parts(clause: &str, value: &str, cases: &[Case]) -> Vec<ClaimPart> {
    parts_of(clause, &sizes(cases.iter()), value, cases)
}

/// The same; `whole` is the name of all cases together.
pub fn parts_of(clause: &str, whole: &str, value: &str, cases: &[Case]) -> Vec<ClaimPart> {
    let (true_cases, false_cases): (Vec<&Case>, Vec<&Case>) =
        cases.iter().partition(|case| case.holds);
    let told = |chosen: &[&Case], others: &[&Case], holds: bool| {
        let numbers = ends(value, chosen.iter().map(|case| case.value));
        let place = match others.len() {
            0 => whole.to_owned(),
            few if few < chosen.len() => {
                format!("{whole} except {}", whereabouts(cases, others))
            }
            _ => whereabouts(cases, chosen),
        };
        (!chosen.is_empty()).then(|| ClaimPart::new(clause, place, holds, numbers))
    };
    let parts = [told(&true_cases, &false_cases, true), told(&false_cases, &true_cases, false)];
    parts.into_iter().flatten().collect()
}

/// The range of n.
fn sizes<'a>(cases: impl Iterator<Item = &'a Case> + Clone) -> String {
    let sizes = cases.map(|case| case.n);
    let (least, most) = (sizes.clone().min().unwrap_or(0), sizes.max().unwrap_or(0));
    format!("n from {least} to {most}")
}

/// Where the chosen cases lie: runs of neighbouring n, and the k' and ε that share them.
fn whereabouts(all: &[Case], chosen: &[&Case]) -> String {
    let mut runs: Vec<(String, Vec<(u32, f64)>)> = Vec::new();
    for (steps, epsilon) in combinations(all.iter()) {
        let here = |case: &Case| case.steps == steps && case.epsilon == epsilon;
        let axis: Vec<u64> = all.iter().filter(|case| here(case)).map(|case| case.n).collect();
        let found: Vec<u64> = chosen.iter().filter(|case| here(case)).map(|case| case.n).collect();
        let text = extents(&axis, &found);
        match runs.iter_mut().find(|(other, _)| *other == text) {
            _ if found.is_empty() => {}
            Some((_, combinations)) => combinations.push((steps, epsilon)),
            None => runs.push((text, vec![(steps, epsilon)])),
        }
    }
    let whole = combinations(all.iter());
    let told = runs.iter().map(|(text, some)| match factors(some, &whole) {
        factors if factors.is_empty() => text.clone(),
        factors => format!("{text} ({factors})"),
    });
    let told = told.collect::<Vec<_>>().join(", ");
    if told.chars().count() <= READABLE { told } else { roughly(all, chosen) }
}

/// A longer list of places is not read.
const READABLE: usize = 60;

/// "21 of 168 cases, n from 1779 to 10000".
fn roughly(all: &[Case], chosen: &[&Case]) -> String {
    format!("{} of {} cases, {}", chosen.len(), all.len(), sizes(chosen.iter().copied()))
}

fn combinations<'a>(cases: impl Iterator<Item = &'a Case>) -> Vec<(u32, f64)> {
    let mut found = Vec::new();
    for case in cases {
        if !found.contains(&(case.steps, case.epsilon)) {
            found.push((case.steps, case.epsilon));
        }
    }
    found
}

/// "n from 10 to 10000", or several such runs along the axis.
fn extents(axis: &[u64], found: &[u64]) -> String {
    let runs = axis.chunk_by(|a, b| found.contains(a) == found.contains(b));
    let told = runs.filter(|run| found.contains(&run[0])).map(|run| extent("n", run));
    told.collect::<Vec<_>>().join(" and ")
}

/// "k' = 1, 2, ε = 0.1; k' = 5"; nothing if it is the whole grid.
fn factors(some: &[(u32, f64)], whole: &[(u32, f64)]) -> String {
    let epsilons = |of: &[(u32, f64)], steps: u32| -> Vec<f64> {
        of.iter().filter(|(other, _)| *other == steps).map(|(_, epsilon)| *epsilon).collect()
    };
    let mut groups: Vec<(Vec<u32>, Vec<f64>)> = Vec::new();
    for &(steps, _) in some {
        let its = epsilons(some, steps);
        match groups.iter_mut().find(|(_, other)| *other == its) {
            Some((group, _)) if group.contains(&steps) => {}
            Some((group, _)) => group.push(steps),
            None => groups.push((vec![steps], its)),
        }
    }
    let told = groups.iter().map(|(group, its)| {
        let all_steps = whole.iter().all(|(steps, _)| group.contains(steps));
        let all_epsilons = *its == epsilons(whole, group[0]);
        let steps = (!all_steps).then(|| format!("k' = {}", list(group)));
        let epsilons = (!all_epsilons).then(|| format!("ε = {}", list(its)));
        [steps, epsilons].into_iter().flatten().collect::<Vec<_>>().join(", ")
    });
    told.collect::<Vec<_>>().join("; ")
}

/// "1, 2, 5".
fn list<T: Display>(values: &[T]) -> String {
    values.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid(holds: impl Fn(u64, u32, f64) -> bool) -> Vec<String> {
        let mut cases = Vec::new();
        for (steps, epsilon) in [(1, 0.5), (1, 1.0), (2, 0.5), (2, 1.0)] {
            for n in [10, 100, 1000] {
                let holds = holds(n, steps, epsilon);
                cases.push(Case { n, steps, epsilon, holds, value: n as f64 });
            }
        }
        parts("A", "ratio", &cases).into_iter().map(|part| part.name()).collect()
    }

    #[test]
    fn few_words() {
        assert_eq!(grid(|_, _, _| true), ["A, n from 10 to 1000"]);
        assert_eq!(grid(|n, _, _| n == 10), ["A, n = 10", "A, n from 10 to 1000 except n = 10"]);
        let by_steps = ["A, n from 10 to 1000 (k' = 2)", "A, n from 10 to 1000 (k' = 1)"];
        assert_eq!(grid(|_, steps, _| steps == 2), by_steps);
        let corner = grid(|n, steps, epsilon| n > 10 || (steps, epsilon) != (1, 0.5));
        assert_eq!(corner[1], "A, n = 10 (k' = 1, ε = 0.5)");
    }
}
