//! `manifest.json`: what a results folder holds, and how it was made.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, Read};
use std::path::Path;
use std::time::SystemTime;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Build, declared_command, hash_file, sha256, utc};
use figure::{Format, Width};
use system::filesystem::{is_regular, is_taken, open_regular};
use table::NUMERICS;

/// The file in which a results folder says what it holds.
pub const MANIFEST: &str = "manifest.json";

/// The text between the entries of a manifest and its own SHA-256.
const OWN: &str = ",\n  \"sha256\": \"";

/// The most bytes of a manifest that is read.
const LARGEST: u64 = 1 << 32;

/// The most cells of an experiment: their lines in a manifest have fewer than 200 bytes.
pub const MOST_CELLS: u64 = 20_000_000;

/// The most parts an experiment can be divided into.
pub const MOST_SHARDS: usize = 100_000;

/// The name of a file that dpbi writes into a results folder, and of nothing else: a manifest may come
/// from a stranger, and files that it names are read, replaced and removed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
pub struct FileName(String);

impl FileName {
    /// The endings of all files that a manifest lists.
    const ENDINGS: [&str; 6] = ["csv", "log", "pdf", "png", "svg", "toml"];

    /// Whether it is a figure.
    pub fn is_figure(&self) -> bool {
        Format::ALL.iter().any(|format| self.0.ends_with(&format!(".{}", format.extension())))
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for FileName {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        let plain = |c: char| c.is_alphanumeric() || "_-.,=".contains(c);
        let ending = name.rsplit_once('.').filter(|(stem, _)| !stem.is_empty());
        let known = ending.is_some_and(|(_, ending)| Self::ENDINGS.contains(&ending));
        if name.starts_with('.') || !known || !name.chars().all(plain) {
            return Err(format!("`{name}` is not the name of a file that dpbi writes"));
        }
        Ok(Self(name))
    }
}

impl From<FileName> for String {
    fn from(name: FileName) -> Self {
        name.0
    }
}

impl fmt::Display for FileName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::borrow::Borrow<str> for FileName {
    fn borrow(&self) -> &str {
        &self.0
    }
}

/// Why a folder has no manifest that can be used.
#[derive(Debug, thiserror::Error)]
pub enum ManifestError {
    /// There is none.
    #[error("there is no manifest.json")]
    Absent,
    /// Another program wrote it.
    #[error("dpbi did not write this manifest.json")]
    Foreign,
    /// It cannot be read, or is not as dpbi wrote it. Nothing that it says is used.
    #[error("manifest.json is damaged: {0}")]
    Damaged(#[from] Damage),
}

/// What is wrong with a damaged manifest.
#[derive(Debug, thiserror::Error)]
pub enum Damage {
    /// The file cannot be read.
    #[error(transparent)]
    File(#[from] io::Error),
    /// It is not a manifest.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    /// It was changed.
    #[error("its own SHA-256 does not fit")]
    Hash,
}

/// What a results folder holds, and how it was made. Other versions may have other entries: one that
/// is missing is read as a default.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, expecting = "a JSON object")]
pub struct Manifest {
    /// The version of dpbi that wrote it.
    pub dpbi: String,
    /// The version of the numbers and draws: cells of different ones are never mixed.
    pub numerics: u32,
    /// The commit that it was built from; `unknown` outside of a repository.
    pub commit: String,
    pub rustc: String,
    pub platform: String,
    pub name: String,
    #[serde(skip_serializing_if = "Holds::is_experiment")]
    pub holds: Holds,
    pub command: Vec<String>,
    pub seed: u64,
    /// The runs of each cell.
    pub runs: u64,
    /// Which part of the experiment, if it is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shard: Option<Shard>,
    /// How the experiment was divided, if this is a part of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub division: Option<Division>,
    #[serde(with = "width_name")]
    pub width: Width,
    /// When the work began (UTC).
    pub started: String,
    pub ended: String,
    /// How long it took.
    pub seconds: f64,
    /// Whether every cell is there; if not, a failed or interrupted run can be continued.
    pub complete: bool,
    /// How many cells failed.
    pub failures: usize,
    /// The experiment as it was run.
    pub config: serde_json::Value,
    /// Files that are being replaced, in a folder that is not complete, and their new SHA-256.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub replacing: BTreeMap<FileName, String>,
    /// The SHA-256 of every other file.
    pub files: BTreeMap<FileName, String>,
    /// Every cell and how long it took, in the order of the log.
    #[serde(skip_serializing)]
    pub cells: Vec<CellTime>,
}

/// What a folder holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Holds {
    /// The results of an experiment.
    #[default]
    Experiment,
    /// The best mechanisms of one setting, which `dpbi optimum` has written. It has neither config nor
    /// cells.
    Optimum,
}

impl Holds {
    fn is_experiment(&self) -> bool {
        *self == Self::Experiment
    }
}

/// A width is written as its name.
mod width_name {
    use serde::{Deserialize, Deserializer, Serializer, de};

    use figure::Width;

    pub(super) fn serialize<S: Serializer>(width: &Width, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(width.id())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Width, D::Error> {
        let name = String::deserialize(from)?;
        let known = Width::ALL.iter().copied().find(|width| width.id() == name);
        known.ok_or_else(|| de::Error::custom(format_args!("there is no width `{name}`")))
    }
}

/// A setting's number, a mechanism's label (empty if the cell is about all of them), the number of
/// the block of runs, and seconds.
pub type CellTime = (usize, String, u64, f64);

/// One of several parts of an experiment.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(try_from = "UncheckedShard")]
pub struct Shard {
    index: usize,
    count: usize,
}

impl Shard {
    /// Part `index` (from 1) of `count`, if there can be one.
    pub fn new(index: usize, count: usize) -> Option<Self> {
        let possible = (1..=count).contains(&index) && count <= MOST_SHARDS;
        possible.then_some(Self { index, count })
    }

    /// Which one it is, from 1.
    pub fn index(self) -> usize {
        self.index
    }

    /// How many there are.
    pub fn count(self) -> usize {
        self.count
    }
}

/// How an experiment was divided into shards.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Division {
    /// The version of the rule: shards that were divided by different ones are not joined.
    pub rule: u32,
    pub cases: usize,
}

/// A shard as a stranger may have written it.
#[derive(Deserialize, JsonSchema)]
struct UncheckedShard {
    index: usize,
    count: usize,
}

impl TryFrom<UncheckedShard> for Shard {
    type Error = String;

    fn try_from(UncheckedShard { index, count }: UncheckedShard) -> Result<Self, String> {
        Self::new(index, count).ok_or_else(|| format!("there is no shard {index} of {count}"))
    }
}

impl std::fmt::Display for Shard {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "shard {} of {}", self.index, self.count)
    }
}

/// The entry that every manifest of dpbi has, and those of other programs have not.
#[derive(Deserialize)]
#[serde(expecting = "a JSON object")]
struct Head {
    dpbi: Option<serde::de::IgnoredAny>,
}

impl Manifest {
    /// The manifest of a folder that this process begins to fill.
    pub fn new(name: &str, started: SystemTime) -> Self {
        let build = Build::declared();
        Self {
            dpbi: env!("CARGO_PKG_VERSION").to_owned(),
            commit: build.commit.to_owned(),
            rustc: build.rustc.to_owned(),
            platform: build.platform.to_owned(),
            name: name.to_owned(),
            command: declared_command(),
            started: utc(started),
            ended: utc(started),
            ..Self::default()
        }
    }

    /// The manifest of a folder, byte for byte as dpbi wrote it.
    pub fn read(folder: &Path) -> Result<Self, ManifestError> {
        let text = match read_text(&folder.join(MANIFEST)) {
            Ok(text) => text,
            Err(error) if is_absent(&error) => return Err(ManifestError::Absent),
            Err(error) => return Err(Damage::File(error).into()),
        };
        let head: Head = serde_json::from_str(&text).map_err(Damage::Json)?;
        if head.dpbi.is_none() {
            return Err(ManifestError::Foreign);
        }
        if !is_as_written(&text) {
            return Err(Damage::Hash.into());
        }
        Ok(serde_json::from_str(&text).map_err(Damage::Json)?)
    }

    /// Whether `folder` holds the complete results of this resolved config, computed as today.
    pub fn is_current(&self, folder: &Path, resolved: &str) -> bool {
        self.complete
            && self.numerics == NUMERICS
            && self.shard.is_none()
            && self.files.get("config.toml") == Some(&sha256(resolved.as_bytes()))
            && self.files.keys().all(|name| is_regular(&folder.join(name.as_str())))
    }

    /// The files that are not as they were written, and what is wrong with each. Where a run was
    /// killed while it replaced files, each may be the old or the new one.
    pub fn changes(&self, folder: &Path) -> BTreeMap<String, Change> {
        let state = |name: &FileName| {
            let path = folder.join(name.as_str());
            let change = match hash_file(&path) {
                Ok(now) if self.files.get(name) == Some(&now) => return None,
                Ok(now) if self.replacing.get(name) == Some(&now) => return None,
                Ok(_) => Change::Altered,
                // It was not yet written when the run was killed.
                Err(_) if self.replacing.contains_key(name) && !is_taken(&path) => return None,
                Err(_) => Change::Missing,
            };
            Some((name.to_string(), change))
        };
        self.names().filter_map(state).collect()
    }

    /// Every file that it lists; some may occur twice.
    pub(super) fn names(&self) -> impl Iterator<Item = &FileName> {
        self.files.keys().chain(self.replacing.keys())
    }

    pub(super) fn bytes(&self) -> Vec<u8> {
        let text = serde_json::to_string_pretty(self).expect("a manifest is plain data");
        let open = text.strip_suffix("\n}").unwrap_or(&text);
        let mut bytes = format!("{open},\n  \"cells\": [").into_bytes();
        // A line for each cell. There may be millions, so that they are written once.
        for (place, cell) in self.cells.iter().enumerate() {
            bytes.extend_from_slice(if place == 0 { b"\n    " } else { b",\n    " });
            serde_json::to_writer(&mut bytes, cell).expect("a cell is plain data");
        }
        bytes.extend_from_slice(if self.cells.is_empty() { b"]" } else { b"\n  ]" });
        let own = sha256(&bytes);
        bytes.extend_from_slice(format!("{OWN}{own}\"\n}}\n").as_bytes());
        bytes
    }
}

fn read_text(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    let length = open_regular(path)?.take(LARGEST + 1).read_to_string(&mut text)?;
    match length as u64 > LARGEST {
        true => Err(io::Error::other(format!("it has more than {LARGEST} bytes"))),
        false => Ok(text),
    }
}

/// Whether an error says that there is no file, or no folder.
fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// Whether the text of a manifest ends with the SHA-256 of all that comes before it.
fn is_as_written(text: &str) -> bool {
    let parts = text.rsplit_once(OWN);
    parts.is_some_and(|(text, own)| own == format!("{}\"\n}}\n", sha256(text.as_bytes())))
}

/// What happened to a file after it was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// It is gone, or cannot be read.
    Missing,
    /// It holds something else.
    Altered,
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn manifest() -> Manifest {
        Manifest { dpbi: "0".into(), ..Manifest::default() }
    }

    /// Reads a manifest whose text was changed, with a hash that fits.
    fn reread(change: impl Fn(&str) -> String) -> Result<Manifest, String> {
        let folder = tempfile::tempdir().unwrap();
        let files = BTreeMap::from([(FileName("x.csv".into()), "hash".to_owned())]);
        let shard = Shard::new(2, 3);
        let text = String::from_utf8(Manifest { files, shard, ..manifest() }.bytes()).unwrap();
        let text = change(text.rsplit_once(OWN).unwrap().0);
        let own = sha256(text.as_bytes());
        fs::write(folder.path().join(MANIFEST), format!("{text}{OWN}{own}\"\n}}\n")).unwrap();
        Manifest::read(folder.path()).map_err(|error| error.to_string())
    }

    #[test]
    fn a_manifest_is_read_as_it_was_written() {
        let folder = tempfile::tempdir().unwrap();
        let cell = |setting| (setting, "a, \"b\"".to_owned(), 1, 0.25);
        for cells in [vec![], vec![cell(1)], vec![cell(1), cell(2)]] {
            let written = Manifest {
                shard: Shard::new(2, 3),
                files: BTreeMap::from([(FileName("x.csv".into()), "hash".to_owned())]),
                config: serde_json::json!({ "name": "}" }),
                cells,
                ..Manifest::new("a", SystemTime::UNIX_EPOCH)
            };
            fs::write(folder.path().join(MANIFEST), written.bytes()).unwrap();
            assert_eq!(Manifest::read(folder.path()).unwrap(), written);
            let text = fs::read_to_string(folder.path().join(MANIFEST)).unwrap();
            for (from, to) in [("\"runs\": 0", "\"runs\": 1"), (",\n  \"sha256\"", ",\n  \"sha\"")]
            {
                fs::write(folder.path().join(MANIFEST), text.replacen(from, to, 1)).unwrap();
                let error = Manifest::read(folder.path()).unwrap_err().to_string();
                assert!(error.contains("its own SHA-256 does not fit"), "{error}");
            }
        }
    }

    #[test]
    fn results_of_other_numerics_are_not_current() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("config.toml"), "a").unwrap();
        let files = BTreeMap::from([(FileName("config.toml".into()), sha256(b"a"))]);
        let numerics = NUMERICS;
        let current = Manifest { complete: true, files, numerics, ..manifest() };
        assert!(current.is_current(folder.path(), "a") && !current.is_current(folder.path(), "b"));
        let earlier = Manifest { numerics: NUMERICS - 1, ..current };
        assert!(!earlier.is_current(folder.path(), "a"));
    }

    #[test]
    fn only_names_of_files_that_dpbi_writes_are_taken() {
        assert!(reread(str::to_owned).is_ok());
        for name in
            ["errors.csv", "config.toml", "cells.log", "panel-a.box.svg", "ε_2.png", "a.pdf"]
        {
            assert!(reread(|text| text.replace("x.csv", name)).is_ok(), "{name}");
        }
        let names = r"../x.csv|/dev/zero|/tmp/x.csv|a/b.csv|a\\b.csv|..|.||.csv|.x.csv|C:x.csv|x|x.rs|manifest.json";
        for name in names.split('|').chain(["x.csv\\u0000", "x y.csv", "\\u001b.csv"]) {
            let error = reread(|text| text.replace("x.csv", name)).unwrap_err();
            assert!(
                error.contains("is not the name of a file that dpbi writes"),
                "{name}: {error}"
            );
        }
    }

    #[test]
    fn a_manifest_without_a_width_is_one_of_figures_as_wide_as_the_text() {
        let with = |width: &str| reread(|text| text.replace("  \"width\": \"text\",\n", width));
        assert_eq!(with("").unwrap().width, Width::Text);
        assert_eq!(with("  \"width\": \"column\",\n").unwrap().width, Width::Column);
        let error = with("  \"width\": \"wide\",\n").unwrap_err();
        assert!(error.contains("there is no width `wide`"), "{error}");
    }

    #[test]
    fn numbers_that_cannot_be_are_refused() {
        let shard = |index: &str, count: &str| {
            reread(|text| {
                let text = text.replace("\"index\": 2", &format!("\"index\": {index}"));
                text.replace("\"count\": 3", &format!("\"count\": {count}"))
            })
        };
        assert!(shard("3", "3").is_ok());
        for (index, count) in
            [("0", "3"), ("4", "3"), ("1", "99999999999"), ("-1", "3"), ("1e3", "3")]
        {
            assert!(shard(index, count).is_err(), "{index} of {count}");
        }
        assert!(reread(|text| text.replace("\"seed\": 0", "\"seed\": 1e400")).is_err());
    }
}
