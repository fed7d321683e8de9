//! `dpbi inspect`.

use serde_json::{Value, json};

use super::{Failure, admit, print, print_json, threads};
use crate::cli::Inspect;
use crate::console::{Grid, short, short_or_dash};
use crate::cost;
use crate::diagnostic::{Diagnostic, suggest};
use crate::distance;
use crate::law::{Exact, Recipe};
use crate::mechanism::{self, Variant};
use crate::model::{MOST_RECORDS, Posterior, Prior, compositions, is_countable};
use crate::privacy::{Delta, Epsilon, Gamma, PrivacyError};
use crate::sensitivity::CandidatesInBeta;
use crate::setting::Setting;
use crate::workbench::Workbench;

/// Work of more predicted seconds is announced.
const LONG: f64 = 3.0;

pub fn execute(args: &Inspect) -> Result<(), Failure> {
    let threads = threads(&args.machine.threads)?;
    let setting = setting(args)?;
    let (variants, recipes) = mechanisms(args, &setting)?;
    let work = cost::predict(&setting, &recipes, &[], 0);
    let work = admit("this setting", &[vec![work]], threads, args.machine.force)?;
    let seconds = work.cpu_seconds / threads as f64;
    if seconds > LONG {
        eprintln!("this will take about {}", cost::duration(seconds));
    }

    let bench = Workbench::new(&setting, &recipes, &[]);
    let field = bench.fields().next().expect("the distance is always there");
    let exacts: Vec<Exact> =
        recipes.iter().map(|&recipe| Exact::new(bench.law(recipe).as_ref(), field)).collect();
    let distance = args.candidate.as_ref().map(|candidate| field.at(candidate));
    let found = Findings { setting, variants, exacts, beta: args.beta, distance };
    if args.print.json { print_json(&found.json()) } else { print(&found.text()) }
}

/// The setting typed by hand.
fn setting(args: &Inspect) -> Result<Setting, Diagnostic> {
    let wrong =
        |flag: &str, error: &dyn std::fmt::Display| Diagnostic::new(format!("--{flag}: {error}"));
    let prior = Prior::new(args.prior.clone())
        .map_err(|error| wrong("prior", &error).help("use for example --prior 1,1"))?;
    same_length("--counts", args.counts.len(), prior.k())?;
    if !is_countable(&args.counts) {
        return Err(wrong("counts", &"these are more records than dpbi can count")
            .help(format!("use at most {MOST_RECORDS}")));
    }
    let n: u64 = args.counts.iter().sum();
    if let Some(candidate) = &args.candidate {
        same_length("--candidate", candidate.len(), prior.k())?;
        if candidate.iter().any(|&c| c > n) {
            return Err(wrong("candidate", &format!("a count above n = {n} is never released"))
                .help(format!("give {} counts of at most {n}", prior.k())));
        }
    }
    if let Some(beta) = args.beta.filter(|beta| !(beta.is_finite() && *beta >= 0.0)) {
        return Err(
            wrong("beta", &format!("{beta} is negative or not finite")).help("try --beta 0.1")
        );
    }
    let distance = distance::named(&args.distance)
        .map_err(|unfit| wrong("distance", &unfit.cause).help(unfit.remedy))?;
    let privacy = |error: PrivacyError| Diagnostic::new(error.to_string()).help(error.remedy());
    let delta = args.delta.map(Delta::new).transpose().map_err(privacy)?;
    Ok(Setting {
        posterior: Posterior::new(prior, args.counts.clone()),
        epsilon: Epsilon::new(args.epsilon).map_err(privacy)?,
        delta,
        gamma: Gamma::new(args.gamma).map_err(privacy)?,
        distance,
    })
}

fn same_length(flag: &str, length: usize, k: usize) -> Result<(), Diagnostic> {
    if length == k {
        return Ok(());
    }
    Err(Diagnostic::new(format!("{flag} has {length} numbers, but the prior has {k} categories"))
        .help(format!("give {k} numbers separated by commas")))
}

/// The mechanisms asked for, or all that can be used in this setting.
fn mechanisms(
    args: &Inspect,
    setting: &Setting,
) -> Result<(Vec<Variant>, Vec<Recipe>), Diagnostic> {
    if args.mechanism.is_empty() {
        let usable = |mechanism: &&'static dyn mechanism::Mechanism| {
            let variant = Variant::plain(*mechanism);
            variant.recipe(setting).ok().map(|recipe| (variant, recipe))
        };
        return Ok(mechanism::ALL.iter().filter_map(usable).unzip());
    }
    let asked = |id: &String| {
        let mechanism = mechanism::find(id).ok_or_else(|| {
            Diagnostic::new(format!("--mechanism: unknown mechanism `{id}`"))
                .help(suggest(id, mechanism::ALL.iter().map(|mechanism| mechanism.id())))
        })?;
        let variant = Variant::plain(mechanism);
        let recipe = variant
            .recipe(setting)
            .map_err(|refusal| Diagnostic::new(refusal.cause).help(refusal.remedy))?;
        Ok((variant, recipe))
    };
    let pairs: Vec<_> = args.mechanism.iter().map(asked).collect::<Result<_, Diagnostic>>()?;
    Ok(pairs.into_iter().unzip())
}

/// A number; JSON has none that is infinite, so that one is the text "inf".
fn number(value: f64) -> Value {
    if value.is_finite() { json!(value) } else { json!(value.to_string()) }
}

struct Findings {
    setting: Setting,
    variants: Vec<Variant>,
    exacts: Vec<Exact>,
    beta: Option<f64>,
    distance: Option<f64>,
}

impl Findings {
    fn beta(&self) -> Option<f64> {
        self.beta.or_else(|| self.setting.beta(CandidatesInBeta::NPlusOne))
    }

    fn json(&self) -> Value {
        let posterior = &self.setting.posterior;
        let sensitivity = self.setting.sensitivity();
        let candidates = compositions(posterior.n(), posterior.k()).map(|count| {
            u64::try_from(count).map_or_else(|_| json!(count as f64), |count| json!(count))
        });
        let mechanisms = self.variants.iter().zip(&self.exacts).map(|(variant, exact)| {
            json!({
                "id": variant.mechanism.id(),
                "guarantee": variant.guarantee(&self.setting).to_string(),
                "mean": exact.error.map(|error| number(error.mean)),
                "std": exact.error.map(|error| number(error.std)),
                "p_exact": exact.p_exact,
                "median": exact.error.map(|error| number(error.median)),
                "q90": exact.error.map(|error| number(error.q90)),
            })
        });
        let mut document = json!({
            "k": posterior.k(),
            "n": posterior.n(),
            "candidates": candidates,
            "local": number(sensitivity.local()),
            "global": number(sensitivity.global()),
            "gamma_smooth": number(sensitivity.gamma_smooth(self.setting.gamma.get())),
            "beta_smooth": self.beta().map(|beta| number(sensitivity.beta_smooth(beta))),
            "mechanisms": mechanisms.collect::<Vec<_>>(),
        });
        if let Some(distance) = self.distance {
            document["distance"] = number(distance);
        }
        document
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
        let mut laws = Grid::new(2);
        laws.row(["mechanism", "guarantee", "mean", "std", "median", "90 %", "P[exact]"]);
        for (variant, exact) in self.variants.iter().zip(&self.exacts) {
            laws.row([
                variant.mechanism.id().to_owned(),
                variant.guarantee(&self.setting).to_string(),
                short_or_dash(exact.error.map(|error| error.mean)),
                short_or_dash(exact.error.map(|error| error.std)),
                short_or_dash(exact.error.map(|error| error.median)),
                short_or_dash(exact.error.map(|error| error.q90)),
                short(exact.p_exact),
            ]);
        }
        let title = self.setting.distance.title();
        format!("{}\n  exact law of the error ({title})\n{}", facts.render(), laws.render())
    }
}
