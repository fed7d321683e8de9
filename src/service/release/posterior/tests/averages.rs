//! Means of the shares of several groups, against brute force.

use std::collections::BTreeMap;

use super::brute::{beta_below, beta_density, method, seen, tables};
use crate::release::posterior::Within;
use crate::release::posterior::averages::Averages;
use crate::release::posterior::{
    CountsLaw, Inferred, Published, PublishedNoise, RecordsPrior, Total,
};
use engine::numeric::gauss::legendre;
use engine::numeric::{Sum, exp_accurate, lgamma, ln};
use engine::posterior::model::{Counts, Prior};
use engine::posterior::simplex::list_compositions;

/// Products without end.
const MOST: f64 = f64::INFINITY;

fn assert_close(ours: f64, theirs: f64, within: f64, what: &str) {
    assert!((ours - theirs).abs() <= within, "{what}: {ours} instead of {theirs}");
}

/// The groups, each of two cells, of which the second is counted.
fn groups(which: &[usize]) -> Vec<Within> {
    which.iter().map(|g| (vec![2 * g + 1], vec![2 * g, 2 * g + 1])).collect()
}

/// The integral from `low` to `high`, exact for polynomials of degree 47.
fn integral(low: f64, high: f64, f: impl Fn(f64) -> f64) -> f64 {
    if low >= high {
        return 0.0;
    }
    let terms = NODES.with(|nodes| {
        let term = |(node, weight): &(f64, f64)| weight * f(low + (high - low) * node);
        nodes.iter().map(term).collect::<Sum>().value()
    });
    (high - low) * terms
}

thread_local! {
    static NODES: Vec<(f64, f64)> = legendre(24);
}

/// The parameters of two shares.
type Two = [(f64, f64); 2];

/// P[p + q <= z].
fn sum_below([p, q]: Two, z: f64) -> f64 {
    if z <= 0.0 || z >= 2.0 {
        return f64::from(u8::from(z >= 2.0));
    }
    let inner = integral((z - 1.0).max(0.0), z.min(1.0), |u| {
        beta_density(p, u) * beta_below(q, (z - u).clamp(0.0, 1.0))
    });
    inner + if z > 1.0 { beta_below(p, z - 1.0) } else { 0.0 }
}

/// The density of p + q.
fn sum_density([p, q]: Two, z: f64) -> f64 {
    integral((z - 1.0).max(0.0), z.min(1.0), |u| beta_density(p, u) * beta_density(q, z - u))
}

/// All data sets with their probabilities. The parameters are whole numbers, so that densities are polynomials.
struct Brute {
    tables: Vec<(Counts, f64)>,
    alpha: Vec<f64>,
    sides: [[usize; 2]; 2],
}

impl Brute {
    /// P[(p + q)/2 − r (u + v)/2 <= x] for the shares p and q of the first two groups, u and v of others.
    fn below(&self, r: f64, x: f64) -> f64 {
        let counts = |table: &[u64], side: usize| -> [u64; 4] {
            let [g, h] = self.sides[side];
            [2 * g, 2 * g + 1, 2 * h, 2 * h + 1].map(|cell| table[cell])
        };
        let shares = |counts: [u64; 4], side: usize| -> Two {
            let [g, h] = self.sides[side];
            let of = |group: usize, no: u64, yes: u64| {
                (self.alpha[2 * group + 1] + yes as f64, self.alpha[2 * group] + no as f64)
            };
            [of(g, counts[0], counts[1]), of(h, counts[2], counts[3])]
        };
        // u + v runs over polynomial pieces.
        let mut ends: Vec<f64> = [0.0, 1.0, 2.0].to_vec();
        ends.extend(
            [0.0, 1.0, 2.0].map(|z| (z - 2.0 * x) / r).iter().filter(|z| (0.0..2.0).contains(*z)),
        );
        ends.sort_by(f64::total_cmp);
        let nodes: Vec<(f64, f64)> = ends
            .windows(2)
            .flat_map(|piece| {
                let width = piece[1] - piece[0];
                let node = move |(node, weight)| (piece[0] + width * node, width * weight);
                legendre(24).into_iter().map(node)
            })
            .collect();
        let mut known: [BTreeMap<[u64; 4], Vec<f64>>; 2] = Default::default();
        for (table, _) in &self.tables {
            for (side, known) in known.iter_mut().enumerate() {
                let counts = counts(table, side);
                known.entry(counts).or_insert_with(|| {
                    let two = shares(counts, side);
                    let value = |(v, weight): &(f64, f64)| match side {
                        0 => sum_below(two, r * v + 2.0 * x),
                        _ => weight * sum_density(two, *v),
                    };
                    nodes.iter().map(value).collect()
                });
            }
        }
        let one = |(table, weight): &(Counts, f64)| {
            let [a, b] = [0, 1].map(|side| &known[side][&counts(table, side)]);
            weight * a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>()
        };
        self.tables.iter().map(one).collect::<Sum>().value()
    }

    fn check(&self, averages: &mut Averages, what: &str) {
        const CLOSE: f64 = 2e-11;
        let greater = 1.0 - self.below(1.0, 0.0);
        assert_close(averages.probability_greater(), greater, CLOSE, what);
        for x in [-0.6, -0.21, 0.1, 0.5] {
            let at = format!("{what}, at {x}");
            assert_close(averages.difference_below(x), self.below(1.0, x), CLOSE, &at);
        }
        for p in [0.025, 0.5, 0.9] {
            let x = averages.difference_quantile(p).unwrap();
            assert_close(self.below(1.0, x), p, CLOSE, &format!("{what}, difference {x}"));
            let r = averages.ratio_quantile(p).unwrap();
            assert_close(self.below(r, 0.0), p, CLOSE, &format!("{what}, ratio {r}"));
        }
        let mean = |(x, weight): &(Counts, f64)| {
            let share = |g: usize| {
                let [no, yes] = [2 * g, 2 * g + 1].map(|cell| self.alpha[cell] + x[cell] as f64);
                yes / (no + yes)
            };
            let [a, b] = self.sides.map(|[g, h]| 0.5 * (share(g) + share(h)));
            weight * (a - b)
        };
        let mean = self.tables.iter().map(mean).collect::<Sum>().value();
        assert_close(averages.mean_difference(), mean, 1e-13, what);
    }
}

fn compared(law: &CountsLaw, sides: [[usize; 2]; 2]) -> Averages {
    let [a, b] = sides.map(|side| groups(&side));
    law.compare_means([&a, &b], MOST).unwrap()
}

const ONES: [f64; 8] = [1.0; 8];

/// Mechanism, prior, ε, n and released counts.
type Case = (&'static str, &'static [f64], &'static str, u64, &'static [u64]);

#[test]
fn two_arms_two_sites() {
    let cases: [Case; 3] = [
        ("lattice", &ONES, "1", 5, &[1, 0, 2, 0, 0, 2, 0, 0]),
        ("geometric", &[1.0, 2.0, 3.0, 1.0, 2.0, 2.0, 1.0, 4.0], "2", 5, &[0, 1, 0, 1, 2, 0, 0, 1]),
        // A third arm, of which nothing is asked.
        (
            "lattice",
            &[1.0, 2.0, 1.0, 1.0, 3.0, 1.0, 1.0, 1.0, 2.0, 2.0, 1.0, 1.0],
            "1.5",
            3,
            &[0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 1, 0],
        ),
    ];
    for (id, alpha, epsilon, n, released) in cases {
        let method = method(id, alpha, n, epsilon);
        let law = CountsLaw::given(&[seen(&method, released)]).unwrap();
        let sides = if alpha.len() > 8 { [[4, 5], [0, 1]] } else { [[2, 3], [0, 1]] };
        let tables = tables(&[(&method, released)]);
        let brute = Brute { tables, alpha: alpha.to_vec(), sides };
        brute.check(&mut compared(&law, sides), id);
    }
}

#[test]
fn an_unknown_number_of_records() {
    const MOST_RECORDS: u64 = 4;
    let noise = PublishedNoise::parse("discrete-laplace(epsilon=0.7)", false, false).unwrap();
    let values = [1.0, 0.0, -1.0, 2.0, 0.0, 1.0, 3.0, 0.0];
    let prior = Prior::new(ONES.to_vec()).unwrap();
    let total = Total::Unknown(RecordsPrior::Flat(Some(MOST_RECORDS)));
    let law =
        Inferred::new(&prior, total, &[Published { noise: &noise, values: &values }]).unwrap().law;
    assert_eq!(law.n(), None);
    // The last one counts the records that are missing. With parameters of 1 all data sets of n are as likely.
    let weigh = |x: Counts| {
        let n = MOST_RECORDS - x[8];
        let many = lgamma(n as f64 + 8.0) - lgamma(n as f64 + 1.0);
        let apart: f64 = x.iter().zip(values).map(|(&x, v)| (x as f64 - v).abs()).sum();
        (x, exp_accurate(-many - 0.7 * apart))
    };
    let all: Vec<_> = list_compositions(MOST_RECORDS, 9).into_iter().map(weigh).collect();
    let sum: f64 = all.iter().map(|(_, weight)| weight).sum();
    let tables = all.into_iter().map(|(x, weight)| (x, weight / sum)).collect();
    let sides = [[0, 3], [1, 2]];
    let brute = Brute { tables, alpha: ONES.to_vec(), sides };
    brute.check(&mut compared(&law, sides), "n unknown");
}

/// The mean of one share is that share.
#[test]
fn one_site_is_a_comparison_of_two_groups() {
    let cases: [Case; 5] = [
        ("lattice", &[1.0; 4], "1", 100, &[31, 17, 24, 28]),
        ("geometric", &[5.5, 7.0, 9.5, 8.0], "0.3", 40, &[2, 20, 7, 3]),
        ("lattice", &[6.4, 7.0, 5.7, 9.0, 0.1, 2.0], "0.5", 30, &[5, 0, 8, 10, 3, 5]),
        ("geometric", &[4e4, 5.0, 6e4, 6.0], "1", 30, &[20, 0, 9, 1]),
        ("tight", &[30.0, 2000.0, 20.0, 12.0], "1", 20, &[5, 4, 9, 2]),
    ];
    for (id, alpha, epsilon, n, released) in cases {
        let method = method(id, alpha, n, epsilon);
        let law = CountsLaw::given(&[seen(&method, released)]).unwrap();
        let (a, b) = (groups(&[0]), groups(&[1]));
        let mut ours = law.compare_means([&a, &b], MOST).unwrap();
        let theirs = law.compare((&[1], &[0, 1]), (&[3], &[2, 3]), MOST).unwrap();
        assert_close(ours.probability_greater(), theirs.probability_greater(), 1e-11, id);
        assert_close(ours.mean_difference(), theirs.mean_difference(), 1e-13, id);
        for p in [0.005, 0.025, 0.4, 0.5, 0.975] {
            let x = ours.difference_quantile(p).unwrap();
            assert_close(theirs.difference_below(x), p, 1e-11, &format!("{id}, difference {x}"));
            let log = ln(theirs.ratio_quantile(p));
            assert_close(ours.log_ratio_below(log).unwrap(), p, 1e-11, &format!("{id}, ratio"));
        }
    }
}

/// Without noise every group has one row.
#[test]
fn exact_counts() {
    let counts = [3, 1, 0, 2, 4, 4, 1, 0];
    let law = CountsLaw::exactly(&Prior::new(ONES.to_vec()).unwrap(), &counts);
    let sides = [[2, 3], [0, 1]];
    let brute = Brute { tables: vec![(counts.to_vec(), 1.0)], alpha: ONES.to_vec(), sides };
    brute.check(&mut compared(&law, sides), "exact");
}

/// Where nobody says yes, transforms fall like a power: series are rough, and right to six digits.
#[test]
fn rare_outcomes() {
    let counts = [20, 0, 18, 0, 19, 0, 20, 1];
    let law = CountsLaw::exactly(&Prior::new(ONES.to_vec()).unwrap(), &counts);
    let sides = [[2, 3], [0, 1]];
    let brute = Brute { tables: vec![(counts.to_vec(), 1.0)], alpha: ONES.to_vec(), sides };
    let [a, b] = sides.map(|side| groups(&side));
    let mut ours = law.compare_means([&a, &b], 1e8).unwrap();
    let mut off = (ours.probability_greater() - 1.0 + brute.below(1.0, 0.0)).abs();
    for x in [-0.05, 0.02, 0.1] {
        off = off.max((ours.difference_below(x) - brute.below(1.0, x)).abs());
    }
    for p in [0.025, 0.5, 0.975] {
        let x = ours.difference_quantile(p).unwrap();
        off = off.max((brute.below(1.0, x) - p).abs());
        let r = ours.ratio_quantile(p).unwrap();
        off = off.max((brute.below(r, 0.0) - p).abs());
    }
    assert!(1e-12 < off && off < 2e-6, "{off}");
}

#[test]
fn what_does_not_converge_or_takes_long_is_refused() {
    let law = |alpha: f64| CountsLaw::exactly(&Prior::new(vec![alpha; 4]).unwrap(), &[0; 4]);
    let (a, b) = (groups(&[0]), groups(&[1]));
    let refusal = |alpha: f64, products: f64| {
        law(alpha).compare_means([&a, &b], products).err().unwrap_or_default()
    };
    assert!(refusal(0.1, 1e8).contains("too slowly"), "{}", refusal(0.1, 1e8));
    assert!(refusal(8.0, 1e3).contains("products"), "{}", refusal(8.0, 1e3));
    assert_eq!(refusal(8.0, 1e7), "");
    let mut whole = law(8.0).compare_means([&a, &b], MOST).unwrap();
    assert!(whole.difference(0.99).is_ok() && whole.ratio(0.99).is_ok());
    let level = 1.0 - 1e-12;
    assert!(whole.difference(level).unwrap_err().contains("levels"));
    assert!(whole.ratio(level).unwrap_err().contains("levels"));
}

/// What is left out of sums and windows changes nothing: the mean by the series is that of the mixtures.
#[test]
fn five_sites_keep_their_mean() {
    let alpha = [1.0; 30];
    let released: Vec<u64> = (0..30).map(|cell| (7 * cell) % 20).collect();
    let method = method("lattice", &alpha, released.iter().sum(), "0.5");
    let law = CountsLaw::given(&[seen(&method, &released)]).unwrap();
    let (a, b) = (groups(&[5, 6, 7, 8, 9]), groups(&[0, 1, 2, 3, 4]));
    let ours = law.compare_means([&a, &b], MOST).unwrap();
    // ∫ P[D > x] − P[D < −x] over x > 0.
    let mean = (0..100).map(|piece| {
        let low = 0.01 * f64::from(piece);
        integral(low, low + 0.01, |x| 1.0 - ours.difference_below(x) - ours.difference_below(-x))
    });
    assert_close(ours.mean_difference(), mean.sum(), 1e-11, "mean");
}
