//! The page: its head, what is at its top, and its order.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::summary::{Standing, Summary};
use super::text::{anchor, command, count};
use super::{FigureReport, Report, claims, dark, figures, numbers};
use crate::analysis::cost::duration;

const STYLE: &str = include_str!("style.css");
const TITLE: &str = "Differentially private Bayesian inference, regenerated";

/// The whole page.
pub(super) fn page(report: &Report) -> Markup {
    let summary = report.summary();
    let body = html! {
        (header(report))
        (overview(report, &summary))
        (distances(&summary))
        (contents(report))
        @for document in &report.documents { (figures::document(document)) }
        (numbers::section(&report.numbers))
        (claims::section(&report.claims))
        (figures::questions(&report.questions))
        footer { p { "dpbi " (report.version) ", " (report.generated) "." } }
    };
    document(TITLE, &dark_drawings(report), &body)
}

/// A whole page: its head, with `style` after the common style sheet, and its body.
pub(super) fn document(title: &str, style: &str, body: &Markup) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) }
                style { (PreEscaped(STYLE)) (PreEscaped(style)) }
            }
            body { (body) }
        }
    }
}

/// Whether the beginning of a page is that of a report.
pub(super) fn is_page(page: &[u8]) -> bool {
    has_title(page, TITLE)
}

/// Whether the beginning of a page is that of one with this title.
pub(super) fn has_title(page: &[u8], title: &str) -> bool {
    let head = String::from_utf8_lossy(page);
    head.starts_with("<!DOCTYPE html>") && head.contains(&format!("<title>{title}</title>"))
}

/// Rules that recolour the drawings of a report.
fn dark_drawings(report: &Report) -> String {
    let figures = report.documents.iter().flat_map(|document| &document.figures);
    let figures = figures.chain(&report.questions);
    let drawings = figures.flat_map(|figure| &figure.panels).flat_map(|panel| &panel.drawings);
    let drawings = drawings.filter(|one| !one.is_map);
    on_dark_screens(drawings.flat_map(|one| [one.wide.as_str(), one.narrow.as_str()]))
}

/// Recolours drawings that are not maps on a dark screen. Paper stays white.
pub(super) fn on_dark_screens<'a>(drawings: impl IntoIterator<Item = &'a str>) -> String {
    let rules = dark::rules(drawings);
    format!("@media screen and (prefers-color-scheme: dark) {{\n{rules}}}\n")
}

fn header(report: &Report) -> Markup {
    let documents = match report.documents.len() {
        0 => "the research documents".to_owned(),
        documents => count(documents, "research document"),
    };
    let part = if report.partial { "A part of the figures" } else { "The figures" };
    html! {
        header {
            h1 { (TITLE) }
            p.lead {
                (part) ", numbers and claims of " (documents) ", computed anew by dpbi "
                (report.version) " and compared with what is printed."
            }
            p.made {
                (report.generated) " · " (duration(report.seconds)) " · " (command(&report.command))
            }
        }
    }
}

fn overview(report: &Report, summary: &Summary) -> Markup {
    html! {
        section #summary {
            h2 { "Summary" }
            dl.tiles { (tiles(summary)) }
            @if !report.claims.is_empty() { (standings(report, summary)) }
        }
    }
}

fn tiles(summary: &Summary) -> Markup {
    let tile = |title: &str, value: Markup, about: &str| {
        html! { div { dt { (title) } dd { (value) small { (about) } } } }
    };
    let of = |part: usize, all: usize| html! { (part) span.of { " of " (all) } };
    let Summary { readings_named: named, readings_beyond: beyond, .. } = summary;
    let unmatched = format!("{}, {beyond} unexplained", count(*named, "known outlier"));
    let wrong = match summary.numbers - summary.numbers_agreeing {
        0 => "to the last digit".to_owned(),
        wrong => format!("{wrong} not"),
    };
    let panels = count(summary.panels, "panel");
    html! {
        (tile("figures regenerated", html! { (summary.figures) }, &panels))
        (tile("readings matched", of(summary.readings_within, summary.readings), &unmatched))
        (tile("numbers reproduced", of(summary.numbers_agreeing, summary.numbers), &wrong))
        @if summary.questions > 0 {
            (tile("open questions", html! { (summary.questions) }, "answered by computation"))
        }
    }
}

/// How the claims fare under either distance, and which fare differently.
fn standings(report: &Report, summary: &Summary) -> Markup {
    let row = |name: &str, distance: &str, standing: Standing| {
        let Standing { hold, in_part, fail } = standing;
        html! {
            tr {
                th scope="row" { (name) " " span.faint { (distance) } }
                @for number in [hold, in_part, fail] { td.n { (number) } }
            }
        }
    };
    html! {
        table.standings {
            thead {
                tr {
                    th { (count(summary.claims, "claim")) }
                    th.n { span.holds { "✓" } " hold" }
                    th.n { span.part { "◐" } " in part" }
                    th.n { span.fails { "✗" } " fail" }
                }
            }
            tbody {
                (row("As defined", "Hellinger distance", summary.defined))
                (row("Print distance", "that of the printed figures", summary.printed))
            }
        }
        p { (differing(summary)) }
        (claims::glance(&report.claims))
    }
}

fn differing(summary: &Summary) -> Markup {
    let links = html! {
        @for (place, number) in summary.differing.iter().enumerate() {
            @if place > 0 { ", " }
            a href={ "#claim-" (number) } { (number) }
        }
    };
    html! {
        @match summary.differing.len() {
            0 => "Every claim fares the same under both distances.",
            1 => { "One claim fares differently under the two distances: " (links) "." }
            many => { (many) " claims fare differently under the two distances: " (links) "." }
        }
        " Below, every claim: first as defined, then with the print distance."
    }
}

/// What "as defined" and "as printed" mean. It has to be said before any figure.
fn distances(summary: &Summary) -> Markup {
    html! {
        section #distances {
            h2 { "Two distances" }
            p {
                "The documents’ text and their figures do not use the same distance. Results are "
                "therefore shown under both."
            }
            dl.terms {
                div {
                    dt { span.kind.defined { "As defined" } }
                    dd {
                        "With the distance that the text defines: the Hellinger distance " i { "H" }
                        " = √(1 − BC) between the released and the true posterior, BC being their "
                        "Bhattacharyya coefficient; and with the mechanisms as the text defines them."
                    }
                }
                div {
                    dt { span.kind.printed { "As printed" } }
                    dd {
                        "With what the printed figures were drawn with: the distance here called the "
                        em { "print profile" } ", in which ln BC is divided by ln " i { "N" }
                        ", the logarithm of the posterior’s total " i { "N" } " = " i { "n" }
                        " + Σα, before the square root is taken: √(1 − BC" sup { "1/ln " i { "N" } }
                        ") for releases of the same total; and with divisors, sensitivities and data "
                        "that differ from figure to figure, as noted there. That distance is smaller "
                        "than " i { "H" } " and has other sensitivities, so that the mechanisms that "
                        "use it release other posteriors."
                    }
                }
                div {
                    dt { span.kind.printed { "Print distance" } }
                    dd {
                        "With that distance, but otherwise as the text defines: what was not printed, "
                        "and the claims."
                    }
                }
            }
            p {
                @if summary.readings > 0 {
                    "Of " (summary.readings) " values read off the printed figures, "
                    (summary.readings_within) " agree with the panels drawn as printed. "
                }
                "What was said about those figures need not be true of the distance that was defined: "
                "every claim below is judged under both."
            }
        }
    }
}

fn contents(report: &Report) -> Markup {
    html! {
        nav aria-label="Contents" {
            h2 { "Contents" }
            ul {
                @for document in &report.documents {
                    (contents_under(&document.id, &document.title, &document.figures))
                }
                @if !report.numbers.is_empty() { li { a href="#numbers" { "Numbers in the texts" } } }
                @if !report.claims.is_empty() { li { a href="#claims" { "Claims" } } }
                @if !report.questions.is_empty() {
                    (contents_under("questions", figures::QUESTIONS, &report.questions))
                }
            }
        }
    }
}

fn contents_under(id: &str, title: &str, figures: &[FigureReport]) -> Markup {
    html! {
        li {
            a href={ "#" (anchor(id)) } { (title) }
            ul {
                @for figure in figures {
                    li {
                        a href={ "#" (anchor(&figure.name)) } { (figure.title) } " "
                        span.faint { (figure.source) }
                    }
                }
            }
        }
    }
}
