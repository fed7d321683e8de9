//! The tail P[H >= c] of an exponential mechanism, exactly and by the bounds of arxiv §6.1.1 and
//! §6.2.

use super::curves::{self, EXACT, point};
use super::prelude::*;
use crate::experiment::value::Interval;
use engine::mechanism::law::Distribution;
use engine::posterior::model::approximate_compositions;
use paper::formula::tail::Weights;
use table::CurveRow;

/// The number before the sensitivity in MH, unless a mechanism sets another.
pub(super) const DIVISOR: f64 = 2.0;

/// The least and the greatest value that is drawn: a bound above 1 says nothing.
const LEAST_DRAWN: f64 = 1e-12;
const GREATEST_DRAWN: f64 = 10.0;

kind! {
    "tail": "the tail of the error and its bounds";
    /// The tail and its bounds at every distance, for every mechanism.
    pub struct Tail {
        /// The part of the horizontal axis that is drawn: [from, to].
        "view" => view: Option<Interval>,
    }
}

impl Kind for Tail {
    fn rules(&self) -> Rules {
        Rules { checks_formulas: true, names: Some(LineName::OnPlot), ..Rules::USUAL }
    }

    fn check(&self, panel: &Panel) -> Result<(), Complaint> {
        check_is_mh(self, panel)
    }

    fn place(&self, _: &Panel, abscissa: &Abscissa, case: &Case) -> Option<String> {
        Some(abscissa.naming.data(case))
    }

    /// The name of the data is a column.
    fn complete_key(&self, layout: &Layout, case: &Case, key: &mut CellKey) {
        key.put("name", layout.naming.data(case));
    }

    fn rows(&self, task: &Task) -> Result<Tables, Refusal> {
        let Task { layout, panel, case, .. } = *task;
        let facet = layout.naming.data(case);
        let laws = panel.laws(case)?;
        let bench = panel.bench(case, &laws, &[])?;
        let mut tables = Tables::default();
        for (place, variant) in panel.variants.iter().enumerate() {
            let law = Distribution::new(bench.law(place).as_ref(), bench.distance());
            let (Some(rate), Some(law)) = (bench.at(place).rate(), &law) else { continue };
            let divisor = variant.options.divisor.unwrap_or(DIVISOR);
            let weights = weights(case, rate, divisor);
            let put = |curve: &str, c: f64, p: f64| {
                point(panel, facet.as_str(), &variant.label, curve, (c, p))
            };
            tables.curves.extend(tail_rows(law, &weights, put));
        }
        Ok(tables)
    }

    /// One figure for every case.
    fn figures(&self, panel: &Panel, tables: &Tables) -> Vec<(String, Figure)> {
        let settings = note(panel);
        curves::figures(panel, tables, "tail", EXACT, |facet| {
            let own = |row: &&CurveRow| row.facet == facet;
            let rows: Vec<&CurveRow> = panel.own(&tables.curves).filter(own).collect();
            let exact = rows.iter().filter(|row| row.curve == EXACT && row.y > 0.0);
            let bottom = exact.map(|row| row.y).fold(1.0, f64::min).max(LEAST_DRAWN) / 2.0;
            // No further than where the last curve leaves the axis.
            let drawn = rows.iter().filter(|row| row.y >= bottom);
            let end = drawn.map(|row| row.x).fold(0.0, f64::max);
            let all = (end > 0.0).then_some((0.0, end));
            let is_cut = rows.iter().any(|row| row.y > GREATEST_DRAWN);
            let cut = if is_cut { "; bounds above 10 are not shown" } else { "" };
            let axes = CurveFigure {
                x_label: format!("{} c", panel.distance.title()),
                y_label: "tail P[H ≥ c]".to_owned(),
                y_scale: Scale::Log,
                x_range: self.view.map(|view| (view.0, view.1)).or(all),
                y_range: Some((bottom, GREATEST_DRAWN)),
                ..CurveFigure::default()
            };
            (format!("{settings}; dotted: bounds{cut}"), axes)
        })
    }

    /// Four curves over all distances, thinned.
    fn row_count(&self, panel: &Panel, _: &Case, size: &CaseSize) -> f64 {
        4.0 * size.outputs().min(500.0 * panel.variants.len() as f64)
    }
}

/// Refuses mechanisms other than MH.
pub(super) fn check_is_mh(kind: &dyn Kind, panel: &Panel) -> Result<(), Complaint> {
    let is_mh = |id: &str| ["mh-beta", "mh-gamma"].contains(&id);
    match panel.variants.iter().position(|variant| !is_mh(variant.kind.id)) {
        None => Ok(()),
        Some(place) => {
            let cause = format!("an experiment of kind `{}` is about MH", kind.id());
            Err(About::Mechanism(place).wrong(cause, "use mh-beta or mh-gamma"))
        }
    }
}

fn weights(case: &Case, rate: f64, divisor: f64) -> Weights {
    let posterior = case.setting.posterior();
    let epsilon = case.setting.epsilon.get();
    Weights {
        candidates: approximate_compositions(posterior.n(), posterior.k()),
        epsilon,
        sensitivity: epsilon / (divisor * rate),
        divisor,
    }
}

fn tail_rows(
    law: &Distribution,
    weights: &Weights,
    put: impl Fn(&str, f64, f64) -> CurveRow,
) -> Vec<CurveRow> {
    let first = law.levels.first();
    // The true posterior has weight 1, so that its probability is 1/NL.
    let normaliser = first.map_or(1.0, |level| level.outputs / level.probability);
    let as_printed = Weights { divisor: 1.0, ..*weights };
    let bound = format!("|R| e^(−εc/{}S)", weights.divisor);
    let with_normaliser = format!("{bound} / NL");
    let mut rows = Vec::new();
    for (c, tail) in thinned(law.tail()) {
        rows.extend([
            put(EXACT, c, tail),
            put(&with_normaliser, c, weights.with_normaliser(c, normaliser)),
            put(&bound, c, weights.without_normaliser(c)),
            put("|R| e^(−εc/S) / NL (§6.2)", c, as_printed.with_normaliser(c, normaliser)),
        ]);
    }
    rows
}

/// At most about 500 points, evenly spread among them, the first and the last included.
fn thinned(points: Vec<(f64, f64)>) -> impl Iterator<Item = (f64, f64)> {
    let step = points.len().div_ceil(500).max(1);
    let last = points.len().saturating_sub(1);
    let kept = move |(i, _): &(usize, _)| i % step == 0 || *i == last;
    points.into_iter().enumerate().filter(kept).map(|(_, point)| point)
}

/// What all cases share.
pub(super) fn note(panel: &Panel) -> String {
    let case = &panel.cases[0];
    let mut parts = vec![naming::prior(case), naming::epsilon(case)];
    if panel.variants.iter().any(|variant| variant.kind.uses_delta) {
        parts.extend(naming::delta(case));
    }
    parts.join(", ")
}
