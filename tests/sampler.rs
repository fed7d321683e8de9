//! Every sampler against its exact law, by χ².
//!
//! Each comparison is made at the level 10⁻⁶ / (number of comparisons in this file), so that a
//! correct build raises a false alarm with probability 10⁻⁶ at most over the whole suite (and,
//! seeds being fixed, never more than once). That the test has power is shown by the same test on
//! the same samplers with a scale that is 5 % wrong: it must reject every one.

mod common;

use std::collections::BTreeMap;

use common::setting;
use dpbi::field::Reach;
use dpbi::law::{Batch, Law, Recipe};
use dpbi::mechanism::{self, Choice, Options, Variant};
use dpbi::rng;
use dpbi::setting::Setting;
use dpbi::simplex::{BLOCK, Region};
use dpbi::workbench::Workbench;
use rayon::prelude::*;
use statrs::distribution::{ChiSquared, ContinuousCDF};

const FALSE_ALARMS: f64 = 1e-6;
/// An upper bound on the number of comparisons in this file.
const COMPARISONS: f64 = 460.0;
/// Outputs are pooled, in order, until so many are expected.
const EXPECTED: f64 = 20.0;

/// The probability of every output, in order. For an exponential mechanism straight from its
/// definition, over all candidates one by one: independent of blocks, balls and plateaus.
fn probabilities(setting: &Setting, recipe: Recipe, law: &dyn Law) -> BTreeMap<Vec<u64>, f64> {
    let k = setting.posterior.k();
    let field = setting.distance.field(&setting.posterior, &Reach::ball(&setting.posterior));
    let mut masses = BTreeMap::new();
    let simplex = || Region::simplex(setting.posterior.n(), k);
    let region = recipe.region(&setting.posterior).unwrap_or_else(simplex);
    let blocks = region.blocks();
    let mut row_masses = [0.0; BLOCK];
    for block in 0..blocks.len() {
        region.walk(&blocks, block, |row| {
            let row_masses = &mut row_masses[..row.len];
            law.masses(row, row_masses);
            for (t, &row_mass) in row_masses.iter().enumerate() {
                let mut output = vec![0; k];
                row.output(t, &mut output);
                let mass = match recipe {
                    Recipe::Exponential { rate } => libm::exp(-rate * field.at(&output)),
                    _ => row_mass,
                };
                masses.insert(output, mass);
            }
        });
    }
    let total: f64 = masses.values().sum();
    masses.values_mut().for_each(|mass| *mass /= total);
    masses
}

/// P[χ² at least as large as observed], for `draws` draws by `sampler` under `law`.
fn p_value(law: &BTreeMap<Vec<u64>, f64>, sampler: &dyn Law, draws: u32, stream: &str) -> f64 {
    let mut observed: BTreeMap<&Vec<u64>, f64> = BTreeMap::new();
    let k = law.keys().next().unwrap().len();
    let mut outside = 0;
    let mut batches = [Batch::new(rng::stream(1, stream), draws as usize, k)];
    sampler.draw(k, &mut batches);
    for output in batches[0].released.chunks_exact(k) {
        match law.get_key_value(output) {
            Some((key, _)) => *observed.entry(key).or_default() += 1.0,
            None => outside += 1,
        }
    }
    assert_eq!(outside, 0, "{stream}: outputs that the exact law excludes");
    let (mut bins, mut bin) = (Vec::new(), (0.0, 0.0));
    for (output, p) in law {
        bin.0 += observed.get(output).copied().unwrap_or(0.0);
        bin.1 += p * f64::from(draws);
        if bin.1 >= EXPECTED {
            bins.push(std::mem::take(&mut bin));
        }
    }
    if let Some(last) = bins.last_mut() {
        *last = (last.0 + bin.0, last.1 + bin.1);
    }
    if bins.len() < 2 {
        return 1.0;
    }
    let chi2: f64 = bins.iter().map(|(o, e)| (o - e) * (o - e) / e).sum();
    ChiSquared::new(bins.len() as f64 - 1.0).unwrap().sf(chi2)
}

/// χ² of a variant's sampler under the exact law of the variant without options.
fn compare(setting: &Setting, variant: &Variant, draws: u32) -> Option<f64> {
    let right = Variant::plain(variant.mechanism).recipe(setting).ok()?;
    let recipe = variant.recipe(setting).unwrap();
    let bench = Workbench::new(setting, &[right, recipe], &[]);
    let law = probabilities(setting, right, bench.law(right).as_ref());
    let stream = format!("{} {}", setting.key(), variant.key(setting));
    Some(p_value(&law, bench.law(recipe).as_ref(), draws, &stream))
}

type Case = (&'static [f64], &'static [u64], f64, &'static str);

/// Balanced and not, empty categories, priors that are not whole, one record, every kind of score,
/// and sizes at which exponential mechanisms use the ball and the plateau.
const SETTINGS: [Case; 30] = [
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

#[test]
fn every_sampler_follows_its_exact_law() {
    let compare_all = |&(prior, counts, epsilon, distance): &Case| {
        let setting = setting(prior, counts, epsilon, distance);
        let variants = mechanism::ALL.map(Variant::plain);
        let p =
            |variant: &Variant| Some((variant.label.clone(), compare(&setting, variant, 40_000)?));
        let found: Vec<_> = variants.iter().filter_map(p).collect();
        assert!(found.len() >= 10, "{}: only {} mechanisms", setting.key(), found.len());
        found.into_iter().map(|(label, p)| (format!("{} {label}", setting.key()), p)).collect()
    };
    let results: Vec<Vec<(String, f64)>> = SETTINGS.par_iter().map(compare_all).collect();
    let results: Vec<_> = results.into_iter().flatten().collect();
    assert!(results.len() > 240 && (results.len() as f64) < COMPARISONS - 50.0);
    for (what, p) in &results {
        assert!(*p > FALSE_ALARMS / COMPARISONS, "{what}: p = {p:e}");
    }
}

#[test]
fn a_scale_five_per_cent_off_is_rejected() {
    // Strong privacy hides everything, a wrong scale too: ε is large enough for each law to vary.
    let powered: [Case; 3] = [
        (&[1.0, 1.0], &[25, 25], 5.0, "hellinger"),
        (&[1.0, 2.0, 1.5], &[10, 4, 9], 5.0, "hellinger"),
        (&[1.0, 1.0, 1.0, 1.0], &[3, 5, 4, 1], 5.0, "hellinger"),
    ];
    let cases: Vec<(Case, &dyn mechanism::Mechanism)> = powered
        .iter()
        .flat_map(|&case| mechanism::ALL.into_iter().map(move |mechanism| (case, mechanism)))
        .collect();
    cases.par_iter().for_each(|((prior, counts, epsilon, distance), mechanism)| {
        let setting = setting(prior, counts, *epsilon, distance);
        let plain = Variant::plain(*mechanism);
        let Ok(recipe) = plain.recipe(&setting) else { return };
        let options = wrong_by_five_per_cent(*mechanism, &setting, recipe);
        let wrong = Variant { options, ..plain };
        let p = compare(&setting, &wrong, 400_000).unwrap();
        assert!(p < FALSE_ALARMS / COMPARISONS, "{} at {counts:?}: p = {p:e}", mechanism.id());
    });
}

/// Options under which noise is 5 % wider, or a rate 5 % lower, than it should be.
fn wrong_by_five_per_cent(
    mechanism: &dyn mechanism::Mechanism,
    setting: &Setting,
    recipe: Recipe,
) -> Options {
    if mechanism.choices().contains(&Choice::ScaleFactor) {
        let Recipe::Noise { scale, .. } = recipe else { panic!("only noise has a scale factor") };
        let factor = 1.05 * scale * setting.epsilon.get();
        return Options { scale_factor: Some(factor), ..Options::default() };
    }
    let divisor = if mechanism.id() == "ehds" { 4.0 } else { 2.0 };
    Options { divisor: Some(1.05 * divisor), ..Options::default() }
}
