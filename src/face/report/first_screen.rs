//! The first screen: what was found, the claims, and one pair of pictures.

use maud::{Markup, html};

use super::claims;
use super::drawing;
use super::figures::{self, Pair};
use super::summary::{Standing, Summary};
use super::text::{anchor, count, count_word};
use super::{FigureReport, PanelReport, Report};
use lab::experiment::digest::percent;

/// The figure and the panel whose pair of pictures stands on the first screen.
const FEATURED: (&str, &str) = ("icml-fig2", "a");

pub(super) fn section(report: &Report) -> Markup {
    let summary = report.summary();
    html! {
        section #summary {
            h2.unseen { "Summary" }
            div.found { @for sentence in sentences(report, &summary) { p { (sentence) } } }
            div.first {
                @if !report.claims.is_empty() { (claims::table(report)) }
                (pictures(report))
            }
        }
    }
}

/// What was found. Every number in these sentences is computed.
fn sentences(report: &Report, summary: &Summary) -> Vec<Markup> {
    let all = [
        figures_sentence(report, summary),
        readings_sentence(summary),
        prints_sentence(report, summary),
        claims_sentence(summary),
        optimum_sentence(report),
    ];
    all.into_iter().flatten().collect()
}

fn figures_sentence(report: &Report, summary: &Summary) -> Option<Markup> {
    let prints = summary.prints;
    let documents = count_word(report.documents.len(), "research document");
    (summary.figures > 0).then(|| {
        html! {
            "dpbi computed " strong { (count(summary.figures, "figure")) " and tables" } " of "
            (documents) " on the private release of posterior distributions again; "
            (prints.compared) " of them were compared with their print"
            @if prints.not_compared > 0 {
                ", " (prints.not_compared) " were not although a print exists"
            }
            @if prints.no_print > 0 { ", and of the other " (prints.no_print) " no print is known" }
            "."
        }
    })
}

fn readings_sentence(summary: &Summary) -> Option<Markup> {
    let Summary { readings, readings_within: within, numbers, numbers_agreeing: agreeing, .. } =
        summary;
    let rounded = summary.numbers_by_their_rounding;
    (readings + numbers > 0).then(|| {
        html! {
            @if *readings > 0 {
                strong { (within) " of " (readings) " values" }
                " read off the printed figures agree within the error of reading"
            }
            @if readings * numbers > 0 { ", and " }
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
        html! { strong { (hold) " hold" } ", " (in_part) " in part, and " strong { (fail) " fail" } }
    };
    let same = summary.differing.is_empty();
    (summary.claims > 0).then(|| {
        html! {
            "Of " (count(summary.claims, "claim")) " in the texts, taken as stated, "
            @if same {
                (of(summary.defined)) "; the distance changes no verdict."
            } @else {
                (of(summary.defined)) " as defined; with the print distance "
                (of(summary.printed)) "."
            }
        }
    })
}

/// Which mechanism reaches the least possible error most often.
fn optimum_sentence(report: &Report) -> Option<Markup> {
    let question = report.questions.iter().find(|question| question.nearest_optimum.is_some())?;
    let found = question.nearest_optimum.as_ref()?;
    Some(html! {
        "Beyond the documents: the mechanism " strong { (found.mechanism) }
        " has the least mean error that any ε-private release can have in " (found.optimal) " of "
        a href={ "#" (anchor(&question.name)) } { (count(found.cases, "case")) }
        @if found.optimal < found.cases {
            "; in the others its error is at most " (percent(Some(found.excess))) " above the optimum"
        }
        "."
    })
}

/// One pair of drawings, as defined and as printed.
fn pictures(report: &Report) -> Markup {
    let Some((figure, pair)) = featured(report) else { return html! {} };
    html! {
        aside.pictures {
            @for panel in pair {
                div {
                    p.caption {
                        (figures::badge(panel)) " " (figures::title_without_kind(panel))
                    }
                    @for one in panel.drawings.iter().take(1) { (drawing::figure(one)) }
                }
            }
            p.source { a href={ "#" (anchor(&figure.name)) } { (figure.source) ": " (figure.title) } }
        }
    }
}

/// The pair that is named above; failing that, the first one there is.
fn featured(report: &Report) -> Option<(&FigureReport, Pair<'_>)> {
    let all = || {
        let figures = report.documents.iter().flat_map(|document| &document.figures);
        let pairs = figures
            .flat_map(|one| figures::pairs(&one.panels).into_iter().map(move |pair| (one, pair)));
        pairs.filter(|(_, pair)| pair.len() == 2 && pair.iter().all(|one| !one.drawings.is_empty()))
    };
    let is_named =
        |(figure, pair): &(&FigureReport, Pair)| (&*figure.name, &*pair[0].id) == FEATURED;
    all().find(is_named).or_else(|| all().next())
}
