//! Replaying a canvas as SVG: vectors stay vectors, text stays text.

use plotters::backend::{DrawingBackend, SVGBackend};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color, FontTransform, ShapeStyle, TextStyle};

use super::FigureError;
use super::canvas::{Anchor, Canvas, Shape, Text};
use super::font;
use super::geometry::Point;
use super::palette::{Colour, WHITE};

/// plotters writes whole numbers only, so that a point is this many units.
const UNITS: f64 = 20.0;
/// plotters divides the size of a font by this when it writes it.
const SIZE_RATIO: f64 = 1.24;
/// Below a text's upper edge, in ems, plotters puts the baseline.
const BASELINE: f64 = 0.76;

/// The canvas as an SVG document.
pub(super) fn encode(canvas: &Canvas) -> Result<Vec<u8>, FigureError> {
    font::register()?;
    let (width, height) = canvas.size();
    let units = UNITS as u32;
    let mut document = String::new();
    {
        let mut backend = SVGBackend::with_string(&mut document, (width * units, height * units));
        let page = (unit(f64::from(width)), unit(f64::from(height)));
        backend.draw_rect((0, 0), page, &style(WHITE, 1.0), true).map_err(FigureError::drawing)?;
        for shape in &canvas.shapes {
            draw(&mut backend, shape)?;
        }
        backend.present().map_err(FigureError::drawing)?;
    }
    Ok(resize(&document, width, height).into_bytes())
}

/// Gives the document its size in points instead of units.
fn resize(document: &str, width: u32, height: u32) -> String {
    let body = document.split_once('\n').map_or("", |(_, body)| body);
    let (x, y) = (width * UNITS as u32, height * UNITS as u32);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {x} {y}\" stroke-linejoin=\"round\">\n{body}"
    )
}

fn draw(backend: &mut SVGBackend<'_>, shape: &Shape) -> Result<(), FigureError> {
    let drawn = match shape {
        Shape::Stroke { path, colour, width } => {
            backend.draw_path(units(path), &style(*colour, *width))
        }
        Shape::Fill { path, colour } => backend.fill_polygon(units(path), &style(*colour, 1.0)),
        Shape::Circle { centre, radius, colour, ring } => {
            let pen = style(*colour, ring.unwrap_or(0.0));
            let radius = unit(*radius).unsigned_abs();
            backend.draw_circle(whole(*centre), radius, &pen, ring.is_none())
        }
        Shape::Text(text) => return draw_text(backend, text),
    };
    drawn.map_err(FigureError::drawing)
}

fn draw_text(backend: &mut SVGBackend<'_>, text: &Text) -> Result<(), FigureError> {
    let (x, y) = text.at;
    let above = BASELINE * text.font.size;
    let (corner, transform) = if text.upwards {
        ((x - above, y), FontTransform::Rotate270)
    } else {
        ((x, y - above), FontTransform::None)
    };
    let horizontal = match text.anchor {
        Anchor::Start => HPos::Left,
        Anchor::Middle => HPos::Center,
        Anchor::End => HPos::Right,
    };
    let face = text.font.describe(text.font.size * UNITS * SIZE_RATIO).transform(transform);
    let ink = text.colour.paint();
    let style = TextStyle::from(face).color(&ink).pos(Pos::new(horizontal, VPos::Top));
    backend.draw_text(&text.content, &style, whole(corner)).map_err(FigureError::drawing)
}

fn style(colour: Colour, width: f64) -> ShapeStyle {
    ShapeStyle {
        color: colour.paint().to_rgba(),
        filled: true,
        stroke_width: unit(width).unsigned_abs(),
    }
}

fn unit(length: f64) -> i32 {
    (length * UNITS).round() as i32
}

fn whole((x, y): Point) -> (i32, i32) {
    (unit(x), unit(y))
}

fn units(path: &[Point]) -> Vec<(i32, i32)> {
    path.iter().copied().map(whole).collect()
}
