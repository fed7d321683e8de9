//! `dpbi prior`.

use schemars::JsonSchema;
use serde::Serialize;

use super::typed;
use crate::cli::Prior;
use crate::failure::Failure;
use engine::posterior::privacy::compact;
use service::prior_from_words::{Statement, WordedPrior, check_level, prior, worth};
use system::console::{Grid, short};
use system::diagnostic::Diagnostic;

pub fn execute(args: &Prior) -> Result<(), Failure> {
    let answer = Answer::new(args)?;
    args.print.answer(|| answer.document(), || answer.text())
}

/// A prior and what it says.
#[derive(Serialize, JsonSchema)]
pub struct Document<'a> {
    prior: &'a [f64],
    /// How many records it is worth.
    records: f64,
    /// Other numbers of records with which the interval has its probability.
    other_records: &'a [f64],
    mean: Vec<f64>,
    standard_deviation: Vec<f64>,
    /// The probability of intervals.
    level: f64,
    intervals: Vec<[f64; 2]>,
    /// The category that an interval was given for, from 1.
    category: Option<usize>,
    interval: Option<[f64; 2]>,
    /// The probability of the given interval.
    probability: Option<f64>,
    /// The prior with few digits, as it is shown.
    rounded: &'a [f64],
    rounded_probability: Option<f64>,
}

/// The prior that was found.
struct Answer {
    prior: WordedPrior,
    /// The same with parameters of few digits, as they are shown.
    rounded: WordedPrior,
    shown: String,
    level: f64,
    /// What was said: the category from 0, and its interval.
    stated: Option<(usize, (f64, f64))>,
}

impl Answer {
    fn new(args: &Prior) -> Result<Self, Diagnostic> {
        check_level(args.level)?;
        let stated = args.strength.interval.as_deref().map(ends).transpose()?;
        let stated = stated.map(|interval| (args.category as usize - 1, interval));
        let prior = match (stated, args.strength.records) {
            (Some((category, interval)), _) => {
                let means = args.mean.clone();
                prior(&Statement { means, category, interval, level: args.level })?
            }
            (None, records) => worth(&args.mean, records.unwrap_or(f64::NAN))?,
        };
        let digits = round(&prior.alpha);
        let shown = digits.join(",");
        let parse = |(text, exact): (&String, &f64)| text.parse().unwrap_or(*exact);
        let rounded = WordedPrior::new(digits.iter().zip(&prior.alpha).map(parse).collect());
        Ok(Self { prior, rounded, shown, level: args.level, stated })
    }

    fn categories(&self) -> std::ops::Range<usize> {
        0..self.prior.alpha.len()
    }

    fn document(&self) -> Document<'_> {
        let Self { prior, rounded, .. } = self;
        let each = |value: &dyn Fn(usize) -> f64| self.categories().map(value).collect::<Vec<_>>();
        let interval = |category| {
            let ends = prior.interval(category, self.level);
            [ends.low, ends.high]
        };
        let probability = |prior: &WordedPrior| self.stated.map(|(c, i)| prior.probability(c, i));
        Document {
            prior: &prior.alpha,
            records: prior.total(),
            other_records: &prior.other_totals,
            mean: each(&|category| prior.mean(category)),
            standard_deviation: each(&|category| prior.standard_deviation(category)),
            level: self.level,
            intervals: self.categories().map(interval).collect(),
            category: self.stated.map(|(category, _)| category + 1),
            interval: self.stated.map(|(_, (low, high))| [low, high]),
            probability: probability(prior),
            rounded: &rounded.alpha,
            rounded_probability: probability(rounded),
        }
    }

    fn text(&self) -> String {
        let Self { prior, rounded, shown, level, stated } = self;
        let name = if prior.alpha.len() == 2 { "Beta" } else { "Dirichlet" };
        let mut text = format!(
            "  {name}({}), worth {} records\n\n",
            shown.replace(',', ", "),
            short(rounded.total())
        );
        let mut grid = Grid::new(1);
        grid.row([
            "category",
            "mean",
            "standard deviation",
            &format!("{} % interval", compact(&percent(*level))),
        ]);
        for category in self.categories() {
            let ends = rounded.interval(category, *level);
            grid.row([
                (category + 1).to_string(),
                short(rounded.mean(category)),
                short(rounded.standard_deviation(category)),
                format!("{} to {}", short(ends.low), short(ends.high)),
            ]);
        }
        text += &grid.render();
        text += "  Each interval leaves out the same probability on either side.\n\n";
        if let Some((category, interval)) = *stated {
            text += &format!(
                "  The share of category {} lies between {} and {} with probability {} (before the \
                 parameters were rounded: {}).\n",
                category + 1,
                compact(&interval.0),
                compact(&interval.1),
                short(rounded.probability(category, interval)),
                short(prior.probability(category, interval)),
            );
        }
        if !prior.other_totals.is_empty() {
            let others: Vec<String> = prior.other_totals.iter().map(|s| short(*s)).collect();
            text += &format!(
                "  A prior worth {} records fits, too. Of several, dpbi takes the one that is worth the \
                 most.\n",
                others.join(" or ")
            );
        }
        text += &format!("\n  --prior {shown}\n");
        text += "  Give --categories in the same order, category 1 first.\n";
        text
    }
}

/// The two ends of an interval.
fn ends(numbers: &[f64]) -> Result<(f64, f64), Diagnostic> {
    match *numbers {
        [low, high] => Ok((low, high)),
        _ => {
            Err(typed::wrong("interval", &format!("{} numbers, but two are needed", numbers.len()))
                .help("use for example --interval 0.1,0.35"))
        }
    }
}

/// A probability in percent, without the digits that only rounding made.
fn percent(level: f64) -> f64 {
    (level * 1e12).round() / 1e10
}

/// The parameters with as many decimals as give the least one three digits. Large ones have more
/// digits, so that the means stay.
fn round(alpha: &[f64]) -> Vec<String> {
    const MOST_DECIMALS: f64 = 9.0;
    let least = alpha.iter().copied().fold(f64::INFINITY, f64::min);
    let decimals = 2.0 - libm::log10(least).floor();
    let one = |value: &f64| match decimals <= MOST_DECIMALS {
        true => {
            let text = format!("{value:.*}", decimals.max(0.0) as usize);
            let trimmed = text.trim_end_matches('0').trim_end_matches('.');
            if text.contains('.') { trimmed.to_owned() } else { text }
        }
        false => format!("{value:.2e}"),
    };
    alpha.iter().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_have_three_digits_or_more() {
        assert_eq!(round(&[5.794_155, 23.176_62]), ["5.79", "23.18"]);
        assert_eq!(round(&[1.0, 1.0]), ["1", "1"]);
        assert_eq!(round(&[0.012_345, 1_914.809_77]), ["0.0123", "1914.8098"]);
        assert_eq!(round(&[100.0, 4_000.4]), ["100", "4000"]);
        assert_eq!(round(&[1.234e-20, 2.0]), ["1.23e-20", "2.00e0"]);
    }
}
