//! How the page was made.

use maud::{Markup, html};

use super::Report;
use super::text::command;
use engine::words::duration;

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
        }
    }
}
