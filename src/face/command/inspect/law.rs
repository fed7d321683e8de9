//! `dpbi inspect --law FILE`: the law of one mechanism at every data set, as a table.

use std::path::Path;

use rayon::prelude::*;
use schemars::JsonSchema;
use serde::Serialize;

use super::super::{paths::Paths, typed};
use crate::failure::Failure;
use engine::mechanism::Variant;
use engine::mechanism::law::{Outputs, Plan, Remap, ln_probabilities};
use engine::mechanism::own::{TABLE_COLUMNS, written_probability};
use engine::numeric::exp_accurate;
use engine::parallel;
use engine::posterior::error_field::Reach;
use engine::posterior::model::{Counts, approximate_compositions, vector};
use engine::posterior::setting::Setting;
use engine::posterior::simplex::list_compositions;
use engine::refusal::Refusal;
use lab::run::store::write_whole;
use system::diagnostic::Diagnostic;

/// A table of more rows is not written.
const MOST_ROWS: f64 = 5e6;

/// Refuses a table that cannot be written, before any work. It is of the one mechanism that was `named`.
pub fn check(
    path: &Path,
    named: usize,
    variants: &[Variant],
    setting: &Setting,
) -> Result<(), Diagnostic> {
    let (1, [variant]) = (named, variants) else {
        let cause = match named {
            0 => "no mechanism is given".to_owned(),
            _ => format!("{named} mechanisms are given, and a table has the law of one"),
        };
        return Err(typed::wrong("law", &cause)
            .help("name one mechanism with --mechanism, such as --mechanism ehds"));
    };
    let recipe = variant.outline(setting).map_err(|refusal| typed::refused(variant, refusal))?;
    let (n, k) = (setting.posterior.n(), setting.posterior.k());
    let data_sets = approximate_compositions(n, k);
    let outputs = match variant.options.remap {
        true => data_sets,
        false => Outputs::of(recipe, n, k).approximate_len(),
    };
    let rows = data_sets * outputs;
    if rows > MOST_ROWS {
        let cause = format!(
            "{data_sets:.0} data sets of {n} records with {outputs:.0} outputs each make up to {rows:.1e} \
             rows ({MOST_ROWS:.0e} at most)"
        );
        return Err(typed::wrong("law", &cause).help("use fewer records or categories"));
    }
    Paths::default().written("law", "where the law goes", [path]).check()
}

/// A table that was written.
#[derive(Serialize, JsonSchema)]
pub struct Written {
    file: String,
    data_sets: usize,
    rows: usize,
}

impl Written {
    pub fn text(&self) -> String {
        let Self { file, data_sets, rows } = self;
        format!("\n  wrote {file}: the law at {data_sets} data sets, {rows} rows\n")
    }
}

/// Writes the law of a mechanism, tuned where it is to be, at all data sets of as many records as `setting`
/// has. Outputs that are impossible are left out.
pub fn write(path: &Path, variant: &Variant, setting: &Setting) -> Result<Written, Failure> {
    let (n, k) = (setting.posterior.n(), setting.posterior.k());
    let data_sets = list_compositions(n, k);
    let remap = variant.remap.as_deref().map(listed);
    let law = |x: &Counts| law(variant, remap.as_ref(), setting, x);
    let laws: Vec<(usize, String)> = (data_sets.par_iter().map(law))
        .collect::<Result<_, _>>()
        .map_err(|refusal| typed::refused(variant, refusal))?;
    let mut text = TABLE_COLUMNS.join(",") + "\n";
    text.extend(laws.iter().map(|(_, rows)| rows.as_str()));
    write_whole(path, text.into_bytes())?;
    let rows = laws.iter().map(|(rows, _)| rows).sum();
    Ok(Written { file: path.display().to_string(), data_sets: data_sets.len(), rows })
}

/// The same remapping, with all candidates found once.
fn listed(remap: &Remap) -> Remap {
    let list = remap.outputs().list();
    let to = list.par_iter().map(|output| remap.replace(output).into_owned()).collect();
    Remap::new(remap.outputs(), to)
}

/// The rows of one data set, and their number.
fn law(
    variant: &Variant,
    remap: Option<&Remap>,
    setting: &Setting,
    x: &Counts,
) -> Result<(usize, String), Refusal> {
    let (mut rows, mut text, counts) = (0, String::new(), vector(x));
    for (output, log) in possible(variant, remap, &setting.at(x.clone()))? {
        rows += 1;
        text += &format!("{counts},{},{}\n", vector(&output), written_probability(log));
    }
    Ok((rows, text))
}

/// Every possible output at one data set, with ln P.
fn possible(
    variant: &Variant,
    remap: Option<&Remap>,
    setting: &Setting,
) -> Result<Vec<(Counts, f64)>, Refusal> {
    let Setting { posterior, distance, .. } = setting;
    let Plan { recipe, .. } = variant.plan(setting)?;
    let outputs = Outputs::of(recipe, posterior.n(), posterior.k());
    let score = distance.field(posterior, &Reach::ball(posterior));
    let logs = ln_probabilities(recipe, posterior, score.as_ref(), outputs);
    let (list, logs) = match remap {
        Some(remap) => (list_compositions(posterior.n(), posterior.k()), remap.fold(&logs)),
        None => (outputs.list(), logs),
    };
    Ok(list.into_iter().zip(logs).filter(|(_, log)| *log > f64::NEG_INFINITY).collect())
}

/// What `inspect` answers about one mechanism, and the outputs that it can make at the data.
pub struct ListedLaw {
    /// The document.
    pub document: String,
    /// The outputs, one after the other.
    pub outputs: Vec<u64>,
    /// The probability of each.
    pub probabilities: Vec<f64>,
    /// The distance of each from the true posterior.
    pub errors: Vec<f64>,
}

impl ListedLaw {
    /// Lists the law of a mechanism, tuned where it is to be, at the data of `setting`.
    pub fn new(document: String, variant: &Variant, setting: &Setting) -> Result<Self, Failure> {
        let remap = variant.remap.as_deref().map(listed);
        let possible = possible(variant, remap.as_ref(), setting)
            .map_err(|refusal| typed::refused(variant, refusal))?;
        let posterior = &setting.posterior;
        let field = setting.distance.field(posterior, &Reach::ball(posterior));
        Ok(Self {
            document,
            probabilities: possible.iter().map(|(_, log)| exp_accurate(*log)).collect(),
            errors: parallel::map(&possible, |(output, _)| field.at(output)),
            outputs: possible.into_iter().flat_map(|(output, _)| output).collect(),
        })
    }
}

/// Refuses the law of more than one mechanism, or of too many outputs, before any work.
pub fn check_listed(variants: &[Variant], setting: &Setting) -> Result<(), Diagnostic> {
    let [variant] = variants else {
        return Err(Diagnostic::new("a law is that of one mechanism").help("name it"));
    };
    let recipe = variant.outline(setting).map_err(|refusal| typed::refused(variant, refusal))?;
    let (n, k) = (setting.posterior.n(), setting.posterior.k());
    let outputs = Outputs::of(recipe, n, k).approximate_len();
    if outputs > MOST_ROWS {
        let cause =
            format!("`{}` has {outputs:.1e} outputs ({MOST_ROWS:.0e} at most)", variant.label);
        let remedy =
            "use fewer records or categories; inspect() computes its exact mean and quantiles";
        return Err(Diagnostic::new(cause).help(remedy));
    }
    Ok(())
}
