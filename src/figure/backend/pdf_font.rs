//! The typeface inside a PDF: the glyphs in use and which letters they are.

use std::collections::BTreeMap;

use pdf_writer::types::{CidFontType, FontFlags, SystemInfo, UnicodeCmap};
use pdf_writer::{Filter, Finish, Name, Pdf, Rect, Ref, Str};
use subsetter::GlyphRemapper;

use super::pdf::compress;
use crate::FigureError;
use crate::font::{Face, Font};

const IDENTITY: SystemInfo<'static> =
    SystemInfo { registry: Str(b"Adobe"), ordering: Str(b"Identity"), supplement: 0 };
/// Height of capitals in ems.
const CAPITALS: f64 = 0.729;

/// One weight with the glyphs a page uses.
pub struct Embedded {
    bold: bool,
    face: &'static Face,
    glyphs: GlyphRemapper,
    /// The letter each glyph in use stands for.
    letters: BTreeMap<u16, char>,
}

impl Embedded {
    /// How many objects a font takes.
    pub const OBJECTS: i32 = 5;

    pub fn new(bold: bool) -> Self {
        let face = Font { size: 1.0, bold }.face();
        Self { bold, face, glyphs: GlyphRemapper::new(), letters: BTreeMap::new() }
    }

    /// The name by which the page calls it.
    pub fn name(&self) -> Name<'static> {
        if self.bold { Name(b"B") } else { Name(b"R") }
    }

    /// The text as the page shows it: two bytes per glyph. What has no glyph has no letter either.
    pub fn encode(&mut self, text: &str) -> Vec<u8> {
        let mut code = Vec::with_capacity(2 * text.len());
        for c in text.chars() {
            let glyph = match self.face.index(c) {
                0 => 0,
                index => {
                    self.letters.insert(index, c);
                    self.glyphs.remap(index)
                }
            };
            code.extend(glyph.to_be_bytes());
        }
        code
    }

    /// Writes the font as objects from `first` on.
    pub fn write(&self, pdf: &mut Pdf, first: Ref) -> Result<(), FigureError> {
        let [cid, descriptor, file, map] = [1, 2, 3, 4].map(|i| Ref::new(first.get() + i));
        let name = self.full_name();
        pdf.type0_font(first)
            .base_font(Name(name.as_bytes()))
            .encoding_predefined(Name(b"Identity-H"))
            .descendant_font(cid)
            .to_unicode(map);
        self.write_widths(pdf, cid, descriptor, &name);
        self.write_descriptor(pdf, descriptor, file, &name);
        let subset = subsetter::subset(self.face.bytes, 0, &self.glyphs);
        let bytes = subset.map_err(|_| FigureError::Font)?;
        let packed = compress(&bytes);
        let mut stream = pdf.stream(file, &packed);
        stream.filter(Filter::FlateDecode);
        stream.pair(Name(b"Length1"), i32::try_from(bytes.len()).unwrap_or(i32::MAX));
        stream.finish();
        let letters = self.letter_map();
        pdf.cmap(map, &letters).filter(Filter::FlateDecode);
        Ok(())
    }

    /// Tagged by its glyphs, as subsets have to be.
    fn full_name(&self) -> String {
        let mut hash = self.letters.keys().fold(0xcbf2_9ce4_8422_2325_u64, |hash, glyph| {
            (hash ^ u64::from(*glyph)).wrapping_mul(0x0000_0100_0000_01b3)
        });
        let mut tag = String::new();
        for _ in 0..6 {
            tag.push(char::from(b'A' + (hash % 26) as u8));
            hash /= 26;
        }
        format!("{tag}+DejaVuSans{}", if self.bold { "-Bold" } else { "" })
    }

    fn write_widths(&self, pdf: &mut Pdf, cid: Ref, descriptor: Ref, name: &str) {
        let mut font = pdf.cid_font(cid);
        font.subtype(CidFontType::Type2).base_font(Name(name.as_bytes()));
        font.system_info(IDENTITY).font_descriptor(descriptor).default_width(0.0);
        font.cid_to_gid_map_predefined(Name(b"Identity"));
        let glyphs = self.glyphs.remapped_gids();
        let widths = glyphs.map(|glyph| thousandths(self.face.measure(glyph).advance));
        font.widths().consecutive(0, widths);
    }

    fn write_descriptor(&self, pdf: &mut Pdf, descriptor: Ref, file: Ref, name: &str) {
        let [left, low, right, high] = self.face.bounds().map(thousandths);
        pdf.font_descriptor(descriptor)
            .name(Name(name.as_bytes()))
            .flags(FontFlags::SYMBOLIC)
            .bbox(Rect::new(left, low, right, high))
            .italic_angle(0.0)
            .ascent(thousandths(self.face.ascent))
            .descent(thousandths(self.face.descent))
            .cap_height(thousandths(CAPITALS))
            .stem_v(if self.bold { 140.0 } else { 80.0 })
            .font_file2(file);
    }

    /// Which letter a glyph is, for those who search or copy.
    fn letter_map(&self) -> Vec<u8> {
        let mut map = UnicodeCmap::<u16>::new(Name(b"Letters"), IDENTITY);
        for (glyph, letter) in &self.letters {
            if let Some(new) = self.glyphs.get(*glyph) {
                map.pair(new, *letter);
            }
        }
        compress(&map.finish())
    }
}

fn thousandths(ems: f64) -> f32 {
    (ems * 1000.0).round() as f32
}
