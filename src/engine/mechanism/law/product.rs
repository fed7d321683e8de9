//! Laws whose mass is a product over the coordinates: noise on counts, and candidates weighed by the
//! number of moved records. There may be weights besides that are not a product.

use super::noise::NEGLECTED;
use super::{Batch, OutputLaw, Walked, is_walked, walk_block};
use crate::numeric::{Sum, Table, kernel};
use crate::posterior::model::Posterior;
use crate::posterior::simplex::{Region, Row, Tail, Window};
use crate::rng::Stream;

/// P(v) ∝ Π_i p_i(v_i).
pub struct Product<'a> {
    law: Factors<'a>,
    /// `None` if there are too many outputs to walk; then there are no tables either.
    walked: Option<Walked>,
    /// p_i; absent for a coordinate that is determined by the others.
    tables: Vec<Table>,
    /// Multiplies the masses of a row by what is not a product.
    besides: Option<Besides<'a>>,
}

type Besides<'a> = Box<dyn Fn(&Row, &mut [f64]) + Sync + 'a>;

type Tabled<'a> = Box<dyn Fn(&[Window]) -> Vec<Table> + Sync + 'a>;

type Draw<'a> = Box<dyn Fn(&mut Stream, &mut [u64]) + Sync + 'a>;

/// What the mass of an output is made of.
pub struct Factors<'a> {
    /// The outputs that carry all but a negligible part of the probability.
    pub region: Region,
    /// How many coordinates, the first ones, are made independently, and all in the same way.
    pub alike: usize,
    /// p_i over the windows of the region.
    pub tables: Tabled<'a>,
    /// The sum of all masses.
    pub normaliser: f64,
    /// The probability of the true counts.
    pub p_exact: f64,
    pub draw: Draw<'a>,
}

impl<'a> Product<'a> {
    /// The law at one data set.
    pub fn new(posterior: &Posterior, law: Factors<'a>) -> Self {
        // Of outputs that differ by exchanging equal categories only one is walked. In a part of a law,
        // equal categories may have different windows.
        let windows = law.region.windows().iter().copied();
        let categories: Vec<_> = posterior.categories().into_iter().zip(windows).collect();
        let folded = law.region.clone().folded(&categories[..law.alike]);
        let walked = is_walked(&folded).then(|| Walked::new(folded));
        let tables = walked.as_ref().map(|_| (law.tables)(law.region.windows()));
        Self { law, walked, tables: tables.unwrap_or_default(), besides: None }
    }

    /// The same law with masses that are multiplied besides, row by row.
    pub fn times(self, besides: impl Fn(&Row, &mut [f64]) + Sync + 'a) -> Self {
        Self { besides: Some(Box::new(besides)), ..self }
    }

    /// The same law, normalised by the sum of the masses that are walked.
    pub fn normalised(mut self, counts: &[u64]) -> Self {
        if let Some(total) = total_mass(&self) {
            self.law.normaliser = total;
            self.law.p_exact = self.probability(counts);
        }
        self
    }

    fn factor(&self, i: usize, v: u64) -> f64 {
        self.tables[i].get(v).unwrap_or(0.0)
    }

    /// The mass of one output, but for what it is multiplied by besides.
    fn mass(&self, output: &[u64]) -> f64 {
        (0..self.tables.len()).map(|i| self.factor(i, output[i])).product()
    }

    /// The probability of one output whose mass is a product.
    pub fn probability(&self, output: &[u64]) -> f64 {
        self.mass(output) / self.law.normaliser
    }
}

impl OutputLaw for Product<'_> {
    fn walked(&self) -> Option<&Walked> {
        self.walked.as_ref()
    }

    fn left_out(&self) -> f64 {
        NEGLECTED
    }

    fn masses(&self, row: &Row, masses: &mut [f64]) {
        let index = row.head.len();
        let head = row.head.iter().enumerate().map(|(i, &v)| self.factor(i, v));
        let head = head.fold(row.weight, |product, factor| product * factor);
        let running = self.tables[index].slice(row.start, row.len);
        // Under noise that restores the total the last coordinate has no factor, since the others
        // determine it.
        let last = match (row.tail, self.tables.get(index + 1)) {
            (Tail::Complement(rest), Some(last)) => {
                Some(last.slice((rest + 1).saturating_sub(row.start + row.len as u64), row.len))
            }
            _ => None,
        };
        match (running, last) {
            (Some(p), None) => kernel::products(head, p, None, masses),
            (Some(p), Some(Some(q))) => kernel::products(head, p, Some(q), masses),
            // The tables do not cover the row.
            _ => {
                let mut output = vec![0; self.law.region.windows().len()];
                for (t, mass) in masses.iter_mut().enumerate() {
                    row.output(t, &mut output);
                    *mass = row.weight * self.mass(&output);
                }
            }
        }
        if let Some(besides) = &self.besides {
            besides(row, masses);
        }
    }

    fn normaliser(&self) -> f64 {
        self.law.normaliser
    }

    fn p_exact(&self) -> f64 {
        self.law.p_exact
    }

    fn draw(&self, k: usize, batches: &mut [Batch]) {
        for Batch { rng, released } in batches {
            for out in released.chunks_exact_mut(k) {
                (self.law.draw)(rng, out);
            }
        }
    }
}

/// The sum of the masses of all outputs; `None` if they are too many to be walked.
pub fn total_mass(law: &dyn OutputLaw) -> Option<f64> {
    let (mut sum, walked) = (Sum::default(), law.walked()?);
    for block in 0..walked.blocks.len() {
        walk_block(law, walked, block, |_, masses| {
            masses.iter().for_each(|&mass| sum.add(mass));
        });
    }
    Some(sum.value())
}
