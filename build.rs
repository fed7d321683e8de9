//! What the binary knows about itself: the commit, the compiler and the platform, for manifests.

use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
    let platform = std::env::var("TARGET").unwrap_or_else(|_| "unknown".to_owned());
    let folder = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    // The package for Python stands in a folder of its own, and is built from the same sources.
    let root = match std::env::var("CARGO_PKG_NAME").as_deref() {
        Ok("dpbi-python") => folder.parent().unwrap_or(&folder),
        _ => &folder,
    };
    println!("cargo:rustc-env=DPBI_COMMIT={}", commit(root));
    println!("cargo:rustc-env=DPBI_RUSTC={}", said(root, &rustc, &["--version"]));
    println!("cargo:rustc-env=DPBI_PLATFORM={platform}");
    println!("cargo:rerun-if-changed={}", root.join("build.rs").display());
}

/// What the program is made of.
const SOURCES: [&str; 5] = ["src", "configs", "data", "Cargo.toml", "Cargo.lock"];

/// The commit that is checked out here. A project without a repository of its own, such as an
/// unpacked archive inside of another one, has none.
fn commit(folder: &Path) -> String {
    if !folder.join(".git").exists() {
        return "unknown".to_owned();
    }
    let git = |what: &str| {
        said(folder, "git", &["rev-parse", "--path-format=absolute", "--git-path", what])
    };
    for path in ["HEAD", "logs/HEAD"].map(git) {
        println!("cargo:rerun-if-changed={path}");
    }
    for path in SOURCES {
        println!("cargo:rerun-if-changed={}", folder.join(path).display());
    }
    let changed = said(folder, "git", &[&["status", "--porcelain", "--"], &SOURCES[..]].concat());
    let mark = if changed.is_empty() { "" } else { ", with changes" };
    said(folder, "git", &["rev-parse", "HEAD"]) + mark
}

/// What a command prints in a folder, in one line.
fn said(folder: &Path, program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).current_dir(folder).output();
    let said = output.ok().filter(|output| output.status.success());
    let text = said.and_then(|output| String::from_utf8(output.stdout).ok());
    text.map(|text| text.trim().to_owned()).unwrap_or_else(|| "unknown".to_owned())
}
