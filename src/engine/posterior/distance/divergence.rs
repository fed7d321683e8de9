//! The divergences of Rényi's family, in closed form: of any order q, the Kullback-Leibler divergence, to which they
//! tend as q → 1, and χ² = e^(D₂) − 1.
//!
//! D_q(p ‖ p') = 1/(q−1) ln ∫ p^q p'^(1−q), and between Dir(a) and Dir(b) the integral is
//! B(qa + (1−q)b) / (B(a)^q B(b)^(1−q)), infinite where some qa_i + (1−q)b_i <= 0. The order ½ is −2 ln BC. All
//! are a sum of one term for each category, minus the same term of the totals. No term is ever negative, and its
//! table is made without cancellation (see [`crate::numeric::jensen`]).

use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

use super::Distance;
use crate::numeric::jensen::{KULLBACK_LEIBLER, renyi_table};
use crate::numeric::{Table, expm1};
use crate::posterior::error_field::{Field, Reach};
use crate::posterior::model::{Posterior, Prior};
use crate::posterior::sensitivity::{DivergenceMoves, Moves};
use crate::posterior::simplex::{Row, Tail};
use crate::refusal::Refusal;

/// One divergence in one direction.
pub struct Divergence {
    id: Cow<'static, str>,
    title: Cow<'static, str>,
    order: f64,
    /// Whether it leads from the release to the truth.
    reversed: bool,
    /// Whether it is e^D − 1.
    is_chi_squared: bool,
    /// The divergence of an order that was asked for next.
    next: OnceLock<Box<Self>>,
}

/// KL(true posterior ‖ released).
pub static KL: Divergence =
    Divergence::new("kl", "KL divergence, truth to release", KULLBACK_LEIBLER, false, false);

/// KL(released ‖ true posterior).
pub static KL_REVERSE: Divergence =
    Divergence::new("kl_reverse", "KL divergence, release to truth", KULLBACK_LEIBLER, true, false);

/// χ²(true posterior ‖ released), infinite where a released parameter is at least twice the true
/// one.
pub static CHI2: Divergence =
    Divergence::new("chi2", "χ² divergence, truth to release", 2.0, false, true);

/// χ²(released ‖ true posterior), infinite where a true parameter is at least twice the released one.
pub static CHI2_REVERSE: Divergence =
    Divergence::new("chi2_reverse", "χ² divergence, release to truth", 2.0, true, true);

impl Divergence {
    const fn new(
        id: &'static str,
        title: &'static str,
        order: f64,
        reversed: bool,
        is_chi_squared: bool,
    ) -> Self {
        let (id, title) = (Cow::Borrowed(id), Cow::Borrowed(title));
        Self { id, title, order, reversed, is_chi_squared, next: OnceLock::new() }
    }

    /// Rényi's, from the true posterior to the released one.
    fn renyi(order: f64) -> Box<Self> {
        let id = format!("{RENYI}{order}").into();
        let title = format!("Rényi divergence of order {order}").into();
        Box::new(Self { id, title, ..Self::new("", "", order, false, false) })
    }
}

/// What a name begins with; the order follows.
pub const RENYI: &str = "renyi:";

/// The divergence called `renyi:<order>`, made once. All live as long as the program, in a list: there are as
/// many as orders in the configs.
pub fn named(order: &str) -> Result<&'static dyn Distance, Refusal> {
    static FIRST: OnceLock<Box<Divergence>> = OnceLock::new();
    let order = read(order)?;
    let mut known = FIRST.get_or_init(|| Divergence::renyi(order));
    while known.order != order {
        known = known.next.get_or_init(|| Divergence::renyi(order));
    }
    Ok(known.as_ref())
}

/// Orders outside this range, or nearer to 1 than this, lose too many digits.
const ORDERS: std::ops::RangeInclusive<f64> = 0.001..=1000.0;
const NEAREST_TO_ONE: f64 = 0.001;

fn read(text: &str) -> Result<f64, Refusal> {
    let refused = |cause: &str, remedy: &str| {
        Err(Refusal::new(format!("the order of `{RENYI}{text}` {cause}"), remedy))
    };
    let Ok(order) = text.parse::<f64>() else {
        return refused("is not a number", "write for example renyi:0.5 or renyi:2");
    };
    if order == 1.0 {
        return refused("is 1, where it is the KL divergence", "use kl");
    }
    if !ORDERS.contains(&order) || (order - 1.0).abs() < NEAREST_TO_ONE {
        return refused(
            "is out of range",
            "an order lies between 0.001 and 1000, and at least 0.001 away from 1 (where it is kl)",
        );
    }
    Ok(order)
}

impl Distance for Divergence {
    fn id(&self) -> &str {
        &self.id
    }

    fn title(&self) -> &str {
        &self.title
    }

    fn bound(&self) -> Option<f64> {
        None
    }

    fn field(&self, posterior: &Posterior, reach: &Reach) -> Box<dyn Field> {
        let n = posterior.n();
        let table = |alpha, x, last| renyi_table(self.order, self.reversed, alpha, x, last);
        // Any output may occur: each coordinate goes up to n, or to what `reach` allows.
        let last = |i: usize| reach.windows[i].1.max(n);
        let all = 0..posterior.k();
        let category = |i| table(posterior.alpha(i), posterior.counts()[i], last(i));
        Box::new(DivergenceField {
            categories: all.clone().map(category).collect(),
            total: table(posterior.prior().total(), n, all.map(last).sum()),
            n,
            is_chi_squared: self.is_chi_squared,
        })
    }

    fn moves(&self, prior: &Prior, n: u64) -> Option<Arc<dyn Moves>> {
        let moves = || Arc::new(DivergenceMoves::new(self.order, self.reversed, prior, n)) as _;
        self.refuses_scores(prior, n).is_none().then(moves)
    }

    fn refuses_scores(&self, prior: &Prior, n: u64) -> Option<Refusal> {
        if self.is_chi_squared {
            return Some(Refusal::new(
                "χ² cannot be a score: it is infinite between most posteriors, and where it is not, its \
                 sensitivity grows exponentially",
                "use it as a metric; as distance use renyi:2, which is ln(1 + χ²), with a prior whose \
                 parameters all exceed the number of records, or renyi:0.5",
            ));
        }
        let smallest = prior.alpha().iter().copied().fold(f64::INFINITY, f64::min);
        let needed = (self.order - 1.0) * n as f64;
        (smallest <= needed).then(|| {
            let cause = format!(
                "the Rényi divergence of order {} is infinite between some posteriors of {n} \
                 records, unless every prior parameter exceeds {needed}, and one is {smallest}",
                self.order
            );
            Refusal::new(cause, "use it as a metric only, or an order below 1 as distance")
        })
    }
}

/// v ↦ Σ_i table_i(v_i) − table(Σ v), or e to that − 1. An infinite sum is an infinite divergence.
struct DivergenceField {
    categories: Vec<Table>,
    total: Table,
    n: u64,
    is_chi_squared: bool,
}

impl DivergenceField {
    fn of_sum(&self, sum: f64) -> f64 {
        if self.is_chi_squared { expm1(sum) } else { sum }
    }

    fn category(&self, i: usize, v: u64) -> f64 {
        self.categories[i].get(v).unwrap_or(f64::INFINITY)
    }

    /// A sum less the term of its total.
    fn open(&self, sum: f64, total: u64) -> f64 {
        let term = self.total.get(total).unwrap_or(0.0);
        if sum == f64::INFINITY { sum } else { (sum - term).max(0.0) }
    }
}

impl Field for DivergenceField {
    fn row(&self, row: &Row, out: &mut [f64]) {
        let index = row.head.len();
        let used: u64 = row.head.iter().sum();
        let head: f64 = row.head.iter().enumerate().map(|(i, &v)| self.category(i, v)).sum();
        for (value, v) in out.iter_mut().zip(row.start..) {
            let running = head + self.category(index, v);
            *value = self.of_sum(match row.tail {
                Tail::Complement(rest) => running + self.category(index + 1, rest - v),
                Tail::Zero => self.open(running + self.category(index + 1, 0), used + v),
                Tail::Free => self.open(running, used + v),
            });
        }
    }

    fn n(&self) -> u64 {
        self.n
    }

    /// If a category's term can be infinite, so can a candidate's error: that of the candidate with
    /// all records in this category, or with none. A finite sum grows like n at most.
    fn extreme(&self) -> f64 {
        let largest = |table: &Table| (0..=self.n).filter_map(|v| table.get(v)).fold(0.0, f64::max);
        let sum: f64 = self.categories.iter().map(largest).sum();
        if self.is_chi_squared || sum == f64::INFINITY { self.of_sum(sum) } else { 1.0 }
    }
}
