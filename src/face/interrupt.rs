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

/// Signals so soon after the first are the same request: some send it twice, to a process and to its
/// group.
const SAME: Duration = Duration::from_millis(300);

/// From now on signals ask; calling it again changes nothing. The user is told when one was heard,
/// since the cells in flight may take a while, and a second one then ends at once.
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
            // If it cannot be, a second signal asks once more.
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
#[must_use]
pub fn is_asked() -> bool {
    ASKED.load(Ordering::Relaxed)
}
