//! The linear program, folded by the permutations that leave it unchanged.
//!
//! Categories with equal parameters of the prior can be exchanged: if P(r|x) solves the program, so
//! does P(πr|πx), and so does the average over all such π. It is therefore enough to look for
//! solutions that are constant on the orbits of pairs (x, r): one unknown for each of them, one
//! normalisation for each orbit of x, one privacy constraint for each orbit of steps.

use std::collections::{BTreeMap, HashMap};

use crate::mechanism::law::{OutputSet, Outputs};
use crate::numeric::{Sum, exp_accurate};
use crate::parallel;
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
    /// The prior predictive probability of the whole orbit.
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
    /// The privacy constraints P(r|x) <= e^ε P(r|x') for adjacent x and x': the orbits of (x, r) and
    /// (x', r). Every step is listed in both directions. A step within an orbit says that P is not
    /// negative.
    pub steps: Vec<(usize, usize)>,
    /// δ, if the constraints of each pair (x, x') may be missed by that much in all. Then no step is
    /// within an orbit.
    pub delta: Option<f64>,
    /// For every orbit of pairs (x, x') the steps whose slacks sum to at most δ, each with the number of
    /// outputs that share it. Empty without δ.
    pub budgets: Vec<Vec<(usize, f64)>>,
    /// The orbit of every pair (x, r): all r of the first x, then all r of the next.
    orbits: Vec<u32>,
}

impl Program {
    /// The program at the prior, distance, ε and number of records of `template`; without
    /// `symmetry` every orbit has one member.
    pub fn new(template: &Setting, set: OutputSet, delta: Option<f64>, symmetry: bool) -> Self {
        let prior = template.posterior.prior();
        let (n, k) = (template.posterior.n(), prior.k());
        let (inputs, outputs) = (list_compositions(n, k), Outputs::new(set, n, k).list());
        let groups = if symmetry { prior.exchangeable() } else { Vec::new() };
        let symmetry = Symmetry::new(groups, &inputs, &outputs);
        let (families, family_of) = symmetry.families(&outputs);
        let orbits = vec![u32::MAX; inputs.len() * outputs.len()];
        let (rows, unknowns, steps) = (Vec::new(), Vec::new(), Vec::new());
        let epsilon = template.epsilon.get();
        let mut program = Self {
            epsilon,
            inputs,
            outputs,
            rows,
            families,
            unknowns,
            steps,
            delta,
            budgets: Vec::new(),
            orbits,
        };

        let predictive = Predictive::new(prior, n);
        for (input, size) in symmetry.input_orbits(&program.inputs) {
            let x = program.inputs[input].clone();
            let weight = size * exp_accurate(predictive.ln_probability(&x));
            program.add_unknowns(input, full_field(template, x).as_ref(), &family_of, &symmetry);
            program.rows.push(InputOrbit { input, weight });
        }
        program.fill_orbits(&symmetry);
        let pairs = program.list_pairs(&symmetry);
        program.steps = pairs.iter().flatten().copied().collect();
        program.steps.sort_unstable();
        program.steps.dedup();
        if delta.is_some() {
            program.steps.retain(|(from, to)| from != to);
            program.budgets = program.list_budgets(&pairs);
        }
        program
    }

    /// Adds the orbits of pairs (x, r) of the next row, whose x is `input`.
    fn add_unknowns(
        &mut self,
        input: usize,
        field: &dyn Field,
        family_of: &[usize],
        symmetry: &Symmetry,
    ) {
        let (x, start) = (&self.inputs[input], input * self.outputs.len());
        for (place, r) in self.outputs.iter().enumerate() {
            let (first, first_output) = symmetry.representative(x, r);
            debug_assert_eq!(first, input, "an orbit of pairs belongs to one orbit of x");
            let known = self.orbits[start + first_output];
            if known == u32::MAX {
                self.orbits[start + first_output] = self.unknowns.len() as u32;
                self.unknowns.push(Unknown {
                    row: self.rows.len(),
                    multiplicity: 1.0,
                    family: family_of[place],
                    error: field.at(r),
                    steps: hamming_distance(x, r),
                });
            } else {
                self.unknowns[known as usize].multiplicity += 1.0;
            }
            self.orbits[start + place] = self.orbits[start + first_output];
        }
    }

    /// Enters the orbits of the pairs whose x is not the first of its own orbit.
    fn fill_orbits(&mut self, symmetry: &Symmetry) {
        let width = self.outputs.len();
        for (input, x) in self.inputs.iter().enumerate() {
            if symmetry.representative(x, x).0 == input {
                continue;
            }
            for (place, r) in self.outputs.iter().enumerate() {
                let (first, first_output) = symmetry.representative(x, r);
                self.orbits[input * width + place] = self.orbits[first * width + first_output];
            }
        }
    }

    /// For every pair of adjacent data sets (x, x') with x the first of its orbit, and for every output r,
    /// the orbits of (x, r) and (x', r).
    fn list_pairs(&self, symmetry: &Symmetry) -> Vec<Vec<(usize, usize)>> {
        let orbits_of = |input: usize| {
            let width = self.outputs.len();
            self.orbits[input * width..][..width].iter().map(|&orbit| orbit as usize)
        };
        let mut pairs = Vec::new();
        for row in &self.rows {
            for moved in neighbours(&self.inputs[row.input]) {
                let there = orbits_of(symmetry.input_place[&moved]);
                pairs.push(orbits_of(row.input).zip(there).collect());
            }
        }
        pairs
    }

    fn list_budgets(&self, pairs: &[Vec<(usize, usize)>]) -> Vec<Vec<(usize, f64)>> {
        let budget = |pair: &Vec<(usize, usize)>| {
            let mut counts = BTreeMap::new();
            for step in pair {
                if let Ok(place) = self.steps.binary_search(step) {
                    *counts.entry(place).or_insert(0) += 1;
                }
            }
            counts.into_iter().collect::<Vec<(usize, u32)>>()
        };
        let mut budgets: Vec<_> = pairs.iter().map(budget).collect();
        budgets.sort_unstable();
        budgets.dedup();
        let real = |(place, count): (usize, u32)| (place, f64::from(count));
        budgets.into_iter().map(|budget| budget.into_iter().map(real).collect()).collect()
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

/// The permutations of categories that leave the program unchanged.
struct Symmetry {
    /// Categories of one group can be exchanged.
    groups: Vec<Vec<usize>>,
    input_place: HashMap<Counts, usize>,
    output_place: HashMap<Counts, usize>,
}

impl Symmetry {
    fn new(groups: Vec<Vec<usize>>, inputs: &[Counts], outputs: &[Counts]) -> Self {
        let places = |all: &[Counts]| all.iter().cloned().zip(0..).collect();
        Self { groups, input_place: places(inputs), output_place: places(outputs) }
    }

    /// The places of the pair that represents the orbit of (x, r).
    fn representative(&self, x: &Counts, r: &Counts) -> (usize, usize) {
        let (x, r) = canonical(&self.groups, x, r);
        (self.input_place[&x], self.output_place[&r])
    }

    /// The place of the first data set of every orbit, with the number of data sets in it.
    fn input_orbits(&self, inputs: &[Counts]) -> BTreeMap<usize, f64> {
        let mut sizes = BTreeMap::new();
        for x in inputs {
            *sizes.entry(self.representative(x, x).0).or_insert(0.0) += 1.0;
        }
        sizes
    }

    /// The number of outputs in every orbit of outputs alone, and the orbit of every output.
    fn families(&self, outputs: &[Counts]) -> (Vec<f64>, Vec<usize>) {
        let mut families: Vec<f64> = Vec::new();
        let mut family_of = vec![usize::MAX; outputs.len()];
        for (place, r) in outputs.iter().enumerate() {
            let first = self.output_place[&canonical(&self.groups, r, r).0];
            if family_of[first] == usize::MAX {
                family_of[first] = families.len();
                families.push(0.0);
            }
            family_of[place] = family_of[first];
            families[family_of[place]] += 1.0;
        }
        (families, family_of)
    }
}

/// The error at one data set, tabulated for all outputs.
pub(super) fn full_field(template: &Setting, counts: Counts) -> Box<dyn Field> {
    let posterior = Posterior::new(template.posterior.prior().clone(), counts);
    let reach = Reach { windows: vec![(0, posterior.n()); posterior.k()], ball: false };
    template.distance.field(&posterior, &reach)
}

/// For every output the error of releasing it at each data set.
pub(super) fn errors(template: &Setting, inputs: &[Counts], outputs: &[Counts]) -> Vec<Vec<f64>> {
    let at_input = |x: &Counts| {
        let field = full_field(template, x.clone());
        outputs.iter().map(|r| field.at(r)).collect::<Vec<f64>>()
    };
    let mut errors = vec![Vec::with_capacity(inputs.len()); outputs.len()];
    // In pieces, so that the table is never there twice.
    for piece in inputs.chunks(256) {
        let rows: Vec<Vec<f64>> = parallel::map(piece, at_input);
        for row in rows {
            errors.iter_mut().zip(row).for_each(|(errors, error)| errors.push(error));
        }
    }
    errors
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
