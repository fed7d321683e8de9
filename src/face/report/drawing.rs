//! SVG files inside the page.

use maud::{Markup, PreEscaped, html};

use super::Drawing;

/// The font of every text in a drawing. The style sheet names it once for all.
const FONT: &str = " font-family=\"DejaVu Sans, Verdana, Helvetica, Arial, sans-serif\"";

/// A drawing. `key` makes its ids unique on the page.
pub(super) fn figure(drawing: &Drawing, key: &str) -> Markup {
    html! {
        figure.drawing.map[drawing.is_map] { (inline(&drawing.svg, &drawing.alt, key)) }
    }
}

/// An SVG file as part of the page. dpbi has drawn it, so that it is taken as it is.
fn inline(svg: &str, alt: &str, key: &str) -> Markup {
    let Some((_, body)) = svg.split_once("<svg") else {
        return html! {};
    };
    let body = body
        .replacen(" xmlns=\"http://www.w3.org/2000/svg\"", "", 1)
        .replace(FONT, "")
        .replace(" opacity=\"1\"", "")
        .replace(" \"/>", "\"/>");
    let alt = html! { (alt) }.into_string();
    let head = format!("<svg role=\"img\" aria-label=\"{alt}\"");
    PreEscaped(format!("{head}{}\n", own_ids(&body, key).trim_end()))
}

/// Prefixes all ids, which must be unique on the page.
fn own_ids(svg: &str, key: &str) -> String {
    svg.replace(" id=\"", &format!(" id=\"{key}-"))
        .replace("url(#", &format!("url(#{key}-"))
        .replace("href=\"#", &format!("href=\"#{key}-"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SVG: &str = "<?xml version=\"1.0\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" \
        width=\"720\"><clipPath id=\"plot\"/><g clip-path=\"url(#plot)\"/></svg>\n";

    fn drawing() -> Drawing {
        Drawing { alt: "a \"b\"".into(), svg: SVG.into(), ..Drawing::default() }
    }

    #[test]
    fn ids_are_the_drawings_own() {
        let html = figure(&drawing(), "x").into_string();
        for id in ["id=\"x-plot\"", "url(#x-plot)"] {
            assert_eq!(html.matches(id).count(), 1, "{id}");
        }
        assert!(!html.contains("<?xml"));
    }

    #[test]
    fn drawings_are_images_with_a_description() {
        let html = figure(&drawing(), "x").into_string();
        assert_eq!(html.matches("<svg role=\"img\" aria-label=\"a &quot;b&quot;\"").count(), 1);
    }

    #[test]
    fn what_is_not_svg_is_left_out() {
        assert_eq!(inline("oops", "", "x").into_string(), "");
    }
}
