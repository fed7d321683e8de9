//! The probability of the answer that is t steps from the truth on one side, against n (icml Table 1
//! and §8): fixed for noise on the counts, moving for mechanisms calibrated to the distance.

use std::collections::BTreeSet;

use super::curves::{self, EXACT, against_n, point};
use super::prelude::*;
use super::{check_steps, check_totals};
use crate::experiment::value::Count;
use engine::mechanism::law;
use engine::mechanism::prepared::PreparedSetting;

kind! {
    "steps": "the probability of an answer some steps off on one side";
    /// P[release (x_1 + t, x_2 − t)] for every mechanism and t.
    pub struct Steps {
        /// Numbers of steps.
        "steps" => steps: Vec<Count>,
    }
}

impl Kind for Steps {
    fn why_untuned(&self) -> Option<&'static str> {
        Some(CHECKS_FORMULAS)
    }

    fn needs_two_categories(&self) -> bool {
        true
    }

    fn check(&self, panel: &Panel) -> Result<(), Complaint> {
        check_totals(panel)?;
        check_steps(self, &self.steps)
    }

    fn place(&self, _: &Panel, _: &Abscissa, case: &Case) -> Option<String> {
        Some(case.setting.posterior.n().to_string())
    }

    fn complete_key(&self, _: &Layout, _: &Case, key: &mut CellKey) {
        key.put_all("steps", self.steps.iter().map(|steps| steps.0));
    }

    fn rows(&self, task: &Task) -> Result<Tables, Refusal> {
        let Task { panel, case, .. } = *task;
        let n = case.setting.posterior.n() as f64;
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

    fn figure_count(&self, panel: &Panel) -> usize {
        let most = panel.cases.iter().map(|case| case.setting.posterior.counts()[1]).max();
        let reached = self.steps.iter().map(|steps| steps.0).filter(|&t| Some(t) <= most);
        reached.collect::<BTreeSet<u64>>().len()
    }

    fn sketches(&self, panel: &Panel) -> Vec<Figure> {
        vec![sketch::curves(panel, 1, LineName::OnPlot)]
    }

    fn digests(&self, panel: &Panel, tables: &Tables) -> Vec<Digest> {
        curves::digests(panel, tables)
    }

    fn row_count(&self, panel: &Panel, _: &Case, _: &SettingWork) -> f64 {
        (panel.variants.len() * self.steps.len()) as f64
    }
}

/// For every mechanism of the panel the probability of each number of steps; `None` where there are
/// fewer records than steps.
pub(super) fn probabilities(
    panel: &Panel,
    case: &Case,
    steps: &[Count],
) -> Result<Vec<Vec<Option<f64>>>, Refusal> {
    let plans = panel.plans(case)?;
    let prepared = PreparedSetting::new(&case.setting, &plans, &[]);
    let x = case.setting.posterior.counts();
    let of_plan = |plan| {
        let law = prepared.law(plan);
        let at = |&Count(t): &Count| {
            let output = [x[0] + t, x[1].checked_sub(t)?];
            Some(law::probability(law.as_ref(), &output))
        };
        steps.iter().map(at).collect()
    };
    Ok(plans.iter().map(of_plan).collect())
}
