//! A recording as SVG for a page of HTML. It is small: shapes of the same look that follow each other
//! are one path, and the style sheet of the page has what all drawings share.

use std::collections::BTreeMap;
use std::fmt::Write;

use plotters_backend::BackendCoord as At;

use super::{Recording, Shape, Text};
use crate::theme::Colour;

/// How the shapes of one path look.
#[derive(Clone, Copy, PartialEq)]
enum Look {
    /// Filled, with crisp edges.
    Area(Colour),
    Fill(Colour),
    /// A line of this width.
    Line(Colour, u32),
    /// Points as round dots of this width.
    Dots(Colour, u32),
}

/// The drawing as SVG, from its first tag to its last. Paper is left to the page.
pub fn encode(recording: &Recording) -> String {
    let (width, height) = recording.size;
    let mut out = format!("<svg viewBox=\"0 0 {width} {height}\" fill=\"none\">");
    let starts = recording.tips.iter().map(|(from, words)| (*from, words.as_str()));
    let starts: Vec<(usize, &str)> = std::iter::once((0, "")).chain(starts).collect();
    let ends = starts.iter().skip(1).map(|(from, _)| *from).chain([recording.shapes.len()]);
    for ((from, words), to) in starts.iter().zip(ends) {
        let drawn = draw(&recording.shapes[*from..to]);
        if words.is_empty() || drawn.is_empty() {
            out += &drawn;
        } else {
            write!(out, "<g><title>{}</title>{drawn}</g>", escaped(words)).ok();
        }
    }
    out + "</svg>"
}

fn draw(shapes: &[Shape]) -> String {
    let (mut out, mut open, mut path) = (String::new(), None, String::new());
    let both =
        |a: &Shape, b: &Shape| matches!((a, b), (Shape::Rectangle { .. }, Shape::Rectangle { .. }));
    for run in shapes.chunk_by(both) {
        for shape in by_colour(run) {
            let Some((look, piece)) = outline(shape) else {
                close(&mut out, open.take(), &mut path);
                if let Shape::Text(text) = shape {
                    out += &element(text);
                }
                continue;
            };
            if open != Some(look) {
                close(&mut out, open.replace(look), &mut path);
            }
            path += &piece;
        }
    }
    close(&mut out, open, &mut path);
    out
}

/// Rectangles of the same colour one after the other, if no two overlap; otherwise as they are.
fn by_colour(run: &[Shape]) -> Vec<&Shape> {
    let places: Vec<(At, At)> = run.iter().filter_map(corners).collect();
    let meet =
        |((a, b), (c, d)): (&(At, At), &(At, At))| a.0 < d.0 && c.0 < b.0 && a.1 < d.1 && c.1 < b.1;
    let apart = |(i, one)| places[i + 1..].iter().all(|other| !meet((one, other)));
    if places.len() < run.len() || !places.iter().enumerate().all(apart) {
        return run.iter().collect();
    }
    let mut groups: BTreeMap<Option<Colour>, Vec<&Shape>> = BTreeMap::new();
    for shape in run {
        let colour = match shape {
            Shape::Rectangle { colour, .. } => Some(*colour),
            _ => None,
        };
        groups.entry(colour).or_default().push(shape);
    }
    groups.into_values().flatten().collect()
}

fn corners(shape: &Shape) -> Option<(At, At)> {
    match shape {
        Shape::Rectangle { from, to, .. } => {
            Some(((from.0.min(to.0), from.1.min(to.1)), (from.0.max(to.0), from.1.max(to.1))))
        }
        _ => None,
    }
}

fn close(out: &mut String, look: Option<Look>, path: &mut String) {
    let Some(look) = look.filter(|_| !path.is_empty()) else { return };
    let style = match look {
        Look::Area(colour) => format!("class=\"a\" fill=\"{}\"", colour.code()),
        Look::Fill(colour) => format!("fill=\"{}\"", colour.code()),
        Look::Line(colour, width) => {
            format!("stroke=\"{}\" stroke-width=\"{width}\"", colour.code())
        }
        Look::Dots(colour, width) => {
            format!("class=\"d\" stroke=\"{}\" stroke-width=\"{width}\"", colour.code())
        }
    };
    write!(out, "<path {style} d=\"{path}\"/>").ok();
    path.clear();
}

/// The look of a shape and its outline as part of a path; none for texts.
fn outline(shape: &Shape) -> Option<(Look, String)> {
    Some(match shape {
        Shape::Path { points, colour, width } => (Look::Line(*colour, *width), through(points)),
        Shape::Polygon { points, colour } => (Look::Fill(*colour), through(points) + "z"),
        Shape::Rectangle { from, to, colour } => {
            let (across, down) = (to.0 - from.0, to.1 - from.1);
            let path = format!("M{} {}h{across}v{down}h{}z", from.0, from.1, -across);
            (Look::Area(*colour), path)
        }
        Shape::Circle { centre: (x, y), radius, colour, ring: None } => {
            (Look::Dots(*colour, 2 * radius), format!("M{x} {y}h0"))
        }
        Shape::Circle { centre: (x, y), radius: r, colour, ring: Some(width) } => {
            let (left, across) = (x - *r as i32, 2 * *r as i32);
            let path = format!("M{left} {y}a{r} {r} 0 1 0 {across} 0a{r} {r} 0 1 0{} 0z", -across);
            (Look::Line(*colour, *width), path)
        }
        Shape::Text(_) => return None,
    })
}

/// A path through these points: the first as a place, the others as steps.
fn through(points: &[At]) -> String {
    let mut path = String::new();
    let Some(first) = points.first() else { return path };
    write!(path, "M{} {}", first.0, first.1).ok();
    for (place, pair) in points.windows(2).enumerate() {
        let (across, down) = (pair[1].0 - pair[0].0, pair[1].1 - pair[0].1);
        // A minus sign separates numbers as well as a space.
        let space = |number: i32| if number < 0 { "" } else { " " };
        let before = if place == 0 { "l" } else { space(across) };
        write!(path, "{before}{across}{}{down}", space(down)).ok();
    }
    path
}

fn element(text: &Text) -> String {
    let Text { content, font, colour, at: (x, y), upwards } = text;
    let weight = if font.bold { " font-weight=\"700\"" } else { "" };
    let turned =
        if *upwards { format!(" transform=\"rotate(-90 {x} {y})\"") } else { String::new() };
    format!(
        "<text x=\"{x}\" y=\"{y}\" font-size=\"{:.0}\"{weight}{turned} fill=\"{}\">{}</text>",
        font.size,
        colour.code(),
        escaped(content)
    )
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::font::Font;
    use crate::theme::{INK, PAPER, TEXT};

    fn rectangle(left: i32, colour: Colour) -> Shape {
        Shape::Rectangle { from: (left, 0), to: (left + 10, 5), colour }
    }

    #[test]
    fn shapes_of_one_look_are_one_path() {
        let mut drawing = Recording::new((100, 50));
        let path = |points: &[At]| Shape::Path { points: points.into(), colour: INK, width: 3 };
        drawing.shapes = vec![path(&[(1, 2), (4, 1), (9, 9)]), path(&[(5, 5), (5, 5)])];
        let svg = drawing.inline();
        assert!(
            svg.contains(
                "<path stroke=\"#333333\" stroke-width=\"3\" d=\"M1 2l3-1 5 8M5 5l0 0\"/>"
            ),
            "{svg}"
        );
    }

    #[test]
    fn rectangles_are_sorted_by_colour_only_if_they_do_not_overlap() {
        let count = |step: i32| {
            let mut drawing = Recording::new((100, 50));
            let colours = [INK, PAPER, INK, PAPER];
            drawing.shapes =
                (0..).zip(colours).map(|(i, colour)| rectangle(step * i, colour)).collect();
            drawing.inline().matches("<path").count()
        };
        assert_eq!((count(10), count(9)), (2, 4));
    }

    #[test]
    fn words_stand_with_what_they_describe_and_are_escaped() {
        let mut drawing = Recording::new((100, 50));
        drawing.shapes.push(rectangle(0, PAPER));
        drawing.describe("a < b & c".into());
        drawing.shapes.push(rectangle(20, INK));
        drawing.describe(String::new());
        let font = Font { size: 11.4, bold: true };
        let text = Text { content: "<i>".into(), font, colour: TEXT, at: (7, 8), upwards: true };
        drawing.shapes.push(Shape::Text(text));
        let svg = drawing.inline();
        let expected = "<g><title>a &lt; b &amp; c</title><path class=\"a\" fill=\"#333333\" \
                        d=\"M20 0h10v5h-10z\"/></g><text x=\"7\" y=\"8\" font-size=\"11\" \
                        font-weight=\"700\" transform=\"rotate(-90 7 8)\" fill=\"#1A1A1A\">\
                        &lt;i&gt;</text></svg>";
        assert!(svg.ends_with(expected), "{svg}");
    }
}
