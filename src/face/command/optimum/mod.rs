//! `dpbi optimum`.

mod admit;
mod certificate;
mod write;

pub(super) use write::is_own_file;

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;

use super::threads;
use super::typed::{self, wrong};
use crate::cli;
use crate::cli::names::{RELEASE_SETS, ReleaseSet};
use crate::failure::{Failure, WorkError};
use crate::progress;
use engine::analysis::optimum::{self, Bracket, Goal, Method, Optimum, OptimumError, Question};
use engine::analysis::predictive_error::over_all_data;
use engine::analysis::tuning::TuningCache;
use engine::mechanism::law::{Law, OutputSet, Outputs};
use engine::mechanism::{Mechanism, Options};
use engine::parallel;
use engine::posterior::model::{Counts, vector};
use engine::posterior::privacy::{Delta, Guarantee, compact};
use engine::posterior::setting::Setting;
use engine::refusal::suggest;
use system::console::{Grid, say, short_or_dash};
use system::diagnostic::Diagnostic;
use table::Number;

pub fn execute(args: &cli::Optimum) -> Result<(), Failure> {
    threads(&args.calculation.machine.threads)?;
    if args.data.n.is_none() {
        return Err(typed::flag("counts", "an optimum is about all data sets of n records")
            .help("give their number with -n; inspect and choose look at one data set")
            .into());
    }
    let setting = typed::setting(&args.model, &args.data, args.privacy.epsilon)?;
    let set = release_set(&args.release_set)?;
    let question = |goal| Question { goal, set: set.outputs, delta: setting.delta };
    let rivals = rivals(args, &setting)?;
    let (rivals, left_out) =
        admit::small(&setting, question(Goal::Bayes), rivals, args.calculation.machine.force);
    let goals = if args.minimax { &[Goal::Bayes, Goal::Minimax][..] } else { &[Goal::Bayes] };
    let questions: Vec<Question> = goals.iter().map(|&goal| question(goal)).collect();
    if let Some(path) = &args.certificate {
        certificate::check(path, &setting, &questions)?;
    }
    let sizes = admit::admit(&setting, &questions, &rivals, args)?;
    let certified = if args.certificate.is_some() { CERTIFIED } else { 0.0 };
    let all = sizes.iter().sum::<f64>() / (1.0 - certified);

    let folder = args.out.as_deref().map(write::open).transpose()?;
    let certificate = match &args.certificate {
        Some(path) => {
            let _part = parallel::of_whole(CERTIFIED);
            Some((path, certificate::make(&setting)?))
        }
        None => None,
    };
    let report = |bracket: Bracket| {
        let Bracket { round, lower, upper } = bracket;
        progress::task(|| {
            format!("round {round}: {:.9} to {:.9}", round_down(lower), round_up(upper))
        });
    };
    // What cannot be tuned is refused before the program is solved.
    let tuning = TuningCache::default();
    let tune = |(variant, known): (Mechanism, bool)| match tuning.prepare(&variant, &setting) {
        Ok(prepared) => Ok((variant, prepared.law, known)),
        Err(refusal) => Err(typed::refused(&variant, refusal)),
    };
    let part = parallel::of_whole(0.5 * sizes[1] / all);
    let rivals = rivals.into_iter().map(tune).collect::<Result<Vec<_>, Diagnostic>>()?;
    drop(part);
    let part = parallel::of_whole(sizes[0] / all / questions.len() as f64);
    let bayes = optimum::answer(&setting, question(Goal::Bayes), &report).map_err(failure)?;
    drop(part);
    let part = parallel::of_whole(sizes[0] / all * (1.0 - 1.0 / questions.len() as f64));
    let minimax = match args.minimax {
        true => minimax(&setting, question(Goal::Minimax))?,
        false => None,
    };
    drop(part);
    let each = 1.0 / rivals.len().max(1) as f64;
    let measure = |(variant, law, known): (Mechanism, Arc<dyn Law>, bool)| {
        let _part = parallel::of_whole(0.5 * sizes[1] / all * each);
        let refused = |refusal| typed::refused(&variant, refusal);
        let (mean, worst) = if known {
            (Some(bayes.value).filter(|error| error.is_finite()), None)
        } else {
            let errors = over_all_data(law.as_ref(), &setting).map_err(refused)?;
            errors.map(|errors| (errors.mean, (errors.worst, errors.worst_at))).unzip()
        };
        let (worst, worst_at) = worst.unzip();
        Ok(Rival {
            id: variant.label.clone(),
            calibrated: variant.options.calibrated,
            remap: variant.options.remap,
            guarantee: variant.guarantee(&setting).to_string(),
            mean: mean.map(Number),
            ratio: mean.and_then(|mean| bayes.multiple(mean)),
            bound: mean.and_then(|mean| bayes.largest_multiple(mean)),
            worst: worst.map(Number),
            worst_at,
            worst_ratio: minimax
                .as_ref()
                .zip(worst)
                .and_then(|(least, worst)| least.multiple(worst)),
            variant,
        })
    };
    let mut rivals = rivals.into_iter().map(measure).collect::<Result<Vec<_>, Diagnostic>>()?;
    let mean = |rival: &Rival| rival.mean.map_or(f64::INFINITY, |mean| mean.0);
    rivals.sort_by(|a, b| mean(a).total_cmp(&mean(b)));
    let found = Comparison { setting, set, bayes, minimax, rivals, left_out };
    if let Some((path, certificate)) = certificate {
        certificate::write(path, &certificate)?;
    }
    let written = match folder {
        Some(folder) => Some(write::write(folder, &found, &args.figures)?),
        None => None,
    };
    let wrote = written.map_or(String::new(), |files| format!("\n  wrote {files}\n"));
    args.calculation.answer.give(|| found.grid(), || found.document(), || found.text() + &wrote)
}

/// The minimax optimum. Without it the mean is still worth printing.
fn minimax(setting: &Setting, question: Question) -> Result<Option<Optimum>, Failure> {
    match optimum::answer(setting, question, &|_| ()) {
        Ok(optimum) => Ok(Some(optimum)),
        Err(error @ OptimumError::Loose { .. }) => {
            say(format!("note: no worst-case optimum: {error}"));
            Ok(None)
        }
        Err(error) => Err(failure(error)),
    }
}

fn failure(error: OptimumError) -> Failure {
    match error {
        OptimumError::Refused(refusal) => Diagnostic::from(refusal).into(),
        other => WorkError::from(other).into(),
    }
}

fn release_set(name: &str) -> Result<&'static ReleaseSet, Diagnostic> {
    RELEASE_SETS.iter().find(|set| set.name == name).ok_or_else(|| {
        wrong("release-set", &format!("unknown set `{name}`"))
            .help(suggest(name, RELEASE_SETS.iter().map(|set| set.name)))
    })
}

/// The mechanisms to compare.
fn rivals(args: &cli::Optimum, setting: &Setting) -> Result<Vec<Mechanism>, Diagnostic> {
    let default = Mechanism::all(args.tuned).into_iter();
    // With δ also those that are (ε, δ)-private.
    let within = |variant: &Mechanism| {
        let guarantee = variant.guarantee(setting);
        let pure = matches!(guarantee, Guarantee::Pure(_) | Guarantee::Computed(_));
        let with_delta = setting.delta.is_some() && guarantee.is_private() && !pure;
        variant.is_private(setting) || with_delta
    };
    let default = default.filter(|variant| args.all || within(variant));
    typed::variants(&args.mechanisms, setting, &setting.anywhere(), default)
}

/// Whether this is the tight mechanism as it is.
fn is_plainly_tight(variant: &Mechanism) -> bool {
    variant.kind.id == "tight" && variant.options == Options::default()
}

/// The optimum, and how far mechanisms are from it.
#[derive(Serialize, JsonSchema)]
pub struct Document<'a> {
    prior: Vec<f64>,
    n: u64,
    epsilon: f64,
    delta: Option<f64>,
    distance: &'static str,
    /// Which counts may be released.
    release_set: &'static str,
    data_sets: u64,
    outputs: u64,
    /// The least mean error under the prior predictive distribution; nothing if it is not known to three digits.
    bayes: Option<f64>,
    /// The least error at the worst data set.
    minimax: Option<f64>,
    bayes_certificate: Certificate,
    minimax_certificate: Option<Certificate>,
    mechanisms: &'a [Rival],
}

/// What shows that an optimum is one.
#[derive(Serialize, JsonSchema)]
struct Certificate {
    /// The least error, if it is known to three digits.
    value: Option<f64>,
    /// No private mechanism has a smaller error.
    lower: f64,
    /// A private mechanism has this error; nothing if none was computed.
    upper: Option<f64>,
    /// The exact privacy loss of that mechanism, if it can be written down.
    loss: Option<Number>,
    /// Its exact δ at ε, with δ.
    delta: Option<f64>,
    /// How it was found: by a formula, by flows, by the whole program or by columns.
    method: &'static str,
    /// The error of the solver's solution; like what follows, nothing if no linear program was solved.
    primal: Option<f64>,
    /// The solver's lower bound on the error.
    dual: Option<f64>,
    /// Their difference.
    gap: Option<f64>,
    iterations: Option<u32>,
    unknowns: Option<usize>,
    constraints: Option<usize>,
    /// How the solver ended, in its own words.
    status: Option<String>,
}

/// A mechanism and its errors over all data sets; without errors where its law is too large.
#[derive(Serialize, JsonSchema)]
struct Rival {
    #[serde(skip)]
    variant: Mechanism,
    id: String,
    calibrated: bool,
    remap: bool,
    guarantee: String,
    /// The mean error under the prior predictive distribution.
    mean: Option<Number>,
    /// The mean error over the optimum.
    ratio: Option<f64>,
    /// The mean error over the proved lower bound: `ratio` is at most this.
    bound: Option<f64>,
    /// The error at the worst data set.
    worst: Option<Number>,
    worst_at: Option<Counts>,
    /// The worst error over the least possible one.
    worst_ratio: Option<f64>,
}

struct Comparison {
    setting: Setting,
    set: &'static ReleaseSet,
    bayes: Optimum,
    minimax: Option<Optimum>,
    rivals: Vec<Rival>,
    /// Mechanisms whose laws are too large.
    left_out: usize,
}

impl Certificate {
    fn new(optimum: &Optimum, setting: &Setting) -> Self {
        let (account, mechanism) = (optimum.account.as_ref(), optimum.mechanism.as_ref());
        Self {
            value: optimum.known(),
            lower: optimum.lower,
            upper: Some(optimum.upper).filter(|upper| upper.is_finite()),
            loss: mechanism.map(|mechanism| Number(mechanism.loss())),
            delta: setting
                .delta
                .and(mechanism)
                .map(|mechanism| mechanism.delta(setting.epsilon.get())),
            method: optimum.method.words(),
            primal: account.map(|account| account.primal),
            dual: account.map(|account| account.dual),
            gap: account.map(|account| (account.primal - account.dual).abs()),
            iterations: account.map(|account| account.iterations),
            unknowns: account.map(|account| account.unknowns),
            constraints: account.map(|account| account.constraints),
            status: account.map(|account| account.status.clone()),
        }
    }
}

impl Comparison {
    fn document(&self) -> Document<'_> {
        let certificate = |optimum| Certificate::new(optimum, &self.setting);
        Document {
            prior: self.setting.prior.alpha().to_vec(),
            n: self.setting.n,
            epsilon: self.setting.epsilon.get(),
            delta: self.setting.delta.map(Delta::get),
            distance: self.setting.distance.id(),
            release_set: self.set.name,
            data_sets: self.sizes()[0],
            outputs: self.sizes()[1],
            bayes: self.bayes.known(),
            minimax: self.minimax.as_ref().and_then(Optimum::known),
            bayes_certificate: certificate(&self.bayes),
            minimax_certificate: self.minimax.as_ref().map(certificate),
            mechanisms: &self.rivals,
        }
    }

    /// How many data sets and outputs there are.
    fn sizes(&self) -> [u64; 2] {
        let (n, k) = (self.setting.n, self.setting.k());
        [OutputSet::Simplex, self.set.outputs]
            .map(|set| Outputs::new(set, n, k).approximate_len() as u64)
    }

    fn text(&self) -> String {
        format!("{}\n{}", self.optima(), self.comparison())
    }

    /// The settings and the optima in words.
    fn optima(&self) -> String {
        let outputs = self.set.words;
        let mut text = format!(
            "  The least error ({}) of any {}-private release\n  \
             prior ({}), n = {}, ε = {}{}: {} data sets, {} outputs ({outputs})\n\n",
            self.setting.distance.title(),
            kind_of_privacy(&self.setting),
            vector(self.setting.prior.alpha()).replace(';', ", "),
            self.setting.n,
            self.setting.epsilon.get(),
            self.setting
                .delta
                .map_or(String::new(), |delta| format!(", δ = {}", compact(&delta.get()))),
            self.sizes()[0],
            self.sizes()[1],
        );
        let mut grid = Grid::new(1);
        grid.row(["", "optimum", "at least", "at most", "gap"]);
        let optima = [Some(("prior predictive mean", &self.bayes))];
        let minimax = self.minimax.as_ref().map(|optimum| ("at the worst data set", optimum));
        for (name, optimum) in optima.into_iter().chain([minimax]).flatten() {
            let account = optimum.account.as_ref();
            let gap = account.map(|account| (account.primal - account.dual).abs());
            let upper = Some(optimum.upper).filter(|upper| upper.is_finite());
            grid.row([
                name.to_owned(),
                optimum.known().map_or("–".to_owned(), |value| format!("{value:.9}")),
                format!("{:.9}", round_down(optimum.lower)),
                upper.map_or("–".to_owned(), |upper| format!("{:.9}", round_up(upper))),
                gap.map_or(format!("by {}", optimum.method.words()), |gap| format!("{gap:.1e}")),
            ]);
        }
        text += &grid.render();
        text += "  At most: the error of a private mechanism that was found. At least: a bound that follows \
                 from duality.\n";
        text + &self.verdict()
    }

    /// What flows say of the tight mechanism.
    fn verdict(&self) -> String {
        let bound = self.bayes.largest_multiple(self.bayes.upper);
        let Some(bound) = bound.filter(|_| self.bayes.method == Method::Flows) else {
            return String::new();
        };
        let outputs = "among all ε-private releases of counts with the same total";
        match bound - 1.0 < PROVED {
            true => format!("  Proved by flows: `tight` is optimal {outputs}.\n"),
            false => format!(
                "  Proved by flows: `tight` is at most {} above the least possible error {outputs}.\n",
                percent(bound - 1.0)
            ),
        }
    }

    /// The mechanisms, best first.
    fn grid(&self) -> Grid {
        let mut grid = Grid::new(2);
        let is_known = self.bayes.known().is_some();
        let times_optimum = if is_known { "× optimum" } else { "× optimum, at most" };
        let mut header = vec!["mechanism", "guarantee", "mean error", times_optimum, "worst error"];
        header.extend(self.minimax.as_ref().map(|_| "× minimax"));
        header.push("at");
        grid.row(header);
        let times = |ratio: Option<f64>| ratio.map_or("–".to_owned(), |r| format!("{r:.4}"));
        for rival in &self.rivals {
            let mut cells = vec![
                typed::shown(&rival.variant),
                rival.guarantee.clone(),
                short_or_dash(rival.mean.map(|mean| mean.0)),
                times(if is_known { rival.ratio } else { rival.bound }),
                short_or_dash(rival.worst.map(|worst| worst.0)),
            ];
            cells.extend(self.minimax.as_ref().map(|_| times(rival.worst_ratio)));
            let at = rival.worst_at.as_ref().map(|at| vector(at).replace(';', ","));
            cells.push(at.unwrap_or_default());
            grid.row(cells);
        }
        grid
    }

    fn comparison(&self) -> String {
        if self.rivals.is_empty() {
            return "  There is no mechanism to compare with it.\n".to_owned();
        }
        let beaten = self.rivals.iter().any(|rival| {
            rival.variant.is_private(&self.setting)
                && rival.mean.is_some_and(|mean| mean.0 < self.bayes.lower - 1e-12)
        });
        let left_out = match self.left_out {
            0 => String::new(),
            1 => "\n  One mechanism is left out: its law is too large (--force compares it).\n"
                .to_owned(),
            many => format!(
                "\n  {many} mechanisms are left out: their laws are too large (--force compares them).\n"
            ),
        };
        let note =
            "\n  A private mechanism below the optimum releases counts outside its release set.\n";
        let known = self.rivals.iter().filter(|rival| rival.mean.is_some());
        let descent = typed::remapped_by_descent(known.map(|one| &one.variant), &self.setting);
        self.grid().render() + &descent + if beaten { note } else { "" } + &left_out
    }
}

/// The part of the time in which a certificate is made.
const CERTIFIED: f64 = 0.8;

/// A bound nearer to the error than this, relatively, is a proof of optimality.
const PROVED: f64 = 3e-11;

/// A part in percent, rounded up to two digits.
fn percent(part: f64) -> String {
    let place = 1.0 - libm::log10(100.0 * part).floor();
    let scale = libm::pow(10.0, place);
    let rounded = (100.0 * part * scale - 1e-9).ceil() / scale;
    format!("{rounded:.*} %", place.max(0.0) as usize)
}

/// What is asked of a release, in symbols.
fn kind_of_privacy(setting: &Setting) -> &'static str {
    if setting.delta.is_some() { "(ε, δ)" } else { "ε" }
}

/// Nine decimals, never above the value.
fn round_down(value: f64) -> f64 {
    (value * 1e9).floor() / 1e9
}

/// Nine decimals, never below the value.
fn round_up(value: f64) -> f64 {
    (value * 1e9).ceil() / 1e9
}
