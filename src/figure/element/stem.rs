//! A line from the foot of the plot up to a value, with a dot on top: an atom of a distribution.

use plotters::style::ShapeStyle;
use plotters_backend::{BackendCoord, DrawingBackend};

use super::Drawn;

/// An atom and where it stands.
pub struct Stem<C> {
    /// The foot and the head.
    pub points: [C; 2],
    /// Of the dot; 0 draws none.
    pub radius: u32,
    pub style: ShapeStyle,
    /// Whether the dot is hollow: what is not private.
    pub hollow: bool,
}

impl<C> Stem<C> {
    pub fn draw_at<DB: DrawingBackend>(
        &self,
        places: &[BackendCoord],
        backend: &mut DB,
    ) -> Drawn<DB> {
        let [foot, head] = *places else { return Ok(()) };
        let below =
            if self.hollow { (head.0, (head.1 + self.radius as i32).min(foot.1)) } else { head };
        backend.draw_line(foot, below, &self.style)?;
        if self.radius > 0 {
            backend.draw_circle(head, self.radius, &self.style, !self.hollow)?;
        }
        Ok(())
    }
}
