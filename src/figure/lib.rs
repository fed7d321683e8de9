//! Figures for print: box plots, curves, densities, heat maps and tables as SVG, PNG or PDF, drawn with plotters.
//!
//! A figure is plain data. A chart draws it on a drawing area of plotters: an `axis` is a coordinate
//! range, an `element` a drawable, a `page` the area of a whole figure. What is drawn goes to the
//! `backend` of a format. All looks are in `theme`. The same figure always gives the same bytes; fonts
//! are compiled in.

mod axis;
mod backend;
mod boxplot;
mod curve;
mod density;
mod difference;
mod element;
mod font;
mod heat;
mod labels;
mod legend;
mod legibility;
mod multiples;
mod page;
mod plot_labels;
mod regions;
mod shared_axes;
mod spread;
mod table;
mod theme;
mod tip;
mod trace;

use backend::Recording;
use plotters::drawing::DrawingAreaErrorKind;
use plotters_backend::DrawingErrorKind;
use theme::Theme;

pub use axis::Scale;
pub use boxplot::{BoxFigure, BoxStats, Group};
pub use curve::{Curve, CurveFigure, Join, LineName, LineStyle, NameAt, Sample};
pub use density::{DensityFigure, DensityRow};
pub use difference::difference;
pub use heat::{HeatFigure, HeatValues};
pub use legibility::misplaced_texts;
pub use shared_axes::share_axes;
pub use table::TableFigure;
pub use theme::{
    BLUE, CHARCOAL, CRIMSON, Colour, GREEN, ORANGE, PINK, VERMILION, Width, graded_colour,
    numbered_colour, own_colour,
};

/// What kind of file to make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Vectors, with text as text.
    Svg,
    /// Pixels: 1280 across the text, 800 across a column.
    Png,
    /// Vectors for print, with its fonts inside.
    Pdf,
}

impl Format {
    pub const ALL: &[Self] = &[Self::Svg, Self::Png, Self::Pdf];

    /// The ending of file names, without the dot.
    pub fn extension(self) -> &'static str {
        match self {
            Self::Svg => "svg",
            Self::Png => "png",
            Self::Pdf => "pdf",
        }
    }
}

/// Why a figure could not be made.
#[derive(Debug, thiserror::Error)]
pub enum FigureError {
    /// The fonts that are compiled in could not be read.
    #[error("the embedded fonts cannot be read")]
    Font,
    /// The page would have too many lines, legend and all.
    #[error("a figure of {0} by {1} points is too large to draw")]
    TooLarge(u32, u32),
    /// plotters failed.
    #[error("drawing failed: {0}")]
    Drawing(String),
    /// The pixels could not be compressed.
    #[error("writing PNG failed: {0}")]
    Png(#[from] png::EncodingError),
}

impl<E: std::error::Error + Send + Sync> From<DrawingErrorKind<E>> for FigureError {
    fn from(error: DrawingErrorKind<E>) -> Self {
        Self::Drawing(error.to_string())
    }
}

impl<E: std::error::Error + Send + Sync> From<DrawingAreaErrorKind<E>> for FigureError {
    fn from(error: DrawingAreaErrorKind<E>) -> Self {
        Self::Drawing(error.to_string())
    }
}

/// In the name of a mechanism: nothing is stated about its privacy.
pub const UNSTATED: &str = "(no guarantee)";

/// A mechanism as figures show it.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    pub label: String,
    pub colour: Colour,
    /// Whether it is differentially private; what is not is hatched or dashed
    /// and labelled so.
    pub private: bool,
}

impl Series {
    /// The name, with a warning where it is due.
    pub fn full_label(&self) -> String {
        const WARNING: &str = "(not private)";
        if self.private || [WARNING, UNSTATED].iter().any(|words| self.label.contains(words)) {
            self.label.clone()
        } else {
            format!("{} {WARNING}", self.label)
        }
    }

    /// The colour of its name: letters are thinner than lines and need more contrast.
    fn letters(&self) -> Colour {
        self.colour.darken(0.22)
    }
}

/// More series cannot be told apart by colour: those that are left have a lighter shade.
const MOST_SHADES: usize = 24;

/// Gives series of the same colour (the same mechanism with other parameters) different shades of it: of some
/// shades the one that differs most from all other colours. The first keeps its own.
pub fn distinguish(series: &mut [Series]) {
    let mut taken: Vec<Colour> = Vec::new();
    let mut repeats = Vec::new();
    for one in series.iter_mut() {
        match taken.contains(&one.colour) {
            true => repeats.push(one),
            false => taken.push(one.colour),
        }
    }
    for (searched, one) in repeats.into_iter().enumerate() {
        let nearest = |shade: &Colour| {
            let apart = taken.iter().map(|other| difference(*shade, *other));
            apart.map(|(usual, others)| others.min(usual / 2.0)).fold(f64::INFINITY, f64::min)
        };
        let mut shades = theme::shades(one.colour);
        let found = match searched < MOST_SHADES {
            true => shades.max_by(|a, b| nearest(a).total_cmp(&nearest(b))),
            false => shades.next(),
        };
        one.colour = found.unwrap_or(one.colour);
        if searched < MOST_SHADES {
            taken.push(one.colour);
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    pub head: Head,
    pub body: Body,
}

/// What stands above and below what a figure shows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Head {
    /// What is compared: bold, above the plot.
    pub title: String,
    /// The settings, in small type under the title.
    pub note: String,
    /// Where it comes from, in small type below.
    pub source: String,
    /// The program and the experiment that made it, for the file's own description.
    pub maker: String,
}

impl Head {
    /// The settings, and where the figure comes from.
    fn subject(&self) -> String {
        let parts = [self.note.as_str(), &self.source];
        parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("; ")
    }
}

/// What a figure shows.
#[derive(Clone, Debug, PartialEq)]
pub enum Body {
    /// Notched boxes in groups.
    Box(BoxFigure),
    /// Lines and dots.
    Curve(CurveFigure),
    /// Posterior densities in rows.
    Density(DensityFigure),
    /// Coloured cells.
    Heat(HeatFigure),
    /// Small figures on one page, whose titles say what tells them apart.
    Multiples(Vec<Figure>),
    /// Numbers in rows and columns.
    Table(TableFigure),
}

macro_rules! bodies {
    ($($body:ident: $shown:ty,)*) => {$(
        impl From<$shown> for Body {
            fn from(shown: $shown) -> Self {
                Self::$body(shown)
            }
        }
    )*};
}

bodies! {
    Box: BoxFigure,
    Curve: CurveFigure,
    Density: DensityFigure,
    Heat: HeatFigure,
    Multiples: Vec<Figure>,
    Table: TableFigure,
}

impl Body {
    /// Whether readings of a printed figure are shown.
    fn shows_readings(&self) -> bool {
        match self {
            Self::Box(figure) => {
                let mut boxes = figure.groups.iter().flat_map(|group| &group.boxes).flatten();
                boxes.any(|one| one.printed.is_some())
            }
            Self::Curve(figure) => figure.lines.iter().any(|line| !line.readings.is_empty()),
            Self::Multiples(figures) => figures.iter().any(Figure::shows_readings),
            Self::Density(_) | Self::Heat(_) | Self::Table(_) => false,
        }
    }

    /// What it shows, in a few words.
    fn shown(&self) -> &str {
        match self {
            Self::Box(figure) => &figure.y_label,
            Self::Curve(figure) => &figure.y_label,
            Self::Density(_) => "posterior densities",
            Self::Heat(figure) => &figure.y_label,
            Self::Multiples(figures) => figures.first().map_or("", |figure| figure.body.shown()),
            Self::Table(_) => "a table",
        }
    }

    fn draw(&self, head: &Head, theme: Theme) -> Result<Recording, FigureError> {
        match self {
            Self::Box(figure) => figure.draw(head, theme),
            Self::Curve(figure) => figure.draw(head, theme),
            Self::Density(figure) => figure.draw(head, theme),
            Self::Heat(figure) => figure.draw(head, theme),
            Self::Multiples(figures) => multiples::draw(figures, head, theme),
            Self::Table(figure) => figure.draw(head, theme),
        }
    }
}

impl Figure {
    pub fn new(title: impl Into<String>, note: impl Into<String>, body: impl Into<Body>) -> Self {
        let head = Head { title: title.into(), note: note.into(), ..Head::default() };
        Self { head, body: body.into() }
    }

    /// Whether it shows readings of a printed figure.
    pub fn shows_readings(&self) -> bool {
        self.body.shows_readings()
    }

    /// What it shows, in a sentence for those who cannot see it.
    pub fn description(&self) -> String {
        format!("{}: {} ({})", self.head.title, self.body.shown(), self.head.note)
    }

    fn draw(&self, width: Width) -> Result<Recording, FigureError> {
        let theme = Theme::new(width);
        let drawn = self.body.draw(&self.head, theme)?;
        match self.head.source.as_str() {
            "" => Ok(drawn),
            source => page::with_source(drawn, source, theme),
        }
    }
}

/// The greatest height of a page in points, beyond which it is refused rather than running out of
/// memory.
const HIGHEST: f64 = 7200.0;

/// The figure as the bytes of a file.
///
/// # Errors
///
/// Returns an error if the page is too large or plotters or the PNG encoder fails. Odd data is not an
/// error: what cannot be drawn is left out.
pub fn render(figure: &Figure, format: Format, width: Width) -> Result<Vec<u8>, FigureError> {
    let drawing = figure.draw(width)?;
    refuse_large(&drawing)?;
    drawing.encode(&figure.head, format, width)
}

/// The figure as SVG that stands in a page of HTML, which says where it comes from.
///
/// # Errors
///
/// Returns an error if it is too large or plotters fails.
pub fn inline(figure: &Figure) -> Result<String, FigureError> {
    let drawing = figure.body.draw(&figure.head, Theme::new(Width::Screen))?;
    refuse_large(&drawing)?;
    Ok(drawing.inline())
}

/// Refuses a figure whose page would be too large.
///
/// # Errors
///
/// Returns an error if it is.
pub fn check_size(figure: &Figure, width: Width) -> Result<(), FigureError> {
    refuse_large(&figure.draw(width)?)
}

fn refuse_large(drawing: &Recording) -> Result<(), FigureError> {
    let points = |units: u32| (f64::from(units) / theme::UNITS_PER_POINT).round();
    let (width, height) = (points(drawing.size.0), points(drawing.size.1));
    match height > HIGHEST {
        true => Err(FigureError::TooLarge(width as u32, height as u32)),
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests;
