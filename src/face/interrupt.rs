//! Ctrl-C and SIGTERM: the first asks for an orderly end, a second one ends at once.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};
use std::thread;
use std::time::Duration;

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

use crate::base::console::say;

/// The exit status of an interrupted command.
pub const STATUS: u8 = 130;

const SIGNALS: [i32; 2] = [SIGINT, SIGTERM];

static ASKED: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);

static WATCHING: AtomicBool = AtomicBool::new(false);

/// How often the flag is looked at.
const TICK: Duration = Duration::from_millis(50);

/// Signals within this time after the first are the same request: some programs send it twice, to a
/// process and to its group.
const SAME: Duration = Duration::from_millis(300);

/// From now on the first signal asks for an orderly end, and the user is told, since the cells in
/// flight may take a while. A second signal ends the process. Calling this again changes nothing.
pub fn watch(quiet: bool) -> io::Result<()> {
    if WATCHING.swap(true, Ordering::Relaxed) {
        return Ok(());
    }
    for signal in SIGNALS {
        flag::register(signal, Arc::clone(&ASKED))?;
    }
    let listen = move || {
        while !is_asked() {
            thread::sleep(TICK);
        }
        thread::sleep(SAME);
        for signal in SIGNALS {
            // If this fails, a second signal changes nothing.
            let _ = flag::register_conditional_shutdown(signal, STATUS.into(), Arc::clone(&ASKED));
        }
        if !quiet {
            say("\nstopping when the cells in flight are done; once more to stop at once");
        }
    };
    thread::Builder::new().name("dpbi listener".to_owned()).spawn(listen)?;
    Ok(())
}

/// Whether an end was asked for.
pub fn is_asked() -> bool {
    ASKED.load(Ordering::Relaxed)
}
