//! The list of contents: beside the page where there is room, folded at its top on a phone.

use maud::{Markup, html};

use super::text::anchor;
use super::{FigureReport, JudgedClaim, Report, figures, print_findings};

/// The list. A check box folds and unfolds it on a phone, so that it needs no script.
pub(super) fn list(report: &Report) -> Markup {
    html! {
        nav.contents aria-label="Contents" {
            input #menu type="checkbox" aria-label="Show the contents";
            label for="menu" { "Contents" }
            ul {
                li { a href="#summary" { "Summary" } }
                li { a href="#reading" { "How to read this page" } }
                @if !report.print_findings.is_empty() {
                    li { a href="#prints" { (print_findings::TITLE) } }
                }
                @for document in &report.documents {
                    li {
                        a href={ "#" (anchor(&document.id)) } title=(document.title) {
                            (document.id)
                        }
                        (figure_list(&document.figures, true))
                    }
                }
                @if !report.claims.is_empty() {
                    li {
                        a href="#claims" { "Claims" }
                        ul {
                            @for JudgedClaim { claim, .. } in &report.claims {
                                li {
                                    a href={ "#claim-" (claim.number) } title=(claim.title) {
                                        (claim.number)
                                    }
                                }
                            }
                        }
                    }
                }
                @if !report.numbers.is_empty() { li { a href="#numbers" { "Numbers in the texts" } } }
                @if !report.questions.is_empty() {
                    li {
                        a href="#questions" { (figures::QUESTIONS) }
                        (figure_list(&report.questions, false))
                    }
                }
                li { a href="#made" { "How this page was made" } }
            }
        }
    }
}

fn figure_list(figures: &[FigureReport], is_of_document: bool) -> Markup {
    html! {
        ul {
            @for figure in figures {
                li {
                    a href={ "#" (anchor(&figure.name)) } title=(figure.title) {
                        @if is_of_document { (figure.label()) } @else { (figure.title) }
                    }
                }
            }
        }
    }
}
