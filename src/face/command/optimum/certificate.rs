//! A file that proves how small an error can be.

use std::path::Path;

use serde::Serialize;

use super::failure;
use crate::command::paths::Paths;
use crate::command::typed;
use crate::failure::Failure;
use engine::analysis::optimum::{self, Goal, MOST_CERTIFIED, Question};
use engine::mechanism::law::OutputSet;
use engine::posterior::distance::furthest;
use engine::posterior::model::{Counts, approximate_compositions};
use engine::posterior::setting::Setting;
use lab::run::store::write_whole;
use system::console::say;
use system::diagnostic::Diagnostic;

/// Prices and flows that prove a lower bound. The file explains itself to whoever checks it.
#[derive(Serialize)]
pub struct Certificate {
    format: &'static str,
    version: u32,
    /// What is proved, and how to check it.
    about: &'static str,
    prior: Vec<f64>,
    n: u64,
    epsilon: f64,
    distance: &'static str,
    /// The mean error of the tight mechanism.
    error: f64,
    /// No ε-private mechanism whose outputs are the data sets has a smaller mean error.
    lower: f64,
    data_sets: Vec<Counts>,
    /// The weights of the tight mechanism.
    weights: Vec<f64>,
    /// One price for each data set.
    prices: Vec<f64>,
    flows: Vec<Flow>,
}

/// What is sent for one output.
#[derive(Serialize)]
struct Flow {
    /// The place of the output among the data sets.
    output: usize,
    /// From where, to where, and how much leaves.
    sent: Vec<(u32, u32, f64)>,
}

const ABOUT: &str = "For every output r and data set p: pi(p) L(p, r) + a (what arrives at p) - (what leaves p) >= \
    price(p), where a = e^-epsilon and amounts go to adjacent data sets. A column v of a private mechanism has v(p) >= \
    a v(q) for adjacent p and q, so the mean error of every mechanism is at least the sum of the prices.";

/// Refuses what cannot be certified, before anything is computed.
pub fn check(path: &Path, setting: &Setting, questions: &[Question]) -> Result<(), Diagnostic> {
    if questions != [Question::pure(Goal::Bayes, OutputSet::Simplex)] {
        let cause =
            "a certificate is about the mean error of ε-private releases with the same total";
        let help = "leave out --minimax, --delta and --release-set";
        return Err(typed::wrong("certificate", &cause).help(help));
    }
    let possible = |n: u64| approximate_compositions(n, setting.k()) <= MOST_CERTIFIED;
    if !possible(setting.n) {
        let n = furthest(setting.n, possible);
        let cause = format!("a certificate for more than {MOST_CERTIFIED} data sets is too large");
        let help = format!("n = {n} would do; without --certificate flows answer for any n");
        return Err(typed::wrong("certificate", &cause).help(help));
    }
    Paths::default().written("certificate", "where the certificate goes", [path]).check()
}

pub fn make(setting: &Setting) -> Result<Certificate, Failure> {
    let found = optimum::certificate_by_flows(setting).map_err(failure)?;
    let flows = found.flows.into_iter().enumerate();
    Ok(Certificate {
        format: "dpbi-certificate",
        version: 1,
        about: ABOUT,
        prior: setting.prior.alpha().to_vec(),
        n: setting.n,
        epsilon: setting.epsilon.get(),
        distance: setting.distance.id(),
        error: found.bound.tight,
        lower: found.bound.lower,
        data_sets: found.data_sets,
        weights: found.weights,
        prices: found.prices,
        flows: flows.map(|(output, sent)| Flow { output, sent }).collect(),
    })
}

/// Writes it, and says so.
pub fn write(path: &Path, certificate: &Certificate) -> Result<(), Failure> {
    let text = serde_json::to_string(certificate).expect("numbers and lists");
    write_whole(path, text.into_bytes())?;
    say(format!("wrote {}; scripts/check_certificate.py checks it", path.display()));
    Ok(())
}
