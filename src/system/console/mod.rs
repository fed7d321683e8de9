//! Texts and tables for a terminal. Whatever is printed here fits the width of the terminal: prose is
//! broken between words, and a [`Grid`] breaks its text columns.

mod bars;
mod grid;
mod obeyed;
mod style;
mod table_format;
mod wrap;

use std::borrow::Cow;
use std::cell::RefCell;
use std::io::{self, IsTerminal, Write};
use std::path::Path;

use crate::filesystem::is_same_path;
use crate::platform::reader_is_gone;

pub use bars::{bar, columns};
pub use engine::numeric::{short, short_or_dash, significant};
pub use engine::text::is_obeyed;
pub use grid::Grid;
pub use obeyed::harmless_json;
pub use style::Style;
pub use table_format::TableFormat;
pub use wrap::{Hang, fold, shorten, visible};

/// The width where it is not known: files, pipes, and terminals that do not tell.
const USUAL: usize = 80;

/// Lines are never made shorter than this: tables would not fit.
const LEAST: usize = 60;

/// Lines are not made longer than this, unless `COLUMNS` asks for it: long lines are hard to read.
const GREATEST: usize = 160;

/// The characters that a line of standard output can hold: `COLUMNS` if it is set, else the width of
/// the terminal.
pub fn width() -> usize {
    let stdout = io::stdout();
    width_of(stdout.is_terminal().then(|| terminal_size::terminal_size_of(&stdout)).flatten())
}

/// The same for standard error.
pub fn message_width() -> usize {
    let stderr = io::stderr();
    width_of(stderr.is_terminal().then(|| terminal_size::terminal_size_of(&stderr)).flatten())
}

/// The columns of the terminal at standard error, however few or many.
pub fn terminal_width() -> usize {
    let size = terminal_size::terminal_size_of(io::stderr());
    size.map_or(USUAL, |(width, _)| usize::from(width.0))
}

fn width_of(size: Option<(terminal_size::Width, terminal_size::Height)>) -> usize {
    let asked = std::env::var("COLUMNS").ok().and_then(|columns| columns.trim().parse().ok());
    let real = size.map(|(width, _)| usize::from(width.0)).filter(|&width| width > 0);
    asked.unwrap_or_else(|| real.unwrap_or(USUAL).min(GREATEST)).max(LEAST)
}

/// What becomes of standard output, as far as that is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Output {
    /// Somebody may read it.
    Read,
    /// It was closed, or leads to `/dev/null`. (A process that begins without standard output gets
    /// `/dev/null` in its place.)
    Discarded,
    /// It is a pipe that nobody reads any more.
    ReaderGone,
}

/// What becomes of standard output.
pub fn output() -> Output {
    match () {
        () if is_same_path(Path::new("/dev/stdout"), Path::new("/dev/null")) => Output::Discarded,
        () if reader_is_gone(&io::stdout()) => Output::ReaderGone,
        () => Output::Read,
    }
}

/// Prints on standard output. Lines of prose that are too long are broken between words. A reader
/// that has gone away (`dpbi list | head`) is not an error.
pub fn emit(text: &str) -> io::Result<()> {
    emit_document(&fit(text))
}

/// The text in lines that fit standard output.
pub fn fit(text: &str) -> String {
    fold(text, width(), Hang::NONE)
}

/// Prints on standard output as it is, for machines. A reader that has gone away is not an error.
pub fn emit_document(text: &str) -> io::Result<()> {
    match emit_whole(text) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        result => result,
    }
}

/// Prints on standard output as it is. It is an error if the reader goes away before the end.
pub fn emit_whole(text: &str) -> io::Result<()> {
    write_out(&printable(text, style::on_stdout()))
}

/// Prints on standard output the one text, or on a terminal with colours the other, which shows the same.
pub fn emit_styled(plain: &str, coloured: &str) -> io::Result<()> {
    write_out(&fit(if style::on_stdout() { coloured } else { plain }))
}

thread_local! {
    /// What this thread has printed on standard output, if that is kept instead of printed.
    static KEPT: RefCell<Option<String>> = const { RefCell::new(None) };
}

fn write_out(text: &str) -> io::Result<()> {
    let is_kept = KEPT.with_borrow_mut(|kept| kept.as_mut().map(|kept| kept.push_str(text)));
    if is_kept.is_some() {
        return Ok(());
    }
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush())
}

/// Does some work, and returns what it prints on standard output from this thread.
pub fn captured<T>(work: impl FnOnce() -> T) -> (T, String) {
    // What was kept of work that unwound is forgotten here.
    KEPT.set(Some(String::new()));
    let done = work();
    (done, KEPT.take().unwrap_or_default())
}

/// Prints a message on standard error. A failure to print it is ignored.
pub fn say(message: impl std::fmt::Display) {
    let _ = writeln!(io::stderr().lock(), "{}", message_text(&message.to_string()));
}

/// Prints on standard error as it is, after an empty line. A failure to print it is ignored.
pub fn say_document(text: &str) {
    let _ = write!(io::stderr().lock(), "\n{}", printable(text, false));
}

/// Prints a message on standard error after a word, which is red on a terminal.
pub fn say_in_red(word: &str, message: impl std::fmt::Display) {
    // The word is broken with the message, and then painted.
    let text = message_text(&format!("{word} {message}"));
    let rest = text.strip_prefix(word).unwrap_or(&text);
    let word = if style::on_stderr() { Style::Bad.always(word) } else { word.to_owned() };
    let _ = writeln!(io::stderr().lock(), "{word}{rest}");
}

/// A message as it is shown on standard error.
pub fn message_text(message: &str) -> String {
    fold(&printable(message, false), message_width(), Hang::MESSAGE)
}

/// The text with the characters written out that a terminal would obey: the names of files may contain
/// any. Only the colours of a [`Style`] may pass.
fn printable(text: &str, coloured: bool) -> Cow<'_, str> {
    let obeyed = |c: char| is_obeyed(c) && !['\n', '\t'].contains(&c);
    if !text.contains(obeyed) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let (taken, written) = match style::code_at(rest).filter(|_| coloured) {
            Some(code) => (code.len(), code.to_owned()),
            None if obeyed(c) => (c.len_utf8(), c.escape_default().to_string()),
            None => (c.len_utf8(), c.to_string()),
        };
        shown += &written;
        rest = &rest[taken..];
    }
    Cow::Owned(shown)
}

#[cfg(test)]
mod tests {
    use super::*;
    use terminal_size::{Height, Width};

    #[test]
    fn what_a_terminal_would_obey_is_written_out() {
        assert_eq!(printable("ε\t1\n", true), "ε\t1\n");
        assert_eq!(printable("a\u{1b}[35m\r\u{9b}b\n", true), "a\\u{1b}[35m\\r\\u{9b}b\n");
        assert_eq!(printable("a\u{202e}b\u{200b}", true), "a\\u{202e}b\\u{200b}");
        let painted = Style::Good.always("holds");
        assert_eq!(printable(&painted, true), painted);
        assert!(!printable(&painted, false).contains('\u{1b}'));
    }

    #[test]
    fn a_width_is_neither_tiny_nor_huge() {
        if std::env::var_os("COLUMNS").is_none() {
            let of = |columns| width_of(Some((Width(columns), Height(24))));
            assert_eq!([20, 80, 120, 900].map(of), [60, 80, 120, 160]);
            assert_eq!((of(0), width_of(None)), (80, 80));
        }
    }
}
