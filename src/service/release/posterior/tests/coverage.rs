//! Releases of simulated data: intervals hold the truth as often as they say.

use crate::release::posterior::{CountsLaw, Inferred, Published, PublishedNoise, Total, draws};
use engine::posterior::model::Prior;
use engine::rng::{Stream, standard_exponential, stream, uniform};

const LEVEL: f64 = 0.95;

/// Of so many draws and the truth each is as likely to be the smallest, the second smallest, and so on.
const DRAWS: usize = 199;

/// What the law of a truth says: whether the exact interval of its first share holds it, that of a mean of two
/// shares less another one, from draws, and the intervals of all cells together.
type Held = [bool; 3];

/// A release of `n` records whose shares are drawn from the prior, and their law.
fn simulated(prior: &Prior, n: u64, epsilon: f64, rng: &mut Stream) -> (Vec<f64>, CountsLaw) {
    let weights = prior.draw_weights(rng);
    let sum: f64 = weights.iter().sum();
    let truth: Vec<f64> = weights.iter().map(|weight| weight / sum).collect();
    let mut counts = vec![0.0; prior.k()];
    for _ in 0..n {
        let mut left = uniform(rng);
        let cell = truth.iter().position(|share| {
            left -= share;
            left < 0.0
        });
        counts[cell.unwrap_or(0)] += 1.0;
    }
    let mut geometric = || (standard_exponential(rng) / epsilon).floor();
    let values: Vec<f64> = counts.iter().map(|x| x + geometric() - geometric()).collect();
    let noise = format!("discrete-laplace(epsilon={epsilon})");
    let noise = PublishedNoise::parse(&noise, false, false).unwrap();
    let published = Published { noise: &noise, values: &values };
    (truth, Inferred::new(prior, Total::Known(n), &[published]).unwrap().law)
}

fn held(prior: &Prior, number: usize) -> Held {
    let mut rng = stream(number as u64, "coverage of draws");
    let (truth, law) = simulated(prior, 40, 0.3, &mut rng);
    let shares: Vec<_> = (0..prior.k()).map(|cell| law.share(&[cell])).collect();
    let drawn: Vec<Vec<f64>> = draws(&[law], DRAWS, number as u64).flatten().collect();
    let rank = |of: &dyn Fn(&[f64]) -> f64| {
        drawn.iter().filter(|draw| of(draw) < of(&truth)).count() as f64 / (DRAWS + 1) as f64
    };
    let difference =
        rank(&|x| 0.5 * (x[0] / (x[0] + x[1]) + x[2] / (x[2] + x[3])) - x[4] / (x[4] + x[5]));
    // The level of each cell's interval at which it holds what is given; of all cells the largest.
    let farthest = rank(&|x| {
        let each = shares.iter().zip(x).map(|(share, x)| (2.0 * share.below(*x) - 1.0).abs());
        each.fold(0.0, f64::max)
    });
    let interval = shares[0].interval(LEVEL);
    let left_out = 0.5 * (1.0 - LEVEL);
    [
        interval.low <= truth[0] && truth[0] <= interval.high,
        (left_out..1.0 - left_out).contains(&difference),
        farthest < LEVEL,
    ]
}

/// Four standard errors: six false alarms in 100,000 for each of the six numbers.
#[test]
fn intervals_hold_the_truth_as_often_as_they_say() {
    const RELEASES: usize = 10_000;
    let error = (LEVEL * (1.0 - LEVEL) / RELEASES as f64).sqrt();
    for alpha in [vec![1.0; 6], vec![0.05, 0.3, 1.0, 2.0, 0.01, 0.1]] {
        let prior = Prior::new(alpha).unwrap();
        let all = engine::parallel::map_range(0..RELEASES, |number| held(&prior, number));
        let part =
            |which: usize| all.iter().filter(|held| held[which]).count() as f64 / RELEASES as f64;
        let found = [0, 1, 2].map(part);
        println!("{:?}: {found:?}", prior.alpha());
        assert!(found.iter().all(|part| (part - LEVEL).abs() < 4.0 * error), "{found:?}");
    }
}
