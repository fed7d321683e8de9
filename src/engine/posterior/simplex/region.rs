//! Sets of outputs and their division into blocks.

use rand::Rng;

use super::{BLOCK, Blocks, Row, Tail};
use crate::numeric::{LN_NEGLIGIBLE, Table};
use crate::parallel;
use crate::posterior::model::{Counts, compositions};
use crate::rng::uniform_below;

/// An inclusive range of one coordinate.
pub type Window = (u64, u64);

const EMPTY: Window = (1, 0);

/// How the coordinates of an output depend on each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Compositions of n: the last coordinate is what the others leave.
    Simplex,
    /// The last coordinate is max(0, n − the others): totals are restored unless they exceed n.
    Restored,
    /// All coordinates are free.
    Free,
}

/// A box of windows, cut by its shape and, for a ball or a diamond, by a limit.
#[derive(Clone, Debug)]
pub struct Region {
    n: u64,
    shape: Shape,
    windows: Vec<Window>,
    limit: Option<Limit>,
    order: Option<Order>,
}

/// A lower limit `floor` on the sum of the log-weights of an output's coordinates. Each log-weight is
/// at most 0, and 0 at `centre`.
///
/// An output is skipped if the log-weights of its first coordinates, together with that of any single
/// one after them, are below the floor. Some outputs whose whole sum is below it are therefore kept.
#[derive(Clone, Debug)]
struct Limit {
    centre: Vec<u64>,
    floor: f64,
    weights: LogWeights,
}

/// Which coordinates are interchangeable. Of all outputs that differ only by exchanging them, one is
/// walked: that in which they ascend. Its weight is the number of outputs it stands for.
#[derive(Clone, Debug)]
struct Order {
    /// For each coordinate the one before it in its class.
    after: Vec<Option<usize>>,
    /// For each coordinate how many of its class come earlier, and how many later.
    earlier: Vec<u64>,
    later: Vec<u64>,
}

impl Order {
    /// Coordinates with equal `classes` are interchangeable; `None` if no two are.
    #[inline]
    fn new<T: PartialEq>(classes: &[T], k: usize) -> Option<Self> {
        let before = |i: usize| (0..i).rev().find(|&j| classes[j] == classes[i]);
        let mut after: Vec<Option<usize>> = (0..classes.len()).map(before).collect();
        after.resize(k, None);
        let (mut earlier, mut later) = (vec![0; k], vec![0; k]);
        for i in 0..k {
            earlier[i] = after[i].map_or(0, |j| earlier[j] + 1);
        }
        for (i, before) in after.iter().enumerate().rev() {
            before.iter().for_each(|&j| later[j] = later[i] + 1);
        }
        after.iter().any(Option::is_some).then_some(Self { after, earlier, later })
    }

    /// Exchanges interchangeable coordinates until they ascend.
    fn sort(&self, output: &mut [u64]) {
        for i in 0..output.len() {
            let mut index = i;
            while let Some(before) = self.after[index]
                && output[before] > output[index]
            {
                output.swap(before, index);
                index = before;
            }
        }
    }

    /// How many outputs differ from an ascending one by an exchange: for every class the number of
    /// its arrangements, size! / Π (run of equal counts)!, built up coordinate by coordinate.
    #[inline]
    fn arrangements(&self, output: impl Fn(usize) -> u64) -> f64 {
        let mut weight = 1.0;
        for i in (0..self.after.len()).filter(|&i| self.after[i].is_some()) {
            let class = std::iter::successors(Some(i), |&j| self.after[j]);
            let run = class.take_while(|&j| output(j) == output(i)).count();
            weight *= (self.earlier[i] + 1) as f64 / run as f64;
        }
        weight.round()
    }
}

/// The log-weight of a coordinate: unimodal.
#[derive(Clone, Debug)]
enum LogWeights {
    /// Tabulated; −∞ outside of the table.
    Tables(Vec<Table>),
    /// −|v − centre|.
    Steps,
}

impl Limit {
    #[inline]
    fn log_weight(&self, i: usize, v: u64) -> f64 {
        match &self.weights {
            LogWeights::Tables(tables) => tables[i].get(v).unwrap_or(f64::NEG_INFINITY),
            LogWeights::Steps => -(v.abs_diff(self.centre[i]) as f64),
        }
    }

    /// The part of a window where the log-weight of coordinate `i` is at least `budget` <= 0.
    fn cut(&self, i: usize, (low, high): Window, budget: f64) -> Window {
        let peak = self.centre[i];
        match &self.weights {
            // At the peak the log-weight is 0 >= budget: both searches have an answer.
            LogWeights::Tables(tables) => {
                let logs = |from: u64, to: u64| {
                    tables[i].slice(from, (to + 1 - from) as usize).unwrap_or(&[])
                };
                let rising = logs(low, peak).partition_point(|&log| log < budget);
                let falling = logs(peak, high).partition_point(|&log| log >= budget);
                (low + rising as u64, peak + falling.max(1) as u64 - 1)
            }
            LogWeights::Steps => {
                let half = -budget as u64;
                (low.max(peak.saturating_sub(half)), high.min(peak.saturating_add(half)))
            }
        }
    }
}

/// The part of the time of a pass over all outputs that it takes to find their rows.
const ROWS: f64 = 0.2;

/// Fewer rows are found in no time.
const MANY_ROWS: f64 = 1e5;

impl Region {
    /// A box: one window for each of the k coordinates (the last is not used by
    /// [`Shape::Restored`]).
    #[inline]
    pub fn new(n: u64, shape: Shape, windows: Vec<Window>) -> Self {
        Self { n, shape, windows, limit: None, order: None }
    }

    /// All compositions of `n` into `k` parts.
    #[inline]
    pub fn simplex(n: u64, k: usize) -> Self {
        Self::new(n, Shape::Simplex, vec![(0, n); k])
    }

    /// All vectors of k counts that sum to `n` or less.
    #[inline]
    pub fn below(n: u64, k: usize) -> Self {
        let diamond = Self::diamond(Shape::Free, vec![0; k], vec![(0, n); k], n);
        Self { n, ..diamond }
    }

    /// The outputs around `centre` that can have Σ D_i >= [`LN_NEGLIGIBLE`], given the tables of D_i.
    /// Outside, the distance is exactly 1 in double precision: a plateau.
    #[inline]
    pub fn ball(centre: Vec<u64>, tables: Vec<Table>) -> Self {
        let n = centre.iter().sum();
        let windows = tables.iter().map(|t| (t.first(), t.end() - 1)).collect();
        let weights = LogWeights::Tables(tables);
        let limit = Some(Limit { centre, floor: LN_NEGLIGIBLE, weights });
        Self { limit, ..Self::new(n, Shape::Simplex, windows) }
    }

    /// The outputs in a box around `centre` with Σ |v_i − centre_i| <= `steps`, the sum being over
    /// all coordinates (all but the last for [`Shape::Restored`]).
    #[inline]
    pub fn diamond(shape: Shape, centre: Vec<u64>, windows: Vec<Window>, steps: u64) -> Self {
        let n = centre.iter().sum();
        // Half a step of slack against rounding; there are no half steps.
        let limit = Limit { centre, floor: -(steps as f64) - 0.5, weights: LogWeights::Steps };
        Self { limit: Some(limit), ..Self::new(n, shape, windows) }
    }

    /// The same region, walked only where interchangeable coordinates ascend: those of equal
    /// `classes`, which describe the first coordinates. The region must not change by exchanging
    /// them.
    #[inline]
    pub fn folded<T: PartialEq>(self, classes: &[T]) -> Self {
        let order = Order::new(classes, self.windows.len());
        Self { order, ..self }
    }

    /// A folded region without folding.
    pub(super) fn unfolded(&self) -> Option<Self> {
        self.order.as_ref()?;
        Some(Self { order: None, ..self.clone() })
    }

    /// About how many outputs one walked output stands for, if there are `outputs` without folding. A class
    /// can be arranged in size! ways, and in fewer where counts are equal, as they often are if counts
    /// spread over few values.
    pub(super) fn arrangements(&self, outputs: f64) -> f64 {
        let Some(order) = &self.order else { return 1.0 };
        // In a diamond counts spread over about twice the mean row, which is twice its steps over its dimensions.
        let depth = self.depth() as f64;
        let typical = match &self.limit {
            Some(Limit { weights: LogWeights::Steps, floor, .. }) => -4.0 * floor / depth,
            _ => libm::pow(outputs, 1.0 / depth),
        };
        let factor = |(&(low, high), &earlier): (&Window, &u64)| {
            let width = ((high - low) as f64 + 1.0).min(typical);
            (earlier as f64 + 1.0) * width / (width + earlier as f64)
        };
        self.windows.iter().zip(&order.earlier).map(factor).product()
    }

    /// The windows of the coordinates.
    #[inline]
    pub fn windows(&self) -> &[Window] {
        &self.windows
    }

    /// The number of coordinates that are walked; for a simplex the last is determined.
    #[inline]
    pub(super) fn depth(&self) -> usize {
        match self.shape {
            Shape::Simplex | Shape::Restored => self.windows.len() - 1,
            Shape::Free => self.windows.len(),
        }
    }

    /// The window of the coordinate that follows `head`; empty if low > high.
    pub(super) fn window(&self, head: &[u64]) -> Window {
        let level = head.len();
        let budget = self.budget(head);
        if budget > 0.0 {
            return EMPTY;
        }
        let (mut low, mut high) = self.cut(level, budget);
        if self.shape == Shape::Simplex {
            let rest = self.n - head.iter().sum::<u64>();
            let after = level + 1..self.windows.len();
            let (least, most) = after.fold((0, 0), |(least, most), i| {
                let (l, h) = self.cut(i, budget);
                (least + l, most + h)
            });
            if rest < least {
                return EMPTY;
            }
            low = low.max(rest.saturating_sub(most));
            high = high.min(rest - least);
        }
        match &self.order {
            Some(order) => self.ascending(order, head, (low, high)),
            None => (low, high),
        }
    }

    /// The part of a window in which the coordinates can ascend.
    fn ascending(&self, order: &Order, head: &[u64], (mut low, mut high): Window) -> Window {
        let level = head.len();
        if let Some(j) = order.after[level] {
            low = low.max(head[j]);
        }
        if self.shape == Shape::Simplex {
            let rest = self.n - head.iter().sum::<u64>();
            // All later coordinates of the class are at least as large.
            high = high.min(rest / (order.later[level] + 1));
            let last = self.windows.len() - 1;
            if level + 1 == last
                && let Some(&least) = order.after[last].and_then(|j| head.get(j))
            {
                match rest.checked_sub(least) {
                    Some(most) => high = high.min(most),
                    None => return EMPTY,
                }
            }
        }
        (low, high)
    }

    /// What the coordinates of `head` leave of the limit; positive if it is exceeded.
    #[inline]
    fn budget(&self, head: &[u64]) -> f64 {
        let Some(limit) = &self.limit else { return 0.0 };
        let spent: f64 = head.iter().enumerate().map(|(i, &v)| limit.log_weight(i, v)).sum();
        limit.floor - spent
    }

    /// The window of coordinate `i` within the budget.
    #[inline]
    fn cut(&self, i: usize, budget: f64) -> Window {
        let window = self.windows[i];
        self.limit.as_ref().map_or(window, |limit| limit.cut(i, window, budget))
    }

    /// Visits the rows that follow `head` with running coordinates in `low..=high`: two if the
    /// window crosses the point where a restored total would exceed n.
    fn rows(&self, head: &[u64], (low, high): Window, visit: &mut impl FnMut(&Row)) {
        let used: u64 = head.iter().sum();
        match (self.shape, self.n.checked_sub(used)) {
            (Shape::Free, _) => self.weighted(head, (low, high), Tail::Free, visit),
            (Shape::Simplex, rest) => {
                let rest = rest.unwrap_or(0);
                self.weighted(head, (low, high), Tail::Complement(rest), visit);
            }
            (Shape::Restored, None) => self.weighted(head, (low, high), Tail::Zero, visit),
            (Shape::Restored, Some(rest)) => {
                let within = (low, high.min(rest));
                self.weighted(head, within, Tail::Complement(rest), visit);
                self.weighted(head, (low.max(rest + 1), high), Tail::Zero, visit);
            }
        }
    }

    /// Visits one row. In a folded region an end of the row is visited by itself if its weight differs
    /// from that of the middle: only there can the running coordinate be equal to another one of its
    /// class.
    fn weighted(
        &self,
        head: &[u64],
        (low, high): Window,
        tail: Tail,
        visit: &mut impl FnMut(&Row),
    ) {
        if low > high {
            return;
        }
        let row = |low: u64, high: u64, weight: f64| Row {
            head,
            start: low,
            len: (high - low + 1) as usize,
            tail,
            weight,
        };
        let Some(order) = &self.order else {
            visit(&row(low, high, 1.0));
            return;
        };
        let weight = |v: u64| {
            order.arrangements(|i| match (head.get(i), tail) {
                (Some(&fixed), _) => fixed,
                (None, Tail::Complement(rest)) if i > head.len() => rest - v,
                _ => v,
            })
        };
        let (first, last) = (weight(low), weight(high));
        let middle = if high - low >= 2 { weight(low + 1) } else { first };
        let (mut from, mut to) = (low, high);
        if first != middle {
            visit(&row(low, low, first));
            from += 1;
        }
        if last != middle {
            to -= 1;
        }
        if from <= to {
            visit(&row(from, to, middle));
        }
        if last != middle {
            visit(&row(high, high, last));
        }
    }

    /// Moves `head` on to the next one whose row is not empty and returns that row's window.
    /// `head` may be shorter than a full head: then its first completion is found.
    fn advance(&self, head: &mut Vec<u64>, mut step: bool) -> Option<Window> {
        let length = self.depth() - 1;
        loop {
            if step {
                let last = head.pop()?;
                if last < self.window(head).1 {
                    head.push(last + 1);
                    step = false;
                }
                continue;
            }
            let (low, high) = self.window(head);
            if low > high {
                step = true;
            } else if head.len() == length {
                return Some((low, high));
            } else {
                head.push(low);
            }
        }
    }

    /// Divides the region into blocks of [`BLOCK`] outputs (the last may be smaller).
    pub fn blocks(&self) -> Blocks {
        let depth = self.depth();
        let (starts, sizes) = (Vec::new(), Vec::new());
        let mut blocks = Blocks { depth, starts, sizes, represented: 0.0 };
        let mut room = 0;
        let mut head = Vec::with_capacity(depth);
        let mut step = false;
        // A short list is part of what needs it.
        let heads = self.windows[..depth - 1].iter();
        let rows: f64 = heads.map(|&(low, high)| (high - low) as f64 + 1.0).product();
        let _part = parallel::part(if rows > MANY_ROWS { ROWS } else { 0.0 });
        let (first, last) = self.windows[0];
        let mut at = first;
        while let Some((low, high)) = self.advance(&mut head, step) {
            step = true;
            parallel::checkpoint();
            if let Some(&value) = head.first().filter(|value| **value != at) {
                at = value;
                parallel::reached((value - first) as f64 / ((last - first) as f64 + 1.0));
            }
            self.rows(&head, (low, high), &mut |row| {
                blocks.represented += row.weight * row.len as f64;
            });
            let mut next = low;
            while next <= high {
                if room == 0 {
                    blocks.starts.extend(&head);
                    blocks.starts.push(next);
                    blocks.sizes.push(0);
                    room = BLOCK as u64;
                }
                let taken = room.min(high - next + 1);
                if let Some(size) = blocks.sizes.last_mut() {
                    *size += taken as u32;
                }
                room -= taken;
                next += taken;
            }
        }
        blocks
    }

    /// Calls `visit` for the rows (or pieces of rows) of one block, in order.
    pub fn walk(&self, blocks: &Blocks, block: usize, mut visit: impl FnMut(&Row)) {
        let start = blocks.start(block);
        let mut left = u64::from(blocks.sizes[block]);
        let mut head = start[..start.len() - 1].to_vec();
        let (mut low, mut high) = (start[start.len() - 1], self.window(&head).1);
        loop {
            let taken = left.min(high - low + 1);
            self.rows(&head, (low, low + taken - 1), &mut visit);
            left -= taken;
            if left == 0 {
                return;
            }
            match self.advance(&mut head, true) {
                Some(window) => (low, high) = window,
                None => return,
            }
        }
    }

    /// Its outputs as they are walked, each with the number of outputs that it stands for: for small regions.
    pub fn list(&self) -> Vec<(Counts, f64)> {
        let blocks = self.blocks();
        let mut all = Vec::new();
        for block in 0..blocks.len() {
            self.walk(&blocks, block, |row| {
                for t in 0..row.len {
                    let mut counts = vec![0; self.windows.len()];
                    row.output(t, &mut counts);
                    all.push((counts, row.weight));
                }
            });
        }
        all
    }

    /// Whether the region contains this output.
    #[inline]
    pub fn contains(&self, output: &[u64]) -> bool {
        let mut walked = output.to_vec();
        if let Some(order) = &self.order {
            order.sort(&mut walked);
        }
        (0..self.depth()).all(|level| {
            let (low, high) = self.window(&walked[..level]);
            (low..=high).contains(&walked[level])
        })
    }

    /// Draws an arrangement of interchangeable coordinates, all equally likely, and appends it: for
    /// every coordinate that has others of its class before it, how far back in the class it goes.
    #[inline]
    pub fn draw_arrangement(&self, rng: &mut (impl Rng + ?Sized), arrangement: &mut Vec<u32>) {
        let Some(order) = &self.order else { return };
        let movable = order.earlier.iter().rev().filter(|&&earlier| earlier > 0);
        arrangement.extend(movable.map(|&earlier| uniform_below(earlier + 1, rng) as u32));
    }

    /// Arranges interchangeable coordinates as drawn.
    #[inline]
    pub fn arrange(&self, output: &mut [u64], arrangement: &[u32]) {
        let Some(order) = &self.order else { return };
        let movable = (0..output.len()).rev().filter(|&i| order.earlier[i] > 0);
        for (i, &back) in movable.zip(arrangement) {
            // The coordinate changes places with an earlier one of its class, or stays.
            let chosen = std::iter::successors(Some(i), |&j| order.after[j]).nth(back as usize);
            output.swap(i, chosen.unwrap_or(i));
        }
    }

    /// An upper estimate of the number of outputs, without walking them.
    #[inline]
    pub fn size_bound(&self) -> f64 {
        let sides = self.windows[..self.depth()].iter();
        let mut bound: f64 = sides.map(|&(low, high)| (high - low) as f64 + 1.0).product();
        if let Some(Limit { weights: LogWeights::Steps, floor, centre }) = &self.limit
            && self.depth() > 1
        {
            bound = bound.min(self.diamond_size(-floor, centre));
        }
        match compositions(self.n, self.windows.len()) {
            Some(all) if self.shape == Shape::Simplex => bound.min(all as f64),
            _ => bound,
        }
    }

    /// Whether the limit is on the number of steps.
    pub(super) fn is_diamond(&self) -> bool {
        let weights = self.limit.as_ref().map(|limit| &limit.weights);
        matches!(weights, Some(LogWeights::Steps))
    }

    /// The number of outputs within `steps` of the centre. Outputs are counted by their distance, one
    /// coordinate after another; very many distances are counted in buckets of several steps.
    fn diamond_size(&self, steps: f64, centre: &[u64]) -> f64 {
        const BUCKETS: usize = 128;
        let width = (steps / BUCKETS as f64).ceil().max(1.0);
        let buckets = (steps / width) as usize + 1;
        let mut counts = vec![0.0; buckets];
        counts[0] = 1.0;
        for (&(low, high), &x) in self.windows[..self.depth()].iter().zip(centre) {
            // How many values of this coordinate fall into a bucket of distances.
            let side = |reach: u64, bucket: usize| {
                let (from, to) = (bucket as f64 * width, (bucket + 1) as f64 * width);
                (to.min(reach as f64 + 1.0) - from.max(1.0)).max(0.0)
            };
            let values = |b: usize| side(x - low, b) + side(high - x, b) + f64::from(b == 0);
            let values: Vec<f64> = (0..buckets).map(values).collect();
            let convolved = (0..buckets)
                .map(|sum| (0..=sum).map(|part| counts[part] * values[sum - part]).sum())
                .collect();
            counts = convolved;
        }
        counts.iter().sum()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::numeric::log_affinity::log_affinity_table;
    use crate::orbits::permutations;
    use crate::posterior::simplex::measure;

    fn outputs(region: &Region) -> Vec<Counts> {
        let all: Vec<Counts> = region.list().into_iter().map(|(output, _)| output).collect();
        assert_eq!(all.len() as u64, region.blocks().outputs());
        assert_eq!(all.len() as f64, measure(region, 1e5), "{region:?}");
        all
    }

    #[test]
    fn the_simplex_is_walked_once_in_order() {
        for (n, k) in [(0, 2), (7, 2), (3000, 2), (60, 3), (25, 4), (9, 5), (0, 4)] {
            let all = outputs(&Region::simplex(n, k));
            let expected = crate::posterior::model::compositions(n, k).unwrap();
            assert_eq!(all.len() as u128, expected, "n = {n}, k = {k}");
            assert!(all.is_sorted() && all.windows(2).all(|w| w[0] != w[1]));
            assert!(all.iter().all(|c| c.iter().sum::<u64>() == n));
        }
    }

    /// The outputs in the windows, by trying all vectors of three counts up to n.
    fn in_windows(n: u64, shape: Shape, windows: &[Window]) -> Vec<Counts> {
        let of_shape = |c: &Counts| match shape {
            Shape::Simplex => c.iter().sum::<u64>() == n,
            Shape::Restored => c[2] == n.saturating_sub(c[0] + c[1]),
            Shape::Free => true,
        };
        let walked = if shape == Shape::Restored { 2 } else { 3 };
        let inside = |c: &Counts| {
            c.iter().zip(windows).take(walked).all(|(v, (low, high))| (low..=high).contains(&v))
        };
        let side = n + 1;
        let all = (0..side.pow(3)).map(|c| vec![c / side / side, c / side % side, c % side]);
        all.filter(|c| of_shape(c) && inside(c)).collect()
    }

    #[test]
    fn boxes_and_diamonds_are_cut_by_windows_shape_and_steps() {
        let (n, centre, steps) = (12, vec![5, 0, 7], 6);
        for shape in [Shape::Free, Shape::Restored, Shape::Simplex] {
            for windows in [vec![(0, 11), (0, 6), (1, 12)], vec![(2, 7), (0, 3), (3, 9)]] {
                let whole = in_windows(n, shape, &windows);
                let region = Region::new(n, shape, windows.clone());
                assert_eq!(outputs(&region), whole, "{shape:?}");
                assert!(!region.contains(&[12, 0, 0]));
                let counted = if shape == Shape::Restored { 2 } else { 3 };
                let near = |c: &[u64]| {
                    let distances = c.iter().zip(&centre).map(|(v, x)| v.abs_diff(*x));
                    distances.take(counted).sum::<u64>() <= steps
                };
                let diamond = Region::diamond(shape, centre.clone(), windows, steps);
                let expected: Vec<_> = whole.into_iter().filter(|c| near(c)).collect();
                let found = outputs(&diamond);
                assert!(expected.iter().all(|c| diamond.contains(c)), "{shape:?}");
                // The last two coordinates are only bounded one by one: a few may be left over.
                assert!(found.len() >= expected.len() && found.len() <= 2 * expected.len());
                if shape != Shape::Simplex {
                    assert_eq!(found, expected, "{shape:?}");
                    assert_eq!(diamond.size_bound(), found.len() as f64, "{shape:?}");
                }
            }
        }
    }

    /// Every output of a folded region with all its arrangements, sorted.
    fn unfolded(region: &Region, classes: &[u32]) -> Vec<Counts> {
        let alike = |class: &u32| (0..classes.len()).filter(|&i| classes[i] == *class).collect();
        let groups: Vec<Vec<usize>> = (1..=2).map(|class| alike(&class)).collect();
        let (mut all, mut represented) = (Vec::new(), 0.0);
        for (out, weight) in region.list() {
            let orders = permutations(out.len(), &groups);
            let arranged = orders.iter().map(|order| order.iter().map(|&i| out[i]).collect());
            let arrangements: BTreeSet<Counts> = arranged.collect();
            assert_eq!(arrangements.len() as f64, weight, "{out:?}");
            assert!(arrangements.iter().all(|out| region.contains(out)));
            all.extend(arrangements);
            represented += weight;
        }
        assert_eq!(represented, region.blocks().represented());
        all.sort();
        all
    }

    #[test]
    fn a_folded_region_stands_for_all_its_outputs_once() {
        for (n, classes) in [
            (0, vec![1, 1, 1]),
            (10, vec![1, 1]),
            (12, vec![1, 1, 1]),
            (11, vec![2, 1, 1]),
            (10, vec![1, 1, 1, 1]),
            (9, vec![1, 2, 2, 1]),
            (7, vec![1, 2, 1, 1, 2]),
        ] {
            let k = classes.len();
            let folded = Region::simplex(n, k).folded(&classes);
            assert_eq!(unfolded(&folded, &classes), outputs(&Region::simplex(n, k)), "{classes:?}");
            for shape in [Shape::Free, Shape::Restored] {
                let whole = Region::diamond(shape, vec![n / k as u64; k], vec![(0, n); k], 6);
                let classes = &classes[..k - usize::from(shape == Shape::Restored)];
                let folded = whole.clone().folded(classes);
                assert_eq!(unfolded(&folded, classes), outputs(&whole), "{shape:?} {classes:?}");
            }
        }
    }

    #[test]
    fn arrangements_are_equally_likely() {
        let region = Region::simplex(9, 5).folded(&[1, 2, 1, 1, 2]);
        let mut rng = crate::rng::stream(5, "arrange");
        let mut seen = std::collections::BTreeMap::new();
        for _ in 0..12_000 {
            let (mut out, mut arrangement) = ([0, 1, 2, 2, 4], Vec::new());
            region.draw_arrangement(&mut rng, &mut arrangement);
            region.arrange(&mut out, &arrangement);
            *seen.entry(out).or_insert(0.0) += 1.0;
        }
        // Three arrangements of 0, 2, 2, two of 1, 4.
        assert_eq!(seen.len(), 6);
        let chi2: f64 = seen.values().map(|c| (c - 2e3) * (c - 2e3) / 2e3).sum();
        assert!(chi2 < 25.7, "{chi2}"); // 5 degrees of freedom, false alarms 1e-4
    }

    #[test]
    fn a_ball_leaves_out_only_what_is_negligible() {
        let (x, n) = ([1500, 400, 100], 2000);
        let table = |i: usize| log_affinity_table(1.0, x[i], (x[i], x[i]), n, LN_NEGLIGIBLE - 1.0);
        let tables: Vec<_> = (0..3).map(table).collect();
        let region = Region::ball(x.to_vec(), tables);
        let inside = outputs(&region);
        assert!(inside.len() < 1_000_000 && inside.contains(&x.to_vec()));
        let full: Vec<_> = (0..3).map(|i| log_affinity_table(1.0, x[i], (0, n), n, 0.0)).collect();
        let ln_bc = |c: &[u64]| (0..3).map(|i| full[i].get(c[i]).unwrap()).sum::<f64>();
        let relevant =
            outputs(&Region::simplex(n, 3)).into_iter().filter(|c| ln_bc(c) >= LN_NEGLIGIBLE);
        for c in relevant {
            assert!(region.contains(&c), "{c:?}");
        }
    }
}
