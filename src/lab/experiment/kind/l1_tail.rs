//! The ℓ1 error of noise on the counts, P[‖x̃ − x‖₁ >= t], beside the bound of notes §3.1.

use super::curves::{self, EXACT, point};
use super::prelude::*;
use engine::mechanism::law::Distribution;
use engine::posterior::metric;
use engine::posterior::model::vector;
use paper::formula::laplace_tail;
use table::CurveRow;

/// The least probability that is tabulated.
const LEAST_TAIL: f64 = 1e-9;

/// The least probability that is drawn.
const LEAST_DRAWN: f64 = 1e-6;

kind! {
    "l1-tail": "the tail of the ℓ1 error";
    /// The tail of every mechanism.
    pub struct L1Tail {}
}

impl Kind for L1Tail {
    fn rules(&self) -> Rules {
        Rules { names: Some(LineName::OnPlot), ..Rules::USUAL }
    }

    fn place(&self, _: &Panel, _: &Abscissa, case: &Case) -> Option<String> {
        Some(vector(case.setting.counts()))
    }

    fn rows(&self, task: &Task) -> Result<Tables, Refusal> {
        let Task { panel, case, .. } = *task;
        let posterior = case.setting.posterior();
        let facet = format!("x = {}", naming::parenthesised(posterior.counts()));
        let (k, epsilon) = (posterior.k(), case.setting.epsilon.get());
        let mut curves = Vec::new();
        let mut furthest: f64 = 0.0;
        for (variant, law) in panel.variants.iter().zip(l1_laws(panel, case)?) {
            let Some(law) = law else { continue };
            for at in law.tail().into_iter().take_while(|(_, tail)| *tail > LEAST_TAIL) {
                curves.push(point(panel, facet.as_str(), &variant.label, EXACT, at));
                furthest = furthest.max(at.0);
            }
        }
        for t in 0..=furthest as u64 {
            let at = (t as f64, laplace_tail::bound(k, epsilon, t as f64));
            curves.push(point(panel, facet.as_str(), "", "bound of notes §3.1", at));
        }
        Ok(Tables { curves, ..Tables::default() })
    }

    /// One figure for every case.
    fn figures(&self, panel: &Panel, tables: &Tables) -> Vec<(String, Figure)> {
        let case = &panel.cases[0];
        // No further than where the last curve leaves the axis.
        let end = |facet: &str| {
            let own = |row: &&CurveRow| row.facet == facet && row.y >= LEAST_DRAWN;
            panel.own(&tables.curves).filter(own).map(|row| row.x + 1.0).fold(1.0, f64::max)
        };
        let note = format!("{}; bounds above 1 are not shown", naming::epsilon(case));
        curves::figures(panel, tables, "l1-tail", EXACT, |facet| {
            (
                note.clone(),
                CurveFigure {
                    x_label: "ℓ1 error t".to_owned(),
                    y_label: "P[‖x̃ − x‖₁ ≥ t]".to_owned(),
                    y_scale: Scale::Log,
                    x_range: Some((0.0, end(facet))),
                    y_range: Some((LEAST_DRAWN, 1.0)),
                    ..CurveFigure::default()
                },
            )
        })
    }

    /// The bound, and the tail of every mechanism, at all distances.
    fn row_count(&self, panel: &Panel, case: &Case, _: &CaseSize) -> f64 {
        case.setting.n as f64 * (1 + panel.variants.len()) as f64
    }
}

fn l1_laws(panel: &Panel, case: &Case) -> Result<Vec<Option<Distribution>>, Refusal> {
    let l1 = metric::find("l1").expect("the ℓ1 metric");
    let laws = panel.laws(case)?;
    let bench = panel.bench(case, &laws, &[l1])?;
    let field = bench.fields().nth(1).expect("the metric that was asked for");
    let law = |place| Distribution::new(bench.law(place).as_ref(), field);
    Ok((0..laws.len()).map(law).collect())
}
