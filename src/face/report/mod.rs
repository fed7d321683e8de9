//! Pages of HTML. The report: everything that was regenerated, on one page that can be sent to a
//! colleague. The page of figures: those of some results folders, to look through.
//!
//! The models are plain data. [`Report::html`] makes a page of it that needs no network and can be read
//! without its script, and [`Report::document`] a JSON document.

mod claims;
mod contents;
mod drawing;
mod figure_page;
mod figures;
mod first_screen;
mod how_to_read;
mod html;
mod made;
mod numbers;
mod policy;
mod print_findings;
mod print_status;
mod summary;
mod tables;
#[cfg(test)]
mod tests;
mod text;

use schemars::JsonSchema;
use serde::Serialize;

use lab::experiment::digest::Digest;
use lab::experiment::nearest_optimum::NearestOptimum;
use lab::experiment::reading::largest_deviation;

pub use figure_page::{FigureFolder, FigurePage, ShownFigure, is_figure_page};
pub use paper::claims::{Claim, ClaimPart, Outcome, Reading, Sentence, Verdict as ReadingVerdict};
pub use paper::printed_numbers::PrintedNumber;
pub use print_findings::{PrintEvidence, PrintFinding};
pub use print_status::{PrintCounts, PrintStatus};
pub use summary::{Standing, Summary};
pub use table::ReadingRow;

/// All that was regenerated.
#[derive(Clone, Default, Serialize, JsonSchema)]
pub struct Report {
    pub version: String,
    /// When it was made (UTC).
    pub generated: String,
    /// What to type to make it again.
    pub command: String,
    /// Whether only some documents or figures were asked for.
    pub partial: bool,
    /// How long that took.
    pub seconds: f64,
    /// The documents with their figures.
    pub documents: Vec<Document>,
    /// The numbers that the documents' texts print.
    pub numbers: Vec<PrintedNumber>,
    pub claims: Vec<JudgedClaim>,
    /// The questions that the documents leave open.
    pub questions: Vec<FigureReport>,
    /// What the printed figures teach about how they were made.
    pub print_findings: Vec<PrintFinding>,
}

/// A document with its figures.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Document {
    /// Its short name (`icml`).
    pub id: String,
    pub title: String,
    /// Its figures and tables, in its order.
    pub figures: Vec<FigureReport>,
}

/// A figure (or table) of a document, regenerated.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct FigureReport {
    /// Its name in the document (`fig2`).
    pub id: String,
    /// Its results folder (`icml-fig2`); also its anchor on the page, hence unique.
    pub name: String,
    pub title: String,
    /// Where it is printed ("Figure 2, §7.1.1").
    pub source: String,
    /// What came out, in sentences: the answers to an open question.
    pub answers: Vec<String>,
    pub print_status: PrintStatus,
    /// The mechanism that comes nearest to the optimum, where that was computed.
    pub nearest_optimum: Option<NearestOptimum>,
    /// What came out over all panels.
    pub tables: Vec<Digest>,
    /// What is assumed, what differs.
    pub notes: Vec<String>,
    /// What to type to make it again.
    pub command: String,
    /// How long that took.
    pub seconds: f64,
    /// Its panels. One as printed stands beside the one as defined that has the same id.
    pub panels: Vec<PanelReport>,
    /// The files in its results folder.
    pub files: Vec<String>,
}

impl FigureReport {
    /// What the document calls it: "Figure 2".
    pub fn label(&self) -> &str {
        let place = self.source.split_once(", ").map_or(self.source.as_str(), |(_, place)| place);
        place.split(", §").next().and_then(|place| place.split(';').next()).unwrap_or(place)
    }
}

/// One panel of a figure: as defined, or as printed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct PanelReport {
    /// Its name in the figure.
    pub id: String,
    pub title: String,
    /// Whether it is drawn as printed: readings of the print exist, or it uses the print distance.
    pub printed: bool,
    /// Whether it uses the print distance.
    pub print_distance: bool,
    /// Whether it answers a question of our own: no document defines or prints it.
    pub own: bool,
    pub drawings: Vec<Drawing>,
    pub tables: Vec<Digest>,
    /// How it compares with what was read off the printed figure.
    pub readings: Option<Readings>,
}

/// A drawing. JSON only names it: the drawings lie beside it as files.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Drawing {
    /// The name of its file, without the ending.
    pub name: String,
    /// Its name on the page.
    #[serde(skip)]
    pub id: String,
    /// A description in words.
    pub alt: String,
    #[serde(skip)]
    pub svg: String,
}

/// Values read off a printed figure, against the computed ones.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Readings {
    /// The table of readings.
    pub file: String,
    pub total: usize,
    pub within: usize,
    /// How many of those within are so by the sampling error of the printed run only: they deviate by more
    /// than three errors of reading.
    pub by_sampling: usize,
    /// How many do not, for a known reason that their notes give.
    pub named_outliers: usize,
    /// The largest deviation and where it is ("2.4e-4 (LSDim at 0.0343, vertex)"), in standard errors
    /// if the readings are of samples.
    pub largest: String,
    /// What it means to agree.
    pub criterion: String,
    pub rows: Vec<ReadingRow>,
}

impl Readings {
    /// Counts `rows`, which must not be empty.
    pub fn new(criterion: &str, rows: Vec<ReadingRow>) -> Self {
        let by_sampling = |row: &&ReadingRow| {
            row.within && row.z.is_some() && row.deviation.abs() > 3.0 * row.error
        };
        let with = |agreement| rows.iter().filter(|row| Agreement::of(row) == agreement).count();
        Self {
            file: String::new(),
            total: rows.len(),
            within: with(Agreement::Within),
            by_sampling: rows.iter().filter(by_sampling).count(),
            named_outliers: with(Agreement::Named),
            largest: largest_deviation(&rows).unwrap_or_default(),
            criterion: criterion.to_owned(),
            rows,
        }
    }

    /// How many disagree for no known reason.
    pub fn beyond(&self) -> usize {
        self.total.saturating_sub(self.within + self.named_outliers)
    }
}

/// A named outlier deviates by at most this many standard errors.
const MOST_NAMED: f64 = 6.0;

/// Whether a reading agrees with the computed value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Agreement {
    /// It does.
    Within,
    /// It does not, for a reason that is known and named.
    Named,
    /// It does not.
    Beyond,
}

impl Agreement {
    /// The agreement of a reading.
    pub fn of(row: &ReadingRow) -> Self {
        // A note explains no deviation beyond that.
        let far = row.z.is_some_and(|z| z.abs() > MOST_NAMED);
        match (row.within, row.note.is_empty() || far) {
            (true, _) => Self::Within,
            (false, false) => Self::Named,
            (false, true) => Self::Beyond,
        }
    }

    pub fn label(self) -> &'static str {
        match self {
            Self::Within => "within",
            Self::Named => "beyond (named)",
            Self::Beyond => "beyond",
        }
    }
}

/// A claim of a document, checked under both distances.
#[derive(Clone, Serialize, JsonSchema)]
pub struct JudgedClaim {
    #[serde(flatten)]
    pub claim: &'static Claim,
    /// Under the distance that the text defines.
    pub defined: Verdict,
    /// Under the distance that the figures were drawn with.
    pub printed: Verdict,
}

/// The verdict on a claim under one distance.
#[derive(Clone, Serialize, JsonSchema)]
pub struct Verdict {
    /// On its words, taken literally.
    #[serde(flatten)]
    pub stated: ReadingVerdict,
    /// On what the authors meant, if that is not what they wrote.
    pub as_meant: Option<ReadingVerdict>,
    pub evidence: Vec<ClaimPart>,
    /// What else came out.
    pub remarks: Vec<String>,
    /// What to type to check it again.
    pub command: String,
}

impl Verdict {
    /// The outcome as meant, if it is another one than as stated.
    pub fn meant_otherwise(&self) -> Option<Outcome> {
        let meant = self.as_meant.as_ref().map(|verdict| verdict.outcome);
        meant.filter(|meant| *meant != self.stated.outcome)
    }
}

/// A report for machines, with its summary; drawings are only named.
#[derive(Serialize, JsonSchema)]
pub struct ReportDocument<'a> {
    summary: Summary,
    #[serde(flatten)]
    report: &'a Report,
}

/// Whether a page is a report of ours.
pub fn is_report(page: &[u8]) -> bool {
    html::is_page(page)
}

impl Report {
    /// The page: one file, which needs no network and can be read without its script.
    pub fn html(&self) -> String {
        html::page(self).into_string()
    }

    /// The same for machines, with the summary; drawings are only named.
    pub fn document(&self) -> ReportDocument<'_> {
        ReportDocument { summary: self.summary(), report: self }
    }

    pub fn summary(&self) -> Summary {
        Summary::of(self)
    }
}
