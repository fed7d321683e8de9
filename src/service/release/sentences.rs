//! What was done and found, in sentences that can be published.

use super::evidence::Evidence;
use super::findings::{Answer, Block, Compared, Estimate, Findings, Row};
use super::posterior::{Interval, MOST_PRIVATE_RECORDS};
use super::question::Question;
use super::released::Released;
use super::request::Request;
use engine::numeric::significant;
use engine::posterior::privacy::compact;
use engine::text::legible;

/// At most this many shares are told.
const MOST_SHARES: usize = 8;

/// At most this many comparisons are told, unless all of them are asked for.
const MOST_COMPARISONS: usize = 6;

/// Which comparisons are told.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Told {
    First,
    All,
}

/// The sentences: how the counts were released, how shares were estimated, the shares, and the comparisons.
pub fn sentences(
    evidence: &Evidence,
    question: &Question,
    findings: &Findings,
    told: Told,
) -> Vec<String> {
    let request = evidence.request();
    let most = match told {
        Told::First => MOST_COMPARISONS,
        Told::All => usize::MAX,
    };
    let compared = findings.comparisons.iter().take(most);
    let mut all = vec![method(evidence), estimation(request, question)];
    all.extend(records(question, findings));
    all.extend(shares(request, question, findings));
    all.extend(compared.map(|one| comparison(one, question, &findings.averaged)));
    all
}

/// What was counted, how often and how.
fn method(evidence: &Evidence) -> String {
    let table = &evidence.request().table;
    let by: Vec<String> =
        table.by().iter().map(|one| format!("`{}`", legible(&one.name))).collect();
    let by = if by.is_empty() { String::new() } else { format!(" by {}", by.join(" and ")) };
    let n = evidence.n().map_or(String::new(), |n| format!(" (n = {n} in total)"));
    let times = match evidence.times() {
        1 => "once".to_owned(),
        many => format!("{many} times"),
    };
    let how = match evidence {
        Evidence::Own(releases) => mechanisms(releases),
        Evidence::Elsewhere(elsewhere) => {
            format!(", with noise on every count: {}", elsewhere.noise())
        }
    };
    format!("Counts of `{}`{by}{n} were released {times}{how}.", legible(&table.outcome().name))
}

/// The guarantee and the mechanisms of releases of dpbi.
fn mechanisms(releases: &[Released]) -> String {
    let neighbours = match releases[0].n() {
        Some(_) => "in the category of one record",
        None => "by one record more or less, so that the number of records is protected as well",
    };
    let each: Vec<String> = releases.iter().map(|one| one.spent().to_string()).collect();
    let spent = match &each[..] {
        [one] => one.clone(),
        each => {
            let sum: super::Amount = releases.iter().map(Released::spent).sum();
            format!("{} = {sum}", each.join(" + "))
        }
    };
    let mut names: Vec<String> =
        releases.iter().map(|one| format!("`{}`", legible(one.mechanism()))).collect();
    names.dedup();
    let mut versions: Vec<&str> = releases.iter().filter_map(|one| one.dpbi.as_deref()).collect();
    versions.dedup();
    let versions: Vec<String> =
        versions.into_iter().map(|one| format!(" {}", legible(one))).collect();
    format!(
        ", with random noise, under differential privacy (ε = {spent}; neighbouring data sets differ \
         {neighbours}), by the mechanism{} {} of dpbi{}",
        if names.len() == 1 { "" } else { "s" },
        names.join(" and "),
        versions.join(" and"),
    )
}

fn estimation(request: &Request, question: &Question) -> String {
    let prior = &request.prior;
    let parameters = match prior.iter().all(|alpha| *alpha == prior[0]) {
        true => format!("parameter {} in every cell", compact(&prior[0])),
        false => {
            let all: Vec<String> = prior.iter().map(compact).collect();
            format!("parameters {}", all.join(", "))
        }
    };
    format!(
        "Shares are posterior means under a Dirichlet prior ({parameters}), with equal-tailed {} credible intervals \
         that account for both sampling variation and the noise.",
        question.percent()
    )
}

/// The number of records, if it is not known.
fn records(question: &Question, findings: &Findings) -> Option<String> {
    let Estimate { mean, interval: Interval { low, high } } = findings.records?;
    Some(format!(
        "The number of records is estimated as {} ({} credible interval {low} to {high}; before the release, all numbers \
         up to {MOST_PRIVATE_RECORDS} were equally likely).",
        mean.round(),
        question.percent()
    ))
}

/// The share of the outcome in every group. Of two categories the second is told: each tells the other.
fn shares(request: &Request, question: &Question, findings: &Findings) -> Option<String> {
    let outcomes = request.table.outcomes();
    let is_told = |place: usize| match question.compared.as_slice() {
        [] => outcomes > 2 || place == 1,
        compared => compared.contains(&place),
    };
    let told = |rows: &[Row], place_words: &str| -> Vec<String> {
        let rows = rows.iter().enumerate().filter(|(place, _)| is_told(place % outcomes));
        rows.map(|(_, Row { cell, share: Estimate { mean, interval }, .. })| {
            let [mean, low, high] = [*mean, interval.low, interval.high].map(three);
            format!("{place_words}the share of `{}` is {mean} ({low} to {high})", legible(cell))
        })
        .collect()
    };
    let group =
        |Block { title, rows }: &Block| told(rows, &format!("within `{}` ", legible(title)));
    let all: Vec<String> = match findings.groups.is_empty() {
        true => told(&findings.shares, ""),
        false => findings.groups.iter().flat_map(group).collect(),
    };
    let is_few = !all.is_empty() && all.len() <= MOST_SHARES;
    is_few.then(|| capitalised(&all.join(", ")) + ".")
}

/// With a capital letter at the beginning.
fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters
        .next()
        .map_or(String::new(), |first| first.to_uppercase().collect::<String>() + letters.as_str())
}

/// The share that is compared: of all records of a group or, if shares are averaged over columns, the mean of several.
pub fn compared_share(category: &str, averaged: &[String]) -> String {
    let category = legible(category);
    let columns: Vec<String> = averaged.iter().map(|name| format!("`{}`", legible(name))).collect();
    let each = match &columns[..] {
        [] => return format!("the share of `{category}`"),
        [column] => format!("every {column}"),
        columns => format!("every combination of {}", columns.join(" and ")),
    };
    format!("the mean of the shares of `{category}` in {each}, all with the same weight")
}

/// A comparison, about the group whose share is probably the larger one.
fn comparison(one: &Compared, question: &Question, averaged: &[String]) -> String {
    let (probability_greater, difference, group, other) = one.likelier();
    let (group, other) = (legible(group), legible(other));
    let (what, shares) = match averaged.is_empty() {
        true => (format!("`{}` is more frequent", legible(&one.category)), "shares"),
        false => {
            let share = capitalised(&compared_share(&one.category, averaged));
            (format!("{share}, is larger"), "means")
        }
    };
    format!(
        "{what} in `{group}` than in `{other}` with posterior probability {}; the difference of the {shares} \
         (`{group}` minus `{other}`, before rounding) is {} ({} credible interval {} to {}).",
        probability(probability_greater),
        three(difference.mean),
        question.percent(),
        three(difference.interval.low),
        three(difference.interval.high),
    )
}

impl Compared {
    /// The probability that one share is larger, the difference of both, and their groups, the one whose share is
    /// probably larger first.
    fn likelier(&self) -> (f64, Estimate, &str, &str) {
        let Answer { probability_greater, difference, .. } = self.answer.rounded();
        let Estimate { mean, interval: Interval { low, high } } = difference;
        match probability_greater < 0.5 {
            false => (probability_greater, difference, &self.group, &self.other),
            true => {
                let turned =
                    Estimate { mean: -mean, interval: Interval { low: -high, high: -low } };
                (1.0 - probability_greater, turned, &self.other, &self.group)
            }
        }
    }
}

/// Three digits: more of a comparison would not be believed. A minus is a minus.
pub fn three(value: f64) -> String {
    let sign = if value < 0.0 { "−" } else { "" };
    format!("{sign}{}", significant(value.abs(), 3))
}

/// A probability in per cent. Only what is certain is called 0 or 100 %.
pub fn probability(p: f64) -> String {
    match 100.0 * p {
        percent if percent > 0.0 && percent < 0.05 => "below 0.1 %".to_owned(),
        percent if (99.95..100.0).contains(&percent) => "above 99.9 %".to_owned(),
        percent => format!("{percent:.1} %"),
    }
}
