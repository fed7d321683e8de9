//! `dpbi claims`.

mod text;

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
    let places: Vec<usize> = (0..claims.len() * distances.len()).collect();
    let judge = |&place: &usize| {
        let lab = Lab::new(distances[place % distances.len()]);
        (place, (claims[place / distances.len()].judge)(&lab))
    };
    let in_full = args.verbose || !args.numbers.is_empty();
    let mut found: Vec<Option<Finding>> = vec![None; places.len()];
    let (mut documents, mut judged) = (Vec::new(), Vec::new());
    TaskPools::new(threads, threads)?.carry_out(&places, judge, |(place, finding)| {
        found[place] = Some(finding);
        // Claims are printed in their order, each as soon as it and all before it are judged.
        let all = claims.iter().zip(found.chunks_mut(distances.len()));
        for (claim, found) in all.skip(judged.len()) {
            if found.contains(&None) {
                break;
            }
            let findings = found.iter_mut().filter_map(Option::take);
            let one = Judged { claim, findings: distances.iter().copied().zip(findings).collect() };
            if args.tables.table.is_some() {
                judged.push(one);
                continue;
            }
            let text = || if in_full { text::full(&one) } else { text::short(&one) };
            documents.extend(args.print.tell(false, || one.documents(), text)?);
            judged.push(one);
        }
        Ok(())
    })?;
    if args.print.json {
        return print_json(&documents.concat());
    }
    if args.tables.print(|| text::grid(&judged, &distances))? {
        return Ok(());
    }
    if judged.len() > 1 {
        print(&format!("\n{}", text::grid(&judged, &distances).render()))?;
    }
    Ok(())
}

/// A claim under one or both distances.
struct Judged {
    claim: &'static Claim,
    findings: Vec<(&'static dyn Distance, Finding)>,
}

impl Judged {
    fn documents(&self) -> Vec<serde_json::Value> {
        let findings = self.findings.iter();
        findings.map(|(distance, finding)| document(self.claim, *distance, finding)).collect()
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
