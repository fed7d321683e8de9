//! EHD: the exponential mechanism with global sensitivity (icml Algorithm 3).

use super::{Choice, Global, Mechanism, Options, exponential, pure};
use crate::mechanism::law::Recipe;
use crate::posterior::error_field::Reach;
use crate::posterior::model::{Posterior, Prior};
use crate::posterior::privacy::Guarantee;
use crate::posterior::sensitivity::GLOBAL_BOUND;
use crate::posterior::setting::Setting;
use crate::refusal::Refusal;

const DIVISOR: f64 = 2.0;

/// r in R with weight exp(−ε H(BI(x), r) / (2 GS)).
///
/// GS is the exact maximum over all data sets of size n (notes, icml, arxiv) or, with
/// `global = "bound"`, the constant sqrt(1 − π/4) (bounds). `global = "neighbour"` is a historical
/// curiosity.
pub struct Ehd;

impl Mechanism for Ehd {
    fn id(&self) -> &'static str {
        "ehd"
    }

    fn title(&self) -> &'static str {
        "EHD"
    }

    fn draws(&self) -> &'static str {
        "r in R with weight exp(−ε H / (2 GS))"
    }

    fn choices(&self) -> &'static [Choice] {
        &[Choice::Divisor, Choice::Global, Choice::Calibrated]
    }

    fn guarantee(&self, setting: &Setting, options: &Options) -> Guarantee {
        if options.is_historical() {
            return Guarantee::None;
        }
        pure(setting, DIVISOR, options.divisor)
    }

    fn recipe(&self, setting: &Setting, options: &Options) -> Result<Recipe, Refusal> {
        let sensitivity = match options.global.unwrap_or_default() {
            Global::Exact => setting.sensitivity().global(),
            Global::Bound => bound(setting)?,
            Global::Neighbour => neighbour(setting)?,
        };
        Ok(exponential(setting, options, options.divisor.unwrap_or(DIVISOR), sensitivity))
    }
}

/// The constant, or 0 if no record can move.
fn bound(setting: &Setting) -> Result<f64, Refusal> {
    let alpha = setting.posterior.prior().alpha();
    if setting.distance.power(&setting.posterior).is_none() {
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
        None if setting.posterior.n() == 0 => Ok(0.0),
        None => Ok(GLOBAL_BOUND),
    }
}

/// H(α, α + (1, −1, 0, …)): a record moved between two data sets that do not exist.
fn neighbour(setting: &Setting) -> Result<f64, Refusal> {
    let mut alpha = setting.posterior.prior().alpha().to_vec();
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
    let prior = Prior::new(alpha)
        .map_err(|error| Refusal::new(error.to_string(), "use global = \"exact\""))?;
    let mut counts = vec![0; prior.k()];
    counts[1] = 1;
    let posterior = Posterior::new(prior, counts.clone());
    counts.swap(0, 1);
    Ok(setting.distance.field(&posterior, &Reach::ball(&posterior)).at(&counts))
}
