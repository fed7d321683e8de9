//! Candidates weighted by the score H(BI(x), r): the exponential mechanism with one or another sensitivity.

use std::sync::Arc;

use super::{Choice, Kind, Options, delta_is_missing, pure};
use crate::mechanism::law::Law;
use crate::mechanism::law::exponential::{Exponential, Sensitivity};
use crate::mechanism::{Global, Smooth};
use crate::posterior::error_field::Reach;
use crate::posterior::model::{Posterior, Prior};
use crate::posterior::privacy::Guarantee;
use crate::posterior::sensitivity::GLOBAL_BOUND;
use crate::posterior::setting::Setting;
use crate::refusal::Refusal;

/// Weight exp(−ε H / (divisor · S)).
fn exponential(
    setting: &Setting,
    options: &Options,
    divisor: f64,
    sensitivity: Sensitivity,
) -> Arc<dyn Law> {
    let (distance, epsilon) = (setting.distance, options.inner(setting));
    let divisor = options.divisor.unwrap_or(divisor);
    Arc::new(Exponential { distance, epsilon, divisor, sensitivity })
}

/// The divisor of a sensitivity that is the same at all data.
const DIVISOR: f64 = 2.0;

/// The divisor that makes a γ-smooth mechanism ε-private (icml Theorem 5.2).
fn private_divisor(gamma: f64) -> f64 {
    2.0 * (1.0 + gamma)
}

/// r in R with weight exp(−ε H(BI(x), r) / (2 GS)) (icml Algorithm 3).
///
/// GS is the exact maximum over all data sets of size n (notes, icml, arxiv) or, with
/// `global = "bound"`, the constant sqrt(1 − π/4) (bounds). `global = "neighbour"` is a historical
/// curiosity.
pub static EHD: Kind = Kind {
    id: "ehd",
    title: "EHD",
    draws: "r in R with weight exp(−ε H / (2 GS))",
    colour: Some(0xD2_5907),
    choices: &[Choice::Divisor, Choice::Global, Choice::Calibrated],
    guarantee: |setting, options| match options.is_historical() {
        true => Guarantee::None,
        false => pure(setting, DIVISOR, options.divisor),
    },
    law: |_, setting, options| {
        let sensitivity = match options.global.unwrap_or_default() {
            Global::Exact => setting.distance.sensitivity(&setting.anywhere()).global(),
            Global::Bound => bound(setting)?,
            Global::Neighbour => neighbour(setting)?,
        };
        Ok(exponential(setting, options, DIVISOR, Sensitivity::Constant(sensitivity)))
    },
    ..Kind::USUAL
};

/// r in R with weight exp(−ε H(BI(x), r) / (2 LS(x))) (icml Algorithm 4).
///
/// LS depends on the data, so this is not private: a benchmark for what smoothing costs.
pub static EHDL: Kind = Kind {
    id: "ehdl",
    title: "EHDL",
    draws: "r in R with weight exp(−ε H / (2 LS(x)))",
    colour: Some(0xE1_95B7),
    choices: &[Choice::Divisor, Choice::Calibrated],
    law: |_, setting, options| Ok(exponential(setting, options, DIVISOR, Sensitivity::Local)),
    ..Kind::USUAL
};

/// r in R with weight exp(−ε H(BI(x), r) / (2 (1+γ) S_γ(x))), γ = 1 unless set (icml Algorithm 5, bounds
/// §2).
///
/// A change of one record changes H by at most S_γ and 1/S_γ by at most γ, hence the factor 1+γ
/// (icml Theorems 5.1 and 5.2).
pub static EHDS: Kind = Kind {
    id: "ehds",
    title: "EHDS",
    draws: "r in R with weight exp(−ε H / (2 (1+γ) S_γ(x)))",
    colour: Some(0xE1_9E0B),
    choices: &[Choice::Gamma, Choice::Divisor, Choice::Calibrated],
    guarantee: |setting, options| {
        pure(setting, private_divisor(options.gamma_or(setting.gamma)), options.divisor)
    },
    law: |_, setting, options| {
        let gamma = options.gamma_or(setting.gamma);
        let sensitivity = Sensitivity::GammaSmooth(gamma);
        Ok(exponential(setting, options, private_divisor(gamma), sensitivity))
    },
    ..Kind::USUAL
};

/// r in R with weight exp(−ε H(BI(x), r) / (2 S_γ(x))), γ = 1 unless set: EHDS without its factor
/// 1+γ, which the guarantee pays for (arxiv §5.2.4, Lemma 5.6).
pub static MH_GAMMA: Kind = Kind {
    id: "mh-gamma",
    title: "MH (γ-smooth)",
    draws: "r in R with weight exp(−ε H / (2 S_γ(x)))",
    colour: Some(0xC6_0012),
    choices: &[Choice::Gamma, Choice::Divisor, Choice::Calibrated],
    guarantee: |setting, options| {
        let divisor = options.divisor.unwrap_or(DIVISOR);
        pure(setting, private_divisor(options.gamma_or(setting.gamma)), Some(divisor))
    },
    law: |_, setting, options| {
        let sensitivity = Sensitivity::GammaSmooth(options.gamma_or(setting.gamma));
        Ok(exponential(setting, options, DIVISOR, sensitivity))
    },
    ..Kind::USUAL
};

/// r in R with weight exp(−ε H(BI(x), r) / (2 S_β(x))), β = ln(1 − ε / (2 ln(δ / (2 (n+1))))) (notes §2.3,
/// arxiv §4.2).
///
/// (ε, δ)-privacy is claimed (notes Lemma 2.3), but the proof is incomplete. `smooth = "local"` is a
/// historical curiosity.
pub static MH_BETA: Kind = Kind {
    id: "mh-beta",
    title: "MH (β-smooth)",
    draws: "r in R with weight exp(−ε H / (2 S_β(x)))",
    colour: Some(0x33_3333),
    choices: &[Choice::Divisor, Choice::CandidatesInBeta, Choice::Smooth, Choice::Calibrated],
    uses_delta: true,
    guarantee: |setting, options| {
        let factor = DIVISOR / options.divisor.unwrap_or(DIVISOR);
        match setting.delta.filter(|_| !options.is_historical()) {
            Some(delta) => Guarantee::Claimed(setting.epsilon.get() * factor, delta.get()),
            None => Guarantee::None,
        }
    },
    law: |_, setting, options| {
        let beta = setting.beta(options.candidates_in_beta.unwrap_or_default());
        let beta = beta.ok_or_else(|| delta_is_missing(MH_BETA.id))?;
        let sensitivity = match options.smooth.unwrap_or_default() {
            Smooth::Beta => Sensitivity::BetaSmooth(beta),
            Smooth::Local => Sensitivity::Local,
        };
        Ok(exponential(setting, options, DIVISOR, sensitivity))
    },
    ..Kind::USUAL
};

/// The constant, or 0 if no record can move.
fn bound(setting: &Setting) -> Result<f64, Refusal> {
    let alpha = setting.prior.alpha();
    if setting.distance.power(&setting.prior, setting.n).is_none() {
        return Err(Refusal::new(
            format!("the bound sqrt(1 - pi/4) does not hold for the {}", setting.distance.title()),
            "use global = \"exact\"",
        ));
    }
    match alpha.iter().find(|&&a| a < 1.0) {
        Some(a) => Err(Refusal::new(
            format!(
                "the bound sqrt(1 - pi/4) on the global sensitivity needs every prior parameter >= 1, and one is {a}"
            ),
            "use global = \"exact\"",
        )),
        None if setting.n == 0 => Ok(0.0),
        None => Ok(GLOBAL_BOUND),
    }
}

/// H(α, α + (1, −1, 0, …)): a record moved between two data sets that do not exist.
fn neighbour(setting: &Setting) -> Result<f64, Refusal> {
    let mut alpha = setting.prior.alpha().to_vec();
    if alpha[1] <= 1.0 {
        return Err(Refusal::new(
            format!(
                "global = \"neighbour\" takes 1 from the second prior parameter, and it is {}",
                alpha[1]
            ),
            "use global = \"exact\"",
        ));
    }
    // The second parameter is one less at both ends, so that the counts (0, 1) and (1, 0) are the ends.
    alpha[1] -= 1.0;
    let prior = Prior::new(alpha)?;
    let mut counts = vec![0; prior.k()];
    counts[1] = 1;
    let posterior = Posterior::new(prior, counts.clone());
    counts.swap(0, 1);
    Ok(setting.distance.field(&posterior, &Reach::ball(&posterior)).at(&counts))
}
