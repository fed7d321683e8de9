//! How far from the best possible (bounds §4 asks whether Laplace noise is optimal): the mean error
//! of every mechanism over the prior's predictive law, as a multiple of the least that any private
//! mechanism can have.

use super::curves::line;
use super::means_over_all_data;
use super::prelude::*;
use crate::experiment::digest::{by_case, capitalised, percent, spread, spread_in_words};
use crate::experiment::release_map::release_map;
use engine::analysis::optimum::{self, Goal, OptimalMechanism, ProgramSize, Question};
use engine::analysis::predictive_error::over_all_data;
use engine::mechanism::law::OutputSet;
use engine::mechanism::{Mechanism, Options};
use engine::parallel;
use engine::posterior::model::{Counts, vector};
use system::console::short_or_dash;
use table::{OptimalRow, OptimumRow};

kind! {
    "optimum": "every mechanism's error as a multiple of the least possible";
    /// The optimum and every mechanism's error. A panel of one case also tells the optimal mechanism.
    pub struct Optimum {
        /// Whether the optimum is that of (ε, δ)-private releases, with the δ of the setting.
        "with_delta" => with_delta: bool,
    }
}

impl Optimum {
    /// Which optimum a case is compared with.
    fn question(&self, case: &Case) -> Question {
        let delta = case.setting.delta.filter(|_| self.with_delta);
        Question { goal: Goal::Bayes, set: OutputSet::Simplex, delta }
    }
}

impl Kind for Optimum {
    /// 3: flows with losses may find it.
    fn version(&self) -> u32 {
        3
    }

    fn check(&self, panel: &Panel) -> Result<(), Complaint> {
        if self.with_delta && panel.cases.iter().any(|case| case.setting.delta.is_none()) {
            let cause = "`with_delta` needs a δ";
            return Err(About::Key("with_delta").wrong(cause, "add for example delta = 1e-6"));
        }
        Ok(())
    }

    fn place(&self, _: &Panel, abscissa: &Abscissa, case: &Case) -> Option<String> {
        Some(abscissa.axis.name(case, &abscissa.naming))
    }

    fn complete_key(&self, layout: &Layout, _: &Case, key: &mut CellKey) {
        key.put("alone", is_alone(layout.panel));
        if self.with_delta {
            key.put("with_delta", true);
        }
    }

    fn rows(&self, task: &Task) -> Result<Tables, Refusal> {
        let Task { panel, case, setting, .. } = *task;
        let (rows, best) = beside_optimum(task, self.question(case))?;
        let mut tables = Tables { optimum: rows, ..Tables::default() };
        let mechanism = best.and_then(|best| best.mechanism);
        let drawn = mechanism.filter(|mechanism| mechanism.outputs.len() <= MOST_OUTPUTS);
        if let (true, Some(mechanism)) = (is_alone(panel), drawn) {
            tables.optimal = optimal_rows(setting, &mechanism);
        }
        Ok(tables)
    }

    /// Every mechanism's multiple of the optimum against what distinguishes the cases; for a panel of
    /// one case the optimal mechanism itself.
    fn figures(&self, panel: &Panel, tables: &Tables) -> Vec<(String, Figure)> {
        if is_alone(panel) {
            let own = |row: &&OptimalRow| panel.owns(row.setting);
            let rows: Vec<&OptimalRow> = tables.optimal.iter().filter(own).collect();
            let map = (!rows.is_empty()).then(|| optimal_map(panel, tables, &rows));
            return map.map(|map| ("release".to_owned(), map)).into_iter().collect();
        }
        vec![("multiple".to_owned(), multiples(panel, tables))]
    }

    fn sketches(&self, panel: &Panel) -> Vec<Figure> {
        if is_alone(panel) { Vec::new() } else { vec![sketch::curves(panel, 1, LineName::OnPlot)] }
    }

    /// The least possible error, and every mechanism as a multiple of it.
    fn digests(&self, panel: &Panel, tables: &Tables) -> Vec<Digest> {
        let row = |setting: usize, label: &str| row_of(tables, setting, label);
        let ratio = |setting: usize, label: &str| {
            short_or_dash(row(setting, label).and_then(|row| row.ratio))
        };
        let caption = "mean error over the prior predictive distribution, as a multiple of the least possible";
        let mut digest = by_case(panel, caption, ratio);
        digest.columns.insert(1, "optimum".to_owned());
        for ((setting, _), cells) in panel.settings().zip(&mut digest.rows) {
            let first = panel.variants.first().and_then(|variant| row(setting, &variant.label));
            cells.insert(1, short_or_dash(first.and_then(|row| row.optimum)));
        }
        vec![digest]
    }

    fn answers(&self, panel: &Panel, tables: &Tables) -> Vec<String> {
        if is_alone(panel) {
            return Vec::new();
        }
        let bought = self.with_delta.then(|| bought(panel, tables)).flatten();
        let answers = answer(panel, tables).into_iter().chain(bought);
        answers.map(|text| format!("{}: {text}.", panel.title)).collect()
    }

    /// What each step buys, panel by panel.
    fn overall(&self, panels: &[&Panel], tables: &Tables) -> Vec<Digest> {
        let panels: Vec<&Panel> = panels.iter().copied().filter(|panel| !is_alone(panel)).collect();
        let Some(first) = panels.first() else { return Vec::new() };
        let mut rows: Vec<Vec<String>> = Vec::new();
        for step in Step::all(first) {
            let gain = |panel: &&Panel| {
                let same = Step::all(panel).into_iter().find(|other| other.name == step.name);
                same.map_or(String::new(), |step| spread(&step.gains(panel, tables)))
            };
            rows.push(std::iter::once(step.name.clone()).chain(panels.iter().map(gain)).collect());
        }
        let left = |panel: &&Panel| {
            let left: Vec<f64> =
                left_over(panel, tables).into_iter().map(|(_, _, excess)| excess).collect();
            spread(&left)
        };
        let last = "excess of the best mechanism over the optimum".to_owned();
        rows.push(std::iter::once(last).chain(panels.iter().map(left)).collect());
        let columns = panels.iter().map(|panel| panel.title.clone());
        vec![Digest {
            caption: "how much each step cuts the mean error: median (smallest to largest)"
                .to_owned(),
            columns: std::iter::once(String::new()).chain(columns).collect(),
            rows,
        }]
    }

    fn size(&self, panel: &Panel, case: &Case) -> Result<CaseSize, Refusal> {
        let mut size = means_over_all_data(panel, case)?;
        size.common = ProgramSize::new(&case.setting, self.question(case)).size;
        Ok(size)
    }

    fn row_count(&self, panel: &Panel, _: &Case, size: &CaseSize) -> f64 {
        // A panel of one case lists its optimal mechanism.
        let listed = is_alone(panel) && size.candidates <= MOST_OUTPUTS as f64;
        let listed = if listed { size.candidates * size.candidates } else { 0.0 };
        panel.variants.len() as f64 + listed
    }
}

/// A mechanism of more outputs is too large for a table, and the cells of its map too small.
const MOST_OUTPUTS: usize = 1_000;

/// Whether a panel has one case only: then it shows the optimal mechanism, not a curve.
fn is_alone(panel: &Panel) -> bool {
    panel.cases.len() == 1
}

/// Nearer than this, relative, nobody can tell a mechanism from the optimum.
pub const OPTIMAL: f64 = 1e-6;

/// What is left to the optimum, and what each step buys to a mechanism as it is.
fn answer(panel: &Panel, tables: &Tables) -> Option<String> {
    let left = left_over(panel, tables);
    let (setting, mechanism, excess) = left.iter().max_by(|a, b| a.2.total_cmp(&b.2))?;
    let place = panel.case(*setting).map(|case| Naming::new(&panel.cases).name(case));
    let best = match *excess <= OPTIMAL {
        true => "the best of these mechanisms is optimal in every setting".to_owned(),
        false => format!(
            "the best of these mechanisms is at most {} above the optimum ({}, at {})",
            percent(Some(*excess)),
            panel.title_of(mechanism),
            place.unwrap_or_default()
        ),
    };
    let steps = Step::all(panel).into_iter().filter(|step| step.is_first).enumerate();
    let steps: Vec<String> = steps
        .map(|(place, step)| {
            let gain = spread_in_words(&step.gains(panel, tables));
            match place {
                0 => format!("{} cuts the mean error by {gain}", capitalised(&step.name)),
                _ => format!("{} cuts it by {gain}", step.name),
            }
        })
        .collect();
    Some(match steps.is_empty() {
        true => best,
        false => format!("{best}. {}", steps.join("; ")),
    })
}

/// What δ buys: how far the (ε, δ) optimum is below the best ε-private mechanism, and where the others are.
fn bought(panel: &Panel, tables: &Tables) -> Option<String> {
    let mut gains: Vec<(f64, &Case)> = Vec::new();
    let mut others: Vec<(f64, String)> = Vec::new();
    for (setting, case) in panel.settings() {
        let mut least = f64::INFINITY;
        for variant in &panel.variants {
            let Some(row) = row_of(tables, setting, &variant.label) else { continue };
            if variant.is_purely_private(&case.setting) {
                least = least.min(row.mean);
            } else {
                others.extend(row.ratio.map(|ratio| (ratio, variant.title())));
            }
        }
        let best = tables.optimum.iter().find(|row| row.setting == setting)?.optimum?;
        gains.push((1.0 - best / least, case));
    }
    let (gain, case) = gains.into_iter().max_by(|a, b| a.0.total_cmp(&b.0))?;
    let (worst, name) = others.into_iter().max_by(|a, b| a.0.total_cmp(&b.0))?;
    Some(format!(
        "allowing δ cuts the error of the best of these ε-private mechanisms by at most {} (at {}). {name} \
         uses δ, and its error is up to {worst:.1} times the least error of any (ε, δ)-private mechanism",
        percent(Some(gain)),
        Naming::new(&panel.cases).name(case)
    ))
}

fn optimal_rows(setting: usize, mechanism: &OptimalMechanism) -> Vec<OptimalRow> {
    let row = |(x, counts): (usize, &Counts)| {
        let released = move |(r, output): (usize, &Counts)| OptimalRow {
            setting,
            counts: vector(counts),
            released: vector(output),
            probability: mechanism.probability(x, r),
        };
        mechanism.outputs.iter().enumerate().map(released).collect::<Vec<_>>()
    };
    let rows = mechanism.inputs.iter().enumerate().flat_map(row);
    rows.filter(|row| row.probability > 0.0).collect()
}

fn multiples(panel: &Panel, tables: &Tables) -> Figure {
    let abscissa = Abscissa::new(panel);
    let (case, naming) = (&panel.cases[0], &abscissa.naming);
    let lines = panel.variants.iter().zip(panel.series()).map(|(variant, series)| {
        let own = |row: &&OptimumRow| panel.owns(row.setting) && row.mechanism == variant.label;
        let point = |row: &OptimumRow| Some((abscissa.place(panel, row.setting)?, row.ratio?));
        line(series, tables.optimum.iter().filter(own).filter_map(point).collect())
    });
    let mut note: Vec<String> = (!naming.sizes).then(|| naming.data(case)).into_iter().collect();
    note.extend(naming.shared(case));
    let body = CurveFigure {
        x_label: abscissa.axis.label(panel).unwrap_or_default(),
        y_label: "mean error / least possible".to_owned(),
        y_scale: Scale::Log,
        lines: lines.collect(),
        references: vec![(1.0, "optimum".to_owned())],
        categories: abscissa.categories(panel),
        ..CurveFigure::default()
    };
    panel.figure(note.join(", "), body)
}

fn optimal_map(panel: &Panel, tables: &Tables, rows: &[&OptimalRow]) -> Figure {
    let case = &panel.cases[0];
    let optimum = tables.optimum.iter().find(|row| panel.owns(row.setting));
    let value = optimum.and_then(|row| row.optimum);
    let parse = |text: &str| text.split(';').filter_map(|v| v.parse().ok()).collect::<Counts>();
    let cells: Vec<(Counts, Counts, f64)> = rows
        .iter()
        .map(|row| (parse(&row.counts), parse(&row.released), row.probability))
        .collect();
    let note = format!(
        "n = {}, {}, {}; mean error {}; white: probability 0",
        case.setting.n,
        naming::prior(case),
        naming::epsilon(case),
        value.map_or("–".to_owned(), |value| format!("{value:.6}")),
    );
    panel.figure(note, release_map(&cells))
}

/// A way to make a mechanism better without giving up privacy.
pub struct Step {
    pub name: String,
    /// Whether it is done to a mechanism as it is; otherwise something was done before.
    pub is_first: bool,
    /// The mechanism before it, by its place in the panel,
    from: usize,
    /// and after it.
    to: usize,
}

impl Step {
    /// Every step between two mechanisms of the panel: calibrating, remapping, and releasing whole
    /// numbers from the start instead of rounding down.
    pub fn all(panel: &Panel) -> Vec<Self> {
        let places = 0..panel.variants.len();
        let pairs = places.clone().flat_map(|from| places.clone().map(move |to| (from, to)));
        let step = |(from, to): (usize, usize)| {
            let name = improvement(&panel.variants[from], &panel.variants[to])?;
            let is_first = panel.variants[from].options == Options::default();
            Some(Self { name, is_first, from, to })
        };
        pairs.filter_map(step).collect()
    }

    /// At every case the part of the mean error that the step removes.
    pub fn gains(&self, panel: &Panel, tables: &Tables) -> Vec<f64> {
        let gain = |(setting, _): (usize, &Case)| {
            let mean = |place: usize| {
                row_of(tables, setting, &panel.variants[place].label).map(|row| row.mean)
            };
            Some(1.0 - mean(self.to)? / mean(self.from).filter(|mean| *mean > 0.0)?)
        };
        panel.settings().filter_map(gain).collect()
    }
}

/// What was done to `from` to make it `to`, if it is one thing.
fn improvement(from: &Mechanism, to: &Mechanism) -> Option<String> {
    let title = from.kind.title();
    let (before, after) = (from.options, to.options);
    if from.is_same_mechanism(to) {
        let title = if from.kind.definition.is_some() { &from.label } else { title };
        let calibrated = Options { calibrated: true, ..before };
        let remapped = Options { remap: true, ..before };
        let title = if before.calibrated { format!("calibrated {title}") } else { title.into() };
        return match after {
            _ if after == before => None,
            _ if after == calibrated && !before.remap => Some(format!("calibrating {title}")),
            _ if after == remapped => Some(format!("remapping {title}")),
            _ => None,
        };
    }
    let is_plain = before == Options::default() && after == Options::default();
    let whole = (from.kind.id, to.kind.id) == ("lshist", "geometric");
    (is_plain && whole).then(|| "replacing floored Laplace noise by geometric noise".to_owned())
}

/// A row for every mechanism beside the optimum, and the optimum, if it is found.
pub(super) fn beside_optimum(
    task: &Task,
    question: Question,
) -> Result<(Vec<OptimumRow>, Option<optimum::Optimum>), Refusal> {
    let Task { panel, case, setting, .. } = *task;
    let part = parallel::part(0.5);
    let best = optimum::answer(&case.setting, question, &|_| ()).ok();
    drop(part);
    let row = |variant: &Mechanism| -> Result<Option<OptimumRow>, Refusal> {
        let law = panel.prepared(variant, case)?.law;
        let found = over_all_data(law.as_ref(), &case.setting)?;
        Ok(found.map(|found| OptimumRow::new(setting, &variant.label, &found, best.as_ref())))
    };
    let rows = parallel::map(&panel.variants, row);
    let rows: Vec<Option<OptimumRow>> = rows.into_iter().collect::<Result<_, _>>()?;
    Ok((rows.into_iter().flatten().collect(), best))
}

/// The row of a mechanism at a setting.
pub fn row_of<'a>(tables: &'a Tables, setting: usize, label: &str) -> Option<&'a OptimumRow> {
    tables.optimum.iter().find(|row| row.setting == setting && row.mechanism == label)
}

/// At every case by how much the best mechanism exceeds the optimum, as a part of it, and which
/// mechanism that is.
pub fn left_over(panel: &Panel, tables: &Tables) -> Vec<(usize, String, f64)> {
    let best = |(setting, _): (usize, &Case)| {
        let own = tables.optimum.iter().filter(|row| row.setting == setting);
        let ratios = own.filter_map(|row| Some((row, row.ratio?)));
        let (row, ratio) = ratios.min_by(|a, b| a.1.total_cmp(&b.1))?;
        // A certified optimum is never beaten but by its own width.
        Some((setting, row.mechanism.clone(), (ratio - 1.0).max(0.0)))
    };
    panel.settings().filter_map(best).collect()
}
