//! An expression some of whose variables are known, as a list of steps.

use std::collections::HashMap;

use super::{Kind, Operation, Part};
use crate::numeric::rows::{self, Binary, Source};

/// What a step works on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Operand {
    Constant(f64),
    /// The place of a variable in `variables()`.
    Input(usize),
    /// The result of an earlier step.
    Step(usize),
}

/// An operand by its bits, for comparisons.
type Key = (u8, u64);

impl Operand {
    fn key(self) -> Key {
        match self {
            Self::Constant(value) => (0, value.to_bits()),
            Self::Input(input) => (1, input as u64),
            Self::Step(step) => (2, step as u64),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Step {
    pub operation: Operation<Operand>,
    /// The register that keeps the result in `rows`.
    register: usize,
}

/// An expression some of whose variables are known.
#[derive(Clone, Debug, PartialEq)]
pub struct Program {
    variables: Vec<usize>,
    steps: Vec<Step>,
    result: Operand,
    registers: usize,
}

/// Rows of intermediate results, kept from call to call.
#[derive(Default)]
pub struct Scratch {
    registers: Vec<Vec<f64>>,
}

/// So many places are worked on at once: all registers of a usual program stay in the fastest cache.
const CHUNK: usize = 512;

impl Program {
    pub(super) fn new(parts: &[Part], known: &dyn Fn(usize) -> Option<f64>) -> Self {
        let mut steps: Vec<Operation<Operand>> = Vec::new();
        let mut seen: HashMap<Operation<Key>, usize> = HashMap::new();
        let mut operands: Vec<Operand> = Vec::with_capacity(parts.len());
        for part in parts {
            operands.push(match part.kind {
                Kind::Number(value) => Operand::Constant(value),
                // For now the variable itself; only those that are used get a place.
                Kind::Variable(variable) => {
                    known(variable).map_or(Operand::Input(variable), Operand::Constant)
                }
                Kind::Apply(operation) => {
                    let operation = operation.map(|part| operands[part]);
                    simplified(operation).unwrap_or_else(|| {
                        // What occurs twice is computed once.
                        let step = *seen.entry(operation.map(Operand::key)).or_insert_with(|| {
                            steps.push(operation);
                            steps.len() - 1
                        });
                        Operand::Step(step)
                    })
                }
            });
        }
        let result = operands.last().copied().unwrap_or(Operand::Constant(f64::NAN));
        Self::of_steps(&steps, result)
    }

    /// Keeps the steps on which the result depends, and gives them registers.
    fn of_steps(steps: &[Operation<Operand>], result: Operand) -> Self {
        let mut needed = vec![false; steps.len()];
        let mut variables = Vec::new();
        let mut need = |operand: Operand, needed: &mut [bool]| match operand {
            Operand::Step(step) => needed[step] = true,
            Operand::Input(variable) => variables.push(variable),
            Operand::Constant(_) => {}
        };
        need(result, &mut needed);
        for (step, operation) in steps.iter().enumerate().rev() {
            if needed[step] {
                operation.operands().for_each(|operand| need(operand, &mut needed));
            }
        }
        variables.sort_unstable();
        variables.dedup();

        let mut places = vec![0; steps.len()];
        let place = |operand: Operand, places: &[usize]| match operand {
            Operand::Step(step) => Operand::Step(places[step]),
            Operand::Input(variable) => {
                Operand::Input(variables.partition_point(|&other| other < variable))
            }
            constant => constant,
        };
        let mut kept: Vec<Step> = Vec::new();
        for (step, operation) in steps.iter().enumerate().filter(|&(step, _)| needed[step]) {
            let operation = operation.map(|operand| place(operand, &places));
            places[step] = kept.len();
            kept.push(Step { operation, register: 0 });
        }
        let result = place(result, &places);
        let registers = assign_registers(&mut kept);
        Self { variables, steps: kept, result, registers }
    }

    /// The variables that are left, in increasing order.
    pub fn variables(&self) -> &[usize] {
        &self.variables
    }

    pub(super) fn steps(&self) -> &[Step] {
        &self.steps
    }

    pub(super) fn result(&self) -> Operand {
        self.result
    }

    /// The value, with the same bits as `rows`.
    pub fn value(&self, value: &dyn Fn(usize) -> f64) -> f64 {
        // Most programs are short: no memory is asked for.
        let mut few = [0.0; 32];
        let mut many = Vec::new();
        let results = match few.get_mut(..self.steps.len()) {
            Some(few) => few,
            None => {
                many.resize(self.steps.len(), 0.0);
                &mut many[..]
            }
        };
        let read = |operand: Operand, results: &[f64]| match operand {
            Operand::Constant(value) => value,
            Operand::Input(input) => value(self.variables[input]),
            Operand::Step(step) => results[step],
        };
        for (place, step) in self.steps.iter().enumerate() {
            results[place] = step.operation.map(|operand| read(operand, results)).value();
        }
        read(self.result, results)
    }

    /// The values at the places of a row. `inputs[i]` are the values of `variables()[i]`, each as
    /// long as `out`.
    pub fn rows(&self, inputs: &[&[f64]], out: &mut [f64], scratch: &mut Scratch) {
        debug_assert_eq!(inputs.len(), self.variables.len());
        debug_assert!(inputs.iter().all(|input| input.len() == out.len()));
        if scratch.registers.len() < self.registers {
            scratch.registers.resize_with(self.registers, || vec![0.0; CHUNK]);
        }
        match self.result {
            Operand::Constant(value) => out.fill(value),
            Operand::Input(input) => out.copy_from_slice(inputs[input]),
            Operand::Step(_) => {
                for (chunk, out) in out.chunks_mut(CHUNK).enumerate() {
                    self.chunk(inputs, chunk * CHUNK, out, &mut scratch.registers);
                }
            }
        }
    }

    /// The values of one chunk, which begins at place `start`.
    fn chunk(&self, inputs: &[&[f64]], start: usize, out: &mut [f64], registers: &mut [Vec<f64>]) {
        let length = out.len();
        for (place, step) in self.steps.iter().enumerate() {
            // The last step writes the result. No step reads the register that it writes.
            let last = place + 1 == self.steps.len();
            let mut own =
                if last { Vec::new() } else { std::mem::take(&mut registers[step.register]) };
            let target = if last { &mut *out } else { &mut own[..length] };
            let source = |operand: Operand| match operand {
                Operand::Constant(value) => Source::Constant(value),
                Operand::Input(input) => Source::Row(&inputs[input][start..start + length]),
                Operand::Step(step) => Source::Row(&registers[self.steps[step].register][..length]),
            };
            match step.operation.map(source) {
                Operation::Unary(operation, a) => rows::unary(operation, a, target),
                Operation::Binary(operation, a, b) => rows::binary(operation, a, b, target),
                Operation::If(c, a, b) => rows::select(c, a, b, target),
            }
            if !last {
                registers[step.register] = own;
            }
        }
    }
}

/// The operand that an operation comes to without being carried out at every place.
fn simplified(operation: Operation<Operand>) -> Option<Operand> {
    let constant = |operand: Operand| match operand {
        Operand::Constant(value) => Some(value),
        _ => None,
    };
    match operation {
        Operation::If(Operand::Constant(c), ..) if c.is_nan() => Some(Operand::Constant(c)),
        Operation::If(Operand::Constant(c), a, b) => Some(if c != 0.0 { a } else { b }),
        Operation::Binary(Binary::Power, a, Operand::Constant(1.0)) => Some(a),
        _ => {
            let all_known = operation.operands().all(|operand| constant(operand).is_some());
            let values = operation.map(|operand| constant(operand).unwrap_or(f64::NAN));
            all_known.then(|| Operand::Constant(values.value()))
        }
    }
}

/// Gives each step a register that it does not read itself and that no later step still reads.
/// Returns their number.
fn assign_registers(steps: &mut [Step]) -> usize {
    let mut last_use: Vec<usize> = (0..steps.len()).collect();
    for (place, step) in steps.iter().enumerate() {
        for operand in step.operation.operands() {
            if let Operand::Step(used) = operand {
                last_use[used] = place;
            }
        }
    }
    let mut free: Vec<usize> = Vec::new();
    let mut registers = 0;
    for place in 0..steps.len() {
        steps[place].register = free.pop().unwrap_or_else(|| {
            registers += 1;
            registers - 1
        });
        let mut freed: Vec<usize> = Vec::new();
        for operand in steps[place].operation.operands() {
            if let Operand::Step(used) = operand
                && last_use[used] == place
            {
                freed.push(steps[used].register);
            }
        }
        // An operand may occur twice.
        freed.sort_unstable();
        freed.dedup();
        free.extend(freed);
    }
    registers
}
