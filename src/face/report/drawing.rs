//! Drawings inside the page.

use maud::{Markup, PreEscaped, html};

use super::Drawing;

/// A drawing with its description. dpbi has written it, so that it is taken as it is.
pub(super) fn figure(drawing: &Drawing) -> Markup {
    let body = drawing.svg.strip_prefix("<svg");
    html! {
        figure.drawing {
            @if let Some(body) = body {
                (PreEscaped("<svg role=\"img\""))
                @if !drawing.id.is_empty() {
                    (PreEscaped(" id=\"")) (drawing.id) (PreEscaped("\""))
                }
                (PreEscaped(" aria-label=\"")) (drawing.alt) (PreEscaped("\""))
                (PreEscaped(body)) "\n"
            }
        }
    }
}

/// The same drawing in small: it is on the page once, and shown again.
pub(super) fn thumbnail(drawing: &Drawing) -> Markup {
    let opening = drawing.svg.split_inclusive('>').next().unwrap_or_default();
    html! {
        @if !drawing.id.is_empty() && opening.starts_with("<svg") {
            span.drawing aria-hidden="true" {
                (PreEscaped(opening)) (PreEscaped("<use href=\"#")) (drawing.id) (PreEscaped("\"/></svg>"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drawings_are_images_with_a_description() {
        let svg = "<svg width=\"720\"><g/></svg>".into();
        let drawing = Drawing { alt: "a \"b\"".into(), svg, ..Drawing::default() };
        let expected = "<figure class=\"drawing\"><svg role=\"img\" \
                        aria-label=\"a &quot;b&quot;\" width=\"720\"><g/></svg>\n</figure>";
        assert_eq!(figure(&drawing).into_string(), expected);
    }

    #[test]
    fn what_is_not_svg_is_left_out() {
        let drawing = Drawing { svg: "oops".into(), ..Drawing::default() };
        assert_eq!(figure(&drawing).into_string(), "<figure class=\"drawing\"></figure>");
    }
}
