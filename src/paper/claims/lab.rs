//! Where claims are tested: a distance, and the mechanisms that stand for those of the documents.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::sync::Arc;

use engine::analysis::audit::{self, Scope};
use engine::mechanism::law::{self, Bench, Distribution, ErrorSummary, Law, OutputLaw};
use engine::mechanism::{self, Mechanism};
use engine::posterior::distance::Distance;
use engine::posterior::metric;
use engine::posterior::model::{Counts, Prior};
use engine::posterior::privacy::{Delta, Epsilon, Gamma};
use engine::posterior::setting::{Setting, SettingWithData};
use engine::posterior::simplex::{Row, Tail};

/// A distance and a set of mechanisms. By default every mechanism of the documents is ours of the same
/// id. A test may substitute another one, to see that the verdict changes.
#[derive(Clone)]
pub struct Lab {
    /// Score, sensitivities and error are measured in this distance.
    pub distance: &'static dyn Distance,
    /// S_γ(x). A test may substitute another function.
    pub smooth: fn(&SettingWithData, f64) -> f64,
    substitutes: BTreeMap<&'static str, Mechanism>,
}

impl Lab {
    /// The lab without substitutes.
    pub fn new(distance: &'static dyn Distance) -> Self {
        let smooth = |setting: &SettingWithData, gamma| setting.sensitivity().gamma_smooth(gamma);
        Self { distance, smooth, substitutes: BTreeMap::new() }
    }

    /// Lets `variant` stand for the mechanism `id`.
    pub fn substitute(mut self, id: &'static str, variant: Mechanism) -> Self {
        self.substitutes.insert(id, variant);
        self
    }

    /// The mechanism that stands for `id`.
    ///
    /// # Panics
    /// If there is no such mechanism.
    pub fn variant(&self, id: &str) -> Mechanism {
        let own = || Mechanism::plain(mechanism::find(id).expect("a mechanism of the documents"));
        self.substitutes.get(id).cloned().unwrap_or_else(own)
    }

    /// The law of the mechanism that stands for `id`, at data of as many records as the setting has.
    pub(super) fn law(&self, setting: &Setting, id: &str) -> Arc<dyn Law> {
        self.variant(id).law(setting).expect("a setting that fits")
    }

    /// A setting with γ = 1.
    ///
    /// # Panics
    /// If a number is out of range; the settings of the claims are valid.
    pub fn setting(
        &self,
        prior: &[f64],
        counts: &[u64],
        epsilon: f64,
        delta: Option<f64>,
    ) -> SettingWithData {
        let setting = Setting {
            prior: Prior::new(prior.to_vec()).expect("a prior"),
            n: counts.iter().sum(),
            epsilon: Epsilon::new(epsilon).expect("an ε"),
            delta: delta.map(|delta| Delta::new(delta).expect("a δ")),
            gamma: Gamma::new(1.0).expect("1 is a γ"),
            distance: self.distance,
        };
        SettingWithData::new(setting, counts.to_vec())
    }

    /// The exact error of the mechanism `id`.
    pub fn exact(&self, setting: &SettingWithData, id: &str) -> ErrorSummary {
        self.with_law(setting, id, |law, bench| ErrorSummary::new(law, bench.distance()))
    }

    /// The exact mean error of the mechanism `id`.
    ///
    /// # Panics
    /// If the law is too large to be walked; no claim asks for such a law.
    pub fn mean(&self, setting: &SettingWithData, id: &str) -> f64 {
        self.exact(setting, id).error.expect("a law that is walked").mean
    }

    /// The law of another error of the mechanism `id`: of the metric called `metric`.
    ///
    /// # Panics
    /// If there is no such metric, or the law is too large to be walked.
    pub(super) fn distribution_of(
        &self,
        setting: &SettingWithData,
        id: &str,
        metric: &str,
    ) -> Distribution {
        let law = self.law(setting, id);
        let metric = metric::find(metric).expect("a metric");
        let bench = Bench::new(setting.posterior(), setting.distance, [law.as_ref()], &[metric])
            .expect("a setting that fits");
        let field = bench.fields().last().expect("the metric");
        Distribution::new(bench.law(0).as_ref(), field).expect("a law that is walked")
    }

    /// The probability of releasing (v, n − v) under the mechanism `id`, v = 0, 1, …, n, for k = 2
    /// and a mechanism that restores the total.
    pub fn candidates(&self, setting: &SettingWithData, id: &str) -> Vec<f64> {
        self.with_law(setting, id, |law, _| {
            let n = setting.n;
            (0..=n).map(|v| law::probability(law, &[v, n - v])).collect()
        })
    }

    /// The probability that the mechanism `id` releases the first count v, for each v and k = 2 or 3;
    /// the other counts are those with which the total is n.
    pub(super) fn first_count(
        &self,
        setting: &SettingWithData,
        id: &str,
        values: RangeInclusive<u64>,
    ) -> Vec<f64> {
        if setting.k() == 2 {
            let all = self.candidates(setting, id);
            return values.map(|v| all[v as usize]).collect();
        }
        self.with_law(setting, id, |law, _| {
            let walked = law.walked().expect("a law that is walked");
            let (low, high) = walked.region.windows()[1];
            let of_value = |v: u64| {
                let rest = setting.n - v;
                let len = (high.min(rest) + 1).saturating_sub(low) as usize;
                let tail = Tail::Complement(rest);
                let row = Row { head: &[v], start: low, len, tail, weight: 1.0 };
                let mut masses = vec![0.0; len];
                law.masses(&row, &mut masses);
                masses.iter().sum::<f64>() / law.normaliser()
            };
            values.map(of_value).collect()
        })
    }

    /// The law of the error of the mechanism `id`, value by value.
    ///
    /// # Panics
    /// If the law is too large to be walked; no claim asks for such a law.
    pub fn distribution(&self, setting: &SettingWithData, id: &str) -> Distribution {
        self.with_law(setting, id, |law, bench| {
            Distribution::new(law, bench.distance()).expect("a law that is walked")
        })
    }

    /// The exact privacy loss of the mechanism `id` over `scope`.
    pub(super) fn loss(&self, setting: &Setting, id: &str, scope: &Scope) -> f64 {
        audit::loss(self.law(setting, id).as_ref(), setting, scope)
            .expect("a setting that fits")
            .loss
    }

    /// The probability that the mechanism `id` releases `output`, whose total is n.
    pub fn probability(&self, setting: &SettingWithData, id: &str, output: &[u64]) -> f64 {
        self.with_law(setting, id, |law, _| law::probability(law, output))
    }

    fn with_law<T>(
        &self,
        setting: &SettingWithData,
        id: &str,
        ask: impl FnOnce(&dyn OutputLaw, &Bench) -> T,
    ) -> T {
        let law = self.law(setting, id);
        let bench = Bench::new(setting.posterior(), setting.distance, [law.as_ref()], &[])
            .expect("a setting that fits");
        ask(bench.law(0).as_ref(), &bench)
    }
}

/// n records split evenly, the rest to the last category; for k = 3 by 33 %, 33 % and 34 %, as the
/// documents do.
pub fn balanced(n: u64, k: usize) -> Counts {
    let part = if k == 3 { n * 33 / 100 } else { n / k as u64 };
    let mut counts = vec![part; k];
    counts[k - 1] = n - part * (k as u64 - 1);
    counts
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::posterior::distance::HELLINGER;

    #[test]
    fn the_probability_of_one_output() {
        let lab = Lab::new(HELLINGER);
        let setting = lab.setting(&[1.0; 3], &[4, 3, 2], 1.0, None);
        for id in ["lshist", "lszhang", "ehds"] {
            let truth = lab.probability(&setting, id, &[4, 3, 2]);
            assert!((truth - lab.exact(&setting, id).p_exact).abs() < 1e-15, "{id}");
        }
    }

    #[test]
    fn candidates_one_by_one() {
        let lab = Lab::new(HELLINGER);
        for n in [9, 100_000] {
            let setting = lab.setting(&[1.0, 1.0], &balanced(n, 2), 1.0, None);
            for id in ["lshist", "ehds", "ehd"] {
                let each = lab.candidates(&setting, id);
                assert!((each.iter().sum::<f64>() - 1.0).abs() < 1e-12, "{id}");
                let truth = each[setting.counts()[0] as usize];
                assert!((truth / lab.exact(&setting, id).p_exact - 1.0).abs() < 1e-12, "{id}");
            }
        }
    }

    #[test]
    fn the_first_count_has_the_law_of_its_noise() {
        // ⌊Y⌋ = t for Y of scale 2/ε, t = −1, 0, 1.
        let lab = Lab::new(HELLINGER);
        let setting = lab.setting(&[1.0; 3], &[90, 90, 90], 1.0, None);
        let law = lab.first_count(&setting, "lshist", 89..=91);
        let [near, far] = [0.0, -0.5].map(|e: f64| -0.5 * e.exp() * f64::exp_m1(-0.5));
        for (ours, known) in law.iter().zip([near, near, far]) {
            assert!((ours / known - 1.0).abs() < 1e-9, "{ours} {known}");
        }
        let all: f64 = lab.first_count(&setting, "ehds", 0..=270).iter().sum();
        assert!((all - 1.0).abs() < 1e-9, "{all}");
    }

    #[test]
    fn balanced_data() {
        assert_eq!(balanced(600, 3), [198, 198, 204]);
        assert_eq!(balanced(101, 2), [50, 51]);
        assert_eq!(balanced(80, 4), [20; 4]);
    }
}
