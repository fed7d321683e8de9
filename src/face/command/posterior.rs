//! `dpbi posterior`: what noisy counts tell that somebody else has released.

use std::path::Path;

use super::release::asked::Asked;
use super::release::figure::{self, FigureFiles};
use super::release::{flags, text};
use super::{paths::Paths, threads, typed};
use crate::cli::Posterior;
use crate::failure::Failure;
use engine::posterior::model::Prior;
use engine::text::legible;
use service::release::document::{Reading, ReleasedElsewhere};
use service::release::{
    Cells, FORMS, Findings, Inferred, Posteriors, Published, PublishedNoise, RecordsPrior, Request,
    Total,
};
use system::console::significant;
use system::diagnostic::Diagnostic;

pub fn execute(args: &Posterior) -> Result<(), Failure> {
    threads(&args.threads)?;
    let asked = Question::new(args)?;
    let figure = FigureFiles::new(&args.figure)?;
    Paths::default()
        .read("the data", args.data.as_deref())
        .written("figure", "where a figure goes", figure.iter().flat_map(FigureFiles::paths))
        .check()?;
    let inferred = asked.infer()?;
    let left_out = inferred.left_out;
    let once = (asked.values.len() == 1).then(|| asked.values[0].clone());
    let posteriors = Posteriors::published(&asked.request, inferred.law, once);
    let findings = posteriors.findings();
    if let Some(files) = &figure {
        let how = format!("released elsewhere with {}", asked.noise_words());
        let records = asked.records();
        files.write(&figure::of_posterior(&asked.request, &posteriors, (&records, &how), false))?;
    }
    if args.tables.print(|| text::table(&asked.request, &findings))? {
        return Ok(());
    }
    let words = asked.text(left_out, &findings);
    args.print.answer(
        || Reading::new(&asked.request, asked.elsewhere(), asked.n, left_out, &findings),
        || words,
    )
}

/// What was typed, checked.
struct Question {
    request: Request,
    /// What was released, once or several times, and the noise of each.
    values: Vec<Vec<f64>>,
    noises: Vec<PublishedNoise>,
    /// The number of records, if it is public.
    n: Option<u64>,
}

impl Question {
    fn new(args: &Posterior) -> Result<Self, Diagnostic> {
        let wrong = typed::flag;
        let columns: Vec<&str> =
            args.by.iter().chain(&args.column).map(|name| name.trim()).collect();
        let (column, categories, values) = match &args.data {
            Some(file) => {
                let counts: Vec<&str> = args.count.iter().map(|name| name.trim()).collect();
                let cells = Cells::read(file, &columns, &counts).map_err(|cause| {
                    Diagnostic::new(format!("{}: {cause}", file.display()))
                        .help("a row for every cell, with its categories and what was released")
                })?;
                let names = columns.iter().map(|name| Some((*name).to_owned()));
                (columns[columns.len() - 1], names.zip(cells.categories).collect(), cells.values)
            }
            None => {
                let lists = args.released.iter().map(|list| numbers(list));
                let values: Vec<Vec<f64>> = lists.collect::<Result<_, _>>()?;
                let labels = match args.labels.is_empty() {
                    true => (1..=values[0].len()).map(|number| number.to_string()).collect(),
                    false => args.labels.iter().map(|label| label.trim().to_owned()).collect(),
                };
                ("cell", vec![(None, labels)], values)
            }
        };
        let request = Asked {
            by: args.by.clone(),
            column: column.to_owned(),
            categories,
            other: Vec::new(),
            fixed_groups: None,
            n_prior: args.n.is_none().then(|| {
                args.n_prior.clone().unwrap_or_else(|| RecordsPrior::default().to_string())
            }),
            prior: args
                .prior
                .iter()
                .map(|text| flags::prior(text, &wrong))
                .collect::<Result<_, _>>()?,
            epsilon: None,
            mechanism: None,
            level: args.level,
            compare: args.compare.clone(),
            within: args.within.clone(),
            weights: args.weights.clone(),
        }
        .check(&wrong)?;
        let noises = noises(args, values.len())?;
        for (values, noise) in values.iter().zip(&noises) {
            let cells = request.table.cells();
            if values.len() != cells {
                let cause = format!("{} numbers for {cells} cells", values.len());
                return Err(wrong("released", &cause).help("give one number for every cell"));
            }
            if let Some(cause) = values.iter().find_map(|&value| noise.refuses(value)) {
                let flag = if args.data.is_some() { "count" } else { "released" };
                return Err(
                    wrong(flag, &cause).help("is --noise, --rounded or --clamped not as it was?")
                );
            }
        }
        Ok(Self { request, values, noises, n: args.n })
    }

    fn infer(&self) -> Result<Inferred, Diagnostic> {
        let prior = Prior::new(self.request.prior.clone())
            .map_err(|error| typed::wrong("prior", &error))?;
        let releases: Vec<Published> = (self.values.iter().zip(&self.noises))
            .map(|(values, noise)| Published { noise, values })
            .collect();
        let total = match self.n {
            Some(n) => Total::Known(n),
            None => Total::Unknown(self.request.private_n.unwrap_or_default()),
        };
        Inferred::new(&prior, total, &releases).map_err(|cause| {
            let help = match self.n {
                Some(_) => "check the numbers, the noise and --n",
                None => "check the numbers and the noise; if the number of records is public, --n says it",
            };
            Diagnostic::new(format!("the posterior is not computed: {cause}")).help(help)
        })
    }

    fn records(&self) -> String {
        match self.n {
            Some(_) => text::records(self.n),
            None => "an unknown number of records".to_owned(),
        }
    }

    fn noise_words(&self) -> String {
        let mut words: Vec<&str> = self.noises.iter().map(PublishedNoise::words).collect();
        words.dedup();
        legible(&words.join(" and "))
    }

    fn elsewhere(&self) -> Vec<ReleasedElsewhere> {
        let one = |(values, noise): (&Vec<f64>, &PublishedNoise)| ReleasedElsewhere {
            released: values.clone(),
            noise: noise.words().to_owned(),
            rounded: noise.is_rounded(),
            clamped: noise.is_clamped(),
        };
        self.values.iter().zip(&self.noises).map(one).collect()
    }

    fn text(&self, left_out: f64, findings: &Findings) -> String {
        let n = self.records();
        let times = match self.values.len() {
            1 => String::new(),
            many => format!(" {many} times"),
        };
        let mut words = format!(
            "  {}, {n}, released elsewhere{times}\n  (noise on every count: {}{})\n",
            text::what(&self.request),
            self.noise_words(),
            self.handling(),
        );
        words += &text::tables(&self.request, findings);
        let mut lines = Vec::from_iter(text::records_line(&self.request, findings));
        lines
            .push(("left out", format!("at most {} of the probability", significant(left_out, 2))));
        words
            + "\n"
            + &text::list(lines)
            + "\n  The noise is taken into account. This reads what others have released, and says nothing about \
               how private that was.\n"
    }

    /// What was done with the noisy counts.
    fn handling(&self) -> &'static str {
        let noise = &self.noises[0];
        match (noise.is_rounded(), noise.is_clamped()) {
            (false, false) => "",
            (true, false) => "; rounded",
            (false, true) => "; numbers below 0 became 0",
            (true, true) => "; rounded, and numbers below 0 became 0",
        }
    }
}

/// Numbers separated by commas.
fn numbers(list: &str) -> Result<Vec<f64>, Diagnostic> {
    let number = |text: &str| {
        text.trim().parse::<f64>().map_err(|_| {
            typed::flag("released", &format!("`{}` is not a number", text.trim()))
                .help("use for example --released 41,17,9")
        })
    };
    list.split(',').map(number).collect()
}

/// The noise of every release.
fn noises(args: &Posterior, releases: usize) -> Result<Vec<PublishedNoise>, Diagnostic> {
    if args.noise.len() != 1 && args.noise.len() != releases {
        let cause = format!("{} laws for {releases} releases", args.noise.len());
        return Err(typed::flag("noise", &cause).help("give one for all, or one for every release"));
    }
    let one = |text: &String| {
        let found = match Path::new(text).extension().is_some_and(|end| end == "csv") {
            true => table(Path::new(text), args.clamped),
            false => PublishedNoise::parse(text, args.rounded, args.clamped),
        };
        found.map_err(|cause| {
            let forms = FORMS.join(", ");
            let help = format!("write {forms}, an expression in t such as -abs(t)/2, or a file of t and probability");
            typed::flag("noise", &cause).help(help)
        })
    };
    let noises: Vec<PublishedNoise> = args.noise.iter().map(one).collect::<Result<_, _>>()?;
    Ok(match noises.len() {
        1 => vec![noises[0].clone(); releases],
        _ => noises,
    })
}

/// The noise of a file with columns t and probability.
fn table(file: &Path, clamped: bool) -> Result<PublishedNoise, String> {
    let cells = Cells::read(file, &["t"], &["probability"])
        .map_err(|cause| format!("{}: {cause}", file.display()))?;
    let steps = cells.categories[0].iter().map(|t| {
        t.parse::<i64>().map_err(|_| format!("{}: `{t}` is not a whole number", file.display()))
    });
    let steps: Vec<i64> = steps.collect::<Result<_, _>>()?;
    let table: Vec<(i64, f64)> = steps.into_iter().zip(cells.values[0].iter().copied()).collect();
    PublishedNoise::listed(file.display().to_string(), &table, clamped)
}
