//! Total variation, numerically (see [`crate::numeric::overlap`]).

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::Distance;
use super::affinity::Affinity;
use crate::numeric::overlap::{self, total_variation};
use crate::posterior::error_field::{Field, Reach};
use crate::posterior::model::Posterior;
use crate::posterior::sensitivity::{Sensitivity, TotalVariationMoves};
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

    fn error_title(&self) -> String {
        format!("{} from the true posterior", self.title())
    }

    fn field(&self, posterior: &Posterior, reach: &Reach) -> Box<dyn Field> {
        Box::new(TotalVariationField {
            affinity: Affinity::new(posterior, 1.0, reach),
            known: Mutex::default(),
        })
    }

    fn accuracy(&self) -> (f64, f64) {
        (0.0, overlap::ACCURACY)
    }

    fn power(&self, _: &Posterior) -> Option<f64> {
        None
    }

    /// 1 − TV is at most the Bhattacharyya coefficient.
    fn plateau(&self, _: &Posterior) -> Option<f64> {
        Some(1.0)
    }

    fn effort(&self) -> f64 {
        2_200.0
    }

    fn sensitivity(&self, posterior: &Posterior) -> Sensitivity {
        let moves = TotalVariationMoves::new(posterior.prior().alpha());
        Sensitivity::searched(posterior, Arc::new(moves))
    }
}

/// What identifies a row: its head, its start and its length; the total decides the rest.
type Key = (Vec<u64>, u64, usize, Option<u64>);

struct TotalVariationField {
    affinity: Affinity,
    /// Rows that were asked for before: a law is walked several times.
    known: Mutex<RowCache>,
}

#[derive(Default)]
struct RowCache {
    rows: HashMap<Key, Arc<[f64]>>,
    values: usize,
}

/// About this many values are kept at most, and only rows of at least this length: a short row takes
/// more room than it saves time.
const MOST_KEPT: usize = 1 << 22;
const LEAST_KEPT: usize = 4;

impl TotalVariationField {
    fn compute(&self, row: &Row) -> Arc<[f64]> {
        let posterior = self.affinity.posterior();
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
        let lock = || self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let found = lock().rows.get(&key).cloned();
        let values = found.unwrap_or_else(|| {
            let values = self.compute(row);
            let mut known = lock();
            if known.values < MOST_KEPT && row.len >= LEAST_KEPT {
                known.values += row.len;
                known.rows.insert(key, Arc::clone(&values));
            }
            values
        });
        out.copy_from_slice(&values);
    }

    fn n(&self) -> u64 {
        self.affinity.posterior().n()
    }

    fn ball(&self) -> Option<Region> {
        self.affinity.ball()
    }
}
