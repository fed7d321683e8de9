//! `dpbi claims`.

mod text;

use schemars::JsonSchema;
use serde::Serialize;

use super::{print, threads};
use crate::cli::Claims;
use crate::failure::Failure;
use engine::parallel;
use engine::posterior::distance::{self, Distance};
use engine::refusal::suggest;
use paper::claims::{self, Claim, Finding, Outcome, Verdict};
use system::diagnostic::Diagnostic;

pub fn execute(args: &Claims) -> Result<(), Failure> {
    threads(&args.threads)?;
    let distances = distances(args.distance.as_deref())?;
    let claims = chosen(&args.numbers)?;
    let all: f64 = claims.iter().map(|claim| claim.outputs).sum();
    let in_full = args.verbose || !args.numbers.is_empty();
    let as_text = !args.answer.print.json && args.answer.table.is_none();
    let mut judged: Vec<Judged> = Vec::new();
    for claim in claims {
        let _part = parallel::of_whole(claim.outputs / all);
        let findings = claim.judged(&distances);
        let one = Judged { claim, findings: distances.iter().copied().zip(findings).collect() };
        if as_text {
            print(&if in_full { text::full(&one) } else { text::short(&one) })?;
        }
        judged.push(one);
    }
    args.answer.give(
        || text::grid(&judged, &distances),
        || judged.iter().flat_map(Judged::documents).collect::<Vec<_>>(),
        || match judged.len() {
            0 | 1 => String::new(),
            _ => format!("\n{}", text::grid(&judged, &distances).render()),
        },
    )
}

/// A claim under one or both distances.
struct Judged {
    claim: &'static Claim,
    findings: Vec<(&'static dyn Distance, Finding)>,
}

impl Judged {
    fn documents(&self) -> Vec<Document<'_>> {
        let findings = self.findings.iter();
        findings.map(|(distance, finding)| document(self.claim, *distance, finding)).collect()
    }
}

/// A claim under one distance.
#[derive(Serialize, JsonSchema)]
pub struct Document<'a> {
    #[serde(flatten)]
    claim: &'a Claim,
    distance: &'static str,
    /// The verdict on the document's words.
    #[serde(flatten)]
    stated: VerdictDocument,
    /// The verdict on what the authors meant, if that is something else.
    as_meant: Option<VerdictDocument>,
    #[serde(flatten)]
    finding: &'a Finding,
}

#[derive(Serialize, JsonSchema)]
struct VerdictDocument {
    outcome: Outcome,
    /// The cases in which the claim holds, if not in all.
    when: Option<String>,
    /// Why it fails.
    because: Option<String>,
}

impl From<Verdict> for VerdictDocument {
    fn from(Verdict { outcome, reason, .. }: Verdict) -> Self {
        let when = (outcome == Outcome::InPart).then(|| reason.clone());
        Self { outcome, when, because: (outcome == Outcome::Fails).then_some(reason) }
    }
}

fn document<'a>(
    claim: &'a Claim,
    distance: &'static dyn Distance,
    finding: &'a Finding,
) -> Document<'a> {
    Document {
        claim,
        distance: distance.id(),
        stated: finding.as_stated().into(),
        as_meant: finding.as_meant().map(VerdictDocument::from),
        finding,
    }
}

fn distances(named: Option<&str>) -> Result<Vec<&'static dyn Distance>, Diagnostic> {
    let documented = distance::DOCUMENTED;
    let Some(name) = named else { return Ok(documented.to_vec()) };
    let unknown = || {
        let cause = match distance::find(name) {
            Ok(_) => format!("the documents claim nothing about the distance `{name}`"),
            Err(_) => format!("unknown distance `{name}`"),
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
