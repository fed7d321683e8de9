//! `dpbi selftest`.

use super::threads;
use crate::cli::Selftest;
use crate::failure::{Failure, VerdictError, WorkError};
use engine::parallel;
use lab::experiment::config::{self, Overrides};
use service::selftest::{self, Document, ENOUGH, FALSE_ALARMS, LEVEL, Report};
use system::console::{Grid, short};
use system::diagnostic::Diagnostic;
use system::source::Source;

/// How often every sampler is asked: enough for a power of 0.999 or more for each.
const DRAWS: u64 = 250_000;

pub fn execute(args: &Selftest) -> Result<(), Failure> {
    let _whole = parallel::of_whole(1.0);
    threads(&args.threads)?;
    let seed = args.seed.map_or_else(selftest::new_seed, Ok);
    let seed = seed.map_err(WorkError::Randomness)?;
    let report = match &args.config {
        None => selftest::run(DRAWS, seed),
        Some(named) => {
            let experiment = config::load(&Source::config(named)?, &Overrides::default())?;
            let tested = selftest::run_experiment(&experiment, DRAWS, seed);
            tested.map_err(Diagnostic::from)?
        }
    };
    args.print.answer_unless(args.talk.quiet, || Document::from(&report), || text(&report))?;
    Ok(verdict(&report)?)
}

fn verdict(report: &Report) -> Result<(), VerdictError> {
    let failures = report.failures();
    match failures.is_empty() {
        true => Ok(()),
        false => Err(VerdictError::Selftest { failures, seed: report.seed }),
    }
}

fn text(report: &Report) -> String {
    let outcome = if report.failures().is_empty() { "passed" } else { "failed" };
    let mut text = samplers(report).render() + &legend();
    text += &format!(
        "\nselftest {outcome}: {} tests, false-alarm rate {FALSE_ALARMS:.0e}, least power {} against a \
         scale wrong by 5 % (--seed {})\n",
        report.trials.len(),
        power(report.least_power()),
        report.seed,
    );
    text
}

/// What the columns mean.
fn legend() -> String {
    format!(
        "  G-test of the draws in every setting. least p: the smallest p-value; a sampler is rejected below \
         {LEVEL:.0e}. power: the probability that a scale wrong by 5 % is noticed, in the setting where it \
         is noticed best; {ENOUGH} is enough.\n"
    )
}

fn samplers(report: &Report) -> Grid {
    let mut grid = Grid::new(1);
    grid.row(["SAMPLER", "SETTINGS", "DRAWS", "LEAST P", "POWER", ""]);
    for line in report.lines() {
        grid.row([
            line.sampler.to_owned(),
            line.settings.to_string(),
            line.draws.to_string(),
            short(line.p),
            power(line.power),
            if line.rejected == 0 { "ok" } else { "FAILED" }.to_owned(),
        ]);
    }
    grid
}

/// A power, never shown as more than it is.
fn power(power: f64) -> String {
    match power > 0.9999 {
        true => "> 0.9999".to_owned(),
        false => format!("{:.4}", (power * 1e4).floor() / 1e4),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use service::selftest::Subject;

    fn coin() -> Subject {
        let (sampler, setting) = ("coin".to_owned(), "the table".to_owned());
        Subject { sampler, setting, law: vec![0.5, 0.5], wrong: vec![vec![0.4, 0.6]] }
    }

    /// A fair coin, tried twice.
    fn report() -> Report {
        let mut tosses = [0, 1].into_iter().cycle();
        Report { seed: 5, trials: vec![coin().check(5000, || tosses.next().unwrap_or(0)); 2] }
    }

    #[test]
    fn a_wrong_sampler_is_named_and_ends_with_status_three() {
        let mut report = report();
        assert!(verdict(&report).is_ok());
        assert!(text(&report).contains("\nselftest passed: 2 tests, false-alarm rate 1e-6"));
        let mut tosses = (0..).map(|i| usize::from(i % 5 > 1));
        report.trials.push(coin().check(5000, || tosses.next().unwrap_or(0)));
        let failure = Failure::from(verdict(&report).expect_err("a coin that is not fair"));
        assert_eq!(failure.status(), 3);
        let told = failure.with_remedy();
        assert!(told.contains("coin (G = 201.4 with 1 degrees of freedom, p = "), "{told}");
        assert!(told.contains("at the table") && told.contains("dpbi selftest --seed 5"), "{told}");
        assert!(text(&report).contains("selftest failed"));
        assert_eq!(json!(Document::from(&report))["passes"], false);
        // An output that cannot be is infinitely unlikely, which JSON has no number for.
        report.trials.push(coin().check(10, || 2));
        let document = json!(Document::from(&report));
        assert_eq!(document["trials"][3]["statistic"], "inf");
        assert!(report.failures()[1].contains("10 of 10 draws are outputs that cannot occur"));
    }

    #[test]
    fn powers_are_never_rounded_up() {
        assert_eq!(power(1.0), "> 0.9999");
        assert_eq!(power(0.999_89), "0.9998");
        assert_eq!(power(0.0), "0.0000");
    }
}
