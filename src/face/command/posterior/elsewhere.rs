//! Counts that somebody else has released, as they were typed.

use super::super::release::asked::Asked;
use super::super::release::flags;
use super::super::typed;
use crate::cli::Posterior;
use service::release::{Cells, Elsewhere, FORMS, PublishedNoise};
use system::diagnostic::Diagnostic;

/// The counts and their noise, checked.
pub fn read(args: &Posterior) -> Result<Elsewhere, Diagnostic> {
    let wrong = typed::flag;
    let columns: Vec<&str> = args.by.iter().chain(&args.column).map(|name| name.trim()).collect();
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
            if values[0].len() < 2 {
                let cause = "there must be at least two cells";
                return Err(wrong("released", cause).help("give one number for every cell"));
            }
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
        private_n: args.n.is_none(),
        prior: args
            .prior
            .iter()
            .map(|text| flags::prior(text, &wrong))
            .collect::<Result<_, _>>()?,
        epsilon: None,
        mechanism: None,
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
    Ok(Elsewhere { request, values, noises, n: args.n })
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
        let found = PublishedNoise::parse(text, args.rounded, args.clamped);
        found.map_err(|cause| {
            let forms = FORMS.join(", ");
            let help = format!("write {forms}, or an expression in t such as -abs(t)/2");
            typed::flag("noise", &cause).help(help)
        })
    };
    let noises: Vec<PublishedNoise> = args.noise.iter().map(one).collect::<Result<_, _>>()?;
    Ok(match noises.len() {
        1 => vec![noises[0].clone(); releases],
        _ => noises,
    })
}
