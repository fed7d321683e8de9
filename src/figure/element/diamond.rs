//! A small white diamond with an outline: the mark of an exact mean, composed of plotters' elements.

use plotters::element::{DynElement, EmptyElement, IntoDynElement, PathElement, Polygon};
use plotters::style::{Color, ShapeStyle};
use plotters_backend::DrawingBackend;

use crate::theme::PAPER;

/// A diamond around a point.
pub fn diamond<C: Clone + 'static, DB: DrawingBackend + 'static>(
    centre: C,
    r: i32,
    outline: ShapeStyle,
) -> DynElement<'static, DB, C> {
    let corners = vec![(-r, 0), (0, -r), (r, 0), (0, r), (-r, 0), (0, -r)];
    let fill = Polygon::new(corners.clone(), PAPER.filled());
    (EmptyElement::at(centre) + fill + PathElement::new(corners, outline)).into_dyn()
}
