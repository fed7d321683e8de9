//! Counting where an inequality fails.

use super::super::ClaimPart;
use super::instance::{Instance, Value};

/// The two sides may be equal; rounding must not decide.
const ROUNDING: f64 = 1e-9;

/// How often an inequality was tested and failed.
#[derive(Clone, Copy, Default)]
pub struct Tally {
    pub cases: f64,
    pub failures: f64,
    worst: Option<Counterexample>,
}

/// The failure with the largest excess; a bound below 0 counts as 0.
#[derive(Clone, Copy)]
struct Counterexample {
    n: u64,
    x: u64,
    s: f64,
    other: Option<f64>,
    probability: f64,
    bound: f64,
}

impl Tally {
    pub fn join(mut self, other: Self) -> Self {
        self.cases += other.cases;
        self.failures += other.failures;
        let excess = |c: &Counterexample| c.probability - c.bound.max(0.0);
        self.worst = match (self.worst, other.worst) {
            (Some(a), Some(b)) if excess(&b) > excess(&a) => Some(b),
            (a, b) => a.or(b),
        };
        self
    }

    pub fn put(
        self,
        instance: &Instance,
        s: Value,
        other: Option<f64>,
        bound: Option<f64>,
    ) -> Self {
        let Some(bound) = bound else { return self };
        let fails = s.probability > bound + ROUNDING * s.probability;
        let example = Counterexample {
            n: instance.n,
            x: instance.x,
            s: s.distance,
            other,
            probability: s.probability,
            bound,
        };
        let failures = f64::from(u8::from(fails));
        self.join(Self { cases: 1.0, failures, worst: fails.then_some(example) })
    }

    pub fn part(&self, clause: &str, when: String) -> ClaimPart {
        let mut numbers = vec![("failures", self.failures), ("cases", self.cases)];
        if let Some(worst) = self.worst {
            numbers.extend([("n", worst.n as f64), ("x_1", worst.x as f64), ("s", worst.s)]);
            numbers.extend(worst.other.map(|other| ("other value", other)));
            numbers.extend([("P[u = s]", worst.probability), ("bound", worst.bound)]);
        }
        ClaimPart::new(clause, when, self.failures == 0.0, numbers)
    }
}
