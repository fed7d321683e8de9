//! How the figures of a results folder are drawn.

use crate::cli::FigureOptions;
use figure::{Format, Width};
use lab::run::store::Manifest;

/// Formats and width of the figures of one folder.
pub(super) struct Drawing {
    pub(super) formats: Vec<Format>,
    pub(super) width: Width,
}

impl Drawing {
    /// The formats where nothing was drawn before.
    const USUAL: &[Format] = &[Format::Svg, Format::Png];

    /// Of a run: as it was asked for; what was not said is as it was before.
    pub(super) fn new(asked: &FigureOptions, before: Option<&Manifest>) -> Self {
        let there = formats_of(before);
        let width = asked.width.or(before.map(|before| before.width)).unwrap_or_default();
        let is_new = !before.is_some_and(|before| before.complete);
        let formats = match &asked.format {
            Some(formats) => formats.0.clone(),
            None if is_new && there.is_empty() => Self::USUAL.to_vec(),
            None => there,
        };
        Self { formats, width }
    }

    /// Of figures that are drawn again. All figures of a folder have one width: where it changes, those in
    /// other formats that are there are drawn, too.
    pub(super) fn again(asked: &FigureOptions, before: Option<&Manifest>) -> Self {
        let mut drawing = Self::new(asked, before);
        if asked.format.is_none() && drawing.formats.is_empty() {
            drawing.formats = Self::USUAL.to_vec();
        }
        if before.is_some_and(|before| before.width != drawing.width) {
            let others = formats_of(before).into_iter();
            let others: Vec<Format> =
                others.filter(|format| !drawing.formats.contains(format)).collect();
            drawing.formats.extend(others);
        }
        drawing
    }
}

/// The formats of the figures in a folder.
fn formats_of(folder: Option<&Manifest>) -> Vec<Format> {
    let is_there = |format: &&Format| {
        let ending = format!(".{}", format.extension());
        let mut names = folder.iter().flat_map(|folder| folder.files.keys());
        names.any(|name| name.as_str().ends_with(&ending))
    };
    Format::ALL.iter().filter(is_there).copied().collect()
}
