//! Claim 15: the sliding and dilation lemmas behind the privacy of MH.

mod instance;
mod privacy;
mod tally;

use super::{Claim, ClaimPart, Finding, Lab, Reading};
use engine::numeric::ln;
use engine::parallel;
use engine::posterior::setting::SettingWithData;
use instance::{Instance, Relation, Value};
use tally::Tally;

pub static CLAIM: Claim = Claim {
    number: 15,
    title: "The sliding and dilation lemmas behind MH are right",
    source: "notes Lemmas 2.1, 2.2, arxiv Lemmas 5.3 to 5.5",
    figures: &[],
    statement: "Let z be drawn by MH. For u = -H: P[u = s] ≤ e^(ε/2) P[u = s + Δ] + \
                δ/2 for Δ ≥ -S(x) (notes Lemma 2.1), and P[u = s] ≤ e^(ε/2) P[u = \
                e^λ s] + δ/2 for |λ| ≤ β (2.2). For u = H: P[u = s] ≤ e^(-εk/2S + ln \
                2) P[u = s + k] (arxiv Lemma 5.3), and P[u = s] ≤ e^(ε/2) P[u = e^λ \
                s] + δ'/2 with 1 - δ'/2 = |R| e^(ε/2(1-e^λ)) (5.4). MH is (ε', \
                δ)-private with ε' = ε + 2 ln 2 at most (5.5).",
    meant: Some(
        "The lemmas compare values that candidates attain (any other value has \
         probability 0). Lemma 5.3 is proved with the opposite sign of k, and Lemma \
         5.4 says something only where δ' is not negative.",
    ),
    outputs: 1e8,
    judge,
};

const SIZES: &[u64] = &[10, 50, 200];
const EPSILONS: &[f64] = &[0.5, 1.0];
const DELTAS: &[f64] = &[1e-8, 0.05];

fn judge(lab: &Lab) -> Finding {
    let instances = parallel::map(&settings(lab), |s| Instance::new(lab, s));
    let counted = parallel::map(&instances, tallies);
    let lemmas = LEMMAS.iter().enumerate().flat_map(|(place, lemma)| {
        let each = instances.iter().zip(&counted);
        told(lemma, &each.map(|(instance, all)| (instance.epsilon, all[place])).collect::<Vec<_>>())
    });
    let parts = lemmas.chain([privacy::part(lab)]);
    Finding { parts: parts.collect(), remarks: vec![privacy::stated_delta(&instances)] }
}

/// Every ε with every δ.
fn privacies() -> impl Iterator<Item = (f64, f64)> {
    EPSILONS.iter().flat_map(|&epsilon| DELTAS.iter().map(move |&delta| (epsilon, delta)))
}

/// The prior (1, 1) and all data sets; those with x_1 > n/2 are mirror images.
fn settings(lab: &Lab) -> Vec<SettingWithData> {
    let mut all = Vec::new();
    for (epsilon, delta) in privacies() {
        for &n in SIZES {
            let data = (0..=n / 2).map(|x| [x, n - x]);
            all.extend(data.map(|x| lab.setting(&[1.0, 1.0], &x, epsilon, Some(delta))));
        }
    }
    all
}

/// An inequality P[u = s] <= bound, for pairs of values or for one value alone.
struct Lemma {
    name: &'static str,
    /// The values s, and those they are compared with.
    when: &'static str,
    reading: Reading,
    bound: Bound,
}

/// The right-hand side; `None` where the lemma says nothing.
enum Bound {
    /// Both s and the value it is compared with are attained by candidates.
    Attained(fn(&Relation) -> Option<f64>),
    /// s is attained, but the other value is not, and has probability 0.
    NotAttained(fn(&Instance, Value) -> Option<f64>),
}

const LEMMAS: &[Lemma] = &[
    Lemma {
        name: "notes Lemma 2.1",
        when: "s + Δ attained",
        reading: Reading::Both,
        bound: Bound::Attained(|Relation { instance, s, t, .. }| {
            let meant = t.distance <= s.distance + instance.sensitivity;
            meant.then_some(instance.half * t.probability + 0.5 * instance.delta)
        }),
    },
    Lemma {
        name: "notes Lemma 2.1",
        when: "s + Δ not attained",
        reading: Reading::Stated,
        bound: Bound::NotAttained(|instance, _| Some(0.5 * instance.delta)),
    },
    Lemma {
        name: "notes Lemma 2.2",
        when: "e^λ s attained",
        reading: Reading::Both,
        bound: Bound::Attained(|Relation { instance, s, t, .. }| {
            let meant = s.distance > 0.0 && ln(t.distance / s.distance).abs() <= instance.beta;
            meant.then_some(instance.half * t.probability + 0.5 * instance.delta)
        }),
    },
    Lemma {
        name: "notes Lemma 2.2",
        when: "e^λ s not attained",
        reading: Reading::Stated,
        bound: Bound::NotAttained(|instance, s| (s.distance > 0.0).then_some(0.5 * instance.delta)),
    },
    Lemma {
        name: "arxiv Lemma 5.3",
        when: "with e^(-εk/2S), s + k attained",
        reading: Reading::Stated,
        bound: Bound::Attained(|pair| Some(2.0 * pair.t.probability / pair.rises)),
    },
    Lemma {
        name: "arxiv Lemma 5.3",
        when: "with e^(+εk/2S), s + k attained",
        reading: Reading::Meant,
        bound: Bound::Attained(|pair| Some(2.0 * pair.rises * pair.t.probability)),
    },
    Lemma {
        name: "arxiv Lemma 5.3",
        when: "s + k not attained",
        reading: Reading::Stated,
        bound: Bound::NotAttained(|_, _| Some(0.0)),
    },
    Lemma {
        name: "arxiv Lemma 5.4",
        when: "λ > 0 and δ' ≥ 0, e^λ s attained",
        reading: Reading::Both,
        bound: Bound::Attained(|pair| dilated(pair, |far, up| up && far <= 1.0)),
    },
    Lemma {
        name: "arxiv Lemma 5.4",
        when: "all other λ (δ' < 0), e^λ s attained",
        reading: Reading::Stated,
        bound: Bound::Attained(|pair| dilated(pair, |far, up| !up || far > 1.0)),
    },
    Lemma {
        name: "arxiv Lemma 5.4",
        when: "λ > 0 and δ' = 0, e^λ s not attained",
        reading: Reading::Stated,
        bound: Bound::NotAttained(|_, s| (s.distance > 0.0).then_some(0.0)),
    },
    Lemma {
        name: "arxiv Lemma 5.4",
        when: "with δ'/2 = |R| e^(ε/2(1-e^λ)), λ > 0, e^λ s attained",
        reading: Reading::Apart,
        bound: Bound::Attained(|Relation { instance, s, t, far, .. }| {
            let far = far.filter(|_| t.distance > s.distance)?;
            Some(instance.half * t.probability + far)
        }),
    },
];

/// e^(ε/2) P[u = e^λ s] + δ'/2, 1 − δ'/2 = |R| e^(ε/2(1−e^λ)), for those λ that are `meant` by that
/// number and by being positive.
fn dilated(pair: &Relation, meant: fn(f64, bool) -> bool) -> Option<f64> {
    let (far, t) = (pair.far?, pair.t);
    let rest = || pair.instance.half * t.probability + 1.0 - far;
    meant(far, t.distance > pair.s.distance).then(rest)
}

/// Every lemma at every value and pair of values.
fn tallies(instance: &Instance) -> [Tally; LEMMAS.len()] {
    let mut tallies = [Tally::default(); LEMMAS.len()];
    for &s in &instance.values {
        for (tally, lemma) in tallies.iter_mut().zip(LEMMAS) {
            if let Bound::NotAttained(bound) = lemma.bound {
                *tally = tally.put(instance, s, None, bound(instance, s));
            }
        }
        for &t in &instance.values {
            let pair = instance.relation(s, t);
            for (tally, lemma) in tallies.iter_mut().zip(LEMMAS) {
                if let Bound::Attained(bound) = lemma.bound {
                    *tally = tally.put(instance, s, Some(t.distance), bound(&pair));
                }
            }
        }
    }
    tallies
}

/// One part for all ε, or one for each if they differ in the answer.
fn told(lemma: &Lemma, each: &[(f64, Tally)]) -> Vec<ClaimPart> {
    let of = |epsilon: f64| {
        let chosen = each.iter().filter(|(other, _)| *other == epsilon);
        chosen.fold(Tally::default(), |all, (_, tally)| all.join(*tally))
    };
    let tallies: Vec<_> = EPSILONS.iter().map(|&epsilon| (epsilon, of(epsilon))).collect();
    let agree = tallies.iter().all(|(_, t)| (t.failures == 0.0) == (tallies[0].1.failures == 0.0));
    if agree {
        let all = tallies.iter().fold(Tally::default(), |all, (_, tally)| all.join(*tally));
        return vec![part(lemma, lemma.when.to_owned(), all)];
    }
    let each = tallies.iter();
    each.map(|(epsilon, t)| part(lemma, format!("{}, ε = {epsilon}", lemma.when), *t)).collect()
}

fn part(lemma: &Lemma, when: String, tally: Tally) -> ClaimPart {
    tally.part(lemma.name, when).read(lemma.reading)
}
