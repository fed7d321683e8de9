//! How many outputs a region has, without walking them.

use super::Region;
use crate::rng::{self, uniform};

/// How large a region is.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Size {
    /// The number of its outputs.
    pub outputs: f64,
    /// The number of its rows.
    pub rows: f64,
}

/// The size of a region.
///
/// If the region has at most about `rows` rows, their lengths are added up. Otherwise the size is
/// estimated from about `rows` of them, evenly spread (the midpoint rule in the coordinates before the
/// running one); in tests it was off by less than 2 % with 1000 rows of three or four categories. A
/// diamond of more rows is counted by its number of steps. A folded region of more rows is measured
/// without folding, and divided by the number of outputs that one stands for.
pub fn measure(region: &Region, rows: f64) -> Size {
    let heads = &region.windows()[..region.depth() - 1];
    let widths: Vec<f64> = heads.iter().map(|&(low, high)| (high - low) as f64 + 1.0).collect();
    let (points, widest) = (points(&widths, rows), widths.iter().copied().fold(1.0, f64::max));
    if points < widest {
        if let Some(whole) = region.unfolded() {
            let Size { outputs, rows } = measure(&whole, rows);
            // An infinite number of outputs stays infinite, however many one of them stands for.
            let arrangements = match outputs.is_finite() {
                true => region.arrangements(outputs).min(outputs),
                false => 1.0,
            };
            return Size { outputs: outputs / arrangements, rows: rows / arrangements };
        }
        if let Some(length) = region.diamond_row() {
            let outputs = region.size_bound();
            return Size { outputs, rows: outputs / length };
        }
    }
    let mut counter = Counter { region, points, head: Vec::new(), patience: STEPS_PER_ROW * rows };
    let size = counter.measure();
    if counter.patience >= 0.0 && size.rows > 0.0 {
        return size;
    }
    let outputs = region.size_bound();
    let (low, high) = region.windows()[region.depth() - 1];
    Size { outputs, rows: outputs / ((high - low) as f64 + 1.0) }
}

/// At most this many steps are taken for each row that was asked for; after that an upper bound is
/// returned, which says that the region is too large. With very many categories, even two values of
/// each coordinate make too many heads, of which few lie inside.
const STEPS_PER_ROW: f64 = 1e4;

/// How many values of each coordinate to take for at most `rows` heads; a narrower coordinate takes all
/// its values.
fn points(widths: &[f64], rows: f64) -> f64 {
    let heads = |points: f64| widths.iter().map(|&width| width.min(points)).product::<f64>();
    let widest = widths.iter().copied().fold(1.0, f64::max);
    if heads(widest) <= rows {
        return widest;
    }
    let (mut enough, mut too_many) = (1.0, widest);
    while too_many - enough > 0.5 {
        let middle = 0.5 * (enough + too_many);
        if heads(middle) <= rows { enough = middle } else { too_many = middle }
    }
    // A shape is seen from two values at least.
    f64::max(enough.floor(), 2.0)
}

/// With fewer categories the midpoint rule sees enough values of each; with more, every region is far too
/// large to be walked unless it is counted exactly, and an upper bound says so sooner.
const DRAWN_CATEGORIES: std::ops::RangeInclusive<usize> = 7..=30;

/// Heads that are followed at a time, and the values that are tried after each.
const FOLLOWED: usize = 64;
const TRIED: u64 = 4;

/// The size of a region within a factor of two or so, for forecasts: as [`measure`], but with many categories
/// from heads that are drawn at random. A head is extended by a few values of the next coordinate, evenly
/// spread, each of which stands for its share of them. Of all these heads some are drawn to be followed, with
/// probabilities in proportion to the number that each stands for, times its `Region::completions`; the
/// estimate stays unbiased.
pub fn estimate(region: &Region, rows: f64) -> Size {
    let depth = region.depth();
    if !DRAWN_CATEGORIES.contains(&region.windows().len()) || region.diamond_row().is_some() {
        return measure(region, rows);
    }
    let mut rng = rng::stream(0, "heads of a region");
    let mut heads: Vec<(Vec<u64>, f64)> = vec![(Vec::new(), 1.0 / FOLLOWED as f64); FOLLOWED];
    for _ in 1..depth {
        let mut longer = Vec::new();
        for (head, stands_for) in &heads {
            let (low, high) = region.window(head);
            if low > high {
                continue;
            }
            let width = (high - low) as f64 + 1.0;
            let tried = (high - low + 1).min(TRIED);
            let each = width / tried as f64;
            for i in 0..tried {
                let place = (i as f64 + uniform(&mut rng)) * each;
                let mut longer_head = head.clone();
                longer_head.push((low + place as u64).min(high));
                longer.push((longer_head, stands_for * each));
            }
        }
        if longer.iter().map(|(_, stands_for)| stands_for).sum::<f64>() == f64::INFINITY {
            return Size { outputs: f64::INFINITY, rows: f64::INFINITY };
        }
        heads = drawn(longer, |head| region.completions(head), uniform(&mut rng));
    }
    let mut size = Size::default();
    for (head, stands_for) in &heads {
        let (low, high) = region.window(head);
        if low <= high {
            size.outputs += stands_for * ((high - low) as f64 + 1.0);
            size.rows += stands_for;
        }
    }
    Size { outputs: size.outputs.max(1.0), rows: size.rows.max(1.0) }
}

/// At most [`FOLLOWED`] of these, drawn systematically with probabilities in proportion to what they stand
/// for, times `followers`.
fn drawn(
    heads: Vec<(Vec<u64>, f64)>,
    followers: impl Fn(&[u64]) -> f64,
    start: f64,
) -> Vec<(Vec<u64>, f64)> {
    if heads.len() <= FOLLOWED {
        return heads;
    }
    let followers: Vec<f64> = heads.iter().map(|(head, _)| followers(head)).collect();
    let shares = || heads.iter().zip(&followers).map(|((_, stands_for), f)| stands_for * f);
    let each = shares().sum::<f64>() / FOLLOWED as f64;
    let (mut next, mut sum) = (start * each, 0.0);
    let mut kept = Vec::with_capacity(FOLLOWED);
    for (((head, _), share), followers) in heads.iter().zip(shares()).zip(&followers) {
        sum += share;
        while next < sum && kept.len() < FOLLOWED {
            kept.push((head.clone(), each / followers));
            next += each;
        }
    }
    kept
}

struct Counter<'a> {
    region: &'a Region,
    points: f64,
    head: Vec<u64>,
    /// How many more steps may be taken. Below 0 the count is not complete.
    patience: f64,
}

impl Counter<'_> {
    /// The size of the part of the region that begins with `head`.
    fn measure(&mut self) -> Size {
        // To find a window takes a step for every coordinate.
        self.patience -= self.region.windows().len() as f64;
        if self.patience < 0.0 {
            return Size::default();
        }
        let (low, high) = self.region.window(&self.head);
        if low > high {
            return Size::default();
        }
        let width = (high - low) as f64 + 1.0;
        if self.head.len() + 1 == self.region.depth() {
            return Size { outputs: width, rows: 1.0 };
        }
        let points = width.min(self.points);
        let each = width / points;
        let mut sum = Size::default();
        for point in 0..points as u64 {
            self.head.push(low + ((point as f64 + 0.5) * each) as u64);
            let part = self.measure();
            sum.outputs += each * part.outputs;
            sum.rows += each * part.rows;
            self.head.pop();
            if self.patience < 0.0 {
                break;
            }
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::LN_NEGLIGIBLE;
    use crate::numeric::log_affinity::log_affinity_table;
    use crate::posterior::simplex::Shape;

    fn ball(x: &[u64]) -> Region {
        let n = x.iter().sum();
        let table = |&x: &u64| log_affinity_table(1.0, x, (x, x), n, LN_NEGLIGIBLE - 1.0);
        Region::ball(x.to_vec(), x.iter().map(table).collect())
    }

    #[test]
    fn what_is_counted_is_what_is_walked() {
        let diamond =
            |shape| Region::diamond(shape, vec![30, 0, 14], vec![(0, 44), (0, 20), (3, 40)], 25);
        let regions = [
            ball(&[500, 231]),
            ball(&[463, 247, 21]),
            ball(&[0, 0, 300]),
            ball(&[20, 20, 20, 20]),
            ball(&[1, 0, 60, 9]),
            diamond(Shape::Simplex),
            diamond(Shape::Restored),
            diamond(Shape::Free),
            Region::simplex(9, 5),
            Region::simplex(0, 3),
        ];
        for region in regions {
            assert_eq!(
                measure(&region, 1e5).outputs,
                region.blocks().outputs() as f64,
                "{region:?}"
            );
        }
    }

    /// Many categories, folded and not: about right, and never nothing.
    #[test]
    fn diamonds_of_many_categories_are_counted() {
        for (k, steps) in [(4, 20), (6, 14), (7, 12)] {
            for shape in [Shape::Free, Shape::Restored] {
                let windows = vec![(0, 14 * k as u64); k];
                let region = Region::diamond(shape, vec![14; k], windows, steps);
                let folded = region.clone().folded(&vec![1; k - usize::from(shape != Shape::Free)]);
                for region in [region, folded] {
                    let walked = region.blocks().outputs() as f64;
                    let Size { outputs, rows } = measure(&region, 256.0);
                    let ratio = outputs / walked;
                    assert!((0.5..2.0).contains(&ratio), "{k} {shape:?}: {outputs} {walked}");
                    assert!(rows > 1.0 && rows < outputs, "{k} {shape:?}: {rows} {outputs}");
                }
            }
        }
    }

    /// Balls of many categories, folded and not.
    #[test]
    fn balls_of_many_categories_are_estimated() {
        let corner = |k: usize, n: u64| [vec![n], vec![0; k - 1]].concat();
        for x in
            [corner(8, 40), corner(12, 20), corner(20, 30), corner(8, 90), vec![5; 8], vec![2; 12]]
        {
            let classes: Vec<u64> = x.iter().map(|&count| count.min(9)).collect();
            let folded = ball(&x).folded(&classes);
            let walked = folded.blocks();
            let mut rows = 0.0;
            (0..walked.len()).for_each(|block| folded.walk(&walked, block, |_| rows += 1.0));
            let found = estimate(&folded, 256.0);
            let ratio = found.outputs / walked.outputs() as f64;
            assert!((0.4..2.5).contains(&ratio), "{x:?}: {found:?} of {}", walked.outputs());
            assert!(found.rows <= rows * 2.5, "{x:?}: {found:?}, {rows} rows");
        }
        let whole = estimate(&Region::simplex(12, 20), 256.0).outputs;
        let exact = crate::posterior::model::approximate_compositions(12, 20);
        assert!((0.4..2.5).contains(&(whole / exact)), "{whole} of {exact}");
    }

    #[test]
    fn a_few_rows_stand_for_all() {
        for x in [&[3000, 3000, 3000][..], &[9000, 40, 1], &[300, 200, 100, 20], &[50, 50, 50, 50]]
        {
            let all = measure(&ball(x), f64::INFINITY).outputs;
            for (rows, most) in [(1000.0, 0.02), (100.0, 0.1)] {
                let found = measure(&ball(x), rows).outputs;
                assert!((found / all - 1.0).abs() < most, "{x:?} {rows}: {found} of {all}");
            }
        }
    }

    #[test]
    fn absurd_regions_are_counted_too() {
        let region = ball(&[125_000; 8]);
        let found = measure(&region, 1000.0).outputs;
        assert!(found > 1e20 && found <= region.size_bound(), "{found}");
    }
}
