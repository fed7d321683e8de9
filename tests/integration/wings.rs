//! Every wing of `src/` uses only those above it in the table of `src/lib.rs`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use regex_lite::{Match, Regex};

use crate::common::root;

/// The wings in the order of the table.
fn wings() -> Vec<String> {
    let text = read(&root().join("src/lib.rs"));
    let rows = text.lines().filter_map(|line| line.strip_prefix("//! | [`"));
    rows.map(|row| row.split('`').next().unwrap().to_owned()).collect()
}

#[test]
fn the_table_names_the_folders_of_src_and_the_modules_of_the_crate() {
    let wings = wings();
    let named: BTreeSet<String> = wings.iter().cloned().collect();
    assert_eq!(named.len(), wings.len(), "a wing is named twice: {wings:?}");
    let entries = std::fs::read_dir(root().join("src")).unwrap().map(|entry| entry.unwrap());
    let folders = entries.filter(|entry| entry.file_type().unwrap().is_dir());
    let folders = folders.map(|folder| folder.file_name().into_string().unwrap());
    assert_eq!(folders.collect::<BTreeSet<_>>(), named);
    let text = read(&root().join("src/lib.rs"));
    let modules = text.lines().filter_map(|line| line.strip_prefix("pub mod ")?.strip_suffix(';'));
    assert_eq!(modules.map(str::to_owned).collect::<BTreeSet<_>>(), named);
}

#[test]
fn no_wing_uses_a_later_one() {
    let wings = wings();
    let (mut seen, mut faults) = (0, Vec::new());
    for (place, wing) in wings.iter().enumerate() {
        for path in sources(&root().join("src").join(wing)) {
            let short = path.strip_prefix(root()).unwrap();
            for (line, used) in uses(&read(&path), depth(short)) {
                seen += 1;
                match wings.iter().position(|wing| *wing == used) {
                    Some(other) if other <= place => {}
                    Some(_) => faults.push(format!(
                        "{}:{line}: {wing} uses {used}, a later wing",
                        short.display()
                    )),
                    None => {
                        faults.push(format!("{}:{line}: {used} is not a wing", short.display()))
                    }
                }
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(seen > 500, "only {seen} paths were found");
}

#[test]
fn every_way_to_write_a_path_is_read() {
    let used = |text: &str| uses(text, 2).into_iter().map(|(_, wing)| wing).collect::<Vec<_>>();
    for (text, wings) in [
        ("use crate::analysis::audit;", &["analysis"][..]),
        ("pub use crate::base::rng::{self, Stream};", &["base"]),
        ("use crate::{base::{rng, fault::Fault}, run::store, face};", &["base", "run", "face"]),
        ("use crate::{\n    base::rng,\n    face::{\n        cli,\n    },\n};", &["base", "face"]),
        ("let x = crate::paper::all() + crate :: figure::draw();", &["paper", "figure"]),
        ("/// See [`crate::analysis::audit`], [x](crate::run).", &["analysis", "run"]),
        ("//! dpbi::service::release(dpbi::base::x)", &["service", "base"]),
        ("use super::super::analysis;", &["analysis"]),
        ("use super::analysis; use super::super::super::x;", &["x"]),
        ("pub(crate) fn f() -> krate::face {} pub(in crate::run) mod m;", &["run"]),
    ] {
        assert_eq!(used(text), wings, "{text}");
    }
    assert_eq!(uses("\n\nuse crate::face;\n", 2), [(3, "face".to_owned())]);
    assert_eq!([depth(Path::new("src/run/mod.rs")), depth(Path::new("src/run/a/b.rs"))], [1, 3]);
}

/// How far below the crate a file's module is.
fn depth(file: &Path) -> usize {
    let below_src = file.components().count() - 1;
    below_src - usize::from(file.ends_with("mod.rs"))
}

/// The first names of all paths from the crate's root, and their lines, in code and in comments.
/// `super` in a module `depth` levels below the root leads there too.
fn uses(text: &str, depth: usize) -> Vec<(usize, String)> {
    let root = Regex::new(r"\b(?:crate|dpbi|super(?:\s*::\s*super)*)\s*::\s*").unwrap();
    let leads_to_root = |found: &Match| {
        let supers = found.as_str().matches("super").count();
        supers == 0 || supers >= depth
    };
    let named = |found: Match| {
        let line = 1 + text[..found.start()].matches('\n').count();
        first_names(&text[found.end()..]).into_iter().map(move |name| (line, name))
    };
    root.find_iter(text).filter(leads_to_root).flat_map(named).collect()
}

/// The first names of what follows `crate::`: one path, or a list of them in braces.
fn first_names(text: &str) -> Vec<String> {
    let Some(list) = text.strip_prefix('{') else {
        let name = text.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap();
        return if name.is_empty() { Vec::new() } else { vec![name.to_owned()] };
    };
    let (mut names, mut level, mut is_start) = (Vec::new(), 0, true);
    for (at, c) in list.char_indices() {
        match c {
            '{' => level += 1,
            '}' if level == 0 => break,
            '}' => level -= 1,
            ',' if level == 0 => is_start = true,
            _ if is_start && !c.is_whitespace() => {
                names.extend(first_names(&list[at..]));
                is_start = false;
            }
            _ => {}
        }
    }
    names
}

/// All Rust files below a folder.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let files = entries.flat_map(|path| match path.is_dir() {
        true => sources(&path),
        false => vec![path],
    });
    files.filter(|path| path.extension().is_some_and(|extension| extension == "rs")).collect()
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}
