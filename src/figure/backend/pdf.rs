//! PDF as a backend of plotters: one page, its vectors stay vectors, and its text can be searched and
//! copied. There is no date and no identifier in it, so that equal figures are equal files.

use std::convert::Infallible;

use pdf_writer::types::LineJoinStyle;
use pdf_writer::{Content, Filter, Finish, Pdf, Rect, Ref, Str, TextStr};
use plotters_backend::{
    BackendColor, BackendCoord as At, BackendStyle as Style, BackendTextStyle, DrawingBackend,
    FontTransform,
};

use super::pdf_font::Embedded;
use super::{Drawn, Recording, font_of, text_style};
use crate::theme::UNITS_PER_POINT;
use crate::{FigureError, Head};

const CATALOG: Ref = Ref::new(1);
const PAGES: Ref = Ref::new(2);
const PAGE: Ref = Ref::new(3);
const CONTENT: Ref = Ref::new(4);
const INFO: Ref = Ref::new(5);
/// The first object of the fonts, which come last.
const FONTS: i32 = 6;

/// How far from the corner, in radii, the handles of a quarter circle are.
const HANDLE: f32 = 0.552_284_8;

/// The recording as a PDF file of one page.
pub fn encode(recording: &Recording, head: &Head) -> Result<Vec<u8>, FigureError> {
    let mut backend = PdfBackend::new(recording.size);
    recording.replay(&mut backend, 1.0, |backend, text| {
        backend.draw_text(&text.content, &text_style(text, text.font.size), text.at)
    })?;
    backend.finish(head)
}

pub fn compress(bytes: &[u8]) -> Vec<u8> {
    miniz_oxide::deflate::compress_to_vec_zlib(bytes, 7)
}

/// Writes the operators of one page. Texts are placed by the start of their baseline.
struct PdfBackend {
    size: (u32, u32),
    content: Content,
    fonts: [Embedded; 2],
    /// What the operators so far have set, not to set it again.
    fill: Option<(u8, u8, u8)>,
    stroke: Option<((u8, u8, u8), u32)>,
}

impl PdfBackend {
    fn new(size: (u32, u32)) -> Self {
        let mut content = Content::new();
        let point = (1.0 / UNITS_PER_POINT) as f32;
        let height = size.1 as f32 * point;
        // Units downwards, as plotters has them.
        content.transform([point, 0.0, 0.0, -point, 0.0, height]);
        content.set_line_join(LineJoinStyle::RoundJoin);
        let fonts = [false, true].map(Embedded::new);
        Self { size, content, fonts, fill: None, stroke: None }
    }

    fn finish(self, head: &Head) -> Result<Vec<u8>, FigureError> {
        let points = |units: u32| (f64::from(units) / UNITS_PER_POINT) as f32;
        let size = Rect::new(0.0, 0.0, points(self.size.0), points(self.size.1));
        let mut pdf = Pdf::new();
        pdf.catalog(CATALOG).pages(PAGES);
        let mut info = pdf.document_info(INFO);
        info.title(TextStr(&head.title)).subject(TextStr(&head.subject()));
        info.creator(TextStr(&head.maker));
        info.finish();
        pdf.pages(PAGES).kids([PAGE]).count(1);
        let mut page = pdf.page(PAGE);
        page.parent(PAGES).media_box(size).contents(CONTENT);
        let mut resources = page.resources();
        let mut names = resources.fonts();
        let objects = |i: usize| Ref::new(FONTS + i as i32 * Embedded::OBJECTS);
        for (i, font) in self.fonts.iter().enumerate() {
            names.pair(font.name(), objects(i));
        }
        names.finish();
        resources.finish();
        page.finish();
        let content = compress(&self.content.finish());
        pdf.stream(CONTENT, &content).filter(Filter::FlateDecode);
        for (i, font) in self.fonts.iter().enumerate() {
            font.write(&mut pdf, objects(i))?;
        }
        Ok(pdf.finish())
    }

    fn set_fill(&mut self, colour: BackendColor) {
        if self.fill != Some(colour.rgb) {
            let [red, green, blue] = shares(colour);
            self.content.set_fill_rgb(red, green, blue);
            self.fill = Some(colour.rgb);
        }
    }

    fn set_stroke<S: Style>(&mut self, style: &S) {
        let wanted = (style.color().rgb, style.stroke_width());
        if self.stroke != Some(wanted) {
            let [red, green, blue] = shares(style.color());
            self.content.set_stroke_rgb(red, green, blue).set_line_width(wanted.1 as f32);
            self.stroke = Some(wanted);
        }
    }

    fn outline(&mut self, path: impl IntoIterator<Item = At>) {
        for (i, (x, y)) in path.into_iter().map(|(x, y)| (x as f32, y as f32)).enumerate() {
            match i {
                0 => self.content.move_to(x, y),
                _ => self.content.line_to(x, y),
            };
        }
    }
}

fn shares(colour: BackendColor) -> [f32; 3] {
    let (red, green, blue) = colour.rgb;
    [red, green, blue].map(|share| (f32::from(share) / 255.0 * 1000.0).round() / 1000.0)
}

impl DrawingBackend for PdfBackend {
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
        self.set_fill(colour);
        self.content.rect(x as f32, y as f32, 1.0, 1.0).fill_nonzero();
        Ok(())
    }

    fn draw_line<S: Style>(&mut self, from: At, to: At, style: &S) -> Drawn {
        self.draw_path([from, to], style)
    }

    fn draw_rect<S: Style>(&mut self, from: At, to: At, style: &S, fill: bool) -> Drawn {
        let corners = [from, (to.0, from.1), to, (from.0, to.1), from];
        match fill {
            true => self.fill_polygon(corners, style),
            false => self.draw_path(corners, style),
        }
    }

    fn draw_path<S: Style, I: IntoIterator<Item = At>>(&mut self, path: I, style: &S) -> Drawn {
        self.set_stroke(style);
        self.outline(path);
        self.content.stroke();
        Ok(())
    }

    fn draw_circle<S: Style>(&mut self, centre: At, radius: u32, style: &S, fill: bool) -> Drawn {
        match fill {
            true => self.set_fill(style.color()),
            false => self.set_stroke(style),
        }
        let (x, y, radius) = (centre.0 as f32, centre.1 as f32, radius as f32);
        let at = |(dx, dy): (f32, f32)| (x + radius * dx, y + radius * dy);
        self.content.move_to(x + radius, y);
        let mut corner = (1.0, 0.0);
        for _ in 0..4 {
            let next = (-corner.1, corner.0);
            let (x1, y1) = at((corner.0 + HANDLE * next.0, corner.1 + HANDLE * next.1));
            let (x2, y2) = at((next.0 + HANDLE * corner.0, next.1 + HANDLE * corner.1));
            let (x3, y3) = at(next);
            self.content.cubic_to(x1, y1, x2, y2, x3, y3);
            corner = next;
        }
        match fill {
            true => self.content.fill_nonzero(),
            false => self.content.close_and_stroke(),
        };
        Ok(())
    }

    fn fill_polygon<S: Style, I: IntoIterator<Item = At>>(&mut self, path: I, style: &S) -> Drawn {
        self.set_fill(style.color());
        self.outline(path);
        self.content.fill_nonzero();
        Ok(())
    }

    fn draw_text<S: BackendTextStyle>(&mut self, text: &str, style: &S, (x, y): At) -> Drawn {
        self.set_fill(style.color());
        let font = &mut self.fonts[usize::from(font_of(style).bold)];
        let (x, y) = (x as f32, y as f32);
        let matrix = match style.transform() {
            FontTransform::Rotate270 => [0.0, -1.0, -1.0, 0.0, x, y],
            _ => [1.0, 0.0, 0.0, -1.0, x, y],
        };
        let code = font.encode(text);
        self.content.begin_text().set_font(font.name(), style.size() as f32);
        self.content.set_text_matrix(matrix).show(Str(&code)).end_text();
        Ok(())
    }
}
