//! Figures for print: box plots, curves and heat maps as SVG, PNG or PDF.
//!
//! A figure is plain data. It is laid out into a list of shapes by our own
//! code (plotters' charts know neither notches nor labels that give way to
//! each other), and that list is then replayed in any format. The same figure
//! always gives the same bytes; fonts are compiled in.

mod axis;
mod borders;
mod boxmark;
mod boxplot;
mod canvas;
mod cells;
mod colourbar;
mod curve;
mod curvemark;
mod endlabel;
mod floor;
mod font;
mod frame;
mod geometry;
mod heat;
mod labels;
mod landmark;
mod legend;
mod page;
mod palette;
mod pdf;
mod pdffont;
mod ramp;
mod raster;
mod reference;
mod regionlabel;
mod spread;
mod svg;
#[cfg(test)]
mod testing;
mod text;
mod thin;

use std::fmt::Display;
use std::str::FromStr;

use canvas::Canvas;
use page::Page;

pub use axis::Scale;
pub use boxplot::{BoxFigure, BoxStats, Group};
pub use curve::{Curve, CurveFigure, LineStyle, Sample};
pub use heat::{HeatFigure, HeatValues};
pub use palette::{Colour, colour};

/// What kind of file to make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Vectors, with text as text.
    Svg,
    /// Pixels, two per point.
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

impl FromStr for Format {
    type Err = FigureError;

    fn from_str(name: &str) -> Result<Self, FigureError> {
        let known = Self::ALL.iter().copied();
        let mut matching = known.filter(|format| name.eq_ignore_ascii_case(format.extension()));
        let unknown = || FigureError::UnknownFormat(name.to_owned());
        matching.next().ok_or_else(unknown)
    }
}

/// Why a figure could not be made.
#[derive(Debug, thiserror::Error)]
pub enum FigureError {
    /// There is no such format.
    #[error("unknown figure format \"{0}\" (known: svg, png, pdf)")]
    UnknownFormat(String),
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

impl FigureError {
    /// From a plotters error, whose type plotters does not let us name.
    fn drawing(error: impl Display) -> Self {
        Self::Drawing(error.to_string())
    }
}

/// A mechanism as figures show it.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// Its name.
    pub label: String,
    /// Its colour, see [`colour`].
    pub colour: Colour,
    /// Whether it is differentially private; what is not is hatched or dashed
    /// and labelled so.
    pub private: bool,
}

impl Series {
    /// The name, with a warning where it is due.
    fn full_label(&self) -> String {
        const WARNING: &str = "(not private)";
        if self.private || self.label.contains(WARNING) {
            self.label.clone()
        } else {
            format!("{} {WARNING}", self.label)
        }
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
        one.colour = palette::shade(base, repeats);
    }
}

/// A figure of any kind.
#[derive(Clone, Debug, PartialEq)]
pub enum Figure {
    /// Notched boxes in groups.
    Box(BoxFigure),
    /// Lines and dots.
    Curve(CurveFigure),
    /// Coloured cells.
    Heat(HeatFigure),
}

impl Figure {
    /// Its note, if it shows readings of a printed figure.
    pub fn note_beside_readings(&mut self) -> Option<&mut String> {
        match self {
            Self::Box(figure) => {
                let mut boxes = figure.groups.iter().flat_map(|group| &group.boxes).flatten();
                let shown = boxes.any(|one| !one.readings.is_empty());
                shown.then_some(&mut figure.note)
            }
            Self::Curve(figure) => {
                let shown = figure.lines.iter().any(|line| !line.readings.is_empty());
                shown.then_some(&mut figure.note)
            }
            Self::Heat(_) => None,
        }
    }

    /// What it shows, in a sentence for those who cannot see it.
    pub fn description(&self) -> String {
        let (title, note, y_label) = match self {
            Self::Box(figure) => (&figure.title, &figure.note, &figure.y_label),
            Self::Curve(figure) => (&figure.title, &figure.note, &figure.y_label),
            Self::Heat(figure) => (&figure.title, &figure.note, &figure.y_label),
        };
        format!("{title}: {y_label} ({note})")
    }

    fn draw(&self, page: Page) -> Canvas {
        match self {
            Self::Box(figure) => figure.draw(page),
            Self::Curve(figure) => figure.draw(page),
            Self::Heat(figure) => figure.draw(page),
        }
    }
}

/// Square points beyond which a page is refused rather than running out of
/// memory.
const LARGEST: u64 = 5_000_000;

/// The figure as the bytes of a file.
///
/// # Errors
///
/// Returns an error if the page is too large or plotters or the PNG encoder
/// fails. Odd data is not an error: what cannot be drawn is left out.
pub fn render(figure: &Figure, format: Format) -> Result<Vec<u8>, FigureError> {
    encode(&figure.draw(Page::Wide), format)
}

/// As [`render`], laid out for a phone: 400 points wide, in type of the same
/// size.
///
/// # Errors
///
/// As [`render`].
pub fn render_narrow(figure: &Figure, format: Format) -> Result<Vec<u8>, FigureError> {
    encode(&figure.draw(Page::Narrow), format)
}

/// Refuses a figure whose page would be too large.
///
/// # Errors
///
/// Returns an error if it is.
pub fn check_size(figure: &Figure) -> Result<(), FigureError> {
    refuse_large(&figure.draw(Page::Wide))
}

fn refuse_large(canvas: &Canvas) -> Result<(), FigureError> {
    match canvas.size() {
        (width, height) if u64::from(width) * u64::from(height) > LARGEST => {
            Err(FigureError::TooLarge(width, height))
        }
        _ => Ok(()),
    }
}

fn encode(canvas: &Canvas, format: Format) -> Result<Vec<u8>, FigureError> {
    refuse_large(canvas)?;
    match format {
        Format::Svg => Ok(svg::encode(canvas)),
        Format::Png => raster::encode(canvas),
        Format::Pdf => pdf::encode(canvas),
    }
}

#[cfg(test)]
mod tests;
