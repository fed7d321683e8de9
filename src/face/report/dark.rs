//! The drawings' colours on a dark page, as style rules. The theme of the figures says which colour a
//! colour becomes; maps keep the colours of their cells.

use std::collections::BTreeSet;

use figure::{Colour, NEUTRAL};

/// The rules that recolour these drawings, and the neutral colours of all others.
pub(super) fn rules<'a>(drawings: impl IntoIterator<Item = &'a str>) -> String {
    let found = drawings.into_iter().flat_map(codes).filter_map(parse);
    let neutral = NEUTRAL.iter().map(|(light, _)| *light);
    let colours: BTreeSet<Colour> = found.chain(neutral).collect();
    colours.into_iter().map(rule).collect()
}

/// The colours that occur in a drawing, as `#RRGGBB`.
pub(super) fn codes(svg: &str) -> impl Iterator<Item = &str> {
    svg.split("=\"#").skip(1).filter_map(|rest| rest.split_once('"')).map(|(code, _)| code)
}

fn rule(colour: Colour) -> String {
    let scope = if colour.is_neutral() { ".drawing" } else { ".drawing:not(.map)" };
    let [light, dark] = [colour, colour.on_dark()].map(Colour::code);
    format!(
        "{scope} [fill=\"{light}\"]{{fill:{dark}}}{scope} [stroke=\"{light}\"]{{stroke:{dark}}}\n"
    )
}

/// The colour written `RRGGBB`.
pub(super) fn parse(code: &str) -> Option<Colour> {
    let number = u32::from_str_radix(code, 16).ok()?;
    (code.len() == 6).then(|| Colour::hex(number))
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::mechanism::{self, Mechanism};
    use figure::{Series, distinguish};

    /// As WCAG defines it.
    fn luminance(colour: Colour) -> f64 {
        let linear = |part: u8| {
            let part = f64::from(part) / 255.0;
            if part <= 0.04045 { part / 12.92 } else { libm::pow((part + 0.055) / 1.055, 2.4) }
        };
        let (red, green, blue) = colour.rgb;
        0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue)
    }

    fn contrast(colour: Colour) -> f64 {
        (luminance(colour) + 0.05) / (luminance(NEUTRAL[0].1) + 0.05)
    }

    fn colours() -> Vec<(&'static str, Colour)> {
        let colour = |one: &&dyn Mechanism| Some((one.id(), Colour::hex(one.colour()?)));
        mechanism::ALL.iter().filter_map(colour).collect()
    }

    #[test]
    fn mechanisms_show_in_the_dark_as_lines_and_as_labels() {
        for (id, base) in colours() {
            for shade in [base, base.darken(0.12), base.darken(0.22)] {
                let seen = contrast(shade.on_dark());
                assert!(seen >= 4.5, "{id}: {seen}");
            }
        }
    }

    #[test]
    fn mechanisms_and_their_shades_stay_apart() {
        let distance = |a: Colour, b: Colour| {
            let ((r0, g0, b0), (r1, g1, b1)) = (a.rgb, b.rgb);
            let square = |x: u8, y: u8| (f64::from(x) - f64::from(y)).powi(2);
            (square(r0, r1) + square(g0, g1) + square(b0, b1)).sqrt()
        };
        let series = |colour| Series { label: String::new(), colour, private: true };
        for (id, colour) in colours() {
            let mut repeats = [series(colour), series(colour)];
            distinguish(&mut repeats);
            let [first, second] = repeats.map(|one| one.colour.on_dark());
            assert!(distance(first, second) > 25.0, "{id}");
        }
        for (i, (a, first)) in colours().iter().enumerate() {
            for (b, second) in &colours()[i + 1..] {
                let [first, second] = [first, second].map(|colour| colour.on_dark());
                assert!(distance(first, second) > 40.0, "{a} and {b}");
            }
        }
    }

    #[test]
    fn every_colour_gets_one_rule() {
        let svg = r##"<a fill="#FFFFFF" stroke="#0072B2"/><b fill="#0072B2"/><c fill="none"/>"##;
        let rules = rules([svg, svg]);
        assert_eq!(rules.lines().count(), 1 + NEUTRAL.len());
        assert!(rules.contains(".drawing [fill=\"#FFFFFF\"]{fill:#1B1E23}"));
        assert!(rules.contains(".drawing:not(.map) [stroke=\"#0072B2\"]{stroke:#"));
    }

    #[test]
    fn the_style_sheet_has_the_same_card() {
        assert!(include_str!("style.css").contains("--card: #1B1E23;"));
    }
}
