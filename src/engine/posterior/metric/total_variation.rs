//! What the Hellinger distance says about total variation: H² <= TV <= H sqrt(2 − H²).

use crate::posterior::distance::{Distance, HELLINGER};
use crate::posterior::error_field::{Field, Reach};
use crate::posterior::model::{Posterior, Prior};
use crate::posterior::simplex::{Region, Row};

/// A function of the Hellinger distance that maps 1 to 1.
pub struct Bound {
    id: &'static str,
    title: &'static str,
    link: fn(f64) -> f64,
}

/// H².
pub static LOWER: Bound =
    Bound { id: "tv_lower", title: "lower bound on total variation", link: |h| h * h };

/// H sqrt(2 − H²).
pub static UPPER: Bound = Bound {
    id: "tv_upper",
    title: "upper bound on total variation",
    link: |h| h * (2.0 - h * h).sqrt(),
};

impl Distance for Bound {
    fn id(&self) -> &str {
        self.id
    }

    fn title(&self) -> &str {
        self.title
    }

    fn error_title(&self) -> String {
        self.title.to_owned()
    }

    fn field(&self, posterior: &Posterior, reach: &Reach) -> Box<dyn Field> {
        Box::new(BoundField { hellinger: HELLINGER.field(posterior, reach), link: self.link })
    }

    fn plateau(&self, prior: &Prior, n: u64) -> Option<f64> {
        HELLINGER.plateau(prior, n)
    }
}

struct BoundField {
    hellinger: Box<dyn Field>,
    link: fn(f64) -> f64,
}

impl Field for BoundField {
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
