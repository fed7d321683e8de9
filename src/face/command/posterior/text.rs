//! A posterior in words and tables, for people.

use std::path::Path;

use super::super::release::text as release;

use engine::text::legible;
use service::release::sentences::{compared_share, probability, three};
use service::release::{
    Block, Compared, Estimate, Evidence, Findings, Interval, JointIntervals, Median, ONE_ROW,
    Question, Row,
};
use system::console::{Grid, short, significant};

/// What was released, and what it tells.
pub fn answer(
    evidence: &Evidence,
    question: &Question,
    findings: &Findings,
    left_out: Option<f64>,
) -> String {
    let times = match evidence.times() {
        1 => String::new(),
        many => format!(" {many} times"),
    };
    let title = legible(&evidence.request().table.title());
    let (records, how) = (records(evidence), evidence.how());
    let how = how.strip_prefix("released").unwrap_or(&how);
    let mut text = format!("  `{title}`, {records}, released{times}{how}\n");
    text += &tables(evidence, question, findings);
    text += &format!("\n  {}\n\n", how_computed(findings.drawn.as_deref()));
    let mut lines = releases(evidence);
    lines.extend(findings.records.map(|Estimate { mean, interval: Interval { low, high } }| {
        let (about, percent) = (short(mean), question.percent());
        ("records", format!("about {about}; with {percent} between {low} and {high}"))
    }));
    lines.extend(
        left_out.map(|part| {
            ("left out", format!("at most {} of the probability", significant(part, 2)))
        }),
    );
    text + &release::list(lines)
}

/// The releases of dpbi and what they have cost together.
fn releases(evidence: &Evidence) -> Vec<(&'static str, String)> {
    let Evidence::Own(releases) = evidence else { return Vec::new() };
    let mut lines = Vec::new();
    for one in releases {
        // Both come from a file that anybody may have written.
        let (id, time) = (legible(&one.id), legible(&one.time));
        let words = format!("{time}, {}, ε = {}", one.mechanism(), one.spent());
        lines.push(("release", format!("{id} ({words})")));
    }
    lines.push(match (&releases[..], evidence.spent()) {
        ([_, _, ..], Some(spent)) => {
            let words = "differentially private together: the sum, if all of them are of the same records, which \
                         nobody can check from outside";
            ("privacy", format!("{spent}-{words}; {ONE_ROW}"))
        }
        _ => ("privacy", releases[0].guarantee()),
    });
    lines
}

/// Who says what a file was released with.
pub fn whose_word(evidence: &Evidence, ledger: Option<&Path>) -> String {
    match (evidence, ledger) {
        (Evidence::Elsewhere(_), _) => {
            "\n  This reads what others have released, and says nothing about how private that was.\n".to_owned()
        }
        (Evidence::Own(_), None) => {
            "\n  ε and the mechanism are as the file says; nobody has checked them.\n".to_owned()
        }
        (Evidence::Own(_), Some(ledger)) => format!(
            "\n  ε and the mechanism are those that the ledger {} has entered.\n",
            legible(&ledger.display().to_string())
        ),
    }
}

/// "100 records".
pub fn records(evidence: &Evidence) -> String {
    match (evidence.n(), evidence) {
        (None, Evidence::Elsewhere(_)) => "an unknown number of records".to_owned(),
        (n, _) => release::records(n),
    }
}

fn tables(evidence: &Evidence, question: &Question, findings: &Findings) -> String {
    let request = evidence.request();
    let percent = question.percent();
    let heading = match (&request.fixed, request.table.groups()) {
        (Some(_), _) => "Share of every outcome in its group, whose size is fixed",
        (None, 1) => "",
        (None, _) => "Share of every cell",
    };
    let drawn = findings.drawn.as_deref();
    let mut text = headed(heading, &shares(&findings.shares, &percent, drawn));
    for Block { title, rows } in &findings.margins {
        text += &headed(&format!("Margin: {}", legible(title)), &shares(rows, &percent, drawn));
    }
    if !findings.groups.is_empty() {
        let heading =
            format!("Share of `{}` in each group", legible(&request.table.outcome().name));
        text += &headed(&heading, &in_groups(&findings.groups, &percent, drawn));
    }
    text += &findings.joint.as_ref().map_or(String::new(), |all| joint(all, findings, &percent));
    text + &comparisons(findings, &percent)
}

/// The table for other programs: the outcome in every group or, without groups, of all records.
pub fn table(findings: &Findings, question: &Question) -> Grid {
    let (percent, drawn) = (question.percent(), findings.drawn.as_deref());
    match findings.groups.is_empty() {
        true => shares(&findings.shares, &percent, drawn),
        false => in_groups(&findings.groups, &percent, drawn),
    }
}

/// What means and intervals are, and why they are computed from draws, if they are.
pub fn how_computed(drawn: Option<&str>) -> String {
    let from_draws = drawn.map_or(String::new(), |cause| {
        format!(" Those with fewer digits are computed from draws: {cause}.")
    });
    format!("Means and intervals account for the noise.{from_draws}")
}

/// Shares with their intervals, and what was released for them. Those that are computed from draws have the digits
/// that hold.
pub fn shares(rows: &[Row], percent: &str, drawn: Option<&str>) -> Grid {
    grid(rows.iter().map(|row| (legible(&row.cell), row)), percent, drawn)
}

/// The outcome in every group.
fn in_groups(groups: &[Block], percent: &str, drawn: Option<&str>) -> Grid {
    let named =
        |group: &Block, row: &Row| format!("{}: {}", legible(&group.title), legible(&row.cell));
    let rows =
        groups.iter().flat_map(|group| group.rows.iter().map(move |row| (named(group, row), row)));
    grid(rows, percent, drawn)
}

fn grid<'a>(
    rows: impl Iterator<Item = (String, &'a Row)>,
    percent: &str,
    drawn: Option<&str>,
) -> Grid {
    let digits = if drawn.is_some() { held } else { short };
    let mut grid = Grid::new(1);
    let mut is_first = true;
    for (name, Row { released, share: Estimate { mean, interval }, .. }) in rows {
        if std::mem::take(&mut is_first) {
            let released = released.map(|_| "released");
            grid.row(["share of"].into_iter().chain(released).chain(["mean", percent]));
        }
        let released = released.map(|released| released.to_string());
        let share = [digits(*mean), range(*interval, digits)];
        grid.row([name].into_iter().chain(released).chain(share));
    }
    grid
}

fn headed(heading: &str, grid: &Grid) -> String {
    match heading {
        "" => format!("\n{}", grid.render()),
        heading => format!("\n  {heading}\n{}", grid.render()),
    }
}

/// A number with four digits, or those that it has, if they are fewer.
fn held(number: f64) -> String {
    let (all, four) = (number.to_string(), short(number));
    if all.len() < four.len() { all } else { four }
}

/// An interval as "0.123 – 0.456".
fn range(Interval { low, high }: Interval, digits: fn(f64) -> String) -> String {
    format!("{} – {}", digits(low), digits(high))
}

/// Intervals that hold for all cells at once.
fn joint(joint: &JointIntervals, findings: &Findings, percent: &str) -> String {
    let mut grid = Grid::new(1);
    for (row, interval) in findings.shares.iter().zip(&joint.intervals) {
        // Draws leave three digits.
        grid.row([legible(&row.cell), range(*interval, |limit| significant(limit, 3))]);
    }
    let heading = format!("All of these at once, with {percent}");
    headed(&heading, &grid) + &by_draws("the probability", joint.standard_error)
}

/// Says that numbers were computed from draws, if they have an error.
fn by_draws(what: &str, error: f64) -> String {
    match error > 0.0 {
        true => format!(
            "  Computed from draws: the standard error of {what} is at most {}.\n",
            significant(error, 1)
        ),
        false => String::new(),
    }
}

fn comparisons(findings: &Findings, percent: &str) -> String {
    let mut text = String::new();
    let mut errors: Vec<f64> = Vec::new();
    for of_category in findings.comparisons.chunk_by(|a, b| a.category == b.category) {
        let mut grid = Grid::new(1);
        // No group is called so.
        grid.row(["1st vs 2nd", "P[larger]", "difference", percent, "ratio", percent]);
        for Compared { group, other, answer, .. } in of_category {
            let answer = answer.rounded();
            let Estimate { mean, interval: of_difference } = answer.difference;
            let Median { median, interval: of_ratio } = answer.ratio;
            errors.extend(
                answer
                    .standard_errors
                    .map(|errors| errors.difference.low.max(errors.difference.high)),
            );
            grid.row([
                format!("{} vs {}", legible(group), legible(other)),
                probability(answer.probability_greater),
                three(mean),
                range(of_difference, three),
                three(median),
                range(of_ratio, three),
            ]);
        }
        let share = compared_share(&of_category[0].category, &findings.averaged);
        text += &headed(&format!("Comparison: {share}"), &grid);
    }
    text + &by_draws("a difference's limit", errors.into_iter().fold(0.0, f64::max))
}
