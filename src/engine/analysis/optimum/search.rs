//! The column of one output that is worth most at given prices, with the proof that none is worth more.
//!
//! With prices y(x) of the data sets, a column p of output r gains Σ_x −a(x) p(x), where
//! a(x) = w(x) error(x, r) − y(x). Columns are private: p(x) <= e^ε p(x') for adjacent x and x'. The
//! dual of the search for the best column with p(r) = 1 is a flow with losses. What x has beyond its
//! needs, a(x) > 0, is sent to data sets in need, a(x) < 0, and of what is sent over an edge the part
//! e^(−ε) arrives. If all needs are met, every column is worth at most what r itself still needs.
//!
//! The search keeps a column p = e^(−ε f), f in whole numbers, and a flow over edges on which f falls
//! by one. At first f is the distance to r, and all is sent to r. Then r, which may run short, sends
//! back what is needed elsewhere: along edges on which f falls, or against the flow on others. Data
//! sets that cannot be reached this way get a smaller f: they are a set S whose total need is not met
//! from outside, so a larger p on S makes the column better. Both go on until all needs are met.

use crate::numeric::exp_accurate;
use crate::posterior::model::{Counts, neighbours};

/// The part of a need that may remain.
const REST: f64 = 1e-14;
/// A bound on the relative rounding error of a sum of a few dozen terms of one pair.
const ROUNDING: f64 = 64.0 * f64::EPSILON;
/// The part of what a data set has that is not sent. It makes up for all rounding: costs may be much larger than prices.
const HELD_BACK: f64 = 3.0 * ROUNDING;
/// No label yet.
const FAR: u32 = u32::MAX;

/// One end of an edge, seen from the other.
#[derive(Clone, Copy, Debug)]
pub struct Arc {
    pub to: u32,
    /// The edge, which both ends share.
    pub edge: u32,
}

/// Data sets, some of which are adjacent.
#[derive(Default)]
pub struct Graph {
    /// How many pairs of data sets are adjacent.
    edges: usize,
    arcs: Vec<Arc>,
    /// Where the arcs of each data set begin, and where the last ones end.
    first_arc: Vec<u32>,
}

impl Graph {
    /// The graph of the data sets of a list, of which each has an index if it is in the list.
    pub fn new(list: &[Counts], place_of: impl Fn(&[u64]) -> Option<usize>) -> Self {
        let mut graph = Self { first_arc: vec![0], ..Self::default() };
        for (index, x) in list.iter().enumerate() {
            for to in neighbours(x).filter_map(|neighbour| place_of(&neighbour)) {
                // The end that stands earlier in the list has numbered the edge already.
                let edge = match to < index {
                    true => graph.arcs_of(to).iter().find(|arc| arc.to as usize == index),
                    false => None,
                };
                let edge = edge.map_or(graph.edges as u32, |arc| arc.edge);
                graph.edges = graph.edges.max(edge as usize + 1);
                graph.arcs.push(Arc { to: to as u32, edge });
            }
            graph.first_arc.push(graph.arcs.len() as u32);
        }
        graph
    }

    /// The edges at a data set.
    #[inline]
    pub fn arcs_of(&self, index: usize) -> &[Arc] {
        &self.arcs[self.first_arc[index] as usize..self.first_arc[index + 1] as usize]
    }
}

/// The best column of one output, and the flow that proves it.
pub struct Search<'a> {
    graph: &'a Graph,
    home: usize,
    /// The column is e^(−ε f); f is 0 at the output.
    pub f: Vec<i32>,
    /// e^(−ε f).
    pub p: Vec<f64>,
    /// What arrives over each edge, at the end with the smaller f.
    flow: Vec<f64>,
    /// a(x) with all that arrives, without all that is sent.
    excess: Vec<f64>,
    /// The need that may remain.
    rest: Vec<f64>,
    /// How many edges away the nearest need is.
    label: Vec<u32>,
    queue: Vec<u32>,
    /// The arcs of a data set up to here lead nowhere.
    next_arc: Vec<u32>,
    /// e^ε and e^(−ε).
    growth: f64,
    decay: f64,
}

impl<'a> Search<'a> {
    /// Finds the best column of the output `home`. Data sets are `f` records from it, and have costs and prices.
    pub fn run(
        graph: &'a Graph,
        (home, f): (usize, Vec<i32>),
        epsilon: f64,
        (costs, prices): (&[f64], &[f64]),
    ) -> Self {
        let p = f.iter().map(|&f| exp_accurate(-epsilon * f64::from(f))).collect();
        let pairs = || costs.iter().zip(prices);
        let nodes = f.len();
        let mut search = Self {
            graph,
            home,
            f,
            p,
            flow: vec![0.0; graph.edges],
            excess: pairs().map(|(cost, price)| cost - price).collect(),
            rest: pairs().map(|(cost, price)| REST * (cost + price.abs())).collect(),
            label: vec![FAR; nodes],
            queue: Vec::with_capacity(nodes),
            next_arc: vec![0; nodes],
            growth: exp_accurate(epsilon),
            decay: exp_accurate(-epsilon),
        };
        search.send_home();
        while search.needy() {
            if !search.send_back() {
                search.lower_unreached();
            }
        }
        search
    }

    /// Sends all there is towards the output, from far to near: to neighbours in need what they need, and the rest
    /// in equal parts over all shortest ways.
    fn send_home(&mut self) {
        let mut order: Vec<u32> = (0..self.f.len() as u32).collect();
        order.sort_by_key(|&x| -self.f[x as usize]);
        for x in order {
            let x = x as usize;
            if self.excess[x] <= 0.0 || x == self.home {
                continue;
            }
            let nearer = |arc: &&Arc| self.f[arc.to as usize] < self.f[x];
            let arcs = self.graph.arcs_of(x);
            let mut left = self.excess[x] * (self.decay * (1.0 - HELD_BACK));
            for arc in arcs.iter().filter(nearer) {
                let to = arc.to as usize;
                let arrives = left.min(-self.excess[to]);
                if arrives > 0.0 && to != self.home {
                    self.flow[arc.edge as usize] += arrives;
                    self.excess[to] += arrives;
                    left -= arrives;
                }
            }
            let arrives = left / arcs.iter().filter(nearer).count() as f64;
            if arrives > 0.0 {
                for arc in arcs.iter().filter(nearer) {
                    self.flow[arc.edge as usize] += arrives;
                    self.excess[arc.to as usize] += arrives;
                }
            }
            self.excess[x] = 0.0;
        }
    }

    /// Labels every data set that can send to one in need by the number of edges on the way, up to the
    /// label of the output. False if nobody is in need.
    fn needy(&mut self) -> bool {
        self.label.fill(FAR);
        self.queue.clear();
        for x in 0..self.excess.len() {
            if self.excess[x] < -self.rest[x] && x != self.home {
                self.label[x] = 0;
                self.queue.push(x as u32);
            }
        }
        let mut head = 0;
        while head < self.queue.len() {
            let x = self.queue[head] as usize;
            head += 1;
            if self.label[x] >= self.label[self.home] {
                break;
            }
            for arc in self.graph.arcs_of(x) {
                let from = arc.to as usize;
                if self.label[from] == FAR && self.can_send(from, x, arc.edge as usize) {
                    self.label[from] = self.label[x] + 1;
                    self.queue.push(arc.to);
                }
            }
        }
        !self.queue.is_empty()
    }

    /// Whether more can be sent from `from` to its neighbour `to`, or less the other way.
    fn can_send(&self, from: usize, to: usize, edge: usize) -> bool {
        match self.f[from] - self.f[to] {
            1 => true,
            -1 => self.flow[edge] > 0.0,
            _ => false,
        }
    }

    /// Sends from the output to data sets in need, along ways on which labels fall, until there is no
    /// such way. False if the output has no label.
    fn send_back(&mut self) -> bool {
        if self.label[self.home] == FAR {
            return false;
        }
        self.next_arc.fill(0);
        let mut way: Vec<(usize, usize)> = Vec::new();
        let mut at = self.home;
        loop {
            if self.label[at] == 0 {
                if self.excess[at] < -self.rest[at] {
                    self.send_along(&way, at);
                    way.clear();
                    at = self.home;
                    continue;
                }
            } else if let Some((edge, to)) = self.advance(at) {
                way.push((at, edge));
                at = to;
                continue;
            }
            // A dead end.
            let Some((before, _)) = way.pop() else { return true };
            self.next_arc[before] += 1;
            at = before;
        }
    }

    /// The next edge from `at` on which the label falls.
    fn advance(&mut self, at: usize) -> Option<(usize, usize)> {
        let arcs = self.graph.arcs_of(at);
        while let Some(arc) = arcs.get(self.next_arc[at] as usize) {
            let to = arc.to as usize;
            let falls = self.label[to] != FAR && self.label[to] + 1 == self.label[at];
            if falls && self.can_send(at, to, arc.edge as usize) {
                return Some((arc.edge as usize, to));
            }
            self.next_arc[at] += 1;
        }
        None
    }

    /// Sends as much as is needed and possible along a way to `end`. Amounts times p stay the same on
    /// the way.
    fn send_along(&mut self, way: &[(usize, usize)], end: usize) {
        let ends = way.iter().skip(1).map(|step| step.0).chain([end]);
        let against = |from: usize, to: usize| self.f[from] < self.f[to];
        let need = -self.excess[end] * self.p[end];
        let mut amount = need;
        for (&(from, edge), to) in way.iter().zip(ends.clone()) {
            if against(from, to) {
                amount = amount.min(self.flow[edge] * self.p[from]);
            }
        }
        // Too little for a double: the need is left as it is, at the expense of the bound.
        if amount < f64::MIN_POSITIVE {
            self.excess[end] = 0.0;
            return;
        }
        for (&(from, edge), to) in way.iter().zip(ends) {
            if self.f[from] < self.f[to] {
                let less = amount / self.p[from];
                let left = self.flow[edge] - less;
                // What is left by rounding alone is nothing.
                self.flow[edge] = if left > 4.0 * f64::EPSILON * less { left } else { 0.0 };
            } else {
                self.flow[edge] += amount / self.p[to];
            }
        }
        self.excess[self.home] -= amount / self.p[self.home];
        self.excess[end] =
            if amount < need { self.excess[end] + amount / self.p[end] } else { 0.0 };
    }

    /// Raises p by e^ε at all data sets with a label: nothing can be sent to them from outside.
    fn lower_unreached(&mut self) {
        for &x in &self.queue {
            self.f[x as usize] -= 1;
            self.p[x as usize] *= self.growth;
        }
    }

    /// What is sent: from where, to where, and how much leaves.
    pub fn moves(&self) -> Vec<(u32, u32, f64)> {
        let from = |x: usize| {
            let arcs = self.graph.arcs_of(x).iter();
            let sent = arcs.filter(move |arc| self.f[arc.to as usize] < self.f[x]);
            sent.map(move |arc| (x as u32, arc.to, self.growth * self.flow[arc.edge as usize]))
        };
        (0..self.f.len()).flat_map(from).filter(|sent| sent.2 > 0.0).collect()
    }

    /// For every data set the largest price that is feasible with this flow. Rounding is allowed for.
    pub fn allowed(&self, costs: &[f64]) -> Vec<f64> {
        let allowed = |(x, &cost): (usize, &f64)| {
            let (mut arrives, mut sent) = (0.0, 0.0);
            for arc in self.graph.arcs_of(x) {
                let flow = self.flow[arc.edge as usize];
                match self.f[arc.to as usize] - self.f[x] {
                    1 => arrives += flow,
                    -1 => sent += self.growth * flow,
                    _ => debug_assert!(flow == 0.0, "flow between equal data sets"),
                }
            }
            cost + arrives - sent - ROUNDING * (cost + arrives + sent)
        };
        costs.iter().enumerate().map(allowed).collect()
    }
}
