//! Axes: plotters' coordinate range with our rules for ticks, linear or logarithmic.

use std::ops::Range;

use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter};

use super::font::Font;

/// How values are laid along an axis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scale {
    /// Equal steps for equal differences.
    Linear,
    /// Equal steps for equal ratios; values that are not positive are not drawn.
    Log,
    /// Logarithmic when all values are positive and span more than a factor of 8, else linear.
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

/// A range of values and its ticks.
#[derive(Clone, Debug)]
pub(super) struct Axis {
    low: f64,
    high: f64,
    log: bool,
    /// Values with their labels.
    pub(super) ticks: Vec<(f64, String)>,
    /// Unlabelled marks between the ticks.
    pub(super) minor: Vec<f64>,
}

impl Axis {
    /// The axis over exactly `range`, with about `target` ticks.
    pub(super) fn over(range: (f64, f64), log: bool, target: f64) -> Self {
        let (low, high) = if log { widen_log(range) } else { widen_linear(range) };
        let (ticks, minor) = match log {
            true => log_ticks(low, high, target),
            false => (linear_ticks(low, high, target), Vec::new()),
        };
        Self { low, high, log, ticks, minor }
    }

    /// The same with as many ticks as suit an axis of this height.
    pub(super) fn upright(range: (f64, f64), log: bool, height: f64) -> Self {
        Self::over(range, log, (height / 36.0).max(2.0))
    }

    /// The same with as many ticks as have room on a level axis.
    pub(super) fn level(range: (f64, f64), log: bool, width: f64, font: Font) -> Self {
        let targets = [10.0, 8.0, 6.0, 5.0, 4.0, 3.0];
        let mut tried = targets.map(|target| Self::over(range, log, target)).into_iter();
        let fits = |axis: &Self| axis.roomy(width, font).iter().all(|keep| *keep);
        let found = tried.find(fits).unwrap_or_else(|| {
            let mut axis = Self::over(range, log, 2.0);
            let mut keep = axis.roomy(width, font).into_iter();
            axis.ticks.retain(|_| keep.next().unwrap_or(false));
            axis
        });
        found.with_first_tick(width, font)
    }

    /// On a logarithmic axis that shows decades: with a tick at the first 2 or 5 below them, if it has room.
    fn with_first_tick(self, width: f64, font: Font) -> Self {
        let Some((shown, _)) = self.ticks.first().filter(|_| self.log) else { return self };
        let first = multiples(self.low, *shown, &[1, 2, 5], 1).into_iter().next();
        let Some(first) = first.filter(|first| first < shown) else { return self };
        let values: Vec<f64> =
            std::iter::once(first).chain(self.ticks.iter().map(|(value, _)| *value)).collect();
        let ticks = values.iter().copied().zip(log_labels(&values)).collect();
        let more = Self { ticks, ..self.clone() };
        if more.roomy(width, font).iter().all(|keep| *keep) { more } else { self }
    }

    /// For whole numbers: without ticks between them, if two are left.
    pub(super) fn without_fractions(mut self) -> Self {
        let is_whole = |(value, _): &&(f64, String)| value.fract() == 0.0;
        let count = self.ticks.iter().filter(is_whole).count();
        if (2..self.ticks.len()).contains(&count) {
            self.ticks.retain(|tick| is_whole(&tick));
            self.ticks.iter_mut().for_each(|(value, label)| *label = fixed(*value, 0));
        }
        self
    }

    /// An axis without ticks, for names.
    pub(super) fn bare(range: (f64, f64)) -> Self {
        Self { ticks: Vec::new(), ..Self::over(range, false, 2.0) }
    }

    /// Whether it is logarithmic.
    pub(super) fn is_log(&self) -> bool {
        self.log
    }

    /// Which tick labels have room beside those kept before them.
    fn roomy(&self, width: f64, font: Font) -> Vec<bool> {
        let mut end = f64::NEG_INFINITY;
        let mut keep = |(value, label): &(f64, String)| {
            let middle = self.fraction(*value).unwrap_or(0.0) * width;
            let half = font.width(label) / 2.0 + 5.0;
            let free = middle - half >= end;
            end = if free { middle + half } else { end };
            free
        };
        self.ticks.iter().map(&mut keep).collect()
    }

    /// Where the value lies, 0 at the lower end and 1 at the upper; bounded even for values way off,
    /// so that it can be clipped without overflow.
    pub(super) fn fraction(&self, value: f64) -> Option<f64> {
        let [low, high, value] = [self.low, self.high, value].map(|v| self.along(v));
        let at = (value - low) / (high - low);
        at.is_finite().then(|| at.clamp(-1e4, 1e4))
    }

    /// The value at a fraction of the way.
    pub(super) fn value(&self, fraction: f64) -> f64 {
        let (low, high) = (self.along(self.low), self.along(self.high));
        let at = low + fraction * (high - low);
        if self.log { libm::exp(at) } else { at }
    }

    fn along(&self, value: f64) -> f64 {
        if self.log { libm::log(value) } else { value }
    }

    /// Whether the value is on the axis.
    pub(super) fn shows(&self, value: f64) -> bool {
        self.fraction(value).is_some_and(|at| (-1e-9..=1.0 + 1e-9).contains(&at))
    }

    /// The value itself, or the end of the axis beyond which it lies.
    pub(super) fn clamp(&self, value: f64) -> f64 {
        if value.is_nan() { value } else { value.clamp(self.low, self.high) }
    }

    /// The greatest width of a tick label.
    pub(super) fn label_width(&self, font: Font) -> f64 {
        font.widest(self.ticks.iter().map(|(_, label)| label.as_str()))
    }
}

impl Ranged for Axis {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, (from, to): (i32, i32)) -> i32 {
        let at = self.fraction(*value).unwrap_or(0.0);
        from + (at * f64::from(to - from)).round() as i32
    }

    /// Bold points are the ticks, light ones the marks between them.
    fn key_points<Hint: KeyPointHint>(&self, hint: Hint) -> Vec<f64> {
        match hint.weight().allow_light_points() {
            true => self.minor.clone(),
            false => self.ticks.iter().map(|(value, _)| *value).collect(),
        }
    }

    fn range(&self) -> Range<f64> {
        self.low..self.high
    }
}

impl ValueFormatter<f64> for Axis {
    fn format_ext(&self, value: &f64) -> String {
        let tick = self.ticks.iter().find(|(tick, _)| tick == value);
        tick.map_or_else(String::new, |(_, label)| label.clone())
    }
}

/// Values beyond this would overflow on the way to pixels.
const HUGE: f64 = 1e100;

/// Least and greatest of the drawable values; empty input gives an empty (reversed) range.
pub(super) fn extent(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let drawable = values.filter(|v| v.abs() < HUGE);
    drawable.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)))
}

/// A range that shows values from `low` to `high`: from zero if they are positive and zero is not
/// far, with some air at both ends.
pub(super) fn linear_range((low, high): (f64, f64)) -> (f64, f64) {
    let (low, high) = widen_linear((low, high));
    let start = if low > 0.0 && low < 0.45 * high { 0.0 } else { low };
    let air = 0.03 * (high - start);
    (start - air, high + air)
}

/// The same on a logarithmic axis, `low` being positive.
pub(super) fn log_range((low, high): (f64, f64)) -> (f64, f64) {
    let (low, high) = widen_log((low, high));
    let air = libm::pow(high / low, 0.05);
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

/// Steps of 1, 2 or 5 times a power of ten, at most `target` of them. Labels have as many decimals as
/// the step needs, all alike; powers of ten where that would be long.
fn linear_ticks(low: f64, high: f64, target: f64) -> Vec<(f64, String)> {
    let rough = (high - low) / target.max(1.0);
    let power = 10_f64.powi(libm::log10(rough).floor() as i32);
    let factor = [1.0, 2.0, 5.0].into_iter().find(|f| f * power >= rough * 0.999);
    let step = factor.unwrap_or(10.0) * power;
    let first = (low / step - 1e-6).ceil();
    let count = ((high / step + 1e-6).floor() - first).clamp(0.0, 100.0) as u32;
    let values: Vec<f64> = (0..=count).map(|i| (first + f64::from(i)) * step).collect();
    let largest = values.iter().fold(step, |size, v| size.max(v.abs()));
    let decimals = |step: f64| (-libm::log10(step * 1.0001).floor()).clamp(0.0, 9.0) as usize;
    let power = libm::log10(largest).floor() as i32;
    let unit = 10_f64.powi(power);
    let short = decimals(step) <= 4 && largest < 1e6;
    let label = |v: &f64| match short {
        true => fixed(*v, decimals(step)),
        false if *v == 0.0 => "0".to_owned(),
        false => format!("{}×{}", fixed(v / unit, decimals(step / unit)), power_of_ten(power)),
    };
    values.iter().map(|v| (*v, label(v))).collect()
}

/// Decades, or 1, 2 and 5 in each when there are few decades, or even steps within one; and all whole
/// multiples between them.
fn log_ticks(low: f64, high: f64, target: f64) -> (Vec<(f64, String)>, Vec<f64>) {
    let decades = libm::log10(high / low);
    let dense = multiples(low, high, &[1, 2, 5], 1);
    if decades < 2.0 && dense.len() < 3 {
        let even = |target: f64| -> Vec<(f64, String)> {
            let ticks = linear_ticks(low, high, target).into_iter();
            ticks.filter(|(value, _)| *value > 0.0).collect()
        };
        // Two say little about a logarithmic axis.
        let few = even(target.min(5.0));
        let ticks = if few.len() < 3 { even(1.5 * target.min(5.0)) } else { few };
        return (ticks, Vec::new());
    }
    let every = (decades / target.max(2.0)).ceil().max(1.0) as i32;
    let values = if decades < 2.0 { dense } else { multiples(low, high, &[1], every) };
    let all = [2, 3, 4, 5, 6, 7, 8, 9];
    let minor = if decades < 7.0 { multiples(low, high, &all, 1) } else { Vec::new() };
    let labels = log_labels(&values);
    (values.into_iter().zip(labels).collect(), minor)
}

/// The numbers factor × 10^power in the range, the power a multiple of `every`.
fn multiples(low: f64, high: f64, factors: &[u32], every: i32) -> Vec<f64> {
    let from = (libm::log10(low).floor() as i32).div_euclid(every);
    let to = libm::log10(high).ceil() as i32;
    let powers = (from..).map(|i| i * every).take_while(|power| *power <= to);
    // Parsed rather than multiplied, which would leave 0.30000000000000004.
    let all =
        powers.flat_map(|power| factors.iter().map(move |factor| format!("{factor}e{power}")));
    let inside = |v: &f64| (low * (1.0 - 1e-9)..=high * (1.0 + 1e-9)).contains(v);
    all.filter_map(|text| text.parse().ok()).filter(inside).collect()
}

/// Decades alone are powers of ten; with numbers between them all are plain, if these are short.
fn log_labels(values: &[f64]) -> Vec<String> {
    let (low, high) = extent(values.iter().copied());
    let power = |v: f64| (libm::log10(v) + 1e-9).floor() as i32;
    let factor = |v: f64| (v / 10_f64.powi(power(v))).round();
    let plain = low >= 0.9e-3 && high < 1.1e4 && values.iter().any(|v| factor(*v) != 1.0);
    let label = |v: &f64| match factor(*v) {
        _ if plain => v.to_string(),
        1.0 => power_of_ten(power(*v)),
        factor => format!("{factor}×{}", power_of_ten(power(*v))),
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
    const RAISED: [&str; 10] = ["⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"];
    let raised = |c: char| c.to_digit(10).map_or("⁻", |digit| RAISED[digit as usize]);
    format!("10{}", power.to_string().chars().map(raised).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::Lcg;

    fn labels(range: (f64, f64), log: bool, target: f64) -> Vec<String> {
        Axis::over(range, log, target).ticks.into_iter().map(|(_, label)| label).collect()
    }

    #[test]
    fn labels_are_alike_and_short() {
        assert_eq!(labels((-0.02, 0.62), false, 4.0), ["0.0", "0.2", "0.4", "0.6"]);
        assert_eq!(labels((-30.0, 30.0), false, 4.0), ["−20", "0", "20"]);
        assert_eq!(labels((0.0, 5e-9), false, 3.0), ["0", "2×10⁻⁹", "4×10⁻⁹"]);
        assert_eq!(labels((0.018, 0.5), true, 6.0), ["0.02", "0.05", "0.1", "0.2", "0.5"]);
        assert_eq!(labels((0.21, 1.2), true, 5.0), ["0.4", "0.6", "0.8", "1.0", "1.2"]);
        assert_eq!(labels((1e-9, 1e6), true, 3.0), ["10⁻⁵", "10⁰", "10⁵"]);
        assert_eq!(labels((10.0, 2e4), true, 6.0), ["10¹", "10²", "10³", "10⁴"]);
    }

    #[test]
    fn whole_numbers_have_no_ticks_between_them() {
        let labels = |low, high| {
            let axis = Axis::over((low, high), false, 8.0).without_fractions();
            axis.ticks.into_iter().map(|(_, label)| label).collect::<Vec<_>>()
        };
        assert_eq!(labels(1.9, 6.1), ["2", "3", "4", "5", "6"]);
        assert_eq!(labels(0.0, 0.5).len(), 6, "shares keep theirs");
    }

    #[test]
    fn ticks_are_in_range_distinct_and_some_and_have_room() {
        let (mut random, font) = (Lcg::new(3), Font { size: 11.0, bold: false });
        for round in 0..2000 {
            let low = 10_f64.powf(random.unit() * 15.0 - 9.0);
            let high = low * (1.0 + 10_f64.powf(random.unit() * 8.0 - 3.0));
            let axis = Axis::over((low, high), round % 2 == 0, 6.0);
            let at: Vec<f64> =
                axis.ticks.iter().map(|tick| axis.fraction(tick.0).unwrap()).collect();
            assert!((2..=12).contains(&at.len()), "{low} {high} {:?}", axis.ticks);
            assert!(at.iter().all(|f| (-1e-3..=1.001).contains(f)), "{at:?}");
            assert!(
                axis.ticks.windows(2).all(|pair| pair[0].0 < pair[1].0 && pair[0].1 != pair[1].1)
            );
            let level = Axis::level((low, high), round % 2 == 0, 300.0, font);
            assert!(level.roomy(300.0, font).iter().all(|free| *free) && !level.ticks.is_empty());
        }
    }

    #[test]
    fn a_level_axis_from_50_begins_at_50() {
        let font = Font { size: 11.0, bold: false };
        let labels = |range, log| -> Vec<String> {
            let axis = Axis::level(range, log, 400.0, font);
            axis.ticks.into_iter().map(|(_, label)| label).collect()
        };
        assert_eq!(labels((38.0, 10_700.0), true), ["50", "100", "1000", "10000"]);
        assert_eq!(labels((48.0, 2100.0), true), ["50", "100", "200", "500", "1000", "2000"]);
        assert_eq!(labels((0.0, 100.0), false)[0], "0");
    }

    #[test]
    fn plotters_places_and_names_values_by_our_rules() {
        let axis = Axis::over((1.0, 1000.0), true, 6.0);
        assert_eq!(axis.map(&10.0, (0, 300)), 100);
        assert_eq!(axis.format_ext(&100.0), "10²");
        assert!(axis.shows(1000.0) && !axis.shows(1001.0) && !axis.shows(-1.0));
        assert!(Scale::Auto.is_log(&[0.01, 0.5]) && !Scale::Auto.is_log(&[0.0, 0.5]));
    }

    #[test]
    fn odd_ranges_still_make_an_axis() {
        let odd = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.0, -1.0, 1e300, 1e-300];
        for (low, high) in odd.into_iter().flat_map(|low| odd.map(|high| (low, high))) {
            for (log, fit) in [(false, linear_range((low, high))), (true, log_range((low, high)))] {
                let axis = Axis::over(fit, log, 6.0);
                assert!(axis.low < axis.high && axis.ticks.len() < 30, "{low} {high}");
            }
        }
    }
}
