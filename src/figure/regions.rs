//! The regions of a map: lines between them, and room for their names.

use std::collections::BTreeMap;

use super::FigureError;
use super::page::{Page, Place};
use super::theme::INK;

/// Width of a line between two regions.
const BORDER: f64 = 1.1;

/// A category for every cell, rows from the top, if it has one.
pub type Grid = Vec<Vec<Option<usize>>>;

/// Neighbours that are equal: from, to and what they are.
pub fn runs<T: Copy + PartialEq>(cells: &[T]) -> Vec<(usize, usize, T)> {
    let mut start = 0;
    let runs = cells.chunk_by(PartialEq::eq).map(|run| {
        let from = start;
        start += run.len();
        (from, start, run[0])
    });
    runs.collect()
}

/// Draws a line wherever neighbouring cells belong to different categories.
pub fn draw_borders(
    page: &Page,
    lefts: &[f64],
    tops: &[f64],
    grid: &Grid,
) -> Result<(), FigureError> {
    let at = |row: usize, column: usize| grid.get(row).and_then(|cells| *cells.get(column)?);
    let differ = |a: Option<usize>, b: Option<usize>| a.is_some() && b.is_some() && a != b;
    let upright = |column: usize, row: usize| differ(at(row, column - 1), at(row, column));
    let level = |row: usize, column: usize| differ(at(row - 1, column), at(row, column));
    draw_lines(page, lefts, tops, upright, |x, y| (x, y))?;
    draw_lines(page, tops, lefts, level, |y, x| (x, y))
}

/// Draws the lines at inner `edges`, where something is parted, from edge to edge `across`.
fn draw_lines(
    page: &Page,
    edges: &[f64],
    across: &[f64],
    parted: impl Fn(usize, usize) -> bool,
    place: impl Fn(f64, f64) -> Place,
) -> Result<(), FigureError> {
    // Inside the map half a line's width further, so that corners are whole.
    let more = |inside: bool| if inside { BORDER / 2.0 } else { 0.0 };
    let last = edges.len().saturating_sub(1);
    for (i, edge) in edges.iter().enumerate().take(last).skip(1) {
        let parted: Vec<bool> = (0..across.len().saturating_sub(1)).map(|j| parted(i, j)).collect();
        for (from, to, _) in runs(&parted).into_iter().filter(|run| run.2) {
            let start = across[from] - more(from > 0);
            let end = across[to] + more(to + 1 < across.len());
            page.line(&[place(*edge, start), place(*edge, end)], INK, BORDER)?;
        }
    }
    Ok(())
}

/// Where a name may stand: its category, the cell (column and row) and the place on the page.
type NamePlace = (usize, (usize, usize), Place);

/// A place for the name of its category in every region that has room for a name so large. A map of
/// very many cells gets none.
pub fn name_places(
    lefts: &[f64],
    tops: &[f64],
    grid: &Grid,
    size: impl Fn(usize) -> (f64, f64),
) -> Vec<NamePlace> {
    let middle = |edges: &[f64], at: usize| (edges[at] + edges[at + 1]) / 2.0;
    let inside = |edges: &[f64], at: f64, half: f64| {
        let from = edges.partition_point(|edge| *edge <= at - half);
        let to = edges.partition_point(|edge| *edge < at + half);
        (from > 0 && to < edges.len()).then(|| from - 1..to)
    };
    let mut best: BTreeMap<usize, (f64, NamePlace)> = BTreeMap::new();
    for (row, regions) in connected(grid).iter().enumerate() {
        for (column, region) in regions.iter().enumerate() {
            let (Some(category), Some(region)) = (grid[row][column], *region) else { continue };
            let (x, y) = (middle(lefts, column), middle(tops, row));
            let (width, height) = size(category);
            let fits = |scale: &f64| {
                let columns = inside(lefts, x, scale * width / 2.0);
                let rows = inside(tops, y, scale * height / 2.0);
                columns.zip(rows).is_some_and(|(columns, mut rows)| {
                    rows.all(|row| columns.clone().all(|at| grid[row][at] == Some(category)))
                })
            };
            // How many times as large the name might be.
            let Some(room) = [6.0, 4.5, 3.5, 2.7, 2.0, 1.6, 1.25].into_iter().find(fits) else {
                continue;
            };
            if best.get(&region).is_none_or(|(other, _)| room > *other) {
                best.insert(region, (room, (category, (column, row), (x, y))));
            }
        }
    }
    best.into_values().map(|(_, place)| place).collect()
}

/// A number for every cell, the same for those of one category that touch.
fn connected(grid: &Grid) -> Vec<Vec<Option<usize>>> {
    const MOST_CELLS: usize = 20_000;
    let mut regions: Grid = grid.iter().map(|row| vec![None; row.len()]).collect();
    let places =
        (0..grid.len()).flat_map(|row| (0..grid[row].len()).map(move |column| (column, row)));
    let few = places.clone().count() <= MOST_CELLS;
    for (region, start) in places.enumerate().filter(|_| few) {
        let mut next = vec![start];
        while let Some((column, row)) = next.pop() {
            let category = grid.get(row).and_then(|cells| *cells.get(column)?);
            if category.is_none()
                || category != grid[start.1][start.0]
                || regions[row][column].is_some()
            {
                continue;
            }
            regions[row][column] = Some(region);
            next.extend([(column + 1, row), (column, row + 1)]);
            next.extend(column.checked_sub(1).map(|column| (column, row)));
            next.extend(row.checked_sub(1).map(|row| (column, row)));
        }
    }
    regions
}
