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
pub use heat::{HeatFigure, HeatValues};
pub use legibility::misplaced_texts;
pub use multiples::Multiples;
pub use shared_axes::share_axes;
pub use table::TableFigure;
pub use theme::{
    BLUE, CHARCOAL, CRIMSON, Colour, GREEN, INK_ON_AREAS, NEUTRAL, ORANGE, PINK, VERMILION, Width,
    graded_colour, numbered_colour, own_colour,
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
    /// Every format.
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

/// Gives series of the same colour (the same mechanism with other parameters)
/// different shades of it. The first keeps its own.
pub fn distinguish<'a>(series: impl IntoIterator<Item = &'a mut Series>) {
    let mut seen: Vec<Colour> = Vec::new();
    for one in series {
        let base = one.colour;
        let repeats = seen.iter().filter(|earlier| **earlier == base).count();
        seen.push(base);
        one.colour = theme::shade(base, repeats);
    }
}

/// A figure of any kind.
#[derive(Clone, Debug, PartialEq)]
pub enum Figure {
    /// Notched boxes in groups.
    Box(BoxFigure),
    /// Lines and dots.
    Curve(CurveFigure),
    /// Posterior densities in rows.
    Density(DensityFigure),
    /// Coloured cells.
    Heat(HeatFigure),
    /// Small figures on one page.
    Multiples(Multiples),
    /// Numbers in rows and columns.
    Table(TableFigure),
}

impl Figure {
    /// Its note, if it shows readings of a printed figure.
    pub fn note_beside_readings(&mut self) -> Option<&mut String> {
        match self {
            Self::Box(figure) => {
                let mut boxes = figure.groups.iter().flat_map(|group| &group.boxes).flatten();
                let shown = boxes.any(|one| one.printed.is_some());
                shown.then_some(&mut figure.note)
            }
            Self::Curve(figure) => {
                let shown = figure.lines.iter().any(|line| !line.readings.is_empty());
                shown.then_some(&mut figure.note)
            }
            Self::Multiples(all) => {
                let shown = all.figures.iter_mut().any(|one| one.note_beside_readings().is_some());
                shown.then_some(&mut all.note)
            }
            Self::Density(_) | Self::Heat(_) | Self::Table(_) => None,
        }
    }

    /// Title, note and what the vertical axis shows.
    fn words(&self) -> [&str; 3] {
        match self {
            Self::Box(figure) => [&figure.title, &figure.note, &figure.y_label],
            Self::Curve(figure) => [&figure.title, &figure.note, &figure.y_label],
            Self::Density(figure) => [&figure.title, &figure.note, "posterior densities"],
            Self::Heat(figure) => [&figure.title, &figure.note, &figure.y_label],
            Self::Multiples(figure) => [&figure.title, &figure.note, "small figures"],
            Self::Table(figure) => [&figure.title, &figure.note, "a table"],
        }
    }

    /// The same with another title, and another note if one is given.
    pub fn entitled(mut self, title: String, note: Option<String>) -> Self {
        let (own_title, own_note) = match &mut self {
            Self::Box(figure) => (&mut figure.title, &mut figure.note),
            Self::Curve(figure) => (&mut figure.title, &mut figure.note),
            Self::Density(figure) => (&mut figure.title, &mut figure.note),
            Self::Heat(figure) => (&mut figure.title, &mut figure.note),
            Self::Multiples(figure) => (&mut figure.title, &mut figure.note),
            Self::Table(figure) => (&mut figure.title, &mut figure.note),
        };
        *own_title = title;
        note.into_iter().for_each(|note| *own_note = note);
        self
    }

    /// What stands in small type under its title.
    pub fn note(&self) -> &str {
        self.words()[1]
    }

    /// What stands in bold above it.
    pub fn title(&self) -> &str {
        self.words()[0]
    }

    /// What it shows, in a sentence for those who cannot see it.
    pub fn description(&self) -> String {
        let [title, note, shown] = self.words();
        format!("{title}: {shown} ({note})")
    }

    fn draw(&self, width: Width) -> Result<Recording, FigureError> {
        let theme = Theme::new(width);
        match self {
            Self::Box(figure) => figure.draw(theme),
            Self::Curve(figure) => figure.draw(theme),
            Self::Density(figure) => figure.draw(theme),
            Self::Heat(figure) => figure.draw(theme),
            Self::Multiples(figure) => figure.draw(theme),
            Self::Table(figure) => figure.draw(theme),
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
    drawing.encode(format, width)
}

/// The figure as SVG that stands in a page of HTML.
///
/// # Errors
///
/// Returns an error if it is too large or plotters fails.
pub fn inline(figure: &Figure) -> Result<String, FigureError> {
    let drawing = figure.draw(Width::Screen)?;
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
