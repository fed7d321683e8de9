//! The claims, each with its verdict under either distance.

use maud::{Markup, html};

use super::figures::PRINT_DISTANCE;
use super::tables::{fold, scroll};
use super::text::{command, count, number};
use super::{Claim, Evidence, Outcome, Verdict};

/// The section; nothing if there are no claims.
pub(super) fn section(claims: &[Claim]) -> Markup {
    html! {
        @if !claims.is_empty() {
            section #claims {
                h2 { "Claims: which sentences survive" }
                p {
                    "A claim is a conjunction of clauses, each tried in cases that numbers decide. It "
                    "holds if every clause is true in every case, holds in part if every clause is "
                    "true in some case, and fails if some clause is true in none. Parts “read "
                    "otherwise” are for the reader: the verdict does not depend on them."
                }
                (overview(claims))
                @for claim in claims { (card(claim)) }
            }
        }
    }
}

/// Every sentence with its verdicts.
fn overview(claims: &[Claim]) -> Markup {
    let table = html! {
        table.sentences {
            thead {
                tr { th.n {} th { "sentence" } th { "as defined" } th { "print distance" } }
            }
            tbody {
                @for claim in claims {
                    tr {
                        td.n { a href={ "#claim-" (claim.number) } { (claim.number) } }
                        td { (claim.statement) }
                        @for outcome in [claim.defined.outcome, claim.printed.outcome] {
                            td {
                                span.badge.(class(outcome)) {
                                    (sign(outcome)) " " span.word { (outcome.label()) }
                                }
                            }
                        }
                    }
                }
            }
        }
    };
    scroll("which sentences survive", table)
}

/// The class, in the style sheet, of an outcome.
fn class(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Holds => "holds",
        Outcome::InPart => "part",
        Outcome::Fails => "fails",
    }
}

/// A sign in addition to the colour, which not everyone sees and not every printer prints.
fn sign(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Holds => "✓",
        Outcome::InPart => "◐",
        Outcome::Fails => "✗",
    }
}

/// All claims at a glance.
pub(super) fn glance(claims: &[Claim]) -> Markup {
    html! { ul.glance { @for claim in claims { (chip(claim)) } } }
}

fn chip(claim: &Claim) -> Markup {
    let [defined, printed] = [&claim.defined, &claim.printed].map(|verdict| verdict.outcome);
    let label = format!(
        "Claim {}: as defined, {}; print distance, {}",
        claim.number,
        defined.label(),
        printed.label()
    );
    let differs = (!claim.survives_change_of_distance()).then_some("differs");
    html! {
        li {
            a href={ "#claim-" (claim.number) } class=[differs] aria-label=(label) title=(label) {
                b { (claim.number) }
                @for outcome in [defined, printed] { i.(class(outcome)) { (sign(outcome)) } }
            }
        }
    }
}

fn card(claim: &Claim) -> Markup {
    html! {
        article.claim id={ "claim-" (claim.number) } {
            p.source { "Claim " (claim.number) " · " (claim.source) }
            p.statement { (claim.statement) }
            div.verdicts {
                (verdict(&claim.defined, "As defined"))
                (verdict(&claim.printed, PRINT_DISTANCE))
            }
        }
    }
}

fn verdict(verdict: &Verdict, distance: &str) -> Markup {
    let Verdict { outcome, condition, evidence, remarks, command } = verdict;
    html! {
        section.verdict {
            h4 {
                (distance) " "
                span.badge.(class(*outcome)) { (sign(*outcome)) " " (outcome.label()) }
            }
            @if !condition.is_empty() { p.condition { (condition) } }
            @for remark in remarks { p.remark { (remark) } }
            (evidence_list(evidence, command))
        }
    }
}

fn evidence_list(evidence: &[Evidence], line: &str) -> Markup {
    let again = html! { @if !line.is_empty() { p.made { (command(line)) } } };
    if evidence.is_empty() {
        return again;
    }
    let holding = evidence.iter().filter(|part| part.holds).count();
    let summary = html! { "Evidence: " (holding) " of " (count(evidence.len(), "part")) " hold" };
    let content = html! {
        ul.evidence { @for part in evidence { (evidence_item(part)) } }
        (again)
    };
    fold(summary, content, false)
}

fn evidence_item(part: &Evidence) -> Markup {
    let (class, sign) = if part.holds { ("holds", "✓") } else { ("fails", "✗") };
    html! {
        li {
            b.(class) { (sign) }
            (part.what)
            @if !part.numbers.is_empty() {
                br;
                span.values {
                    @for (place, (name, value)) in part.numbers.iter().enumerate() {
                        @if place > 0 { " " }
                        span { i { (name) } " " (number(*value)) }
                    }
                }
            }
        }
    }
}
