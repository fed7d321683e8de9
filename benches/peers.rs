//! The work of `scripts/numpy_peer.py`, timed in one process; `scripts/bench_peers.sh` runs both in
//! turn. For every vector of counts (prior 1, ε = 1, γ = 1, Hellinger distance) two best times:
//!
//! - `draws`: the same work, that is sensitivities, runs of the five mechanisms, sampled means;
//! - `everything`: what `dpbi run` computes: the same, and exact means, deviations, medians and
//!   90 % quantiles beside the samples, with all tables.
//!
//! `cargo bench --bench peers -- [--seconds S] [--runs N] [--threads T] [COUNTS…]` prints a JSON
//! document in one line for each.

mod common;

use std::sync::Mutex;
use std::time::Instant;

use engine::mechanism::sampling::{Draws, RUNS_PER_BLOCK, Sampler};
use engine::numeric::Sum;
use engine::numeric::sum::sum;
use lab::experiment::Panel;
use rayon::prelude::*;
use serde_json::{Value, json};
use table::Tables;

const MECHANISMS: [&str; 5] = ["ehds", "ehd", "ehdl", "lsdim", "lshist"];

/// The settings that are measured unless others are named.
const SETTINGS: [&str; 6] =
    ["366,365", "30,30,30", "463,247,21", "20,20,20,20", "100,100,100,100", "200,120,60,20"];

struct Arguments {
    seconds: f64,
    runs: u64,
    threads: usize,
    settings: Vec<String>,
}

fn arguments() -> Arguments {
    let mut read = Arguments { seconds: 0.5, runs: 1000, threads: 2, settings: Vec::new() };
    // cargo adds `--bench`.
    let mut words = std::env::args().skip(1).filter(|word| word != "--bench");
    while let Some(word) = words.next() {
        let mut value = || words.next().expect("an option has a value");
        match word.as_str() {
            "--seconds" => read.seconds = value().parse().expect("seconds are a number"),
            "--runs" => read.runs = value().parse().expect("runs are a whole number"),
            "--threads" => read.threads = value().parse().expect("threads are a whole number"),
            _ => read.settings.push(word),
        }
    }
    if read.settings.is_empty() {
        read.settings = SETTINGS.map(str::to_owned).to_vec();
    }
    read
}

fn main() {
    let Arguments { seconds, runs, threads, settings } = arguments();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).use_current_thread();
    pool.build_global().expect("the first pool");
    for counts in settings {
        let experiment = common::experiment(&MECHANISMS, &counts, runs);
        let panel = &experiment.panels[0];
        let (draws_seconds, errors) = best(seconds, || draws(panel));
        let (everything_seconds, tables) = best(seconds, || panel.compute());
        println!(
            "{}",
            json!({
                "counts": counts,
                "draws": { "seconds": draws_seconds, "means": errors.means },
                "everything": { "seconds": everything_seconds, "means": means(&tables) },
                "sensitivities": errors.sensitivities,
                "standard_errors": standard_errors(&tables),
                "peak_kb": peak_kb(),
            })
        );
    }
}

/// The best time of at least `seconds` of repetitions (and of three), and the last outcome.
fn best<T>(seconds: f64, mut work: impl FnMut() -> T) -> (f64, T) {
    let mut times: Vec<f64> = Vec::new();
    loop {
        let clock = Instant::now();
        let outcome = std::hint::black_box(work());
        times.push(clock.elapsed().as_secs_f64());
        if times.len() >= 3 && times.iter().sum::<f64>() >= seconds {
            return (times.into_iter().fold(f64::INFINITY, f64::min), outcome);
        }
    }
}

/// What the peer computes.
struct Sampled {
    sensitivities: Value,
    means: Value,
}

fn draws(panel: &Panel) -> Sampled {
    let case = &panel.cases[0];
    let setting = &case.setting;
    let sensitivity = setting.sensitivity();
    let sensitivities = json!({
        "local": sensitivity.local(),
        "global": sensitivity.global(),
        "smooth": sensitivity.gamma_smooth(setting.gamma.get()),
    });
    let laws = panel.laws(case).unwrap();
    let bench = panel.bench(case, &laws, &[]).unwrap();
    let k = setting.k();
    let mean = |(place, id): (usize, &&str)| {
        let fields: Vec<_> = bench.fields().collect();
        let law = bench.law(place);
        let Panel { runs, seed, .. } = *panel;
        let sampler = Sampler { law: law.as_ref(), fields: &fields, k, runs, seed, key: id };
        let blocks: Vec<u64> = (0..runs.div_ceil(RUNS_PER_BLOCK)).collect();
        let sums = Mutex::new(Sum::default());
        let add = |_, draws: Draws| sums.lock().unwrap().add(sum(draws.errors[0].iter().copied()));
        sampler.draw(&blocks, || false, add);
        ((*id).to_owned(), json!(sums.into_inner().unwrap().value() / runs as f64))
    };
    let means: Vec<_> = MECHANISMS.par_iter().enumerate().map(mean).collect();
    Sampled { sensitivities, means: Value::Object(means.into_iter().collect()) }
}

/// Of every mechanism the sampled and the exact mean.
fn means(tables: &Tables) -> Value {
    let rows = tables.summary.iter();
    let row = rows.map(|row| (row.mechanism.clone(), json!([row.mean, row.exact_mean])));
    Value::Object(row.collect())
}

fn standard_errors(tables: &Tables) -> Value {
    let rows = tables.summary.iter();
    let row = rows.map(|row| (row.mechanism.clone(), json!(row.std / (row.runs as f64).sqrt())));
    Value::Object(row.collect())
}

/// The largest resident memory so far, where the system says so.
fn peak_kb() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix(" kB")?.parse().ok()
}
