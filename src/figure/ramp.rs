//! Numbers as colours: a scale of even steps to the eye, also to eyes that
//! confuse red and green, and on paper without colour.

use super::axis::Axis;
use super::palette::Colour;

/// From dark to bright along viridis (Smith and van der Walt).
const STOPS: &[Colour] = &[
    Colour::hex(0x44_0154),
    Colour::hex(0x47_2D7B),
    Colour::hex(0x3B_528B),
    Colour::hex(0x2C_728E),
    Colour::hex(0x21_918C),
    Colour::hex(0x28_AE80),
    Colour::hex(0x5E_C962),
    Colour::hex(0xAD_DC30),
    Colour::hex(0xFD_E725),
];

/// The colour a fraction of the way along.
pub(super) fn along(fraction: f64) -> Colour {
    let last = STOPS.len() - 1;
    let at = fraction.clamp(0.0, 1.0) * last as f64;
    let stop = (at as usize).min(last - 1);
    STOPS[stop].mix(STOPS[stop + 1], at - stop as f64)
}

/// A range of numbers and the colours they have.
#[derive(Clone, Debug)]
pub(super) struct Ramp {
    pub(super) range: (f64, f64),
    pub(super) log: bool,
    axis: Axis,
}

impl Ramp {
    /// Over these numbers, from zero if that is near.
    pub(super) fn fitting((low, high): (f64, f64), log: bool) -> Self {
        let near_zero = !log && low > 0.0 && low < 0.1 * high;
        Self::over((if near_zero { 0.0 } else { low }, high), log)
    }

    pub(super) fn over(range: (f64, f64), log: bool) -> Self {
        Self { range, log, axis: Axis::over(range, log, 2.0) }
    }

    /// How far along the colours the number is; beyond their ends, at these.
    pub(super) fn position(&self, value: f64) -> Option<f64> {
        self.axis.fraction(value).map(|at| at.clamp(0.0, 1.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_get_ever_brighter_in_even_steps() {
        let light: Vec<f64> = (0..=32).map(|i| along(f64::from(i) / 32.0).lightness()).collect();
        assert!(light.windows(2).all(|pair| (0.005..0.05).contains(&(pair[1] - pair[0]))));
    }

    #[test]
    fn numbers_beyond_the_ends_have_their_colours() {
        let ramp = Ramp::over((1.0, 100.0), true);
        assert_eq!(ramp.position(0.5), Some(0.0));
        assert_eq!(ramp.position(1e9), Some(1.0));
        assert!((ramp.position(10.0).expect("inside") - 0.5).abs() < 1e-12);
        assert_eq!(ramp.position(-1.0), None);
        assert_eq!(ramp.position(f64::NAN), None);
    }
}
