//! Joint draws of the shares, as CSV: a column for each cell.

use super::super::{print_document, typed};
use crate::cli::Draws;
use crate::failure::Failure;
use lab::run::store::write_whole;
use service::release::{Evidence, TablePosterior};
use system::console::{Grid, TableFormat};

/// The most numbers: they take some 200 MB.
const MOST_NUMBERS: usize = 10_000_000;

/// Writes draws into their file, or prints them.
pub fn give(
    evidence: &Evidence,
    posterior: &TablePosterior,
    Draws { number, file }: &Draws,
) -> Result<(), Failure> {
    let table = &evidence.request().table;
    let most = MOST_NUMBERS / table.cells();
    if *number > most {
        let cause = format!("{number} draws of {} cells are too many", table.cells());
        return Err(typed::flag("draws", &cause).help(format!("use at most {most}")).into());
    }
    let mut head = Grid::new(0);
    head.row((0..table.cells()).map(|cell| table.cell_name(cell)));
    let mut text = head.to_table(TableFormat::Csv);
    for draw in posterior.draws(*number).flatten() {
        let shares: Vec<String> = draw.iter().map(f64::to_string).collect();
        text += &(shares.join(",") + "\n");
    }
    match file {
        Some(file) => Ok(write_whole(file, text.into_bytes())?),
        None => print_document(&text),
    }
}
