//! The least ε such that no weight of the tight mechanism is negative at any ε tried from there on, and the same for
//! its being optimal, against n. That it is optimal at one ε does not mean that it is at a larger one.

use super::change::size_of_changes;
use super::curves::{self, point};
use super::prelude::*;
use engine::analysis::optimum;
use engine::mechanism::law::tight::{Extent, Tight};
use engine::parallel;
use engine::posterior::privacy::Epsilon;
use engine::posterior::setting::Setting;

kind! {
    "threshold": "the ε with no negative weight of the tight mechanism at any ε tried from there on, and the same for its being optimal";
    /// Two thresholds of ε for every number of categories and records.
    pub struct Threshold {}
}

/// The range of ε that is searched, from above.
const LARGEST: f64 = 8.0;
const SMALLEST: f64 = 0.02;

/// Each step downwards.
const STEP: f64 = 1.25;

/// Thresholds are found to within this, relatively: one by the signs of weights, one by flows.
const ACCURACY: f64 = 1e-7;

impl Kind for Threshold {
    fn rules(&self) -> Rules {
        Rules { compares_mechanisms: false, ..Rules::USUAL }
    }

    /// 3: flows with losses find the second threshold.
    fn version(&self) -> u32 {
        3
    }

    fn place(&self, _: &Panel, _: &Abscissa, case: &Case) -> Option<String> {
        Some(format!("{}, n = {}", naming::prior(case), case.setting.n))
    }

    fn rows(&self, task: &Task) -> Result<Tables, Refusal> {
        let Task { panel, case, .. } = *task;
        let (k, n) = (case.setting.k(), case.setting.n);
        let signed = |epsilon: f64| match Tight::is_surely_positive(k, epsilon) {
            true => Ok(1.0),
            false => {
                let _part = parallel::part(0.1 / FLOWS_PER_THRESHOLD);
                Ok(Tight::find(k, n, epsilon)?.signed)
            }
        };
        let weights = least(signed)?;
        let best = least(|epsilon| shortfall(&case.setting, epsilon))?;
        let found = [("no weight is negative", weights), ("optimal", best)];
        let curves = found.into_iter().filter_map(|(name, epsilon)| {
            Some(point(panel, "", "", format!("k = {k}: {name}"), (n as f64, epsilon?)))
        });
        Ok(Tables { curves: curves.collect(), ..Tables::default() })
    }

    fn figures(&self, panel: &Panel, tables: &Tables) -> Vec<(String, Figure)> {
        let axes = CurveFigure {
            x_label: "number of records n".to_owned(),
            y_label: "privacy parameter ε".to_owned(),
            y_scale: Scale::Log,
            ..CurveFigure::default()
        };
        let note = format!("at every ε tried from this one to {LARGEST} the statement holds");
        let axes = |_: &str| (note.clone(), axes.clone());
        curves::figures(panel, tables, "threshold", "", axes)
    }

    fn digests(&self, panel: &Panel, tables: &Tables) -> Vec<Digest> {
        let mut digests = curves::digests(panel, tables);
        digests.iter_mut().for_each(|digest| {
            digest.caption =
                format!("the statement holds at every ε tried from here to {LARGEST}, by n")
        });
        digests
    }

    fn size(&self, _: &Panel, case: &Case) -> Result<CaseSize, Refusal> {
        let (k, n) = (case.setting.k(), case.setting.n);
        let mut size = size_of_changes(&case.setting);
        let at = Setting { epsilon: Epsilon::new(1.0)?, ..Setting::clone(&case.setting) };
        let weights = Size { outputs: Extent::new(k, n, 0.5).rows, ..Size::default() };
        size.common = (size.common)
            .then(optimum::size_of_flows(&at, false).times(FLOWS_PER_THRESHOLD))
            .then(weights.times(WEIGHTS_PER_THRESHOLD));
        Ok(size)
    }
}

/// How many bounds by flows a threshold takes, and how many times one set of weights at ε = 0.5: about thirty sets are
/// computed, many at a smaller ε, each in several rounds.
const FLOWS_PER_THRESHOLD: f64 = 18.0;
const WEIGHTS_PER_THRESHOLD: f64 = 250.0;

/// The least ε from which on a margin is not negative, as far as every [`STEP`] was tried; `None` if that is so
/// down to [`SMALLEST`], or not at [`LARGEST`].
fn least(margin: impl Fn(f64) -> Result<f64, Refusal>) -> Result<Option<f64>, Refusal> {
    let mut high = (LARGEST, 0.0);
    let mut fails: Vec<(f64, f64)> = Vec::new();
    for at in std::iter::successors(Some(LARGEST), |at| Some(at / STEP)) {
        let found = margin(at)?;
        if found < 0.0 {
            fails.push((at, found));
            break;
        }
        high = (at, found);
        if at < SMALLEST {
            return Ok(None);
        }
    }
    let mut low = fails[0];
    if low.0 == LARGEST {
        return Ok(None);
    }
    let mut slow = false;
    while high.0 > low.0 * (1.0 + ACCURACY) {
        // Where the margin is 0 on a line: through both ends, or through the last two failures.
        let line = match fails[..] {
            _ if high.1 > 0.0 => Some((low, high)),
            [.., one, other] if one.1 < other.1 => Some((one, other)),
            _ => None,
        };
        let end = line.map(|((a, f), (b, g))| b - g * (a - b) / (f - g));
        // As far beyond it as it is from the nearer end, so that this becomes the other end; or next to it.
        let least = 0.4 * ACCURACY * low.0;
        let places = end.filter(|_| !slow).map(|end| {
            let (from_low, from_high) = (end - low.0, high.0 - end);
            let beyond = match from_low < from_high {
                true => end + from_low.max(least),
                false => end - from_high.max(least),
            };
            [beyond, end - least, end + least]
        });
        let inside = |at: &f64| low.0 < *at && *at < high.0;
        let at = places.and_then(|places| places.into_iter().find(inside));
        let at = at.unwrap_or_else(|| (low.0 * high.0).sqrt());
        let (width, found) = (high.0 - low.0, margin(at)?);
        if found < 0.0 {
            low = (at, found);
            fails.push(low);
        } else {
            high = (at, found);
        }
        slow = high.0 - low.0 > 0.5 * width && !slow;
    }
    Ok(Some(high.0))
}

/// How far the bound by flows is below the error of the tight mechanism, relative to it and negative; 0 if it proves
/// that the mechanism is optimal.
fn shortfall(setting: &Setting, epsilon: f64) -> Result<f64, Refusal> {
    let setting = Setting { epsilon: Epsilon::new(epsilon)?, ..setting.clone() };
    let _part = parallel::part(0.9 / FLOWS_PER_THRESHOLD);
    let is_clipped = Tight::find(setting.k(), setting.n, epsilon)?.is_clipped();
    Ok(match optimum::check_by_flows(&setting) {
        Ok(found) if found.is_tight_optimal() && !is_clipped => 0.0,
        Ok(found) => found.lower / found.tight - 1.0,
        Err(_) => -1.0,
    })
}
