//! Fuzzing in a process of its own: what hangs, eats the memory or overflows the stack ends the
//! worker, and the file `current` tells which input it was.

use std::collections::BTreeMap;
use std::io::{Seek, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::folder::set_threads;
use super::input::{Input, Seeds};

/// An input that takes longer is a hang. (The largest grids take half a minute, and machines may be
/// busy.)
pub const HANG: Duration = Duration::from_secs(300);

/// The most inputs that a worker remembers for the commands.
const MOST_SAMPLED: usize = 500;

/// A worker that meets a hang exits with this status.
pub const HUNG: i32 = 86;

/// What inputs are.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Of {
    /// Configs, data and tables.
    Files,
    /// Whole results folders.
    Folders,
}

/// What a worker is to do.
#[derive(Clone, Serialize, Deserialize)]
pub struct Task {
    /// The seed of all inputs.
    pub seed: u64,
    /// The first input.
    pub from: u64,
    /// The input after the last.
    pub to: u64,
    /// From one input to the next.
    pub step: u64,
    /// The worker's own folder, with `configs`, `data` and `results`.
    pub folder: PathBuf,
    /// Results folders to start from.
    pub results: PathBuf,
    /// What the inputs are.
    pub of: Of,
}

impl Task {
    /// What its inputs are made from.
    pub fn seeds(&self) -> Seeds {
        match self.of {
            Of::Files => Seeds::read(&self.results),
            Of::Folders => Seeds::folders(&self.results),
        }
    }
}

/// An input that stands out.
#[derive(Clone, Serialize, Deserialize)]
pub struct Found {
    /// Its number.
    pub number: u64,
    /// What about it.
    pub what: String,
}

/// What a worker saw.
#[derive(Default, Serialize, Deserialize)]
pub struct Report {
    /// Inputs and accepted ones, by generator.
    pub counts: BTreeMap<String, (u64, u64)>,
    /// The longest time, in seconds, and its input.
    pub slowest: (f64, u64),
    /// Inputs that took longer than a second.
    pub slow: Vec<Found>,
    /// The most memory, in MB, and the input after which it was seen.
    pub peak: (u64, u64),
    /// What went wrong.
    pub failures: Vec<Found>,
    /// Some of the accepted configs and results: what the commands make of them is seen later.
    pub accepted: Vec<u64>,
}

impl Report {
    /// Adds what another worker saw.
    pub fn add(&mut self, other: Self) {
        for (name, (seen, accepted)) in other.counts {
            let own = self.counts.entry(name).or_default();
            *own = (own.0 + seen, own.1 + accepted);
        }
        if other.slowest.0 > self.slowest.0 {
            self.slowest = other.slowest;
        }
        self.peak = self.peak.max(other.peak);
        self.slow.extend(other.slow);
        self.failures.extend(other.failures);
        self.accepted.extend(other.accepted);
    }
}

/// The most memory that this process has used, in MB, where the system tells.
fn peak_memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().strip_suffix(" kB"))
        .and_then(|kb| kb.trim().parse().ok())
        .unwrap_or(0)
        / 1024
}

/// Where and why the last panic was.
static PANIC: Mutex<String> = Mutex::new(String::new());

/// Does a task and leaves `report.json` in its folder, brought up to date now and then.
pub fn work(task: &Task) {
    std::panic::set_hook(Box::new(|panic| {
        *PANIC.lock().expect("one thread at a time") = panic.to_string();
    }));
    if task.of == Of::Folders {
        set_threads();
    }
    let seeds = task.seeds();
    let mut current = std::fs::File::create(task.folder.join("current")).expect("writable");
    let clock = Instant::now();
    watch(clock);
    let mut report = Report::default();
    for number in (task.from..task.to).step_by(task.step as usize) {
        current.rewind().expect("seekable");
        write!(current, "{number:020}").expect("writable");
        let (generator, input) = Input::new(&seeds, task.seed, number);
        STARTED.store(clock.elapsed().as_millis() as u64, Ordering::Relaxed);
        let start = Instant::now();
        let judged = catch_unwind(AssertUnwindSafe(|| input.judge(&task.folder)));
        let seconds = start.elapsed().as_secs_f64();
        let counts = report.counts.entry(generator.name().to_owned()).or_default();
        counts.0 += 1;
        let failure = match judged {
            Ok(Ok(accepted)) => {
                counts.1 += u64::from(accepted);
                let used = matches!(input, Input::Config(_) | Input::Results(_));
                if accepted && used && counts.1 % 50 == 1 && report.accepted.len() < MOST_SAMPLED {
                    report.accepted.push(number);
                }
                None
            }
            Ok(Err(wrong)) => Some(wrong),
            Err(_) => Some(PANIC.lock().expect("one thread at a time").clone()),
        };
        if let Some(what) = failure {
            report.failures.push(Found { number, what });
        }
        if seconds > report.slowest.0 {
            report.slowest = (seconds, number);
        }
        let peak = peak_memory();
        if peak > report.peak.0 {
            report.peak = (peak, number);
        }
        if seconds > 1.0 {
            report
                .slow
                .push(Found { number, what: format!("{seconds:.1} s, {}", generator.name()) });
        }
        if report.counts.values().map(|(seen, _)| seen).sum::<u64>() % 1000 == 0 {
            save(&report, &task.folder);
        }
    }
    STARTED.store(u64::MAX, Ordering::Relaxed);
    save(&report, &task.folder);
}

/// When the current input was begun, in milliseconds.
static STARTED: AtomicU64 = AtomicU64::new(u64::MAX);

/// Ends the process when an input takes too long.
fn watch(clock: Instant) {
    std::thread::spawn(move || {
        loop {
            std::thread::sleep(Duration::from_millis(500));
            let started = STARTED.load(Ordering::Relaxed);
            let now = clock.elapsed().as_millis() as u64;
            if now.saturating_sub(started) > HANG.as_millis() as u64 {
                std::process::exit(HUNG);
            }
        }
    });
}

fn save(report: &Report, folder: &Path) {
    let text = serde_json::to_vec(report).expect("a report");
    std::fs::write(folder.join("report.json"), text).expect("writable");
}
