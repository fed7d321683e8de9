//! Norms of the difference of the parameter vectors.

use crate::posterior::error_field::{Field, Reach};
use crate::posterior::model::Posterior;
use crate::posterior::simplex::{Row, Tail};

/// Σ |x̃_i − x_i|.
pub fn l1(posterior: &Posterior, _: &Reach) -> Box<dyn Field> {
    Box::new(Norm { counts: posterior.counts().to_vec(), term: |d| d, link: |s| s })
}

/// sqrt(Σ (x̃_i − x_i)²).
pub fn l2(posterior: &Posterior, _: &Reach) -> Box<dyn Field> {
    Box::new(Norm { counts: posterior.counts().to_vec(), term: |d| d * d, link: f64::sqrt })
}

/// ½ Σ |x̃_i − x_i|: for outputs of total n, the number of records that changed category.
pub fn steps(posterior: &Posterior, _: &Reach) -> Box<dyn Field> {
    Box::new(Norm { counts: posterior.counts().to_vec(), term: |d| d, link: |s| 0.5 * s })
}

struct Norm {
    counts: Vec<u64>,
    term: fn(f64) -> f64,
    link: fn(f64) -> f64,
}

impl Norm {
    fn term(&self, i: usize, v: u64) -> f64 {
        (self.term)(v.abs_diff(self.counts[i]) as f64)
    }
}

impl Field for Norm {
    fn row(&self, row: &Row, out: &mut [f64]) {
        let place = row.head.len();
        let head: f64 = row.head.iter().enumerate().map(|(i, &v)| self.term(i, v)).sum();
        for (value, v) in out.iter_mut().zip(row.start..) {
            let last = match row.tail {
                Tail::Complement(rest) => self.term(place + 1, rest - v),
                Tail::Zero => self.term(place + 1, 0),
                Tail::Free => 0.0,
            };
            *value = (self.link)(head + self.term(place, v) + last);
        }
    }

    fn n(&self) -> u64 {
        self.counts.iter().sum()
    }
}
