//! What the binary knows about itself: the commit, the compiler and the platform, for manifests.

use std::path::Path;
use std::process::Command;

fn main() {
    let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
    let platform = std::env::var("TARGET").unwrap_or_else(|_| "unknown".to_owned());
    let folder = std::env::var("CARGO_MANIFEST_DIR").unwrap_or_default();
    println!("cargo:rustc-env=DPBI_COMMIT={}", commit(Path::new(&folder)));
    println!("cargo:rustc-env=DPBI_RUSTC={}", said(&rustc, &["--version"]));
    println!("cargo:rustc-env=DPBI_PLATFORM={platform}");
    println!("cargo:rerun-if-changed=build.rs");
}

/// What the program is made of.
const SOURCES: [&str; 5] = ["src", "configs", "data", "Cargo.toml", "Cargo.lock"];

/// The commit that is checked out here. A project without a repository of its own, such as an
/// unpacked archive inside of another one, has none.
fn commit(folder: &Path) -> String {
    if !folder.join(".git").exists() {
        return "unknown".to_owned();
    }
    let git = |what: &str| said("git", &["rev-parse", "--git-path", what]);
    for path in ["HEAD", "logs/HEAD"].map(git) {
        println!("cargo:rerun-if-changed={path}");
    }
    for path in SOURCES {
        println!("cargo:rerun-if-changed={path}");
    }
    let changed = said("git", &[&["status", "--porcelain", "--"], &SOURCES[..]].concat());
    let mark = if changed.is_empty() { "" } else { ", with changes" };
    said("git", &["rev-parse", "HEAD"]) + mark
}

/// What a command prints, in one line.
fn said(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).output();
    let said = output.ok().filter(|output| output.status.success());
    let text = said.and_then(|output| String::from_utf8(output.stdout).ok());
    text.map(|text| text.trim().to_owned()).unwrap_or_else(|| "unknown".to_owned())
}
