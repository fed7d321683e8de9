//! One colour per mechanism, the same in every figure.

use plotters::style::RGBColor;

/// An opaque colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Colour {
    /// Red, green and blue, each from 0 to 255.
    pub rgb: (u8, u8, u8),
}

impl Colour {
    /// The colour written `0xRRGGBB`.
    pub const fn hex(code: u32) -> Self {
        let [_, red, green, blue] = code.to_be_bytes();
        Self { rgb: (red, green, blue) }
    }

    /// This colour moved towards white; 0 leaves it, 1 is white.
    pub fn lighten(self, amount: f64) -> Self {
        self.mix(WHITE, amount)
    }

    /// This colour moved towards black; 0 leaves it, 1 is black.
    pub fn darken(self, amount: f64) -> Self {
        self.mix(Self::hex(0), amount)
    }

    pub(super) fn mix(self, other: Self, amount: f64) -> Self {
        let amount = amount.clamp(0.0, 1.0);
        let blend =
            |a: u8, b: u8| (f64::from(a) + (f64::from(b) - f64::from(a)) * amount).round() as u8;
        let ((r0, g0, b0), (r1, g1, b1)) = (self.rgb, other.rgb);
        Self { rgb: (blend(r0, r1), blend(g0, g1), blend(b0, b1)) }
    }

    pub(super) fn paint(self) -> RGBColor {
        let (red, green, blue) = self.rgb;
        RGBColor(red, green, blue)
    }

    /// Perceived lightness from 0 (black) to 1 (white).
    pub fn lightness(self) -> f64 {
        let (r, g, b) = self.rgb;
        (0.299 * f64::from(r) + 0.587 * f64::from(g) + 0.114 * f64::from(b)) / 255.0
    }
}

/// The background.
pub(super) const WHITE: Colour = Colour::hex(0xFF_FFFF);
/// Outlines, whiskers, hatches.
pub(super) const INK: Colour = Colour::hex(0x33_3333);
/// Titles and axis labels.
pub(super) const TEXT: Colour = Colour::hex(0x1A_1A1A);
/// Tick labels, spines.
pub(super) const SOFT: Colour = Colour::hex(0x40_4040);
/// The small type under the title.
pub(super) const FAINT: Colour = Colour::hex(0x5F_5F5F);
/// Grid lines.
pub(super) const GRID: Colour = Colour::hex(0xE4_E4E4);

/// Okabe and Ito's colours for the mechanisms of the papers; darker shades,
/// apart from them also for the colour-blind, for the rest.
const KNOWN: &[(&str, Colour)] = &[
    ("lszhang", Colour::hex(0x99_9999)),
    ("lsdim", Colour::hex(0x56_B4E9)),
    ("lshist", Colour::hex(0x00_72B2)),
    ("ehds", Colour::hex(0xE6_9F00)),
    ("ehd", Colour::hex(0xD5_5E00)),
    ("ehdl", Colour::hex(0xCC_79A7)),
    ("geometric", Colour::hex(0x00_9E73)),
    ("mh-beta", Colour::hex(0x33_3333)),
    ("mh-gamma", Colour::hex(0x7A_3B1D)),
    ("hamming", Colour::hex(0x5B_3FB0)),
    ("geometric-all", Colour::hex(0x8B_8B1A)),
];

/// For ids the palette does not know (Tol's muted scheme).
const FALLBACK: &[Colour] = &[
    Colour::hex(0x88_2255),
    Colour::hex(0x44_AA99),
    Colour::hex(0x33_2288),
    Colour::hex(0x11_7733),
    Colour::hex(0xAA_4499),
    Colour::hex(0x66_1100),
];

/// The colour of the mechanism with this id; an unknown id always gets the
/// same colour too, so that reruns agree.
pub fn colour(mechanism_id: &str) -> Colour {
    let known = KNOWN.iter().find(|(id, _)| *id == mechanism_id);
    known.map_or_else(|| fallback(mechanism_id), |(_, colour)| *colour)
}

fn fallback(id: &str) -> Colour {
    // FNV-1a: the hash of the standard library may change between releases.
    let hash = id.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    FALLBACK[(hash % FALLBACK.len() as u64) as usize]
}

/// The shade of `base` for its `repeat`-th reappearance in one figure:
/// alternately lighter and darker, only lighter when it is dark already.
pub(super) fn shade(base: Colour, repeat: usize) -> Colour {
    let step = repeat as f64;
    if repeat == 0 {
        base
    } else if base.lightness() < 0.35 {
        base.lighten((0.3 * step).min(0.75))
    } else if repeat % 2 == 1 {
        base.darken((0.3 + 0.12 * step).min(0.8))
    } else {
        base.lighten((0.3 + 0.1 * step).min(0.75))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn distance(a: Colour, b: Colour) -> f64 {
        let ((r0, g0, b0), (r1, g1, b1)) = (a.rgb, b.rgb);
        let square = |x: u8, y: u8| (f64::from(x) - f64::from(y)).powi(2);
        (square(r0, r1) + square(g0, g1) + square(b0, b1)).sqrt()
    }

    #[test]
    fn known_mechanisms_are_far_apart() {
        for (i, (a, first)) in KNOWN.iter().enumerate() {
            for (b, second) in &KNOWN[i + 1..] {
                assert!(distance(*first, *second) > 60.0, "{a} and {b}");
            }
        }
    }

    #[test]
    fn known_mechanisms_show_on_white() {
        for (id, colour) in KNOWN {
            assert!(colour.lightness() < 0.7, "{id}");
        }
    }

    #[test]
    fn unknown_ids_are_deterministic() {
        assert_eq!(colour("novel"), colour("novel"));
        assert!(FALLBACK.contains(&colour("novel")));
    }

    #[test]
    fn repeats_get_other_shades() {
        for &(_, base) in KNOWN {
            let shades: Vec<_> = (0..3).map(|repeat| shade(base, repeat)).collect();
            assert!(distance(shades[0], shades[1]) > 40.0);
            assert!(distance(shades[0], shades[2]) > 40.0);
            assert!(distance(shades[1], shades[2]) > 40.0);
        }
    }
}
