//! What to call a case: only what distinguishes it from the others.

use super::Case;
use engine::posterior::model::vector;
use engine::posterior::privacy::Delta;

/// Which properties differ between the cases of an experiment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Naming {
    /// The data have names.
    pub labelled: bool,
    /// The number of records differs.
    pub sizes: bool,
    /// The data differ in more than their size.
    pub counts: bool,
    pub priors: bool,
    /// ε differs.
    pub epsilons: bool,
    /// δ differs.
    pub deltas: bool,
    /// γ differs.
    pub gammas: bool,
    /// How many digits tell the values of ε apart.
    digits: usize,
}

fn differ<T: PartialEq>(cases: &[Case], property: impl Fn(&Case) -> T) -> bool {
    cases.windows(2).any(|pair| property(&pair[0]) != property(&pair[1]))
}

impl Naming {
    /// Compares all cases.
    pub fn new(cases: &[Case]) -> Self {
        let prior = |case: &Case| case.setting.prior.clone();
        let priors = differ(cases, prior);
        // With one prior, two data sets of the same size must be told apart by their counts.
        let mut seen = std::collections::BTreeMap::new();
        let ambiguous = cases.iter().any(|case| {
            let posterior = case.setting.posterior();
            let key = (posterior.n(), vector(posterior.prior().alpha()));
            *seen.entry(key).or_insert(posterior.counts()) != posterior.counts()
        });
        Self {
            labelled: cases.iter().all(|case| case.label.is_some()),
            sizes: differ(cases, |case| case.setting.n),
            counts: ambiguous,
            priors,
            epsilons: differ(cases, |case| case.setting.epsilon),
            deltas: differ(cases, |case| case.setting.delta),
            gammas: differ(cases, |case| case.setting.gamma),
            digits: digits_that_tell(cases.iter().map(|case| case.setting.epsilon.get())),
        }
    }

    /// Everything that distinguishes `case`, in one line.
    pub fn name(&self, case: &Case) -> String {
        let mut parts = vec![self.data(case)];
        parts.extend(self.priors.then(|| prior(case)));
        parts.extend(self.epsilons.then(|| self.epsilon(case)));
        parts.extend(self.deltas.then(|| delta(case)).flatten());
        parts.extend(self.gammas.then(|| gamma(case)));
        parts.join(", ")
    }

    /// Prior and ε, as far as all cases share them.
    pub fn shared(&self, case: &Case) -> Vec<String> {
        let mut parts: Vec<String> = (!self.priors).then(|| prior(case)).into_iter().collect();
        parts.extend((!self.epsilons).then(|| epsilon(case)));
        parts
    }

    /// "ε = 0.781", with as many digits as tell it from the others.
    pub fn epsilon(&self, case: &Case) -> String {
        format!("ε = {}", rounded(case.setting.epsilon.get(), self.digits))
    }

    /// The data of `case`: its name, its size, or its counts.
    pub fn data(&self, case: &Case) -> String {
        match &case.label {
            Some(label) if self.labelled => label.clone(),
            _ if self.counts => format!("x = {}", parenthesised(case.setting.counts())),
            _ => format!("n = {}", case.setting.n),
        }
    }
}

/// The least number of digits, from 3 on, with which different values are written differently.
fn digits_that_tell(values: impl Iterator<Item = f64>) -> usize {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values.dedup();
    let are_told = |digits: &usize| {
        values.windows(2).all(|pair| rounded(pair[0], *digits) != rounded(pair[1], *digits))
    };
    (3..17).find(are_told).unwrap_or(17)
}

/// A number as it is, if it is short; else, as in a range of equal ratios, with so many digits.
fn rounded(value: f64, digits: usize) -> String {
    const SHORT: usize = 8;
    let (exact, precision) = (value.to_string(), digits - 1);
    match exact.len() <= SHORT {
        true => exact,
        false => format!("{value:.precision$e}").parse::<f64>().unwrap_or(value).to_string(),
    }
}

/// "prior (1, 1)".
pub fn prior(case: &Case) -> String {
    format!("prior {}", parenthesised(case.setting.prior.alpha()))
}

/// "ε = 1".
pub fn epsilon(case: &Case) -> String {
    format!("ε = {}", case.setting.epsilon.get())
}

/// "δ = 1e-8".
pub fn delta(case: &Case) -> Option<String> {
    case.setting.delta.map(|delta: Delta| format!("δ = {:?}", delta.get()))
}

/// "γ = 1".
pub fn gamma(case: &Case) -> String {
    format!("γ = {}", case.setting.gamma.get())
}

/// "(1, 1)".
pub fn parenthesised<T: ToString>(values: &[T]) -> String {
    format!("({})", vector(values).replace(';', ", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_the_digits_that_tell_them_apart() {
        let range = [0.1, 0.316_227_766_016_837_94, 1.0];
        let digits = digits_that_tell(range.into_iter());
        assert_eq!(range.map(|value| rounded(value, digits)), ["0.1", "0.316", "1"]);
        let near = [0.780_561_751_365_846_6, 0.780_661_751_365_846_6];
        let digits = digits_that_tell(near.into_iter());
        assert_eq!(near.map(|value| rounded(value, digits)), ["0.7806", "0.7807"]);
        assert_eq!(rounded(0.123_456, 3), "0.123456");
    }
}
