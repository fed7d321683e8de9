//! A release as a JSON document: for other programs, and as a file that `dpbi show` and `dpbi combine` read.

use std::path::Path;

use serde::Deserialize;
use serde_json::{Value, json};

use super::asked::Asked;
use super::prepare;
use super::text::guarantee;
use engine::posterior::model::{Counts, MOST_RECORDS};
use engine::posterior::privacy::Delta;
use service::release::{
    Account, Accuracy, Answer, Block, Both, Compared, Estimate, Findings, Joint, Kept, Loss,
    Released, Request, Row, read_text,
};
use system::diagnostic::Diagnostic;

/// The version of the format. A change that older programs would misread makes a new one.
pub const VERSION: u64 = 1;

/// What a document of one release calls itself, and one of several.
pub const ONE: &str = "dpbi release";
pub const SEVERAL: &str = "dpbi releases";

/// The document of releases that were made together, with what was found in each of them, or without:
/// what is read again is there in any case.
pub fn document(
    releases: &[Released],
    findings: Option<&[Findings]>,
    account: Option<&Account>,
) -> Value {
    let one = |(place, release): (usize, &Released)| {
        one(release, findings.and_then(|findings| findings.get(place)))
    };
    let mut all: Vec<Value> = releases.iter().enumerate().map(one).collect();
    let mut document = match all.len() {
        1 => all.remove(0),
        _ => json!({ "format": SEVERAL, "version": VERSION, "releases": all }),
    };
    document["ledger"] = ledger(account);
    document
}

/// The state of a ledger.
pub fn ledger(account: Option<&Account>) -> Value {
    let ledger = |account: &Account| {
        json!({
            "releases": account.releases,
            "spent": account.total.to_string(),
            "budget": account.budget.map(|budget| budget.to_string()),
            "delta": account.delta.map(Delta::get),
            "composed_delta": account.composed,
            "kept": account.kept.map(Kept::words),
        })
    };
    account.map_or(Value::Null, ledger)
}

/// The document of several releases of the same data, taken together.
pub fn combination(releases: &[&Released], findings: &Findings, checked: bool) -> Value {
    let first = releases[0];
    let spent = releases.iter().map(|release| release.spent()).sum::<service::release::Amount>();
    let mut document = json!({
        "format": "dpbi combination",
        "version": VERSION,
        "releases": releases.iter().map(|release| release.id.as_str()).collect::<Vec<_>>(),
        "spent": spent.to_string(),
        "checked_by_ledger": checked,
        "columns": columns(&first.request),
        "fixed_groups": first.request.fixed,
        "n": first.n,
        "prior": first.request.prior,
        "level": first.request.level,
    });
    extend(&mut document, tables(&first.request, findings));
    document
}

fn one(release: &Released, findings: Option<&Findings>) -> Value {
    let request = &release.request;
    let categories = &request.table.outcome().categories;
    let mut document = json!({
        "format": ONE,
        "version": VERSION,
        "id": release.id,
        "time": release.time,
        "name": request.name,
        "columns": columns(request),
        "fixed_groups": request.fixed,
        "n": release.n,
        "prior": request.prior,
        "released": release.counts,
        "posterior": parameters(release),
        "mechanism": release.mechanism(),
        "reason": release.reason,
        "epsilon": request.epsilon.to_string(),
        "price": release.price().to_string(),
        "spent": release.spent().to_string(),
        "guarantee": guarantee(release),
        "level": request.level,
        "compare": request.compared.iter().map(|&place| &categories[place]).collect::<Vec<_>>(),
    });
    let Some(findings) = findings else { return document };
    match findings.accuracy.as_slice() {
        [whole] => extend(&mut document, accuracy(whole)),
        groups => {
            document["histograms"] = groups.iter().map(accuracy).collect();
        }
    }
    extend(&mut document, tables(request, findings));
    if let Some(Value::Array(rows)) = document.get_mut("categories") {
        for (row, parameter) in rows.iter_mut().zip(parameters(release)) {
            row["parameter"] = parameter.into();
        }
    }
    document
}

fn extend(document: &mut Value, more: Value) {
    if let (Value::Object(document), Value::Object(more)) = (document, more) {
        document.extend(more);
    }
}

fn columns(request: &Request) -> Value {
    let column = |column: &service::release::Attribute| json!({ "name": column.name, "categories": column.categories });
    request.table.attributes().iter().map(column).collect()
}

/// The parameters of the released posterior.
pub fn parameters(release: &Released) -> Vec<f64> {
    let prior = release.request.prior.iter().zip(&release.counts);
    prior.map(|(alpha, &count)| alpha + count as f64).collect()
}

fn accuracy(Accuracy { errors, loss }: &Accuracy) -> Value {
    let (exact_loss, loss_at_most) = match loss {
        Some(Loss::Exact(loss)) => (Some(loss), None),
        Some(Loss::AtMost(loss)) => (None, Some(loss)),
        None => (None, None),
    };
    json!({
        "exact_loss": exact_loss,
        "loss_at_most": loss_at_most,
        "expected_error": {
            "predictive": errors.predictive,
            "estimated": errors.estimated.map(|error| error.mean),
            "standard_error": errors.estimated.map(|error| error.standard_error),
            "as_released": errors.as_released,
        },
    })
}

/// Everything that is computed from the released counts.
fn tables(request: &Request, findings: &Findings) -> Value {
    let rows =
        |name: &str, rows: &[Row]| -> Value { rows.iter().map(|one| row(name, one)).collect() };
    let blocks = |kind: &str, name: &str, blocks: &[Block]| -> Value {
        let block = |block: &Block| json!({ kind: block.title, "rows": rows(name, &block.rows) });
        blocks.iter().map(block).collect()
    };
    let mut tables = match request.table.groups() {
        1 => json!({ "categories": rows("category", &findings.cells) }),
        _ => json!({
            "cells": rows("cell", &findings.cells),
            "margins": blocks("columns", "categories", &findings.margins),
            "groups": blocks("group", "category", &findings.groups),
            "comparisons": findings.comparisons.iter().map(compared).collect::<Vec<_>>(),
            "uncompared": findings.uncompared,
        }),
    };
    tables["joint"] = both(&findings.joint, |joint| {
        let intervals = joint.iter().flat_map(|joint: &Joint| &joint.intervals);
        json!({
            "exact": joint.iter().all(|joint| joint.exact),
            "intervals": intervals.map(|one| json!([one.low, one.high])).collect::<Vec<_>>(),
        })
    });
    tables["unaware"] = json!(findings.unaware);
    tables["ungrouped"] = json!(findings.ungrouped);
    tables
}

fn row(name: &str, row: &Row) -> Value {
    json!({
        name: row.name,
        "released": row.released,
        "naive": row.share.naive.as_ref().map(estimate),
        "aware": row.share.aware.as_ref().map(estimate),
        "naive_coverage": row.naive_coverage,
    })
}

fn estimate(estimate: &Estimate) -> Value {
    let Estimate { value, interval } = estimate;
    json!({ "mean": value, "low": interval.low, "high": interval.high })
}

fn compared(one: &Compared) -> Value {
    let mut answer = both(&one.answer, |Answer { larger, difference, ratio }| {
        let median = |estimate: &Estimate| {
            json!({
                "median": estimate.value,
                "low": estimate.interval.low,
                "high": estimate.interval.high,
            })
        };
        json!({
            "probability_greater": larger,
            "difference": estimate(difference),
            "ratio": median(ratio),
        })
    });
    let mut compared = json!({ "category": one.category, "group": one.group, "other": one.other });
    extend(&mut compared, answer.take());
    compared
}

fn both<T>(both: &Both<T>, value: impl Fn(&T) -> Value) -> Value {
    json!({
        "naive": both.naive.as_ref().map(&value),
        "aware": both.aware.as_ref().map(&value),
    })
}

/// The keys that are read again.
pub const READ: [&str; 15] = [
    "format",
    "version",
    "id",
    "time",
    "name",
    "columns",
    "fixed_groups",
    "n",
    "prior",
    "released",
    "mechanism",
    "reason",
    "epsilon",
    "level",
    "compare",
];

/// The part of a document that is read again; everything else is computed from it.
#[derive(Deserialize)]
struct Stored {
    id: String,
    time: String,
    name: Option<String>,
    columns: Vec<StoredColumn>,
    fixed_groups: Option<Vec<u64>>,
    n: u64,
    prior: Vec<f64>,
    released: Counts,
    mechanism: String,
    reason: String,
    epsilon: String,
    level: f64,
    compare: Vec<String>,
}

#[derive(Deserialize)]
struct StoredColumn {
    name: String,
    categories: Vec<String>,
}

/// What to do about a document that cannot be one.
const INTACT: &str = "use the file as `dpbi release --out` wrote it";

/// The most bytes of a document.
const LARGEST: u64 = 100_000_000;

/// A release that was read, before it is made ready again.
pub struct Loaded {
    pub request: Request,
    n: u64,
    id: String,
    time: String,
    reason: String,
    counts: Counts,
}

impl Loaded {
    /// The release, with its method made ready again.
    pub fn prepare(self, threads: usize) -> Result<Released, Diagnostic> {
        let Self { request, n, id, time, reason, counts } = self;
        let (methods, _) = prepare::methods(&request, n, threads)?;
        let release = Released { id, time, request, n, methods, reason, counts };
        match release.impossible() {
            None => Ok(release),
            Some(cause) => {
                Err(Diagnostic::new(format!("no release has these counts: {cause}")).help(INTACT))
            }
        }
    }
}

/// The releases of a file.
pub fn read(path: &Path) -> Result<Vec<Loaded>, Diagnostic> {
    let file = path.display().to_string();
    let unreadable = |cause: String| {
        Diagnostic::new(format!("cannot read the release {file}: {cause}"))
            .help("give a file that `dpbi release --out` wrote")
    };
    let text = read_text(path, LARGEST).map_err(unreadable)?;
    if text.is_empty() {
        return Err(Diagnostic::new(format!("the file {file} is empty: no release is in it")).help(
            "the process that was to write it has ended or is at work; if its ledger has an entry, the \
             entry has the released counts",
        ));
    }
    let document: Value = serde_json::from_str(&text)
        .map_err(|error| unreadable(format!("it is not JSON ({error})")))?;
    let documents = match document["format"].as_str() {
        Some(ONE) => vec![document],
        Some(SEVERAL) => document["releases"].as_array().cloned().unwrap_or_default(),
        _ => return Err(unreadable("it does not hold a release".to_owned())),
    };
    let mut loaded = Vec::new();
    for document in documents {
        match document["version"].as_u64() {
            Some(VERSION) => {}
            Some(other) => {
                let cause =
                    format!("it has version {other}, and this dpbi reads version {VERSION}");
                return Err(unreadable(cause).help("use the dpbi that wrote it, or a newer one"));
            }
            None => return Err(unreadable("it does not say its version".to_owned())),
        }
        let stored: Stored = serde_json::from_value(document)
            .map_err(|error| unreadable(format!("it is damaged ({error})")))?;
        loaded.push(stored.check(&file)?);
    }
    match loaded.is_empty() {
        true => Err(unreadable("it holds no release".to_owned())),
        false => Ok(loaded),
    }
}

impl Stored {
    /// Checks the values of a document as those of a command line are checked.
    fn check(self, file: &str) -> Result<Loaded, Diagnostic> {
        let wrong = |key: &str, cause: &str| {
            let key = if key == "column" || key == "by" { "columns" } else { key };
            Diagnostic::new(format!("the release {file} is damaged: `{key}`: {cause}"))
        };
        let damaged = |key: &str, cause: &str| wrong(key, cause).help(INTACT);
        let Some((outcome, by)) = self.columns.split_last() else {
            return Err(damaged("columns", "there is none"));
        };
        let lists = self.columns.iter().map(|one| (Some(one.name.clone()), one.categories.clone()));
        let asked = Asked {
            name: self.name,
            by: by.iter().map(|column| column.name.clone()).collect(),
            column: outcome.name.clone(),
            categories: lists.collect(),
            other: Vec::new(),
            fixed_groups: None,
            prior: vec![(None, self.prior)],
            epsilon: self.epsilon,
            mechanism: Some(self.mechanism),
            level: self.level,
            compare: self.compare,
        };
        let mut request = asked.check(&wrong)?;
        if let Some(sizes) = &self.fixed_groups {
            let sum = sizes.iter().fold(0_u64, |sum, &size| sum.saturating_add(size));
            if sizes.len() != request.table.groups() || sum != self.n || sizes.contains(&0) {
                return Err(damaged("fixed_groups", "they do not fit the table"));
            }
        }
        request.fixed = self.fixed_groups;
        if self.n == 0 || self.n > MOST_RECORDS {
            return Err(damaged("n", "there cannot be so many records"));
        }
        if self.released.len() != request.table.cells() {
            return Err(damaged("released", "these counts do not fit the table"));
        }
        let total = self.released.iter().try_fold(0_u64, |sum, &count| sum.checked_add(count));
        if total.is_none() {
            return Err(damaged("released", "no data have so many records"));
        }
        if self.id.len() != 16 || !self.id.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(damaged("id", "this is not the id of a release"));
        }
        Ok(Loaded {
            request,
            n: self.n,
            id: self.id,
            time: self.time,
            reason: self.reason,
            counts: self.released,
        })
    }
}
