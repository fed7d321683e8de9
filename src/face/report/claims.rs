//! The claims, each with what became of it under either distance.

use super::figures::PRINT_DISTANCE;
use super::tables::{fold, scroll};
use super::text::{command, count, escape, number};
use super::{Claim, Evidence, Outcome, Verdict};

/// The section; nothing if there are no claims.
pub(super) fn section(claims: &[Claim]) -> String {
    if claims.is_empty() {
        return String::new();
    }
    let cards: String = claims.iter().map(card).collect();
    format!(
        "<section id=\"claims\">\n<h2>Claims: which sentences survive</h2>\n<p>A claim is a \
         conjunction of clauses, each tried in cases that numbers decide. It holds if every clause is \
         true in every case, holds in part if every clause is true in some case, and fails if some \
         clause is true in none. Parts “read otherwise” are for the reader: the verdict does not \
         depend on them.</p>\n{}{cards}</section>\n",
        overview(claims)
    )
}

/// Every sentence with what became of it.
fn overview(claims: &[Claim]) -> String {
    let cell = |outcome: Outcome| {
        let (class, sign, label) = (class(outcome), sign(outcome), outcome.label());
        format!(
            "<td><span class=\"badge {class}\">{sign} <span class=\"word\">{label}</span></span></td>"
        )
    };
    let row = |claim: &Claim| {
        format!(
            "<tr><td class=\"n\"><a href=\"#claim-{0}\">{0}</a></td><td>{1}</td>{2}{3}</tr>\n",
            claim.number,
            escape(&claim.statement),
            cell(claim.defined.outcome),
            cell(claim.printed.outcome)
        )
    };
    let rows: String = claims.iter().map(row).collect();
    let table = format!(
        "<table class=\"sentences\">\n<thead><tr><th class=\"n\"></th><th>sentence</th>\
         <th>as defined</th><th>print distance</th></tr></thead>\n<tbody>\n{rows}</tbody></table>"
    );
    scroll("which sentences survive", &table)
}

/// The class, in the style sheet, of an outcome.
fn class(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Holds => "holds",
        Outcome::InPart => "part",
        Outcome::Fails => "fails",
    }
}

/// A sign beside the colour: not everyone sees that, and not every printer prints it.
fn sign(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Holds => "✓",
        Outcome::InPart => "◐",
        Outcome::Fails => "✗",
    }
}

/// All claims at a glance.
pub(super) fn glance(claims: &[Claim]) -> String {
    let cell = |outcome: Outcome| format!("<i class=\"{}\">{}</i>", class(outcome), sign(outcome));
    let chip = |claim: &Claim| {
        let [defined, printed] = [&claim.defined, &claim.printed].map(|verdict| verdict.outcome);
        let label = format!(
            "Claim {}: as defined, {}; print distance, {}",
            claim.number,
            defined.label(),
            printed.label()
        );
        let differs = if claim.survives_change_of_distance() { "" } else { " class=\"differs\"" };
        format!(
            "<li><a href=\"#claim-{0}\"{differs} aria-label=\"{label}\" title=\"{label}\">\
             <b>{0}</b>{1}{2}</a></li>",
            claim.number,
            cell(defined),
            cell(printed)
        )
    };
    let chips: String = claims.iter().map(chip).collect();
    format!("<ul class=\"glance\">{chips}</ul>\n")
}

fn card(claim: &Claim) -> String {
    format!(
        "<article class=\"claim\" id=\"claim-{0}\">\n<p class=\"source\">Claim {0} · {1}</p>\n\
         <p class=\"statement\">{2}</p>\n<div class=\"verdicts\">\n{3}{4}</div></article>\n",
        claim.number,
        escape(&claim.source),
        escape(&claim.statement),
        verdict(&claim.defined, "As defined"),
        verdict(&claim.printed, PRINT_DISTANCE)
    )
}

fn verdict(verdict: &Verdict, distance: &str) -> String {
    let Verdict { outcome, condition, evidence, remarks, command: line } = verdict;
    let condition = if condition.is_empty() {
        String::new()
    } else {
        format!("<p class=\"condition\">{}</p>\n", escape(condition))
    };
    let remarks: String = remarks
        .iter()
        .map(|remark| format!("<p class=\"remark\">{}</p>\n", escape(remark)))
        .collect();
    format!(
        "<section class=\"verdict\">\n<h4>{} <span class=\"badge {}\">{} {}</span></h4>\n\
         {condition}{remarks}{}</section>\n",
        distance,
        class(*outcome),
        sign(*outcome),
        outcome.label(),
        evidence_list(evidence, line)
    )
}

fn evidence_list(evidence: &[Evidence], line: &str) -> String {
    let again = match command(line) {
        line if line.is_empty() => line,
        line => format!("<p class=\"made\">{line}</p>\n"),
    };
    if evidence.is_empty() {
        return again;
    }
    let holding = evidence.iter().filter(|part| part.holds).count();
    let summary = format!("Evidence: {holding} of {} hold", count(evidence.len(), "part"));
    let items: String = evidence.iter().map(evidence_item).collect();
    fold(&summary, &format!("<ul class=\"evidence\">\n{items}</ul>\n{again}"), false)
}

fn evidence_item(part: &Evidence) -> String {
    let (class, sign) = if part.holds { ("holds", "✓") } else { ("fails", "✗") };
    let pair = |(name, value): &(String, f64)| {
        format!("<span><i>{}</i> {}</span>", escape(name), number(*value))
    };
    let numbers: Vec<String> = part.numbers.iter().map(pair).collect();
    let numbers = match numbers.join(" ") {
        none if none.is_empty() => none,
        some => format!("<br><span class=\"values\">{some}</span>"),
    };
    format!("<li><b class=\"{class}\">{sign}</b>{}{numbers}</li>\n", escape(&part.what))
}
