//! Summaries of a sample.

use engine::numeric::sum::sum;

/// Where the whiskers of a box end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Whiskers {
    /// At the last datum within this many interquartile ranges of the box.
    Iqr(f64),
    /// At the extremes.
    Range,
}

/// What a notched box plot shows, with mean and standard deviation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BoxSummary {
    pub mean: f64,
    /// The standard deviation, with n − 1; 0 for a single datum.
    pub std: f64,
    pub min: f64,
    pub q1: f64,
    pub median: f64,
    pub q3: f64,
    pub max: f64,
    /// The end of the lower whisker.
    pub whisker_low: f64,
    /// The end of the upper whisker.
    pub whisker_high: f64,
    /// The lower end of the notch: median − 1.57 IQR / √n.
    pub notch_low: f64,
    /// The upper end of the notch.
    pub notch_high: f64,
}

impl BoxSummary {
    /// Summarises `sample`, which must not be empty.
    pub fn new(sample: &[f64], whiskers: Whiskers) -> Self {
        let mut sorted = sample.to_vec();
        sorted.sort_unstable_by(f64::total_cmp);
        let count = sorted.len() as f64;
        let mean = sum(sample.iter().copied()) / count;
        let squares = sum(sample.iter().map(|value| (value - mean) * (value - mean)));
        let [q1, median, q3] = [0.25, 0.5, 0.75].map(|p| quantile(&sorted, p));
        let (min, max) = (sorted[0], sorted[sorted.len() - 1]);
        // Two infinite quartiles are equal: their difference would be NaN.
        let iqr = if q3 == q1 { 0.0 } else { q3 - q1 };
        let (whisker_low, whisker_high) = match whiskers {
            Whiskers::Range => (min, max),
            Whiskers::Iqr(factor) => {
                // The last datum inside the fence; never inside the box (matplotlib's rule).
                let (low, high) = (q1 - factor * iqr, q3 + factor * iqr);
                let lowest = sorted.iter().find(|&&v| v >= low).map_or(q1, |v| v.min(q1));
                let highest = sorted.iter().rfind(|&&v| v <= high).map_or(q3, |v| v.max(q3));
                (lowest, highest)
            }
        };
        let notch = 1.57 * iqr / count.sqrt();
        let (notch_low, notch_high) = match notch.is_finite() {
            true => (median - notch, median + notch),
            false => (min, max),
        };
        let std = match mean.is_finite() {
            _ if sample.len() == 1 => 0.0,
            true => (squares / (count - 1.0)).sqrt(),
            false => f64::INFINITY,
        };
        Self {
            mean,
            std,
            min,
            q1,
            median,
            q3,
            max,
            whisker_low,
            whisker_high,
            notch_low,
            notch_high,
        }
    }
}

/// The quantile of type 7 (linear between order statistics; the default of R and NumPy).
fn quantile(sorted: &[f64], p: f64) -> f64 {
    let position = p * (sorted.len() - 1) as f64;
    let below = position.floor() as usize;
    let part = position - below as f64;
    match sorted.get(below + 1) {
        // An infinite datum cannot be interpolated.
        Some(above) if part > 0.0 && *above > sorted[below] => {
            sorted[below] + part * (above - sorted[below])
        }
        _ => sorted[below],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quartiles_agree_with_numpy() {
        // numpy.percentile([1, 2, 4, 8, 16, 32], [25, 50, 75]) = 2.5, 6, 14
        let summary = BoxSummary::new(&[32.0, 1.0, 8.0, 2.0, 16.0, 4.0], Whiskers::Iqr(1.5));
        assert_eq!((summary.q1, summary.median, summary.q3), (2.5, 6.0, 14.0));
        assert_eq!((summary.min, summary.max, summary.mean), (1.0, 32.0, 10.5));
        // Upper fence 14 + 1.5 · 11.5 = 31.25: 32 is an outlier.
        assert_eq!((summary.whisker_low, summary.whisker_high), (1.0, 16.0));
        assert!((summary.notch_high - 6.0 - 1.57 * 11.5 / 6_f64.sqrt()).abs() < 1e-14);
    }

    #[test]
    fn whiskers_to_the_range_or_by_another_factor() {
        let sample = [0.0, 1.0, 2.0, 3.0, 10.0];
        assert_eq!(BoxSummary::new(&sample, Whiskers::Range).whisker_high, 10.0);
        assert_eq!(BoxSummary::new(&sample, Whiskers::Iqr(1.5)).whisker_high, 3.0);
        assert_eq!(BoxSummary::new(&sample, Whiskers::Iqr(3.5)).whisker_high, 10.0);
    }

    #[test]
    fn infinite_data_make_no_nan() {
        let inf = f64::INFINITY;
        let few = BoxSummary::new(&[1.0, 2.0, 3.0, 4.0, inf], Whiskers::Iqr(1.5));
        assert_eq!((few.mean, few.std, few.median, few.q3), (inf, inf, 3.0, 4.0));
        assert_eq!((few.whisker_high, few.max), (4.0, inf));
        for sample in [&[1.0, inf][..], &[1.0, 2.0, inf, inf], &[inf, inf, inf]] {
            for whiskers in [Whiskers::Iqr(1.5), Whiskers::Range] {
                let s = BoxSummary::new(sample, whiskers);
                let all = [s.mean, s.std, s.q1, s.median, s.q3, s.whisker_low, s.whisker_high];
                let notch = [s.notch_low, s.notch_high];
                assert!(all.iter().chain(&notch).all(|v| *v >= 0.0), "{s:?}");
            }
        }
    }

    #[test]
    fn a_single_datum_is_its_own_summary() {
        let summary = BoxSummary::new(&[0.3], Whiskers::Iqr(1.5));
        assert_eq!(
            (summary.mean, summary.std, summary.q1, summary.notch_low),
            (0.3, 0.0, 0.3, 0.3)
        );
    }
}
