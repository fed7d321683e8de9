//! The result of testing a claim.

use schemars::JsonSchema;
use serde::Serialize;

use super::verdict::Verdict;

/// The reading of a claim to which a part belongs. A document's words and settings may differ from
/// what its authors evidently intended: what they prove, the exponent they use, the setting of
/// their figure. Then both are judged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub enum Reading {
    /// Every reading.
    #[default]
    #[serde(rename = "both")]
    Both,
    /// The words and settings of the document, taken literally.
    #[serde(rename = "as stated")]
    Stated,
    /// What the authors evidently intended.
    #[serde(rename = "as meant")]
    Meant,
    /// No reading: the document does not say it. It is tested for the reader, and no verdict depends
    /// on it.
    #[serde(rename = "apart")]
    Apart,
}

impl Reading {
    /// "as meant"; nothing if the part belongs to every reading.
    pub fn label(self) -> Option<&'static str> {
        match self {
            Self::Both => None,
            Self::Stated => Some("as stated"),
            Self::Meant => Some("as meant"),
            Self::Apart => Some("apart"),
        }
    }
}

/// One case in which a clause of a claim was tested.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ClaimPart {
    /// The assertion that is tested, as a short sentence: "MH beats the baseline"; empty if the claim
    /// has only one.
    pub clause: String,
    /// The case: "k = 2, n = 600"; empty if there is only one.
    pub when: String,
    /// Whether the clause is true there.
    pub holds: bool,
    /// The reading to which the part belongs.
    pub reading: Reading,
    /// The numbers that decide it, each with its name; the most telling first.
    pub numbers: Vec<(String, f64)>,
}

impl ClaimPart {
    /// A clause, a case, whether it holds, and the numbers that decide it; in every reading.
    pub fn new<S: Into<String>>(
        clause: impl Into<String>,
        when: impl Into<String>,
        holds: bool,
        numbers: impl IntoIterator<Item = (S, f64)>,
    ) -> Self {
        let numbers = numbers.into_iter().map(|(name, value)| (name.into(), value)).collect();
        let reading = Reading::Both;
        Self { clause: clause.into(), when: when.into(), holds, reading, numbers }
    }

    /// The same part in one reading only.
    pub(super) fn read(self, reading: Reading) -> Self {
        Self { reading, ..self }
    }

    /// Clause and case: "MH beats the baseline, k = 2, n = 600".
    pub fn name(&self) -> String {
        let words = [self.clause.as_str(), self.when.as_str()];
        let words: Vec<&str> = words.into_iter().filter(|word| !word.is_empty()).collect();
        words.join(", ")
    }

    pub(super) fn belongs_to(&self, reading: Reading) -> bool {
        self.reading == Reading::Both || self.reading == reading
    }
}

/// All cases of a claim under one distance.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Finding {
    pub parts: Vec<ClaimPart>,
    /// Further computed facts for the reader.
    pub remarks: Vec<String>,
}

impl Finding {
    /// The verdict on the document's words, taken literally.
    pub fn as_stated(&self) -> Verdict {
        self.verdict(Reading::Stated)
    }

    /// The verdict on what the authors meant, if that is something else.
    pub fn as_meant(&self) -> Option<Verdict> {
        let differs = |part: &ClaimPart| [Reading::Stated, Reading::Meant].contains(&part.reading);
        self.parts.iter().any(differs).then(|| self.verdict(Reading::Meant))
    }

    fn verdict(&self, reading: Reading) -> Verdict {
        Verdict::of(self.parts.iter().filter(|part| part.belongs_to(reading)))
    }
}

impl FromIterator<ClaimPart> for Finding {
    fn from_iter<I: IntoIterator<Item = ClaimPart>>(parts: I) -> Self {
        Self { parts: parts.into_iter().collect(), remarks: Vec::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Outcome;
    use super::*;

    fn part(clause: &str, when: &str, holds: bool) -> ClaimPart {
        ClaimPart::new(clause, when, holds, [("mean", 0.5)])
    }

    #[test]
    fn each_reading_has_its_own_parts() {
        let both = part("A", "k = 2", true);
        let stated = part("B", "δ = 0.1", false).read(Reading::Stated);
        let meant = part("B", "δ = 0.2", true).read(Reading::Meant);
        let finding: Finding = [both.clone(), stated, meant].into_iter().collect();
        assert_eq!(finding.as_stated().outcome, Outcome::Fails);
        assert_eq!(finding.as_meant().map(|verdict| verdict.outcome), Some(Outcome::Holds));
        let one_reading: Finding = [both].into_iter().collect();
        assert_eq!(one_reading.as_stated().outcome, Outcome::Holds);
        assert_eq!(one_reading.as_meant(), None);
    }

    #[test]
    fn no_verdict_depends_on_a_part_that_stands_apart() {
        let apart = part("B", "", false).read(Reading::Apart);
        let finding: Finding = [part("A", "", true), apart.clone()].into_iter().collect();
        assert_eq!(finding.as_stated().outcome, Outcome::Holds);
        assert_eq!(finding.as_meant(), None);
        let only: Finding = [apart].into_iter().collect();
        assert_eq!(only.as_stated().outcome, Outcome::Fails, "nothing was tested");
    }

    #[test]
    fn names_of_parts() {
        assert_eq!(part("A", "k = 2", true).name(), "A, k = 2");
        assert_eq!(part("A", "", true).name(), "A");
        assert_eq!(part("", "k = 2", true).name(), "k = 2");
    }
}
