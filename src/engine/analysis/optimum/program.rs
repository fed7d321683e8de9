//! The linear program, folded by the permutations that leave it unchanged.
//!
//! Categories with equal parameters of the prior can be exchanged: if P(r|x) solves the program, so
//! does P(πr|πx), and so does the average over all such π. It is therefore enough to look for
//! solutions that are constant on the orbits of pairs (x, r): one unknown for each of them, one
//! normalisation for each orbit of x, one privacy constraint for each orbit of steps.

use std::collections::{BTreeMap, BTreeSet};

use crate::mechanism::law::{OutputSet, Outputs};
use crate::numeric::{Sum, exp_accurate};
use crate::orbits::{Orbits, descending};
use crate::parallel;
use crate::posterior::error_field::{Field, Reach};
use crate::posterior::model::{Counts, Predictive, hamming_distance, neighbours};
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
#[derive(Default)]
pub struct Program {
    pub epsilon: f64,
    /// The data sets x.
    pub inputs: Vec<Counts>,
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
    /// The program at the prior, distance, ε and number of records of `setting`.
    pub fn new(setting: &Setting, set: OutputSet, delta: Option<f64>) -> Self {
        let prior = &setting.prior;
        let (n, k) = (setting.n, prior.k());
        let (inputs, outputs) = (list_compositions(n, k), Outputs::new(set, n, k).list());
        let groups = prior.exchangeable();
        // Missing records are one more category, which stays where it is.
        let parts = k + usize::from(set == OutputSet::Below);
        let orbits = (Orbits::new(k, n, &groups), Orbits::new(parts, n, &groups));
        let symmetry = Symmetry { groups, inputs: orbits.0, outputs: orbits.1 };
        let mut program = Self {
            epsilon: setting.epsilon.get(),
            orbits: vec![u32::MAX; inputs.len() * outputs.len()],
            inputs,
            outputs,
            families: symmetry.outputs.sizes.clone(),
            delta,
            ..Self::default()
        };

        let predictive = Predictive::new(prior, n);
        for (input, &orbit) in symmetry.inputs.of.iter().enumerate() {
            let x = symmetry.inputs.member(orbit as usize);
            if x == program.inputs[input] {
                let each = exp_accurate(predictive.ln_probability(x));
                let weight = symmetry.inputs.sizes[orbit as usize] * each;
                program.add_unknowns(input, full_field(setting, x.to_vec()).as_ref(), &symmetry);
                program.rows.push(InputOrbit { input, weight });
            }
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
    fn add_unknowns(&mut self, input: usize, field: &dyn Field, symmetry: &Symmetry) {
        let x = &self.inputs[input];
        for (index, r) in self.outputs.iter().enumerate() {
            let (first, first_output) = symmetry.representative(x, r);
            debug_assert_eq!(first, input, "an orbit of pairs belongs to one orbit of x");
            let known = &mut self.orbits[input * self.outputs.len() + first_output];
            if *known == u32::MAX {
                *known = self.unknowns.len() as u32;
                self.unknowns.push(Unknown {
                    row: self.rows.len(),
                    multiplicity: 0.0,
                    family: symmetry.outputs.of[index] as usize,
                    error: field.at(r),
                    steps: hamming_distance(x, r),
                });
            }
            self.unknowns[*known as usize].multiplicity += 1.0;
        }
    }

    /// Enters the orbits of all pairs, given those of the pairs that represent them.
    fn fill_orbits(&mut self, symmetry: &Symmetry) {
        let width = self.outputs.len();
        for (input, x) in self.inputs.iter().enumerate() {
            for (index, r) in self.outputs.iter().enumerate() {
                let (first, first_output) = symmetry.representative(x, r);
                self.orbits[input * width + index] = self.orbits[first * width + first_output];
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
            for neighbour in neighbours(&self.inputs[row.input]) {
                let there = orbits_of(symmetry.inputs.places.of(&neighbour));
                pairs.push(orbits_of(row.input).zip(there).collect());
            }
        }
        pairs
    }

    fn list_budgets(&self, pairs: &[Vec<(usize, usize)>]) -> Vec<Vec<(usize, f64)>> {
        let budget = |pair: &Vec<(usize, usize)>| {
            let mut counts = BTreeMap::new();
            for step in pair {
                if let Ok(index) = self.steps.binary_search(step) {
                    *counts.entry(index).or_insert(0_u32) += 1;
                }
            }
            counts
        };
        let different: BTreeSet<BTreeMap<usize, u32>> = pairs.iter().map(budget).collect();
        let real = |(index, count): (usize, u32)| (index, f64::from(count));
        different.into_iter().map(|budget| budget.into_iter().map(real).collect()).collect()
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
    inputs: Orbits,
    outputs: Orbits,
}

impl Symmetry {
    /// The places of the pair that represents the orbit of (x, r).
    fn representative(&self, x: &Counts, r: &Counts) -> (usize, usize) {
        let [x, r] = descending(&self.groups, [x.clone(), r.clone()]);
        (self.inputs.places.of(&x), self.outputs.places.of(&r))
    }
}

/// The error at one data set, tabulated for all outputs.
pub fn full_field(setting: &Setting, counts: Counts) -> Box<dyn Field> {
    let posterior = setting.at(counts);
    let reach = Reach { windows: vec![(0, posterior.n()); posterior.k()], ball: false };
    setting.distance.field(&posterior, &reach)
}

/// The prior predictive probability of every data set.
pub(super) fn weights(setting: &Setting, inputs: &[Counts]) -> Vec<f64> {
    let predictive = Predictive::new(&setting.prior, setting.n);
    inputs.iter().map(|x| exp_accurate(predictive.ln_probability(x))).collect()
}

/// For every output the error of releasing it at each data set.
pub(super) fn errors(setting: &Setting, inputs: &[Counts], outputs: &[Counts]) -> Vec<Vec<f64>> {
    let at_input = |x: &Counts| {
        let field = full_field(setting, x.clone());
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
