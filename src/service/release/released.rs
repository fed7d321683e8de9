//! A release that was made. Everything in it is public: the data reached it through the draw only.

use rand::Rng;
use serde_json::{Value, json};

use super::entropy::Entropy;
use super::method::Method;
use super::private_n::{self, PrivateN};
use super::request::{Histogram, Request};
use super::table::Attribute;
use engine::posterior::amount::Amount;
use engine::posterior::model::Counts;
use lab::run::store::sha256;

/// What a guarantee is about.
pub const ONE_ROW: &str =
    "a record is one row of the data, and for a person with m rows ε is m times as large";

/// A release that was made.
pub struct Released {
    /// What tells it from all others.
    pub id: String,
    /// When it was made, in UTC.
    pub time: String,
    /// The version of dpbi that made it, if that is known.
    pub dpbi: Option<String>,
    pub request: Request,
    pub drawing: Drawing,
    /// The released count of every cell.
    pub counts: Counts,
}

/// How counts are drawn.
pub enum Drawing {
    /// The number of records is public: a method for each histogram.
    Public { n: u64, methods: Vec<Method> },
    /// The number of records is private.
    Private(PrivateN),
}

impl Released {
    /// The number of records, if it is public.
    pub fn n(&self) -> Option<u64> {
        match self.drawing {
            Drawing::Public { n, .. } => Some(n),
            Drawing::Private(_) => None,
        }
    }

    /// How each histogram was drawn, if the number of records is public.
    pub fn methods(&self) -> &[Method] {
        match &self.drawing {
            Drawing::Public { methods, .. } => methods,
            Drawing::Private(_) => &[],
        }
    }

    /// The cells that were drawn together.
    pub(super) fn histograms(&self) -> Vec<Histogram> {
        self.request.histograms(self.n())
    }

    /// A new id: 16 random hexadecimal digits.
    pub fn new_id(entropy: &mut Entropy) -> String {
        format!("{:016x}", entropy.next_u64())
    }

    /// Draws every histogram. This is compiled here, where code is optimised.
    pub fn draw(&self, counts: &[u64], entropy: &mut Entropy) -> Counts {
        match &self.drawing {
            Drawing::Private(noise) => noise.draw(counts, entropy),
            Drawing::Public { methods, .. } => (methods.iter().zip(self.histograms()))
                .flat_map(|(method, histogram)| method.draw(&counts[histogram.cells], entropy))
                .collect(),
        }
    }

    pub fn mechanism(&self) -> &str {
        self.methods().first().map_or(private_n::MECHANISM, |method| &method.variant().label)
    }

    /// The part of ε that pays for rounding of the weights. A record belongs to one histogram: the largest counts,
    /// not the sum.
    pub fn price(&self) -> Amount {
        self.methods().iter().map(Method::price).max().unwrap_or(Amount::ZERO)
    }

    /// The SHA-256 of all that was released: the table, its counts, n, ε and the mechanism. The prior is
    /// not part of it: it is what somebody believes.
    pub fn content(&self) -> String {
        let request = &self.request;
        let column = |one: &Attribute| json!([one.name, one.categories]);
        let columns: Vec<Value> = request.table.attributes().iter().map(column).collect();
        let epsilon = request.epsilon.to_string();
        let content =
            json!([columns, request.fixed, self.n(), epsilon, self.mechanism(), self.counts]);
        sha256(content.to_string().as_bytes())
    }

    /// Why no release could have these counts, if so.
    pub fn impossible(&self) -> Option<String> {
        let histograms = self.histograms();
        let mut all = self.methods().iter().zip(&histograms);
        all.find_map(|(method, one)| method.refuses(&self.counts[one.cells.clone()]))
    }

    /// The guarantee in a sentence.
    pub fn guarantee(&self) -> String {
        let (spent, price) = (self.spent(), self.price());
        let mut words = format!("{spent}-differentially private");
        if price > Amount::ZERO {
            words += &format!(" ({price} of it for rounding)");
        }
        if let Drawing::Private(_) = self.drawing {
            words += &format!(
                " if one record is added or removed, {}-differentially private if one is replaced; the number of \
                 records is private, too",
                spent + spent
            );
        }
        if self.request.fixed.is_some() {
            words += "; a record stays in its group, so that each group has all of ε";
        }
        words
            + &format!(
                "; {ONE_ROW}: keep one row of each person, or divide ε by the most rows that a person has"
            )
    }

    /// The ε that was spent.
    pub fn spent(&self) -> Amount {
        self.request.epsilon
    }
}

#[cfg(test)]
mod tests {
    use super::super::method::tests::method;
    use engine::rng::stream;

    #[test]
    fn what_is_drawn_is_possible_and_what_is_not_is_known() {
        for (label, k, epsilon) in [
            ("geometric", 2, "0.1"),
            ("geometric", 3, "0.1"),
            ("geometric-all", 3, "0.1"),
            ("tight", 2, "0.1"),
            ("tight", 3, "1"),
            ("lattice", 3, "0.1"),
        ] {
            let method = method(label, &vec![1.0; k], 8, epsilon);
            let mut rng = stream(5, &format!("{label} {k} {epsilon}"));
            let data = [vec![8], vec![0; k - 1]].concat();
            for _ in 0..100 {
                let drawn = method.draw(&data, &mut rng);
                assert_eq!(method.refuses(&drawn), None, "{label} {drawn:?}");
            }
        }
        for (label, counts) in [
            ("geometric", [1, 1, 2, 1]),
            ("geometric", [1, 0, 0, 0]),
            ("geometric-all", [3, 0, 0, 0]),
            ("tight", [2, 1, 0, 0]),
            ("lattice", [1, 1, 2, 1]),
            ("lattice", [1, 0, 0, 0]),
        ] {
            assert!(method(label, &[1.0; 4], 2, "1").refuses(&counts).is_some(), "{label}");
        }
    }
}
