//! The figure of a release: the posterior density of every group.

use std::path::{Path, PathBuf};

use super::super::typed;
use crate::cli::FigureFile;
use crate::failure::Failure;
use engine::posterior::privacy::compact;
use figure::{self, DensityFigure, DensityRow, Figure, Format, Width};
use lab::run::store::write_whole;
use service::release::{Density, Posteriors, Released, Request};
use system::diagnostic::Diagnostic;

/// The files of one figure.
pub struct FigureFiles {
    files: Vec<(PathBuf, Format)>,
    width: Width,
}

impl FigureFiles {
    /// The files of the figure, if one is asked for.
    pub fn new(asked: &FigureFile) -> Result<Option<Self>, Diagnostic> {
        let Some(path) = &asked.figure else { return Ok(None) };
        let by_name = Format::ALL.iter().copied().find(|format| {
            path.extension().is_some_and(|extension| extension == format.extension())
        });
        let formats = match (&asked.format, by_name) {
            (Some(formats), _) => formats.0.clone(),
            (None, Some(format)) => vec![format],
            (None, None) => {
                let cause = format!("{} is no name of a figure", path.display());
                return Err(typed::wrong("figure", &cause)
                    .help("use a name that ends in .svg, .png or .pdf, or --format"));
            }
        };
        let stem = if by_name.is_some() { path.with_extension("") } else { path.clone() };
        let file = |format: Format| {
            let mut file = stem.file_name().unwrap_or_default().to_owned();
            file.push(format!(".{}", format.extension()));
            (stem.with_file_name(file), format)
        };
        Ok(Some(Self { files: formats.iter().copied().map(file).collect(), width: asked.width }))
    }

    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        self.files.iter().map(|(path, _)| path.as_path())
    }

    /// Draws a figure into its files.
    pub fn write(&self, figure: &Figure) -> Result<(), Failure> {
        for (path, format) in &self.files {
            write_whole(path, figure::render(figure, *format, self.width)?)?;
        }
        Ok(())
    }
}

/// The posterior that releases of the same data give, all together; also the `naive` one, if it is wanted or there
/// is no other.
pub fn figure(releases: &[&Released], naive: bool) -> Figure {
    let mechanisms: Vec<String> = (releases.iter())
        .map(|one| format!("{} at ε = {}", one.mechanism(), one.request.epsilon))
        .collect();
    let records = super::text::records(releases[0].n());
    let how = format!("released by {}", mechanisms.join(" and "));
    of_posterior(&releases[0].request, &Posteriors::new(releases), (&records, &how), naive)
}

/// The figure of a posterior, of so many `records`, which were released in some way.
pub fn of_posterior(
    request: &Request,
    posteriors: &Posteriors,
    (records, how): (&str, &str),
    naive: bool,
) -> Figure {
    let densities = posteriors.densities();
    let categories = distinct(&densities);
    let shows_naive = |one: &Density| naive || one.posterior.aware.is_none();
    let row = |one: &Density| DensityRow {
        label: match (one.group.as_str(), categories > 1) {
            ("", _) => one.category.clone(),
            (group, true) => format!("{group}: {}", one.category),
            (group, false) => group.to_owned(),
        },
        colour: figure::numbered_colour(one.group_number),
        prior: one.prior.clone(),
        naive: one.posterior.naive.clone().filter(|_| shows_naive(one)).unwrap_or_default(),
        aware: one.posterior.aware.clone().unwrap_or_default(),
        naive_interval: (one.estimate.naive.filter(|_| shows_naive(one)))
            .map(|one| (one.interval.low, one.interval.high)),
        aware_interval: one.estimate.aware.map(|one| (one.interval.low, one.interval.high)),
        mean: one.estimate.best().map(|one| one.value),
    };
    let outcome = &request.table.outcome().name;
    let note = format!("{records}, {}, {how}", prior_words(&request.prior));
    let body = DensityFigure {
        x_label: match (categories, densities.first()) {
            (1, Some(one)) => format!("share of {outcome} = {}", one.category),
            _ => format!("share of each {outcome}"),
        },
        level: format!("{} %", 100.0 * request.level),
        rows: densities.iter().map(row).collect(),
    };
    Figure::new(request.table.title(), note, body)
}

/// How many categories are shown.
fn distinct(densities: &[Density]) -> usize {
    let mut names: Vec<&str> = densities.iter().map(|one| one.category.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    names.len()
}

fn prior_words(prior: &[f64]) -> String {
    match prior.iter().all(|alpha| *alpha == prior[0]) {
        true => format!("prior {} in every cell", compact(&prior[0])),
        false => "an uneven prior".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::Formats;

    fn asked(path: &str, format: Option<Formats>) -> FigureFile {
        FigureFile { figure: Some(path.into()), format, width: Width::Text }
    }

    #[test]
    fn a_figure_has_the_format_of_its_name_or_those_that_are_asked_for() {
        let paths = |path: &str, format: Option<Formats>| -> Vec<String> {
            let files = FigureFiles::new(&asked(path, format)).unwrap().unwrap();
            files.paths().map(|path| path.display().to_string()).collect()
        };
        assert_eq!(paths("x/f.svg", None), ["x/f.svg"]);
        assert!(FigureFiles::new(&asked("f.bmp", None)).is_err());
        let both = Formats(vec![Format::Svg, Format::Pdf]);
        assert_eq!(paths("f.x", Some(both)), ["f.x.svg", "f.x.pdf"]);
    }
}
