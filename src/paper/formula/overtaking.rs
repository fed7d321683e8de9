//! bounds Corollaries 4.5.1 to 4.5.3: the n from which on LSHist is more accurate than EHD.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use engine::numeric::exp_accurate;
use engine::posterior::sensitivity::GLOBAL_BOUND;

/// Corollary 4.5.1, as proved: above n = (2k+1) e^ε / (1 − e^(−kε)) LSHist is better.
pub fn lshist_wins_above(k: u32, epsilon: f64) -> f64 {
    let k = f64::from(k);
    (2.0 * k + 1.0) * exp_accurate(epsilon) / (1.0 - exp_accurate(-k * epsilon))
}

/// Corollary 4.5.1, as stated (inside an O): n = (2k+1) e^ε / (1 − e^(−ε)).
pub fn lshist_wins_above_as_stated(k: u32, epsilon: f64) -> f64 {
    (2.0 * f64::from(k) + 1.0) * exp_accurate(epsilon) / (1.0 - exp_accurate(-epsilon))
}

/// Corollary 4.5.2: below n = (2k e^(−ε) + 1) / (1 − ½(e^(−kε) + e^(−(k+1)ε))) EHD is better.
pub fn ehd_wins_below(k: u32, epsilon: f64) -> f64 {
    let candidates = 2.0 * f64::from(k) * exp_accurate(-epsilon) + 1.0;
    candidates / super::step_bounds::lshist(k, epsilon)
}

/// Corollary 4.5.3, as proved, for k = 1: above n = 3 / (e^(−ε/c) (1 − e^(−ε))),
/// c = 2 sqrt(1 − π/4), LSHist releases a good output (no farther than LS) more often than EHD.
pub fn good_outputs_above(epsilon: f64) -> f64 {
    let c = 2.0 * GLOBAL_BOUND;
    3.0 * exp_accurate(epsilon / c) / (1.0 - exp_accurate(-epsilon))
}

/// Corollary 4.5.3, as stated (inside an O): n = e^ε / (1 − e^(−ε)).
pub fn good_outputs_above_as_stated(epsilon: f64) -> f64 {
    exp_accurate(epsilon) / (1.0 - exp_accurate(-epsilon))
}

/// Values for some sizes n, each computed when first asked for: several searches share the same sizes.
pub struct SizeCache<T, F> {
    compute: F,
    sizes: RefCell<BTreeMap<u64, T>>,
}

impl<T, F: Fn(u64) -> T> SizeCache<T, F> {
    pub fn new(compute: F) -> Self {
        Self { compute, sizes: RefCell::default() }
    }

    /// What `ask` takes from the value of size n.
    pub fn at<A>(&self, n: u64, ask: impl FnOnce(&T) -> A) -> A {
        ask(self.sizes.borrow_mut().entry(n).or_insert_with(|| (self.compute)(n)))
    }
}

/// A lead must be larger than this: equal probabilities may differ by rounding.
const LEAD: f64 = 1e-12;

/// All sizes up to this one are tried.
const SEARCHED: u64 = 400;

/// The smallest n of `range` from which on `lead` stays positive; `None` if it is not positive at the
/// end of the range. Every n up to 400 is tried, then sizes that grow by an eighth, and finally every n
/// of the gap in which `lead` becomes positive.
///
/// For k steps the range should begin at 2k + 1: with fewer records all candidates are within k steps
/// of balanced data, and all mechanisms are equal.
pub fn leads_from(range: RangeInclusive<u64>, lead: impl Fn(u64) -> f64) -> Option<u64> {
    let leads = |n: &u64| lead(*n) > LEAD;
    let mut from = None;
    for n in sizes(range).into_iter().rev() {
        if !leads(&n) {
            // Above 400 there are sizes between this one and the next that were not tried.
            return from.map(|from| (n + 1..from).rev().take_while(leads).last().unwrap_or(from));
        }
        from = Some(n);
    }
    from
}

/// The sizes of `range` that are tried at first.
pub fn sizes(range: RangeInclusive<u64>) -> Vec<u64> {
    let (first, last) = (*range.start(), *range.end());
    let beyond = std::iter::successors(Some(first.max(SEARCHED + 1)), |n| Some(n + n / 8));
    let mut sizes: Vec<u64> = (first..=last.min(SEARCHED)).collect();
    sizes.extend(beyond.take_while(|&n| n < last));
    sizes.extend((first.max(SEARCHED + 1) <= last).then_some(last));
    sizes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_small_sizes_and_some_large_ones() {
        assert_eq!(sizes(398..=600), [398, 399, 400, 401, 451, 507, 570, 600]);
        assert_eq!(sizes(5..=7), [5, 6, 7]);
        assert_eq!(sizes(700..=801), [700, 787, 801], "a range may begin late");
    }

    #[test]
    fn a_lead_is_won_when_it_is_never_lost_again() {
        assert_eq!(leads_from(3..=10_000, |n| n as f64 - 20.0), Some(21));
        assert_eq!(leads_from(3..=10_000, |_| 1.0), Some(3), "from the start");
        assert_eq!(leads_from(3..=10_000, |_| 1e-13), None, "that is rounding");
        assert_eq!(leads_from(3..=10_000, |n| 20.0 - n as f64), None);
        // Even sizes lead earlier than odd ones.
        let ragged = |n: u64| n as f64 - if n.is_multiple_of(2) { 10.0 } else { 19.0 };
        assert_eq!(leads_from(3..=10_000, ragged), Some(20));
        assert_eq!(leads_from(3..=10_000, |n| n as f64 - 777.5), Some(778), "within a gap");
    }

    #[test]
    fn at_epsilon_one() {
        // Computed apart from this crate.
        let close = |ours: f64, theirs: f64| assert!((ours - theirs).abs() < 1e-11, "{ours}");
        close(lshist_wins_above(1, 1.0), 12.900_775_605_985);
        close(lshist_wins_above(2, 1.0), 15.718_704_462_894);
        close(lshist_wins_above_as_stated(2, 1.0), 21.501_292_676_642);
        close(ehd_wins_below(1, 1.0), 2.319_315_817_236);
        close(good_outputs_above(1.0), 13.965_849_733_618);
    }

    #[test]
    fn for_one_step_statement_and_proof_agree() {
        for epsilon in [0.1, 1.0, 3.0] {
            assert_eq!(lshist_wins_above(1, epsilon), lshist_wins_above_as_stated(1, epsilon));
        }
    }
}
