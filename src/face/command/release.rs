//! `dpbi release`.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::SystemTime;

use rayon::prelude::*;
use serde_json::{Value, json};

use super::forecast::objection;
use super::{announce, threads, typed};
use crate::analysis::cost;
use crate::analysis::tuning::TuningCache;
use crate::base::console::{self, Grid, say, short};
use crate::base::diagnostic::{Diagnostic, legible, suggest};
use crate::base::fault::caught;
use crate::base::system::is_same_file;
use crate::experiment::config::MOST_CATEGORIES;
use crate::face::cli::Release;
use crate::face::failure::{Failure, WorkError};
use crate::face::progress::Clock;
use crate::mechanism::Variant;
use crate::posterior::distance::HELLINGER;
use crate::posterior::model::{Posterior, Prior};
use crate::posterior::privacy::{Epsilon, Gamma, Guarantee, compact};
use crate::posterior::setting::Setting;
use crate::run::store::utc;
use crate::service::release::{
    self, Account, Amount, Aware, BetaMixture, Columns, Entropy, Entry, Interval, Loss, Method,
    Reason, Tally,
};

pub fn execute(args: &Release) -> Result<(), Failure> {
    let request = Request::new(args)?;
    refuse_other_files(args)?;
    let threads = threads(&args.threads)?;
    let Tally { counts, hash } = release::count(&args.data, &request.columns)?;
    let (method, reason) = request.method(counts.iter().sum(), threads)?;
    let mut entropy = Entropy::new().map_err(WorkError::Randomness)?;
    // From here on ε is spent.
    let account = request.enter(&method, hash)?;
    let released = caught(|| method.draw(&counts, &mut entropy));
    let released = released.map_err(WorkError::NothingReleased)?;
    drop(counts);
    let outcome = caught(|| FullRelease::new(&request, &method, reason, &released, account));
    // The release is paid for: if something fails from here on, the error shows it.
    let after = |cause| WorkError::AfterRelease { released: released.clone(), cause };
    let outcome = outcome.map_err(after)?;
    let text = if args.print.json {
        format!("{:#}\n", outcome.json())
    } else {
        console::fit(&outcome.text())
    };
    let printed = console::emit_whole(&text);
    Ok(printed.map_err(|source| outcome.unprinted(source, text))?)
}

/// Refuses a ledger that is also the data, the list of categories or the output.
fn refuse_other_files(args: &Release) -> Result<(), Diagnostic> {
    let Some(ledger) = &args.ledger else { return Ok(()) };
    let others = [
        (Some(args.data.as_path()), "the data"),
        (args.categories.from.as_deref(), "the list of categories"),
        (Some(Path::new("/dev/stdout")), "where the output goes"),
    ];
    match others.into_iter().find(|(other, _)| other.is_some_and(|other| is_same(ledger, other))) {
        None => Ok(()),
        Some((_, what)) => Err(typed::wrong("ledger", &format!("this file is {what}"))
            .help("give the ledger a file of its own")),
    }
}

/// Whether two paths are known to lead to the same file.
fn is_same(a: &Path, b: &Path) -> bool {
    let both = a.metadata().ok().zip(b.metadata().ok());
    both.and_then(|(a, b)| is_same_file(&a, &b)).unwrap_or(false)
}

/// What was asked for, checked.
struct Request<'a> {
    args: &'a Release,
    columns: Columns,
    prior: Prior,
    epsilon: Amount,
    budget: Option<Amount>,
    variant: Option<Variant>,
}

impl<'a> Request<'a> {
    fn new(args: &'a Release) -> Result<Self, Diagnostic> {
        if args.seed.is_some() {
            let cause = "--seed: a release is drawn from the operating system's randomness only";
            return Err(Diagnostic::new(cause)
                .help("noise that can be drawn again protects nobody: leave --seed out"));
        }
        if !(args.level > 0.0 && args.level < 1.0) {
            let cause = format!("{} is no probability of an interval", args.level);
            return Err(typed::wrong("level", &cause).help("use for example --level 0.95"));
        }
        let categories = categories(args)?;
        let prior = Prior::new(args.prior.clone())
            .map_err(|error| typed::wrong("prior", &error).help("use for example --prior 1,1"))?;
        if prior.k() != categories.len() {
            let cause = format!("{} numbers for {} categories", prior.k(), categories.len());
            return Err(typed::wrong("prior", &cause).help(
                "give a parameter for every category (all 1 is the uniform prior); names that hold a \
                 comma stand in a file, --categories-from",
            ));
        }
        if let Some(large) = prior.alpha().iter().find(|alpha| **alpha > LARGEST_PRIOR) {
            return Err(typed::wrong("prior", &format!("{large:?} outweighs any data"))
                .help(format!("use at most {LARGEST_PRIOR:e}")));
        }
        let other = args.other.as_ref().map(|other| place(other, &categories)).transpose()?;
        Ok(Self {
            args,
            columns: Columns {
                column: args.column.trim().to_owned(),
                categories,
                other,
                delimiter: args.delimiter,
            },
            prior,
            epsilon: positive("epsilon", &args.epsilon)?,
            budget: args.budget.as_deref().map(|text| positive("budget", text)).transpose()?,
            variant: args.mechanism.as_deref().map(typed::variant).transpose()?,
        })
    }

    /// How the release is made. Of the data, only the number of records is known here.
    fn method(&self, n: u64, threads: usize) -> Result<(Method, Reason), Diagnostic> {
        let mut counts = vec![0; self.prior.k()];
        counts[0] = n;
        let template = Setting {
            posterior: Posterior::new(self.prior.clone(), counts),
            epsilon: Epsilon::new(self.epsilon.to_f64())?,
            delta: None,
            gamma: Gamma::new(1.0)?,
            distance: HELLINGER,
        };
        match &self.variant {
            Some(variant) => {
                Method::check(variant, &template, self.epsilon).map_err(Diagnostic::from)?;
                let _clock = admit(variant, &template, threads)?;
                Method::new(variant, &template, self.epsilon, &TuningCache::default())
                    .map(|method| (method, Reason::Named))
            }
            None => release::choose(&typed::every_variant(true), &template, self.epsilon),
        }
        .map_err(Diagnostic::from)
    }

    /// Enters the release into the ledger, if there is one.
    fn enter(&self, method: &Method, hash: String) -> Result<Option<Account>, Failure> {
        let Some(path) = &self.args.ledger else { return Ok(None) };
        let entry = Entry {
            epsilon: method.spent(),
            budget: self.budget,
            time: utc(SystemTime::now()),
            data: hash,
            column: self.columns.column.clone(),
            mechanism: method.variant().label.clone(),
            previous: String::new(),
        };
        Ok(Some(release::enter(path, entry, &|line| say(line))?))
    }
}

/// Refuses a mechanism that takes too much to be made ready, and announces one that takes long.
fn admit(
    variant: &Variant,
    template: &Setting,
    threads: usize,
) -> Result<Option<Clock>, Diagnostic> {
    let work = cost::predict_release(variant, template);
    let total = cost::total([&work], threads);
    let what = format!("`{}`", variant.label);
    if let Some(objection) = objection(&what, &total, work.candidates, threads) {
        return Err(objection.help(
            "use a mechanism that is neither calibrated nor remapped, such as geometric, or fewer \
             categories",
        ));
    }
    Ok(announce(total.seconds(threads)))
}

/// With a larger parameter, the ends of an interval would be the same double.
const LARGEST_PRIOR: f64 = 1e12;

/// An amount of privacy above 0.
fn positive(flag: &str, text: &str) -> Result<Amount, Diagnostic> {
    let remedy = format!("use for example --{flag} 1");
    match text.parse::<Amount>() {
        Ok(Amount::ZERO) => Err(typed::wrong(flag, &format!("`{text}` is nothing")).help(remedy)),
        Ok(amount) => Ok(amount),
        Err(error) => Err(typed::wrong(flag, &format!("`{text}`: {error}")).help(remedy)),
    }
}

/// The declared categories, each once.
fn categories(args: &Release) -> Result<Vec<String>, Diagnostic> {
    let (flag, categories) = match (&args.categories.listed, &args.categories.from) {
        (Some(listed), _) => {
            ("categories", listed.iter().map(|one| one.trim().to_owned()).collect())
        }
        (None, Some(file)) => ("categories-from", declared(file)?),
        (None, None) => ("categories", Vec::new()),
    };
    if categories.iter().any(String::is_empty) {
        return Err(typed::wrong(flag, &"a category has no name")
            .help("leave out the comma; empty values go to --other"));
    }
    let mut seen = BTreeSet::new();
    if let Some(twice) = categories.iter().find(|category| !seen.insert(*category)) {
        let cause = format!("`{twice}` occurs twice");
        return Err(typed::wrong(flag, &cause).help("name every category once"));
    }
    match categories.len() as u64 {
        0 | 1 => Err(typed::wrong(flag, &"there must be at least two categories")
            .help("for example --categories no,yes")),
        2..=MOST_CATEGORIES => Ok(categories),
        many => Err(typed::wrong(flag, &format!("{many} are too many"))
            .help(format!("use at most {MOST_CATEGORIES}"))),
    }
}

/// The most categories.
const LONGEST_LIST: u64 = 1_000_000;

/// The categories of a file, one on every line.
fn declared(file: &Path) -> Result<Vec<String>, Diagnostic> {
    let text = release::read_text(file, LONGEST_LIST).map_err(|cause| {
        Diagnostic::new(format!("cannot read the categories {}: {cause}", file.display()))
            .help("a text file with a category on every line")
    })?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let lines = text.split(['\n', '\r']).map(|line| line.trim().to_owned());
    Ok(lines.filter(|line| !line.is_empty()).collect())
}

fn place(category: &str, categories: &[String]) -> Result<usize, Diagnostic> {
    categories.iter().position(|known| known == category).ok_or_else(|| {
        typed::wrong("other", &format!("`{category}` is none of the categories"))
            .help(suggest(category, categories.iter().map(String::as_str)))
    })
}

/// What is known of one category after the release.
struct Category<'a> {
    name: &'a str,
    released: u64,
    /// The posterior's parameter.
    parameter: f64,
    naive: Estimate,
    /// The same from the noise-aware posterior, and the probability that it gives the naive interval.
    aware: Option<(Estimate, f64)>,
}

/// A mean and an interval.
struct Estimate {
    mean: f64,
    interval: Interval,
}

impl Estimate {
    fn new(mixture: &BetaMixture, level: f64) -> Self {
        Self { mean: mixture.mean(), interval: mixture.interval(level) }
    }

    fn json(&self) -> Value {
        json!({ "mean": self.mean, "low": self.interval.low, "high": self.interval.high })
    }
}

/// Exact mean errors: over the prior predictive distribution of the data; if that takes long, at the
/// data that the prior expects; and if the data are as released.
struct Errors {
    predictive: Option<f64>,
    at_prior: Option<f64>,
    as_released: Option<f64>,
}

impl Errors {
    fn new(method: &Method, released: &[u64]) -> Self {
        let predictive = release::expected_error(method);
        Self {
            predictive,
            at_prior: match predictive {
                Some(_) => None,
                None => release::error_at_prior(method),
            },
            as_released: release::error_near(method, released),
        }
    }

    /// Those that are known, in words.
    fn words(&self) -> Vec<String> {
        let all = [
            (self.predictive, "averaged over the prior predictive distribution"),
            (self.at_prior, "at the data that the prior expects"),
            (self.as_released, "if the data are as released"),
        ];
        let known = all.into_iter().filter_map(|(error, when)| Some((error?, when)));
        let words: Vec<String> =
            known.map(|(error, when)| format!("{} {when}", short(error))).collect();
        if words.is_empty() { vec!["not computed: it takes long".to_owned()] } else { words }
    }
}

/// A release, and what can be computed from it without the data.
struct FullRelease<'a> {
    request: &'a Request<'a>,
    method: &'a Method,
    reason: Reason,
    categories: Vec<Category<'a>>,
    /// Why the posterior is not aware of the noise, if it is not.
    unaware: Option<String>,
    /// Exact mean errors, as far as they are computed.
    errors: Errors,
    /// The exact privacy loss of the mechanism, or a bound.
    loss: Option<Loss>,
    account: Option<Account>,
}

impl<'a> FullRelease<'a> {
    fn new(
        request: &'a Request<'a>,
        method: &'a Method,
        reason: Reason,
        released: &[u64],
        account: Option<Account>,
    ) -> Self {
        let (prior, n, level) =
            (&request.prior, method.template().posterior.n(), request.args.level);
        let aware = Aware::new(method, released);
        let total = prior.total() + released.iter().map(|&count| count as f64).sum::<f64>();
        let category = |(i, &released): (usize, &u64)| {
            let alpha = prior.alpha()[i];
            let naive = Estimate::new(&BetaMixture::single(alpha, total, released), level);
            let aware = aware.as_ref().ok().map(|aware| {
                let mixture = aware.marginal(i, prior, n);
                (Estimate::new(&mixture, level), mixture.coverage(naive.interval))
            });
            let parameter = alpha + released as f64;
            Category { name: &request.columns.categories[i], released, parameter, naive, aware }
        };
        Self {
            request,
            method,
            reason,
            categories: released.par_iter().enumerate().map(category).collect(),
            unaware: aware.as_ref().err().cloned(),
            errors: Errors::new(method, released),
            loss: release::loss(method),
            account,
        }
    }

    fn n(&self) -> u64 {
        self.method.template().posterior.n()
    }

    /// The guarantee in a sentence.
    fn guarantee(&self) -> String {
        let (epsilon, price) = (self.method.epsilon(), self.method.price());
        let mut words = format!("{}-differentially private", self.method.spent());
        if let Guarantee::Computed(_) = self.method.guarantee() {
            words += ", by computation over all data sets";
        }
        if price > Amount::ZERO {
            words += &format!(" (ε = {epsilon}, and {price} for rounding)");
        }
        words
    }

    fn why(&self) -> String {
        match self.reason {
            Reason::Named => "as you named it".to_owned(),
            Reason::LeastExpected(many) => {
                format!(
                    "the least expected error of {many} private mechanisms, for this n, ε and prior"
                )
            }
            Reason::LeastAtPrior(many) => format!(
                "the least error of {many} private mechanisms at the data that the prior expects"
            ),
            Reason::Customary => {
                "customary: with this number of records and categories errors take long to compute"
                    .to_owned()
            }
        }
    }

    /// The release that standard output did not take.
    fn unprinted(&self, source: std::io::Error, text: String) -> WorkError {
        let spent = self.method.spent().to_string();
        WorkError::Unprinted { source, spent, ledger: self.request.args.ledger.clone(), text }
    }

    fn json(&self) -> Value {
        let category = |category: &Category| {
            json!({
                "category": category.name,
                "released": category.released,
                "parameter": category.parameter,
                "naive": category.naive.json(),
                "aware": category.aware.as_ref().map(|(estimate, _)| estimate.json()),
                "naive_coverage": category.aware.as_ref().map(|(_, coverage)| coverage),
            })
        };
        let account = self.account.as_ref().map(|account| {
            json!({
                "releases": account.releases,
                "spent": account.total.to_string(),
                "budget": account.budget.map(|budget| budget.to_string()),
            })
        });
        let (exact_loss, loss_at_most) = match self.loss {
            Some(Loss::Exact(loss)) => (Some(loss), None),
            Some(Loss::AtMost(loss)) => (None, Some(loss)),
            None => (None, None),
        };
        json!({
            "n": self.n(),
            "prior": self.request.prior.alpha(),
            "released": self.categories.iter().map(|one| one.released).collect::<Vec<_>>(),
            "posterior": self.categories.iter().map(|one| one.parameter).collect::<Vec<_>>(),
            "mechanism": self.method.variant().label,
            "reason": self.why(),
            "epsilon": self.method.epsilon().to_string(),
            "price": self.method.price().to_string(),
            "spent": self.method.spent().to_string(),
            "guarantee": self.guarantee(),
            "exact_loss": exact_loss,
            "loss_at_most": loss_at_most,
            "expected_error": {
                "predictive": self.errors.predictive,
                "at_prior": self.errors.at_prior,
                "as_released": self.errors.as_released,
            },
            "level": self.request.args.level,
            "categories": self.categories.iter().map(category).collect::<Vec<_>>(),
            "unaware": self.unaware,
            "ledger": account,
        })
    }

    fn text(&self) -> String {
        let records = if self.n() == 1 { "record" } else { "records" };
        let mut text = format!(
            "  `{}`, {} {records}, released by {}\n  ({})\n\n{}",
            legible(&self.request.columns.column),
            self.n(),
            self.method.variant().label,
            self.why(),
            self.table(),
        );
        text += &match &self.unaware {
            None => {
                "  naive: treats the released counts as the true ones. aware: knows the noise. \
                     covers: the probability of the naive interval under the aware posterior.\n"
                    .to_owned()
            }
            Some(reason) => format!(
                "  These intervals ignore the noise and are too narrow. The noise-aware posterior is \
                 not computed: {reason}.\n"
            ),
        };
        let mut lines = vec![("posterior", self.posterior()), ("privacy", self.guarantee())];
        let over =
            |loss: f64| format!("{} over all data sets of {} records", short(loss), self.n());
        match self.loss {
            Some(Loss::Exact(loss)) => lines.push(("exact loss", over(loss))),
            Some(Loss::AtMost(loss)) => lines.push(("loss", format!("at most {}", over(loss)))),
            None => {}
        }
        lines.extend(self.errors.words().into_iter().map(|words| ("expected error", words)));
        let total: u64 = self.categories.iter().map(|one| one.released).sum();
        if total != self.n() {
            lines.push(("total", format!("{total} of {}: noise may leave it so", self.n())));
        }
        lines.push((
            "ledger",
            match &self.account {
                Some(account) => spent(account),
                None => "none: nobody counts what is spent (--ledger FILE does)".to_owned(),
            },
        ));
        text.push('\n');
        let mut grid = Grid::new(usize::MAX);
        lines.into_iter().for_each(|(name, words)| grid.row([name.to_owned(), words]));
        text += &grid.render();
        text + "\n  Errors are Hellinger distances from the true posterior, between 0 and 1. The true \
                counts are not shown, here or anywhere; the number of records is public.\n"
    }

    fn table(&self) -> String {
        let percent = format!("{} %", 100.0 * self.request.args.level);
        let mut grid = Grid::new(1);
        let aware = self.unaware.is_none();
        let mut head = vec!["".to_owned(), "released".into(), "naive".into(), percent.clone()];
        if aware {
            head.extend(["aware".into(), percent, "covers".into()]);
        }
        grid.row(head);
        for category in &self.categories {
            let mut row = vec![legible(category.name), category.released.to_string()];
            row.extend(shown(&category.naive));
            if let Some((estimate, coverage)) = &category.aware {
                row.extend(shown(estimate));
                row.push(format!("{:.1} %", 100.0 * coverage));
            }
            grid.row(row);
        }
        grid.render()
    }

    /// The posterior that is released.
    fn posterior(&self) -> String {
        let parameters: Vec<String> =
            self.categories.iter().map(|one| compact(&one.parameter)).collect();
        let name = if parameters.len() == 2 { "Beta" } else { "Dirichlet" };
        match parameters.len() {
            0..=MOST_PARAMETERS => format!("{name}({})", parameters.join(", ")),
            many => format!("{name} with {many} parameters (--json lists them)"),
        }
    }
}

/// At most this many parameters are printed on a line.
const MOST_PARAMETERS: usize = 12;

/// A mean, and an interval as "0.123 – 0.456".
fn shown(estimate: &Estimate) -> [String; 2] {
    let Interval { low, high } = estimate.interval;
    [short(estimate.mean), format!("{} – {}", short(low), short(high))]
}

fn spent(account: &Account) -> String {
    let Account { releases, total, budget } = account;
    let of = budget.map_or(String::new(), |budget| format!(" of {budget}"));
    let sum = if *releases == 1 { "" } else { ", their sum" };
    format!("ε = {total}{of} spent {}{sum}", release::in_releases(*releases))
}
