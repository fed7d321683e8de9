//! How figures look: fonts, sizes, colours and line widths, in one place.
//!
//! Lengths are in steps of a grid: the text of a page is 640 steps wide, a column 400, a screen 420.
//! plotters draws in whole units, 20 of them a point; [`Theme::units`] goes from one to the other.

use plotters::style::colors::colormaps::{ColorMap, ViridisRGB};
use plotters::style::{Color, RGBColor, ShapeStyle};
use plotters_backend::BackendColor;

use super::element::Hatching;
use super::font::Font;

/// Units of a drawing area in a point.
pub(super) const UNITS_PER_POINT: f64 = 20.0;
/// The smallest type on paper, in points.
const LEAST_TYPE: f64 = 6.0;
/// The smallest type on a screen, in steps of the grid. On a phone a step is about 0.9 pixels.
const LEAST_SCREEN_TYPE: f64 = 10.0;

/// How wide a figure is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Width {
    /// The text of a page: 6.75 inches.
    #[default]
    Text,
    /// One of two columns: 3.25 inches.
    Column,
    /// A drawing inside a page of HTML, which stretches it: legible on a phone and on a desk.
    Screen,
}

impl Width {
    /// Every width that a file can have.
    pub const ALL: &[Self] = &[Self::Text, Self::Column];

    pub fn id(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Column => "column",
            Self::Screen => "screen",
        }
    }

    pub(super) fn points(self) -> f64 {
        match self {
            Self::Text => 486.0,
            Self::Column => 234.0,
            Self::Screen => 210.0,
        }
    }
}

/// Sizes of type and of the grid, for one width.
#[derive(Clone, Copy, Debug)]
pub(super) struct Theme {
    pub(super) width: Width,
    /// The title, bold.
    pub(super) title: Font,
    /// The settings under the title.
    pub(super) note: Font,
    /// What an axis shows.
    pub(super) label: Font,
    /// Numbers at ticks, the legend, names of curves.
    pub(super) tick: Font,
    /// Labels on the plot.
    pub(super) small: Font,
}

/// Between the edge of the page and what is on it.
pub(super) const EDGE: f64 = 10.0;
/// The length of ticks; their labels are twice as far from the axis.
pub(super) const TICK: f64 = 4.0;
/// Widths of lines: data, bounds and formulas, lines that others lie upon, axes, grid.
pub(super) const LINE: f64 = 1.7;
pub(super) const THIN: f64 = 1.2;
pub(super) const BROAD: f64 = 5.0;
pub(super) const SPINE: f64 = 0.9;
pub(super) const GRID_LINE: f64 = 0.8;
/// Radii of dots and of the hollow marks of values read off a printed figure.
pub(super) const DOT: f64 = 2.5;
pub(super) const READING: f64 = 3.2;
/// How far the printed half of a box is from its colour to white.
pub(super) const PRINTED: f64 = 0.7;

/// Whether a line is broken, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dash {
    None,
    Dashed,
    Dotted,
}

/// Colour, width and dash of a line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Pen {
    pub(super) colour: Colour,
    pub(super) width: f64,
    pub(super) dash: Dash,
}

impl Theme {
    pub(super) fn new(width: Width) -> Self {
        let least = match width {
            Width::Text | Width::Column => LEAST_TYPE / width.points() * grid_width(width),
            Width::Screen => LEAST_SCREEN_TYPE,
        };
        let font = |size: f64, bold: bool| Font { size: size.max(least), bold };
        Self {
            width,
            title: font(13.0, true),
            note: font(9.5, false),
            label: font(11.5, false),
            tick: font(11.0, false),
            small: font(10.0, false),
        }
    }

    /// Width of the page in grid steps.
    pub(super) fn page_width(self) -> f64 {
        grid_width(self.width)
    }

    /// Units of a drawing area in a grid step.
    pub(super) fn scale(self) -> f64 {
        self.width.points() * UNITS_PER_POINT / self.page_width()
    }

    /// A length or a place as plotters has it.
    pub(super) fn units(self, steps: f64) -> i32 {
        (steps * self.scale()).round() as i32
    }

    pub(super) fn line(self, colour: Colour, width: f64) -> ShapeStyle {
        colour.stroke_width(self.units(width).max(1) as u32)
    }

    /// Dash and gap in units, longer for wider lines; none for a line that is whole.
    pub(super) fn dashes(self, pen: Pen) -> Option<(i32, i32)> {
        let (dash, gap) = match pen.dash {
            Dash::None => return None,
            Dash::Dashed => (3.4, 1.9),
            Dash::Dotted => (1.3, 1.9),
        };
        Some((self.units(dash * pen.width).max(1), self.units(gap * pen.width).max(1)))
    }

    /// The hatching that says 'not private', on an area of this colour.
    pub(super) fn hatching(self, colour: Colour) -> Hatching {
        let ink = if colour.lightness() < 0.45 { colour.lighten(0.7) } else { INK };
        Hatching { spacing: self.units(4.2), style: self.line(ink, 1.0) }
    }

    /// Where titles start: over the plot, or at the edge where every point counts.
    pub(super) fn title_start(self, plot_left: f64) -> f64 {
        match self.width {
            Width::Text => plot_left,
            Width::Column | Width::Screen => EDGE,
        }
    }
}

fn grid_width(width: Width) -> f64 {
    match width {
        Width::Text => 640.0,
        Width::Column => 400.0,
        Width::Screen => 420.0,
    }
}

/// An opaque colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Colour {
    /// Red, green and blue, each from 0 to 255.
    pub rgb: (u8, u8, u8),
}

impl Color for Colour {
    fn to_backend_color(&self) -> BackendColor {
        BackendColor { alpha: 1.0, rgb: self.rgb }
    }
}

impl Colour {
    /// The colour written `0xRRGGBB`.
    pub const fn hex(code: u32) -> Self {
        let [_, red, green, blue] = code.to_be_bytes();
        Self { rgb: (red, green, blue) }
    }

    /// This colour as `#RRGGBB`.
    pub fn code(self) -> String {
        let (red, green, blue) = self.rgb;
        format!("#{red:02X}{green:02X}{blue:02X}")
    }

    /// This colour moved towards white; 0 leaves it, 1 is white.
    pub fn lighten(self, amount: f64) -> Self {
        self.mix_with(PAPER, amount)
    }

    /// This colour moved towards black; 0 leaves it, 1 is black.
    pub fn darken(self, amount: f64) -> Self {
        self.mix_with(Self::hex(0), amount)
    }

    fn mix_with(self, other: Self, amount: f64) -> Self {
        let amount = amount.clamp(0.0, 1.0);
        let blend =
            |a: u8, b: u8| (f64::from(a) + (f64::from(b) - f64::from(a)) * amount).round() as u8;
        let ((r0, g0, b0), (r1, g1, b1)) = (self.rgb, other.rgb);
        Self { rgb: (blend(r0, r1), blend(g0, g1), blend(b0, b1)) }
    }

    /// Perceived lightness from 0 (black) to 1 (white).
    pub fn lightness(self) -> f64 {
        let (r, g, b) = self.rgb;
        (0.299 * f64::from(r) + 0.587 * f64::from(g) + 0.114 * f64::from(b)) / 255.0
    }

    /// The ink of names on an area of this colour.
    pub(super) fn ink_upon(self) -> Self {
        INK_ON_AREAS[usize::from(self.lightness() < 0.45)]
    }

    /// Whether it is paper, ink, text or grid, rather than data.
    pub(super) fn is_neutral(self) -> bool {
        [PAPER, INK, TEXT, SOFT, FAINT, GRID].contains(&self)
    }
}

/// A colour that is seen through a pale one.
pub(super) fn through(pale: Colour, behind: Colour) -> Colour {
    let part = |a: u8, b: u8| (f64::from(a) * f64::from(b) / 255.0).round() as u8;
    let ((r0, g0, b0), (r1, g1, b1)) = (pale.rgb, behind.rgb);
    Colour { rgb: (part(r0, r1), part(g0, g1), part(b0, b1)) }
}

pub(super) const PAPER: Colour = Colour::hex(0xFF_FFFF);
/// Outlines, whiskers, hatching.
pub(super) const INK: Colour = Colour::hex(0x33_3333);
/// Titles and axis labels.
pub(super) const TEXT: Colour = Colour::hex(0x1A_1A1A);
/// Tick labels, spines.
pub(super) const SOFT: Colour = Colour::hex(0x40_4040);
/// The small type under the title.
pub(super) const FAINT: Colour = Colour::hex(0x5F_5F5F);
/// Grid lines.
pub(super) const GRID: Colour = Colour::hex(0xE4_E4E4);

/// The ink of names on areas, light and dark ones.
const INK_ON_AREAS: [Colour; 2] = [Colour::hex(0x14_1414), Colour::hex(0xFE_FEFE)];

/// Colours that also the colour-blind tell apart; the first six are Okabe and Ito's.
pub const BLUE: Colour = Colour::hex(0x00_72B2);
pub const VERMILION: Colour = Colour::hex(0xD5_5E00);
pub const GREEN: Colour = Colour::hex(0x00_9E73);
pub const PINK: Colour = Colour::hex(0xCC_79A7);
pub const ORANGE: Colour = Colour::hex(0xE6_9F00);
pub const SKY: Colour = Colour::hex(0x56_B4E9);
pub const WINE: Colour = Colour::hex(0x8A_1C5B);
pub const BROWN: Colour = Colour::hex(0x7A_3B1D);
pub const CRIMSON: Colour = Colour::hex(0xE6_1244);
pub const CHARCOAL: Colour = Colour::hex(0x33_3333);

/// Colours beside those of the known mechanisms: found by a search for colours that are far apart, also to eyes
/// that confuse red and green.
const OWN: &[Colour] = &[
    Colour::hex(0x8C_4049),
    Colour::hex(0x29_2591),
    Colour::hex(0x79_9549),
    Colour::hex(0x2C_A69A),
    Colour::hex(0x74_205A),
    Colour::hex(0xFF_7E72),
];

/// The colour of the user's mechanism with this number in a panel.
pub fn own_colour(number: usize) -> Colour {
    OWN[number % OWN.len()]
}

/// The colour of the group with this number. Colours that are easy to tell apart come first.
pub fn numbered_colour(number: usize) -> Colour {
    const ORDER: [Colour; 8] = [BLUE, VERMILION, GREEN, PINK, ORANGE, SKY, WINE, BROWN];
    ORDER[number % ORDER.len()]
}

/// The colour of the value with this number among some that have an order.
pub fn graded_colour(number: usize, of: usize) -> Colour {
    // The lightest colours cannot be seen on paper.
    colour_along(0.85 * number as f64 / of.saturating_sub(1).max(1) as f64)
}

/// Lighter and darker shades of a colour that can be seen on paper.
pub(super) fn shades(base: Colour) -> impl Iterator<Item = Colour> {
    let lighter = [0.2, 0.3, 0.4, 0.5, 0.6].into_iter().map(move |amount| base.lighten(amount));
    let darker = [0.25, 0.35, 0.45, 0.55, 0.65].into_iter().map(move |amount| base.darken(amount));
    lighter.chain(darker).filter(|shade| (0.08..0.78).contains(&shade.lightness()))
}

/// The colour of a number that lies a fraction of the way along its scale: even steps to the eye,
/// also to eyes that confuse red and green, and on paper without colour.
pub(super) fn colour_along(fraction: f64) -> Colour {
    let RGBColor(red, green, blue) = ViridisRGB.get_color(fraction.clamp(0.0, 1.0));
    Colour { rgb: (red, green, blue) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_type_is_smaller_than_six_points() {
        for &width in Width::ALL {
            let theme = Theme::new(width);
            for font in [theme.title, theme.note, theme.label, theme.tick, theme.small] {
                assert!(font.size * theme.scale() / UNITS_PER_POINT >= LEAST_TYPE - 1e-9);
            }
        }
    }
}
