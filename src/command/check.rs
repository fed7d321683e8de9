//! `dpbi check`.

use serde_json::json;

use super::{Failure, admit, load, predict, print, print_json, threads};
use crate::cli::Check;
use crate::console::Grid;
use crate::cost::{self, SettingWork, bytes, duration, number};
use crate::experiment::{Experiment, Naming};

pub fn execute(args: &Check) -> Result<(), Failure> {
    let threads = threads(&args.machine)?;
    let mut reports = Vec::new();
    let mut objection = None;
    for (source, experiment) in load(&args.configs, &args.replace)? {
        let work = predict(&experiment);
        if !args.print.json {
            print(&format!("{source} is valid\n{}\n", table(&experiment, &work, threads)))?;
        }
        reports.push(report(&experiment, &work, threads));
        let admitted = admit(&source.to_string(), &work, threads, args.machine.force);
        objection = objection.or(admitted.err());
    }
    if args.print.json {
        print_json(&json!(reports))?;
    }
    objection.map_or(Ok(()), |objection| Err(objection.into()))
}

fn table(experiment: &Experiment, work: &[SettingWork], threads: usize) -> String {
    let naming = Naming::new(&experiment.cases);
    let mut grid = Grid::new(1);
    grid.row(["setting", "candidates", "outputs to walk", "memory", "time"]);
    for (case, work) in experiment.cases.iter().zip(work) {
        let sum = cost::total(std::slice::from_ref(work));
        grid.row([
            naming.name(case),
            number(work.candidates),
            number(sum.outputs),
            bytes(sum.bytes),
            duration(sum.cpu_seconds / threads as f64),
        ]);
    }
    let sum = cost::total(work);
    let mut text = format!(
        "{}\n  {} settings, {} mechanisms, {} runs each: about {} and {} on {threads} threads\n",
        grid.render(),
        experiment.cases.len(),
        experiment.variants.len(),
        experiment.runs,
        duration(sum.cpu_seconds / threads as f64),
        bytes(sum.bytes),
    );
    for (case, label) in sampled_only(experiment, work) {
        text += &format!(
            "  {label} at {}: more than 10^10 outputs, so it is sampled without exact means\n",
            naming.name(&experiment.cases[case])
        );
    }
    text
}

fn sampled_only<'a>(
    experiment: &'a Experiment,
    work: &'a [SettingWork],
) -> impl Iterator<Item = (usize, &'a str)> {
    work.iter().enumerate().flat_map(|(case, work)| {
        let variants = experiment.variants.iter().zip(&work.sampled_only);
        variants.filter(|(_, only)| **only).map(move |(variant, _)| (case, variant.label.as_str()))
    })
}

fn report(experiment: &Experiment, work: &[SettingWork], threads: usize) -> serde_json::Value {
    let sum = cost::total(work);
    json!({
        "name": experiment.name,
        "settings": experiment.cases.len(),
        "mechanisms": experiment.variants.len(),
        "runs": experiment.runs,
        "candidates": work.iter().map(|setting| setting.candidates).fold(0.0, f64::max),
        "outputs": sum.outputs,
        "bytes": sum.bytes,
        "seconds": sum.cpu_seconds / threads as f64,
        "sampled_only": sampled_only(experiment, work)
            .map(|(case, label)| json!({ "setting": case + 1, "mechanism": label }))
            .collect::<Vec<_>>(),
    })
}
