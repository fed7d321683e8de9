//! A cell of a heat map, and the hatching upon it if it stands for what is not private.

use plotters::style::Color;
use plotters_backend::{BackendCoord, DrawingBackend};

use super::{Drawn, Hatching};
use crate::theme::Colour;

/// The colour of a cell.
pub struct HeatCell<C> {
    /// The upper left and the lower right corner.
    pub points: [C; 2],
    pub colour: Colour,
    /// How far it reaches under its right and its lower neighbour, which are drawn later: viewers
    /// that smooth each edge would let the page shine through between them.
    pub under: (i32, i32),
}

impl<C> HeatCell<C> {
    pub fn draw_at<DB: DrawingBackend>(
        &self,
        places: &[BackendCoord],
        backend: &mut DB,
    ) -> Drawn<DB> {
        let [from, to] = *places else { return Ok(()) };
        let reach = (to.0 + self.under.0, to.1 + self.under.1);
        backend.draw_rect(from, reach, &self.colour.filled(), true)
    }
}

pub struct HatchedCell<C> {
    /// The upper left and the lower right corner.
    pub points: [C; 2],
    pub hatching: Hatching,
}

impl<C> HatchedCell<C> {
    pub fn draw_at<DB: DrawingBackend>(
        &self,
        places: &[BackendCoord],
        backend: &mut DB,
    ) -> Drawn<DB> {
        let [from, to] = *places else { return Ok(()) };
        self.hatching.draw(backend, &[from, (to.0, from.1), to, (from.0, to.1)])
    }
}
