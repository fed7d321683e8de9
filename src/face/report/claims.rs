//! The claims, each with its verdict under either distance.

use maud::{Markup, html};

use super::figures::PRINT_DISTANCE;
use super::tables::{fold, scroll};
use super::text::{command, count, links, number};
use super::{ClaimPart, JudgedClaim, Outcome, Reading, ReadingVerdict, Report, Sentence, Verdict};

/// The section; nothing if there are no claims.
pub(super) fn section(report: &Report) -> Markup {
    html! {
        @if !report.claims.is_empty() {
            section #claims {
                h2 { "Claims" }
                p {
                    "Each claim is judged twice: as defined, and with the print distance. It holds if "
                    "all it says is true in every case that was tested, holds in part if each thing "
                    "it says is true in some case, and fails if one of them is true in none. Its "
                    "words are taken literally. Where the authors evidently meant something else, "
                    "that is judged too: as meant. No verdict depends on a part that is marked "
                    "“apart”."
                }
                @for claim in &report.claims { (card(claim, report)) }
            }
        }
    }
}

/// All claims in words, with their verdicts.
pub(super) fn table(report: &Report) -> Markup {
    let table = html! {
        table.sentences {
            thead {
                tr {
                    th.n {} th { "claim" } th { "as defined" } th { "print distance" } th { "why" }
                }
            }
            tbody { @for claim in &report.claims { (row(claim)) } }
        }
    };
    let meant = report.claims.iter().any(|claim| claim.defined.meant_otherwise().is_some());
    html! {
        div {
            (scroll("the claims and their verdicts", table))
            @if meant {
                p.see {
                    "A claim is judged as its words stand. “As meant” judges what the authors "
                    "evidently intended, where that differs. Sentences in quotation marks are parts "
                    "of the claim."
                }
            }
        }
    }
}

fn row(judged: &JudgedClaim) -> Markup {
    let JudgedClaim { claim, defined, printed } = judged;
    let place = format!("#claim-{}", claim.number);
    html! {
        tr {
            td.n { a href=(place) { (claim.number) } }
            td { a href=(place) { (claim.title) } }
            @for verdict in [defined, printed] {
                td {
                    (badge(verdict.stated.outcome))
                    (how_many(&verdict.stated.sentences))
                    @if let Some(meant) = verdict.meant_otherwise() {
                        br; small { "as meant: " (meant.label()) }
                    }
                }
            }
            td.why { (why(judged)) }
        }
    }
}

/// "2 of 5 sentences hold", where a claim bundles several and not all of them do.
fn how_many(sentences: &[Sentence]) -> Markup {
    let hold = sentences.iter().filter(|one| one.outcome == Outcome::Holds).count();
    html! {
        @if sentences.len() > 1 && hold < sentences.len() {
            br; small { (hold) " of " (sentences.len()) " sentences" }
        }
    }
}

/// The outcome in a word or two.
fn badge(outcome: Outcome) -> Markup {
    let (class, sign, word) = look(outcome);
    html! { span.badge.(class) { (sign) " " (word) } }
}

/// The reason in a few words: as defined, or with the print distance if there is none as defined.
fn why(judged: &JudgedClaim) -> Markup {
    let [defined, printed] = [&judged.defined, &judged.printed].map(|one| &one.stated.why);
    html! {
        @if !defined.is_empty() {
            (defined)
        } @else if !printed.is_empty() {
            "print distance: " (printed)
        }
    }
}

impl Report {
    /// Links to the claims with these numbers, as far as they are on the page.
    pub(super) fn claim_links(&self, numbers: &[u32]) -> Vec<(String, Option<String>)> {
        let is_there = |number: u32| self.claims.iter().any(|one| one.claim.number == number);
        let place = |number: u32| is_there(number).then(|| format!("claim-{number}"));
        numbers.iter().map(|number| (number.to_string(), place(*number))).collect()
    }

    /// Links to the claims that rest on a figure.
    pub(super) fn claims_on(&self, short_name: &str) -> Vec<(String, Option<String>)> {
        let claims = self.claims.iter().map(|one| one.claim);
        let resting = claims.filter(|claim| claim.figures.contains(&short_name));
        let numbers: Vec<u32> = resting.map(|claim| claim.number).collect();
        self.claim_links(&numbers)
    }
}

/// The class of an outcome in the style sheet, a sign for those who do not see its colour, and a word.
fn look(outcome: Outcome) -> (&'static str, &'static str, &'static str) {
    match outcome {
        Outcome::Holds => ("holds", "✓", "holds"),
        Outcome::InPart => ("part", "◐", "in part"),
        Outcome::Fails => ("fails", "✗", "fails"),
    }
}

fn card(judged: &JudgedClaim, report: &Report) -> Markup {
    let JudgedClaim { claim, defined, printed } = judged;
    html! {
        article.claim id={ "claim-" (claim.number) } {
            p.source { "Claim " (claim.number) " · " (claim.source) }
            h3 { (claim.title) }
            p.statement { (claim.statement) }
            @if let Some(meant) = claim.meant { p.remark { "As meant: " (meant) } }
            div.verdicts {
                (verdict(defined, "As defined"))
                (verdict(printed, PRINT_DISTANCE))
            }
            (links("Figures it rests on", report.figure_links(claim.figures)))
            (report.findings_of_claim(claim.number))
        }
    }
}

fn verdict(verdict: &Verdict, distance: &str) -> Markup {
    let Verdict { stated, as_meant, evidence, remarks, command } = verdict;
    html! {
        section.verdict {
            h4 { (distance) " " (badge(stated.outcome)) }
            (reasons(stated))
            @if let Some(meant) = as_meant {
                p.condition { b { "As meant it " (meant.outcome.label()) "." } }
                (reasons(meant))
            }
            @for remark in remarks { p.remark { (remark) } }
            (evidence_list(evidence, command))
        }
    }
}

/// Why, sentence by sentence.
fn reasons(verdict: &ReadingVerdict) -> Markup {
    html! {
        @if let [_, _, ..] = &verdict.sentences[..] {
            ul.clauses {
                @for one in &verdict.sentences {
                    li {
                        (badge(one.outcome)) " " (one.words)
                        @if !one.reason.is_empty() { small { ": " (one.reason) } }
                    }
                }
            }
        } @else if !verdict.reason.is_empty() {
            p.condition { (verdict.reason) }
        }
    }
}

fn evidence_list(evidence: &[ClaimPart], line: &str) -> Markup {
    let again = html! { @if !line.is_empty() { p.made { (command(line)) } } };
    if evidence.is_empty() {
        return again;
    }
    let judged = evidence.iter().filter(|part| part.reading != Reading::Apart);
    let (holding, cases) = (judged.clone().filter(|part| part.holds).count(), judged.count());
    let apart = evidence.len() - cases;
    let summary = html! {
        "Evidence: true in " (holding) " of " (count(cases, "case"))
        @if apart > 0 { ", and " (count(apart, "case")) " apart (no verdict depends on them)" }
    };
    let content = html! {
        ul.evidence { @for part in evidence { (evidence_item(part)) } }
        (again)
    };
    fold(summary, content, false)
}

fn evidence_item(part: &ClaimPart) -> Markup {
    let (class, sign) = if part.holds { ("holds", "✓") } else { ("fails", "✗") };
    html! {
        li {
            b.(class) { (sign) }
            @if let Some(reading) = part.reading.label() { i { (reading) ": " } }
            (part.name())
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
