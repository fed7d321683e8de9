//! Counts that others have released, against sums over all counts.

use super::super::{Inferred, Published, PublishedNoise};
use engine::numeric::{Sum, lgamma};
use engine::posterior::model::Prior;
use engine::rng::{Stream, stream, uniform};
use statrs::function::beta::beta_reg;
use statrs::function::erf::erfc;

/// The noise as the test knows it.
#[derive(Clone, Copy, Debug)]
enum Kind {
    DiscreteLaplace(f64),
    DiscreteGaussian(f64),
    Laplace(f64),
    Gaussian(f64),
    /// The log weight −t²/2 − |t|/3.
    Expression,
}

#[derive(Clone, Copy, Debug)]
struct Case {
    kind: Kind,
    rounded: bool,
    clamped: bool,
}

/// No noise is longer.
const FAR: i64 = 400;

/// The place at which distribution functions are compared.
const POINT: f64 = 0.37;

impl Case {
    fn noise(self) -> PublishedNoise {
        let text = match self.kind {
            Kind::DiscreteLaplace(rate) => format!("discrete-laplace(epsilon={rate})"),
            Kind::DiscreteGaussian(sigma) => format!("discrete-gaussian(sigma={sigma})"),
            Kind::Laplace(scale) => format!("laplace(scale={scale})"),
            Kind::Gaussian(sigma) => format!("gaussian(sigma={sigma})"),
            Kind::Expression => "-t^2/2 - abs(t)/3".to_owned(),
        };
        PublishedNoise::parse(&text, self.rounded, self.clamped).unwrap()
    }

    fn is_continuous(self) -> bool {
        matches!(self.kind, Kind::Laplace(_) | Kind::Gaussian(_))
    }

    fn ln_weight(self, t: f64) -> f64 {
        match self.kind {
            Kind::DiscreteLaplace(rate) => -rate * t.abs(),
            Kind::Laplace(scale) => -t.abs() / scale,
            Kind::DiscreteGaussian(sigma) | Kind::Gaussian(sigma) => -0.5 * (t / sigma).powi(2),
            Kind::Expression => -0.5 * t * t - t.abs() / 3.0,
        }
    }

    /// P[z ≤ t] of a real law.
    fn below(self, t: f64) -> f64 {
        match self.kind {
            Kind::Laplace(scale) if t < 0.0 => 0.5 * (t / scale).exp(),
            Kind::Laplace(scale) => 1.0 - 0.5 * (-t / scale).exp(),
            Kind::Gaussian(sigma) => 0.5 * erfc(-t / sigma / 2_f64.sqrt()),
            _ => unreachable!("a law of whole numbers"),
        }
    }

    /// The logarithm of P[value | x], up to a constant.
    fn ln_likelihood(self, value: f64, x: u64) -> f64 {
        let (x, clamped) = (x as f64, self.clamped && value == 0.0);
        match (self.is_continuous(), self.rounded) {
            (false, _) if clamped => {
                let nearest = self.ln_weight(-x);
                let relative = (0..FAR).map(|z| (self.ln_weight(-x - z as f64) - nearest).exp());
                nearest + relative.sum::<f64>().ln()
            }
            (true, rounded) if clamped => self.below(if rounded { 0.5 } else { 0.0 } - x).ln(),
            // The far side of a symmetric law would lose digits.
            (true, true) => {
                let (a, b) = ((value - x).abs() - 0.5, (value - x).abs() + 0.5);
                (self.below(-a) - self.below(-b)).ln()
            }
            _ => self.ln_weight(value - x),
        }
    }
}

/// The logarithm of the prior's weight of counts in one cell, and that of their number.
fn ln_cell(alpha: f64, x: u64) -> f64 {
    lgamma(alpha + x as f64) - lgamma(alpha) - lgamma(x as f64 + 1.0)
}

fn ln_number(prior: &[f64], n: u64) -> f64 {
    let (sum, n) = (prior.iter().sum::<f64>(), n as f64);
    lgamma(n + 1.0) + lgamma(sum) - lgamma(sum + n)
}

/// The mean of the first share, and the probability that it is at most `point`: sums over all counts of which
/// `tables` has the logarithms of the likelihoods, cell by cell.
fn by_sums(prior: &[f64], total: Option<u64>, tables: &[Vec<f64>], point: f64) -> (f64, f64) {
    let most = tables[0].len() as u64 - 1;
    let cells: Vec<Vec<f64>> = (prior.iter().zip(tables))
        .map(|(&a, logs)| (0..).zip(logs).map(|(x, log)| log + ln_cell(a, x)).collect())
        .collect();
    let numbers: Vec<f64> = (0..=most * prior.len() as u64).map(|n| ln_number(prior, n)).collect();
    let mut all = all_counts(prior.len(), total.map_or(most, |n| n.min(most)));
    all.retain(|x| total.is_none_or(|n| x.iter().sum::<u64>() == n));
    let ln_weight = |x: &Vec<u64>| {
        let cells = x.iter().zip(&cells).map(|(&x, cell)| cell[x as usize]);
        cells.sum::<f64>() + numbers[x.iter().sum::<u64>() as usize]
    };
    let logs: Vec<f64> = all.iter().map(ln_weight).collect();
    let largest = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let (mut sum, mut mean, mut below) = (Sum::default(), Sum::default(), Sum::default());
    for (x, log) in all.iter().zip(logs).filter(|(_, log)| *log > largest - 60.0) {
        let (own, n) = (prior[0] + x[0] as f64, x.iter().sum::<u64>() as f64);
        let (weight, rest) = ((log - largest).exp(), prior.iter().sum::<f64>() + n - own);
        sum.add(weight);
        mean.add(weight * own / (own + rest));
        below.add(if weight > 1e-18 { weight * beta_reg(own, rest, point) } else { 0.0 });
    }
    (mean.value() / sum.value(), below.value() / sum.value())
}

/// All counts up to `most` in k cells.
fn all_counts(k: usize, most: u64) -> Vec<Vec<u64>> {
    (0..k).fold(vec![Vec::new()], |all, _| {
        all.iter().flat_map(|x| (0..=most).map(move |c| [x.as_slice(), &[c]].concat())).collect()
    })
}

fn pick<T: Copy>(from: &[T], rng: &mut Stream) -> T {
    from[(uniform(rng) * from.len() as f64) as usize]
}

#[test]
fn two_hundred_cases_by_sums_over_all_counts() {
    let mut rng = stream(1, "counts of others");
    let kinds = [
        Kind::DiscreteLaplace(1.3),
        Kind::DiscreteLaplace(3.0),
        Kind::DiscreteGaussian(0.6),
        Kind::DiscreteGaussian(2.5),
        Kind::Laplace(0.4),
        Kind::Laplace(0.9),
        Kind::Gaussian(0.5),
        Kind::Gaussian(2.2),
        Kind::Expression,
    ];
    for number in 0..200 {
        let k = 2 + number % 2;
        let kind = kinds[number / 2 % kinds.len()];
        let mut case = Case { kind, rounded: false, clamped: uniform(&mut rng) < 0.5 };
        case.rounded = case.is_continuous() && uniform(&mut rng) < 0.5;
        let prior: Vec<f64> = (0..k).map(|_| pick(&[0.3, 1.0, 2.5], &mut rng)).collect();
        let truth: Vec<f64> = (0..k).map(|_| (uniform(&mut rng) * 8.0).floor()).collect();
        let release = |rng: &mut Stream| -> Vec<f64> {
            let noisy = truth.iter().map(|x| {
                let value = x + 4.0 * (uniform(rng) - 0.5);
                let whole = !case.is_continuous() || case.rounded;
                let value = if whole { value.round() } else { value };
                if case.clamped { value.max(0.0) } else { value }
            });
            noisy.collect()
        };
        let releases: Vec<Vec<f64>> = (0..1 + number % 3 / 2).map(|_| release(&mut rng)).collect();
        let n = truth.iter().sum::<f64>() as u64;
        let total = (number % 4 < 2).then_some(n + 1);
        let noise = case.noise();
        let published: Vec<Published> =
            releases.iter().map(|values| Published { noise: &noise, values }).collect();
        let found = Inferred::new(&Prior::new(prior.clone()).unwrap(), total, &published).unwrap();
        assert!(found.left_out < 1e-15, "{}", found.left_out);
        // Twice the noise's reach beyond what was released nothing counts.
        let most = if k == 2 { 110 } else { 60 };
        let table = |i: usize| -> Vec<f64> {
            let ln = |x, values: &Vec<f64>| case.ln_likelihood(values[i], x);
            (0..=most).map(|x| releases.iter().map(|values| ln(x, values)).sum()).collect()
        };
        let tables: Vec<Vec<f64>> = (0..k).map(table).collect();
        let (mean, below) = by_sums(&prior, total, &tables, POINT);
        let share = found.law.exact().unwrap().share(&[0]);
        let what = format!("{number}: {case:?} {prior:?} {total:?} {releases:?}");
        assert!((share.mean() / mean - 1.0).abs() < 1e-10, "{what}: {} {mean}", share.mean());
        let ours = share.below(POINT);
        assert!((ours - below).abs() < 1e-10, "{what}: {ours} {below}");
    }
}

/// Priors and totals that pull the counts far away from what was released. The laws are known by their logarithms; an
/// expression says the same as a name.
#[test]
fn three_hundred_extreme_cases_by_sums_over_all_counts() {
    let mut rng = stream(3, "extreme counts of others");
    for number in 0..300 {
        let k = 2 + number % 2;
        let scale = pick(&[0.3, 0.8, 2.0, 6.0], &mut rng);
        let (kind, text) = match number / 2 % 2 {
            0 => {
                let sigma = 1.0 / scale;
                (Kind::DiscreteGaussian(sigma), format!("-(t / {sigma})^2 / 2"))
            }
            _ => (Kind::DiscreteLaplace(scale), format!("-{scale} * abs(t)")),
        };
        let clamped = uniform(&mut rng) < 0.3;
        let case = Case { kind, rounded: false, clamped };
        let prior: Vec<f64> =
            (0..k).map(|_| pick(&[1e-3, 0.5, 2.0, 60.0, 3e4], &mut rng)).collect();
        let values: Vec<f64> = (0..k)
            .map(|_| (uniform(&mut rng) * 12.0).floor() - if clamped { 0.0 } else { 4.0 })
            .collect();
        let total = (k == 3 || uniform(&mut rng) < 0.5).then(|| pick(&[0, 1, 9, 60], &mut rng));
        let most = if k == 2 { 120 } else { 60 };
        let table = |value: &f64| (0..=most).map(|x| case.ln_likelihood(*value, x)).collect();
        let tables: Vec<Vec<f64>> = values.iter().map(table).collect();
        let (mean, _) = by_sums(&prior, total, &tables, POINT);
        for noise in [case.noise(), PublishedNoise::parse(&text, false, clamped).unwrap()] {
            let published = [Published { noise: &noise, values: &values }];
            let found = Inferred::new(&Prior::new(prior.clone()).unwrap(), total, &published);
            let what = format!("{number}: {case:?} {prior:?} {total:?} {values:?}");
            let ours = found.expect(&what).law.exact().unwrap().share(&[0]).mean();
            assert!((ours / mean - 1.0).abs() < 1e-9, "{what}: {ours} {mean}");
        }
    }
}

#[test]
fn the_number_of_records_has_its_law() {
    let noise = PublishedNoise::parse("discrete-laplace(epsilon=1)", false, false).unwrap();
    let prior = Prior::new(vec![1.0, 2.0]).unwrap();
    let published = [Published { noise: &noise, values: &[5.0, -1.0] }];
    let found = Inferred::new(&prior, None, &published).unwrap();
    assert_eq!(found.law.n(), None);
    let (first, probabilities) = found.law.exact().unwrap().total();
    assert!((probabilities.iter().sum::<f64>() - 1.0).abs() < 1e-14);
    let weight = |n: u64| -> f64 {
        let one = |x: u64| {
            let noise = (5.0 - x as f64).abs() + (n - x) as f64 + 1.0;
            let prior = ln_cell(1.0, x) + ln_cell(2.0, n - x) + ln_number(&[1.0, 2.0], n);
            (prior - noise).exp()
        };
        (0..=n).map(one).sum()
    };
    let sum: f64 = (0..200).map(weight).sum();
    for n in [first, 4, 5, 6, 12] {
        let probability = probabilities[(n - first) as usize];
        assert!((probability - weight(n) / sum).abs() < 1e-13, "{n}: {probability}");
    }
}

#[test]
fn many_cells_and_records_take_seconds() {
    let noise = PublishedNoise::parse("discrete-laplace(epsilon=0.5)", false, false).unwrap();
    let prior = Prior::new(vec![1.0; 20]).unwrap();
    let values: Vec<f64> = (0..20).map(|i| 5000.0 + f64::from(i)).collect();
    let n = values.iter().sum::<f64>() as u64;
    for total in [Some(n), None] {
        let published = [Published { noise: &noise, values: &values }];
        let found = Inferred::new(&prior, total, &published).unwrap();
        let interval = found.law.exact().unwrap().share(&[3]).interval(0.95);
        assert!(interval.low < 0.05 && interval.high > 0.05, "{interval:?}");
        assert!((interval.high - interval.low - 0.0027).abs() < 2e-4, "{interval:?}");
    }
}

#[test]
fn what_cannot_be_is_refused() {
    let parse = |text: &str| PublishedNoise::parse(text, false, false).unwrap_err();
    for (text, cause) in [
        ("laplace(sigma=2)", "`laplace` has no `sigma`"),
        ("laplace()", "is not of the form key=value"),
        ("gaussian(sigma=-1)", "sigma must be above 0, not -1"),
        ("gaussian(sigma=2,rho=1)", "give one of sigma=… or rho=…"),
        ("discrete-laplace(epsilon=1e9)", "a scale of 1e-9 is not between"),
        ("discrete-laplace(epsilon=1,cells=3)", "`discrete-laplace` has no `cells`"),
        ("-abs(t", "this `(` is not closed"),
        ("t", "do not vanish"),
        ("normal(2)", "normal"),
    ] {
        let error = parse(text);
        assert!(error.contains(cause), "{text}: {error}");
    }
    let noise = PublishedNoise::parse("discrete-laplace(epsilon=1)", false, true).unwrap();
    assert!(noise.refuses(2.5).is_some() && noise.refuses(-1.0).is_some());
    assert!(noise.refuses(2.0).is_none() && noise.refuses(f64::NAN).is_some());
    assert!(PublishedNoise::parse("discrete-laplace(epsilon=1)", true, false).is_err());
    // Noise of at most one step, and numbers that no counts of three records give.
    let narrow = PublishedNoise::parse("ln(max(2 - abs(t), 0))", false, false).unwrap();
    let prior = Prior::new(vec![1.0; 2]).unwrap();
    let published = [Published { noise: &narrow, values: &[9.0, 9.0] }];
    assert!(Inferred::new(&prior, Some(3), &published).is_err());
    let published = [Published { noise: &narrow, values: &[2.0, 1.0] }];
    assert!(Inferred::new(&prior, Some(3), &published).is_ok());
}
