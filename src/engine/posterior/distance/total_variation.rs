//! Total variation, numerically (see [`crate::numeric::overlap`]).

use std::sync::Arc;

use super::Distance;
use super::affinity::Affinity;
use crate::memo::Memo;
use crate::numeric::overlap::{self, total_variation};
use crate::posterior::error_field::{Field, Reach};
use crate::posterior::model::{Posterior, Prior};
use crate::posterior::sensitivity::{Moves, TotalVariationMoves};
use crate::posterior::simplex::{Region, Row, Tail};

/// TV(Dir(a), Dir(b)) = ½ ∫ |p − p'|, between 0 and 1, with an absolute error of at most
/// [`crate::numeric::overlap::ACCURACY`].
pub struct TotalVariation;

impl Distance for TotalVariation {
    fn id(&self) -> &'static str {
        "tv"
    }

    fn title(&self) -> &'static str {
        "total variation distance"
    }

    fn field(&self, posterior: &Posterior, reach: &Reach) -> Box<dyn Field> {
        Box::new(TotalVariationField {
            affinity: Affinity::new(posterior, 1.0, reach),
            known: Memo::new(MOST_KEPT),
        })
    }

    fn accuracy(&self) -> (f64, f64) {
        (0.0, overlap::ACCURACY)
    }

    /// 1 − TV is at most the Bhattacharyya coefficient.
    fn plateau(&self, _: &Prior, _: u64) -> Option<f64> {
        Some(1.0)
    }

    fn steps(&self) -> f64 {
        2_200.0
    }

    fn moves(&self, prior: &Prior, _: u64) -> Option<Arc<dyn Moves>> {
        Some(Arc::new(TotalVariationMoves(prior.clone())))
    }
}

/// What identifies a row: its head, its start and its length; the total decides the rest.
type Key = (Vec<u64>, u64, usize, Option<u64>);

struct TotalVariationField {
    affinity: Affinity,
    /// Rows that were asked for before: a law is walked several times.
    known: Memo<Key, Arc<[f64]>>,
}

/// At most this many rows are kept, and only those of at least this length: a short row takes more room than it
/// saves time.
const MOST_KEPT: usize = 1 << 14;
const LEAST_KEPT: usize = 4;

impl TotalVariationField {
    fn compute(&self, row: &Row) -> Arc<[f64]> {
        let posterior = &self.affinity.posterior;
        let (alpha, counts) = (posterior.prior().alpha(), posterior.counts());
        let mut output = vec![0; posterior.k()];
        let value = |t: usize| {
            row.output(t, &mut output);
            total_variation(alpha, counts, &output)
        };
        (0..row.len).map(value).collect()
    }
}

impl Field for TotalVariationField {
    fn row(&self, row: &Row, out: &mut [f64]) {
        let tail = match row.tail {
            Tail::Complement(rest) => Some(rest),
            Tail::Zero | Tail::Free => None,
        };
        let key = (row.head.to_vec(), row.start, row.len, tail);
        let values = match row.len < LEAST_KEPT {
            true => self.compute(row),
            false => self.known.get(&key, || self.compute(row)),
        };
        out.copy_from_slice(&values);
    }

    fn n(&self) -> u64 {
        self.affinity.posterior.n()
    }

    fn ball(&self) -> Option<Region> {
        self.affinity.ball()
    }
}
