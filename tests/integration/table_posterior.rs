//! Do the posteriors of a released table hold what they promise? Shares p are drawn from the prior, data
//! from p, and a release of the data by the real sampler. Noise-aware intervals must cover p as often as
//! they say: nine counts may each be four standard errors off, which happens by chance in one of 1800 such tests; the
//! streams are fixed. Intervals that ignore the noise must not hold, or this test would show nothing.

use engine::mechanism::{self, Mechanism};
use engine::numeric::exp_accurate;
use engine::posterior::model::Prior;
use engine::rng::{ln_standard_gamma, stream, uniform};
use rayon::prelude::*;
use service::release::{CountsLaw, Method, Seen, draws};

use crate::common::{few_or_many, setting};

const LEVEL: f64 = 0.95;
const RECORDS: u64 = 100;
const ALPHA: [f64; 4] = [2.0, 1.0, 1.0, 1.5];

/// Of so many draws and the truth, each is as likely to be the smallest, the second smallest, and so on.
const DRAWS: usize = 199;

/// Whether the truth is covered by the intervals of: every cell, the second outcome's share in both arms, its
/// difference, the same from draws, and all cells together, from draws.
type Covers = [bool; 9];

/// Whether the equal-tailed interval covers a truth with this distribution function.
fn is_covered(below: f64) -> bool {
    (2.0 * below - 1.0).abs() <= LEVEL
}

fn covers(law: &CountsLaw, p: &[f64; 4], seed: u64) -> Covers {
    let shares = [0, 1, 2, 3].map(|cell| law.share(&[cell]));
    let (a, b) = ((&[1][..], &[0, 1][..]), (&[3][..], &[2, 3][..]));
    let [first, second] = [0, 2].map(|no| p[no + 1] / (p[no] + p[no + 1]));
    let comparison = law.compare(a, b, f64::INFINITY).unwrap();
    let drawn: Vec<Vec<f64>> = draws(&[law.clone().into()], DRAWS, seed).flatten().collect();
    // The part of the draws in which something is smaller than in truth.
    let below = |of: &dyn Fn(&[f64]) -> f64| {
        drawn.iter().filter(|draw| of(draw) < of(p)).count() as f64 / (DRAWS + 1) as f64
    };
    let difference = |p: &[f64]| p[1] / (p[0] + p[1]) - p[3] / (p[2] + p[3]);
    // The level at which the intervals of all cells begin to cover them.
    let farthest = |p: &[f64]| {
        let levels = shares.iter().zip(p).map(|(share, p)| (2.0 * share.below(*p) - 1.0).abs());
        levels.fold(0.0, f64::max)
    };
    let [p0, p1, p2, p3] = [0, 1, 2, 3].map(|cell| is_covered(shares[cell].below(p[cell])));
    [
        p0,
        p1,
        p2,
        p3,
        is_covered(law.within(a.0, a.1).below(first)),
        is_covered(law.within(b.0, b.1).below(second)),
        is_covered(comparison.difference_below(first - second)),
        // So that 190 of the 200 places count.
        is_covered(below(&difference) + 0.5 / (DRAWS + 1) as f64),
        below(&farthest) < LEVEL,
    ]
}

/// Noise-aware and naive.
fn round(method: &Method, prior: &Prior, round: usize) -> [Covers; 2] {
    let mut rng = stream(11, &format!("table posterior {round}"));
    let gammas = ALPHA.map(|alpha| exp_accurate(ln_standard_gamma(alpha, &mut rng)));
    let p = gammas.map(|gamma| gamma / gammas.iter().sum::<f64>());
    let mut counts = [0; 4];
    for _ in 0..RECORDS {
        let u = uniform(&mut rng);
        let ends = [p[0], p[0] + p[1], p[0] + p[1] + p[2]];
        counts[ends.iter().filter(|end| u >= **end).count()] += 1;
    }
    let released = method.draw(&counts, &mut rng);
    let (law, setting) = (method.law(), method.setting());
    let aware = CountsLaw::given(&[Seen { law, setting, released: &released }]).unwrap();
    let naive = CountsLaw::exactly(prior, &released);
    [aware, naive].map(|law| covers(&law, &p, round as u64))
}

#[test]
fn noise_aware_intervals_cover_the_truth_and_naive_ones_do_not() {
    let rounds = few_or_many(500, 10_000);
    let prior = Prior::new(ALPHA.to_vec()).unwrap();
    let setting = setting(&ALPHA, &[RECORDS, 0, 0, 0], 1.0, "hellinger");
    let lattice = Mechanism::plain(mechanism::find("lattice").unwrap());
    let method = Method::new(&lattice, &setting, "1".parse().unwrap()).unwrap();
    let all: Vec<[Covers; 2]> =
        (0..rounds).into_par_iter().map(|one| round(&method, &prior, one)).collect();
    let error = |tried: usize| (LEVEL * (1.0 - LEVEL) / tried as f64).sqrt();
    let z = |covered: Vec<bool>| {
        let share = covered.iter().filter(|yes| **yes).count() as f64 / covered.len() as f64;
        (share - LEVEL) / error(covered.len())
    };
    let each = |which: usize, what: usize| z(all.iter().map(|round| round[which][what]).collect());
    let [aware, naive] =
        [0, 1].map(|which| [0, 1, 2, 3, 4, 5, 6, 7, 8].map(|what| each(which, what)));
    println!("{rounds} rounds, standard errors off: noise-aware {aware:.2?}, naive {naive:.2?}");
    assert!(aware.iter().all(|z| z.abs() < 4.0), "{aware:?}");
    // Over all cells together, for their errors to be seen in few rounds as well.
    let cells = all.iter().map(|round| round[1][..4].iter().filter(|yes| **yes).count() as f64);
    let shares: Vec<f64> = cells.map(|covered| covered / 4.0).collect();
    let mean = shares.iter().sum::<f64>() / rounds as f64;
    let variance =
        shares.iter().map(|share| (share - mean).powi(2)).sum::<f64>() / (rounds as f64 - 1.0);
    let naive_z = (mean - LEVEL) / (variance / rounds as f64).sqrt();
    println!("naive cells: {mean} covered, {naive_z:.1} standard errors off");
    assert!(naive_z < -4.0, "{naive_z}");
}
