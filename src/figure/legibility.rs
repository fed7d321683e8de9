//! Whether the texts of a figure can be read.

use super::backend::{Shape, Text};
use super::page::Rect;
use super::{Body, Figure, FigureError, Theme, Width};

/// The box the ink of a text stays in.
fn bounds(text: &Text) -> Rect {
    let (x, y) = (f64::from(text.at.0), f64::from(text.at.1));
    let length = text.font.width(&text.content);
    let (ascent, size) = (0.76 * text.font.size, text.font.size);
    if text.upwards {
        Rect { left: x - ascent, top: y - length, width: size, height: length }
    } else {
        Rect { left: x, top: y - ascent, width: length, height: size }
    }
}

/// Texts of a drawing that are off the page, over another text, or over data: lines and marks in the
/// colours of mechanisms. Thin lines lead from a label to its curve.
///
/// # Errors
///
/// Returns an error if the figure cannot be drawn.
pub fn misplaced_texts(figure: &Figure, width: Width) -> Result<Vec<String>, FigureError> {
    let drawing = figure.draw(width)?;
    let texts: Vec<(&str, Rect)> = (drawing.shapes.iter())
        .filter_map(|shape| match shape {
            Shape::Text(text) => Some((text.content.as_str(), bounds(text))),
            _ => None,
        })
        .collect();
    let (right, bottom) = (f64::from(drawing.size.0), f64::from(drawing.size.1));
    let leader = Theme::new(width).units(0.75) as u32;
    let mut faults = Vec::new();
    for (i, (content, place)) in texts.iter().enumerate() {
        let inside = place.left >= 0.0 && place.top >= 0.0;
        if !inside || place.right() > right || place.bottom() > bottom + 2.0 {
            faults.push(format!("{content} is off the page"));
        }
        // Rounding moves a text by a unit.
        let ink = place.grown(-2.0);
        for (other, _) in texts[i + 1..].iter().filter(|(_, other)| other.grown(-2.0).meets(ink)) {
            faults.push(format!("{content} is over {other}"));
        }
        // On a map, areas lie under their names.
        let data = drawing.shapes.iter().filter(|_| !matches!(figure.body, Body::Heat(_)));
        for shape in data {
            let (path, radius): (&[(i32, i32)], f64) = match shape {
                Shape::Path { points, colour, width }
                    if !colour.is_neutral() && *width > leader =>
                {
                    (points, 0.0)
                }
                Shape::Circle { centre, radius, .. } => {
                    (std::slice::from_ref(centre), 0.6 * f64::from(*radius))
                }
                _ => continue,
            };
            let ink = place.grown(radius - 0.1 * place.height.min(place.width));
            let at = |(x, y): (i32, i32)| (f64::from(x), f64::from(y));
            let lone = path.iter().take(1).map(|point| (*point, *point));
            let segments = path.windows(2).map(|pair| (pair[0], pair[1])).chain(lone);
            if segments.into_iter().any(|(a, b)| ink.clip(at(a), at(b)).is_some()) {
                faults.push(format!("{content} at {place:?} is over {shape:?}"));
                break;
            }
        }
    }
    Ok(faults)
}
