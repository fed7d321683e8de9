//! The `dpbi` binary.

use std::ffi::OsString;
use std::process::ExitCode;

use lab::run::store::Build;

fn main() -> ExitCode {
    let (commit, rustc) = (env!("DPBI_COMMIT"), env!("DPBI_RUSTC"));
    Build { commit, rustc, platform: env!("DPBI_PLATFORM") }.declare();
    let arguments: Vec<OsString> = std::env::args_os().collect();
    ExitCode::from(face::program(&arguments))
}
