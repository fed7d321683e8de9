//! A progress bar for long runs, on a terminal only.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Shorter work needs no bar.
const LONG: f64 = 1.0;

/// Progress in units of predicted work, so that the remaining time is honest when cells differ.
pub struct Progress {
    bar: ProgressBar,
}

impl Progress {
    /// A bar for so many predicted seconds; hidden if there are few, or if asked to be quiet.
    #[must_use]
    pub fn new(predicted_seconds: f64, cpu_seconds: f64, quiet: bool) -> Self {
        let visible = !quiet && predicted_seconds > LONG;
        let target =
            if visible { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(Some(units(cpu_seconds)), target);
        let style = "{bar:40} {percent:>3} %  {elapsed} elapsed, {eta} left  {msg}";
        bar.set_style(
            ProgressStyle::with_template(style).unwrap_or_else(|_| ProgressStyle::default_bar()),
        );
        bar.enable_steady_tick(Duration::from_millis(200));
        Self { bar }
    }

    /// A piece of so many predicted seconds of one thread is done.
    pub fn advance(&self, cpu_seconds: f64) {
        self.bar.inc(units(cpu_seconds));
    }

    /// Prints a line above the bar.
    pub fn line(&self, text: &str) {
        if self.bar.is_hidden() {
            eprintln!("{text}");
        } else {
            self.bar.println(text);
        }
    }

    /// Takes the bar away.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

/// Microseconds, at least one.
fn units(seconds: f64) -> u64 {
    (seconds * 1e6) as u64 + 1
}
