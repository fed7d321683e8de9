//! Synthetic records (Machanavajjhala et al. 2008): the counts of n records that are drawn from a posterior,
//! r ~ Dirichlet-multinomial(n, β + x). Where β is large, one record of the data changes little.
//!
//! With b = β + x and B = Σ b, P(r|x) is Π NB(r_i; b_i) / NB(n; B): negative binomial numbers with one success
//! probability, given that they sum to n. It does not matter which probability that is; with B / (B + n) all of
//! them are near their means.

use std::sync::Arc;

use super::noise::NEGLECTED;
use super::pair::{Class, Comparisons, Pair, PairComparison, Witness};
use super::{Factors, Law, LawAt, OutputLaw, Outputs, PairSize, Product};
use crate::numeric::beta::{Place, ln_logit_density};
use crate::numeric::{Table, exp_accurate, expm1, first_where, ln, log1p};
use crate::posterior::distance::Distance;
use crate::posterior::error_field::Field;
use crate::posterior::model::{Counts, Posterior, Prior};
use crate::posterior::setting::Setting;
use crate::posterior::simplex::{Region, Shape, Window};
use crate::refusal::Refusal;

/// n records drawn from Dir((β + x) / width²).
#[derive(Clone, Debug)]
pub struct Synthetic {
    pub beta: Vec<f64>,
    /// 1; a wrong scale draws from a posterior so many times as wide.
    pub width: f64,
}

impl Synthetic {
    /// The law that is `epsilon`-private: neighbours are told apart best by an output that has all n records
    /// where x has one and x' none, and the loss is ln(1 + n / min β). So β is at least n / (e^ε − 1).
    pub fn new(prior: &Prior, n: u64, epsilon: f64) -> Self {
        let least = n as f64 / expm1(epsilon);
        Self { beta: prior.alpha().iter().map(|alpha| alpha.max(least)).collect(), width: 1.0 }
    }

    /// b at the data x.
    fn parameters(&self, x: &[u64]) -> Vec<f64> {
        self.beta
            .iter()
            .zip(x)
            .map(|(beta, &x)| (beta + x as f64) / (self.width * self.width))
            .collect()
    }
}

impl Law for Synthetic {
    fn at(&self, posterior: &Posterior) -> Result<Box<dyn LawAt + '_>, Refusal> {
        let b = self.parameters(posterior.counts());
        Ok(Box::new(SyntheticAt {
            drawn: DrawnCounts::new(b, posterior.n()),
            posterior: posterior.clone(),
        }))
    }

    fn widened(&self, factor: f64) -> Result<Arc<dyn Law>, Refusal> {
        Ok(Arc::new(Self { width: self.width * factor, ..self.clone() }))
    }

    fn exchangeable(&self, prior: &Prior) -> Vec<Vec<usize>> {
        prior.exchangeable()
    }

    fn pair_size(&self, posterior: &Posterior, _: &dyn Distance) -> Option<PairSize> {
        let values = posterior.n() as f64 + 1.0;
        let classes = if posterior.k() == 2 { values } else { 0.5 * values * values };
        Some(PairSize { classes, ..PairSize::CLOSED })
    }

    fn comparisons<'a>(
        &'a self,
        _: &'a Setting,
        _: &[&Counts],
    ) -> Result<Box<dyn Comparisons + 'a>, Refusal> {
        Ok(Box::new(self.clone()))
    }
}

/// Counts of n records drawn from Dir(b).
struct DrawnCounts {
    b: Vec<f64>,
    n: u64,
    /// B.
    total: f64,
    /// The probability of a success.
    index: Place,
}

impl DrawnCounts {
    fn new(b: Vec<f64>, n: u64) -> Self {
        let total: f64 = b.iter().sum();
        Self { b, n, total, index: Place::at_logit(ln(total) - ln(n as f64)) }
    }

    /// ln NB(v; b).
    fn ln_factor(&self, b: f64, v: u64) -> f64 {
        match v {
            0 => -b * log1p(self.n as f64 / self.total),
            v => ln_logit_density(b, v as f64, self.index) - ln(v as f64),
        }
    }

    /// ln P(r).
    fn ln_probability(&self, r: &[u64]) -> f64 {
        let factors = self.b.iter().zip(r).map(|(&b, &v)| self.ln_factor(b, v));
        factors.sum::<f64>() - self.ln_factor(self.total, self.n)
    }

    /// The counts of one category that are not negligible: its law, which rises and then falls, is followed to
    /// where what is left is.
    fn window(&self, b: f64) -> Window {
        let (n, rest) = (self.n, self.total - b);
        if n == 0 || self.total <= 2.0 {
            return (0, n);
        }
        let ln_total = self.ln_factor(self.total, n);
        let ln_p = |v: u64| self.ln_factor(b, v) + self.ln_factor(rest, n - v) - ln_total;
        // P[v + 1] >= P[v] up to here.
        let rises = (n as f64 * (b - 1.0) + 1.0 - rest) / (self.total - 2.0);
        let mode = ((rises + 1.0).max(0.0) as u64).min(n);
        let least = ln(NEGLECTED / (2.0 * self.b.len() as f64 * (n as f64 + 1.0)));
        let low = first_where(0, mode, |v| ln_p(v) >= least);
        let high = first_where(mode, n, |v| ln_p(v) < least);
        (low, high)
    }
}

struct SyntheticAt {
    drawn: DrawnCounts,
    posterior: Posterior,
}

impl LawAt for SyntheticAt {
    fn region(&self) -> Option<Region> {
        let windows = self.drawn.b.iter().map(|&b| self.drawn.window(b)).collect();
        Some(Region::new(self.posterior.n(), Shape::Simplex, windows))
    }

    fn ln_probabilities(&self, outputs: Outputs, _: &dyn Field) -> Vec<f64> {
        outputs.list().iter().map(|r| self.drawn.ln_probability(r)).collect()
    }

    fn output_law(&self) -> Box<dyn OutputLaw + '_> {
        let (drawn, n) = (&self.drawn, self.posterior.n());
        let tables = move |windows: &[Window]| {
            let table = |(&b, &(low, high)): (&f64, &Window)| {
                let factors = (low..=high).map(|v| exp_accurate(drawn.ln_factor(b, v)));
                Table::new(low, factors.collect())
            };
            drawn.b.iter().zip(windows).map(table).collect()
        };
        let posterior = Prior::new(drawn.b.clone()).expect("parameters that are positive");
        let factors = Factors {
            region: self.region().expect("it has windows"),
            alike: drawn.b.len(),
            tables: Box::new(tables),
            normaliser: exp_accurate(drawn.ln_factor(drawn.total, n)),
            p_exact: exp_accurate(drawn.ln_probability(self.posterior.counts())),
            draw: Box::new(move |rng, out| {
                out.copy_from_slice(&posterior.draw_predictive(n, rng));
            }),
        };
        Box::new(Product::new(&self.posterior, factors))
    }
}

impl Comparisons for Synthetic {
    fn between<'a>(&'a self, pair: &'a Pair, _: [usize; 2]) -> Box<dyn PairComparison + 'a> {
        let b = self.parameters(&pair.x);
        let (leaves, enters) = (b[pair.leaves] - 1.0 / (self.width * self.width), b[pair.enters]);
        let n = pair.x.iter().sum();
        Box::new(SyntheticPair { pair, leaves, enters, drawn: DrawnCounts::new(b, n) })
    }
}

/// Two adjacent data sets x and x' = x − e_i + e_j. The ratio of probabilities is
/// (1 + r_i / (b_i − 1)) / (1 + r_j / b_j): only two counts of the output matter. It is largest where category i has
/// all records of r, and smallest where j has them.
struct SyntheticPair<'a> {
    pair: &'a Pair,
    /// b_i − 1 and b_j.
    leaves: f64,
    enters: f64,
    drawn: DrawnCounts,
}

impl SyntheticPair<'_> {
    /// ln P_x − ln P_x', by the counts of the two categories.
    fn ratio(&self, left: u64, entered: u64) -> f64 {
        log1p(left as f64 / self.leaves) - log1p(entered as f64 / self.enters)
    }

    fn extremes(&self) -> [f64; 2] {
        [self.ratio(self.drawn.n, 0), -self.ratio(0, self.drawn.n)]
    }
}

impl PairComparison for SyntheticPair<'_> {
    fn loss(&self) -> f64 {
        let [forward, backward] = self.extremes();
        forward.max(backward)
    }

    fn rounding(&self) -> f64 {
        8.0 * f64::EPSILON * (1.0 + self.loss())
    }

    /// The counts of the two categories, and of all others together.
    fn classes(&self) -> Vec<Class> {
        let DrawnCounts { b, n, total, .. } = &self.drawn;
        let (i, j) = (b[self.pair.leaves], b[self.pair.enters]);
        let others = if b.len() == 2 { 0.0 } else { total - i - j };
        let ln_total = self.drawn.ln_factor(*total, *n);
        let class = |left: u64, entered: u64| {
            let rest = *n - left - entered;
            let factors = [(i, left), (j, entered), (others, rest)];
            let ln_p: f64 = factors.iter().map(|&(b, v)| self.drawn.ln_factor(b, v)).sum();
            let at_x = ln_p - ln_total;
            let ratio = self.ratio(left, entered);
            Class { ratio, masses: [at_x, at_x - ratio].map(exp_accurate) }
        };
        let of_left = |left: u64| {
            let least = if b.len() == 2 { n - left } else { 0 };
            (least..=n - left).map(move |entered| (left, entered))
        };
        (0..=*n).flat_map(of_left).map(|(left, entered)| class(left, entered)).collect()
    }

    fn witness(&self) -> Witness {
        let [forward, backward] = self.extremes();
        let mut output = vec![0; self.pair.x.len()];
        let has_all = if forward >= backward { self.pair.leaves } else { self.pair.enters };
        output[has_all] = self.drawn.n;
        Witness { output, forward: forward >= backward }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mechanism::Mechanism;
    use crate::mechanism::law::Bench;
    use crate::mechanism::law::product::total_mass;
    use crate::posterior::privacy::Epsilon;

    /// What is not walked is negligible, also for many records and where a parameter is small.
    #[test]
    fn windows_hold_nearly_all() {
        for (prior, counts, epsilon) in [
            (&[1.0, 1.0][..], &[0, 5000][..], 8.0),
            (&[0.01, 3.0], &[0, 700], 20.0),
            (&[1.0, 1.0], &[400_000, 600_000], 1.0),
            (&[1.0, 2.0, 0.2], &[150, 30, 0], 9.0),
        ] {
            let prior = Prior::new(prior.to_vec()).unwrap();
            let epsilon = Epsilon::new(epsilon).unwrap();
            let setting = Setting::new(prior, counts.iter().sum(), epsilon);
            let posterior = setting.at(counts.to_vec());
            let law = Mechanism::parse("synthetic").unwrap().law(&setting).unwrap();
            let bench = Bench::new(&posterior, setting.distance, [law.as_ref()], &[]).unwrap();
            let output = bench.law(0);
            let whole = total_mass(output.as_ref()).unwrap() / output.normaliser();
            assert!((whole - 1.0).abs() < 1e-11, "{counts:?}: {whole}");
        }
    }
}
