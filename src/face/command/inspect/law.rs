//! `dpbi inspect --law FILE`: the law of one mechanism at every data set, as a table.

use std::path::Path;

use schemars::JsonSchema;
use serde::Serialize;

use super::super::{paths::Paths, typed};
use crate::failure::Failure;
use engine::mechanism::Mechanism;
use engine::mechanism::law::{Law, Outputs};
use engine::mechanism::own::{TABLE_COLUMNS, written_probability};
use engine::numeric::exp_accurate;
use engine::parallel;
use engine::posterior::distance::Distance;
use engine::posterior::error_field::Reach;
use engine::posterior::model::{Counts, Posterior, approximate_compositions, vector};
use engine::posterior::setting::SettingWithData;
use engine::posterior::simplex::list_compositions;
use engine::prepared::Prepared;
use engine::refusal::Refusal;
use lab::run::store::write_whole;
use system::diagnostic::Diagnostic;

/// A table of more rows is not written.
const MOST_ROWS: f64 = 5e6;

/// Refuses a table that cannot be written, before any work. It is of the one mechanism that was `named`.
pub fn check(
    path: &Path,
    named: usize,
    variants: &[Mechanism],
    setting: &SettingWithData,
) -> Result<(), Diagnostic> {
    let (1, [variant]) = (named, variants) else {
        let cause = match named {
            0 => "no mechanism is given".to_owned(),
            _ => format!("{named} mechanisms are given, and a table has the law of one"),
        };
        return Err(typed::wrong("law", &cause)
            .help("name one mechanism with --mechanism, such as --mechanism ehds"));
    };
    let law = variant.outline(setting).map_err(|refusal| typed::refused(variant, refusal))?;
    let (n, k) = (setting.n, setting.k());
    let data_sets = approximate_compositions(n, k);
    let outputs = match variant.options.remap {
        true => data_sets,
        false => Outputs::new(law.outputs(), n, k).approximate_len(),
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

/// Writes the law of a mechanism at all data sets of as many records as `setting` has. Outputs that are
/// impossible are left out.
pub fn write(
    path: &Path,
    prepared: &Prepared,
    setting: &SettingWithData,
) -> Result<Written, Failure> {
    let data_sets = list_compositions(setting.n, setting.k());
    let law = |x: &Counts| rows(prepared.law.as_ref(), setting, x);
    let laws = parallel::map(&data_sets, law).into_iter();
    let laws: Vec<(usize, String)> = laws
        .collect::<Result<_, _>>()
        .map_err(|refusal| typed::refused(&prepared.variant, refusal))?;
    let mut text = TABLE_COLUMNS.join(",") + "\n";
    text.extend(laws.iter().map(|(_, rows)| rows.as_str()));
    write_whole(path, text.into_bytes())?;
    let rows = laws.iter().map(|(rows, _)| rows).sum();
    Ok(Written { file: path.display().to_string(), data_sets: data_sets.len(), rows })
}

/// The rows of one data set, and their number.
fn rows(law: &dyn Law, setting: &SettingWithData, x: &Counts) -> Result<(usize, String), Refusal> {
    let (mut rows, mut text, counts) = (0, String::new(), vector(x));
    for (output, log) in possible(law, &setting.at(x.clone()), setting.distance)? {
        rows += 1;
        text += &format!("{counts},{},{}\n", vector(&output), written_probability(log));
    }
    Ok((rows, text))
}

/// Every possible output at one data set, with ln P.
fn possible(
    law: &dyn Law,
    posterior: &Posterior,
    distance: &dyn Distance,
) -> Result<Vec<(Counts, f64)>, Refusal> {
    let outputs = Outputs::new(law.outputs(), posterior.n(), posterior.k());
    let score = distance.field(posterior, &Reach::ball(posterior));
    let logs = law.at(posterior)?.ln_probabilities(outputs, score.as_ref());
    let all = outputs.list().into_iter().zip(logs);
    Ok(all.filter(|(_, log)| *log > f64::NEG_INFINITY).collect())
}

/// What `inspect` answers about one mechanism, and the outputs that it can make at the data.
pub struct ListedLaw {
    pub document: String,
    /// The outputs, one after the other.
    pub outputs: Vec<u64>,
    /// The probability of each.
    pub probabilities: Vec<f64>,
    /// The distance of each from the true posterior.
    pub errors: Vec<f64>,
}

impl ListedLaw {
    /// Lists the law of a mechanism at the data of `setting`.
    pub fn new(
        document: String,
        prepared: &Prepared,
        setting: &SettingWithData,
    ) -> Result<Self, Failure> {
        let possible = possible(prepared.law.as_ref(), setting.posterior(), setting.distance)
            .map_err(|refusal| typed::refused(&prepared.variant, refusal))?;
        let posterior = setting.posterior();
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
pub fn check_listed(variants: &[Mechanism], setting: &SettingWithData) -> Result<(), Diagnostic> {
    let [variant] = variants else {
        return Err(Diagnostic::new("a law is that of one mechanism").help("name it"));
    };
    let law = variant.outline(setting).map_err(|refusal| typed::refused(variant, refusal))?;
    let (n, k) = (setting.n, setting.k());
    let outputs = Outputs::new(law.outputs(), n, k).approximate_len();
    if outputs > MOST_ROWS {
        let cause =
            format!("`{}` has {outputs:.1e} outputs ({MOST_ROWS:.0e} at most)", variant.label);
        let remedy =
            "use fewer records or categories; inspect() computes its exact mean and quantiles";
        return Err(Diagnostic::new(cause).help(remedy));
    }
    Ok(())
}
