//! The hatching of what is not private.

use plotters::style::{Color, ShapeStyle};
use plotters_backend::{BackendCoord, DrawingBackend};

use super::{Drawn, Element, Recording};
use crate::theme::Colour;

/// How lines of hatching are drawn, and how far apart they are in units.
#[derive(Clone, Copy)]
pub struct Hatching {
    pub spacing: i32,
    pub style: ShapeStyle,
}

impl Hatching {
    /// Draws rising diagonals inside a convex polygon. They lie on a lattice fixed to the page, so
    /// that neighbours match.
    pub fn draw(self, drawing: &mut Recording, polygon: &[BackendCoord]) -> Drawn {
        let sums = polygon.iter().map(|(x, y)| x + y);
        let (Some(low), Some(high)) = (sums.clone().min(), sums.max()) else { return Ok(()) };
        // On a rising diagonal x + y is constant, and the lines are `spacing` apart.
        let step = (f64::from(self.spacing) * std::f64::consts::SQRT_2).round().max(1.0) as i32;
        let first = low.div_euclid(step) + 1;
        for level in (first..).map(|i| i * step).take_while(|level| *level < high) {
            if let Some((from, to)) = chord(polygon, level) {
                drawing.draw_line(from, to, &self.style)?;
            }
        }
        Ok(())
    }
}

/// Where the diagonal x + y = level crosses the outline of a convex polygon.
fn chord(polygon: &[BackendCoord], level: i32) -> Option<(BackendCoord, BackendCoord)> {
    let next = polygon.iter().skip(1).chain(polygon.first());
    let crossings = polygon.iter().zip(next).filter_map(|(a, b)| {
        let (before, after) = (a.0 + a.1 - level, b.0 + b.1 - level);
        ((before < 0) != (after < 0)).then(|| {
            let part = f64::from(before) / f64::from(before - after);
            let x = f64::from(a.0) + part * f64::from(b.0 - a.0);
            (x.round() as i32, level - x.round() as i32)
        })
    });
    let crossings: Vec<BackendCoord> = crossings.collect();
    Some((*crossings.first()?, *crossings.last()?)).filter(|(from, to)| from != to)
}

/// A filled rectangle between two opposite corners, with an outline.
pub fn hatched_bar<C>(
    corners: [C; 2],
    fill: Colour,
    hatching: Option<Hatching>,
    outline: ShapeStyle,
) -> Element<C> {
    Element::new(corners, move |[a, b], drawing| {
        let (from, to) = ((a.0.min(b.0), a.1.min(b.1)), (a.0.max(b.0), a.1.max(b.1)));
        drawing.draw_rect(from, to, &fill.filled(), true)?;
        if let Some(hatching) = hatching {
            hatching.draw(drawing, &[from, (to.0, from.1), to, (from.0, to.1)])?;
        }
        drawing.draw_rect(from, to, &outline, false)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chords_run_from_side_to_side() {
        let square = [(0, 0), (10, 0), (10, 10), (0, 10)];
        assert_eq!(chord(&square, 5), Some(((5, 0), (0, 5))));
        assert_eq!(chord(&square, 25), None);
        assert_eq!(chord(&[], 1), None);
    }
}
