//! The numbers that the documents' texts print, as a table that becomes a list on a phone.

use maud::{Markup, html};

use super::Number;
use super::tables::scroll;
use super::text::count;

/// The section; nothing if there are no numbers.
pub(super) fn section(numbers: &[Number]) -> Markup {
    let agreeing = numbers.iter().filter(|number| number.agrees).count();
    let rounded = numbers.iter().filter(|number| number.by_their_rounding).count();
    html! {
        @if !numbers.is_empty() {
            section #numbers {
                h2 { "Numbers in the texts" }
                p {
                    "Of " (count(numbers.len(), "number")) " in texts, captions and records of the "
                    "authors, " (agreeing) " come out"
                    @if rounded > 0 {
                        ", " (rounded) " of them only if the authors’ rounding errors are repeated"
                    }
                    "."
                }
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

fn row(number: &Number) -> Markup {
    html! {
        tr {
            td.place { (number.place) }
            td.what { (number.what) }
            td.n data-label="printed" { (number.printed) }
            td.n data-label="computed" { (number.computed) }
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
