//! Tables in short, for people: what a terminal and the report show of a panel.

use schemars::JsonSchema;
use serde::Serialize;

use crate::experiment::{Experiment, Naming, Panel};
use table::{Tables, distinct};

/// A small table of formatted cells.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Digest {
    pub caption: String,
    /// The header; the first column names the rows.
    pub columns: Vec<String>,
    pub rows: Vec<Vec<String>>,
}

/// What a panel found out, in short, with mechanisms called by their titles, as in the figures.
pub fn titled_digests(panel: &Panel, tables: &Tables) -> Vec<Digest> {
    let mut digests = panel.kind.digests(panel, tables);
    for digest in &mut digests {
        for cell in digest.columns.iter_mut().chain(digest.rows.iter_mut().flatten()) {
            *cell = panel.title_of(cell);
        }
    }
    digests
}

/// What came out of an experiment, in sentences: every number in them is taken from its tables.
pub fn answers(experiment: &Experiment, tables: &Tables) -> Vec<String> {
    experiment.panels.iter().flat_map(|panel| panel.kind.answers(panel, tables)).collect()
}

/// What came out of all panels of the same kind together.
pub fn overall(experiment: &Experiment, tables: &Tables) -> Vec<Digest> {
    let kinds = distinct(experiment.panels.iter().map(|panel| panel.kind.id()));
    let of_kind = |id: &str| {
        let alike = experiment.panels.iter().filter(|panel| panel.kind.id() == id);
        let alike: Vec<&Panel> = alike.collect();
        alike[0].kind.overall(&alike, tables)
    };
    kinds.into_iter().flat_map(of_kind).collect()
}

/// A row for every case, a column for every mechanism.
pub fn by_case(panel: &Panel, caption: &str, cell: impl Fn(usize, &str) -> String) -> Digest {
    let naming = Naming::new(&panel.cases);
    let labels = || panel.variants.iter().map(|variant| variant.label.clone());
    let rows = panel.settings().map(|(setting, case)| {
        let cells = labels().map(|label| cell(setting, &label));
        std::iter::once(naming.name(case)).chain(cells).collect()
    });
    Digest {
        caption: caption.to_owned(),
        columns: std::iter::once(String::new()).chain(labels()).collect(),
        rows: rows.collect(),
    }
}

/// Parts of a whole in percent, for a table: their median, and the least and the largest of them.
pub fn spread(parts: &[f64]) -> String {
    match median_and_range(parts) {
        None => "–".to_owned(),
        Some((median, None)) => format!("{median} %"),
        Some((median, Some((least, most)))) => format!("{median} % ({least} to {most})"),
    }
}

/// The same for a sentence.
pub fn spread_in_words(parts: &[f64]) -> String {
    match median_and_range(parts) {
        Some((median, Some((least, most)))) => {
            format!("{median} % (median; range {least} to {most} %)")
        }
        _ => spread(parts),
    }
}

/// The median of parts in percent, and their range unless all look alike.
fn median_and_range(parts: &[f64]) -> Option<(String, Option<(String, String)>)> {
    let mut sorted: Vec<f64> = parts.iter().map(|part| 100.0 * part).collect();
    sorted.sort_by(f64::total_cmp);
    let (least, most) = (sorted.first()?, sorted.last()?);
    let show = |value: f64| {
        let digits = if value.abs() < 10.0 { 1 } else { 0 };
        let text = format!("{value:.digits$}");
        if text.trim_start_matches('-').parse() == Ok(0.0) {
            "0".to_owned()
        } else {
            text.replace('-', "−")
        }
    };
    let middle = |i: usize| sorted[i.min(sorted.len() - 1)];
    let median = show(0.5 * (middle((sorted.len() - 1) / 2) + middle(sorted.len() / 2)));
    let range = (show(*least), show(*most));
    let differ = range.0 != range.1;
    Some((median, differ.then_some(range)))
}

/// A part of a whole in percent.
pub fn percent(part: Option<f64>) -> String {
    match part {
        None => "any factor".to_owned(),
        Some(part) if part < 0.1 => format!("{:.2} %", 100.0 * part),
        Some(part) => format!("{:.0} %", 100.0 * part),
    }
}

/// A sentence with a capital letter at its beginning.
pub fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}
