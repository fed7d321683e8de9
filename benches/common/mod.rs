//! What the benchmarks share.

use lab::experiment::Experiment;
use lab::experiment::config::{self, Overrides};
use system::source::Source;

/// The accuracy experiment that `dpbi run` would read: prior 1, ε = 1, Hellinger distance, one data
/// set (such as "463,247,21").
pub fn experiment(mechanisms: &[&str], counts: &str, runs: u64) -> Experiment {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("bench.toml");
    let prior = vec![1; counts.split(',').count()];
    let text = format!(
        "name = \"bench\"\ntitle = \"bench\"\nseed = 1\nruns = {runs}\nprior = {prior:?}\n\
         epsilon = 1.0\ndelta = 1e-8\nmechanisms = {mechanisms:?}\n\
         [data.counts]\ncounts = [{counts}]\n"
    );
    std::fs::write(&path, text).expect("a temporary file");
    let experiment = config::load(&Source::Disk(path), &Overrides::default());
    experiment.unwrap_or_else(|error| panic!("{error}"))
}
