//! Noise as the programs behind some printed figures drew it. No document describes it.

use std::sync::Arc;

use super::{Choice, Kind, Options};
use crate::mechanism::law::Law;
use crate::mechanism::law::historical::HistoricalNoise;
use crate::posterior::setting::Setting;
use crate::refusal::Refusal;

/// Mechanisms of the programs behind some printed figures. A config may ask for them to draw a figure as
/// it was printed. They are in no other list: nothing chooses, releases or audits them.
pub static HISTORICAL: &[&Kind] = &[&LAPLACE_ROUNDED, &LAPLACE_ABSOLUTE];

const USUAL: Kind = Kind { choices: &[Choice::ScaleFactor], ..Kind::USUAL };

/// Noise of scale 2/ε, unless another factor was chosen.
fn law(setting: &Setting, options: &Options, grows: bool) -> Result<Arc<dyn Law>, Refusal> {
    let scale = options.scale_factor.unwrap_or(2.0) / setting.epsilon.get();
    Ok(Arc::new(HistoricalNoise { scale, grows }))
}

/// x̃_i = x_i + round(Lap(2/ε)) for every i but the first, which restores the total; drawn again if a
/// count is negative (notes Figures 2 to 4 (a), early Figures 2 and 3). (The program drew again if a
/// posterior parameter was not positive. The two differ with a probability below 1e-4 at the data of the
/// figures.) Repeating a draw depends on the data, and nothing is proved about it.
static LAPLACE_ROUNDED: Kind = Kind {
    id: "laplace-rounded",
    title: "Laplace (rounded)",
    draws: "all counts but the first plus round(Lap(2/ε)), again if negative; first restores the total",
    colour: Some(0x67_67D9),
    law: |_, setting, options| law(setting, options, false),
    ..USUAL
};

/// x̃_i = x_i + round(|Lap(2/ε)|) for every i (notes Figures 4 (b) to 7 (a)). Counts only grow, and the
/// total is not restored. Noise that is never negative is not private.
static LAPLACE_ABSOLUTE: Kind = Kind {
    id: "laplace-absolute",
    title: "Laplace (absolute)",
    draws: "all counts plus round(|Lap(2/ε)|); the total grows",
    colour: Some(0xA2_4EA9),
    law: |_, setting, options| law(setting, options, true),
    ..USUAL
};
