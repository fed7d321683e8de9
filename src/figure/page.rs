//! A page: the drawing area of a whole figure, with its title, its frame of axes and its texts.

use std::cell::RefCell;
use std::rc::Rc;

use plotters::chart::{ChartBuilder, ChartContext, LabelAreaPosition};
use plotters::coord::Shift;
use plotters::coord::cartesian::Cartesian2d;
use plotters::coord::ranged1d::{AsRangedCoord, Ranged, ValueFormatter};
use plotters::drawing::DrawingArea;
use plotters::element::{DashedPathElement, PathElement, Text};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color, FontTransform, TRANSPARENT, TextStyle};

use super::FigureError;
use super::axis::Axis;
use super::backend::Recording;
use super::font::Font;
use super::theme::{Colour, EDGE, FAINT, GRID, GRID_LINE, Pen, SOFT, SPINE, TEXT, TICK, Theme};

/// A place in grid steps, y downwards.
pub type Place = (f64, f64);

/// An upright rectangle in grid steps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rect {
    pub left: f64,
    pub top: f64,
    pub width: f64,
    pub height: f64,
}

impl Rect {
    pub fn right(self) -> f64 {
        self.left + self.width
    }

    pub fn bottom(self) -> f64 {
        self.top + self.height
    }

    pub fn middle(self) -> Place {
        (self.left + self.width / 2.0, self.top + self.height / 2.0)
    }

    /// Whether the two have more than an edge in common.
    pub fn meets(self, other: Self) -> bool {
        let beside = self.right() <= other.left || other.right() <= self.left;
        let above = self.bottom() <= other.top || other.bottom() <= self.top;
        !beside && !above
    }

    /// With `air` around it.
    pub fn grown(self, air: f64) -> Self {
        let (left, top) = (self.left - air, self.top - air);
        Self { left, top, width: self.width + 2.0 * air, height: self.height + 2.0 * air }
    }

    pub fn contains(self, at: Place) -> bool {
        self.clip(at, at).is_some()
    }

    /// The part of the segment inside (Liang and Barsky).
    pub fn clip(self, (x0, y0): Place, (x1, y1): Place) -> Option<(Place, Place)> {
        let (dx, dy) = (x1 - x0, y1 - y0);
        let across = [(-dx, x0 - self.left), (dx, self.right() - x0)];
        let down = [(-dy, y0 - self.top), (dy, self.bottom() - y0)];
        let (mut from, mut to) = (0.0_f64, 1.0_f64);
        for (speed, room) in across.into_iter().chain(down) {
            if speed == 0.0 && room < 0.0 {
                return None;
            } else if speed < 0.0 {
                from = from.max(room / speed);
            } else if speed > 0.0 {
                to = to.min(room / speed);
            }
        }
        let at = |t: f64| (x0 + t * dx, y0 + t * dy);
        (from <= to).then(|| (at(from), at(to)))
    }
}

/// Title and note, broken into lines.
pub struct Header {
    left: f64,
    lines: Vec<(String, Font, Colour)>,
}

impl Header {
    pub fn new(theme: Theme, title: &str, note: &str, left: f64) -> Self {
        let room = theme.page_width() - left - EDGE;
        let line = |font: Font, colour: Colour| move |line: String| (line, font, colour);
        let mut lines: Vec<(String, Font, Colour)> =
            theme.title.wrap(title, room, 9).into_iter().map(line(theme.title, TEXT)).collect();
        lines.extend(theme.note.wrap(note, room, 9).into_iter().map(line(theme.note, FAINT)));
        Self { left, lines }
    }

    /// From the edge of the page down to the plot.
    pub fn height(&self) -> f64 {
        EDGE + self.lines.iter().map(|(_, font, _)| font.line_height()).sum::<f64>() + 12.0
    }

    pub fn draw(&self, page: &Page) -> Result<(), FigureError> {
        let mut top = EDGE;
        for (line, font, colour) in &self.lines {
            let style = page.style(*font, *colour, HPos::Left);
            page.text(line, style, (self.left, top + 0.85 * font.size))?;
            top += font.line_height();
        }
        Ok(())
    }
}

/// A drawing with a small line below it that says where it comes from.
pub fn with_source(drawn: Recording, source: &str, theme: Theme) -> Result<Recording, FigureError> {
    let top = f64::from(drawn.size.1) / theme.scale();
    let font = theme.small;
    let lines = font.wrap(source, theme.page_width() - 2.0 * EDGE, 3);
    let page = Page::new(theme, top + lines.len() as f64 * font.line_height() + EDGE);
    for (line, below) in lines.iter().zip(1..) {
        let style = page.style(font, FAINT, HPos::Left);
        page.text(
            line,
            style,
            (EDGE, top + f64::from(below) * font.line_height() - 0.5 * font.size),
        )?;
    }
    let mut whole = page.finish();
    whole.place(drawn, (0, 0));
    Ok(whole)
}

/// The plot of a figure with its title and axis labels, and the room they take.
pub struct Frame {
    pub plot: Rect,
    pub y: Axis,
    header: Header,
    y_label: Vec<String>,
    x_label: Vec<String>,
    /// The height of what stands between the horizontal axis and its label.
    pub floor: f64,
}

/// A chart on its page.
pub type Chart<'a, X> = ChartContext<'a, Recording, Cartesian2d<X, Axis>>;

impl Frame {
    /// A plot of this height, with a margin at its right.
    pub fn new(
        theme: Theme,
        [title, note, x_label, y_label]: [&str; 4],
        y: Axis,
        height: f64,
        margin: f64,
    ) -> Self {
        let y_label = theme.label.wrap(y_label, height, 2);
        let label = y_label.len() as f64 * theme.label.line_height();
        let left = EDGE + label + 5.0 + y.label_width(theme.tick) + 2.0 * TICK;
        let width = theme.page_width() - left - margin;
        let header = Header::new(theme, title, note, theme.title_start(left));
        let plot = Rect { left, top: header.height(), width, height };
        let x_label = theme.label.wrap(x_label, width, 2);
        Self { plot, y, header, y_label, x_label, floor: theme.tick.line_height() }
    }

    /// Makes the plot narrower if the last tick label of its horizontal axis would leave the page.
    pub fn make_room_for(&mut self, theme: Theme, x: &Axis) {
        let margin = theme.page_width() - self.plot.right();
        self.plot.width -= (x.label_width(theme.tick) / 2.0 + 4.0 - margin).max(0.0);
    }

    /// Where everything under the plot ends.
    pub fn bottom(&self, theme: Theme) -> f64 {
        let label = self.x_label.len() as f64 * theme.label.line_height();
        self.plot.bottom() + 2.0 * TICK + self.floor + 4.0 + label
    }

    /// The chart, still empty.
    pub fn chart<'a, X>(&self, page: &'a Page, x: X) -> Result<Chart<'a, X>, FigureError>
    where
        X: AsRangedCoord<CoordDescType = X> + Ranged,
    {
        let theme = page.theme;
        let chart = ChartBuilder::on(&page.area)
            .margin_top(theme.units(self.plot.top))
            .margin_right(theme.units(theme.page_width() - self.plot.right()))
            .y_label_area_size(theme.units(self.plot.left))
            .x_label_area_size(theme.units(page.height - self.plot.bottom()))
            .build_cartesian_2d(x, self.y.clone())?;
        Ok(chart)
    }

    /// Draws title, axes, tick labels and, as wanted, level and upright grid lines. Without tick
    /// labels, what stands under the horizontal axis is drawn by others.
    pub fn draw<X>(
        &self,
        page: &Page,
        chart: &mut Chart<X>,
        (level, upright): (bool, bool),
        ticks: bool,
    ) -> Result<(), FigureError>
    where
        X: Ranged + ValueFormatter<<X as Ranged>::ValueType>,
    {
        let theme = page.theme;
        let none = |_: &<X as Ranged>::ValueType| String::new();
        let mut mesh = chart.configure_mesh();
        mesh.bold_line_style(theme.line(GRID, GRID_LINE))
            .light_line_style(TRANSPARENT)
            .axis_style(theme.line(SOFT, SPINE))
            .label_style(page.style(theme.tick, SOFT, HPos::Center))
            .set_all_tick_mark_size(theme.units(TICK));
        if !level {
            mesh.disable_y_mesh();
        }
        if !upright {
            mesh.disable_x_mesh();
        }
        if !ticks {
            mesh.x_label_formatter(&none).set_tick_mark_size(LabelAreaPosition::Bottom, 0);
        }
        mesh.draw()?;
        let Rect { left, top, .. } = self.plot;
        let (right, bottom) = (self.plot.right(), self.plot.bottom());
        for at in self.y.minor.iter().filter_map(|value| self.y.fraction(*value)) {
            let y = bottom - at * self.plot.height;
            page.line(&[(left - 0.6 * TICK, y), (left, y)], SOFT, 0.6)?;
        }
        // One line, or the corner would stay open.
        page.line(&[(left, top), (left, bottom), (right, bottom)], SOFT, SPINE)?;
        self.header.draw(page)?;
        let style = page.style(theme.label, TEXT, HPos::Center);
        let lines = |labels| (0..).map(|i| f64::from(i) * theme.label.line_height()).zip(labels);
        for (offset, line) in lines(&self.y_label) {
            let at = (EDGE + 0.8 * theme.label.size + offset, self.plot.middle().1);
            page.text(line, style.transform(FontTransform::Rotate270), at)?;
        }
        let below = bottom + 2.0 * TICK + self.floor + 4.0 + 0.85 * theme.label.size;
        for (offset, line) in lines(&self.x_label) {
            page.text(line, style.clone(), (self.plot.middle().0, below + offset))?;
        }
        Ok(())
    }
}

/// The whole page. Places are in grid steps.
pub struct Page {
    pub theme: Theme,
    pub height: f64,
    pub area: DrawingArea<Recording, Shift>,
    recording: Rc<RefCell<Recording>>,
}

impl Page {
    pub fn new(theme: Theme, height: f64) -> Self {
        let [across, down] = [theme.page_width(), height].map(|l| theme.units(l).max(1) as u32);
        let recording = Rc::new(RefCell::new(Recording::new((across, down))));
        Self { theme, height, area: DrawingArea::from(&recording), recording }
    }

    /// What was drawn.
    pub fn finish(self) -> Recording {
        self.recording.take()
    }

    /// Says what is drawn from now on, for those who point at it; empty words end that.
    pub fn describe(&self, words: String) {
        self.recording.borrow_mut().describe(words);
    }

    /// A place as plotters has it.
    pub fn at(&self, (x, y): Place) -> (i32, i32) {
        (self.theme.units(x), self.theme.units(y))
    }

    /// The style of a text on a baseline.
    pub fn style(&self, font: Font, colour: Colour, anchor: HPos) -> TextStyle<'static> {
        let color = colour.to_backend_color();
        let font = font.describe(font.size * self.theme.scale());
        TextStyle { font, color, pos: Pos::new(anchor, VPos::Bottom) }
    }

    /// A line of text on the baseline through `at`.
    pub fn text(
        &self,
        content: &str,
        style: TextStyle<'static>,
        at: Place,
    ) -> Result<(), FigureError> {
        Ok(self.area.draw(&Text::new(content.to_owned(), self.at(at), style))?)
    }

    /// A line through these places.
    pub fn line(&self, path: &[Place], colour: Colour, width: f64) -> Result<(), FigureError> {
        let points: Vec<(i32, i32)> = path.iter().map(|place| self.at(*place)).collect();
        Ok(self.area.draw(&PathElement::new(points, self.theme.line(colour, width)))?)
    }

    /// A line through these places, broken if its pen is.
    pub fn stroke(&self, path: &[Place], pen: Pen) -> Result<(), FigureError> {
        let Some((dash, gap)) = self.theme.dashes(pen) else {
            return self.line(path, pen.colour, pen.width);
        };
        let points: Vec<(i32, i32)> = path.iter().map(|place| self.at(*place)).collect();
        let style = self.theme.line(pen.colour, pen.width);
        Ok(self.area.draw(&DashedPathElement::new(points, dash, gap, style))?)
    }

    /// A level bar with small ends.
    pub fn interval(&self, (left, right): Place, y: f64, pen: Pen) -> Result<(), FigureError> {
        self.stroke(&[(left, y), (right, y)], pen)?;
        let mut ends = [left, right].into_iter();
        ends.try_for_each(|x| self.interval_end((x, y), pen))
    }

    /// An end of a level bar.
    pub fn interval_end(&self, (x, y): Place, pen: Pen) -> Result<(), FigureError> {
        self.line(&[(x, y - END), (x, y + END)], pen.colour, pen.width)
    }
}

/// Half the height of the ends of an interval.
const END: f64 = 2.2;

/// The baseline that centres capitals on `y`.
pub fn centred(y: f64, font: Font) -> f64 {
    y + 0.36 * font.size
}
