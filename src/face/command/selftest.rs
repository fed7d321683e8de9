//! `dpbi selftest`.

use super::threads;
use crate::cli::Selftest;
use crate::failure::{Failure, VerdictError};
use crate::progress::{Ahead, Progress};
use lab::experiment::config::{self, Overrides};
use service::selftest::{self, Document, Extent, Report, Scope, machine};
use system::console::{Grid, short};
use system::diagnostic::Diagnostic;
use system::source::Source;

/// How often every sampler is asked: enough for a power of 0.999 or more for each.
const DRAWS: u64 = 250_000;

/// What a self-test takes, in seconds of one core.
const CPU_SECONDS: f64 = 45.0;

pub fn execute(args: &Selftest) -> Result<(), Failure> {
    let threads = threads(&args.threads)?;
    let seed = args.seed.map_or_else(machine::seed, Ok);
    let seed = seed.map_err(VerdictError::Randomness)?;
    let extent = Extent { scope: Scope::All, draws: DRAWS, seed, threads };
    let ahead = Ahead { cpu_seconds: CPU_SECONDS, cells: 0 };
    let progress = Progress::new(ahead, threads, args.talk.quiet);
    let part = progress.part(CPU_SECONDS);
    let advance = |share: f64| part.advance(CPU_SECONDS * share);
    let report = match &args.config {
        None => selftest::run(&extent, advance),
        Some(named) => {
            let experiment = config::load(&Source::config(named)?, &Overrides::default())?;
            let tested = selftest::run_experiment(&extent, &experiment, advance);
            tested.map_err(Diagnostic::from)?
        }
    };
    drop(part);
    progress.finish();
    args.print.answer_unless(args.talk.quiet, || Document::from(&report), || text(&report))?;
    Ok(verdict(&report)?)
}

fn verdict(report: &Report) -> Result<(), VerdictError> {
    let (failures, seed) = (report.failures(), report.extent.seed);
    match failures.is_empty() {
        true => Ok(()),
        false => Err(VerdictError::Selftest { failures, seed }),
    }
}

fn text(report: &Report) -> String {
    let mut text = samplers(report).render();
    text += LEGEND;
    if !report.golden.is_empty() {
        text += &golden(report).render();
        text.push('\n');
    }
    let mut grid = Grid::new(usize::MAX);
    grid.row(["MACHINE", "", ""]);
    for check in &report.machine {
        grid.row([check.name, mark(check.passes), &check.seen]);
    }
    if !report.machine.is_empty() {
        text += &grid.render();
    }
    let outcome = if report.failures().is_empty() { "passed" } else { "failed" };
    text + &format!(
        "\nselftest {outcome}: {} tests, false-alarm rate {}, least power {} against a scale wrong by \
         5 % (--seed {})\n",
        report.tests(),
        rate(report.false_alarms()),
        power(report.greatest_miss()),
        report.extent.seed,
    )
}

/// What the columns mean.
const LEGEND: &str = "  least p: the smallest tail probability of χ², for orientation. adjusted: a proved \
    bound on the p-value for all trials together; a sampler is rejected below 1e-6. power: the \
    probability that a scale wrong by 5 % is detected, where it is detected best; 0.999 is enough.\n\n";

fn samplers(report: &Report) -> Grid {
    let mut grid = Grid::new(1);
    let columns = ["SAMPLER", "SETTINGS", "DRAWS", "LEAST P", "ADJUSTED", "POWER", "POWERFUL IN"];
    grid.row(columns.into_iter().chain(["5 % OFF SEEN", ""]));
    for line in report.lines() {
        let wrong: Vec<_> = report.wrong.iter().filter(|one| one.of == line.sampler).collect();
        let caught = wrong.iter().filter(|one| one.trial.is_rejected()).count();
        let is_right = line.adjusted >= selftest::FALSE_ALARMS && caught == wrong.len();
        grid.row([
            line.sampler.to_owned(),
            line.settings.to_string(),
            line.draws.to_string(),
            short(line.p),
            short(line.adjusted),
            power(line.miss),
            line.powered.to_string(),
            match wrong.len() {
                0 => "–".to_owned(),
                tried => format!("{caught} of {tried} seen"),
            },
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

/// The power that goes with a miss, never shown as more than it is.
fn power(miss: f64) -> String {
    match miss {
        0.0 => "1".to_owned(),
        miss if miss < 1e-6 => format!("1 - {}", rate(miss)),
        miss => format!("{:.6}", ((1.0 - miss) * 1e6).floor() / 1e6),
    }
}

/// A rate of errors: one digit, and no less than it is but for rounding.
fn rate(rate: f64) -> String {
    let shown = format!("{rate:.0e}");
    let is_less = shown.parse().is_ok_and(|shown: f64| shown < rate * (1.0 - 1e-6));
    if is_less { format!("{:.0e}", 1.5 * rate) } else { shown }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use service::selftest::{Subject, WrongTrial, golden};

    const EXTENT: Extent = Extent { scope: Scope::Powered, draws: 10, seed: 5, threads: 1 };

    fn coin() -> Subject {
        let (sampler, setting) = ("coin".to_owned(), "the table".to_owned());
        Subject { sampler, setting, law: vec![0.5, 0.5], wrong: Vec::new() }
    }

    /// A fair coin, tried twice, and one group of reference values.
    fn report() -> Report {
        let mut tosses = [0, 1].into_iter().cycle();
        let trials = vec![coin().check(5000, || tosses.next().unwrap_or(0)); 2];
        let golden = vec![golden::GROUPS[0].compare()];
        Report { extent: EXTENT, trials, wrong: Vec::new(), golden, machine: Vec::new() }
    }

    #[test]
    fn a_right_build_passes_and_says_so_to_people_and_machines() {
        let report = report();
        assert!(verdict(&report).is_ok());
        let text = text(&report);
        let last = text.lines().last().unwrap_or_default();
        assert!(last.starts_with("selftest passed: ") && last.ends_with("(--seed 5)"), "{last}");
        assert!(last.contains("false-alarm rate 1e-6"), "{last}");
        let document = json!(Document::from(&report));
        assert_eq!(document["passes"], true);
        assert_eq!(document["failures"], json!([]));
        assert_eq!(document["trials"].as_array().map(Vec::len), Some(report.trials.len()));
        for key in ["sampler", "setting", "statistic", "degrees", "p", "bound", "power"] {
            assert!(!document["trials"][0][key].is_null(), "{key}");
        }
        let draws: u64 = report.lines().iter().map(|line| line.draws).sum();
        assert_eq!(draws, report.trials.iter().map(|trial| trial.draws).sum::<u64>());
    }

    #[test]
    fn a_wrong_sampler_is_named_and_ends_with_status_three() {
        let mut report = report();
        let subject = coin();
        let mut tosses = (0..).map(|i| usize::from(i % 5 > 1));
        report.trials.push(subject.check(5000, || tosses.next().unwrap_or(0)));
        let failure = Failure::from(verdict(&report).expect_err("a coin that is not fair"));
        assert_eq!(failure.status(), 3);
        let told = failure.with_remedy();
        assert!(told.contains("coin (2t = 201.4 with 1 degrees of freedom, p <= "), "{told}");
        assert!(told.contains("at the table") && told.contains("dpbi selftest --seed 5"), "{told}");
        assert!(text(&report).contains("selftest failed"));
        assert_eq!(json!(Document::from(&report))["passes"], false);
        // An output that cannot be is infinitely unlikely, which JSON has no number for.
        report.trials.push(subject.check(10, || 2));
        assert_eq!(
            json!(Document::from(&report))["trials"].as_array().unwrap().last().unwrap()["statistic"],
            "inf"
        );
        let told = report.failures().concat();
        assert!(told.contains("coin (10 of 10 draws are outputs that cannot occur)"), "{told}");
    }

    /// "mine" and "mine wide" are two samplers.
    #[test]
    fn wrong_samplers_stand_in_the_line_of_their_own_name() {
        let trial =
            |sampler: &str| Subject { sampler: sampler.to_owned(), ..coin() }.check(10, || 2);
        let wrong = |of: &str| WrongTrial { of: of.to_owned(), trial: trial(&format!("{of} off")) };
        let report = Report {
            extent: EXTENT,
            trials: vec![trial("mine"), trial("mine wide")],
            wrong: vec![wrong("mine"), wrong("mine wide"), wrong("mine wide")],
            golden: Vec::new(),
            machine: Vec::new(),
        };
        let text = text(&report);
        assert!(text.contains("1 of 1 seen") && text.contains("2 of 2 seen"), "{text}");
    }

    #[test]
    fn rates_are_not_understated() {
        assert_eq!(rate(1e-6), "1e-6");
        assert_eq!(rate(1.2e-26), "2e-26");
        assert_eq!(power(3.6e-26), "1 - 4e-26");
        assert_eq!(power(0.000_123_45), "0.999876");
        assert_eq!(power(0.0), "1");
    }
}
