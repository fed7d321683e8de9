//! A page as a browser reads it: a tokenizer after the HTML standard, which knows nothing of how dpbi
//! writes pages, and a list of all that may stand in a gallery.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use regex_lite::Regex;

/// Elements outside of drawings.
const HTML: [&str; 21] = [
    "html", "head", "meta", "title", "style", "body", "header", "h1", "h2", "h3", "p", "nav", "ul",
    "li", "a", "span", "section", "div", "article", "code", "figure",
];

/// Elements of drawings.
const SVG: [&str; 7] = ["svg", "rect", "line", "polyline", "polygon", "circle", "text"];

/// Attributes outside of drawings, and what their values are like. An asterisk stands for the words of
/// a stranger, which may be anything.
const HTML_ATTRIBUTES: [(&str, &str); 12] = [
    ("lang", "en"),
    ("charset", "utf-8"),
    ("http-equiv", "Content-Security-Policy"),
    ("name", "viewport|color-scheme"),
    (
        "content",
        "width=device-width, initial-scale=1|light|default-src 'none'; script-src 'none'; [^<>]+",
    ),
    ("aria-label", "Contents"),
    ("class", "[a-z ]+"),
    ("id", r"[\w-]+"),
    ("href", r"#[\w-]+"),
    ("src", r"a\.svg"),
    ("alt", "*"),
    ("loading", "lazy"),
];

/// Attributes of drawings.
const SVG_ATTRIBUTES: [(&str, &str); 24] = [
    ("role", "img"),
    ("aria-label", "*"),
    ("width", "NUMBER(pt)?"),
    ("height", "NUMBER(pt)?"),
    ("viewbox", "NUMBER( NUMBER){3}"),
    ("points", "(NUMBER,NUMBER( NUMBER,NUMBER)*)?"),
    ("x", "NUMBER"),
    ("y", "NUMBER"),
    ("x1", "NUMBER"),
    ("y1", "NUMBER"),
    ("x2", "NUMBER"),
    ("y2", "NUMBER"),
    ("cx", "NUMBER"),
    ("cy", "NUMBER"),
    ("r", "NUMBER"),
    ("stroke-width", "NUMBER"),
    ("font-size", "NUMBER"),
    ("fill", "none|#[0-9A-F]{6}"),
    ("stroke", "none|#[0-9A-F]{6}"),
    ("stroke-linejoin", "round"),
    ("dy", r"0\.76em"),
    ("text-anchor", "start"),
    ("font-weight", "bold"),
    ("transform", r"rotate\(270, NUMBER, NUMBER\)"),
];

type Patterns = BTreeMap<&'static str, Option<Regex>>;

fn patterns(list: &[(&'static str, &str)]) -> Patterns {
    let compiled = |(name, pattern): &(&'static str, &str)| {
        let pattern = pattern.replace("NUMBER", r"-?[0-9]+(\.[0-9]+)?");
        let whole = (pattern != "*").then(|| Regex::new(&format!("^(?:{pattern})$")));
        (*name, whole.transpose().expect("a pattern"))
    };
    list.iter().map(compiled).collect()
}

static OF_HTML: LazyLock<Patterns> = LazyLock::new(|| patterns(&HTML_ATTRIBUTES));
static OF_SVG: LazyLock<Patterns> = LazyLock::new(|| patterns(&SVG_ATTRIBUTES));

/// A piece of a page.
#[derive(Debug, PartialEq)]
enum Token {
    Start { name: String, attributes: Vec<(String, String)>, closed: bool },
    End(String),
    Text(String),
    Comment(String),
}

/// What is wrong with a gallery of one figure, around which a stranger's words stand.
pub fn examine(page: &str, words: &str, is_drawn: bool) -> Result<(), String> {
    let page = page.strip_prefix("<!DOCTYPE html>").ok_or("no doctype")?;
    let (mut open, mut drawings, mut images) = (Vec::<String>::new(), 0, 0);
    for token in tokens(page) {
        let within = open.iter().any(|name| name == "svg");
        match token {
            Token::Comment(text) => return Err(format!("a comment: {text}")),
            Token::Text(text) => {
                let is_idle =
                    text.trim().is_empty() || open.last().is_some_and(|name| name == "text");
                if within && !is_idle {
                    return Err(format!("text between shapes: {text}"));
                }
                decoded(&text)?;
            }
            Token::End(name) => match open.pop() {
                Some(last) if last == name => {}
                last => return Err(format!("</{name}> after {last:?}")),
            },
            Token::Start { name, attributes, closed } => {
                let in_svg = within || name == "svg";
                let is_image = name == "img" && !within;
                let known = if in_svg { &SVG[..] } else { &HTML[..] };
                if (!known.contains(&&*name) && !is_image) || (within && name == "svg") {
                    return Err(format!("an element {name}"));
                }
                examine_attributes(&name, &attributes, in_svg, words)?;
                (drawings, images) =
                    (drawings + usize::from(name == "svg"), images + usize::from(is_image));
                // In HTML only these have no end; in drawings those that say so.
                let is_empty = if in_svg { closed } else { is_image || name == "meta" };
                if !is_empty {
                    open.push(name);
                }
            }
        }
    }
    let expected = if is_drawn { (1, 0) } else { (0, 1) };
    match (drawings, images) == expected && open.is_empty() {
        true => Ok(()),
        false => Err(format!("{drawings} drawings, {images} images, open: {open:?}")),
    }
}

fn examine_attributes(
    element: &str,
    attributes: &[(String, String)],
    in_svg: bool,
    words: &str,
) -> Result<(), String> {
    let patterns = if in_svg { &OF_SVG } else { &OF_HTML };
    for (i, (name, text)) in attributes.iter().enumerate() {
        let value = decoded(text)?;
        let fits = match patterns.get(&**name) {
            None => false,
            Some(None) => value == words,
            Some(Some(pattern)) => pattern.is_match(&value),
        };
        let is_second = attributes[..i].iter().any(|(earlier, _)| earlier == name);
        if !fits || is_second {
            return Err(format!("an attribute {name}={text:?} of {element}"));
        }
    }
    Ok(())
}

/// Text with its entities read; an error if there is one that we do not write.
fn decoded(text: &str) -> Result<String, String> {
    let known = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&amp;", "&")];
    let mut parts = text.split('&');
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let whole = format!("&{part}");
        let found = known.iter().find_map(|(name, sign)| Some((sign, whole.strip_prefix(name)?)));
        let (sign, rest) = found.ok_or_else(|| format!("an entity: {whole}"))?;
        out += sign;
        out += rest;
    }
    Ok(out)
}

/// White space of HTML.
fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\r' | '\u{c}')
}

/// The tokens of a page, as the standard's states find them: tag open, tag name, before attribute name
/// and so on. What is in a style sheet, a script or a title is text up to its end tag.
fn tokens(page: &str) -> Vec<Token> {
    let (mut out, mut rest, mut in_svg) = (Vec::new(), page, false);
    while !rest.is_empty() {
        let end = tag_start(rest);
        if end > 0 {
            out.push(Token::Text(rest[..end].to_owned()));
            rest = &rest[end..];
            continue;
        }
        if let Some(after) = rest.strip_prefix("<!--") {
            // A comment may end at once: `<!-->`, `<!--->`.
            let ends = ["-->", "--!>"].map(|end| after.find(end).map(|at| at + end.len()));
            let at_once =
                [">", "->"].iter().find(|end| after.starts_with(**end)).map(|end| end.len());
            let length = at_once.or(ends.into_iter().flatten().min()).unwrap_or(after.len());
            out.push(Token::Comment(after[..length].to_owned()));
            rest = &after[length..];
        } else if rest[1..].starts_with(['!', '?']) || rest.starts_with("</") && !is_tag(&rest[2..])
        {
            let length = rest.find('>').map_or(rest.len(), |at| at + 1);
            out.push(Token::Comment(rest[..length].to_owned()));
            rest = &rest[length..];
        } else if let Some(after) = rest.strip_prefix("</") {
            let (name, _, _, after) = tag(after);
            in_svg &= name != "svg";
            out.push(Token::End(name));
            rest = after;
        } else {
            let (name, attributes, closed, after) = tag(&rest[1..]);
            rest = after;
            in_svg |= name == "svg";
            let is_raw = ["style", "script", "title"].contains(&&*name) && !in_svg;
            let end = format!("</{name}");
            out.push(Token::Start { name, attributes, closed });
            if is_raw {
                let at = rest.to_ascii_lowercase().find(&end).unwrap_or(rest.len());
                // Entities are read in a title alone, and our style sheets have no ampersand.
                out.push(Token::Text(rest[..at].to_owned()));
                rest = &rest[at..];
            }
        }
    }
    out
}

fn is_tag(rest: &str) -> bool {
    rest.starts_with(|c: char| c.is_ascii_alphabetic())
}

/// Where the next tag or comment starts.
fn tag_start(rest: &str) -> usize {
    let starts = rest.match_indices('<').map(|(at, _)| at);
    let is_start = |at: &usize| {
        let after = &rest[at + 1..];
        is_tag(after) || after.starts_with(['!', '?', '/'])
    };
    starts.into_iter().find(is_start).unwrap_or(rest.len())
}

/// A tag from behind its `<`: its name, its attributes, whether it closes itself, and what follows.
fn tag(text: &str) -> (String, Vec<(String, String)>, bool, &str) {
    let length = text.find(|c| is_space(c) || c == '/' || c == '>').unwrap_or(text.len());
    let (name, mut rest) = (text[..length].to_ascii_lowercase(), &text[length..]);
    let mut attributes = Vec::new();
    loop {
        let trimmed = rest.trim_start_matches(|c| is_space(c) || c == '/');
        let closed = rest[..rest.len() - trimmed.len()].ends_with('/');
        rest = trimmed;
        if rest.is_empty() {
            return (name, attributes, closed, rest);
        }
        if let Some(after) = rest.strip_prefix('>') {
            return (name, attributes, closed, after);
        }
        // An equals sign at the start belongs to the name.
        let ends =
            |(at, c): &(usize, char)| is_space(*c) || "/>".contains(*c) || (*c == '=' && *at > 0);
        let length = rest.char_indices().find(ends).map_or(rest.len(), |(at, _)| at);
        let attribute = rest[..length].to_ascii_lowercase();
        rest = &rest[length..];
        let mut value = "";
        if let Some(after) = rest.trim_start_matches(is_space).strip_prefix('=') {
            let after = after.trim_start_matches(is_space);
            let quote = after.chars().next().filter(|c| ['"', '\''].contains(c));
            (value, rest) = match quote {
                Some(quote) => after[1..].split_once(quote).unwrap_or((&after[1..], "")),
                None => {
                    let end = after.find(|c| is_space(c) || c == '>').unwrap_or(after.len());
                    after.split_at(end)
                }
            };
        }
        attributes.push((attribute, value.to_owned()));
    }
}

#[test]
fn tokens_are_those_of_a_browser() {
    let attack = "<svg viewBox=\"0 0 9 9\" =\"  onload='\" x=\";alert(1)//' \">";
    let [Token::Start { attributes, .. }] = &tokens(attack)[..] else { panic!("one tag") };
    assert!(attributes.contains(&("onload".into(), "\" x=\";alert(1)//".into())), "{attributes:?}");
    let start = |name: &str, attributes: &[(&str, &str)], closed| Token::Start {
        name: name.into(),
        attributes: attributes.iter().map(|(a, b)| ((*a).into(), (*b).into())).collect(),
        closed,
    };
    let known = [
        ("<A/B=c/d>", vec![start("a", &[("b", "c/d")], false)]),
        ("<a b='>'c = \"d\"e/>", vec![start("a", &[("b", ">"), ("c", "d"), ("e", "")], true)]),
        ("<a\u{c}b>", vec![start("a", &[("b", "")], false)]),
        ("a < b</3>", vec![Token::Text("a < b".into()), Token::Comment("</3>".into())]),
        ("<!-->a", vec![Token::Comment(">".into()), Token::Text("a".into())]),
        ("<!--a--!>", vec![Token::Comment("a--!>".into())]),
        ("<![CDATA[>", vec![Token::Comment("<![CDATA[>".into())]),
        ("</A b>", vec![Token::End("a".into())]),
        (
            "<style><a></style>",
            vec![start("style", &[], false), Token::Text("<a>".into()), Token::End("style".into())],
        ),
    ];
    for (text, expected) in known {
        assert_eq!(tokens(text), expected, "{text}");
    }
}
