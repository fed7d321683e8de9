//! Replaying a canvas as SVG: vectors stay vectors, text stays text.
//!
//! Written by hand, since plotters knows no broken lines and spends a hundred
//! bytes on every piece of one. Lines drawn one after the other with the same
//! pen, and neighbouring areas of the same colour, share one path.

use std::fmt::Write;

use super::canvas::{Anchor, Canvas, Pen, Shape, Text};
use super::font::FAMILY;
use super::geometry::{Point, is_clockwise};
use super::palette::{Colour, WHITE};

/// The canvas as an SVG document.
pub(super) fn encode(canvas: &Canvas) -> Vec<u8> {
    let (width, height) = canvas.size();
    let mut document = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" stroke-linejoin=\"round\" font-family=\"{FAMILY}\">\n\
         <rect width=\"{width}\" height=\"{height}\" fill=\"{}\"/>\n",
        hex(WHITE)
    );
    for run in canvas.shapes.chunk_by(share_a_path) {
        document += &element(run);
    }
    document += "</svg>\n";
    document.into_bytes()
}

/// Whether two shapes look the same drawn as one path: colours are opaque.
fn share_a_path(a: &Shape, b: &Shape) -> bool {
    match (a, b) {
        (Shape::Stroke { pen: a, .. }, Shape::Stroke { pen: b, .. }) => a == b,
        (Shape::Fill { path: first, colour: a }, Shape::Fill { path: second, colour: b }) => {
            // Where they overlap, outlines of opposite sense would leave a hole.
            a == b && is_clockwise(first) == is_clockwise(second)
        }
        _ => false,
    }
}

/// Shapes that share a path, or a single one, as one element.
fn element(run: &[Shape]) -> String {
    match run.first() {
        Some(Shape::Stroke { pen, .. }) => {
            format!("<path fill=\"none\"{} d=\"{}\"/>\n", stroke(*pen), outlines(run, ""))
        }
        Some(Shape::Fill { colour, .. }) => {
            format!("<path fill=\"{}\" d=\"{}\"/>\n", hex(*colour), outlines(run, "z"))
        }
        Some(Shape::Circle { centre, radius, colour, ring }) => {
            circle(*centre, *radius, *colour, *ring)
        }
        Some(Shape::Text(text)) => write_text(text),
        None => String::new(),
    }
}

fn stroke(pen: Pen) -> String {
    let mut attributes =
        format!(" stroke=\"{}\" stroke-width=\"{}\"", hex(pen.colour), number(pen.width));
    let pattern: Vec<String> = pen.pattern().into_iter().map(number).collect();
    if !pattern.is_empty() {
        attributes += &format!(" stroke-dasharray=\"{}\"", pattern.join(" "));
    }
    attributes
}

/// The path data of all outlines, each closed by `close`.
fn outlines(run: &[Shape], close: &str) -> String {
    let mut data = String::new();
    for shape in run {
        if let Shape::Stroke { path, .. } | Shape::Fill { path, .. } = shape {
            data += &outline(path);
            data += close;
        }
    }
    data
}

/// Every step is taken from the rounded point before it: steps are shorter
/// than places, and errors do not add up.
fn outline(path: &[Point]) -> String {
    let mut data = String::new();
    let mut before: Option<(i64, i64)> = None;
    for point in path.iter().map(|(x, y)| (hundredths(*x), hundredths(*y))) {
        match before {
            None => append(&mut data, 'M', point),
            // Steps of no length matter only where they are all there is.
            Some(last) if last == point && path.len() > 2 => {}
            Some((x, y)) => append(&mut data, 'l', (point.0 - x, point.1 - y)),
        }
        before = Some(point);
    }
    data
}

fn append(data: &mut String, command: char, (x, y): (i64, i64)) {
    let (x, y) = (decimal(x), decimal(y));
    let space = if y.starts_with('-') { "" } else { " " };
    // Writing to a string cannot fail.
    let _ = write!(data, "{command}{x}{space}{y}");
}

fn circle((x, y): Point, radius: f64, colour: Colour, ring: Option<f64>) -> String {
    let (x, y, radius, colour) = (number(x), number(y), number(radius), hex(colour));
    let paint = match ring {
        Some(width) => {
            format!("fill=\"none\" stroke=\"{colour}\" stroke-width=\"{}\"", number(width))
        }
        None => format!("fill=\"{colour}\""),
    };
    format!("<circle cx=\"{x}\" cy=\"{y}\" r=\"{radius}\" {paint}/>\n")
}

fn write_text(text: &Text) -> String {
    let (x, y) = (number(text.at.0), number(text.at.1));
    let anchor = match text.anchor {
        Anchor::Start => "",
        Anchor::Middle => " text-anchor=\"middle\"",
        Anchor::End => " text-anchor=\"end\"",
    };
    let weight = if text.font.bold { " font-weight=\"bold\"" } else { "" };
    let turn =
        if text.upwards { format!(" transform=\"rotate(-90 {x} {y})\"") } else { String::new() };
    let (size, colour) = (number(text.font.size), hex(text.colour));
    let (fit, content) = (fit(text), escape(&text.content));
    format!(
        "<text x=\"{x}\" y=\"{y}\" font-size=\"{size}\" fill=\"{colour}\"{weight}{anchor}{turn}{fit}>\
         {content}</text>\n"
    )
}

/// Where the reader has another font, longer texts must still fit the place that was measured for
/// them; the little that numbers at ticks may differ does no harm.
fn fit(text: &Text) -> String {
    let width = text.font.width(&text.content);
    match width > 40.0 {
        true => format!(" textLength=\"{}\" lengthAdjust=\"spacingAndGlyphs\"", number(width)),
        false => String::new(),
    }
}

/// As XML wants it; the two characters it cannot hold at all are left out.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped += "&amp;",
            '<' => escaped += "&lt;",
            '>' => escaped += "&gt;",
            '\u{FFFE}' | '\u{FFFF}' => {}
            c => escaped.push(c),
        }
    }
    escaped
}

fn hex(colour: Colour) -> String {
    let (red, green, blue) = colour.rgb;
    format!("#{red:02X}{green:02X}{blue:02X}")
}

fn number(value: f64) -> String {
    decimal(hundredths(value))
}

fn hundredths(value: f64) -> i64 {
    (value * 100.0).round() as i64
}

/// As few characters as will do.
fn decimal(hundredths: i64) -> String {
    let sign = if hundredths < 0 { "-" } else { "" };
    let (whole, part) = (hundredths.unsigned_abs() / 100, hundredths.unsigned_abs() % 100);
    match (whole, part) {
        (_, 0) => format!("{sign}{whole}"),
        (0, part) if part % 10 == 0 => format!("{sign}.{}", part / 10),
        (0, part) => format!("{sign}.{part:02}"),
        (whole, part) if part % 10 == 0 => format!("{sign}{whole}.{}", part / 10),
        (whole, part) => format!("{sign}{whole}.{part:02}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::canvas::Dash;
    use crate::figure::font::Font;

    fn document(canvas: &Canvas) -> String {
        String::from_utf8(encode(canvas)).expect("text")
    }

    #[test]
    fn numbers_are_short_and_have_two_decimals() {
        let written: Vec<String> =
            [0.0, -0.001, 1.0, 0.5, -0.25, 12.345, -3.1].into_iter().map(number).collect();
        assert_eq!(written, ["0", "0", "1", ".5", "-.25", "12.35", "-3.1"]);
    }

    #[test]
    fn rounding_errors_do_not_add_up() {
        let path: Vec<Point> = (0..=1000).map(|i| (f64::from(i) * 0.004, 0.0)).collect();
        let steps = outline(&path);
        let steps = steps.trim_start_matches("M0 0");
        let end: f64 = steps
            .split('l')
            .filter(|step| !step.is_empty())
            .map(|step| step.split(' ').next().and_then(|x| x.parse::<f64>().ok()).expect("x"))
            .sum();
        assert!((end - 4.0).abs() < 1e-6, "{end}");
    }

    #[test]
    fn equal_pens_share_a_path() {
        let mut canvas = Canvas::new(10.0);
        let pen = Pen { colour: WHITE, width: 1.0, dash: Dash::Dashed };
        for _ in 0..3 {
            canvas.trace(vec![(0.0, 0.0), (1.0, 1.0)], pen);
        }
        canvas.line((0.0, 0.0), (1.0, 1.0), WHITE, 1.0);
        assert_eq!(document(&canvas).matches("<path").count(), 2);
        assert_eq!(document(&canvas).matches("stroke-dasharray=\"3.4 1.9\"").count(), 1);
    }

    #[test]
    fn text_is_escaped() {
        let mut canvas = Canvas::new(10.0);
        let text = "a < b & c > d\u{FFFF}";
        canvas.text(text, Font::regular(9.0), WHITE, (0.0, 0.0), Anchor::Start);
        assert!(document(&canvas).contains(">a &lt; b &amp; c &gt; d<"));
    }
}
