//! The figure of a posterior: the density of the share in every group.

use std::path::{Path, PathBuf};

use super::super::typed;
use crate::failure::Failure;
use engine::posterior::privacy::compact;
use figure::{self, DensityFigure, DensityRow, Figure, Format, Width};
use lab::run::store::write_whole;
use service::release::{Density, Evidence, Question, TablePosterior};
use system::diagnostic::Diagnostic;

/// A file for a figure.
pub struct FigureFile {
    path: PathBuf,
    format: Format,
}

impl FigureFile {
    /// The file, whose ending says its format.
    pub fn new(path: &Path) -> Result<Self, Diagnostic> {
        let format = Format::ALL.iter().copied().find(|format| {
            path.extension().is_some_and(|extension| extension == format.extension())
        });
        let format = format.ok_or_else(|| {
            let cause = format!("{} is no name of a figure", path.display());
            typed::wrong("figure", &cause).help("use a name that ends in .svg, .png or .pdf")
        })?;
        Ok(Self { path: path.to_owned(), format })
    }

    pub fn write(&self, figure: &Figure) -> Result<(), Failure> {
        let drawn = figure::render(figure, self.format, Width::Text)?;
        Ok(write_whole(&self.path, drawn)?)
    }
}

/// The figure of what the evidence tells.
pub fn draw(evidence: &Evidence, posterior: &TablePosterior, question: &Question) -> Figure {
    let densities = posterior.densities(question);
    let categories = distinct(&densities);
    let row = |one: &Density| DensityRow {
        label: match (one.group.as_str(), categories > 1) {
            ("", _) => one.category.clone(),
            (group, true) => format!("{group}: {}", one.category),
            (group, false) => group.to_owned(),
        },
        colour: figure::numbered_colour(one.arm),
        sets_axis: one.sets_axis,
        prior: one.prior.clone(),
        posterior: one.posterior.clone(),
        interval: (one.estimate.interval.low, one.estimate.interval.high),
        mean: one.estimate.mean,
    };
    let request = evidence.request();
    let outcome = &request.table.outcome().name;
    let records = super::text::records(evidence);
    let note = format!("{records}, {}, {}", prior_words(&request.prior), evidence.how());
    let body = DensityFigure {
        x_label: match (categories, densities.first()) {
            (1, Some(one)) => format!("share of {outcome} = {}", one.category),
            _ => format!("share of each {outcome}"),
        },
        level: question.percent(),
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
