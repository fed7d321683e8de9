//! Theory curves: the exact probability of every distance from the true posterior (icml §7.1.1,
//! arxiv §7.2.1, notes §4.4), and the cumulative probability.
//!
//! P[H = c] is how the documents compare mechanisms, but it is a comparison of unlike things where
//! the distances that two mechanisms can reach differ; P[H <= c] is the fair one.

use super::curves::{line, titled};
use super::laws;
use super::prelude::*;
use crate::experiment::digest::by_case;
use crate::experiment::reading::{Quantity, Reading};
use crate::experiment::value::Interval;
use crate::experiment::value::NamedValue;
use engine::mechanism::law::{Bench, Distribution};
use engine::named;
use engine::named::Named;
use engine::parallel;
use engine::posterior::model::{Counts, approximate_compositions};
use engine::posterior::setting::SettingWithData;
use engine::posterior::simplex::list_compositions;
use figure::{BLUE, Curve, Join, NameAt, Series};
use paper::formula::notes_laplace;
use system::console::short_or_dash;
use table::{ReadingRow, TheoryRow};

kind! {
    "theory": "P[H = c] and P[H ≤ c], exactly";
    /// The law of the error of every mechanism.
    pub struct Theory {
        /// The part of the horizontal axis that is drawn: [from, to].
        "view" => view: Option<Interval>,
        /// Also a formula that a document takes for P[H = c].
        "formula" => formula: Option<Formula>,
    }
}

impl Kind for Theory {
    fn rules(&self) -> Rules {
        Rules {
            draws_historical: true,
            compares_readings: true,
            names: Some(LineName::OnPlot),
            ..Rules::USUAL
        }
    }

    fn check(&self, panel: &Panel) -> Result<(), Complaint> {
        let candidates = |case: &Case| {
            let posterior = case.setting.posterior();
            approximate_compositions(posterior.n(), posterior.k())
        };
        let most = panel.cases.iter().map(candidates).fold(0.0, f64::max);
        if self.formula.is_some() && most > MOST_LISTED {
            return Err(About::Data.wrong(
                format!("the formula is evaluated at every candidate, and these are {most:.1e}"),
                format!("use data with at most {MOST_LISTED:.0e} candidates"),
            ));
        }
        Ok(())
    }

    /// Readings of a theory curve stand at distances, not at cases: a panel that has them has one
    /// case.
    fn has_place_for(&self, panel: &Panel, _: &Abscissa, reading: &Reading) -> bool {
        let named = panel.variants.iter().any(|variant| variant.label == reading.mechanism);
        let is_formula = self.formula.is_some_and(|one| one.label() == reading.mechanism);
        (named || is_formula) && panel.cases.len() == 1
    }

    fn complete_key(&self, layout: &Layout, _: &Case, key: &mut CellKey) {
        key.put_all("reading", layout.panel.all_readings().iter().map(Reading::key));
        key.put_all("formula", self.formula.map(Formula::id));
    }

    fn rows(&self, task: &Task) -> Result<Tables, Refusal> {
        let Task { panel, case, setting, .. } = *task;
        let laws = panel.laws(case)?;
        let bench = panel.bench(case, &laws, &[])?;
        let of_variant = |place: usize| {
            let distribution = Distribution::new(bench.law(place).as_ref(), bench.distance());
            distribution.map_or_else(Tables::default, |distribution| {
                tables(panel, setting, &panel.variants[place].label, &distribution)
            })
        };
        let parts = parallel::map_range(0..laws.len(), of_variant);
        let mut all = Tables::default();
        parts.into_iter().for_each(|part| all.append(part));
        if let Some(formula) = self.formula {
            let distribution = formula.distribution(&case.setting, &bench);
            all.append(tables(panel, setting, formula.label(), &distribution));
        }
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
            let readings: Vec<&ReadingRow> = panel.own(&tables.readings).collect();
            let name = if panel.cases.len() > 1 { naming.name(case) } else { String::new() };
            let title = |what: &str| titled(&[&panel.title, &name, what]);
            let cumulative = CurveFigure {
                y_label: "cumulative probability P[H ≤ c]".to_owned(),
                y_range: Some((0.0, 1.02)),
                join: Join::Steps,
                ..self.curves(panel, &rows, &[], |row| row.cumulative)
            };
            let cumulative = Figure::new(title("P[H ≤ c]"), note.clone(), cumulative);
            figures.push((format!("cumulative{suffix}"), cumulative));
            let curves = self.curves(panel, &rows, &readings, |row| row.probability);
            let is_comb = is_comb(&curves);
            let probability = CurveFigure {
                y_label: "probability P[H = c]".to_owned(),
                join: if is_comb { Join::Stems } else { Join::Lines },
                name_at: NameAt::Peak,
                ..curves
            };
            let body = match is_comb {
                true => apart(&probability).into(),
                false => Body::Curve(probability),
            };
            let probability = Figure::new(title("P[H = c]"), note, body);
            figures.push((format!("theory{suffix}"), probability));
        }
        figures
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

    fn size(&self, panel: &Panel, case: &Case) -> Result<CaseSize, Refusal> {
        let mut size = laws(panel, case, 1.0)?;
        size.kept += 250.0 * self.row_count(panel, case, &size);
        Ok(size)
    }

    /// One for every distance that an output can have.
    fn row_count(&self, _: &Panel, _: &Case, size: &CaseSize) -> f64 {
        size.outputs() / 15.0
    }
}

fn tables(panel: &Panel, setting: usize, label: &str, distribution: &Distribution) -> Tables {
    let theory = distribution.levels.iter().map(|level| TheoryRow {
        setting,
        mechanism: label.to_owned(),
        distance: level.value,
        probability: level.probability,
        cumulative: level.cumulative,
        candidates: format!("{:.0}", level.outputs),
    });
    let readings = compare(panel, label, distribution);
    Tables { theory: theory.collect(), readings, ..Tables::default() }
}

/// Readings of a theory curve stand at distances, not at cases: a panel that has them has one case.
fn compare(panel: &Panel, label: &str, distribution: &Distribution) -> Vec<ReadingRow> {
    let points: Vec<(f64, f64)> =
        distribution.levels.iter().map(|level| (level.value, level.probability)).collect();
    let own = panel.all_readings().iter().filter(|reading| reading.mechanism == label);
    own.filter_map(|reading| match reading.quantity {
        Quantity::Curve => reading.of_curve(&panel.id, &points),
        _ => reading.of_vertex(&panel.id, &points),
    })
    .collect()
}

fn note(panel: &Panel, naming: &Naming, case: &Case) -> String {
    let mut parts = vec![format!("x = {}", naming::parenthesised(case.setting.counts()))];
    if naming.labelled {
        parts.insert(0, naming.data(case));
    }
    parts.extend([naming::prior(case), naming::epsilon(case)]);
    if panel.variants.iter().any(|variant| variant.kind.uses_delta) {
        parts.extend(naming::delta(case));
    }
    parts.push("exact".to_owned());
    parts.join(", ")
}

impl Theory {
    fn curves(
        &self,
        panel: &Panel,
        rows: &[&TheoryRow],
        readings: &[&ReadingRow],
        value: impl Fn(&TheoryRow) -> f64,
    ) -> CurveFigure {
        let variants = panel.variants.iter().map(|variant| variant.label.as_str());
        let mut series: Vec<(&str, Series)> = variants.zip(panel.series()).collect();
        series.extend(self.formula.map(|formula| (formula.label(), formula.series())));
        let lines = series.into_iter().map(|(label, series)| {
            let own = rows.iter().filter(|row| row.mechanism == label);
            let read = readings.iter().filter(|row| row.mechanism == label);
            let readings = read.filter_map(|row| Some((row.at.parse().ok()?, row.read))).collect();
            let exact = own.map(|row| (row.distance, value(row))).collect();
            Curve { readings, ..line(series, exact) }
        });
        CurveFigure {
            x_label: format!("{} c from the true posterior", panel.distance.title()),
            x_scale: Scale::Linear,
            y_scale: Scale::Linear,
            x_range: self.view.map(|view| (view.0, view.1)),
            lines: lines.collect(),
            ..CurveFigure::default()
        }
    }
}

/// The most candidates at which a formula is evaluated.
const MOST_LISTED: f64 = 2e6;

named! {
    /// A formula that a document takes for the probability of a distance.
    pub enum Formula {
        /// Laplace noise in notes §4.4.
        NotesLaplace = "notes-laplace": "notes §4.4, Laplace: Π (e^(−aε/2) − e^(−(a+1)ε/2)) / (Γ(distinct a) 2^(a ≠ 0))",
    }
}

impl NamedValue for Formula {}

impl Formula {
    fn label(self) -> &'static str {
        "Laplace (formula of notes)"
    }

    fn series(self) -> Series {
        Series { label: self.label().to_owned(), colour: BLUE, private: true }
    }

    /// The formula summed over the candidates at every distance. The sum over all distances need not
    /// be 1.
    fn distribution(self, setting: &SettingWithData, bench: &Bench) -> Distribution {
        let (x, field) = (setting.counts(), bench.distance());
        let value = |r: &Counts| (field.at(r), notes_laplace(setting.epsilon.get(), x, r));
        let candidates = list_compositions(setting.n, x.len());
        Distribution::of_masses(parallel::map(&candidates, value))
    }
}

/// The lines of a figure, each in a small one: combs on top of one another could not be read.
fn apart(figure: &CurveFigure) -> Vec<Figure> {
    let alone = |line: &Curve| {
        let lines = vec![Curve { name: LineName::Elsewhere, ..line.clone() }];
        Figure::new(line.series.full_label(), "", CurveFigure { lines, ..figure.clone() })
    };
    figure.lines.iter().map(alone).collect()
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
