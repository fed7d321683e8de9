//! The law of MH at one data set, value by value: the subject of the lemmas.

use super::super::Lab;
use crate::formula::steps;
use engine::numeric::{exp_accurate, expm1};
use engine::posterior::sensitivity::CandidatesInBeta;
use engine::posterior::setting::SettingWithData;

/// MH at one data set.
pub struct Instance {
    pub n: u64,
    pub x: u64,
    pub epsilon: f64,
    pub delta: f64,
    pub beta: f64,
    pub sensitivity: f64,
    /// e^(ε/2).
    pub half: f64,
    /// The distances that candidates have, from the nearest.
    pub values: Vec<Value>,
}

/// All candidates at one distance.
#[derive(Clone, Copy)]
pub struct Value {
    pub distance: f64,
    pub probability: f64,
}

impl Instance {
    pub fn new(lab: &Lab, setting: &SettingWithData) -> Self {
        let beta = setting.beta(CandidatesInBeta::NPlusOne).expect("a δ");
        let epsilon = setting.epsilon.get();
        Self {
            n: setting.n,
            x: setting.counts()[0],
            epsilon,
            delta: setting.delta.expect("a δ").get(),
            beta,
            sensitivity: setting.sensitivity().beta_smooth(beta),
            half: exp_accurate(0.5 * epsilon),
            values: values(setting, &lab.candidates(setting, "mh-beta")),
        }
    }

    /// Two values; the second is compared with the first.
    pub fn relation(&self, s: Value, t: Value) -> Relation<'_> {
        let is_dilated = s.distance > 0.0 && t.distance != s.distance;
        let far = is_dilated.then(|| self.far(t.distance / s.distance));
        let rises = exp_accurate(0.5 * self.epsilon * (t.distance - s.distance) / self.sensitivity);
        Relation { instance: self, s, t, far, rises }
    }

    /// |R| e^(ε/2(1−e^λ)).
    pub fn far(&self, ratio: f64) -> f64 {
        (self.n as f64 + 1.0) * exp_accurate(0.5 * self.epsilon / (1.0 - ratio))
    }
}

/// Numbers about two values that several lemmas use.
pub struct Relation<'a> {
    pub instance: &'a Instance,
    pub s: Value,
    pub t: Value,
    /// |R| e^(ε/2(1−e^λ)) where t = e^λ s; nothing at λ = 0, and at s = 0.
    pub far: Option<f64>,
    /// e^(ε (t − s) / 2S).
    pub rises: f64,
}

/// Two candidates have the same distance if their Bhattacharyya coefficients agree in every bit, as they
/// do for a symmetric posterior. The distances themselves would not do: far out they differ by less than
/// rounding.
fn values(setting: &SettingWithData, probabilities: &[f64]) -> Vec<Value> {
    let x = setting.counts()[0] as i64;
    let affinity = |v: i64| steps::ln_affinity(setting, v - x).expect("a candidate");
    let each = (0..).zip(probabilities).map(|(v, &p)| (affinity(v), p));
    let mut each: Vec<(f64, f64)> = each.collect();
    each.sort_by(|a, b| b.0.total_cmp(&a.0));
    let value = |same: &[(f64, f64)]| Value {
        distance: expm1(same[0].0).abs().sqrt(),
        probability: same.iter().map(|(_, p)| p).sum(),
    };
    each.chunk_by(|a, b| a.0 == b.0).map(value).collect()
}
