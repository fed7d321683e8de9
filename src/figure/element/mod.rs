//! What plotters lacks, as elements of its own kind.

mod hatching;
mod marker;
mod notched_box;

use plotters::element::{Drawable, PointCollection};
use plotters::style::{Color, ShapeStyle};
use plotters_backend::{BackendCoord, DrawingBackend};

use super::backend::{Drawn, Recording};
use crate::theme::PAPER;

pub use hatching::{Hatching, hatched_bar};
pub use marker::Marker;
pub use notched_box::{BoxLook, Part, notched_box};

/// Points in the coordinates of a chart, and what is drawn at the places where these come to lie.
pub struct Element<C> {
    points: Vec<C>,
    draw: Box<Draw>,
}

/// Draws at the places of all points.
type Draw = dyn Fn(&[BackendCoord], &mut Recording) -> Drawn;

impl<C> Element<C> {
    /// An element of so many points.
    pub fn new<const N: usize>(
        points: [C; N],
        draw: impl Fn([BackendCoord; N], &mut Recording) -> Drawn + 'static,
    ) -> Self {
        Self::of_many(points.into(), move |places, drawing| match places.try_into() {
            Ok(places) => draw(places, drawing),
            Err(_) => Ok(()),
        })
    }

    /// An element of any number of points.
    fn of_many(
        points: Vec<C>,
        draw: impl Fn(&[BackendCoord], &mut Recording) -> Drawn + 'static,
    ) -> Self {
        Self { points, draw: Box::new(draw) }
    }
}

impl<'a, C: 'a> PointCollection<'a, C> for &'a Element<C> {
    type Point = &'a C;
    type IntoIter = &'a [C];

    fn point_iter(self) -> &'a [C] {
        &self.points
    }
}

impl<C> Drawable<Recording> for Element<C> {
    fn draw<I: Iterator<Item = BackendCoord>>(
        &self,
        places: I,
        drawing: &mut Recording,
        _: (u32, u32),
    ) -> Drawn {
        (self.draw)(&places.collect::<Vec<_>>(), drawing)
    }
}

/// A small white diamond with an outline: the mark of an exact mean.
pub fn diamond<C>(centre: C, r: i32, outline: ShapeStyle) -> Element<C> {
    Element::new([centre], move |[(x, y)], drawing| {
        let corners = [(-r, 0), (0, -r), (r, 0), (0, r), (-r, 0), (0, -r)];
        let corners = corners.map(|(across, down)| (x + across, y + down));
        drawing.fill_polygon(corners, &PAPER.filled())?;
        drawing.draw_path(corners, &outline)
    })
}

/// An estimate and its error: a dot, with a bar from the lower to the upper bound, if these differ. The points are
/// the lower bound, the estimate and the upper bound.
pub fn error_bar<C>(points: [C; 3], marker: Marker, radius: u32, style: ShapeStyle) -> Element<C> {
    Element::new(points, move |[low, estimate, high], drawing| {
        if low != high {
            drawing.draw_line(low, high, &style)?;
        }
        marker.draw(estimate, radius, &style, drawing)
    })
}

/// An atom of a distribution: a line from the foot of the plot up to a value, with a dot on top; no dot if its
/// radius is 0, and a hollow one for what is not private.
pub fn stem<C>(foot_and_head: [C; 2], radius: u32, style: ShapeStyle, hollow: bool) -> Element<C> {
    Element::new(foot_and_head, move |[foot, head], drawing| {
        let below = if hollow { (head.0, (head.1 + radius as i32).min(foot.1)) } else { head };
        drawing.draw_line(foot, below, &style)?;
        match radius {
            0 => Ok(()),
            _ => drawing.draw_circle(head, radius, &style, !hollow),
        }
    })
}
