//! Counts for the top of the page, for JSON and for the terminal.

use std::collections::BTreeMap;
use std::fmt;

use schemars::JsonSchema;
use serde::Serialize;

use super::text::count;
use super::{JudgedClaim, Outcome, PanelReport, PrintCounts, Readings, Report};

/// The counts of a report.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Summary {
    pub figures: usize,
    pub panels: usize,
    /// How many figures were compared with their print.
    pub prints: PrintCounts,
    /// Values read off the printed figures.
    pub readings: usize,
    /// Different ones: documents share figures.
    pub values: usize,
    pub readings_within: usize,
    /// Those of them that are so by the sampling error of the printed run only.
    pub readings_by_sampling: usize,
    /// Readings that do not, for a known reason.
    pub readings_named: usize,
    /// Readings that do not.
    pub readings_beyond: usize,
    /// Numbers that the texts print.
    pub numbers: usize,
    pub numbers_agreeing: usize,
    /// Those of them that agree only if the authors' rounding errors are repeated.
    pub numbers_by_their_rounding: usize,
    pub claims: usize,
    /// How the claims fare under the distance that the text defines.
    pub defined: Standing,
    /// How they fare under the distance that the figures were drawn with.
    pub printed: Standing,
    /// How the single sentences of the claims fare, as defined.
    pub sentences: Standing,
    /// The claims whose verdict is another word under the other distance.
    pub differing: Vec<u32>,
    /// Open questions answered.
    pub questions: usize,
}

/// How the claims fare under one distance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Standing {
    pub hold: usize,
    pub in_part: usize,
    pub fail: usize,
}

impl Standing {
    fn of(outcomes: impl Iterator<Item = Outcome>) -> Self {
        let mut standing = Self::default();
        for outcome in outcomes {
            match outcome {
                Outcome::Holds => standing.hold += 1,
                Outcome::InPart => standing.in_part += 1,
                Outcome::Fails => standing.fail += 1,
            }
        }
        standing
    }
}

impl Summary {
    pub(super) fn of(report: &Report) -> Self {
        let figures = || report.documents.iter().flat_map(|document| &document.figures);
        let panels: Vec<&PanelReport> = figures().flat_map(|figure| &figure.panels).collect();
        let readings: Vec<&Readings> =
            panels.iter().filter_map(|panel| panel.readings.as_ref()).collect();
        let sum = |count: fn(&Readings) -> usize| readings.iter().map(|one| count(one)).sum();
        let values: BTreeMap<&str, usize> =
            readings.iter().map(|one| (one.file.as_str(), one.total)).collect();
        let claims = &report.claims;
        let sentences = claims.iter().flat_map(|one| &one.defined.stated.sentences);
        let is_differing =
            |one: &&JudgedClaim| one.defined.stated.outcome != one.printed.stated.outcome;
        Self {
            figures: figures().count(),
            panels: panels.len(),
            prints: PrintCounts::of(figures()),
            readings: sum(|one| one.total),
            values: values.values().sum(),
            readings_within: sum(|one| one.within),
            readings_by_sampling: sum(|one| one.by_sampling),
            readings_named: sum(|one| one.named_outliers),
            readings_beyond: sum(Readings::beyond),
            numbers: report.numbers.len(),
            numbers_agreeing: report.numbers.iter().filter(|number| number.agrees).count(),
            numbers_by_their_rounding: (report.numbers.iter())
                .filter(|number| number.agrees && number.by_their_rounding)
                .count(),
            claims: claims.len(),
            defined: Standing::of(claims.iter().map(|claim| claim.defined.stated.outcome)),
            printed: Standing::of(claims.iter().map(|claim| claim.printed.stated.outcome)),
            sentences: Standing::of(sentences.map(|sentence| sentence.outcome)),
            differing: claims.iter().filter(is_differing).map(|one| one.claim.number).collect(),
            questions: report.questions.len(),
        }
    }
}

impl fmt::Display for Standing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verb = |count: usize, word: &str| match count {
            1 => format!("1 {word}s"),
            _ => format!("{count} {word}"),
        };
        let [hold, in_part] = [self.hold, self.in_part].map(|count| verb(count, "hold"));
        write!(f, "{hold}, {in_part} in part, {}", verb(self.fail, "fail"))
    }
}

/// Lines for a terminal.
impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.figures > 0 {
            writeln!(f, "figures regenerated  {} ({} panels)", self.figures, self.panels)?;
            let PrintCounts { compared, not_compared, no_print } = self.prints;
            write!(f, "prints compared      {compared} of {}", self.figures)?;
            writeln!(f, " ({not_compared} not compared, {no_print} without a known print)")?;
            let (within, by_sampling) = (self.readings_within, self.readings_by_sampling);
            writeln!(f, "readings compared    {} ({} values)", self.readings, self.values)?;
            writeln!(f, "  by reading error   {} agree", within - by_sampling)?;
            writeln!(f, "  by sampling error  {by_sampling} more agree")?;
            let outliers = count(self.readings_named, "known outlier");
            writeln!(f, "  not                {outliers}, {} beyond", self.readings_beyond)?;
        }
        if self.numbers > 0 {
            write!(f, "numbers reproduced   {} of {}", self.numbers_agreeing, self.numbers)?;
            match self.numbers_by_their_rounding {
                0 => writeln!(f)?,
                some => writeln!(f, " ({some} only with the authors' rounding errors)")?,
            }
        }
        if self.claims > 0 {
            writeln!(f, "claims, as defined   {}", self.defined)?;
            writeln!(f, "…, print distance    {}", self.printed)?;
            writeln!(f, "  by sentence        {}, as defined", self.sentences)?;
        }
        if self.questions > 0 {
            writeln!(f, "open questions       {} answered", self.questions)?;
        }
        Ok(())
    }
}
