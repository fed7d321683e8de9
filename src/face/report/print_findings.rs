//! What the printed figures teach about how they were made.

use maud::{Markup, html};
use schemars::JsonSchema;
use serde::Serialize;

use super::Report;
use super::tables::{fold, scroll};
use super::text::{anchor, links};
use service::archaeology::Finding;

/// Something that a printed figure shows and its text does not say.
#[derive(Clone, Serialize, JsonSchema)]
pub struct PrintFinding {
    #[serde(flatten)]
    pub finding: Finding,
    /// The figures that show it, by their short names (`icml/fig4`).
    pub figures: Vec<String>,
    /// How well the readings agree with each setting that was tried.
    pub evidence: Vec<PrintEvidence>,
}

/// How well the readings of a figure agree with one setting.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct PrintEvidence {
    /// The setting ("ε = 0.8").
    pub setting: String,
    /// How many readings agree.
    pub within: usize,
    /// How many readings there are.
    pub total: usize,
    /// The largest deviation and where it is.
    pub largest: String,
}

/// The heading of the section.
pub(super) const TITLE: &str = "What the prints teach";

/// The section; nothing without findings.
pub(super) fn section(report: &Report) -> Markup {
    html! {
        @if !report.print_findings.is_empty() {
            section #prints {
                h2 { (TITLE) }
                p {
                    "Some printed figures were made with other settings than their captions and texts "
                    "say. Each finding below names the settings that were tried, and how many of the "
                    "values read off the print agree with each."
                }
                div.findings { @for finding in &report.print_findings { (card(finding, report)) } }
            }
        }
    }
}

fn card(shown: &PrintFinding, report: &Report) -> Markup {
    let PrintFinding { finding, figures, evidence } = shown;
    html! {
        article.finding id=(place(shown)) {
            h3 { (finding.title) }
            p { (finding.sentence) }
            p.see { "Source: " (finding.source) "." }
            (evidence_table(evidence))
            (links("Figures", report.figure_links(figures)))
            (links("Claims that rest on it", report.claim_links(&finding.claims)))
        }
    }
}

fn evidence_table(evidence: &[PrintEvidence]) -> Markup {
    let table = html! {
        table {
            thead {
                tr { th { "setting" } th.n { "readings that agree" } th { "largest deviation" } }
            }
            tbody {
                @for PrintEvidence { setting, within, total, largest } in evidence {
                    tr {
                        td { (setting) }
                        td.n { (within) " of " (total) }
                        td { (largest) }
                    }
                }
            }
        }
    };
    html! {
        @if !evidence.is_empty() {
            (fold(html! { "Evidence" }, scroll("evidence", table), true))
        }
    }
}

/// The anchor of a finding.
fn place(shown: &PrintFinding) -> String {
    anchor(&format!("print-{}", shown.finding.id))
}

impl Report {
    /// Links to the findings that a claim rests on.
    pub(super) fn findings_of_claim(&self, number: u32) -> Markup {
        self.findings(|shown| shown.finding.claims.contains(&number))
    }

    /// Links to the findings that a figure shows.
    pub(super) fn findings_of_figure(&self, short_name: &str) -> Markup {
        self.findings(|shown| shown.figures.iter().any(|figure| figure == short_name))
    }

    fn findings(&self, chosen: impl Fn(&PrintFinding) -> bool) -> Markup {
        let found = self.print_findings.iter().filter(|finding| chosen(finding));
        links(TITLE, found.map(|one| (one.finding.title.to_owned(), Some(place(one)))).collect())
    }
}
