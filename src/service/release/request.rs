//! What is asked of a release: a table, a prior, an ε. Nothing of it depends on the data.

use std::ops::Range;

use super::table::Table;
use engine::mechanism::Mechanism;
use engine::posterior::amount::Amount;
use engine::posterior::distance::HELLINGER;
use engine::posterior::model::Prior;
use engine::posterior::privacy::{Epsilon, Gamma};
use engine::posterior::setting::Setting;

/// A release that is asked for.
#[derive(Clone)]
pub struct Request {
    pub table: Table,
    /// The sizes of the groups, if they are public and fixed by design.
    pub fixed: Option<Vec<u64>>,
    /// Whether the number of records is private, or not known.
    pub private_n: bool,
    /// The prior's parameter of every cell.
    pub prior: Vec<f64>,
    /// ε; 0 if nothing is released, but what others have released is read.
    pub epsilon: Amount,
    /// The mechanism, if the user names it.
    pub variant: Option<Mechanism>,
}

/// Cells that are released together: all of the table, or one group of a fixed size. A record never leaves
/// its histogram.
#[derive(Clone, Debug, PartialEq)]
pub struct Histogram {
    pub cells: Range<usize>,
    /// Its records; 0 if their number is not known.
    pub n: u64,
    pub prior: Prior,
}

impl Request {
    /// The histograms, if there are `n` records, or if nobody knows how many.
    ///
    /// # Panics
    /// If the prior is not one: the request was not checked.
    pub fn histograms(&self, n: Option<u64>) -> Vec<Histogram> {
        let histogram = |cells: Range<usize>, n: u64| {
            let prior = Prior::new(self.prior[cells.clone()].to_vec());
            Histogram { cells, n, prior: prior.expect("a checked prior") }
        };
        match &self.fixed {
            None => vec![histogram(0..self.table.cells(), n.unwrap_or(0))],
            Some(sizes) => {
                let groups = sizes.iter().enumerate();
                groups.map(|(group, &n)| histogram(self.table.group(group), n)).collect()
            }
        }
    }
}

impl Histogram {
    /// The setting in which it is released.
    pub fn setting(&self, epsilon: Amount) -> Setting {
        Setting {
            prior: self.prior.clone(),
            n: self.n,
            epsilon: Epsilon::new(epsilon.to_f64()).expect("an amount above 0 is an ε"),
            delta: None,
            gamma: Gamma::new(1.0).expect("1 is a γ"),
            distance: HELLINGER,
        }
    }
}
