//! The cells of a heat map, as few rectangles as show them all.

use super::canvas::Canvas;
use super::geometry::{Point, hatch};
use super::palette::{Colour, INK};
use super::ramp;

/// What a cell shows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Cell {
    /// How far along the scale of colours it is.
    Number(f64),
    /// A colour, hatched if its mechanism is not private.
    Flat(Colour, bool),
}

impl Cell {
    /// The colour, rounded to one of `shades` steps, and whether it is hatched.
    fn look(self, shades: f64) -> (Colour, bool) {
        match self {
            Self::Number(at) => (ramp::along((at * shades).round() / shades), false),
            Self::Flat(colour, hatched) => (colour, hatched),
        }
    }
}

/// Cells between given edges, rows from the top.
pub(super) struct Cells {
    pub(super) lefts: Vec<f64>,
    pub(super) tops: Vec<f64>,
    pub(super) grid: Vec<Vec<Option<Cell>>>,
}

/// Neighbours in a row that look the same.
struct Run {
    row: usize,
    from: usize,
    to: usize,
    cell: Cell,
}

/// With more rectangles than these, files would be large.
const MOST_RUNS: usize = 5000;
/// How far a rectangle reaches under its neighbours, lest viewers that smooth
/// each edge let the page shine through between them.
const OVERLAP: f64 = 1.0;

impl Cells {
    /// Row by row from the top left: the right and lower neighbours cover
    /// what reaches under them.
    pub(super) fn draw(&self, canvas: &mut Canvas) {
        let (shades, runs) = self.runs();
        for run in &runs {
            canvas.fill(self.rectangle(run, OVERLAP), run.cell.look(shades).0);
        }
        for run in &runs {
            self.draw_hatch(canvas, run);
        }
    }

    /// As many shades as give a file of reasonable size, and the runs of
    /// cells that look the same in them.
    fn runs(&self) -> (f64, Vec<Run>) {
        let tries = [255.0, 127.0, 63.0, 31.0, 15.0].into_iter();
        let mut tried = tries.map(|shades| (shades, self.runs_in(shades)));
        let fits = |(_, runs): &(f64, Vec<Run>)| runs.len() <= MOST_RUNS;
        tried.find(fits).unwrap_or_else(|| (15.0, self.runs_in(15.0)))
    }

    fn runs_in(&self, shades: f64) -> Vec<Run> {
        let mut runs: Vec<Run> = Vec::new();
        for (row, cells) in self.grid.iter().enumerate() {
            for (column, cell) in cells.iter().enumerate() {
                let Some(cell) = *cell else { continue };
                let continues = |run: &Run| {
                    run.row == row
                        && run.to == column
                        && run.cell.look(shades) == cell.look(shades)
                        && self.is_filled(row + 1, run.from) == self.is_filled(row + 1, column)
                };
                match runs.last_mut() {
                    Some(run) if continues(run) => run.to = column + 1,
                    _ => runs.push(Run { row, from: column, to: column + 1, cell }),
                }
            }
        }
        runs
    }

    fn is_filled(&self, row: usize, column: usize) -> bool {
        self.grid.get(row).and_then(|cells| cells.get(column)).is_some_and(Option::is_some)
    }

    /// The run's outline, reaching under what is drawn after it.
    fn rectangle(&self, run: &Run, overlap: f64) -> Vec<Point> {
        let edge = |edges: &[f64], at: usize| edges.get(at).copied().unwrap_or(0.0);
        let under = |edges: &[f64], at: usize, covered: bool| match edges.get(at + 1) {
            Some(next) if covered => edge(edges, at) + overlap.min(next - edge(edges, at)),
            _ => edge(edges, at),
        };
        let (left, top) = (edge(&self.lefts, run.from), edge(&self.tops, run.row));
        let right = under(&self.lefts, run.to, self.is_filled(run.row, run.to));
        let bottom = under(&self.tops, run.row + 1, self.is_filled(run.row + 1, run.from));
        vec![(left, top), (right, top), (right, bottom), (left, bottom)]
    }

    /// Lines on a lattice fixed to the page, which run on from cell to cell.
    fn draw_hatch(&self, canvas: &mut Canvas, run: &Run) {
        let Cell::Flat(colour, true) = run.cell else {
            return;
        };
        let ink = if colour.lightness() < 0.4 { colour.lighten(0.7) } else { INK.lighten(0.2) };
        for (from, to) in hatch(&self.rectangle(run, 0.0), 4.2) {
            canvas.line(from, to, ink, 0.8);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::testing::Lcg;

    fn cells(grid: Vec<Vec<Option<Cell>>>) -> Cells {
        let edges = |count: usize| (0..=count).map(|i| i as f64 * 5.0).collect();
        let columns = grid.first().map_or(0, Vec::len);
        Cells { lefts: edges(columns), tops: edges(grid.len()), grid }
    }

    #[test]
    fn equal_neighbours_are_one_run() {
        let flat = Some(Cell::Number(0.5));
        let grid = vec![vec![flat, flat, None, flat], vec![flat, None, None, None]];
        let (_, runs) = cells(grid).runs();
        let places: Vec<_> = runs.iter().map(|run| (run.row, run.from, run.to)).collect();
        // Split where the row below ends, lest colour run into white.
        assert_eq!(places, [(0, 0, 1), (0, 1, 2), (0, 3, 4), (1, 0, 1)]);
    }

    #[test]
    fn nothing_reaches_into_absent_cells() {
        let flat = Some(Cell::Number(0.5));
        let other = Some(Cell::Number(0.9));
        let cells = cells(vec![vec![flat, other, None], vec![flat, None, None]]);
        let (_, runs) = cells.runs();
        let corner = |i: usize| cells.rectangle(&runs[i], OVERLAP)[2];
        assert_eq!(corner(0), (6.0, 6.0));
        assert_eq!(corner(1), (10.0, 5.0));
        assert_eq!(corner(2), (5.0, 10.0));
    }

    #[test]
    fn large_smooth_maps_have_few_rectangles() {
        let value = |i: u32, j: u32| Cell::Number(f64::from(i * j) / 160_000.0);
        let row = |i: u32| (0..400).map(|j| Some(value(i, j))).collect();
        let (_, runs) = cells((0..400).map(row).collect()).runs();
        assert!(runs.len() < 7000, "{}", runs.len());
    }

    #[test]
    fn moderate_maps_keep_their_shades() {
        let mut random = Lcg::new(1);
        let mut row = || (0..61).map(|_| Some(Cell::Number(random.unit()))).collect();
        let (shades, _) = cells((0..61).map(|_| row()).collect()).runs();
        assert_eq!(shades, 255.0);
    }
}
