//! Norms of the difference of the parameter vectors.

use crate::posterior::distance::Distance;
use crate::posterior::error_field::{Field, Reach};
use crate::posterior::model::Posterior;
use crate::posterior::simplex::{Row, Tail};

/// link(Σ term(|x̃_i − x_i|)).
pub struct Norm {
    id: &'static str,
    title: &'static str,
    term: fn(f64) -> f64,
    link: fn(f64) -> f64,
}

/// Σ |x̃_i − x_i|.
pub static L1: Norm =
    Norm { id: "l1", title: "ℓ1 distance of the parameters", term: |d| d, link: |s| s };

/// sqrt(Σ (x̃_i − x_i)²).
pub static L2: Norm =
    Norm { id: "l2", title: "ℓ2 distance of the parameters", term: |d| d * d, link: f64::sqrt };

/// ½ Σ |x̃_i − x_i|: for outputs of total n, the number of records that changed category.
pub static STEPS: Norm =
    Norm { id: "steps", title: "steps (half the ℓ1 distance)", term: |d| d, link: |s| 0.5 * s };

impl Distance for Norm {
    fn id(&self) -> &str {
        self.id
    }

    fn title(&self) -> &str {
        self.title
    }

    fn bound(&self) -> Option<f64> {
        None
    }

    fn field(&self, posterior: &Posterior, _: &Reach) -> Box<dyn Field> {
        let counts = posterior.counts().to_vec();
        Box::new(NormField { counts, term: self.term, link: self.link })
    }
}

struct NormField {
    counts: Vec<u64>,
    term: fn(f64) -> f64,
    link: fn(f64) -> f64,
}

impl NormField {
    fn term(&self, i: usize, v: u64) -> f64 {
        (self.term)(v.abs_diff(self.counts[i]) as f64)
    }
}

impl Field for NormField {
    fn row(&self, row: &Row, out: &mut [f64]) {
        let index = row.head.len();
        let head: f64 = row.head.iter().enumerate().map(|(i, &v)| self.term(i, v)).sum();
        for (value, v) in out.iter_mut().zip(row.start..) {
            let last = match row.tail {
                Tail::Complement(rest) => self.term(index + 1, rest - v),
                Tail::Zero => self.term(index + 1, 0),
                Tail::Free => 0.0,
            };
            *value = (self.link)(head + self.term(index, v) + last);
        }
    }

    fn n(&self) -> u64 {
        self.counts.iter().sum()
    }
}
