//! The distribution of the privacy loss as a document that explains itself.

use serde_json::{Value, json};

use super::{CAVEAT, Report};
use engine::analysis::composition::Profile;

/// What the document holds.
const WHAT: &str = "The distribution of the privacy loss of all releases in a ledger, for pessimistic \
     accounting: delta(epsilon) = infinite + sum of probabilities[i] * max(0, 1 - exp(epsilon - loss[i])), \
     where loss[i] = (first + i) * step. Both orders of two adjacent data sets have this distribution. \
     The probabilities are upper bounds, apart from rounding, whose relative error is at most \
     relative_error. So they may add up to slightly more than 1.";

/// How Google's library reads it.
const DP_ACCOUNTING: &str = "pld.privacy_loss_distribution.PrivacyLossDistribution(pld.pld_pmf.DensePLDPmf(\
     step, first, numpy.array(probabilities), infinite, True))";

pub fn document(report: &Report) -> Value {
    let distribution = &report.composition.distribution;
    let releases = report.entries.iter().flat_map(|entry| {
        let pure = Profile::pure(entry.epsilon);
        match &entry.parts[..] {
            [] => vec![release("", &entry.column, &entry.mechanism, &pure)],
            parts => parts
                .iter()
                .map(|part| release(&part.id, &part.column, &part.mechanism, &part.profile))
                .collect(),
        }
    });
    json!({
        "what": WHAT,
        "dp_accounting": DP_ACCOUNTING,
        "caveat": CAVEAT,
        "sum": report.composition.sum.to_string(),
        "step": distribution.step().to_f64(),
        "first": i64::try_from(distribution.first).unwrap_or(i64::MIN),
        "probabilities": distribution.masses,
        "infinite": distribution.infinite,
        "relative_error": distribution.error,
        "releases": releases.collect::<Vec<_>>(),
    })
}

/// One release: its losses and their probabilities.
fn release(id: &str, column: &str, mechanism: &str, profile: &Profile) -> Value {
    let (losses, probabilities): (Vec<f64>, Vec<f64>) = profile.pair().into_iter().unzip();
    json!({
        "id": id,
        "column": column,
        "mechanism": mechanism,
        "losses": losses,
        "probabilities": probabilities,
    })
}
