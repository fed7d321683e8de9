//! Whether what the data sets around an output have can be moved along shortest ways to those in need.
//!
//! Amounts are in units of the output: times a^d, so that nothing is lost on the way. At first everybody who
//! has something sends it to those in need next to him on the way to the output, and the rest on towards the
//! output. Then the output sends back what others still need: along steps towards it, or by taking back what
//! was sent before. Those far away are served first: a unit that they lack costs most.

/// The neighbourhood of an output.
pub struct Flow {
    /// How many records each node is away from the output.
    away: Vec<u32>,
    /// What each has beyond its needs, or needs if negative.
    excess: Vec<f64>,
    /// Nodes one step nearer to the output: where those of each node begin in `nearer`.
    first: Vec<u32>,
    nearer: Vec<u32>,
    /// What is sent over each step.
    sent: Vec<f64>,
    /// The steps that lead to each node, sorted by it, and where each node's begin.
    arriving: Vec<(u32, u32)>,
    first_arriving: Vec<u32>,
    /// For the search: the step by which a node sends, and the next node on the way.
    way: Vec<Option<(u32, bool, u32)>>,
    queue: Vec<u32>,
}

/// A bound on the relative rounding error of a sum of a few dozen terms.
const ROUNDING: f64 = 64.0 * f64::EPSILON;

/// The part of a need that may remain.
const REST: f64 = 1e-14;

impl Flow {
    /// Nodes with their distances and what they have or need, and for each the nodes that are one step nearer.
    /// One node, the output, has the distance 0.
    pub fn new(away: Vec<u32>, excess: Vec<f64>, first: Vec<u32>, nearer: Vec<u32>) -> Self {
        let nodes = away.len();
        let mut first_arriving = vec![0; nodes + 1];
        nearer.iter().for_each(|&to| first_arriving[to as usize + 1] += 1);
        for node in 0..nodes {
            first_arriving[node + 1] += first_arriving[node];
        }
        let mut next = first_arriving.clone();
        let mut arriving = vec![(0, 0); nearer.len()];
        for node in 0..nodes {
            for step in first[node]..first[node + 1] {
                let place = &mut next[nearer[step as usize] as usize];
                arriving[*place as usize] = (node as u32, step);
                *place += 1;
            }
        }
        let sent = vec![0.0; nearer.len()];
        let (way, queue) = (vec![None; nodes], Vec::new());
        Self { away, excess, first, nearer, sent, arriving, first_arriving, way, queue }
    }

    /// Moves as much as can be moved. For every node what it lacks in the end, with all rounding errors.
    pub fn run(mut self) -> Vec<f64> {
        let given = self.excess.clone();
        self.send_towards_output();
        self.serve();
        self.lacking(&given)
    }

    fn steps(&self, node: usize) -> std::ops::Range<usize> {
        self.first[node] as usize..self.first[node + 1] as usize
    }

    fn send_towards_output(&mut self) {
        let mut order: Vec<u32> = (0..self.away.len() as u32).collect();
        order.sort_unstable_by_key(|&node| std::cmp::Reverse(self.away[node as usize]));
        for node in order {
            let node = node as usize;
            let steps = self.steps(node);
            if self.excess[node] <= 0.0 || steps.is_empty() {
                continue;
            }
            for step in steps.clone() {
                let to = self.nearer[step] as usize;
                if self.excess[to] < 0.0 && self.away[to] > 0 {
                    let amount = self.excess[node].min(-self.excess[to]);
                    self.send(node, step, amount);
                }
            }
            let part = self.excess[node] / steps.len() as f64;
            if part > 0.0 {
                steps.for_each(|step| self.send(node, step, part));
            }
            self.excess[node] = 0.0;
        }
    }

    fn send(&mut self, node: usize, step: usize, amount: f64) {
        self.sent[step] += amount;
        self.excess[node] -= amount;
        self.excess[self.nearer[step] as usize] += amount;
    }

    /// Serves those in need, those far away first.
    fn serve(&mut self) {
        let output = self.away.iter().position(|&away| away == 0).expect("an output");
        let mut needy: Vec<usize> = (0..self.away.len())
            .filter(|&node| node != output && self.excess[node] < 0.0)
            .collect();
        needy.sort_unstable_by_key(|&node| std::cmp::Reverse(self.away[node]));
        for node in needy {
            let rest = REST * self.excess[node].abs();
            while self.excess[node] < -rest {
                if !self.find_way(node, output) {
                    break;
                }
                self.send_back(node, output);
            }
        }
    }

    /// Looks for a way from the output to `node`, from its end.
    fn find_way(&mut self, node: usize, output: usize) -> bool {
        self.way.fill(None);
        self.queue.clear();
        self.queue.push(node as u32);
        let mut head = 0;
        while head < self.queue.len() {
            let to = self.queue[head] as usize;
            head += 1;
            // Somebody farther away can send more to this node.
            let arriving = self.first_arriving[to] as usize..self.first_arriving[to + 1] as usize;
            for place in arriving {
                let (from, step) = self.arriving[place];
                if self.way[from as usize].is_none() && from as usize != node {
                    self.way[from as usize] = Some((step, true, to as u32));
                    self.queue.push(from);
                }
            }
            // Somebody nearer can do with less from this node.
            for step in self.steps(to) {
                let from = self.nearer[step] as usize;
                if self.sent[step] > 0.0 && self.way[from].is_none() && from != node {
                    self.way[from] = Some((step as u32, false, to as u32));
                    if from == output {
                        return true;
                    }
                    self.queue.push(from as u32);
                }
            }
        }
        false
    }

    fn send_back(&mut self, node: usize, output: usize) {
        let mut amount = -self.excess[node];
        let mut at = output;
        while let Some((step, more, to)) = self.way[at] {
            if !more {
                amount = amount.min(self.sent[step as usize]);
            }
            at = to as usize;
        }
        let mut at = output;
        while let Some((step, more, to)) = self.way[at] {
            let sent = &mut self.sent[step as usize];
            *sent = if more { *sent + amount } else { (*sent - amount).max(0.0) };
            at = to as usize;
        }
        self.excess[output] -= amount;
        self.excess[node] += amount;
    }

    /// What every node lacks, from what it was `given` and all that arrives and is sent.
    fn lacking(&self, given: &[f64]) -> Vec<f64> {
        let mut totals: Vec<(f64, f64)> = given.iter().map(|&has| (has, has.abs())).collect();
        for node in 0..given.len() {
            for step in self.steps(node) {
                let (to, sent) = (self.nearer[step] as usize, self.sent[step]);
                totals[node] = (totals[node].0 - sent, totals[node].1 + sent);
                totals[to] = (totals[to].0 + sent, totals[to].1 + sent);
            }
        }
        let lack = |(left, size): (f64, f64)| (ROUNDING * size - left).max(0.0);
        totals.into_iter().map(lack).collect()
    }
}
