//! Colours, on a terminal only, and not if `NO_COLOR` is set.

use std::io::{self, IsTerminal};
use std::sync::LazyLock;

/// What a coloured word means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// It holds, it is done.
    Good,
    /// It holds in part, or deserves a look.
    Mixed,
    /// It fails.
    Bad,
    /// A heading.
    Strong,
    /// Less important than the rest.
    Faint,
}

const ALL: [Style; 5] = [Style::Good, Style::Mixed, Style::Bad, Style::Strong, Style::Faint];

/// Ends every style.
const PLAIN: &str = "\x1b[0m";

impl Style {
    /// The text in this style, if standard output is a terminal that wants colours.
    pub fn paint(self, text: &str) -> String {
        if on_stdout() { self.always(text) } else { text.to_owned() }
    }

    /// The text in this style.
    pub(super) fn always(self, text: &str) -> String {
        format!("{}{text}{PLAIN}", self.code())
    }

    fn code(self) -> &'static str {
        match self {
            Self::Good => "\x1b[32m",
            Self::Mixed => "\x1b[33m",
            Self::Bad => "\x1b[1;31m",
            Self::Strong => "\x1b[1m",
            Self::Faint => "\x1b[2m",
        }
    }
}

/// The code of a style that the text begins with.
pub(super) fn code_at(text: &str) -> Option<&'static str> {
    let known = ALL.iter().map(|style| style.code()).chain([PLAIN]);
    known.into_iter().find(|code| text.starts_with(code))
}

fn wanted() -> bool {
    // An empty value counts as none: https://no-color.org.
    std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

/// Whether standard output shows colours.
pub(super) fn on_stdout() -> bool {
    static ON: LazyLock<bool> = LazyLock::new(|| wanted() && io::stdout().is_terminal());
    *ON
}

/// Whether standard error shows colours.
pub(super) fn on_stderr() -> bool {
    static ON: LazyLock<bool> = LazyLock::new(|| wanted() && io::stderr().is_terminal());
    *ON
}
