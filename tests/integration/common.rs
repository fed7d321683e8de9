//! What the tests share: golden tables, and running the real binary.

#[path = "../engine/settings.rs"]
mod settings;

use std::collections::BTreeMap;
use std::io::{BufRead, Read};
use std::path::PathBuf;

use clap::CommandFactory;
use engine::rng::uniform_below;
use lab::experiment::Experiment;
use lab::experiment::config::{self, Overrides};
use serde_json::Value;
use system::source::Source;

pub use settings::{assert_close, of_size, setting};

/// Golden tables and their rows.
pub use crate::golden::{GoldenRow, rows as golden};

/// How many kills, draws or inputs a test makes: `few`, or `many` if tests are to be long, with
/// `DPBI_LONG_TESTS=1`, as in `.ci/run`.
pub fn few_or_many<T>(few: T, many: T) -> T {
    let is_long = std::env::var("DPBI_LONG_TESTS").is_ok_and(|value| value == "1");
    if is_long { many } else { few }
}

/// The command line, with the flags of every command: else these are made when a command is called.
pub fn command_line() -> clap::Command {
    let mut command = face::cli::Cli::command().disable_help_subcommand(true);
    command.build();
    command
}

/// The project's folder.
pub fn root() -> PathBuf {
    env!("CARGO_MANIFEST_DIR").into()
}

/// The experiment that a config describes.
pub fn load(text: &str) -> Experiment {
    let sandbox = Sandbox::new();
    let source = Source::Disk(sandbox.write("config.toml", text).path("config.toml"));
    config::load(&source, &Overrides::default()).unwrap()
}

/// A command and its options, which have no spaces.
pub fn words(line: &str) -> Vec<&str> {
    line.split_whitespace().collect()
}

pub fn float(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is not a number"))
}

/// A number that a command has printed.
pub fn number(found: &Value, key: &str) -> f64 {
    found[key].as_f64().unwrap_or_else(|| panic!("{key} in {found}"))
}

/// What a command has printed about a mechanism.
pub fn row<'a>(found: &'a Value, id: &str) -> &'a Value {
    let rows = found["mechanisms"].as_array().unwrap();
    rows.iter().find(|row| row["id"] == id).unwrap_or_else(|| panic!("{id} in {found}"))
}

/// What a run of the binary left behind.
pub struct Outcome {
    pub status: i32,
    pub stdout: String,
    pub stderr: String,
}

impl From<std::process::Output> for Outcome {
    fn from(output: std::process::Output) -> Self {
        Self {
            status: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

/// A command that must be refused, with these words, as [`holds`] has them.
pub fn refused(outcome: &Outcome, words: &str) {
    let Outcome { status, stdout, stderr } = outcome;
    assert!(*status == 2 && stdout.is_empty(), "{status} {stdout} {stderr}");
    // What took more than two seconds has said so.
    let mut said = stderr.lines().skip_while(|line| line.contains(" % done"));
    let error = said.next().is_some_and(|line| line.starts_with("error: "));
    assert!(error, "{stderr}");
    holds(stderr, words);
    assert!(stderr.contains("help: ") || stderr.contains("Usage"), "{stderr}");
}

/// What `…` divides must occur in a text, in whatever order.
pub fn holds(text: &str, words: &str) {
    for part in words.split(" … ") {
        assert!(text.contains(part), "`{part}` is missing in\n{text}");
    }
}

/// Expects an exit status, and words on either stream.
pub fn ended(outcome: &Outcome, status: i32, words: &str) {
    let text = format!("{}{}", outcome.stdout, outcome.stderr);
    assert_eq!(outcome.status, status, "{text}");
    holds(&text, words);
}

/// A JSON object with the SHA-256 that ends a manifest.
pub fn sealed(object: &str) -> String {
    let open = object.strip_suffix("\n}").unwrap_or(object);
    let hash = lab::run::store::sha256(open.as_bytes());
    format!("{open},\n  \"sha256\": \"{hash}\"\n}}\n")
}

/// A width at which no message is broken, so that tests find its words side by side.
pub const UNBROKEN: &str = "10000";

/// A folder of its own to run the binary in.
pub struct Sandbox {
    folder: tempfile::TempDir,
}

impl Sandbox {
    pub fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a file below the folder.
    pub fn write(&self, name: &str, text: &str) -> &Self {
        std::fs::write(self.path(name), text).unwrap();
        self
    }

    pub fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    pub fn text(&self, name: &str) -> String {
        String::from_utf8(self.read(name)).unwrap()
    }

    /// Runs `dpbi` in the folder. If it prints a document, that must fit its schema.
    pub fn dpbi(&self, args: &[&str]) -> Outcome {
        let outcome: Outcome = self.start(args).wait_with_output().unwrap().into();
        if args.contains(&"--json") && !outcome.stdout.is_empty() {
            crate::documents::check(args[0], &serde_json::from_str(&outcome.stdout).unwrap());
        }
        outcome
    }

    /// Runs a command of the shell in the folder; `$DPBI` is the binary.
    pub fn shell(&self, command: &str) -> Outcome {
        let mut shell = std::process::Command::new("bash");
        shell.args(["-c", command]).current_dir(self.folder.path());
        shell.env("COLUMNS", UNBROKEN);
        shell.env("DPBI", env!("CARGO_BIN_EXE_dpbi")).output().unwrap().into()
    }

    /// Starts `dpbi` in the folder, to be disturbed.
    pub fn start(&self, args: &[&str]) -> std::process::Child {
        std::process::Command::new(env!("CARGO_BIN_EXE_dpbi"))
            .args(args)
            .current_dir(self.folder.path())
            .env("COLUMNS", UNBROKEN)
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped())
            .spawn()
            .unwrap()
    }

    /// Runs `dpbi` in the folder, as on a terminal of this width.
    pub fn dpbi_within(&self, width: usize, args: &[&str]) -> Outcome {
        let mut dpbi = std::process::Command::new(env!("CARGO_BIN_EXE_dpbi"));
        dpbi.args(args).current_dir(self.folder.path());
        dpbi.env("COLUMNS", width.to_string()).output().unwrap().into()
    }

    /// Starts `dpbi` in the folder, and ends it as soon as it has said something: what it said first.
    pub fn first_words(&self, args: &[&str]) -> String {
        let mut child = self.start(args);
        let mut line = String::new();
        std::io::BufReader::new(child.stderr.take().unwrap()).read_line(&mut line).unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
        line
    }

    /// Runs `dpbi` and kills it: by turns at a random moment within so many microseconds, when `file` has
    /// changed, and at the first byte shown. What it had shown.
    pub fn killed(
        &self,
        args: &[&str],
        (round, longest): (usize, u64),
        file: &str,
        chance: &mut impl rand::Rng,
    ) -> Vec<u8> {
        let length = || std::fs::metadata(self.path(file)).map_or(0, |file| file.len());
        let before = length();
        let mut child = self.start(args);
        let mut pipe = child.stdout.take().unwrap();
        let mut output = Vec::new();
        match round % 3 {
            0 => {
                // At once, the first time.
                let moment = if round == 0 { 0 } else { uniform_below(longest, chance) };
                std::thread::sleep(std::time::Duration::from_micros(moment))
            }
            1 => {
                while length() == before && child.try_wait().unwrap().is_none() {
                    std::thread::yield_now();
                }
            }
            _ => {
                let mut first = [0];
                pipe.read_exact(&mut first).unwrap();
                output.extend(first);
            }
        }
        child.kill().unwrap();
        child.wait().unwrap();
        pipe.read_to_end(&mut output).unwrap();
        output
    }

    /// The entries of a ledger. Left out is what a kill in the middle of a write leaves: a line without
    /// an end, and the entry that the next release puts in its place.
    pub fn entries(&self, ledger: &str) -> Vec<Value> {
        let Ok(text) = std::fs::read_to_string(self.path(ledger)) else { return Vec::new() };
        let whole = text.split_inclusive('\n').filter(|line| line.ends_with('\n'));
        let entries = whole.map(|line| serde_json::from_str::<Value>(line).unwrap());
        entries.filter(|entry| entry["time"] != "unknown: the entry was cut short").collect()
    }

    /// All files of a folder but the manifest, which holds times.
    pub fn files(&self, folder: &str) -> BTreeMap<String, Vec<u8>> {
        let entries = std::fs::read_dir(self.path(folder)).unwrap().map(|entry| entry.unwrap());
        let read = |entry: std::fs::DirEntry| {
            (entry.file_name().into_string().unwrap(), std::fs::read(entry.path()).unwrap())
        };
        let files = entries.map(read);
        files.filter(|(name, _)| !["manifest.json", ".lock"].contains(&name.as_str())).collect()
    }

    /// The manifest of a folder.
    pub fn manifest(&self, folder: &str) -> Value {
        serde_json::from_slice(&self.read(&format!("{folder}/manifest.json"))).unwrap()
    }

    /// Writes a manifest as a forger would: with a SHA-256 of its own that fits.
    pub fn forge_manifest(&self, folder: &str, mut manifest: Value) {
        manifest.as_object_mut().unwrap().remove("sha256");
        self.write(&format!("{folder}/manifest.json"), &sealed(&format!("{manifest:#}")));
    }

    /// The same, for a command that must succeed.
    pub fn succeed(&self, args: &[&str]) -> String {
        let outcome = self.dpbi(args);
        assert_eq!(outcome.status, 0, "{args:?}: {}", outcome.stderr);
        outcome.stdout
    }

    /// The same, for a command that prints JSON.
    pub fn json(&self, args: &[&str]) -> Value {
        serde_json::from_str(&self.succeed(args)).unwrap()
    }
}
