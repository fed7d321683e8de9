//! The figures and numbers of the page, and its file name.

use std::path::Path;

use crate::cli::Replace;
use crate::command::run::RunOutcome;
use crate::failure::Failure;
use crate::report::{
    Document, Drawing, FigureReport, PanelReport, PrintEvidence, PrintFinding, PrintStatus,
    ReadingRow, Readings, Report,
};
use engine::named::Named;
use engine::parallel;
use figure::{self, Figure};
use lab::experiment::config::changed_name;
use lab::experiment::digest::{answers, overall, titled_digests};
use lab::experiment::nearest_optimum::nearest_optimum;
use lab::experiment::reading::Quantity;
use lab::experiment::{Experiment, Panel};
use service::archaeology;
use system::source::{PAPERS, QUESTIONS};
use table::Tables;

/// The documents, in the order of the report, with their titles.
pub(in crate::command) const DOCUMENTS: [(&str, &str); 5] = [
    (
        "icml",
        "Exploring the Design Space of Differentially Private Bayesian Inference under Hellinger \
         Distance",
    ),
    (
        "arxiv",
        "Tailoring Differentially Private Bayesian Inference to Distance Between Distributions",
    ),
    ("bounds", "Differentially Private Bayesian Inference: notes with accuracy bounds"),
    ("notes", "Notes of DP – Bayesian Inference"),
    ("early", "An earlier version of the notes"),
];

/// A name with more letters is shortened.
const LONGEST_NAME: usize = 60;

/// The file of the page: of its own for a part or a changed experiment, so that these never replace the whole.
pub(super) fn file_name(names: &[String], replace: &Replace) -> String {
    let name = match &replace.name {
        Some(name) => format!("report-{name}"),
        None => changed_name(&part_name(names), &replace.set),
    };
    name + ".html"
}

fn part_name(names: &[String]) -> String {
    if names.is_empty() {
        return "report".to_owned();
    }
    let parts: Vec<String> = names.iter().map(|name| name.replace('/', "-")).collect();
    let mut joined = parts[0].clone();
    for (place, part) in parts.iter().enumerate().skip(1) {
        if joined.len() + part.len() > LONGEST_NAME {
            joined += &format!("+{}-more", parts.len() - place);
            break;
        }
        joined += &format!("+{part}");
    }
    format!("report-{joined}")
}

/// Puts a figure under its document, or among the open questions.
pub(super) fn add(report: &mut Report, config: &str, figure: FigureReport) {
    if config.starts_with(QUESTIONS) {
        return report.questions.push(figure);
    }
    let id = config.trim_start_matches(PAPERS).split('/').next().unwrap_or_default();
    if report.documents.last().is_none_or(|document| document.id != id) {
        let title = DOCUMENTS.iter().find(|(known, _)| *known == id).map_or(id, |known| known.1);
        let document = Document { id: id.into(), title: title.into(), figures: Vec::new() };
        report.documents.push(document);
    }
    if let Some(document) = report.documents.last_mut() {
        document.figures.push(figure);
    }
}

pub(super) fn figure(
    config: &str,
    command: String,
    experiment: &Experiment,
    outcome: &RunOutcome,
) -> Result<FigureReport, Failure> {
    let own = config.starts_with(QUESTIONS);
    // Of a changed figure there is no definition and no print either.
    let no_document = own || experiment.is_changed();
    let figures = with_shared_axes(experiment, outcome);
    let panels = experiment.panels.iter().zip(&figures);
    let panels = panels.map(|(one, figures)| {
        panel(one, (&experiment.name, no_document), &outcome.tables, figures)
    });
    let panels: Vec<PanelReport> = panels.collect::<Result<_, _>>()?;
    let (answers, tables) = match own {
        true => (answers(experiment, &outcome.tables), overall(experiment, &outcome.tables)),
        false => Default::default(),
    };
    Ok(FigureReport {
        answers,
        tables,
        print_status: PrintStatus::of(&panels, reason_not_compared(experiment)),
        nearest_optimum: nearest_optimum(experiment, &outcome.tables),
        id: Path::new(config).file_name().map_or_else(String::new, |n| n.to_string_lossy().into()),
        name: experiment.name.clone(),
        title: experiment.title.clone(),
        source: experiment.source.clone().unwrap_or_default(),
        notes: experiment.notes.clone(),
        command,
        seconds: outcome.seconds,
        panels,
        files: outcome.files.clone(),
    })
}

/// Why a print of the figure, or of a part of it, is not compared, if so.
fn reason_not_compared(experiment: &Experiment) -> Option<String> {
    experiment.panels.iter().find_map(|panel| panel.not_compared.clone())
}

/// What a print teaches.
pub(super) fn finding(finding: &archaeology::Finding) -> Result<PrintFinding, Failure> {
    let evidence = |trial: &archaeology::Trial| -> Result<PrintEvidence, Failure> {
        let found = trial.evidence()?;
        let largest = found.deviations();
        Ok(PrintEvidence {
            setting: trial.name(),
            within: found.within,
            total: found.total,
            largest,
        })
    };
    Ok(PrintFinding {
        finding: finding.clone(),
        figures: finding.figures(),
        evidence: finding.trials.iter().map(evidence).collect::<Result<_, _>>()?,
    })
}

/// The figures of every panel. Those of a pair, as defined and as printed, get the same axes.
fn with_shared_axes(experiment: &Experiment, outcome: &RunOutcome) -> Vec<Vec<(String, Figure)>> {
    let mut figures = outcome.figures.clone();
    let ids: Vec<String> = experiment.panels.iter().map(|panel| pair(&panel.id)).collect();
    for other in 1..figures.len().min(ids.len()) {
        let Some(one) = (0..other).find(|one| ids[*one] == ids[other]) else { continue };
        let (before, after) = figures.split_at_mut(other);
        for ((_, first), (_, second)) in before[one].iter_mut().zip(&mut after[0]) {
            figure::share_axes(first, second);
        }
    }
    figures
}

fn panel(
    panel: &Panel,
    (experiment, own): (&str, bool),
    tables: &Tables,
    figures: &[(String, Figure)],
) -> Result<PanelReport, Failure> {
    let drawing = |(name, figure): &(String, Figure)| {
        Ok(Drawing {
            name: name.clone(),
            id: format!("{experiment}-{name}"),
            alt: figure.description(),
            svg: figure::inline(figure)?,
        })
    };
    let readings = readings(panel, tables);
    Ok(PanelReport {
        id: pair(&panel.id),
        title: panel.title.clone(),
        printed: panel.is_as_printed(),
        print_distance: panel.uses_print_distance(),
        own,
        drawings: parallel::map(figures, drawing).into_iter().collect::<Result<_, Failure>>()?,
        tables: titled_digests(panel, tables),
        readings,
    })
}

/// The part of an id that a panel shares with its counterpart: `a` for `a-defined` and `a-printed`.
fn pair(id: &str) -> String {
    let words = id.split('-').filter(|word| !["defined", "printed", "print"].contains(word));
    words.collect::<Vec<_>>().join("-")
}

fn readings(panel: &Panel, tables: &Tables) -> Option<Readings> {
    let own = panel.own(&tables.readings);
    let rows: Vec<ReadingRow> = own.cloned().collect();
    let boxes = rows.iter().any(|row| row.quantity == Quantity::Median.id());
    let file = panel.readings.as_ref().map_or_else(String::new, |set| set.name.clone());
    if rows.is_empty() {
        return None;
    }
    Some(Readings { file, ..Readings::new(panel.kind.criterion(boxes), rows) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panels_find_their_counterparts() {
        assert_eq!((pair("a-defined"), pair("a-printed")), ("a".into(), "a".into()));
        assert_eq!((pair("defined"), pair("print")), (String::new(), String::new()));
        assert_eq!(pair("large"), "large");
    }

    #[test]
    fn parts_have_pages_of_their_own() {
        let of = |names: &[&str]| {
            part_name(&names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>())
        };
        assert_eq!(of(&[]), "report");
        assert_eq!(of(&["icml/fig4"]), "report-icml-fig4");
        assert_eq!(of(&["icml/fig4", "notes"]), "report-icml-fig4+notes");
        let many = of(&["open/phase_n_imbalance"; 9]);
        assert_eq!(many, "report-open-phase_n_imbalance+open-phase_n_imbalance+7-more");
    }
}
