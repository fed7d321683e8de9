//! A page of the guide, taken apart: commands with what they print, files to be written, figures.

use std::ops::Range;

/// Lines of a page, and where they are.
#[derive(Clone)]
pub struct Lines {
    pub range: Range<usize>,
    pub lines: Vec<String>,
}

/// What happens on a page, in its order. Lines are counted from 1.
pub enum Item {
    /// `$ …` in a `console` block, with the lines below it.
    Command { line: usize, text: String, expected: Lines },
    /// A `toml` or `csv` block below `<!-- file: NAME -->` or `<!-- append: NAME -->`.
    File { line: usize, name: String, text: String, append: bool },
    /// An image below `<!-- figure: PATH -->`.
    Figure { line: usize, made: String, shown: String },
}

impl Item {
    /// Whether it is a command or a file in which `name` occurs.
    pub fn names(&self, name: &str) -> bool {
        match self {
            Self::Command { text, .. } | Self::File { text, .. } => text.contains(name),
            Self::Figure { .. } => false,
        }
    }
}

/// A page, with what is wrong in its form.
#[derive(Default)]
pub struct Page {
    pub items: Vec<Item>,
    pub faults: Vec<(usize, String)>,
}

impl Page {
    pub fn parse(text: &str) -> Self {
        let lines: Vec<&str> = text.lines().collect();
        let mut page = Self::default();
        let mut mark = None;
        let mut at = 0;
        while at < lines.len() {
            let line = lines[at];
            if let Some(info) = fence(line) {
                let end = (at + 1..lines.len()).find(|&end| lines[end].trim_end() == "```");
                let Some(end) = end else {
                    page.faults.push((at + 1, "this block has no end".into()));
                    return page;
                };
                page.block(at, info, &lines[at + 1..end], mark.take());
                at = end + 1;
                continue;
            }
            page.prose(at, line, &mut mark);
            at += 1;
        }
        page
    }

    /// A line outside of blocks: a mark for what follows, or an image.
    fn prose(&mut self, at: usize, line: &str, mark: &mut Option<Mark>) {
        if let Some(found) = Mark::parse(line) {
            *mark = Some(found);
        } else if line.contains("![") {
            let shown = links(line).into_iter().map(|(_, target)| target).next_back();
            match (mark.take(), shown) {
                (Some(Mark::Figure(made)), Some(shown)) if line.starts_with("![") => {
                    self.items.push(Item::Figure { line: at + 1, made, shown });
                }
                (Some(Mark::ByPython), Some(_)) if line.starts_with("![") => {}
                _ => self.fault(at, "an image stands alone, below `<!-- figure: PATH -->`"),
            }
        } else if line.starts_with("    ") && is_command(line.trim_start()) {
            self.fault(at, "a command outside of a `console` block is not tried");
        } else if !line.trim().is_empty() && mark.take().is_some() {
            self.fault(at, "a mark belongs directly above its figure or its block");
        }
    }

    fn block(&mut self, at: usize, info: &str, body: &[&str], mark: Option<Mark>) {
        match (info, mark) {
            ("console", None) => self.console(at + 1, body),
            ("toml" | "csv", Some(Mark::File { name, append })) => {
                let text = body.join("\n") + "\n";
                self.items.push(Item::File { line: at + 1, name, text, append });
            }
            ("toml" | "csv", _) => {
                self.fault(at, "say with `<!-- file: NAME -->` which file this becomes");
            }
            ("python" | "text" | "math", None) => {
                if body.iter().any(|line| is_command(line)) {
                    self.fault(at, "commands belong in a `console` block, where they are tried");
                }
            }
            _ => self.fault(
                at,
                "a block is `console`, `toml`, `csv`, `python`, `text` or `math`, without other marks",
            ),
        }
    }

    /// Commands and what they print. A command goes on below a backslash, and through a here-document.
    fn console(&mut self, first: usize, body: &[&str]) {
        let mut at = 0;
        if body.first().is_none_or(|line| !line.starts_with("$ ")) {
            return self.fault(first, "a `console` block begins with `$ `");
        }
        while at < body.len() {
            let line = first + at + 1;
            let mut text = body[at]["$ ".len()..].to_owned();
            let document = text.contains("<<'EOF'");
            at += 1;
            while at < body.len() && (text.ends_with('\\') || document && !text.ends_with("\nEOF"))
            {
                text = text + "\n" + body[at];
                at += 1;
            }
            let from = at;
            at += body[at..].iter().take_while(|line| !line.starts_with("$ ")).count();
            let lines = body[from..at].iter().map(|line| line.trim_end().to_owned()).collect();
            let expected = Lines { range: first + from..first + at, lines };
            self.items.push(Item::Command { line, text, expected });
        }
    }

    fn fault(&mut self, at: usize, what: &str) {
        self.faults.push((at + 1, what.to_owned()));
    }
}

/// What stands in a comment above a figure or a block.
enum Mark {
    Figure(String),
    /// A figure that Python draws: the tests in `python/` see to it.
    ByPython,
    File {
        name: String,
        append: bool,
    },
}

impl Mark {
    fn parse(line: &str) -> Option<Self> {
        let (kind, value) = line.strip_prefix("<!-- ")?.strip_suffix(" -->")?.split_once(": ")?;
        let value = value.to_owned();
        match kind {
            "figure" => Some(Self::Figure(value)),
            "drawn by Python" => Some(Self::ByPython),
            "file" => Some(Self::File { name: value, append: false }),
            "append" => Some(Self::File { name: value, append: true }),
            _ => None,
        }
    }
}

/// Whether a line looks like something to be typed.
fn is_command(line: &str) -> bool {
    ["$ ", "dpbi ", "cargo "].iter().any(|start| line.starts_with(start))
}

/// What follows the three backticks that open a block; of any other fence a word that no block has.
fn fence(line: &str) -> Option<&str> {
    if let Some(info) = line.strip_prefix("```") {
        return Some(info.trim());
    }
    (line.contains("```") || line.trim_start().starts_with("~~~")).then_some("fence")
}

/// The targets of all links and images outside of blocks, with their lines from 1.
pub fn links(text: &str) -> Vec<(usize, String)> {
    let mut inside = false;
    let mut found = Vec::new();
    for (at, line) in text.lines().enumerate() {
        inside ^= line.starts_with("```");
        let rest = if inside { "" } else { line };
        for piece in rest.split("](").skip(1) {
            found.push((at + 1, piece.split(')').next().unwrap_or_default().to_owned()));
        }
    }
    found
}
