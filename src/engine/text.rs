//! Texts of users as they are shown.

/// At most this many characters of a cause, a file's name or a remedy are shown.
const LONGEST_TEXT: usize = 600;

/// The text on one line. Characters that a terminal would obey are written out, and the middle of a very
/// long text is left out.
pub fn legible(text: &str) -> String {
    let mut shown = String::new();
    let length = text.chars().count();
    for (i, c) in text.chars().enumerate() {
        let skipped =
            length > LONGEST_TEXT && (LONGEST_TEXT / 2..length - LONGEST_TEXT / 2).contains(&i);
        match c {
            _ if skipped && i == LONGEST_TEXT / 2 => shown += " … ",
            _ if skipped => {}
            c if is_obeyed(c) => shown.extend(c.escape_default()),
            c => shown.push(c),
        }
    }
    shown
}

/// Whether a terminal obeys a character instead of showing it: control characters, and those that turn the
/// direction of a text or take no room. A name that holds one would look like another name.
pub fn is_obeyed(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{180e}' | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{feff}'
            | '\u{ffa0}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}
