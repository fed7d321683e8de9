//! Files that are changed and given to their readers: configs, data, readings and tables of results.

use std::fmt::{self, Debug, Formatter};
use std::fs;
use std::path::Path;

use engine::mechanism::{ALL, Choice};
use engine::posterior::metric;
use lab::experiment::config::{self, Overrides};
use lab::experiment::data_file;
use lab::experiment::kind;
use lab::experiment::reading::ReadingSet;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use system::diagnostic::Diagnostic;
use system::source::{Source, bundled_configs};
use table::Tables;

use super::mutate::Corpus;
use super::{command, sound_message};
use crate::common::{Sandbox, root};
use crate::kinds::{EVERY_KIND, READ};

/// What reads a file.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Reader {
    Config,
    Data,
    Readings,
    Results,
}

/// A changed file.
#[derive(Clone)]
pub struct Input {
    reader: Reader,
    name: String,
    /// The column of a data file that is counted, and the categories, if they are given.
    column: Option<&'static str>,
    categories: Option<Vec<String>>,
    bytes: Vec<u8>,
    /// Whether a command is given what the reader accepts.
    is_used: bool,
}

impl Debug for Input {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let Self { reader, name, column, categories, bytes, .. } = self;
        let start = String::from_utf8_lossy(&bytes[..bytes.len().min(5000)]);
        writeln!(out, "{reader:?} {name} {column:?} {categories:?}\n{start}")
    }
}

/// Results of a panel of every kind, to be changed.
pub fn prepare(sandbox: &Sandbox) {
    sandbox.write("every_kind.toml", EVERY_KIND).write("read.csv", READ);
    sandbox.succeed(&["run", "every_kind.toml", "--format", "none", "-q"]);
}

/// Sound files for every reader.
pub struct Sound(Vec<(Reader, Corpus)>);

impl Sound {
    /// The bundled files, and the tables that [`prepare`] has left below `home`.
    pub fn read(home: &Path) -> Self {
        let bundled = |path| slim(Source::Bundle(path).read().expect("bundled"));
        let configs = bundled_configs().into_iter().map(bundled);
        let configs = configs.chain([EVERY_KIND.into()]).map(|text| ("x.toml".to_owned(), text));
        let tables = |folder: &Path| {
            let entries = fs::read_dir(folder).expect("a folder").flatten();
            let mut files: Vec<_> = entries
                .map(|entry| (entry.file_name().to_string_lossy().into_owned(), entry.path()))
                .filter(|(name, _)| name.ends_with(".csv"))
                .map(|(name, path)| (name, fs::read(path).expect("readable")))
                .filter(|(_, text)| text.len() < 50_000)
                .collect();
            files.sort();
            files
        };
        let of = |reader, files, more: &str| (reader, Corpus::new(files, more));
        let results = tables(&home.join("results/every_kind"));
        assert!(results.len() > 10, "{} tables", results.len());
        Self(vec![
            of(Reader::Config, configs.collect(), &vocabulary()),
            of(Reader::Data, tables(&root().join("data")), ""),
            of(Reader::Readings, tables(&root().join("data/printed")), ""),
            of(Reader::Results, results, ""),
        ])
    }

    pub fn inputs(&self) -> impl Strategy<Value = Input> {
        let column = select(vec![None, Some("arm"), Some("age"), Some("count"), Some("x\n")]);
        let categories = proptest::option::weighted(0.2, select(vec!["no,yes", "a,b,a", "65+"]));
        let [configs, data, readings, results] = [0, 1, 2, 3].map(|place| {
            let (reader, corpus) = &self.0[place];
            corpus.mutated().prop_map(|(place, bytes)| (*reader, &corpus.files[place].0, bytes))
        });
        let noise = proptest::collection::vec(any::<u8>(), 0..200);
        let noise = noise.prop_map(|bytes| (Reader::Config, &self.0[0].1.files[0].0, bytes));
        let file = prop_oneof![14 => configs, 1 => noise, 2 => data, 1 => readings, 2 => results];
        (file, column, categories, any::<Index>()).prop_map(
            |((reader, name, bytes), column, categories, used)| {
                let split = |list: &str| list.split(',').map(str::to_owned).collect();
                let (name, categories) = (name.clone(), categories.map(split));
                let is_used = used.index(20) == 0;
                Input { reader, name, column, categories, bytes, is_used }
            },
        )
    }
}

/// A config whose ranges are cut short: maps of thousands of settings find no more than small ones.
fn slim(text: Vec<u8>) -> Vec<u8> {
    let text = String::from_utf8(text).expect("UTF-8");
    let range = regex_lite::Regex::new(r"count = \d+").expect("a pattern");
    range.replace_all(&text, "count = 3").into_owned().into_bytes()
}

/// Every name that a config may have, and mechanisms with every option.
fn vocabulary() -> String {
    let options = Choice::ALL.iter().flat_map(|choice| {
        let option = |value| format!("{{ id = \"ehds\", {} = {value} }}\n", choice.key());
        ["0.5", "true", "\"exact\""].map(option)
    });
    let ids = ALL.iter().map(|mechanism| mechanism.id);
    let ids = ids.chain(kind::ALL.iter().map(|kind| kind.id()));
    let ids = ids.chain(metric::all().into_iter().map(|metric| metric.id()));
    let keys = kind::key::names().into_iter().map(|key| format!("{key} = [1, 2]\n"));
    ids.map(|id| format!("\"{id}\"\n")).chain(options).chain(keys).collect()
}

impl Input {
    /// Gives the file to its reader in `home`. Whether it was accepted, or what is wrong with the reader.
    pub fn judge(&self, home: &Path) -> Result<bool, String> {
        let bytes = &self.bytes;
        match self.reader {
            Reader::Config => self.judge_config(home),
            Reader::Data => {
                let categories = self.categories.as_deref();
                let read =
                    accepted(data_file::parse(bytes, "d.csv", self.column, categories), bytes)?;
                let fits =
                    read.as_ref().is_none_or(|found| found.categories.len() == found.counts.len());
                fits.then_some(read.is_some()).ok_or_else(|| "as many counts as categories".into())
            }
            Reader::Readings => {
                let read = accepted(ReadingSet::parse("r", bytes, "r.csv"), bytes)?;
                let readings = read.iter().flat_map(|set| &set.readings);
                let sound = readings.map(|reading| reading.value).all(f64::is_finite);
                sound.then_some(read.is_some()).ok_or_else(|| "a reading is not finite".into())
            }
            Reader::Results => self.judge_results(home),
        }
    }

    /// A config that is accepted must say the same when it is written out and read again.
    fn judge_config(&self, home: &Path) -> Result<bool, String> {
        let read = |name: &str, bytes: &[u8]| {
            let path = home.join(name);
            fs::write(&path, bytes).expect("writable");
            config::load(&Source::Disk(path), &Overrides::default())
        };
        let Some(experiment) = accepted(read("x.toml", &self.bytes), &self.bytes)? else {
            return Ok(false);
        };
        let resolved = config::resolve(&experiment);
        let again = read("resolved.toml", resolved.as_bytes())
            .map_err(|refusal| format!("its resolved config is refused: {refusal}"))?;
        if config::resolve(&again) != resolved {
            return Err("its resolved config is resolved to another one".into());
        }
        if self.is_used {
            command(home, &["check", "./x.toml"], &self.bytes)?;
        }
        Ok(true)
    }

    /// The table stands among the others for a moment.
    fn judge_results(&self, home: &Path) -> Result<bool, String> {
        let folder = home.join("results/every_kind");
        let path = folder.join(&self.name);
        let sound = fs::read(&path).expect("readable");
        fs::write(&path, &self.bytes).expect("writable");
        let read = Tables::read(&folder, true);
        if self.is_used && read.is_ok() {
            command(home, &["plot", "./results/every_kind", "--format", "svg"], &self.bytes)?;
        }
        fs::write(&path, sound).expect("writable");
        // As `dpbi plot` says it.
        let refusal =
            read.as_ref().err().map(|error| Diagnostic::new(error.to_string()).to_string());
        refusal.map_or(Ok(()), |message| sound_message(&message, &self.bytes))?;
        Ok(read.is_ok())
    }
}

/// What was read, or none if it was refused with a good message.
fn accepted<T>(read: Result<T, Diagnostic>, bytes: &[u8]) -> Result<Option<T>, String> {
    let Err(refusal) = &read else { return Ok(read.ok()) };
    let message = refusal.to_string();
    sound_message(&message, bytes)?;
    match message.contains("\n  help: ") {
        true => Ok(None),
        false => Err(format!("a message without help:\n{message}")),
    }
}
