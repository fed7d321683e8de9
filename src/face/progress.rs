//! Progress of long work, measured by what is done of it: one line on a terminal, which is gone when the work
//! ends; elsewhere a line now and then.

use std::fmt::Write;
use std::io::{self, IsTerminal};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};

use engine::parallel;
use system::console::say;

/// Shorter work shows nothing.
const LONG: Duration = Duration::from_secs(2);

/// How often what is done is looked at.
const TICK: Duration = Duration::from_millis(200);

/// The whole work.
const UNITS: u64 = 1 << 40;

/// The line. A terminal writes `^C` behind it, which must not begin a second one.
const LINE: &str = "{wide_msg}  {bar:20}  {percent} %{left}    ";

/// The line that is on the screen, or would be on a terminal.
static SHOWN: Mutex<Option<ProgressBar>> = Mutex::new(None);

/// Progress is shown until this is dropped.
#[must_use = "it is gone when it is dropped"]
pub struct Progress(Option<(Sender<()>, JoinHandle<()>)>);

/// From here on the work of this thread is measured, and shown unless the user wants `quiet`.
pub fn show(quiet: bool) -> Progress {
    parallel::begin();
    if quiet {
        return Progress(None);
    }
    let bar = ProgressBar::with_draw_target(Some(UNITS), ProgressDrawTarget::hidden());
    if let Ok(style) = ProgressStyle::with_template(LINE) {
        let left = |state: &ProgressState, text: &mut dyn Write| {
            let left = left(state.eta(), state.pos());
            // A line that cannot be drawn is no reason to stop.
            let _ = left.map_or(Ok(()), |left| write!(text, ", {left}"));
        };
        bar.set_style(style.with_key("left", left));
    }
    *lock() = Some(bar.clone());
    let (end, ended) = mpsc::channel::<()>();
    let watch = move || {
        let mut teller = Teller::new(&bar);
        while ended.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
            teller.look();
        }
    };
    let watching = thread::Builder::new().name("dpbi progress".to_owned()).spawn(watch);
    // Without a thread there is nothing to see, and the work goes on.
    Progress(watching.ok().map(|thread| (end, thread)))
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some((end, thread)) = self.0.take() {
            drop(end);
            let _ = thread.join();
        }
        wipe();
    }
}

/// Shows what is done.
struct Teller<'a> {
    bar: &'a ProgressBar,
    begun: Instant,
    is_terminal: bool,
    /// When the next line is due, if there is no terminal: each time twice as late as the one before.
    next: Duration,
}

impl<'a> Teller<'a> {
    fn new(bar: &'a ProgressBar) -> Self {
        Self { bar, begun: Instant::now(), is_terminal: io::stderr().is_terminal(), next: LONG }
    }

    fn look(&mut self) {
        let position = (parallel::done() * UNITS as f64) as u64;
        // It is not done before it is done.
        self.bar.set_position(position.min(UNITS - UNITS / 200));
        if self.begun.elapsed() < self.next {
            return;
        }
        self.next *= 2;
        if !self.is_terminal {
            return say(self.line());
        }
        if self.bar.is_hidden() {
            self.bar.set_draw_target(ProgressDrawTarget::stderr_with_hz(5));
        }
    }

    fn line(&self) -> String {
        let (bar, done) = (self.bar, self.bar.position());
        let share = format!("{} % done", 100 * done / UNITS);
        let task = bar.message();
        let task = if task.is_empty() { String::new() } else { format!("{task}: ") };
        match left(bar.eta(), done) {
            Some(left) => format!("{task}{share}, {left}"),
            None => format!("{task}{share} after {} s", self.begun.elapsed().as_secs()),
        }
    }
}

/// The time that is left in words; nothing if nothing is done yet.
fn left(left: Duration, done: u64) -> Option<String> {
    let seconds = left.as_secs_f64();
    (done > 0).then(|| match seconds {
        s if s < 99.5 => format!("about {:.0} s left", s.max(1.0)),
        s if s < 6000.0 => format!("about {:.0} min left", s / 60.0),
        s if s < 172_800.0 => format!("about {:.0} h left", s / 3600.0),
        s => format!("about {:.0} days left", s / 86_400.0),
    })
}

/// Shows what is being worked on.
pub fn task(name: impl FnOnce() -> String) {
    if let Some(bar) = &*lock() {
        bar.set_message(name());
    }
}

/// Hides the line while something is printed.
pub fn aside<T>(print: impl FnOnce() -> T) -> T {
    let bar = lock().clone();
    match bar {
        Some(bar) => bar.suspend(print),
        None => print(),
    }
}

/// Takes the line off the screen for good.
pub fn wipe() {
    if let Some(bar) = lock().take() {
        bar.finish_and_clear();
    }
}

fn lock() -> MutexGuard<'static, Option<ProgressBar>> {
    SHOWN.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_left_in_words() {
        let left = |seconds| left(Duration::from_secs_f64(seconds), 1);
        assert_eq!(left(0.2).as_deref(), Some("about 1 s left"));
        assert_eq!(left(17.3).as_deref(), Some("about 17 s left"));
        assert_eq!(left(170.0).as_deref(), Some("about 3 min left"));
        assert_eq!(left(9e3).as_deref(), Some("about 2 h left"));
        assert_eq!(left(9e5).as_deref(), Some("about 10 days left"));
        assert_eq!(super::left(Duration::from_secs(1), 0), None);
    }
}
