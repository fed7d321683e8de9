//! Plane geometry on points: dashes, hatches, clipping, winding.

/// A position in points, y downwards.
pub(super) type Point = (f64, f64);

/// An upright rectangle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Rect {
    pub(super) left: f64,
    pub(super) top: f64,
    pub(super) width: f64,
    pub(super) height: f64,
}

impl Rect {
    pub(super) fn right(self) -> f64 {
        self.left + self.width
    }

    pub(super) fn bottom(self) -> f64 {
        self.top + self.height
    }

    pub(super) fn contains(self, (x, y): Point) -> bool {
        (self.left..=self.right()).contains(&x) && (self.top..=self.bottom()).contains(&y)
    }

    /// Whether the two have more than an edge in common.
    pub(super) fn meets(self, other: Self) -> bool {
        let beside = self.right() <= other.left || other.right() <= self.left;
        let above = self.bottom() <= other.top || other.bottom() <= self.top;
        !beside && !above
    }

    /// With `air` around it.
    pub(super) fn grown(self, air: f64) -> Self {
        Self {
            left: self.left - air,
            top: self.top - air,
            width: self.width + 2.0 * air,
            height: self.height + 2.0 * air,
        }
    }

    /// The part of the segment inside (Liang and Barsky).
    pub(super) fn clip(self, (x0, y0): Point, (x1, y1): Point) -> Option<(Point, Point)> {
        let (dx, dy) = (x1 - x0, y1 - y0);
        let sides = [
            (-dx, x0 - self.left),
            (dx, self.right() - x0),
            (-dy, y0 - self.top),
            (dy, self.bottom() - y0),
        ];
        let (mut from, mut to) = (0.0_f64, 1.0_f64);
        for (speed, room) in sides {
            if speed == 0.0 && room < 0.0 {
                return None;
            } else if speed < 0.0 {
                from = from.max(room / speed);
            } else if speed > 0.0 {
                to = to.min(room / speed);
            }
        }
        let at = |t: f64| (x0 + t * dx, y0 + t * dy);
        (from <= to).then(|| (at(from), at(to)))
    }

    /// The pieces of the polyline inside, in order.
    pub(super) fn clip_path(self, path: &[Point]) -> Vec<Vec<Point>> {
        let mut pieces: Vec<Vec<Point>> = Vec::new();
        for pair in path.windows(2) {
            let Some((from, to)) = self.clip(pair[0], pair[1]) else {
                continue;
            };
            match pieces.last_mut() {
                Some(piece) if piece.last() == Some(&from) => piece.push(to),
                _ => pieces.push(vec![from, to]),
            }
        }
        pieces
    }
}

fn distance(a: Point, b: Point) -> f64 {
    (b.0 - a.0).hypot(b.1 - a.1)
}

fn between(a: Point, b: Point, t: f64) -> Point {
    (a.0 + (b.0 - a.0) * t, a.1 + (b.1 - a.1) * t)
}

/// Cuts a polyline by a pattern of lengths drawn and left out by turns; the
/// pattern runs on around the corners. Without one the line stays whole.
pub(super) fn dashes(path: &[Point], pattern: &[f64]) -> Vec<Vec<Point>> {
    if pattern.is_empty() || pattern.iter().any(|length| *length <= 0.0) {
        return vec![path.to_vec()];
    }
    let mut all: Vec<Vec<Point>> = path.first().map(|p| vec![*p]).into_iter().collect();
    let (mut turn, mut left) = (0, pattern[0]);
    for pair in path.windows(2) {
        let length = distance(pair[0], pair[1]);
        let mut done = 0.0;
        while length - done > left {
            done += left;
            let cut = between(pair[0], pair[1], done / length);
            if turn % 2 == 0
                && let Some(dash) = all.last_mut()
            {
                dash.push(cut);
            } else {
                all.push(vec![cut]);
            }
            turn = (turn + 1) % (2 * pattern.len());
            left = pattern[turn % pattern.len()];
        }
        left -= length - done;
        if turn % 2 == 0
            && let Some(dash) = all.last_mut()
        {
            dash.push(pair[1]);
        }
    }
    all.retain(|dash| dash.len() > 1);
    all
}

/// Whether the outline runs clockwise on the page.
pub(super) fn is_clockwise(path: &[Point]) -> bool {
    let next = path.iter().cycle().skip(1);
    let twice_area: f64 = path.iter().zip(next).map(|(a, b)| a.0 * b.1 - b.0 * a.1).sum();
    twice_area > 0.0
}

/// Where the line `y = level` runs inside the polygon, as intervals of x.
/// Inside is what the outline winds around, so that the folded ears of a
/// notched box count, as they do in SVG.
pub(super) fn spans(polygon: &[Point], level: f64) -> Vec<(f64, f64)> {
    let mut found = Vec::new();
    visit_spans(polygon, level, &mut Vec::new(), |from, to| found.push((from, to)));
    found
}

/// As [`spans`], without lists of its own: `crossings` is only lent.
pub(super) fn visit_spans(
    polygon: &[Point],
    level: f64,
    crossings: &mut Vec<(f64, i32)>,
    mut visit: impl FnMut(f64, f64),
) {
    crossings.clear();
    let next = polygon.iter().skip(1).chain(polygon.first());
    for (a, b) in polygon.iter().zip(next) {
        if (a.1 <= level) != (b.1 <= level) {
            let x = a.0 + (b.0 - a.0) * (level - a.1) / (b.1 - a.1);
            crossings.push((x, if a.1 < b.1 { 1 } else { -1 }));
        }
    }
    crossings.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (mut winding, mut start) = (0, 0.0);
    for &(x, turn) in crossings.iter() {
        if winding == 0 {
            start = x;
        }
        winding += turn;
        if winding == 0 {
            visit(start, x);
        }
    }
}

/// Rising diagonals `spacing` apart inside the polygon. They lie on a lattice
/// fixed to the page, so that neighbouring boxes match.
pub(super) fn hatch(polygon: &[Point], spacing: f64) -> Vec<(Point, Point)> {
    let diagonal = std::f64::consts::FRAC_1_SQRT_2;
    let turn = |(x, y): Point| ((x - y) * diagonal, (x + y) * diagonal);
    let back = |(x, y): Point| ((x + y) * diagonal, (y - x) * diagonal);
    let turned: Vec<Point> = polygon.iter().copied().map(turn).collect();
    let levels = turned.iter().map(|p| p.1);
    let low = levels.clone().fold(f64::INFINITY, f64::min);
    let high = levels.fold(f64::NEG_INFINITY, f64::max);
    let count = ((high - low) / spacing).min(1e4);
    let first = (low / spacing).ceil();
    let mut lines = Vec::new();
    let mut step = 0.0;
    while step <= count {
        let level = (first + step) * spacing;
        let inside = spans(&turned, level);
        lines.extend(inside.iter().map(|(a, b)| (back((*a, level)), back((*b, level)))));
        step += 1.0;
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::testing::Lcg;

    const SQUARE: Rect = Rect { left: 0.0, top: 0.0, width: 10.0, height: 10.0 };

    #[test]
    fn clipping_keeps_the_inside() {
        assert_eq!(SQUARE.clip((-5.0, 5.0), (15.0, 5.0)), Some(((0.0, 5.0), (10.0, 5.0))));
        assert_eq!(SQUARE.clip((-5.0, 20.0), (15.0, 20.0)), None);
        let outside_and_back = [(5.0, 5.0), (5.0, 15.0), (8.0, 15.0), (8.0, 5.0)];
        assert_eq!(SQUARE.clip_path(&outside_and_back).len(), 2);
    }

    #[test]
    fn dashes_cover_on_and_skip_off() {
        let path = [(0.0, 0.0), (10.0, 0.0), (10.0, 10.0)];
        let pieces = dashes(&path, &[4.0, 2.0]);
        let drawn: f64 = pieces
            .iter()
            .flat_map(|piece| piece.windows(2))
            .map(|pair| distance(pair[0], pair[1]))
            .sum();
        assert!((drawn - 14.0).abs() < 1e-9);
        assert!(pieces.iter().any(|piece| piece.len() == 3), "runs around the corner");
    }

    #[test]
    fn a_pattern_may_have_several_lengths() {
        let pieces = dashes(&[(0.0, 0.0), (20.0, 0.0)], &[4.0, 1.0, 2.0, 3.0]);
        let lengths: Vec<f64> = pieces.iter().map(|piece| piece[1].0 - piece[0].0).collect();
        assert_eq!(lengths, [4.0, 2.0, 4.0, 2.0]);
        assert_eq!(dashes(&[(0.0, 0.0), (20.0, 0.0)], &[]).len(), 1);
    }

    #[test]
    fn dashes_of_nothing() {
        assert!(dashes(&[], &[4.0, 2.0]).is_empty());
        assert!(dashes(&[(1.0, 1.0)], &[4.0, 2.0]).is_empty());
        assert!(dashes(&[(1.0, 1.0), (1.0, 1.0)], &[4.0, 2.0]).len() <= 1);
    }

    /// A notched box as drawn, perhaps folded.
    fn notched(random: &mut Lcg) -> Vec<Point> {
        let (left, right) = (random.unit() * 50.0, 60.0 + random.unit() * 30.0);
        let mut y = || random.unit() * 100.0;
        let (q1, low, middle, high, q3) = (y(), y(), y(), y(), y());
        let dent = (right - left) / 4.0;
        vec![
            (left, q1),
            (left, low),
            (left + dent, middle),
            (left, high),
            (left, q3),
            (right, q3),
            (right, high),
            (right - dent, middle),
            (right, low),
            (right, q1),
        ]
    }

    #[test]
    fn hatches_stay_within_the_polygon() {
        let mut random = Lcg::new(7);
        for _ in 0..200 {
            let polygon = notched(&mut random);
            for (a, b) in hatch(&polygon, 5.0) {
                for t in [0.001, 0.25, 0.5, 0.75, 0.999] {
                    let (x, y) = between(a, b, t);
                    let inside = spans(&polygon, y);
                    let holds = inside.iter().any(|(l, r)| *l - 0.1 <= x && x <= *r + 0.1);
                    assert!(holds || distance(a, b) < 0.5, "{x} {y} {inside:?}");
                }
            }
        }
    }

    #[test]
    fn degenerate_polygons_have_no_inside() {
        assert!(spans(&[], 1.0).is_empty());
        assert!(hatch(&[], 5.0).is_empty());
        assert!(hatch(&[(1.0, 1.0), (5.0, 1.0), (5.0, 1.0), (1.0, 1.0)], 0.5).len() < 20);
    }
}
