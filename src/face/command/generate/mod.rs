//! `dpbi generate`.

mod completions;
mod man;
mod schema;

use crate::cli::{Generate, Generated};
use crate::failure::Failure;

pub fn execute(args: &Generate) -> Result<(), Failure> {
    match &args.what {
        Generated::Schema { command } => schema::print(command.as_deref()),
        Generated::Completions { shell } => completions::print(shell),
        Generated::Man => man::print(),
    }
}
