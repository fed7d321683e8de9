//! How a plan divides its budget: each release has an ε, or what it is to reach, or a weight.
//!
//! A target gets the least ε that reaches it. What is left of the budget is divided by the weights. All of this
//! rests on public values: prior, number of records, budget and ledger.

use super::super::announce;
use super::{Job, LARGEST, prepare};
use engine::analysis::cost;
use engine::analysis::ranking::Data;
use engine::analysis::tuning::TuningCache;
use engine::mechanism::Variant;
use engine::posterior::setting::Setting;
use service::release::{Amount, Drawing, Errors, Method, PrivateN, Prospect, Request, read_ledger};
use system::console::say;
use system::diagnostic::Diagnostic;

/// How the ε of a release is found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Share {
    /// It is given.
    Given,
    /// In proportion to this weight, of what is left of the budget.
    Weight(f64),
    /// The least ε at which the expected error is at most this.
    Error(f64),
    /// The least ε at which the interval is at most this wide, if the data are as the prior expects them.
    Width(f64),
}

impl Share {
    /// What the ε was found for; `None` if it is given.
    pub fn words(self) -> Option<String> {
        match self {
            Self::Given => None,
            Self::Weight(weight) => Some(format!("weight {weight}")),
            Self::Error(error) => Some(format!("an expected error of at most {error}")),
            Self::Width(width) => Some(format!("an interval that is at most {width} wide")),
        }
    }
}

impl Job {
    /// Whether values of ε have to be found.
    pub(super) fn is_to_be_allocated(&self) -> bool {
        self.shares.iter().any(|share| *share != Share::Given)
    }

    /// Finds the ε of every release that has none.
    pub(super) fn allocate(&mut self, n: Option<u64>, threads: usize) -> Result<(), Diagnostic> {
        if !self.is_to_be_allocated() {
            return Ok(());
        }
        let weights: f64 = self.shares.iter().filter_map(|share| share.weight()).sum();
        let left = self.left()?;
        if weights > 0.0 && left.is_none() {
            return Err(Diagnostic::new("weights divide a budget, and there is none")
                .help("set budget in the plan, or --budget"));
        }
        for (request, &share) in self.requests.iter_mut().zip(&self.shares) {
            if matches!(share, Share::Error(_) | Share::Width(_)) {
                let target = Target { share, n, threads };
                let (epsilon, variant) = target.least_epsilon(request)?;
                request.epsilon = epsilon;
                request.variant = variant;
            }
        }
        let Some(left) = left else { return Ok(()) };
        let needed: Amount = self.requests.iter().map(|request| request.epsilon).sum();
        let rest = left.units().checked_sub(needed.units()).map(Amount::from_units);
        let Some(rest) = rest.filter(|rest| weights == 0.0 || *rest > Amount::ZERO) else {
            let all = self.requests.iter().filter(|request| request.epsilon > Amount::ZERO);
            let parts: Vec<String> =
                all.map(|request| format!("`{}` {}", request.title(), request.epsilon)).collect();
            return Err(Diagnostic::new(format!(
                "the budget does not suffice: {left} is left of it, and {needed} is needed ({})",
                parts.join(", ")
            ))
            .help("allow larger errors and wider intervals, or raise the budget"));
        };
        for (request, share) in self.requests.iter_mut().zip(&self.shares) {
            if let Some(weight) = share.weight() {
                request.epsilon = part(rest, weight / weights);
                if request.epsilon == Amount::ZERO {
                    let cause = format!("nothing of the budget is left for `{}`", request.title());
                    return Err(Diagnostic::new(cause).help("give it more weight"));
                }
            }
        }
        Ok(())
    }

    /// What is left of the budget, if there is one.
    fn left(&self) -> Result<Option<Amount>, Diagnostic> {
        let lines = match self.ledger.as_deref().filter(|path| path.exists()) {
            Some(path) => Some(read_ledger(path, &|line| say(line))?),
            None => None,
        };
        let budget = self.budget.or_else(|| lines.as_ref()?.budget());
        let entries = lines.iter().flat_map(|lines| &lines.entries);
        let spent: Amount = entries.map(|entry| entry.epsilon).sum();
        let left = |budget: Amount| budget.units().saturating_sub(spent.units());
        Ok(budget.map(|budget| Amount::from_units(left(budget.epsilon))))
    }
}

impl Share {
    fn weight(self) -> Option<f64> {
        match self {
            Self::Weight(weight) => Some(weight),
            Self::Given | Self::Error(_) | Self::Width(_) => None,
        }
    }
}

/// A part of an amount, rounded down to six digits after the point.
fn part(of: Amount, share: f64) -> Amount {
    const STEP: u128 = 10_u128.pow(12);
    // A share such as 1/3 of 3 is not to be one step less because of rounding.
    let steps = ((of.units() / STEP) as f64 * share + 1e-6) as u128;
    Amount::from_units(steps.min(of.units() / STEP) * STEP)
}

/// The values of ε that are tried: from 0.001 on with three digits, up to the largest that is released.
const PER_DECADE: usize = 900;

fn tried(place: usize) -> Amount {
    let (decade, step) = (place / PER_DECADE, place % PER_DECADE);
    Amount::from_units((100 + step as u128) * 10_u128.pow(13 + decade as u32))
}

/// The number of values that are tried at most: a bisection.
const STEPS: f64 = 13.0;

/// The ε at which a mechanism is chosen first.
const START: &str = "1";

/// Mechanisms are chosen again at the ε that was found, at most so often.
const CHOICES: usize = 3;

/// What a release is to reach.
struct Target {
    share: Share,
    n: Option<u64>,
    threads: usize,
}

impl Target {
    /// The least ε, and the mechanism that needs it.
    fn least_epsilon(&self, request: &Request) -> Result<(Amount, Option<Variant>), Diagnostic> {
        let Some(n) = self.n.filter(|_| request.private_n.is_none()) else {
            return Ok((self.search(request, |epsilon| self.private(request, epsilon))?, None));
        };
        let named = |variant: &Variant| {
            let _clock = announce(self.seconds(request, variant, n), false);
            self.search(request, |epsilon| self.public(request, variant, n, epsilon))
        };
        if let Some(variant) = &request.variant {
            return Ok((named(variant)?, request.variant.clone()));
        }
        let chosen = |epsilon: Amount| -> Result<Variant, Diagnostic> {
            let request = Request { epsilon, ..request.clone() };
            let (methods, _) = prepare::methods(&request, n, self.threads)?;
            Ok(Variant::parse(&methods[0].variant().label)?)
        };
        let start = START.parse().unwrap_or_default();
        let mut variant = chosen(start)?;
        let mut least = named(&variant)?;
        for _ in 1..CHOICES {
            let other = chosen(least)?;
            if other.label == variant.label {
                break;
            }
            match named(&other) {
                Ok(epsilon) if epsilon < least => (variant, least) = (other, epsilon),
                _ => break,
            }
        }
        Ok((least, Some(variant)))
    }

    /// The first value that reaches the target, by bisection.
    fn search(
        &self,
        request: &Request,
        value: impl Fn(Amount) -> Result<Option<f64>, Diagnostic>,
    ) -> Result<Amount, Diagnostic> {
        let (what, target) = match self.share {
            Share::Error(target) => ("error", target),
            Share::Width(target) => ("width", target),
            Share::Given | Share::Weight(_) => unreachable!("these are no targets"),
        };
        let title = request.title();
        let reaches = |place: usize| {
            let value = value(tried(place))?.ok_or_else(|| {
                Diagnostic::new(format!(
                    "`{title}`: its {what} takes long to compute, or is not known"
                ))
                .help("give it epsilon or weight instead")
            })?;
            Ok::<_, Diagnostic>((value <= target, value))
        };
        let last = (0..).take_while(|&place| tried(place).to_f64() <= LARGEST).count() - 1;
        let (is_reached, least) = reaches(last)?;
        if !is_reached {
            let cause = format!(
                "`{title}`: no ε up to {LARGEST} reaches the {what} {target}; at {LARGEST} it is {}",
                system::console::short(least)
            );
            return Err(Diagnostic::new(cause).help(match self.share {
                Share::Width(_) => "allow a wider interval: it is nearly as wide without noise",
                _ => "allow a larger error",
            }));
        }
        let (mut below, mut high) = (None, last);
        while below.map_or(0, |low: usize| low + 1) < high {
            let middle = below.map_or(high / 2, |low| low + (high - low) / 2);
            if reaches(middle)?.0 { high = middle } else { below = Some(middle) }
        }
        Ok(tried(high))
    }

    /// What a mechanism reaches at some ε, if the number of records is public.
    fn public(
        &self,
        request: &Request,
        variant: &Variant,
        n: u64,
        epsilon: Amount,
    ) -> Result<Option<f64>, Diagnostic> {
        let request = Request { epsilon, ..request.clone() };
        let tuning = TuningCache::default();
        let method = |template: &Setting| Method::new(variant, template, epsilon, &tuning);
        let methods: Vec<Method> =
            prepare::templates(&request, n).iter().map(method).collect::<Result<_, _>>()?;
        if let Share::Error(_) = self.share {
            let errors = methods.iter().map(|method| Errors::new(method, None).expected());
            let errors: Option<Vec<f64>> = errors.collect();
            return Ok(errors.and_then(|errors| errors.into_iter().reduce(f64::max)));
        }
        Ok(self.width(&request, &Drawing::Public { n, methods }))
    }

    /// The same if it is private.
    fn private(&self, request: &Request, epsilon: Amount) -> Result<Option<f64>, Diagnostic> {
        let request = Request { epsilon, ..request.clone() };
        let noise = PrivateN::new(epsilon, request.private_n.unwrap_or_default())?;
        match self.share {
            Share::Error(_) => Ok(None),
            _ => Ok(self.width(&request, &Drawing::Private(noise))),
        }
    }

    fn width(&self, request: &Request, drawing: &Drawing) -> Option<f64> {
        Prospect::new(request, drawing, self.n).map(|prospect| 2.0 * prospect.half_width)
    }

    /// How long a search takes.
    fn seconds(&self, request: &Request, variant: &Variant, n: u64) -> f64 {
        let epsilon = START.parse().unwrap_or_default();
        let templates = prepare::templates(&Request { epsilon, ..request.clone() }, n);
        let once = |template: &Setting| {
            let ready = cost::predict_release(variant, template).sum().seconds(self.threads);
            let error = cost::predict_error(variant, template, Data::PriorPredictive)
                .filter(|work| matches!(self.share, Share::Error(_)) && cost::BRIEF.admit(work));
            ready + error.map_or(0.0, |work| work.seconds(self.threads))
        };
        STEPS * templates.iter().map(once).sum::<f64>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_with_three_digits_are_tried() {
        let text = |place| tried(place).to_string();
        assert_eq!([0, 1, 899, 900, 3600].map(text), ["0.001", "0.00101", "0.00999", "0.01", "10"]);
    }

    #[test]
    fn parts_of_a_budget_never_exceed_it() {
        let amount = |text: &str| text.parse::<Amount>().unwrap();
        assert_eq!(part(amount("3"), 1.0 / 3.0), amount("1"));
        assert_eq!(part(amount("1"), 1.0 / 3.0), amount("0.333333"));
        assert_eq!(part(amount("0.7"), 1.0), amount("0.7"));
        for budget in ["1", "0.1", "2.5", "0.000001"] {
            for weights in [[1.0, 2.0, 3.0], [1.0, 1.0, 1.0], [0.1, 0.2, 0.7]] {
                let all: f64 = weights.iter().sum();
                let parts = weights.map(|weight| part(amount(budget), weight / all));
                assert!(parts.into_iter().sum::<Amount>() <= amount(budget));
            }
        }
    }
}
