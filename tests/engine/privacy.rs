//! Exact privacy losses (reference values are in `golden.rs`) against brute force over all outputs, and
//! against a printed figure.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use crate::settings::{assert_close, of_size};
use engine::analysis::audit::{self, DeltaAt, Loss, Scope};
use engine::analysis::true_counts::CountNoise;
use engine::mechanism::law::lattice::LatticeNoise;
use engine::mechanism::law::lattice::approximate::{least_gaussian, least_truncated};
use engine::mechanism::law::tight::Tight;
use engine::mechanism::law::{Bench, OutputSet};
use engine::mechanism::{self, Global, Mechanism, Options};
use engine::numeric::log_affinity::log_affinity;
use engine::posterior::model::{Counts, hamming_distance, neighbours};
use engine::posterior::privacy::{Delta, Guarantee};
use engine::posterior::setting::{Setting, SettingWithData};
use engine::refusal::Refusal;
use proptest::prelude::*;
use proptest::test_runner::{RngSeed, TestRunner};

fn loss(variant: &Mechanism, setting: &Setting, scope: &Scope) -> Result<Loss, Refusal> {
    audit::loss(variant.law(setting)?.as_ref(), setting, scope)
}

fn delta_at(
    variant: &Mechanism,
    setting: &Setting,
    scope: &Scope,
    epsilon: f64,
) -> Result<DeltaAt, Refusal> {
    audit::delta_at(variant.law(setting)?.as_ref(), setting, scope, epsilon)
}

fn variant(id: &str, options: Options) -> Mechanism {
    Mechanism { options, ..Mechanism::plain(mechanism::find(id).unwrap()) }
}

/// The formula of a mechanism at one data set.
enum Formula {
    /// Weight e^(−rate · distance).
    Score(f64),
    /// Weight w e^(−rate · moved records), with the tight w or with 1.
    Moved {
        rate: f64,
        tight: bool,
    },
    Noise(CountNoise),
    Lattice(LatticeNoise),
    /// Counts drawn from Dir(β + x).
    Synthetic(Vec<f64>),
}

fn formula(variant: &Mechanism, setting: &SettingWithData) -> Formula {
    let (k, n, epsilon) = (setting.k(), setting.n, setting.epsilon.get());
    let delta = setting.delta.map_or(0.0, |delta| delta.get());
    match variant.kind.id {
        "hamming" => {
            Formula::Moved { rate: epsilon / variant.options.divisor.unwrap_or(2.0), tight: false }
        }
        "tight" => Formula::Moved { rate: Tight::law(k, n, epsilon).unwrap().rate, tight: true },
        "lattice" => Formula::Lattice(LatticeNoise::geometric(epsilon)),
        "synthetic" => {
            let least = n as f64 / epsilon.exp_m1();
            let alpha = setting.prior.alpha();
            Formula::Synthetic(alpha.iter().map(|alpha| alpha.max(least)).collect())
        }
        "gaussian" => Formula::Lattice(least_gaussian(k, epsilon, delta).unwrap()),
        "geometric-truncated" => Formula::Lattice(least_truncated(k, epsilon, delta).unwrap()),
        _ => {
            let law = variant.law(setting).unwrap();
            let at = law.at(setting.posterior()).unwrap();
            law.count_noise(k).map_or_else(|| Formula::Score(at.rate().unwrap()), Formula::Noise)
        }
    }
}

/// Every output of a set, as a list of its coordinates.
fn outputs(set: OutputSet, n: u64, k: usize) -> Vec<Counts> {
    let free = if set == OutputSet::Open { k } else { k - 1 };
    let side = n + 1;
    let grid = (0..side.pow(free as u32)).map(|code| {
        let mut output: Counts = (0..free as u32).map(|i| code / side.pow(i) % side).collect();
        let used: u64 = output.iter().sum();
        if free < k {
            output.push(n.saturating_sub(used));
        }
        output
    });
    let on_simplex = |output: &Counts| output.iter().sum::<u64>() == n;
    grid.filter(|output| set != OutputSet::Simplex || on_simplex(output)).collect()
}

/// sqrt(1 − BC^s), from the definition.
fn distance(setting: &SettingWithData, output: &[u64]) -> f64 {
    let posterior = setting.posterior();
    let logs = (0..posterior.k())
        .map(|i| log_affinity(posterior.alpha(i), posterior.counts()[i], output[i]))
        .sum::<f64>();
    (1.0 - (logs * setting.distance.power(&setting.prior, setting.n).unwrap()).exp())
        .max(0.0)
        .sqrt()
}

/// ln P of every output at one data set, normalised over the whole list.
fn log_law(variant: &Mechanism, setting: &SettingWithData, outputs: &[Counts]) -> Vec<f64> {
    let (x, n) = (setting.counts(), setting.n);
    let formula = formula(variant, setting);
    let tight = match &formula {
        Formula::Lattice(noise) => return lattice_log_law(*noise, x, outputs),
        Formula::Moved { rate, tight: true } => dense_tight(outputs, *rate),
        _ => vec![1.0; outputs.len()],
    };
    let log_weight = |(place, output): (usize, &Counts)| match &formula {
        Formula::Score(rate) => -rate * distance(setting, output),
        Formula::Moved { rate, .. } => tight[place].ln() - rate * hamming_distance(x, output),
        Formula::Noise(CountNoise { noise, scale, noisy }) => {
            (0..*noisy).map(|i| noise.probability(*scale, x[i], n, output[i]).ln()).sum()
        }
        Formula::Synthetic(beta) => {
            let rising = |b: f64, v: u64| {
                (0..v).map(|j| ((b + j as f64) / (j as f64 + 1.0)).ln()).sum::<f64>()
            };
            (0..x.len()).map(|i| rising(beta[i] + x[i] as f64, output[i])).sum()
        }
        Formula::Lattice(_) => unreachable!("it has returned"),
    };
    let logs: Vec<f64> = outputs.iter().enumerate().map(log_weight).collect();
    let total: f64 = logs.iter().map(|log| log.exp()).sum();
    logs.iter().map(|log| log - total.ln()).collect()
}

/// The weights of the tight mechanism by elimination in the full matrix; negative ones are 0.
fn dense_tight(all: &[Counts], rate: f64) -> Vec<f64> {
    let entry = |x: &Counts, r: &Counts| (-rate * hamming_distance(x, r)).exp();
    let row = |x: &Counts| all.iter().map(|r| entry(x, r)).chain([1.0]).collect::<Vec<f64>>();
    let mut rows: Vec<Vec<f64>> = all.iter().map(row).collect();
    for column in 0..rows.len() {
        // The matrix is positive definite: no pivot is 0.
        let pivot = rows[column].clone();
        for (place, row) in rows.iter_mut().enumerate().filter(|(place, _)| *place != column) {
            let factor = row[column] / pivot[column];
            assert!(factor.is_finite(), "{place}");
            row.iter_mut().zip(&pivot).for_each(|(v, p)| *v -= factor * p);
        }
    }
    let last = rows.len();
    rows.iter().enumerate().map(|(i, row)| (row[last] / row[i]).max(0.0)).collect()
}

/// The largest |z_i| that matters for outputs that are likely.
fn furthest(noise: LatticeNoise) -> u64 {
    (0..).find(|&z| noise.factor(z) < 1e-30).unwrap()
}

/// ln(e^a + e^b).
fn ln_add(a: f64, b: f64) -> f64 {
    let (low, high) = (a.min(b), a.max(b));
    if low == f64::NEG_INFINITY { high } else { high + (low - high).exp().ln_1p() }
}

/// ln P of every clamped output, from all noise vectors that matter, whether likely or not.
fn lattice_log_law(noise: LatticeNoise, x: &[u64], outputs: &[Counts]) -> Vec<f64> {
    let (n, k) = (x.iter().sum::<u64>() as i64, x.len());
    let far = furthest(noise) as i64 + n;
    // By the digits of the clamped output.
    let place = |output: &mut dyn Iterator<Item = u64>| {
        output.fold(0, |place, count| place * (n as usize + 1) + count as usize)
    };
    let mut laws = vec![f64::NEG_INFINITY; (n as usize + 1).pow(k as u32)];
    let mut ln_total = f64::NEG_INFINITY;
    let side = (2 * far + 1) as usize;
    let mut z = vec![0; k];
    for code in 0..side.pow(k as u32 - 1) {
        for (i, z) in (0..).zip(&mut z[1..]) {
            *z = (code / side.pow(i) % side) as i64 - far;
        }
        z[0] = -z[1..].iter().sum::<i64>();
        let weight: f64 = z.iter().map(|z| noise.ln_factor(z.unsigned_abs())).sum();
        let moved = z.iter().zip(x).map(|(z, &x)| (x as i64 + z).clamp(0, n) as u64);
        let known = &mut laws[place(&mut { moved })];
        // A vector that adds nothing to its output adds nothing to the total.
        if weight > *known - 40.0 {
            *known = ln_add(*known, weight);
            ln_total = ln_add(ln_total, weight);
        }
    }
    outputs.iter().map(|v| laws[place(&mut v.iter().copied())] - ln_total).collect()
}

fn is_corner(x: &[u64]) -> bool {
    x.iter().sum::<u64>() - x.iter().max().unwrap() <= 3
}

/// Every data set of n records.
fn data_sets(n: u64, k: usize) -> Vec<Counts> {
    outputs(OutputSet::Simplex, n, k)
}

/// Every ordered pair of adjacent data sets in the scope.
fn ordered_pairs(scope: &Scope, n: u64, k: usize) -> Vec<(Counts, Counts)> {
    let inside = |x: &Counts, y: &Counts| match scope {
        Scope::All => true,
        Scope::Corners => is_corner(x) && is_corner(y),
        Scope::One(one) => x == one || y == one,
        Scope::Pair(one, other) => x.min(y) == one.min(other) && x.max(y) == one.max(other),
    };
    let data = data_sets(n, k);
    let pairs = data.iter().flat_map(|x| neighbours(x).map(|y| (x.clone(), y)));
    pairs.filter(|(x, y)| inside(x, y)).collect()
}

/// The laws of a mechanism, each computed once.
struct Laws<'a> {
    variant: &'a Mechanism,
    setting: &'a Setting,
    outputs: Vec<Counts>,
    known: RefCell<BTreeMap<Counts, Rc<Vec<f64>>>>,
}

impl<'a> Laws<'a> {
    fn new(variant: &'a Mechanism, setting: &'a Setting) -> Self {
        let (n, k) = (setting.n, setting.k());
        let outputs = outputs(variant.law(setting).unwrap().outputs(), n, k);
        Self { variant, setting, outputs, known: RefCell::default() }
    }

    /// ln P of every output at a data set.
    fn at(&self, x: &Counts) -> Rc<Vec<f64>> {
        let here = SettingWithData::new(self.setting.clone(), x.clone());
        let law = || Rc::new(log_law(self.variant, &here, &self.outputs));
        self.known.borrow_mut().entry(x.clone()).or_insert_with(law).clone()
    }
}

/// The audit again, by looking at every output of every pair.
fn check(laws: &Laws, scope: &Scope, epsilon: f64) {
    let Laws { variant, setting, .. } = *laws;
    let (n, k) = (setting.n, setting.k());
    let (mut largest, mut delta) = (0.0_f64, 0.0_f64);
    let pairs = ordered_pairs(scope, n, k);
    let divergence = |p: &[f64], q: &[f64]| -> f64 {
        p.iter().zip(q).map(|(p, q)| (p.exp() - (epsilon + q).exp()).max(0.0)).sum()
    };
    for (x, y) in &pairs {
        let (p, q) = (laws.at(x), laws.at(y));
        largest = p.iter().zip(&*q).map(|(p, q)| p - q).fold(largest, f64::max);
        delta = delta.max(divergence(&p, &q));
    }
    let Loss { loss, from, to, output, pairs: covered, .. } =
        loss(variant, setting, scope).unwrap();
    let what = format!(
        "{} {:?} {:?} n = {n} ε = {} {} {scope:?}: {loss} at {from:?} {to:?} {output:?}",
        variant.label,
        variant.options,
        &setting.prior,
        setting.epsilon.get(),
        setting.distance.id()
    );
    // The naive distances lose some digits to cancellation.
    // A loss may be infinite, if noise is cut off.
    let close =
        |ours: f64, theirs: f64| ours == theirs || (ours - theirs).abs() <= 1e-9 * theirs.max(1.0);
    assert!(close(loss, largest), "{what}, not {largest}");
    assert_eq!(2 * covered, pairs.len() as u64, "{what}");
    let place = laws.outputs.iter().position(|o| *o == output).expect(&what);
    let attained = laws.at(&from)[place] - laws.at(&to)[place];
    assert!(close(loss, attained), "{what} gives {attained}");
    assert!(pairs.contains(&(from, to)), "{what}");

    let ours = delta_at(variant, setting, scope, epsilon).unwrap();
    let DeltaAt { delta: found, from, to, .. } = ours;
    let what = format!("{what}; δ({epsilon}) = {found} at {from:?} {to:?}");
    assert!((found - delta).abs() <= 1e-11, "{what}, not {delta}");
    let attained = divergence(&laws.at(&from), &laws.at(&to));
    assert!((found - attained).abs() <= 1e-11, "{what} gives {attained}");
    assert!(pairs.contains(&(from, to)), "{what}");
}

/// One random case; priors are halves, often symmetric.
#[derive(Clone, Debug)]
struct Case {
    prior: Vec<f64>,
    n: u64,
    epsilon: f64,
    distance: &'static str,
    mechanism: &'static str,
    /// The divisor or the noise factor, whichever the mechanism knows.
    option: Option<f64>,
    /// ε' as a part of ε.
    part: f64,
    /// Chooses one data set.
    one: usize,
}

fn cases(k: usize, most: u64) -> impl Strategy<Value = Case> {
    let half = || (1..12_u32).prop_map(|a| 0.5 * f64::from(a));
    let symmetric = half().prop_map(move |a| vec![a; k]);
    let prior = prop_oneof![symmetric, prop::collection::vec(half(), k)];
    let epsilon = prop::sample::select(vec![0.1, 0.5, 1.0, 2.0, 8.0]);
    let distance = prop::sample::select(vec!["hellinger", "print"]);
    let ids: Vec<&str> = mechanism::ALL.iter().map(|mechanism| mechanism.id).collect();
    let mechanism = prop::sample::select(ids);
    let option = prop::option::weighted(0.4, half());
    (prior, 1..=most, epsilon, distance, mechanism, option, 0.0..1.2_f64, 0..1000_usize).prop_map(
        |(prior, n, epsilon, distance, mechanism, option, part, one)| Case {
            prior,
            n,
            epsilon,
            distance,
            mechanism,
            option,
            part,
            one,
        },
    )
}

#[test]
fn two_categories_by_brute_force() {
    random_cases_by_brute_force(2, 14);
}

#[test]
fn three_categories_by_brute_force() {
    random_cases_by_brute_force(3, 5);
}

/// The same random cases at every run; every mechanism is among those that were not refused.
fn random_cases_by_brute_force(k: usize, most: u64) {
    let config = ProptestConfig {
        cases: 48 * mechanism::ALL.len() as u32,
        rng_seed: RngSeed::Fixed(20_190_216),
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    let cases_of = RefCell::new(BTreeMap::new());
    let try_out = |case: Case| {
        if brute_force(&case) {
            *cases_of.borrow_mut().entry(case.mechanism).or_insert(0) += 1;
        }
        Ok(())
    };
    TestRunner::new(config).run(&cases(k, most), try_out).unwrap();
    let cases_of = cases_of.into_inner();
    assert!(cases_of.values().sum::<u32>() >= 24 * mechanism::ALL.len() as u32, "{cases_of:?}");
    // With two categories `geometric-all` is refused.
    for id in mechanism::ALL.iter().map(|mechanism| mechanism.id) {
        let is_refused = k == 2 && id == "geometric-all";
        let tested = cases_of.get(id).copied().unwrap_or(0);
        assert!(if is_refused { tested == 0 } else { tested >= 15 }, "{id}: {cases_of:?}");
    }
}

/// Whether the mechanism was audited: it may refuse its options.
fn brute_force(case: &Case) -> bool {
    let setting = of_size(&case.prior, case.n, case.epsilon, case.distance);
    let options = Options { divisor: case.option, scale_factor: case.option, ..Options::default() };
    let variant = variant(case.mechanism, options);
    if variant.law(&setting).is_err() {
        return false;
    }
    let data = data_sets(case.n, case.prior.len());
    let one = data[case.one % data.len()].clone();
    let here = SettingWithData::new(setting.clone(), one.clone());
    // Wide lattice noise has too many vectors.
    if let Formula::Lattice(noise) = formula(&variant, &here)
        && furthest(noise) > if case.prior.len() == 2 { 2000 } else { 280 }
    {
        return false;
    }
    let laws = Laws::new(&variant, &setting);
    for scope in [Scope::All, Scope::Corners, Scope::One(one)] {
        check(&laws, &scope, case.part * case.epsilon);
    }
    true
}

#[test]
fn plateaus_count_once_and_only_where_they_are() {
    // n = 400, k = 2, and a rate at which the plateau matters; far away data sets of k = 3.
    let every = [
        ("ehd", None, "hellinger"),
        ("ehdl", None, "hellinger"),
        ("ehds", Some(2.0), "hellinger"),
        ("ehds", None, "print"),
        ("mh-gamma", Some(0.02), "hellinger"),
        ("mh-beta", None, "hellinger"),
    ];
    for (id, divisor, distance) in every {
        let variant = variant(id, Options { divisor, ..Options::default() });
        let setting = of_size(&[1.0, 1.5], 400, 1.0, distance);
        for scope in [Scope::Corners, Scope::One(vec![200, 200]), Scope::One(vec![30, 370])] {
            check(&Laws::new(&variant, &setting), &scope, 0.1);
        }
        let setting = of_size(&[1.0, 1.5, 2.0], 80, 1.0, distance);
        for scope in [Scope::One(vec![30, 20, 30]), Scope::One(vec![0, 79, 1])] {
            check(&Laws::new(&variant, &setting), &scope, 0.1);
        }
    }
}

/// Far from both data sets the ratio is a constant; the exact laws know it too.
#[test]
fn an_output_far_from_both_data_sets_can_be_the_worst() {
    let variant = variant("ehdl", Options::default());
    let setting = of_size(&[0.01, 0.01], 50_000, 40.0, "hellinger");
    let law = variant.law(&setting).unwrap();
    let Loss { loss, from, to, output, .. } = loss(&variant, &setting, &Scope::Corners).unwrap();
    let log_probability = |counts: &Counts| {
        let posterior = setting.at(counts.clone());
        let bench = Bench::new(&posterior, setting.distance, [law.as_ref()], &[]).unwrap();
        let far = bench.fields().next().unwrap().at(&output);
        assert!(far > 1.0 - 1e-15, "{counts:?} {output:?}");
        -bench.at(0).rate().unwrap() - bench.law(0).normaliser().ln()
    };
    assert_close(log_probability(&from) - log_probability(&to), loss, 1e-12, "far away");
}

#[test]
fn losses_stay_finite_where_probabilities_underflow() {
    let setting = of_size(&[1.0, 1.0], 300, 4000.0, "hellinger");
    for &mechanism in mechanism::ALL {
        let variant = Mechanism::plain(mechanism);
        if let Ok(Loss { loss, .. }) = loss(&variant, &setting, &Scope::All) {
            let guarantee = variant.guarantee(&setting);
            // With a δ there may be no ε: see below.
            let most =
                if let Guarantee::Approximate(..) = guarantee { f64::INFINITY } else { 8001.0 };
            // Synthetic records rest on the prior: a large ε changes nothing.
            let least = if mechanism.id == "synthetic" { 5.0 } else { 1000.0 };
            assert!(loss > least && loss <= most, "{}: {loss}", mechanism.id);
        }
    }
}

/// The stated δ is kept, and nearly reached unless the noise is wider than the data.
#[test]
fn stated_deltas_are_kept() {
    let gaussian = variant("gaussian", Options::default());
    let truncated = variant("geometric-truncated", Options::default());
    for (prior, n) in [(&[1.0, 1.0][..], 60), (&[1.0, 1.0], 5000), (&[1.0, 1.0, 1.0], 18)] {
        for (epsilon, delta) in [(1.0, 1e-2), (1.0, 1e-6), (2.0, 1e-8)] {
            let setting = of_size(prior, n, epsilon, "hellinger");
            let setting = Setting { delta: Delta::new(delta).ok(), ..setting };
            let at = |variant: &Mechanism| {
                let found = delta_at(variant, &setting, &Scope::All, epsilon).unwrap().delta;
                let stated = variant.guarantee(&setting);
                assert_eq!(stated, Guarantee::Approximate(epsilon, delta));
                assert!(found <= delta * (1.0 + 1e-9), "{} {found} {delta}", variant.label);
                found
            };
            let lost = |variant| loss(variant, &setting, &Scope::All).unwrap().loss;
            // σ is continuous, and the radius a whole number: one step is a factor e^ε.
            // Clamping to few records takes some of δ away.
            let part = if prior.len() == 2 { 0.99 } else { 0.75 };
            assert!(at(&gaussian) > part * delta, "{prior:?} {n} {epsilon} {delta}");
            assert!(at(&truncated) > 0.9 * delta * (-epsilon).exp());
            assert!(lost(&gaussian) > epsilon && lost(&gaussian).is_finite());
            assert_eq!(lost(&truncated), f64::INFINITY);
        }
    }
    // Noise that reaches all outputs from everywhere is finite again.
    let setting = of_size(&[1.0, 1.0], 3, 1.0, "hellinger");
    assert!(loss(&truncated, &setting, &Scope::All).unwrap().loss < 3.0);
}

#[test]
fn without_records_there_is_nothing_to_lose() {
    let setting = of_size(&[1.0, 2.0, 3.0], 0, 1.0, "hellinger");
    for &mechanism in mechanism::ALL {
        let variant = Mechanism::plain(mechanism);
        for scope in [Scope::All, Scope::Corners, Scope::One(vec![0; 3])] {
            let found = loss(&variant, &setting, &scope).unwrap();
            assert_eq!((found.loss, found.pairs), (0.0, 0));
            assert_eq!(delta_at(&variant, &setting, &scope, 0.0).unwrap().delta, 0.0);
        }
    }
}

#[test]
fn stated_guarantees_hold_and_are_loose() {
    let setting = of_size(&[1.0, 1.0], 50, 1.0, "hellinger");
    let lost = |id| loss(&variant(id, Options::default()), &setting, &Scope::All).unwrap().loss;
    assert!((lost("ehds") - 0.374).abs() < 5e-4, "{}", lost("ehds"));
    assert!((lost("ehd") - 0.555).abs() < 5e-4, "{}", lost("ehd"));
}

/// Readings of a printed figure of losses at the corners; print distance, ε = 1.
#[test]
fn the_corners_as_printed() {
    let divisor = |d: f64| Options { divisor: Some(d), ..Options::default() };
    let bound = Options { global: Some(Global::Bound), ..Options::default() };
    let printed = [
        ("ehd", bound, 1_000, 0.1472, 0.005),
        ("ehd", bound, 50_000, 0.1141, 0.004),
        ("ehdl", divisor(2.0), 100, 0.8098, 0.005),
        ("ehdl", divisor(2.0), 50_000, 2.1755, 0.005),
        ("ehds", divisor(2.0), 500, 0.6595, 0.005),
        ("ehds", divisor(2.0), 1_000, 0.7147, 0.005),
        ("ehds", divisor(2.0), 50_000, 0.8484, 0.005),
    ];
    for (id, options, n, value, tolerance) in printed {
        let setting = of_size(&[1.0, 1.0], n, 1.0, "print");
        let ours = loss(&variant(id, options), &setting, &Scope::Corners).unwrap().loss;
        assert!((ours - value).abs() <= tolerance, "{id} n = {n}: {ours} instead of {value}");
    }
}

/// The worst data sets need not be corners.
#[test]
fn all_data_sets_can_be_worse_than_the_corners() {
    let variant = variant("ehds", Options { divisor: Some(2.0), ..Options::default() });
    for (n, all, corners) in [(200, 0.6204, 0.6124), (300, 0.6263, 0.6125)] {
        let setting = of_size(&[1.0, 1.0], n, 1.0, "print");
        for (scope, value) in [(Scope::All, all), (Scope::Corners, corners)] {
            let ours = loss(&variant, &setting, &scope).unwrap().loss;
            assert!((ours - value).abs() < 1e-4, "{scope:?} n = {n}: {ours} instead of {value}");
        }
    }
}

#[test]
fn the_same_result_on_any_number_of_threads() {
    let setting = of_size(&[1.0, 2.0, 1.0], 12, 1.0, "hellinger");
    let audit = || {
        let variant = Mechanism::plain(mechanism::find("ehds").unwrap());
        let lost = loss(&variant, &setting, &Scope::All).unwrap();
        (lost, delta_at(&variant, &setting, &Scope::All, 0.1).unwrap())
    };
    let on = |threads: usize| {
        rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(audit)
    };
    assert_eq!(on(1), on(3));
}
