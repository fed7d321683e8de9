//! `dpbi inspect`.

mod law;

use schemars::JsonSchema;
use serde::Serialize;

use super::{announce, json_text, threads, typed};
use crate::cli::Inspect;
use crate::failure::Failure;
use engine::analysis::cost::{self, SettingWork};
use engine::analysis::ranking::Data;
use engine::analysis::tuning::TuningCache;
use engine::mechanism::Variant;
use engine::mechanism::law::{Exact, Plan, Recipe};
use engine::mechanism::prepared::PreparedSetting;
use engine::posterior::model::compositions;
use engine::posterior::sensitivity::CandidatesInBeta;
use engine::posterior::setting::Setting;
use lab::run::forecast;
use system::console::{Grid, short, short_or_dash};
use system::diagnostic::Diagnostic;
use table::Number;

pub use law::ListedLaw;

pub fn execute(args: &Inspect) -> Result<(), Failure> {
    let (found, _) = examine(args)?;
    args.calculation.answer.give(|| found.laws(), || found.document(), || found.text())
}

/// Refuses a setting that cannot be.
pub fn check_setting(args: &Inspect) -> Result<(), Diagnostic> {
    setting(args).map(|_| ())
}

/// The document, and the law of the one mechanism that is named.
pub fn law(args: &Inspect) -> Result<ListedLaw, Failure> {
    let setting = setting(args)?;
    law::check_listed(&variants(args, &setting)?, &setting)?;
    let (found, tuned) = examine(args)?;
    ListedLaw::new(json_text(&found.document())?, &tuned[0], &setting)
}

/// What is exact, and the mechanisms as they are tuned.
fn examine(args: &Inspect) -> Result<(Inspection, Vec<Variant>), Failure> {
    let threads = threads(&args.calculation.machine.threads)?;
    let setting = setting(args)?;
    let variants = variants(args, &setting)?;
    if let Some(path) = &args.law {
        law::check(path, args.mechanisms.named().len(), &variants, &setting)?;
    }
    let named = !args.mechanisms.is_empty();
    let mut impossible =
        typed::of_fewer_records(&args.mechanisms, &setting, typed::every_variant(false));
    let (variants, slow) = match named || args.calculation.machine.force {
        true => (variants, Vec::new()),
        false => quickest(variants, &setting),
    };
    let work = predict(&variants, &setting);
    let (total, candidates) = (cost::total([&work], threads), work.candidates);
    forecast::admit("this setting", &total, candidates, threads, args.calculation.machine.force)?;
    let clock = announce(total.seconds(threads), args.calculation.quiet);

    let tuning = TuningCache::default();
    let tune = |variant: &Variant| {
        let tuned = tuning.tune(variant, &setting).map(|tuned| tuned.variant);
        let planned = tuned.and_then(|tuned| Ok((tuned.plan(&setting)?, tuned)));
        planned.map(|(plan, tuned)| (plan, (variant.clone(), tuned)))
    };
    let mut planned = Vec::new();
    for variant in &variants {
        match tune(variant) {
            Ok(one) => planned.push(one),
            Err(refusal) if named => return Err(typed::refused(variant, refusal).into()),
            // What cannot be used does not keep the others from being shown.
            Err(_) => impossible.push(variant.clone()),
        }
    }
    let (plans, variants): (Vec<Plan>, Vec<(Variant, Variant)>) = planned.into_iter().unzip();
    let (variants, tuned): (Vec<Variant>, Vec<Variant>) = variants.into_iter().unzip();
    let prepared = PreparedSetting::with_summaries(&setting, &plans, &[]);
    let exacts: Vec<Exact> = plans
        .iter()
        .map(|plan| Exact::new(prepared.law(plan).as_ref(), prepared.distance()))
        .collect();
    let distance = args.candidate.as_ref().map(|candidate| prepared.distance().at(candidate));
    let law = match (&args.law, &tuned[..]) {
        (Some(path), [tuned]) => Some(law::write(path, tuned, &setting)?),
        _ => None,
    };
    drop(clock);
    let found =
        Inspection { setting, variants, exacts, slow, impossible, beta: args.beta, distance, law };
    Ok((found, tuned))
}

/// The mechanisms that are given; if none is, all that can be used.
fn variants(args: &Inspect, setting: &Setting) -> Result<Vec<Variant>, Diagnostic> {
    typed::variants(&args.mechanisms, setting, typed::every_variant(false))
}

/// The processor seconds that are spent on mechanisms that nobody named.
const LONGEST: f64 = 5.0;

/// The work of some mechanisms together.
fn predict(variants: &[Variant], setting: &Setting) -> SettingWork {
    let usable = variants.iter().filter_map(|one| Some((one, one.outline(setting).ok()?)));
    let (usable, recipes): (Vec<&Variant>, Vec<Recipe>) = usable.unzip();
    let mut work = cost::predict(setting, &recipes, &[], 0, false);
    for (variant, cell) in usable.iter().zip(&mut work.cells) {
        cell.add(cost::predict_tuning(variant, setting, Data::Given));
    }
    work
}

/// The mechanisms that are quick, and the others. If none is quick, all count as quick, and the forecast decides.
fn quickest(variants: Vec<Variant>, setting: &Setting) -> (Vec<Variant>, Vec<Variant>) {
    let seconds =
        |variant: &Variant| predict(std::slice::from_ref(variant), setting).sum().cpu_seconds;
    let pieces: Vec<(bool, Option<f64>)> =
        variants.iter().map(|variant| (false, Some(seconds(variant)))).collect();
    let quick = cost::quickest(&pieces, LONGEST);
    if !quick.contains(&true) {
        return (variants, Vec::new());
    }
    let mut quick = quick.into_iter();
    variants.into_iter().partition(|_| quick.next() == Some(true))
}

/// The setting typed by hand.
fn setting(args: &Inspect) -> Result<Setting, Diagnostic> {
    let Some(counts) = &args.data.counts else {
        return Err(typed::flag("n", "this is about one data set").help(
            "give its counts with -x; choose and optimum look at all data sets of n records",
        ));
    };
    let setting = typed::setting(&args.model, counts.clone(), args.privacy.epsilon)?;
    let (n, k) = (setting.posterior.n(), setting.posterior.k());
    if let Some(candidate) = &args.candidate {
        typed::same_length("--candidate", candidate.len(), k)?;
        if candidate.iter().any(|&c| c > n) {
            let error = format!("a count above n = {n} is never released");
            return Err(
                typed::wrong("candidate", &error).help(format!("give {k} counts of at most {n}"))
            );
        }
    }
    if let Some(beta) = args.beta.filter(|beta| !(beta.is_finite() && *beta >= 0.0)) {
        let error = format!("{beta} is negative or not finite");
        return Err(typed::wrong("beta", &error).help("try --beta 0.1"));
    }
    Ok(setting)
}

/// A setting and the exact laws of mechanisms there.
#[derive(Serialize, JsonSchema)]
pub struct Document<'a> {
    k: usize,
    n: u64,
    /// How many counts have the data's total; nothing if there are more than 2^128.
    candidates: Option<Count>,
    /// The local sensitivity at the data.
    local: Number,
    /// The global sensitivity.
    global: Number,
    /// The γ-smooth sensitivity at the data.
    gamma_smooth: Number,
    /// The β-smooth sensitivity at the data, with δ.
    beta_smooth: Option<Number>,
    mechanisms: Vec<MechanismDocument>,
    /// Mechanisms that nobody named and that are not shown.
    left_out: Vec<&'a str>,
    /// The distance of the candidate that was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    distance: Option<Number>,
    /// The table that was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    law: Option<&'a law::Written>,
}

/// A count; beyond 64 bits it is rounded.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
enum Count {
    Whole(u64),
    Rounded(f64),
}

impl From<u128> for Count {
    fn from(count: u128) -> Self {
        u64::try_from(count).map_or(Self::Rounded(count as f64), Self::Whole)
    }
}

/// The exact law of a mechanism's error; nothing where it takes long.
#[derive(Serialize, JsonSchema)]
struct MechanismDocument {
    id: String,
    guarantee: String,
    mean: Option<Number>,
    std: Option<Number>,
    /// The probability of releasing the true posterior.
    p_exact: f64,
    median: Option<Number>,
    q90: Option<Number>,
    /// The weights of the candidates, where the mechanism computes them.
    #[serde(skip_serializing_if = "Option::is_none")]
    weights: Option<Weights>,
}

/// The weights that `tight` gives to its candidates.
#[derive(Serialize, JsonSchema)]
struct Weights {
    rate: f64,
    smallest: f64,
    largest: f64,
    /// Whether negative weights were set to 0.
    clipped: bool,
    /// By how much probabilities sum to something else than 1.
    residual: Option<f64>,
    /// What that costs of ε at most.
    shift: f64,
}

struct Inspection {
    setting: Setting,
    variants: Vec<Variant>,
    exacts: Vec<Exact>,
    /// Mechanisms that nobody named and that take long.
    slow: Vec<Variant>,
    /// Those that cannot be used here.
    impossible: Vec<Variant>,
    beta: Option<f64>,
    distance: Option<f64>,
    law: Option<law::Written>,
}

impl Inspection {
    fn beta(&self) -> Option<f64> {
        self.beta.or_else(|| self.setting.beta(CandidatesInBeta::NPlusOne))
    }

    fn document(&self) -> Document<'_> {
        let posterior = &self.setting.posterior;
        let sensitivity = self.setting.sensitivity();
        let mechanism = |(variant, exact): (&Variant, &Exact)| MechanismDocument {
            id: variant.label.clone(),
            guarantee: variant.guarantee(&self.setting).to_string(),
            mean: exact.error.map(|error| Number(error.mean)),
            std: exact.error.map(|error| Number(error.std)),
            p_exact: exact.p_exact,
            median: exact.error.map(|error| Number(error.median)),
            q90: exact.error.map(|error| Number(error.q90)),
            weights: Weights::of(variant, &self.setting),
        };
        Document {
            k: posterior.k(),
            n: posterior.n(),
            candidates: compositions(posterior.n(), posterior.k()).map(Count::from),
            local: Number(sensitivity.local()),
            global: Number(sensitivity.global()),
            gamma_smooth: Number(sensitivity.gamma_smooth(self.setting.gamma.get())),
            beta_smooth: self.beta().map(|beta| Number(sensitivity.beta_smooth(beta))),
            mechanisms: self.variants.iter().zip(&self.exacts).map(mechanism).collect(),
            left_out: self.left_out().map(|one| one.label.as_str()).collect(),
            distance: self.distance.map(Number),
            law: self.law.as_ref(),
        }
    }

    /// What nobody named and is not shown.
    fn left_out(&self) -> impl Iterator<Item = &Variant> {
        self.slow.iter().chain(&self.impossible)
    }

    /// The exact law of every mechanism.
    fn laws(&self) -> Grid {
        let mut laws = Grid::new(2);
        laws.row(["mechanism", "guarantee", "mean", "std", "median", "90 %", "P[exact]"]);
        for (variant, exact) in self.variants.iter().zip(&self.exacts) {
            laws.row([
                typed::shown(variant),
                variant.guarantee(&self.setting).to_string(),
                short_or_dash(exact.error.map(|error| error.mean)),
                short_or_dash(exact.error.map(|error| error.std)),
                short_or_dash(exact.error.map(|error| error.median)),
                short_or_dash(exact.error.map(|error| error.q90)),
                short(exact.p_exact),
            ]);
        }
        laws
    }

    fn text(&self) -> String {
        let posterior = &self.setting.posterior;
        let sensitivity = self.setting.sensitivity();
        let gamma = self.setting.gamma.get();
        let candidates = compositions(posterior.n(), posterior.k());
        let mut facts = Grid::new(2);
        let mut fact = |name: String, value: String| facts.row([name, value]);
        fact("categories k".into(), posterior.k().to_string());
        fact("records n".into(), posterior.n().to_string());
        fact("candidates".into(), candidates.map_or("more than 10^38".into(), |c| c.to_string()));
        fact("local sensitivity".into(), sensitivity.local().to_string());
        fact("global sensitivity".into(), sensitivity.global().to_string());
        let smooth = sensitivity.gamma_smooth(gamma);
        fact(format!("γ-smooth sensitivity, γ = {gamma}"), smooth.to_string());
        if let Some(beta) = self.beta() {
            let smooth = sensitivity.beta_smooth(beta);
            fact(format!("β-smooth sensitivity, β = {}", short(beta)), smooth.to_string());
        }
        if let Some(distance) = self.distance {
            fact(
                format!("{} of the candidate", self.setting.distance.title()),
                distance.to_string(),
            );
        }
        let title = self.setting.distance.title();
        let weights = self.variants.iter().filter_map(|variant| {
            let weights = Weights::of(variant, &self.setting)?;
            Some(format!("  {}: {}\n", typed::shown(variant), weights.text()))
        });
        format!(
            "{}\n  exact law of the error ({title})\n{}{}{}{}{}",
            facts.render(),
            self.laws().render(),
            typed::remapped_by_descent(self.variants.iter(), &self.setting),
            weights.collect::<String>(),
            typed::left_out(&self.slow, &self.impossible),
            self.law.as_ref().map_or(String::new(), law::Written::text)
        )
    }
}

impl Weights {
    /// The weights, if the mechanism is `tight`.
    fn of(variant: &Variant, setting: &Setting) -> Option<Self> {
        let Recipe::Hamming { rate, weights } = variant.recipe(setting).ok()? else { return None };
        let tight = weights.tight(&setting.posterior, rate)?;
        Some(Self {
            rate,
            smallest: tight.smallest(),
            largest: tight.largest(),
            clipped: tight.is_clipped(),
            residual: (!tight.is_clipped()).then(|| tight.residual()),
            shift: tight.shift(),
        })
    }

    fn text(&self) -> String {
        match self.residual {
            None => format!(
                "negative weights were set to 0. With rate {} the normalisers differ by a factor of \
                 at most exp({}), and the exact loss is ε",
                self.rate,
                short(self.shift)
            ),
            Some(residual) => format!(
                "the weights lie between {} and {}. Probabilities sum to 1 within {residual:.1e}, which \
                 costs at most {:.1e} of ε",
                short(self.smallest),
                short(self.largest),
                self.shift
            ),
        }
    }
}
