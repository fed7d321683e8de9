//! `dpbi copy`.

use std::path::Path;

use super::{print, print_document};
use crate::cli::Copy;
use crate::failure::Failure;
use lab::experiment::config::check_name;
use lab::run::store::write_whole;
use system::diagnostic::Diagnostic;
use system::source::Source;

pub fn execute(args: &Copy) -> Result<(), Failure> {
    let text = text(&args.config)?;
    let Some(file) = &args.file else { return print_document(&text) };
    let file = match file.is_dir() {
        true => file.join(args.config.replace('/', "-")).with_extension("toml"),
        false => file.clone(),
    };
    if file.symlink_metadata().is_ok() {
        return Err(Diagnostic::new(format!("{} exists", file.display()))
            .help("name a file that does not exist yet")
            .into());
    }
    let text = named_after(text, &file);
    write_whole(&file, text.into_bytes())?;
    print(&format!("wrote {0}; run it with: dpbi run {0}\n", file.display()))
}

/// The text of a bundled config, without the line that tells editors where its schema is in the project.
fn text(config: &str) -> Result<String, Diagnostic> {
    let bytes = Source::bundled_config(config)?.read()?;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    Ok(match text.split_once('\n') {
        Some((first, rest)) if first.starts_with("#:schema") => rest.to_owned(),
        _ => text,
    })
}

/// The config with the file's name for its own, so that its results do not replace the original's.
fn named_after(text: String, file: &Path) -> String {
    let stem = file.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let Some(name) = stem.filter(|name| check_name(name).is_ok()) else { return text };
    let is_name = |line: &str| line.split('=').next().is_some_and(|key| key.trim() == "name");
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    if let Some(line) = lines.iter_mut().find(|line| is_name(line)) {
        let key = line.split('=').next().unwrap_or("name ").to_owned();
        *line = format!("{key}= \"{name}\"");
    }
    lines.join("\n") + "\n"
}
