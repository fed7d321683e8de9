//! The numbers that the documents' texts print, as a table that becomes a list on a phone.

use maud::{Markup, html};
use serde::Serializer;
use serde_json::json;

use super::PrintedNumber;
use super::tables::scroll;
use super::text::count;

/// The section; nothing if there are no numbers.
pub(super) fn section(numbers: &[PrintedNumber]) -> Markup {
    let agreeing = numbers.iter().filter(|number| number.agrees()).count();
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

fn row(number: &PrintedNumber) -> Markup {
    html! {
        tr {
            td.place { (number.place) }
            td.what { (number.what) }
            td.n data-label="printed" { (number.printed) }
            td.n data-label="computed" { (computed(number)) }
            td.agrees data-label="agrees" {
                @if number.agrees() && number.by_their_rounding {
                    span.part { "◐ with their rounding" }
                } @else if number.agrees() {
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

/// The numbers for machines.
pub(super) fn serialize<S: Serializer>(all: &[PrintedNumber], to: S) -> Result<S::Ok, S::Error> {
    to.collect_seq(all.iter().map(|number| {
        json!({
            "place": number.place,
            "what": number.what,
            "printed": number.printed,
            "computed": computed(number),
            "agrees": number.agrees(),
            "by_their_rounding": number.by_their_rounding,
            "note": number.note,
        })
    }))
}
