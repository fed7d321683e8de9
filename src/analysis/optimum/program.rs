//! The linear program, folded by the permutations that leave it unchanged.
//!
//! Categories with equal parameters of the prior can be exchanged: if P(r|x) solves the program, so
//! does P(πr|πx), and so does the average over all such π. It is therefore enough to look for
//! solutions that are constant on the orbits of pairs (x, r): one unknown for each of them, one
//! normalisation for each orbit of x, one privacy constraint for each orbit of steps.

use std::collections::{BTreeMap, HashMap};

use super::ReleaseSet;
use crate::base::numeric::{Sum, exp_accurate};
use crate::posterior::error_field::{Field, Reach};
use crate::posterior::model::{Counts, Posterior, Predictive, hamming_distance, neighbours};
use crate::posterior::setting::Setting;
use crate::posterior::simplex::list_compositions;

/// One orbit of pairs (x, r).
#[derive(Clone, Copy, Debug)]
pub struct Unknown {
    /// The orbit of x, an index of [`Program::rows`].
    pub row: usize,
    /// How many outputs r share the orbit at one x.
    pub multiplicity: f64,
    /// The orbit of r alone, an index of [`Program::families`].
    pub family: usize,
    /// The error of releasing r at x.
    pub error: f64,
    /// How many records separate r from x, counting a missing one as half.
    pub steps: f64,
}

/// One orbit of data sets x.
#[derive(Clone, Copy, Debug)]
pub struct InputOrbit {
    /// Its first member, an index of [`Program::inputs`].
    pub input: usize,
    /// The probability of the whole orbit under the prior's predictive law.
    pub weight: f64,
}

/// What is minimised, and under which constraints.
pub struct Program {
    /// ε.
    pub epsilon: f64,
    /// The data sets x.
    pub inputs: Vec<Counts>,
    /// The outputs r.
    pub outputs: Vec<Counts>,
    /// The orbits of data sets.
    pub rows: Vec<InputOrbit>,
    /// For every orbit of outputs alone, how many there are.
    pub families: Vec<f64>,
    /// The orbits of pairs, those of one row side by side.
    pub unknowns: Vec<Unknown>,
    /// For adjacent data sets P(r|x) <= e^ε P(r|x'): the orbits of (x, r) and (x', r). With every
    /// step its reverse is there too; a step within an orbit only says that P is not negative.
    pub steps: Vec<(usize, usize)>,
    /// The orbit of every pair: outputs side by side for each data set.
    orbits: Vec<u32>,
}

impl Program {
    /// The program at the prior, distance, ε and number of records of `template`; without
    /// `symmetry` every orbit has one member.
    pub fn new(template: &Setting, set: ReleaseSet, symmetry: bool) -> Self {
        let prior = template.posterior.prior();
        let (n, k) = (template.posterior.n(), prior.k());
        let inputs = list_compositions(n, k);
        let outputs = set.outputs(n, k);
        let blocks = if symmetry { prior.exchangeable() } else { Vec::new() };
        let places =
            |all: &[Counts]| -> HashMap<Counts, usize> { all.iter().cloned().zip(0..).collect() };
        let (input_place, output_place) = (places(&inputs), places(&outputs));
        let representative = |x: &Counts, r: &Counts| {
            let (x, r) = canonical(&blocks, x, r);
            (input_place[&x], output_place[&r])
        };

        let mut families: Vec<f64> = Vec::new();
        let mut family_of = vec![usize::MAX; outputs.len()];
        for (place, r) in outputs.iter().enumerate() {
            let first = output_place[&canonical(&blocks, r, r).0];
            if family_of[first] == usize::MAX {
                family_of[first] = families.len();
                families.push(0.0);
            }
            family_of[place] = family_of[first];
            families[family_of[place]] += 1.0;
        }
        let predictive = Predictive::new(prior, n);
        let mut sizes = BTreeMap::new();
        for x in &inputs {
            *sizes.entry(representative(x, x).0).or_insert(0.0) += 1.0;
        }
        let width = outputs.len();
        let mut orbits = vec![u32::MAX; inputs.len() * width];
        let (mut rows, mut unknowns) = (Vec::new(), Vec::<Unknown>::new());
        for (&input, size) in &sizes {
            let x = &inputs[input];
            let field = full_field(template, x.clone());
            for (place, r) in outputs.iter().enumerate() {
                let (first, first_output) = representative(x, r);
                debug_assert_eq!(first, input, "an orbit of pairs belongs to one orbit of x");
                let known = orbits[input * width + first_output];
                if known == u32::MAX {
                    orbits[input * width + first_output] = unknowns.len() as u32;
                    unknowns.push(Unknown {
                        row: rows.len(),
                        multiplicity: 1.0,
                        family: family_of[place],
                        error: field.at(r),
                        steps: hamming_distance(x, r),
                    });
                } else {
                    unknowns[known as usize].multiplicity += 1.0;
                }
                orbits[input * width + place] = orbits[input * width + first_output];
            }
            let weight = size * exp_accurate(predictive.ln_probability(x));
            rows.push(InputOrbit { input, weight });
        }
        for (input, x) in inputs.iter().enumerate() {
            if !sizes.contains_key(&input) {
                for (place, r) in outputs.iter().enumerate() {
                    let (first, first_output) = representative(x, r);
                    orbits[input * width + place] = orbits[first * width + first_output];
                }
            }
        }

        let mut steps = Vec::new();
        for row in &rows {
            for moved in neighbours(&inputs[row.input]) {
                let from = &orbits[row.input * width..][..width];
                let to = &orbits[input_place[&moved] * width..][..width];
                steps.extend(from.iter().zip(to).map(|(&a, &b)| (a as usize, b as usize)));
            }
        }
        steps.sort_unstable();
        steps.dedup();
        let epsilon = template.epsilon.get();
        Self { epsilon, inputs, outputs, rows, families, unknowns, steps, orbits }
    }

    /// The unknown that stands for P(r|x).
    pub fn unknown(&self, input: usize, output: usize) -> usize {
        self.orbits[input * self.outputs.len() + output] as usize
    }

    /// For every row the sum of `values` over all outputs, each times `factor`.
    pub fn row_sums(&self, values: &[f64], factor: impl Fn(&Unknown) -> f64) -> Vec<f64> {
        let mut sums = vec![Sum::default(); self.rows.len()];
        for (unknown, value) in self.unknowns.iter().zip(values) {
            sums[unknown.row].add(unknown.multiplicity * factor(unknown) * value);
        }
        sums.iter().map(Sum::value).collect()
    }
}

/// The error at one data set, tabulated for all outputs.
pub(super) fn full_field(template: &Setting, counts: Counts) -> Box<dyn Field> {
    let posterior = Posterior::new(template.posterior.prior().clone(), counts);
    let reach = Reach { windows: vec![(0, posterior.n()); posterior.k()], ball: false };
    template.distance.field(&posterior, &reach)
}

/// The pair of the same orbit whose categories, within every group, are in descending order of x,
/// then of r.
fn canonical(groups: &[Vec<usize>], x: &Counts, r: &Counts) -> (Counts, Counts) {
    let (mut x, mut r) = (x.clone(), r.clone());
    for group in groups {
        let mut pairs: Vec<(u64, u64)> = group.iter().map(|&i| (x[i], r[i])).collect();
        pairs.sort_unstable_by(|a, b| b.cmp(a));
        for (&i, pair) in group.iter().zip(pairs) {
            (x[i], r[i]) = pair;
        }
    }
    (x, r)
}
