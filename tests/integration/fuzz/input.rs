//! The inputs: where they come from, and what must be true of whatever the readers say to them.

use std::path::{Path, PathBuf};

use lab::experiment::config::{self, Overrides};
use lab::experiment::data_file;
use lab::experiment::reading::ReadingSet;
use system::diagnostic::Diagnostic;
use system::source::Source;
use table::Tables;
use toml::Table;

use super::csv::{self, Data};
use super::dice::Dice;
use super::folder::{Sound, Strange};
use super::{grammar, text, tree};

/// Where an input comes from.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Generator {
    /// A bundled config whose keys and values were changed.
    Tree,
    /// A bundled config whose text was changed.
    Text,
    /// A config from the grammar of the keys.
    Grammar,
    /// A config of bytes without meaning.
    Noise,
    /// A data file.
    Data,
    /// A table of readings.
    Readings,
    /// A table of a results folder.
    Results,
    /// A results folder of a stranger.
    Folder,
}

impl Generator {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Tree => "configs changed by key",
            Self::Text => "configs changed by text",
            Self::Grammar => "configs from the grammar",
            Self::Noise => "noise",
            Self::Data => "data files",
            Self::Readings => "readings",
            Self::Results => "results",
            Self::Folder => "folders of strangers",
        }
    }

    fn drawn(dice: &mut Dice) -> Self {
        match dice.below(20) {
            0..=6 => Self::Tree,
            7..=9 => Self::Text,
            10..=13 => Self::Grammar,
            14 => Self::Noise,
            15..=16 => Self::Data,
            17 => Self::Readings,
            _ => Self::Results,
        }
    }
}

/// A table of a results folder.
#[derive(Clone)]
pub struct ResultsFile {
    /// The folder's name.
    pub folder: String,
    /// The file's name.
    pub file: String,
    pub bytes: Vec<u8>,
}

/// What inputs are made from.
#[derive(Default)]
pub struct Seeds {
    configs: Vec<Table>,
    texts: Vec<Vec<u8>>,
    readings: Vec<Vec<u8>>,
    results: Vec<ResultsFile>,
    /// Where folders are the inputs, sound ones.
    sound: Option<Sound>,
}

impl Seeds {
    /// Sound results folders below `home`, which strangers change.
    pub fn folders(home: &Path) -> Self {
        Self { sound: Some(Sound::read(home)), ..Self::default() }
    }

    /// The bundled configs and readings, and the tables of `results`.
    pub fn read(results: &Path) -> Self {
        let bundled = |path: &PathBuf| Source::Bundle(path.clone()).read().expect("bundled");
        let texts: Vec<Vec<u8>> = system::source::bundled_configs().iter().map(bundled).collect();
        let parse = |text: &Vec<u8>| std::str::from_utf8(text).expect("UTF-8").parse::<Table>();
        let files = |folder: &Path| {
            let files = std::fs::read_dir(folder)
                .expect("a folder")
                .map(|entry| entry.expect("a file").path());
            let mut files: Vec<PathBuf> = files
                .filter(|path| path.extension().is_some_and(|ending| ending == "csv"))
                .collect();
            files.sort();
            files
        };
        let read = |path: &PathBuf| std::fs::read(path).expect("readable");
        let name =
            |path: &PathBuf| path.file_name().expect("a name").to_string_lossy().into_owned();
        let mut tables = Vec::new();
        let mut folders: Vec<PathBuf> = std::fs::read_dir(results)
            .expect("a folder")
            .map(|entry| entry.expect("a file").path())
            .collect();
        folders.sort();
        for folder in folders {
            tables.extend(files(&folder).iter().map(|path| ResultsFile {
                folder: name(&folder),
                file: name(path),
                bytes: read(path),
            }));
        }
        let printed = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/printed");
        Self {
            configs: texts.iter().map(|text| parse(text).expect("a bundled config")).collect(),
            texts: texts.iter().map(|text| slim(text)).collect(),
            readings: files(&printed).iter().map(read).collect(),
            results: tables,
            ..Self::default()
        }
    }
}

/// A config with its ranges cut short, as [`tree`] does it with values.
fn slim(text: &[u8]) -> Vec<u8> {
    let text = String::from_utf8_lossy(text);
    let mut parts = text.split("count = ");
    let mut slim = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        slim += "count = 3";
        slim += part.trim_start_matches(|c: char| c.is_ascii_digit());
    }
    slim.into_bytes()
}

/// What a reader is given.
pub enum Input {
    Config(Vec<u8>),
    Data(Data),
    Readings(Vec<u8>),
    Results(ResultsFile),
    Folder(Box<Strange>),
}

impl Input {
    /// Input number `number` of a seed.
    pub fn new(seeds: &Seeds, seed: u64, number: u64) -> (Generator, Self) {
        let dice = &mut Dice::new(seed, number);
        if let Some(sound) = &seeds.sound {
            return (Generator::Folder, Self::Folder(Box::new(Strange::new(sound, dice))));
        }
        let generator = Generator::drawn(dice);
        let several = |mut bytes: Vec<u8>, dice: &mut Dice, mutate: fn(&mut Vec<u8>, &mut Dice)| {
            for _ in 0..dice.between(1, 3) {
                mutate(&mut bytes, dice);
            }
            bytes
        };
        let input = match generator {
            Generator::Tree => Self::Config(tree::config(&seeds.configs, dice).to_string().into()),
            Generator::Text => {
                Self::Config(several(dice.one(&seeds.texts).clone(), dice, text::mutate))
            }
            Generator::Grammar => Self::Config(grammar::config(dice).to_string().into()),
            Generator::Noise => Self::Config(text::noise(dice)),
            Generator::Data => Self::Data(csv::data(dice)),
            Generator::Readings => {
                Self::Readings(several(dice.one(&seeds.readings).clone(), dice, csv::mutate))
            }
            Generator::Results | Generator::Folder => {
                let file = dice.one(&seeds.results).clone();
                let bytes = several(file.bytes, dice, csv::mutate);
                Self::Results(ResultsFile { bytes, ..file })
            }
        };
        (generator, input)
    }

    /// The bytes.
    pub fn bytes(&self) -> Vec<u8> {
        match self {
            Self::Config(bytes) | Self::Readings(bytes) => bytes.clone(),
            Self::Results(file) => file.bytes.clone(),
            Self::Data(data) => data.bytes.clone(),
            Self::Folder(strange) => strange.describe(),
        }
    }

    /// Gives the input to its reader, which may use `folder`. Whether it was accepted, or what is
    /// wrong with the reader.
    pub fn judge(&self, folder: &Path) -> Result<bool, String> {
        match self {
            Self::Config(bytes) => judge_config(bytes, folder),
            Self::Data(Data { bytes, column, categories }) => {
                let read =
                    data_file::parse(bytes, "d.csv", column.as_deref(), categories.as_deref());
                let read = accepted(read, bytes)?;
                let fits =
                    read.as_ref().is_none_or(|found| found.categories.len() == found.counts.len());
                fits.then_some(read.is_some()).ok_or_else(|| "as many counts as categories".into())
            }
            Self::Readings(bytes) => {
                let read = accepted(ReadingSet::parse("r", bytes, "r.csv"), bytes)?;
                let sound =
                    |set: &ReadingSet| set.readings.iter().all(|reading| reading.value.is_finite());
                match &read {
                    Some(set) if !sound(set) => Err("a reading is not finite".into()),
                    _ => Ok(read.is_some()),
                }
            }
            Self::Folder(strange) => strange.judge(folder),
            Self::Results(ResultsFile { file, bytes, .. }) => {
                let path = folder.join("results").join(file);
                std::fs::write(&path, bytes).expect("writable");
                let read = Tables::read(&folder.join("results"), true);
                std::fs::remove_file(&path).expect("removable");
                match read {
                    Ok(_) => Ok(true),
                    // As `dpbi plot` says it.
                    Err(error) => {
                        let refusal = Diagnostic::new(error.to_string()).to_string();
                        sound_message(&refusal, bytes).map(|()| false)
                    }
                }
            }
        }
    }
}

/// What was read, or none if it was refused with a good message.
fn accepted<T>(read: Result<T, Diagnostic>, bytes: &[u8]) -> Result<Option<T>, String> {
    match read {
        Ok(found) => Ok(Some(found)),
        Err(refusal) => {
            let message = refusal.to_string();
            sound_message(&message, bytes)?;
            match message.contains("\n  help: ") {
                true => Ok(None),
                false => Err(format!("a message without help:\n{message}")),
            }
        }
    }
}

/// A config that is accepted must say the same when it is written out and read again.
fn judge_config(bytes: &[u8], folder: &Path) -> Result<bool, String> {
    let read = |name: &str, bytes: &[u8]| {
        let path = folder.join("configs").join(name);
        std::fs::write(&path, bytes).expect("writable");
        config::load(&Source::Disk(path), &Overrides::default())
    };
    let Some(experiment) = accepted(read("x.toml", bytes), bytes)? else { return Ok(false) };
    let resolved = config::resolve(&experiment);
    let again = read("resolved.toml", resolved.as_bytes())
        .map_err(|refusal| format!("its resolved config is refused: {refusal}"))?;
    match config::resolve(&again) == resolved {
        true => Ok(true),
        false => Err("its resolved config is resolved to another one".into()),
    }
}

/// The longest message that people read.
const LONGEST_MESSAGE: usize = 3000;

/// Whether a message is one for people: short, without control characters, without what only
/// programmers know, without NaN unless the input has it.
pub fn sound_message(message: &str, input: &[u8]) -> Result<(), String> {
    let wrong = |what: &str| {
        let start: String = message.chars().take(1000).collect();
        Err(format!("{what}:\n{start}"))
    };
    if message.trim().is_empty() {
        return wrong("an empty message");
    }
    if message.len() > LONGEST_MESSAGE {
        return wrong(&format!("a message of {} bytes", message.len()));
    }
    if message.chars().any(|char| char.is_control() && char != '\n') {
        return wrong("a message with control characters");
    }
    // What stands between backticks, and the line that is shown, are the user's own words.
    let own = message
        .lines()
        .filter(|line| !line.contains(" | "))
        .flat_map(|line| line.split('`').step_by(2));
    let dumps =
        ["Some(", "None", "Ok(", "Err(", "Error {", "Error(", "ErrorKind", "Utf8Error", "{ "];
    let own: Vec<&str> = own.collect();
    if let Some(dump) = dumps.iter().find(|dump| own.iter().any(|part| part.contains(*dump))) {
        // Some remedies show a table: { id = "ehds" }.
        if *dump != "{ " || !message.contains(" = ") {
            return wrong(&format!("a message with `{dump}`"));
        }
    }
    let input = input.to_ascii_lowercase();
    if own.iter().any(|part| part.contains("NaN")) && !input.windows(3).any(|part| part == b"nan") {
        return wrong("a message with NaN");
    }
    Ok(())
}
