//! What is known of the true counts: their law, or draws of them.

use super::beta_mixture::Interval;
use super::counts_law::{CountsLaw, Seen};
use super::draws::{Sampler, shares};
use super::sampled::Sampled;
use super::wide::WideLaw;
use engine::posterior::model::Prior;

/// The true counts of all cells.
#[derive(Clone, Debug)]
pub enum Law {
    Exact(Box<CountsLaw>),
    Wide(Box<WideLaw>),
}

impl Law {
    /// What is known given releases of the same data, all with the prior of the first one; or why nothing is.
    pub fn given(seen: &[Seen]) -> Result<Self, String> {
        CountsLaw::given(seen)
            .map(Self::from)
            .or_else(|cause| Ok(Self::Wide(Box::new(CountsLaw::wide(seen, cause)?))))
    }

    /// The law, if it is computed.
    pub fn exact(&self) -> Option<&CountsLaw> {
        match self {
            Self::Exact(law) => Some(law),
            Self::Wide(_) => None,
        }
    }

    pub fn prior(&self) -> &Prior {
        match self {
            Self::Exact(law) => law.prior(),
            Self::Wide(law) => law.prior(),
        }
    }

    /// The number of records, if it is known.
    pub fn n(&self) -> Option<u64> {
        match self {
            Self::Exact(law) => law.n(),
            Self::Wide(law) => law.n(),
        }
    }

    /// The interval of the share of some cells.
    pub fn interval(&self, cells: &[usize], level: f64) -> Interval {
        match self {
            Self::Exact(law) => law.share(cells).interval(level),
            Self::Wide(_) => {
                let all: Vec<usize> = (0..self.prior().k()).collect();
                let (_, limits) =
                    Sampled::new(std::slice::from_ref(self)).share(cells, &all, level);
                let [low, high] = limits.map(|limit| limit.rounded());
                Interval { low, high }
            }
        }
    }

    /// Laws are put in the order of these numbers.
    fn key(&self) -> Vec<u64> {
        match self {
            Self::Exact(law) => law.key(),
            Self::Wide(law) => law.key(),
        }
    }
}

impl From<CountsLaw> for Law {
    fn from(law: CountsLaw) -> Self {
        Self::Exact(Box::new(law))
    }
}

/// Draws all cells of several laws that do not depend on each other, like those of groups of fixed sizes. Their
/// cells follow each other.
pub struct Drawers(Vec<Drawer>);

/// Draws the cells of a law, in an order that does not depend on the table's.
struct Drawer {
    from: Source,
    /// The column of every cell.
    column_of: Vec<usize>,
}

enum Source {
    Exact(Sampler),
    Wide(Box<WideLaw>, String),
}

/// Counts of a cell, and the logarithms of gamma numbers of these shapes.
type Column = (Vec<u64>, Vec<f64>);

impl Drawer {
    fn block(&self, seed: u64, block: usize, rows: usize) -> Vec<Column> {
        match &self.from {
            Source::Exact(sampler) => sampler.block(seed, block, rows),
            Source::Wide(law, name) => law.block((seed, name), block, rows),
        }
    }
}

impl Drawers {
    pub fn new(laws: &[Law]) -> Self {
        let mut in_order: Vec<usize> = (0..laws.len()).collect();
        in_order.sort_by_cached_key(|&place| laws[place].key());
        let rank = |place: usize| in_order.iter().position(|&one| one == place).unwrap_or(place);
        let drawer = |(place, law): (usize, &Law)| {
            let name = format!("law {}", rank(place));
            match law {
                Law::Exact(law) => {
                    let (sampler, column_of) = law.sampler(&name);
                    Drawer { from: Source::Exact(sampler), column_of }
                }
                Law::Wide(law) => {
                    let column_of = law.column_of();
                    Drawer { from: Source::Wide(law.clone(), name), column_of }
                }
            }
        };
        Self(laws.iter().enumerate().map(drawer).collect())
    }

    /// One block of draws, a column for every cell.
    pub fn block(&self, seed: u64, block: usize, rows: usize) -> Vec<Column> {
        let of_law = |drawer: &Drawer| {
            let columns = drawer.block(seed, block, rows);
            drawer.column_of.iter().map(|&column| columns[column].clone()).collect::<Vec<_>>()
        };
        self.0.iter().flat_map(of_law).collect()
    }

    /// The draws of a block: a share for every cell.
    pub fn shares(&self, seed: u64, block: usize, rows: usize) -> Vec<Vec<f64>> {
        let mut draws = vec![Vec::new(); rows];
        for drawer in &self.0 {
            let columns = drawer.block(seed, block, rows).into_iter();
            let logs: Vec<Vec<f64>> = columns.map(|(_, logs)| logs).collect();
            for (row, draw) in draws.iter_mut().enumerate() {
                draw.extend(shares(&logs, row, &drawer.column_of));
            }
        }
        draws
    }
}
