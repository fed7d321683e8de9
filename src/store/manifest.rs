//! `manifest.json`: what a results folder says about itself.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::{hash_file, sha256};

pub(super) const MANIFEST: &str = "manifest.json";

/// What stands before the SHA-256 of the manifest up to there.
const OWN: &str = ",\n  \"sha256\": \"";

/// What a results folder says about itself. Other versions may say more or less: what is missing
/// is read as a default.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Manifest {
    /// The version of dpbi that wrote it.
    pub dpbi: String,
    /// The version of the numbers and draws: cells of different ones are never mixed.
    pub numerics: u32,
    /// The commit it was built from, the compiler and the platform it was built for.
    #[serde(flatten)]
    pub build: Build,
    /// The experiment.
    pub name: String,
    /// The command line.
    pub command: Vec<String>,
    /// The seed.
    pub seed: u64,
    /// The runs of each cell.
    pub runs: u64,
    /// Which part of the experiment, if it is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shard: Option<Shard>,
    /// When the work began (UTC).
    pub started: String,
    /// When it ended.
    pub ended: String,
    /// How long it took.
    pub seconds: f64,
    /// Whether every cell is there; if not, a failed or interrupted run can be continued.
    pub complete: bool,
    /// How many cells failed.
    pub failures: usize,
    /// The experiment as it was run.
    pub config: serde_json::Value,
    /// Files that are just taking their places, in a folder that is not complete.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub replacing: Vec<String>,
    /// The SHA-256 of every other file.
    pub files: BTreeMap<String, String>,
    /// Every cell and how long it took, in the order of the log.
    #[serde(skip_serializing)]
    pub cells: Vec<CellTime>,
}

/// What the binary was built from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Build {
    /// The commit; `unknown` if it was built outside of a repository.
    pub commit: String,
    /// The compiler.
    pub rustc: String,
    /// The platform.
    pub platform: String,
}

impl Default for Build {
    fn default() -> Self {
        let unknown = || "unknown".to_owned();
        Self { commit: unknown(), rustc: unknown(), platform: unknown() }
    }
}

impl Build {
    /// Of this binary.
    #[must_use]
    pub fn this() -> Self {
        Self {
            commit: env!("DPBI_COMMIT").to_owned(),
            rustc: env!("DPBI_RUSTC").to_owned(),
            platform: env!("DPBI_PLATFORM").to_owned(),
        }
    }
}

/// A setting's number, a mechanism's label (empty if the cell is about all of them), the number of
/// the block of runs, and seconds.
pub type CellTime = (usize, String, u64, f64);

/// One of several parts of an experiment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Shard {
    /// From 1.
    pub index: usize,
    /// How many there are.
    pub count: usize,
}

impl std::fmt::Display for Shard {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "shard {} of {}", self.index, self.count)
    }
}

impl Manifest {
    /// The manifest of a folder, if it is one of ours.
    #[must_use]
    pub fn read(folder: &Path) -> Option<Self> {
        let manifest: Self = serde_json::from_slice(&fs::read(folder.join(MANIFEST)).ok()?).ok()?;
        (!manifest.dpbi.is_empty()).then_some(manifest)
    }

    /// Whether `folder` holds the complete results of this resolved config.
    #[must_use]
    pub fn is_current(&self, folder: &Path, resolved: &str) -> bool {
        self.complete
            && self.shard.is_none()
            && self.files.get("config.toml") == Some(&sha256(resolved.as_bytes()))
            && self.files.keys().all(|name| folder.join(name).is_file())
    }

    /// The files that are not as they were written, and what is wrong with each.
    #[must_use]
    pub fn changes(&self, folder: &Path) -> BTreeMap<String, Change> {
        let state = |(name, hash): (&String, &String)| {
            let change = match hash_file(&folder.join(name)) {
                Ok(now) if now == *hash => return None,
                Ok(_) => Change::Altered,
                Err(_) => Change::Missing,
            };
            Some((name.clone(), change))
        };
        // A run that was killed while it replaced files has changed them itself.
        let known = |(name, _): &(&String, &String)| !self.replacing.contains(name);
        self.files.iter().filter(known).filter_map(state).collect()
    }

    pub(super) fn bytes(&self) -> Vec<u8> {
        let text = serde_json::to_string_pretty(self).expect("a manifest is plain data");
        let open = text.strip_suffix("\n}").unwrap_or(&text);
        // A line for each cell.
        let line = |cell: &CellTime| format!("    {}", serde_json::json!(cell));
        let lines: Vec<String> = self.cells.iter().map(line).collect();
        let cells = match lines.is_empty() {
            true => "[]".to_owned(),
            false => format!("[\n{}\n  ]", lines.join(",\n")),
        };
        let text = format!("{open},\n  \"cells\": {cells}");
        let own = sha256(text.as_bytes());
        format!("{text}{OWN}{own}\"\n}}\n").into_bytes()
    }

    /// Whether the manifest of a folder is byte for byte as it was written.
    #[must_use]
    pub fn is_sound(folder: &Path) -> bool {
        let text = fs::read_to_string(folder.join(MANIFEST)).unwrap_or_default();
        let parts = text.rsplit_once(OWN);
        parts.is_some_and(|(text, own)| own == format!("{}\"\n}}\n", sha256(text.as_bytes())))
    }
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

    #[test]
    fn a_manifest_is_read_as_it_was_written() {
        let folder = tempfile::tempdir().unwrap();
        let cell = |setting| (setting, "a, \"b\"".to_owned(), 1, 0.25);
        for cells in [vec![], vec![cell(1)], vec![cell(1), cell(2)]] {
            let written = Manifest {
                dpbi: "0".into(),
                build: Build::this(),
                shard: Some(Shard { index: 2, count: 3 }),
                files: BTreeMap::from([("x.csv".to_owned(), "hash".to_owned())]),
                config: serde_json::json!({ "name": "}" }),
                cells,
                ..Manifest::default()
            };
            fs::write(folder.path().join(MANIFEST), written.bytes()).unwrap();
            assert_eq!(Manifest::read(folder.path()), Some(written));
            assert!(Manifest::is_sound(folder.path()));
            let text = fs::read_to_string(folder.path().join(MANIFEST)).unwrap();
            fs::write(folder.path().join(MANIFEST), text.replacen('2', "1", 1)).unwrap();
            assert!(!Manifest::is_sound(folder.path()));
        }
    }

    #[test]
    fn a_manifest_of_an_older_version_is_still_ours() {
        let folder = tempfile::tempdir().unwrap();
        let old = r#"{ "dpbi": "0.1.0", "name": "a", "complete": true, "files": {} }"#;
        fs::write(folder.path().join(MANIFEST), old).unwrap();
        let manifest = Manifest::read(folder.path()).unwrap();
        assert_eq!((manifest.numerics, manifest.cells.len()), (0, 0));
        fs::write(folder.path().join(MANIFEST), r#"{ "name": "a" }"#).unwrap();
        assert_eq!(Manifest::read(folder.path()), None);
    }
}
