//! One line that shows progress and fits the terminal.

use system::console::{bar, visible};

/// Longer bars show nothing more.
const LONGEST_BAR: usize = 30;

/// A name is cut to make room for a bar of this length.
const USUAL_BAR: usize = 14;

/// Shorter bars show nothing.
const SHORTEST_BAR: usize = 6;

/// Less of a task's name says nothing.
const SHORTEST_TASK: usize = 10;

/// The task, a bar for the share that is done, and facts, in at most `width` characters. What does
/// not fit goes: first the facts in the middle, then the end of a long name, then the bar, then all but the
/// last fact, which is the most important one.
pub(super) fn line(task: &str, share: f64, facts: &[String], width: usize) -> String {
    let whole = [&[task.to_owned()], facts].concat().join("  ");
    if let [first, _, .., last] = facts
        && visible(&whole) + USUAL_BAR + 2 > width
    {
        return line(task, share, &[first.clone(), last.clone()], width);
    }
    let told = facts.join("  ");
    let room = width.saturating_sub(visible(&told) + 2);
    if room < SHORTEST_TASK + 2 {
        return match facts {
            [_, rest @ ..] if !rest.is_empty() => line(task, share, rest, width),
            _ => cut(&told, width),
        };
    }
    let beside = |bar: usize| room.saturating_sub(bar + 2);
    let with_bar = beside(USUAL_BAR).max(SHORTEST_TASK).min(beside(SHORTEST_BAR));
    let task = match with_bar >= SHORTEST_TASK || task.is_empty() {
        true => cut(task, with_bar),
        false => cut(task, room),
    };
    let gap = if task.is_empty() { 0 } else { 2 };
    let length = room.saturating_sub(visible(&task) + gap).min(LONGEST_BAR);
    let mut parts = vec![task];
    if length >= SHORTEST_BAR {
        let full = bar(share, 1.0, length);
        let rest = "░".repeat(length - visible(&full));
        parts.push(full + &rest);
    }
    parts.push(told);
    parts.retain(|part| !part.is_empty());
    parts.join("  ")
}

/// The text, or its beginning and an ellipsis.
fn cut(text: &str, room: usize) -> String {
    if visible(text) <= room {
        return text.to_owned();
    }
    let kept: String = text.chars().take(room.saturating_sub(1)).collect();
    kept.trim_end().to_owned() + "…"
}

#[cfg(test)]
mod tests {
    use super::*;

    const TASK: &str = "papers_icml_fig4, prior (1, 1), n = 600";

    fn facts() -> Vec<String> {
        ["43 %", "1234 of 5678 cells", "over 18 s left"].map(str::to_owned).into()
    }

    #[test]
    fn every_width_is_kept() {
        for width in 1..200 {
            let line = line(TASK, 0.43, &facts(), width);
            assert!(visible(&line) <= width, "{width}: {line}");
        }
    }

    #[test]
    fn a_wide_terminal_shows_all_and_a_narrow_one_the_time() {
        let wide = line(TASK, 0.5, &facts(), 120);
        assert!(wide.starts_with(TASK) && wide.contains("██░") && wide.ends_with("left"), "{wide}");
        let usual = line(TASK, 0.5, &facts(), 80);
        assert!(usual.starts_with(TASK) && usual.contains("  ███"), "{usual}");
        assert!(usual.ends_with("43 %  over 18 s left"), "{usual}");
        assert_eq!(line(TASK, 0.5, &facts(), 30), "papers_icml_f…  over 18 s left");
    }
}
