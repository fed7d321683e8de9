//! `dpbi choose`.

use schemars::JsonSchema;
use serde::Serialize;

use super::{threads, typed};
use crate::cli::Choose;
use crate::failure::Failure;
use engine::analysis::ranking::{
    self, Accuracy, Criterion, Data, LARGEST, Plan, Ranking, Row, SMALLEST,
};
use engine::analysis::size::{self, Size};
use engine::mechanism::Mechanism;
use engine::posterior::distance::furthest;
use engine::posterior::privacy::{Epsilon, Guarantee};
use engine::posterior::setting::Setting;
use engine::words;
use lab::run::size::admit;
use system::console::{Grid, bar, short, short_or_dash};
use system::diagnostic::Diagnostic;
use table::Number;

pub fn execute(args: &Choose) -> Result<(), Failure> {
    threads(&args.calculation.machine.threads)?;
    let setting = typed::setting(&args.model, &args.data, args.epsilon.unwrap_or(1.0))?;
    let data = args.data.counts.clone().map_or(Data::PriorPredictive, Data::Given);
    let criterion = Criterion { data, error: wanted_error(args)? };
    let at = args.data.counts.clone().map_or_else(|| setting.anywhere(), |x| setting.at(x));
    let all = typed::variants(&args.mechanisms, &setting, &at, Mechanism::all(true))?;
    let too_many = typed::of_fewer_records(&args.mechanisms, &setting, Mechanism::all(true));
    let named = !args.mechanisms.is_empty();
    let wanted = |variant: &Mechanism| named || args.all || ranking::is_usual(variant, &setting);
    let force = args.calculation.machine.force;
    let wanted = all.into_iter().filter(wanted);
    let plan = Plan::new(wanted, &setting, criterion.clone(), named || force);
    if let Some(variant) = plan.not_offered.first().filter(|_| named) {
        let refusal = ranking::refusal(variant, &criterion.data).expect("it is not offered");
        return Err(typed::refused(variant, refusal).into());
    }
    if plan.ranked.is_empty() {
        return Err(too_large(&plan.large, &setting, &criterion).into());
    }
    for (variant, size) in &plan.ranked {
        admit(&typed::shown(variant), size.bytes, force, || remedy(variant, &setting, &criterion))?;
    }
    let ranked = plan.rank().map_err(|refused| typed::refused(&refused.0, refused.1));
    let mut ranking = ranked?;
    if ranking.rows.is_empty() {
        let cause = "the search for ε needs laws that are too large with each of these mechanisms";
        let help = "use fewer records, or another --error; --force searches all the same";
        let searched = Diagnostic::new(cause).help(help);
        return Err(if ranking.large.is_empty() { unusable() } else { searched }.into());
    }
    ranking.impossible.splice(0..0, too_many);
    let answer = Answer(ranking);
    args.calculation.answer.give(
        || answer.grid(&answer.lines().0, IN_WORDS),
        || answer.document(),
        || answer.text(),
    )
}

fn wanted_error(args: &Choose) -> Result<Option<f64>, Diagnostic> {
    match args.error {
        Some(error) if !(error > 0.0 && error.is_finite()) => {
            let cause = format!("{error} is no error that can be reached");
            Err(typed::wrong("error", &cause).help("try --error 0.05"))
        }
        error => Ok(error),
    }
}

fn unusable() -> Diagnostic {
    Diagnostic::new("no mechanism can be used in this setting")
        .help("name one with --mechanism to see why, or use --all")
}

fn too_large(large: &[(Mechanism, Size)], setting: &Setting, criterion: &Criterion) -> Diagnostic {
    let least = large.iter().min_by(|a, b| a.1.outputs.total_cmp(&b.1.outputs));
    let Some((smallest, least)) = least else {
        return unusable();
    };
    let cause = format!(
        "no mechanism can be ranked by walking {} outputs in {}: the smallest, {}, would need {} and {}",
        words::number(size::LARGE_BUDGET),
        words::bytes(size::LARGEST_ALONE),
        typed::shown(smallest),
        words::number(least.outputs),
        words::bytes(least.bytes)
    );
    let remedy = remedy(smallest, setting, criterion);
    Diagnostic::new(cause).help(format!(
        "{remedy}; -m {} ranks it all the same, as far as there is memory",
        smallest.label
    ))
}

/// What would do.
fn remedy(variant: &Mechanism, setting: &Setting, criterion: &Criterion) -> String {
    let is_possible = |n: u64| {
        let smaller = Setting { n, ..setting.clone() };
        let data = match criterion.data {
            Data::PriorPredictive => Data::PriorPredictive,
            Data::Given(_) => Data::Given(smaller.anywhere().counts().to_vec()),
        };
        let size = ranking::size_of(variant, &smaller, &Criterion { data, ..criterion.clone() });
        size.outputs <= size::LARGE_BUDGET && size.bytes <= size::LARGEST_ALONE
    };
    let n = furthest(setting.n, is_possible);
    match criterion.data {
        Data::PriorPredictive => format!(
            "every data set of n records counts, and n = {n} would do; `dpbi release --dry-run --n N` \
             estimates errors from draws for any n"
        ),
        Data::Given(_) => format!("n = {n} would do"),
    }
}

/// How long a bar can be.
const BAR: usize = 8;

/// The mark of a guarantee that was computed, not proved.
const COMPUTED: &str = "*";

/// The same in a table that stands alone.
const IN_WORDS: &str = ", computed";

/// Mechanisms, the best first.
#[derive(Serialize, JsonSchema)]
pub struct Document {
    /// The best one.
    choice: Option<String>,
    /// What is advised, in a sentence.
    advice: Option<String>,
    /// The error that was asked for.
    error: Option<f64>,
    mechanisms: Vec<RowDocument>,
    /// Remapped mechanisms, if an error at given data was asked for: it need not fall as ε grows.
    not_offered: Vec<String>,
    /// Mechanisms whose laws are too large.
    left_out: Vec<String>,
}

/// A mechanism and its errors.
#[derive(Serialize, JsonSchema)]
struct RowDocument {
    id: String,
    /// The ε that was given, or the least one with which the mean error is small enough.
    epsilon: Option<f64>,
    guarantee: Option<String>,
    mean: Option<Number>,
    median: Option<Number>,
    q95: Option<Number>,
    /// Why there is no error, or no ε.
    remark: Option<String>,
}

struct Answer(Ranking);

impl Answer {
    /// The rows of every line that is shown, and the names of mechanisms that are not shown: those equal to the
    /// same mechanism with fewer options. Different mechanisms that are equal here share a line.
    fn lines(&self) -> (Vec<Vec<&Row>>, Vec<String>) {
        let mut lines: Vec<Vec<&Row>> = Vec::new();
        let mut idle = Vec::new();
        for row in &self.0.rows {
            let is_idle = |other: &&Row| {
                other.variant.is_same_mechanism(&row.variant) && self.0.is_same(other, row)
            };
            if lines.iter().flatten().any(is_idle) {
                idle.push(typed::shown(&row.variant));
            } else if let Some(line) = lines.iter_mut().find(|line| self.is_equal(line[0], row)) {
                line.push(row);
            } else {
                lines.push(vec![row]);
            }
        }
        (lines, idle)
    }

    /// Whether nothing that is shown tells two mechanisms apart.
    fn is_equal(&self, a: &Row, b: &Row) -> bool {
        let accuracies = a.accuracy.zip(b.accuracy);
        accuracies.is_some_and(|(a, b)| a.is_same(&b))
            && a.epsilon == b.epsilon
            && self.remark(a, COMPUTED) == self.remark(b, COMPUTED)
    }

    /// Which to take, and why, with mechanisms named by `name`.
    fn advice(&self, name: fn(&Mechanism) -> String) -> Option<String> {
        let ranking = &self.0;
        let error = ranking.criterion.error;
        let best = ranking.best()?;
        if let (Some(error), None) = (error, best.accuracy) {
            return Some(format!(
                "Any ε will do: with {} even ε = {SMALLEST} has a mean error of at most {error}.",
                name(&best.variant)
            ));
        }
        let id = name(&best.variant);
        let why = match error {
            Some(error) => format!("it keeps to a mean error of {error} from the least ε on"),
            None => "it has the least mean error of the private ones".to_owned(),
        };
        let ahead = match ranking.next_after(best) {
            Some(next) => {
                let percent = 100.0 * (1.0 - ranking.measure(best) / ranking.measure(next));
                format!(", {} % less than {}", short(percent), name(&next.variant))
            }
            None if error.is_some()
                && ranking.others(best).any(|row| !ranking.is_same(best, row)) =>
            {
                ", and no other does".to_owned()
            }
            None => String::new(),
        };
        let equals: Vec<String> = ranking
            .others(best)
            .filter(|row| ranking.is_same(best, row))
            .map(|row| name(&row.variant))
            .collect();
        let equals = match &equals[..] {
            [] => String::new(),
            few if few.len() <= 3 => format!(" (equal to {})", typed::listed(few)),
            many => format!(" (equal to {} others)", many.len()),
        };
        let guarantee = self.guarantee(best);
        let take =
            if ranking.all_are_known() { "Take" } else { "Of those that are ranked here, take" };
        Some(format!("{take} {id}{equals}: {why}{ahead}; it is {guarantee}."))
    }

    fn guarantee(&self, row: &Row) -> String {
        row.variant.guarantee(&self.0.at(row)).to_string()
    }

    fn document(&self) -> Document {
        let row = |row: &Row| RowDocument {
            id: row.variant.label.clone(),
            epsilon: row.epsilon.map(Epsilon::get),
            guarantee: row.epsilon.map(|_| self.guarantee(row)),
            mean: row.accuracy.map(|accuracy| Number(accuracy.mean)),
            median: row.accuracy.map(|accuracy| Number(accuracy.median)),
            q95: row.accuracy.map(|accuracy| Number(accuracy.q95)),
            remark: (!row.remark.is_empty()).then(|| row.remark.to_owned()),
        };
        let label: fn(&Mechanism) -> String = |variant| variant.label.clone();
        Document {
            choice: self.0.best().map(|row| label(&row.variant)),
            advice: self.advice(label),
            error: self.0.criterion.error,
            mechanisms: self.0.rows.iter().map(row).collect(),
            not_offered: self.0.not_offered.iter().map(label).collect(),
            left_out: self.0.large.iter().chain(&self.0.impossible).map(label).collect(),
        }
    }

    /// The guarantee, or why there is none.
    fn remark(&self, row: &Row, computed: &str) -> String {
        if row.epsilon.is_none() || !row.remark.is_empty() {
            return row.remark.to_owned();
        }
        match row.variant.guarantee(&self.0.at(row)) {
            Guarantee::Computed(epsilon) => Guarantee::Pure(epsilon).to_string() + computed,
            proved => proved.to_string(),
        }
    }

    /// The cells of a row, with the bar after what mechanisms are ranked by. An ε that was given is
    /// the same in every row, and left out.
    fn arranged<S>(&self, [label, epsilon, bar, mean, median, q95, remark]: [S; 7]) -> Vec<S> {
        match self.0.criterion.error {
            Some(_) => vec![label, epsilon, bar, mean, median, q95, remark],
            None => vec![label, mean, bar, median, q95, remark],
        }
    }

    /// The mechanisms, best first. `computed` marks guarantees that were computed.
    fn grid(&self, lines: &[Vec<&Row>], computed: &str) -> Grid {
        let measures =
            self.0.rows.iter().map(|row| self.0.measure(row)).filter(|value| value.is_finite());
        let largest = measures.fold(0.0, f64::max);
        let mut grid = Grid::new(1);
        grid.row(self.arranged(["mechanism", "ε", "", "mean", "median", "95 %", "guarantee"]));
        for line in lines {
            let row = line[0];
            let names: Vec<String> = line.iter().map(|row| typed::shown(&row.variant)).collect();
            let number = |value: fn(Accuracy) -> f64| short_or_dash(row.accuracy.map(value));
            let drawn = Some(self.0.measure(row)).filter(|value| value.is_finite());
            let drawn = drawn.map_or(String::new(), |value| bar(value, largest, BAR));
            grid.row(self.arranged([
                typed::listed(&names),
                row.epsilon.map_or("–".to_owned(), |epsilon| epsilon.get().to_string()),
                format!("{drawn:BAR$}"),
                number(|a| a.mean),
                number(|a| a.median),
                number(|a| a.q95),
                self.remark(row, computed),
            ]));
        }
        grid
    }

    fn text(&self) -> String {
        let n = self.0.setting.n;
        let (lines, idle) = self.lines();
        let what = self.0.setting.distance.title();
        let over = match self.0.criterion.data {
            Data::PriorPredictive => {
                format!(
                    "averaged over data sets of {n} records drawn from the prior predictive \
                     distribution"
                )
            }
            Data::Given(_) => format!("at the data ({n} records)"),
        };
        let at = match self.0.criterion.error {
            Some(_) => String::new(),
            None => format!(" at ε = {}", self.0.setting.epsilon.get()),
        };
        let mut text =
            format!("  Exact error ({what}){at}, {over}\n{}", self.grid(&lines, COMPUTED).render());
        if lines.iter().any(|line| self.remark(line[0], COMPUTED).ends_with(COMPUTED)) {
            text += &format!(
                "  {COMPUTED} computed: over all pairs of data sets the loss is at most ε\n"
            );
        }
        let known = self.0.rows.iter().filter(|row| row.accuracy.is_some());
        text += &typed::remapped_by_descent(known.map(|row| &row.variant), &self.0.setting);
        if !idle.is_empty() {
            text += &format!(
                "  Not shown, because the option changes nothing: {}\n",
                typed::listed(&idle)
            );
        }
        if !self.0.not_offered.is_empty() {
            text += "  Left out are remapped mechanisms: at given data their error need not fall as ε grows\n";
        }
        text += &typed::left_out(&self.0.large, &self.0.impossible);
        text += &match self.advice(typed::shown) {
            Some(advice) => format!("\n  {advice}\n"),
            None if self.0.criterion.error.is_some() => match self.0.all_are_known() {
                true => format!("\n  No mechanism gets there with an ε of at most {LARGEST}.\n"),
                false => {
                    "\n  None of those that are ranked here is known to get there.\n".to_owned()
                }
            },
            None => "\n  None of these is both private and of finite mean error.\n".to_owned(),
        };
        if self.0.criterion.data != Data::PriorPredictive {
            text += "  This choice looked at the data. A choice that must be private itself rests on --n.\n";
        }
        text
    }
}
