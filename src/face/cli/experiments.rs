//! Commands that run experiments and care for their results.

use std::path::PathBuf;

use clap::Args;

use super::names::{self, Among};
use super::values::shard;
use super::{
    Answer, Configs, FigureOptions, Machine, Output, Print, Quiet, Replace, Threads, Verbosity,
};
use lab::run::store::Shard;

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    dpbi run configs/beta_balanced.toml\n  \
    dpbi run beta_balanced --runs 100 --format none  a bundled config\n  \
    dpbi run icml/fig2                               a figure of a document\n  \
    dpbi run configs/*.toml --threads 2 --out /tmp/results\n  \
    dpbi run sweep --shard 3/8 --out part3           the third of eight parts\n\n\
    The same command continues a run that was interrupted: finished cells are kept.")]
pub struct Run {
    #[command(flatten)]
    pub experiments: Configs,
    #[command(flatten)]
    pub output: Output,
    /// Compute everything again, instead of keeping the cells of an earlier run
    #[arg(long)]
    pub fresh: bool,
    /// Run only part I (from 1) of N parts of about the same size; `dpbi merge` joins them
    #[arg(long, value_name = "I/N", value_parser = shard)]
    pub shard: Option<Shard>,
    #[command(flatten)]
    pub replace: Replace,
    #[command(flatten)]
    pub machine: Machine,
    #[command(flatten)]
    pub answer: Answer,
    /// With --json, also what every single run released, and its errors
    #[arg(long, requires = "json")]
    pub errors: bool,
    #[command(flatten)]
    pub talk: Verbosity,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    dpbi reproduce                   every document, every claim\n  \
    dpbi reproduce icml arxiv/fig4   one document and one figure\n  \
    dpbi reproduce --strict --json   for machines: see --strict for the exit status")]
pub struct Reproduce {
    /// Documents (icml), figures (icml/fig2) or the open questions (open) [default: all]; such a part
    /// goes to a page of its own, for example results/report-icml-fig2.html
    #[arg(
        value_name = "DOC[/FIG]",
        value_parser = Among(names::documents),
        hide_possible_values = true
    )]
    pub names: Vec<String>,
    #[command(flatten)]
    pub output: Output,
    /// Compute everything again, instead of keeping the cells of an earlier run
    #[arg(long)]
    pub fresh: bool,
    /// Fail (exit status 3) if a printed number or a reading is not reproduced
    #[arg(long)]
    pub strict: bool,
    #[command(flatten)]
    pub replace: Replace,
    #[command(flatten)]
    pub machine: Machine,
    #[command(flatten)]
    pub print: Print,
    #[command(flatten)]
    pub talk: Verbosity,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    dpbi check configs/beta_balanced.toml\n  \
    dpbi check beta_balanced --runs 100000   how much longer with more runs\n  \
    dpbi check configs/*.toml --json         for machines")]
pub struct Check {
    #[command(flatten)]
    pub experiments: Configs,
    #[command(flatten)]
    pub replace: Replace,
    #[command(flatten)]
    pub figures: FigureOptions,
    /// Predict only part I (from 1) of N parts
    #[arg(long, value_name = "I/N", value_parser = shard)]
    pub shard: Option<Shard>,
    #[command(flatten)]
    pub machine: Machine,
    #[command(flatten)]
    pub print: Print,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    dpbi plot results/beta_balanced --format pdf\n  \
    dpbi plot results/* --format png                  from their CSV files\n  \
    dpbi plot results/beta_balanced --width column    for two-column papers\n  \
    dpbi plot results/*/ --page figures.html          the figures that are there, on one page")]
pub struct Plot {
    /// Results folders
    #[arg(required = true, value_name = "DIR")]
    pub folders: Vec<PathBuf>,
    #[command(flatten)]
    pub figures: FigureOptions,
    /// Draw nothing; write one HTML page with the figures that are there as SVG or PNG
    #[arg(long, value_name = "FILE", conflicts_with_all = ["format", "width"])]
    pub page: Option<PathBuf>,
    #[command(flatten)]
    pub print: Print,
    #[command(flatten)]
    pub talk: Quiet,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    dpbi run configs/sweep.toml --shard 1/2 --out part1\n  \
    dpbi run configs/sweep.toml --shard 2/2 --out part2\n  \
    dpbi merge part1 part2 --out results              the same bytes as one run")]
pub struct Merge {
    /// Results folders of all shards, or the folders that hold one each
    #[arg(required = true, value_name = "DIR")]
    pub folders: Vec<PathBuf>,
    #[command(flatten)]
    pub output: Output,
    #[command(flatten)]
    pub threads: Threads,
    #[command(flatten)]
    pub print: Print,
    #[command(flatten)]
    pub talk: Quiet,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    dpbi verify results/beta_balanced\n  \
    dpbi verify results/* --cells 100                 a larger sample\n\n\
    Every file is hashed, the tables are made again from the kept cells, and a random sample of the \
    cells is computed again. If something differs, it is named, and the exit status is 3.")]
pub struct Verify {
    /// Results folders
    #[arg(required = true, value_name = "DIR")]
    pub folders: Vec<PathBuf>,
    /// How many cells are computed again
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub cells: usize,
    /// Which cells: the same number gives the same ones [default: by chance]
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    #[command(flatten)]
    pub machine: Machine,
    #[command(flatten)]
    pub print: Print,
    #[command(flatten)]
    pub talk: Quiet,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    dpbi list                             what `dpbi run NAME` can run\n  \
    dpbi list --results /tmp/results --json   for machines")]
pub struct List {
    /// The folder in which results are looked for
    #[arg(long, value_name = "DIR", default_value = "results")]
    pub results: PathBuf,
    #[command(flatten)]
    pub print: Print,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    dpbi copy icml/fig4 mine.toml         then edit it, and: dpbi run mine.toml\n  \
    dpbi copy beta_balanced               on standard output\n\n\
    The copy runs wherever it stands. Its `name`, and with it the results folder, is that of the file.")]
pub struct Copy {
    /// A bundled experiment
    #[arg(value_name = "NAME", value_parser = Among(names::configs), hide_possible_values = true)]
    pub config: String,
    /// The new file, which must not exist yet [default: standard output]
    #[arg(value_name = "FILE")]
    pub file: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    dpbi mechanisms                       what each draws, and its options\n  \
    dpbi mechanisms ehds                  one of them, in full\n  \
    dpbi mechanisms mine.toml             also those that a config defines")]
pub struct Mechanisms {
    /// A mechanism, or a config that defines some
    #[arg(value_name = "ID|CONFIG", value_parser = Among(names::mechanisms), hide_possible_values = true)]
    pub about: Option<String>,
    #[command(flatten)]
    pub print: Print,
}
