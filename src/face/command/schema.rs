//! `dpbi schema`.

use super::{print_json, release};
use crate::experiment::config;
use crate::face::cli::Schema;
use crate::face::failure::Failure;

pub fn execute(args: &Schema) -> Result<(), Failure> {
    print_json(&if args.release { release::schema::schema() } else { config::schema() })
}
