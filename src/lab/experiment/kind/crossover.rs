//! The number of records from which on the first mechanism of a panel beats the second within k'
//! steps, against ε: computed, and by bounds Corollaries 4.5.1 to 4.5.3.

use super::curves::{self, point};
use super::prelude::*;
use super::{SIZES_TRIED, check_steps, laws};
use crate::experiment::value::Count;
use paper::formula::overtaking::{self, SizeCache, leads_from};
use paper::formula::steps;

/// The largest n that is tried: within k' steps an exponential mechanism with global sensitivity is
/// found like k'/n, noise on the counts with a fixed probability.
const MOST_RECORDS: u64 = 100_000;

/// The curve that the corollaries are compared with.
const COMPUTED: &str = "computed";

kind! {
    "crossover": "the n from which on one mechanism beats another";
    /// For every number of steps the n from which on the first mechanism wins, and the corollaries.
    pub struct Crossover {
        /// Numbers of steps.
        "steps" => steps: Vec<Count>,
    }
}

impl Kind for Crossover {
    fn rules(&self) -> Rules {
        Rules::OF_FORMULAS
    }

    fn check(&self, panel: &Panel) -> Result<(), Complaint> {
        if panel.variants.len() == 1 {
            let remedy = "write for example mechanisms = [\"lshist\", \"ehd\"]";
            return Err(About::Mechanism(0).wrong("a crossover is between two mechanisms", remedy));
        }
        check_steps(self, &self.steps)
    }

    fn place(&self, _: &Panel, _: &Abscissa, case: &Case) -> Option<String> {
        Some(naming::epsilon(case))
    }

    fn complete_key(&self, _: &Layout, _: &Case, key: &mut CellKey) {
        key.put_all("steps", self.steps.iter().map(|steps| steps.0));
    }

    fn rows(&self, task: &Task) -> Result<Tables, Refusal> {
        let Task { panel, case, .. } = *task;
        let epsilon = case.setting.epsilon.get();
        let counts = self.counts();
        let known = SizeCache::new(|n| leads(panel, case, n, &counts));
        let mut curves = Vec::new();
        for (place, &count) in counts.iter().enumerate() {
            let facet = format!("k′ = {count}");
            let mut put = |curve: &str, n: f64| {
                curves.push(point(panel, facet.as_str(), "", curve, (epsilon, n)));
            };
            // With 2k' records or fewer every candidate is within k' steps.
            let sizes = 2 * u64::from(count) + 1..=MOST_RECORDS;
            if let Some(n) = leads_from(sizes, |n| known.at(n, |leads| leads[place])) {
                put(COMPUTED, n as f64);
            }
            put("Corollary 4.5.1", overtaking::lshist_wins_above(count, epsilon));
            put("Corollary 4.5.2", overtaking::ehd_wins_below(count, epsilon));
            if count == 1 {
                put("Corollary 4.5.3", overtaking::good_outputs_above(epsilon));
            }
        }
        Ok(Tables { curves, ..Tables::default() })
    }

    /// One figure for every number of steps.
    fn figures(&self, panel: &Panel, tables: &Tables) -> Vec<(String, Figure)> {
        let [first, second] = [0, 1].map(|place| panel.variants[place].title());
        let note = format!("{}, balanced data", naming::prior(&panel.cases[0]));
        let axes = CurveFigure {
            x_label: "privacy parameter ε".to_owned(),
            y_label: format!("n from which {first} beats {second}"),
            x_scale: Scale::Log,
            y_scale: Scale::Log,
            ..CurveFigure::default()
        };
        curves::figures(panel, tables, "crossover", COMPUTED, |_| (note.clone(), axes.clone()))
    }

    fn digests(&self, panel: &Panel, tables: &Tables) -> Vec<Digest> {
        curves::digests(panel, tables)
    }

    /// Many sizes are tried for every number of steps.
    fn size(&self, panel: &Panel, case: &Case) -> Result<CaseSize, Refusal> {
        laws(panel, case, SIZES_TRIED * self.steps.len() as f64)
    }
}

impl Crossover {
    fn counts(&self) -> Vec<u32> {
        self.steps.iter().map(|steps| u32::try_from(steps.0).unwrap_or(u32::MAX)).collect()
    }
}

/// How much more often the first mechanism is within each number of steps at n balanced records; 0
/// where a mechanism cannot be used.
fn leads(panel: &Panel, case: &Case, n: u64, counts: &[u32]) -> Vec<f64> {
    let case = case.balanced(n);
    let laws = panel.distributions(&case).unwrap_or_default();
    let lead = |&count: &u32| {
        let radius = steps::radius(&case.setting, count)?;
        let [Some(first), Some(second), ..] = &laws[..] else { return None };
        Some(first.at_most(radius) - second.at_most(radius))
    };
    counts.iter().map(|count| lead(count).unwrap_or(0.0)).collect()
}
