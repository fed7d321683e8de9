//! The data sets as a graph, and the outputs, folded by the permutations that leave the program unchanged.
//!
//! Every data set is an output too.

use crate::analysis::optimum::program::{errors, weights};
use crate::analysis::optimum::search::Graph;
use crate::mechanism::law::OutputSet;
use crate::numeric::sum::sum;
use crate::orbits::{Orbits, Places, permutations};
use crate::posterior::model::{Counts, hamming_distance};
use crate::posterior::setting::Setting;
use crate::posterior::simplex::list_compositions;

/// The data sets, their neighbours and weights, and the outputs with their errors.
pub struct OrbitGraph {
    pub epsilon: f64,
    pub inputs: Vec<Counts>,
    /// Which of them are adjacent.
    pub graph: Graph,
    /// The prior predictive probability of every data set.
    pub weights: Vec<f64>,
    /// The orbits of data sets.
    pub orbits: Orbits,
    /// For every permutation of categories that can be exchanged: where it takes each data set, and each output.
    pub images: Vec<(Vec<u32>, Vec<u32>)>,
    /// What may be released.
    pub outputs: Vec<Counts>,
    /// Outputs that differ by one record: moved, added or removed.
    pub output_graph: Graph,
    /// The orbits of outputs.
    pub output_orbits: Orbits,
    /// For every orbit of outputs the error of its representative at every data set.
    pub errors: Vec<Vec<f64>>,
}

impl OrbitGraph {
    /// The data sets at the prior, distance, ε and number of records of `setting`; outputs have the same total
    /// or, with [`OutputSet::Below`], any smaller one.
    pub fn new(setting: &Setting, set: OutputSet) -> Self {
        let prior = &setting.prior;
        let (n, k) = (setting.n, prior.k());
        let inputs = list_compositions(n, k);
        let groups = prior.exchangeable();
        // Missing records are one more category, which stays where it is.
        let parts = k + usize::from(set == OutputSet::Below);
        let mut outputs = list_compositions(n, parts);
        let (orbits, output_orbits) = (Orbits::new(k, n, &groups), Orbits::new(parts, n, &groups));
        let output_graph = Graph::new(&outputs, |r| Some(output_orbits.places.of(r)));
        outputs.iter_mut().for_each(|output| output.truncate(k));
        let firsts = output_orbits.firsts.iter();
        let firsts: Vec<Counts> = firsts.map(|&first| outputs[first as usize].clone()).collect();
        let image = |list: &[Counts], places: &Places, order: &[usize]| {
            let moved = |x: &Counts| order.iter().map(|&i| x[i]).collect::<Counts>();
            list.iter().map(|x| places.of(&moved(x)) as u32).collect()
        };
        let images = |order: Vec<usize>| {
            let outputs = image(&outputs, &output_orbits.places, &order);
            (image(&inputs, &orbits.places, &order), outputs)
        };
        Self {
            epsilon: setting.epsilon.get(),
            graph: Graph::new(&inputs, |x| Some(orbits.places.of(x))),
            weights: weights(setting, &inputs),
            images: permutations(k, &groups).into_iter().map(images).collect(),
            errors: errors(setting, &inputs, &firsts),
            orbits,
            output_graph,
            output_orbits,
            outputs,
            inputs,
        }
    }

    /// How many records separate every data set from the one at `index`.
    pub fn distances(&self, index: usize) -> Vec<i32> {
        let centre = &self.inputs[index];
        self.inputs.iter().map(|x| hamming_distance(x, centre) as i32).collect()
    }

    /// Where a permutation that takes `output` to the representative of its orbit takes every data set.
    pub fn to_representative(&self, output: usize) -> &[u32] {
        let first = self.output_orbits.firsts[self.output_orbits.of[output] as usize];
        let found = self.images.iter().find(|(_, outputs)| outputs[output] == first);
        &found.expect("a permutation leads to every member of an orbit").0
    }

    /// The data set at which the output that represents `orbit` has the smallest error.
    pub fn home(&self, orbit: usize) -> usize {
        let errors = self.errors[orbit].iter().enumerate();
        errors.min_by(|a, b| a.1.total_cmp(b.1)).map_or(0, |found| found.0)
    }

    /// The mean of `values` over every orbit of data sets.
    pub fn fold(&self, values: &[f64]) -> Vec<f64> {
        let mut sums = vec![0.0; self.orbits.len()];
        self.orbits.of.iter().zip(values).for_each(|(&orbit, value)| sums[orbit as usize] += value);
        sums.iter().zip(&self.orbits.sizes).map(|(sum, size)| sum / size).collect()
    }

    /// Σ_x w(x) error(x, r) p(x) for the output r that represents `orbit`.
    pub fn cost(&self, orbit: usize, p: &[f64]) -> f64 {
        let terms = self.weights.iter().zip(&self.errors[orbit]).zip(p);
        sum(terms.map(|((weight, error), p)| weight * error * p))
    }
}
