//! The result of testing a claim.

use serde::Serialize;

/// One case in which a clause of a claim was tested.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClaimPart {
    /// The assertion that is tested: "MH beats the baseline"; empty if the claim has only one.
    pub clause: String,
    /// The case: "k = 2, n = 600"; empty if there is only one.
    pub when: String,
    /// Whether the clause is true there.
    pub holds: bool,
    /// Whether the verdict depends on it. It depends only on the fairest reading of a clause; other
    /// readings are tested for information.
    pub counts: bool,
    /// The numbers that decide it, each with its name.
    pub numbers: Vec<(String, f64)>,
}

impl ClaimPart {
    /// A clause, a case, whether it holds, and the numbers that decide it.
    pub fn new<S: Into<String>>(
        clause: impl Into<String>,
        when: impl Into<String>,
        holds: bool,
        numbers: impl IntoIterator<Item = (S, f64)>,
    ) -> Self {
        let numbers = numbers.into_iter().map(|(name, value)| (name.into(), value)).collect();
        Self { clause: clause.into(), when: when.into(), holds, counts: true, numbers }
    }

    /// The same part, as a reading on which the verdict does not depend.
    pub(super) fn read_otherwise(self) -> Self {
        Self { counts: false, ..self }
    }

    /// Clause and case: "MH beats the baseline, k = 2, n = 600".
    pub fn name(&self) -> String {
        let words = [self.clause.as_str(), self.when.as_str()];
        let words: Vec<&str> = words.into_iter().filter(|word| !word.is_empty()).collect();
        words.join(", ")
    }
}

/// The verdict on a claim under one distance.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub enum Outcome {
    /// Every clause is true in every case.
    Holds,
    /// Every clause is true in some case: in these.
    HoldsWhen(String),
    /// Some clause is true in no case, so that the claim is false: which one, and which are true.
    Fails(String),
}

/// All cases of a claim under one distance.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Finding {
    /// The cases.
    pub parts: Vec<ClaimPart>,
    /// Further computed facts for the reader.
    pub remarks: Vec<String>,
}

impl Finding {
    /// A claim is the conjunction of its clauses: it holds if all of them are true in all cases, and
    /// fails if one of them is true in none.
    pub fn outcome(&self) -> Outcome {
        let clauses = self.clauses();
        if clauses.is_empty() {
            return Outcome::Fails("nothing was tried".into());
        }
        let (broken, standing): (Vec<&Clause>, Vec<&Clause>) =
            clauses.iter().partition(|clause| clause.is_never_true());
        let (always, sometimes): (Vec<&Clause>, Vec<&Clause>) =
            standing.into_iter().partition(|clause| clause.is_always_true());
        match (broken.is_empty(), sometimes.is_empty()) {
            (true, true) => Outcome::Holds,
            (true, false) => {
                let rest = (!always.is_empty()).then(|| "the rest always".to_owned());
                let told = sometimes.iter().map(|clause| clause.conditions());
                Outcome::HoldsWhen(told.chain(rest).collect::<Vec<_>>().join("; "))
            }
            (false, _) => {
                let names: Vec<String> = always.iter().map(|clause| clause.quoted()).collect();
                let verb = if names.len() == 1 { "holds" } else { "hold" };
                let rest = (!names.is_empty()).then(|| format!("{} {verb}", names.join(", ")));
                let told = broken.iter().map(|clause| clause.denial());
                let told = told.chain(rest);
                let told = told.chain(sometimes.iter().map(|clause| clause.restriction()));
                Outcome::Fails(told.collect::<Vec<_>>().join("; "))
            }
        }
    }

    /// The clauses on which the verdict depends, in the order in which they come.
    fn clauses(&self) -> Vec<Clause<'_>> {
        let mut clauses: Vec<Clause> = Vec::new();
        for part in self.parts.iter().filter(|part| part.counts) {
            match clauses.iter_mut().find(|clause| clause.name == part.clause) {
                Some(clause) => clause.parts.push(part),
                None => clauses.push(Clause { name: &part.clause, parts: vec![part] }),
            }
        }
        clauses
    }
}

/// All cases of one clause.
struct Clause<'a> {
    name: &'a str,
    parts: Vec<&'a ClaimPart>,
}

impl Clause<'_> {
    fn is_always_true(&self) -> bool {
        self.parts.iter().all(|part| part.holds)
    }

    fn is_never_true(&self) -> bool {
        self.parts.iter().all(|part| !part.holds)
    }

    /// "n = 100 or n = 200".
    fn cases(&self) -> String {
        let cases = self.parts.iter().filter(|part| part.holds).map(|part| part.when.as_str());
        cases.collect::<Vec<_>>().join(" or ")
    }

    fn quoted(&self) -> String {
        if self.name.is_empty() { "it".to_owned() } else { format!("“{}”", self.name) }
    }

    fn conditions(&self) -> String {
        let cases = self.cases();
        if self.name.is_empty() { cases } else { format!("{}: {cases}", self.name) }
    }

    fn restriction(&self) -> String {
        format!("{} holds when {}", self.quoted(), self.cases())
    }

    fn denial(&self) -> String {
        let name = self.quoted();
        match self.parts[..] {
            [only] if only.when.is_empty() => format!("{name} is false"),
            [only] => format!("{name} is false, {}", only.when),
            _ => format!("{name} is false in every case"),
        }
    }
}

impl FromIterator<ClaimPart> for Finding {
    fn from_iter<I: IntoIterator<Item = ClaimPart>>(parts: I) -> Self {
        Self { parts: parts.into_iter().collect(), remarks: Vec::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(clause: &str, when: &str, holds: bool) -> ClaimPart {
        ClaimPart::new(clause, when, holds, [("mean", 0.5)])
    }

    fn outcome(parts: &[(&str, &str, bool)]) -> Outcome {
        let parts = parts.iter().map(|(clause, when, holds)| part(clause, when, *holds));
        parts.collect::<Finding>().outcome()
    }

    #[test]
    fn a_claim_of_one_clause() {
        assert_eq!(outcome(&[("", "k = 2", true), ("", "k = 3", true)]), Outcome::Holds);
        let never = outcome(&[("", "k = 2", false), ("", "k = 3", false)]);
        assert_eq!(never, Outcome::Fails("it is false in every case".into()));
        let some = outcome(&[("", "k = 2", true), ("", "k = 3", false), ("", "k = 4", true)]);
        assert_eq!(some, Outcome::HoldsWhen("k = 2 or k = 4".into()));
        let nothing = Finding::default().outcome();
        assert_eq!(nothing, Outcome::Fails("nothing was tried".into()));
    }

    #[test]
    fn a_conjunction_fails_with_any_of_its_clauses() {
        let one = outcome(&[("A", "k = 2", false), ("B", "k = 2", true), ("A", "k = 3", false)]);
        assert_eq!(one, Outcome::Fails("“A” is false in every case; “B” holds".into()));
        let some = outcome(&[("A", "", false), ("B", "k = 2", true), ("B", "k = 3", false)]);
        assert_eq!(some, Outcome::Fails("“A” is false; “B” holds when k = 2".into()));
        let all = outcome(&[("A", "k = 2", false), ("B", "", false)]);
        assert_eq!(all, Outcome::Fails("“A” is false, k = 2; “B” is false".into()));
    }

    #[test]
    fn a_conjunction_holds_when_each_of_its_clauses_does() {
        assert_eq!(outcome(&[("A", "", true), ("B", "", true)]), Outcome::Holds);
        // Each clause is true somewhere, though never both in the same case.
        let apart = outcome(&[
            ("A", "k = 2", true),
            ("A", "k = 3", false),
            ("B", "k = 2", false),
            ("B", "k = 3", true),
        ]);
        assert_eq!(apart, Outcome::HoldsWhen("A: k = 2; B: k = 3".into()));
        let one = outcome(&[("A", "k = 2", true), ("A", "k = 3", false), ("B", "", true)]);
        assert_eq!(one, Outcome::HoldsWhen("A: k = 2; the rest always".into()));
    }

    #[test]
    fn another_reading_does_not_count() {
        let parts = [part("A", "as proved", true), part("A", "as stated", false).read_otherwise()];
        let finding: Finding = parts.into_iter().collect();
        assert_eq!(finding.outcome(), Outcome::Holds);
        let only: Finding = [part("A", "as stated", true).read_otherwise()].into_iter().collect();
        assert_ne!(only.outcome(), Outcome::Holds, "nothing that counts was tried");
    }

    #[test]
    fn names_of_parts() {
        assert_eq!(part("A", "k = 2", true).name(), "A, k = 2");
        assert_eq!(part("A", "", true).name(), "A");
        assert_eq!(part("", "k = 2", true).name(), "k = 2");
    }
}
