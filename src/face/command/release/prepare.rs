//! How a release is made ready, from public values only.

use super::super::announce;
use crate::progress::Clock;
use engine::analysis::cost;
use engine::mechanism::Variant;
use engine::posterior::setting::Setting;
use lab::run::forecast::objection;
use service::release::{Drawing, Method, PrivateN, Request, check_releases, usual};
use system::diagnostic::Diagnostic;

/// How a request is drawn, if there are n records: every histogram by the same mechanism. If n is private, it does
/// not count.
pub fn drawing(request: &Request, n: Option<u64>, threads: usize) -> Result<Drawing, Diagnostic> {
    let Some(n) = n.filter(|_| !request.private_n) else {
        return Ok(Drawing::Private(PrivateN::new(request.epsilon)?));
    };
    let histograms = request.histograms(Some(n));
    let templates: Vec<Setting> =
        histograms.iter().map(|histogram| histogram.template(request.epsilon)).collect();
    let variant = request.variant.clone().unwrap_or_else(|| usual(&templates));
    let method = |template: &Setting| {
        check_releases(&variant, template.posterior.k())?;
        variant.outline(template)?;
        let _clock = admit(&variant, template, threads)?;
        Ok::<_, Diagnostic>(Method::new(&variant, template, request.epsilon)?)
    };
    let methods = templates.iter().map(method).collect::<Result<_, _>>()?;
    Ok(Drawing::Public { n, methods })
}

/// Refuses weights that take too long to be found, and announces those that take long.
fn admit(
    variant: &Variant,
    template: &Setting,
    threads: usize,
) -> Result<Option<Clock>, Diagnostic> {
    let work = cost::predict_release(variant, template);
    let total = cost::total([&work], threads);
    let what = format!("`{}`", variant.label);
    match objection(&what, &total, work.candidates, threads) {
        Some(objection) => Err(objection.help("use lattice or geometric, or fewer categories")),
        None => Ok(announce(total.seconds(threads), false)),
    }
}
