//! Progress of long work: one line on a terminal, which is gone when the work ends.

mod countdown;
mod line;
mod screen;

use std::fmt::Write;
use std::io::{self, IsTerminal};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};

use crate::interrupt;
use countdown::Countdown;
use engine::analysis::cost;
use line::line;
use screen::Screen;
use system::console::say;

/// Shorter work needs no bar.
const LONG: f64 = 1.0;

/// How often the line is drawn.
const TICK: Duration = Duration::from_millis(200);

/// The line is not drawn more often than this in a second.
const MOST_DRAWN: u8 = 10;

/// The work ahead. What is kept of earlier work is no part of it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ahead {
    /// Predicted seconds of one thread.
    pub cpu_seconds: f64,
    pub cells: usize,
}

/// Progress in units of predicted work, so that the remaining time is right when cells differ.
pub struct Progress {
    shown: Option<(ProgressBar, Arc<View>)>,
}

/// What the line shows beside the share of the work that is done.
struct View {
    task: Mutex<String>,
    cells: usize,
    done: AtomicUsize,
    countdown: Mutex<Countdown>,
}

impl View {
    fn line(&self, state: &ProgressState, width: usize) -> String {
        let share = f64::from(state.fraction());
        // It is not done before it is done.
        let mut facts = vec![format!("{:.0} %", (100.0 * share).floor().min(99.0))];
        if self.cells > 0 {
            let done = self.done.load(Ordering::Relaxed).min(self.cells);
            facts.push(format!("{done} of {} cells", self.cells));
        }
        let left = lock(&self.countdown).at(state.elapsed().as_secs_f64(), share);
        facts.extend(left.map(|left| left.to_string()));
        line(&lock(&self.task), share, &facts, width)
    }
}

impl Progress {
    /// A bar for the work ahead; none if the work is short, or with `quiet`.
    pub fn new(ahead: Ahead, threads: usize, quiet: bool) -> Self {
        let predicted = ahead.cpu_seconds / threads as f64;
        if quiet || predicted <= LONG {
            return Self { shown: None };
        }
        let view = Arc::new(View {
            task: Mutex::default(),
            cells: ahead.cells,
            done: AtomicUsize::new(0),
            countdown: Mutex::new(Countdown::new(predicted)),
        });
        let drawn = Arc::clone(&view);
        let bar =
            on_screen(Some(units(ahead.cpu_seconds)), move |state, width| drawn.line(state, width));
        Self { shown: Some((bar, view)) }
    }

    /// Whether there is a bar, but no terminal that shows it.
    pub fn is_hidden(&self) -> bool {
        self.shown.as_ref().is_some_and(|(bar, _)| bar.is_hidden())
    }

    /// A part of the work, of `cpu_seconds` predicted seconds of one thread.
    pub fn part(&self, cpu_seconds: f64) -> ProgressShare<'_> {
        ProgressShare { progress: self, left: units(cpu_seconds).into() }
    }

    /// Shows what is being worked on.
    pub fn task(&self, name: impl FnOnce() -> String) {
        if let Some((_, view)) = &self.shown {
            *lock(&view.task) = name();
        }
    }

    /// A cell is done.
    pub fn cell(&self) {
        self.shown.iter().for_each(|(_, view)| {
            view.done.fetch_add(1, Ordering::Relaxed);
        });
    }

    /// Prints a message above the bar.
    pub fn line(&self, text: &str) {
        self.aside(|| say(text));
    }

    /// Hides the bar while something is printed.
    pub fn aside<T>(&self, print: impl FnOnce() -> T) -> T {
        match &self.shown {
            Some((bar, _)) => bar.suspend(print),
            None => print(),
        }
    }

    fn count(&self, units: u64) {
        self.shown.iter().for_each(|(bar, _)| bar.inc(units));
    }

    /// Takes the bar away.
    pub fn finish(&self) {
        if self.shown.is_some() {
            wipe();
        }
    }
}

/// A clock that shows the elapsed and the predicted time, for work that does not tell how far it is.
/// It is shown on a terminal only, until it is dropped.
#[must_use = "it is gone when it is dropped"]
pub struct Clock(Arc<Mutex<String>>);

impl Clock {
    /// A clock for work of `predicted` seconds.
    pub fn new(predicted: f64) -> Self {
        let known = Arc::new(Mutex::new(String::new()));
        let told = Arc::clone(&known);
        let bar = on_screen(None, move |state, width| {
            let elapsed = state.elapsed().as_secs_f64();
            let fact = format!("{elapsed:.0} s of about {}", cost::duration(predicted));
            line(&lock(&told), elapsed / predicted, &[fact], width)
        });
        if !bar.is_hidden() {
            interrupt::end_with_message();
        }
        Self(known)
    }

    /// Shows beside the clock what is known so far.
    pub fn tell(&self, text: String) {
        *lock(&self.0) = text;
    }
}

impl Drop for Clock {
    fn drop(&mut self) {
        wipe();
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

/// The line that is on the screen, if there is one.
static ON_SCREEN: Mutex<Option<ProgressBar>> = Mutex::new(None);

/// A message that takes the place of the line.
static MESSAGE: Mutex<Option<&str>> = Mutex::new(None);

/// Says how long work will take.
pub fn say_duration(seconds: f64) {
    say(format!("this will take about {}", cost::duration(seconds)));
}

/// Puts a line on the screen, where there is one.
fn on_screen(
    length: Option<u64>,
    line: impl Fn(&ProgressState, usize) -> String + Clone + Send + Sync + 'static,
) -> ProgressBar {
    let target = match io::stderr().is_terminal() {
        true => ProgressDrawTarget::term_like_with_hz(Box::<Screen>::default(), MOST_DRAWN),
        false => ProgressDrawTarget::hidden(),
    };
    let bar = ProgressBar::with_draw_target(length, target);
    let draw = move |state: &ProgressState, text: &mut dyn Write| {
        let shown = lock(&MESSAGE).map_or_else(|| line(state, screen::width()), str::to_owned);
        // A line that cannot be drawn is no reason to stop.
        let _ = text.write_str(&shown);
    };
    if let Ok(style) = ProgressStyle::with_template("{line}") {
        bar.set_style(style.with_key("line", draw));
    }
    bar.enable_steady_tick(TICK);
    *lock(&ON_SCREEN) = Some(bar.clone());
    bar
}

/// Takes the line off the screen for good. Says whether one was shown.
pub fn wipe() -> bool {
    let bar = lock(&ON_SCREEN).take();
    bar.iter().for_each(ProgressBar::finish_and_clear);
    bar.is_some_and(|bar| !bar.is_hidden())
}

/// Shows a message in place of the line, if there is one. Says whether there is.
pub fn replace(message: &'static str) -> bool {
    let bar = lock(&ON_SCREEN).clone().filter(|bar| !bar.is_hidden());
    let Some(bar) = bar else { return false };
    *lock(&MESSAGE) = Some(message);
    bar.force_draw();
    true
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Microseconds, at least one.
fn units(seconds: f64) -> u64 {
    ((seconds * 1e6) as u64).saturating_add(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_counts_once_and_wholly() {
        let progress = Progress::new(Ahead { cpu_seconds: 100.0, cells: 2 }, 1, false);
        let position = || progress.shown.as_ref().map_or(0, |(bar, _)| bar.position());
        let (one, other) = (progress.part(1.0), progress.part(2.0));
        one.advance(0.4);
        other.advance(5.0);
        assert_eq!(position(), units(0.4) + units(2.0));
        drop((one, other));
        assert_eq!(position(), units(1.0) + units(2.0));
        progress.finish();
    }
}
