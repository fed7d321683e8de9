//! `dpbi audit`.

use schemars::JsonSchema;
use serde::Serialize;

use super::{threads, typed};
use crate::cli::Audit;
use crate::failure::Failure;
use engine::analysis::audit::{self, Findings, Scope, TradeOff};
use engine::analysis::predictive_error::over_all_data;
use engine::analysis::ranking::Data;
use engine::analysis::size::{self, Size};
use engine::analysis::tuning::{self, Certificate};
use engine::mechanism::{Mechanism, Tuning};
use engine::numeric::exp_accurate;
use engine::parallel;
use engine::posterior::privacy::Guarantee;
use engine::posterior::setting::Setting;
use engine::prepared::Prepared;
use engine::refusal::suggest;
use lab::experiment::naming::parenthesised;
use lab::run::size::admit;
use system::console::{Grid, short, short_or_dash, shorten, significant};
use system::diagnostic::Diagnostic;
use table::Number;

pub fn execute(args: &Audit) -> Result<(), Failure> {
    threads(&args.calculation.machine.threads)?;
    let setting = typed::setting(&args.model, &args.data, args.privacy.epsilon)?;
    let scope = scope(args)?;
    let variant = variant(args, &setting)?;
    // Of a mechanism with a δ, δ at its own ε is what counts.
    let stated = variant.kind.uses_delta && !variant.options.calibrated;
    let at = at_epsilon(args)?.or(stated.then_some(args.privacy.epsilon));
    let sizes = sizes(args, &variant, &setting, &scope)?;
    let all: f64 = sizes.iter().map(|size| size.outputs).sum();
    let part = |place: usize| parallel::of_whole(sizes[place].outputs / all);

    let tuning_part = part(0);
    let Prepared { variant, law, certificate, .. } =
        variant.prepare(&setting).map_err(|refusal| typed::refused(&variant, refusal))?;
    drop(tuning_part);
    let refused = |refusal| typed::refused(&variant, refusal);
    let asked: Vec<f64> = std::iter::once(0.0).chain(at).collect();
    let examine = |at: &[f64]| {
        audit::examine(law.as_ref(), &setting, &scope, at)
            .map_err(|refusal| typed::refused(&variant, refusal))
    };
    let first_part = part(1);
    let first = examine(&asked)?;
    drop(first_part);
    let profile_part = part(2);
    let profile = match args.profile {
        true => examine(&profile_grid(&first, &setting))?.deltas,
        false => Vec::new(),
    };
    drop(profile_part);
    let advantage = first.deltas.first().expect("δ at 0 was asked for");
    let trade_off = (args.profile && first.loss.pairs > 0)
        .then(|| audit::trade_off(law.as_ref(), &setting, &advantage.from, &advantage.to))
        .transpose()
        .map_err(refused)?;
    let mean = match &certificate {
        Some(_) => over_all_data(law.as_ref(), &setting).map_err(refused)?,
        None => None,
    };
    let (profile, loss) = (profile.iter().map(|at| (at.epsilon, at.delta)), &first.loss);
    let (profile, delta_at): (Vec<(f64, f64)>, _) = (profile.collect(), first.deltas.get(1));
    let document = Document {
        mechanism: &variant.label,
        guarantee: variant.guarantee(&setting).to_string(),
        epsilon: setting.epsilon.get(),
        n: setting.n,
        prior: setting.prior.alpha(),
        scope: match scope {
            Scope::All => ALL,
            Scope::Corners => CORNERS,
            Scope::One(_) | Scope::Pair(..) => "data",
        },
        loss: Number(loss.loss),
        from: &loss.from,
        to: &loss.to,
        output: &loss.output,
        pairs: loss.pairs,
        at_epsilon: delta_at.map(|at| at.epsilon),
        delta_at: delta_at.map(|at| at.delta),
        delta_from: delta_at.map(|at| &at.from[..]),
        delta_to: delta_at.map(|at| &at.to[..]),
        advantage: advantage.delta,
        advantage_from: &advantage.from,
        advantage_to: &advantage.to,
        calibration: certificate.as_ref().map(|certificate| {
            let mean = mean.as_ref().map(|expected| expected.mean);
            Calibration::new(&variant, certificate, mean)
        }),
        profile: (!profile.is_empty()).then_some(profile),
        trade_off: trade_off.as_ref().map(TradeOffDocument::new),
    };
    let found = Found { document, setting: &setting, variant: &variant, scope: &scope };
    args.calculation.answer.give(|| found.facts(), || &found.document, || found.text())
}

fn scope(args: &Audit) -> Result<Scope, Diagnostic> {
    if let Some(counts) = &args.data.counts {
        return Ok(Scope::One(counts.clone()));
    }
    match args.scope.as_str() {
        ALL => Ok(Scope::All),
        CORNERS => Ok(Scope::Corners),
        other => Err(typed::wrong("scope", &format!("unknown scope `{other}`"))
            .help(suggest(other, [ALL, CORNERS]))),
    }
}

const ALL: &str = "all";
const CORNERS: &str = "corners";

fn at_epsilon(args: &Audit) -> Result<Option<f64>, Diagnostic> {
    match args.at_epsilon {
        Some(epsilon) if !(epsilon.is_finite() && epsilon >= 0.0) => {
            let error = format!("{epsilon} is negative or not finite");
            Err(typed::wrong("at-epsilon", &error).help("try --at-epsilon 0.5"))
        }
        at => Ok(at),
    }
}

fn variant(args: &Audit, setting: &Setting) -> Result<Mechanism, Diagnostic> {
    let [named] = args.mechanisms.named()[..] else {
        return Err(Diagnostic::new("an audit is about one mechanism")
            .help("name it with -m, such as -m ehds or -m '{-epsilon*H/LS}'"));
    };
    let mut variant = typed::variant(named)?;
    if args.calibrate && !variant.options.calibrated {
        variant.options.calibrated = true;
        variant.label += &Tuning::CALIBRATED.to_string();
    }
    let at = args.data.counts.clone().map_or_else(|| setting.anywhere(), |x| setting.at(x));
    let checked = tuning::check(&variant, setting, &at);
    let checked = checked.and_then(|()| audit::check(&variant, setting));
    checked.map_err(|refusal| typed::refused(&variant, refusal))?;
    Ok(variant)
}

/// The sizes of tuning, audit and profile. Refuses an audit that needs more memory than there is.
fn sizes(
    args: &Audit,
    variant: &Mechanism,
    setting: &Setting,
    scope: &Scope,
) -> Result<[Size; 3], Diagnostic> {
    let outlined = variant.outline(setting);
    let law = outlined.map_err(|refusal| typed::refused(variant, refusal))?;
    let everything = *scope == Scope::All;
    let data = match everything {
        true => Data::PriorPredictive,
        false => {
            Data::Given(args.data.counts.clone().unwrap_or(setting.anywhere().counts().to_vec()))
        }
    };
    let mut audit = match everything && variant.options.remap {
        true => size::remapped_audit(law.as_ref(), setting),
        false => size::audit(law.as_ref(), setting, &data, 2.0),
    };
    let tuning = size::tuning(variant, setting, &Data::PriorPredictive);
    if variant.options.calibrated {
        audit =
            audit.then(size::error(variant, setting, &Data::PriorPredictive).unwrap_or_default());
    }
    let profile = match args.profile {
        true => size::audit(law.as_ref(), setting, &data, size::PROFILE),
        false => Size::default(),
    };
    let bytes = tuning.then(audit).then(profile).bytes;
    let fewer = match everything && tuning == Size::default() {
        true => {
            "--scope corners looks at data sets with at most three records outside one category, where \
             losses are often largest; --counts audits one data set"
        }
        false => "use fewer records",
    };
    admit("this audit is too large", bytes, args.calculation.machine.force, || fewer.to_owned())?;
    Ok([tuning, audit, profile])
}

/// The number of points of a privacy profile.
const PROFILE: u32 = 50;

/// Values of ε from 0 to the loss, at which δ becomes 0; or to twice the stated ε, if the loss is infinite.
fn profile_grid(found: &Findings, setting: &Setting) -> Vec<f64> {
    let loss = found.loss.loss;
    let last = if loss.is_finite() { loss } else { 2.0 * setting.epsilon.get() };
    (0..=PROFILE).map(|i| last * (f64::from(i) / f64::from(PROFILE))).collect()
}

/// The exact privacy of a mechanism.
#[derive(Serialize, JsonSchema)]
pub struct Document<'a> {
    mechanism: &'a str,
    /// What is stated of it.
    guarantee: String,
    epsilon: f64,
    n: u64,
    prior: &'a [f64],
    /// Over which data sets: all, corners, or those that were given (data).
    scope: &'static str,
    /// The largest privacy loss.
    loss: Number,
    /// Where the loss is largest: the data under which the output is more probable.
    from: &'a [u64],
    /// Its neighbour there.
    to: &'a [u64],
    /// The output there.
    output: &'a [u64],
    /// How many pairs of neighbours were looked at.
    pairs: u64,
    /// The ε that was asked for.
    at_epsilon: Option<f64>,
    /// δ at that ε.
    delta_at: Option<f64>,
    /// The data with this δ.
    delta_from: Option<&'a [u64]>,
    /// Its neighbour.
    delta_to: Option<&'a [u64]>,
    /// δ at ε = 0: how much better than guessing neighbours can be told apart.
    advantage: f64,
    /// The data with this δ.
    advantage_from: &'a [u64],
    /// Its neighbour.
    advantage_to: &'a [u64],
    #[serde(flatten)]
    calibration: Option<Calibration<'a>>,
    /// ε and δ.
    #[serde(skip_serializing_if = "Option::is_none")]
    profile: Option<Vec<(f64, f64)>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    trade_off: Option<TradeOffDocument<'a>>,
}

/// How a mechanism was calibrated.
#[derive(Serialize, JsonSchema)]
struct Calibration<'a> {
    /// The ε in the weight.
    inner_epsilon: f64,
    /// The factor by which the ε of one's own expression is multiplied.
    factor: Option<f64>,
    /// The mean error under the prior predictive distribution.
    mean: Option<Number>,
    certificate: CertificateDocument<'a>,
}

/// Why the calibrated mechanism is private.
#[derive(Serialize, JsonSchema)]
struct CertificateDocument<'a> {
    /// The ε that was asked for.
    target: f64,
    /// The exact loss.
    loss: f64,
    margin: f64,
    from: &'a [u64],
    to: &'a [u64],
    output: &'a [u64],
    pairs: u64,
}

/// False alarms against misses of the worst pair: a false alarm is one at the null hypothesis, a miss one at
/// the alternative.
#[derive(Serialize, JsonSchema)]
struct TradeOffDocument<'a> {
    from: &'a [u64],
    to: &'a [u64],
    null: &'a [u64],
    alternative: &'a [u64],
    points: Vec<(f64, f64)>,
}

/// Of a longer label the middle is left out.
const LONGEST_LABEL: usize = 50;

/// A number as it is printed: six digits. `--json` has all of them.
fn shown(value: f64) -> String {
    significant(value, 6)
}

impl<'a> Calibration<'a> {
    fn new(variant: &Mechanism, certificate: &'a Certificate, mean: Option<f64>) -> Self {
        let inner = certificate.inner_epsilon.get();
        let is_own = variant.kind.definition.is_some();
        Self {
            inner_epsilon: inner,
            factor: is_own.then_some(inner / certificate.target),
            mean: mean.map(Number),
            certificate: CertificateDocument {
                target: certificate.target,
                loss: certificate.found.loss,
                margin: certificate.margin(),
                from: &certificate.found.from,
                to: &certificate.found.to,
                output: &certificate.found.output,
                pairs: certificate.found.pairs,
            },
        }
    }
}

impl<'a> TradeOffDocument<'a> {
    fn new(curve: &'a TradeOff) -> Self {
        let alarms = (0..=100).map(|i| f64::from(i) / 100.0);
        Self {
            from: &curve.from,
            to: &curve.to,
            null: &curve.to,
            alternative: &curve.from,
            points: alarms.map(|alarm| (alarm, curve.misses(alarm))).collect(),
        }
    }
}

/// What was found out, and about what.
struct Found<'a> {
    document: Document<'a>,
    setting: &'a Setting,
    variant: &'a Mechanism,
    scope: &'a Scope,
}

impl Found<'_> {
    /// What was found out, line by line.
    fn facts(&self) -> Grid {
        let found = &self.document;
        let mut facts = Grid::new(2);
        let mut fact = |name: &str, value: String| facts.row([name.to_owned(), value]);
        let pair =
            |from: &[u64], to: &[u64]| format!("{} and {}", parenthesised(from), parenthesised(to));
        fact("mechanism", shorten(found.mechanism, LONGEST_LABEL));
        fact("stated", self.stated());
        fact("covers", format!("{}, {} pairs of neighbours", self.looked_at(), found.pairs));
        if let Some(Calibration { inner_epsilon, factor, mean, certificate }) = &found.calibration {
            match factor {
                None => fact("ε in the weight", shown(*inner_epsilon)),
                Some(factor) => fact("log weight times", shown(*factor)),
            }
            let margin = format!("{:.1e} below ε", certificate.margin);
            let covered = format!("{} pairs of neighbours", certificate.pairs);
            fact("certificate", format!("loss {margin}, over all {covered}"));
            let title = self.setting.distance.title();
            let mean = short_or_dash(mean.map(|mean| mean.0));
            fact("mean error", format!("{mean} ({title}, over the prior predictive distribution)"));
        }
        let loss = found.loss.0;
        let infinite = loss == f64::INFINITY;
        fact("privacy loss", if infinite { "infinite".to_owned() } else { shown(loss) });
        if found.pairs > 0 {
            fact("  between", pair(found.from, found.to));
            fact("  at output", parenthesised(found.output));
            if !infinite {
                fact("  odds change by", format!("a factor {}", short(exp_accurate(loss))));
            }
        }
        if let (Some(epsilon), Some(delta)) = (found.at_epsilon, found.delta_at) {
            fact(&format!("δ at ε = {epsilon}"), shown(delta));
            if let (true, Some(from), Some(to)) = (delta > 0.0, found.delta_from, found.delta_to) {
                fact("  between", pair(from, to));
            }
        }
        fact("membership advantage", shown(found.advantage));
        if found.advantage > 0.0 {
            fact("  between", pair(found.advantage_from, found.advantage_to));
        }
        facts
    }

    fn text(&self) -> String {
        let mut text = self.facts().render();
        if let Some(profile) = &self.document.profile {
            let mut grid = Grid::new(0);
            grid.row(["ε", "δ"]);
            let some = profile.iter().step_by(PROFILE as usize / 10);
            some.for_each(|(epsilon, delta)| grid.row([short(*epsilon), short(*delta)]));
            text += &format!("\n  privacy profile\n{}", grid.render());
        }
        if let Some(curve) = &self.document.trade_off {
            let mut grid = Grid::new(0);
            grid.row(["false alarms", "misses"]);
            let some = curve.points.iter().step_by(10);
            some.for_each(|(alarm, miss)| grid.row([format!("{alarm:.1}"), short(*miss)]));
            let [null, other] = [curve.null, curve.alternative].map(parenthesised);
            text += &format!(
                "\n  What an observer can tell. False alarm: the data were {null}, and are taken for \
                 {other}. Miss: the data were {other}, and are taken for {null}.\n{}",
                grid.render()
            );
        }
        text
    }

    /// The guarantee. What is computed says for what it is computed.
    fn stated(&self) -> String {
        let prior = parenthesised(self.setting.prior.alpha());
        let computed = format!("for n = {}, prior {prior}", self.setting.n);
        match self.variant.guarantee(self.setting) {
            Guarantee::Unstated => format!("none stated; the loss below is computed {computed}"),
            guarantee @ Guarantee::Computed(_) => format!("{guarantee} {computed}"),
            proved => proved.to_string(),
        }
    }

    fn looked_at(&self) -> String {
        match self.scope {
            Scope::All => format!("all data sets of {} records", self.setting.n),
            Scope::Corners => {
                format!("data sets of {} records near the corners", self.setting.n)
            }
            Scope::One(counts) | Scope::Pair(counts, _) => {
                format!("the data set {}", parenthesised(counts))
            }
        }
    }
}
