//! Results folders as a stranger may have made them: manifests and logs rewritten by a grammar, links,
//! pipes and devices where files should be. Whatever a command says to them, nothing outside of the
//! folders that it was given may change, and it must come to an end.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use clap::Parser;
use face::cli::Cli;
use face::command;
use lab::experiment::config::{self, Overrides};
use lab::run::store::{CellStore, Key, log_head, log_record, sha256};
use lab::run::sweep::Sweep;
use serde_json::{Value, json};
use system::source::Source;

use super::dice::Dice;
use super::input::sound_message;
use super::text;
use crate::common::sealed;

/// The files of a folder, by name.
type Files = BTreeMap<String, Vec<u8>>;

/// A small experiment.
pub const CONFIG: &str = "name = \"v\"\nruns = 3\nprior = [1, 1]\nepsilon = 1\n\
                          mechanisms = [\"lshist\", \"ehds\"]\ndata.balanced.sizes = [4, 6]\n";

/// Sound folders to start from: the whole of the experiment, and its two shards.
pub struct Sound {
    whole: Files,
    shards: [Files; 2],
    cells: Cells,
}

/// Finished cells: their keys and contents.
type Cells = Vec<(Key, Vec<u8>)>;

impl Sound {
    /// Reads what `run` has left in `results/v`, `part1/v` and `part2/v`.
    pub fn read(home: &Path) -> Self {
        let files = |folder: &str| {
            let entries = fs::read_dir(home.join(folder)).expect("a folder").flatten();
            let name = |entry: &fs::DirEntry| entry.file_name().to_string_lossy().into_owned();
            entries.map(|e| (name(&e), fs::read(e.path()).expect("readable"))).collect()
        };
        Self {
            whole: files("results/v"),
            shards: [files("part1/v"), files("part2/v")],
            cells: cells(&home.join("results/v")),
        }
    }
}

fn cells(folder: &Path) -> Cells {
    let config = Source::Disk(folder.join("config.toml"));
    let experiment = config::load(&config, &Overrides::default()).expect("a config");
    let (sweep, store) = (Sweep::whole(&experiment), CellStore::of(&[folder]).expect("a log"));
    let cells = sweep.cases().flat_map(|(panel, case)| sweep.cells(panel, case));
    let keys = cells.map(|cell| Key::new(&cell.text));
    keys.map(|key| (key, store.get(key).expect("readable").expect("there").1)).collect()
}

/// What stands where a file should be.
#[derive(Clone, Copy, Debug)]
enum Thing {
    LinkToFile,
    LinkToNothing,
    LinkToDevice,
    LinkToFolder,
    SecondName,
    Pipe,
    Folder,
    Garbage,
}

const THINGS: [Thing; 8] = [
    Thing::LinkToFile,
    Thing::LinkToNothing,
    Thing::LinkToDevice,
    Thing::LinkToFolder,
    Thing::SecondName,
    Thing::Pipe,
    Thing::Folder,
    Thing::Garbage,
];

/// Names of files that dpbi reads, writes or makes for a while.
const NAMES: [&str; 16] = [
    ".lock",
    "unfinished.log",
    "unfinished.log.changed",
    "cells.log",
    "cells.log.changed",
    "summary.csv",
    "summary.csv.changed",
    "errors.csv",
    "settings.csv",
    "config.toml",
    "config.toml.changed",
    "manifest.json",
    "box.svg",
    ".dpbi-probe",
    ".summary.csv.part",
    ".dpbi-0123456789abcdef.part",
];

/// The commands that read results folders, and what they are given below the stranger's home.
const COMMANDS: [&[&str]; 8] = [
    &["plot", "inside/results/v", "--format", "svg"],
    &["plot", "inside/results/v", "--format", "svg", "--json"],
    &["verify", "inside/results/v", "--seed", "1"],
    &["verify", "inside/part1/v", "--seed", "1", "--json"],
    &["run", "inside/v.toml", "--out", "inside/results", "--format", "svg", "-q"],
    &["run", "inside/v.toml", "--out", "inside/results", "--format", "none", "--fresh", "-q"],
    &["merge", "inside/part1", "inside/part2", "--out", "inside/merged", "--format", "none", "-q"],
    &["list", "--results", "inside/results"],
];

/// Makes a worker ready: the first command of a process sets its threads, and reading seeds uses them.
pub fn set_threads() {
    let cli = Cli::try_parse_from(["dpbi", "verify", "/nowhere"]).expect("a command");
    assert!(command::execute(&cli).is_err());
}

/// One stranger's folder and the commands that it is given to, one after the other.
pub struct Strange {
    whole: Files,
    shard: Files,
    other_shard: Files,
    things: Vec<(String, Thing)>,
    commands: Vec<usize>,
}

impl Strange {
    /// A folder made by chance.
    pub fn new(sound: &Sound, dice: &mut Dice) -> Self {
        let mut strange = Self {
            whole: sound.whole.clone(),
            shard: sound.shards[0].clone(),
            other_shard: sound.shards[1].clone(),
            things: Vec::new(),
            commands: Vec::new(),
        };
        for files in [&mut strange.whole, &mut strange.shard] {
            if dice.once_in(4) {
                change_config(files, dice);
            }
            if dice.once_in(3) {
                change_log(files, &sound.cells, dice);
            }
            if !dice.once_in(5) {
                change_manifest(files, dice);
            }
        }
        for _ in 0..[0, 0, 1, 1, 2, 3][dice.below(6)] {
            let name = match dice.once_in(4) {
                true => dice.one(&strange.whole.keys().cloned().collect::<Vec<_>>()).clone(),
                false => dice.one(&NAMES).to_string(),
            };
            strange.things.push((name, *dice.one(&THINGS)));
        }
        for _ in 0..dice.between(1, 3) {
            // Listing reads every bundled config, and is slow.
            let most = if dice.once_in(40) { COMMANDS.len() } else { COMMANDS.len() - 1 };
            strange.commands.push(dice.below(most));
        }
        strange
    }

    /// What can be looked at after a failure.
    pub fn describe(&self) -> Vec<u8> {
        let commands: Vec<_> = self.commands.iter().map(|&place| COMMANDS[place]).collect();
        let mut text = format!("{commands:?}\n{:?}\n", self.things).into_bytes();
        for files in [&self.whole, &self.shard] {
            text.extend(&files["manifest.json"]);
            text.extend(&files["config.toml"]);
        }
        text
    }

    /// Gives the folder to its commands. Whether all of them did their work, or what is wrong.
    pub fn judge(&self, folder: &Path) -> Result<bool, String> {
        let home = folder.join("stranger");
        self.lay_out(&home);
        let before = surroundings(&home);
        let mut accepted = true;
        for &place in &self.commands {
            let arguments = COMMANDS[place];
            let absolute = |text: &&str| match text.starts_with("inside/") {
                true => home.join(text).display().to_string(),
                false => text.to_string(),
            };
            let arguments = arguments.iter().map(absolute);
            let cli = Cli::try_parse_from(["dpbi".to_owned()].into_iter().chain(arguments));
            let outcome = command::execute(&cli.expect("a command"));
            if let Err(failure) = &outcome {
                let message = failure.to_string();
                let named: Vec<u8> = self.whole.values().flatten().copied().collect();
                sound_message(&message, &named)?;
                // Neither is the fault of a folder.
                if ["failed; see failures.csv", "thread pool"].iter().any(|w| message.contains(w)) {
                    return Err(format!("{:?}: {message}", COMMANDS[place]));
                }
            }
            accepted &= outcome.is_ok();
            let after = surroundings(&home);
            if after != before {
                let changed = before.keys().chain(after.keys());
                let changed: Vec<_> =
                    changed.filter(|path| before.get(*path) != after.get(*path)).collect();
                return Err(format!("{:?} changed {changed:?}", COMMANDS[place]));
            }
        }
        Ok(accepted)
    }

    /// Makes the stranger's home anew.
    fn lay_out(&self, home: &Path) {
        if home.exists() {
            fs::remove_dir_all(home).expect("removable");
        }
        for folder in ["outside/keep", "inside/results/other"] {
            fs::create_dir_all(home.join(folder)).expect("writable");
        }
        for file in ["precious.csv", "outside/precious.csv", "outside/keep/summary.csv"] {
            fs::write(home.join(file), PRECIOUS).expect("writable");
        }
        fs::write(home.join("inside/v.toml"), CONFIG).expect("writable");
        fs::write(home.join("inside/results/other/summary.csv"), PRECIOUS).expect("writable");
        // `dpbi list` looks for the bundled experiments.
        let folders = [
            ("inside/results/v", &self.whole),
            ("inside/results/beta_balanced", &self.whole),
            ("inside/part1/v", &self.shard),
            ("inside/part2/v", &self.other_shard),
        ];
        for (folder, files) in folders {
            let path = home.join(folder);
            fs::create_dir_all(&path).expect("writable");
            for (name, bytes) in files {
                fs::write(path.join(name), bytes).expect("writable");
            }
        }
        for folder in ["inside/results/v", "inside/part1/v"] {
            for (name, thing) in &self.things {
                thing.put(&home.join(folder).join(name), home);
            }
        }
    }
}

const PRECIOUS: &[u8] = b"precious\n";

impl Thing {
    fn put(self, path: &Path, home: &Path) {
        let _ = fs::remove_file(path).or_else(|_| fs::remove_dir_all(path));
        let link = |target: PathBuf| {
            #[cfg(unix)]
            std::os::unix::fs::symlink(target, path).expect("writable");
            #[cfg(not(unix))]
            let _ = target;
        };
        match self {
            Self::LinkToFile => link("../../../outside/precious.csv".into()),
            Self::LinkToNothing => link(home.join("outside/made")),
            Self::LinkToDevice => link("/dev/zero".into()),
            Self::LinkToFolder => link(home.join("outside/keep")),
            Self::SecondName => {
                fs::hard_link(home.join("outside/precious.csv"), path).expect("writable");
            }
            Self::Pipe => drop(std::process::Command::new("mkfifo").arg(path).status()),
            Self::Folder => fs::create_dir(path).expect("writable"),
            Self::Garbage => fs::write(path, b"my own notes\n").expect("writable"),
        }
    }
}

/// Everything outside of the folders that the commands may change: what it is, and what it holds.
fn surroundings(home: &Path) -> BTreeMap<PathBuf, String> {
    fn walk(path: &Path, home: &Path, found: &mut BTreeMap<PathBuf, String>) {
        const OWN: [&str; 3] = ["inside/results/v", "inside/part1/v", "inside/merged"];
        let inner = path.strip_prefix(home).expect("below");
        if OWN.iter().any(|own| Path::new(own) == inner) {
            return;
        }
        let about = path.symlink_metadata().expect("there");
        let what = match about.file_type() {
            kind if kind.is_file() => sha256(&fs::read(path).expect("readable")),
            kind => format!("{kind:?}"),
        };
        found.insert(inner.to_owned(), what);
        if about.is_dir() {
            let entries = fs::read_dir(path).expect("readable").flatten();
            entries.for_each(|entry| walk(&entry.path(), home, found));
        }
    }
    let mut found = BTreeMap::new();
    walk(home, home, &mut found);
    found
}

/// Paths, and what looks like one.
fn name(dice: &mut Dice) -> String {
    const STRANGE: [&str; 24] = [
        "../other/summary.csv",
        "../../../precious.csv",
        "../../../outside/precious.csv",
        "../../../outside/keep/summary.csv",
        "../../v.toml",
        "/dev/zero",
        "/dev/stdin",
        "/proc/self/mem",
        "..",
        ".",
        "",
        "./summary.csv",
        "a/../../other/summary.csv",
        "..\\other\\summary.csv",
        "C:summary.csv",
        "\u{0}summary.csv",
        "\u{1b}[31m.csv",
        ".lock",
        ".dpbi-0123456789abcdef.part",
        "manifest.json",
        "unfinished.log",
        "summary.csv.changed",
        "summary.csv",
        "box.svg",
    ];
    match dice.below(12) {
        0 => "x".repeat(dice.between(1, 5000)) + ".csv",
        1 => "../".repeat(dice.between(1, 40)) + "x.csv",
        _ => dice.one(&STRANGE).to_string(),
    }
}

fn hash(dice: &mut Dice) -> Value {
    match dice.below(4) {
        0 => sha256(PRECIOUS).into(),
        1 => sha256(b"my own notes\n").into(),
        2 => sha256(b"").into(),
        _ => value(dice),
    }
}

/// Any JSON value: wrong types, huge numbers, texts that a terminal would obey.
fn value(dice: &mut Dice) -> Value {
    match dice.below(12) {
        0 => Value::Null,
        1 => json!(dice.once_in(2)),
        2 => json!(dice.bits()),
        3 => json!(-(dice.below(1000) as i64)),
        4 => json!(f64::from_bits(dice.bits())),
        5 => json!(u64::MAX - dice.below(3) as u64),
        6 => json!(1e300),
        7 => json!(name(dice)),
        8 => json!("\u{1b}]0;x\u{7}\n\r\u{202e}"),
        9 => json!([name(dice), dice.below(10)]),
        10 => (0..dice.between(1, 100)).fold(json!(1), |inner, _| json!([inner])),
        _ => json!({ name(dice): dice.below(10) }),
    }
}

fn change_manifest(files: &mut Files, dice: &mut Dice) {
    let text = String::from_utf8(files["manifest.json"].clone()).expect("UTF-8");
    let mut manifest: Value = serde_json::from_str(&text).expect("a manifest");
    let hashes = |files: &Files| -> serde_json::Map<String, Value> {
        let names = files.iter().filter(|(name, _)| !name.starts_with('.'));
        let names = names.filter(|(name, _)| *name != "manifest.json");
        names.map(|(name, bytes)| (name.clone(), sha256(bytes).into())).collect()
    };
    // As a forger would.
    manifest["files"] = hashes(files).into();
    for _ in 0..dice.below(4) {
        let key = dice.one(&KEYS);
        match dice.below(9) {
            0..=2 => manifest["files"][name(dice)] = hash(dice),
            3..=4 => {
                let replacing = (0..dice.between(1, 3)).map(|_| (name(dice), hash(dice)));
                manifest["replacing"] = Value::Object(replacing.collect());
                manifest["complete"] = dice.once_in(2).into();
            }
            5 => manifest["replacing"] = json!([name(dice), name(dice)]),
            6 => manifest["shard"] = json!({ "index": dice.below(4), "count": *dice.one(&COUNTS) }),
            7 => drop(manifest.as_object_mut().expect("an object").remove(*key)),
            _ => manifest[*key] = value(dice),
        }
        if !manifest["files"].is_object() {
            manifest["files"] = json!({});
        }
    }
    manifest.as_object_mut().expect("an object").remove("sha256");
    let mut text = match dice.below(12) {
        0 => manifest.to_string().into_bytes(),
        _ => sealed(&format!("{manifest:#}")).into_bytes(),
    };
    if dice.once_in(12) {
        text::mutate(&mut text, dice);
    }
    files.insert("manifest.json".into(), text);
}

const KEYS: [&str; 18] = [
    "dpbi",
    "numerics",
    "commit",
    "name",
    "command",
    "seed",
    "runs",
    "shard",
    "started",
    "ended",
    "seconds",
    "complete",
    "failures",
    "config",
    "replacing",
    "files",
    "cells",
    "rustc",
];

const COUNTS: [u64; 6] = [0, 1, 2, 3, 100_000, u64::MAX];

/// A log whose records are sound, and some of whose contents are not what they should be.
fn with_other_contents(cells: &Cells, dice: &mut Dice) -> Vec<u8> {
    let mut log = log_head();
    for (key, content) in cells {
        let mut content = content.clone();
        for _ in 0..dice.below(3) {
            let place = dice.below(content.len().max(1));
            match dice.below(4) {
                0 => content.truncate(place),
                1 => content.splice(place..place, dice.bytes(3)).for_each(drop),
                2 => content.iter_mut().skip(place).take(1).for_each(|byte| *byte = 0),
                _ => {
                    let bits = dice.bits() as u8;
                    content.iter_mut().skip(place).take(1).for_each(|byte| *byte ^= bits);
                }
            }
        }
        log.extend(log_record(*key, &content));
    }
    log
}

/// Changes what the folder's own config says.
fn change_config(files: &mut Files, dice: &mut Dice) {
    let mut text = String::from_utf8(files["config.toml"].clone()).expect("UTF-8");
    let changes = [
        ("name = \"v\"", "name = \"../other\""),
        ("name = \"v\"", "name = \"/tmp/v\""),
        ("name = \"v\"", "name = \"w\""),
        ("runs = 3", "runs = 1000000000"),
        ("runs = 3", "runs = 9223372036854775807"),
        ("[4, 6]", "[4, 100000000]"),
        ("[4, 6]", "{ from = 1, to = 100000, count = 100000 }"),
        ("[1.0, 1.0]", "[1.0, 1.0, 1.0, 1.0]"),
        ("runs = 3", "runs = 3\nreadings = \"/dev/zero\""),
        ("runs = 3", "runs = 3\nreadings = \"../../../outside/precious.csv\""),
        ("[data.balanced]", "[data.file]\npath = \"/dev/zero\"\n[data.balanced]"),
        ("label = \"ehds\"", "label = \"../../../outside/precious\""),
    ];
    for _ in 0..dice.between(1, 2) {
        let (from, to) = dice.one(&changes);
        text = text.replacen(from, to, 1);
    }
    files.insert("config.toml".into(), text.into_bytes());
}

/// Changes the log of cells, or adds one of an unfinished run.
fn change_log(files: &mut Files, cells: &Cells, dice: &mut Dice) {
    let mut log = files["cells.log"].clone();
    for _ in 0..dice.between(1, 3) {
        match dice.below(7) {
            5 | 6 => log = with_other_contents(cells, dice),
            0 => log.truncate(dice.below(log.len() + 1)),
            1 => {
                let place = dice.below(log.len().max(1));
                log.iter_mut().skip(place).take(1).for_each(|byte| *byte ^= 1 << dice.below(8));
            }
            2 => log.extend(log_record(Key::new("started fresh"), &[])),
            3 => {
                let length = *dice.one(&[0, 1, 40, 5000]);
                let content = dice.bytes(length);
                log.extend(log_record(Key::new(&name(dice)), &content));
            }
            _ => log.splice(0..0, log_head()).for_each(drop),
        }
    }
    let name = if dice.once_in(2) { "cells.log" } else { "unfinished.log" };
    files.insert(name.into(), log);
}
