//! Refusing programs that are too large.

use crate::cli;
use crate::command::announce;
use crate::progress::Clock;
use engine::analysis::cost::{self, LONGEST, Work};
use engine::analysis::optimum::{Question, Size};
use engine::analysis::ranking::Data;
use engine::mechanism::Variant;
use engine::posterior::setting::Setting;
use system::diagnostic::Diagnostic;
use system::platform::available_memory;

/// Refuses a program that is too large, unless forced, and names an n that is small enough. Announces
/// one that takes long.
pub fn admit(
    setting: &Setting,
    questions: &[Question],
    rivals: &[Variant],
    threads: usize,
    args: &cli::Optimum,
) -> Result<Option<Clock>, Diagnostic> {
    // Programs are solved one after the other.
    let all = |n: u64| {
        let mut sizes = questions.iter().map(|&question| Size::at(setting, question, n));
        let first = sizes.next();
        first.map(|first| sizes.fold(first, Size::and))
    };
    let Some(size) = all(setting.posterior.n()) else { return Ok(None) };
    let seconds = size.work.cpu_seconds + comparison(setting, rivals) / threads as f64;
    let memory = available_memory();
    let fits = |work: &Work, seconds: f64| seconds <= LONGEST && work.bytes() <= memory;
    if !fits(&size.work, seconds) && !args.machine.force {
        let possible = |n: u64| all(n).is_some_and(|size| fits(&size.work, size.work.cpu_seconds));
        let cause = format!(
            "this linear program is too large: {} unknowns, {} constraints, about {} of {} available, about {}",
            cost::number(size.unknowns),
            cost::number(size.constraints),
            cost::bytes(size.work.bytes()),
            cost::bytes(memory),
            cost::duration(seconds),
        );
        let n = cost::furthest(setting.posterior.n(), possible);
        let remedy = format!("n = {n} would do; --force starts it all the same");
        return Err(Diagnostic::new(cause).help(remedy));
    }
    Ok(announce(seconds, args.announce.quiet))
}

/// Seconds of one thread for the mechanisms' errors at every data set.
fn comparison(setting: &Setting, rivals: &[Variant]) -> f64 {
    let error = |variant: &Variant| cost::predict_error(variant, setting, Data::PriorPredictive);
    rivals.iter().filter_map(error).map(|work| work.cpu_seconds).sum()
}
