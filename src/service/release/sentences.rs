//! What was done and found, in sentences that can be published.

use super::evidence::Evidence;
use super::findings::{Answer, Block, Compared, Estimate, Findings, Row};
use super::posterior::{Interval, MOST_PRIVATE_RECORDS};
use super::question::Question;
use super::released::{ONE_ROW, Released};
use super::request::Request;
use engine::numeric::significant;
use engine::posterior::privacy::compact;
use engine::text::legible;
use lab::experiment::digest::capitalised;

/// More shares than this are not told, unless all of them are asked for.
const MOST_SHARES: usize = 8;

/// At most this many comparisons are told, unless all of them are asked for.
const MOST_COMPARISONS: usize = 6;

/// What is told of many shares and comparisons.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Told {
    First,
    All,
}

/// The sentences: how the counts were released, how shares were estimated, the shares, the comparisons, and how much
/// of these is left out.
pub fn sentences(
    evidence: &Evidence,
    question: &Question,
    findings: &Findings,
    told: Told,
) -> Vec<String> {
    let request = evidence.request();
    let (most_shares, most) = match told {
        Told::First => (MOST_SHARES, MOST_COMPARISONS),
        Told::All => (usize::MAX, usize::MAX),
    };
    let mut all = vec![method(evidence)];
    if let Evidence::Own(_) = evidence {
        all.push(capitalised(ONE_ROW) + ".");
    }
    all.push(estimation(request, question));
    all.extend(records(question, findings));
    let shares = shares(request, question, findings);
    let mut left_out = Vec::new();
    match shares.len() {
        0 => {}
        few if few <= most_shares => all.push(capitalised(&shares.join(", ")) + "."),
        many => left_out.push(format!("{many} shares")),
    }
    let compared = &findings.comparisons;
    all.extend(compared.iter().take(most).map(|one| comparison(one, question, &findings.averaged)));
    if let Some(rest @ 1..) = compared.len().checked_sub(most) {
        left_out.push(format!("{rest} of {} comparisons", compared.len()));
    }
    if !left_out.is_empty() {
        let what = left_out.join(" and ");
        all.push(format!("Not told here: {what}, which are in the tables of `dpbi posterior`."));
    }
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
fn shares(request: &Request, question: &Question, findings: &Findings) -> Vec<String> {
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
    match findings.groups.is_empty() {
        true => told(&findings.shares, ""),
        false => findings.groups.iter().flat_map(group).collect(),
    }
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

/// A comparison. It names the group whose share is larger only if the interval of the difference says so.
fn comparison(one: &Compared, question: &Question, averaged: &[String]) -> String {
    let (probability_greater, difference, group, other) = one.larger_first();
    let Estimate { mean, interval: Interval { low, high } } = difference;
    let (group, other) = (legible(group), legible(other));
    let (what, shares) = match averaged.is_empty() {
        true => (format!("`{}` is more frequent", legible(&one.category)), "shares"),
        false => (format!("{}, is larger", compared_share(&one.category, averaged)), "means"),
    };
    let chance = probability(probability_greater);
    let is_established = low > 0.0;
    let (finding, remark) = match is_established {
        true => {
            let what = capitalised(&what);
            (
                format!(
                    "{what} in `{group}` than in `{other}` with posterior probability {chance}"
                ),
                "",
            )
        }
        false => (
            format!(
                "Whether {what} in `{group}` or in `{other}` is not established (posterior probability that it is \
                 in `{group}`: {chance})"
            ),
            ", which contains 0",
        ),
    };
    let [mean, low, high] = [mean, low, high].map(three);
    format!(
        "{finding}; the difference of the {shares} (`{group}` minus `{other}`, before rounding) is {mean} ({} credible \
         interval {low} to {high}{remark}).",
        question.percent(),
    )
}

impl Compared {
    /// The probability that one share is larger, the difference of both, and their groups: turned round if the
    /// interval lies below 0.
    fn larger_first(&self) -> (f64, Estimate, &str, &str) {
        let Answer { probability_greater, difference, .. } = self.answer.rounded();
        let Estimate { mean, interval: Interval { low, high } } = difference;
        match high < 0.0 {
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

/// A probability in per cent, as every probability is printed. None is called 0 or 100 %: no data make it certain.
pub fn probability(p: f64) -> String {
    match 100.0 * p {
        percent if percent < 0.05 => "below 0.1 %".to_owned(),
        percent if percent >= 99.95 => "above 99.9 %".to_owned(),
        percent => format!("{percent:.1} %"),
    }
}

#[cfg(test)]
mod tests {
    use super::probability;

    #[test]
    fn no_probability_is_called_certain() {
        for (p, shown) in [
            (0.0, "below 0.1 %"),
            (0.000_49, "below 0.1 %"),
            (0.0006, "0.1 %"),
            (0.5, "50.0 %"),
            (0.9994, "99.9 %"),
            (0.9996, "above 99.9 %"),
            (1.0, "above 99.9 %"),
        ] {
            assert_eq!(probability(p), shown, "{p}");
        }
    }
}
