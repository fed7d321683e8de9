//! Long lines with no more points than can be seen.

use super::geometry::Point;

/// Width of a column, one pixel of the PNG.
const COLUMN: f64 = 0.5;
/// How many points of a column are kept.
const KEPT: f64 = 4.0;

/// The path with the first, lowest, highest and last point of each run of
/// points in one column of the page. Where the line goes in, how far it
/// reaches and where it goes out are then as before, and nothing else can be
/// seen (Jugel et al., "M4", 2014). Paths that are not long stay as they are.
pub(super) fn thin(path: Vec<Point>, width: f64) -> Vec<Point> {
    if path.len() as f64 <= KEPT * width / COLUMN {
        return path;
    }
    let column = |point: &Point| (point.0 / COLUMN).floor();
    path.chunk_by(|a, b| column(a) == column(b)).flat_map(outermost).collect()
}

fn outermost(column: &[Point]) -> Vec<Point> {
    let by_height = |a: &usize, b: &usize| column[*a].1.total_cmp(&column[*b].1);
    let low = (0..column.len()).min_by(by_height);
    let high = (0..column.len()).max_by(by_height);
    let ends = [Some(0), low, high, Some(column.len() - 1)];
    let mut kept: Vec<usize> = ends.into_iter().flatten().collect();
    kept.sort_unstable();
    kept.dedup();
    kept.into_iter().map(|i| column[i]).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::figure::testing::Lcg;

    fn jagged(count: u32) -> Vec<Point> {
        let mut random = Lcg::new(1);
        let x = |i: u32| f64::from(i) * 300.0 / f64::from(count);
        (0..count).map(|i| (x(i), 100.0 * random.unit())).collect()
    }

    /// First, least, greatest and last height per column.
    fn columns(path: &[Point]) -> BTreeMap<i64, [f64; 4]> {
        let mut columns = BTreeMap::new();
        for (x, y) in path {
            let column = columns.entry((x / COLUMN).floor() as i64).or_insert([*y; 4]);
            *column = [column[0], column[1].min(*y), column[2].max(*y), *y];
        }
        columns
    }

    #[test]
    fn columns_keep_their_ends_and_reach() {
        let path = jagged(100_000);
        let thinned = thin(path.clone(), 300.0);
        assert!(thinned.len() <= 2400, "{}", thinned.len());
        assert_eq!(columns(&thinned), columns(&path));
        assert_eq!(thinned.first(), path.first());
        assert_eq!(thinned.last(), path.last());
    }

    #[test]
    fn short_paths_stay() {
        let path = jagged(2000);
        assert_eq!(thin(path.clone(), 300.0), path);
        assert!(thin(Vec::new(), 300.0).is_empty());
    }
}
