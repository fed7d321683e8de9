//! `dpbi audit`.

use schemars::JsonSchema;
use serde::Serialize;

use super::{announce, threads, typed};
use crate::cli::Audit;
use crate::failure::Failure;
use crate::progress::Clock;
use engine::analysis::audit::{self, DeltaAt, Findings, Scope, TradeOff};
use engine::analysis::cost::{self, SettingWork, Work, rates};
use engine::analysis::predictive_error::over_all_data;
use engine::analysis::ranking::Data;
use engine::analysis::tuning::{self, Certificate, Tuned};
use engine::mechanism::{Tuning, Variant};
use engine::numeric::exp_accurate;
use engine::posterior::metric::Metric;
use engine::posterior::privacy::Guarantee;
use engine::posterior::setting::Setting;
use engine::refusal::suggest;
use lab::experiment::naming::parenthesised;
use system::console::{Grid, short, short_or_dash, shorten, significant};
use system::diagnostic::Diagnostic;
use system::platform::available_memory;
use table::Number;

pub fn execute(args: &Audit) -> Result<(), Failure> {
    let threads = threads(&args.calculation.machine.threads)?;
    let setting =
        typed::setting(&args.model, typed::counts(&args.model, &args.data), args.privacy.epsilon)?;
    let scope = scope(args)?;
    let variant = variant(args, &setting)?;
    // Of a mechanism with a δ, δ at its own ε is what counts.
    let stated = variant.mechanism.uses_delta() && !variant.options.calibrated;
    let at = at_epsilon(args)?.or(stated.then_some(args.privacy.epsilon));
    let clock = admit(args, &variant, &setting, &scope, threads)?;

    let Tuned { variant, certificate } =
        tuning::tune(&variant, &setting).map_err(|refusal| typed::refused(&variant, refusal))?;
    let refused = |refusal| typed::refused(&variant, refusal);
    let asked: Vec<f64> = std::iter::once(0.0).chain(at).collect();
    let first = examine(&variant, &setting, &scope, &asked)?;
    let profile = match args.profile {
        true => examine(&variant, &setting, &scope, &profile_grid(&first, &setting))?.deltas,
        false => Vec::new(),
    };
    let advantage = first.deltas.first().expect("δ at 0 was asked for");
    let trade_off = (args.profile && first.loss.pairs > 0)
        .then(|| audit::trade_off(&variant, &setting, &advantage.from, &advantage.to))
        .transpose()
        .map_err(refused)?;
    let metric = Metric::from_distance(setting.distance);
    let mean = match &certificate {
        Some(_) => over_all_data(&variant, &setting, metric).map_err(refused)?,
        None => None,
    };
    drop(clock);
    let report = Report {
        mean: mean.map(|expected| expected.mean),
        setting: &setting,
        variant: &variant,
        scope: &scope,
        certificate: certificate.as_ref(),
        findings: &first,
        advantage,
        delta_at: first.deltas.get(1),
        profile: &profile,
        trade_off: trade_off.as_ref(),
    };
    report.print(args)
}

fn examine(
    variant: &Variant,
    setting: &Setting,
    scope: &Scope,
    at: &[f64],
) -> Result<Findings, Diagnostic> {
    audit::examine(variant, setting, scope, at).map_err(|refusal| typed::refused(variant, refusal))
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

fn variant(args: &Audit, setting: &Setting) -> Result<Variant, Diagnostic> {
    let [named] = args.mechanisms.named()[..] else {
        return Err(Diagnostic::new("an audit is about one mechanism")
            .help("name it with -m, such as -m ehds or -m '{-epsilon*H/LS}'"));
    };
    let mut variant = typed::variant(named)?;
    if args.calibrate && !variant.options.calibrated {
        variant.options.calibrated = true;
        variant.label += &Tuning::CALIBRATED.to_string();
    }
    let checked = tuning::check(&variant, setting).and_then(|()| audit::check(&variant, setting));
    checked.map_err(|refusal| typed::refused(&variant, refusal))?;
    Ok(variant)
}

/// An audit that takes longer is not started, unless forced.
const LONGEST: f64 = 3600.0;

/// Refuses an audit that takes too long and names a smaller one; announces one that takes long.
fn admit(
    args: &Audit,
    variant: &Variant,
    setting: &Setting,
    scope: &Scope,
    threads: usize,
) -> Result<Option<Clock>, Diagnostic> {
    let outlined = variant.outline(setting);
    let recipe = outlined.map_err(|refusal| typed::refused(variant, refusal))?;
    // The advantage takes as many passes as a trade-off curve.
    let profile = if args.profile { rates::PASSES_PER_PROFILE } else { 0.0 };
    let passes = rates::PASSES_PER_TRADE_OFF + profile;
    let audit = |everything| cost::predict_passes(setting, &[recipe], everything, passes);
    let data = Data::PriorPredictive;
    let with_error =
        variant.options.calibrated.then(|| cost::predict_error(variant, setting, data)).flatten();
    let mut tuning = with_error.unwrap_or_else(|| cost::predict_tuning(variant, setting, data));
    if variant.options.remap && *scope == Scope::All {
        tuning.add(cost::predict_remapped_audit(setting, recipe));
    }
    let sum = |audit: &SettingWork| {
        let mut work: Work = cost::total([audit], threads);
        work.add(tuning);
        work
    };
    let wanted = audit(*scope == Scope::All);
    let (total, memory) = (sum(&wanted), available_memory());
    let objection = cost::objection(&total, wanted.candidates, threads, memory, LONGEST);
    let Some(objection) = objection.filter(|_| !args.calculation.machine.force) else {
        return Ok(announce(total.seconds(threads), args.calculation.quiet));
    };
    let fewer = match scope {
        Scope::All if tuning == Work::default() => {
            let corners = cost::total([&audit(false)], threads).seconds(threads);
            format!(
                "--scope corners (data sets with at most three records outside one category, where \
                 losses are often largest) needs {}; --counts audits one data set; ",
                cost::duration(corners)
            )
        }
        _ => "use fewer records; ".to_owned(),
    };
    Err(Diagnostic::new(format!("this audit is too large: {objection}"))
        .help(format!("{fewer}--force starts it all the same")))
}

/// The number of points of a privacy profile.
const PROFILE: u32 = 50;

/// Values of ε from 0 to the loss, at which δ becomes 0; or to twice the stated ε, if the loss is infinite.
fn profile_grid(found: &Findings, setting: &Setting) -> Vec<f64> {
    let loss = found.loss.loss;
    let last = if loss.is_finite() { loss } else { 2.0 * setting.epsilon.get() };
    (0..=PROFILE).map(|i| last * (f64::from(i) / f64::from(PROFILE))).collect()
}

struct Report<'a> {
    /// The mean error over the prior predictive distribution, for a calibrated mechanism.
    mean: Option<f64>,
    setting: &'a Setting,
    variant: &'a Variant,
    scope: &'a Scope,
    certificate: Option<&'a Certificate>,
    findings: &'a Findings,
    advantage: &'a DeltaAt,
    delta_at: Option<&'a DeltaAt>,
    profile: &'a [DeltaAt],
    trade_off: Option<&'a TradeOff>,
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

/// The false-alarm rates at which misses are printed.
fn false_alarms() -> impl Iterator<Item = f64> {
    (0..=100).map(|i| f64::from(i) / 100.0)
}

impl Report<'_> {
    fn scope(&self) -> &'static str {
        match self.scope {
            Scope::All => ALL,
            Scope::Corners => CORNERS,
            Scope::One(_) | Scope::Pair(..) => "data",
        }
    }

    fn print(&self, args: &Audit) -> Result<(), Failure> {
        args.calculation.answer.give(|| self.facts(), || self.document(), || self.text())
    }

    fn document(&self) -> Document<'_> {
        let loss = &self.findings.loss;
        let calibration = self.certificate.map(|certificate| {
            let inner = certificate.inner_epsilon.get();
            let is_own = self.variant.mechanism.definition().is_some();
            Calibration {
                inner_epsilon: inner,
                factor: is_own.then_some(inner / certificate.target),
                mean: self.mean.map(Number),
                certificate: CertificateDocument {
                    target: certificate.target,
                    loss: certificate.loss,
                    margin: certificate.margin(),
                    from: &certificate.from,
                    to: &certificate.to,
                    output: &certificate.output,
                    pairs: certificate.pairs,
                },
            }
        });
        let profile = self.profile.iter().map(|at| (at.epsilon, at.delta)).collect::<Vec<_>>();
        let trade_off = self.trade_off.map(|curve| TradeOffDocument {
            from: &curve.from,
            to: &curve.to,
            null: &curve.to,
            alternative: &curve.from,
            points: false_alarms().map(|alarm| (alarm, curve.misses(alarm))).collect(),
        });
        Document {
            mechanism: &self.variant.label,
            guarantee: self.variant.guarantee(self.setting).to_string(),
            epsilon: self.setting.epsilon.get(),
            n: self.setting.posterior.n(),
            prior: self.setting.posterior.prior().alpha(),
            scope: self.scope(),
            loss: Number(loss.loss),
            from: &loss.from,
            to: &loss.to,
            output: &loss.output,
            pairs: loss.pairs,
            at_epsilon: self.delta_at.map(|at| at.epsilon),
            delta_at: self.delta_at.map(|at| at.delta),
            delta_from: self.delta_at.map(|at| &at.from[..]),
            delta_to: self.delta_at.map(|at| &at.to[..]),
            advantage: self.advantage.delta,
            advantage_from: &self.advantage.from,
            advantage_to: &self.advantage.to,
            calibration,
            profile: (!profile.is_empty()).then_some(profile),
            trade_off,
        }
    }

    /// What was found out, line by line.
    fn facts(&self) -> Grid {
        let loss = &self.findings.loss;
        let mut facts = Grid::new(2);
        let mut fact = |name: &str, value: String| facts.row([name.to_owned(), value]);
        let pair =
            |from: &[u64], to: &[u64]| format!("{} and {}", parenthesised(from), parenthesised(to));
        fact("mechanism", shorten(&self.variant.label, LONGEST_LABEL));
        fact("stated", self.stated());
        fact("covers", format!("{}, {} pairs of neighbours", self.looked_at(), loss.pairs));
        if let Some(certificate) = self.certificate {
            let inner = certificate.inner_epsilon.get();
            match self.variant.mechanism.definition() {
                None => fact("ε in the weight", shown(inner)),
                Some(_) => fact("log weight times", shown(inner / certificate.target)),
            }
            let margin = format!("{:.1e} below ε", certificate.margin());
            let covered = format!("{} pairs of neighbours", certificate.pairs);
            fact("certificate", format!("loss {margin}, over all {covered}"));
            let title = self.setting.distance.title();
            let mean = short_or_dash(self.mean);
            fact("mean error", format!("{mean} ({title}, over the prior predictive distribution)"));
        }
        let infinite = loss.loss == f64::INFINITY;
        let value = if infinite { "infinite".to_owned() } else { shown(loss.loss) };
        fact("privacy loss", value);
        if loss.pairs > 0 {
            fact("  between", pair(&loss.from, &loss.to));
            fact("  at output", parenthesised(&loss.output));
            if !infinite {
                fact("  odds change by", format!("a factor {}", short(exp_accurate(loss.loss))));
            }
        }
        if let Some(at) = self.delta_at {
            fact(&format!("δ at ε = {}", at.epsilon), shown(at.delta));
            if at.delta > 0.0 {
                fact("  between", pair(&at.from, &at.to));
            }
        }
        fact("membership advantage", shown(self.advantage.delta));
        if self.advantage.delta > 0.0 {
            fact("  between", pair(&self.advantage.from, &self.advantage.to));
        }
        facts
    }

    fn text(&self) -> String {
        let mut text = self.facts().render();
        if !self.profile.is_empty() {
            let mut grid = Grid::new(0);
            grid.row(["ε", "δ"]);
            let some = self.profile.iter().step_by(PROFILE as usize / 10);
            some.for_each(|at| grid.row([short(at.epsilon), short(at.delta)]));
            text += &format!("\n  privacy profile\n{}", grid.render());
        }
        if let Some(curve) = self.trade_off {
            let mut grid = Grid::new(0);
            grid.row(["false alarms", "misses"]);
            for alarm in false_alarms().step_by(10) {
                grid.row([format!("{alarm:.1}"), short(curve.misses(alarm))]);
            }
            let [null, other] = [&curve.to, &curve.from].map(|counts| parenthesised(counts));
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
        let posterior = &self.setting.posterior;
        let prior = parenthesised(posterior.prior().alpha());
        let computed = format!("for n = {}, prior {prior}", posterior.n());
        match self.variant.guarantee(self.setting) {
            Guarantee::Unstated => format!("none stated; the loss below is computed {computed}"),
            guarantee @ Guarantee::Computed(_) => format!("{guarantee} {computed}"),
            proved => proved.to_string(),
        }
    }

    fn looked_at(&self) -> String {
        match self.scope {
            Scope::All => format!("all data sets of {} records", self.setting.posterior.n()),
            Scope::Corners => {
                format!("data sets of {} records near the corners", self.setting.posterior.n())
            }
            Scope::One(counts) | Scope::Pair(counts, _) => {
                format!("the data set {}", parenthesised(counts))
            }
        }
    }
}
