//! The documents of releases: the file of a release, and what `dpbi posterior --json` prints.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::evidence::{Elsewhere, Evidence};
use super::findings::Findings;
use super::ledger::{Entry, Part};
use super::question::Question;
use super::sentences::{Told, sentences};
use super::{Attribute, Released};
use engine::posterior::model::Counts;

/// The version of the formats. A change that older programs would misread makes a new one.
pub const VERSION: u64 = 1;

/// What the file of a release calls itself, and what a posterior does.
pub const RELEASE: &str = "dpbi release";
const POSTERIOR: &str = "dpbi posterior";

/// A release as a file. Everything in it is public, and nothing in it is computed from what was released:
/// `dpbi posterior` does that.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct ReleaseFile {
    #[schemars(extend("const" = RELEASE))]
    pub format: String,
    #[schemars(extend("const" = VERSION))]
    pub version: u64,
    /// What tells it from all other releases.
    pub id: String,
    /// When it was made, in UTC.
    pub time: String,
    /// The version of dpbi that made it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dpbi: Option<String>,
    /// The columns of the table; the last one is the outcome. Cells are in order of the first column, then
    /// of the second, and so on.
    pub columns: Vec<Attribute>,
    /// Sizes of the groups, if each is released on its own.
    pub fixed_groups: Option<Vec<u64>>,
    /// The number of records; none if it is private.
    pub n: Option<u64>,
    /// The prior's parameter of every cell.
    pub prior: Vec<f64>,
    pub mechanism: String,
    /// The ε that was asked for and spent, a decimal number.
    pub epsilon: String,
    pub guarantee: String,
    /// The released count of every cell.
    pub released: Counts,
}

/// What released counts tell.
#[derive(Serialize, JsonSchema)]
pub struct PosteriorDocument {
    #[schemars(extend("const" = POSTERIOR))]
    format: &'static str,
    #[schemars(extend("const" = VERSION))]
    version: u64,
    /// How the counts were released, once or several times.
    releases: Vec<Source>,
    /// Their ε together, if they are of dpbi: a decimal number.
    spent: Option<String>,
    /// Whether a ledger has all of them.
    checked_by_ledger: bool,
    columns: Vec<Attribute>,
    /// Sizes of the groups, if each is released on its own.
    fixed_groups: Option<Vec<u64>>,
    /// The number of records, if it is public.
    n: Option<u64>,
    /// The prior's parameter of every cell.
    prior: Vec<f64>,
    /// The probability of credible intervals.
    level: f64,
    /// A bound on the probability of what was left out, where every count has noise of its own.
    left_out: Option<f64>,
    #[serde(flatten)]
    findings: Findings,
    /// What was done and found, in sentences that can be published.
    sentences: Vec<String>,
}

/// One release of the counts.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
enum Source {
    Own {
        id: String,
        time: String,
        mechanism: String,
        epsilon: String,
        guarantee: String,
        released: Counts,
    },
    Elsewhere {
        released: Vec<f64>,
        noise: String,
        /// Whether numbers were rounded to whole ones, and whether those below 0 were replaced by 0.
        rounded: bool,
        clamped: bool,
    },
}

impl From<&Released> for ReleaseFile {
    fn from(release: &Released) -> Self {
        let request = &release.request;
        Self {
            format: RELEASE.to_owned(),
            version: VERSION,
            id: release.id.clone(),
            time: release.time.clone(),
            dpbi: release.dpbi.clone(),
            columns: request.table.attributes().to_vec(),
            fixed_groups: request.fixed.clone(),
            n: release.n(),
            prior: request.prior.clone(),
            mechanism: release.mechanism().to_owned(),
            epsilon: request.epsilon.to_string(),
            guarantee: release.guarantee(),
            released: release.counts.clone(),
        }
    }
}

impl PosteriorDocument {
    /// What was found; `checked_by_ledger` if a ledger has all releases.
    pub fn new(
        evidence: &Evidence,
        question: &Question,
        findings: Findings,
        left_out: Option<f64>,
        (checked_by_ledger, told): (bool, Told),
    ) -> Self {
        let request = evidence.request();
        Self {
            format: POSTERIOR,
            version: VERSION,
            releases: sources(evidence),
            spent: evidence.spent().map(|spent| spent.to_string()),
            checked_by_ledger,
            columns: request.table.attributes().to_vec(),
            fixed_groups: request.fixed.clone(),
            n: evidence.n(),
            prior: request.prior.clone(),
            level: question.level,
            left_out,
            sentences: sentences(evidence, question, &findings, told),
            findings,
        }
    }
}

fn sources(evidence: &Evidence) -> Vec<Source> {
    match evidence {
        Evidence::Own(releases) => releases.iter().map(Source::from).collect(),
        Evidence::Elsewhere(elsewhere) => {
            let Elsewhere { values, noises, .. } = &**elsewhere;
            let one = |(values, noise): (&Vec<f64>, &super::PublishedNoise)| Source::Elsewhere {
                released: values.clone(),
                noise: noise.words().to_owned(),
                rounded: noise.is_rounded(),
                clamped: noise.is_clamped(),
            };
            values.iter().zip(noises).map(one).collect()
        }
    }
}

impl From<&Released> for Source {
    fn from(release: &Released) -> Self {
        Self::Own {
            id: release.id.clone(),
            time: release.time.clone(),
            mechanism: release.mechanism().to_owned(),
            epsilon: release.spent().to_string(),
            guarantee: release.guarantee(),
            released: release.counts.clone(),
        }
    }
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
