//! `dpbi inspect`.

mod law;

use schemars::JsonSchema;
use serde::Serialize;

use super::{json_text, threads, typed};
use crate::cli::Inspect;
use crate::failure::Failure;
use engine::analysis::ranking::Data;
use engine::analysis::size::{self, Size};
use engine::analysis::tuning::TuningCache;
use engine::mechanism::Mechanism;
use engine::mechanism::law::tight::TightLaw;
use engine::mechanism::law::{Bench, ErrorSummary};
use engine::parallel;
use engine::posterior::model::compositions;
use engine::posterior::sensitivity::{CandidatesInBeta, different_categories};
use engine::posterior::setting::SettingWithData;
use engine::prepared::Prepared;
use lab::run::size::admit;
use system::console::{Grid, short, short_or_dash};
use system::diagnostic::Diagnostic;
use table::Number;

pub use law::ListedLaw;

pub fn execute(args: &Inspect) -> Result<(), Failure> {
    let found = examine(args)?;
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
    let found = examine(args)?;
    ListedLaw::new(json_text(&found.document())?, &found.prepared[0], &setting)
}

/// What is exact.
fn examine(args: &Inspect) -> Result<Inspection, Failure> {
    threads(&args.calculation.machine.threads)?;
    let setting = setting(args)?;
    let variants = variants(args, &setting)?;
    if let Some(path) = &args.law {
        law::check(path, args.mechanisms.named().len(), &variants, &setting)?;
    }
    let named = !args.mechanisms.is_empty();
    let mut impossible = typed::of_fewer_records(&args.mechanisms, &setting, Mechanism::all(false));
    let (variants, slow) = match named || args.calculation.machine.force {
        true => (variants, Vec::new()),
        false => smallest(variants, &setting),
    };
    let largest = variants.iter().map(|one| size_of(one, &setting).bytes).fold(0.0, f64::max);
    admit("this setting", largest, args.calculation.machine.force, || {
        "fewer records or categories, or mechanisms that need no enumeration (lshist, geometric)"
            .to_owned()
    })?;

    let tuning = TuningCache::default();
    let mut prepared = Vec::new();
    let whole = parallel::of_whole(1.0);
    let tuning_part = parallel::part(tuned_part(&variants, &setting));
    for place in parallel::steps(0..variants.len()) {
        let variant = &variants[place];
        match tuning.prepare(variant, &setting) {
            Ok(one) => prepared.push(one),
            Err(refusal) if named => return Err(typed::refused(variant, refusal).into()),
            // What cannot be used does not keep the others from being shown.
            Err(_) => impossible.push(variant.clone()),
        }
    }
    drop(tuning_part);
    let variants: Vec<Mechanism> = prepared.iter().map(|one| one.variant.clone()).collect();
    let part = parallel::part(sensitivities_part(&setting, &variants));
    let sensitivities = Sensitivities::new(&setting, args.beta);
    drop(part);
    let part = parallel::part(0.5);
    let laws = prepared.iter().map(|one| one.law.as_ref());
    let bench = Bench::with_summaries(setting.posterior(), setting.distance, laws, &[])
        .map_err(|refusal| Diagnostic::new(refusal.cause).help(refusal.remedy))?;
    drop(part);
    let exact = |place: usize| ErrorSummary::new(bench.law(place).as_ref(), bench.distance());
    let exacts: Vec<ErrorSummary> = parallel::steps(0..prepared.len()).map(exact).collect();
    let distance = args.candidate.as_ref().map(|candidate| bench.distance().at(candidate));
    drop(bench);
    drop(whole);
    let law = match (&args.law, &prepared[..]) {
        (Some(path), [one]) => Some(law::write(path, one, &setting)?),
        _ => None,
    };
    let found =
        Inspection { setting, prepared, exacts, slow, impossible, sensitivities, distance, law };
    Ok(found)
}

/// The mechanisms that are given; if none is, all that can be used.
fn variants(args: &Inspect, setting: &SettingWithData) -> Result<Vec<Mechanism>, Diagnostic> {
    typed::variants(&args.mechanisms, setting, setting.posterior(), Mechanism::all(false))
}

/// The size of a mechanism at the setting, with its tuning.
fn size_of(variant: &Mechanism, setting: &SettingWithData) -> Size {
    let data = Data::Given(setting.counts().to_vec());
    let (posterior, distance) = (setting.posterior(), setting.distance);
    let law = variant.outline(setting);
    let law = law.map(|law| size::of(law.as_ref(), posterior, distance, size::SUMMARISED));
    size::tuning(variant, setting, &data).then(law.unwrap_or_default())
}

/// The part of the work that mechanisms are tuned in.
fn tuned_part(variants: &[Mechanism], setting: &SettingWithData) -> f64 {
    let data = Data::Given(setting.counts().to_vec());
    let tuned = |one: &Mechanism| size::tuning(one, setting, &data).outputs;
    let all: f64 = variants.iter().map(|one| size_of(one, setting).outputs).sum();
    variants.iter().map(tuned).sum::<f64>() / all.max(1.0)
}

/// The mechanisms that are small, and the others. If none is small, all count as small.
fn smallest(
    variants: Vec<Mechanism>,
    setting: &SettingWithData,
) -> (Vec<Mechanism>, Vec<Mechanism>) {
    let sizes: Vec<Option<Size>> =
        variants.iter().map(|variant| Some(size_of(variant, setting))).collect();
    let small = size::smallest(&sizes, size::BUDGET);
    if !small.contains(&true) {
        return (variants, Vec::new());
    }
    let mut small = small.into_iter();
    variants.into_iter().partition(|_| small.next() == Some(true))
}

/// The setting typed by hand.
fn setting(args: &Inspect) -> Result<SettingWithData, Diagnostic> {
    let Some(counts) = &args.data.counts else {
        return Err(typed::flag("n", "this is about one data set").help(
            "give its counts with -x; choose and optimum look at all data sets of n records",
        ));
    };
    let setting = typed::setting(&args.model, &args.data, args.privacy.epsilon)?;
    let (n, k) = (setting.n, setting.k());
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
    Ok(SettingWithData::new(setting, counts.clone()))
}

/// A setting and the exact laws of mechanisms there.
#[derive(Serialize, JsonSchema)]
pub struct Document<'a> {
    k: usize,
    n: u64,
    /// How many counts have the data's total; nothing if there are more than 2^128.
    candidates: Option<Count>,
    #[serde(flatten)]
    sensitivities: Sensitivities,
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
    setting: SettingWithData,
    prepared: Vec<Prepared>,
    exacts: Vec<ErrorSummary>,
    /// Mechanisms that nobody named and that take long.
    slow: Vec<Mechanism>,
    /// Those that cannot be used here.
    impossible: Vec<Mechanism>,
    sensitivities: Sensitivities,
    distance: Option<f64>,
    law: Option<law::Written>,
}

/// How far one record can change the distance.
#[derive(Clone, Copy, Serialize, JsonSchema)]
struct Sensitivities {
    /// The local sensitivity at the data.
    local: Number,
    /// The global sensitivity.
    global: Number,
    /// The γ-smooth sensitivity at the data.
    gamma_smooth: Number,
    #[serde(skip)]
    beta: Option<f64>,
    /// The β-smooth sensitivity at the data, with δ.
    beta_smooth: Option<Number>,
}

impl Sensitivities {
    fn new(setting: &SettingWithData, beta: Option<f64>) -> Self {
        let sensitivity = setting.sensitivity();
        let beta = beta.or_else(|| setting.beta(CandidatesInBeta::NPlusOne));
        Self {
            local: Number(sensitivity.local()),
            global: Number(sensitivity.global()),
            gamma_smooth: Number(sensitivity.gamma_smooth(setting.gamma.get())),
            beta,
            beta_smooth: beta.map(|beta| Number(sensitivity.beta_smooth(beta))),
        }
    }
}

/// The part of the work in which sensitivities are found: each looks at all pairs of categories that differ.
fn sensitivities_part(setting: &SettingWithData, variants: &[Mechanism]) -> f64 {
    let different = different_categories(setting.posterior()) as f64;
    let own = 2_000.0 * different * different;
    own / (own + variants.iter().map(|one| size_of(one, setting).outputs).sum::<f64>())
}

impl Inspection {
    fn document(&self) -> Document<'_> {
        let posterior = self.setting.posterior();
        let mechanism = |(prepared, exact): (&Prepared, &ErrorSummary)| MechanismDocument {
            id: prepared.variant.label.clone(),
            guarantee: prepared.variant.guarantee(&self.setting).to_string(),
            mean: exact.error.map(|error| Number(error.mean)),
            std: exact.error.map(|error| Number(error.std)),
            p_exact: exact.p_exact,
            median: exact.error.map(|error| Number(error.median)),
            q90: exact.error.map(|error| Number(error.q90)),
            weights: Weights::of(prepared),
        };
        Document {
            k: posterior.k(),
            n: posterior.n(),
            candidates: compositions(posterior.n(), posterior.k()).map(Count::from),
            sensitivities: self.sensitivities,
            mechanisms: self.prepared.iter().zip(&self.exacts).map(mechanism).collect(),
            left_out: self.left_out().map(|one| one.label.as_str()).collect(),
            distance: self.distance.map(Number),
            law: self.law.as_ref(),
        }
    }

    /// What nobody named and is not shown.
    fn left_out(&self) -> impl Iterator<Item = &Mechanism> {
        self.slow.iter().chain(&self.impossible)
    }

    /// The exact law of every mechanism.
    fn laws(&self) -> Grid {
        let mut laws = Grid::new(2);
        laws.row(["mechanism", "guarantee", "mean", "std", "median", "90 %", "P[exact]"]);
        for (Prepared { variant, .. }, exact) in self.prepared.iter().zip(&self.exacts) {
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
        let posterior = self.setting.posterior();
        let Sensitivities { local, global, gamma_smooth, beta, beta_smooth } = self.sensitivities;
        let gamma = self.setting.gamma.get();
        let candidates = compositions(posterior.n(), posterior.k());
        let mut facts = Grid::new(2);
        let mut fact = |name: String, value: String| facts.row([name, value]);
        fact("categories k".into(), posterior.k().to_string());
        fact("records n".into(), posterior.n().to_string());
        fact("candidates".into(), candidates.map_or("more than 10^38".into(), |c| c.to_string()));
        fact("local sensitivity".into(), local.0.to_string());
        fact("global sensitivity".into(), global.0.to_string());
        fact(format!("γ-smooth sensitivity, γ = {gamma}"), gamma_smooth.0.to_string());
        if let (Some(beta), Some(smooth)) = (beta, beta_smooth) {
            fact(format!("β-smooth sensitivity, β = {}", short(beta)), smooth.0.to_string());
        }
        if let Some(distance) = self.distance {
            fact(
                format!("{} of the candidate", self.setting.distance.title()),
                distance.to_string(),
            );
        }
        let title = self.setting.distance.title();
        let weights = self.prepared.iter().filter_map(|prepared| {
            let weights = Weights::of(prepared)?;
            Some(format!("  {}: {}\n", typed::shown(&prepared.variant), weights.text()))
        });
        format!(
            "{}\n  exact law of the error ({title})\n{}{}{}{}{}",
            facts.render(),
            self.laws().render(),
            typed::remapped_by_descent(self.prepared.iter().map(|one| &one.variant), &self.setting),
            weights.collect::<String>(),
            typed::left_out(&self.slow, &self.impossible),
            self.law.as_ref().map_or(String::new(), law::Written::text)
        )
    }
}

impl Weights {
    /// The weights, if the mechanism is `tight`.
    fn of(prepared: &Prepared) -> Option<Self> {
        let TightLaw { rate, weights: tight } = prepared.law.candidate_weights()?;
        Some(Self {
            rate: *rate,
            smallest: tight.smallest(),
            largest: tight.largest,
            clipped: tight.is_clipped(),
            residual: (!tight.is_clipped()).then(|| tight.residual),
            shift: tight.shift,
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
