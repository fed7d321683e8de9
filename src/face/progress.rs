//! A progress bar for long runs, on a terminal only.

use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use indicatif::{HumanDuration, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};

use crate::analysis::cost;
use crate::base::console::{self, say};

/// Shorter work needs no bar.
const LONG: f64 = 1.0;

/// Progress in units of predicted work, so that the remaining time is right when cells differ.
pub struct Progress {
    bar: Option<ProgressBar>,
}

impl Progress {
    /// A bar for work of `cpu_seconds` predicted seconds of one thread; none if the work is short, or
    /// with `quiet`.
    pub fn new(cpu_seconds: f64, threads: usize, quiet: bool) -> Self {
        let predicted = cpu_seconds / threads as f64;
        let visible = !quiet && predicted > LONG;
        Self { bar: visible.then(|| bar(cpu_seconds, predicted)) }
    }

    /// A part of the work, of `cpu_seconds` predicted seconds of one thread.
    pub fn part(&self, cpu_seconds: f64) -> ProgressShare<'_> {
        ProgressShare { progress: self, left: units(cpu_seconds).into() }
    }

    /// Prints a line above the bar.
    pub fn line(&self, text: &str) {
        match self.bar.as_ref().filter(|bar| !bar.is_hidden()) {
            Some(bar) => bar.println(text),
            None => say(text),
        }
    }

    /// Hides the bar while something is printed.
    pub fn aside<T>(&self, print: impl FnOnce() -> T) -> T {
        match &self.bar {
            Some(bar) => bar.suspend(print),
            None => print(),
        }
    }

    fn count(&self, units: u64) {
        self.bar.iter().for_each(|bar| bar.inc(units));
    }

    /// Takes the bar away.
    pub fn finish(&self) {
        self.bar.iter().for_each(ProgressBar::finish_and_clear);
    }
}

/// A clock that shows the elapsed and the predicted time, for work that does not tell how far it is.
/// It is shown on a terminal only, until it is dropped.
#[must_use = "it is gone when it is dropped"]
pub struct Clock(ProgressBar);

impl Clock {
    /// A clock for work of `predicted` seconds.
    pub fn new(predicted: f64) -> Self {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        let share = move |state: &ProgressState, text: &mut dyn Write| {
            let bar = console::bar(state.elapsed().as_secs_f64(), predicted, 40);
            // A bar that cannot be drawn is no reason to stop.
            let _ = write!(text, "{bar:40}");
        };
        let style =
            format!("{{share}} {{elapsed}} of about {}  {{msg}}", cost::duration(predicted));
        if let Ok(style) = ProgressStyle::with_template(&style) {
            bar.set_style(style.with_key("share", share));
        }
        bar.enable_steady_tick(Duration::from_millis(200));
        Self(bar)
    }

    /// Shows beside the clock what is known so far.
    pub fn tell(&self, text: String) {
        self.0.set_message(text);
    }
}

impl Drop for Clock {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

/// A part of the work. When it is dropped, all of it counts as done.
pub struct ProgressShare<'a> {
    progress: &'a Progress,
    left: AtomicU64,
}

impl ProgressShare<'_> {
    /// A piece of `cpu_seconds` predicted seconds of one thread is done.
    pub fn advance(&self, cpu_seconds: f64) {
        let piece = units(cpu_seconds);
        let take = |left: u64| Some(left.saturating_sub(piece));
        let before = self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take);
        self.progress.count(piece.min(before.unwrap_or(0)));
    }
}

impl Drop for ProgressShare<'_> {
    fn drop(&mut self) {
        self.progress.count(*self.left.get_mut());
    }
}

fn bar(cpu_seconds: f64, predicted: f64) -> ProgressBar {
    let target = ProgressDrawTarget::stderr();
    let bar = ProgressBar::with_draw_target(Some(units(cpu_seconds)), target);
    let left = move |state: &ProgressState, text: &mut dyn Write| {
        let seconds = remaining(state.elapsed().as_secs_f64(), state.fraction().into(), predicted);
        // A bar that cannot be drawn is no reason to stop.
        let _ = write!(text, "{}", HumanDuration(Duration::from_secs_f64(seconds)));
    };
    let style = "{bar:40} {percent:>3} %  {elapsed} elapsed, about {left} left";
    if let Ok(style) = ProgressStyle::with_template(style) {
        bar.set_style(style.with_key("left", left));
    }
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}

/// The seconds left after `elapsed`, when cells that make up `fraction` of the predicted work are
/// finished. At first this is the prediction, since large cells may be half done without showing. When
/// a quarter is finished, it is almost only what the pace so far says.
fn remaining(elapsed: f64, fraction: f64, predicted: f64) -> f64 {
    let pace = if fraction > 0.0 { elapsed / (fraction * predicted) } else { 1.0 };
    let trust = 1.0 - (1.0 - fraction).powi(6);
    let trusted = 1.0 + trust * (pace.clamp(0.1, 10.0) - 1.0);
    ((1.0 - fraction) * predicted * trusted).max(0.0)
}

/// Microseconds, at least one.
fn units(seconds: f64) -> u64 {
    ((seconds * 1e6) as u64).saturating_add(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_remaining_time_moves_from_prediction_to_pace() {
        assert_eq!(remaining(0.0, 0.0, 80.0), 80.0);
        // One per cent that takes four times too long may be chance; a quarter of the work is not.
        assert!((remaining(3.2, 0.01, 80.0) / 79.2 - 1.17).abs() < 0.01);
        assert!((remaining(80.0, 0.25, 80.0) / 240.0 - 0.87).abs() < 0.01);
        assert!((remaining(80.0, 0.5, 80.0) / 80.0 - 0.99).abs() < 0.01);
        assert_eq!(remaining(100.0, 1.0, 80.0), 0.0);
    }

    #[test]
    fn a_part_counts_once_and_wholly() {
        let progress = Progress { bar: Some(ProgressBar::hidden()) };
        let position = || progress.bar.as_ref().map_or(0, ProgressBar::position);
        let (one, other) = (progress.part(1.0), progress.part(2.0));
        one.advance(0.4);
        other.advance(5.0);
        assert_eq!(position(), units(0.4) + units(2.0));
        drop((one, other));
        assert_eq!(position(), units(1.0) + units(2.0));
    }
}
