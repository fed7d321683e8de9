//! What the Hellinger distance says about total variation: H² <= TV <= H sqrt(2 − H²).

use crate::posterior::distance;
use crate::posterior::error_field::{Field, Reach};
use crate::posterior::model::Posterior;
use crate::posterior::simplex::{Region, Row};

/// H².
pub fn lower(posterior: &Posterior, reach: &Reach) -> Box<dyn Field> {
    bound(posterior, reach, |h| h * h)
}

/// H sqrt(2 − H²).
pub fn upper(posterior: &Posterior, reach: &Reach) -> Box<dyn Field> {
    bound(posterior, reach, |h| h * (2.0 - h * h).sqrt())
}

fn bound(posterior: &Posterior, reach: &Reach, link: fn(f64) -> f64) -> Box<dyn Field> {
    let hellinger = distance::HELLINGER.field(posterior, reach);
    Box::new(Bound { hellinger, link })
}

/// A function of the Hellinger distance that maps 1 to 1.
struct Bound {
    hellinger: Box<dyn Field>,
    link: fn(f64) -> f64,
}

impl Field for Bound {
    fn row(&self, row: &Row, out: &mut [f64]) {
        self.hellinger.row(row, out);
        out.iter_mut().for_each(|value| *value = (self.link)(*value));
    }

    fn n(&self) -> u64 {
        self.hellinger.n()
    }

    fn ball(&self) -> Option<Region> {
        self.hellinger.ball()
    }
}
