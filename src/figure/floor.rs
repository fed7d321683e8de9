//! The horizontal axis of curves: numbers, or names in their places.

use super::axis::{Axis, extent, log_range};
use super::canvas::Canvas;
use super::curve::CurveFigure;
use super::frame::{TICK_GAP, draw_floor, draw_floor_ticks, fitting_axis};
use super::geometry::Rect;
use super::labels::{Labels, Name};

/// The axis and, where it has names instead of numbers, these.
pub(super) struct Floor {
    pub(super) axis: Axis,
    names: Option<Vec<(f64, String)>>,
}

impl Floor {
    pub(super) fn new(figure: &CurveFigure, width: f64) -> Self {
        if let Some(names) = &figure.categories {
            let last = names.len().max(1) as f64 - 1.0;
            let places = names.iter().enumerate();
            let names = places.map(|(i, name)| (i as f64, name.clone())).collect();
            return Self::named((-0.5, last + 0.5), names);
        }
        let exact = figure.lines.iter().flat_map(|line| &line.exact);
        let sampled = figure.lines.iter().flat_map(|line| &line.sampled);
        let readings = figure.lines.iter().flat_map(|line| &line.readings);
        let points = exact.chain(readings).map(|(x, _)| *x);
        let values: Vec<f64> = points.chain(sampled.map(|sample| sample.x)).collect();
        let (low, high) = extent(values.iter().copied());
        match figure.x_range {
            None if low == high => {
                Self::named((low - 0.5, low + 0.5), vec![(low, low.to_string())])
            }
            range => {
                let log = figure.x_scale.is_log(&values);
                let fitted = if log {
                    log_range(extent(values.into_iter().filter(|v| *v > 0.0)))
                } else {
                    let air = 0.02 * (high - low);
                    (low - air, high + air)
                };
                let axis = fitting_axis(range.unwrap_or(fitted), log, width);
                Self { axis, names: None }
            }
        }
    }

    fn named(range: (f64, f64), names: Vec<(f64, String)>) -> Self {
        let mut axis = Axis::over(range, false, 2.0);
        axis.ticks.clear();
        Self { axis, names: Some(names) }
    }

    /// Width between two names, if there are names.
    pub(super) fn slot(&self, width: f64) -> Option<f64> {
        let names = self.names.as_ref()?;
        Some(width / names.len().max(1) as f64)
    }

    /// Where a value is on the page.
    pub(super) fn x(&self, plot: Rect, value: f64) -> Option<f64> {
        let fraction = self.axis.fraction(value)?;
        Some(plot.left + fraction * plot.width)
    }

    /// Spine, ticks and their labels; returns where these end.
    pub(super) fn draw(&self, canvas: &mut Canvas, plot: Rect) -> f64 {
        let Some(names) = &self.names else {
            let ticks = self.axis.ticks.iter();
            let places: Vec<f64> = ticks.filter_map(|tick| self.x(plot, tick.value)).collect();
            draw_floor(canvas, plot, &places);
            return plot.bottom() + TICK_GAP + draw_floor_ticks(canvas, &self.axis, plot);
        };
        let places: Vec<f64> = names.iter().filter_map(|(at, _)| self.x(plot, *at)).collect();
        draw_floor(canvas, plot, &places);
        let name = |(_, label): &(f64, String)| Name { label: label.clone(), sublabel: None };
        let texts: Vec<Name> = names.iter().map(name).collect();
        let labels = Labels::fit(&texts, self.slot(plot.width).unwrap_or(plot.width));
        labels.draw(canvas, &places, plot.bottom() + TICK_GAP);
        plot.bottom() + TICK_GAP + labels.height()
    }
}
