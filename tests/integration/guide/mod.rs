//! The guide keeps its word: every command in `docs/` is run, in order, in a folder that holds what a
//! fresh clone holds; what it prints is compared with what the page shows, and every figure with the
//! one that the page's own commands draw, byte for byte.
//!
//! `DPBI_GUIDE=update cargo test --test integration guide -- --include-ignored` writes what
//! comes out into the pages instead.

mod expect;
mod page;
mod readme;
mod shell;
mod tables;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use crate::common::root;
use page::Item;
use shell::Shell;

const LONGEST_PAGE: &str = "what-the-reproduction-found.md";

/// A figure on a page should load at once.
const MOST_BYTES: usize = 120_000;

#[test]
fn every_page_but_the_longest_does_what_it_shows() {
    try_out(|page| page != LONGEST_PAGE);
}

#[test]
#[ignore = "it computes all documents, which takes a minute"]
fn the_longest_page_does_what_it_shows() {
    try_out(|page| page == LONGEST_PAGE);
}

/// Carries out the pages whose names are wanted.
fn try_out(is_wanted: impl Fn(&str) -> bool) {
    let update = std::env::var("DPBI_GUIDE").is_ok_and(|value| value == "update");
    let pages = pages().into_iter().filter(|path| is_wanted(&file_name(path)));
    let pages = Mutex::new(pages.collect::<Vec<_>>());
    let faults = Mutex::new(Vec::new());
    // Threads of its own: commands are waited for, and other tests compute on the shared ones.
    let next = || pages.lock().unwrap().pop();
    let work = || {
        while let Some(path) = next() {
            let found = Trial::new(&path, update).carry_out();
            faults.lock().unwrap().extend(found);
        }
    };
    std::thread::scope(|scope| (0..2).for_each(|_| drop(scope.spawn(work))));
    let faults = faults.into_inner().unwrap();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn every_page_can_be_reached_and_every_link_leads_somewhere() {
    let contents = read(&docs().join("README.md"));
    let mut faults = Vec::new();
    let mut shown = BTreeSet::new();
    for path in pages() {
        let name = file_name(&path);
        if name != "README.md" && !contents.contains(&format!("]({name})")) {
            faults.push(format!("docs/README.md does not link to {name}"));
        }
        for (line, target) in page::links(&read(&path)) {
            let file = target.split('#').next().unwrap_or_default();
            if !target.contains("://") && !file.is_empty() && !docs().join(file).exists() {
                faults.push(format!("docs/{name}:{line}: nothing is at {target}"));
            }
            shown.insert(file.to_owned());
        }
    }
    for path in listed(&docs().join("figures"), "png") {
        let target = format!("figures/{}", file_name(&path));
        if !shown.contains(&target) {
            faults.push(format!("docs/{target} is on no page"));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn the_readme_s_commands_are_commands() {
    let faults = readme::faults(&read(&root().join("README.md")));
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// One page carried out in a folder of its own.
struct Trial<'a> {
    path: &'a Path,
    update: bool,
    text: String,
    shell: Shell,
    faults: Vec<String>,
    /// Lines of the page to be replaced, and by what.
    edits: Vec<(std::ops::Range<usize>, Vec<String>)>,
}

impl<'a> Trial<'a> {
    fn new(path: &'a Path, update: bool) -> Self {
        let (text, shell) = (read(path), Shell::new());
        Self { path, update, text, shell, faults: Vec::new(), edits: Vec::new() }
    }

    /// What is wrong with the page.
    fn carry_out(mut self) -> Vec<String> {
        let items = page::items(&self.text);
        for (at, item) in items.iter().enumerate() {
            match item {
                Item::Command { line, text, expected } => {
                    let excused = matches!(items.get(at + 1),
                        Some(Item::Command { text, .. }) if text == "echo $?");
                    self.command(*line, text, expected.clone(), excused);
                }
                Item::File { name, text, append } => self.shell.write(name, text, *append),
                Item::Figure { line, made, shown } => self.figure(*line, made, shown),
                Item::Fault { line, what } => self.fault(*line, what),
            }
        }
        if self.update && !self.edits.is_empty() {
            self.rewrite();
        }
        self.faults
    }

    fn command(&mut self, line: usize, command: &str, expected: page::Lines, excused: bool) {
        let outcome = self.shell.run(command);
        if outcome.status != 0 && !excused {
            let fault = format!(
                "`{command}` ended with status {} (show it with `$ echo $?`):\n{}",
                outcome.status, outcome.output
            );
            self.fault(line, &fault);
        }
        let got: Vec<&str> = expect::trimmed(&outcome.output);
        if expect::matches(&expected.lines, &got) {
            return;
        }
        if self.update {
            self.edits.push((expected.range, expect::renewed(&expected.lines, &got)));
            return;
        }
        let fault = format!(
            "`{command}`\n--- expected\n{}\n--- got\n{}\n---",
            expected.lines.join("\n"),
            got.join("\n")
        );
        self.fault(line, &fault);
    }

    fn figure(&mut self, line: usize, made: &str, shown: &str) {
        let Some(bytes) = self.shell.read(made) else {
            return self.fault(line, &format!("no command above makes {made}"));
        };
        if bytes.len() > MOST_BYTES {
            self.fault(line, &format!("{made} has {} bytes, {MOST_BYTES} at most", bytes.len()));
        }
        let shown_path = docs().join(shown);
        if std::fs::read(&shown_path).is_ok_and(|old| old == bytes) {
            return;
        }
        match self.update {
            true => std::fs::write(shown_path, bytes).unwrap(),
            false => self.fault(line, &format!("{shown} is not what {made} is now")),
        }
    }

    fn rewrite(&self) {
        let mut lines: Vec<String> = self.text.lines().map(str::to_owned).collect();
        for (range, renewed) in self.edits.iter().rev() {
            lines.splice(range.clone(), renewed.iter().cloned());
        }
        std::fs::write(self.path, lines.join("\n") + "\n").unwrap();
    }

    fn fault(&mut self, line: usize, what: &str) {
        self.faults.push(format!("docs/{}:{line}: {what}", file_name(self.path)));
    }
}

fn docs() -> PathBuf {
    root().join("docs")
}

fn pages() -> Vec<PathBuf> {
    listed(&docs(), "md")
}

/// The files of a folder with an extension, sorted.
fn listed(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> =
        entries.filter(|path| path.extension().is_some_and(|e| e == extension)).collect();
    files.sort();
    files
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap().to_string_lossy().into_owned()
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}
