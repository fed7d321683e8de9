//! The embedded typeface: its registration with plotters and its metrics.
//!
//! plotters measures text only to whole pixels and, when it draws a string,
//! forgets the side bearing of every glyph. Both show at small sizes, so
//! advances and side bearings are read here.

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

/// One weight of the typeface.
pub(super) struct Face {
    pub(super) bytes: &'static [u8],
    tables: ttf_parser::Face<'static>,
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
        let tables = ttf_parser::Face::parse(bytes, 0).expect("the embedded font is sound");
        let units = f64::from(tables.units_per_em());
        let heights = tables.tables().hhea;
        let (ascent, descent) = (f64::from(heights.ascender), f64::from(heights.descender));
        Self {
            bytes,
            units,
            ascent: ascent / units,
            descent: descent / units,
            extent: (ascent - descent) / units,
            tables,
        }
    }

    pub(super) fn glyph(&self, c: char) -> Glyph {
        self.measure(self.index(c))
    }

    /// The box all glyphs stay in, in ems: left, low, right, high.
    pub(super) fn bounds(&self) -> [f64; 4] {
        let bounds = self.tables.global_bounding_box();
        [bounds.x_min, bounds.y_min, bounds.x_max, bounds.y_max]
            .map(|at| f64::from(at) / self.units)
    }

    /// The measures of the glyph with this index.
    pub(super) fn measure(&self, index: u16) -> Glyph {
        let id = ttf_parser::GlyphId(index);
        let advance = self.tables.glyph_hor_advance(id).unwrap_or(0);
        let bearing = self.tables.glyph_hor_side_bearing(id).unwrap_or(0);
        Glyph { advance: f64::from(advance) / self.units, bearing: f64::from(bearing) / self.units }
    }

    /// The glyph index of `c`, 0 if the typeface has none.
    pub(super) fn index(&self, c: char) -> u16 {
        self.tables.glyph_index(c).map_or(0, |glyph| glyph.0)
    }
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
