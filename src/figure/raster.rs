//! Replaying a canvas as pixels.
//!
//! Shapes become polygons and polygons runs of pixels at several times the
//! final resolution; averaging blocks of pixels then smooths every edge.
//! plotters draws the letters only: nothing depends on how it treats concave
//! outlines, which notched boxes are, and lines of thousands of points are
//! filled faster here.

use plotters::backend::{BitMapBackend, DrawingBackend};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{FontTransform, TextStyle};

use super::FigureError;
use super::canvas::{Canvas, Pen, Shape, Text};
use super::font;
use super::geometry::{Point, dashes, visit_spans};
use super::palette::{Colour, WHITE};

/// Pixels of the result per point.
const DENSITY: u32 = 2;
/// Samples per pixel of the result, in each direction.
const SAMPLES: u32 = 3;
/// Samples per point.
const FINE: f64 = (DENSITY * SAMPLES) as f64;
/// Pixels per metre of the result, a point being 1/72 inch.
const PER_METRE: u32 = 72 * DENSITY * 10_000 / 254;

/// The canvas as a PNG file.
pub(super) fn encode(canvas: &Canvas) -> Result<Vec<u8>, FigureError> {
    font::register()?;
    let (width, height) = canvas.size();
    let (width, height) = (width * DENSITY, height * DENSITY);
    let fine = rasterise(canvas, (width * SAMPLES, height * SAMPLES))?;
    compress(&average(&fine, width as usize), width, height)
}

/// All samples, three bytes each.
fn rasterise(canvas: &Canvas, size: (u32, u32)) -> Result<Vec<u8>, FigureError> {
    let mut buffer = vec![WHITE.rgb.0; size.0 as usize * size.1 as usize * 3];
    let mut target = Raster { samples: &mut buffer, size };
    for shape in &canvas.shapes {
        target.draw(shape)?;
    }
    Ok(buffer)
}

/// Replaces every block of samples by its mean.
fn average(fine: &[u8], width: usize) -> Vec<u8> {
    const BLOCK: usize = SAMPLES as usize;
    const COUNT: u16 = (SAMPLES * SAMPLES) as u16;
    let row = width * BLOCK * 3;
    let mut coarse = Vec::with_capacity(fine.len() / (BLOCK * BLOCK));
    let mut columns = vec![0_u16; row];
    for rows in fine.chunks_exact(row * BLOCK) {
        // Down the columns first: the samples of one colour are far apart along a row.
        columns.fill(0);
        for samples in rows.chunks_exact(row) {
            columns.iter_mut().zip(samples).for_each(|(sum, one)| *sum += u16::from(*one));
        }
        for pixel in columns.as_chunks::<{ 3 * BLOCK }>().0 {
            let mut sums = [COUNT / 2; 3];
            for sample in pixel.as_chunks::<3>().0 {
                sums.iter_mut().zip(sample).for_each(|(sum, one)| *sum += one);
            }
            coarse.extend(sums.map(|sum| (sum / COUNT) as u8));
        }
    }
    coarse
}

fn compress(pixels: &[u8], width: u32, height: u32) -> Result<Vec<u8>, FigureError> {
    let mut file = Vec::new();
    let mut encoder = png::Encoder::new(&mut file, width, height);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_pixel_dims(Some(png::PixelDimensions {
        xppu: PER_METRE,
        yppu: PER_METRE,
        unit: png::Unit::Meter,
    }));
    let mut writer = encoder.write_header()?;
    writer.write_image_data(pixels)?;
    writer.finish()?;
    Ok(file)
}

struct Raster<'a> {
    samples: &'a mut [u8],
    size: (u32, u32),
}

impl Raster<'_> {
    fn draw(&mut self, shape: &Shape) -> Result<(), FigureError> {
        match shape {
            Shape::Stroke { path, pen } => self.stroke(path, *pen),
            Shape::Fill { path, colour } => self.fill(path, *colour),
            Shape::Circle { centre, radius, colour, ring: None } => {
                self.fill(&circle(*centre, *radius), *colour);
            }
            Shape::Circle { centre, radius, colour, ring: Some(width) } => {
                self.line(&circle(*centre, *radius), *colour, *width);
            }
            Shape::Text(text) => return self.text(text),
        }
        Ok(())
    }

    fn stroke(&mut self, path: &[Point], pen: Pen) {
        for dash in dashes(path, &pen.pattern()) {
            self.line(&dash, pen.colour, pen.width);
        }
    }

    /// A box along every segment and a disc on every corner between. Widths
    /// are whole samples, or equal lines would look unequal.
    fn line(&mut self, path: &[Point], colour: Colour, width: f64) {
        let width = (width * FINE).round().max(2.0) / FINE;
        for pair in path.windows(2) {
            self.fill(&thick(pair[0], pair[1], width), colour);
        }
        let corners = path.iter().skip(1).take(path.len().saturating_sub(2));
        for corner in corners {
            self.fill(&circle(*corner, width / 2.0), colour);
        }
    }

    fn fill(&mut self, polygon: &[Point], colour: Colour) {
        let fine: Vec<Point> = polygon.iter().map(|(x, y)| (x * FINE, y * FINE)).collect();
        let levels = fine.iter().map(|point| point.1);
        let top = levels.clone().fold(f64::INFINITY, f64::min).max(0.0);
        let bottom = levels.fold(0.0, f64::max).min(f64::from(self.size.1));
        let paint = stripe(colour);
        let mut crossings = Vec::new();
        for row in top.floor() as u32..bottom.ceil() as u32 {
            visit_spans(&fine, f64::from(row) + 0.5, &mut crossings, |from, to| {
                self.run(row, from, to, &paint);
            });
        }
    }

    /// Colours the samples of one row whose centres are in the interval.
    fn run(&mut self, row: u32, from: f64, to: f64, paint: &[u8; STRIPE]) {
        let first = (from - 0.5).ceil().max(0.0) as usize;
        let end = (to - 0.5).ceil().clamp(0.0, f64::from(self.size.0)) as usize;
        if first >= end {
            return;
        }
        let start = row as usize * self.size.0 as usize;
        if let Some(samples) = self.samples.get_mut(3 * (start + first)..3 * (start + end)) {
            samples.chunks_mut(STRIPE).for_each(|some| some.copy_from_slice(&paint[..some.len()]));
        }
    }

    /// Places each glyph itself, side bearing included.
    fn text(&mut self, text: &Text) -> Result<(), FigureError> {
        let face = text.font.face();
        let em = text.font.size * FINE;
        // An even size puts plotters' baseline, half the size down, on a row.
        let size = (em * face.extent / 2.0).round() * 2.0;
        let transform = if text.upwards { FontTransform::Rotate270 } else { FontTransform::None };
        let ink = text.colour.paint();
        let style = TextStyle::from(text.font.describe(size).transform(transform))
            .color(&ink)
            .pos(Pos::new(HPos::Left, VPos::Top));
        let (x, y) = (text.at.0 * FINE, text.at.1 * FINE);
        let mut backend = BitMapBackend::with_buffer(self.samples, self.size);
        let mut pen = -text.lead() * FINE;
        for c in text.content.chars() {
            let glyph = face.glyph(c);
            let along = (pen + glyph.bearing * em).round();
            let corner = if text.upwards {
                (x - size / 2.0, y - along)
            } else {
                (x + along, y - size / 2.0)
            };
            let corner = (corner.0.round() as i32, corner.1.round() as i32);
            backend
                .draw_text(c.encode_utf8(&mut [0; 4]), &style, corner)
                .map_err(FigureError::drawing)?;
            pen += glyph.advance * em;
        }
        backend.present().map_err(FigureError::drawing)
    }
}

/// The bytes of sixteen samples, to be copied at once.
const STRIPE: usize = 48;

fn stripe(colour: Colour) -> [u8; STRIPE] {
    let (red, green, blue) = colour.rgb;
    std::array::from_fn(|at| [red, green, blue][at % 3])
}

/// The rectangle a line of this width covers, empty for a line of no length.
fn thick(from: Point, to: Point, width: f64) -> Vec<Point> {
    let (dx, dy) = (to.0 - from.0, to.1 - from.1);
    let length = dx.hypot(dy);
    if length == 0.0 {
        return Vec::new();
    }
    let (nx, ny) = (-dy / length * width / 2.0, dx / length * width / 2.0);
    vec![
        (from.0 + nx, from.1 + ny),
        (to.0 + nx, to.1 + ny),
        (to.0 - nx, to.1 - ny),
        (from.0 - nx, from.1 - ny),
    ]
}

/// A closed polygon that looks round at the size of a marker.
fn circle((x, y): Point, radius: f64) -> Vec<Point> {
    const CORNERS: u32 = 24;
    let corner = |i: u32| {
        let angle = std::f64::consts::TAU * f64::from(i) / f64::from(CORNERS);
        (x + radius * angle.cos(), y + radius * angle.sin())
    };
    (0..=CORNERS).map(corner).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn averaging_keeps_flat_colours() {
        let block = SAMPLES as usize;
        let fine = vec![90; 4 * block * 2 * block * 3];
        assert_eq!(average(&fine, 4), vec![90; 4 * 2 * 3]);
    }

    #[test]
    fn shapes_off_the_page_are_harmless() {
        let mut canvas = Canvas::new(10.0);
        canvas.height = 10.0;
        canvas.fill(vec![(-50.0, -50.0), (60.0, -5.0), (5.0, 90.0)], WHITE);
        canvas.disc((-20.0, 30.0), 15.0, WHITE);
        canvas.line((f64::NAN, 1.0), (2.0, f64::INFINITY), WHITE, 1.0);
        assert!(encode(&canvas).is_ok());
    }
}
