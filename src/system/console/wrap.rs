//! Breaking lines between words.

/// How many characters a terminal shows. Colours take no room.
pub fn visible(text: &str) -> usize {
    let mut pieces = text.split("\u{1b}[");
    let first = pieces.next().map_or(0, |piece| piece.chars().count());
    let after_colour = |piece: &str| match piece.split_once('m') {
        Some((code, rest)) if code.chars().all(|c| c.is_ascii_digit() || c == ';') => {
            rest.chars().count()
        }
        // What is not a colour is written out when it is printed.
        _ => "\\u{1b}[".len() + piece.chars().count(),
    };
    first + pieces.map(after_colour).sum::<usize>()
}

/// The text without its colours.
pub(super) fn without_colours(text: &str) -> String {
    let mut pieces = text.split("\u{1b}[");
    let first = pieces.next().unwrap_or_default().to_owned();
    pieces.fold(first, |plain, piece| match piece.split_once('m') {
        Some((code, rest)) if code.chars().all(|c| c.is_ascii_digit() || c == ';') => plain + rest,
        _ => plain + "\u{1b}[" + piece,
    })
}

/// How much further to the right the rest of a broken line begins than the line itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hang(pub usize);

impl Hang {
    /// Prose: all lines begin below each other.
    pub const NONE: Self = Self(0);
    /// Messages: `error: …`, `note: …`.
    pub const MESSAGE: Self = Self(2);
}

/// The text with every line that is too long broken between words. The rest of a broken line is
/// indented as its beginning, and by `hang`.
pub fn fold(text: &str, width: usize, hang: Hang) -> String {
    let mut folded = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let (line, end) = match line.strip_suffix('\n') {
            Some(line) => (line, "\n"),
            None => (line, ""),
        };
        if visible(line) <= width {
            folded += line;
        } else {
            let indent = line.len() - line.trim_start_matches(' ').len();
            let further = " ".repeat(indent + hang.0);
            let rooms = [indent, indent + hang.0].map(|before| width.saturating_sub(before).max(1));
            let lines = break_line(line.trim_start_matches(' '), rooms);
            folded += &" ".repeat(indent);
            folded += &lines.join(&format!("\n{further}"));
        }
        folded += end;
    }
    folded
}

/// The words of a line in lines of at most `first` and then `other` characters. Only a word that is
/// longer than a line makes a longer one.
pub(super) fn break_line(text: &str, [first, other]: [usize; 2]) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut line = String::new();
    for Piece { text, spaced } in pieces(text, first.min(other)) {
        let room = if lines.is_empty() { first } else { other };
        let space = if spaced && !line.is_empty() { " " } else { "" };
        if line.is_empty() || visible(&line) + space.len() + visible(&text) <= room {
            line += space;
            line += &text;
        } else {
            lines.push(std::mem::replace(&mut line, text));
        }
    }
    lines.push(line);
    lines
}

/// At most `most` characters of a text: of a longer one the middle is left out.
pub fn shorten(text: &str, most: usize) -> String {
    let length = text.chars().count();
    if length <= most {
        return text.to_owned();
    }
    let end = most.saturating_sub(1) / 2;
    let start = most.saturating_sub(1 + end);
    let first: String = text.chars().take(start).collect();
    let last: String = text.chars().skip(length - end).collect();
    format!("{}…{}", first.trim_end(), last.trim_start())
}

/// The width of the longest part of a text that is not broken if it can be avoided.
pub(super) fn longest_piece(text: &str) -> usize {
    pieces(text, usize::MAX).iter().map(|piece| visible(&piece.text)).max().unwrap_or(0)
}

/// The width of the longest word.
pub(super) fn longest_word(text: &str) -> usize {
    text.split_whitespace().map(visible).max().unwrap_or(0)
}

/// A part of a text that stays on one line.
struct Piece {
    text: String,
    /// Whether a space stands before it.
    spaced: bool,
}

/// Formulas such as `n = 300` and `exp(−ε H)` stay together if there is room for them, and so do lists
/// without spaces such as `1,1,1`.
fn pieces(text: &str, room: usize) -> Vec<Piece> {
    let mut formulas: Vec<String> = Vec::new();
    let words: Vec<&str> = text.split_whitespace().collect();
    let mut joined = 0;
    for (i, word) in words.iter().enumerate() {
        let joins = i > 0 && (JOINTS.contains(&words[i - 1]) || joins_before(word));
        match formulas.last_mut().filter(|_| joins || i < joined) {
            Some(last) => *last += &format!(" {word}"),
            None => formulas.push((*word).to_owned()),
        }
        joined = joined.max(i + in_brackets(&words[i..]));
    }
    let split = |formula: String| match visible(&formula) > room {
        false => vec![Piece { text: formula, spaced: true }],
        true => formula.split(' ').flat_map(|word| list(word, room)).collect(),
    };
    formulas.into_iter().flat_map(split).collect()
}

/// Brackets around longer texts may be broken.
const LONGEST_BRACKETS: usize = 32;

/// How many words there are until the brackets close that the first one opens; 1 if it opens none, or
/// if they close too late.
fn in_brackets(words: &[&str]) -> usize {
    let (mut open, mut length) = (0, 0);
    for (i, word) in words.iter().enumerate() {
        length += visible(word) + usize::from(i > 0);
        if length > LONGEST_BRACKETS {
            break;
        }
        let brackets = word.chars().filter(|_| !JOINTS.contains(word));
        open += brackets
            .map(|c| match c {
                '(' | '<' => 1,
                ')' | '>' => -1,
                _ => 0,
            })
            .sum::<i32>();
        if open <= 0 {
            return i + 1;
        }
    }
    1
}

/// Signs that are not parted from the words around them.
const JOINTS: [&str; 14] = ["=", "<", ">", "≤", "≥", "≠", "≈", "+", "−", "·", "×", "/", "–", "|"];

/// Units are not parted from their numbers.
const UNITS: [&str; 9] = ["%", "s", "ms", "min", "h", "kB", "MB", "GB", "TB"];

fn joins_before(word: &str) -> bool {
    let unit = word.trim_end_matches([',', '.', ';', ')', ':']);
    JOINTS.contains(&word) || UNITS.contains(&unit)
}

/// A word; if it is too long, its parts that end with commas.
fn list(word: &str, room: usize) -> Vec<Piece> {
    let whole = |text: &str| Piece { text: text.to_owned(), spaced: true };
    if visible(word) <= room {
        return vec![whole(word)];
    }
    let parts = word.split_inclusive([',', ';']).enumerate();
    parts.map(|(i, part)| Piece { spaced: i == 0, ..whole(part) }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::console::Style;

    #[test]
    fn of_a_long_text_the_middle_is_left_out() {
        assert_eq!(shorten("-epsilon * d", 12), "-epsilon * d");
        assert_eq!(shorten("-epsilon * d^2", 9), "-eps…d^2");
        for most in 1..20 {
            assert!(shorten("−ε · |t| for every count", most).chars().count() <= most);
        }
    }

    #[test]
    fn words_stay_whole() {
        let text = "  the mean error over all data sets of 20 records\nshort\n";
        let expected = "  the mean error over\n  all data sets of 20\n  records\nshort\n";
        assert_eq!(fold(text, 22, Hang::NONE), expected);
        assert_eq!(fold("error: a b c d", 10, Hang::MESSAGE), "error: a b\n  c d");
        assert_eq!(fold("anaxagoras", 4, Hang::NONE), "anaxagoras");
    }

    #[test]
    fn formulas_and_quantities_stay_together() {
        assert_eq!(fold("with n = 300 records", 10, Hang::NONE), "with\nn = 300\nrecords");
        assert_eq!(fold("it takes about 12 s, or", 16, Hang::NONE), "it takes about\n12 s, or");
        assert_eq!(fold("weight exp(−ε H / (2 GS))", 19, Hang::NONE), "weight\nexp(−ε H / (2 GS))");
        assert_eq!(fold("use <--n <N>|--all>", 18, Hang::NONE), "use\n<--n <N>|--all>");
        // Only if they fit.
        assert_eq!(fold("aaaa = bbbb", 6, Hang::NONE), "aaaa =\nbbbb");
        assert_eq!(fold("at 10,20,30,40", 8, Hang::NONE), "at 10,\n20,30,40");
    }

    #[test]
    fn colours_take_no_room() {
        let painted = Style::Good.always("holds");
        assert_eq!(visible(&painted), 5);
        assert_eq!(fold(&format!("it {painted} now"), 12, Hang::NONE), format!("it {painted} now"));
        assert_eq!(visible("ε ≤ ℓ ✓"), 7);
    }
}
