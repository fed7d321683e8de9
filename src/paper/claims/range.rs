//! Many cases along an axis, described as few ranges.

use super::ClaimPart;

/// One point of an axis.
pub struct Point {
    pub at: u64,
    /// Whether the claim is true there.
    pub holds: bool,
    pub ratio: f64,
}

/// Neighbouring points with the same answer become one case. Its name begins with `same`, what all points
/// share, and ends with the range on the axis: "k = 2, n from 310 to 500".
pub fn ranges(
    clause: &str,
    same: &str,
    axis: &str,
    ratio: &str,
    points: &[Point],
) -> Vec<ClaimPart> {
    points
        .chunk_by(|a, b| a.holds == b.holds)
        .map(|range| {
            let numbers = match range {
                [only] => vec![(ratio.to_owned(), only.ratio)],
                _ => ends(ratio, range.iter().map(|point| point.ratio)).into(),
            };
            let comma = if same.is_empty() { "" } else { ", " };
            let at: Vec<u64> = range.iter().map(|point| point.at).collect();
            let when = format!("{same}{comma}{}", extent(axis, &at));
            ClaimPart::new(clause, when, range[0].holds, numbers)
        })
        .collect()
}

/// "n from 310 to 500", or "n = 310".
pub fn extent(axis: &str, range: &[u64]) -> String {
    match range {
        [first, .., last] => format!("{axis} from {first} to {last}"),
        _ => format!("{axis} = {}", range[0]),
    }
}

/// The least and the largest of some values.
pub fn ends(name: &str, values: impl Iterator<Item = f64> + Clone) -> [(String, f64); 2] {
    let least = values.clone().fold(f64::INFINITY, f64::min);
    let most = values.fold(f64::NEG_INFINITY, f64::max);
    [(format!("least {name}"), least), (format!("largest {name}"), most)]
}

/// 'Approaches', 'nears': the ratio of mean errors falls monotonically below 1.1.
pub fn approaches(ratios: &[f64]) -> bool {
    let falls = ratios.windows(2).all(|pair| pair[1] < pair[0]);
    falls && ratios.last().is_some_and(|&last| last < super::contest::NEAR)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_with_one_answer_are_one_case() {
        let point = |(at, holds, ratio)| Point { at, holds, ratio };
        let points = [(10, true, 0.9), (20, true, 0.8), (30, false, 1.2)].map(point);
        let parts = ranges("A", "k = 2", "n", "ratio", &points);
        let expected = [
            ClaimPart::new(
                "A",
                "k = 2, n from 10 to 20",
                true,
                [("least ratio", 0.8), ("largest ratio", 0.9)],
            ),
            ClaimPart::new("A", "k = 2, n = 30", false, [("ratio", 1.2)]),
        ];
        assert_eq!(parts, expected);
        assert_eq!(ranges("A", "", "n", "ratio", &points)[1].when, "n = 30");
    }

    #[test]
    fn to_approach_is_to_fall_all_the_way() {
        assert!(approaches(&[1.5, 1.2, 1.09]));
        assert!(!approaches(&[1.5, 1.2, 1.11]), "not near enough");
        assert!(!approaches(&[1.5, 1.05, 1.07]), "rises again");
        assert!(!approaches(&[]), "nothing tried, nothing shown");
    }
}
