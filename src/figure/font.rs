//! The embedded typeface: its registration with plotters and its metrics.
//!
//! plotters measures text only to whole pixels and, when it draws a string,
//! forgets the side bearing of every glyph. Both show at small sizes, so the
//! few tables needed to measure and to place glyphs are read here.

use std::sync::OnceLock;

use plotters::style::{FontDesc, FontFamily, FontStyle, register_font};

use super::FigureError;

/// The name under which the typeface is registered. It goes verbatim into the
/// SVG, hence the list: viewers without DejaVu Sans fall back to a face that
/// is not wider.
pub(super) const FAMILY: &str = "DejaVu Sans, Verdana, Helvetica, Arial, sans-serif";

/// A size in points and a weight.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Font {
    pub(super) size: f64,
    pub(super) bold: bool,
}

impl Font {
    pub(super) const fn regular(size: f64) -> Self {
        Self { size, bold: false }
    }

    pub(super) const fn bold(size: f64) -> Self {
        Self { size, bold: true }
    }

    pub(super) fn face(self) -> &'static Face {
        static REGULAR: OnceLock<Face> = OnceLock::new();
        static BOLD: OnceLock<Face> = OnceLock::new();
        if self.bold {
            BOLD.get_or_init(|| Face::new(dejavu::sans::bold()))
        } else {
            REGULAR.get_or_init(|| Face::new(dejavu::sans::regular()))
        }
    }

    /// The width of `text` in points, without kerning (which only narrows).
    pub(super) fn width(self, text: &str) -> f64 {
        let face = self.face();
        let ems: f64 = text.chars().map(|c| face.glyph(c).advance).sum();
        ems * self.size
    }

    /// The typeface for plotters, whose sizes are not ours.
    pub(super) fn describe(self, size: f64) -> FontDesc<'static> {
        let style = if self.bold { FontStyle::Bold } else { FontStyle::Normal };
        FontDesc::new(FontFamily::Name(FAMILY), size, style)
    }

    /// From one baseline to the next.
    pub(super) fn line_height(self) -> f64 {
        self.size * 1.25
    }
}

/// Makes the typeface known to plotters; safe to call again.
pub(super) fn register() -> Result<(), FigureError> {
    static DONE: OnceLock<bool> = OnceLock::new();
    let done = DONE.get_or_init(|| {
        register_font(FAMILY, FontStyle::Normal, dejavu::sans::regular()).is_ok()
            && register_font(FAMILY, FontStyle::Bold, dejavu::sans::bold()).is_ok()
    });
    done.then_some(()).ok_or(FigureError::Font)
}

/// Horizontal measures of one glyph, in ems.
#[derive(Clone, Copy, Debug)]
pub(super) struct Glyph {
    /// How far the pen moves.
    pub(super) advance: f64,
    /// Where the outline begins, relative to the pen.
    pub(super) bearing: f64,
}

/// The TrueType tables of one weight.
pub(super) struct Face {
    pub(super) bytes: &'static [u8],
    hmtx: usize,
    cmap: usize,
    long_metrics: usize,
    units: f64,
    /// Height above the baseline in ems.
    pub(super) ascent: f64,
    /// Depth below it, negative.
    pub(super) descent: f64,
    /// Ascent plus descent in ems: what plotters calls the size of a font.
    pub(super) extent: f64,
}

impl Face {
    fn new(bytes: &'static [u8]) -> Self {
        let hhea = table(bytes, b"hhea");
        let units = f64::from(u16_at(bytes, table(bytes, b"head") + 18)).max(1.0);
        let ascent = f64::from(i16_at(bytes, hhea + 4));
        let descent = f64::from(i16_at(bytes, hhea + 6));
        Self {
            bytes,
            hmtx: table(bytes, b"hmtx"),
            cmap: segment_map(bytes, table(bytes, b"cmap")),
            long_metrics: usize::from(u16_at(bytes, hhea + 34)),
            units,
            ascent: ascent / units,
            descent: descent / units,
            extent: (ascent - descent) / units,
        }
    }

    pub(super) fn glyph(&self, c: char) -> Glyph {
        self.measure(self.index(c))
    }

    /// The box all glyphs stay in, in ems: left, low, right, high.
    pub(super) fn bounds(&self) -> [f64; 4] {
        let head = table(self.bytes, b"head");
        [36, 38, 40, 42].map(|at| f64::from(i16_at(self.bytes, head + at)) / self.units)
    }

    /// The measures of the glyph with this index.
    pub(super) fn measure(&self, index: u16) -> Glyph {
        let index = usize::from(index);
        let last = self.long_metrics.saturating_sub(1);
        let advance = u16_at(self.bytes, self.hmtx + 4 * index.min(last));
        let bearing_at = if index <= last {
            4 * index + 2
        } else {
            4 * self.long_metrics + 2 * (index - self.long_metrics)
        };
        Glyph {
            advance: f64::from(advance) / self.units,
            bearing: f64::from(i16_at(self.bytes, self.hmtx + bearing_at)) / self.units,
        }
    }

    /// The glyph index of `c` by the segment map (format 4), 0 if missing.
    pub(super) fn index(&self, c: char) -> u16 {
        let Ok(code) = u16::try_from(u32::from(c)) else {
            return 0;
        };
        let word = |at: usize| u16_at(self.bytes, self.cmap + at);
        let twice = usize::from(word(6));
        let segment = (0..twice).step_by(2).find(|i| word(14 + i) >= code);
        let Some(i) = segment else { return 0 };
        let (start, delta) = (word(16 + twice + i), word(16 + 2 * twice + i));
        let offset_at = 16 + 3 * twice + i;
        let offset = usize::from(word(offset_at));
        if code < start {
            0
        } else if offset == 0 {
            code.wrapping_add(delta)
        } else {
            match word(offset_at + offset + 2 * usize::from(code - start)) {
                0 => 0,
                glyph => glyph.wrapping_add(delta),
            }
        }
    }
}

/// Where the format 4 map for Unicode begins.
fn segment_map(bytes: &[u8], cmap: usize) -> usize {
    let records = usize::from(u16_at(bytes, cmap + 2));
    let offsets = (0..records).map(|i| cmap + u32_at(bytes, cmap + 8 + 8 * i));
    let mut maps = offsets.filter(|at| u16_at(bytes, *at) == 4);
    maps.next().unwrap_or(bytes.len())
}

fn table(bytes: &[u8], tag: &[u8; 4]) -> usize {
    let tables = usize::from(u16_at(bytes, 4));
    let mut records = (0..tables).map(|i| 12 + 16 * i);
    let found = records.find(|at| bytes.get(*at..at + 4) == Some(tag));
    found.map_or(bytes.len(), |at| u32_at(bytes, at + 8))
}

/// Big-endian reads that yield 0 past the end instead of failing: the bytes
/// are compiled in, and the tests check that they are read right.
fn u16_at(bytes: &[u8], at: usize) -> u16 {
    let pair = bytes.get(at..at + 2).and_then(|b| b.try_into().ok());
    pair.map_or(0, u16::from_be_bytes)
}

fn i16_at(bytes: &[u8], at: usize) -> i16 {
    u16_at(bytes, at).cast_signed()
}

fn u32_at(bytes: &[u8], at: usize) -> usize {
    usize::from(u16_at(bytes, at)) << 16 | usize::from(u16_at(bytes, at + 2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn advances_are_those_plotters_reads() {
        register().expect("the fonts are sound");
        for font in [Font::regular(2048.0), Font::bold(2048.0)] {
            // At this size an em is 2048 pixels, the units of the font.
            let plotters = font.describe(2048.0 * font.face().extent);
            for letter in ["A", "i", "ε", "⁻", "m", "−"] {
                let (_, (width, _)) = plotters.layout_box(letter).expect("a measure");
                assert!((font.width(letter) - f64::from(width)).abs() <= 1.0, "{letter}");
            }
        }
    }

    #[test]
    fn narrow_letters_have_a_side_bearing() {
        assert!(Font::regular(1.0).face().glyph('i').bearing > 0.05);
    }

    #[test]
    fn every_character_we_write_has_a_glyph() {
        for bold in [false, true] {
            let face = Font { size: 1.0, bold }.face();
            for c in "εδβαγφχθ±≤≥⌊⌋−×…⁻⁰¹²³⁴⁵⁶⁷⁸⁹ (),=".chars()
            {
                assert_ne!(face.index(c), 0, "{c}");
            }
        }
    }

    #[test]
    fn characters_off_the_plane_do_not_panic() {
        assert!(Font::regular(10.0).width("😀\u{10FFFF}\u{0}") >= 0.0);
    }

    #[test]
    fn registration_is_repeatable() {
        assert!(register().is_ok());
        assert!(register().is_ok());
    }
}
