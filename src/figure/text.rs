//! Breaking and shortening text to a given width.

use super::font::Font;

/// The lines of `text`, none wider than `width` and at most `limit` of them;
/// what does not fit ends in an ellipsis.
pub(super) fn wrap(text: &str, font: Font, width: f64, limit: usize) -> Vec<String> {
    let mut lines: Vec<String> = break_lines(text, font, width);
    let limit = limit.max(1);
    if lines.len() > limit {
        let rest = lines.split_off(limit - 1).join(" ");
        lines.push(rest);
    }
    let fitted = lines.iter().map(|line| shorten(line, font, width));
    fitted.collect()
}

/// As `wrap`, but only if no line has to be shortened.
pub(super) fn wrap_whole(text: &str, font: Font, width: f64, limit: usize) -> Option<Vec<String>> {
    let lines = break_lines(text, font, width);
    let fits = lines.len() <= limit && lines.iter().all(|line| font.width(line) <= width);
    fits.then_some(lines)
}

/// Greedy lines, broken after spaces and commas; a word may be too wide.
fn break_lines(text: &str, font: Font, width: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut current = String::new();
    for word in text.split_inclusive([' ', ',', '\n']) {
        let longer = format!("{current}{word}");
        if font.width(longer.trim()) > width && !current.trim().is_empty() {
            lines.push(current.trim().to_owned());
            word.clone_into(&mut current);
        } else {
            current = longer;
        }
    }
    if !current.trim().is_empty() {
        lines.push(current.trim().to_owned());
    }
    lines
}

/// `text` itself if it fits, else its beginning and an ellipsis.
pub(super) fn shorten(text: &str, font: Font, width: f64) -> String {
    if font.width(text) <= width {
        return text.to_owned();
    }
    let room = width - font.width("…");
    let mut used = 0.0;
    let kept = text.chars().take_while(|c| {
        used += font.width(c.encode_utf8(&mut [0; 4]));
        used <= room
    });
    let kept: String = kept.collect();
    format!("{}…", kept.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    const FONT: Font = Font::regular(10.0);

    #[test]
    fn wrapped_lines_fit() {
        let text = "a rather long note, with commas and averyveryverylongwordthatcannotbebroken";
        for width in [30.0, 60.0, 120.0, 500.0] {
            let lines = wrap(text, FONT, width, 3);
            assert!(lines.len() <= 3);
            assert!(lines.iter().all(|line| FONT.width(line) <= width));
        }
    }

    #[test]
    fn nothing_gives_no_line() {
        assert!(wrap("", FONT, 100.0, 2).is_empty());
        assert!(wrap("  \n ", FONT, 100.0, 2).is_empty());
    }

    #[test]
    fn whole_words_or_nothing() {
        assert_eq!(
            wrap_whole("Beta(1, 1)", FONT, 45.0, 2),
            Some(vec!["Beta(1,".to_owned(), "1)".to_owned()])
        );
        assert_eq!(wrap_whole("immunotherapy", FONT, 45.0, 3), None);
    }

    #[test]
    fn shortening_keeps_what_fits() {
        assert_eq!(shorten("abc", FONT, 100.0), "abc");
        let short = shorten("a long label indeed", FONT, 40.0);
        assert!(short.ends_with('…') && FONT.width(&short) <= 40.0);
    }
}
