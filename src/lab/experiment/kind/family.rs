//! A family of the user's mechanisms: the mean error of each against one of their parameters, beside other
//! mechanisms and the least possible error.

use super::curves::line;
use super::means_over_all_data;
use super::optimum::{beside_optimum, row_of};
use super::prelude::*;
use crate::experiment::digest::percent;
use engine::analysis::optimum::{Goal, ProgramSize, Question};
use engine::mechanism::Mechanism;
use engine::mechanism::law::OutputSet;
use engine::mechanism::own::{Parameter, compact};
use figure::{Series, UNSTATED, numbered_colour};
use system::console::short_or_dash;
use table::{OptimumRow, distinct};

kind! {
    "family": "the error of every member of a family of your own mechanisms, and the best of them";
    /// The error of every member, and of the mechanisms that they are compared with.
    pub struct Family {
        /// The parameter on the horizontal axis, if it is not the one with the most values.
        "over" => over: Option<String>,
    }
}

/// How many of the best members a terminal and the report show.
const SHOWN: usize = 10;

impl Kind for Family {
    /// 3: flows with losses may find it.
    fn version(&self) -> u32 {
        3
    }

    fn check(&self, panel: &Panel) -> Result<(), Complaint> {
        let parameter = self.parameter(panel);
        if values(panel, &parameter).len() > 1 {
            return Ok(());
        }
        let cause = match &self.over {
            Some(name) => format!("no mechanism has a parameter `{name}` with several values"),
            None => "no mechanism has a parameter with several values".to_owned(),
        };
        let remedy = "add for example { id = \"weights\", log_weight = \"-c * H\", c = [1, 2, 4] }";
        Err(match &self.over {
            Some(_) => About::Key("over").wrong(cause, remedy),
            None => About::Mechanism(0).wrong(cause, remedy),
        })
    }

    fn rows(&self, task: &Task) -> Result<Tables, Refusal> {
        let (optimum, _) = beside_optimum(task, QUESTION)?;
        Ok(Tables { optimum, ..Tables::default() })
    }

    /// One figure for every setting.
    fn figures(&self, panel: &Panel, tables: &Tables) -> Vec<(String, Figure)> {
        let many = panel.cases.len() > 1;
        let figure = |(number, (setting, case)): (usize, (usize, &Case))| {
            let suffix = if many { format!("-{number}") } else { String::new() };
            let figure = self.figure(panel, case, setting, tables);
            (format!("family{suffix}"), figure)
        };
        (1..).zip(panel.settings()).map(figure).collect()
    }

    fn digests(&self, panel: &Panel, tables: &Tables) -> Vec<Digest> {
        let naming = Naming::new(&panel.cases);
        let parameter = self.parameter(panel);
        let digest = |(setting, case): (usize, &Case)| {
            let ranked = ranked(panel, setting, tables);
            let mut left = SHOWN;
            let rows = ranked.iter().filter(|(variant, _)| {
                // All that the family is compared with, and its best members.
                let is_member = value(variant, &parameter).is_some();
                let shown = !is_member || left > 0;
                left -= usize::from(is_member && left > 0);
                shown
            });
            let row = |(variant, row): &(&Mechanism, &OptimumRow)| {
                vec![variant.label.clone(), short_or_dash(Some(row.mean)), short_or_dash(row.ratio)]
            };
            let what = "mean error over the prior predictive distribution";
            Digest {
                caption: format!("{what}, {}: the best {SHOWN} members", naming.name(case)),
                columns: ["", "mean error", "multiple of the optimum"].map(str::to_owned).into(),
                rows: rows.map(row).collect(),
            }
        };
        panel.settings().map(digest).collect()
    }

    fn summary(&self, panel: &Panel, tables: &Tables, most_printed: usize) -> String {
        let sentences = self.sentences(panel, tables).into_iter().take(most_printed);
        sentences.map(|sentence| format!("  {sentence}.\n")).collect()
    }

    fn answers(&self, panel: &Panel, tables: &Tables) -> Vec<String> {
        let sentences = self.sentences(panel, tables).into_iter();
        sentences.map(|sentence| format!("{}: {sentence}.", panel.title)).collect()
    }

    fn size(&self, panel: &Panel, case: &Case) -> Result<CaseSize, Refusal> {
        let mut size = means_over_all_data(panel, case)?;
        size.common = ProgramSize::new(&case.setting, QUESTION).size;
        Ok(size)
    }
}

/// The optimum that mechanisms are compared with.
const QUESTION: Question = Question { goal: Goal::Bayes, set: OutputSet::Simplex, delta: None };

impl Family {
    /// The best member at every setting, in words.
    fn sentences(&self, panel: &Panel, tables: &Tables) -> Vec<String> {
        let naming = Naming::new(&panel.cases);
        let parameter = self.parameter(panel);
        let sentence = |(setting, case): (usize, &Case)| {
            let ranked = ranked(panel, setting, tables);
            let is_member = |one: &&(&Mechanism, &OptimumRow)| value(one.0, &parameter).is_some();
            let (best, row) = ranked.iter().find(is_member)?;
            let beside = ranked.iter().filter(|one| !is_member(one)).map(|(other, theirs)| {
                let change = row.mean / theirs.mean - 1.0;
                let side = if change <= 0.0 { "below" } else { "above" };
                format!("{} {side} {}", percent(Some(change.abs())), other.title())
            });
            let least = row.ratio.map(|ratio| format!("{ratio:.3} times the least possible"));
            let compared: Vec<String> = beside.chain(least).collect();
            Some(format!(
                "at {} the best member is {}: its mean error {} is {}",
                naming.name(case),
                best.label,
                short_or_dash(Some(row.mean)),
                compared.join("; ")
            ))
        };
        panel.settings().filter_map(sentence).collect()
    }

    /// The parameter on the horizontal axis.
    fn parameter(&self, panel: &Panel) -> String {
        let parameters = panel.variants.iter().flat_map(parameters);
        let names = distinct(parameters.map(|parameter| parameter.name.as_str()));
        // Of several with as many values the first is taken.
        let most = names.into_iter().rev().max_by_key(|name| values(panel, name).len());
        self.over.clone().or(most.map(str::to_owned)).unwrap_or_default()
    }

    fn figure(&self, panel: &Panel, case: &Case, setting: usize, tables: &Tables) -> Figure {
        let parameter = self.parameter(panel);
        let mean = |variant: &Mechanism| Some(row_of(tables, setting, &variant.label)?.mean);
        let groups: Vec<String> =
            panel.variants.iter().filter_map(|variant| group(variant, &parameter)).collect();
        let names = distinct(groups.iter().map(String::as_str));
        let curve = |(number, name): (usize, &str)| {
            let members = panel.variants.iter();
            let members = members.filter(|one| group(one, &parameter).as_deref() == Some(name));
            let private = members.clone().all(|one| one.guarantee(&case.setting).is_private());
            let point = |one: &Mechanism| Some((value(one, &parameter)?, mean(one)?));
            let mut points: Vec<(f64, f64)> = members.filter_map(point).collect();
            points.sort_by(|a, b| a.0.total_cmp(&b.0));
            let warning = if private { String::new() } else { format!(" {UNSTATED}") };
            let label = format!("{name}{warning}");
            line(Series { label, colour: numbered_colour(number), private }, points)
        };
        let others = panel.variants.iter().filter(|one| value(one, &parameter).is_none());
        let mut references: Vec<(f64, String)> =
            others.filter_map(|one| Some((mean(one)?, one.title()))).collect();
        let optimum = tables.optimum.iter().find(|row| row.setting == setting);
        let optimum = optimum.and_then(|row| row.optimum);
        references.extend(optimum.map(|optimum| (optimum, "least possible".to_owned())));
        let ranked = ranked(panel, setting, tables);
        let mark = |(best, _): &(&Mechanism, _)| {
            Some((value(best, &parameter)?, format!("best: {}", best.label)))
        };
        let naming = Naming::new(&panel.cases);
        let note = [naming.name(case)].into_iter().chain(naming.shared(case));
        let note = note.filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ");
        let body = CurveFigure {
            x_label: format!("parameter {parameter}"),
            y_label: "mean error (prior predictive)".to_owned(),
            lines: names.into_iter().enumerate().map(curve).collect(),
            references,
            landmarks: ranked.iter().find_map(mark).into_iter().collect(),
            ..CurveFigure::default()
        };
        panel.figure(note, body)
    }
}

fn parameters(variant: &Mechanism) -> &[Parameter] {
    variant.kind.definition.as_ref().map_or(&[], |definition| definition.parameters())
}

/// The number that a mechanism has for a parameter.
fn value(variant: &Mechanism, parameter: &str) -> Option<f64> {
    parameters(variant).iter().find(|one| one.name == parameter).map(|one| one.value)
}

/// The different numbers that mechanisms of the panel have for a parameter.
fn values(panel: &Panel, parameter: &str) -> Vec<f64> {
    let mut values: Vec<f64> =
        panel.variants.iter().filter_map(|variant| value(variant, parameter)).collect();
    values.sort_by(f64::total_cmp);
    values.dedup();
    values
}

/// The name of the curve on which a member lies: its label without the parameter of the axis.
fn group(variant: &Mechanism, parameter: &str) -> Option<String> {
    let own = format!("{parameter} = {}", compact(value(variant, parameter)?));
    let parts = variant.label.split(", ").filter(|part| *part != own);
    let name = parts.collect::<Vec<_>>().join(", ");
    Some(if name.is_empty() { variant.kind.title().to_owned() } else { name })
}

/// All mechanisms with their rows at one setting, the best first.
fn ranked<'a>(
    panel: &'a Panel,
    setting: usize,
    tables: &'a Tables,
) -> Vec<(&'a Mechanism, &'a OptimumRow)> {
    let row = |variant: &'a Mechanism| Some((variant, row_of(tables, setting, &variant.label)?));
    let mut ranked: Vec<_> = panel.variants.iter().filter_map(row).collect();
    ranked.sort_by(|a, b| a.1.mean.total_cmp(&b.1.mean));
    ranked
}
