//! The embedded typeface: its registration with plotters, its measures, and text broken to a width.

use std::sync::OnceLock;

use plotters::style::{FontDesc, FontFamily, FontStyle, register_font};

use super::FigureError;

/// The name under which the typeface is registered. It goes verbatim into the SVG, hence the list:
/// viewers without DejaVu Sans fall back to a face that is not wider.
pub const FAMILY: &str = "DejaVu Sans, Verdana, Helvetica, Arial, sans-serif";

/// A size and a weight.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Font {
    pub size: f64,
    pub bold: bool,
}

impl Font {
    pub fn face(self) -> &'static Face {
        static REGULAR: OnceLock<Face> = OnceLock::new();
        static BOLD: OnceLock<Face> = OnceLock::new();
        if self.bold {
            BOLD.get_or_init(|| Face::new(dejavu::sans::bold()))
        } else {
            REGULAR.get_or_init(|| Face::new(dejavu::sans::regular()))
        }
    }

    /// The width of `text`, without kerning (which only narrows).
    pub fn width(self, text: &str) -> f64 {
        let face = self.face();
        text.chars().map(|c| face.measure(face.index(c)).advance).sum::<f64>() * self.size
    }

    /// The greatest width of these texts.
    pub fn widest<'a>(self, texts: impl Iterator<Item = &'a str>) -> f64 {
        texts.map(|text| self.width(text)).fold(0.0, f64::max)
    }

    /// The typeface for plotters, in a size of its own.
    pub fn describe(self, size: f64) -> FontDesc<'static> {
        let style = if self.bold { FontStyle::Bold } else { FontStyle::Normal };
        FontDesc::new(FontFamily::Name(FAMILY), size, style)
    }

    /// From one baseline to the next.
    pub fn line_height(self) -> f64 {
        self.size * 1.25
    }

    /// The lines of `text`, none wider than `width` and at most `limit` of them; what does not fit
    /// ends in an ellipsis.
    pub fn wrap(self, text: &str, width: f64, limit: usize) -> Vec<String> {
        let mut lines: Vec<String> = self.break_lines(text, width);
        let limit = limit.max(1);
        if lines.len() > limit {
            let rest = lines.split_off(limit - 1).join(" ");
            lines.push(rest);
        }
        lines.iter().map(|line| self.shorten(line, width)).collect()
    }

    /// As `wrap`, but only if no line has to be shortened.
    pub fn wrap_whole(self, text: &str, width: f64, limit: usize) -> Option<Vec<String>> {
        let lines = self.break_lines(text, width);
        let fits = lines.len() <= limit && lines.iter().all(|line| self.width(line) <= width);
        fits.then_some(lines)
    }

    /// Greedy lines, broken after spaces, commas and underscores, but not around a sign such as `=`; a word may be too
    /// wide.
    fn break_lines(self, text: &str, width: f64) -> Vec<String> {
        let mut words: Vec<String> = Vec::new();
        let mut is_open = false;
        for word in text.split_inclusive([' ', ',', '_', '\n']) {
            let is_sign = SIGNS.contains(&word.trim());
            match words.last_mut().filter(|_| is_sign || is_open) {
                Some(last) => last.push_str(word),
                None => words.push(word.to_owned()),
            }
            is_open = is_sign;
        }
        let mut lines: Vec<String> = Vec::new();
        let mut current = String::new();
        for word in words {
            let longer = format!("{current}{word}");
            if self.width(longer.trim()) > width && !current.trim().is_empty() {
                lines.push(current.trim().to_owned());
                current = word;
            } else {
                current = longer;
            }
        }
        if !current.trim().is_empty() {
            lines.push(current.trim().to_owned());
        }
        lines
    }

    /// `text` itself if it fits, else its beginning and an ellipsis.
    pub fn shorten(self, text: &str, width: f64) -> String {
        if self.width(text) <= width {
            return text.to_owned();
        }
        let room = width - self.width("…");
        let mut used = 0.0;
        let kept = text.chars().take_while(|c| {
            used += self.width(c.encode_utf8(&mut [0; 4]));
            used <= room
        });
        let kept: String = kept.collect();
        format!("{}…", kept.trim_end())
    }
}

/// What stands between the two sides of an equation.
const SIGNS: [&str; 6] = ["=", "≤", "≥", "<", ">", "≈"];

/// Makes the typeface known to plotters; safe to call again.
pub fn register() -> Result<(), FigureError> {
    static DONE: OnceLock<bool> = OnceLock::new();
    let done = DONE.get_or_init(|| {
        register_font(FAMILY, FontStyle::Normal, dejavu::sans::regular()).is_ok()
            && register_font(FAMILY, FontStyle::Bold, dejavu::sans::bold()).is_ok()
    });
    done.then_some(()).ok_or(FigureError::Font)
}

/// Measures of one glyph in ems: how far the pen moves, and where the outline begins.
pub struct Glyph {
    pub advance: f64,
    pub bearing: f64,
}

/// One weight of the typeface.
pub struct Face {
    pub bytes: &'static [u8],
    tables: ttf_parser::Face<'static>,
    units: f64,
    /// Height above the baseline in ems.
    pub ascent: f64,
    /// Depth below it, negative.
    pub descent: f64,
}

impl Face {
    fn new(bytes: &'static [u8]) -> Self {
        let tables = ttf_parser::Face::parse(bytes, 0).expect("the embedded font is sound");
        let units = f64::from(tables.units_per_em());
        let heights = tables.tables().hhea;
        let (ascent, descent) = (f64::from(heights.ascender), f64::from(heights.descender));
        Self { bytes, units, ascent: ascent / units, descent: descent / units, tables }
    }

    /// The box all glyphs stay in, in ems: left, low, right, high.
    pub fn bounds(&self) -> [f64; 4] {
        let bounds = self.tables.global_bounding_box();
        [bounds.x_min, bounds.y_min, bounds.x_max, bounds.y_max]
            .map(|at| f64::from(at) / self.units)
    }

    /// The measures of the glyph with this index.
    pub fn measure(&self, index: u16) -> Glyph {
        let id = ttf_parser::GlyphId(index);
        let advance = self.tables.glyph_hor_advance(id).unwrap_or(0);
        let bearing = self.tables.glyph_hor_side_bearing(id).unwrap_or(0);
        Glyph { advance: f64::from(advance) / self.units, bearing: f64::from(bearing) / self.units }
    }

    /// The glyph index of `c`, 0 if the typeface has none.
    pub fn index(&self, c: char) -> u16 {
        self.tables.glyph_index(c).map_or(0, |glyph| glyph.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FONT: Font = Font { size: 10.0, bold: false };

    #[test]
    fn advances_are_those_plotters_reads() {
        register().expect("the fonts are sound");
        for bold in [false, true] {
            // At this size an em is 2048 pixels, the units of the font.
            let font = Font { size: 2048.0, bold };
            let face = font.face();
            let plotters = font.describe(2048.0 * (face.ascent - face.descent));
            for letter in ["A", "i", "ε", "⁻", "m", "−"] {
                let (_, (width, _)) = plotters.layout_box(letter).expect("a measure");
                assert!((font.width(letter) - f64::from(width)).abs() <= 1.0, "{letter}");
            }
        }
    }

    #[test]
    fn every_character_we_write_has_a_glyph() {
        for bold in [false, true] {
            let face = Font { size: 1.0, bold }.face();
            for c in "εδβαγφχθ±≤≥⌊⌋−×…⁻⁰¹²³⁴⁵⁶⁷⁸⁹ᵧᵦℓ′ (),=".chars()
            {
                assert_ne!(face.index(c), 0, "{c}");
            }
        }
        assert!(FONT.width("😀\u{10FFFF}\u{0}") >= 0.0);
    }

    #[test]
    fn wrapped_lines_fit() {
        let text = "a rather long note, with commas and averyveryverylongwordthatcannotbebroken";
        for width in [30.0, 60.0, 120.0, 500.0] {
            let lines = FONT.wrap(text, width, 3);
            assert!(lines.len() <= 3);
            assert!(lines.iter().all(|line| FONT.width(line) <= width));
        }
        assert!(FONT.wrap("  \n ", 100.0, 2).is_empty());
        let title = "not within k′ = 1 of n ≤ 20";
        for width in 0..200 {
            let lines = FONT.wrap(title, f64::from(width), 9);
            let is_cut = |line: &String| line.contains('…');
            let parts = lines.iter().any(is_cut) || lines.concat().contains("k′ = 1");
            assert!(parts && lines.iter().all(|line| !line.ends_with(['=', '≤'])), "{lines:?}");
        }
        assert_eq!(FONT.wrap_whole("immunotherapy", 45.0, 3), None, "whole words or nothing");
        assert!(FONT.shorten("a long label indeed", 40.0).ends_with('…'));
    }
}
