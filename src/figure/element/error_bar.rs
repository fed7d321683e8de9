//! A dot with a bar from a lower to an upper value: an estimate and its error.

use plotters::style::ShapeStyle;
use plotters_backend::{BackendCoord, DrawingBackend};

use super::{Drawn, Marker};

/// An estimate between two bounds.
pub struct ErrorBar<C> {
    /// The lower bound, the estimate and the upper bound.
    pub points: [C; 3],
    pub marker: Marker,
    pub radius: u32,
    pub style: ShapeStyle,
}

impl<C> ErrorBar<C> {
    pub fn draw_at<DB: DrawingBackend>(
        &self,
        places: &[BackendCoord],
        backend: &mut DB,
    ) -> Drawn<DB> {
        let [low, estimate, high] = *places else { return Ok(()) };
        if low != high {
            backend.draw_line(low, high, &self.style)?;
        }
        self.marker.draw(estimate, self.radius, &self.style, backend)
    }
}
