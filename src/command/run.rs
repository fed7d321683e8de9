//! `dpbi run`.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Instant, SystemTime};

use serde_json::json;
use statrs::function::erf::erfc;

use super::{Failure, admit, load, predict, print, print_json, threads};
use crate::cli::Run;
use crate::config;
use crate::console::{Grid, short, short_or_dash};
use crate::cost::{self, SettingWork};
use crate::experiment::{Experiment, Naming, accuracy};
use crate::figure;
use crate::progress::Progress;
use crate::store::{Folder, Manifest, utc};
use crate::table::{self, SettingRow, SummaryRow};

pub fn execute(args: &Run) -> Result<(), Failure> {
    let threads = threads(&args.machine)?;
    let experiments = load(&args.configs, &args.replace)?;
    // Everything that can be refused is refused before the first experiment starts.
    let mut ready = Vec::new();
    for (source, experiment) in &experiments {
        let work = predict(experiment);
        admit(&source.to_string(), &work, threads, args.machine.force)?;
        ready.push((experiment, work));
    }
    let open = |(experiment, work): (&'_ Experiment, _)| {
        Folder::open(&args.out, &experiment.name).map(|folder| (folder, work))
    };
    let folders = ready.into_iter().map(open).collect::<Result<Vec<_>, _>>()?;
    let mut reports = Vec::new();
    for ((_, experiment), (folder, work)) in experiments.iter().zip(folders) {
        let outcome = run_one(args, experiment, &work, folder, threads)?;
        if !args.quiet && !args.print.json {
            print(&outcome.text(experiment))?;
        }
        reports.push(outcome.json(experiment));
    }
    if args.print.json {
        print_json(&json!(reports))?;
    }
    Ok(())
}

/// So many settings are printed; the tables hold them all.
const MOST_PRINTED: usize = 24;

/// What a run leaves behind.
struct Outcome {
    settings: Vec<SettingRow>,
    summary: Vec<SummaryRow>,
    path: PathBuf,
    files: Vec<String>,
    seconds: f64,
}

impl Outcome {
    fn text(&self, experiment: &Experiment) -> String {
        format!(
            "{}\n{}\n  wrote {} in {}: {}\n\n",
            summary_table(experiment, &self.summary),
            agreement(&self.summary),
            self.path.display(),
            cost::duration(self.seconds),
            self.files.join(", "),
        )
    }

    fn json(&self, experiment: &Experiment) -> serde_json::Value {
        json!({
            "name": experiment.name,
            "folder": self.path,
            "seconds": self.seconds,
            "settings": self.settings,
            "summary": self.summary,
        })
    }
}

fn run_one(
    args: &Run,
    experiment: &Experiment,
    work: &[SettingWork],
    mut folder: Folder,
    threads: usize,
) -> Result<Outcome, Failure> {
    let (started, clock) = (SystemTime::now(), Instant::now());
    let manifest = |seconds| manifest(experiment, started, seconds);
    folder.begin(manifest(0.0))?;
    let results = compute(args, experiment, work, threads);
    let settings = accuracy::setting_rows(experiment);
    let summary = accuracy::summary_rows(experiment, &results);
    folder.write("config.toml", config::resolve(experiment).as_bytes())?;
    folder.write("settings.csv", &table::csv(&settings))?;
    folder.write("errors.csv", &accuracy::errors_csv(experiment, &results))?;
    folder.write("summary.csv", &table::csv(&summary))?;
    let errors = |case: usize, variant: usize, error: usize| {
        results[case][variant].draws.errors[error].as_slice()
    };
    for (name, drawing) in accuracy::figures(experiment, &summary, &errors) {
        for &format in &args.format.0 {
            let bytes = figure::render(&drawing, format).map_err(Failure::broken)?;
            folder.write(&format!("{name}.{}", format.extension()), &bytes)?;
        }
    }
    let files = folder.files().map(str::to_owned).collect();
    let seconds = clock.elapsed().as_secs_f64();
    let path = folder.finish(manifest(seconds))?;
    Ok(Outcome { settings, summary, path, files, seconds })
}

fn manifest(experiment: &Experiment, started: SystemTime, seconds: f64) -> Manifest {
    Manifest {
        dpbi: env!("CARGO_PKG_VERSION").into(),
        name: experiment.name.clone(),
        command: std::env::args().collect(),
        seed: experiment.seed,
        runs: experiment.runs,
        started: utc(started),
        ended: utc(SystemTime::now()),
        seconds,
        complete: false,
        files: BTreeMap::new(),
    }
}

fn compute(
    args: &Run,
    experiment: &Experiment,
    work: &[SettingWork],
    threads: usize,
) -> accuracy::Results {
    let cpu_seconds = cost::total(work).cpu_seconds;
    let progress = Progress::new(cpu_seconds, threads, args.quiet);
    let naming = Naming::new(&experiment.cases);
    let clock = Instant::now();
    let results = accuracy::run(experiment, &|case, variant| {
        progress.advance(work[case].cells[variant].cpu_seconds);
        if args.verbose {
            let name = naming.name(&experiment.cases[case]);
            let label = &experiment.variants[variant].label;
            let seconds = clock.elapsed().as_secs_f64();
            progress.line(&format!("{seconds:8.3} s  {name}: {label} done"));
        }
    });
    progress.finish();
    results
}

/// For every case the exact and the sampled mean of every mechanism.
fn summary_table(experiment: &Experiment, summary: &[SummaryRow]) -> String {
    let errors = experiment.errors();
    let naming = Naming::new(&experiment.cases);
    let mut text = format!("{}: {}\n", experiment.name, experiment.title);
    for metric in errors {
        text += &format!("\n  mean {}, {} runs\n", metric.title, experiment.runs);
        let mut grid = Grid::new(2);
        let labels = experiment.variants.iter().map(|variant| variant.label.as_str());
        grid.row(["", ""].into_iter().chain(labels));
        for (number, case) in (1..).zip(&experiment.cases).take(MOST_PRINTED) {
            let rows =
                summary.iter().filter(|row| row.setting == number && row.metric == metric.id);
            let exact = rows.clone().map(|row| short_or_dash(row.exact_mean));
            grid.row([naming.name(case), "exact".into()].into_iter().chain(exact));
            let sampled = rows.map(|row| short(row.mean));
            grid.row([String::new(), "sampled".into()].into_iter().chain(sampled));
        }
        text += &grid.render();
    }
    if let Some(more) = experiment.cases.len().checked_sub(MOST_PRINTED).filter(|&more| more > 0) {
        text += &format!("  … and {more} more settings in summary.csv\n");
    }
    text
}

/// How well the sampled means agree with the exact ones: the largest |z|, and how often chance
/// alone gives one as large among so many.
fn agreement(summary: &[SummaryRow]) -> String {
    let scores: Vec<_> = summary.iter().filter_map(|row| Some((row.z?.abs(), row))).collect();
    let Some((z, row)) = scores.iter().max_by(|a, b| a.0.total_cmp(&b.0)) else {
        return "  no sampled mean can be compared with an exact one".into();
    };
    let single = erfc(z / std::f64::consts::SQRT_2);
    let chance = -libm::expm1(scores.len() as f64 * libm::log1p(-single.min(1.0 - 1e-16)));
    format!(
        "  sampled and exact means differ by at most {z:.2} standard errors ({} in setting {}); \
         among {} this happens by chance with probability {}",
        row.mechanism,
        row.setting,
        scores.len(),
        short(chance),
    )
}
