//! Labels under the groups of an axis, made to fit their slots.

use super::canvas::{Anchor, Canvas};
use super::font::Font;
use super::palette::SOFT;
use super::text::{shorten, wrap, wrap_whole};

/// The longest label that is set upright.
const TALLEST: f64 = 150.0;
/// Air between neighbouring labels.
const AIR: f64 = 7.0;

/// A group's name and what is written below it.
#[derive(Clone, Debug)]
pub(super) struct Name {
    pub(super) label: String,
    pub(super) sublabel: Option<String>,
}

/// All names of an axis in one options.
pub(super) enum Labels {
    /// Lines under each group.
    Level { font: Font, names: Vec<Vec<String>> },
    /// One line per group, reading upwards.
    Upright { font: Font, names: Vec<String> },
}

impl Labels {
    /// The first options in which no two labels collide: on one line or
    /// several, smaller, only some of them if they are numbers, upright.
    pub(super) fn fit(names: &[Name], slot: f64) -> Self {
        let manners =
            [(11.0, 1), (10.0, 1), (9.0, 1), (11.0, 2), (10.0, 2), (11.0, 3), (9.0, 2), (9.0, 3)];
        let level = manners
            .iter()
            .find_map(|(size, lines)| level(names, slot - AIR, Font::regular(*size), *lines));
        level
            .or_else(|| thinned_numbers(names, slot))
            .or_else(|| cut(names, slot))
            .unwrap_or_else(|| upright(names, slot))
    }

    pub(super) fn height(&self) -> f64 {
        match self {
            Self::Level { font, names } => {
                let lines = names.iter().map(Vec::len).max().unwrap_or(0);
                lines as f64 * font.line_height()
            }
            Self::Upright { font, names } => {
                names.iter().map(|n| font.width(n)).fold(0.0, f64::max)
            }
        }
    }

    /// Draws the labels below `top`, centred on the given places.
    pub(super) fn draw(&self, canvas: &mut Canvas, centres: &[f64], top: f64) {
        match self {
            Self::Level { font, names } => {
                for (lines, centre) in names.iter().zip(centres) {
                    draw_lines(canvas, lines, *font, *centre, top);
                }
            }
            Self::Upright { font, names } => {
                for (name, centre) in names.iter().zip(centres) {
                    let at = (centre + 0.36 * font.size, top);
                    canvas.upwards(name, *font, SOFT, at, Anchor::End);
                }
            }
        }
    }
}

fn draw_lines(canvas: &mut Canvas, lines: &[String], font: Font, centre: f64, top: f64) {
    for (i, line) in lines.iter().enumerate() {
        let half = font.width(line) / 2.0 + 2.0;
        let centre = centre.min(canvas.width - half).max(half);
        let baseline = top + 0.8 * font.size + i as f64 * font.line_height();
        canvas.text(line, font, SOFT, (centre, baseline), Anchor::Middle);
    }
}

/// Every name in full, each part on at most `lines` lines. Sublabels start on
/// the same line everywhere, so that they compare.
fn level(names: &[Name], width: f64, font: Font, lines: usize) -> Option<Labels> {
    let part = |text: &str| wrap_whole(text, font, width, lines);
    let upper: Vec<Vec<String>> = names.iter().map(|n| part(&n.label)).collect::<Option<_>>()?;
    let below = |name: &Name| part(name.sublabel.as_deref().unwrap_or(""));
    let lower: Vec<Vec<String>> = names.iter().map(below).collect::<Option<_>>()?;
    let rows = upper.iter().map(Vec::len).max().unwrap_or(0);
    let stack = |(mut upper, lower): (Vec<String>, Vec<String>)| {
        if !lower.is_empty() {
            upper.resize(rows, String::new());
        }
        upper.extend(lower);
        upper
    };
    let names = upper.into_iter().zip(lower).map(stack).collect();
    Some(Labels::Level { font, names })
}

/// Numbers form a scale, of which some suffice.
fn thinned_numbers(names: &[Name], slot: f64) -> Option<Labels> {
    let number = |name: &Name| name.sublabel.is_none() && name.label.parse::<f64>().is_ok();
    if !names.iter().all(number) {
        return None;
    }
    let font = Font::regular(11.0);
    let widest = names.iter().map(|n| font.width(&n.label)).fold(0.0, f64::max);
    let every = ((widest + AIR) / slot).ceil().max(1.0) as usize;
    let some = |(i, name): (usize, &Name)| match i % every {
        0 => vec![name.label.clone()],
        _ => Vec::new(),
    };
    let names = names.iter().enumerate().map(some).collect();
    Some(Labels::Level { font, names })
}

/// Shortened text where there is room for a good part of it.
fn cut(names: &[Name], slot: f64) -> Option<Labels> {
    let font = Font::regular(10.0);
    let lines = |name: &Name| {
        let mut lines = wrap(&name.label, font, slot - AIR, 3);
        let below = name.sublabel.as_deref().unwrap_or("");
        lines.extend(wrap(below, font, slot - AIR, 2));
        lines
    };
    let names = || names.iter().map(lines).collect();
    (slot >= 110.0).then(|| Labels::Level { font, names: names() })
}

/// One line per group, leaving some out if even that is too tight.
fn upright(names: &[Name], slot: f64) -> Labels {
    let font = Font::regular(if slot > 12.5 { 10.0 } else { 9.0 });
    let every = (1.1 * font.size / slot.max(0.1)).ceil().max(1.0) as usize;
    let joined = |(i, name): (usize, &Name)| match (&name.sublabel, i % every) {
        (Some(below), 0) => shorten(&format!("{} ({below})", name.label), font, TALLEST),
        (None, 0) => shorten(&name.label, font, TALLEST),
        _ => String::new(),
    };
    let names = names.iter().enumerate().map(joined).collect();
    Labels::Upright { font, names }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::testing::{Lcg, overlaps, texts};

    fn name(label: String, sublabel: Option<String>) -> Name {
        Name { label, sublabel }
    }

    #[test]
    fn labels_never_collide() {
        let mut random = Lcg::new(5);
        for _ in 0..400 {
            let groups = 1 + (random.unit() * 45.0) as usize;
            let longest = random.unit() * 40.0;
            let below = random.unit() < 0.5;
            let names: Vec<Name> = (0..groups)
                .map(|_| name(random.words(longest), below.then(|| random.words(10.0))))
                .collect();
            let slot = 640.0 / groups as f64;
            let centres: Vec<f64> = (0..groups).map(|i| 60.0 + slot * (i as f64 + 0.5)).collect();
            let labels = Labels::fit(&names, slot);
            let mut canvas = Canvas::new(720.0);
            labels.draw(&mut canvas, &centres, 10.0);
            canvas.height = 10.0 + labels.height();
            assert_eq!(overlaps(&texts(&canvas)), None);
            for text in texts(&canvas) {
                let bounds = text.bounds();
                assert!(bounds.left >= 0.0 && bounds.right() <= 720.0, "{text:?}");
                assert!(bounds.bottom() <= canvas.height + 1.0, "{text:?}");
            }
        }
    }

    #[test]
    fn numbers_are_thinned_not_turned() {
        let names: Vec<Name> = (0..45).map(|i| name((1000 + i * 25).to_string(), None)).collect();
        assert!(matches!(Labels::fit(&names, 14.0), Labels::Level { .. }));
    }

    #[test]
    fn sublabels_line_up() {
        let names = [
            name("a long one indeed".into(), Some("1 / 2".into())),
            name("short".into(), Some("3 / 4".into())),
        ];
        let Labels::Level { names, .. } = Labels::fit(&names, 75.0) else {
            panic!("there is room for level labels");
        };
        assert_eq!(names[0].len(), names[1].len());
    }
}
