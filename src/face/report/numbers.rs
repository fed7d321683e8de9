//! The numbers that the documents' texts print, as a table that becomes a list on a phone.

use maud::{Markup, html};

use super::PrintedNumber;
use super::tables::scroll;

/// The section; nothing if there are no numbers.
pub(super) fn section(numbers: &[PrintedNumber]) -> Markup {
    html! {
        @if !numbers.is_empty() {
            section #numbers {
                h2 { "Numbers in the texts" }
                (scroll("numbers", html! { table.reflow {
                    thead {
                        tr {
                            th { "place" } th { "number" } th.n { "printed" } th.n { "computed" }
                            th { "agrees" } th { "note" }
                        }
                    }
                    tbody { @for number in numbers { (row(number)) } }
                } }))
            }
        }
    }
}

fn row(number: &PrintedNumber) -> Markup {
    html! {
        tr {
            td.place { (number.place) }
            td.what { (number.what) }
            td.n data-label="printed" { (number.printed) }
            td.n data-label="computed" { (computed(number)) }
            td.agrees data-label="agrees" {
                @if number.agrees && number.by_their_rounding {
                    span.part { "◐ with their rounding" }
                } @else if number.agrees {
                    span.holds { "✓ yes" }
                } @else {
                    span.fails { "✗ no" }
                }
            }
            td.note.empty[number.note.is_empty()] { (number.note) }
        }
    }
}

fn computed(number: &PrintedNumber) -> String {
    format!("{:.14}", number.computed)
}
