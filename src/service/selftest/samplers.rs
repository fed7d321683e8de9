//! The samplers of all mechanisms against their exact laws, through the paths that experiments and
//! releases take.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use super::{MOST_TRIALS, Subject, Trial};
use crate::release::{Amount, Method};
use engine::analysis::tuning::TuningCache;
use engine::mechanism::law::{Bench, Law, OutputSet, Outputs};
use engine::mechanism::sampling::{RUNS_PER_BLOCK, Sampler};
use engine::mechanism::{self, Choice, Mechanism, Options};
use engine::numeric::{Sum, exp_accurate};
use engine::parallel;
use engine::posterior::distance;
use engine::posterior::error_field::Reach;
use engine::posterior::model::{Counts, Prior};
use engine::posterior::privacy::{Delta, Epsilon, Gamma};
use engine::posterior::setting::{Setting, SettingWithData};
use engine::posterior::simplex::{BLOCK, Region};
use engine::prepared::Prepared;
use engine::refusal::Refusal;
use engine::rng;
use lab::experiment::{Case, Experiment};

/// A sampler should be rejected if its scale is too large, or too small, by this factor.
pub const WRONG: f64 = 1.05;

/// A setting in which samplers are tried: prior, counts, ε, distance.
type SampledSetting = (&'static [f64], &'static [u64], f64, &'static str);

/// Balanced and not, empty categories, priors that are not whole, one record, every kind of score,
/// noise that reaches 0 and n, and sizes at which exponential mechanisms use the ball and the plateau.
const SETTINGS: &[SampledSetting] = &[
    (&[1.0, 1.0], &[25, 25], 1.0, "hellinger"),
    (&[1.0, 1.0], &[0, 40], 0.5, "hellinger"),
    (&[0.5, 3.0], &[1, 0], 1.0, "hellinger"),
    (&[2.5, 0.3], &[7, 93], 2.0, "hellinger"),
    (&[1.0, 1.0], &[300, 300], 1.0, "print"),
    (&[7.0, 4.0], &[12, 18], 0.1, "hellinger"),
    (&[1.0, 1.0], &[2500, 2500], 1.0, "hellinger"),
    (&[1.0, 1.0], &[1, 4999], 1.0, "hellinger"),
    (&[0.7, 1.3], &[0, 6000], 2.0, "hellinger"),
    (&[1.0, 1.0], &[4000, 4000], 1.0, "print"),
    (&[1.0, 1.0, 1.0], &[10, 10, 10], 1.0, "hellinger"),
    (&[1.0, 1.0, 1.0], &[0, 0, 25], 1.0, "hellinger"),
    (&[0.4, 2.0, 5.5], &[3, 0, 17], 2.0, "hellinger"),
    (&[1.0, 1.0, 1.0], &[1, 0, 0], 1.0, "hellinger"),
    (&[7.0, 4.0, 5.0], &[15, 5, 20], 5.0, "hellinger"),
    (&[1.0, 1.0, 1.0], &[20, 5, 15], 1.0, "print"),
    (&[1.0, 1.0, 1.0], &[12, 9, 3], 0.1, "hellinger"),
    (&[1.0, 2.0, 3.0], &[200, 5, 5], 3.0, "hellinger"),
    (&[1.0, 1.0, 1.0, 1.0], &[4, 4, 4, 4], 1.0, "hellinger"),
    (&[1.0, 1.0, 1.0, 1.0], &[0, 0, 0, 9], 2.0, "hellinger"),
    (&[0.9, 1.1, 2.2, 0.2], &[6, 0, 3, 1], 5.0, "hellinger"),
    (&[1.0, 1.0, 1.0, 1.0], &[1, 1, 1, 12], 0.5, "hellinger"),
    (&[2.0, 2.0, 2.0, 2.0], &[3, 2, 5, 4], 1.0, "print"),
    (&[1.0, 1.0, 1.0, 1.0], &[8, 1, 2, 0], 10.0, "hellinger"),
    (&[1.0, 1.0], &[25, 25], 2.0, "tv"),
    (&[1.0, 1.0], &[1500, 1500], 1.0, "tv"),
    (&[0.5, 2.0], &[3, 47], 3.0, "kl"),
    (&[1.0, 1.0, 1.0], &[6, 3, 9], 5.0, "kl_reverse"),
    (&[1.0, 2.0, 0.6], &[4, 12, 0], 5.0, "renyi:0.5"),
    (&[60.0, 51.0], &[20, 30], 1.0, "renyi:2"),
];

/// Settings with an ε large enough for a wrong scale to be noticed: a small ε hides it.
const POWERED: &[SampledSetting] = &[
    (&[1.0, 1.0], &[25, 25], 5.0, "hellinger"),
    (&[1.0, 2.0, 1.5], &[10, 4, 9], 5.0, "hellinger"),
    (&[1.0, 1.0, 1.0, 1.0], &[3, 5, 4, 1], 5.0, "hellinger"),
];

/// Settings small enough for quick calibration and remapping.
const TUNED: &[SampledSetting] =
    &[(&[1.5, 1.0], &[14, 16], 3.0, "hellinger"), (&[1.0, 1.0, 2.0], &[5, 1, 4], 5.0, "hellinger")];

/// Settings in which releases are tried, too: ε that are not dyadic fractions, noise that reaches 0 and
/// n, weights near 1 and far from it.
const RELEASED: &[SampledSetting] = &[
    (&[1.0, 1.0], &[2, 38], 0.1, "hellinger"),
    (&[0.5, 3.0], &[0, 12], 0.7, "hellinger"),
    (&[1.0, 1.0, 1.0], &[7, 0, 3], 0.3, "hellinger"),
    (&[1.0, 1.0, 1.0, 1.0], &[0, 5, 4, 1], 1.0, "hellinger"),
];

/// A mechanism in a setting.
#[derive(Clone)]
pub struct SamplerCase {
    setting: SettingWithData,
    variant: Mechanism,
    prepared: Prepared,
    way: Way,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// The sampler of experiments.
    Experiment,
    /// The sampler of releases, in whole numbers.
    Release,
}

/// Every mechanism and every release in settings of all kinds, and those of [`powered`].
pub fn cases() -> Vec<SamplerCase> {
    let mut cases = at_all(SETTINGS, &plain_variants());
    cases.extend(releases(RELEASED));
    cases.extend(powered());
    cases
}

/// Every mechanism, plain and tuned, and every release in settings in which a wrong scale is noticed.
pub fn powered() -> Vec<SamplerCase> {
    let mut cases = at_all(POWERED, &plain_variants());
    cases.extend(at_all(TUNED, &tuned_variants()));
    cases.extend(releases(POWERED));
    cases
}

/// The most outputs that are listed at one setting.
const MOST_OUTPUTS: f64 = 1e6;

/// Every mechanism of an experiment in every one of its settings.
pub fn cases_of(experiment: &Experiment) -> Result<Vec<SamplerCase>, Refusal> {
    let tuning: Arc<TuningCache> = Arc::default();
    let pairs = experiment.panels.iter().flat_map(|panel| {
        let with_all = |case| panel.variants.iter().map(move |variant| (case, variant));
        panel.cases.iter().flat_map(with_all)
    });
    let pairs: Vec<(&Case, &Mechanism)> = pairs.collect();
    if pairs.len() > MOST_TRIALS {
        return Err(Refusal::new(
            format!("these are {} samplers and settings, {MOST_TRIALS} at most", pairs.len()),
            "use fewer mechanisms or settings",
        ));
    }
    let case = |(case, variant): (&Case, &Mechanism)| {
        let setting = case.setting.clone();
        let prepared = tuning.prepare(variant, &setting)?;
        let simplex = || Region::simplex(setting.n, setting.k());
        let region = prepared.law.at(setting.posterior())?.region().unwrap_or_else(simplex);
        let outputs = region.size_bound();
        if outputs > MOST_OUTPUTS {
            let label = &variant.label;
            return Err(Refusal::new(
                format!(
                    "`{label}` has {outputs:.1e} outputs, and a test lists {MOST_OUTPUTS:.0e} at most"
                ),
                "use fewer records or categories",
            ));
        }
        let variant = variant.clone();
        Ok(SamplerCase { setting, variant, prepared, way: Way::Experiment })
    };
    parallel::map(&pairs, |pair| case(*pair)).into_iter().collect()
}

/// Every mechanism that can be released, drawn by the sampler of releases.
fn releases(places: &'static [SampledSetting]) -> Vec<SamplerCase> {
    let released = |case: SamplerCase| {
        let mut case = SamplerCase { way: Way::Release, ..case };
        case.method(1.0).ok()?;
        case.variant.label = format!("release {}", case.variant.label);
        Some(case)
    };
    at_all(places, &plain_variants()).into_iter().filter_map(released).collect()
}

fn plain_variants() -> Vec<Mechanism> {
    mechanism::ALL.iter().copied().map(Mechanism::plain).collect()
}

/// Every mechanism remapped, and calibrated if it can be.
fn tuned_variants() -> Vec<Mechanism> {
    let remap = Options { remap: true, ..Options::default() };
    let calibrated = Options { calibrated: true, ..Options::default() };
    let tuned = |(options, word): (Options, &'static str)| {
        let is_apt = move |mechanism: &&'static mechanism::Kind| {
            !options.calibrated || mechanism.choices.contains(&Choice::Calibrated)
        };
        mechanism::ALL.iter().copied().filter(is_apt).map(move |mechanism| {
            Mechanism::new(mechanism, options, format!("{}+{word}", mechanism.id))
        })
    };
    [(calibrated, "calibrated"), (remap, "remap")].into_iter().flat_map(tuned).collect()
}

/// The mechanisms that can be used in each of these settings, tuned.
fn at_all(places: &'static [SampledSetting], variants: &[Mechanism]) -> Vec<SamplerCase> {
    let tuning = Arc::default();
    parallel::map(places, |place| at(place, variants, &tuning)).into_iter().flatten().collect()
}

fn at(
    &(prior, counts, epsilon, distance): &SampledSetting,
    variants: &[Mechanism],
    tuning: &Arc<TuningCache>,
) -> Vec<SamplerCase> {
    const SOUND: &str = "the settings are valid";
    let setting = Setting {
        prior: Prior::new(prior.to_vec()).expect(SOUND),
        n: counts.iter().sum(),
        epsilon: Epsilon::new(epsilon).expect(SOUND),
        delta: Delta::new(1e-3).ok(),
        gamma: Gamma::new(1.0).expect(SOUND),
        distance: distance::find(distance).expect(SOUND),
    };
    let setting = SettingWithData::new(setting, counts.to_vec());
    let ready = |variant: &Mechanism| {
        let prepared = tuning.prepare(variant, &setting).ok()?;
        let (setting, variant) = (setting.clone(), variant.clone());
        Some(SamplerCase { setting, variant, prepared, way: Way::Experiment })
    };
    variants.iter().filter_map(ready).collect()
}

impl SamplerCase {
    /// The name of the sampler.
    pub fn sampler(&self) -> &str {
        &self.variant.label
    }

    /// Draws from the sampler with its scale multiplied by `off`, and compares the draws with the exact
    /// law of the correct one. Refuses a scale of which there is no law.
    pub fn try_out(&self, off: f64, draws: u64, seed: u64) -> Result<Trial, Refusal> {
        let right = Arc::clone(&self.prepared.law);
        let drawn = right.widened(off)?;
        // Noise that reaches as far as noise can has no wider law to be told from.
        let wrong = [WRONG, 1.0 / WRONG].iter().filter_map(|off| right.widened(*off).ok());
        let laws: Vec<Arc<dyn Law>> = [right.clone(), drawn].into_iter().chain(wrong).collect();
        let (posterior, distance) = (self.setting.posterior(), self.setting.distance);
        let bench = Bench::new(posterior, distance, laws.iter().map(AsRef::as_ref), &[])?;
        let law = |place: usize| probabilities(&self.setting, &bench, place, &self.prepared);
        let exact = law(0);
        let wrong = (2..laws.len()).map(|place| {
            let wrong = law(place);
            exact.keys().map(|outcome| wrong.get(outcome).copied().unwrap_or(0.0)).collect()
        });
        let subject = Subject {
            sampler: self.variant.label.clone(),
            setting: self.setting.key(),
            law: exact.values().copied().collect(),
            wrong: wrong.collect(),
        };
        let places: HashMap<Counts, usize> =
            exact.into_keys().enumerate().map(|(place, outcome)| (outcome, place)).collect();
        let key = format!(
            "selftest {} {} scale={off}",
            self.setting.key(),
            self.variant.key(&self.setting)
        );
        if self.way == Way::Release {
            let method = self.method(off).expect("a mechanism that can be released");
            let (counts, mut stream) = (self.setting.counts(), rng::stream(seed, &key));
            return Ok(subject.check(draws, || {
                places.get(&method.draw(counts, &mut stream)).copied().unwrap_or(usize::MAX)
            }));
        }
        let drawn = bench.law(1);
        let sampler = Sampler {
            law: drawn.as_ref(),
            fields: &[],
            k: self.setting.k(),
            runs: draws,
            seed,
            key: &key,
        };
        let (counts, outside) = tally(&sampler, &places);
        Ok(subject.judge(&counts, outside))
    }

    /// The method of a release whose scale is multiplied by `off`.
    fn method(&self, off: f64) -> Result<Method, Refusal> {
        let epsilon = format!("{:.15}", self.setting.epsilon.get() / off);
        let epsilon = epsilon.parse::<Amount>().expect("a decimal number");
        Method::new(&self.variant, &self.setting, epsilon)
    }
}

/// How often every outcome is drawn, and how often an outcome that is not among `places`.
fn tally(sampler: &Sampler, places: &HashMap<Counts, usize>) -> (Vec<u64>, u64) {
    let all = Mutex::new((vec![0; places.len()], 0));
    let blocks: Vec<u64> = (0..sampler.runs.div_ceil(RUNS_PER_BLOCK)).collect();
    sampler.draw(
        &blocks,
        || false,
        |_, draws| {
            let found: Vec<_> = draws.released().map(|outcome| places.get(outcome)).collect();
            let mut all = all.lock().unwrap_or_else(PoisonError::into_inner);
            for place in found {
                match place {
                    Some(&place) => all.0[place] += 1,
                    None => all.1 += 1,
                }
            }
        },
    );
    all.into_inner().unwrap_or_else(PoisonError::into_inner)
}

/// The probability of every output, in order. Where the score decides it is computed from the definition, over
/// all candidates one by one, independently of blocks, balls and plateaus. For the others, outputs with a
/// probability of at most 10⁻¹⁶ in all are left out.
fn probabilities(
    setting: &SettingWithData,
    bench: &Bench,
    place: usize,
    prepared: &Prepared,
) -> BTreeMap<Counts, f64> {
    let (posterior, at) = (setting.posterior(), bench.at(place));
    if at.rate().is_some() || at.region().is_none() {
        let outputs = Outputs::new(OutputSet::Simplex, posterior.n(), posterior.k());
        let field = setting.distance.field(posterior, &Reach::ball(posterior));
        let logs = at.ln_probabilities(outputs, field.as_ref()).into_iter().map(exp_accurate);
        return outputs.list().into_iter().zip(logs).collect();
    }
    let law = bench.law(place);
    // The law itself walks one of several outputs that are alike.
    let region = match &prepared.remap {
        Some(_) => law.walked().expect("a law that is walked").region.clone(),
        None => at.region().expect("a law that has one"),
    };
    let blocks = region.blocks();
    let mut masses: BTreeMap<Counts, Sum> = BTreeMap::new();
    let mut row_masses = [0.0; BLOCK];
    for block in 0..blocks.len() {
        region.walk(&blocks, block, |row| {
            let row_masses = &mut row_masses[..row.len];
            law.masses(row, row_masses);
            for (t, &mass) in row_masses.iter().enumerate() {
                let mut output = vec![0; posterior.k()];
                row.output(t, &mut output);
                masses.entry(output).or_default().add(mass);
            }
        });
    }
    let total: Sum = masses.values().map(Sum::value).collect();
    masses.into_iter().map(|(output, mass)| (output, mass.value() / total.value())).collect()
}
