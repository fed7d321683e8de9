//! Names written into the regions of a map, so that nobody has to match colours with a legend.

use super::canvas::{Anchor, Canvas, centred};
use super::font::Font;
use super::geometry::Point;
use super::palette::{Colour, TEXT, WHITE};

const FONT: Font = Font::regular(11.0);
/// The least room for a name, as a part of its own size.
const ROOM: f64 = 1.25;
/// A map of more cells is too fine to look through for room.
const MOST_CELLS: usize = 20_000;

/// Cells between given edges, rows from the top, each of one category.
pub(super) struct Regions<'a> {
    pub(super) lefts: &'a [f64],
    pub(super) tops: &'a [f64],
    pub(super) grid: &'a [Vec<Option<usize>>],
}

/// Column and row.
type GridCell = (usize, usize);

impl Regions<'_> {
    /// Writes each category's name into every region of it that has room; `background` is the colour
    /// of a cell.
    pub(super) fn label(
        &self,
        canvas: &mut Canvas,
        names: &[String],
        background: impl Fn(GridCell) -> Option<Colour>,
    ) {
        for (category, region) in self.connected() {
            let Some(name) = names.get(category) else { continue };
            let Some(place) = self.roomiest(&region, name) else { continue };
            let (x, y) = self.middle(place);
            let dark = background(place).is_some_and(|colour| colour.lightness() < 0.5);
            let ink = if dark { WHITE } else { TEXT };
            canvas.text(name, FONT, ink, (x, centred(y, FONT)), Anchor::Middle);
        }
    }

    fn at(&self, (column, row): GridCell) -> Option<usize> {
        self.grid.get(row).and_then(|cells| *cells.get(column)?)
    }

    /// The regions of one category each, and which; none if there are too many cells.
    fn connected(&self) -> Vec<(usize, Vec<GridCell>)> {
        let (columns, rows) = (self.lefts.len().saturating_sub(1), self.grid.len());
        if columns * rows > MOST_CELLS {
            return Vec::new();
        }
        let mut seen = vec![vec![false; columns]; rows];
        let mut regions = Vec::new();
        for start in (0..rows).flat_map(|row| (0..columns).map(move |column| (column, row))) {
            let Some(category) = self.at(start).filter(|_| !seen[start.1][start.0]) else {
                continue;
            };
            seen[start.1][start.0] = true;
            let (mut region, mut next) = (vec![start], 0);
            while let Some(&(column, row)) = region.get(next) {
                next += 1;
                let left = column.checked_sub(1).map(|column| (column, row));
                let above = row.checked_sub(1).map(|row| (column, row));
                let around = [left, above, Some((column + 1, row)), Some((column, row + 1))];
                for place in around.into_iter().flatten() {
                    if self.at(place) == Some(category) && !seen[place.1][place.0] {
                        seen[place.1][place.0] = true;
                        region.push(place);
                    }
                }
            }
            regions.push((category, region));
        }
        regions
    }

    /// The cell around which there is most room for the name, if there is enough.
    fn roomiest(&self, region: &[GridCell], name: &str) -> Option<GridCell> {
        let half = (FONT.width(name) / 2.0, FONT.size / 2.0);
        let rim = self.rim(region);
        let room = |place: &GridCell| {
            let blocked = rim.iter().map(|other| self.distance(*place, *other, half));
            blocked.fold(self.to_the_edge(*place, half), f64::min)
        };
        let rooms = region.iter().map(|place| (*place, room(place)));
        let best = rooms.reduce(|a, b| if b.1 > a.1 { b } else { a });
        best.filter(|(_, room)| *room >= ROOM).map(|(place, _)| place)
    }

    /// The cells of other categories that touch the region: what is in the way.
    fn rim(&self, region: &[GridCell]) -> Vec<GridCell> {
        let own = region.first().and_then(|place| self.at(*place));
        let (columns, rows) = (self.lefts.len().saturating_sub(1), self.grid.len());
        let touching = |&(column, row): &GridCell| {
            let across = column.saturating_sub(1)..(column + 2).min(columns);
            let down = row.saturating_sub(1)..(row + 2).min(rows);
            down.flat_map(move |row| across.clone().map(move |column| (column, row)))
        };
        let others = region.iter().flat_map(touching).filter(|place| self.at(*place) != own);
        let mut rim: Vec<GridCell> = others.collect();
        rim.sort_unstable();
        rim.dedup();
        rim
    }

    fn middle(&self, (column, row): GridCell) -> Point {
        let half_way = |edges: &[f64], at: usize| (edges[at] + edges[at + 1]) / 2.0;
        (half_way(self.lefts, column), half_way(self.tops, row))
    }

    /// How many times as large the name may be before it meets the other cell.
    fn distance(&self, place: GridCell, (column, row): GridCell, half: (f64, f64)) -> f64 {
        let (x, y) = self.middle(place);
        let beyond = |at: f64, from: f64, to: f64| (from - at).max(at - to).max(0.0);
        let across = beyond(x, self.lefts[column], self.lefts[column + 1]) / half.0;
        let down = beyond(y, self.tops[row], self.tops[row + 1]) / half.1;
        across.max(down)
    }

    /// The same for the edge of the map.
    fn to_the_edge(&self, place: GridCell, half: (f64, f64)) -> f64 {
        let (x, y) = self.middle(place);
        let least = |at: f64, edges: &[f64]| {
            let (first, last) = (edges.first().unwrap_or(&at), edges.last().unwrap_or(&at));
            (at - first).min(last - at)
        };
        (least(x, self.lefts) / half.0).min(least(y, self.tops) / half.1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::canvas::Shape;

    /// Two regions of "A" divided by one of "B", which is narrower than its name is long.
    fn labels(width: f64) -> Vec<(String, Point)> {
        let row = |_| [0, 0, 0, 1, 0, 0, 0].map(Some).to_vec();
        let grid: Vec<Vec<Option<usize>>> = (0..7).map(row).collect();
        let edges: Vec<f64> = (0..8).map(|i| f64::from(i) * width).collect();
        let regions = Regions { lefts: &edges, tops: &edges, grid: &grid };
        let mut canvas = Canvas::new(500.0);
        let names = ["A".to_owned(), "a long name".to_owned()];
        regions.label(&mut canvas, &names, |_| None);
        let texts = canvas.shapes.into_iter().filter_map(|shape| match shape {
            Shape::Text(text) => Some((text.content, text.at)),
            _ => None,
        });
        texts.collect()
    }

    #[test]
    fn every_region_with_room_has_its_name_in_the_middle() {
        let found = labels(20.0);
        let names: Vec<&str> = found.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["A", "A"]);
        assert_eq!((found[0].1.0, found[1].1.0), (30.0, 110.0));
    }

    #[test]
    fn names_that_do_not_fit_are_left_out() {
        assert!(labels(2.0).is_empty());
    }
}
