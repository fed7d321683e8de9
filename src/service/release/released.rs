//! A release that was made. Everything in it is public: the data reached it through the draw only.

use super::entropy::Entropy;
use super::method::Method;
use super::request::Request;
use crate::posterior::amount::Amount;
use crate::posterior::model::Counts;
use rand::Rng;

/// A release that was made.
pub struct Released {
    /// What tells it from all others.
    pub id: String,
    /// When it was made, in UTC.
    pub time: String,
    /// What was asked for.
    pub request: Request,
    /// The number of records.
    pub n: u64,
    /// How each histogram was drawn.
    pub methods: Vec<Method>,
    /// Why the mechanism was taken, in words.
    pub reason: String,
    /// The released count of every cell.
    pub counts: Counts,
}

impl Released {
    /// A new id: 16 random hexadecimal digits.
    pub fn new_id(entropy: &mut Entropy) -> String {
        format!("{:016x}", entropy.next_u64())
    }

    /// The mechanism's label.
    pub fn mechanism(&self) -> &str {
        &self.methods[0].variant().label
    }

    /// The part of ε that pays for rounding of the weights.
    pub fn price(&self) -> Amount {
        price(&self.methods)
    }

    /// The ε that was spent.
    pub fn spent(&self) -> Amount {
        self.request.epsilon
    }
}

/// The price of methods that release one histogram each. A record belongs to one of them: so the largest
/// counts, not the sum.
pub fn price(methods: &[Method]) -> Amount {
    methods.iter().map(Method::price).max().unwrap_or(Amount::ZERO)
}
