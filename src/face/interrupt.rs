//! Ctrl-C and SIGTERM: the first asks for an orderly end, a second one ends at once.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};
use std::thread;
use std::time::Duration;

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::{flag, low_level};

use crate::progress;
use system::console::{say, say_in_red};

/// The exit status of an interrupted command.
pub const STATUS: u8 = 130;

const SIGNALS: [i32; 2] = [SIGINT, SIGTERM];

static ASKED: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);

static AGAIN: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);

static WATCHING: AtomicBool = AtomicBool::new(false);

/// How often the flags are looked at.
const TICK: Duration = Duration::from_millis(50);

/// Signals within this time after the first are the same request: some programs send it twice, to a
/// process and to its group.
const SAME: Duration = Duration::from_millis(300);

const STOPPING: &str = "stopping after the cells in work; press Ctrl-C once more to stop at once";

/// From now on the first signal asks for an orderly end, and the user is told, since the cells in
/// flight may take a while. A second signal ends the process. Calling this again changes nothing.
pub fn watch(quiet: bool) -> io::Result<()> {
    listen(move || {
        thread::sleep(SAME);
        // If this fails, a second signal changes nothing.
        let _ = hear(&AGAIN);
        if !progress::replace(STOPPING) && !quiet {
            say(format!("\n{STOPPING}"));
        }
        wait_for(&AGAIN);
        progress::wipe();
        low_level::exit(STATUS.into());
    })
}

/// From now on a signal takes the progress line off the screen before it ends the process.
pub fn end_with_message() {
    // If this fails, the line stays on the screen.
    let _ = listen(|| {
        if progress::wipe() {
            say_in_red("interrupted:", "nothing was written; run the same command again");
            low_level::exit(STATUS.into());
        }
        // Without a line there is nothing to take away, and the signal ends the process as always.
        let _ = low_level::emulate_default_handler(SIGINT);
    });
}

/// From now on dpbi listens to no signal: it is a part of another program, which does. Nobody has asked for an
/// end yet.
pub fn leave_to_others() {
    WATCHING.store(true, Ordering::Relaxed);
    ASKED.store(false, Ordering::Relaxed);
}

/// Asks for an orderly end, as the first signal does.
pub fn ask() {
    ASKED.store(true, Ordering::Relaxed);
}

/// Calls `answer` on a thread of its own when the first signal comes, unless another is listening.
fn listen(answer: impl FnOnce() + Send + 'static) -> io::Result<()> {
    if WATCHING.swap(true, Ordering::Relaxed) {
        return Ok(());
    }
    hear(&ASKED)?;
    let listener = move || {
        wait_for(&ASKED);
        answer();
    };
    thread::Builder::new().name("dpbi listener".to_owned()).spawn(listener)?;
    Ok(())
}

/// Signals set the flag from now on.
fn hear(flag: &Arc<AtomicBool>) -> io::Result<()> {
    SIGNALS.into_iter().try_for_each(|signal| flag::register(signal, Arc::clone(flag)).map(drop))
}

fn wait_for(flag: &AtomicBool) {
    while !flag.load(Ordering::Relaxed) {
        thread::sleep(TICK);
    }
}

/// Whether an end was asked for.
pub fn is_asked() -> bool {
    ASKED.load(Ordering::Relaxed)
}
