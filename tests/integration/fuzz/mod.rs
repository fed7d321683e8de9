//! Fuzzing of everything that reads what users or strangers write: configs, data files, tables of
//! readings, the tables of a results folder, and results folders as a whole.
//!
//! Inputs are bundled files with mutations that know what they change, and files from a grammar;
//! input number i of a seed is the same everywhere. `cargo test` tries a thousand;
//! `DPBI_FUZZ=1000000 cargo test --test integration fuzz -- --nocapture` a million,
//! `DPBI_FUZZ_SEED` others. `DPBI_FUZZ_FOLDERS` does the same for results folders.

mod csv;
mod dice;
mod folder;
mod grammar;
mod input;
mod text;
mod tree;
mod value;
mod worker;

use std::path::{Path, PathBuf};
use std::process::{Child, Command};

use crate::common::{Sandbox, few_or_many};
use input::{Input, Seeds};
use worker::{Found, HANG, HUNG, Of, Report, Task, work};

/// The memory that a worker or a command may ask for, in kB: far more than any of its inputs needs.
const MEMORY: u64 = 3_000_000;

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |text| text.parse().expect("a number"))
}

#[test]
fn readers_survive_whatever_they_are_given() {
    let sandbox = Sandbox::new();
    small_results(&sandbox);
    let trial = Trial::new(&sandbox, Of::Files, "DPBI_FUZZ", [1000, 3000]);
    let mut report = trial.report();
    let seeds = trial.task(0).seeds();
    for &number in &report.accepted {
        let (_, input) = Input::new(&seeds, trial.seed, number);
        if let Err(what) = command(&sandbox, &input) {
            report.failures.push(Found { number, what });
        }
    }
    println!("{} of them were given to the commands, too", report.accepted.len());
    trial.judge(&seeds, &report);
}

#[test]
fn folders_of_strangers_change_nothing_outside() {
    let sandbox = Sandbox::new();
    sandbox.write("v.toml", folder::CONFIG);
    sandbox.succeed(&["run", "v.toml", "--format", "svg"]);
    for shard in ["1", "2"] {
        let (part, out) = (format!("{shard}/2"), format!("part{shard}"));
        sandbox.succeed(&["run", "v.toml", "--format", "svg", "--shard", &part, "--out", &out]);
    }
    let trial = Trial::new(&sandbox, Of::Folders, "DPBI_FUZZ_FOLDERS", [150, 10_000]);
    let report = trial.report();
    trial.judge(&trial.task(0).seeds(), &report);
}

/// Many inputs, divided among workers.
struct Trial<'a> {
    sandbox: &'a Sandbox,
    of: Of,
    seed: u64,
    first: u64,
    inputs: u64,
}

impl<'a> Trial<'a> {
    /// As many inputs as the variable says, or a few; a long test goes on behind these, up to many.
    fn new(sandbox: &'a Sandbox, of: Of, variable: &str, [few, many]: [u64; 2]) -> Self {
        let (first, inputs) = few_or_many((0, few), (few, many - few));
        Self {
            sandbox,
            of,
            seed: setting("DPBI_FUZZ_SEED", 1),
            first: setting("DPBI_FUZZ_FROM", first),
            inputs: setting(variable, inputs),
        }
    }

    fn workers(&self) -> u64 {
        2.min(self.inputs)
    }

    fn task(&self, worker: u64) -> Task {
        Task {
            seed: self.seed,
            from: self.first + worker,
            to: self.first + self.inputs,
            step: self.workers(),
            folder: workplace(self.sandbox, worker),
            results: self.sandbox.path(if self.of == Of::Folders { "" } else { "results" }),
            of: self.of,
        }
    }

    fn report(&self) -> Report {
        let mut report = Report::default();
        std::thread::scope(|scope| {
            let tasks = (0..self.workers()).map(|worker| self.task(worker));
            let running: Vec<_> = tasks.map(|task| scope.spawn(move || supervise(task))).collect();
            running.into_iter().for_each(|worker| report.add(worker.join().expect("a worker")));
        });
        report
    }

    fn judge(&self, seeds: &Seeds, report: &Report) {
        print(report);
        let kept = keep(seeds, self.seed, report);
        let failed = report.failures.len();
        assert!(failed == 0, "{failed} inputs failed; they are in {kept}");
        let seen: u64 = report.counts.values().map(|(seen, _)| seen).sum();
        assert_eq!(seen, self.inputs, "the workers did not try every input");
    }
}

/// Has a task done to its end: where an input ends the worker, the next one goes on after it.
fn supervise(mut task: Task) -> Report {
    let mut report = Report::default();
    loop {
        let status = start(&task).wait().expect("a child");
        report.add(read_report(&task));
        if status.success() {
            return report;
        }
        let ended = std::fs::read_to_string(task.folder.join("current")).unwrap_or_default();
        let number: u64 = ended.parse().expect("the worker began");
        let what = match status.code() {
            Some(HUNG) => "no answer".to_owned(),
            _ => format!("the process ended: {status}"),
        };
        report.failures.push(Found { number, what });
        task.from = number + task.step;
    }
}

/// Gives an input that the readers accept to the command that would use it: it must do its work or
/// refuse to.
fn command(sandbox: &Sandbox, input: &Input) -> Result<(), String> {
    let arguments = match input {
        Input::Config(bytes) => {
            std::fs::write(sandbox.path("worker0/configs/x.toml"), bytes).expect("writable");
            ["check", "worker0/configs/x.toml"].map(str::to_owned).to_vec()
        }
        Input::Results(file) => {
            let folder = sandbox.path(&format!("results/{}", file.folder));
            let copy = sandbox.path("changed");
            drop(std::fs::remove_dir_all(&copy));
            std::fs::create_dir(&copy).expect("writable");
            for entry in std::fs::read_dir(folder).expect("a folder") {
                let path = entry.expect("a file").path();
                if path.is_file() {
                    let name = path.file_name().expect("a name");
                    std::fs::copy(&path, copy.join(name)).expect("writable");
                }
            }
            std::fs::write(copy.join(&file.file), &file.bytes).expect("writable");
            ["plot", "changed", "--format", "svg"].map(str::to_owned).to_vec()
        }
        _ => return Ok(()),
    };
    let log = sandbox.path("log");
    let mut child = limited(Path::new(env!("CARGO_BIN_EXE_dpbi")))
        .args(arguments)
        .current_dir(sandbox.path(""))
        .stdout(std::process::Stdio::null())
        .stderr(std::fs::File::create(&log).expect("writable"))
        .spawn()
        .expect("the binary");
    for _ in 0..2 * HANG.as_secs() * 100 {
        if let Some(status) = child.try_wait().expect("a child") {
            let message = std::fs::read_to_string(log).unwrap_or_default();
            return match status.code() {
                Some(0 | 2) if !message.contains("panicked") => Ok(()),
                _ => Err(format!("the command ended with {status}: {message}")),
            };
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    child.kill().expect("a child");
    Err("the command did not end".into())
}

/// Does what a parent process asks for; alone it has nothing to do.
#[test]
#[ignore = "started by the test above"]
fn worker() {
    if let Ok(task) = std::env::var("DPBI_FUZZ_TASK") {
        work(&serde_json::from_str(&task).expect("a task"));
    }
}

/// Starts this program again as a worker.
fn start(task: &Task) -> Child {
    let own = std::env::current_exe().expect("a path");
    let task = serde_json::to_string(task).expect("a task");
    limited(&own)
        .args(["fuzz::worker", "--exact", "--ignored", "--quiet", "--test-threads=1"])
        .env("DPBI_FUZZ_TASK", task)
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn()
        .expect("a worker")
}

/// A program with limited memory, where there is a shell that can limit it.
fn limited(program: &Path) -> Command {
    if !cfg!(unix) {
        return Command::new(program);
    }
    let mut shell = Command::new("sh");
    shell.args(["-c", &format!("ulimit -v {MEMORY}; exec \"$0\" \"$@\"")]).arg(program);
    shell
}

/// A worker's folder, laid out such that the data of bundled configs are found.
fn workplace(sandbox: &Sandbox, i: u64) -> PathBuf {
    let folder = sandbox.path(&format!("worker{i}"));
    for inner in ["configs", "data/printed", "results"] {
        std::fs::create_dir_all(folder.join(inner)).expect("writable");
    }
    for inner in ["data", "data/printed"] {
        for entry in std::fs::read_dir(crate::common::root().join(inner)).expect("a folder") {
            let path = entry.expect("a file").path();
            if path.is_file() {
                let name = path.file_name().expect("a name");
                std::fs::copy(&path, folder.join(inner).join(name)).expect("writable");
            }
        }
    }
    folder
}

/// Results of a small experiment of every other kind, to be mutated.
fn small_results(sandbox: &Sandbox) {
    let kinds = [
        ("accuracy", "runs = 4\ndelta = 1e-3"),
        ("theory", ""),
        ("sensitivity", ""),
        ("change", ""),
        ("privacy", ""),
        ("optimum", ""),
        ("within", "steps = [1, 2]"),
        ("phase", "epsilon = [0.5, 1]"),
    ];
    let mut arguments = vec!["run".to_owned(), "--format".into(), "none".into()];
    for (kind, more) in kinds {
        let epsilon = if more.contains("epsilon") { "" } else { "epsilon = 1" };
        let mechanisms = match kind {
            "sensitivity" | "change" => "",
            "accuracy" => "mechanisms = [\"lshist\", { id = \"ehds\", calibrated = true }]",
            _ => "mechanisms = [\"lshist\", \"ehds\"]",
        };
        let config = format!(
            "name = \"{kind}\"\nkind = \"{kind}\"\nprior = [1, 1]\n{epsilon}\n{mechanisms}\n{more}\n\
             [data.balanced]\nsizes = [4, 6]\n"
        );
        sandbox.write(&format!("{kind}.toml"), &config);
        arguments.push(format!("{kind}.toml"));
    }
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    sandbox.succeed(&arguments);
}

fn read_report(task: &Task) -> Report {
    let path = task.folder.join("report.json");
    let report = std::fs::read(&path).ok().and_then(|text| serde_json::from_slice(&text).ok());
    drop(std::fs::remove_file(path));
    report.unwrap_or_default()
}

fn print(report: &Report) {
    let sum = report.counts.values().fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    for (name, (seen, accepted)) in report.counts.iter().chain([(&"in all".to_owned(), &sum)]) {
        let share = 100.0 * *accepted as f64 / (*seen).max(1) as f64;
        println!("{name:>26}: {seen:>8} inputs, {accepted:>8} accepted ({share:.1} %)");
    }
    let (seconds, number) = report.slowest;
    println!(
        "the slowest took {seconds:.2} s (input {number}); peak memory {} MB (input {})",
        report.peak.0, report.peak.1
    );
    for Found { number, what } in &report.slow {
        println!("slow: input {number}, {what}");
    }
    for Found { number, what } in &report.failures {
        println!("\nfailed: input {number}: {what}");
    }
}

/// Writes the inputs that stand out to where they are found after the test.
fn keep(seeds: &Seeds, seed: u64, report: &Report) -> String {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("fuzz");
    std::fs::create_dir_all(&target).expect("writable");
    let found = report.failures.iter().chain(&report.slow).map(|found| found.number);
    for number in found.chain([report.slowest.1, report.peak.1]) {
        let (_, input) = Input::new(seeds, seed, number);
        std::fs::write(target.join(format!("{seed}-{number}")), input.bytes()).expect("writable");
    }
    target.display().to_string()
}
