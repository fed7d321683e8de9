//! `dpbi claims`.

mod text;

use std::collections::BTreeMap;

use serde_json::json;

use super::task_pools::TaskPools;
use super::{print, print_json, threads};
use crate::cli::Claims;
use crate::failure::Failure;
use engine::posterior::distance::{self, Distance};
use engine::refusal::suggest;
use paper::claims::{self, Claim, Finding, Lab, Outcome, Verdict};
use system::diagnostic::Diagnostic;

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
    let in_full = args.verbose || !args.numbers.is_empty();
    let mut waiting = BTreeMap::new();
    let mut documents = Vec::new();
    let mut judged: Vec<Judged> = Vec::new();
    TaskPools::new(threads, threads)?.carry_out(&places, judge, |(place, finding)| {
        // Claims are printed in their order, each as soon as all before it are judged.
        waiting.insert(place, finding);
        while let Some(finding) = waiting.remove(&documents.len()) {
            let (claim, distance) = tasks[documents.len()];
            documents.push(document(claim, distance, &finding));
            if judged.last().is_none_or(|last| last.is_complete(&distances)) {
                judged.push(Judged { claim, findings: Vec::new() });
            }
            let Some(last) = judged.last_mut() else { continue };
            last.findings.push((distance, finding));
            if last.is_complete(&distances) && !args.print.json {
                print(&if in_full { text::full(last) } else { text::short(last) })?;
            }
        }
        Ok(())
    })?;
    if args.print.json {
        return print_json(&json!(documents));
    }
    if judged.len() > 1 {
        print(&text::table(&judged, &distances))?;
    }
    Ok(())
}

/// A claim under one or both distances.
struct Judged {
    claim: &'static Claim,
    findings: Vec<(&'static dyn Distance, Finding)>,
}

impl Judged {
    fn is_complete(&self, distances: &[&'static dyn Distance]) -> bool {
        self.findings.len() == distances.len()
    }
}

fn document(claim: &Claim, distance: &dyn Distance, finding: &Finding) -> serde_json::Value {
    let stated = finding.as_stated();
    let as_meant = finding.as_meant().map(|verdict| {
        json!({
            "outcome": verdict.outcome,
            "when": condition(&verdict),
            "because": cause(&verdict),
            "why": claim.meant,
        })
    });
    json!({
        "number": claim.number,
        "title": claim.title,
        "source": claim.source,
        "figures": claim.figures,
        "statement": claim.statement,
        "distance": distance.id(),
        "outcome": stated.outcome,
        "when": condition(&stated),
        "because": cause(&stated),
        "as_meant": as_meant,
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

/// The cases in which a claim holds, if not in all.
fn condition(verdict: &Verdict) -> Option<&str> {
    (verdict.outcome == Outcome::InPart).then_some(&verdict.reason)
}

/// Why a claim fails.
fn cause(verdict: &Verdict) -> Option<&str> {
    (verdict.outcome == Outcome::Fails).then_some(&verdict.reason)
}
