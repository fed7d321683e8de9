//! Drawing one notched box.

use super::Series;
use super::boxplot::BoxStats;
use super::canvas::Canvas;
use super::frame::Side;
use super::geometry::{Point, Rect};
use super::legend::diamond;
use super::palette::{INK, WHITE};

/// Where a box goes and how it looks.
pub(super) struct Marker<'a> {
    pub(super) series: &'a Series,
    pub(super) side: &'a Side,
    pub(super) plot: Rect,
    pub(super) centre: f64,
    /// Half the width of the box.
    pub(super) half: f64,
    /// The least and greatest value there can be.
    pub(super) bounds: Option<(f64, f64)>,
}

impl Marker<'_> {
    pub(super) fn draw(&self, canvas: &mut Canvas, stats: &BoxStats) {
        self.draw_outliers(canvas, &stats.outliers);
        self.draw_whisker(canvas, stats.q1, stats.whisker_low);
        self.draw_whisker(canvas, stats.q3, stats.whisker_high);
        let (low, high) = (self.y(stats.q1), self.y(stats.q3));
        if low - high < 2.5 {
            self.draw_flat(canvas, self.y(stats.median));
        } else {
            self.draw_body(canvas, &self.outline(stats));
            self.draw_median(canvas, stats);
        }
        if let Some(mean) = stats.exact_mean.filter(|mean| mean.is_finite()) {
            diamond(canvas, (self.centre, self.y(mean)), (0.5 * self.half).clamp(1.5, 3.6));
        }
        self.draw_readings(canvas, &stats.readings);
    }

    /// On the page, and inside the plot whatever the value.
    fn y(&self, value: f64) -> f64 {
        let y = self.side.y(self.plot, value).unwrap_or(self.plot.bottom());
        y.clamp(self.plot.top, self.plot.bottom())
    }

    /// Lines get thinner with the boxes.
    fn pen(&self) -> f64 {
        (0.1 * self.half).clamp(0.35, 0.9)
    }

    fn outline(&self, stats: &BoxStats) -> Vec<Point> {
        let (left, right) = (self.centre - self.half, self.centre + self.half);
        let dent = 0.5 * self.half;
        let [q1, low, median, high, q3] =
            [stats.q1, stats.notch_low, stats.median, stats.notch_high, stats.q3]
                .map(|value| self.y(value));
        vec![
            (left, q1),
            (left, low),
            (left + dent, median),
            (left, high),
            (left, q3),
            (right, q3),
            (right, high),
            (right - dent, median),
            (right, low),
            (right, q1),
        ]
    }

    fn draw_body(&self, canvas: &mut Canvas, path: &[Point]) {
        if self.series.private {
            canvas.polygon(path, self.series.colour, self.pen());
        } else {
            canvas.hatched(path, self.series.colour, self.pen());
        }
    }

    /// A box without height: a bar in its colour, which a line would hide. At a bound it lies
    /// inside, lest it show values that cannot be.
    fn draw_flat(&self, canvas: &mut Canvas, y: f64) {
        const HEIGHT: f64 = 3.2;
        let (left, right) = (self.centre - self.half, self.centre + self.half);
        let page = |bound: f64| bound.is_finite().then(|| self.y(bound));
        let (low, high) = self.bounds.map_or((None, None), |(low, high)| (page(low), page(high)));
        let top = (y - 0.5 * HEIGHT).max(high.unwrap_or(f64::NEG_INFINITY));
        let top = top.min(low.unwrap_or(f64::INFINITY) - HEIGHT);
        let bottom = top + HEIGHT;
        let path = [(left, top), (right, top), (right, bottom), (left, bottom)];
        self.draw_body(canvas, &path);
    }

    /// White, to show on every colour, and moved just inside a box whose
    /// median is a quartile, to show there too.
    fn draw_median(&self, canvas: &mut Canvas, stats: &BoxStats) {
        let (top, bottom) = (self.y(stats.q3), self.y(stats.q1));
        let width = (0.25 * self.half).clamp(0.8, 2.2).min(0.4 * (bottom - top));
        let inset = 0.5 * (width + self.pen());
        let y = self.y(stats.median).clamp(top + inset, bottom - inset);
        let reach = 0.5 * self.half;
        canvas.line((self.centre - reach, y), (self.centre + reach, y), WHITE, width);
    }

    fn draw_whisker(&self, canvas: &mut Canvas, quartile: f64, end: f64) {
        let (from, to) = (self.y(quartile), self.y(end));
        if (from - to).abs() < 0.5 {
            return;
        }
        let (x, cap, pen) = (self.centre, 0.5 * self.half, self.pen() * 1.1);
        canvas.line((x, from), (x, to), INK, pen);
        canvas.line((x - cap, to), (x + cap, to), INK, pen);
    }

    /// In ink, which shows on every box.
    fn draw_readings(&self, canvas: &mut Canvas, readings: &[f64]) {
        for value in readings.iter().filter(|value| value.is_finite()) {
            let at = (self.centre, self.y(*value));
            canvas.ring(at, (0.8 * self.half).clamp(1.2, 3.2), INK, 1.1);
        }
    }

    /// Values that would be drawn on the same spot are drawn once.
    fn draw_outliers(&self, canvas: &mut Canvas, outliers: &[f64]) {
        let sound = outliers.iter().filter(|value| value.is_finite());
        let mut levels: Vec<i32> = sound.map(|v| (self.y(*v) * 4.0).round() as i32).collect();
        levels.sort_unstable();
        levels.dedup();
        let radius = (0.2 * self.half).clamp(1.0, 2.0);
        for level in levels {
            let centre = (self.centre, f64::from(level) / 4.0);
            canvas.ring(centre, radius, self.series.colour.darken(0.25), 0.8);
        }
    }
}
