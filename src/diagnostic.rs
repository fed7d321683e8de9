//! What is told to a user whose input cannot be used: where, what, and what would be right.

use std::fmt;
use std::ops::Range;

/// A place in a text file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    file: String,
    line: usize,
    /// The column (from 1) and the width of what is marked, with the line itself.
    marked: Option<(usize, usize, String)>,
}

impl Place {
    /// A file as a whole line, without a mark.
    #[must_use]
    pub fn line(file: impl Into<String>, line: usize) -> Self {
        Self { file: file.into(), line, marked: None }
    }

    /// The byte range `span` of `text`.
    #[must_use]
    pub fn span(file: impl Into<String>, text: &str, span: Range<usize>) -> Self {
        let start = floor_char_boundary(text, span.start);
        let line_start = text[..start].rfind('\n').map_or(0, |i| i + 1);
        let line_text = text[line_start..].lines().next().unwrap_or("");
        let column = text[line_start..start].chars().count() + 1;
        let end = floor_char_boundary(text, span.end.max(start)).min(line_start + line_text.len());
        let width = text.get(start..end).map_or(1, |marked| marked.chars().count().max(1));
        let line = text[..start].matches('\n').count() + 1;
        Self { file: file.into(), line, marked: Some((column, width, line_text.to_owned())) }
    }
}

fn floor_char_boundary(text: &str, mut index: usize) -> usize {
    index = index.min(text.len());
    while !text.is_char_boundary(index) {
        index -= 1;
    }
    index
}

/// One message about bad input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    cause: String,
    place: Option<Place>,
    remedy: Option<String>,
}

impl Diagnostic {
    /// What is wrong.
    #[must_use]
    pub fn new(cause: impl Into<String>) -> Self {
        Self { cause: cause.into(), place: None, remedy: None }
    }

    /// What is wrong, without place and remedy.
    #[must_use]
    pub fn cause(&self) -> &str {
        &self.cause
    }

    /// Where.
    #[must_use]
    pub fn at(mut self, place: Place) -> Self {
        self.place = Some(place);
        self
    }

    /// What would be right.
    #[must_use]
    pub fn help(mut self, remedy: impl Into<String>) -> Self {
        self.remedy = Some(remedy.into());
        self
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.cause)?;
        if let Some(Place { file, line, marked }) = &self.place {
            let gutter = " ".repeat(line.to_string().len());
            match marked {
                None => write!(f, "\n {gutter}--> {file}:{line}")?,
                Some((column, width, text)) => {
                    write!(f, "\n {gutter}--> {file}:{line}:{column}")?;
                    write!(f, "\n {gutter} |\n {line} | {text}")?;
                    let mark = " ".repeat(column - 1) + &"^".repeat(*width);
                    write!(f, "\n {gutter} | {mark}")?;
                }
            }
        }
        match &self.remedy {
            Some(remedy) => write!(f, "\n  help: {remedy}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Diagnostic {}

/// "did you mean `x`?" for the nearest of `known`, or a list of them all.
#[must_use]
pub fn suggest<'a>(unknown: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let known: Vec<&str> = known.into_iter().collect();
    let lower = unknown.to_lowercase();
    let nearest = known
        .iter()
        .map(|candidate| (strsim::damerau_levenshtein(&lower, candidate), candidate))
        .min_by_key(|(distance, _)| *distance);
    match nearest {
        Some((distance, candidate)) if distance <= 1 + candidate.len() / 3 => {
            format!("did you mean `{candidate}`? (known: {})", known.join(", "))
        }
        _ => format!("known: {}", known.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_points_at_the_fault() {
        let text = "name = \"x\"\nepsilonn = 1.0\n";
        let message = Diagnostic::new("unknown key `epsilonn`")
            .at(Place::span("a.toml", text, 11..19))
            .help(suggest("epsilonn", ["delta", "epsilon"]))
            .to_string();
        let expected = "unknown key `epsilonn`\n  --> a.toml:2:1\n   |\n 2 | epsilonn = 1.0\n   | ^^^^^^^^\
                        \n  help: did you mean `epsilon`? (known: delta, epsilon)";
        assert_eq!(message, expected);
    }

    #[test]
    fn odd_spans_do_not_panic() {
        for (start, end) in [(0, 0), (1, 1), (5, 2), (3, 400), (400, 500)] {
            let _ = Diagnostic::new("x").at(Place::span("f", "ε = 1\nδ", start..end)).to_string();
        }
    }

    #[test]
    fn far_names_are_not_suggested() {
        assert_eq!(suggest("banana", ["ehd", "lshist"]), "known: ehd, lshist");
    }
}
