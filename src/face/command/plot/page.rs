//! `dpbi plot --page`.

use std::collections::BTreeMap;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::Drawn;
use crate::cli::Plot;
use crate::command::paths::Paths;
use crate::command::{no_results, read_manifest, write_page};
use crate::failure::Failure;
use crate::report::{FigureFolder, FigurePage, ShownFigure, is_figure_page};
use figure::Format;
use lab::run::store::{FileError, MANIFEST, Manifest};
use system::diagnostic::Diagnostic;
use system::filesystem::{is_regular, open_regular};

/// The formats that a browser shows, and what it calls them. Of a figure in both, the last one is shown.
const SHOWN: [(Format, &str); 2] = [(Format::Png, "image/png"), (Format::Svg, "image/svg+xml")];

/// Writes one page with the figures that stand in the folders.
pub(super) fn execute(page: &Path, args: &Plot) -> Result<(), Failure> {
    let found = args.folders.iter().map(|path| DrawnFolder::find(path));
    let found = found.collect::<Result<Vec<_>, _>>()?;
    let files: Vec<PathBuf> = found.iter().flat_map(DrawnFolder::files).collect();
    Paths::default()
        .read("a file of the results", files.iter().map(PathBuf::as_path))
        .written("page", "the page", [page])
        .check()?;
    let folders = found.iter().map(DrawnFolder::read).collect::<Result<_, _>>()?;
    let shown = FigurePage { folders };
    write_page(page, shown.html(), is_figure_page)?;
    args.print.answer_unless(
        args.talk.quiet,
        || shown.folders.iter().map(document).collect::<Vec<_>>(),
        || format!("wrote {}: {}\n", page.display(), shown.summary()),
    )
}

fn document(folder: &FigureFolder) -> Drawn {
    Drawn {
        folder: folder.path.clone(),
        figures: folder.figures.iter().map(|figure| figure.file.clone()).collect(),
    }
}

/// A results folder with figures.
struct DrawnFolder<'a> {
    path: &'a Path,
    manifest: Manifest,
    /// The files that are shown and their media types, by the names of the figures.
    figures: BTreeMap<String, (String, &'static str)>,
}

impl<'a> DrawnFolder<'a> {
    fn find(path: &'a Path) -> Result<Self, Diagnostic> {
        let none = |remedy: &str| no_results(path, "holds no figures as SVG or PNG", remedy);
        let Some(manifest) = read_manifest(path)? else {
            return Err(none(
                "give a folder that `dpbi run` has written, such as results/beta_balanced",
            ));
        };
        let mut figures = BTreeMap::new();
        for (format, media_type) in SHOWN {
            let ending = format!(".{}", format.extension());
            for file in manifest.files.keys().filter(|file| is_regular(&path.join(file.as_str()))) {
                if let Some(figure) = file.as_str().strip_suffix(&ending) {
                    figures.insert(figure.to_owned(), (file.to_string(), media_type));
                }
            }
        }
        match figures.is_empty() {
            true => Err(none(&format!("draw them: dpbi plot {} --format svg", path.display()))),
            false => Ok(Self { path, manifest, figures }),
        }
    }

    /// Everything that a run has written there.
    fn files(&self) -> impl Iterator<Item = PathBuf> {
        let names = self.manifest.files.keys().map(|name| name.as_str()).chain([MANIFEST]);
        names.map(|name| self.path.join(name))
    }

    /// The folder as the page shows it.
    fn read(&self) -> Result<FigureFolder, FileError> {
        let figures = self.figures.iter().map(|(name, (file, media_type))| {
            let path = self.path.join(file);
            let bytes = read_figure(&path).map_err(|error| FileError::reading(&path, error))?;
            Ok(ShownFigure { file: file.clone(), title: self.title_of(name), media_type, bytes })
        });
        Ok(FigureFolder {
            name: self.manifest.name.clone(),
            title: self.title(),
            path: self.path.display().to_string(),
            width: self.manifest.width,
            figures: figures.collect::<Result<_, _>>()?,
        })
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

/// No figure of ours has nearly as many bytes.
const LARGEST: u64 = 1 << 26;

fn read_figure(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open_regular(path)?.take(LARGEST + 1).read_to_end(&mut bytes)?;
    match bytes.len() as u64 > LARGEST {
        true => Err(io::Error::other("it has more than 64 MB")),
        false => Ok(bytes),
    }
}
