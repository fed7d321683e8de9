//! Synthetic data: records drawn from the posterior (not in the documents, which cite it as one posterior
//! sample).

use std::sync::Arc;

use super::{Choice, Kind, pure};
use crate::mechanism::law::synthetic::Synthetic;

/// r ~ Dirichlet-multinomial(n, β + x) with β_i = max(α_i, n / (e^ε − 1)), by which the loss is at most ε
/// (Machanavajjhala et al. 2008).
pub static SYNTHETIC: Kind = Kind {
    id: "synthetic",
    title: "Synthetic",
    draws: "counts of n records drawn from Dir(β + x), where β_i = max(α_i, n / (e^ε − 1))",
    colour: Some(0x10_D8E8),
    choices: &[Choice::Calibrated],
    guarantee: |setting, _| pure(setting, 1.0, None),
    law: |_, setting, options| {
        let (prior, n) = (&setting.prior, setting.n);
        Ok(Arc::new(Synthetic::new(prior, n, options.inner(setting))))
    },
    ..Kind::USUAL
};
