//! Verdicts for a terminal.

use super::Judged;
use engine::posterior::distance::{Distance, HELLINGER};
use paper::claims::{ClaimPart, Finding, Outcome, Reading, Verdict};
use system::console::{self, Grid, Hang, Style, fold, visible};

/// The claim in a few lines: its title, and the verdicts with their reasons.
pub fn short(judged: &Judged) -> String {
    let title = Style::Strong.paint(judged.claim.title);
    let start = Style::Strong.paint(&format!("{:>2}. ", judged.claim.number));
    let mut text = hanging(&start, &format!("{title} ({})", judged.claim.source));
    let mut lines: Vec<(&str, String)> = Vec::new();
    for (distance, finding) in &judged.findings {
        let told = in_a_line(finding);
        match lines.last_mut() {
            Some((name, same)) if *same == told => *name = "both distances",
            _ => lines.push((distance_name(*distance), told)),
        }
    }
    for (name, told) in lines {
        text += &hanging(&format!("    {name:<14}  "), &told);
    }
    text
}

/// "fails. False: A. As meant: holds. True."
fn in_a_line(finding: &Finding) -> String {
    let stated = finding.as_stated();
    let mut told = format!("{}. {}", word(stated.outcome), stated.why);
    if let Some(example) = example(finding, &stated) {
        told += &format!(" {example}");
    }
    if let Some(meant) = finding.as_meant().filter(|meant| meant.outcome != stated.outcome) {
        told += &format!(" As meant it {}. {}", word(meant.outcome), meant.why);
    }
    told
}

/// The first case in which a clause that is blamed is false, with the number that decides it.
fn example(finding: &Finding, verdict: &Verdict) -> Option<String> {
    let counts = |part: &&ClaimPart| [Reading::Both, Reading::Stated].contains(&part.reading);
    let mut parts = finding.parts.iter().filter(counts);
    let part = parts.find(|part| !part.holds && verdict.why.contains(&part.clause))?;
    let (name, value) = part.numbers.first()?;
    let told = part.when.is_empty() || verdict.why.contains(&part.when);
    let case = if told { String::new() } else { format!("{}: ", part.when) };
    Some(format!("({case}{name} is {})", console::short(*value)))
}

/// Everything about the claim.
pub fn full(judged: &Judged) -> String {
    let claim = judged.claim;
    let title = format!("{}. {}", claim.number, claim.title);
    let mut text = format!("{}\n  {}\n", Style::Strong.paint(&title), claim.source);
    text += &hanging("  ", claim.statement);
    if let Some(meant) = claim.meant {
        text += &hanging("  ", &format!("What was meant: {meant}"));
    }
    for (distance, finding) in &judged.findings {
        text += &format!("\n  {}\n", Style::Strong.paint(distance_name(*distance)));
        text += &reason("", &finding.as_stated());
        if let Some(meant) = finding.as_meant() {
            text += &reason("as meant: ", &meant);
        }
        for part in &finding.parts {
            text += &hanging("      ", &case(part));
        }
        for remark in &finding.remarks {
            text += &hanging("      ", &format!("note: {remark}"));
        }
    }
    text + "\n"
}

fn reason(reading: &str, verdict: &Verdict) -> String {
    hanging("    ", &format!("{reading}{}. {}", word(verdict.outcome), verdict.reason))
}

/// "no   as meant: A, k = 2: ratio 0.5".
fn case(part: &ClaimPart) -> String {
    let numbers =
        part.numbers.iter().map(|(name, value)| format!("{name} {}", console::short(*value)));
    let numbers = numbers.collect::<Vec<_>>().join(", ");
    let (style, sign) = if part.holds { (Style::Good, "yes") } else { (Style::Bad, "no") };
    let reading = part.reading.label().map_or(String::new(), |label| format!("{label}: "));
    format!("{}  {reading}{}: {numbers}", style.paint(sign), part.name())
}

pub fn grid(all: &[Judged], distances: &[&'static dyn Distance]) -> Grid {
    let mut grid = Grid::new(2 + distances.len() + 1);
    let names = distances.iter().map(|distance| distance_name(*distance).to_owned());
    let header = [String::new(), "claim".to_owned()].into_iter().chain(names);
    grid.row(header.chain(["as meant".to_owned()]));
    for judged in all {
        let stated = judged.findings.iter().map(|(_, finding)| mark(finding.as_stated().outcome));
        let mut meant: Vec<String> = (judged.findings.iter())
            .filter_map(|(_, finding)| finding.as_meant())
            .map(|verdict| mark(verdict.outcome))
            .collect();
        meant.dedup();
        let meant = if meant.is_empty() { "–".to_owned() } else { meant.join(", ") };
        let start = [judged.claim.number.to_string(), judged.claim.title.to_owned()];
        grid.row(start.into_iter().chain(stated).chain([meant]));
    }
    grid
}

/// The verdict in words, in its colour.
fn word(outcome: Outcome) -> String {
    style(outcome).paint(outcome.label())
}

/// The same where there is little room.
fn mark(outcome: Outcome) -> String {
    let label = outcome.label();
    style(outcome).paint(label.strip_prefix("holds ").unwrap_or(label))
}

fn style(outcome: Outcome) -> Style {
    match outcome {
        Outcome::Holds => Style::Good,
        Outcome::InPart => Style::Mixed,
        Outcome::Fails => Style::Bad,
    }
}

/// One name for each distance, here and in the report.
fn distance_name(distance: &dyn Distance) -> &'static str {
    if distance.id() == HELLINGER.id() { "as defined" } else { "print distance" }
}

/// Lines that begin below the end of `start`.
fn hanging(start: &str, text: &str) -> String {
    let indent = visible(start);
    let lines = fold(text, console::width().saturating_sub(indent), Hang::NONE);
    let below = format!("\n{}", " ".repeat(indent));
    format!("{start}{}\n", lines.replace('\n', &below))
}
