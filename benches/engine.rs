//! Benchmarks of the exact engine: `cargo bench --bench engine [NAME]`. Absolute times depend on the machine; compare the
//! kernel with the naive loop beside it.

mod common;

use std::process::Command;
use std::sync::Arc;

use divan::{Bencher, black_box, counter::ItemsCount};
use engine::analysis::audit::{self, Scope};
use engine::analysis::optimum::Optimum;
use engine::expression::{Expression, Names, Symbol};
use engine::mechanism::law::{Batch, Bench, ErrorSummary, Law, OutputSet, mean};
use engine::mechanism::own;
use engine::mechanism::{self, Mechanism};
use engine::numeric::kernel;
use engine::posterior::error_field::Reach;
use engine::posterior::model::{Prior, compositions};
use engine::posterior::privacy::Epsilon;
use engine::posterior::setting::{Setting, SettingWithData};
use engine::posterior::simplex::{BLOCK, Region};
use service::release::{Entropy, Method};

fn main() {
    divan::main();
}

fn setting(counts: &[u64]) -> SettingWithData {
    let prior = Prior::new(vec![1.0; counts.len()]).unwrap();
    let setting = Setting::new(prior, counts.iter().sum(), Epsilon::new(1.0).unwrap());
    SettingWithData::new(setting, counts.to_vec())
}

fn law(setting: &SettingWithData, id: &str) -> Arc<dyn Law> {
    let own = || own::weights(id, OutputSet::Simplex, Vec::new()).unwrap();
    let mechanism = mechanism::find(id).map_or_else(own, Into::into);
    Mechanism::plain(mechanism).law(setting).unwrap()
}

const WEATHER: [u64; 3] = [463, 247, 21];

fn candidates(counts: &[u64]) -> ItemsCount {
    ItemsCount::new(compositions(counts.iter().sum(), counts.len()).unwrap() as u64)
}

/// Scores and weights of all candidates on one thread.
#[divan::bench]
fn kernel(bencher: Bencher) {
    let setting = setting(&WEATHER);
    let field = setting.distance.field(setting.posterior(), &Reach::ball(setting.posterior()));
    let region = Region::simplex(731, 3);
    let blocks = region.blocks();
    bencher.counter(candidates(&WEATHER)).bench(|| {
        let mut total = 0.0;
        let (mut scores, mut masses) = ([0.0; BLOCK], [0.0; BLOCK]);
        for block in 0..blocks.len() {
            region.walk(&blocks, block, |row| {
                let (scores, masses) = (&mut scores[..row.len], &mut masses[..row.len]);
                field.row(row, scores);
                masses.copy_from_slice(scores);
                kernel::masses(3.0, row.weight, masses);
                total += kernel::moments(scores, masses).0;
            });
        }
        black_box(total)
    });
}

/// The same as one would write it first: tables of ln BC, then expm1, sqrt and exp from libm.
#[divan::bench]
fn naive_kernel(bencher: Bencher) {
    let tables: Vec<Vec<f64>> = WEATHER
        .iter()
        .map(|&x| {
            let term = |v: u32| {
                let (a, b) = (1.0 + x as f64, 1.0 + f64::from(v));
                libm::lgamma(0.5 * (a + b)) - 0.5 * libm::lgamma(a) - 0.5 * libm::lgamma(b)
            };
            (0..=731).map(term).collect()
        })
        .collect();
    bencher.counter(candidates(&WEATHER)).bench(|| {
        let mut total = 0.0;
        for i in 0..=731 {
            for j in 0..=731 - i {
                let ln_bc = tables[0][i] + tables[1][j] + tables[2][731 - i - j];
                total += libm::exp(-3.0 * (-libm::expm1(ln_bc.min(0.0))).sqrt());
            }
        }
        black_box(total)
    });
}

/// Everything exact about one mechanism: law, mean, deviation, median, 90 % quantile.
#[divan::bench(args = ["ehds", "lszhang", "lshist", "hamming"])]
fn exact_law_k3_n731(bencher: Bencher, id: &str) {
    let setting = setting(&WEATHER);
    bencher.bench(|| exact(&setting, id));
}

#[divan::bench(args = ["ehds", "lszhang", "lshist", "hamming"], sample_count = 10)]
fn exact_law_k4_n80(bencher: Bencher, id: &str) {
    let setting = setting(&[20; 4]);
    bencher.bench(|| exact(&setting, id));
}

#[divan::bench(args = ["ehds", "lshist"])]
fn exact_law_k2_n1000000(bencher: Bencher, id: &str) {
    let setting = setting(&[500_000; 2]);
    bencher.bench(|| exact(&setting, id));
}

/// Law and mean of mechanisms that weigh all candidates: a built-in one, and expressions in H alone, in H and
/// in all counts. `RAYON_NUM_THREADS=1` makes the items of a second those of one thread.
#[divan::bench(args = [
    "ehds",
    "-epsilon * H / (4 * S)",
    "-20 * H^2",
    "-20 * H^0.7",
    "-epsilon * (r1 - x1)^2 / (x1 + 1) - abs(r2 - x2)^1.5 / 9 + ln(1 + r3)",
    "-20 * H - l2 / 50",
])]
fn weighed_candidates_k3_n731(bencher: Bencher, weight: &str) {
    let setting = setting(&[243, 247, 241]);
    bencher.counter(candidates(&[243, 247, 241])).bench(|| {
        let law = law(&setting, weight);
        let bench = Bench::new(setting.posterior(), setting.distance, [law.as_ref()], &[]).unwrap();
        mean(bench.law(0).as_ref(), bench.distance())
    });
}

fn exact(setting: &SettingWithData, id: &str) -> ErrorSummary {
    let law = law(setting, id);
    let bench = Bench::new(setting.posterior(), setting.distance, [law.as_ref()], &[]).unwrap();
    ErrorSummary::new(bench.law(0).as_ref(), bench.distance())
}

/// What `dpbi run` computes: 1000 runs of every mechanism, exact numbers beside them, all tables.
#[divan::bench(
    args = ["366,365", "463,247,21", "20,20,20,20", "100,100,100,100", "200,120,60,20"],
    sample_count = 10
)]
fn experiment(bencher: Bencher, counts: &str) {
    let few = counts.split(',').count() == 2;
    let all = mechanism::ALL.iter().map(|mechanism| mechanism.id);
    let usable: Vec<&str> = all.filter(|id| !(few && *id == "geometric-all")).collect();
    let experiment = common::experiment(&usable, counts, 1000);
    bencher.bench(|| experiment.panels[0].compute());
}

/// The exact privacy loss over all pairs of adjacent data sets.
#[divan::bench(args = ["ehds"], sample_count = 10)]
fn audit_k2_n1000(bencher: Bencher, id: &str) {
    let setting = setting(&[1000, 0]);
    let law = law(&setting, id);
    bencher.bench(|| audit::loss(law.as_ref(), &setting, &Scope::All).unwrap().loss);
}

/// Every figure, table and claim of the documents, as a process of its own.
#[divan::bench(sample_count = 1, sample_size = 1)]
fn reproduce() {
    let out = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_dpbi"));
    let status = command.args(["reproduce", "-q", "--out"]).arg(out.path()).status();
    assert!(status.unwrap().success());
}

/// The linear program of the best private mechanism.
#[divan::bench(sample_count = 10)]
fn optimum_k2_n100(bencher: Bencher) {
    let setting = setting(&[100, 0]);
    bencher.bench(|| Optimum::of(&setting).unwrap().value);
}

/// A thousand draws from a prepared law.
#[divan::bench(args = ["ehds", "lszhang", "hamming"])]
fn thousand_draws_k3_n731(bencher: Bencher, id: &str) {
    thousand_draws(bencher, &WEATHER, id);
}

fn thousand_draws(bencher: Bencher, counts: &[u64], id: &str) {
    let setting = setting(counts);
    let law = law(&setting, id);
    let bench = Bench::new(setting.posterior(), setting.distance, [law.as_ref()], &[]).unwrap();
    let law = bench.law(0);
    bencher.counter(ItemsCount::new(1000_u32)).bench(|| {
        let mut batches = [Batch::new(engine::rng::stream(1, "bench"), 1000, counts.len())];
        law.draw(counts.len(), &mut batches);
        batches
    });
}

/// One release of 1000 records from the operating system's randomness, its method made ready, in
/// whole-number arithmetic; divide by the draws of an experiment below.
#[divan::bench(args = ["geometric", "tight", "lattice"])]
fn release_k2_n1000(bencher: Bencher, id: &str) {
    let setting = setting(&[1000, 0]);
    let variant = Mechanism::plain(mechanism::find(id).unwrap());
    let mut entropy = Entropy::new().unwrap();
    bencher.bench_local(|| {
        let method = Method::new(&variant, &setting, "0.7".parse().unwrap()).unwrap();
        black_box(method.draw(&[343, 657], &mut entropy))
    });
}

/// A thousand draws of an experiment, in floating point.
#[divan::bench(args = ["geometric", "lszhang", "hamming", "ehds"])]
fn thousand_draws_k2_n1000(bencher: Bencher, id: &str) {
    thousand_draws(bencher, &[343, 657], id);
}

/// Local, global and smooth sensitivities at a million records.
#[divan::bench(args = [2, 3, 5])]
fn sensitivities_n1000000(bencher: Bencher, k: usize) {
    let counts = vec![1_000_000 / k as u64; k];
    let setting = setting(&counts);
    bencher.bench(|| {
        let sensitivity = setting.sensitivity();
        [
            sensitivity.local(),
            sensitivity.global(),
            sensitivity.gamma_smooth(0.1),
            sensitivity.beta_smooth(0.01),
        ]
    });
}

/// The names of the expressions below.
struct ExpressionNames;

impl Names for ExpressionNames {
    type Variable = usize;

    fn find(&self, name: &str) -> Option<Symbol<usize>> {
        let constants = [("c", 1.3), ("p", 0.7), ("x1", 40.0), ("x2", 12.0)];
        let variables = ["H", "r1", "r2"];
        let constant = constants.iter().find(|(known, _)| *known == name);
        constant
            .map(|(_, value)| Symbol::Constant(*value))
            .or_else(|| variables.iter().position(|known| *known == name).map(Symbol::Variable))
    }

    fn known(&self) -> Vec<String> {
        Vec::new()
    }
}

/// Expressions on rows of one block, on one thread.
#[divan::bench(args = [
    "-c * H / 2",
    "-c * H^p",
    "-c * H^2",
    "exp(-H)",
    "ln(1 + r1)",
    "-c * (r1-x1)^2 / (x1+1) - c * abs(r2-x2)^1.5 + ln(1+r1)",
    "if(r1 > x1, -c * (r1 - x1), max(r1 - x1, -5)) - floor(r2 / 3)",
])]
fn expression(bencher: Bencher, text: &str) {
    let expression = Expression::parse(text, &ExpressionNames).unwrap().fix(&|_| None);
    let row = |scale: f64| (0..BLOCK).map(|i| scale * i as f64).collect::<Vec<f64>>();
    let rows = [row(1.0 / BLOCK as f64), row(1.0), row(0.5)];
    let mut out = [0.0; BLOCK];
    bencher.counter(ItemsCount::new(BLOCK)).bench_local(|| {
        expression.rows(&|variable| black_box(&rows[variable]), &mut out);
        black_box(out[BLOCK / 2])
    });
}
