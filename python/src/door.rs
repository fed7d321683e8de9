//! Work on a thread of its own, while Python goes on: other threads run, and Ctrl-C is obeyed.

use std::any::Any;
use std::ffi::OsString;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use engine::parallel::Cancelled;
use face::embedded;
use face::failure::Failure;
use pyo3::exceptions::{PyKeyboardInterrupt, PyRuntimeError, PyValueError};
use pyo3::prelude::*;

type Job = Box<dyn FnOnce() + Send>;

/// The thread that does the work, in the process that has started it.
struct Door {
    process: u32,
    jobs: Mutex<Sender<Job>>,
}

/// What becomes of a job.
#[derive(Clone, Default)]
struct State(Arc<AtomicU8>);

const WAITING: u8 = 0;
const AT_WORK: u8 = 1;
const GIVEN_UP: u8 = 2;

impl State {
    /// Whether the job may go from waiting to `next`.
    fn leave_waiting_for(&self, next: u8) -> bool {
        let order = Ordering::SeqCst;
        self.0.compare_exchange(WAITING, next, order, order).is_ok()
    }
}

/// How often Python is asked for signals.
const TICK: Duration = Duration::from_millis(50);

/// After Ctrl-C, work that cannot be stopped is left alone after this time.
const PATIENCE: Duration = Duration::from_secs(2);

/// The stack of the thread: that of a usual main thread.
const STACK: usize = 8 << 20;

fn jobs() -> PyResult<&'static Door> {
    static DOOR: OnceLock<Door> = OnceLock::new();
    let door = DOOR.get_or_init(|| {
        let (jobs, queue) = mpsc::channel::<Job>();
        let work = move || queue.into_iter().for_each(|job| job());
        // If there is no thread, jobs cannot be sent.
        let _ = thread::Builder::new().name("dpbi".to_owned()).stack_size(STACK).spawn(work);
        Door { process: std::process::id(), jobs: Mutex::new(jobs) }
    });
    if door.process != std::process::id() {
        return Err(PyRuntimeError::new_err(
            "dpbi was used before this process was forked, and its threads are not here\n  help: start \
             processes with multiprocessing.get_context(\"spawn\"), or use dpbi in the children only",
        ));
    }
    Ok(door)
}

/// Does some work for the command line `arguments`, as soon as earlier work is done.
pub fn carry_out<T: Send + 'static>(
    py: Python<'_>,
    arguments: Vec<OsString>,
    work: impl FnOnce(&[OsString]) -> Result<T, Failure> + Send + 'static,
) -> PyResult<T> {
    let (send, mut receive) = mpsc::channel();
    let (state, words) = (State::default(), arguments.clone());
    let at_work = state.clone();
    let job = move || {
        embedded::prepare();
        if at_work.leave_waiting_for(AT_WORK) {
            // Who has given up waiting does not receive it.
            let _ = send.send(catch_unwind(AssertUnwindSafe(|| work(&words))));
        }
    };
    let sender = jobs()?.jobs.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let gone = || PyRuntimeError::new_err("dpbi could not start a thread");
    sender.send(Box::new(job)).map_err(|_| gone())?;
    let mut interrupted: Option<(PyErr, Instant)> = None;
    loop {
        // Python's lock is not held while this thread waits.
        let (done, back) = py.detach(move || (receive.recv_timeout(TICK), receive));
        receive = back;
        match (done, interrupted.take()) {
            (Ok(Ok(Ok(value))), None) => return Ok(value),
            (Ok(Ok(Err(failure))), None) => return Err(exception(&failure)),
            (Ok(Err(unwound)), None) => return Err(broken(unwound.as_ref())),
            // It says what is kept.
            (Ok(Ok(Err(failure @ Failure::Interrupted(_)))), _) => return Err(exception(&failure)),
            (Ok(_), Some((error, _))) => return Err(error),
            (Err(RecvTimeoutError::Disconnected), _) => return Err(gone()),
            (Err(RecvTimeoutError::Timeout), None) => {
                if let Err(error) = py.check_signals() {
                    if state.leave_waiting_for(GIVEN_UP) {
                        return Err(error);
                    }
                    embedded::stop();
                    interrupted = Some((error, Instant::now()));
                }
            }
            (Err(RecvTimeoutError::Timeout), Some((error, since))) => {
                if since.elapsed() > PATIENCE && !embedded::keeps_cells(&arguments) {
                    return Err(error);
                }
                interrupted = Some((error, since));
            }
        }
    }
}

/// What Python raises. The message is that of the program, with cause and remedy.
pub fn exception(failure: &Failure) -> PyErr {
    let message = failure.with_remedy();
    match failure {
        Failure::Input(_) => PyValueError::new_err(message),
        Failure::Interrupted(_) => PyKeyboardInterrupt::new_err(message),
        Failure::Broken(_) | Failure::Verdict(_) => PyRuntimeError::new_err(message),
    }
}

/// What Python raises if work unwound: it was stopped together with other work, or dpbi is wrong.
fn broken(unwound: &(dyn Any + Send)) -> PyErr {
    if unwound.is::<Cancelled>() {
        return PyKeyboardInterrupt::new_err("stopped");
    }
    let text = unwound.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| unwound.downcast_ref::<&str>().copied()).unwrap_or("unknown");
    PyRuntimeError::new_err(format!("a mistake in dpbi: {text}"))
}
