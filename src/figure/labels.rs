//! Names under the groups of an axis, made to fit their places.

use plotters::style::FontTransform;
use plotters::style::text_anchor::HPos;

use super::FigureError;
use super::font::Font;
use super::page::Page;
use super::theme::{SOFT, SPINE, TICK, Theme};

/// The longest label that is set upright.
const TALLEST: f64 = 180.0;
/// Air between neighbouring labels.
const AIR: f64 = 5.0;

/// All names of an axis, as lines under each group or as one line that reads upwards.
pub struct Labels {
    font: Font,
    upright: bool,
    names: Vec<Vec<String>>,
}

impl Labels {
    /// The first way in which no two names collide, each with what is written below it: on one line
    /// or several, smaller, every second one lower, only some of them if they are numbers, upright.
    pub fn fit(theme: Theme, names: &[(&str, Option<&str>)], slot: f64) -> Self {
        let Theme { tick, small, note, .. } = theme;
        let ways = [(tick, 1), (small, 1), (note, 1), (tick, 2), (small, 2), (tick, 3), (note, 3)];
        let all_level =
            ways.iter().find_map(|(font, lines)| level(names, slot - AIR, *font, *lines));
        let numbers =
            names.iter().all(|(name, below)| name.parse::<f64>().is_ok() && below.is_none());
        let thinned = |length: f64| (length / slot.max(0.1)).ceil().max(1.0) as usize;
        let (upright, font, every) = match numbers {
            // Numbers form a scale, of which some suffice.
            true => (false, tick, thinned(tick.widest(names.iter().map(|n| n.0)) + AIR)),
            false => (true, note, thinned(1.1 * note.size)),
        };
        let one = |(i, (name, below)): (usize, &(&str, Option<&str>))| match below {
            _ if i % every > 0 => Vec::new(),
            Some(below) => vec![font.shorten(&format!("{name} ({below})"), TALLEST)],
            None => vec![font.shorten(name, TALLEST)],
        };
        let lowered = || staggered(names, slot, note).filter(|_| !numbers);
        all_level.or_else(lowered).unwrap_or_else(|| Self {
            font,
            upright,
            names: names.iter().enumerate().map(one).collect(),
        })
    }

    pub fn height(&self) -> f64 {
        match self.upright {
            true => self.font.widest(self.names.iter().flatten().map(String::as_str)),
            false => {
                let lines = self.names.iter().map(Vec::len).max().unwrap_or(0);
                lines as f64 * self.font.line_height()
            }
        }
    }

    /// Draws ticks under the axis at `foot` and the names under them.
    pub fn draw(&self, page: &Page, centres: &[f64], foot: f64) -> Result<(), FigureError> {
        let (font, top) = (self.font, foot + 2.0 * TICK);
        for (lines, centre) in self.names.iter().zip(centres) {
            page.line(&[(*centre, foot), (*centre, foot + TICK)], SOFT, SPINE)?;
            for (i, line) in (0..).zip(lines) {
                if self.upright {
                    let style = page.style(font, SOFT, HPos::Right);
                    let at = (centre + 0.36 * font.size, top);
                    page.text(line, style.transform(FontTransform::Rotate270), at)?;
                    continue;
                }
                let half = font.width(line) / 2.0 + 2.0;
                let x = centre.min(page.theme.page_width() - half).max(half);
                let baseline = top + 0.8 * font.size + f64::from(i) * font.line_height();
                page.text(line, page.style(font, SOFT, HPos::Center), (x, baseline))?;
            }
        }
        Ok(())
    }
}

/// Every name in full, each part on at most `lines` lines. What is below starts on the same line
/// everywhere, so that it compares.
fn level(names: &[(&str, Option<&str>)], width: f64, font: Font, lines: usize) -> Option<Labels> {
    let part = |text: &str| font.wrap_whole(text, width, lines);
    let upper: Vec<Vec<String>> = names.iter().map(|name| part(name.0)).collect::<Option<_>>()?;
    let rows = upper.iter().map(Vec::len).max().unwrap_or(0);
    let stack = |(mut upper, (_, below)): (Vec<String>, &(&str, Option<&str>))| {
        if let Some(below) = below {
            upper.resize(rows, String::new());
            upper.extend(part(below)?);
        }
        Some(upper)
    };
    let names = upper.into_iter().zip(names).map(stack).collect::<Option<_>>()?;
    Some(Labels { font, upright: false, names })
}

/// Names on two heights, so that each has the room of two places.
fn staggered(names: &[(&str, Option<&str>)], slot: f64, font: Font) -> Option<Labels> {
    let mut labels = level(names, 2.0 * slot - AIR, font, 1)?;
    let height = labels.names.iter().map(Vec::len).max()?;
    for lines in labels.names.iter_mut().skip(1).step_by(2) {
        lines.splice(0..0, vec![String::new(); height]);
    }
    Some(labels)
}
