//! A recording as SVG, written by plotters' own backend. Vectors stay vectors, text stays text.

use plotters::backend::SVGBackend;
use plotters_backend::DrawingBackend;

use super::{Drawn, Recording, Text, text_style};
use crate::FigureError;
use crate::theme::UNITS_PER_POINT;

/// The recording as an SVG document. It is as wide as the page in points, and its view box counts
/// units: plotters places things at whole numbers, which are fine enough so.
pub fn encode(recording: &Recording) -> Result<Vec<u8>, FigureError> {
    let (width, height) = recording.size;
    let mut document = String::new();
    let mut backend = SVGBackend::with_string(&mut document, recording.size);
    recording.replay(&mut backend, 1.0, draw_text)?;
    drop(backend);
    let head = format!("<svg width=\"{width}\" height=\"{height}\" ");
    let [width, height] = [width, height].map(|units| f64::from(units) / UNITS_PER_POINT);
    let sized =
        format!("<svg width=\"{width}pt\" height=\"{height}pt\" stroke-linejoin=\"round\" ");
    // Everything is opaque.
    Ok(document.replacen(&head, &sized, 1).replace(" opacity=\"1\"", "").into_bytes())
}

/// plotters divides the size of a font, and moves text down from its top, by these.
fn draw_text(backend: &mut SVGBackend, text: &Text) -> Drawn<std::io::Error> {
    const SIZE: f64 = 1.24;
    const TOP: f64 = 0.76;
    let top = (TOP * text.font.size).round() as i32;
    let (x, y) = text.at;
    let corner = if text.upwards { (x - top, y) } else { (x, y - top) };
    backend.draw_text(&text.content, &text_style(text, SIZE * text.font.size), corner)
}
