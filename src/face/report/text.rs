//! Words and numbers as HTML.

/// Text that is safe between tags and inside attributes.
pub(super) fn escape(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            other => safe.push(other),
        }
    }
    safe
}

/// A name that can be an anchor.
pub(super) fn anchor(name: &str) -> String {
    let sound = |letter: char| if letter.is_alphanumeric() { letter } else { '-' };
    name.chars().map(sound).collect()
}

/// A number with five significant digits; pointing at it shows all of them.
pub(super) fn number(value: f64) -> String {
    if value.is_nan() {
        return "–".into();
    }
    if value.is_infinite() {
        return if value > 0.0 { "∞".into() } else { "−∞".into() };
    }
    let full = value.to_string();
    let short = significant(value);
    if short == full {
        return typeset(&short);
    }
    format!("<span title=\"{full}\">{}</span>", typeset(&short))
}

/// Five significant digits at most, without zeros at the end.
fn significant(value: f64) -> String {
    if value == 0.0 {
        return "0".into();
    }
    let scientific = format!("{value:.4e}");
    let (digits, exponent) = scientific.split_once('e').expect("scientific notation has an e");
    let exponent: i32 = exponent.parse().expect("an exponent is a whole number");
    if (-4..7).contains(&exponent) {
        trim(&format!("{value:.*}", (4 - exponent).max(0) as usize)).to_owned()
    } else {
        format!("{}e{exponent}", trim(digits))
    }
}

fn trim(decimal: &str) -> &str {
    if decimal.contains('.') {
        decimal.trim_end_matches('0').trim_end_matches('.')
    } else {
        decimal
    }
}

/// With a true minus sign and a raised exponent.
fn typeset(number: &str) -> String {
    let minus = |part: &str| part.replace('-', "−");
    match number.split_once('e') {
        Some((digits, exponent)) => {
            format!("{}\u{202f}·\u{202f}10<sup>{}</sup>", minus(digits), minus(exponent))
        }
        None => minus(number),
    }
}

/// A duration for people.
pub(super) fn duration(seconds: f64) -> String {
    if seconds < 0.1 {
        "under 0.1 s".into()
    } else if seconds < 10.0 {
        format!("{seconds:.1} s")
    } else if seconds < 120.0 {
        format!("{seconds:.0} s")
    } else {
        format!("{:.0} min", seconds / 60.0)
    }
}

/// "1 figure", "2 figures".
pub(super) fn count(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

/// The notes as a list; nothing if there are none.
pub(super) fn notes(notes: &[String]) -> String {
    if notes.is_empty() {
        return String::new();
    }
    let items: String = notes.iter().map(|note| format!("<li>{}</li>", escape(note))).collect();
    format!("<ul class=\"notes\">{items}</ul>\n")
}

/// A command to type; nothing if there is none.
pub(super) fn command(line: &str) -> String {
    if line.is_empty() {
        return String::new();
    }
    format!("<code class=\"command\">{}</code>", escape(line))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_that_html_reserves_is_escaped() {
        assert_eq!(escape(r#"a<b>&"c'ε"#), "a&lt;b&gt;&amp;&quot;c&#39;ε");
        assert_eq!(escape("&amp;"), "&amp;amp;");
    }

    #[test]
    fn anchors_hold_letters_digits_and_dashes() {
        assert_eq!(anchor("icml/fig 2\""), "icml-fig-2-");
    }

    #[test]
    fn numbers_are_for_people() {
        let plain = [0.0, 1.0, -0.25, 600.0, 1e6].map(number);
        assert_eq!(plain, ["0", "1", "−0.25", "600", "1000000"]);
        assert_eq!(number(0.123_456_789), "<span title=\"0.123456789\">0.12346</span>");
        assert_eq!(number(0.000_240_001), "<span title=\"0.000240001\">0.00024</span>");
        assert!(number(7.071e-9).ends_with(">7.071\u{202f}·\u{202f}10<sup>−9</sup></span>"));
        assert_eq!([f64::NAN, f64::INFINITY].map(number), ["–", "∞"]);
    }

    #[test]
    fn durations_are_for_people() {
        let shown = [0.01, 0.25, 45.2, 600.0].map(duration);
        assert_eq!(shown, ["under 0.1 s", "0.2 s", "45 s", "10 min"]);
    }
}
