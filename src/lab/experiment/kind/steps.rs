//! The probability of the answer that is t steps from the truth on one side, against n (icml Table 1
//! and §8): fixed for noise on the counts, moving for mechanisms calibrated to the distance.

use super::curves::{self, EXACT, against_n, point};
use super::prelude::*;
use super::{check_steps, check_totals};
use crate::experiment::value::Count;
use engine::mechanism::law;

kind! {
    "steps": "the probability of an answer some steps off on one side";
    /// P[release (x_1 + t, x_2 − t)] for every mechanism and t.
    pub struct Steps {
        /// Numbers of steps.
        "steps" => steps: Vec<Count>,
    }
}

impl Kind for Steps {
    fn rules(&self) -> Rules {
        Rules { names: Some(LineName::OnPlot), ..Rules::OF_FORMULAS }
    }

    fn check(&self, panel: &Panel) -> Result<(), Complaint> {
        check_totals(panel)?;
        check_steps(self, &self.steps)
    }

    fn place(&self, _: &Panel, _: &Abscissa, case: &Case) -> Option<String> {
        Some(case.setting.n.to_string())
    }

    fn complete_key(&self, _: &Layout, _: &Case, key: &mut CellKey) {
        key.put_all("steps", self.steps.iter().map(|steps| steps.0));
    }

    fn rows(&self, task: &Task) -> Result<Tables, Refusal> {
        let Task { panel, case, .. } = *task;
        let n = case.setting.n as f64;
        let all = probabilities(panel, case, &self.steps)?;
        let curves = panel.variants.iter().zip(all).flat_map(|(variant, probabilities)| {
            self.steps.iter().zip(probabilities).filter_map(move |(t, probability)| {
                let facet = format!("t = {}", t.0);
                Some(point(panel, facet, &variant.label, EXACT, (n, probability?)))
            })
        });
        Ok(Tables { curves: curves.collect(), ..Tables::default() })
    }

    /// One figure for every number of steps.
    fn figures(&self, panel: &Panel, tables: &Tables) -> Vec<(String, Figure)> {
        let case = &panel.cases[0];
        let settings = format!("{}, {}, balanced data", naming::prior(case), naming::epsilon(case));
        curves::figures(panel, tables, "steps", EXACT, |_| {
            (format!("t steps to one side; {settings}"), against_n("probability of this release"))
        })
    }

    fn digests(&self, panel: &Panel, tables: &Tables) -> Vec<Digest> {
        curves::digests(panel, tables)
    }
}

/// For every mechanism of the panel the probability of each number of steps; `None` where there are
/// fewer records than steps.
pub(super) fn probabilities(
    panel: &Panel,
    case: &Case,
    steps: &[Count],
) -> Result<Vec<Vec<Option<f64>>>, Refusal> {
    let laws = panel.laws(case)?;
    let bench = panel.bench(case, &laws, &[])?;
    let x = case.setting.counts();
    let of_law = |place| {
        let law = bench.law(place);
        let at = |&Count(t): &Count| {
            let output = [x[0] + t, x[1].checked_sub(t)?];
            Some(law::probability(law.as_ref(), &output))
        };
        steps.iter().map(at).collect()
    };
    Ok((0..laws.len()).map(of_law).collect())
}
