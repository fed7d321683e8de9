//! Lines between the regions of a map.

use super::canvas::Canvas;
use super::geometry::Point;
use super::palette::INK;

const WIDTH: f64 = 1.1;

/// Draws a line wherever neighbouring cells belong to different categories.
pub(super) fn draw_borders(
    canvas: &mut Canvas,
    lefts: &[f64],
    tops: &[f64],
    grid: &[Vec<Option<usize>>],
) {
    let at = |row: usize, column: usize| grid.get(row).and_then(|cells| *cells.get(column)?);
    let differ = |a: Option<usize>, b: Option<usize>| a.is_some() && b.is_some() && a != b;
    let mut draw = |from: Point, to: Point| canvas.line(from, to, INK, WIDTH);
    for (column, &x) in lefts.iter().enumerate().skip(1) {
        let parted = |row: usize| differ(at(row, column - 1), at(row, column));
        for run in runs(grid.len(), parted) {
            let (from, to) = ends(tops, run);
            draw((x, from), (x, to));
        }
    }
    for (row, &y) in tops.iter().enumerate().skip(1) {
        let parted = |column: usize| differ(at(row - 1, column), at(row, column));
        for run in runs(lefts.len().saturating_sub(1), parted) {
            let (from, to) = ends(lefts, run);
            draw((from, y), (to, y));
        }
    }
}

/// Where a run begins and ends: inside the map half a line's width further, so that corners are
/// whole.
fn ends(edges: &[f64], (from, to): (usize, usize)) -> (f64, f64) {
    let more = |inside: bool| if inside { WIDTH / 2.0 } else { 0.0 };
    (edges[from] - more(from > 0), edges[to] + more(to + 1 < edges.len()))
}

/// The longest stretches from..to below `length` on which something holds.
fn runs(length: usize, holds: impl Fn(usize) -> bool) -> Vec<(usize, usize)> {
    let mut runs: Vec<(usize, usize)> = Vec::new();
    for i in (0..length).filter(|i| holds(*i)) {
        match runs.last_mut() {
            Some(run) if run.1 == i => run.1 = i + 1,
            _ => runs.push((i, i + 1)),
        }
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::canvas::Shape;

    #[test]
    fn lines_run_between_different_neighbours_only() {
        let grid = vec![
            vec![Some(0), Some(0), Some(1)],
            vec![Some(0), Some(0), Some(1)],
            vec![Some(2), Some(2), None],
        ];
        let mut canvas = Canvas::new(100.0);
        let edges = [0.0, 10.0, 20.0, 30.0];
        draw_borders(&mut canvas, &edges, &edges, &grid);
        let lines: Vec<(Point, Point)> = (canvas.shapes.iter())
            .map(|shape| match shape {
                Shape::Stroke { path, .. } => (path[0], path[1]),
                other => panic!("{other:?}"),
            })
            .collect();
        let more = WIDTH / 2.0;
        assert_eq!(lines, [((20.0, 0.0), (20.0, 20.0 + more)), ((0.0, 20.0), (20.0 + more, 20.0))]);
    }
}
