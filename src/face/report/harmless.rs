//! A stranger's SVG file, read and written again.
//!
//! A results folder may come from a stranger. A browser runs scripts that stand in a page and loads
//! what the page refers to. Hence nothing of a file is copied into a page. It is read by the grammar of
//! the figures that dpbi writes, which is far narrower than SVG, and what was understood is written
//! anew. Other files are shown as images, in which nothing is run or loaded.
//!
//! A figure of ours has every tag on a line of its own. Within the drawing stand shapes without
//! content, and texts of one line. There are no other elements, no references, no styles, no comments.

use std::fmt::Write;

use maud::html;

use figure::Colour;

/// The colour written `RRGGBB`.
fn colour(code: &str) -> Option<Colour> {
    let number = u32::from_str_radix(code, 16).ok()?;
    (code.len() == 6).then(|| Colour::hex(number))
}

const SHAPES: [&str; 5] = ["rect", "line", "polyline", "polygon", "circle"];
const FONT: &str = "DejaVu Sans, Verdana, Helvetica, Arial, sans-serif";

/// A drawing as it stands in a page; none if the file is not written as ours are.
pub(super) fn redraw(file: &str) -> Option<String> {
    let mut lines = file.strip_suffix("\n</svg>\n")?.split('\n');
    let mut drawing = tag(lines.next()?, &["svg"], ">")?;
    while let Some(line) = lines.next() {
        if let Some(shape) = tag(line, &SHAPES, "/>") {
            drawing += &shape;
            continue;
        }
        drawing += &tag(line, &["text"], ">")?;
        drawing += &words(lines.next()?)?;
        drawing += lines.next().filter(|end| *end == "</text>")?;
    }
    Some(drawing + "</svg>")
}

/// A tag with one of these names and this end.
fn tag(line: &str, names: &[&str], end: &str) -> Option<String> {
    let (name, mut rest) = line.strip_prefix('<')?.strip_suffix(end)?.split_once(' ')?;
    let name = names.iter().find(|known| **known == name)?;
    let (mut tag, mut seen) = (format!("<{name}"), Vec::new());
    loop {
        let (attribute, after) = rest.split_once("=\"")?;
        let (text, after) = after.split_once('"')?;
        let value = value(attribute, text).filter(|_| !seen.contains(&attribute))?;
        if !value.is_empty() {
            write!(tag, " {attribute}=\"{value}\"").ok()?;
        }
        if after.is_empty() {
            return Some(tag + end);
        }
        seen.push(attribute);
        rest = after.strip_prefix(' ')?;
    }
}

/// The value of an attribute, written again. It is empty if the page knows it already.
fn value(attribute: &str, text: &str) -> Option<String> {
    match (attribute, text) {
        ("xmlns", "http://www.w3.org/2000/svg") | ("font-family", FONT) => Some(String::new()),
        ("dy", "0.76em")
        | ("text-anchor", "start")
        | ("font-weight", "bold")
        | ("stroke-linejoin", "round")
        | ("fill" | "stroke", "none") => Some(text.to_owned()),
        ("fill" | "stroke", _) => Some(colour(text.strip_prefix('#')?)?.code()),
        ("x" | "y" | "x1" | "y1" | "x2" | "y2" | "cx" | "cy" | "r", _)
        | ("stroke-width" | "font-size", _) => number(text),
        ("width" | "height", _) => match text.strip_suffix("pt") {
            Some(points) => Some(number(points)? + "pt"),
            None => number(text),
        },
        ("viewBox", _) => numbers::<4>(text, " "),
        ("points", _) => {
            let points = text.split_terminator(' ').map(|point| numbers::<2>(point, ","));
            Some(points.collect::<Option<Vec<_>>>()?.join(" "))
        }
        ("transform", _) => {
            let centre = text.strip_prefix("rotate(270, ")?.strip_suffix(')')?;
            Some(format!("rotate(270, {})", numbers::<2>(centre, ", ")?))
        }
        _ => None,
    }
}

/// So many numbers.
fn numbers<const COUNT: usize>(text: &str, separator: &str) -> Option<String> {
    let numbers = text.split(separator).map(number).collect::<Option<Vec<_>>>()?;
    (numbers.len() == COUNT).then(|| numbers.join(separator))
}

/// A decimal number without exponent.
fn number(text: &str) -> Option<String> {
    let is_decimal = text.bytes().all(|byte| byte.is_ascii_digit() || b"-.".contains(&byte));
    let number: f64 = text.parse().ok().filter(|_| is_decimal)?;
    number.is_finite().then(|| number.to_string())
}

/// The words of a text. They are the only thing that a stranger may choose freely.
fn words(line: &str) -> Option<String> {
    let mut parts = line.split('&');
    let mut words = parts.next()?.to_owned();
    for part in parts {
        let (name, rest) = part.split_once(';')?;
        words.push(match name {
            "lt" => '<',
            "gt" => '>',
            "amp" => '&',
            "quot" => '"',
            "apos" => '\'',
            _ => return None,
        });
        words += rest;
    }
    let is_plain = !line.contains(|c: char| c.is_control() || "<>\"'".contains(c));
    is_plain.then(|| html! { (words) }.into_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use figure::{CurveFigure, Figure, Format, HeatFigure, TableFigure, Width, render};

    const HEAD: &str = "<svg width=\"9pt\" height=\"9pt\" viewBox=\"0 0 9 9\">";

    /// What becomes of a drawing with these lines.
    fn drawn(lines: &str) -> Option<String> {
        redraw(&format!("{HEAD}\n{lines}\n</svg>\n"))
    }

    #[test]
    fn our_own_drawings_stay_what_they_are() {
        let figures = [
            Figure::new("a < b > \"c\" & d", "", CurveFigure::default()),
            Figure::new("url(x) \\ 'e' &lt;", "", HeatFigure::default()),
            Figure::new("ε\u{0}\n\u{202e}", "", TableFigure::default()),
        ];
        for figure in figures {
            for &width in Width::ALL {
                let file = String::from_utf8(render(&figure, Format::Svg, width).unwrap()).unwrap();
                let known = [" xmlns=\"http://www.w3.org/2000/svg\"".to_owned()];
                let known = known.into_iter().chain([format!(" font-family=\"{FONT}\"")]);
                let bare = known.fold(file.clone(), |file, known| file.replace(&known, ""));
                let bare = bare.replace(" \"/>", "\"/>").replace("&apos;", "'").replace('\n', "");
                assert_eq!(redraw(&file), Some(bare));
            }
        }
    }

    #[test]
    fn words_are_escaped_again() {
        let lines = "<text x=\"1\">\n&lt;script&gt;&quot;&apos;&amp;lt; = on*\n</text>";
        let text = "<text x=\"1\">&lt;script&gt;&quot;'&amp;lt; = on*</text>";
        assert!(drawn(lines).unwrap().ends_with(&format!("{text}</svg>")));
        for words in ["<b", "a>b", "\"", "'", "&", "&lt", "&#60;", "&nbsp;", "\0", "\r", "\x1b"] {
            assert_eq!(drawn(&format!("<text x=\"1\">\n{words}\n</text>")), None, "{words}");
        }
    }

    #[test]
    fn what_runs_or_loads_something_is_refused() {
        let lines = [
            "<script>alert(1)</script>",
            "<script x=\"1\"/>",
            "<SCRIPT x=\"1\">\nalert(1)\n</SCRIPT>",
            "<script x=\"1\">\nalert(1)\n</script>",
            "<text x=\"1\">\n<script>alert(1)</script>\n</text>",
            "<text x=\"1\">\na\n</text><script>alert(1)</script>",
            "<text x=\"1\">\na\n</text>\n<script>\n</text>",
            "<text x=\"1\">\n</text>",
            "<text x=\"1\"><script>\na\n</text>",
            "<foreignObject x=\"1\"/>",
            "<image href=\"x.png\"/>",
            "<use href=\"#x\"/>",
            "<use href=\"http://x/#x\"/>",
            "<animate x=\"1\" onbegin=\"alert(1)\"/>",
            "<set x=\"1\" onbegin=\"alert(1)\"/>",
            "<style>@import 'x';</style>",
            "<a href=\"javascript:alert(1)\"/>",
            "<svg onload=\"alert(1)\"/>",
            "<svg x=\"1\">",
            "</svg>",
            "</svg>\n<img src=\"x\" onerror=\"alert(1)\"/>",
            "<rect onload=\"alert(1)\"/>",
            "<rect x=\"1\"onload=\"alert(1)\"/>",
            "<rect x=\"1\" onload=\"alert(1)\"/>",
            "<rect x='1' onload='alert(1)'/>",
            "<rect x=1 onload=alert(1)/>",
            "<rect ONLOAD=\"alert(1)\"/>",
            "<rect/onload=\"alert(1)\"/>",
            "<rect x=\"1\" =\"  onload='\" y=\";alert(1)//' \"/>",
            "<rect =\"\" onload='alert(1)'/>",
            "<rect x=\"1\" onload='=\"2\"/>",
            "<rect x=\"1\" y onload=alert(1) =\"2\"/>",
            "<rect x=\"1\"\u{c}onload=\"alert(1)\"/>",
            "<rect x=\"1\u{0}\"/>",
            "<rect x=\"1\" x=\"2\"/>",
            "<rect X=\"1\"/>",
            "<RECT x=\"1\"/>",
            "<rect x=\"1&#34; onload=&#34;alert(1)\"/>",
            "<rect id=\"x\"/>",
            "<rect class=\"a\"/>",
            "<rect style=\"fill: red\"/>",
            "<rect fill=\"url(#x)\"/>",
            "<rect fill=\"url(http://x)\"/>",
            "<rect fill=\"\\75rl(http://x)\"/>",
            "<rect fill=\"red\"/>",
            "<rect fill=\"#12345\"/>",
            "<rect fill=\"#12345G\"/>",
            "<rect fill=\"#1234567\"/>",
            "<rect fill=\"a>b\"/>",
            "<rect xlink:href=\"http://x\"/>",
            "<rect xmlns=\"http://www.w3.org/1999/xhtml\"/>",
            "<rect x=\"NaN\"/>",
            "<rect x=\"inf\"/>",
            "<rect x=\"1e9\"/>",
            "<rect x=\"\"/>",
            "<rect x=\" 1\"/>",
            "<rect x=\"1\" />",
            "<rect x=\"1\">",
            "<rect/>",
            "<rect",
            "<text x=\"1\" transform=\"rotate(270, 1, 2) url(x)\">\na\n</text>",
            "<text x=\"1\" transform=\"rotate(270, 1)\">\na\n</text>",
            "<text font-family=\"x\">\na\n</text>",
            "<polyline points=\"1,2 3\"/>",
            "<polyline points=\"1,2,3 4,5\"/>",
            "<!-- x -->",
            "<!-->",
            "<![CDATA[<rect/>]]>",
            "<?xml-stylesheet href=\"x\"?>",
            "<!DOCTYPE svg [<!ENTITY x \"<script>\">]>",
            "words",
            "",
        ];
        for lines in lines {
            assert_eq!(drawn(lines), None, "{lines}");
        }
        let attack = "<svg viewBox=\"0 0 9 9\" =\"  onload='\" x=\";alert(1)//' \">";
        for head in [attack, "<svg>", "<svg onload=\"alert(1)\">", "<svg viewBox=\"0 0 9\">"] {
            assert_eq!(redraw(&format!("{head}\n<rect x=\"1\"/>\n</svg>\n")), None, "{head}");
        }
        for head in ["", "\n", " ", "<?xml version=\"1.0\"?>\n", "\u{feff}", "<script>\n"] {
            let file = format!("{head}{HEAD}\n<rect x=\"1\"/>\n</svg>\n");
            assert_eq!(redraw(&file).is_some(), head.is_empty(), "{head}");
        }
        for tail in ["", "\n", "<script>\n", "<rect x=\"1\"/>\n", "</svg>\n"] {
            let file = format!("{HEAD}\n<rect x=\"1\"/>\n</svg>{tail}");
            assert_eq!(redraw(&file).is_some(), tail == "\n", "{tail}");
        }
    }

    #[test]
    fn numbers_and_colours_are_written_by_us() {
        let lines = "<rect x=\"-007.50\" fill=\"#+1a2b3\" stroke=\"#abcdef\"/>";
        let ours = "<rect x=\"-7.5\" fill=\"#01A2B3\" stroke=\"#ABCDEF\"/></svg>";
        assert_eq!(drawn(lines), Some(format!("{HEAD}{ours}")));
    }
}
