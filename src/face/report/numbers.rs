//! The numbers that the documents' texts print, as a table that becomes a list on a phone.

use super::Number;
use super::text::{count, escape};

/// The section; nothing if there are no numbers.
pub(super) fn section(numbers: &[Number]) -> String {
    if numbers.is_empty() {
        return String::new();
    }
    let agreeing = numbers.iter().filter(|number| number.agrees).count();
    let rows: String = numbers.iter().map(row).collect();
    format!(
        "<section id=\"numbers\">\n<h2>Numbers in the texts</h2>\n\
         <p>Of {} that the authors give outside of their figures, {agreeing} come out to the last \
         digit.</p>\n<table class=\"reflow\">\n<thead><tr><th>place</th><th>number</th>\
         <th class=\"n\">printed</th><th class=\"n\">computed</th><th>agrees</th><th>note</th></tr>\
         </thead>\n<tbody>\n{rows}</tbody></table>\n</section>\n",
        count(numbers.len(), "number")
    )
}

fn row(number: &Number) -> String {
    let agrees = if number.agrees {
        "<span class=\"holds\">✓ yes</span>"
    } else {
        "<span class=\"fails\">✗ no</span>"
    };
    let note = if number.note.is_empty() { " empty" } else { "" };
    format!(
        "<tr><td class=\"place\">{}</td><td class=\"what\">{}</td>\
         <td class=\"n\" data-label=\"printed\">{}</td><td class=\"n\" data-label=\"computed\">{}</td>\
         <td class=\"agrees\" data-label=\"agrees\">{agrees}</td><td class=\"note{note}\">{}</td></tr>\n",
        escape(&number.place),
        escape(&number.what),
        escape(&number.printed),
        escape(&number.computed),
        escape(&number.note),
    )
}
