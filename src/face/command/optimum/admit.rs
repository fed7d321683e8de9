//! Refusing programs that are too large.

use crate::cli;
use engine::analysis::optimum::{ProgramSize, Question};
use engine::analysis::ranking::Data;
use engine::analysis::size::{self, Size};
use engine::mechanism::Mechanism;
use engine::posterior::distance::furthest;
use engine::posterior::setting::Setting;
use engine::words;
use lab::run::size::admit as admit_bytes;
use system::diagnostic::Diagnostic;
use system::platform::available_memory;

/// Refuses a program that needs more memory than there is, unless forced, and names an n that is small enough.
/// Returns how large it and the comparison are.
pub fn admit(
    setting: &Setting,
    questions: &[Question],
    rivals: &[(Mechanism, bool)],
    args: &cli::Optimum,
) -> Result<[f64; 2], Diagnostic> {
    // Programs are solved one after the other.
    let all = |setting: &Setting| {
        let sizes = questions.iter().map(|&question| ProgramSize::new(setting, question));
        sizes.fold(ProgramSize::default(), ProgramSize::then)
    };
    let program = all(setting);
    let what = match program.unknowns > 0.0 {
        true => format!(
            "this linear program is too large: {} unknowns, {} constraints",
            words::number(program.unknowns),
            words::number(program.constraints)
        ),
        false => {
            format!("there are too many outputs: flows to {}", words::number(program.constraints))
        }
    };
    admit_bytes(&what, program.size.bytes, args.calculation.machine.force, || {
        let smaller = |n: u64| Setting { n, ..setting.clone() };
        let possible = |n: u64| all(&smaller(n)).size.bytes <= available_memory();
        format!("n = {} would do", furthest(setting.n, possible))
    })?;
    let rivals = rivals.iter().filter(|(_, known)| !known);
    let comparison = rivals.filter_map(|(variant, _)| error(variant, setting));
    Ok([program.size.outputs, comparison.map(|size| size.outputs).sum()])
}

fn error(variant: &Mechanism, setting: &Setting) -> Option<Size> {
    size::error(variant, setting, &Data::PriorPredictive)
}

/// The mechanisms that are compared, and how many are left out, unless all are wanted: those that are largest.
/// Flows know the error of the tight one: it is marked if its law is too large.
pub fn small(
    setting: &Setting,
    question: Question,
    rivals: Vec<Mechanism>,
    all: bool,
) -> (Vec<(Mechanism, bool)>, usize) {
    let fits = |variant| error(variant, setting).filter(|size| size.bytes <= size::LARGEST);
    let sizes: Vec<Option<Size>> = rivals.iter().map(fits).collect();
    let small = size::smallest(&sizes, size::LARGE_BUDGET);
    let by_flows = ProgramSize::new(setting, question).unknowns == 0.0;
    let number = rivals.len();
    let mark = |(variant, small): (Mechanism, bool)| {
        let known = by_flows && !small && super::is_plainly_tight(&variant);
        (all || small || known).then_some((variant, known))
    };
    let kept: Vec<(Mechanism, bool)> = rivals.into_iter().zip(small).filter_map(mark).collect();
    let left_out = number - kept.len();
    (kept, left_out)
}
