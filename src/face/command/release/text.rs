//! A release in words and tables, for people.

use std::path::Path;

use engine::posterior::privacy::compact;
use engine::text::legible;
use service::release::sentences::{compared_share, comparison, probability, sentences, three};
use service::release::{
    Account, Accuracy, Amount, Block, Both, Errors, Estimate, Estimated, Findings, Interval, Joint,
    Loss, Released, Request, Row,
};
use system::console::{Grid, short};

/// At most this many parameters are printed on a line.
const MOST_PARAMETERS: usize = 12;

/// A release and what it tells.
pub fn release(release: &Released, findings: &Findings, ledger: Option<&str>) -> String {
    let request = &release.request;
    let mut text = format!(
        "  {}, {}, released by {}\n  ({})\n",
        what(request),
        records(release.n()),
        release.mechanism(),
        legible(&release.reason),
    );
    text += &tables(request, findings);
    text += &explanation(request, findings);
    let mut lines = vec![("naive posterior", posterior(release)), ("privacy", release.guarantee())];
    lines.extend(records_line(request, findings));
    lines.extend(accuracy_lines(release, findings));
    lines.extend(ledger.map(|words| ("ledger", words.to_owned())));
    text.push('\n');
    text += &list(lines);
    text + &format!("\n  To be published:\n  {}\n", paragraph(release, findings))
}

/// What is shown: the naive answers only if they are asked for, or if there are no others.
pub fn shown_findings(findings: &Findings, naive: bool) -> Findings {
    let findings = findings.clone();
    if naive { findings } else { findings.without_naive() }
}

/// What was done and found, for a publication.
pub fn paragraph(release: &Released, findings: &Findings) -> String {
    sentences(release, findings).join(" ")
}

/// Several releases together, and what they tell.
pub fn combination(releases: &[&Released], findings: &Findings) -> String {
    let request = &releases[0].request;
    let mut text = format!(
        "  {}, {}, {} releases together\n",
        what(request),
        records(releases[0].n()),
        releases.len(),
    );
    text += &tables(request, findings);
    if let Some(reason) = &findings.unaware {
        text += &format!("\n  The posterior is not computed: {reason}.\n");
    }
    let mut lines = Vec::new();
    for release in releases {
        // Both come from a file that anybody may have written.
        let (id, time) = (legible(&release.id), legible(&release.time));
        let words = format!("{time}, {}, ε = {}", release.mechanism(), release.spent());
        lines.push(("release", format!("{id} ({words})")));
    }
    let spent: Amount = releases.iter().map(|release| release.spent()).sum();
    lines.push(("privacy", format!("{spent}-differentially private together: the sum")));
    text.push('\n');
    text + &list(lines)
        + "\n  This holds if all of them are releases of the same records: nobody can check that from \
           outside.\n"
}

/// Who says what a file was released with.
pub fn whose_word(ledger: Option<&Path>) -> String {
    match ledger {
        None => {
            "\n  ε and the mechanism are as the file says; nobody has checked them.\n".to_owned()
        }
        Some(ledger) => format!(
            "\n  ε and the mechanism are those that the ledger {} has entered.\n",
            legible(&ledger.display().to_string())
        ),
    }
}

/// The state of the ledger in words.
pub fn ledger(account: Option<&Account>) -> String {
    match account {
        Some(account) => account.words(),
        None => "none: nobody counts what is spent (--ledger FILE does)".to_owned(),
    }
}

/// What is true of every release.
pub fn footer(private_n: bool) -> String {
    match private_n {
        false => {
            "\n  Errors are Hellinger distances from the true posterior, between 0 and 1. The true counts are not \
             shown, here or anywhere; the number of records is public.\n"
        }
        true => {
            "\n  Neither the true counts nor their sum are shown, here or anywhere. Do not publish the number of \
             records elsewhere: it would not be private any more.\n"
        }
    }
    .to_owned()
}

/// Names and words, side by side.
pub fn list(lines: Vec<(&str, String)>) -> String {
    let mut grid = Grid::new(usize::MAX);
    lines.into_iter().for_each(|(name, words)| grid.row([name.to_owned(), words]));
    grid.render()
}

/// "100 records".
pub fn records(n: Option<u64>) -> String {
    match n {
        None => "a private number of records".to_owned(),
        Some(1) => "1 record".to_owned(),
        Some(n) => format!("{n} records"),
    }
}

/// What is known of a number of records that is not public, if so.
pub fn records_line(request: &Request, findings: &Findings) -> Option<(&'static str, String)> {
    let (Estimate { value, interval }, before) = findings.records.zip(request.private_n)?;
    let (percent, Interval { low, high }) = (100.0 * request.level, interval);
    let about = short(value);
    Some((
        "records",
        format!("about {about}; with {percent} % between {low} and {high} (before: {before})"),
    ))
}

/// What is released: its columns.
pub fn what(request: &Request) -> String {
    format!("`{}`", legible(&request.table.title()))
}

pub fn tables(request: &Request, findings: &Findings) -> String {
    let percent = format!("{} %", 100.0 * request.level);
    let mut text = String::new();
    let grouped = request.table.groups() > 1;
    let fixed = request.fixed.is_some();
    let heading = match (fixed, grouped) {
        (true, _) => "Share of every outcome in its group, whose size is fixed",
        (false, true) => "Share of every cell",
        (false, false) => "",
    };
    text += &block(heading, &findings.cells, &percent, !grouped);
    for margin in &findings.margins {
        text +=
            &block(&format!("Margin: {}", legible(&margin.title)), &margin.rows, &percent, false);
    }
    if !findings.groups.is_empty() {
        text += &groups(&request.table.outcome().name, &findings.groups, &percent);
    }
    if let Some(reason) = &findings.ungrouped {
        text += &format!("  Within the groups nothing is noise-aware: {reason}.\n");
    }
    text += &joint(request, findings);
    text + &comparisons(request, findings, &percent)
}

fn block(heading: &str, rows: &[Row], percent: &str, covers: bool) -> String {
    headed(heading, &shares(rows, percent, covers))
}

fn shares(rows: &[Row], percent: &str, covers: bool) -> Grid {
    let mut grid = Grid::new(1);
    head(&mut grid, rows, percent, covers);
    rows.iter().for_each(|row| grid.row(line(legible(&row.name), row, covers)));
    grid
}

/// The table for other programs: the outcome in every group or, without groups, of all records.
pub fn table(request: &Request, findings: &Findings) -> Grid {
    let percent = format!("{} %", 100.0 * request.level);
    match findings.groups.is_empty() {
        true => shares(&findings.cells, &percent, false),
        false => in_groups(&findings.groups, &percent),
    }
}

fn headed(heading: &str, grid: &Grid) -> String {
    match heading {
        "" => format!("\n{}", grid.render()),
        heading => format!("\n  {heading}\n{}", grid.render()),
    }
}

/// The outcome in every group.
fn groups(outcome: &str, groups: &[Block], percent: &str) -> String {
    let heading = format!("Share of `{}` in each group", legible(outcome));
    headed(&heading, &in_groups(groups, percent))
}

fn in_groups(groups: &[Block], percent: &str) -> Grid {
    let mut grid = Grid::new(1);
    head(&mut grid, &groups[0].rows, percent, false);
    for group in groups {
        for row in &group.rows {
            grid.row(line(
                format!("{}: {}", legible(&group.title), legible(&row.name)),
                row,
                false,
            ));
        }
    }
    grid
}

fn head(grid: &mut Grid, rows: &[Row], percent: &str, covers: bool) {
    let Some(row) = rows.first() else { return };
    let mut head = vec!["share of".to_owned()];
    if row.released.is_some() {
        head.push("released".to_owned());
    }
    if row.share.naive.is_some() {
        head.extend(["naive".to_owned(), format!("naive {percent}")]);
    }
    match (&row.share.aware, &row.share.naive) {
        (Some(_), Some(_)) => head.extend(["aware".to_owned(), format!("aware {percent}")]),
        // There is nothing to tell it from.
        (Some(_), None) => head.extend(["mean".to_owned(), percent.to_owned()]),
        (None, _) => {}
    }
    if covers && row.naive_coverage.is_some() {
        head.push("covers".to_owned());
    }
    grid.row(head);
}

fn line(name: String, row: &Row, covers: bool) -> Vec<String> {
    let mut cells = vec![name];
    cells.extend(row.released.map(|released| released.to_string()));
    for estimate in [&row.share.naive, &row.share.aware].into_iter().flatten() {
        cells.extend(shown(estimate));
    }
    cells.extend(
        row.naive_coverage.filter(|_| covers).map(|coverage| format!("{:.1} %", 100.0 * coverage)),
    );
    cells
}

/// A value, and an interval as "0.123 – 0.456".
fn shown(estimate: &Estimate) -> [String; 2] {
    [short(estimate.value), range(estimate.interval)]
}

pub fn range(Interval { low, high }: Interval) -> String {
    format!("{} – {}", short(low), short(high))
}

/// Intervals that hold for all cells at once. Of two cells, each one tells the other.
fn joint(request: &Request, findings: &Findings) -> String {
    let Some(joint) = findings.joint.best() else { return String::new() };
    if findings.cells.len() < 3 {
        return String::new();
    }
    let percent = format!("{} %", 100.0 * request.level);
    let exactly = if joint.iter().all(|joint| joint.exact) { "" } else { "at least " };
    let mut grid = Grid::new(1);
    let which = match findings.joint {
        Both { aware: Some(_), naive: Some(_) } => "aware",
        Both { aware: Some(_), naive: None } => "",
        Both { aware: None, .. } => "naive",
    };
    if !which.is_empty() {
        grid.row(["".to_owned(), which.to_owned()]);
    }
    let intervals = joint.iter().flat_map(|joint: &Joint| &joint.intervals);
    for (row, interval) in findings.cells.iter().zip(intervals) {
        grid.row([legible(&row.name), range(*interval)]);
    }
    headed(&format!("All of these at once, with {exactly}{percent}"), &grid)
}

fn comparisons(request: &Request, findings: &Findings, percent: &str) -> String {
    let compared = &findings.comparisons;
    let mut text = String::new();
    let mut categories: Vec<&str> = Vec::new();
    for one in compared {
        if !categories.contains(&one.category.as_str()) {
            categories.push(&one.category);
        }
    }
    for category in categories {
        let of_category = compared.iter().filter(|one| one.category == category);
        // No group is called so.
        let mut names = vec!["1st vs 2nd", "P[larger]", "difference", percent, "ratio", percent];
        // Only where both are shown they have to be told apart.
        let has_both =
            of_category.clone().any(|one| one.answer.naive.is_some() && one.answer.aware.is_some());
        if has_both {
            names.insert(1, "");
        }
        let mut grid = Grid::new(1 + usize::from(has_both));
        grid.row(names);
        for one in of_category.clone() {
            let pair = format!("{} vs {}", legible(&one.group), legible(&one.other));
            let rows = [("naive", &one.answer.naive), ("aware", &one.answer.aware)];
            let rows = rows.into_iter().filter_map(|(name, answer)| Some((name, answer.as_ref()?)));
            for (place, (name, answer)) in rows.enumerate() {
                let pair = if place == 0 { pair.clone() } else { String::new() };
                let mut cells = vec![pair];
                cells.extend(has_both.then(|| name.to_owned()));
                cells.push(probability(answer.larger));
                for Estimate { value, interval } in [&answer.difference, &answer.ratio] {
                    cells.push(three(*value));
                    cells.push(format!("{} – {}", three(interval.low), three(interval.high)));
                }
                grid.row(cells);
            }
        }
        text += &headed(&format!("Comparison: {}", compared_share(category, request)), &grid);
        for words in of_category.filter_map(|one| comparison(one, request)) {
            text += &format!("  {words}\n");
        }
    }
    if let Some(reason) = &findings.uncompared {
        text += &format!("  The noise-aware comparison is not computed: {reason}.\n");
    }
    text
}

fn explanation(request: &Request, findings: &Findings) -> String {
    match &findings.unaware {
        Some(reason) => format!(
            "\n  These intervals ignore the noise and are too narrow. The noise-aware posterior is not \
             computed: {reason}.\n"
        ),
        None if findings.cells.iter().all(|row| row.share.naive.is_none()) => {
            "\n  Means and intervals account for the noise (--naive also shows those that ignore it).\n"
                .to_owned()
        }
        None => {
            let covers = match request.table.groups() {
                1 => " covers: the probability of the naive interval under the aware posterior.",
                _ => "",
            };
            format!(
                "\n  naive: treats the released counts as the true ones. aware: knows the noise.{covers}\n"
            )
        }
    }
}

fn posterior(release: &Released) -> String {
    let parameters: Vec<String> = release.parameters().iter().map(compact).collect();
    let name = if parameters.len() == 2 { "Beta" } else { "Dirichlet" };
    match (&release.request.fixed, parameters.len()) {
        (Some(_), _) => "one for each group (--json lists their parameters)".to_owned(),
        (None, 0..=MOST_PARAMETERS) => format!("{name}({})", parameters.join(", ")),
        (None, many) => format!("{name} with {many} parameters (--json lists them)"),
    }
}

fn accuracy_lines(release: &Released, findings: &Findings) -> Vec<(&'static str, String)> {
    let mut lines = Vec::new();
    let all = findings.accuracy.iter().zip(release.methods()).enumerate();
    for (place, (Accuracy { errors, loss }, method)) in all {
        let group = match &release.request.fixed {
            None => String::new(),
            Some(_) => format!("{}: ", legible(&release.request.table.group_name(place))),
        };
        let n = records(Some(method.template().posterior.n()));
        let over = |loss: &f64| format!("{group}{} over all data sets of {n}", short(*loss));
        match loss {
            Some(Loss::Exact(loss)) => lines.push(("exact loss", over(loss))),
            Some(Loss::AtMost(loss)) => lines.push(("loss", format!("at most {}", over(loss)))),
            None => {}
        }
        let words = error_words(errors).into_iter();
        lines.extend(words.map(|words| ("expected error", format!("{group}{words}"))));
    }
    let total: u64 = release.counts.iter().sum();
    if let Some(n) = release.n().filter(|n| *n != total) {
        lines.push(("total", format!("{total} of {n}: noise may leave it so")));
    }
    lines
}

/// The errors that are known, in words.
pub fn error_words(errors: &Errors) -> Vec<String> {
    let over = "averaged over the prior predictive distribution";
    let estimated = errors.estimated.map(|Estimated { mean, standard_error }| {
        let (mean, error) = (short(mean), short(standard_error));
        format!("{mean} (estimated, standard error {error}) {over}")
    });
    let exact = errors.predictive.map(|error| format!("{} {over}", short(error)));
    let as_released =
        errors.as_released.map(|error| format!("{} if the data are as released", short(error)));
    let words: Vec<String> = [exact, estimated, as_released].into_iter().flatten().collect();
    if words.is_empty() { vec!["not computed: it takes long".to_owned()] } else { words }
}
