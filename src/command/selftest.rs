//! `dpbi selftest`.

use serde_json::{Value, json};

use super::{Failure, number, print, print_json, threads};
use crate::cli::Selftest;
use crate::console::{Grid, short};
use crate::progress::Progress;
use crate::selftest::golden::Measure;
use crate::selftest::{self, Extent, LEVEL, Report, Scope, Trial, WRONG, machine};

/// How often every sampler is asked: enough for a power of 0.999 or more for each.
const DRAWS: u64 = 400_000;

/// What a self-test takes, in seconds of one core.
const CPU_SECONDS: f64 = 30.0;

pub fn execute(args: &Selftest) -> Result<(), Failure> {
    let threads = threads(&args.threads)?;
    let seed = args.seed.map_or_else(machine::seed, Ok);
    let seed = seed.map_err(|cause| {
        Failure::Verdict(format!("the operating system gives no randomness: {cause}"))
    })?;
    let extent = Extent { scope: Scope::All, draws: DRAWS, seed, threads };
    let progress = Progress::new(CPU_SECONDS, threads, args.quiet);
    let part = progress.part(CPU_SECONDS);
    let step = CPU_SECONDS / selftest::steps(extent.scope) as f64;
    let report = selftest::run(&extent, || part.advance(step));
    drop(part);
    progress.finish();
    if args.print.json {
        print_json(&document(&report))?;
    } else if !args.quiet {
        print(&text(&report))?;
    }
    verdict(&report)
}

fn verdict(report: &Report) -> Result<(), Failure> {
    let failures = report.failures();
    match failures.len() {
        0 => Ok(()),
        many => {
            let lines: String = failures.iter().map(|failure| format!("\n  {failure}")).collect();
            let repeat = format!("\n  help: dpbi selftest --seed {}", report.extent.seed);
            let word = if many == 1 { "failure" } else { "failures" };
            Err(Failure::Verdict(format!("selftest: {many} {word}{lines}{repeat} repeats it")))
        }
    }
}

fn text(report: &Report) -> String {
    let mut text = samplers(report).render();
    text.push('\n');
    text += &golden(report).render();
    text.push('\n');
    let mut grid = Grid::new(usize::MAX);
    grid.row(["MACHINE", "", ""]);
    for check in &report.machine {
        grid.row([check.name, mark(check.passes), &check.seen]);
    }
    text += &grid.render();
    let outcome = if report.failures().is_empty() { "passed" } else { "failed" };
    text + &format!(
        "\nselftest {outcome}: {} tests, false-alarm rate {}, least power {} against a scale wrong by \
         5 % (--seed {})\n",
        report.tests(),
        rate(report.false_alarms()),
        power(report.least_power()),
        report.extent.seed,
    )
}

fn samplers(report: &Report) -> Grid {
    let mut grid = Grid::new(1);
    grid.row(["SAMPLER", "SETTINGS", "DRAWS", "LEAST P", "ADJUSTED", "POWER", "WRONG ONES", ""]);
    for line in report.lines() {
        let of_line = |trial: &&Trial| trial.sampler.starts_with(&format!("{} ", line.sampler));
        let wrong: Vec<&Trial> = report.wrong.iter().filter(of_line).collect();
        let caught = wrong.iter().filter(|trial| trial.is_rejected()).count();
        let is_right = line.adjusted >= selftest::FALSE_ALARMS && caught == wrong.len();
        grid.row([
            line.sampler.to_owned(),
            line.settings.to_string(),
            line.draws.to_string(),
            short(line.p),
            short(line.adjusted),
            power(line.power),
            format!("{caught}/{} seen", wrong.len()),
            mark(is_right).to_owned(),
        ]);
    }
    grid
}

fn golden(report: &Report) -> Grid {
    let mut grid = Grid::new(1);
    grid.row(["REFERENCE VALUES", "VALUES", "WORST DEVIATION", "ALLOWED", ""]);
    for group in &report.golden {
        grid.row([
            group.name.to_owned(),
            group.values.to_string(),
            format!("{:.1e}", group.worst.0),
            format!("{:.1e}", group.tolerance),
            mark(group.passes()).to_owned(),
        ]);
    }
    grid
}

fn mark(passes: bool) -> &'static str {
    if passes { "ok" } else { "FAILED" }
}

/// A power, never shown as more than it is.
fn power(power: f64) -> String {
    format!("{:.6}", (power * 1e6).floor() / 1e6)
}

/// A rate of errors, never shown as less than it is: two digits, rounded up.
fn rate(rate: f64) -> String {
    let shown = format!("{rate:.1e}");
    let is_less = shown.parse().is_ok_and(|shown: f64| shown < rate * (1.0 - 1e-3));
    if is_less { format!("{:.1e}", rate * 1.05) } else { shown.replace(".0e", "e") }
}

fn document(report: &Report) -> Value {
    let line = |line: &selftest::Line| {
        json!({
            "sampler": line.sampler,
            "settings": line.settings,
            "draws": line.draws,
            "least_p": line.p,
            "adjusted": line.adjusted,
            "power": line.power,
        })
    };
    let golden = |group: &selftest::golden::Comparison| {
        json!({
            "name": group.name,
            "values": group.values,
            "measure": measure(group.measure),
            "worst": number(group.worst.0),
            "worst_at": group.worst.1,
            "allowed": group.tolerance,
            "passes": group.passes(),
        })
    };
    let machine = |check: &machine::Check| {
        json!({ "name": check.name, "seen": check.seen, "passes": check.passes })
    };
    let failures = report.failures();
    json!({
        "passes": failures.is_empty(),
        "seed": report.extent.seed,
        "draws": report.extent.draws,
        "threads": report.extent.threads,
        "tests": report.tests(),
        "false_alarms": report.false_alarms(),
        "level": LEVEL,
        "wrong_by": WRONG - 1.0,
        "least_power": report.least_power(),
        "samplers": report.lines().iter().map(line).collect::<Vec<_>>(),
        "trials": report.trials.iter().map(trial).collect::<Vec<_>>(),
        "wrong": report.wrong.iter().map(trial).collect::<Vec<_>>(),
        "golden": report.golden.iter().map(golden).collect::<Vec<_>>(),
        "machine": report.machine.iter().map(machine).collect::<Vec<_>>(),
        "failures": failures,
    })
}

fn trial(trial: &Trial) -> Value {
    json!({
        "sampler": trial.sampler,
        "setting": trial.setting,
        "draws": trial.draws,
        "outside": trial.outside,
        "degrees": trial.degrees,
        "statistic": number(trial.statistic),
        "p": trial.p,
        "bound": trial.bound,
        "power": trial.power(),
        "miss": trial.miss,
        "rejected": trial.is_rejected(),
    })
}

fn measure(measure: Measure) -> &'static str {
    match measure {
        Measure::Relative => "relative",
        Measure::Absolute => "absolute",
        Measure::Either => "relative, absolute below 1",
    }
}
