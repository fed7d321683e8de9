//! Figures before there is anything to draw: as large as they will be, with all names and no data.

use super::curves::line;
use crate::experiment::Panel;
use figure::{BoxFigure, Curve, CurveFigure, Figure, LineName};

/// The most lines that are sketched: the names of more lines fit on no page.
const MOST_LINES: usize = 5000;

/// Curves: every mechanism `times` times, with its name at its place.
pub fn curves(panel: &Panel, times: usize, name: LineName) -> Figure {
    let names = panel.series();
    let lines = names.iter().flat_map(|series| std::iter::repeat_n(series, times));
    let lines =
        lines.take(MOST_LINES).map(|series| Curve { name, ..line(series.clone(), Vec::new()) });
    panel.figure("", CurveFigure { lines: lines.collect(), ..CurveFigure::default() })
}

/// Boxes of every mechanism.
pub fn boxes(panel: &Panel) -> Figure {
    panel.figure("", BoxFigure { series: panel.series(), ..BoxFigure::default() })
}
