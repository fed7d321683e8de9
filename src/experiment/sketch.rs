//! Figures before there is anything to draw: as large as they will be, with all names and no data.

use super::accuracy;
use super::curves::line;
use super::{FigureName, Kind, Panel};
use crate::figure::{BoxFigure, Curve, CurveFigure, Figure};

/// The names of so many lines fit on no page.
const MOST_LINES: usize = 5000;

/// One sketch of every sort of figure that names the mechanisms.
#[must_use]
pub fn sketches(panel: &Panel) -> Vec<Figure> {
    let curve = |times: usize, label_end: bool| {
        let names = panel.series();
        let lines = names.iter().flat_map(|series| std::iter::repeat_n(series, times));
        let lines = lines
            .take(MOST_LINES)
            .map(|series| Curve { label_end, ..line(series.clone(), Vec::new()) });
        let title = panel.title.clone();
        Figure::Curve(CurveFigure { title, lines: lines.collect(), ..CurveFigure::default() })
    };
    let boxes = || {
        let (title, series) = (panel.title.clone(), panel.series());
        Figure::Box(BoxFigure { title, series, ..BoxFigure::default() })
    };
    match panel.kind {
        Kind::Accuracy => {
            let sketch = |name: FigureName| match name {
                FigureName::Box => boxes(),
                FigureName::Mean => curve(1, true),
                // A line for every setting.
                FigureName::Runs => {
                    curve(panel.cases.len().div_ceil(accuracy::facets(panel).1), true)
                }
            };
            accuracy::asked(panel).into_iter().map(sketch).collect()
        }
        Kind::Privacy => vec![curve(panel.parameters.scopes_or_all().len(), true)],
        Kind::Optimum if panel.cases.len() == 1 => Vec::new(),
        Kind::Profile | Kind::TradeOff => vec![curve(1, false)],
        Kind::Theory
        | Kind::Optimum
        | Kind::Within
        | Kind::Steps
        | Kind::Tail
        | Kind::Normaliser
        | Kind::L1Tail => vec![curve(1, true)],
        Kind::Sensitivity
        | Kind::Change
        | Kind::Crossover
        | Kind::Optimality
        | Kind::TableOne
        | Kind::Phase
        | Kind::Scaling => Vec::new(),
    }
}
