//! The columns in use, made a mechanism.

use super::master::{Column, Master};
use super::space::OrbitGraph;
use crate::analysis::optimum::OptimalMechanism;
use crate::analysis::optimum::certificate::completion;
use crate::numeric::{Sum, exp_accurate, ln};
use crate::parallel;

/// What makes the columns in use a mechanism.
///
/// Columns are private, and so is any sum of them, but rows may not sum to one. All is divided by the
/// largest row sum. Then the best single output gets what is missing in each row, and a share of every
/// row that is just large enough for this to be private.
pub struct Repair {
    /// The error of the repaired mechanism.
    pub error: f64,
    /// What every λ is multiplied by.
    scale: f64,
    /// The best single orbit of outputs, and what it gets in every orbit of rows.
    favourite: usize,
    gifts: Vec<f64>,
}

impl Repair {
    /// The repair of the columns in use.
    pub fn new(space: &OrbitGraph, master: &Master) -> Self {
        let mut sums = vec![Sum::default(); space.orbits.len()];
        let mut error = Sum::default();
        for (column, value) in used(master) {
            sums.iter_mut().zip(&column.fold).for_each(|(sum, p)| sum.add(value * p));
            error.add(value * column.cost);
        }
        let sums: Vec<f64> = sums.iter().map(Sum::value).collect();
        let steps = space.orbits.firsts.iter().enumerate().flat_map(|(orbit, &first)| {
            let arcs = space.graph.arcs_of(first as usize).iter();
            arcs.map(move |arc| (orbit, space.orbits.of[arc.to as usize] as usize))
        });
        let (scale, gifts) = completion(&sums, space.epsilon, steps);
        let everywhere = vec![1.0; space.inputs.len()];
        let favourite = (0..space.output_orbits.len())
            .map(|orbit| (orbit, space.cost(orbit, &everywhere)))
            .min_by(|a, b| a.1.total_cmp(&b.1))
            .map_or(0, |found| found.0);
        let at = space.orbits.unfold(&gifts);
        let error = scale * error.value() + space.cost(favourite, &at);
        Self { error, scale, favourite, gifts }
    }

    /// The mechanism as a matrix.
    pub fn mechanism(&self, space: OrbitGraph, master: &Master) -> OptimalMechanism {
        let size = space.inputs.len();
        let largest = master.columns.iter().flat_map(|column| &column.f).copied().max();
        let power = |f: i16| exp_accurate(-space.epsilon * f64::from(f));
        let powers: Vec<f64> = (0..=largest.unwrap_or(0)).map(power).collect();
        // One vector for each output. A column stands for all that permutations make of it.
        let mut columns = vec![vec![0.0; size]; space.outputs.len()];
        for (column, value) in used(master) {
            let output = space.output_orbits.firsts[column.output] as usize;
            let factor = self.scale * value / space.images.len() as f64;
            for (image, output_image) in &space.images {
                let target = &mut columns[output_image[output] as usize];
                for (&x, &f) in image.iter().zip(&column.f) {
                    target[x as usize] += factor * powers[f as usize];
                }
            }
        }
        let members = space.output_orbits.sizes[self.favourite];
        let gifts = space.orbits.unfold(&self.gifts);
        for (column, &orbit) in columns.iter_mut().zip(&space.output_orbits.of) {
            if orbit as usize == self.favourite {
                column.iter_mut().zip(&gifts).for_each(|(value, gift)| *value += gift / members);
            }
        }
        let row = |x: usize| columns.iter().map(|column| ln(column[x])).collect();
        let ln_probabilities = parallel::map_range(0..size, row);
        OptimalMechanism { outputs: space.outputs, inputs: space.inputs, ln_probabilities }
    }
}

/// The columns of the mechanism and their λ.
fn used(master: &Master) -> impl Iterator<Item = (&Column, f64)> {
    master.basic().filter(|(column, value)| !column.artificial && *value > 0.0)
}
