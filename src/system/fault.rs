//! Faults (panics): the fault of one cell must not stop the others.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind, set_hook, take_hook};
use std::sync::Once;
use std::sync::atomic::{AtomicUsize, Ordering};

use engine::parallel::Cancelled;

/// How many pieces of work are going on whose faults are caught.
static CATCHING: AtomicUsize = AtomicUsize::new(0);

/// What `work` returns, or why it panicked. Work that was cancelled is none that failed: it goes on unwinding.
pub fn caught<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    hush();
    CATCHING.fetch_add(1, Ordering::Relaxed);
    let outcome = catch_unwind(AssertUnwindSafe(work));
    CATCHING.fetch_sub(1, Ordering::Relaxed);
    let outcome = outcome.map_err(|payload| match payload.is::<Cancelled>() {
        true => resume_unwind(payload),
        false => payload,
    });
    outcome.map_err(|payload: Box<dyn Any + Send>| {
        let text = payload.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| payload.downcast_ref::<&str>().copied());
        text.unwrap_or("no reason given").to_owned()
    })
}

/// A fault that is caught is reported by whoever caught it, and printed only for those who want a
/// backtrace.
fn hush() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let loud = take_hook();
        let wanted = std::env::var_os("RUST_BACKTRACE").is_some_and(|value| value != "0");
        set_hook(Box::new(move |info| {
            // A thread that writes to the disk belongs to no cell: its faults are always printed.
            let writer = std::thread::current().name().is_some_and(|name| name.starts_with("dpbi"));
            if wanted || writer || CATCHING.load(Ordering::Relaxed) == 0 {
                loud(info);
            }
        }));
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_is_caught_with_its_reason() {
        assert_eq!(caught(|| 1), Ok(1));
        assert_eq!(caught(|| -> u8 { panic!("no luck") }), Err("no luck".to_owned()));
        assert_eq!(caught(|| -> u8 { panic!("{} times", 2) }), Err("2 times".to_owned()));
    }
}
