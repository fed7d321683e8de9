//! `dpbi claims`.

use std::collections::BTreeMap;

use serde_json::json;

use super::task_pools::TaskPools;
use super::{print, print_json, threads};
use crate::base::console::short;
use crate::base::diagnostic::{Diagnostic, suggest};
use crate::face::cli::Claims;
use crate::face::failure::Failure;
use crate::paper::claims::{self, Claim, Finding, Lab, Outcome};
use crate::posterior::distance::{self, Distance};

pub fn execute(args: &Claims) -> Result<(), Failure> {
    let threads = threads(&args.threads)?;
    let distances = distances(args.distance.as_deref())?;
    let claims = chosen(&args.numbers)?;
    let of_claim = |&claim| distances.iter().map(move |&distance| (claim, distance));
    let tasks: Vec<(&'static Claim, &'static dyn Distance)> =
        claims.iter().flat_map(of_claim).collect();
    let places: Vec<usize> = (0..tasks.len()).collect();
    let judge = |&place: &usize| {
        let (claim, distance) = tasks[place];
        (place, (claim.judge)(&Lab::new(distance)))
    };
    let mut waiting = BTreeMap::new();
    let mut documents = Vec::new();
    TaskPools::new(threads, threads)?.carry_out(&places, judge, |(place, finding)| {
        // Claims are printed in their order, each as soon as all before it are judged.
        waiting.insert(place, finding);
        while let Some(finding) = waiting.remove(&documents.len()) {
            let (claim, distance) = tasks[documents.len()];
            if !args.print.json {
                print(&text(claim, distance, &finding))?;
            }
            documents.push(document(claim, distance, &finding));
        }
        Ok(())
    })?;
    if args.print.json {
        print_json(&json!(documents))?;
    }
    Ok(())
}

fn document(claim: &Claim, distance: &dyn Distance, finding: &Finding) -> serde_json::Value {
    json!({
        "number": claim.number,
        "source": claim.source,
        "statement": claim.statement,
        "distance": distance.id(),
        "outcome": word(&finding.outcome()),
        "when": condition(&finding.outcome()),
        "because": reason(&finding.outcome()),
        "parts": finding.parts,
        "remarks": finding.remarks,
    })
}

fn distances(named: Option<&str>) -> Result<Vec<&'static dyn Distance>, Diagnostic> {
    let documented = distance::DOCUMENTED;
    let Some(name) = named else { return Ok(documented.to_vec()) };
    let unknown = || {
        let cause = match distance::find(name) {
            Some(_) => format!("the documents claim nothing about the distance `{name}`"),
            None => format!("unknown distance `{name}`"),
        };
        Diagnostic::new(cause).help(suggest(name, documented.iter().map(|distance| distance.id())))
    };
    let found = documented.iter().copied().find(|distance| distance.id() == name);
    found.map(|distance| vec![distance]).ok_or_else(unknown)
}

fn chosen(numbers: &[u32]) -> Result<Vec<&'static Claim>, Diagnostic> {
    let all = claims::ALL.iter().copied();
    if numbers.is_empty() {
        return Ok(all.collect());
    }
    let find = |number: &u32| {
        all.clone().find(|claim| claim.number == *number).ok_or_else(|| {
            Diagnostic::new(format!("there is no claim {number}"))
                .help(format!("claims are numbered from 1 to {}", claims::ALL.len()))
        })
    };
    numbers.iter().map(find).collect()
}

/// The verdict in a word.
fn word(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Holds => "holds",
        Outcome::HoldsWhen(_) => "holds when",
        Outcome::Fails(_) => "fails",
    }
}

fn condition(outcome: &Outcome) -> Option<&str> {
    match outcome {
        Outcome::HoldsWhen(cases) => Some(cases),
        _ => None,
    }
}

fn reason(outcome: &Outcome) -> Option<&str> {
    match outcome {
        Outcome::Fails(reason) => Some(reason),
        _ => None,
    }
}

/// "holds when n = 600", "fails because A is false".
fn sentence(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Holds => "holds".to_owned(),
        Outcome::HoldsWhen(cases) => format!("holds when {cases}"),
        Outcome::Fails(reason) => format!("fails because {reason}"),
    }
}

fn text(claim: &Claim, distance: &dyn Distance, finding: &Finding) -> String {
    let outcome = finding.outcome();
    let mut text = format!(
        "{}. {} ({})\n  {}: {}\n",
        claim.number,
        claim.statement,
        claim.source,
        distance.title(),
        sentence(&outcome),
    );
    for part in &finding.parts {
        let numbers: Vec<String> =
            part.numbers.iter().map(|(name, value)| format!("{name} {}", short(*value))).collect();
        let sign = if part.holds { "yes" } else { "no " };
        let aside = if part.counts { "" } else { "read otherwise: " };
        text += &format!("    {sign}  {aside}{}: {}\n", part.name(), numbers.join(", "));
    }
    for remark in &finding.remarks {
        text += &format!("    note: {remark}\n");
    }
    text + "\n"
}
