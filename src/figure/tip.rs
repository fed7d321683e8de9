//! What the marks of a figure show, in words for those who point at them.

use super::boxplot::BoxStats;
use super::curve::Curve;
use super::density::DensityRow;

/// A curve of at most this many points is described by all of them.
const FEW: usize = 6;

/// The numbers of a box.
pub fn of_box(series: &str, group: &str, stats: &BoxStats) -> String {
    let [q1, median, q3] = [stats.q1, stats.median, stats.q3].map(short);
    let [low, high] = [stats.whisker_low, stats.whisker_high].map(short);
    let mean =
        stats.exact_mean.map_or(String::new(), |mean| format!(", exact mean {}", short(mean)));
    let printed = stats.printed.and_then(|numbers| numbers[2]);
    let printed = printed.map_or(String::new(), |read| format!("; printed median {}", short(read)));
    format!(
        "{series}, {group}: median {median}, quartiles {q1} to {q3}, whiskers {low} to {high}{mean}{printed}"
    )
}

/// The values of a curve, or its ends and its extremes.
pub fn of_curve(curve: &Curve) -> String {
    let means = curve.sampled.iter().map(|sample| (sample.x, sample.mean));
    let values: Vec<(f64, f64)> = match curve.exact.is_empty() {
        true => means.collect(),
        false => curve.exact.clone(),
    };
    let values: Vec<(f64, f64)> =
        values.into_iter().filter(|(x, y)| x.is_finite() && y.is_finite()).collect();
    let name = &curve.series.label;
    let at = |(x, y): &(f64, f64)| format!("{} at {}", short(*y), short(*x));
    let by_height = |a: &&(f64, f64), b: &&(f64, f64)| a.1.total_cmp(&b.1);
    match (values.iter().min_by(by_height), values.iter().max_by(by_height)) {
        (Some(least), Some(greatest)) if values.len() > FEW => {
            format!("{name}: {} points, from {} to {}", values.len(), at(least), at(greatest))
        }
        (Some(_), _) => {
            format!("{name}: {}", values.iter().map(at).collect::<Vec<_>>().join(", "))
        }
        _ => name.clone(),
    }
}

/// The mean and the interval of a share.
pub fn of_density(row: &DensityRow, level: &str) -> String {
    let (low, high) = row.interval;
    let [mean, low, high] = [row.mean, low, high].map(short);
    format!("{}: mean {mean}, {level} interval {low} to {high}", row.label)
}

/// Three digits, without trailing zeros.
pub fn short(value: f64) -> String {
    let short: f64 = format!("{value:.2e}").parse().unwrap_or(value);
    let plain = short == 0.0 || (1e-4..1e7).contains(&short.abs());
    let text = if plain { short.to_string() } else { format!("{short:e}") };
    text.replace('-', "−")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Series, VERMILION};

    #[test]
    fn boxes_and_curves_are_told_in_numbers() {
        let stats = BoxStats {
            q1: 0.1,
            median: 0.123_456,
            q3: 0.2,
            whisker_high: 1.0,
            exact_mean: Some(0.15),
            printed: Some([None, None, Some(0.12), None, None]),
            ..BoxStats::default()
        };
        let expected = "EHD, n = 5: median 0.123, quartiles 0.1 to 0.2, whiskers 0 to 1, \
                        exact mean 0.15; printed median 0.12";
        assert_eq!(of_box("EHD", "n = 5", &stats), expected);
        let series = Series { label: "EHD".into(), colour: VERMILION, private: true };
        let mut curve = Curve::new(series);
        assert_eq!(of_curve(&curve), "EHD");
        curve.exact = vec![(1.0, 0.5), (2.0, 1e-9)];
        assert_eq!(of_curve(&curve), "EHD: 0.5 at 1, 1e−9 at 2");
        curve.exact = (0..10).map(|i| (f64::from(i), f64::from(i * i))).collect();
        assert_eq!(of_curve(&curve), "EHD: 10 points, from 0 at 0 to 81 at 9");
    }
}
