//! The first screen: what was found, the documents with all their figures, and the claims.

use maud::{Markup, html};

use super::claims;
use super::drawing;
use super::summary::{Standing, Summary};
use super::text::{anchor, count, count_word};
use super::{Document, Drawing, FigureReport, PanelReport, PrintStatus, Report};
use lab::experiment::digest::percent;

pub(super) fn section(report: &Report) -> Markup {
    let summary = report.summary();
    html! {
        section #summary {
            h2.unseen { "Summary" }
            dl.found {
                @for (about, sentence) in sentences(report, &summary) {
                    dt { (about) } dd { (sentence) }
                }
            }
            @for document in &report.documents { (sheet(document)) }
            @if report.documents.iter().flat_map(|one| &one.figures).any(is_printed_otherwise) {
                p.made { abbr.printed { "≠" } " The print was made otherwise than the text says." }
            }
            @if !report.claims.is_empty() {
                h3 { "What the documents claim, and whether it is so" }
                p.made {
                    "MH, EHD, EHDL and EHDS draw a posterior near the true one; LSDim, LSHist and "
                    "LSZhang add Laplace noise to the counts. " code { "dpbi mechanisms" }
                    " describes them all."
                }
                (claims::table(report))
            }
        }
    }
}

/// What was found. Every number in these sentences is computed.
fn sentences(report: &Report, summary: &Summary) -> Vec<(&'static str, Markup)> {
    let all = [
        ("Figures", figures_sentence(report, summary)),
        ("Values", readings_sentence(summary)),
        ("Distance", prints_sentence(report, summary)),
        ("Claims", claims_sentence(summary)),
        ("Beyond", optimum_sentence(report)),
    ];
    all.into_iter().filter_map(|(about, sentence)| Some((about, sentence?))).collect()
}

fn figures_sentence(report: &Report, summary: &Summary) -> Option<Markup> {
    let prints = summary.prints;
    let documents = count_word(report.documents.len(), "research document");
    (summary.figures > 0).then(|| {
        html! {
            "The program dpbi computed " strong { (count(summary.figures, "figure")) " and tables" }
            " of " (documents) " on the private release of posterior distributions anew. "
            (prints.compared) " of them were compared with their print, the published figure"
            @if prints.not_compared > 0 {
                ", " (prints.not_compared) " were not although a print exists"
            }
            @if prints.no_print > 0 { ", and of the other " (prints.no_print) " no print is known" }
            "."
        }
    })
}

fn readings_sentence(summary: &Summary) -> Option<Markup> {
    let Summary { readings, values, numbers, numbers_agreeing: agreeing, .. } = summary;
    let by_sampling = summary.readings_by_sampling;
    let by_reading = summary.readings_within - by_sampling;
    let rounded = summary.numbers_by_their_rounding;
    (readings + numbers > 0).then(|| {
        html! {
            @if *readings > 0 {
                strong { (values) " values" } " read off the prints were compared"
                @if values < readings {
                    " in " (count(*readings, "comparison")) ", since documents share figures"
                }
                ": " (by_reading) " agree within the error of reading"
                @if by_sampling > 0 {
                    ", " (by_sampling) " within the sampling error of the printed run"
                }
                @if summary.readings_named > 0 {
                    ", and " (count_word(summary.readings_named, "value")) " differ"
                    @if summary.readings_named == 1 { "s" } " for a known reason"
                }
            }
            @if readings * numbers > 0 { "; " }
            @if *numbers > 0 {
                strong { (agreeing) " of " (numbers) " numbers" } " in texts and captions are reproduced"
            }
            @if rounded > 0 {
                " (" (rounded) " of them only if the authors’ rounding errors are repeated)"
            }
            "."
        }
    })
}

fn prints_sentence(report: &Report, summary: &Summary) -> Option<Markup> {
    let figures = || report.documents.iter().flat_map(|document| &document.figures);
    let is_compared = |panel: &PanelReport| panel.readings.is_some();
    let with_other = |figure: &&FigureReport| {
        figure.panels.iter().any(|panel| is_compared(panel) && panel.print_distance)
    };
    let other = figures().filter(with_other).count();
    let compared = summary.prints.compared;
    let findings = &report.print_findings;
    (other > 0).then(|| {
        html! {
            @if other == compared { "All " } @else { (other) " of the " }
            (compared) " prints that were compared use another distance than the text defines, here "
            "called the "
            a href="#reading" { "print distance" } ", so that results are shown "
            strong { "as defined" } " and " strong { "as printed" }
            @if !findings.is_empty() {
                "; beyond that, the prints taught "
                a href="#prints" { (count_word(findings.len(), "thing")) }
                " that their captions do not say"
            }
            "."
        }
    })
}

fn claims_sentence(summary: &Summary) -> Option<Markup> {
    let of = |standing: Standing| {
        let Standing { hold, in_part, fail } = standing;
        let s = |count: usize| if count == 1 { "s" } else { "" };
        html! {
            strong { (hold) " hold" (s(hold)) } ", " (in_part) " in part, and "
            strong { (fail) " fail" (s(fail)) }
        }
    };
    let same = summary.differing.is_empty();
    (summary.claims > 0).then(|| {
        html! {
            "Of " (count(summary.claims, "claim")) " in the texts, taken as stated, "
            @if same {
                (of(summary.defined)) "; the distance changes no verdict. "
            } @else {
                (of(summary.defined)) " as defined; with the print distance "
                (of(summary.printed)) ". "
            }
            @if summary.sentences != Standing::default() {
                @let Standing { hold, in_part, fail } = summary.sentences;
                "Together they have " (hold + in_part + fail) " sentences: " (of(summary.sentences)) "."
            }
        }
    })
}

/// Which mechanism reaches the least possible error most often.
fn optimum_sentence(report: &Report) -> Option<Markup> {
    let question = report.questions.iter().find(|question| question.nearest_optimum.is_some())?;
    let found = question.nearest_optimum.as_ref()?;
    Some(html! {
        "Beyond the documents, the mechanism " strong { (found.mechanism) }
        " has the least mean error that an ε-private release of counts with the total n can have in " (found.optimal) " of "
        a href={ "#" (anchor(&question.name)) } { (count(found.cases, "case")) }
        @if found.optimal < found.cases {
            "; in the others its error is at most " (percent(Some(found.excess))) " above the optimum"
        }
        "."
    })
}

/// The figures of a document in small, each with a link to its place.
fn sheet(document: &Document) -> Markup {
    html! {
        section.sheet {
            h3 { a href={ "#" (anchor(&document.id)) } { (document.title) } " " span.short { (document.id) } }
            ul {
                @for figure in &document.figures {
                    li {
                        a href={ "#" (anchor(&figure.name)) } title=(figure.title) {
                            @if let Some(one) = shown(figure) { (drawing::thumbnail(one)) }
                            span { (figure.label()) }
                        }
                        @if is_printed_otherwise(figure) {
                            " " abbr.printed title="The print differs from what the text defines" { "≠" }
                        }
                    }
                }
            }
        }
    }
}

/// The drawing that stands for a figure: as defined, and what the document shows rather than the cumulative
/// probabilities.
fn shown(figure: &FigureReport) -> Option<&Drawing> {
    let drawn = || figure.panels.iter().filter(|panel| !panel.drawings.is_empty());
    let panel = drawn().find(|panel| !panel.printed).or_else(|| drawn().next())?;
    let drawings = &panel.drawings;
    drawings.iter().find(|one| !one.name.contains("cumulative")).or(drawings.first())
}

/// Whether there is a print that was made with other settings than the text defines.
fn is_printed_otherwise(figure: &FigureReport) -> bool {
    let has = |printed: bool| figure.panels.iter().any(|panel| panel.printed == printed);
    let is_compared = matches!(figure.print_status, PrintStatus::Compared { .. });
    is_compared && has(true) && has(false)
}
