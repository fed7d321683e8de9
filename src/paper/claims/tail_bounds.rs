//! Claim 16: the accuracy bounds of arxiv §6 and notes §3.1.

use super::contest::title;
use super::{Claim, ClaimPart, Finding, Lab, Reading, balanced};
use crate::formula::tail::{Weights, normaliser_limit};
use crate::formula::{laplace_tail, steps};
use engine::mechanism::law::Distribution;
use engine::numeric::exp_accurate;
use engine::numeric::sum::sum;
use engine::posterior::sensitivity::CandidatesInBeta;
use engine::posterior::setting::SettingWithData;

pub static CLAIM: Claim = Claim {
    number: 16,
    title: "The tail bounds of arxiv §6 and notes §3.1 hold",
    source: "arxiv §6.1, §6.2, notes §3.1",
    figures: &["arxiv/bounds", "notes/laplace-bound"],
    statement: "P[H ≥ c] is at most |R| e^(-εc/2GS) for EHD (arxiv §6.1.1). For MH \
                (§6.2) it is the sum of e^(-εH/S)/NL over the candidates at distance \
                c or more, at most |R| e^(-εc/S)/NL, and at most |R| e^(-εc/2S). The \
                rounded Laplace noise is t with probability ½(e^(-ε(t-1)/Δ) - \
                e^(-εt/Δ)) (§6.1.2), with Δ = 2 for the improved mechanism (§6.1.3). \
                The ℓ1 error of the Laplace mechanism with m categories is m ln(m/γ) \
                2/ε or more with probability γ at most (notes §3.1).",
    meant: Some(
        "The first two formulas of arxiv §6.2 divide by S where the mechanism, and \
         the last formula, divide by 2S.",
    ),
    outputs: 1e7,
    judge,
};

const SIZES: &[u64] = &[10, 100, 1000, 10_000];
const EPSILON: f64 = 1.0;
const DELTA: f64 = 1e-8;

/// The two sides may be equal; rounding must not decide.
const ROUNDING: f64 = 1e-9;
/// Distances nearer than this, relative to each other, are the same.
const SAME: f64 = 1e-13;
/// Tails below this are left out: there an exact law is cut off.
const NEGLIGIBLE: f64 = 1e-12;

fn judge(lab: &Lab) -> Finding {
    let instances = Instances::new(lab, "mh-beta", smooth);
    let global = Instances::new(lab, "ehd", |setting| setting.sensitivity().global());
    let parts = [
        global.part("arxiv §6.1.1", "EHD", |instance, c| {
            instance.weights(2.0).without_normaliser(c)
        }),
        // The mechanism divides by 2S, and so does the last bound.
        instances.equality("with εH/S", 1.0).read(Reading::Stated),
        instances.equality("with εH/2S", 2.0).read(Reading::Meant),
        instances.second_bound("with εc/S", 1.0).read(Reading::Stated),
        instances.second_bound("with εc/2S", 2.0).read(Reading::Meant),
        instances.part("arxiv §6.2, last bound", "", |instance, c| {
            instance.weights(2.0).without_normaliser(c)
        }),
    ];
    let parts = parts.into_iter().chain(rounded_noise(lab)).chain(laplace(lab)).collect();
    Finding { parts, remarks: vec![normalisers(lab), instances.limit()] }
}

fn smooth(setting: &SettingWithData) -> f64 {
    let beta = setting.beta(CandidatesInBeta::NPlusOne).expect("a δ");
    setting.sensitivity().beta_smooth(beta)
}

/// An exponential mechanism at one data set.
struct Instance {
    setting: SettingWithData,
    sensitivity: f64,
    normaliser: f64,
    error: Distribution,
}

impl Instance {
    fn weights(&self, divisor: f64) -> Weights {
        let candidates = self.setting.n as f64 + 1.0;
        Weights { candidates, epsilon: EPSILON, sensitivity: self.sensitivity, divisor }
    }

    /// c ↦ Σ e^(−εH/dS)/NL over all candidates at c or farther.
    fn sums(&self, divisor: f64) -> impl Fn(f64) -> f64 {
        let rate = EPSILON / (divisor * self.sensitivity);
        let x = self.setting.counts()[0] as i64;
        let moves = (0..=self.setting.n as i64).map(|v| v - x);
        let distances = moves.filter_map(|t| steps::distance(&self.setting, t));
        let masses: Vec<(f64, f64)> =
            distances.map(|d| (d, exp_accurate(-rate * d) / self.normaliser)).collect();
        move |c| sum(masses.iter().filter(|(d, _)| *d >= c * (1.0 - SAME)).map(|(_, mass)| *mass))
    }
}

/// P[error >= c] for every attained c, summed from the largest.
fn tails(error: &Distribution) -> Vec<(f64, f64)> {
    let mut tail = 0.0;
    let far_first = error.levels.iter().rev().map(|level| {
        tail += level.probability;
        (level.value, tail)
    });
    far_first.filter(|(_, tail)| *tail > NEGLIGIBLE).collect()
}

/// An exponential mechanism at balanced data and at x = (1, n−1), for every n.
struct Instances(Vec<Instance>);

impl Instances {
    fn new(lab: &Lab, id: &str, sensitivity: fn(&SettingWithData) -> f64) -> Self {
        let data = SIZES.iter().flat_map(|&n| [balanced(n, 2), vec![1, n - 1]]);
        let instance = |x: Vec<u64>| {
            let setting = lab.setting(&[1.0, 1.0], &x, EPSILON, Some(DELTA));
            let sensitivity = sensitivity(&setting);
            let normaliser = 1.0 / lab.exact(&setting, id).p_exact;
            let error = lab.distribution(&setting, id);
            Instance { setting, sensitivity, normaliser, error }
        };
        Self(data.map(instance).collect())
    }

    /// Whether every tail at every data set is within the bound.
    fn part(&self, clause: &str, when: &str, bound: impl Fn(&Instance, f64) -> f64) -> ClaimPart {
        let (mut largest, mut least_bound) = (0.0_f64, f64::INFINITY);
        for instance in &self.0 {
            for (c, tail) in tails(&instance.error) {
                largest = largest.max(tail / bound(instance, c));
                least_bound = least_bound.min(bound(instance, c));
            }
        }
        let largest_and_least = [("largest exact / bound", largest), ("least bound", least_bound)];
        let mut numbers = largest_and_least.map(|(name, value)| (name.to_owned(), value)).to_vec();
        numbers.extend(self.looseness(bound));
        ClaimPart::new(clause, when, largest <= 1.0 + ROUNDING, numbers)
    }

    /// |R| e^(−εc/dS)/NL.
    fn second_bound(&self, when: &str, divisor: f64) -> ClaimPart {
        self.part("arxiv §6.2, second bound", when, |instance, c| {
            instance.weights(divisor).with_normaliser(c, instance.normaliser)
        })
    }

    /// bound / exact at the median and at the 90 % quantile, for balanced data of 1000 records.
    fn looseness(&self, bound: impl Fn(&Instance, f64) -> f64) -> Vec<(String, f64)> {
        let middle = self.0.iter().find(|instance| *instance.setting.counts() == [500, 500]);
        let instance = middle.expect("one of the sizes is 1000");
        let at = |name: &str, q: f64| {
            let c = instance.error.quantile(q);
            let tail = 1.0 - instance.error.below(c);
            (format!("bound / exact at the {name}, x = (500, 500)"), bound(instance, c) / tail)
        };
        vec![at("median", 0.5), at("90 % quantile", 0.9)]
    }

    /// Whether every tail is the sum over the candidates that far, up to n = 1000.
    fn equality(&self, when: &str, divisor: f64) -> ClaimPart {
        let (mut least, mut largest) = (f64::INFINITY, 0.0_f64);
        for instance in self.0.iter().filter(|instance| instance.setting.n <= 1000) {
            let sum_from = instance.sums(divisor);
            for (c, tail) in tails(&instance.error) {
                let ratio = tail / sum_from(c);
                (least, largest) = (least.min(ratio), largest.max(ratio));
            }
        }
        let holds = least >= 1.0 - ROUNDING && largest <= 1.0 + ROUNDING;
        let numbers = [("least exact / sum", least), ("largest exact / sum", largest)];
        ClaimPart::new("arxiv §6.2, exact sum", when, holds, numbers)
    }

    /// The third bound of §6.2 with the limit of NL in the place of N(n).
    fn limit(&self) -> String {
        let limit = normaliser_limit(EPSILON, 2.0);
        let bound = |instance: &Instance, c: f64| instance.weights(2.0).with_normaliser(c, limit);
        let least = self.0.iter().map(|instance| instance.normaliser).fold(f64::INFINITY, f64::min);
        let part = self.part("", "", bound);
        format!(
            "with N(n) = coth(ε/4) = {limit:.6} the third bound of arxiv §6.2 has a largest \
             exact / bound of {:.6}; the least NL at these data sets is {least:.6}",
            part.numbers[0].1
        )
    }
}

/// The N(n) that §6.2 asks for.
fn normalisers(lab: &Lab) -> String {
    let told = [10, 100, 1000, 10_000, 100_000, 1_000_000].map(|n| {
        let setting = lab.setting(&[1.0, 1.0], &balanced(n, 2), EPSILON, Some(DELTA));
        format!("{:.6} (n = {n})", 1.0 / lab.exact(&setting, "mh-beta").p_exact)
    });
    format!(
        "NL of MH at balanced data is {}; its limit is coth(ε/4) = {:.6}",
        told.join(", "),
        normaliser_limit(EPSILON, 2.0)
    )
}

/// §6.1.2 and §6.1.3: the law of the rounded noise. Δ is k for LSDim, and 2 for LSHist whatever k.
fn rounded_noise(lab: &Lab) -> Vec<ClaimPart> {
    let mechanisms = [
        ("arxiv §6.1.2 (LSDim)", "lsdim", [2.0, 3.0]),
        ("arxiv §6.1.3 (LSHist)", "lshist", [2.0; 2]),
    ];
    let mut parts = Vec::new();
    for (clause, id, sensitivities) in mechanisms {
        for (k, sensitivity) in [2, 3].into_iter().zip(sensitivities) {
            let setting = lab.setting(&vec![1.0; k], &vec![300; k], EPSILON, None);
            let law = lab.first_count(&setting, id, 290..=310);
            for (way, direction) in [("up", 1), ("down", -1)] {
                let moved = (1..=10).map(|t| law[(10 + direction * t) as usize]);
                let when = format!("k = {k}, t steps {way}");
                parts.push(noise_part(clause, when, moved, sensitivity));
            }
        }
    }
    parts
}

/// `moved` against ½(e^(−ε(t−1)/Δ) − e^(−εt/Δ)), t = 1, 2, ….
fn noise_part(
    clause: &str,
    when: String,
    moved: impl Iterator<Item = f64>,
    delta: f64,
) -> ClaimPart {
    let decay = |steps: u32| exp_accurate(-EPSILON * f64::from(steps) / delta);
    let ratios = (1..).zip(moved).map(|(t, exact)| exact / (0.5 * (decay(t - 1) - decay(t))));
    let (least, largest) =
        ratios.fold((f64::INFINITY, 0.0_f64), |(least, most), r| (least.min(r), most.max(r)));
    let holds = least >= 1.0 - ROUNDING && largest <= 1.0 + ROUNDING;
    ClaimPart::new(clause, when, holds, [("least exact / formula", least), ("largest", largest)])
}

/// notes §3.1 for each Laplace mechanism, at sizes with small laws. The document's noise
/// has the scale 2/ε on every count, which is LSZhang; the others are judged apart.
fn laplace(lab: &Lab) -> Vec<ClaimPart> {
    let mut parts = Vec::new();
    for id in ["lszhang", "lsdim", "lshist"] {
        let sizes = if id == "lszhang" { [100, 60, 24] } else { [100, 99, 80] };
        let each: Vec<(usize, Tail)> =
            [2, 3, 4].into_iter().zip(sizes).map(|(k, n)| (k, Tail::new(lab, id, n, k))).collect();
        let same = each.chunk_by(|a, b| a.1.is_within() == b.1.is_within());
        let told = same.map(|same| tail_part(title(id), same));
        let reading = if id == "lszhang" { Reading::Both } else { Reading::Apart };
        parts.extend(told.map(|part| part.read(reading)));
    }
    parts
}

/// The probabilities of failure at which the radius of notes §3.1 is tried.
const FAILURES: &[f64] = &[0.5, 0.1, 0.01];

/// The ℓ1 error against notes §3.1.
struct Tail {
    /// The largest exact / bound over all t.
    largest: f64,
    /// The largest P[ℓ1 error >= m ln(m/γ) 2/ε] / γ.
    beyond_radius: f64,
    /// bound / exact at the median and at the 90 % quantile.
    looseness: [f64; 2],
}

impl Tail {
    fn new(lab: &Lab, id: &str, n: u64, k: usize) -> Self {
        let setting = lab.setting(&vec![1.0; k], &balanced(n, k), EPSILON, None);
        let error = lab.distribution_of(&setting, id, "l1");
        let ratio = |t: f64, tail: f64| tail / laplace_tail::bound(k, EPSILON, t);
        let largest = tails(&error).into_iter().map(|(t, tail)| ratio(t, tail)).fold(0.0, f64::max);
        let beyond = FAILURES
            .iter()
            .map(|&gamma| (1.0 - error.below(laplace_tail::radius(k, EPSILON, gamma))) / gamma);
        let loose = |q: f64| {
            let t = error.quantile(q);
            1.0 / ratio(t, 1.0 - error.below(t))
        };
        let beyond_radius = beyond.fold(0.0, f64::max);
        Self { largest, beyond_radius, looseness: [0.5, 0.9].map(loose) }
    }

    fn is_within(&self) -> bool {
        self.largest.max(self.beyond_radius) <= 1.0 + ROUNDING
    }
}

fn tail_part(title: &str, same: &[(usize, Tail)]) -> ClaimPart {
    let categories: Vec<String> = same.iter().map(|(k, _)| k.to_string()).collect();
    let numbers = same.iter().flat_map(|(k, tail)| {
        [
            (format!("largest exact / bound, k = {k}"), tail.largest),
            (format!("largest P[ℓ1 ≥ radius] / γ, k = {k}"), tail.beyond_radius),
            (format!("bound / exact at the median, k = {k}"), tail.looseness[0]),
            (format!("bound / exact at the 90 % quantile, k = {k}"), tail.looseness[1]),
        ]
    });
    let when = format!("{title}, k = {}", categories.join(", "));
    ClaimPart::new("notes §3.1", when, same[0].1.is_within(), numbers)
}
