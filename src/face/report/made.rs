//! How the page was made.

use maud::{Markup, html};

use super::Report;
use super::tables::{fold, scroll};
use super::text::command;
use engine::analysis::cost::duration;

pub(super) fn section(report: &Report) -> Markup {
    html! {
        section #made {
            h2 { "How this page was made" }
            p {
                "dpbi " (report.version) " made it on " (report.generated) " in "
                (duration(report.seconds)) ". The command makes it again:"
            }
            p { (command(&report.command)) }
            p {
                "Every figure names the command that makes it alone, and links to its tables, which "
                "lie in folders beside this page. The same command with the same seed gives the same "
                "numbers on every machine."
            }
            @if report.partial {
                p { "This page shows only a part of the figures; " code { "dpbi reproduce" }
                    " without names makes the whole." }
            }
            (times(report))
        }
    }
}

fn times(report: &Report) -> Markup {
    let table = html! {
        table {
            thead { tr { th { "part" } th.n { "seconds" } th.n { "share" } } }
            tbody {
                @for stretch in &report.times {
                    tr {
                        td { (stretch.part) }
                        td.n { (format!("{:.1}", stretch.seconds)) }
                        td.n { (format!("{:.0} %", 100.0 * stretch.share)) }
                    }
                }
            }
        }
    };
    html! {
        @if !report.times.is_empty() {
            (fold(html! { "Where the time went" }, scroll("times", table), false))
        }
    }
}
