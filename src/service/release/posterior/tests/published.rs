//! Counts that others have released, against sums over all counts.

use super::super::{BetaMixture, Inferred, Interval, Published, PublishedNoise};
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
const FAR: i64 = 120;

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

    fn weight(self, t: f64) -> f64 {
        match self.kind {
            Kind::DiscreteLaplace(rate) => (-rate * t.abs()).exp(),
            Kind::Laplace(scale) => (-t.abs() / scale).exp(),
            Kind::DiscreteGaussian(sigma) | Kind::Gaussian(sigma) => {
                (-0.5 * (t / sigma).powi(2)).exp()
            }
            Kind::Expression => (-0.5 * t * t - t.abs() / 3.0).exp(),
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

    /// P[value | x], up to a factor.
    fn likelihood(self, value: f64, x: u64) -> f64 {
        let (x, clamped) = (x as f64, self.clamped && value == 0.0);
        match (self.is_continuous(), self.rounded) {
            (false, _) if clamped => (0..FAR).map(|z| self.weight(-x - z as f64)).sum(),
            (true, rounded) if clamped => self.below(if rounded { 0.5 } else { 0.0 } - x),
            // The far side of a symmetric law would lose digits.
            (true, true) => {
                let (a, b) = ((value - x).abs() - 0.5, (value - x).abs() + 0.5);
                self.below(-a) - self.below(-b)
            }
            _ => self.weight(value - x),
        }
    }
}

fn prior_weight(prior: &[f64], known: Option<u64>, x: &[u64]) -> f64 {
    let (sum, n) = (prior.iter().sum::<f64>(), x.iter().sum::<u64>());
    if known.is_some_and(|known| n != known) {
        return 0.0;
    }
    let cells: f64 = (prior.iter().zip(x))
        .map(|(a, &x)| lgamma(a + x as f64) - lgamma(*a) - lgamma(x as f64 + 1.0))
        .sum();
    let n = n as f64;
    (cells + lgamma(n + 1.0) + lgamma(sum) - lgamma(sum + n)).exp()
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
        let (mut sum, mut mean, mut below) = (Sum::default(), Sum::default(), Sum::default());
        let (point, all) = (0.37, prior.iter().sum::<f64>());
        // For every cell the likelihood of each count.
        let table = |i: usize| -> Vec<f64> {
            let one =
                |x: u64| releases.iter().map(|values| case.likelihood(values[i], x)).product();
            (0..=most).map(one).collect()
        };
        let tables: Vec<Vec<f64>> = (0..k).map(table).collect();
        for x in all_counts(k, most) {
            let likelihood: f64 = x.iter().zip(&tables).map(|(&x, of)| of[x as usize]).product();
            if likelihood < 1e-60 {
                continue;
            }
            let weight = likelihood * prior_weight(&prior, total, &x);
            let (own, n) = (prior[0] + x[0] as f64, x.iter().sum::<u64>() as f64);
            sum.add(weight);
            mean.add(weight * own / (all + n));
            if weight > 1e-18 * sum.value() {
                below.add(weight * beta_reg(own, all + n - own, point));
            }
        }
        let share = found.law.exact().unwrap().share(&[0]);
        let mean = mean.value() / sum.value();
        let what = format!("{number}: {case:?} {prior:?} {total:?} {releases:?}");
        assert!((share.mean() / mean - 1.0).abs() < 1e-10, "{what}: {} {mean}", share.mean());
        let below = below.value() / sum.value();
        assert!(
            (share.below(point) - below).abs() < 1e-10,
            "{what}: {} {below}",
            share.below(point)
        );
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
        let is_gaussian = number / 2 % 2 == 0;
        let texts = match is_gaussian {
            true => {
                let sigma = 1.0 / scale;
                [format!("discrete-gaussian(sigma={sigma})"), format!("-(t / {sigma})^2 / 2")]
            }
            false => [format!("discrete-laplace(epsilon={scale})"), format!("-{scale} * abs(t)")],
        };
        let ln_noise = |t: f64| match is_gaussian {
            true => -0.5 * (t * scale) * (t * scale),
            false => -scale * t.abs(),
        };
        let clamped = uniform(&mut rng) < 0.3;
        let prior: Vec<f64> =
            (0..k).map(|_| pick(&[1e-3, 0.5, 2.0, 60.0, 3e4], &mut rng)).collect();
        let values: Vec<f64> = (0..k)
            .map(|_| (uniform(&mut rng) * 12.0).floor() - if clamped { 0.0 } else { 4.0 })
            .collect();
        let total = (k == 3 || uniform(&mut rng) < 0.5).then(|| pick(&[0, 1, 9, 60], &mut rng));
        let most = if k == 2 { 120 } else { 60 };
        // For every cell the logarithm of the likelihood of each count.
        let table = |value: f64| -> Vec<f64> {
            let log = |x: u64| match clamped && value == 0.0 {
                false => ln_noise(value - x as f64),
                true => {
                    let logs: Vec<f64> = (x..x + 400).map(|z| ln_noise(z as f64)).collect();
                    logs[0] + logs.iter().map(|log| (log - logs[0]).exp()).sum::<f64>().ln()
                }
            };
            (0..=most).map(log).collect()
        };
        let tables: Vec<Vec<f64>> = values.iter().map(|value| table(*value)).collect();
        let ln_weight = |x: &[u64]| -> f64 {
            let (sum, n) = (prior.iter().sum::<f64>(), x.iter().sum::<u64>() as f64);
            let cells = x.iter().zip(&prior).zip(&tables).map(|((&count, a), table)| {
                let x = count as f64;
                lgamma(a + x) - lgamma(*a) - lgamma(x + 1.0) + table[count as usize]
            });
            cells.sum::<f64>() + lgamma(n + 1.0) + lgamma(sum) - lgamma(sum + n)
        };
        let mut all = all_counts(k, total.unwrap_or(most));
        all.retain(|x| total.is_none_or(|n| x.iter().sum::<u64>() == n));
        let logs: Vec<f64> = all.iter().map(|x| ln_weight(x)).collect();
        let largest = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let (mut weights, mut mean) = (Sum::default(), Sum::default());
        for (x, log) in all.iter().zip(logs) {
            let n = x.iter().sum::<u64>() as f64;
            let weight = (log - largest).exp();
            weights.add(weight);
            mean.add(weight * (prior[0] + x[0] as f64) / (prior.iter().sum::<f64>() + n));
        }
        let mean = mean.value() / weights.value();
        for text in texts {
            let noise = PublishedNoise::parse(&text, false, clamped).unwrap();
            let published = [Published { noise: &noise, values: &values }];
            let found = Inferred::new(&Prior::new(prior.clone()).unwrap(), total, &published);
            let what = format!("{number}: {text} {clamped} {prior:?} {total:?} {values:?}");
            let ours = found.expect(&what).law.exact().unwrap().share(&[0]).mean();
            assert!((ours / mean - 1.0).abs() < 1e-9, "{what}: {ours} {mean}");
        }
    }
}

/// A number with this noise, by inversion.
fn draw(case: Case, rng: &mut Stream) -> f64 {
    let u = uniform(rng);
    match case.kind {
        Kind::Laplace(scale) => {
            let sign = if u < 0.5 { -1.0 } else { 1.0 };
            -sign * scale * (1.0 - (2.0 * u - 1.0).abs()).ln()
        }
        _ => {
            let weights: Vec<f64> = (-FAR..=FAR).map(|z| case.weight(z as f64)).collect();
            let sum: f64 = weights.iter().sum();
            let mut left = u * sum;
            let found = weights.iter().position(|weight| {
                left -= weight;
                left < 0.0
            });
            found.unwrap_or(0) as f64 - FAR as f64
        }
    }
}

/// How often the interval of the first share holds it, and the same for intervals that take the numbers for the true
/// counts. Probabilities, counts and noise are drawn.
fn coverage(case: Case, is_known: bool, draws: usize) -> (f64, f64) {
    let (prior, n, level) = (Prior::new(vec![1.0, 1.0, 2.0]).unwrap(), 40, 0.9);
    let noise = case.noise();
    let covers = |number: usize| -> (bool, bool) {
        let mut rng = stream(number as u64, "coverage");
        let weights = prior.draw_weights(&mut rng);
        let sum: f64 = weights.iter().sum();
        let mut x = [0.0; 3];
        for _ in 0..n {
            let mut left = uniform(&mut rng) * sum;
            let cell = weights.iter().position(|weight| {
                left -= weight;
                left < 0.0
            });
            x[cell.unwrap_or(2)] += 1.0;
        }
        let noisy = x.map(|x| {
            let value = x + draw(case, &mut rng);
            if case.clamped { value.max(0.0) } else { value }
        });
        let published = [Published { noise: &noise, values: &noisy }];
        let found = Inferred::new(&prior, is_known.then_some(n), &published).unwrap();
        let share = weights[0] / sum;
        let holds = |interval: Interval| interval.low <= share && share <= interval.high;
        let rest: f64 = noisy[1..].iter().map(|value| value.max(0.0)).sum();
        let naive = BetaMixture::beta(1.0 + noisy[0].max(0.0), 3.0 + rest);
        (
            holds(found.law.exact().unwrap().share(&[0]).interval(level)),
            holds(naive.interval(level)),
        )
    };
    let all: Vec<(bool, bool)> = engine::parallel::map_range(0..draws, covers);
    let part = |which: fn(&(bool, bool)) -> bool| {
        all.iter().filter(|one| which(one)).count() as f64 / draws as f64
    };
    (part(|one| one.0), part(|one| one.1))
}

/// Intervals hold with their probability; a false alarm has a probability of 6e-5 each. Intervals that ignore the
/// noise are found out.
#[test]
fn intervals_hold_with_their_probability() {
    let draws = 1000;
    let allowed = 4.0 * (0.9 * 0.1 / draws as f64).sqrt();
    for (kind, clamped) in [
        (Kind::DiscreteLaplace(0.3), false),
        (Kind::DiscreteGaussian(4.0), true),
        (Kind::Laplace(3.0), false),
    ] {
        let case = Case { kind, rounded: false, clamped };
        for is_known in [true, false] {
            let (aware, naive) = coverage(case, is_known, draws);
            assert!((aware - 0.9).abs() < allowed, "{case:?} {is_known}: {aware}");
            assert!(naive < 0.9 - allowed, "{case:?}: {naive}");
        }
    }
}

/// Ten thousand data sets for each noise: two and a half standard errors.
#[test]
#[ignore = "it takes a minute"]
fn intervals_of_ten_thousand_data_sets() {
    for kind in [Kind::DiscreteLaplace(0.3), Kind::DiscreteGaussian(4.0), Kind::Laplace(3.0)] {
        for is_known in [true, false] {
            let case = Case { kind, rounded: false, clamped: false };
            let (aware, naive) = coverage(case, is_known, 10_000);
            println!("{kind:?}, n known: {is_known}: {aware}, naive {naive}");
            assert!((aware - 0.9).abs() < 2.5 * 0.003, "{kind:?} {is_known}: {aware}");
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
            prior_weight(&[1.0, 2.0], None, &[x, n - x]) * (-noise).exp()
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
