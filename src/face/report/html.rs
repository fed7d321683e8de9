//! The page: its head and its order.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::policy::policy;
use super::{
    Report, claims, contents, figures, first_screen, how_to_read, made, numbers, print_findings,
};

const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("script.js");
const TITLE: &str = "Differentially private Bayesian inference, regenerated";

pub(super) fn page(report: &Report) -> Markup {
    let body = html! {
        div.with-contents {
            (contents::list(report))
            main {
                header { h1 { (TITLE) } }
                (first_screen::section(report))
                (how_to_read::section())
                (print_findings::section(report))
                @for document in &report.documents { (figures::document(document, report)) }
                (claims::section(report))
                (numbers::section(&report.numbers))
                (figures::questions(report))
                (made::section(report))
            }
        }
    };
    document(TITLE, "", SCRIPT, &body)
}

/// A whole page: its head, with `style` after the common style sheet, its body, and its script.
pub(super) fn document(title: &str, style: &str, script: &str, body: &Markup) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(policy(script));
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light";
                title { (title) }
                style { (PreEscaped(STYLE)) (PreEscaped(style)) }
            }
            body {
                (body)
                @if !script.is_empty() { script { (PreEscaped(script)) } }
            }
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
