//! The data sets as a graph, and the outputs, folded by the permutations that leave the program unchanged.
//!
//! Every data set is an output too.

use crate::analysis::optimum::program::errors;
use crate::analysis::optimum::search::Graph;
use crate::mechanism::law::{OutputSet, Outputs};
use crate::numeric::{Sum, exp_accurate};
use crate::posterior::model::{Counts, Predictive, hamming_distance, neighbours};
use crate::posterior::setting::Setting;
use crate::posterior::simplex::{list_compositions, rank};

/// The data sets, their neighbours and weights, and the outputs with their errors.
pub struct Space {
    /// ε.
    pub epsilon: f64,
    /// The data sets.
    pub inputs: Vec<Counts>,
    /// Which of them are adjacent.
    pub graph: Graph,
    /// The prior predictive probability of every data set.
    pub weights: Vec<f64>,
    /// The orbits of data sets.
    pub orbits: Orbits,
    /// What may be released.
    pub outputs: Vec<Counts>,
    /// How outputs are numbered.
    numbers: Outputs,
    /// Outputs that differ by one record: moved, added or removed.
    pub output_graph: Graph,
    /// The orbits of outputs.
    pub output_orbits: Orbits,
    /// For every orbit of outputs the error of its representative at every data set.
    pub errors: Vec<Vec<f64>>,
}

/// What permutations of the categories make of a list of counts.
pub struct Orbits {
    /// For every permutation the place to which it takes each member of the list.
    pub images: Vec<Vec<u32>>,
    /// The members of every orbit; the first one represents it.
    pub members: Vec<Vec<u32>>,
    /// The orbit of every member of the list.
    pub of: Vec<u32>,
}

impl Orbits {
    /// Of all counts of one total in the given orders of their categories.
    fn new(list: &[Counts], orders: &[Vec<usize>]) -> Self {
        let image = |order: &Vec<usize>| {
            let moved = |x: &Counts| order.iter().map(|&i| x[i]).collect::<Counts>();
            list.iter().map(|x| rank(&moved(x)) as u32).collect()
        };
        let images: Vec<Vec<u32>> = orders.iter().map(image).collect();
        let mut orbits = Self { images, members: Vec::new(), of: vec![u32::MAX; list.len()] };
        for x in 0..list.len() {
            if orbits.of[x] == u32::MAX {
                let mut members: Vec<u32> = orbits.images.iter().map(|image| image[x]).collect();
                members.sort_unstable();
                members.dedup();
                let number = orbits.members.len() as u32;
                members.iter().for_each(|&member| orbits.of[member as usize] = number);
                orbits.members.push(members);
            }
        }
        orbits
    }

    /// How many orbits there are.
    pub fn len(&self) -> usize {
        self.members.len()
    }

    /// The number of the permutation that takes `place` to the representative of its orbit.
    fn to_representative(&self, place: usize) -> usize {
        let first = self.members[self.of[place] as usize][0];
        self.images.iter().position(|image| image[place] == first).unwrap_or(0)
    }
}

impl Space {
    /// The data sets at the prior, distance, ε and number of records of `template`; outputs have the same total
    /// or, with [`OutputSet::Below`], any smaller one.
    pub fn new(template: &Setting, set: OutputSet) -> Self {
        let prior = template.posterior.prior();
        let (n, k) = (template.posterior.n(), prior.k());
        let inputs = list_compositions(n, k);
        let predictive = Predictive::new(prior, n);
        let weights = inputs.iter().map(|x| exp_accurate(predictive.ln_probability(x))).collect();
        let orders = permutations(k, &prior.exchangeable());
        // Missing records are one more category, which stays where it is.
        let parts = k + usize::from(set == OutputSet::Below);
        let outputs = list_compositions(n, parts);
        let output_orders: Vec<Vec<usize>> =
            orders.iter().map(|order| order.iter().copied().chain(k..parts).collect()).collect();
        let output_orbits = Orbits::new(&outputs, &output_orders);
        let output_graph = graph(&outputs);
        let numbers = Outputs::new(set, n, k);
        let outputs = numbers.list();
        let first: Vec<Counts> = output_orbits
            .members
            .iter()
            .map(|members| outputs[members[0] as usize].clone())
            .collect();
        Self {
            epsilon: template.epsilon.get(),
            graph: graph(&inputs),
            weights,
            orbits: Orbits::new(&inputs, &orders),
            errors: errors(template, &inputs, &first),
            output_graph,
            output_orbits,
            numbers,
            outputs,
            inputs,
        }
    }

    /// How many records separate every data set from the one at `place`.
    pub fn distances(&self, place: usize) -> Vec<i32> {
        let centre = &self.inputs[place];
        self.inputs.iter().map(|x| hamming_distance(x, centre) as i32).collect()
    }

    /// The output that is the data set at `place`.
    pub fn output_at(&self, place: usize) -> usize {
        self.numbers.index(&self.inputs[place])
    }

    /// Where a permutation that takes `output` to the representative of its orbit takes every data set.
    pub fn to_representative(&self, output: usize) -> &[u32] {
        &self.orbits.images[self.output_orbits.to_representative(output)]
    }

    /// The data set at which the output that represents `orbit` has the smallest error.
    pub fn home(&self, orbit: usize) -> usize {
        let errors = self.errors[orbit].iter().enumerate();
        errors.min_by(|a, b| a.1.total_cmp(b.1)).map_or(0, |found| found.0)
    }

    /// The mean of `values` over every orbit of data sets.
    pub fn fold(&self, values: &[f64]) -> Vec<f64> {
        let mean = |members: &Vec<u32>| {
            let sum: f64 = members.iter().map(|&x| values[x as usize]).sum();
            sum / members.len() as f64
        };
        self.orbits.members.iter().map(mean).collect()
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

/// Counts of the same total, adjacent if one record is moved.
fn graph(list: &[Counts]) -> Graph {
    Graph::new(list.len(), |place, near| {
        near.extend(neighbours(&list[place]).map(|moved| rank(&moved) as u32));
    })
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
