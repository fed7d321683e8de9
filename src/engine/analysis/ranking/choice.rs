//! Mechanisms ranked, the best first.

use std::cell::Cell;

use super::{Accuracy, Data, LARGEST, LeastEpsilon, SAME, SMALLEST, Stopped, TRIED};
use super::{accuracy, least_epsilon, likely_epsilon, mean_error, refusal};
use crate::analysis::size::{self, Size};
use crate::analysis::tuning::{TuningCache, check};
use crate::mechanism::Mechanism;
use crate::parallel;
use crate::posterior::privacy::Epsilon;
use crate::posterior::setting::Setting;
use crate::refusal::Refusal;

/// Mechanisms that are of use for comparisons with the documents only.
const FOR_COMPARISON: [&str; 3] = ["lsdim", "mh-gamma", "mh-beta"];

/// What mechanisms are ranked by.
#[derive(Clone, Debug, PartialEq)]
pub struct Criterion {
    /// The data at which errors count.
    pub data: Data,
    /// The mean error whose least ε counts; without one, the mean error at the setting's ε counts.
    pub error: Option<f64>,
}

/// The private mechanisms that come with dpbi, the one with the least mean error over all data sets first. Those
/// whose laws are too large are named only.
///
/// ```
/// use dpbi_engine::prelude::*;
///
/// let setting = Setting::new(Prior::new(vec![1.0, 1.0])?, 10, Epsilon::new(1.0)?);
/// let ranking = choose(&setting)?;
/// assert_eq!(ranking.best().ok_or("none")?.variant.label, "geometric");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn choose(setting: &Setting) -> Result<Ranking, Refusal> {
    let at = setting.anywhere();
    let can_be_used = |variant: &Mechanism| check(variant, setting, &at).is_ok();
    let usual = |variant: &Mechanism| can_be_used(variant) && is_usual(variant, setting);
    let variants = Mechanism::all(true).into_iter().filter(usual);
    let criterion = Criterion { data: Data::PriorPredictive, error: None };
    Plan::new(variants, setting, criterion, false).rank().map_err(|refused| refused.1)
}

/// Whether a mechanism is ranked if nobody asks for it: a private one, and not for comparisons only.
pub fn is_usual(variant: &Mechanism, setting: &Setting) -> bool {
    variant.is_private(setting) && !FOR_COMPARISON.contains(&variant.kind.id)
}

/// Which mechanisms are going to be ranked.
pub struct Plan<'a> {
    setting: &'a Setting,
    criterion: Criterion,
    /// Those that are ranked, with what that takes.
    pub ranked: Vec<(Mechanism, Size)>,
    /// Those that are too large.
    pub large: Vec<(Mechanism, Size)>,
    /// Those of which no least ε can be found.
    pub not_offered: Vec<Mechanism>,
    /// The outputs that searches for ε may walk in all.
    budget: f64,
}

impl<'a> Plan<'a> {
    /// Of these mechanisms `all` are ranked, or the small ones. An answer about a few is better than none.
    pub fn new(
        variants: impl IntoIterator<Item = Mechanism>,
        setting: &'a Setting,
        criterion: Criterion,
        all: bool,
    ) -> Self {
        let is_offered = |variant: &Mechanism| {
            criterion.error.is_none() || refusal(variant, &criterion.data).is_none()
        };
        let (offered, not_offered): (Vec<Mechanism>, Vec<Mechanism>) =
            variants.into_iter().partition(is_offered);
        let sized = |variant: Mechanism| {
            let size = size_of(&variant, setting, &criterion);
            (variant, size)
        };
        let sized: Vec<(Mechanism, Size)> = offered.into_iter().map(sized).collect();
        let mut is_ranked = if all { vec![true; sized.len()] } else { small(&sized) }.into_iter();
        let (ranked, large) = sized.into_iter().partition(|_| is_ranked.next() == Some(true));
        let budget = if all { f64::INFINITY } else { size::BUDGET };
        Self { setting, criterion, ranked, large, not_offered, budget }
    }

    /// Ranks the mechanisms, one after the other: each needs much memory, and uses all threads. One that turns out to
    /// be impossible does not keep the others from being ranked, unless the user wrote it and can mend it, or named
    /// no other.
    pub fn rank(self) -> Result<Ranking, Box<(Mechanism, Refusal)>> {
        let mut ranking = Ranking {
            setting: self.setting.clone(),
            criterion: self.criterion,
            rows: Vec::new(),
            large: self.large.into_iter().map(|(variant, _)| variant).collect(),
            impossible: Vec::new(),
            not_offered: self.not_offered,
        };
        let tuning = TuningCache::default();
        let left = Cell::new(self.budget);
        let all: f64 = self.ranked.iter().map(|(_, size)| size.outputs).sum();
        // The smallest first. The budget counts only when one is known to be good enough: an answer is worth more.
        let mut order: Vec<usize> = (0..self.ranked.len()).collect();
        order.sort_by(|&a, &b| self.ranked[a].1.outputs.total_cmp(&self.ranked[b].1.outputs));
        let mut is_limited = false;
        let mut found: Vec<Option<_>> = self.ranked.iter().map(|_| None).collect();
        for index in order {
            let (variant, size) = &self.ranked[index];
            let _part = parallel::of_whole(size.outputs / all);
            let left = is_limited.then_some(&left);
            let row = row(variant, self.setting, &ranking.criterion, &tuning, left);
            let is_good =
                |row: &Row| row.accuracy.is_some() && variant.is_private(&ranking.at(row));
            is_limited |= row.as_ref().is_ok_and(|row| row.as_ref().is_some_and(is_good));
            found[index] = Some(row);
        }
        let is_alone = self.ranked.len() == 1;
        for ((variant, _), found) in self.ranked.into_iter().zip(found.into_iter().flatten()) {
            match found {
                Ok(Some(row)) => ranking.rows.push(row),
                Ok(None) => ranking.large.push(variant),
                Err(refusal) if variant.kind.definition.is_some() || is_alone => {
                    return Err(Box::new((variant, refusal)));
                }
                Err(_) => ranking.impossible.push(variant),
            }
        }
        ranking.sort();
        Ok(ranking)
    }
}

/// What it takes to rank one mechanism: its errors are listed at the ε that is asked for, or at the one that a search
/// finds, which tries means at others. A search begins at the largest ε, also with a mechanism that cannot be used at
/// the likely one.
pub fn size_of(variant: &Mechanism, setting: &Setting, criterion: &Criterion) -> Size {
    let listed = |setting: &Setting| size::distribution(variant, setting, &criterion.data);
    let Some(error) = criterion.error else { return listed(setting).unwrap_or_default() };
    let searched = |epsilon: Epsilon| {
        let setting = Setting { epsilon, ..setting.clone() };
        let listed = listed(&setting)?;
        // What is sampled only has no error.
        let tried = size::error(variant, &setting, &criterion.data).unwrap_or(listed);
        Some(tried.times(TRIED).then(listed))
    };
    let tried = [Ok(likely_epsilon(setting, error)), Epsilon::new(LARGEST)];
    tried.into_iter().flatten().find_map(searched).unwrap_or_default()
}

/// Which mechanisms are ranked if nobody has named them.
fn small(sized: &[(Mechanism, Size)]) -> Vec<bool> {
    let within = |bytes: f64, budget: f64| {
        let fits = |(_, size): &(_, Size)| (size.bytes <= bytes).then_some(*size);
        size::smallest(&sized.iter().map(fits).collect::<Vec<_>>(), budget)
    };
    let small = within(size::LARGEST, size::BUDGET);
    match small.contains(&true) {
        true => small,
        false => within(size::LARGEST_ALONE, size::LARGE_BUDGET),
    }
}

/// One mechanism, ranked; `None` if it takes laws of more outputs than are `left`, if that is limited.
fn row(
    variant: &Mechanism,
    setting: &Setting,
    Criterion { data, error }: &Criterion,
    tuning: &TuningCache,
    left: Option<&Cell<f64>>,
) -> Result<Option<Row>, Refusal> {
    let row = |epsilon: Option<Epsilon>, accuracy: Option<Accuracy>, remark: &'static str| Row {
        variant: variant.clone(),
        epsilon,
        accuracy,
        remark,
    };
    let Some(error) = *error else {
        let accuracy = accuracy(variant, setting, data, tuning)?;
        let remark = match accuracy {
            None => UNKNOWN,
            Some(accuracy) if accuracy.mean == f64::INFINITY => "infinite",
            Some(_) => "",
        };
        return Ok(Some(row(Some(setting.epsilon), accuracy, remark)));
    };
    let at = |epsilon: f64| -> Result<Setting, Refusal> {
        Ok(Setting { epsilon: Epsilon::new(epsilon)?, ..setting.clone() })
    };
    let mean_at = |epsilon: f64| {
        let setting = at(epsilon)?;
        let size = size::error(variant, &setting, data).unwrap_or_default();
        if let Some(left) = left {
            let rest = left.get() - size.outputs;
            if rest < 0.0 {
                return Err(Stopped::TooCostly);
            }
            left.set(rest);
        }
        let _part = parallel::part(1.0 / TRIED);
        let law = tuning.prepare(variant, &setting)?.law;
        let mean = mean_error(law.as_ref(), &setting, data)?;
        mean.ok_or(Stopped::Unknown)
    };
    Ok(match least_epsilon(error, likely_epsilon(setting, error).get(), mean_at) {
        Ok(LeastEpsilon::At(epsilon)) => {
            let setting = at(epsilon)?;
            let accuracy = accuracy(variant, &setting, data, tuning)?;
            Some(row(Some(setting.epsilon), accuracy, ""))
        }
        Ok(LeastEpsilon::Any) => Some(row(Epsilon::new(SMALLEST).ok(), None, "or less")),
        Ok(LeastEpsilon::None) => Some(row(None, None, "not reached")),
        Err(Stopped::Unknown) => Some(row(None, None, UNKNOWN)),
        Err(Stopped::TooCostly) => None,
        Err(Stopped::Refused(refusal)) => return Err(refusal),
    })
}

/// The remark if an exact error is not known.
const UNKNOWN: &str = "its law is too large, or its error too steep";

/// A mechanism in a ranking.
pub struct Row {
    pub variant: Mechanism,
    /// ε, as given or as found; none if no ε is enough.
    pub epsilon: Option<Epsilon>,
    /// Its exact error there, if it is known.
    pub accuracy: Option<Accuracy>,
    /// What else is to be said; usually nothing.
    pub remark: &'static str,
}

/// Mechanisms, the best first.
pub struct Ranking {
    pub setting: Setting,
    /// What they are ranked by.
    pub criterion: Criterion,
    /// Those that were ranked.
    pub rows: Vec<Row>,
    /// Those whose laws are too large.
    pub large: Vec<Mechanism>,
    /// Those that turned out to be impossible in this setting.
    pub impossible: Vec<Mechanism>,
    /// Those of which no least ε can be found.
    pub not_offered: Vec<Mechanism>,
}

impl Ranking {
    /// What a mechanism is ranked by: ε if one was looked for, else the mean error.
    pub fn measure(&self, row: &Row) -> f64 {
        let measure = match self.criterion.error {
            Some(_) => row.epsilon.map(Epsilon::get),
            None => row.accuracy.map(|accuracy| accuracy.mean),
        };
        measure.unwrap_or(f64::INFINITY)
    }

    fn sort(&mut self) {
        let mut rows = std::mem::take(&mut self.rows);
        let effort = |row: &Row| {
            u8::from(row.variant.options.calibrated) + u8::from(row.variant.options.remap)
        };
        // By the measure, rounded so that equals are equal, and then by effort.
        let rounded = |row: &Row| (libm::log(self.measure(row).max(1e-300)) / SAME).round();
        rows.sort_by(|a, b| rounded(a).total_cmp(&rounded(b)).then(effort(a).cmp(&effort(b))));
        self.rows = rows;
    }

    /// Whether two mechanisms are equally good.
    pub fn is_same(&self, a: &Row, b: &Row) -> bool {
        let (a, b) = (self.measure(a), self.measure(b));
        a.is_finite() && b.is_finite() && (a - b).abs() <= SAME * a.max(b)
    }

    /// The best of the mechanisms that are private at their ε.
    pub fn best(&self) -> Option<&Row> {
        let private = |row: &&Row| row.variant.is_private(&self.at(row));
        self.rows.iter().filter(|row| self.measure(row).is_finite()).find(private)
    }

    /// The best that is not as good as `best`, if its measure is known.
    pub fn next_after<'a>(&'a self, best: &'a Row) -> Option<&'a Row> {
        let mut after = self.others(best).skip_while(|row| self.measure(row) < self.measure(best));
        after.find(|row| !self.is_same(best, row)).filter(|row| self.measure(row).is_finite())
    }

    /// All but one.
    pub fn others<'a>(&'a self, row: &'a Row) -> impl Iterator<Item = &'a Row> {
        self.rows.iter().filter(move |other| !std::ptr::eq(*other, row))
    }

    /// Whether every mechanism was ranked.
    pub fn all_are_known(&self) -> bool {
        let none_is_left_out = [self.large.len(), self.impossible.len(), self.not_offered.len()];
        none_is_left_out == [0; 3] && self.rows.iter().all(|row| row.remark != UNKNOWN)
    }

    /// The setting at the ε of a mechanism.
    pub fn at(&self, row: &Row) -> Setting {
        let epsilon = row.epsilon.unwrap_or(self.setting.epsilon);
        Setting { epsilon, ..self.setting.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where nothing is small, the smallest are ranked up to a larger budget, and nothing beyond that.
    #[test]
    fn an_answer_about_a_few_is_better_than_none() {
        let of = |outputs: &[f64]| {
            let variant = || Mechanism::parse("geometric").unwrap();
            let size = |&outputs: &f64| (variant(), Size { outputs, bytes: 1e6 });
            small(&outputs.iter().map(size).collect::<Vec<_>>())
        };
        assert_eq!(of(&[4e9, 1.5e9, 2e9, 7e9]), [false, true, true, false]);
        assert_eq!(of(&[1e8, 1.5e9]), [true, false]);
        assert_eq!(of(&[7e9]), [false]);
        let large = Size { outputs: 1.0, bytes: 1e11 };
        assert_eq!(small(&[(Mechanism::parse("geometric").unwrap(), large)]), [false]);
    }
}
