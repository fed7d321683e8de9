//! `dpbi check`.

use serde_json::json;

use super::forecast::Forecast;
use super::{Failure, MOST_PRINTED, load, print, print_json, threads};
use crate::cli::Check;
use crate::console::Grid;
use crate::cost::{SettingWork, bytes, duration, number};
use crate::experiment::{Experiment, Kind, Naming, Panel};

pub fn execute(args: &Check) -> Result<(), Failure> {
    let threads = threads(&args.machine.threads)?;
    let mut reports = Vec::new();
    let mut objection = None;
    for (source, experiment) in load(&args.configs, &args.replace)? {
        let work = Forecast::new(&experiment, &args.format.0);
        if !args.print.json {
            print(&format!("{source} is valid\n{}\n", table(&experiment, &work, threads)))?;
        }
        reports.push(report(&experiment, &work, threads));
        let admitted = work.admit(&source.to_string(), threads, args.machine.force);
        objection = objection.or(admitted.err());
    }
    if args.print.json {
        print_json(&json!(reports))?;
    }
    objection.map_or(Ok(()), |objection| Err(objection.into()))
}

fn table(experiment: &Experiment, work: &Forecast, threads: usize) -> String {
    let mut text = String::new();
    for (panel, work) in experiment.panels.iter().zip(&work.panels) {
        if !panel.id.is_empty() {
            text += &format!("\n{} ({}): {}\n", panel.id, panel.kind.id(), panel.title);
        }
        text += &panel_table(panel, work, threads);
    }
    let sum = work.total(threads);
    text + &format!(
        "  in all about {} and {} on {threads} threads\n",
        duration(sum.seconds(threads)),
        bytes(sum.bytes()),
    )
}

fn panel_table(panel: &Panel, work: &[SettingWork], threads: usize) -> String {
    let naming = Naming::new(&panel.cases);
    let mut grid = Grid::new(1);
    grid.row(["setting", "candidates", "outputs to walk", "memory", "time"]);
    for (case, work) in panel.cases.iter().zip(work).take(MOST_PRINTED) {
        let sum = work.sum();
        grid.row([
            naming.name(case),
            number(work.candidates),
            number(sum.outputs),
            bytes(sum.bytes()),
            duration(sum.seconds(threads)),
        ]);
    }
    let mut text = grid.render();
    if let Some(more) = panel.cases.len().checked_sub(MOST_PRINTED).filter(|&more| more > 0) {
        text += &format!("  … and {more} more settings\n");
    }
    let runs = match panel.kind {
        Kind::Accuracy => format!(", {} runs each", panel.runs),
        _ => String::new(),
    };
    text +=
        &format!("  {} settings, {} mechanisms{runs}\n", panel.cases.len(), panel.variants.len(),);
    for (case, label) in sampled_only(panel, work) {
        let consequence = match panel.kind {
            Kind::Accuracy => "it is sampled without exact means",
            _ => "it is left out",
        };
        text += &format!(
            "  {label} at {}: more than 10^10 outputs, so {consequence}\n",
            naming.name(&panel.cases[case])
        );
    }
    text
}

fn sampled_only<'a>(
    panel: &'a Panel,
    work: &'a [SettingWork],
) -> impl Iterator<Item = (usize, &'a str)> {
    work.iter().enumerate().flat_map(|(case, work)| {
        let variants = panel.variants.iter().zip(&work.sampled_only);
        variants.filter(|(_, only)| **only).map(move |(variant, _)| (case, variant.label.as_str()))
    })
}

fn report(experiment: &Experiment, work: &Forecast, threads: usize) -> serde_json::Value {
    let sum = work.total(threads);
    let panels = || experiment.panels.iter();
    let sampled_only = panels().zip(&work.panels).flat_map(|(panel, work)| {
        sampled_only(panel, work)
            .map(|(case, label)| json!({ "setting": panel.first + case, "mechanism": label }))
    });
    json!({
        "name": experiment.name,
        "panels": panels().len(),
        "settings": panels().map(|panel| panel.cases.len()).sum::<usize>(),
        "mechanisms": panels().map(|panel| panel.variants.len()).max(),
        "runs": panels().map(|panel| panel.runs).max(),
        "candidates": work.candidates(),
        "outputs": sum.outputs,
        "bytes": sum.bytes(),
        "seconds": sum.seconds(threads),
        "sampled_only": sampled_only.collect::<Vec<_>>(),
    })
}
