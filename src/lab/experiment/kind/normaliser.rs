//! The normaliser NL of an exponential mechanism that arxiv §6.2 asks for, against n.

use super::curves::{self, EXACT, against_n, point};
use super::prelude::*;
use super::tail::{DIVISOR, check_is_mh, note};
use paper::formula::tail::normaliser_limit;

kind! {
    "normaliser": "the normaliser of an exponential mechanism";
    /// NL = 1 / P[H = 0] of every mechanism, and its limit.
    pub struct Normaliser {}
}

impl Kind for Normaliser {
    fn rules(&self) -> Rules {
        Rules { names: Some(LineName::OnPlot), ..Rules::OF_FORMULAS }
    }

    fn check(&self, panel: &Panel) -> Result<(), Complaint> {
        check_is_mh(self, panel)
    }

    fn place(&self, _: &Panel, _: &Abscissa, case: &Case) -> Option<String> {
        Some(case.setting.n.to_string())
    }

    fn rows(&self, task: &Task) -> Result<Tables, Refusal> {
        let Task { panel, case, .. } = *task;
        let n = case.setting.n as f64;
        let epsilon = case.setting.epsilon.get();
        let laws = panel.laws(case)?;
        let bench = panel.bench(case, &laws, &[])?;
        let curves = panel.variants.iter().enumerate().flat_map(|(place, variant)| {
            let divisor = variant.options.divisor.unwrap_or(DIVISOR);
            let name = format!("limit coth(ε/{})", 2.0 * divisor);
            let limit = normaliser_limit(epsilon, divisor);
            [(EXACT.to_owned(), 1.0 / bench.law(place).p_exact()), (name, limit)]
                .map(|(curve, y)| point(panel, "", &variant.label, curve, (n, y)))
        });
        Ok(Tables { curves: curves.collect(), ..Tables::default() })
    }

    fn figures(&self, panel: &Panel, tables: &Tables) -> Vec<(String, Figure)> {
        let settings = note(panel);
        curves::figures(panel, tables, "normaliser", EXACT, |_| {
            (format!("{settings}, balanced data"), against_n("normaliser NL = 1 / P[H = 0]"))
        })
    }
}
