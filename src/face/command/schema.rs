//! `dpbi schema`.

use super::print_json;
use crate::experiment::config;
use crate::face::failure::Failure;

pub fn execute() -> Result<(), Failure> {
    print_json(&config::schema())
}
