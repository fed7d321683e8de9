//! Results folders as a stranger may have made them: changed manifests, configs and logs, and links, pipes and
//! devices where files should be. Whatever a command says to them, nothing outside of the folders that it was
//! given may change, and it must come to an end.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use lab::experiment::config::{self, Overrides};
use lab::run::store::{CellStore, Key, log_head, log_record, sha256};
use lab::run::sweep::Sweep;
use proptest::collection::vec;
use proptest::option::weighted;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::{Value, json};
use system::source::Source;

use super::command;
use super::mutate::Mutation;
use crate::common::{Sandbox, sealed};

/// The files of a folder, by name.
type Files = BTreeMap<String, Vec<u8>>;

/// A small experiment.
const CONFIG: &str = "name = \"v\"\nruns = 3\nprior = [1, 1]\nepsilon = 1\n\
                      mechanisms = [\"lshist\", \"ehds\"]\ndata.balanced.sizes = [4, 6]\n";

/// The whole of the experiment in `results/v`, and its two shards in `part1/v` and `part2/v`.
pub fn prepare(sandbox: &Sandbox) {
    sandbox.write("v.toml", CONFIG).succeed(&["run", "v.toml", "--format", "svg", "-q"]);
    for shard in ["1", "2"] {
        let (part, out) = (format!("{shard}/2"), format!("part{shard}"));
        sandbox.succeed(&["run", "v.toml", "-q", "--shard", &part, "--out", &out]);
    }
}

/// Sound folders to start from, and the keys and contents of the finished cells.
pub struct Sound {
    whole: Files,
    shards: [Files; 2],
    cells: Vec<(Key, Vec<u8>)>,
}

impl Sound {
    /// Reads what [`prepare`] has left below `home`.
    pub fn read(home: &Path) -> Self {
        let files = |folder: &str| {
            let entries = fs::read_dir(home.join(folder)).expect("a folder").flatten();
            let name = |entry: &fs::DirEntry| entry.file_name().to_string_lossy().into_owned();
            entries.map(|e| (name(&e), fs::read(e.path()).expect("readable"))).collect()
        };
        let folder = home.join("results/v");
        let config = Source::Disk(folder.join("config.toml"));
        let experiment = config::load(&config, &Overrides::default()).expect("a config");
        let (sweep, store) = (Sweep::whole(&experiment), CellStore::of(&[&folder]).expect("a log"));
        let cells = sweep.cases().flat_map(|(panel, case)| sweep.cells(panel, case));
        let keys = cells.map(|cell| Key::new(&cell.text));
        let cells = keys.map(|key| (key, store.get(key).expect("readable").expect("there").1));
        Self {
            whole: files("results/v"),
            shards: [files("part1/v"), files("part2/v")],
            cells: cells.collect(),
        }
    }
}

/// What stands where a file should be.
#[derive(Clone, Copy, Debug)]
enum Thing {
    /// To a file outside, to nothing, to a device, to a folder.
    Link(&'static str),
    SecondName,
    Pipe,
    Folder,
    Garbage,
}

const THINGS: [Thing; 8] = [
    Thing::Link("../../../outside/precious.csv"),
    Thing::Link("../../../outside/made"),
    Thing::Link("/dev/zero"),
    Thing::Link("../../../outside/keep"),
    Thing::SecondName,
    Thing::Pipe,
    Thing::Folder,
    Thing::Garbage,
];

/// Names of files that dpbi makes for a while.
const NAMES: &str = ".lock unfinished.log unfinished.log.changed cells.log.changed summary.csv.changed \
    config.toml.changed .dpbi-probe .summary.csv.part .dpbi-0123456789abcdef.part";

/// The commands that read results folders, and what they are given below the stranger's home.
const COMMANDS: [&[&str]; 8] = [
    &["list", "--results", "./inside/results"],
    &["plot", "./inside/results/v", "--format", "svg"],
    &["plot", "./inside/results/v", "--format", "svg", "--json"],
    &["verify", "./inside/results/v", "--seed", "1"],
    &["verify", "./inside/part1/v", "--seed", "1", "--json"],
    &["run", "./inside/v.toml", "--out", "./inside/results", "--format", "svg", "-q"],
    &["run", "./inside/v.toml", "--out", "./inside/results", "--format", "none", "--fresh", "-q"],
    &[
        "merge",
        "./inside/part1",
        "./inside/part2",
        "--out",
        "./inside/merged",
        "--format",
        "none",
        "-q",
    ],
];

/// What a stranger changes in a folder.
#[derive(Clone, Debug)]
struct Changes {
    /// In the folder's own config, one text for another.
    config: Option<(&'static str, &'static str)>,
    log: Option<LogChange>,
    manifest: Vec<ManifestChange>,
    /// The manifest as bytes, when all else is done.
    bytes: Option<Mutation>,
}

/// A log that is damaged, or whose records are sound, with other contents.
#[derive(Clone, Debug)]
struct LogChange {
    file: &'static str,
    /// Changes of the log's bytes.
    bytes: Vec<Mutation>,
    /// Changes of the contents of cells.
    contents: Vec<(Index, Mutation)>,
    /// A record of no cell: its key and its content.
    record: Option<(String, Vec<u8>)>,
}

/// The way to a key of the manifest, and its new value; none if it is lost.
type ManifestChange = (Vec<String>, Option<Value>);

/// One stranger's folders and the commands that they are given to, one after the other.
#[derive(Clone, Debug)]
pub struct Strange {
    whole: Changes,
    shard: Changes,
    things: Vec<(String, Thing)>,
    commands: Vec<&'static [&'static str]>,
}

impl Strange {
    pub fn any(sound: &Sound) -> impl Strategy<Value = Self> {
        let names = sound.whole.keys().map(String::as_str).chain(NAMES.split(' '));
        let names: Vec<String> = names.map(str::to_owned).collect();
        let things = vec((select(names), select(&THINGS[..])), 0..3);
        // Listing reads every bundled config, and is slow.
        let [listing, others @ ..] = &COMMANDS;
        let commands = vec(prop_oneof![300 => select(&others[..]), 1 => Just(*listing)], 1..4);
        (Changes::any(sound), Changes::any(sound), things, commands)
            .prop_map(|(whole, shard, things, commands)| Self { whole, shard, things, commands })
    }

    /// Gives the folders to the commands. Whether all of these did their work, or what is wrong.
    pub fn judge(&self, sound: &Sound, folder: &Path) -> Result<bool, String> {
        let home = folder.join("stranger");
        let whole = self.whole.of(&sound.whole, sound);
        let shard = self.shard.of(&sound.shards[0], sound);
        self.lay_out(&home, [&whole, &shard, &sound.shards[1]]);
        let before = surroundings(&home);
        let read: Vec<u8> = whole.into_values().flatten().collect();
        let mut accepted = true;
        for arguments in &self.commands {
            let refusal = command(&home, arguments, &read)?;
            // Neither is the fault of a folder.
            let faults = ["failed; see failures.csv", "thread pool"];
            if faults.iter().any(|fault| refusal.contains(fault)) {
                return Err(format!("{arguments:?}: {refusal}"));
            }
            accepted &= refusal.is_empty();
            let after = surroundings(&home);
            if after != before {
                let paths = before.keys().chain(after.keys());
                let changed: Vec<_> =
                    paths.filter(|path| before.get(*path) != after.get(*path)).collect();
                return Err(format!("{arguments:?} changed {changed:?}"));
            }
        }
        Ok(accepted)
    }

    /// Makes the stranger's home anew.
    fn lay_out(&self, home: &Path, [whole, shard, other_shard]: [&Files; 3]) {
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
            ("inside/results/v", whole),
            ("inside/results/beta_balanced", whole),
            ("inside/part1/v", shard),
            ("inside/part2/v", other_shard),
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

const GARBAGE: &[u8] = b"my own notes\n";

impl Thing {
    fn put(self, path: &Path, home: &Path) {
        let _ = fs::remove_file(path).or_else(|_| fs::remove_dir_all(path));
        match self {
            #[cfg(unix)]
            Self::Link(target) => std::os::unix::fs::symlink(target, path).expect("writable"),
            #[cfg(not(unix))]
            Self::Link(_) => {}
            Self::SecondName => {
                fs::hard_link(home.join("outside/precious.csv"), path).expect("writable");
            }
            Self::Pipe => drop(std::process::Command::new("mkfifo").arg(path).status()),
            Self::Folder => fs::create_dir(path).expect("writable"),
            Self::Garbage => fs::write(path, GARBAGE).expect("writable"),
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

impl Changes {
    fn any(sound: &Sound) -> impl Strategy<Value = Self> {
        let manifest: serde_json::Map<String, Value> =
            serde_json::from_slice(&sound.whole["manifest.json"]).expect("an object");
        let keys: Vec<String> = manifest.into_iter().map(|(key, _)| key).collect();
        let record = prop_oneof![Just("started fresh".to_owned()), name()];
        let log = (
            select(&["cells.log", "unfinished.log"][..]),
            vec(Mutation::any(), 0..3),
            vec((any::<Index>(), Mutation::any()), 0..4),
            weighted(0.3, (record, vec(any::<u8>(), 0..50))),
        );
        let log = log.prop_map(|(file, bytes, contents, record)| LogChange {
            file,
            bytes,
            contents,
            record,
        });
        let manifest = vec(manifest_change(keys), 0..3);
        (
            weighted(0.25, select(&CONFIG_CHANGES[..])),
            weighted(0.33, log),
            manifest,
            weighted(0.05, Mutation::any()),
        )
            .prop_map(|(config, log, manifest, bytes)| Self {
                config,
                log,
                manifest,
                bytes,
            })
    }

    /// A sound folder with these changes, whose manifest has the hashes of the changed files, as a forger would
    /// write it.
    fn of(&self, folder: &Files, sound: &Sound) -> Files {
        let mut files = folder.clone();
        if let Some((from, to)) = self.config {
            let config = String::from_utf8_lossy(&files["config.toml"]).replacen(from, to, 1);
            files.insert("config.toml".into(), config.into_bytes());
        }
        if let Some(log) = &self.log {
            files.insert(log.file.into(), log.changed(&files["cells.log"], &sound.cells));
        }
        let mut manifest: Value = serde_json::from_slice(&files["manifest.json"]).expect("JSON");
        for (name, bytes) in &files {
            if !name.starts_with('.') && name != "manifest.json" {
                manifest["files"][name] = sha256(bytes).into();
            }
        }
        for (way, value) in &self.manifest {
            let (key, way) = way.split_last().expect("a key");
            let object = way.iter().fold(&mut manifest, |object, key| &mut object[key]);
            if !object.is_object() {
                *object = json!({});
            }
            match value {
                Some(value) => object[key] = value.clone(),
                None => drop(object.as_object_mut().expect("an object").remove(key)),
            }
        }
        manifest.as_object_mut().expect("an object").remove("sha256");
        let mut manifest = sealed(&format!("{manifest:#}")).into_bytes();
        self.bytes.iter().for_each(|mutation| mutation.apply(&mut manifest, None));
        files.insert("manifest.json".into(), manifest);
        files
    }
}

impl LogChange {
    fn changed(&self, log: &[u8], cells: &[(Key, Vec<u8>)]) -> Vec<u8> {
        let mut log = log.to_vec();
        if !self.contents.is_empty() {
            let mut cells = cells.to_vec();
            for (cell, mutation) in &self.contents {
                let cell = cell.index(cells.len());
                mutation.apply(&mut cells[cell].1, None);
            }
            log = log_head();
            cells.iter().for_each(|(key, content)| log.extend(log_record(*key, content)));
        }
        let record = self.record.iter();
        record.for_each(|(key, content)| log.extend(log_record(Key::new(key), content)));
        self.bytes.iter().for_each(|mutation| mutation.apply(&mut log, None));
        log
    }
}

/// What a stranger may say in the config of a folder.
const CONFIG_CHANGES: [(&str, &str); 9] = [
    ("name = \"v\"", "name = \"../other\""),
    ("name = \"v\"", "name = \"/tmp/v\""),
    ("runs = 3", "runs = 9223372036854775807"),
    ("[4, 6]", "[4, 100000000]"),
    ("[4, 6]", "{ from = 1, to = 100000, count = 100000 }"),
    ("[1.0, 1.0]", "[1.0, 1.0, 1.0, 1.0]"),
    ("runs = 3", "runs = 3\nreadings = \"../../../outside/precious.csv\""),
    ("[data.balanced]", "[data.file]\npath = \"/dev/zero\"\n[data.balanced]"),
    ("label = \"ehds\"", "label = \"../../../outside/precious\""),
];

/// Paths, and what looks like one.
fn name() -> impl Strategy<Value = String> {
    const STRANGE: &str = "../other/summary.csv ../../../precious.csv ../../../outside/precious.csv \
        ../../../outside/keep/summary.csv ../../v.toml /dev/zero /dev/stdin /proc/self/mem .. .  \
        ./summary.csv a/../../other/summary.csv ..\\other\\summary.csv C:summary.csv \0summary.csv \
        \u{1b}[31m.csv .lock .dpbi-0123456789abcdef.part manifest.json unfinished.log \
        summary.csv.changed summary.csv box.svg";
    prop_oneof![
        10 => select(STRANGE.split(' ').map(str::to_owned).collect::<Vec<_>>()),
        1 => (1..5000_usize).prop_map(|length| "x".repeat(length) + ".csv"),
        1 => (1..40_usize).prop_map(|levels| "../".repeat(levels) + "x.csv"),
    ]
}

/// The SHA-256 of a file that somebody may have, or anything.
fn hash() -> impl Strategy<Value = Value> {
    let texts = [PRECIOUS, GARBAGE, b""].map(|text| Value::from(sha256(text)));
    prop_oneof![3 => select(texts.to_vec()), 1 => value()]
}

/// Any JSON value: wrong types, huge numbers, texts that a terminal would obey.
fn value() -> impl Strategy<Value = Value> {
    let deep = (1..100).fold(json!(1), |inner, _| json!([inner]));
    let odd =
        [json!(null), json!(u64::MAX), json!(1e300), json!("\u{1b}]0;x\u{7}\n\r\u{202e}"), deep];
    prop_oneof![
        select(odd.to_vec()),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        name().prop_map(Value::from),
        (name(), 0..10).prop_map(|(name, number)| json!([name, number])),
        (name(), 0..10).prop_map(|(name, number)| json!({ name: number })),
    ]
}

fn manifest_change(keys: Vec<String>) -> impl Strategy<Value = ManifestChange> {
    let key = || select(keys.clone()).prop_map(|key| vec![key]);
    let counts = select(vec![0, 1, 2, 3, 100_000, u64::MAX]);
    let shard = (0..4, counts).prop_map(|(index, count)| json!({ "index": index, "count": count }));
    let one = |key: &str| vec![key.to_owned()];
    prop_oneof![
        3 => (name(), hash())
            .prop_map(|(name, hash)| (vec!["files".to_owned(), name], Some(hash))),
        2 => (name(), hash())
            .prop_map(|(name, hash)| (vec!["replacing".to_owned(), name], Some(hash))),
        1 => [name(), name()].prop_map(move |names| (one("replacing"), Some(json!(names)))),
        1 => any::<bool>().prop_map(move |flag| (one("complete"), Some(flag.into()))),
        1 => shard.prop_map(move |shard| (one("shard"), Some(shard))),
        1 => key().prop_map(|key| (key, None)),
        2 => (key(), value()).prop_map(|(key, value)| (key, Some(value))),
    ]
}
