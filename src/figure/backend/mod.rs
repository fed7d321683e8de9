//! Where drawings go. plotters draws every figure on a [`Recording`], one type for all formats, so
//! that charts are compiled once and tests can look at what was drawn. The recording is then replayed
//! on the backend of the format: plotters' own for SVG and bitmaps, [`pdf::PdfBackend`] for PDF.

mod inline;
mod pdf;
mod pdf_font;
mod png;
mod svg;

use std::convert::Infallible;

use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color, FontTransform, ShapeStyle, TextStyle};
use plotters_backend::{
    BackendColor, BackendCoord as At, BackendStyle as Style, BackendTextStyle, DrawingBackend,
    DrawingErrorKind as ErrorKind, FontStyle,
};

use super::font::{self, Font};
use super::theme::{Colour, PAPER};
use super::{FigureError, Format, Head, Width};

/// One line of text.
#[derive(Clone, Debug, PartialEq)]
pub struct Text {
    pub content: String,
    /// Its size is in units.
    pub font: Font,
    pub colour: Colour,
    /// Where its baseline starts.
    pub at: At,
    /// Reads upwards instead of rightwards.
    pub upwards: bool,
}

/// A thing that was drawn, in units. A circle is a disc, or a ring of the given line width.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    Path { points: Vec<At>, colour: Colour, width: u32 },
    Polygon { points: Vec<At>, colour: Colour },
    Rectangle { from: At, to: At, colour: Colour },
    Circle { centre: At, radius: u32, colour: Colour, ring: Option<u32> },
    Text(Text),
}

impl Shape {
    fn moved(self, (across, down): At) -> Self {
        let moved = |(x, y): At| (x + across, y + down);
        let all = |points: Vec<At>| points.into_iter().map(moved).collect();
        match self {
            Self::Path { points, colour, width } => {
                Self::Path { points: all(points), colour, width }
            }
            Self::Polygon { points, colour } => Self::Polygon { points: all(points), colour },
            Self::Rectangle { from, to, colour } => {
                Self::Rectangle { from: moved(from), to: moved(to), colour }
            }
            Self::Circle { centre, radius, colour, ring } => {
                Self::Circle { centre: moved(centre), radius, colour, ring }
            }
            Self::Text(text) => Self::Text(Text { at: moved(text.at), ..text }),
        }
    }
}

/// Remembers what is drawn.
#[derive(Clone, Debug, Default)]
pub struct Recording {
    /// Width and height in units.
    pub size: (u32, u32),
    pub shapes: Vec<Shape>,
    /// What the shapes from a certain one on show, in words; nothing if these are empty.
    tips: Vec<(usize, String)>,
}

pub type Drawn<E = Infallible> = Result<(), ErrorKind<E>>;

impl Recording {
    /// An empty drawing of this size.
    pub fn new(size: (u32, u32)) -> Self {
        Self { size, ..Self::default() }
    }

    /// Says what is drawn from now on; empty words end that.
    pub fn describe(&mut self, words: String) {
        self.tips.push((self.shapes.len(), words));
    }

    /// Takes over another drawing, whose corner comes to stand here.
    pub fn place(&mut self, other: Self, corner: At) {
        let first = self.shapes.len();
        self.tips.push((first, String::new()));
        self.tips.extend(other.tips.into_iter().map(|(place, words)| (first + place, words)));
        self.shapes.extend(other.shapes.into_iter().map(|shape| shape.moved(corner)));
        self.tips.push((self.shapes.len(), String::new()));
    }

    /// The drawing as SVG for a page of HTML.
    pub fn inline(&self) -> String {
        inline::encode(self)
    }

    /// The drawing as the bytes of a file.
    pub fn encode(
        &self,
        head: &Head,
        format: Format,
        width: Width,
    ) -> Result<Vec<u8>, FigureError> {
        font::register()?;
        match format {
            Format::Svg => svg::encode(self),
            Format::Png => png::encode(self, head, width),
            Format::Pdf => pdf::encode(self, head),
        }
    }

    fn record(&mut self, colour: BackendColor, shape: impl FnOnce(Colour) -> Shape) -> Drawn {
        if colour.alpha > 0.0 {
            self.shapes.push(shape(Colour { rgb: colour.rgb }));
        }
        Ok(())
    }

    /// Draws everything again on another backend, which has `scale` of its units in one of ours.
    fn replay<DB: DrawingBackend>(
        &self,
        backend: &mut DB,
        scale: f64,
        text: impl Fn(&mut DB, &Text) -> Drawn<DB::ErrorType>,
    ) -> Result<(), FigureError> {
        let length = |units: u32| ((f64::from(units) * scale).round() as u32).max(1);
        let place = |(x, y): At| {
            let scaled = |at: i32| (f64::from(at) * scale).round() as i32;
            (scaled(x), scaled(y))
        };
        let corner = (self.size.0 as i32, self.size.1 as i32);
        backend.draw_rect((0, 0), place(corner), &PAPER.filled(), true)?;
        for shape in &self.shapes {
            match shape {
                Shape::Path { points, colour, width } => {
                    let style = colour.stroke_width(length(*width));
                    let mut points: Vec<At> = points.iter().copied().map(place).collect();
                    points.dedup();
                    match scale == 1.0 {
                        true => backend.draw_path(points, &style)?,
                        false => draw_segments(backend, &points, &style)?,
                    }
                }
                Shape::Polygon { points, colour } => {
                    backend.fill_polygon(points.iter().copied().map(place), &colour.filled())?;
                }
                Shape::Rectangle { from, to, colour } => {
                    backend.draw_rect(place(*from), place(*to), &colour.filled(), true)?;
                }
                Shape::Circle { centre, radius, colour, ring } => {
                    let style = colour.stroke_width(length(ring.unwrap_or(1)));
                    backend.draw_circle(place(*centre), length(*radius), &style, ring.is_none())?;
                }
                Shape::Text(one) => text(backend, one)?,
            }
        }
        Ok(backend.present()?)
    }
}

/// For bitmaps, where plotters fills the outline of a thick line, which may cross itself: every
/// segment alone, upright and level ones as rectangles, and a disc on every sharp corner.
fn draw_segments<DB: DrawingBackend>(
    backend: &mut DB,
    points: &[At],
    style: &ShapeStyle,
) -> Drawn<DB::ErrorType> {
    let width = style.stroke_width as i32;
    for pair in points.windows(2) {
        let (from, to) = (pair[0], pair[1]);
        let (low, high) =
            ((from.0.min(to.0), from.1.min(to.1)), (from.0.max(to.0), from.1.max(to.1)));
        let (left, top) = (low.0 - width / 2, low.1 - width / 2);
        if from.0 == to.0 {
            backend.draw_rect((left, low.1), (left + width - 1, high.1), style, true)?;
        } else if from.1 == to.1 {
            backend.draw_rect((low.0, top), (high.0, top + width - 1), style, true)?;
        } else {
            backend.draw_line(from, to, style)?;
        }
    }
    for three in points.windows(3) {
        let step = |a: At, b: At| (f64::from(b.0 - a.0), f64::from(b.1 - a.1));
        let ((ax, ay), (bx, by)) = (step(three[0], three[1]), step(three[1], three[2]));
        // By less than 20 degrees nothing of a corner is missing.
        let along = (ax * bx + ay * by) / ((ax * ax + ay * ay) * (bx * bx + by * by)).sqrt();
        if along < 0.94 {
            backend.draw_circle(three[1], (width as u32 / 2).max(1), style, true)?;
        }
    }
    Ok(())
}

/// The style of a text for a backend that calls its font so large.
fn text_style(text: &Text, size: f64) -> TextStyle<'static> {
    let transform = if text.upwards { FontTransform::Rotate270 } else { FontTransform::None };
    let font = text.font.describe(size).transform(transform);
    TextStyle { font, color: text.colour.to_backend_color(), pos: Pos::default() }
}

fn font_of<S: BackendTextStyle>(style: &S) -> Font {
    Font { size: style.size(), bold: matches!(style.style(), FontStyle::Bold) }
}

impl DrawingBackend for Recording {
    type ErrorType = Infallible;

    fn get_size(&self) -> (u32, u32) {
        self.size
    }

    fn ensure_prepared(&mut self) -> Drawn {
        Ok(())
    }

    fn present(&mut self) -> Drawn {
        Ok(())
    }

    fn draw_pixel(&mut self, (x, y): At, colour: BackendColor) -> Drawn {
        self.record(colour, |colour| Shape::Rectangle { from: (x, y), to: (x + 1, y + 1), colour })
    }

    fn draw_line<S: Style>(&mut self, from: At, to: At, style: &S) -> Drawn {
        self.draw_path([from, to], style)
    }

    fn draw_rect<S: Style>(&mut self, from: At, to: At, style: &S, fill: bool) -> Drawn {
        if fill {
            return self.record(style.color(), |colour| Shape::Rectangle { from, to, colour });
        }
        // Past the start again, or the first corner would stay open.
        let corners = [from, (to.0, from.1), to, (from.0, to.1), from, (to.0, from.1)];
        self.draw_path(corners, style)
    }

    fn draw_path<S: Style, I: IntoIterator<Item = At>>(&mut self, path: I, style: &S) -> Drawn {
        let width = style.stroke_width();
        let mut points: Vec<At> = path.into_iter().collect();
        points.dedup();
        self.record(style.color(), |colour| Shape::Path { points, colour, width })
    }

    fn draw_circle<S: Style>(&mut self, centre: At, radius: u32, style: &S, fill: bool) -> Drawn {
        let ring = (!fill).then(|| style.stroke_width());
        self.record(style.color(), |colour| Shape::Circle { centre, radius, colour, ring })
    }

    fn fill_polygon<S: Style, I: IntoIterator<Item = At>>(&mut self, path: I, style: &S) -> Drawn {
        let points = path.into_iter().collect();
        self.record(style.color(), |colour| Shape::Polygon { points, colour })
    }

    /// The anchor becomes the start of the baseline, by the same measures in every format. The middle
    /// is that of capitals, the bottom is the baseline.
    fn draw_text<S: BackendTextStyle>(&mut self, text: &str, style: &S, (x, y): At) -> Drawn {
        let content = text.replace(char::is_control, " ");
        if content.trim().is_empty() {
            return Ok(());
        }
        let font = font_of(style);
        let back = match style.anchor().h_pos {
            HPos::Left => 0.0,
            HPos::Center => font.width(&content) / 2.0,
            HPos::Right => font.width(&content),
        };
        let down = match style.anchor().v_pos {
            VPos::Top => 0.78,
            VPos::Center => 0.36,
            VPos::Bottom => 0.0,
        };
        let (back, down) = (back.round() as i32, (down * font.size).round() as i32);
        let upwards = matches!(style.transform(), FontTransform::Rotate270);
        let at = if upwards { (x + down, y + back) } else { (x - back, y + down) };
        let text = |colour| Shape::Text(Text { content, font, colour, at, upwards });
        self.record(style.color(), text)
    }

    fn estimate_text_size<S: BackendTextStyle>(
        &self,
        text: &str,
        style: &S,
    ) -> Result<(u32, u32), ErrorKind<Infallible>> {
        let font = font_of(style);
        Ok((font.width(text).ceil() as u32, font.size.ceil() as u32))
    }
}
