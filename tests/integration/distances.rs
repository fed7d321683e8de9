//! Distances other than Hellinger's (values and laws are in `golden.rs`): sensitivities against brute
//! force over all data sets and candidates, and the privacy of mechanisms that use them as scores.

use crate::common::{Sandbox, assert_close, refused, setting};
use engine::analysis::audit::{self, Scope};
use engine::mechanism::law::{Bench, ErrorSummary};
use engine::mechanism::{self, Global, Mechanism, Options};
use engine::numeric::overlap::total_variation;
use engine::posterior::distance;
use engine::posterior::error_field::{Field, Reach};
use engine::posterior::metric;
use engine::posterior::model::{Posterior, Prior, hamming_distance, neighbours};
use engine::posterior::simplex::list_compositions;

/// Distances that can be scores at any prior, and one that needs large parameters.
const SCORES: [&str; 5] = ["tv", "kl", "kl_reverse", "renyi:0.5", "renyi:0.1"];

fn posterior(prior: &[f64], counts: &[u64]) -> Posterior {
    Posterior::new(Prior::new(prior.to_vec()).unwrap(), counts.to_vec())
}

fn field(distance: &str, posterior: &Posterior) -> Box<dyn Field> {
    let reach = Reach { ball: false, ..Reach::ball(posterior) };
    distance::find(distance).unwrap().field(posterior, &reach)
}

/// Where logarithms nearly cancel, a sensitivity may be too large by what they leave, never too
/// small: (4.5, 9, …)/α are the leading terms, by hand, for five records.
#[test]
fn sensitivities_at_strong_priors_are_never_too_small() {
    for alpha in [1e6, 1e9, 1e12, 1e14] {
        let posterior = posterior(&[alpha, alpha], &[3, 2]);
        for (id, leading) in [("renyi:0.5", 4.5), ("kl_reverse", 9.0)] {
            let ours = distance::find(id).unwrap().sensitivity(&posterior).global();
            let exact = leading / alpha;
            let above = ours - exact * (1.0 - 20.0 / alpha);
            assert!(above >= 0.0 && above < 1e-12 + 40.0 * exact / alpha, "{id} {alpha}: {ours:e}");
        }
    }
}

#[test]
fn total_variation_lies_between_its_bounds() {
    for (prior, counts) in [
        (vec![1.0, 1.0], vec![12, 8]),
        (vec![0.2, 3.5], vec![0, 15]),
        (vec![1.0, 1.0, 1.0], vec![3, 0, 5]),
        (vec![0.4, 2.0, 0.7, 1.0], vec![1, 2, 0, 2]),
    ] {
        let posterior = posterior(&prior, &counts);
        let n = posterior.n();
        let reach = Reach { ball: false, ..Reach::ball(&posterior) };
        let [lower, tv, upper] = ["tv_lower", "tv", "tv_upper"]
            .map(|id| metric::find(id).unwrap().field(&posterior, &reach));
        // Outputs of every total.
        for total in [0, 1, n / 2, n - 1, n, n + 1, n + 3] {
            for output in list_compositions(total, prior.len()) {
                let values = [lower.at(&output), tv.at(&output), upper.at(&output)];
                let slack = 1e-13;
                let between = values[0] <= values[1] + slack && values[1] <= values[2] + slack;
                assert!(between, "{prior:?} {counts:?} {output:?}: {values:?}");
            }
        }
    }
}

#[test]
fn total_variation_is_symmetric_and_forgets_what_stays() {
    let four = total_variation(&[1.0, 2.0, 0.5, 3.0], &[7, 3, 9, 30], &[9, 1, 9, 30]);
    let two = total_variation(&[1.0, 2.0], &[7, 3], &[9, 1]);
    assert!((four - two).abs() < 1e-14, "{four} {two}");
    let back = total_variation(&[1.0, 2.0], &[9, 1], &[7, 3]);
    assert!((two - back).abs() < 1e-15, "{two} {back}");
    assert_eq!(total_variation(&[1.0, 2.0], &[9, 1], &[9, 1]), 0.0);
}

/// LS, GS, S_γ and S_β from their definitions, γ as for a score of at most `diameter`.
fn brute(distance: &str, prior: &[f64], counts: &[u64], diameter: f64) -> [f64; 4] {
    let n = counts.iter().sum();
    let all = list_compositions(n, prior.len());
    let score = |x: &[u64]| {
        let field = field(distance, &posterior(prior, x));
        all.iter().map(|r| field.at(r)).collect::<Vec<f64>>()
    };
    let scores: Vec<Vec<f64>> = all.iter().map(|x| score(x)).collect();
    let local = |x: &[u64]| {
        let mut largest = 0.0;
        let here = &scores[all.iter().position(|y| y == x).unwrap()];
        for y in neighbours(x) {
            let there = &scores[all.iter().position(|z| *z == y).unwrap()];
            let changes = here.iter().zip(there).map(|(a, b)| (a - b).abs());
            largest = changes.fold(largest, f64::max);
        }
        largest
    };
    let locals: Vec<(f64, f64)> =
        all.iter().map(|x| (local(x), hamming_distance(counts, x))).collect();
    let maximum = |value: &dyn Fn(f64, f64) -> f64| {
        locals.iter().map(|&(h, d)| value(h, d)).fold(0.0, f64::max)
    };
    [
        local(counts),
        maximum(&|h, _| h),
        maximum(&|h, d| 1.0 / (1.0 / h + 0.7 * d / diameter)),
        maximum(&|h, d| h * libm::exp(-0.2 * d)),
    ]
}

/// The largest score of all pairs.
fn largest_score(distance: &str, prior: &[f64], n: u64) -> f64 {
    let all = list_compositions(n, prior.len());
    let largest = |x: &Vec<u64>| {
        let field = field(distance, &posterior(prior, x));
        all.iter().map(|r| field.at(r)).fold(0.0, f64::max)
    };
    all.iter().map(largest).fold(0.0, f64::max)
}

#[test]
fn sensitivities_equal_brute_force() {
    let cases: [(&[f64], &[u64]); 16] = [
        (&[1.0, 1.0], &[6, 6]),
        (&[1.0, 1.0], &[0, 9]),
        (&[0.2, 0.45], &[3, 4]),
        (&[0.05, 7.0], &[1, 12]),
        (&[30.0, 26.5], &[5, 8]),
        (&[2.0, 0.7], &[1, 0]),
        (&[1.0, 1.0, 1.0], &[2, 3, 2]),
        (&[0.3, 2.5, 0.6], &[0, 0, 6]),
        (&[0.1, 0.2, 9.0], &[4, 0, 1]),
        (&[12.0, 15.0, 11.0], &[3, 2, 0]),
        (&[1.0, 0.4, 2.0, 0.7], &[1, 0, 2, 1]),
        (&[0.45, 0.45, 0.45, 0.45], &[0, 4, 0, 0]),
        // Small parameters: the largest divergence divides the records among several categories.
        (&[1e-4, 1e-4, 1e-4], &[3, 2, 1]),
        (&[0.01, 3.0, 0.002, 0.01], &[2, 1, 0, 2]),
        (&[0.03, 0.03, 0.03, 0.03, 0.03], &[1, 0, 1, 1, 0]),
        (&[3.156, 0.1019], &[3, 4]),
    ];
    let mut compared = 0;
    for (prior, counts) in cases {
        for id in SCORES.into_iter().chain(["renyi:2", "renyi:1.3"]) {
            let posterior = posterior(prior, counts);
            let distance = distance::find(id).unwrap();
            if distance.refuses_scores(posterior.prior(), posterior.n()).is_some() {
                assert_eq!(distance.sensitivity(&posterior).local(), f64::INFINITY);
                continue;
            }
            let ours = distance.sensitivity(&posterior);
            let diameter = ours.diameter();
            let largest = largest_score(id, prior, posterior.n());
            match distance.bound() {
                Some(bound) => assert!(largest <= bound && diameter == bound, "{id} {prior:?}"),
                // γ is divided by the largest score itself, which no score exceeds.
                None => {
                    assert_close(diameter, largest, 1e-12, &format!("{id} {prior:?}"));
                    assert!(largest <= diameter, "{id} {prior:?}: {largest} > {diameter}");
                }
            }
            let ours = [ours.local(), ours.global(), ours.gamma_smooth(0.7), ours.beta_smooth(0.2)];
            let theirs = brute(id, prior, counts, diameter);
            for (ours, theirs) in ours.into_iter().zip(theirs) {
                assert_close(ours, theirs, 1e-11, &format!("{id} {prior:?} {counts:?}"));
            }
            compared += 1;
        }
    }
    assert!(compared >= 65, "{compared}");
}

#[test]
fn gamma_is_divided_by_the_largest_score() {
    // By the definition, in 50 digits elsewhere: S_γ at γ = 1.
    let posterior = posterior(&[3.156, 0.1019], &[3, 4]);
    let smooth = distance::find("renyi:0.5").unwrap().sensitivity(&posterior).gamma_smooth(1.0);
    assert!((smooth - 1.64492).abs() < 5e-6, "{smooth}");
}

#[test]
fn large_data_need_no_enumeration() {
    for id in SCORES {
        for counts in [vec![500_000, 500_000], vec![30_000, 50_000, 20_000]] {
            let posterior = posterior(&vec![1.0; counts.len()], &counts);
            let sensitivity = distance::find(id).unwrap().sensitivity(&posterior);
            let (local, global) = (sensitivity.local(), sensitivity.global());
            let smooth = sensitivity.gamma_smooth(1.0);
            assert!(0.0 < local && local <= smooth && smooth <= global, "{id} {counts:?}");
        }
    }
}

#[test]
fn mechanisms_keep_their_promises_under_every_score() {
    for (prior, counts) in
        [(vec![1.0, 1.0], vec![7, 8]), (vec![0.4, 2.0], vec![6, 6]), (vec![1.0; 3], vec![2, 3, 2])]
    {
        for id in SCORES {
            let setting = setting(&prior, &counts, 1.0, id);
            for mechanism in ["ehd", "ehds"] {
                let law = Mechanism::parse(mechanism).unwrap().law(&setting).unwrap();
                let found = audit::loss(law.as_ref(), &setting, &Scope::All).unwrap();
                assert!(found.loss <= 1.0 + 1e-9, "{id} {mechanism}: {}", found.loss);
                assert!(found.loss > 0.01, "{id} {mechanism}: {}", found.loss);
            }
            let law = Mechanism::parse("mh-gamma").unwrap().law(&setting).unwrap();
            let found = audit::loss(law.as_ref(), &setting, &Scope::All).unwrap();
            assert!(found.loss <= 2.0 + 1e-9);
        }
    }
}

#[test]
fn infinite_errors_have_an_infinite_mean_and_sound_quantiles() {
    let setting = setting(&[1.0, 1.0], &[2, 18], 1.0, "hellinger");
    let metrics = ["chi2", "chi2_reverse", "renyi:3"].map(|id| metric::find(id).unwrap());
    for id in ["lszhang", "lshist", "ehd", "hamming"] {
        let law = Mechanism::parse(id).unwrap().law(&setting).unwrap();
        let bench =
            Bench::new(setting.posterior(), setting.distance, [law.as_ref()], &metrics).unwrap();
        let law = bench.law(0);
        for field in bench.fields().skip(1) {
            let error = ErrorSummary::new(law.as_ref(), field).error.unwrap();
            assert_eq!((error.mean, error.std), (f64::INFINITY, f64::INFINITY), "{id}");
            assert!(error.median >= 0.0 && error.median <= error.q90, "{id}: {error:?}");
        }
        // EHD is nearly uniform: nine in ten outputs have more than twice the parameter of 2.
        if id == "ehd" {
            let chi2 =
                ErrorSummary::new(law.as_ref(), bench.fields().nth(1).unwrap()).error.unwrap();
            assert_eq!(chi2.q90, f64::INFINITY);
        }
    }
}

#[test]
fn what_cannot_be_a_score_is_refused_with_a_remedy() {
    let refusal = |distance: &str, id: &str, options: Options| {
        let setting = setting(&[1.0, 1.0], &[5, 5], 1.0, distance);
        let variant = Mechanism { options, ..Mechanism::plain(mechanism::find(id).unwrap()) };
        variant.law(&setting).map(|_| ()).unwrap_err()
    };
    let infinite = refusal("renyi:2", "ehd", Options::default());
    assert!(infinite.cause.contains("infinite") && infinite.remedy.contains("order below 1"));
    let chi2 = refusal("chi2", "ehds", Options::default());
    assert!(chi2.remedy.contains("renyi:0.5"));
    let bound = Options { global: Some(Global::Bound), ..Options::default() };
    assert!(refusal("kl", "ehd", bound).remedy.contains("exact"));
    // As errors of mechanisms that weigh nothing, all of them can be used.
    for distance in ["renyi:2", "chi2", "tv"] {
        let setting = setting(&[1.0, 1.0], &[5, 5], 1.0, distance);
        assert!(Mechanism::parse("geometric").unwrap().law(&setting).is_ok());
    }
}

#[test]
fn names_are_read_with_care() {
    let same = |a: &str, b: &str| {
        assert!(std::ptr::addr_eq(distance::find(a).unwrap(), distance::find(b).unwrap()));
        assert_eq!(distance::find(a).unwrap().id(), b);
    };
    same("renyi:0.50", "renyi:0.5");
    same("renyi:2.0", "renyi:2");
    let remedy = |id: &str| distance::find(id).err().unwrap().remedy;
    assert_eq!(remedy("renyi:1"), "use kl");
    for bad in ["renyi:", "renyi:x", "renyi:-1", "renyi:0", "renyi:inf", "renyi:nan", "renyi:1e9"] {
        assert!(!remedy(bad).is_empty() && metric::find(bad).is_err(), "{bad}");
    }
    assert!(remedy("reny:0.5").contains("did you mean `renyi:0.5`?"));
    assert!(metric::find("chi").err().unwrap().remedy.contains("did you mean `chi2`?"));
    assert!(metric::find("renyi:3").is_ok_and(|metric| metric.bound().is_none()));
}

#[test]
fn inspect_and_run_take_every_distance() {
    let sandbox = Sandbox::new();
    for id in ["tv", "kl", "kl_reverse", "renyi:0.5", "chi2"] {
        let args = ["inspect", "--prior", "1,1", "--counts", "20,30", "--epsilon", "1", "--json"];
        let found = sandbox.json(&[&args[..], &["--distance", id]].concat());
        assert!(!found["local"].is_null(), "{id}");
        assert_eq!(found["local"] == "inf", id == "chi2");
    }
    refused(&sandbox.dpbi(&["claims", "4", "--distance", "kl"]), "claim nothing");
    sandbox.write(
        "inf.toml",
        "name = \"inf\"\nruns = 50\nprior = [1, 1]\nepsilon = 0.3\ndistance = \"tv\"\n\
         metrics = [\"chi2\", \"renyi:2\"]\nmechanisms = [\"lszhang\", \"ehd\"]\n\
         [data.counts]\ncounts = [[1, 9], [4, 16]]\n",
    );
    sandbox.succeed(&["run", "inf.toml", "--format", "svg", "-q"]);
    let summary = sandbox.text("results/inf/summary.csv");
    assert!(summary.contains(",inf,") && !summary.contains("NaN"));
    sandbox.succeed(&["plot", "results/inf"]);
}
