//! The figure of a release: the posterior density of every group.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::super::typed;
use crate::failure::Failure;
use engine::posterior::privacy::compact;
use figure::{self, DensityFigure, DensityRow, Figure, Format, Width};
use lab::run::store::write_whole;
use service::release::{Density, Posteriors, Released};
use system::diagnostic::Diagnostic;

/// The format that a file's name asks for.
pub fn format(path: &Path) -> Result<Format, Diagnostic> {
    let extension = path.extension().and_then(|extension| extension.to_str());
    let found = Format::ALL.iter().find(|format| Some(format.extension()) == extension);
    found.copied().ok_or_else(|| {
        typed::wrong("figure", &format!("{} is no name of a figure", path.display()))
            .help("use a name that ends in .svg, .png or .pdf")
    })
}

/// The file of every release's figure, if one is asked for: that one; of several releases, with their
/// names before the ending. Names that look the same in a file's name get numbers.
pub fn paths(path: Option<&Path>, titles: &[String]) -> Result<Vec<PathBuf>, Diagnostic> {
    let Some(path) = path else { return Ok(Vec::new()) };
    format(path)?;
    if titles.len() == 1 {
        return Ok(vec![path.to_owned()]);
    }
    let [stem, extension] = [path.file_stem(), path.extension()].map(Option::unwrap_or_default);
    let mut taken = BTreeSet::new();
    let own = |title: &String| {
        let safe = |c: char| if c.is_alphanumeric() { c } else { '-' };
        let name: String = title.chars().map(safe).collect();
        let numbered = (1..).map(|number| match number {
            1 => name.clone(),
            _ => format!("{name}-{number}"),
        });
        // Some systems do not tell capital letters from small ones.
        let mut free = numbered.filter(|name| taken.insert(name.to_lowercase()));
        let mut file = stem.to_owned();
        file.push(format!("-{}.", free.next().unwrap_or_default()));
        file.push(extension);
        path.with_file_name(file)
    };
    Ok(titles.iter().map(own).collect())
}

/// Draws releases of the same data into a file, by the posterior that all of them give.
pub fn write(path: &Path, releases: &[&Released]) -> Result<(), Failure> {
    let format = format(path)?;
    let bytes = figure::render(&Figure::Density(density(releases)), format, Width::Text)?;
    Ok(write_whole(path, bytes)?)
}

fn density(releases: &[&Released]) -> DensityFigure {
    let request = &releases[0].request;
    let densities = Posteriors::new(releases).densities();
    let categories = distinct(&densities);
    let row = |one: &Density| DensityRow {
        label: match (one.group.as_str(), categories > 1) {
            ("", _) => one.category.clone(),
            (group, true) => format!("{group}: {}", one.category),
            (group, false) => group.to_owned(),
        },
        colour: figure::numbered_colour(one.group_number),
        prior: one.prior.clone(),
        naive: one.posterior.naive.clone().unwrap_or_default(),
        aware: one.posterior.aware.clone().unwrap_or_default(),
        naive_interval: one.estimate.naive.map(|one| (one.interval.low, one.interval.high)),
        aware_interval: one.estimate.aware.map(|one| (one.interval.low, one.interval.high)),
        mean: one.estimate.best().map(|one| one.value),
    };
    let mechanisms: Vec<String> = (releases.iter())
        .map(|one| format!("{} at ε = {}", one.mechanism(), one.request.epsilon))
        .collect();
    let outcome = &request.table.outcome().name;
    DensityFigure {
        title: request.title(),
        note: format!(
            "{}, {}, released by {}",
            super::text::records(releases[0].n),
            prior_words(&request.prior),
            mechanisms.join(" and ")
        ),
        x_label: match (categories, densities.first()) {
            (1, Some(one)) => format!("share of {outcome} = {}", one.category),
            _ => format!("share of every {outcome}"),
        },
        level: format!("{} %", 100.0 * request.level),
        rows: densities.iter().map(row).collect(),
    }
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

    #[test]
    fn every_release_has_a_figure_of_its_own() {
        let paths = |titles: &[&str]| {
            let titles: Vec<String> = titles.iter().map(|&title| title.to_owned()).collect();
            let paths = paths(Some(Path::new("x/f.svg")), &titles).unwrap();
            paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>()
        };
        assert_eq!(paths(&["a b"]), ["x/f.svg"]);
        assert_eq!(paths(&["a", "b"]), ["x/f-a.svg", "x/f-b.svg"]);
        assert_eq!(
            paths(&["a b", "a-b", "A/b", "a-b-2"]),
            ["x/f-a-b.svg", "x/f-a-b-2.svg", "x/f-A-b-3.svg", "x/f-a-b-2-2.svg"]
        );
        assert!(super::paths(Some(Path::new("f.bmp")), &[]).is_err());
    }
}
