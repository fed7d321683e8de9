//! The data sets as a graph, folded by the permutations that leave the program unchanged.
//!
//! Outputs are counts with the same total, so every data set is an output too.

use crate::analysis::optimum::program::full_field;
use crate::analysis::optimum::search::Graph;
use crate::numeric::{Sum, exp_accurate};
use crate::parallel;
use crate::posterior::model::{Counts, Predictive, hamming_distance, neighbours};
use crate::posterior::setting::Setting;
use crate::posterior::simplex::{list_compositions, rank};

/// The data sets, their neighbours, weights and errors.
pub struct Space {
    /// ε.
    pub epsilon: f64,
    /// The data sets.
    pub inputs: Vec<Counts>,
    /// Which of them are adjacent.
    pub graph: Graph,
    /// The prior predictive probability of every data set.
    pub weights: Vec<f64>,
    /// The members of every orbit; the first one represents it.
    pub orbits: Vec<Vec<u32>>,
    /// The orbit of every data set.
    pub orbit_of: Vec<u32>,
    /// For every permutation the place to which it takes each data set.
    pub permutations: Vec<Vec<u32>>,
    /// For every orbit of outputs the error of its representative at every data set.
    pub errors: Vec<Vec<f64>>,
}

impl Space {
    /// The data sets at the prior, distance, ε and number of records of `template`.
    pub fn new(template: &Setting) -> Self {
        let prior = template.posterior.prior();
        let (n, k) = (template.posterior.n(), prior.k());
        let inputs = list_compositions(n, k);
        let predictive = Predictive::new(prior, n);
        let weights = inputs.iter().map(|x| exp_accurate(predictive.ln_probability(x))).collect();
        let permutations = permutations(k, &prior.exchangeable());
        let image = |order: &Vec<usize>, x: &Counts| {
            rank(&order.iter().map(|&i| x[i]).collect::<Counts>()) as u32
        };
        let permutations: Vec<Vec<u32>> = permutations
            .iter()
            .map(|order| inputs.iter().map(|x| image(order, x)).collect())
            .collect();
        let (orbits, orbit_of) = orbits(inputs.len(), &permutations);
        let errors = errors(template, &inputs, &orbits);
        let graph = Graph::new(inputs.len(), |place, list| {
            list.extend(neighbours(&inputs[place]).map(|moved| rank(&moved) as u32));
        });
        Self {
            epsilon: template.epsilon.get(),
            graph,
            weights,
            orbits,
            orbit_of,
            permutations,
            errors,
            inputs,
        }
    }

    /// How many records separate every data set from the one at `place`.
    pub fn distances(&self, place: usize) -> Vec<i32> {
        let centre = &self.inputs[place];
        self.inputs.iter().map(|x| hamming_distance(x, centre) as i32).collect()
    }

    /// A permutation that takes `place` to the representative of its orbit.
    pub fn to_representative(&self, place: usize) -> &[u32] {
        let first = self.orbits[self.orbit_of[place] as usize][0];
        let found = self.permutations.iter().find(|image| image[place] == first);
        found.unwrap_or(&self.permutations[0])
    }

    /// The mean of `values` over every orbit.
    pub fn fold(&self, values: &[f64]) -> Vec<f64> {
        let mean = |members: &Vec<u32>| {
            let sum: f64 = members.iter().map(|&x| values[x as usize]).sum();
            sum / members.len() as f64
        };
        self.orbits.iter().map(mean).collect()
    }

    /// Σ_x w(x) error(x, r) p(x) for the output r that represents `orbit`.
    pub fn cost(&self, orbit: usize, p: &[f64]) -> f64 {
        let mut sum = Sum::default();
        for ((weight, error), p) in self.weights.iter().zip(&self.errors[orbit]).zip(p) {
            sum.add(weight * error * p);
        }
        sum.value()
    }
}

/// Every order of k categories that permutes each group within itself.
fn permutations(k: usize, groups: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let mut all = vec![(0..k).collect::<Vec<usize>>()];
    for group in groups {
        for place in 0..group.len() {
            let swap = |order: &Vec<usize>| {
                let swapped = |&with: &usize| {
                    let mut order = order.clone();
                    order.swap(group[place], with);
                    order
                };
                group[place..].iter().map(swapped).collect::<Vec<_>>()
            };
            all = all.iter().flat_map(swap).collect();
        }
    }
    all
}

fn orbits(inputs: usize, permutations: &[Vec<u32>]) -> (Vec<Vec<u32>>, Vec<u32>) {
    let mut orbits: Vec<Vec<u32>> = Vec::new();
    let mut orbit_of = vec![u32::MAX; inputs];
    for x in 0..inputs {
        if orbit_of[x] == u32::MAX {
            let mut members: Vec<u32> = permutations.iter().map(|image| image[x]).collect();
            members.sort_unstable();
            members.dedup();
            members.iter().for_each(|&member| orbit_of[member as usize] = orbits.len() as u32);
            orbits.push(members);
        }
    }
    (orbits, orbit_of)
}

fn errors(template: &Setting, inputs: &[Counts], orbits: &[Vec<u32>]) -> Vec<Vec<f64>> {
    let at_input = |x: &Counts| {
        let field = full_field(template, x.clone());
        let error = |orbit: &Vec<u32>| field.at(&inputs[orbit[0] as usize]);
        orbits.iter().map(error).collect::<Vec<f64>>()
    };
    let mut errors = vec![Vec::with_capacity(inputs.len()); orbits.len()];
    // In pieces, so that the table is never there twice.
    for piece in inputs.chunks(256) {
        let rows: Vec<Vec<f64>> = parallel::map(piece, at_input);
        for row in rows {
            errors.iter_mut().zip(row).for_each(|(errors, error)| errors.push(error));
        }
    }
    errors
}
