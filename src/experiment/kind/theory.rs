//! Theory curves: the exact probability of every distance from the true posterior (icml §7.1.1,
//! arxiv §7.2.1, notes §4.4), and the cumulative probability.
//!
//! P[H = c] is how the documents compare mechanisms, but it is a comparison of unlike things where
//! the distances that two mechanisms can reach differ; P[H <= c] is the fair one.

use rayon::prelude::*;

use super::curves::{line, titled};
use super::key::Interval;
use super::prelude::*;
use crate::base::console::short_or_dash;
use crate::experiment::digest::by_case;
use crate::experiment::reading::{Quantity, Reading};
use crate::experiment::table::{ReadingRow, TheoryRow};
use crate::figure::{Curve, Join, NameAt};
use crate::mechanism::Variant;
use crate::mechanism::law::{Distribution, Plan};
use crate::mechanism::prepared::PreparedSetting;

kind! {
    "theory": "P[H = c] and P[H ≤ c], exactly";
    /// The law of the error of every mechanism.
    pub struct Theory {
        /// The part of the horizontal axis that is drawn: [from, to].
        "view" => view: Option<Interval>,
    }
}

impl Kind for Theory {
    fn compares_readings(&self) -> bool {
        true
    }

    /// Readings of a theory curve stand at distances, not at cases: a panel that has them has one
    /// case.
    fn has_place_for(&self, panel: &Panel, _: &Abscissa, reading: &Reading) -> bool {
        let named = panel.variants.iter().any(|variant| variant.label == reading.mechanism);
        named && panel.cases.len() == 1
    }

    fn complete_key(&self, layout: &Layout, _: &Case, key: &mut CellKey) {
        let all = layout.panel.readings.iter().flat_map(|set| &set.readings);
        key.put_all("reading", all.map(Reading::key));
    }

    fn rows(&self, task: &Task) -> Result<Tables, Refusal> {
        let Task { panel, case, setting, finished, .. } = *task;
        let plans = panel.plans(case)?;
        let prepared = PreparedSetting::new(&case.setting, &plans, &[]);
        let of_variant = |(place, (variant, plan)): (usize, (&Variant, &Plan))| {
            let law = prepared.law(plan);
            let distribution = Distribution::new(law.as_ref(), prepared.distance());
            finished(place);
            distribution.map_or_else(Tables::default, |distribution| {
                tables(panel, setting, variant, &distribution)
            })
        };
        let variants = panel.variants.par_iter().zip(&plans).enumerate();
        let parts: Vec<Tables> = variants.map(of_variant).collect();
        let mut all = Tables::default();
        parts.into_iter().for_each(|part| all.append(part));
        Ok(all)
    }

    /// For every case P[H <= c] and P[H = c].
    fn figures(&self, panel: &Panel, tables: &Tables) -> Vec<(String, Figure)> {
        let naming = Naming::new(&panel.cases);
        let mut figures = Vec::new();
        for (number, (setting, case)) in (1..).zip(panel.settings()) {
            let suffix = if panel.cases.len() > 1 { format!("-{number}") } else { String::new() };
            let rows: Vec<&TheoryRow> =
                tables.theory.iter().filter(|row| row.setting == setting).collect();
            let note = note(panel, &naming, case);
            let readings: Vec<&ReadingRow> =
                tables.readings.iter().filter(|row| row.panel == panel.id).collect();
            let name = if panel.cases.len() > 1 { naming.name(case) } else { String::new() };
            let cumulative = CurveFigure {
                title: titled(&[&panel.title, &name, "P[H ≤ c]"]),
                y_label: "cumulative probability P[H ≤ c]".to_owned(),
                y_range: Some((0.0, 1.02)),
                join: Join::Steps,
                ..self.curves(panel, &note, &rows, &[], |row| row.cumulative)
            };
            figures.push((format!("cumulative{suffix}"), Figure::Curve(cumulative)));
            let curves = self.curves(panel, &note, &rows, &readings, |row| row.probability);
            let probability = CurveFigure {
                title: titled(&[&panel.title, &name, "P[H = c]"]),
                y_label: "probability P[H = c]".to_owned(),
                join: if is_comb(&curves) { Join::Stems } else { Join::Lines },
                name_at: NameAt::Peak,
                ..curves
            };
            figures.push((format!("theory{suffix}"), Figure::Curve(probability)));
        }
        figures
    }

    fn figure_count(&self, panel: &Panel) -> usize {
        2 * panel.cases.len()
    }

    fn sketches(&self, panel: &Panel) -> Vec<Figure> {
        vec![sketch::curves(panel, 1, true)]
    }

    fn digests(&self, panel: &Panel, tables: &Tables) -> Vec<Digest> {
        let levels = |setting: usize, label: &str| {
            let label = label.to_owned();
            let own = move |row: &&TheoryRow| row.setting == setting && row.mechanism == label;
            tables.theory.iter().filter(own)
        };
        let exact = |setting: usize, label: &str| {
            let first = levels(setting, label).next().filter(|row| row.distance == 0.0);
            short_or_dash(first.map(|row| row.probability))
        };
        let median = |setting: usize, label: &str| {
            let reached = levels(setting, label).find(|row| row.cumulative >= 0.5);
            short_or_dash(reached.map(|row| row.distance))
        };
        vec![
            by_case(panel, "probability of the true posterior, P[H = 0]", exact),
            by_case(panel, "median distance", median),
        ]
    }

    fn cost(&self, panel: &Panel, case: &Case) -> Result<SettingWork, Refusal> {
        Ok(cost::predict_theory(&case.setting, &panel.outlines(case)?))
    }
}

fn tables(panel: &Panel, setting: usize, variant: &Variant, distribution: &Distribution) -> Tables {
    let theory = distribution.levels.iter().map(|level| TheoryRow {
        setting,
        mechanism: variant.label.clone(),
        distance: level.value,
        probability: level.probability,
        cumulative: level.cumulative,
        candidates: format!("{:.0}", level.outputs),
    });
    let readings = compare(panel, variant, distribution);
    Tables { theory: theory.collect(), readings, ..Tables::default() }
}

/// Readings of a theory curve stand at distances, not at cases: a panel that has them has one case.
fn compare(panel: &Panel, variant: &Variant, distribution: &Distribution) -> Vec<ReadingRow> {
    let points: Vec<(f64, f64)> =
        distribution.levels.iter().map(|level| (level.value, level.probability)).collect();
    let all = panel.readings.iter().flat_map(|set| &set.readings);
    all.filter(|reading| reading.mechanism == variant.label)
        .filter_map(|reading| match reading.quantity {
            Quantity::Curve => reading.of_curve(&panel.id, &points),
            _ => reading.of_vertex(&panel.id, &points),
        })
        .collect()
}

fn note(panel: &Panel, naming: &Naming, case: &Case) -> String {
    let mut parts = vec![format!("x = {}", naming::parenthesised(case.setting.posterior.counts()))];
    if naming.labelled {
        parts.insert(0, naming.data(case));
    }
    parts.extend([naming::prior(case), naming::epsilon(case)]);
    if panel.variants.iter().any(|variant| variant.mechanism.uses_delta()) {
        parts.extend(naming::delta(case));
    }
    parts.push("exact".to_owned());
    parts.join(", ")
}

impl Theory {
    fn curves(
        &self,
        panel: &Panel,
        note: &str,
        rows: &[&TheoryRow],
        readings: &[&ReadingRow],
        value: impl Fn(&TheoryRow) -> f64,
    ) -> CurveFigure {
        let lines = panel.variants.iter().zip(panel.series()).map(|(variant, series)| {
            let own = rows.iter().filter(|row| row.mechanism == variant.label);
            let read = readings.iter().filter(|row| row.mechanism == variant.label);
            let readings = read.filter_map(|row| Some((row.at.parse().ok()?, row.read))).collect();
            let exact = own.map(|row| (row.distance, value(row))).collect();
            Curve { readings, ..line(series, exact) }
        });
        CurveFigure {
            note: note.to_owned(),
            x_label: format!("{} c from the true posterior", panel.distance.title()),
            x_scale: Scale::Linear,
            y_scale: Scale::Linear,
            x_range: self.view.map(|view| (view.0, view.1)),
            lines: lines.collect(),
            ..CurveFigure::default()
        }
    }
}

/// A line that turns more often than this is a comb.
const MOST_TURNS: usize = 4;

/// Whether lines between the probabilities would go up and down like the teeth of a comb: one of
/// the curves turns often, each time by more than a hundredth of the greatest probability in view.
fn is_comb(figure: &CurveFigure) -> bool {
    let (from, to) = figure.x_range.unwrap_or((f64::NEG_INFINITY, f64::INFINITY));
    let in_view = |line: &Curve| -> Vec<f64> {
        let points = line.exact.iter().filter(|point| (from..=to).contains(&point.0));
        points.map(|point| point.1).collect()
    };
    let curves: Vec<Vec<f64>> = figure.lines.iter().map(in_view).collect();
    let greatest = curves.iter().flatten().copied().fold(0.0, f64::max);
    curves.iter().any(|values| turns(values, 0.01 * greatest) > MOST_TURNS)
}

/// How often a sequence turns by more than `least`.
fn turns(values: &[f64], least: f64) -> usize {
    let Some(&first) = values.first() else { return 0 };
    let (mut turns, mut is_rising, mut extreme) = (0, None, first);
    for &value in values {
        let change = value - extreme;
        match is_rising {
            Some(true) if change >= 0.0 => extreme = value,
            Some(false) if change <= 0.0 => extreme = value,
            _ if change.abs() > least => {
                turns += usize::from(is_rising.is_some());
                is_rising = Some(change > 0.0);
                extreme = value;
            }
            _ => {}
        }
    }
    turns
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_are_counted_but_for_ripples() {
        assert_eq!(turns(&[], 0.1), 0);
        assert_eq!(turns(&[0.3, 0.5, 0.4, 0.2, 0.1], 0.01), 1);
        assert_eq!(turns(&[0.3, 0.5, 0.1, 0.4, 0.0], 0.01), 3);
        assert_eq!(turns(&[0.5, 0.4, 0.405, 0.3, 0.301, 0.2], 0.01), 0);
    }
}
