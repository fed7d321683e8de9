//! How a release is made ready, from public values only.

use engine::analysis::ranking::Data;
use engine::analysis::size;
use engine::posterior::setting::Setting;
use lab::run::size::admit;
use service::release::{Drawing, Method, PrivateN, Request, check_releases, usual};
use system::diagnostic::Diagnostic;

/// How a request is drawn, if there are n records: every histogram by the same mechanism. If n is private, it does
/// not count.
pub fn drawing(request: &Request, n: Option<u64>) -> Result<Drawing, Diagnostic> {
    let Some(n) = n.filter(|_| !request.private_n) else {
        return Ok(Drawing::Private(PrivateN::new(request.epsilon)?));
    };
    let histograms = request.histograms(Some(n));
    let settings: Vec<Setting> =
        histograms.iter().map(|histogram| histogram.setting(request.epsilon)).collect();
    let variant = request.variant.clone().unwrap_or_else(|| usual(&settings));
    let method = |setting: &Setting| {
        check_releases(&variant, setting.k())?;
        variant.outline(setting)?;
        let bytes = size::tuning(&variant, setting, &Data::PriorPredictive).bytes;
        admit(&format!("`{}`", variant.label), bytes, false, || {
            "use lattice or geometric, or fewer categories".to_owned()
        })?;
        Ok::<_, Diagnostic>(Method::new(&variant, setting, request.epsilon)?)
    };
    let methods = settings.iter().map(method).collect::<Result<_, _>>()?;
    Ok(Drawing::Public { n, methods })
}
