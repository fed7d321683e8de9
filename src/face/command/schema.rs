//! `dpbi schema`.

use super::{Failure, print_json};
use crate::experiment::config;

pub fn execute() -> Result<(), Failure> {
    print_json(&config::schema())
}
