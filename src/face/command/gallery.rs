//! `dpbi gallery`.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::Serialize;

use crate::cli;
use crate::command::paths::Paths;
use crate::command::plot::Drawn;
use crate::command::{no_results, read_manifest, write_page};
use crate::failure::Failure;
use crate::report::{Gallery, GalleryFigure, GalleryFolder, Picture, is_gallery};
use figure::Format;
use lab::run::store::{FileError, MANIFEST, Manifest};
use system::diagnostic::Diagnostic;
use system::filesystem::{is_regular, open_regular};

/// The name of the page, unless another one is asked for.
const PAGE: &str = "gallery.html";

/// Files of more bytes are not taken into the page.
const LARGEST: u64 = 1 << 26;

/// Makes one page of the figures that are there.
pub fn execute(args: &cli::Gallery) -> Result<(), Failure> {
    let found = find_all(&args.folders)?;
    let page = args.out.clone().map_or_else(|| default_page(&args.folders[0]), Ok)?;
    let home = home(&page)?;
    let files = found.iter().flat_map(FigureFolder::files);
    let files: Vec<PathBuf> = files.collect();
    Paths::default()
        .read("a file of the results", files.iter().map(PathBuf::as_path))
        .written("out", "the page", [page.as_path()])
        .check()?;
    let folders = found.iter().map(|folder| folder.show(&home)).collect::<Result<_, _>>()?;
    let gallery = Gallery { folders };
    write_page(&page, gallery.html(), is_gallery)?;
    args.print.answer_unless(
        args.talk.quiet,
        || document(&page, &gallery),
        || format!("wrote {}: {}\n", page.display(), gallery.summary()),
    )
}

/// A page of figures.
#[derive(Serialize, JsonSchema)]
pub struct Document {
    page: String,
    folders: Vec<Drawn>,
}

fn document(page: &Path, gallery: &Gallery) -> Document {
    let folder = |folder: &GalleryFolder| Drawn {
        folder: folder.path.clone(),
        figures: folder.figures.iter().map(|figure| figure.file.clone()).collect(),
    };
    let folders = gallery.folders.iter().map(folder).collect();
    Document { page: page.display().to_string(), folders }
}

/// The page stands beside results folders, not in them: in the folder that holds them.
fn default_page(first: &Path) -> Result<PathBuf, Diagnostic> {
    let holder = match (read_manifest(first)?, first.file_name()) {
        (None, _) => first.to_owned(),
        (Some(_), Some(_)) => first.with_file_name(""),
        (Some(_), None) => first.join(".."),
    };
    Ok(holder.join(PAGE))
}

/// The folder of the page. Addresses of images start from there.
fn home(page: &Path) -> Result<PathBuf, Diagnostic> {
    if page.is_dir() {
        let file = page.join(PAGE);
        return Err(Diagnostic::new(format!("{} is a folder", page.display()))
            .help(format!("name the page itself: --out {}", file.display())));
    }
    let folder = page.parent().filter(|folder| !folder.as_os_str().is_empty());
    folder.unwrap_or(Path::new(".")).canonicalize().map_err(|error| {
        Diagnostic::new(format!("cannot write {}: {error}", page.display()))
            .help("make its folder, or name another page with --out")
    })
}

/// A results folder with figures.
struct FigureFolder {
    path: PathBuf,
    /// Its path without links.
    real: PathBuf,
    manifest: Manifest,
    /// The files that are shown, by the names of the figures.
    files: BTreeMap<String, String>,
}

impl FigureFolder {
    /// Everything that a run has written there.
    fn files(&self) -> impl Iterator<Item = PathBuf> {
        let names = self.manifest.files.keys().map(|name| name.as_str()).chain([MANIFEST]);
        names.map(|name| self.path.join(name))
    }
}

/// The results folders with figures at these paths and in them, each once.
fn find_all(paths: &[PathBuf]) -> Result<Vec<FigureFolder>, Failure> {
    let (mut all, mut seen) = (Vec::new(), BTreeSet::new());
    for path in paths {
        let found = find(path)?;
        let is_drawn = found.iter().any(|folder| !folder.files.is_empty());
        if !is_drawn {
            return Err(without_figures(path, &found).into());
        }
        let drawn = found.into_iter().filter(|folder| !folder.files.is_empty());
        all.extend(drawn.filter(|folder| seen.insert(folder.real.clone())));
    }
    Ok(all)
}

fn without_figures(path: &Path, found: &[FigureFolder]) -> Diagnostic {
    let remedy = match found.first() {
        Some(folder) => {
            format!("draw them: dpbi plot {} --format svg", folder.path.display())
        }
        None => "give a folder that `dpbi run` has written, such as results/beta_balanced, or one \
                 that holds such folders"
            .to_owned(),
    };
    no_results(path, "holds no figures as SVG or PNG", &remedy)
}

/// The results folder at a path, or those in it.
fn find(path: &Path) -> Result<Vec<FigureFolder>, Failure> {
    if let Some(manifest) = read_manifest(path)? {
        return Ok(vec![FigureFolder::new(path.to_owned(), manifest)?]);
    }
    let entries = fs::read_dir(path).into_iter().flatten().flatten();
    let mut within: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    within.sort();
    let mut found = Vec::new();
    for path in within {
        if let Some(manifest) = read_manifest(&path)? {
            found.push(FigureFolder::new(path, manifest)?);
        }
    }
    Ok(found)
}

impl FigureFolder {
    fn new(path: PathBuf, manifest: Manifest) -> Result<Self, FileError> {
        let real = path.canonicalize().map_err(|error| FileError::reading(&path, error))?;
        let mut files = BTreeMap::new();
        // Of both formats the last one is shown.
        for format in [Format::Png, Format::Svg] {
            for name in manifest.files.keys().filter(|name| is_regular(&path.join(name.as_str()))) {
                if let Some(figure) = figure_name(name.as_str(), format) {
                    files.insert(figure.to_owned(), name.as_str().to_owned());
                }
            }
        }
        Ok(Self { path, real, manifest, files })
    }

    /// The folder as the page shows it.
    fn show(&self, home: &Path) -> Result<GalleryFolder, FileError> {
        let figures = self.files.iter().map(|(figure, file)| {
            let picture = self.picture(file, home)?;
            Ok(GalleryFigure { file: file.clone(), title: self.title_of(figure), picture })
        });
        Ok(GalleryFolder {
            name: self.manifest.name.clone(),
            title: self.title(),
            path: self.path.display().to_string(),
            width: self.manifest.width,
            figures: figures.collect::<Result<_, _>>()?,
        })
    }

    fn picture(&self, file: &str, home: &Path) -> Result<Picture, FileError> {
        let address = || address(home, &self.real.join(file));
        if figure_name(file, Format::Svg).is_none() {
            return Ok(Picture::Image(address()));
        }
        let (path, mut bytes) = (self.path.join(file), Vec::new());
        let read = open_regular(&path).and_then(|file| file.take(LARGEST).read_to_end(&mut bytes));
        read.map_err(|error| FileError::reading(&path, error))?;
        Ok(Picture::of_svg(&bytes, address))
    }

    /// What the experiment is about.
    fn title(&self) -> String {
        let title = self.manifest.config["title"].as_str();
        title.unwrap_or(&self.manifest.name).to_owned()
    }

    /// What the panel of a figure is about. The figure's name begins with the panel's.
    fn title_of(&self, figure: &str) -> String {
        let panels = self.manifest.config["panel"].as_array().into_iter().flatten();
        let named =
            panels.filter_map(|panel| Some((panel["id"].as_str()?, panel["title"].as_str()?)));
        let own = named
            .filter(|(id, _)| figure.strip_prefix(id).is_some_and(|rest| rest.starts_with('-')));
        let longest = own.max_by_key(|(id, _)| id.len());
        longest.map_or_else(|| self.title(), |(_, title)| title.to_owned())
    }
}

/// The name of a figure whose file has this name, if it has this format.
fn figure_name(file: &str, format: Format) -> Option<&str> {
    file.strip_suffix(format.extension())?.strip_suffix('.')
}

/// The address of a file, as a page in the folder `home` names it. Both paths are absolute.
fn address(home: &Path, file: &Path) -> String {
    let common = home.components().zip(file.components()).take_while(|(a, b)| a == b).count();
    let up = home.components().skip(common).map(|_| "..".to_owned());
    let down = file.components().skip(common).map(|part| encode(part.as_os_str()));
    up.chain(down).collect::<Vec<_>>().join("/")
}

/// A part of a path as a part of an address.
fn encode(part: &OsStr) -> String {
    let byte = |&byte: &u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
            char::from(byte).to_string()
        }
        other => format!("%{other:02X}"),
    };
    part.as_encoded_bytes().iter().map(byte).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_lead_from_the_page_to_the_file() {
        let lead = |home: &str, file: &str| address(Path::new(home), Path::new(file));
        assert_eq!(lead("/r", "/r/a/box.png"), "a/box.png");
        assert_eq!(lead("/r/pages", "/r/a b/ε#1.png"), "../a%20b/%CE%B5%231.png");
        assert_eq!(lead("/x/y", "/r/a:b.png"), "../../r/a%3Ab.png");
    }

    #[test]
    fn the_page_stands_beside_results_folders() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(default_page(folder.path()).unwrap(), folder.path().join(PAGE));
    }
}
