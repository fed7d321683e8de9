//! A TOML value that knows where it stands, so that every complaint can point at it.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use engine::refusal::suggest;
use system::diagnostic::{Diagnostic, Place};

/// The text of a config and what it is called.
#[derive(Clone, Copy)]
pub struct Text<'a> {
    pub file: &'a str,
    pub text: &'a str,
    /// What was set beside it.
    pub later: &'a [Later<'a>],
}

/// A key and its value that were set on the command line. They stand behind the text of the config.
#[derive(Clone, Copy)]
pub struct Later<'a> {
    /// The place of its first byte.
    pub start: usize,
    pub text: &'a str,
}

impl Later<'_> {
    /// Where it stands, for messages.
    pub const FILE: &'static str = "--set";
}

impl<'a> Text<'a> {
    pub fn new(file: &'a str, text: &'a str) -> Self {
        Self { file, text, later: &[] }
    }

    /// Where these bytes stand, for people.
    fn place(self, span: Range<usize>) -> Place {
        let (file, text, start) = self.part(&span);
        Place::span(file, text, span.start - start..span.end.max(span.start) - start)
    }

    /// The text in which these bytes stand: its name, itself, and the place of its first byte.
    fn part(self, span: &Range<usize>) -> (&'a str, &'a str, usize) {
        let later = self.later.iter().rfind(|later| later.start <= span.start);
        later.map_or((self.file, self.text, 0), |later| (Later::FILE, later.text, later.start))
    }

    /// These bytes.
    fn get(self, span: Range<usize>) -> &'a str {
        let (_, text, start) = self.part(&span);
        text.get(span.start - start..span.end - start).unwrap_or_default()
    }

    /// Parses the text as TOML.
    pub fn parse(self) -> Result<Spanned<DeTable<'a>>, Diagnostic> {
        DeTable::parse(self.text).map_err(|error| {
            let message = error.message().replace('\n', ", ");
            let place =
                error.span().map_or_else(|| Place::line(self.file, 1), |span| self.place(span));
            Diagnostic::new(format!("this is not valid TOML: {message}")).at(place).help(
                "a config holds lines such as `epsilon = 1.0` and tables such as `[data.balanced]`",
            )
        })
    }
}

/// A value in its place.
#[derive(Clone, Copy)]
pub struct Node<'a> {
    text: Text<'a>,
    key: &'a str,
    value: &'a Spanned<DeValue<'a>>,
    inherited: bool,
}

impl<'a> Node<'a> {
    /// Whether the value is inherited from the table around the panel.
    pub fn is_inherited(&self) -> bool {
        self.inherited
    }

    /// The key under which the value stands.
    pub fn key(&self) -> &'a str {
        self.key
    }

    /// A complaint about this value.
    pub fn wrong(&self, cause: impl Into<String>) -> Diagnostic {
        Diagnostic::new(cause).at(self.place())
    }

    /// A complaint about a part of this text: some bytes of it.
    pub fn wrong_within(&self, cause: impl Into<String>, part: Range<usize>) -> Diagnostic {
        let span = self.value.span();
        let raw = self.text.get(span.clone());
        // A text with escape sequences does not stand in the file as it is.
        let start = self.value.get_ref().as_str().and_then(|text| raw.find(text));
        let Some(start) = start.map(|start| span.start + start) else { return self.wrong(cause) };
        let part = start + part.start..start + part.end;
        Diagnostic::new(cause).at(self.text.place(part))
    }

    fn place(&self) -> Place {
        self.text.place(self.value.span())
    }

    fn expected(&self, what: &str, example: &str) -> Diagnostic {
        let found = with_article(self.value.get_ref().type_str());
        self.wrong(format!("`{}` must be {what}, but this is {found}", self.key))
            .help(format!("write for example {example}"))
    }

    /// A number, whole or not.
    pub fn number(&self) -> Result<f64, Diagnostic> {
        let number = match self.value.get_ref() {
            // A number too large for 128 bits is beyond every limit of a config.
            DeValue::Integer(integer) => {
                let whole = i128::from_str_radix(integer.as_str(), integer.radix());
                Some(whole.map_or(f64::INFINITY, |whole| whole as f64))
            }
            DeValue::Float(float) => float.as_str().parse().ok(),
            _ => None,
        };
        number.ok_or_else(|| self.expected("a number", "1.0"))
    }

    /// A whole number, 0 or more.
    pub fn whole(&self) -> Result<u64, Diagnostic> {
        let wrong = |found: &str| {
            self.wrong(format!(
                "`{}` must be a whole number, 0 or more, but this is {found}",
                self.key
            ))
            .help("write for example 100")
        };
        match self.value.get_ref() {
            DeValue::Integer(integer) => u64::from_str_radix(integer.as_str(), integer.radix())
                .map_err(|_| wrong(integer.as_str())),
            DeValue::Float(float) => Err(wrong(float.as_str())),
            other => Err(wrong(&with_article(other.type_str()))),
        }
    }

    pub fn string(&self) -> Result<&'a str, Diagnostic> {
        self.value.get_ref().as_str().ok_or_else(|| self.expected("a text", "\"text\""))
    }

    pub fn boolean(&self) -> Result<bool, Diagnostic> {
        self.value.get_ref().as_bool().ok_or_else(|| self.expected("true or false", "true"))
    }

    /// A table, such as `example`.
    pub fn table(&self, example: &str) -> Result<Table<'a>, Diagnostic> {
        match self.value.get_ref() {
            DeValue::Table(table) => Ok(Table::new(self.text, table)),
            _ => Err(self.expected("a table", example)),
        }
    }

    /// A name for people: not empty, and on one line.
    pub fn label(&self) -> Result<String, Diagnostic> {
        let text = self.string()?;
        if text.trim().is_empty() || text.chars().any(char::is_control) {
            return Err(self
                .wrong(format!("`{}` cannot be shown as a name", self.key))
                .help("use a text of one line that is not empty"));
        }
        if is_formula(text) {
            return Err(self.wrong(formula_cause(text)).help("begin it with a letter or a digit"));
        }
        Ok(text.to_owned())
    }

    /// A number that is neither NaN nor infinite.
    pub fn finite(&self) -> Result<f64, Diagnostic> {
        let value = self.number()?;
        if value.is_finite() {
            return Ok(value);
        }
        Err(self.wrong(format!("`{}` is {value}", self.key)).help("use a finite number"))
    }

    /// The elements of a list that must not be empty.
    pub fn list(&self) -> Result<Vec<Self>, Diagnostic> {
        match self.elements() {
            None => Err(self.expected("a list", "[1, 2]")),
            Some(elements) if elements.is_empty() => Err(self
                .wrong(format!("`{}` is an empty list", self.key))
                .help("give it at least one element")),
            Some(elements) => Ok(elements),
        }
    }

    /// The elements of a list; a value that is not a list counts as a list of one.
    pub fn one_or_list(&self) -> Result<Vec<Self>, Diagnostic> {
        if self.is_list() { self.list() } else { Ok(vec![*self]) }
    }

    /// One vector, or a list of vectors.
    pub fn vectors(&self) -> Result<Vec<Self>, Diagnostic> {
        let elements = self.list()?;
        if elements[0].is_list() { Ok(elements) } else { Ok(vec![*self]) }
    }

    pub fn is_list(&self) -> bool {
        self.value.get_ref().is_array()
    }

    pub fn is_table(&self) -> bool {
        self.value.get_ref().is_table()
    }

    /// Whether this is a text.
    pub fn is_string(&self) -> bool {
        self.value.get_ref().is_str()
    }

    fn elements(&self) -> Option<Vec<Self>> {
        let array = self.value.get_ref().as_array()?;
        Some(array.iter().map(|value| Self { value, ..*self }).collect())
    }

    /// One of the names in `known`.
    pub fn one_of<T>(&self, known: &[(&str, T)]) -> Result<T, Diagnostic>
    where
        T: Clone,
    {
        let name = self.string()?;
        let found = known.iter().find(|(candidate, _)| *candidate == name);
        found.map(|(_, value)| value.clone()).ok_or_else(|| {
            let names = known.iter().map(|(candidate, _)| *candidate);
            self.wrong(format!("unknown {} `{name}`", self.key.trim_end_matches('s')))
                .help(suggest(name, names))
        })
    }
}

/// Whether a spreadsheet would take a cell with this text for a formula. Names stand in tables, which
/// people open in one.
pub fn is_formula(text: &str) -> bool {
    text.starts_with(['=', '+', '-', '@', '\t', '\r'])
}

/// What is wrong with such a name.
pub fn formula_cause(text: &str) -> String {
    format!("a spreadsheet would take the name `{text}` in a table for a formula")
}

/// "an integer", "a string".
fn with_article(noun: &str) -> String {
    let article = if noun.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
    format!("{article} {noun}")
}

/// A table whose keys are taken out one by one; what is left in the end is unknown.
pub struct Table<'a> {
    text: Text<'a>,
    table: &'a DeTable<'a>,
    /// The table around this one, for keys that this one does not set.
    around: Option<&'a DeTable<'a>>,
    known: BTreeSet<&'static str>,
}

impl<'a> Table<'a> {
    pub fn new(text: Text<'a>, table: &'a DeTable<'a>) -> Self {
        Self { text, table, around: None, known: BTreeSet::new() }
    }

    /// This table, with everything that it does not set taken from the one around it.
    pub fn within(self, around: &Self) -> Self {
        Self { around: Some(around.table), ..self }
    }

    /// The value of `key`, if it is there.
    pub fn take(&mut self, key: &'static str) -> Option<Node<'a>> {
        self.take_own(key).or_else(|| self.node(self.around?, key, true))
    }

    /// The value of `key`, if this very table sets it.
    pub fn take_own(&mut self, key: &'static str) -> Option<Node<'a>> {
        self.known.insert(key);
        self.node(self.table, key, false)
    }

    fn node(&self, table: &'a DeTable<'a>, key: &str, inherited: bool) -> Option<Node<'a>> {
        let (key, value) = table.iter().find(|(k, _)| k.get_ref() == key)?;
        Some(Node { text: self.text, key: key.get_ref(), value, inherited })
    }

    /// Counts the keys that an inner table knows as known.
    pub fn know(&mut self, inner: &Self) {
        self.known.extend(&inner.known);
    }

    /// The value of `key`, which must be there.
    pub fn require(&mut self, key: &'static str, example: &str) -> Result<Node<'a>, Diagnostic> {
        self.take(key).ok_or_else(|| {
            let line = self.first_line();
            Diagnostic::new(format!("the key `{key}` is missing"))
                .at(Place::line(self.text.file, line))
                .help(format!("add for example {example}"))
        })
    }

    /// All keys and values of a table whose keys are the user's own.
    pub fn entries(&self) -> Vec<Node<'a>> {
        self.table.iter().map(|(key, value)| self.entry(key, value)).collect()
    }

    /// The values of all keys that were never asked for, also of those of the table around.
    pub fn left(&self) -> Vec<Node<'a>> {
        let outer =
            self.around.into_iter().flatten().filter(|(key, _)| {
                !self.table.iter().any(|(own, _)| own.get_ref() == key.get_ref())
            });
        let all = self.table.iter().chain(outer);
        let unknown = all.filter(|(key, _)| !self.known.contains(key.get_ref().as_ref()));
        unknown.map(|(key, value)| self.entry(key, value)).collect()
    }

    /// The keys that were asked for.
    pub fn known(&self) -> Vec<&'static str> {
        self.known.iter().copied().collect()
    }

    fn entry(&self, key: &'a Spanned<Cow<'a, str>>, value: &'a Spanned<DeValue<'a>>) -> Node<'a> {
        Node { text: self.text, key: key.get_ref(), value, inherited: false }
    }

    /// Complains about the first key that was never asked for.
    pub fn finish(self) -> Result<(), Diagnostic> {
        let unknown = self.table.keys().filter(|key| !self.known.contains(key.get_ref().as_ref()));
        match unknown.min_by_key(|key| key.span().start) {
            None => Ok(()),
            Some(key) => Err(Diagnostic::new(format!("unknown key `{}`", key.get_ref()))
                .at(self.text.place(key.span()))
                .help(suggest(key.get_ref(), self.known.iter().copied()))),
        }
    }

    fn first_line(&self) -> usize {
        let first = self.table.keys().map(|key| key.span().start).min().unwrap_or(0);
        self.text.text[..first.min(self.text.text.len())].matches('\n').count() + 1
    }
}
