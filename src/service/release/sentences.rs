//! A release in sentences that can be published: what was done, and what was found.

use super::findings::{Answer, Block, Compared, Estimate, Findings, Row};
use super::posterior::Interval;
use super::released::Released;
use super::request::Request;
use engine::numeric::significant;
use engine::posterior::privacy::compact;
use engine::text::legible;

/// At most this many shares are told.
const MOST_SHARES: usize = 8;

/// At most this many comparisons are told.
const MOST_COMPARISONS: usize = 6;

/// The sentences: how the counts were released, how shares were estimated, the shares, and the comparisons.
pub fn sentences(release: &Released, findings: &Findings) -> Vec<String> {
    let mut all = vec![method(release), estimation(release, findings)];
    all.extend(records(release, findings));
    all.extend(shares(release, findings));
    all.extend(
        findings
            .comparisons
            .iter()
            .take(MOST_COMPARISONS)
            .filter_map(|one| comparison(one, &release.request)),
    );
    all
}

fn percent(request: &Request) -> String {
    format!("{} %", 100.0 * request.level)
}

fn method(release: &Released) -> String {
    let table = &release.request.table;
    let by: Vec<String> =
        table.by().iter().map(|one| format!("`{}`", legible(&one.name))).collect();
    let by = if by.is_empty() { String::new() } else { format!(" by {}", by.join(" and ")) };
    let (n, neighbours) = match release.n() {
        Some(n) => (format!(" (n = {n} in total)"), "in the category of one record"),
        None => (
            String::new(),
            "by one record more or less, so that the number of records is protected as well",
        ),
    };
    let version =
        release.dpbi.as_deref().map_or(String::new(), |version| format!(" {}", legible(version)));
    format!(
        "Counts of `{}`{by}{n} were released once, with random noise, under differential privacy (ε = {}; \
         neighbouring data sets differ {neighbours}), by the mechanism `{}` of dpbi{version}.",
        legible(&table.outcome().name),
        release.spent(),
        legible(release.mechanism()),
    )
}

fn estimation(release: &Released, findings: &Findings) -> String {
    let prior = &release.request.prior;
    let parameters = match prior.iter().all(|alpha| *alpha == prior[0]) {
        true => format!("parameter {} in every cell", compact(&prior[0])),
        false => {
            let all: Vec<String> = prior.iter().map(compact).collect();
            format!("parameters {}", all.join(", "))
        }
    };
    let noise = match findings.unaware {
        None => "account for both sampling variation and the noise",
        Some(_) => {
            "account for sampling variation but not for the noise, and are therefore too narrow"
        }
    };
    format!(
        "Shares are posterior means under a Dirichlet prior ({parameters}), with equal-tailed {} credible intervals \
         that {noise}.",
        percent(&release.request)
    )
}

/// The number of records, if it is private.
fn records(release: &Released, findings: &Findings) -> Option<String> {
    let Estimate { value, interval } = findings.records?;
    let Interval { low, high } = interval;
    Some(format!(
        "The number of records is estimated as {} ({} credible interval {low} to {high}).",
        value.round(),
        percent(&release.request)
    ))
}

/// The share of the outcome in every group. Of two categories the second is told: each tells the other.
fn shares(release: &Released, findings: &Findings) -> Option<String> {
    let table = &release.request.table;
    let outcomes = table.outcomes();
    let is_told = |place: usize| match release.request.compared.as_slice() {
        [] => outcomes > 2 || place == 1,
        compared => compared.contains(&place),
    };
    let told = |(place, row): (usize, &Row)| {
        let Estimate { value, interval } = *row.share.best()?;
        let Interval { low, high } = interval;
        let name = legible(&row.name);
        is_told(place % outcomes)
            .then(|| (name, format!("{} ({} to {})", three(value), three(low), three(high))))
    };
    let rows = |rows: &[Row]| -> Vec<(String, String)> {
        rows.iter().enumerate().filter_map(told).collect()
    };
    let all: Vec<String> = match findings.groups.is_empty() {
        true => {
            let one = |(name, share)| format!("the share of `{name}` is {share}");
            rows(&findings.cells).into_iter().map(one).collect()
        }
        false => {
            let group = |Block { title, rows: of }: &Block| {
                let title = legible(title);
                let one = move |(name, share)| {
                    format!("within `{title}` the share of `{name}` is {share}")
                };
                rows(of).into_iter().map(one).collect::<Vec<_>>()
            };
            findings.groups.iter().flat_map(group).collect()
        }
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

/// The share that is compared: of all records of a group, or the mean of several.
pub fn compared_share(category: &str, request: &Request) -> String {
    let category = legible(category);
    let columns: Vec<String> =
        request.averaged().iter().map(|name| format!("`{}`", legible(name))).collect();
    let each = match &columns[..] {
        [] => return format!("the share of `{category}`"),
        [column] => format!("every {column}"),
        columns => format!("every combination of {}", columns.join(" and ")),
    };
    format!("the mean of the shares of `{category}` in {each}, all with the same weight")
}

/// A comparison, about the group whose share is probably the larger one.
pub fn comparison(one: &Compared, request: &Request) -> Option<String> {
    let (answer, group, other) = one.likelier()?;
    let Answer { larger, difference, .. } = answer;
    let (group, other) = (legible(group), legible(other));
    let (what, shares) = match request.averaged().is_empty() {
        true => (format!("`{}` is more frequent", legible(&one.category)), "shares"),
        false => {
            let share = capitalised(&compared_share(&one.category, request));
            (format!("{share}, is larger"), "means")
        }
    };
    Some(format!(
        "{what} in `{group}` than in `{other}` with posterior probability {}; the difference of the {shares} \
         (`{group}` minus `{other}`, before rounding) is {} ({} credible interval {} to {}).",
        probability(larger),
        three(difference.value),
        percent(request),
        three(difference.interval.low),
        three(difference.interval.high),
    ))
}

impl Compared {
    /// The best answer, turned so that the first share is probably the larger one, and both groups in this order.
    pub fn likelier(&self) -> Option<(Answer, &str, &str)> {
        let best = self.answer.best()?;
        Some(match best.larger < 0.5 {
            false => (*best, &self.group, &self.other),
            true => (best.turned(), &self.other, &self.group),
        })
    }
}

impl Answer {
    /// The same comparison the other way round.
    pub fn turned(&self) -> Self {
        let turn = |one: &Estimate, by: fn(f64) -> f64| Estimate {
            value: by(one.value),
            interval: Interval { low: by(one.interval.high), high: by(one.interval.low) },
        };
        Self {
            larger: 1.0 - self.larger,
            difference: turn(&self.difference, |x| -x),
            ratio: turn(&self.ratio, |x| 1.0 / x),
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
