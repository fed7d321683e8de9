//! How a release is made: one of four mechanisms, checked before the data are read.
//!
//! Each of them adds noise in whole numbers, which is drawn exactly, and whose posterior is computed for any
//! number of records.

use std::sync::Arc;

use super::Amount;
use engine::mechanism::law::coins::{Coins, ExactDraws, not_exact};
use engine::mechanism::law::tight::Tight;
use engine::mechanism::law::{Law, OutputSet};
use engine::mechanism::{self, Mechanism, Options};
use engine::posterior::model::{Prior, approximate_compositions};
use engine::posterior::privacy::{Delta, Epsilon};
use engine::posterior::setting::Setting;
use engine::refusal::Refusal;

const GEOMETRIC: &str = "geometric";
const GEOMETRIC_ALL: &str = "geometric-all";
const TIGHT: &str = "tight";
const LATTICE: &str = "lattice";

/// The mechanisms that release: those that are drawn in whole numbers.
pub fn mechanisms() -> Vec<&'static str> {
    let releases = |id: &&str| {
        let variant = Mechanism::plain(mechanism::find(id).expect("it is listed"));
        check_releases(&variant, 3).is_ok()
    };
    mechanism::ALL.iter().map(|one| one.id).filter(releases).collect()
}

/// The most candidates at which `tight` is the usual mechanism: its weights are found in a moment.
const MOST_CANDIDATES: f64 = 1e4;

/// The usual mechanism for histograms of these settings: `geometric` for two categories; else `tight`, up to 10,000
/// candidates and if ε is not so small that weights may be negative; else `lattice`.
pub fn usual(settings: &[Setting]) -> Mechanism {
    let has_two = |setting: &Setting| setting.k() == 2;
    let has_weights = |setting: &Setting| {
        let (k, n) = (setting.k(), setting.n);
        let epsilon = setting.epsilon.get();
        approximate_compositions(n, k) <= MOST_CANDIDATES
            && !Tight::may_be_clipped(k, n, epsilon)
            && Tight::find(k, n, epsilon).is_ok_and(|tight| !tight.is_clipped())
    };
    let id = match () {
        () if settings.iter().all(has_two) => GEOMETRIC,
        () if settings.iter().all(has_weights) => TIGHT,
        () => LATTICE,
    };
    Mechanism::plain(mechanism::find(id).expect("a mechanism of this name"))
}

/// Refuses a mechanism that does not release, and names the nearest one that does.
pub fn check_releases(variant: &Mechanism, k: usize) -> Result<(), Refusal> {
    let (reason, outputs) = match reason(variant, k)? {
        Some(why) => why,
        None if variant.options == Options::default() => return Ok(()),
        None => {
            let reason =
                "what is said about a release knows its noise, and a remap adds nothing to that";
            return Err(refused(variant, reason, variant.kind.id));
        }
    };
    let nearest = match outputs {
        _ if k == 2 || variant.kind.uses_delta => GEOMETRIC,
        OutputSet::Restored => GEOMETRIC,
        OutputSet::Open => GEOMETRIC_ALL,
        OutputSet::Simplex | OutputSet::Below => TIGHT,
    };
    Err(refused(variant, &reason, nearest))
}

fn refused(variant: &Mechanism, reason: &str, nearest: &str) -> Refusal {
    let all = [GEOMETRIC, GEOMETRIC_ALL, TIGHT, LATTICE].join(", ");
    Refusal::new(
        format!("`{}` does not release data: {reason}", variant.label),
        format!("the nearest mechanism that does is {nearest} (of {all})"),
    )
}

/// Why the law of a mechanism is not drawn in whole numbers, whatever the data, and its outputs.
fn reason(variant: &Mechanism, k: usize) -> Result<Option<(String, OutputSet)>, Refusal> {
    // Any prior will do.
    let Ok(prior) = Prior::new(vec![1.0; k]) else { return Ok(None) };
    let one = Setting::new(prior, 0, Epsilon::new(1.0)?);
    let setting = Setting { delta: Delta::new(1e-6).ok(), ..one };
    let plain = Mechanism { options: Options::default(), ..variant.clone() };
    // It may need more categories: that is said where the method is made.
    let Ok(law) = plain.law(&setting) else { return Ok(None) };
    let refusal = law.exact_draws(k, Amount::whole(1)).err();

    Ok(refusal.map(|refusal| (refusal.cause, law.outputs())))
}

/// A mechanism that can release data of n records. It depends on public values only.
pub struct Method {
    variant: Mechanism,
    setting: Setting,
    law: Arc<dyn Law>,
    epsilon: Amount,
    price: Amount,
    draws: Box<dyn ExactDraws>,
}

impl Method {
    /// Checks `variant` in this setting; its ε is replaced. Weights are rounded: where
    /// there are some, a little less than ε is drawn with, so that what is spent is ε.
    pub fn new(variant: &Mechanism, setting: &Setting, epsilon: Amount) -> Result<Self, Refusal> {
        let k = setting.k();
        check_releases(variant, k)?;
        // Numbers that are rounded cost something at any size.
        let outline = variant.outline(setting)?.exact_draws(k, epsilon);
        let is_rounded = outline.map_or(true, |draws| draws.price() > Amount::ZERO);
        let reserves: &[u128] = if is_rounded { &RESERVES } else { &[0] };
        for part in reserves {
            let reserve = epsilon.units() * part / 1_000_000_000_000;
            let inner = Amount::from_units(epsilon.units() - reserve);
            let setting = Setting { epsilon: Epsilon::new(inner.to_f64())?, ..setting.clone() };
            let law = variant.law(&setting)?;
            let draws = law.exact_draws(k, inner)?;
            let price = draws.price();
            if inner + price <= epsilon {
                let variant = variant.clone();
                return Ok(Self { variant, setting, law, epsilon, price, draws });
            }
        }
        Err(not_exact())
    }

    pub fn variant(&self) -> &Mechanism {
        &self.variant
    }

    pub fn setting(&self) -> &Setting {
        &self.setting
    }

    /// The law of its output.
    pub fn law(&self) -> &dyn Law {
        self.law.as_ref()
    }

    /// The ε that was asked for.
    pub fn epsilon(&self) -> Amount {
        self.epsilon
    }

    /// The part of ε that pays for rounding errors of the weights.
    pub fn price(&self) -> Amount {
        self.price
    }

    /// Why it cannot have released these counts, if so.
    pub fn refuses(&self, counts: &[u64]) -> Option<String> {
        let n = self.setting.n;
        if let Some(count) = counts.iter().find(|count| **count > n) {
            return Some(format!("a count is {count}, and there are {n} records"));
        }
        let sum: u128 = counts.iter().map(|&count| u128::from(count)).sum();
        let fits = self.draws.can_draw(counts, sum.cmp(&u128::from(n)));
        (!fits).then(|| {
            let label = &self.variant.label;
            format!("their sum is {sum}, and `{label}` does not release such counts of {n} records")
        })
    }

    /// Draws a release of `counts`.
    ///
    /// # Panics
    /// If `counts` do not have as many records as the method is made for.
    pub fn draw(&self, counts: &[u64], coins: &mut dyn Coins) -> Vec<u64> {
        let n = self.setting.n;
        assert_eq!(counts.iter().sum::<u64>(), n, "made for another number of records");
        self.draws.draw(counts, coins)
    }
}

/// How much of ε is kept for rounding errors, in parts of 10⁻¹²: if the first does not suffice, the next.
const RESERVES: [u128; 4] = [1, 1_000, 100_000, 100_000_000];

#[cfg(test)]
pub mod tests {
    use super::*;
    use engine::posterior::model::Prior;

    pub fn setting(alpha: &[f64], n: u64, epsilon: f64) -> Setting {
        let prior = Prior::new(alpha.to_vec()).unwrap();
        Setting::new(prior, n, Epsilon::new(epsilon).unwrap())
    }

    /// A mechanism at work.
    pub fn method(label: &str, alpha: &[f64], n: u64, epsilon: &str) -> Method {
        let variant = Mechanism::parse(label).unwrap();
        Method::new(&variant, &setting(alpha, n, 1.0), epsilon.parse().unwrap()).unwrap()
    }

    #[test]
    fn the_usual_mechanism_follows_a_rule() {
        for (k, n, epsilon, expected) in [
            (2, 50, 1.0, GEOMETRIC),
            (2, 10_000_000, 0.001, GEOMETRIC),
            (3, 50, 1.0, TIGHT),
            // C(141, 2) = 9870 candidates and C(142, 2) = 10,011.
            (3, 139, 1.0, TIGHT),
            (3, 140, 1.0, LATTICE),
            (3, 50, 0.01, LATTICE),
            (30, 1_000_000, 1.0, LATTICE),
            (10_000, 20_000, 1.0, LATTICE),
        ] {
            let found = usual(&[setting(&vec![1.0; k], n, epsilon)]).label;
            assert_eq!(found, expected, "{k} {n} {epsilon}");
        }
        let groups = [50, 5000].map(|n| setting(&[1.0; 3], n, 1.0));
        assert_eq!(usual(&groups).label, LATTICE);
    }

    #[test]
    fn weights_that_are_negative_are_refused() {
        let tight = Mechanism::plain(mechanism::find(TIGHT).unwrap());
        let method = |epsilon: &str| {
            Method::new(&tight, &setting(&[1.0; 3], 30, 1.0), epsilon.parse().unwrap())
        };
        assert!(method("1").is_ok());
        let refusal = method("0.01").map(|_| ()).unwrap_err();
        assert!(refusal.cause.contains("are negative at this ε"), "{}", refusal.cause);
    }
}
