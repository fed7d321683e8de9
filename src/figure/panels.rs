//! Several figures on one page.

use super::Figure;
use super::canvas::Canvas;

/// Figures in rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Panels {
    /// The figures, row by row.
    pub figures: Vec<Figure>,
    /// How many stand side by side.
    pub columns: usize,
}

/// Between two panels.
const GAP: f64 = 12.0;

impl Panels {
    pub(super) fn draw(&self) -> Canvas {
        let mut page = Canvas::default();
        for row in self.figures.chunks(self.columns.max(1)) {
            let mut left = 0.0;
            let mut bottom = page.height;
            for panel in row.iter().map(Figure::draw) {
                let (width, height) = (panel.width, panel.height);
                page.place(panel, left, page.height);
                bottom = bottom.max(page.height + height);
                page.width = page.width.max(left + width);
                left += width + GAP;
            }
            page.height = bottom;
        }
        page
    }
}
