//! The optimal mechanism as a table and as a heat map.

use std::path::Path;
use std::time::SystemTime;

use super::super::drawing::Drawing;
use super::{Comparison, kind_of_privacy};
use crate::cli::FigureOptions;
use crate::failure::Failure;
use engine::analysis::optimum::{Goal, OptimalMechanism, Optimum};
use engine::posterior::model::{Counts, vector};
use engine::posterior::privacy::compact;
use figure::{self, Figure};
use lab::experiment::release_map::release_map;
use lab::run::store::{Folder, Holds, Manifest, utc};
use system::console::say;

/// The name of the folder.
const NAME: &str = "optimum";

/// A heat map of more rows or columns is not drawn: its cells would be too small.
const MOST_CELLS: usize = 1_000;

/// Opens the folder, before the work is done.
pub fn open(out: &Path) -> Result<Folder, Failure> {
    Ok(Folder::open_for(out, NAME, Holds::Optimum)?)
}

/// Whether a file of the folder is called so.
pub(in crate::command) fn is_own_file(name: &str) -> bool {
    name.split_once('.').is_some_and(|(stem, _)| [BAYES, MINIMAX].contains(&stem))
}

/// How files are called, before the ending.
const BAYES: &str = "bayes";
const MINIMAX: &str = "minimax";

/// Writes the tables and figures, and says where they are.
pub fn write(
    mut folder: Folder,
    found: &Comparison,
    options: &FigureOptions,
) -> Result<String, Failure> {
    let Drawing { formats, width } = Drawing::new(options, folder.before());
    let holds = Holds::Optimum;
    let manifest = Manifest { width, holds, ..Manifest::new(NAME, SystemTime::now()) };
    folder.begin(&manifest)?;
    let minimax = found.minimax.as_ref().map(|optimum| (Goal::Minimax, optimum));
    for (goal, optimum) in [Some((Goal::Bayes, &found.bayes)), minimax].into_iter().flatten() {
        let name = match goal {
            Goal::Bayes => BAYES,
            Goal::Minimax => MINIMAX,
        };
        let Some(mechanism) = &optimum.mechanism else {
            say("note: there are too many data sets for a table of the mechanism");
            continue;
        };
        folder.write(&format!("{name}.csv"), table(mechanism).into_bytes())?;
        if mechanism.outputs.len() > MOST_CELLS {
            say(format!("note: {} outputs are too many for a heat map", mechanism.outputs.len()));
            continue;
        }
        let drawing = map(found, goal, optimum, mechanism);
        for &format in &formats {
            let bytes = figure::render(&drawing, format, width)?;
            folder.write(&format!("{name}.{}", format.extension()), bytes)?;
        }
    }
    let files: Vec<String> = folder.files().map(str::to_owned).collect();
    let written =
        folder.finish(Manifest { ended: utc(SystemTime::now()), complete: true, ..manifest })?;
    Ok(format!("{}: {}", written.path.display(), files.join(", ")))
}

/// One line for each data set and output that is ever released.
fn table(mechanism: &OptimalMechanism) -> String {
    let mut text = "counts,released,probability,ln_probability\n".to_owned();
    for (place, x) in mechanism.inputs.iter().enumerate() {
        for (output, r) in mechanism.outputs.iter().enumerate() {
            let log = mechanism.ln_probabilities[place][output];
            if log > f64::NEG_INFINITY {
                let probability = mechanism.probability(place, output);
                text += &format!("{},{},{probability:?},{log:?}\n", vector(x), vector(r));
            }
        }
    }
    text
}

fn map(found: &Comparison, goal: Goal, optimum: &Optimum, mechanism: &OptimalMechanism) -> Figure {
    let row = |(place, x): (usize, &Counts)| {
        let cell = |(output, r): (usize, &Counts)| {
            let probability = mechanism.probability(place, output);
            (probability > 0.0).then(|| (x.clone(), r.clone(), probability))
        };
        mechanism.outputs.iter().enumerate().filter_map(cell).collect::<Vec<_>>()
    };
    let cells: Vec<_> = mechanism.inputs.iter().enumerate().flat_map(row).collect();
    let goal = match goal {
        Goal::Bayes => "mean error",
        Goal::Minimax => "worst-case error",
    };
    let which = if optimum.known().is_some() { "the least" } else { "a small" };
    let title =
        format!("The {}-private release with {which} {goal}", kind_of_privacy(&found.setting));
    let note = format!(
        "n = {}, prior ({}), ε = {}{}; {goal} {:.6}; white: never",
        found.setting.n,
        vector(found.setting.prior.alpha()).replace(';', ", "),
        found.setting.epsilon.get(),
        found
            .setting
            .delta
            .map_or(String::new(), |delta| format!(", δ = {}", compact(&delta.get()))),
        optimum.value,
    );
    Figure::new(title, note, release_map(&cells))
}
