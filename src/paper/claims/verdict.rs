//! The verdict on a claim under one distance and in one reading, in words.

use schemars::JsonSchema;
use serde::Serialize;

use super::ClaimPart;

/// Whether a claim holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub enum Outcome {
    /// Every clause is true in every case.
    #[serde(rename = "holds")]
    Holds,
    /// Every clause is true in some case, but some clause is not true in all.
    #[serde(rename = "holds when")]
    InPart,
    /// Some clause is true in no case.
    #[default]
    #[serde(rename = "fails")]
    Fails,
}

impl Outcome {
    pub fn label(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::InPart => "holds in part",
            Self::Fails => "fails",
        }
    }
}

/// Whether a claim holds, and why.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Verdict {
    pub outcome: Outcome,
    /// The reason in one line of at most [`ONE_LINE`] characters, for a table.
    pub why: String,
    /// The reason in full sentences: which clauses are true, and in which cases.
    pub reason: String,
    /// The claim's sentences, each judged alone.
    pub sentences: Vec<Sentence>,
}

/// One of the sentences that a claim bundles.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Sentence {
    /// Empty if the claim has only one.
    pub words: String,
    pub outcome: Outcome,
    /// In which cases it is true.
    pub reason: String,
}

/// A line of a table of verdicts is not longer.
pub const ONE_LINE: usize = 100;

impl Verdict {
    /// A claim is the conjunction of its clauses: it holds if all of them are true in all cases, and
    /// fails if one of them is true in none.
    pub(super) fn of<'a>(parts: impl Iterator<Item = &'a ClaimPart>) -> Self {
        let clauses = clauses(parts);
        let (broken, standing): (Vec<&Clause>, Vec<&Clause>) =
            clauses.iter().partition(|clause| clause.is_never_true());
        let (always, sometimes): (Vec<&Clause>, Vec<&Clause>) =
            standing.into_iter().partition(|clause| clause.is_always_true());
        let outcome = match (clauses.is_empty(), broken.is_empty(), sometimes.is_empty()) {
            (false, true, true) => Outcome::Holds,
            (false, true, false) => Outcome::InPart,
            _ => Outcome::Fails,
        };
        let why = match outcome {
            _ if clauses.is_empty() => "Nothing was tested.".to_owned(),
            Outcome::Holds => all_true(&clauses),
            Outcome::InPart => in_one_line("True in part only", &sometimes),
            Outcome::Fails => in_one_line("False", &broken),
        };
        let reason = match outcome {
            _ if clauses.is_empty() || outcome == Outcome::Holds => why.clone(),
            _ => {
                let told = broken.iter().map(|clause| clause.denial());
                let told = told.chain(sometimes.iter().map(|clause| clause.restriction()));
                told.chain(rest(&always)).collect::<Vec<_>>().join(" ")
            }
        };
        Self { outcome, why, reason, sentences: clauses.iter().map(Clause::sentence).collect() }
    }
}

/// The clauses in the order in which they come.
fn clauses<'a>(parts: impl Iterator<Item = &'a ClaimPart>) -> Vec<Clause<'a>> {
    let mut clauses: Vec<Clause> = Vec::new();
    for part in parts {
        match clauses.iter_mut().find(|clause| clause.name == part.clause) {
            Some(clause) => clause.parts.push(part),
            None => clauses.push(Clause { name: &part.clause, parts: vec![part] }),
        }
    }
    clauses
}

/// "True in all 21 cases."
fn all_true(clauses: &[Clause]) -> String {
    match clauses.iter().map(|clause| clause.parts.len()).sum() {
        1 => "True.".to_owned(),
        cases => format!("True {}.", in_all(cases)),
    }
}

/// "in all 21 cases", "in both cases"
fn in_all(cases: usize) -> String {
    match cases {
        2 => "in both cases".to_owned(),
        cases => format!("in all {cases} cases"),
    }
}

/// "False: LSDim and LSHist have similar errors." As many clauses as fit into a line.
fn in_one_line(start: &str, clauses: &[&Clause]) -> String {
    if let [only] = clauses {
        let told = only.lines(start).into_iter().find(|line| line.chars().count() <= ONE_LINE);
        if let Some(told) = told {
            return told;
        }
    }
    let line = |shown: usize| {
        let mut names: Vec<String> = clauses[..shown].iter().map(|clause| clause.title()).collect();
        let more = clauses.len() - shown;
        names.extend((more > 0).then(|| format!("{more} more")));
        format!("{start}: {}.", names.join("; "))
    };
    let fits = |shown: &usize| line(*shown).chars().count() <= ONE_LINE;
    line((1..=clauses.len()).rev().find(fits).unwrap_or(0))
}

/// "True: A; B."
fn rest(always: &[&Clause]) -> Option<String> {
    let names: Vec<String> = always.iter().map(|clause| clause.title()).collect();
    (!names.is_empty()).then(|| format!("True: {}.", names.join("; ")))
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

    fn title(&self) -> String {
        if self.name.is_empty() { "the claim".to_owned() } else { format!("“{}”", self.name) }
    }

    fn sentence(&self) -> Sentence {
        let cases = in_all(self.parts.len());
        let (outcome, reason) = match (self.is_always_true(), self.is_never_true(), &self.parts[..])
        {
            (true, _, [only]) => (Outcome::Holds, only.when.clone()),
            (true, ..) => (Outcome::Holds, cases),
            (_, true, [only]) => (Outcome::Fails, only.when.clone()),
            (_, true, _) => (Outcome::Fails, cases),
            _ => {
                let (yes, no) = (self.cases(true), self.cases(false));
                (Outcome::InPart, format!("true for {yes}; false for {no}"))
            }
        };
        Sentence { words: self.name.to_owned(), outcome, reason }
    }

    /// "n = 100; n = 200": the cases with this answer.
    fn cases(&self, holds: bool) -> String {
        let cases = self.parts.iter().filter(|part| part.holds == holds);
        cases.map(|part| part.when.as_str()).collect::<Vec<_>>().join("; ")
    }

    /// What may be said about the only clause that is not always true, the longest line first.
    fn lines(&self, start: &str) -> Vec<String> {
        let (yes, no) = (self.cases(true), self.cases(false));
        match (self.name, self.is_never_true()) {
            ("", true) => vec![format!("{start} {}.", in_all(self.parts.len()))],
            ("", false) => {
                let (all, false_ones) =
                    (self.parts.len(), self.parts.iter().filter(|one| !one.holds));
                let (count, example) =
                    (false_ones.clone().count(), false_ones.map(|one| &one.when).next());
                let example = example.map_or("", String::as_str);
                vec![
                    format!("True for {yes}; false for {no}."),
                    format!("False for {no}."),
                    format!("False in {count} of {all} cases, such as {example}."),
                ]
            }
            (_, true) => vec![format!("{start}: {}.", self.title())],
            (_, false) => {
                let name = self.title();
                vec![format!("{name}: only for {yes}."), format!("{name}: not for {no}.")]
            }
        }
    }

    /// "In part: A (true for k = 2; false for k = 3)."
    fn restriction(&self) -> String {
        let (yes, no) = (self.cases(true), self.cases(false));
        match self.name {
            "" => format!("True for {yes}. False for {no}."),
            _ => format!("In part: {} (true for {yes}; false for {no}).", self.title()),
        }
    }

    /// "False: A." with the case, or with the number of cases.
    fn denial(&self) -> String {
        let name = self.title();
        match self.parts[..] {
            [only] if only.when.is_empty() => format!("False: {name}."),
            [only] => format!("False: {name} ({}).", only.when),
            _ => format!("False {}: {name}.", in_all(self.parts.len())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(parts: &[(&str, &str, bool)]) -> Verdict {
        let part = |(clause, when, holds): &(&str, &str, bool)| {
            ClaimPart::new(*clause, *when, *holds, [("mean", 0.5)])
        };
        let parts: Vec<ClaimPart> = parts.iter().map(part).collect();
        Verdict::of(parts.iter())
    }

    fn told(parts: &[(&str, &str, bool)]) -> (Outcome, String, String) {
        let Verdict { outcome, why, reason, .. } = verdict(parts);
        (outcome, why, reason)
    }

    fn expected(outcome: Outcome, why: &str, reason: &str) -> (Outcome, String, String) {
        (outcome, why.to_owned(), reason.to_owned())
    }

    #[test]
    fn a_claim_of_one_clause() {
        let all = told(&[("", "k = 2", true), ("", "k = 3", true)]);
        assert_eq!(all, expected(Outcome::Holds, "True in both cases.", "True in both cases."));
        let never = told(&[("", "k = 2", false), ("", "k = 3", false)]);
        let reason = "False in both cases: the claim.";
        assert_eq!(never, expected(Outcome::Fails, "False in both cases.", reason));
        let some = told(&[("", "k = 2", true), ("", "k = 3", false), ("", "k = 4", true)]);
        let why = "True for k = 2; k = 4; false for k = 3.";
        let reason = "True for k = 2; k = 4. False for k = 3.";
        assert_eq!(some, expected(Outcome::InPart, why, reason));
        assert_eq!(verdict(&[]).outcome, Outcome::Fails, "nothing was tested");
    }

    #[test]
    fn a_conjunction_fails_with_any_of_its_clauses() {
        let one = told(&[("A", "k = 2", false), ("B", "k = 2", true), ("A", "k = 3", false)]);
        assert_eq!(
            one,
            expected(Outcome::Fails, "False: “A”.", "False in both cases: “A”. True: “B”.")
        );
        let some = told(&[("A", "", false), ("B", "k = 2", true), ("B", "k = 3", false)]);
        let reason = "False: “A”. In part: “B” (true for k = 2; false for k = 3).";
        assert_eq!(some, expected(Outcome::Fails, "False: “A”.", reason));
        let all = told(&[("A", "k = 2", false), ("B", "", false)]);
        assert_eq!(
            all,
            expected(Outcome::Fails, "False: “A”; “B”.", "False: “A” (k = 2). False: “B”.")
        );
    }

    #[test]
    fn a_conjunction_holds_in_part_if_each_of_its_clauses_does_somewhere() {
        assert_eq!(verdict(&[("A", "", true), ("B", "", true)]).outcome, Outcome::Holds);
        // Each clause is true somewhere, though never both in the same case.
        let apart = verdict(&[
            ("A", "k = 2", true),
            ("A", "k = 3", false),
            ("B", "k = 2", false),
            ("B", "k = 3", true),
        ]);
        assert_eq!((apart.outcome, &*apart.why), (Outcome::InPart, "True in part only: “A”; “B”."));
        let one = told(&[("A", "k = 2", true), ("A", "k = 3", false), ("B", "", true)]);
        let reason = "In part: “A” (true for k = 2; false for k = 3). True: “B”.";
        assert_eq!(one, expected(Outcome::InPart, "“A”: only for k = 2.", reason));
    }

    #[test]
    fn each_sentence_is_judged_alone() {
        let all = verdict(&[
            ("A", "k = 2", false),
            ("A", "k = 3", false),
            ("B", "k = 2", true),
            ("C", "k = 2", true),
            ("C", "k = 3", false),
        ]);
        let told: Vec<(&str, Outcome, &str)> =
            all.sentences.iter().map(|one| (&*one.words, one.outcome, &*one.reason)).collect();
        let expected = [
            ("A", Outcome::Fails, "in both cases"),
            ("B", Outcome::Holds, "k = 2"),
            ("C", Outcome::InPart, "true for k = 2; false for k = 3"),
        ];
        assert_eq!(told, expected);
    }

    #[test]
    fn a_table_has_room_for_the_reason() {
        let long = "a clause of about forty characters, no less";
        let names: Vec<String> = (1..=4).map(|i| format!("{long} {i}")).collect();
        let parts: Vec<_> = names.iter().map(|name| (name.as_str(), "", false)).collect();
        let why = verdict(&parts).why;
        assert_eq!(why, format!("False: “{long} 1”; 3 more."));
        assert!(why.chars().count() <= ONE_LINE);
    }
}
