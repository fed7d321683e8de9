//! The weights of all candidates at one posterior, computed row by row.

use std::cell::RefCell;

use super::names::Name;
use crate::expression::Expression;
use crate::numeric::kernel;
use crate::posterior::simplex::{BLOCK, Row, Tail};

/// The weights at one posterior.
pub struct OwnWeigher {
    pub(super) expression: Expression,
    /// The names that are left in it.
    pub(super) names: Vec<Name>,
    pub(super) x: Vec<f64>,
    pub(super) factor: f64,
    pub(super) peak: f64,
}

thread_local! {
    /// Room for the values behind every name.
    static COLUMNS: RefCell<Vec<Vec<f64>>> = RefCell::default();
}

impl OwnWeigher {
    /// Writes factor · log weight − peak of every candidate of a row, given the scores.
    pub(super) fn log_weights(&self, row: &Row, scores: &[f64], out: &mut [f64]) {
        if self.x.iter().all(|&x| x == 0.0) {
            return out.fill(0.0);
        }
        COLUMNS.with_borrow_mut(|columns| {
            if columns.len() < self.names.len() {
                columns.resize_with(self.names.len(), || vec![0.0; BLOCK]);
            }
            for (&name, column) in self.names.iter().zip(columns.iter_mut()) {
                if name != Name::H {
                    self.fill(name, row, &mut column[..row.len]);
                }
            }
            let values = |variable: usize| match Name::of(variable) {
                Name::H => scores,
                name => {
                    let place = self.names.iter().position(|other| *other == name);
                    &columns[place.expect("a name that is left")][..row.len]
                }
            };
            self.expression.rows(&values, out);
        });
        for log in out.iter_mut() {
            *log = self.factor * *log - self.peak;
        }
    }

    /// Writes the masses of a row, given the scores.
    pub fn masses(&self, row: &Row, scores: &[f64], masses: &mut [f64]) {
        self.log_weights(row, scores, masses);
        kernel::exponentials(row.weight, masses);
    }

    /// The mass of a candidate by its distance alone.
    pub fn mass_at(&self, score: f64) -> f64 {
        let row = Row { head: &[], start: 0, len: 1, tail: Tail::Free, weight: 1.0 };
        let mut mass = [0.0];
        self.masses(&row, &[score], &mut mass);
        mass[0]
    }

    /// Writes the values of one variable.
    fn fill(&self, name: Name, row: &Row, out: &mut [f64]) {
        let place = row.head.len();
        match name {
            Name::R(i) if i < place => out.fill(row.head[i] as f64),
            Name::R(i) => {
                let running = i == place;
                for (value, v) in out.iter_mut().zip(row.start..) {
                    *value = if running { v as f64 } else { after(row.tail, v) };
                }
            }
            Name::D => self.fill_moves(row, out, f64::abs, |sum| 0.5 * sum),
            Name::L1 => self.fill_moves(row, out, f64::abs, |sum| sum),
            _ => self.fill_moves(row, out, |z| z * z, f64::sqrt),
        }
    }

    /// Writes finish(Σ size(r_i − x_i)).
    fn fill_moves(
        &self,
        row: &Row,
        out: &mut [f64],
        size: impl Fn(f64) -> f64,
        finish: impl Fn(f64) -> f64,
    ) {
        let place = row.head.len();
        let head: f64 = row.head.iter().zip(&self.x).map(|(&r, x)| size(r as f64 - x)).sum();
        let at_running = self.x[place];
        match (row.tail, self.x.get(place + 1)) {
            (Tail::Complement(rest), Some(&last)) => {
                let rest = rest as f64 - last;
                for (value, v) in out.iter_mut().zip(row.start..) {
                    let v = v as f64;
                    *value = finish(head + size(v - at_running) + size(rest - v));
                }
            }
            (tail, last) => {
                for (value, v) in out.iter_mut().zip(row.start..) {
                    let last = last.map_or(0.0, |&x| size(after(tail, v) - x));
                    *value = finish(head + size(v as f64 - at_running) + last);
                }
            }
        }
    }
}

/// The coordinate after the running one.
fn after(tail: Tail, running: u64) -> f64 {
    match tail {
        Tail::Complement(rest) => (rest - running) as f64,
        Tail::Zero | Tail::Free => 0.0,
    }
}
