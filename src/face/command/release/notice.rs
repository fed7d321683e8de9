//! What was released, said on standard error if all that is computed from it takes more than a moment.
//! Whoever does not want to wait, or loses the process, has seen what was paid for.

use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use service::release::Released;
use system::console::say;

/// Nobody minds waiting so long.
const MOMENT: Duration = Duration::from_secs(5);

/// Says what was released, unless it is dropped within a moment.
pub struct Notice {
    /// Both are there until it is dropped.
    waiting: Option<(Sender<()>, JoinHandle<()>)>,
}

impl Notice {
    /// Starts to wait.
    pub fn new(release: &Released) -> Self {
        let line = format!("released: {:?}", release.counts);
        let (done, wait) = channel::<()>();
        let late = line.clone();
        let watch = thread::Builder::new().spawn(move || {
            if wait.recv_timeout(MOMENT) == Err(RecvTimeoutError::Timeout) {
                say(late);
            }
        });
        // Without a thread nobody would wait.
        let waiting = watch.map(|watch| (done, watch)).map_err(|_| say(line)).ok();
        Self { waiting }
    }
}

impl Drop for Notice {
    fn drop(&mut self) {
        if let Some((done, watch)) = self.waiting.take() {
            drop(done);
            let _ = watch.join();
        }
    }
}
