//! A recording as PNG: plotters' bitmap backend draws it several times too large, and the mean of
//! every block of pixels becomes one. This smooths all edges.

use plotters::backend::BitMapBackend;
use plotters_backend::DrawingBackend;

use super::{Drawn, Recording, Text, text_style};
use crate::theme::{PAPER, Theme, UNITS_PER_POINT};
use crate::{FigureError, Head, Width};

/// Pixels of the result in a grid step of the page.
const DENSITY: f64 = 2.0;
/// Samples per pixel of the result, in each direction.
const SAMPLES: usize = 3;

/// The recording as a PNG file.
pub fn encode(recording: &Recording, head: &Head, width: Width) -> Result<Vec<u8>, FigureError> {
    let pixels_per_unit = DENSITY / Theme::new(width).scale();
    let pixels = |units: u32| (f64::from(units) * pixels_per_unit).round().max(1.0) as usize;
    let (columns, rows) = (pixels(recording.size.0), pixels(recording.size.1));
    let size = ((columns * SAMPLES) as u32, (rows * SAMPLES) as u32);
    let mut samples = vec![PAPER.rgb.0; columns * rows * SAMPLES * SAMPLES * 3];
    let mut backend = BitMapBackend::with_buffer(&mut samples, size);
    let scale = pixels_per_unit * SAMPLES as f64;
    recording.replay(&mut backend, scale, |backend, text| draw_text(backend, text, scale))?;
    drop(backend);
    // A point is 1/72 inch.
    let per_metre = (pixels_per_unit * UNITS_PER_POINT * 72.0 / 0.0254).round() as u32;
    compress(&average(&samples, columns), (columns as u32, rows as u32), per_metre, head)
}

type Error<'a> = <BitMapBackend<'a> as DrawingBackend>::ErrorType;

/// Places each glyph itself, since plotters forgets the side bearing of glyphs.
fn draw_text<'a>(backend: &mut BitMapBackend<'a>, text: &Text, scale: f64) -> Drawn<Error<'a>> {
    let face = text.font.face();
    let em = text.font.size * scale;
    // An even size puts plotters' baseline, half the size down, on a row.
    let size = (em * (face.ascent - face.descent) / 2.0).round() * 2.0;
    let style = text_style(text, size);
    let (x, y) = (f64::from(text.at.0) * scale, f64::from(text.at.1) * scale);
    let mut pen = 0.0;
    for c in text.content.chars() {
        let glyph = face.measure(face.index(c));
        let along = (pen + glyph.bearing * em).round();
        let (left, top) = match text.upwards {
            true => (x - size / 2.0, y - along),
            false => (x + along, y - size / 2.0),
        };
        let corner = (left.round() as i32, top.round() as i32);
        backend.draw_text(c.encode_utf8(&mut [0; 4]), &style, corner)?;
        pen += glyph.advance * em;
    }
    Ok(())
}

/// Replaces every block of samples by its mean.
fn average(fine: &[u8], width: usize) -> Vec<u8> {
    const COUNT: u16 = (SAMPLES * SAMPLES) as u16;
    let row = width * SAMPLES * 3;
    let mut coarse = Vec::with_capacity(fine.len() / (SAMPLES * SAMPLES));
    let mut columns = vec![0_u16; row];
    for rows in fine.chunks_exact(row * SAMPLES) {
        // Down the columns first: the samples of one colour are far apart along a row.
        columns.fill(0);
        for samples in rows.chunks_exact(row) {
            columns.iter_mut().zip(samples).for_each(|(sum, one)| *sum += u16::from(*one));
        }
        for pixel in columns.as_chunks::<{ 3 * SAMPLES }>().0 {
            let mut sums = [COUNT / 2; 3];
            for sample in pixel.as_chunks::<3>().0 {
                sums.iter_mut().zip(sample).for_each(|(sum, one)| *sum += one);
            }
            // On an edge, fewer shades look the same and make smaller files.
            let edge = pixel[..3] != pixel[3 * SAMPLES - 3..];
            let level = |mean: u8| if edge { (mean & 0xF0) | (mean >> 4) } else { mean };
            coarse.extend(sums.map(|sum| level((sum / COUNT) as u8)));
        }
    }
    coarse
}

fn compress(
    pixels: &[u8],
    size: (u32, u32),
    per_metre: u32,
    head: &Head,
) -> Result<Vec<u8>, FigureError> {
    let mut file = Vec::new();
    let mut encoder = png::Encoder::new(&mut file, size.0, size.1);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    let unit = png::Unit::Meter;
    encoder.set_pixel_dims(Some(png::PixelDimensions { xppu: per_metre, yppu: per_metre, unit }));
    let words =
        [("Title", &head.title), ("Description", &head.subject()), ("Software", &head.maker)];
    for (keyword, text) in words.into_iter().filter(|(_, text)| !text.is_empty()) {
        encoder.add_itxt_chunk(keyword.to_owned(), text.clone())?;
    }
    let mut writer = encoder.write_header()?;
    writer.write_image_data(pixels)?;
    writer.finish()?;
    Ok(file)
}
