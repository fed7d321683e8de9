//! `dpbi schema`.

use super::{print_json, release};
use crate::cli::Schema;
use crate::failure::Failure;
use lab::experiment::config;

pub fn execute(args: &Schema) -> Result<(), Failure> {
    print_json(&if args.release { release::schema::schema() } else { config::schema() })
}
