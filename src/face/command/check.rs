//! `dpbi check`.

use super::drawing::Drawing;
use super::{MOST_PRINTED, load, print_json, run, threads};
use crate::cli::Check;
use crate::failure::Failure;
use engine::words::{bytes, number};
use lab::experiment::{CaseSize, Experiment, Naming, Panel};
use lab::run::size::{ExperimentSize, SizeDocument, sampled_only, time};
use system::console::Grid;

pub fn execute(args: &Check) -> Result<(), Failure> {
    let threads = threads(&args.machine.threads)?;
    let mut reports = Vec::new();
    let mut objection = None;
    for (source, experiment) in load(&args.experiments.configs, &args.replace)? {
        let Drawing { formats, width } = Drawing::new(&args.figures, None);
        let mut size = ExperimentSize::new(&experiment, &formats, width);
        args.shard.iter().for_each(|&shard| size.take_part(&experiment, shard));
        let part = args.shard.map_or(String::new(), |shard| format!(", {shard}"));
        let text = || format!("{source} is valid{part}\n{}\n", table(&experiment, &size, threads));
        reports.extend(args.print.tell(
            false,
            || SizeDocument::new(&experiment, &size, threads),
            text,
        )?);
        let admitted = size
            .admit(&source.to_string(), threads, args.machine.force)
            .and_then(|()| run::refuse_unreadable(&experiment));
        objection = objection.or(admitted.err());
    }
    if args.print.json {
        print_json(&reports)?;
    }
    objection.map_or(Ok(()), |objection| Err(objection.into()))
}

fn table(experiment: &Experiment, size: &ExperimentSize, threads: usize) -> String {
    let mut text = String::new();
    for (place, panel) in experiment.panels.iter().enumerate() {
        if !panel.id.is_empty() {
            text += &format!("\n{} ({}): {}\n", panel.id, panel.kind.id(), panel.title);
        }
        text += &panel_table(panel, &size.own(place));
    }
    text + &format!(
        "  in all {}, {} of memory and {} on disk, on {threads} threads\n",
        time(size.outputs(), threads),
        bytes(size.bytes(threads)),
        bytes(size.disk()),
    )
}

/// Cases of a panel, with their places.
type Own<'a> = [(usize, &'a CaseSize)];

fn panel_table(panel: &Panel, cases: &Own) -> String {
    let naming = Naming::new(&panel.cases);
    let name = |case: usize| naming.name(&panel.cases[case]);
    let mut grid = Grid::new(1);
    grid.row(["setting", "candidates", "outputs", "memory"]);
    for &(case, size) in cases.iter().take(MOST_PRINTED) {
        grid.row([
            name(case),
            number(size.candidates),
            number(size.outputs()),
            bytes(size.bytes() + size.kept),
        ]);
    }
    let mut text = grid.render() + &more(cases.len(), "settings");
    let is_sampled = panel.kind.runs().is_some();
    let runs = match is_sampled {
        true => format!(", {} each", counted(panel.runs as usize, "run")),
        false => String::new(),
    };
    text += &format!(
        "  {}, {}{runs}\n",
        counted(cases.len(), "setting"),
        counted(panel.variants.len(), "mechanism")
    );
    let consequence = match is_sampled {
        true => "it is sampled without exact means",
        false => "it is left out",
    };
    for (case, label) in sampled_only(panel, cases).take(MOST_PRINTED) {
        let at = name(case);
        text += &format!("  {label} at {at}: more than 10^10 outputs, so {consequence}\n");
    }
    text + &more(sampled_only(panel, cases).count(), "of them")
}

/// A number of things, in words.
fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// Says that not all are listed.
fn more(all: usize, what: &str) -> String {
    match all.saturating_sub(MOST_PRINTED) {
        0 => String::new(),
        more => format!("  … and {more} more {what}\n"),
    }
}
