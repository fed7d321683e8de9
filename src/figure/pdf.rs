//! Replaying a canvas as a page of PDF: vectors stay vectors, and text can be
//! searched and copied. There is no date and no identifier in it, so that
//! equal figures are equal files.

use pdf_writer::types::LineJoinStyle;
use pdf_writer::{Content, Filter, Finish, Name, Pdf, Rect, Ref, Str};

use super::FigureError;
use super::canvas::{Canvas, Dash, Pen, Shape, Text};
use super::geometry::Point;
use super::palette::{Colour, INK, WHITE};
use super::pdffont::Embedded;

const CATALOG: Ref = Ref::new(1);
const PAGES: Ref = Ref::new(2);
const PAGE: Ref = Ref::new(3);
const CONTENT: Ref = Ref::new(4);
/// The first object of the fonts, which come last.
const FONTS: i32 = 5;

/// How far from the corner, in radii, the handles of a quarter circle are.
const HANDLE: f64 = 0.552_284_75;

/// The canvas as a PDF file of one page.
pub(super) fn encode(canvas: &Canvas) -> Result<Vec<u8>, FigureError> {
    let (width, height) = canvas.size();
    let size = Rect::new(0.0, 0.0, width as f32, height as f32);
    let fonts = [false, true].map(|bold| Embedded::new(canvas, bold));
    let mut pdf = Pdf::new();
    pdf.catalog(CATALOG).pages(PAGES);
    pdf.pages(PAGES).kids([PAGE]).count(1);
    let mut page = pdf.page(PAGE);
    page.parent(PAGES).media_box(size).contents(CONTENT);
    let mut resources = page.resources();
    let mut names = resources.fonts();
    for (font, first) in fonts.iter().zip(font_objects()) {
        names.pair(font.name(), first);
    }
    names.finish();
    resources.finish();
    page.finish();
    let content = compress(&content(canvas, &fonts));
    pdf.stream(CONTENT, &content).filter(Filter::FlateDecode);
    for (font, first) in fonts.iter().zip(font_objects()) {
        font.write(&mut pdf, first)?;
    }
    Ok(pdf.finish())
}

/// The first object of each font.
fn font_objects() -> impl Iterator<Item = Ref> {
    (0..).map(|i| Ref::new(FONTS + i * Embedded::OBJECTS))
}

pub(super) fn compress(bytes: &[u8]) -> Vec<u8> {
    miniz_oxide::deflate::compress_to_vec_zlib(bytes, 7)
}

/// The operators that draw all shapes.
fn content(canvas: &Canvas, fonts: &[Embedded; 2]) -> Vec<u8> {
    let (width, height) = canvas.size();
    let mut painter = Painter {
        content: Content::new(),
        fonts,
        fill: INK,
        pen: Pen { colour: INK, width: 0.0, dash: Dash::None },
    };
    // Downwards, as the canvas has it.
    painter.content.transform([1.0, 0.0, 0.0, -1.0, 0.0, height as f32]);
    painter.content.set_line_join(LineJoinStyle::RoundJoin);
    painter.set_fill(WHITE);
    painter.content.rect(0.0, 0.0, width as f32, height as f32).fill_nonzero();
    for shape in &canvas.shapes {
        painter.draw(shape);
    }
    painter.content.finish().to_vec()
}

/// Writes operators, and changes colours and pens only when they change.
struct Painter<'a> {
    content: Content,
    fonts: &'a [Embedded; 2],
    fill: Colour,
    pen: Pen,
}

impl Painter<'_> {
    fn draw(&mut self, shape: &Shape) {
        match shape {
            Shape::Stroke { path, pen } => {
                self.set_pen(*pen);
                self.outline(path);
                self.content.stroke();
            }
            Shape::Fill { path, colour } => {
                self.set_fill(*colour);
                self.outline(path);
                self.content.fill_nonzero();
            }
            Shape::Circle { centre, radius, colour, ring: None } => {
                self.set_fill(*colour);
                self.circle(*centre, *radius);
                self.content.fill_nonzero();
            }
            Shape::Circle { centre, radius, colour, ring: Some(width) } => {
                self.set_pen(Pen { colour: *colour, width: *width, dash: Dash::None });
                self.circle(*centre, *radius);
                self.content.close_and_stroke();
            }
            Shape::Text(text) => self.text(text),
        }
    }

    fn set_fill(&mut self, colour: Colour) {
        if colour != self.fill {
            let [red, green, blue] = shares(colour);
            self.content.set_fill_rgb(red, green, blue);
            self.fill = colour;
        }
    }

    fn set_pen(&mut self, pen: Pen) {
        if pen != self.pen {
            let [red, green, blue] = shares(pen.colour);
            self.content.set_stroke_rgb(red, green, blue).set_line_width(number(pen.width));
            self.content.set_dash_pattern(pen.pattern().into_iter().map(number), 0.0);
            self.pen = pen;
        }
    }

    fn outline(&mut self, path: &[Point]) {
        for (i, (x, y)) in path.iter().map(|(x, y)| (number(*x), number(*y))).enumerate() {
            if i == 0 {
                self.content.move_to(x, y);
            } else {
                self.content.line_to(x, y);
            }
        }
        if path.is_empty() {
            self.content.move_to(0.0, 0.0);
        }
    }

    fn circle(&mut self, (x, y): Point, radius: f64) {
        let at = |(dx, dy): Point| (number(x + radius * dx), number(y + radius * dy));
        let (start_x, start_y) = at((1.0, 0.0));
        self.content.move_to(start_x, start_y);
        let mut corner = (1.0, 0.0);
        for _ in 0..4 {
            let next = (-corner.1, corner.0);
            let (x1, y1) = at((corner.0 + HANDLE * next.0, corner.1 + HANDLE * next.1));
            let (x2, y2) = at((next.0 + HANDLE * corner.0, next.1 + HANDLE * corner.1));
            let (x3, y3) = at(next);
            self.content.cubic_to(x1, y1, x2, y2, x3, y3);
            corner = next;
        }
    }

    fn text(&mut self, text: &Text) {
        self.set_fill(text.colour);
        let font = &self.fonts[usize::from(text.font.bold)];
        let (x, y) = text.at;
        let lead = text.lead();
        let matrix = if text.upwards {
            [0.0, -1.0, -1.0, 0.0, number(x), number(y + lead)]
        } else {
            [1.0, 0.0, 0.0, -1.0, number(x - lead), number(y)]
        };
        self.content.begin_text().set_font(font.name(), number(text.font.size));
        self.content.set_text_matrix(matrix).show(Str(&font.encode(&text.content))).end_text();
    }
}

fn shares(colour: Colour) -> [f32; 3] {
    let (red, green, blue) = colour.rgb;
    [red, green, blue].map(|share| (f32::from(share) / 255.0 * 1000.0).round() / 1000.0)
}

/// Two decimals; 0 for what is infinite or not a number.
fn number(value: f64) -> f32 {
    if value.is_finite() { ((value * 100.0).round() / 100.0) as f32 } else { 0.0 }
}

/// The name by which the page calls a weight.
pub(super) fn resource_name(bold: bool) -> Name<'static> {
    if bold { Name(b"B") } else { Name(b"R") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::canvas::Anchor;
    use crate::figure::font::Font;

    fn page() -> Canvas {
        let mut canvas = Canvas::new(100.0);
        canvas.height = 50.0;
        canvas.disc((20.0, 20.0), 3.0, INK);
        canvas.stroke(Vec::new(), INK, 1.0);
        canvas.line((f64::NAN, 1.0), (2.0, f64::INFINITY), INK, 1.0);
        canvas.trace(
            vec![(0.0, 0.0), (9.0, 9.0)],
            Pen { colour: INK, width: 1.0, dash: Dash::Dashed },
        );
        canvas.text("ε ≤ 1, ⌊n²⌋", Font::regular(9.0), INK, (5.0, 9.0), Anchor::Start);
        canvas.upwards("δγφ 😀", Font::bold(9.0), INK, (5.0, 40.0), Anchor::Middle);
        canvas
    }

    #[test]
    fn fonts_are_embedded_with_their_letters() {
        let file = encode(&page()).expect("a file");
        let has = |what: &[u8]| file.windows(what.len()).any(|bytes| bytes == what);
        assert!(file.starts_with(b"%PDF-"));
        assert!(has(b"+DejaVuSans") && has(b"+DejaVuSans-Bold"));
        assert!(has(b"/FontFile2") && has(b"/ToUnicode"));
        assert!(!has(b"/CreationDate") && !has(b"/ID"));
        assert!(file.len() < 30_000, "only the letters in use: {}", file.len());
    }

    #[test]
    fn numbers_are_written_as_they_are() {
        let fonts = [false, true].map(|bold| Embedded::new(&page(), bold));
        let content = String::from_utf8_lossy(&content(&page(), &fonts)).into_owned();
        assert!(content.contains("1 0 0 -1 0 50 cm"), "{content}");
        assert!(content.contains("[3.4 1.9] 0 d"), "{content}");
        assert!(!content.contains("NaN") && !content.contains("inf"), "{content}");
    }
}
