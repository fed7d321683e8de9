//! `dpbi account`.

mod export;

use std::path::Path;

use schemars::JsonSchema;
use serde::Serialize;

use super::paths::Paths;
use super::release::asked;
use super::{MOST_PRINTED, typed};
use crate::cli;
use crate::failure::Failure;
use engine::analysis::composition::Composition;
use engine::numeric::typed_around;
use engine::posterior::privacy::Delta;
use engine::text::legible;
use lab::run::store::write_whole;
use service::release::document::EntryDocument;
use service::release::{self, Account, Amount, Budget, Entry, Kept, Lines};
use system::console::{Grid, say, significant};

pub fn execute(args: &cli::Account) -> Result<(), Failure> {
    Paths::default()
        .read("the ledger", [args.ledger.as_path()])
        .written("pld", "where the distribution goes", args.pld.as_deref())
        .check()?;
    let at = args.at_delta.map(|delta| asked::check_delta(delta, &typed::flag)).transpose()?;
    let budget = args.budget.as_deref();
    let budget = budget.map(|text| asked::budget(text, &typed::flag)).transpose()?;
    let lines = release::read_ledger(&args.ledger, &|line| say(line))?;
    let report = Report::new(&args.ledger, lines, at, budget);
    if let Some(file) = &args.pld {
        write_whole(file, format!("{:#}\n", export::document(&report)).into_bytes())?;
    }
    args.print.answer(|| report.document(), || report.text())
}

/// δ, unless another one is asked for.
const USUAL_DELTA: f64 = 1e-6;

/// So many parts of the sum have their δ printed.
const STEPS: u32 = 10;

/// The curve is shown as far as δ is at least this part of the δ that is asked for.
const BOTTOM: f64 = 1e-3;

/// What a ledger has spent. Every ε is a decimal number, exactly.
#[derive(Serialize, JsonSchema)]
pub struct Document<'a> {
    ledger: String,
    entries: Vec<EntryDocument<'a>>,
    releases: usize,
    /// Whether ε is about one record more or less, because their number is private. Otherwise it is about one that
    /// is replaced. None if the first entry was cut short, so that nobody can read it.
    private_n: Option<bool>,
    /// The sum of all ε, which holds without δ.
    sum: String,
    delta: f64,
    /// The least ε with this δ, by exact composition.
    composed: String,
    /// ε and δ, by exact composition.
    curve: Vec<(f64, f64)>,
    /// What is spent of a budget with δ by a privacy filter, if that is less than the sum: also if each ε was chosen
    /// after a look at earlier releases.
    adaptive: Option<String>,
    budget: Option<BudgetDocument>,
    /// When the exact composition may be used.
    caveat: &'static str,
}

/// Whether a budget is kept.
#[derive(Serialize, JsonSchema)]
struct BudgetDocument {
    epsilon: String,
    delta: Option<f64>,
    /// δ of the exact composition at the budget's ε.
    composed_delta: Option<f64>,
    kept: bool,
    kept_by: Option<&'static str>,
}

/// What a ledger has spent.
struct Report<'a> {
    ledger: &'a Path,
    entries: Vec<Entry>,
    delta: f64,
    composition: Composition,
    /// The least ε with this δ.
    composed: Amount,
    account: Account,
}

impl<'a> Report<'a> {
    fn new(ledger: &'a Path, lines: Lines, at: Option<Delta>, budget: Option<Budget>) -> Self {
        let budget = budget.or_else(|| lines.budget());
        let of_budget = budget.and_then(|budget| budget.delta);
        let delta = at.or(of_budget).map_or(USUAL_DELTA, Delta::get);
        let composition = release::compose(&lines.entries);
        Self {
            ledger,
            delta,
            composed: composition.epsilon(delta),
            composition,
            account: Account::new(&lines.entries, budget),
            entries: lines.entries,
        }
    }

    /// ε and δ at equal steps from 0 to `last`.
    fn curve(&self, last: Amount, steps: u32) -> Vec<(Amount, f64)> {
        let at = |i: u32| Amount::from_units(last.units() * u128::from(i) / u128::from(steps));
        (0..=steps).map(|i| (at(i), self.composition.delta(at(i)))).collect()
    }

    fn document(&self) -> Document<'_> {
        let curve = self.curve(self.composition.sum, 10 * STEPS).into_iter();
        Document {
            ledger: self.ledger.display().to_string(),
            entries: self.entries.iter().map(EntryDocument::from).collect(),
            releases: self.account.releases,
            private_n: self.account.private_n,
            sum: self.account.total.to_string(),
            delta: self.delta,
            composed: self.composed.to_string(),
            curve: curve.map(|(epsilon, delta)| (epsilon.to_f64(), delta)).collect(),
            adaptive: self.adaptive().map(|epsilon| epsilon.to_string()),
            budget: self.account.budget.map(|budget| BudgetDocument {
                epsilon: budget.to_string(),
                delta: self.account.delta.map(Delta::get),
                composed_delta: self.account.composed,
                kept: self.account.kept.is_some(),
                kept_by: self.account.kept.map(Kept::words),
            }),
            caveat: CAVEAT,
        }
    }

    fn text(&self) -> String {
        let mut grid = Grid::new(3);
        grid.row(["time", "released", "mechanism", "ε"]);
        let hidden = self.entries.len().saturating_sub(MOST_PRINTED);
        for entry in &self.entries[hidden..] {
            let words = [&entry.time, &entry.column, &entry.mechanism].map(|word| legible(word));
            grid.row(words.into_iter().chain([entry.epsilon.to_string()]));
        }
        let mut text = grid.render();
        if hidden > 0 {
            text += &format!("  {hidden} earlier entries are not shown (--json lists them).\n");
        }
        let mut facts = Grid::new(usize::MAX);
        let mut fact = |name: &str, value: String| facts.row([name.to_owned(), value]);
        let sum = format!("ε = {} {}, without δ", self.account.total, self.in_releases());
        fact("sum", sum);
        fact("exact composition", format!("ε = {} with δ = {:?}", self.composed_up(), self.delta));
        if let (Some(adaptive), Some(delta)) = (self.adaptive(), self.account.delta) {
            let words = format!("ε = {} with δ = {:?}", rounded_up(adaptive), delta.get());
            fact("ε chosen on the way", words);
        }
        fact("budget", self.budget());
        text += &format!("\n{}\n", facts.render());
        let mut curve = Grid::new(0);
        curve.row(["ε", "δ"]);
        // Beyond this ε, δ is of no interest.
        let last = self.composition.epsilon(BOTTOM * self.delta).to_f64();
        let last = Amount::round_up(last).min(self.composition.sum);
        for (epsilon, delta) in self.curve(last, STEPS) {
            curve.row([significant(epsilon.to_f64(), 4), upwards(delta)]);
        }
        text += &curve.render();
        let neighbours = match self.account.private_n {
            Some(true) => {
                " All of this is about one record more or less; if one is replaced, each ε is twice as large."
            }
            Some(false) => "",
            None => {
                " The first entry was cut short: nobody can read whether ε is about one record more or less, or about \
                 one that is replaced."
            }
        };
        text + &format!("\n  {CAVEAT}{neighbours}\n")
    }

    /// What a privacy filter has spent of a budget with δ, if that is less than the sum. An ε-private release is
    /// ε²/2-zero-concentrated, and a filter adds these up whatever ε the next release has (Feldman and Zrnic 2021;
    /// Whitehouse, Ramdas, Rogers and Wu 2023).
    fn adaptive(&self) -> Option<Amount> {
        let delta = self.account.delta?.get();
        let parts = |entry: &Entry| match entry.parts.is_empty() {
            // It was cut short.
            true => vec![entry.epsilon],
            false => entry.parts.iter().map(|part| part.epsilon).collect(),
        };
        let all = self.entries.iter().flat_map(parts);
        let squares: f64 = all.map(|epsilon| epsilon.to_f64().powi(2)).sum();
        let spent = (-2.0 * engine::numeric::ln(delta) * squares).sqrt() + 0.5 * squares;
        // To nine digits after the decimal point, rounded up.
        const BILLION: f64 = 1e9;
        let spent = Amount::from_units((spent * BILLION).ceil() as u128 * BILLION as u128);
        (spent < self.account.total).then_some(spent)
    }

    fn in_releases(&self) -> String {
        release::in_releases(self.account.releases)
    }

    /// The composed ε, rounded up for reading; at most the sum.
    fn composed_up(&self) -> Amount {
        rounded_up(self.composed).min(self.composition.sum)
    }

    fn budget(&self) -> String {
        let Some(budget) = self.account.budget else {
            return "none was set".to_owned();
        };
        let mut words = format!("ε = {budget}");
        if let (Some(delta), Some(composed)) = (self.account.delta, self.account.composed) {
            words += &format!(" with δ = {:?}", delta.get());
            if self.account.total > budget {
                words += &format!(" (by exact composition δ is {} there)", upwards(composed));
            }
        }
        words
            + &match self.account.kept {
                Some(kept) => format!(": kept {}", kept.words()),
                None => ": exceeded".to_owned(),
            }
    }
}

/// When the exact composition may be used.
const CAVEAT: &str = "The sum holds in any case. The exact composition holds if the mechanisms and their ε \
     were fixed before the first release; what was released may depend on earlier releases. If \
     mechanisms or ε were chosen after a look at earlier releases, the sum holds, and so does the line \
     `ε chosen on the way`, if there is one and the budget was fixed before.";

/// ε to four digits after the decimal point, rounded up.
fn rounded_up(epsilon: Amount) -> Amount {
    const FINE: u128 = 100_000_000_000_000;
    Amount::from_units(epsilon.units().div_ceil(FINE) * FINE)
}

/// δ to three digits, rounded up.
fn upwards(delta: f64) -> String {
    let (below, next) = typed_around(delta, 3);
    significant(if below < delta { next } else { delta }, 3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delta_is_rounded_up_to_three_digits() {
        for (delta, shown) in [
            (1.234e-5, 1.24e-5),
            (1.2301e-5, 1.24e-5),
            (9.951e-6, 9.96e-6),
            (9.991e-6, 1e-5),
            (0.5, 0.5),
            (1e-6, 1e-6),
            (3.001e-300, 3.01e-300),
        ] {
            let found: f64 = upwards(delta).parse().unwrap();
            assert!((found / shown - 1.0).abs() < 1e-12 && found >= delta, "{delta}: {found}");
        }
    }
}
