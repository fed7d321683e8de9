//! The change of score at every candidate (arxiv Figure 2, notes Figure 1, early Figure 1): for each
//! r the largest |H(x, r) − H(x', r)| over the neighbours x' of x. That its maximum is at r = BI(x)
//! makes the local sensitivity computable without looking at all candidates.

use super::curves::{line, titled};
use super::prelude::*;
use crate::experiment::reading::Reading;
use crate::experiment::value::NamedValue;
use engine::named;
use engine::named::Named;
use engine::parallel;
use engine::posterior::error_field::{Field, Reach};
use engine::posterior::model::{Counts, Posterior, approximate_compositions, neighbours, vector};
use engine::posterior::setting::Setting;
use engine::posterior::simplex::{list_compositions, rank};
use figure::{Curve, HeatFigure, HeatValues, PINK, Series};
use system::console::short_or_dash;
use table::ChangeRow;

/// The most candidates that are listed one by one.
const MOST_LISTED: f64 = 2e6;

kind! {
    "change": "how far one record changes the score of every candidate";
    /// The largest change at every candidate.
    pub struct Change {
        /// Over which neighbours of the data. Default: all.
        "neighbours" => neighbours: Option<NeighbourSet>,
    }
}

impl Kind for Change {
    fn rules(&self) -> Rules {
        Rules { compares_mechanisms: false, compares_readings: true, ..Rules::USUAL }
    }

    fn check(&self, panel: &Panel) -> Result<(), Complaint> {
        let is_too_large = |case: &Case| {
            let posterior = case.setting.posterior();
            let candidates = approximate_compositions(posterior.n(), posterior.k());
            posterior.k() > 3 || candidates > MOST_LISTED
        };
        if panel.cases.iter().any(is_too_large) {
            return Err(About::Data.wrong(
                "the change of score is listed candidate by candidate, and these are too many candidates",
                "use two or three categories, and fewer than two million candidates",
            ));
        }
        Ok(())
    }

    /// Readings stand at candidates: a panel that has them has one case.
    fn has_place_for(&self, panel: &Panel, _: &Abscissa, reading: &Reading) -> bool {
        let posterior = panel.cases[0].setting.posterior();
        let counts = counts(&reading.at).unwrap_or_default();
        panel.cases.len() == 1
            && counts.len() == posterior.k()
            && counts.iter().map(|&count| u128::from(count)).sum::<u128>() == posterior.n().into()
    }

    fn complete_key(&self, layout: &Layout, _: &Case, key: &mut CellKey) {
        key.put_all("neighbours", self.neighbours.map(NeighbourSet::id));
        key.put_all("reading", layout.panel.all_readings().iter().map(Reading::key));
    }

    fn rows(&self, task: &Task) -> Result<Tables, Refusal> {
        let change = changes(task, self.neighbours.unwrap_or_default());
        let readings = task.panel.all_readings().iter().filter_map(|reading| {
            let row = change.get(rank(&counts(&reading.at)?))?;
            Some(reading.of_value(&task.panel.id, row.change))
        });
        let readings = readings.collect();
        Ok(Tables { change, readings, ..Tables::default() })
    }

    /// A curve for two categories, a map for three. Beside readings the changes stand in the order of the
    /// candidates, as in print.
    fn figures(&self, panel: &Panel, tables: &Tables) -> Vec<(String, Figure)> {
        let naming = Naming::new(&panel.cases);
        let mut figures = Vec::new();
        for (place, (number, case)) in (1..).zip(panel.settings()) {
            let suffix = if panel.cases.len() > 1 { format!("-{place}") } else { String::new() };
            let rows: Vec<&ChangeRow> =
                tables.change.iter().filter(|row| row.setting == number).collect();
            let title = match panel.cases.len() {
                1 => panel.title.clone(),
                _ => titled(&[&panel.title, &naming.name(case)]),
            };
            let figure = match case.setting.k() {
                3.. if panel.readings.is_none() => map(title, case, &rows),
                _ => curve(title, case, panel, tables, &rows),
            };
            figures.push((format!("change{suffix}"), figure));
        }
        figures
    }

    /// Where the change of score is largest.
    fn digests(&self, panel: &Panel, tables: &Tables) -> Vec<Digest> {
        let naming = Naming::new(&panel.cases);
        let rows = panel.settings().map(|(setting, case)| {
            let own = tables.change.iter().filter(|row| row.setting == setting);
            let largest = own.max_by(|a, b| a.change.total_cmp(&b.change));
            let counts = |of: fn(&ChangeRow) -> &String| {
                largest.map_or("–".to_owned(), |row| format!("({})", of(row).replace(';', ", ")))
            };
            vec![
                naming.data(case),
                short_or_dash(largest.map(|row| row.change)),
                counts(|row| &row.candidate),
                counts(|row| &row.neighbour),
            ]
        });
        let columns = ["", "largest change", "at r", "neighbour x′"].map(str::to_owned).to_vec();
        vec![Digest {
            caption: "largest change of score".to_owned(),
            columns,
            rows: rows.collect(),
        }]
    }

    fn size(&self, _: &Panel, case: &Case) -> Result<CaseSize, Refusal> {
        Ok(size_of_changes(&case.setting))
    }

    fn row_count(&self, _: &Panel, _: &Case, size: &CaseSize) -> f64 {
        size.candidates
    }
}

/// The change of score at every candidate, of which all rows are kept.
pub(super) fn size_of_changes(setting: &Setting) -> CaseSize {
    let (mut size, k) = (CaseSize::new(setting), setting.k());
    size.common.outputs = 15.0 * size.candidates * (1 + k * (k - 1)) as f64;
    size.kept += 300.0 * size.candidates;
    size
}

named! {
    /// The neighbours of a data set over which the largest change is taken.
    #[derive(Default)]
    pub enum NeighbourSet {
        #[default]
        All = "all": "all neighbours",
        /// Those with one record more in category i and one less in category j, i < j: half of them. The
        /// authors' program looked at these.
        Ordered = "ordered": "a record moved from category j to i < j",
    }
}

impl NamedValue for NeighbourSet {}

impl NeighbourSet {
    fn contains(self, x: &[u64], neighbour: &[u64]) -> bool {
        // The first category that changes gains a record.
        self == Self::All
            || x.iter().zip(neighbour).find(|(a, b)| a != b).is_some_and(|(a, b)| b > a)
    }
}

/// The largest change of score at every candidate of one setting, in the order of the candidates.
fn changes(task: &Task, over: NeighbourSet) -> Vec<ChangeRow> {
    let setting = &task.case.setting;
    let field = |counts: &[u64]| {
        let posterior = Posterior::new(setting.prior.clone(), counts.to_vec());
        setting.distance.field(&posterior, &Reach::ball(&posterior))
    };
    let x = setting.counts();
    let score = field(x);
    let moved: Vec<(Counts, Box<dyn Field>)> = neighbours(x)
        .filter(|y| over.contains(x, y))
        .map(|counts| (counts.clone(), field(&counts)))
        .collect();
    parallel::map(&list_compositions(setting.n, x.len()), |candidate| {
        let distance = score.at(candidate);
        let mut best = (0.0, x);
        for (counts, field) in &moved {
            let change = (field.at(candidate) - distance).abs();
            if change > best.0 {
                best = (change, counts.as_slice());
            }
        }
        ChangeRow {
            setting: task.setting,
            candidate: vector(candidate),
            distance,
            change: best.0,
            neighbour: vector(best.1),
        }
    })
}

fn coordinate(counts: &str, i: usize) -> Option<f64> {
    counts.split(';').nth(i)?.parse().ok()
}

/// The counts of a candidate, written "10;20;30".
fn counts(text: &str) -> Option<Counts> {
    text.split(';').map(|count| count.parse().ok()).collect()
}

fn note(case: &Case) -> String {
    let posterior: Vec<f64> =
        (0..case.setting.k()).map(|i| case.setting.posterior().parameter(i)).collect();
    format!(
        "x = {}, {}, posterior {}",
        naming::parenthesised(case.setting.counts()),
        naming::prior(case),
        naming::parenthesised(&posterior),
    )
}

/// The name of the place where the candidate is the data.
const TRUTH: &str = "true posterior";

/// The change at every candidate: over its first count or, beside readings, over its number.
fn curve(
    title: String,
    case: &Case,
    panel: &Panel,
    tables: &Tables,
    rows: &[&ChangeRow],
) -> Figure {
    let numbered = panel.readings.is_some();
    let place = |candidate: &str| match numbered {
        true => Some(rank(&counts(candidate)?) as f64),
        false => coordinate(candidate, 0),
    };
    let points = rows.iter().filter_map(|row| Some((place(&row.candidate)?, row.change)));
    let read = panel.own(&tables.readings);
    let readings = read.filter_map(|row| Some((place(&row.at)?, row.read))).collect();
    let (x_label, name) = match numbered {
        true => ("number of the candidate r, in lexicographic order", LineName::InLegend),
        false => ("first count of the candidate r", LineName::OnPlot),
    };
    let label = "largest change".to_owned();
    let series = Series { label, colour: PINK, private: true };
    let truth = place(&vector(case.setting.counts()));
    let body = CurveFigure {
        x_label: x_label.to_owned(),
        y_label: "largest change of score |H(x, r) − H(x′, r)|".to_owned(),
        x_scale: Scale::Linear,
        y_scale: Scale::Linear,
        lines: vec![Curve { readings, name, ..line(series, points.collect()) }],
        landmarks: truth.map(|truth| (truth, TRUTH.to_owned())).into_iter().collect(),
        ..CurveFigure::default()
    };
    Figure::new(title, note(case), body)
}

fn map(title: String, case: &Case, rows: &[&ChangeRow]) -> Figure {
    let n = case.setting.n as usize;
    let mut values = vec![vec![None; n + 1]; n + 1];
    for row in rows {
        if let (Some(first), Some(second)) =
            (coordinate(&row.candidate, 0), coordinate(&row.candidate, 1))
        {
            values[second as usize][first as usize] = Some(row.change);
        }
    }
    let axis: Vec<f64> = (0..=n).map(|count| count as f64).collect();
    let x = case.setting.counts();
    let largest = rows.iter().max_by(|a, b| a.change.total_cmp(&b.change));
    let mut marks = vec![(x[0] as f64, x[1] as f64, TRUTH.to_owned())];
    if let Some(row) = largest.filter(|row| row.candidate != vector(x))
        && let (Some(first), Some(second)) =
            (coordinate(&row.candidate, 0), coordinate(&row.candidate, 1))
    {
        marks.push((first, second, "maximum".to_owned()));
    }
    let note = match largest {
        Some(row) => {
            let at = row.candidate.replace(';', ", ");
            format!("{}; maximum {:.4} at r = ({at})", note(case), row.change)
        }
        None => note(case),
    };
    let body = HeatFigure {
        x_label: "first count of the candidate r".to_owned(),
        y_label: "second count of r".to_owned(),
        x: axis.clone(),
        y: axis,
        values: HeatValues::Numbers {
            label: "largest change of score".to_owned(),
            values,
            scale: Scale::Linear,
            range: None,
        },
        marks,
        ..HeatFigure::default()
    };
    Figure::new(title, note, body)
}
