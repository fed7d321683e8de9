//! Mutations of texts, whatever they mean: lines, numbers, single bytes, encodings.

use super::dice::Dice;

/// Numbers as a user could write them, in TOML or CSV, that a reader may stumble over.
pub const NUMBERS: [&str; 44] = [
    "0",
    "-0",
    "1",
    "-1",
    "2",
    "3",
    "7",
    "10",
    "100",
    "1000",
    "10000",
    "10001",
    "100000",
    "1000000",
    "0.5",
    "1.5",
    "-0.0",
    "0.1",
    "1e-8",
    "1e-3",
    "nan",
    "-nan",
    "inf",
    "-inf",
    "NaN",
    "1e400",
    "-1e400",
    "1e-400",
    "5e-324",
    "2.2250738585072014e-308",
    "1e100",
    "1e-100",
    "1e308",
    "9007199254740992",
    "9007199254740993",
    "4294967296",
    "9223372036854775807",
    "9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "99999999999999999999999999999999999999999999999999",
    "0xffffffffffffffff",
    "1_000",
    "0o17",
];

/// Values of TOML that are no numbers, whole or broken.
const VALUES: [&str; 26] = [
    "true",
    "false",
    "\"\"",
    "\"x\"",
    "''",
    "[]",
    "[[]]",
    "[[], []]",
    "{}",
    "{ from = 1 }",
    "1979-05-27T07:32:00Z",
    "1979-05-27",
    "07:32:00",
    "\"\\u0000\"",
    "\"\\n\"",
    "\"ε\"",
    "\"\\U0001F600\"",
    "'''\na\nb'''",
    "\"",
    "[1",
    "[1, [2]]",
    "[1, \"a\"]",
    "{ from = 1, to = 10, count = 3 }",
    "{ from = 1, to = 10, count = 10000, spacing = \"log\" }",
    "{ from = -1e308, to = 1e308, count = 10000 }",
    "{ from = 5e-324, to = 1e308, count = 5, spacing = \"log\" }",
];

/// Odd pieces of text.
const PIECES: [&[u8]; 20] = [
    b"\xef\xbb\xbf",
    b"\0",
    b"\r",
    b"\r\n",
    b"\xff",
    b"\xc3",
    "\u{202e}".as_bytes(),
    "e\u{301}".as_bytes(),
    "\u{1f600}".as_bytes(),
    b"\x1b[31m",
    b"\"",
    b"\"\"\"",
    b"[[panel]]\n",
    b"[data]\n",
    b"#",
    b",",
    b"=",
    b";",
    b"\t",
    b"\n\n",
];

/// One mutation of a text.
pub fn mutate(text: &mut Vec<u8>, dice: &mut Dice) {
    match dice.below(12) {
        0..=4 => replace_number(text, dice),
        5 => replace_value(text, dice),
        6 => insert_piece(text, dice),
        7 => lines(text, dice),
        8 => flip(text, dice),
        9 => text.truncate(dice.below(text.len() + 1)),
        10 => double(text, dice),
        _ => encode(text, dice),
    }
}

/// Where the numbers of a text stand.
fn numbers(text: &[u8]) -> Vec<(usize, usize)> {
    let part = |byte: u8| byte.is_ascii_digit() || b".-_".contains(&byte);
    let mut found = Vec::new();
    let mut start = None;
    for (i, &byte) in text.iter().chain(b" ").enumerate() {
        match (part(byte), start) {
            (true, None) => start = Some(i),
            (false, Some(from)) => {
                if text[from..i].iter().any(u8::is_ascii_digit) {
                    found.push((from, i));
                }
                start = None;
            }
            _ => {}
        }
    }
    found
}

fn replace_number(text: &mut Vec<u8>, dice: &mut Dice) {
    let found = numbers(text);
    if !found.is_empty() {
        let &(from, to) = dice.one(&found);
        text.splice(from..to, dice.pick(&NUMBERS).bytes());
    }
}

/// Replaces all that follows the equals sign of a line.
fn replace_value(text: &mut Vec<u8>, dice: &mut Dice) {
    let signs: Vec<usize> = (0..text.len()).filter(|&i| text[i] == b'=').collect();
    if !signs.is_empty() {
        let from = dice.one(&signs) + 1;
        let rest = text[from..].iter().position(|&byte| byte == b'\n');
        let to = rest.map_or(text.len(), |length| from + length);
        text.splice(from..to, format!(" {}", dice.pick(&VALUES)).bytes());
    }
}

fn insert_piece(text: &mut Vec<u8>, dice: &mut Dice) {
    let at = if dice.once_in(4) { 0 } else { dice.below(text.len() + 1) };
    text.splice(at..at, dice.pick(&PIECES).iter().copied());
}

/// Deletes, doubles or exchanges lines.
fn lines(text: &mut Vec<u8>, dice: &mut Dice) {
    let mut lines: Vec<Vec<u8>> =
        text.split_inclusive(|&b| b == b'\n').map(<[u8]>::to_vec).collect();
    if lines.is_empty() {
        return;
    }
    let (i, j) = (dice.below(lines.len()), dice.below(lines.len()));
    match dice.below(3) {
        0 => drop(lines.remove(i)),
        1 => lines.insert(j, lines[i].clone()),
        _ => lines.swap(i, j),
    }
    *text = lines.concat();
}

fn flip(text: &mut [u8], dice: &mut Dice) {
    if !text.is_empty() {
        let at = dice.below(text.len());
        text[at] ^= 1 << dice.below(8);
    }
}

/// Repeats a stretch of the text, now and then many times.
fn double(text: &mut Vec<u8>, dice: &mut Dice) {
    if text.is_empty() {
        return;
    }
    let from = dice.below(text.len());
    let to = (from + dice.between(1, 40)).min(text.len());
    let times = if dice.once_in(20) { dice.between(1, 2000) } else { 1 };
    let stretch = text[from..to].repeat(times);
    text.splice(to..to, stretch);
}

fn encode(text: &mut Vec<u8>, dice: &mut Dice) {
    match dice.below(3) {
        0 => *text = String::from_utf8_lossy(text).replace('\n', "\r\n").into_bytes(),
        1 => drop(text.splice(0..0, *b"\xef\xbb\xbf")),
        _ => *text = text.iter().flat_map(|&byte| [byte, 0]).collect(),
    }
}

/// Bytes without any meaning, or a heap of tokens.
pub fn noise(dice: &mut Dice) -> Vec<u8> {
    let length = dice.below(200);
    if dice.once_in(2) {
        return dice.bytes(length);
    }
    const KEYS: [&str; 10] =
        ["name", "prior", "epsilon", "data", "sizes", "panel", "category", "count", "id", "kind"];
    let mut text = Vec::new();
    for _ in 0..length / 4 {
        match dice.below(5) {
            0 => text.extend(dice.pick(&NUMBERS).bytes()),
            1 => text.extend(dice.pick(&VALUES).bytes()),
            2 => text.extend(*dice.one(&PIECES)),
            3 => text.extend(format!("\n{} = ", dice.pick(&KEYS)).bytes()),
            _ => text.extend(format!("\n[{}]\n", dice.pick(&KEYS)).bytes()),
        }
    }
    text
}
