//! Ctrl-C and SIGTERM: the first asks for an orderly end, a second one ends at once.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};
use std::thread;
use std::time::Duration;

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

use crate::console::say;

/// The exit status of an interrupted command.
pub const STATUS: u8 = 130;

static ASKED: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);

/// So soon the user is told that the signal was heard.
const SOON: Duration = Duration::from_millis(100);

/// From now on signals ask. The user is told when one was heard, since the cells in flight may take
/// a while.
pub fn watch(quiet: bool) -> io::Result<()> {
    for signal in [SIGINT, SIGTERM] {
        // In this order: a signal finds the flag as the one before it left it.
        flag::register_conditional_shutdown(signal, STATUS.into(), Arc::clone(&ASKED))?;
        flag::register(signal, Arc::clone(&ASKED))?;
    }
    if !quiet {
        thread::Builder::new().name("dpbi listener".to_owned()).spawn(|| {
            while !is_asked() {
                thread::sleep(SOON);
            }
            say("\nstopping when the cells in flight are done; once more to stop at once");
        })?;
    }
    Ok(())
}

/// Whether an end was asked for.
#[must_use]
pub fn is_asked() -> bool {
    ASKED.load(Ordering::Relaxed)
}
