//! Messages about input that cannot be used: what is wrong, where it is, and what would be right.

use std::fmt;
use std::ops::Range;

use engine::refusal::Refusal;
use engine::text::{is_obeyed, legible};

use crate::console;

/// A place in a text file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    file: String,
    line: usize,
    /// The line itself.
    marked: Option<Box<Marked>>,
}

impl Place {
    /// A line of a file, without a mark.
    pub fn line(file: impl Into<String>, line: usize) -> Self {
        Self { file: file.into(), line, marked: None }
    }

    /// The byte range `span` of `text`.
    pub fn span(file: impl Into<String>, text: &str, span: Range<usize>) -> Self {
        let start = floor_char_boundary(text, span.start);
        let line_start = text[..start].rfind('\n').map_or(0, |i| i + 1);
        let line_text = text[line_start..].lines().next().unwrap_or("");
        let column = text[line_start..start].chars().count() + 1;
        let end = floor_char_boundary(text, span.end.max(start)).min(line_start + line_text.len());
        let width = text.get(start..end).map_or(1, |marked| marked.chars().count().max(1));
        let line = text[..start].matches('\n').count() + 1;
        // Before the line stand its number and a rule: ` 12 | `.
        let room = console::message_width().min(LONGEST_LINE) - line.to_string().len() - 4;
        let marked = Marked::new(line_text, column, width, room);
        Self { file: file.into(), line, marked: Some(Box::new(marked)) }
    }
}

/// A line with a mark under a part of it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Marked {
    /// The first column of what is marked, from 1.
    column: usize,
    /// The line, or the part of a long line around the mark.
    text: String,
    /// How many characters of the text stand before the mark.
    indent: usize,
    /// How many characters are marked.
    width: usize,
}

impl Marked {
    /// Shows at most `room` characters of the line.
    fn new(line: &str, column: usize, width: usize, room: usize) -> Self {
        let length = line.chars().count();
        let (first, shown) = match length > room {
            // Two characters before and after say that there is more.
            true => ((column - 1).saturating_sub(room / 4), room - 4),
            false => (0, length),
        };
        let part = line.chars().skip(first).take(shown);
        let mut text: String = part.map(|c| if is_obeyed(c) { ' ' } else { c }).collect();
        let mut indent = column - 1 - first;
        let width = width.min(shown.saturating_sub(indent)).max(1);
        if first > 0 {
            text.insert_str(0, "… ");
            indent += 2;
        }
        if first + shown < length {
            text += " …";
        }
        Self { column, text, indent, width }
    }
}

/// Lines that show a part of a file are not longer than this, however wide the terminal is.
const LONGEST_LINE: usize = 160;

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
    pub fn new(cause: impl Into<String>) -> Self {
        Self { cause: cause.into(), place: None, remedy: None }
    }

    /// What is wrong, without place and remedy.
    pub fn cause(&self) -> &str {
        &self.cause
    }

    /// Where.
    pub fn at(mut self, place: Place) -> Self {
        self.place = Some(place);
        self
    }

    /// What would be right.
    pub fn help(mut self, remedy: impl Into<String>) -> Self {
        self.remedy = Some(remedy.into());
        self
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", legible(&self.cause))?;
        if let Some(Place { file, line, marked }) = &self.place {
            let gutter = " ".repeat(line.to_string().len());
            let file = legible(file);
            match marked {
                None => write!(f, "\n {gutter}--> {file}:{line}")?,
                Some(marked) => {
                    let Marked { column, text, indent, width } = &**marked;
                    write!(f, "\n {gutter}--> {file}:{line}:{column}")?;
                    write!(f, "\n {gutter} |\n {line} | {text}")?;
                    let mark = " ".repeat(*indent) + &"^".repeat(*width);
                    write!(f, "\n {gutter} | {mark}")?;
                }
            }
        }
        match &self.remedy {
            Some(remedy) => write!(f, "\n  help: {}", legible(remedy)),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Diagnostic {}

impl From<Refusal> for Diagnostic {
    fn from(Refusal { cause, remedy, .. }: Refusal) -> Self {
        Self::new(cause).help(remedy)
    }
}

#[cfg(test)]
mod tests {
    use engine::refusal::suggest;

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
    fn of_a_long_line_the_part_around_the_mark_is_shown() {
        let line = format!("a = [{}x, {}]", "1, ".repeat(1000), "2, ".repeat(1000));
        let at = line.find('x').unwrap();
        let message = Diagnostic::new("bad").at(Place::span("f", &line, at..at + 1)).to_string();
        let [_, place, _, text, mark] = message.lines().collect::<Vec<_>>()[..] else { panic!() };
        assert!(place.ends_with("f:1:3006"), "{place}");
        assert!(text.starts_with(" 1 | … ") && text.ends_with(" …"), "{text}");
        let marked = mark.chars().position(|c| c == '^').unwrap();
        assert_eq!(text.chars().nth(marked), Some('x'), "{message}");
    }

    #[test]
    fn messages_are_short_and_without_control_characters() {
        let text = format!("\u{1b}[31m\0 = 1 # {}", "x".repeat(100_000));
        let message = Diagnostic::new(format!("unknown key `\u{1b}\n{}`", "y".repeat(100_000)))
            .at(Place::span("f\n", &text, 0..50_000))
            .help("z".repeat(100_000))
            .to_string();
        assert!(message.len() < 2000 && message.lines().count() == 6, "{message}");
        assert!(message.starts_with("unknown key `\\u{1b}\\ny"), "{message}");
        assert!(!message.contains(|c: char| c.is_control() && c != '\n'), "{message}");
    }
}
