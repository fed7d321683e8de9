//! A law whose outputs are listed with their probabilities.

pub mod table;

use std::sync::Arc;

use super::{Batch, Law, LawAt, OutputLaw, OutputSet, Outputs, Walked, is_walked, size};
use crate::numeric::exp_accurate;
use crate::numeric::sum::running;
use crate::posterior::error_field::Field;
use crate::posterior::model::{Counts, Posterior};
use crate::posterior::simplex::{Region, Row};
use crate::refusal::Refusal;
use crate::rng::draw_index;
use table::ProbabilityTable;

#[derive(Clone, Debug)]
pub struct Listed {
    pub table: Arc<ProbabilityTable>,
    /// Probabilities are raised to this power and normalised again: 1, unless the table is calibrated.
    pub power: f64,
}

impl Law for Listed {
    fn outputs(&self) -> OutputSet {
        self.table.outputs()
    }

    fn at(&self, posterior: &Posterior) -> Result<Box<dyn LawAt + '_>, Refusal> {
        self.table.refuse_missing(posterior)?;
        let row = self.table.row(posterior.counts(), self.power);
        let ln_p = move |output: &[u64]| row.get(output).copied().unwrap_or(f64::NEG_INFINITY);
        Ok(Box::new(ListedAt::new(posterior, self.outputs(), ln_p)))
    }

    fn table_entries(&self, posterior: &Posterior) -> f64 {
        size::all_outputs(self, posterior.n(), posterior.k())
    }

    fn widened(&self, factor: f64) -> Result<Arc<dyn Law>, Refusal> {
        Ok(Arc::new(Self { power: self.power / factor, ..self.clone() }))
    }
}

/// A law at one data set, given as ln P of every output.
pub struct ListedAt<F> {
    posterior: Posterior,
    outputs: OutputSet,
    ln_p: F,
}

impl<F: Fn(&[u64]) -> f64 + Send + Sync> ListedAt<F> {
    /// The law of these outputs with this ln P at the data of `posterior`.
    pub fn new(posterior: &Posterior, outputs: OutputSet, ln_p: F) -> Self {
        Self { posterior: posterior.clone(), outputs, ln_p }
    }
}

impl<F: Fn(&[u64]) -> f64 + Send + Sync> LawAt for ListedAt<F> {
    fn region(&self) -> Option<Region> {
        Some(self.outputs.region(self.posterior.n(), self.posterior.k()))
    }

    fn ln_probabilities(&self, outputs: Outputs, _: &dyn Field) -> Vec<f64> {
        outputs.list().iter().map(|output| (self.ln_p)(output)).collect()
    }

    fn output_law(&self) -> Box<dyn OutputLaw + '_> {
        let outputs = Outputs::new(self.outputs, self.posterior.n(), self.posterior.k()).list();
        let listed = outputs.into_iter().map(|output| ((self.ln_p)(&output), output));
        let possible = listed.filter(|(ln_p, _)| *ln_p > f64::NEG_INFINITY);
        let possible = possible.map(|(ln_p, output)| (output, exp_accurate(ln_p))).collect();
        let region = self.region().expect("it has one");
        Box::new(ListedRow::new(possible, region, self.posterior.counts()))
    }
}

/// Outputs with their probabilities.
pub struct ListedRow {
    /// `None` if there are too many outputs to walk.
    walked: Option<Walked>,
    /// The outputs that are possible, in lexicographic order.
    outputs: Vec<Counts>,
    probabilities: Vec<f64>,
    /// The sums of the probabilities up to each.
    running: Vec<f64>,
    truth: Counts,
}

impl ListedRow {
    /// The law of these outputs, which are all in `region`, at the data `truth`.
    pub fn new(listed: Vec<(Counts, f64)>, region: Region, truth: &[u64]) -> Self {
        let (outputs, probabilities): (Vec<Counts>, Vec<f64>) = listed.into_iter().unzip();
        let running = running(probabilities.iter().copied());
        let walked = is_walked(&region).then(|| Walked::new(region));
        Self { walked, outputs, probabilities, running, truth: truth.to_vec() }
    }
}

impl OutputLaw for ListedRow {
    fn walked(&self) -> Option<&Walked> {
        self.walked.as_ref()
    }

    fn masses(&self, row: &Row, masses: &mut [f64]) {
        let mut output = vec![0; self.truth.len()];
        row.output(0, &mut output);
        // The outputs of a row follow one another.
        let mut index = self.outputs.partition_point(|listed| *listed < output);
        for (t, mass) in masses.iter_mut().enumerate() {
            row.output(t, &mut output);
            let is_listed = self.outputs.get(index) == Some(&output);
            *mass = if is_listed { row.weight * self.probabilities[index] } else { 0.0 };
            index += usize::from(is_listed);
        }
    }

    fn normaliser(&self) -> f64 {
        1.0
    }

    fn p_exact(&self) -> f64 {
        let index = self.outputs.binary_search(&self.truth);
        index.map_or(0.0, |index| self.probabilities[index])
    }

    fn draw(&self, k: usize, batches: &mut [Batch]) {
        if self.outputs.is_empty() {
            return;
        }
        for Batch { rng, released } in batches {
            for out in released.chunks_exact_mut(k) {
                out.copy_from_slice(&self.outputs[draw_index(&self.running, rng)]);
            }
        }
    }
}
