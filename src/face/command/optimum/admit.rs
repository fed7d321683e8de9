//! Refusing programs that are too large.

use crate::cli;
use crate::command::announce;
use crate::progress::Clock;
use engine::analysis::cost::{self, LONGEST, Limits, THOROUGH, Work};
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
    rivals: &[(Variant, bool)],
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
    // Flows are found on all threads, programs are solved on one.
    let own = if size.unknowns > 0.0 { size.work.cpu_seconds } else { size.work.seconds(threads) };
    let seconds = own + comparison(setting, rivals) / threads as f64;
    let memory = available_memory();
    let fits = |work: &Work, seconds: f64| seconds <= LONGEST && work.bytes() <= memory;
    if !fits(&size.work, seconds) && !args.calculation.machine.force {
        let possible = |n: u64| all(n).is_some_and(|size| fits(&size.work, size.work.cpu_seconds));
        let what = match size.unknowns > 0.0 {
            true => format!(
                "this linear program is too large: {} unknowns, {} constraints",
                cost::number(size.unknowns),
                cost::number(size.constraints)
            ),
            false => {
                format!("there are too many outputs: flows to {}", cost::number(size.constraints))
            }
        };
        let cause = format!(
            "{what}, about {} of {} available, about {}",
            cost::bytes(size.work.bytes()),
            cost::bytes(memory),
            cost::duration(seconds),
        );
        let n = cost::furthest(setting.posterior.n(), possible);
        let remedy = format!("n = {n} would do; --force starts it all the same");
        return Err(Diagnostic::new(cause).help(remedy));
    }
    Ok(announce(seconds, args.calculation.quiet))
}

/// Mechanisms whose errors at every data set would take longer than this in all are left out, in seconds of one
/// thread: those that take longest.
const LONGEST_COMPARISON: f64 = 60.0;

/// The mechanisms that are compared, and how many are left out, unless all are wanted. Flows know the error of the
/// tight one: it is marked if its law would take too long.
pub fn quick(
    setting: &Setting,
    question: Question,
    rivals: Vec<Variant>,
    all: bool,
) -> (Vec<(Variant, bool)>, usize) {
    let limits = Limits { seconds: LONGEST_COMPARISON, ..THOROUGH };
    let work = |variant| (false, cost::predict_error(variant, setting, Data::PriorPredictive));
    let quick = limits.quickest(rivals.iter().map(work), |work| work.cpu_seconds);
    let by_flows = Size::new(setting, question).unknowns == 0.0;
    let number = rivals.len();
    let mark = |(variant, quick): (Variant, bool)| {
        let known = by_flows && !quick && super::is_plainly_tight(&variant);
        (all || quick || known).then_some((variant, known))
    };
    let kept: Vec<(Variant, bool)> = rivals.into_iter().zip(quick).filter_map(mark).collect();
    let left_out = number - kept.len();
    (kept, left_out)
}

/// Seconds of one thread for the mechanisms' errors at every data set.
fn comparison(setting: &Setting, rivals: &[(Variant, bool)]) -> f64 {
    let error = |(variant, _): &(Variant, bool)| {
        cost::predict_error(variant, setting, Data::PriorPredictive)
    };
    let rivals = rivals.iter().filter(|(_, known)| !known);
    rivals.filter_map(error).map(|work| work.cpu_seconds).sum()
}
