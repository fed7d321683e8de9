//! Words and numbers as HTML.

use maud::{Markup, html};

/// A name that can be an anchor.
pub(super) fn anchor(name: &str) -> String {
    let sound = |letter: char| if letter.is_alphanumeric() { letter } else { '-' };
    name.chars().map(sound).collect()
}

/// A number with five significant digits; pointing at it shows all of them.
pub(super) fn number(value: f64) -> Markup {
    if value.is_nan() {
        return html! { "–" };
    }
    if value.is_infinite() {
        return if value > 0.0 {
            html! { "∞" }
        } else {
            html! { "−∞" }
        };
    }
    let full = value.to_string();
    let short = significant(value);
    html! {
        @if short == full {
            (typeset(&short))
        } @else {
            span title=(full) { (typeset(&short)) }
        }
    }
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
fn typeset(number: &str) -> Markup {
    let minus = |part: &str| part.replace('-', "−");
    let (digits, exponent) = number.split_once('e').unwrap_or((number, ""));
    html! {
        (minus(digits))
        @if !exponent.is_empty() { "\u{202f}·\u{202f}10" sup { (minus(exponent)) } }
    }
}

/// "1 figure", "2 figures".
pub(super) fn count(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

/// The same with a word for a small number.
pub(super) fn count_word(number: usize, noun: &str) -> String {
    const WORDS: [&str; 10] =
        ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"];
    let counted = count(number, noun);
    match WORDS.get(number) {
        Some(word) => counted.replacen(&number.to_string(), word, 1),
        None => counted,
    }
}

/// A line of links, each with its words and, if it is on the page, its anchor; nothing if there are
/// none.
pub(super) fn links(title: &str, links: Vec<(String, Option<String>)>) -> Markup {
    html! {
        @if !links.is_empty() {
            p.see {
                (title) ": "
                @for (place, (words, anchor)) in links.iter().enumerate() {
                    @if place > 0 { ", " }
                    @match anchor {
                        Some(anchor) => { a href={ "#" (anchor) } { (words) } }
                        None => (words),
                    }
                }
            }
        }
    }
}

/// The notes as a list; nothing if there are none.
pub(super) fn notes(notes: &[String]) -> Markup {
    html! {
        @if !notes.is_empty() {
            ul.notes { @for note in notes { li { (note) } } }
        }
    }
}

/// A command to type; nothing if there is none.
pub(super) fn command(line: &str) -> Markup {
    html! { @if !line.is_empty() { code.command { (line) } } }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn anchors_hold_letters_digits_and_dashes() {
        assert_eq!(anchor("icml/fig 2\""), "icml-fig-2-");
    }

    #[test]
    fn numbers_are_for_people() {
        let plain = [0.0, 1.0, -0.25, 600.0, 1e6].map(number).map(Markup::into_string);
        assert_eq!(plain, ["0", "1", "−0.25", "600", "1000000"]);
        let number = |value| super::number(value).into_string();
        assert_eq!(number(0.123_456_789), "<span title=\"0.123456789\">0.12346</span>");
        assert_eq!(number(0.000_240_001), "<span title=\"0.000240001\">0.00024</span>");
        assert!(number(7.071e-9).ends_with(">7.071\u{202f}·\u{202f}10<sup>−9</sup></span>"));
        assert_eq!([f64::NAN, f64::INFINITY].map(number), ["–", "∞"]);
    }
}
