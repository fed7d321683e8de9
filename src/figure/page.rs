//! The width figures are laid out for.

use super::frame::EDGE;

/// How much room there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Page {
    /// As much as the data needs, as in print.
    Wide,
    /// What a phone has.
    Narrow,
}

/// The width of a narrow page.
const NARROW: f64 = 400.0;

impl Page {
    /// The width of the page, where `wide` would be right for print.
    pub(super) fn width(self, wide: f64) -> f64 {
        match self {
            Self::Wide => wide,
            Self::Narrow => NARROW,
        }
    }

    /// Where titles start: over the plot, or at the edge where every point
    /// counts.
    pub(super) fn title_start(self, plot_left: f64) -> f64 {
        match self {
            Self::Wide => plot_left,
            Self::Narrow => EDGE,
        }
    }
}
