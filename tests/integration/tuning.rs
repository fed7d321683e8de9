//! Exact calibration and Bayes-optimal remapping, against reference values and brute force.

use crate::common::{assert_close, golden, of_size, setting};
use engine::analysis::audit::Scope;
use engine::analysis::tuning::calibrate;
use engine::mechanism::law::{Batch, Bench, Outputs};
use engine::mechanism::{self, Mechanism, Options};
use engine::posterior::error_field::Reach;
use engine::posterior::model::Predictive;
use engine::posterior::privacy::Epsilon;
use engine::posterior::setting::Setting;
use engine::posterior::simplex::{list_compositions, rank};
use engine::prepared::Prepared;

fn loss(variant: &Mechanism, setting: &Setting) -> f64 {
    variant.prepare(setting).unwrap().loss(&Scope::All, &[]).unwrap().loss.loss
}

fn with(id: &str, calibrated: bool, remap: bool) -> Mechanism {
    let options = Options { calibrated, remap, ..Options::default() };
    Mechanism::new(mechanism::find(id).unwrap(), options, id.to_owned())
}

/// The mean error over the predictive law, data set by data set.
fn predictive_mean(prepared: &Prepared) -> f64 {
    let setting = &prepared.setting;
    let (n, k) = (setting.n, setting.k());
    let predictive = Predictive::new(&setting.prior, n);
    let mean = |x: &Vec<u64>| prepared.at(x).unwrap().summary().error.unwrap().mean;
    let term = |x: &Vec<u64>| predictive.ln_probability(x).exp() * mean(x);
    list_compositions(n, k).iter().map(term).sum()
}

/// In the settings of the reference values, which `golden.rs` compares.
#[test]
fn calibration_meets_its_own_audit() {
    for row in golden("calibration.csv") {
        let (id, epsilon) = (row.text("mechanism"), row.number("epsilon"));
        let n = row.number("n") as u64;
        let setting = of_size(&row.vector::<f64>("prior"), n, epsilon, "hellinger");
        let variant = with(id, true, false);
        let prepared = variant.prepare(&setting).unwrap();
        let certificate = prepared.certificate.clone().unwrap();
        let what = format!("{id} {} n = {n} ε = {epsilon}", row.text("prior"));
        let found = prepared.loss(&Scope::All, &[]).unwrap().loss;
        assert_eq!(found, certificate.found, "{what}");
        assert!(found.bound <= epsilon && found.loss < found.bound, "{what}: {found:?}");
        assert!(certificate.margin() > 0.0 && certificate.margin() < 1e-9, "{what}");
        // One unit of the seventh digit more would be too much: the inner ε is the largest.
        let mut more = variant.clone();
        let inner = Epsilon::new(certificate.inner_epsilon.get() * (1.0 + 1e-7)).unwrap();
        more.options.inner_epsilon = Some(inner);
        assert!(loss(&more, &setting) > epsilon, "{what}");
    }
}

#[test]
fn the_loss_grows_with_the_inner_epsilon() {
    for id in ["ehd", "ehdl", "ehds", "mh-gamma", "mh-beta", "hamming"] {
        for (prior, n) in [(vec![1.0, 1.0], 30), (vec![0.4, 6.0], 17), (vec![1.0, 2.0, 0.7], 7)] {
            let setting = of_size(&prior, n, 1.0, "hellinger");
            let mut before = 0.0;
            for step in -12..=20 {
                let mut variant = with(id, false, false);
                variant.options.inner_epsilon = Epsilon::new(1.5_f64.powi(step)).ok();
                let loss = loss(&variant, &setting);
                assert!(loss > before, "{id} {prior:?} {n}: {loss} after {before}");
                before = loss;
            }
        }
    }
}

#[test]
fn calibration_at_the_edges() {
    for id in ["ehd", "ehdl", "ehds", "mh-gamma", "mh-beta", "hamming"] {
        let variant = with(id, true, false);
        let calibrate = |setting: &Setting| calibrate(&variant, setting).unwrap().1;
        let none = calibrate(&of_size(&[1.0, 2.0], 0, 0.7, "hellinger"));
        assert_eq!((none.found.loss, none.found.pairs, none.inner_epsilon.get()), (0.0, 0, 0.7));
        // Small and large ε, one record, priors far from 1.
        for epsilon in [1e-6, 0.01, 30.0, 2000.0] {
            for (prior, n) in [(vec![1.0, 1.0], 1), (vec![1e-3, 50.0], 6), (vec![1.0; 3], 4)] {
                let found = calibrate(&of_size(&prior, n, epsilon, "hellinger"));
                let margin = found.margin();
                let what = format!("{id} {prior:?} n = {n} ε = {epsilon}: {found:?}");
                assert!(margin > 0.0 && margin < 1e-6 * epsilon, "{what}");
            }
        }
    }
    let refused =
        calibrate(&with("lshist", true, false), &of_size(&[1.0, 1.0], 5, 1.0, "hellinger"));
    assert!(refused.map(drop).unwrap_err().cause.contains("cannot be calibrated"));
}

/// With one record and two categories everything is known: the loss is |ln P(x)/P(x')|.
#[test]
fn one_record_in_closed_form() {
    let setting = of_size(&[1.0, 1.0], 1, 1.0, "hellinger");
    let (_, found) = calibrate(&with("ehd", true, false), &setting).unwrap();
    // Two candidates at distances 0 and GS: P(x)/P(x') = e^(inner / 2).
    assert_close(found.inner_epsilon.get(), 2.0, 1e-10, "inner ε");
}

/// The remapping again, with nothing left out and nothing shared.
#[test]
fn remapping_by_brute_force() {
    for (prior, n) in [(vec![1.0, 1.0], 9), (vec![0.5, 3.0], 6), (vec![1.0, 2.0, 4.0], 4)] {
        let setting = of_size(&prior, n, 0.4, "hellinger");
        let k = prior.len();
        let all = list_compositions(n, k);
        let predictive = Predictive::new(&setting.prior, n);
        for id in ["lszhang", "lshist", "geometric", "ehd", "ehds", "hamming"] {
            let plain = with(id, false, false).prepare(&setting).unwrap();
            let remapped = with(id, false, true).prepare(&setting).unwrap();
            let remap = remapped.remap.clone().unwrap();
            let outputs = Outputs::new(plain.law.outputs(), n, k);
            let field = |x: &Vec<u64>| {
                let posterior = setting.at(x.clone());
                let reach = Reach { windows: vec![(0, n); k], ball: false };
                (setting.distance.field(&posterior, &reach), posterior)
            };
            let fields: Vec<_> = all.iter().map(field).collect();
            let joint: Vec<Vec<f64>> = (all.iter().zip(&fields))
                .map(|(x, (field, posterior))| {
                    let at = plain.law.at(posterior).unwrap();
                    let logs = at.ln_probabilities(outputs, field.as_ref());
                    assert_close(logs.iter().map(|p| p.exp()).sum(), 1.0, 1e-12, id);
                    let weight = predictive.ln_probability(x);
                    logs.iter().map(|ln_p| (weight + ln_p).exp()).collect()
                })
                .collect();
            let mut total = 0.0;
            for (o, output) in outputs.list().iter().enumerate() {
                let error = |r: &Vec<u64>| -> f64 {
                    joint.iter().zip(&fields).map(|(p, (field, _))| p[o] * field.at(r)).sum()
                };
                let least = all.iter().map(error).fold(f64::INFINITY, f64::min);
                let ours = error(&remap.replace(output).to_vec());
                assert!(ours <= least * (1.0 + 1e-11), "{id} {prior:?} {output:?}");
                total += least;
            }
            // The remapped law has the error that the map promises, and never a larger one.
            let (remapped, plain) = (predictive_mean(&remapped), predictive_mean(&plain));
            assert_close(remapped, total, 1e-11, &format!("{id} {prior:?}"));
            assert!(remapped <= plain * (1.0 + 1e-12), "{id} {prior:?}: {remapped} {plain}");
        }
    }
}

#[test]
fn remapped_geometric_is_optimal_and_loses_no_more() {
    let setting = of_size(&[1.0, 1.0], 20, 0.1, "hellinger");
    let geometric = with("geometric", false, true).prepare(&setting).unwrap();
    assert!((predictive_mean(&geometric) - 0.561_477_3).abs() < 5e-8);
    for id in ["lszhang", "geometric", "ehds", "hamming"] {
        let plain = with(id, false, false).prepare(&setting).unwrap();
        let remapped = with(id, false, true).prepare(&setting).unwrap();
        let loss = |prepared: &Prepared| prepared.loss(&Scope::All, &[]).unwrap().loss;
        let (before, after) = (loss(&plain), loss(&remapped));
        assert!(after.loss <= before.bound, "{id}: {} {}", after.loss, before.loss);
        // The loss is attained where the audit says.
        let log = |x: &Vec<u64>| remapped.at(x).unwrap().probability(&after.output).ln();
        assert_close(log(&after.from) - log(&after.to), after.loss, 1e-10, id);
    }
}

#[test]
fn both_at_once_stay_within_the_target() {
    let setting = of_size(&[1.0, 3.0], 12, 0.5, "hellinger");
    let both = with("ehdl", true, true).prepare(&setting).unwrap();
    let loss = both.loss(&Scope::All, &[]).unwrap().loss.loss;
    assert!(loss <= 0.5 && both.certificate.as_ref().unwrap().margin() > 0.0, "{loss}");
    let calibrated = with("ehdl", true, false).prepare(&setting).unwrap();
    let (both, one) = (predictive_mean(&both), predictive_mean(&calibrated));
    assert!(both < one, "{both} {one}");
}

#[test]
fn a_remapped_sampler_draws_from_its_law() {
    let setting = setting(&[1.0, 1.0, 2.0], &[2, 3, 1], 0.6, "hellinger");
    let prepared = with("lszhang", false, true).prepare(&setting).unwrap();
    let bench =
        Bench::new(setting.posterior(), setting.distance, [prepared.law.as_ref()], &[]).unwrap();
    let law = bench.law(0);
    let draws = 40_000;
    let mut batches = [Batch::new(engine::rng::stream(7, "remapped"), draws, 3)];
    law.draw(3, &mut batches);
    let candidates = list_compositions(6, 3);
    let mut seen = vec![0.0; candidates.len()];
    for out in batches[0].released.chunks_exact(3) {
        seen[rank(out)] += 1.0;
    }
    let (mut chi2, mut cells) = (0.0, 0.0);
    for (seen, candidate) in seen.into_iter().zip(&candidates) {
        let expected = draws as f64 * engine::mechanism::law::probability(law.as_ref(), candidate);
        if expected > 5.0 {
            chi2 += (seen - expected).powi(2) / expected;
            cells += 1.0;
        } else {
            assert!(seen < 30.0, "{candidate:?}");
        }
    }
    // Six standard deviations of χ² with as many degrees: a false alarm once in about 10^7.
    assert!(cells > 4.0 && chi2 < cells + 6.0 * (2.0_f64 * cells).sqrt(), "{chi2} {cells}");
}
