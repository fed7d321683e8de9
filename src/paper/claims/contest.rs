//! Mechanisms compared by their exact errors, in the words of the documents.

use super::Lab;
use engine::mechanism;
use engine::mechanism::law::Summary;
use engine::posterior::setting::SettingWithData;

/// '≈', 'slightly', 'close to': within 10 %.
pub const NEAR: f64 = 1.1;

/// The exact errors of some mechanisms at one setting.
pub struct Contest {
    errors: Vec<(&'static str, Summary)>,
}

impl Contest {
    /// The errors of the mechanisms `ids`.
    pub fn new(lab: &Lab, setting: &SettingWithData, ids: &[&'static str]) -> Self {
        let error = |id| lab.exact(setting, id).error.expect("a law that is walked");
        Self { errors: ids.iter().map(|&id| (id, error(id))).collect() }
    }

    fn error(&self, id: &str) -> &Summary {
        let known = self.errors.iter().find(|(other, _)| *other == id);
        &known.expect("a mechanism that takes part").1
    }

    pub fn mean(&self, id: &str) -> f64 {
        self.error(id).mean
    }

    /// The mean error of `a` divided by that of `b`.
    pub fn ratio(&self, a: &str, b: &str) -> f64 {
        self.mean(a) / self.mean(b)
    }

    /// 'Better', 'beats': the smaller exact mean.
    pub fn beats(&self, a: &str, b: &str) -> bool {
        self.ratio(a, b) < 1.0
    }

    /// Whether `id` has the largest mean of all.
    pub fn is_worst(&self, id: &str) -> bool {
        self.errors.iter().all(|(other, _)| *other == id || self.beats(other, id))
    }

    /// Every mean, named by its mechanism.
    pub fn means(&self) -> impl Iterator<Item = (String, f64)> {
        self.errors.iter().map(|(id, error)| (format!("mean error of {}", title(id)), error.mean))
    }

    /// A sentence about the medians, if they rank `a` and `b` in the opposite order of the means.
    pub fn objection(&self, a: &str, b: &str) -> Option<String> {
        let by_mean = self.mean(a) - self.mean(b);
        let medians = (self.error(a).median, self.error(b).median);
        let disagree = by_mean * (medians.0 - medians.1) < 0.0;
        disagree.then(|| {
            let (a, b) = (title(a), title(b));
            format!("the medians disagree: {a} {:.4}, {b} {:.4}", medians.0, medians.1)
        })
    }
}

/// Where along an axis the medians of `a` and one of the `rivals` have the opposite order of the means:
/// a sentence for every such rival.
pub fn objections<'a>(
    a: &str,
    rivals: &[&str],
    axis: &str,
    contests: impl Iterator<Item = (u64, &'a Contest)> + Clone,
) -> Vec<String> {
    let sentence = |b: &&str| {
        let disagree = contests.clone().filter(|(_, contest)| contest.objection(a, b).is_some());
        let places: Vec<String> = disagree.map(|(at, _)| at.to_string()).collect();
        let (a, b) = (title(a), title(b));
        let places = (!places.is_empty()).then(|| places.join(", "))?;
        Some(format!("the medians of {a} and {b} disagree with the means at {axis} = {places}"))
    };
    rivals.iter().filter_map(sentence).collect()
}

/// The name of a mechanism in the documents.
pub fn title(id: &str) -> &'static str {
    mechanism::find(id).expect("a mechanism of the documents").title()
}

/// A data set or a prior as the documents write it: "(20, 20, 20)".
pub fn tuple(values: &[impl ToString]) -> String {
    let values: Vec<String> = values.iter().map(ToString::to_string).collect();
    format!("({})", values.join(", "))
}
