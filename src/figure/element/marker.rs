//! Dots of several shapes, which tell curves apart without their colours.

use plotters::style::ShapeStyle;
use plotters_backend::{BackendCoord, DrawingBackend};

use super::{Drawn, Recording};

/// The shape of a dot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Marker {
    Disc,
    Square,
    Triangle,
    Diamond,
    Inverted,
}

impl Marker {
    /// The marker of the curve with this number in a figure.
    pub fn numbered(number: usize) -> Self {
        const ALL: [Marker; 5] =
            [Marker::Disc, Marker::Square, Marker::Triangle, Marker::Diamond, Marker::Inverted];
        ALL[number % ALL.len()]
    }

    /// Draws it around a place. All have about the same area.
    pub fn draw(
        self,
        (x, y): BackendCoord,
        radius: u32,
        style: &ShapeStyle,
        drawing: &mut Recording,
    ) -> Drawn {
        let corners: &[(f64, f64)] = match self {
            Self::Disc => return drawing.draw_circle((x, y), radius, style, true),
            Self::Square => &[(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)],
            Self::Triangle => &[(-1.25, 0.8), (1.25, 0.8), (0.0, -1.4)],
            Self::Diamond => &[(-1.3, 0.0), (0.0, -1.3), (1.3, 0.0), (0.0, 1.3)],
            Self::Inverted => &[(-1.25, -0.8), (1.25, -0.8), (0.0, 1.4)],
        };
        let units = |part: f64| (part * f64::from(radius)).round() as i32;
        let place = |(dx, dy): &(f64, f64)| (x + units(*dx), y + units(*dy));
        drawing.fill_polygon(corners.iter().map(place), style)
    }
}
