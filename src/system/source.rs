//! Texts that dpbi reads: files on disk, and the configs and data compiled into the binary, so
//! that the bundled experiments run from any folder.

use std::fmt;
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};

use include_dir::{Dir, include_dir};

use crate::diagnostic::Diagnostic;
use crate::filesystem::open_named;
use engine::refusal::{nearest, suggest};

static CONFIGS: Dir = include_dir!("$CARGO_MANIFEST_DIR/../../configs");
static DATA: Dir = include_dir!("$CARGO_MANIFEST_DIR/../../data");

/// Where a text comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// A file.
    Disk(PathBuf),
    /// A file of the project, compiled in; its path below the project's folder.
    Bundle(PathBuf),
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Disk(path) => write!(f, "{}", path.display()),
            Self::Bundle(path) => write!(f, "(bundled) {}", path.display()),
        }
    }
}

impl Source {
    /// The config that a user names: a file, or else a bundled config by its path, name or short name, or else
    /// a file without its ending.
    pub fn config(named: &str) -> Result<Self, Diagnostic> {
        let path = Path::new(named);
        if path.is_file() {
            return Ok(Self::Disk(path.into()));
        }
        let whole = PathBuf::from(format!("{named}.toml"));
        match Self::bundled_config(named) {
            Err(_) if whole.is_file() => Ok(Self::Disk(whole)),
            Err(_) if path.exists() => Ok(Self::Disk(path.into())),
            bundled => bundled,
        }
    }

    /// A bundled config by its path, name or short name.
    pub fn bundled_config(named: &str) -> Result<Self, Diagnostic> {
        let path = Path::new(named);
        let bundled = bundled_configs();
        let wanted = named.trim_end_matches(".toml").trim_start_matches("configs/");
        let same = |candidate: &&PathBuf| {
            let name = config_name(candidate);
            name == wanted || short_name(&name) == wanted
        };
        match bundled.iter().find(same) {
            Some(found) => Ok(Self::Bundle(found.clone())),
            None => Err(Diagnostic::new(format!("there is no config {named}")).help(format!(
                "give the path of a TOML file, or the name of a bundled config; {}",
                meant(path, wanted, &bundled)
            ))),
        }
    }

    /// The file that `path`, written in this one, means: a bundled table by its name, or a file relative to this
    /// file's folder.
    pub fn relative(&self, path: &str) -> Self {
        if let Some(name) = path.strip_prefix(BUNDLED) {
            return Self::Bundle(Path::new("data").join(name).with_extension("csv"));
        }
        let join = |own: &PathBuf| own.parent().unwrap_or(Path::new("")).join(path);
        match self {
            Self::Disk(own) => Self::Disk(join(own)),
            Self::Bundle(own) if Path::new(path).is_relative() => {
                Self::Bundle(normalise(&join(own)))
            }
            Self::Bundle(_) => Self::Disk(path.into()),
        }
    }

    /// The bytes.
    pub fn read(&self) -> Result<Vec<u8>, Diagnostic> {
        match self {
            Self::Disk(path) => read_file(path).map_err(|error| {
                Diagnostic::new(format!("cannot read {}: {error}", path.display()))
                    .help("give the path of a file that can be read")
            }),
            Self::Bundle(path) => bundled_file(path).map(<[u8]>::to_vec).ok_or_else(|| {
                Diagnostic::new(format!("no file {} is bundled with dpbi", path.display()))
                    .help("give the path of a file that can be read")
            }),
        }
    }

    /// The name of a file beside it whose name may have been meant, if this one cannot be found.
    pub fn similar(&self) -> Option<String> {
        let path = match self {
            Self::Disk(path) => path,
            Self::Bundle(path) => {
                let folder = path.parent()?.strip_prefix("data").ok()?;
                let tables = bundled_tables(&folder.to_string_lossy());
                let tables: Vec<&str> = tables.iter().map(String::as_str).collect();
                return nearest(&self.stem(), &tables).map(|near| format!("{BUNDLED}{near}"));
            }
        };
        let near = similar(path).filter(|_| !path.exists())?;
        Some(near.file_name()?.to_string_lossy().into_owned())
    }

    /// The file's name without folder and ending.
    pub fn stem(&self) -> String {
        let (Self::Disk(path) | Self::Bundle(path)) = self;
        path.file_stem().map_or(String::new(), |stem| stem.to_string_lossy().into_owned())
    }
}

/// What stands before the name of a bundled table.
pub const BUNDLED: &str = "bundled:";

/// Names the config that may have been meant by `path`, where there is none: a file beside it, or a
/// bundled config, even if its folders are left out.
fn meant(path: &Path, wanted: &str, bundled: &[PathBuf]) -> String {
    let is_config = |path: &PathBuf| path.extension().is_some_and(|ending| ending == "toml");
    if let Some(similar) = similar(path).filter(is_config) {
        return format!("did you mean `{}`?", similar.display());
    }
    let names: Vec<String> = bundled.iter().map(|path| config_name(path)).collect();
    let shorts: Vec<String> = names.iter().map(|name| short_name(name)).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let all: Vec<&str> = names.iter().copied().chain(shorts.iter().map(String::as_str)).collect();
    let inner: Vec<&str> = names.iter().filter_map(|name| Some(name.split_once('/')?.1)).collect();
    let whole = |inner: &str| {
        let is_whole = |name: &&&str| name.strip_suffix(inner).is_some_and(|a| a.ends_with('/'));
        names.iter().find(is_whole).copied()
    };
    match nearest(wanted, &all).or_else(|| nearest(wanted, &inner).and_then(whole)) {
        Some(near) if nearest(wanted, &names) != Some(near) => {
            format!("did you mean `{near}`? (`dpbi list` shows them)")
        }
        _ => suggest(wanted, names),
    }
}

/// The file or folder whose path `path`, which does not exist, may be a typing error of.
pub fn similar(path: &Path) -> Option<PathBuf> {
    let wanted = path.file_name()?.to_str()?;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let entries = std::fs::read_dir(folder.unwrap_or(Path::new("."))).ok()?;
    let name = |entry: io::Result<std::fs::DirEntry>| entry.ok()?.file_name().into_string().ok();
    let mut names: Vec<String> = entries.take(MOST_COMPARED).filter_map(name).collect();
    // A folder lists its files in no particular order.
    names.sort();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    nearest(wanted, &names).map(|near| path.with_file_name(near))
}

/// At most this many files of a folder are compared with a name that was not found.
const MOST_COMPARED: usize = 10_000;

/// The bundled tables of `folder`, by their names without the ending.
pub fn bundled_tables(folder: &str) -> Vec<String> {
    let folder = if folder.is_empty() { Some(&DATA) } else { DATA.get_dir(folder) };
    let files = folder.into_iter().flat_map(Dir::files).map(|file| file.path());
    let is_table = |path: &&Path| path.extension().is_some_and(|ending| ending == "csv");
    let name = |path: &Path| Some(path.file_stem()?.to_string_lossy().into_owned());
    files.filter(is_table).filter_map(name).collect()
}

/// The bundled configs, by path.
pub fn bundled_configs() -> Vec<PathBuf> {
    fn collect(dir: &Dir, found: &mut Vec<PathBuf>) {
        let is_config = |path: &Path| path.extension().is_some_and(|ending| ending == "toml");
        let files = dir.files().map(|file| file.path()).filter(|path| is_config(path));
        found.extend(files.map(|path| Path::new("configs").join(path)));
        dir.dirs().for_each(|inner| collect(inner, found));
    }
    let mut found = Vec::new();
    collect(&CONFIGS, &mut found);
    found.sort();
    found
}

/// A bundled config's path without `configs/` and `.toml`: what a user may call it.
pub fn config_name(path: &Path) -> String {
    let inside = path.strip_prefix("configs").unwrap_or(path).with_extension("");
    inside.to_string_lossy().into_owned()
}

/// Where the configs of the documents' figures are.
pub const PAPERS: &str = "papers/";

/// Where the configs of the questions are that the documents leave open.
pub const QUESTIONS: &str = "open_questions/";

/// What the open questions are called together.
pub const OPEN: &str = "open";

/// The short name of a bundled config: `icml/fig2` for `papers/icml/fig2`, and `open/optimum` for
/// `open_questions/optimum`.
pub fn short_name(config: &str) -> String {
    match config.strip_prefix(QUESTIONS) {
        Some(question) => format!("{OPEN}/{question}"),
        None => config.strip_prefix(PAPERS).unwrap_or(config).to_owned(),
    }
}

/// The most bytes of a file.
const LARGEST_FILE: u64 = 1 << 30;

/// The most bytes of anything but a file, such as a pipe: a device may never end.
const LARGEST_STREAM: u64 = 1 << 26;

/// Reads a file, unless it is so large that it cannot be what was meant.
fn read_file(path: &Path) -> io::Result<Vec<u8>> {
    let file = open_named(path)?;
    let about = file.metadata()?;
    let most = if about.is_file() { LARGEST_FILE } else { LARGEST_STREAM };
    let too_large = || io::Error::other(format!("it has more than {} MB", most >> 20));
    if about.is_file() && about.len() > most {
        return Err(too_large());
    }
    let mut bytes = Vec::new();
    file.take(most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most { Err(too_large()) } else { Ok(bytes) }
}

fn bundled_file(path: &Path) -> Option<&'static [u8]> {
    let inside = |root: &str, dir: &'static Dir| {
        path.strip_prefix(root).ok().and_then(|rest| dir.get_file(rest))
    };
    let file = inside("configs", &CONFIGS).or_else(|| inside("data", &DATA))?;
    Some(file.contents())
}

/// Resolves `..` without asking the disk.
fn normalise(path: &Path) -> PathBuf {
    path.components().fold(PathBuf::new(), |mut clean, part| {
        match part {
            Component::ParentDir => {
                clean.pop();
            }
            Component::CurDir => {}
            other => clean.push(other),
        }
        clean
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bundled_configs_are_found_by_name_and_path() {
        for named in ["beta_balanced", "configs/beta_balanced.toml", "beta_balanced.toml"] {
            let source = Source::config(named).unwrap();
            assert!(!source.read().unwrap().is_empty());
        }
        for (short, name) in [
            ("icml/fig2", "papers/icml/fig2"),
            ("icml/fig2.toml", "papers/icml/fig2"),
            ("open/optimum", "open_questions/optimum"),
        ] {
            assert_eq!(Source::config(short).unwrap(), Source::config(name).unwrap());
        }
        for (typed, meant) in [
            ("beta_balancd", "beta_balanced"),
            ("papers/icml/fgi3", "papers/icml/fig3"),
            ("icml/fgi3", "icml/fig3"),
            ("open/phase_n_epsilom", "open/phase_n_epsilon"),
            ("phase_n_epsilom", "open/phase_n_epsilon"),
            ("Cargo.tml", "Cargo.toml"),
        ] {
            let error = Source::config(typed).unwrap_err().to_string();
            assert!(error.contains(&format!("did you mean `{meant}`?")), "{error}");
        }
    }

    #[test]
    fn what_never_ends_is_not_read_to_its_end() {
        if !Path::new("/dev/zero").exists() {
            return;
        }
        let error = Source::Disk("/dev/zero".into()).read().unwrap_err().to_string();
        assert!(error.contains("/dev/zero: it has more than 64 MB"), "{error}");
        assert!(Source::Disk("/dev/null".into()).read().unwrap().is_empty());
    }

    #[test]
    fn data_is_found_beside_a_bundled_config() {
        let config = Source::Bundle("configs/real_data.toml".into());
        let beside = config.relative("../data/badges.csv");
        let own = Source::Disk("mine/idea.toml".into());
        let named = own.relative("bundled:badges");
        for data in [beside, named] {
            assert_eq!(data, Source::Bundle("data/badges.csv".into()));
            assert!(data.read().is_ok());
        }
        let near = own.relative("bundled:badge").similar();
        assert_eq!(near.as_deref(), Some("bundled:badges"));
    }
}
