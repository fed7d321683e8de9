//! A release as a JSON document: for other programs, and as a file that is read again.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Map, Value};

use super::findings::{self, Answer, Block, Compared, Estimate, Findings};
use super::ledger::{Account, Entry, Kept, Part};
use super::posterior;
use super::sentences::sentences;
use super::{Amount, Both, Loss, Released, Request};
use engine::posterior::model::Counts;
use engine::posterior::privacy::Delta;

/// The version of the format. A change that older programs would misread makes a new one.
pub const VERSION: u64 = 1;

/// What a document of a release calls itself, and one of several taken together.
pub const FORMAT: &str = "dpbi release";
/// What a document calls equal weights.
pub const EQUAL: &str = "equal";
const COMBINED: &str = "dpbi combination";
const READING: &str = "dpbi posterior";

/// A private release. Everything in it is public.
#[derive(Serialize, JsonSchema)]
pub struct Document {
    #[schemars(extend("const" = FORMAT))]
    format: &'static str,
    #[schemars(extend("const" = VERSION))]
    version: u64,
    #[serde(flatten)]
    stored: Stored,
    /// The naive posterior's parameter of every cell.
    posterior: Vec<f64>,
    /// The part of ε that rounding costs.
    price: String,
    /// The ε that was spent.
    spent: String,
    guarantee: String,
    #[serde(flatten)]
    accuracy: Option<Accuracy>,
    /// The accuracy in every group of a fixed size.
    #[serde(skip_serializing_if = "Option::is_none")]
    histograms: Option<Vec<Accuracy>>,
    #[serde(flatten)]
    tables: Option<Tables>,
    /// What was done and found, in sentences that can be published.
    #[serde(skip_serializing_if = "Option::is_none")]
    sentences: Option<Vec<String>>,
    /// The ledger after the release.
    ledger: Option<Ledger>,
}

/// The part of a release that is read again; everything else is computed from it.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct Stored {
    /// What tells it from all other releases.
    pub id: String,
    /// When it was made, in UTC.
    pub time: String,
    /// The version of dpbi that made it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dpbi: Option<String>,
    /// The columns of the table; the last one is the outcome. Cells are in order of the first column, then
    /// of the second, and so on.
    pub columns: Vec<Column>,
    /// Sizes of the groups, if each is released on its own.
    pub fixed_groups: Option<Vec<u64>>,
    /// The number of records; none if it is private.
    pub n: Option<u64>,
    /// What was believed of a private number of records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub n_prior: Option<String>,
    /// The prior's parameter of every cell.
    pub prior: Vec<f64>,
    /// The released count of every cell.
    pub released: Counts,
    pub mechanism: String,
    /// Why this mechanism was taken.
    pub reason: String,
    /// The ε that was asked for, a decimal number.
    pub epsilon: String,
    /// The probability of credible intervals.
    pub level: f64,
    /// Categories whose shares are compared between groups.
    pub compare: Vec<String>,
    /// Columns within whose categories groups are compared.
    #[serde(default)]
    pub within: Vec<String>,
    /// `equal`: what is compared is the mean of the shares in all combinations of the other columns, each with the
    /// same weight. Otherwise these columns are added up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weights: Option<String>,
}

/// A column and its categories.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct Column {
    pub name: String,
    pub categories: Vec<String>,
}

/// Several releases of the same data, taken together.
#[derive(Serialize, JsonSchema)]
pub struct Combination {
    #[schemars(extend("const" = COMBINED))]
    format: &'static str,
    #[schemars(extend("const" = VERSION))]
    version: u64,
    /// The ids of the releases.
    releases: Vec<String>,
    /// Their ε together.
    spent: String,
    /// Whether a ledger has all of them.
    checked_by_ledger: bool,
    columns: Vec<Column>,
    /// Sizes of the groups, if each is released on its own.
    fixed_groups: Option<Vec<u64>>,
    /// The number of records; none if it is private.
    n: Option<u64>,
    /// What was believed of a private number of records.
    n_prior: Option<String>,
    /// The prior's parameter of every cell.
    prior: Vec<f64>,
    /// The probability of credible intervals.
    level: f64,
    #[serde(flatten)]
    tables: Tables,
}

/// What counts tell that somebody else has released.
#[derive(Serialize, JsonSchema)]
pub struct Reading {
    #[schemars(extend("const" = READING))]
    format: &'static str,
    #[schemars(extend("const" = VERSION))]
    version: u64,
    /// How the counts were released, once or several times.
    releases: Vec<ReleasedElsewhere>,
    columns: Vec<Column>,
    /// The prior's parameter of every cell.
    prior: Vec<f64>,
    /// The number of records, if it is known.
    n: Option<u64>,
    /// What was believed of an unknown number of records.
    n_prior: Option<String>,
    /// The probability of credible intervals.
    level: f64,
    /// A bound on the probability of what was left out.
    left_out: f64,
    /// The share of every cell.
    shares: Vec<Share>,
    #[serde(flatten)]
    tables: Tables,
}

/// Numbers that somebody else has released, and how.
#[derive(Serialize, JsonSchema)]
pub struct ReleasedElsewhere {
    pub released: Vec<f64>,
    pub noise: String,
    /// Whether numbers were rounded to whole ones, and whether those below 0 were replaced by 0.
    pub rounded: bool,
    pub clamped: bool,
}

/// The share of a cell.
#[derive(Serialize, JsonSchema)]
struct Share {
    cell: String,
    mean: f64,
    low: f64,
    high: f64,
}

impl Reading {
    pub fn new(
        request: &Request,
        releases: Vec<ReleasedElsewhere>,
        n: Option<u64>,
        left_out: f64,
        findings: &Findings,
    ) -> Self {
        let share = |row: &findings::Row| {
            let Estimate { value, interval } = row.share.aware?;
            Some(Share {
                cell: row.name.clone(),
                mean: value,
                low: interval.low,
                high: interval.high,
            })
        };
        Self {
            format: READING,
            version: VERSION,
            releases,
            columns: columns(request),
            prior: request.prior.clone(),
            n,
            n_prior: request.private_n.filter(|_| n.is_none()).map(|before| before.to_string()),
            level: request.level,
            left_out,
            shares: findings.cells.iter().filter_map(share).collect(),
            tables: Tables::new(request, findings),
        }
    }
}

/// The state of a ledger.
#[derive(Serialize, JsonSchema)]
pub struct Ledger {
    /// Releases entered so far.
    releases: usize,
    /// Whether ε is about one record more or less, because their number is private. Otherwise it is about one that
    /// is replaced.
    private_n: bool,
    /// Their ε together, a decimal number.
    spent: String,
    budget: Option<String>,
    /// The δ of the budget.
    delta: Option<f64>,
    /// δ of the exact composition at the budget's ε.
    composed_delta: Option<f64>,
    /// What keeps the budget.
    kept: Option<&'static str>,
}

/// What was entered at one time.
#[derive(Serialize, JsonSchema)]
pub struct EntryDocument<'a> {
    time: &'a str,
    column: &'a str,
    mechanism: &'a str,
    epsilon: String,
    releases: Vec<PartDocument<'a>>,
}

/// One release of an entry.
#[derive(Serialize, JsonSchema)]
pub struct PartDocument<'a> {
    id: &'a str,
    column: &'a str,
    mechanism: &'a str,
    epsilon: String,
    /// The released counts.
    released: &'a [u64],
}

/// The privacy loss and the expected error of a histogram.
#[derive(Serialize, JsonSchema)]
struct Accuracy {
    /// The exact privacy loss over all data sets.
    exact_loss: Option<f64>,
    /// A bound, where the exact loss takes long.
    loss_at_most: Option<f64>,
    expected_error: ExpectedError,
}

/// Mean errors, as Hellinger distances from the true posterior.
#[derive(Serialize, JsonSchema)]
struct ExpectedError {
    /// Over the prior predictive distribution, exact.
    predictive: Option<f64>,
    /// The same, estimated from draws where the exact one takes long.
    estimated: Option<f64>,
    /// The standard error of the estimate.
    standard_error: Option<f64>,
    /// If the data are as released.
    as_released: Option<f64>,
}

/// Everything that is computed from the released counts.
#[derive(Serialize, JsonSchema)]
struct Tables {
    /// The number of records after the release, if it is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    records: Option<Mean>,
    /// The share of every category, without groups.
    #[serde(skip_serializing_if = "Option::is_none")]
    categories: Option<Vec<Row>>,
    #[serde(flatten)]
    grouped: Option<Grouped>,
    /// Intervals for all cells at once.
    joint: Both<Joint>,
    /// Why there is no noise-aware posterior.
    unaware: Option<String>,
    /// Why no share within a group is noise-aware.
    ungrouped: Option<String>,
}

/// The tables of records in groups.
#[derive(Serialize, JsonSchema)]
struct Grouped {
    /// The share of every cell, which has its category in every column by the column's name.
    cells: Vec<Row>,
    margins: Vec<Margin>,
    groups: Vec<Group>,
    comparisons: Vec<Comparison>,
    /// The columns over whose combinations compared shares are means, in which each has the same weight.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    averaged: Vec<String>,
    /// Why there are no noise-aware comparisons.
    uncompared: Option<String>,
}

/// A table of fewer columns.
#[derive(Serialize, JsonSchema)]
struct Margin {
    columns: String,
    rows: Vec<Row>,
}

/// The outcome in one group.
#[derive(Serialize, JsonSchema)]
struct Group {
    group: String,
    rows: Vec<Row>,
}

/// The share of some cells.
#[derive(Serialize, JsonSchema)]
struct Row {
    /// The cell, the category or the categories, and where they stand. A column of another key's name is
    /// called `column NAME`.
    #[serde(flatten)]
    names: Map<String, Value>,
    /// Their released counts together.
    #[serde(serialize_with = "whole")]
    released: Option<f64>,
    /// The naive posterior's parameter of a category.
    #[serde(skip_serializing_if = "Option::is_none")]
    parameter: Option<f64>,
    #[serde(flatten)]
    share: Both<Mean>,
    /// The probability of the naive interval under the noise-aware posterior.
    naive_coverage: Option<f64>,
}

/// A number without a point if it is whole.
fn whole<S: Serializer>(number: &Option<f64>, to: S) -> Result<S::Ok, S::Error> {
    match number {
        Some(number) if number.fract() == 0.0 && number.abs() < 9e15 => {
            to.serialize_i64(*number as i64)
        }
        number => number.serialize(to),
    }
}

/// The keys that a row has besides its names.
const OF_ROW: [&str; 6] = ["cell", "released", "parameter", "naive", "aware", "naive_coverage"];

/// A mean and a credible interval.
#[derive(Serialize, JsonSchema)]
struct Mean {
    mean: f64,
    low: f64,
    high: f64,
}

/// A median and a credible interval.
#[derive(Serialize, JsonSchema)]
struct Median {
    median: f64,
    low: f64,
    high: f64,
}

/// The share of a category in two groups.
#[derive(Serialize, JsonSchema)]
struct Comparison {
    category: String,
    group: String,
    other: String,
    #[serde(flatten)]
    answer: Both<Compares>,
}

/// How the shares of two groups compare.
#[derive(Serialize, JsonSchema)]
struct Compares {
    probability_greater: f64,
    /// The first share less the second.
    difference: Mean,
    /// The first share over the second.
    ratio: Median,
}

/// Intervals that hold for all cells at once, with the level (exact) or at least with it.
#[derive(Serialize, JsonSchema)]
struct Joint {
    exact: bool,
    intervals: Vec<(f64, f64)>,
}

impl Document {
    /// The document of a release, with what was found in it, or without: what is read again is there in any
    /// case.
    pub fn new(release: &Released, findings: Option<&Findings>, account: Option<&Account>) -> Self {
        let request = &release.request;
        let accuracy = |findings: &Findings| findings.accuracy.iter().map(Accuracy::from).collect();
        let mut histograms: Option<Vec<Accuracy>> = findings.map(accuracy);
        let whole = histograms.take_if(|all| all.len() == 1).and_then(|mut one| one.pop());
        let mut tables = findings.map(|findings| Tables::new(request, findings));
        let posterior = release.parameters();
        if let Some(Tables { categories: Some(rows), .. }) = &mut tables {
            for (row, &parameter) in rows.iter_mut().zip(&posterior) {
                row.parameter = Some(parameter);
            }
        }
        Self {
            format: FORMAT,
            version: VERSION,
            stored: Stored::from(release),
            posterior,
            price: release.price().to_string(),
            spent: release.spent().to_string(),
            guarantee: release.guarantee(),
            accuracy: whole,
            histograms,
            tables,
            sentences: findings.map(|findings| sentences(release, findings)),
            ledger: account.map(Ledger::from),
        }
    }
}

impl From<&Released> for Stored {
    fn from(release: &Released) -> Self {
        let request = &release.request;
        let categories = &request.table.outcome().categories;
        Self {
            id: release.id.clone(),
            time: release.time.clone(),
            dpbi: release.dpbi.clone(),
            columns: columns(request),
            fixed_groups: request.fixed.clone(),
            n: release.n(),
            n_prior: request.private_n.map(|before| before.to_string()),
            prior: request.prior.clone(),
            released: release.counts.clone(),
            mechanism: release.mechanism().to_owned(),
            reason: release.reason.clone(),
            epsilon: request.epsilon.to_string(),
            level: request.level,
            compare: request.compared.iter().map(|&place| categories[place].clone()).collect(),
            within: (request.within.iter())
                .map(|&column| request.table.attributes()[column].name.clone())
                .collect(),
            weights: request.equal_weights.then(|| EQUAL.to_owned()),
        }
    }
}

fn columns(request: &Request) -> Vec<Column> {
    let columns = request.table.attributes().iter();
    columns
        .map(|one| Column { name: one.name.clone(), categories: one.categories.clone() })
        .collect()
}

impl Combination {
    /// Several releases of the same data; `checked_by_ledger` if a ledger has all of them.
    pub fn new(releases: &[&Released], findings: &Findings, checked_by_ledger: bool) -> Self {
        let request = &releases[0].request;
        Self {
            format: COMBINED,
            version: VERSION,
            releases: releases.iter().map(|release| release.id.clone()).collect(),
            spent: releases.iter().map(|release| release.spent()).sum::<Amount>().to_string(),
            checked_by_ledger,
            columns: columns(request),
            fixed_groups: request.fixed.clone(),
            n: releases[0].n(),
            n_prior: request.private_n.map(|before| before.to_string()),
            prior: request.prior.clone(),
            level: request.level,
            tables: Tables::new(request, findings),
        }
    }
}

impl From<&Account> for Ledger {
    fn from(account: &Account) -> Self {
        Self {
            releases: account.releases,
            private_n: account.private_n,
            spent: account.total.to_string(),
            budget: account.budget.map(|budget| budget.to_string()),
            delta: account.delta.map(Delta::get),
            composed_delta: account.composed,
            kept: account.kept.map(Kept::words),
        }
    }
}

impl<'a> From<&'a Entry> for EntryDocument<'a> {
    fn from(entry: &'a Entry) -> Self {
        let part = |part: &'a Part| PartDocument {
            id: &part.id,
            column: &part.column,
            mechanism: &part.mechanism,
            epsilon: part.epsilon.to_string(),
            released: &part.released,
        };
        Self {
            time: &entry.time,
            column: &entry.column,
            mechanism: &entry.mechanism,
            epsilon: entry.epsilon.to_string(),
            releases: entry.parts.iter().map(part).collect(),
        }
    }
}

impl From<&findings::Accuracy> for Accuracy {
    fn from(findings::Accuracy { errors, loss }: &findings::Accuracy) -> Self {
        let (exact_loss, loss_at_most) = match loss {
            Some(Loss::Exact(loss)) => (Some(*loss), None),
            Some(Loss::AtMost(loss)) => (None, Some(*loss)),
            None => (None, None),
        };
        let expected_error = ExpectedError {
            predictive: errors.predictive,
            estimated: errors.estimated.map(|error| error.mean),
            standard_error: errors.estimated.map(|error| error.standard_error),
            as_released: errors.as_released,
        };
        Self { exact_loss, loss_at_most, expected_error }
    }
}

impl Tables {
    fn new(request: &Request, findings: &Findings) -> Self {
        let rows = |name: &str, rows: &[findings::Row]| -> Vec<Row> {
            rows.iter().map(|row| Row::new(name, row)).collect()
        };
        let (mut categories, mut grouped) = (None, None);
        if request.table.groups() == 1 {
            categories = Some(rows("category", &findings.cells));
        } else {
            let mut cells = rows("cell", &findings.cells);
            for (cell, row) in cells.iter_mut().enumerate() {
                row.locate(request, cell);
            }
            let margin = |Block { title, rows: of }: &Block| Margin {
                columns: title.clone(),
                rows: rows("categories", of),
            };
            let group = |Block { title, rows: of }: &Block| Group {
                group: title.clone(),
                rows: rows("category", of),
            };
            grouped = Some(Grouped {
                cells,
                margins: findings.margins.iter().map(margin).collect(),
                groups: findings.groups.iter().map(group).collect(),
                comparisons: findings.comparisons.iter().map(Comparison::from).collect(),
                averaged: request.averaged().into_iter().map(str::to_owned).collect(),
                uncompared: findings.uncompared.clone(),
            });
        }
        Self {
            categories,
            grouped,
            records: findings.records.as_ref().map(Mean::from),
            joint: findings.joint.map(|joint| Joint::from(joint.as_slice())),
            unaware: findings.unaware.clone(),
            ungrouped: findings.ungrouped.clone(),
        }
    }
}

impl Row {
    fn new(name: &str, row: &findings::Row) -> Self {
        Self {
            names: Map::from_iter([(name.to_owned(), row.name.clone().into())]),
            released: row.released,
            parameter: None,
            share: row.share.map(Mean::from),
            naive_coverage: row.naive_coverage,
        }
    }

    /// Adds the category of a cell in every column.
    fn locate(&mut self, request: &Request, cell: usize) {
        let columns = request.table.attributes().iter().zip(request.table.categories(cell));
        self.names.extend(columns.map(|(column, category)| {
            let name = match OF_ROW.contains(&column.name.as_str()) {
                true => format!("column {}", column.name),
                false => column.name.clone(),
            };
            (name, column.categories[category].clone().into())
        }));
    }
}

impl From<&Estimate> for Mean {
    fn from(Estimate { value, interval }: &Estimate) -> Self {
        Self { mean: *value, low: interval.low, high: interval.high }
    }
}

impl From<&Compared> for Comparison {
    fn from(one: &Compared) -> Self {
        let compares = |Answer { larger, difference, ratio }: &Answer| Compares {
            probability_greater: *larger,
            difference: Mean::from(difference),
            ratio: Median {
                median: ratio.value,
                low: ratio.interval.low,
                high: ratio.interval.high,
            },
        };
        Self {
            category: one.category.clone(),
            group: one.group.clone(),
            other: one.other.clone(),
            answer: one.answer.map(compares),
        }
    }
}

impl From<&[posterior::Joint]> for Joint {
    fn from(joint: &[posterior::Joint]) -> Self {
        let intervals = joint.iter().flat_map(|joint| &joint.intervals);
        Self {
            exact: joint.iter().all(|joint| joint.exact),
            intervals: intervals.map(|one| (one.low, one.high)).collect(),
        }
    }
}
