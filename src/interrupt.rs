//! Ctrl-C and SIGTERM: the first asks for an orderly end, a second one ends at once.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

/// The exit status of an interrupted command.
pub const STATUS: u8 = 130;

static ASKED: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);

/// From now on signals ask.
pub fn watch() -> io::Result<()> {
    for signal in [SIGINT, SIGTERM] {
        // In this order: a signal finds the flag as the one before it left it.
        flag::register_conditional_shutdown(signal, STATUS.into(), Arc::clone(&ASKED))?;
        flag::register(signal, Arc::clone(&ASKED))?;
    }
    Ok(())
}

/// Whether an end was asked for.
#[must_use]
pub fn is_asked() -> bool {
    ASKED.load(Ordering::Relaxed)
}
