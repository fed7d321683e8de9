//! A law whose outputs are listed with their probabilities.

use std::collections::{BTreeMap, HashMap};

use super::effort::Effort;
use super::product::is_walked;
use super::{Batch, Law};
use crate::mechanism::own::ProbabilityTable;
use crate::numeric::{Sum, exp_accurate};
use crate::posterior::model::{Counts, Posterior};
use crate::posterior::simplex::{Blocks, Region, Row};
use crate::rng::draw_index;

/// What the law takes: every output of its region is looked up.
pub fn effort(posterior: &Posterior, table: &ProbabilityTable) -> Effort {
    let mut effort = Effort::walk::<()>(table.region(posterior), &[]);
    effort.entries += effort.walked.map_or(0.0, |walked| walked.outputs);
    effort
}

/// The law of one row of a table.
pub struct Listed {
    region: Region,
    /// `None` if there are too many outputs to walk.
    blocks: Option<Blocks>,
    probabilities: HashMap<Counts, f64>,
    /// The outputs in order, and the sums of the probabilities up to each.
    outputs: Vec<Counts>,
    running: Vec<f64>,
    truth: Counts,
}

impl Listed {
    /// The law with these ln P of the outputs in `region`, at the data of `posterior`.
    pub fn new(row: &BTreeMap<Counts, f64>, region: Region, posterior: &Posterior) -> Self {
        let listed = row.iter().map(|(r, ln_p)| (r.clone(), exp_accurate(*ln_p)));
        let probabilities: HashMap<Counts, f64> = listed.clone().collect();
        let mut sum = Sum::default();
        let up_to = |(output, probability): (Counts, f64)| {
            sum.add(probability);
            (output, sum.value())
        };
        let (outputs, running) = listed.map(up_to).unzip();
        let blocks = is_walked(&region).then(|| region.blocks());
        let truth = posterior.counts().to_vec();
        Self { region, blocks, probabilities, outputs, running, truth }
    }
}

impl Law for Listed {
    fn region(&self) -> &Region {
        &self.region
    }

    fn blocks(&self) -> Option<&Blocks> {
        self.blocks.as_ref()
    }

    fn masses(&self, row: &Row, masses: &mut [f64]) {
        let mut output = vec![0; self.truth.len()];
        for (t, mass) in masses.iter_mut().enumerate() {
            row.output(t, &mut output);
            *mass = row.weight * self.probabilities.get(&output).copied().unwrap_or(0.0);
        }
    }

    fn normaliser(&self) -> f64 {
        1.0
    }

    fn p_exact(&self) -> f64 {
        self.probabilities.get(&self.truth).copied().unwrap_or(0.0)
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
