//! icml Table 1: the probabilities of the three nearest answers, the table's own closed forms of
//! their distances beside the true ones, and §6.3's equation solved: from how many records on the
//! last mechanism beats each of the others.

use super::prelude::*;
use super::steps::probabilities;
use super::{SIZES_TRIED, check_steps, check_totals, laws};
use crate::experiment::reading::Reading;
use crate::experiment::value::Count;
use paper::formula::overtaking::{SizeCache, leads_from};
use paper::formula::{steps, table_one};
use table::{ValueRow, distinct};

/// The largest n that is tried: far beyond it, the probabilities are at their limits.
const MOST_RECORDS: u64 = 10_000_000;

kind! {
    "table1": "the numbers of icml Table 1";
    /// The numbers of the table.
    pub struct TableOne {
        /// Numbers of steps.
        "steps" => steps: Vec<Count>,
    }
}

impl Kind for TableOne {
    fn rules(&self) -> Rules {
        Rules { compares_readings: true, ..Rules::OF_FORMULAS }
    }

    fn check(&self, panel: &Panel) -> Result<(), Complaint> {
        check_totals(panel)?;
        check_steps(self, &self.steps)
    }

    /// A table has one case.
    fn place(&self, _: &Panel, _: &Abscissa, _: &Case) -> Option<String> {
        Some(String::new())
    }

    /// A printed probability stands at its number of steps.
    fn has_place_for(&self, panel: &Panel, _: &Abscissa, reading: &Reading) -> bool {
        let named = panel.variants.iter().any(|variant| variant.label == reading.mechanism);
        named && self.steps.iter().any(|steps| steps.0.to_string() == reading.at)
    }

    fn criterion(&self, _: bool) -> &'static str {
        "A printed number agrees if it is within one unit of its last digit."
    }

    fn complete_key(&self, layout: &Layout, _: &Case, key: &mut CellKey) {
        key.put_all("steps", self.steps.iter().map(|steps| steps.0));
        key.put_all("reading", layout.panel.all_readings().iter().map(Reading::key));
    }

    fn rows(&self, task: &Task) -> Result<Tables, Refusal> {
        let Task { panel, case, .. } = *task;
        let mut values = step_probabilities(panel, case, &self.steps)?;
        let readings = panel.all_readings().iter().filter_map(|reading| {
            let is_read = |row: &&ValueRow| {
                row.mechanism == reading.mechanism && row.at == at_step(&reading.at)
            };
            let computed = values.iter().find(is_read)?.value?;
            Some(reading.of_value(&panel.id, computed))
        });
        let readings = readings.collect();
        values.extend(distances(panel, case, &self.steps));
        values.extend(overtakings(panel, case, &self.steps));
        Ok(Tables { values, readings, ..Tables::default() })
    }

    /// The table is the figure.
    fn figures(&self, _: &Panel, _: &Tables) -> Vec<(String, Figure)> {
        Vec::new()
    }

    fn digests(&self, panel: &Panel, tables: &Tables) -> Vec<Digest> {
        vec![digest(panel, tables)]
    }

    /// Many sizes are tried for every number of steps.
    fn size(&self, panel: &Panel, case: &Case) -> Result<CaseSize, Refusal> {
        laws(panel, case, SIZES_TRIED * self.steps.len() as f64)
    }
}

fn at_step(t: &str) -> String {
    format!("t = {t}")
}

fn value(panel: &Panel, mechanism: &str, quantity: &str, t: u64, value: Option<f64>) -> ValueRow {
    ValueRow {
        panel: panel.id.clone(),
        mechanism: mechanism.to_owned(),
        quantity: quantity.to_owned(),
        at: at_step(&t.to_string()),
        value,
    }
}

fn step_probabilities(
    panel: &Panel,
    case: &Case,
    steps: &[Count],
) -> Result<Vec<ValueRow>, Refusal> {
    let all = probabilities(panel, case, steps)?;
    let rows = panel.variants.iter().zip(all).flat_map(|(variant, probabilities)| {
        let rows = steps.iter().zip(probabilities);
        rows.map(|(&Count(t), p)| value(panel, &variant.label, "P[H = c(t)], one side", t, p))
    });
    Ok(rows.collect())
}

/// The true distances, and the closed forms that the table prints for t = 1 and t = 2.
fn distances(panel: &Panel, case: &Case, all_steps: &[Count]) -> Vec<ValueRow> {
    let setting = &case.setting;
    let (alpha, beta) = (setting.posterior().parameter(0), setting.posterior().parameter(1));
    let truth = all_steps.iter().map(|&Count(t)| {
        let distance = steps::distance(setting, i64::try_from(t).unwrap_or(i64::MAX));
        value(panel, "", "distance c(t)", t, distance)
    });
    let printed =
        [(1, table_one::printed_c1(alpha, beta)), (2, table_one::printed_c2(alpha, beta, 2.0))];
    let printed = printed
        .map(|(t, c)| value(panel, "", "distance c(t) by the table's closed form", t, Some(c)));
    truth.chain(printed).collect()
}

/// How the name of a quantity begins that has no value if something never happens.
const FROM: &str = "n from which";

/// The n from which on the last mechanism of the panel is likelier than each other one to be t steps
/// off; no value if it never is.
fn overtakings(panel: &Panel, case: &Case, all_steps: &[Count]) -> Vec<ValueRow> {
    let Some((last, others)) = panel.variants.split_last() else { return Vec::new() };
    let at_size = |n| probabilities(panel, &case.balanced(n), all_steps).unwrap_or_default();
    let known = SizeCache::new(at_size);
    let known = &known;
    let rows = others.iter().enumerate().flat_map(|(place, other)| {
        all_steps.iter().enumerate().map(move |(step, &Count(t))| {
            let lead = |n: u64| {
                let probability = |all: &Vec<Vec<_>>, place: usize| all.get(place)?[step];
                let [ours, theirs] =
                    known.at(n, |all| [others.len(), place].map(|place| probability(all, place)));
                ours.zip(theirs).map_or(0.0, |(ours, theirs)| ours - theirs)
            };
            let n = leads_from(2 * t.max(1)..=MOST_RECORDS, lead).map(|n| n as f64);
            let quantity = format!("{FROM} {} is likelier", last.label);
            value(panel, &other.label, &quantity, t, n)
        })
    });
    rows.collect()
}

fn digest(panel: &Panel, tables: &Tables) -> Digest {
    let own: Vec<&ValueRow> = panel.own(&tables.values).collect();
    let at = distinct(own.iter().map(|row| row.at.as_str()));
    let named = |row: &ValueRow| match row.mechanism.as_str() {
        "" => row.quantity.clone(),
        mechanism => format!("{mechanism}: {}", row.quantity),
    };
    let names: Vec<String> = own.iter().map(|row| named(row)).collect();
    let rows = distinct(names.iter().map(String::as_str)).into_iter().map(|name| {
        let cell = |at: &&str| {
            let found = own.iter().find(|row| named(row) == name && row.at == **at);
            found.map_or(String::new(), |row| match row.value {
                Some(value) if value.fract() == 0.0 && value >= 1.0 => format!("{value}"),
                Some(value) => format!("{value:.11}"),
                None if row.quantity.starts_with(FROM) => "never".to_owned(),
                None => "–".to_owned(),
            })
        };
        std::iter::once(name.to_owned()).chain(at.iter().map(cell)).collect()
    });
    let columns = std::iter::once("").chain(at.iter().copied()).map(str::to_owned).collect();
    Digest { caption: panel.title.clone(), columns, rows: rows.collect() }
}
