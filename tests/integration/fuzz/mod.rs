//! Fuzzing of everything that reads what users or strangers write: configs, data files, tables of readings, the
//! tables of a results folder, and results folders as a whole.
//!
//! Inputs are sound ones with a few changes; those of a seed are the same everywhere, and one that fails is made
//! smaller. `cargo test` tries a thousand; `DPBI_FUZZ=1000000 cargo test --test integration fuzz` a million,
//! `DPBI_FUZZ_SEED` others. `DPBI_FUZZ_FOLDERS` does the same for results folders.

mod file;
mod folder;
pub mod mutate;

use std::cell::Cell;
use std::fmt::Debug;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::time::Duration;

use clap::Parser;
use face::cli::Cli;
use face::command::execute;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngSeed, TestRunner};

use crate::common::{Sandbox, few_or_many};

/// The memory that a worker may ask for, in kB: far more than any of its inputs needs.
const MEMORY: u64 = 3_000_000;

/// An input that takes longer is a hang. (The largest grids take half a minute, and machines may be busy.)
const HANG: Duration = Duration::from_secs(300);

/// The worker's exit status then.
const HUNG: i32 = 86;

/// The longest message that people read.
const LONGEST_MESSAGE: usize = 3000;

#[test]
fn readers_survive_whatever_they_are_given() {
    let inputs = asked("DPBI_FUZZ", few_or_many(1000, 3000));
    try_out("files", inputs, file::prepare);
}

#[test]
fn folders_of_strangers_change_nothing_outside() {
    let inputs = asked("DPBI_FUZZ_FOLDERS", few_or_many(150, 10_000));
    try_out("folders", inputs, folder::prepare);
}

/// The number that a variable holds, if it is set.
fn asked(variable: &str, usual: u32) -> u32 {
    std::env::var(variable).map_or(usual, |text| text.parse().expect("a number"))
}

/// Divides inputs among two workers, in processes of their own: what hangs, eats the memory or overflows the
/// stack ends only these.
fn try_out(what: &str, inputs: u32, prepare: fn(&Sandbox)) {
    let seed = asked("DPBI_FUZZ_SEED", few_or_many(1, 2));
    let workers = [0, 1].map(|worker| {
        let sandbox = Sandbox::new();
        prepare(&sandbox);
        let child =
            start(&sandbox, &format!("{what} {} {}", 2 * seed + worker, inputs.div_ceil(2)));
        (sandbox, child)
    });
    for (sandbox, mut child) in workers {
        let status = child.wait().expect("a child");
        let [input, log] =
            ["input", "log"].map(|name| String::from_utf8_lossy(&sandbox.read(name)).into_owned());
        assert!(status.success(), "{status}\n{log}\nThe last input was {input}");
    }
}

/// Starts this program again as a worker, with limited memory where there is a shell that can limit it.
fn start(sandbox: &Sandbox, task: &str) -> Child {
    let own = std::env::current_exe().expect("a path");
    let mut worker = Command::new(&own);
    if cfg!(unix) {
        worker = Command::new("sh");
        worker.args(["-c", &format!("ulimit -v {MEMORY}; exec \"$0\" \"$@\"")]).arg(&own);
    }
    worker
        .args(["fuzz::worker", "--exact", "--ignored", "--nocapture"])
        .current_dir(sandbox.path(""))
        .env("DPBI_FUZZ_TASK", task)
        .stdout(Stdio::null())
        .stderr(std::fs::File::create(sandbox.path("log")).expect("writable"))
        .spawn()
        .expect("a worker")
}

/// Does what a parent process asks for; alone it has nothing to do.
#[test]
#[ignore = "started by the tests above"]
fn worker() {
    let Ok(task) = std::env::var("DPBI_FUZZ_TASK") else { return };
    let task: Vec<&str> = task.split(' ').collect();
    let [what, seed, inputs] = task[..] else { panic!("{task:?}") };
    let runner = TestRunner::new(Config {
        cases: inputs.parse().expect("a number"),
        rng_seed: RngSeed::Fixed(seed.parse().expect("a number")),
        failure_persistence: None,
        ..Config::default()
    });
    let home = std::env::current_dir().expect("a folder");
    // The first command of a process sets its threads, and reading sound folders uses them.
    let refused = command(&home, &["verify", "./nowhere"], b"").expect("a message");
    assert!(refused.contains("nowhere"));
    match what {
        "files" => {
            let sound = file::Sound::read(&home);
            run(runner, sound.inputs(), |input| input.judge(&home));
        }
        _ => {
            let sound = folder::Sound::read(&home);
            run(runner, folder::Strange::any(&sound), |strange| strange.judge(&sound, &home));
        }
    }
}

/// Judges inputs, of which some must be accepted.
fn run<S: Strategy>(
    mut runner: TestRunner,
    inputs: S,
    judge: impl Fn(&S::Value) -> Result<bool, String>,
) where
    S::Value: Debug,
{
    let (all, accepted) = (Cell::new(0), Cell::new(0));
    let watch = watch();
    let result = runner.run(&inputs, |input| {
        watch.send(()).expect("it listens");
        std::fs::write("input", format!("{input:?}")).expect("writable");
        let is_accepted = judge(&input).map_err(TestCaseError::fail)?;
        all.update(|all| all + 1);
        accepted.update(|accepted| accepted + u32::from(is_accepted));
        Ok(())
    });
    result.unwrap_or_else(|error| panic!("{error}"));
    let (all, accepted) = (all.get(), accepted.get());
    assert!(10 * accepted > all, "{accepted} of {all} inputs were accepted");
}

/// Inputs that are always the same.
pub fn drawn<S: Strategy>(inputs: S) -> impl Iterator<Item = S::Value> {
    let mut runner = TestRunner::deterministic();
    std::iter::repeat_with(move || inputs.new_tree(&mut runner).expect("an input").current())
}

/// Ends the process when nothing is heard for too long.
fn watch() -> Sender<()> {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        loop {
            match receiver.recv_timeout(HANG) {
                Ok(()) => {}
                Err(RecvTimeoutError::Timeout) => std::process::exit(HUNG),
                Err(RecvTimeoutError::Disconnected) => return,
            }
        }
    });
    sender
}

/// Carries out a command in this process: arguments that begin with `./` are below `home`. What it refused to do,
/// or nothing; an error if it says so badly. It reads `input`.
fn command(home: &Path, arguments: &[&str], input: &[u8]) -> Result<String, String> {
    let absolute = |text: &&str| match text.strip_prefix("./") {
        Some(below) => home.join(below).display().to_string(),
        None => text.to_string(),
    };
    let arguments: Vec<String> = ["dpbi"].iter().chain(arguments).map(absolute).collect();
    let Err(failure) = execute(&Cli::try_parse_from(&arguments).expect("a command")) else {
        return Ok(String::new());
    };
    let message = failure.to_string();
    sound_message(&message, input)?;
    Ok(message)
}

/// Whether a message is one for people: short, without control characters, without what only programmers know,
/// without NaN unless the input has it.
fn sound_message(message: &str, input: &[u8]) -> Result<(), String> {
    // What stands between backticks, and the line that is shown, are the user's own words.
    let lines = message.lines().filter(|line| !line.contains(" | "));
    let own: String = lines.flat_map(|line| line.split('`').step_by(2)).collect();
    let dumps = ["Some(", "None", "Ok(", "Err(", "Error {", "Error(", "ErrorKind", "Utf8Error"];
    let has_nan = input.to_ascii_lowercase().windows(3).any(|part| part == b"nan");
    let fault = match () {
        () if message.trim().is_empty() => "it is empty",
        () if message.len() > LONGEST_MESSAGE => "it is long",
        () if message.contains(|char: char| char.is_control() && char != '\n') => {
            "it has control characters"
        }
        () if dumps.iter().any(|dump| own.contains(dump)) => "it shows a value of the program",
        // Some remedies show a table: { id = "ehds" }.
        () if own.contains("{ ") && !message.contains(" = ") => "it shows a value of the program",
        () if own.contains("NaN") && !has_nan => "it shows NaN",
        () => return Ok(()),
    };
    let start: String = message.chars().take(1000).collect();
    Err(format!("{fault}:\n{start}"))
}
