//! Axes: which range of values, linear or logarithmic, ticked where.

/// How values are laid along an axis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scale {
    /// Equal steps for equal differences.
    Linear,
    /// Equal steps for equal ratios; values that are not positive are not
    /// drawn.
    Log,
    /// Logarithmic when all values are positive and span more than a factor
    /// of 8, else linear.
    #[default]
    Auto,
}

impl Scale {
    /// Whether these values are to be drawn on a logarithmic axis.
    pub(super) fn is_log(self, values: &[f64]) -> bool {
        let (low, high) = extent(values.iter().copied());
        match self {
            Self::Linear => false,
            Self::Log => high > 0.0,
            Self::Auto => low > 0.0 && high > 8.0 * low,
        }
    }
}

/// A labelled mark on an axis.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Tick {
    pub(super) value: f64,
    pub(super) label: String,
}

/// A range of values and its ticks.
#[derive(Clone, Debug)]
pub(super) struct Axis {
    low: f64,
    high: f64,
    log: bool,
    pub(super) ticks: Vec<Tick>,
    /// Unlabelled marks between the ticks.
    pub(super) minor: Vec<f64>,
}

impl Axis {
    /// The axis over exactly `range`, with about `target` ticks.
    pub(super) fn over(range: (f64, f64), log: bool, target: f64) -> Self {
        let (low, high) = if log { widen_log(range) } else { widen_linear(range) };
        let (ticks, minor) = if log {
            log_ticks(low, high, target)
        } else {
            (linear_ticks(low, high, target), Vec::new())
        };
        Self { low, high, log, ticks, minor }
    }

    /// Where the value lies, 0 at the lower end and 1 at the upper; bounded
    /// even for values way off, so that it can be clipped without overflow.
    pub(super) fn fraction(&self, value: f64) -> Option<f64> {
        let along = |v: f64| if self.log { v.ln() } else { v };
        let (low, high) = (along(self.low), along(self.high));
        let at = (along(value) - low) / (high - low);
        at.is_finite().then(|| at.clamp(-1e6, 1e6))
    }
}

/// Values beyond this would overflow on the way to pixels.
const HUGE: f64 = 1e100;

/// Least and greatest of the drawable values; empty input gives an empty
/// (reversed) range.
pub(super) fn extent(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let drawable = values.filter(|v| v.abs() < HUGE);
    drawable.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)))
}

/// A range that shows values from `low` to `high`: from zero if they are
/// positive and zero is not far, with some air at both ends.
pub(super) fn linear_range((low, high): (f64, f64)) -> (f64, f64) {
    let (low, high) = widen_linear((low, high));
    let start = if low > 0.0 && low < 0.45 * high { 0.0 } else { low };
    let air = 0.03 * (high - start);
    (start - air, high + air)
}

/// The same on a logarithmic axis, `low` being positive.
pub(super) fn log_range((low, high): (f64, f64)) -> (f64, f64) {
    let (low, high) = widen_log((low, high));
    let air = (high / low).powf(0.05);
    (low / air, high * air)
}

/// Makes sure that the range has a length one can divide by.
fn widen_linear((low, high): (f64, f64)) -> (f64, f64) {
    let size = low.abs().max(high.abs());
    if !(size < HUGE && low <= high) || size == 0.0 {
        (0.0, 1.0)
    } else if high - low > 1e-9 * size {
        (low, high)
    } else if low > 0.0 {
        (0.0, 1.25 * high)
    } else {
        (low - 0.5 * size, high + 0.5 * size)
    }
}

fn widen_log((low, high): (f64, f64)) -> (f64, f64) {
    if !(high > 0.0 && high < HUGE && low <= high) {
        return (0.1, 1.0);
    }
    // Zero has no place here; show a good part of what is positive.
    let low = if low > 1.0 / HUGE { low } else { high * 1e-6 };
    if high / low > 1.05 { (low, high) } else { (low / 2.0, high * 2.0) }
}

/// The step 1, 2 or 5 times a power of ten that makes at most `target` steps.
fn nice_step(span: f64, target: f64) -> f64 {
    let rough = span / target.max(1.0);
    let power = 10_f64.powi(rough.log10().floor() as i32);
    let factor = [1.0, 2.0, 5.0].into_iter().find(|f| f * power >= rough * 0.999);
    factor.unwrap_or(10.0) * power
}

fn linear_ticks(low: f64, high: f64, target: f64) -> Vec<Tick> {
    let step = nice_step(high - low, target);
    let first = (low / step - 1e-6).ceil();
    let count = ((high / step + 1e-6).floor() - first).clamp(0.0, 100.0) as u32;
    let values: Vec<f64> = (0..=count).map(|i| (first + f64::from(i)) * step).collect();
    let labels = linear_labels(&values, step);
    let ticks = values.into_iter().zip(labels);
    ticks.map(|(value, label)| Tick { value, label }).collect()
}

/// Labels with as many decimals as the step needs, all alike; powers of ten
/// where that would be long.
fn linear_labels(values: &[f64], step: f64) -> Vec<String> {
    let largest = values.iter().fold(step, |size, v| size.max(v.abs()));
    let decimals = (-(step * 1.0001).log10().floor()).max(0.0);
    if decimals <= 4.0 && largest < 1e6 {
        let decimals = decimals as usize;
        return values.iter().map(|v| fixed(*v, decimals)).collect();
    }
    let power = largest.log10().floor() as i32;
    let unit = 10_f64.powi(power);
    let decimals = (-(step / unit * 1.0001).log10().floor()).clamp(0.0, 9.0) as usize;
    let label = |v: &f64| {
        if *v == 0.0 {
            "0".to_owned()
        } else {
            format!("{}×{}", fixed(v / unit, decimals), power_of_ten(power))
        }
    };
    values.iter().map(label).collect()
}

/// Decades, or 1, 2 and 5 in each when there are few decades, or even steps
/// within one.
fn log_ticks(low: f64, high: f64, target: f64) -> (Vec<Tick>, Vec<f64>) {
    let decades = (high / low).log10();
    let minor =
        if decades < 7.0 { multiples(low, high, &[2, 3, 4, 5, 6, 7, 8, 9], 1) } else { Vec::new() };
    let dense = multiples(low, high, &[1, 2, 5], 1);
    if decades < 2.0 && dense.len() < 3 {
        let fewer = linear_ticks(low, high, target.min(5.0));
        let ticks: Vec<Tick> = fewer.into_iter().filter(|tick| tick.value > 0.0).collect();
        return (ticks, Vec::new());
    }
    let values = if decades < 2.0 {
        dense
    } else {
        let every = (decades / target.max(2.0)).ceil().max(1.0) as i32;
        multiples(low, high, &[1], every)
    };
    let labels = log_labels(&values);
    let ticks = values.into_iter().zip(labels);
    let ticks = ticks.map(|(value, label)| Tick { value, label }).collect();
    (ticks, minor)
}

/// The numbers factor × 10^power in the range, the power a multiple of
/// `every`.
fn multiples(low: f64, high: f64, factors: &[u32], every: i32) -> Vec<f64> {
    let from = (low.log10().floor() as i32).div_euclid(every);
    let to = high.log10().ceil() as i32;
    let powers = (from..).map(|i| i * every).take_while(|power| *power <= to);
    // Parsed rather than multiplied, which would leave 0.30000000000000004.
    let all = powers.flat_map(|power| {
        let written = factors.iter().map(move |factor| format!("{factor}e{power}"));
        written.filter_map(|text| text.parse::<f64>().ok())
    });
    let slack = 1e-9;
    all.filter(|v| *v >= low * (1.0 - slack) && *v <= high * (1.0 + slack)).collect()
}

fn log_labels(values: &[f64]) -> Vec<String> {
    let (low, high) = extent(values.iter().copied());
    if low >= 0.9e-3 && high < 1.1e5 {
        return values.iter().map(|v| format!("{v}")).collect();
    }
    let label = |v: &f64| {
        let power = (v.log10() + 1e-9).floor() as i32;
        let factor = (v / 10_f64.powi(power)).round();
        if factor > 1.0 {
            format!("{factor}×{}", power_of_ten(power))
        } else {
            power_of_ten(power)
        }
    };
    values.iter().map(label).collect()
}

/// A number with a true minus sign and without a negative zero.
fn fixed(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$}");
    match text.strip_prefix('-') {
        Some(zero) if zero.chars().all(|c| "0.".contains(c)) => zero.to_owned(),
        Some(size) => format!("−{size}"),
        None => text,
    }
}

fn power_of_ten(power: i32) -> String {
    let raised = |c: char| match c {
        '-' => '⁻',
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        '4' => '⁴',
        '5' => '⁵',
        '6' => '⁶',
        '7' => '⁷',
        '8' => '⁸',
        '9' => '⁹',
        _ => '⁰',
    };
    let exponent: String = power.to_string().chars().map(raised).collect();
    format!("10{exponent}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::testing::Lcg;

    fn labels(axis: &Axis) -> Vec<&str> {
        axis.ticks.iter().map(|tick| tick.label.as_str()).collect()
    }

    #[test]
    fn linear_ticks_share_their_decimals() {
        let axis = Axis::over((-0.02, 1.02), false, 6.0);
        assert_eq!(labels(&axis), ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        let axis = Axis::over((-30.0, 30.0), false, 4.0);
        assert_eq!(labels(&axis), ["−20", "0", "20"]);
        let axis = Axis::over((0.0, 0.0015), false, 4.0);
        assert_eq!(labels(&axis), ["0.0000", "0.0005", "0.0010", "0.0015"]);
    }

    #[test]
    fn long_numbers_become_powers() {
        let axis = Axis::over((0.0, 5e-9), false, 3.0);
        assert_eq!(labels(&axis), ["0", "2×10⁻⁹", "4×10⁻⁹"]);
        let axis = Axis::over((0.0, 2e6), false, 2.0);
        assert_eq!(labels(&axis), ["0", "1×10⁶", "2×10⁶"]);
    }

    #[test]
    fn log_ticks_adapt_to_the_range() {
        let few = Axis::over((0.018, 0.5), true, 6.0);
        assert_eq!(labels(&few), ["0.02", "0.05", "0.1", "0.2", "0.5"]);
        let many = Axis::over((1e-9, 1e6), true, 6.0);
        assert_eq!(labels(&many), ["10⁻⁹", "10⁻⁶", "10⁻³", "10⁰", "10³", "10⁶"]);
        let narrow = Axis::over((0.3, 0.42), true, 6.0);
        assert!(narrow.ticks.len() >= 3, "{:?}", labels(&narrow));
    }

    #[test]
    fn ticks_are_in_range_distinct_and_some() {
        let mut random = Lcg::new(3);
        for _ in 0..2000 {
            let low = 10_f64.powf(random.unit() * 15.0 - 9.0);
            let high = low * (1.0 + 10_f64.powf(random.unit() * 8.0 - 3.0));
            for log in [false, true] {
                let axis = Axis::over((low, high), log, 6.0);
                let at: Vec<f64> =
                    axis.ticks.iter().filter_map(|t| axis.fraction(t.value)).collect();
                assert!((2..=12).contains(&at.len()), "{low} {high} {log} {:?}", labels(&axis));
                assert!(at.iter().all(|f| (-1e-3..=1.001).contains(f)), "{at:?}");
                assert!(at.windows(2).all(|pair| pair[0] < pair[1]));
                let mut names = labels(&axis);
                names.dedup();
                assert_eq!(names.len(), at.len(), "{names:?}");
            }
        }
    }

    #[test]
    fn auto_needs_positive_values_and_a_wide_span() {
        assert!(Scale::Auto.is_log(&[0.01, 0.5]));
        assert!(!Scale::Auto.is_log(&[0.1, 0.5]));
        assert!(!Scale::Auto.is_log(&[0.0, 0.5]));
        assert!(!Scale::Auto.is_log(&[]));
        assert!(!Scale::Log.is_log(&[0.0, 0.0]));
    }

    #[test]
    fn odd_ranges_still_make_an_axis() {
        let odd = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.0, -1.0, 1e300, 1e-300];
        for low in odd {
            for high in odd {
                for log in [false, true] {
                    for fit in [linear_range, log_range] {
                        let axis = Axis::over(fit((low, high)), log, 6.0);
                        assert!(axis.low < axis.high, "{low} {high}");
                        assert!(axis.ticks.len() < 30);
                    }
                }
            }
        }
    }
}
