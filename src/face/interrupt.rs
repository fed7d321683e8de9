//! Ctrl-C and SIGTERM: work ends at its next checkpoint, and the process soon in any case.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};
use std::thread;
use std::time::Duration;

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::{flag, low_level};

use crate::progress;
use engine::parallel;
use system::console::say_in_red;

/// The exit status of an interrupted command.
pub const STATUS: u8 = 130;

const SIGNALS: [i32; 2] = [SIGINT, SIGTERM];

static ASKED: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);

static LISTENING: AtomicBool = AtomicBool::new(false);

/// How often the flag is looked at.
const TICK: Duration = Duration::from_millis(20);

/// Work that does not end by itself within this time is left as it is. Files are never half written: what is new
/// takes its place when it is whole.
const PATIENCE: Duration = Duration::from_millis(400);

/// From now on a signal ends the work. Calling this again changes nothing.
pub fn listen() -> io::Result<()> {
    if LISTENING.swap(true, Ordering::Relaxed) {
        return Ok(());
    }
    SIGNALS
        .into_iter()
        .try_for_each(|signal| flag::register(signal, Arc::clone(&ASKED)).map(drop))?;
    let listener = || {
        while !is_asked() {
            thread::sleep(TICK);
        }
        parallel::cancel(true);
        thread::sleep(PATIENCE);
        progress::wipe();
        say_in_red("interrupted:", "run the same command again");
        low_level::exit(STATUS.into());
    };
    thread::Builder::new().name("dpbi listener".to_owned()).spawn(listener)?;
    Ok(())
}

/// From now on dpbi listens to no signal: it is a part of another program, which does. Nobody has asked for an
/// end yet.
pub fn leave_to_others() {
    LISTENING.store(true, Ordering::Relaxed);
    ASKED.store(false, Ordering::Relaxed);
    parallel::cancel(false);
}

/// Asks for an end, as a signal does.
pub fn ask() {
    ASKED.store(true, Ordering::Relaxed);
    parallel::cancel(true);
}

/// Whether an end was asked for.
pub fn is_asked() -> bool {
    ASKED.load(Ordering::Relaxed)
}
