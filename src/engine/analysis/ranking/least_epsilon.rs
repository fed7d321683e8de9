//! The least ε from which on a mechanism is accurate enough.

use super::remapped_bound::RemappedBound;
use super::{Accuracy, Data, accuracy};
use crate::analysis::predictive_error;
use crate::analysis::tuning::{TuningCache, remapping};
use crate::mechanism::Variant;
use crate::mechanism::law::Outputs;
use crate::named;
use crate::posterior::metric::Metric;
use crate::posterior::privacy::Epsilon;
use crate::posterior::setting::Setting;
use crate::refusal::Refusal;

/// The least ε from which on the mean error is at most the wanted one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LeastEpsilon {
    /// This ε, rounded up to four digits, the accuracy there, and how it was found.
    At(Epsilon, Accuracy, EpsilonSearch),
    /// [`SMALLEST`] is more than enough.
    Any(EpsilonSearch),
    /// [`LARGEST`] is not enough.
    None,
    /// Not found: an ε that had to be tried was not admitted.
    TooCostly,
    /// Not found: at an ε that had to be tried, the law is too large or the error too steep.
    Unknown,
}

/// Why a search ended early.
enum Stopped {
    TooCostly,
    Unknown,
    Refused(Refusal),
}

impl From<Refusal> for Stopped {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

named! {
    /// How an ε was found: what is known of the larger ones.
    pub enum EpsilonSearch {
        /// The error is taken to fall as ε grows.
        Falling = "falling",
        /// The error of every larger ε is bounded, down to intervals of one part in a million.
        Bounded = "bounded",
        /// Larger ε were tried in steps of a factor [`STEP`]: a hump between two steps may be missed.
        Stepped = "stepped",
    }
}

/// The smallest ε that is tried.
pub const SMALLEST: f64 = 1e-4;
/// The largest ε that is tried.
pub const LARGEST: f64 = 1e4;
/// The factor between two ε where the error is not bounded in between.
pub const STEP: f64 = 1.25;

/// Intervals of ε shorter than this, relatively, are judged by their ends.
const RESOLUTION: f64 = 1e-6;
/// The most work (see [`remapping::work`]) of one interval for which errors are bounded.
const MOST_WORK: f64 = 3e7;
/// The most work of all intervals.
const ALL_WORK: f64 = 6e9;

/// About how many values of ε a search tries.
pub fn tried(variant: &Variant, setting: &Setting, data: Data) -> f64 {
    match (may_have_humps(variant, data), is_bounded(variant, setting, data)) {
        (false, _) => 25.0,
        (true, true) => 150.0,
        (true, false) => 60.0,
    }
}

/// About the ε at which a mean error is `error`: noise of 1/ε records moves a posterior of n records, whose
/// spread is of the order of its root, by that much. Only costs are predicted by it.
pub fn likely_epsilon(setting: &Setting, error: f64) -> Epsilon {
    let posterior = &setting.posterior;
    let records = posterior.n() as f64 + posterior.prior().total();
    let epsilon = (posterior.k() as f64 - 1.0).max(1.0).sqrt() / (error * records.sqrt());
    Epsilon::new(epsilon.clamp(SMALLEST, LARGEST)).unwrap_or(setting.epsilon)
}

/// Whether a search bounds the errors of all larger ε, as long as its time allows.
pub fn is_bounded(variant: &Variant, setting: &Setting, data: Data) -> bool {
    may_have_humps(variant, data) && interval_work(variant, setting) <= MOST_WORK
}

/// Whether the error may rise as ε grows.
///
/// The error of an exponential mechanism falls with ε: its derivative in the rate is a negative
/// variance. Noise moves a count the less the larger ε is. A remapping does the best on average over
/// the data sets that the prior expects; at one of them it may be right by chance, the more so the
/// smaller ε is, and every time that the map changes, its error there jumps up or down.
fn may_have_humps(variant: &Variant, data: Data) -> bool {
    variant.options.remap && data == Data::Given
}

fn interval_work(variant: &Variant, setting: &Setting) -> f64 {
    let (n, k) = (setting.posterior.n(), setting.posterior.k());
    let outline = variant.outline(setting);
    outline.map_or(f64::INFINITY, |recipe| remapping::work(Outputs::of(recipe, n, k), setting).1)
}

/// Finds the least ε, from [`SMALLEST`] to [`LARGEST`], from which on the mean error of `variant` is
/// at most `error`.
///
/// What is guaranteed depends on the [`EpsilonSearch`]:
///
/// - `Falling` (not remapped, or over the data that the prior expects): ε is right to its four digits
///   if the error does not rise with ε. The search divides by four from above and bisects.
/// - `Bounded` (remapped, at given data): an interval of ε counts as good only if an upper bound on
///   the error over all of it does not exceed `error` (see `remapped_bound.rs`); any other is cut in two,
///   the upper part first. So no hump is missed unless it lies within a millionth of some ε at which
///   the error is just small enough.
/// - `Stepped` (the same, where bounds would take too long): as `Bounded`, but intervals whose ends
///   differ by less than the factor [`STEP`] are judged by their ends.
///
/// The ε that is returned was tried in any case. Every setting is tried only if `admits` allows it: laws may
/// be much larger at a small ε than at the one that is found.
pub fn least_epsilon(
    variant: &Variant,
    setting: &Setting,
    data: Data,
    error: f64,
    tuning: &TuningCache,
    admits: &dyn Fn(&Setting) -> bool,
) -> Result<LeastEpsilon, Refusal> {
    match search(&Tries { variant, setting, data, error, tuning, admits }) {
        Ok(found) => Ok(found),
        Err(Stopped::TooCostly) => Ok(LeastEpsilon::TooCostly),
        Err(Stopped::Unknown) => Ok(LeastEpsilon::Unknown),
        Err(Stopped::Refused(refusal)) => Err(refusal),
    }
}

fn search(tries: &Tries) -> Result<LeastEpsilon, Stopped> {
    let &Tries { variant, setting, data, tuning, .. } = tries;
    if !tries.is_enough(LARGEST)? {
        return Ok(LeastEpsilon::None);
    }
    let (too_small, search) = match may_have_humps(variant, data) {
        false => (tries.bisect()?, EpsilonSearch::Falling),
        true => tries.walk()?,
    };
    let Some(too_small) = too_small else { return Ok(LeastEpsilon::Any(search)) };
    let mut rounded = next_above(too_small);
    while !tries.is_enough(rounded)? {
        rounded = next_above(rounded);
    }
    let epsilon = Epsilon::new(rounded)?;
    let there = accuracy(variant, &Setting { epsilon, ..setting.clone() }, data, tuning)?;
    // A mean was found, so the rest is found as well.
    Ok(there.map_or(LeastEpsilon::None, |there| LeastEpsilon::At(epsilon, there, search)))
}

/// The search for one mechanism.
struct Tries<'a> {
    variant: &'a Variant,
    setting: &'a Setting,
    data: Data,
    error: f64,
    tuning: &'a TuningCache,
    admits: &'a dyn Fn(&Setting) -> bool,
}

impl Tries<'_> {
    fn is_enough(&self, epsilon: f64) -> Result<bool, Stopped> {
        let setting = Setting { epsilon: Epsilon::new(epsilon)?, ..self.setting.clone() };
        if !(self.admits)(&setting) {
            return Err(Stopped::TooCostly);
        }
        let variant = &self.tuning.tune(self.variant, &setting)?.variant;
        let metric = Metric::from_distance(setting.distance);
        let mean = match self.data {
            Data::PriorPredictive => predictive_error::over_all_data(variant, &setting, metric)?
                .map(|errors| errors.mean),
            Data::Given => predictive_error::mean_at(variant, &setting, metric)?,
        };
        Ok(mean.ok_or(Stopped::Unknown)? <= self.error)
    }

    /// The largest ε that is too small, for an error that falls with ε.
    fn bisect(&self) -> Result<Option<f64>, Stopped> {
        let mut high = LARGEST;
        let mut low = 0.25 * high;
        while self.is_enough(low)? {
            if low <= SMALLEST {
                return Ok(None);
            }
            (low, high) = ((0.25 * low).max(SMALLEST), low);
        }
        while high > low * (1.0 + RESOLUTION) {
            let middle = (low * high).sqrt();
            if self.is_enough(middle)? { high = middle } else { low = middle }
        }
        Ok(Some(low))
    }

    /// The largest ε that is too small, for an error with humps.
    fn walk(&self) -> Result<(Option<f64>, EpsilonSearch), Stopped> {
        let work = interval_work(self.variant, self.setting);
        let bound = match work <= MOST_WORK {
            true => RemappedBound::new(self.variant, self.setting, self.tuning)?,
            false => None,
        };
        let mut bounds_left = match bound {
            Some(_) => (ALL_WORK / work.max(1.0)).clamp(0.0, 1e5) as u64,
            None => 0,
        };
        let mut too_small = (!self.is_enough(SMALLEST)?).then_some(SMALLEST);
        let mut skipped = false;
        // The intervals that are still to be judged, the highest on top. Their upper ends are enough.
        let mut intervals = vec![(SMALLEST, LARGEST)];
        while let Some((low, high)) = intervals.pop() {
            if too_small.is_some_and(|too_small| too_small > low)
                || high <= low * (1.0 + RESOLUTION)
            {
                continue;
            }
            // An interval whose lower end is too small is searched for where the error crosses; that
            // needs no bound.
            let crossing = too_small == Some(low);
            if bounds_left == 0 && !crossing && high <= low * STEP {
                skipped = true;
                continue;
            }
            let middle = (low * high).sqrt();
            if !self.is_enough(middle)? {
                too_small = Some(middle);
                intervals.push((middle, high));
                continue;
            }
            if let (Some(bound), false) = (&bound, crossing || bounds_left == 0) {
                bounds_left -= 1;
                if bound.over(low, middle, high)? <= self.error {
                    continue;
                }
            }
            intervals.push((low, middle));
            intervals.push((middle, high));
        }
        Ok((too_small, if skipped { EpsilonSearch::Stepped } else { EpsilonSearch::Bounded }))
    }
}

/// The next number of four digits above `value`, as it would be typed.
fn next_above(value: f64) -> f64 {
    let place = libm::floor(libm::log10(value)) as i32 - 3;
    let typed = |digits: f64| format!("{digits:.0}e{place}").parse().unwrap_or(value);
    let unit = libm::pow(10.0, f64::from(place));
    let mut digits = (value / unit).floor() - 1.0;
    let mut next: f64 = typed(digits);
    while next <= value {
        digits += 1.0;
        next = typed(digits);
    }
    next
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mechanism::{self, Options};
    use crate::posterior::distance::HELLINGER;
    use crate::posterior::model::Prior;

    fn remapped(id: &str) -> Variant {
        let options = Options { remap: true, ..Options::default() };
        Variant::new(mechanism::find(id).unwrap(), options, id.to_owned())
    }

    fn setting(prior: &[f64], counts: &[u64]) -> Setting {
        let prior = Prior::new(prior.to_vec()).unwrap();
        Setting::new(prior, counts.to_vec(), Epsilon::new(1.0).unwrap())
    }

    fn mean(variant: &Variant, setting: &Setting, epsilon: f64) -> f64 {
        let epsilon = Epsilon::new(epsilon).unwrap();
        let at = Setting { epsilon, ..setting.clone() };
        let tuned = TuningCache::default().tune(variant, &at).unwrap().variant;
        let metric = Metric::from_distance(HELLINGER);
        predictive_error::mean_at(&tuned, &at, metric).unwrap().unwrap()
    }

    /// Every setting with a mechanism.
    fn cases() -> impl Iterator<Item = (Variant, Setting)> {
        let settings = [
            setting(&[1.0, 1.0], &[5, 5]),
            setting(&[7.689, 1.586], &[6, 1]),
            setting(&[23.77, 15.49], &[3, 3]),
            setting(&[0.4, 0.4], &[9, 2]),
            setting(&[1.0, 2.0, 0.3], &[1, 3, 1]),
        ];
        let ids = ["geometric", "lszhang", "lsdim", "hamming", "ehds"];
        settings
            .into_iter()
            .flat_map(move |setting| ids.into_iter().map(move |id| (remapped(id), setting.clone())))
    }

    #[test]
    fn four_digits_upwards_and_none_is_skipped() {
        for (value, next) in
            [(0.123_41, 0.1235), (12_345.0, 12_350.0), (1.0, 1.001), (5e-5, 5.001e-5)]
        {
            assert_eq!(next_above(value), next);
        }
        let mut value = 0.9;
        for step in 1..=2000 {
            value = next_above(value);
            let expected =
                if step <= 1000 { 0.9 + 1e-4 * f64::from(step) } else { f64::from(step) * 1e-3 };
            assert!((value - expected).abs() < 1e-12, "{step}: {value} {expected}");
        }
    }

    #[test]
    fn no_error_exceeds_the_bound_of_its_interval() {
        let tuning = TuningCache::default();
        let mut sharp = 0;
        for (variant, setting) in cases() {
            let bound = RemappedBound::new(&variant, &setting, &tuning).unwrap().unwrap();
            for (a, ratio) in [
                (1e-3, 3.0),
                (0.05, 1.5),
                (0.3, 1.03),
                (0.9, 1.2),
                (2.0, 1.001),
                (3.0, 4.0),
                (20.0, 99.0),
            ] {
                let bounded = bound.over(a, a * f64::sqrt(ratio), a * ratio).unwrap();
                let points = (0..=40).map(|i| a * libm::pow(ratio, f64::from(i) / 40.0));
                let largest =
                    points.map(|epsilon| mean(&variant, &setting, epsilon)).fold(0.0, f64::max);
                let what =
                    format!("{} {} {ratio}: {largest} {bounded}", variant.label, setting.key());
                assert!(largest <= bounded, "{a} {what}");
                sharp += usize::from(bounded <= 1.02 * largest + 1e-9);
            }
        }
        // A bound that is never near the error would be of no use.
        assert!(sharp > 50, "{sharp} of 175 bounds are sharp");
    }

    #[test]
    fn a_search_tries_only_what_is_admitted() {
        let (variant, setting) = cases().next().unwrap();
        let search = |least: f64| {
            let tuning = TuningCache::default();
            let admits = |tried: &Setting| tried.epsilon.get() >= least;
            least_epsilon(&variant, &setting, Data::PriorPredictive, 0.3, &tuning, &admits).unwrap()
        };
        assert!(matches!(search(0.0), LeastEpsilon::At(..)));
        assert_eq!(search(100.0), LeastEpsilon::TooCostly);
    }

    #[test]
    fn no_hump_above_the_least_epsilon() {
        for (variant, setting) in cases() {
            // Errors near those of the largest jumps: just below and above the error at some ε.
            for (near, factor) in [(0.2, 0.999), (0.7, 1.002), (1.3, 0.9999), (2.5, 1.01)] {
                let error = factor * mean(&variant, &setting, near);
                let tuning = TuningCache::default();
                let found =
                    least_epsilon(&variant, &setting, Data::Given, error, &tuning, &|_| true)
                        .unwrap();
                let what = format!("{} {} {error}: {found:?}", variant.label, setting.key());
                let too_large = |epsilon: f64| mean(&variant, &setting, epsilon) > error;
                let grid = (0..800).map(|i| 20.0 * libm::exp(-0.015 * f64::from(i)));
                let hump = grid.into_iter().find(|&epsilon| too_large(epsilon));
                match found {
                    LeastEpsilon::At(epsilon, accuracy, search) => {
                        let epsilon = epsilon.get();
                        assert_eq!(search, EpsilonSearch::Bounded, "{what}");
                        assert!(accuracy.mean <= error, "{what}");
                        assert!(hump.is_none_or(|hump| hump < epsilon), "{what} {hump:?}");
                        // The number before it is too small, or a hump lies between the two.
                        let before = epsilon * (1.0 - 1.1e-3);
                        let between =
                            (0..=400).map(|i| before + (epsilon - before) * f64::from(i) / 400.0);
                        assert!(between.into_iter().any(too_large), "{what}");
                    }
                    LeastEpsilon::Any(_) => assert_eq!(hump, None, "{what}"),
                    LeastEpsilon::None => assert!(too_large(LARGEST), "{what}"),
                    LeastEpsilon::TooCostly | LeastEpsilon::Unknown => panic!("{what}"),
                }
            }
        }
    }
}
