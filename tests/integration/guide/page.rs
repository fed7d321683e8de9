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
    File { name: String, text: String, append: bool },
    /// An image below `<!-- figure: PATH -->`.
    Figure { line: usize, made: String, shown: String },
    /// What is wrong in the form of the page.
    Fault { line: usize, what: &'static str },
}

/// What happens on a page.
pub fn items(text: &str) -> Vec<Item> {
    let lines: Vec<&str> = text.lines().collect();
    let (mut items, mut at) = (Vec::new(), 0);
    // The comment above: its kind and its value.
    let mut mark = None;
    while at < lines.len() {
        let (line, text) = (at + 1, lines[at]);
        at += 1;
        if let Some(info) = text.strip_prefix("```") {
            let end = lines[at..].iter().position(|line| line.trim_end() == "```");
            let end = end.map_or(lines.len(), |length| at + length);
            items.extend(block(line, info.trim(), &lines[at..end], mark.take()));
            at = end + 1;
        } else if let Some(found) = marked(text) {
            mark = Some(found);
        } else if text.contains("![") {
            let shown = links(text).into_iter().map(|(_, target)| target).next_back();
            items.extend(match (mark.take(), shown) {
                (Some(("figure", made)), Some(shown)) => {
                    Some(Item::Figure { line, made: made.to_owned(), shown })
                }
                // The tests in `python/` see to it.
                (Some(("drawn by Python", _)), Some(_)) => None,
                _ => Some(Item::Fault {
                    line,
                    what: "an image stands below `<!-- figure: PATH -->`",
                }),
            });
        } else if text.contains("```") || text.starts_with("    ") && is_command(text.trim_start())
        {
            let what = "a command is tried in a `console` block only, which begins a line";
            items.push(Item::Fault { line, what });
        }
    }
    items
}

/// The kind and the value of a comment `<!-- figure: PATH -->`.
fn marked(line: &str) -> Option<(&str, &str)> {
    line.strip_prefix("<!-- ")?.strip_suffix(" -->")?.split_once(": ")
}

fn block(line: usize, info: &str, body: &[&str], mark: Option<(&str, &str)>) -> Vec<Item> {
    let what = match (info, mark) {
        ("console", None) if body.first().is_some_and(|line| line.starts_with("$ ")) => {
            return console(line, body);
        }
        ("toml" | "csv", Some((kind @ ("file" | "append"), name))) => {
            let (name, text) = (name.to_owned(), body.join("\n") + "\n");
            return vec![Item::File { name, text, append: kind == "append" }];
        }
        ("python" | "text" | "math", None) if !body.iter().any(|line| is_command(line)) => {
            return Vec::new();
        }
        ("toml" | "csv", _) => "say with `<!-- file: NAME -->` which file this becomes",
        _ => {
            "a block is `console` and begins with `$ `, or is `toml`, `csv`, `python`, `text` or `math`"
        }
    };
    vec![Item::Fault { line, what }]
}

/// Commands and what they print. A command goes on below a backslash, and through a here-document.
fn console(first: usize, body: &[&str]) -> Vec<Item> {
    let (mut items, mut at) = (Vec::new(), 0);
    while at < body.len() {
        let line = first + at + 1;
        let mut text = body[at]["$ ".len()..].to_owned();
        let document = text.contains("<<'EOF'");
        at += 1;
        while at < body.len() && (text.ends_with('\\') || document && !text.ends_with("\nEOF")) {
            text = text + "\n" + body[at];
            at += 1;
        }
        let from = at;
        at += body[at..].iter().take_while(|line| !line.starts_with("$ ")).count();
        let lines = body[from..at].iter().map(|line| line.trim_end().to_owned()).collect();
        let expected = Lines { range: first + from..first + at, lines };
        items.push(Item::Command { line, text, expected });
    }
    items
}

/// Whether a line looks like something to be typed.
fn is_command(line: &str) -> bool {
    ["$ ", "dpbi ", "cargo "].iter().any(|start| line.starts_with(start))
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
