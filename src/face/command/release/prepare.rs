//! How a release is made ready, from public values only.

use super::super::{announce, typed};
use crate::progress::Clock;
use engine::analysis::cost;
use engine::analysis::tuning::TuningCache;
use engine::mechanism::Variant;
use engine::posterior::setting::Setting;
use lab::run::forecast::objection;
use service::release::{self, Amount, Drawing, Method, PrivateN, Reason, Request};
use system::diagnostic::Diagnostic;

/// How a request is drawn, if there are n records. If n is private, it does not count.
pub fn drawing(
    request: &Request,
    n: Option<u64>,
    threads: usize,
) -> Result<(Drawing, Reason), Diagnostic> {
    match n.filter(|_| !request.private_n) {
        Some(n) => {
            let (methods, reason) = methods(request, n, threads)?;
            Ok((Drawing::Public { n, methods }, reason))
        }
        None => {
            let noise = PrivateN::new(request.epsilon)?;
            Ok((Drawing::Private(noise), Reason::PrivateN))
        }
    }
}

/// How every histogram of a request is drawn, if there are n records: all by the same mechanism.
pub fn methods(
    request: &Request,
    n: u64,
    threads: usize,
) -> Result<(Vec<Method>, Reason), Diagnostic> {
    let templates = templates(request, n);
    let epsilon = request.epsilon;
    if let Some(variant) = &request.variant {
        return Ok((named(variant, &templates, epsilon, threads)?, Reason::Named));
    }
    let largest = templates.iter().max_by_key(|template| template.posterior.n());
    let candidates = typed::every_variant(true);
    let (method, reason) = match largest {
        Some(largest) => release::choose(&candidates, largest, epsilon)?,
        None => unreachable!("a table has a histogram"),
    };
    if templates.len() == 1 {
        return Ok((vec![method], reason));
    }
    let chosen = Variant::parse(&method.variant().label)?;
    Ok((named(&chosen, &templates, epsilon, threads)?, reason))
}

/// The setting of every histogram.
pub fn templates(request: &Request, n: u64) -> Vec<Setting> {
    let histograms = request.histograms(Some(n));
    histograms.iter().map(|histogram| histogram.template(request.epsilon)).collect()
}

/// The methods of a mechanism that is known.
fn named(
    variant: &Variant,
    templates: &[Setting],
    epsilon: Amount,
    threads: usize,
) -> Result<Vec<Method>, Diagnostic> {
    let tuning = TuningCache::default();
    let method = |template: &Setting| {
        Method::check(variant, template, epsilon)?;
        let _clock = admit(variant, template, threads)?;
        Ok(Method::new(variant, template, epsilon, &tuning)?)
    };
    templates.iter().map(method).collect()
}

/// Refuses a mechanism that takes too much to be made ready, and announces one that takes long.
fn admit(
    variant: &Variant,
    template: &Setting,
    threads: usize,
) -> Result<Option<Clock>, Diagnostic> {
    let work = cost::predict_release(variant, template);
    let total = cost::total([&work], threads);
    let what = format!("`{}`", variant.label);
    if let Some(objection) = objection(&what, &total, work.candidates, threads) {
        return Err(objection.help(
            "use a mechanism that is neither calibrated nor remapped, such as geometric, or fewer \
             categories",
        ));
    }
    Ok(announce(total.seconds(threads), false))
}
