//! Whether an SVG file may stand in a page.
//!
//! A results folder may come from a stranger. A browser runs scripts that stand in a page and loads
//! what the page refers to, so that only plain drawings are taken into it. Other files are shown as
//! images, in which nothing is run or loaded.

/// The elements of plain drawings.
const ELEMENTS: [&str; 18] = [
    "svg",
    "g",
    "defs",
    "title",
    "desc",
    "rect",
    "line",
    "polyline",
    "polygon",
    "circle",
    "ellipse",
    "path",
    "text",
    "tspan",
    "clipPath",
    "pattern",
    "linearGradient",
    "stop",
];

/// Attributes through which a drawing could do more than be seen in its place.
const REFUSED: [&str; 3] = ["style", "cursor", "src"];

/// Whether a file holds one drawing of plain elements, none of which runs or loads anything. What
/// stands before the drawing does not come into the page.
pub(super) fn is_harmless(svg: &str) -> bool {
    let Some((_, body)) = svg.split_once("<svg") else {
        return false;
    };
    let Some(inside) = body.trim_end().strip_suffix("</svg>") else {
        return false;
    };
    // What ends here need not be well formed; it must only consist of known pieces.
    let is_one = !inside.contains("</svg") && !inside.contains("<svg");
    is_one && format!("svg{inside}").split('<').all(starts_with_plain_tag)
}

/// Whether a piece of a file, from behind a `<` to the next one, starts with the tag of a known element.
fn starts_with_plain_tag(piece: &str) -> bool {
    let Some((tag, _text)) = piece.split_once('>') else {
        return false;
    };
    let tag = tag.strip_prefix('/').unwrap_or(tag);
    let tag = tag.strip_suffix('/').unwrap_or(tag);
    let (name, attributes) = tag.split_once(char::is_whitespace).unwrap_or((tag, ""));
    ELEMENTS.contains(&name) && has_plain_attributes(attributes)
}

fn has_plain_attributes(attributes: &str) -> bool {
    let mut rest = attributes.trim_start();
    while !rest.is_empty() {
        let Some((name, after)) = rest.split_once("=\"") else {
            return false;
        };
        let Some((value, after)) = after.split_once('"') else {
            return false;
        };
        if !is_plain_attribute(name, value) {
            return false;
        }
        rest = after.trim_start();
    }
    true
}

fn is_plain_attribute(name: &str, value: &str) -> bool {
    let is_name = name.chars().all(|c| c.is_ascii_alphanumeric() || "-:".contains(c));
    let name = name.to_ascii_lowercase();
    let is_refused = name.starts_with("on") || REFUSED.contains(&name.as_str());
    let is_elsewhere = name.ends_with("href") && !value.starts_with('#');
    // With a backslash `url` could be written otherwise.
    let value = value.to_ascii_lowercase();
    let mut references = value.split("url(").skip(1);
    let stays = !value.contains('\\') && references.all(|to| to.starts_with('#'));
    is_name && !is_refused && !is_elsewhere && stays
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::{CurveFigure, Figure, Format, HeatFigure, Width, render};

    #[test]
    fn our_own_drawings_are() {
        let figures = [
            Figure::Curve(CurveFigure { title: "a < b > \"c\" & d".into(), ..Default::default() }),
            Figure::Heat(HeatFigure { title: "url(x) \\ 'e'".into(), ..Default::default() }),
        ];
        for figure in figures {
            for &width in Width::ALL {
                let svg = String::from_utf8(render(&figure, Format::Svg, width).unwrap()).unwrap();
                assert!(is_harmless(&svg), "{svg}");
            }
        }
        assert!(is_harmless("<?xml version=\"1.0\"?>\n<svg><text>a &lt; b</text></svg>\n"));
        assert!(is_harmless("<svg><g clip-path=\"url(#plot)\"/></svg>"));
    }

    #[test]
    fn what_runs_or_loads_something_is_not() {
        let inside = [
            "<script>alert(1)</script>",
            "<SCRIPT>alert(1)</SCRIPT>",
            "<foreignObject/>",
            "<image href=\"x.png\"/>",
            "<style>@import 'x';</style>",
            "<a href=\"#x\">x</a>",
            "<rect onload=\"alert(1)\"/>",
            "<rect x=\"1\"onload=\"alert(1)\"/>",
            "<rect x='1' onload='alert(1)'/>",
            "<rect ONLOAD=\"alert(1)\"/>",
            "<rect/onload=\"alert(1)\">",
            "<rect style=\"fill: red\"/>",
            "<rect fill=\"url(http://x)\"/>",
            "<rect fill=\"URL(http://x)\"/>",
            "<rect fill=\"\\75rl(http://x)\"/>",
            "<rect xlink:href=\"http://x\"/>",
            "<rect fill=\"a>b\"/>",
            "<!-- x -->",
            "<![CDATA[<rect/>]]>",
            "<rect",
            "</svg><title><svg>",
        ];
        for inside in inside {
            assert!(!is_harmless(&format!("<svg>{inside}</svg>")), "{inside}");
        }
        for other in ["", "oops", "<svg>", "<svg onload=\"alert(1)\"></svg>", "<svg></svg><rect/>"]
        {
            assert!(!is_harmless(other), "{other}");
        }
    }
}
