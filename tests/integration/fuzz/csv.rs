//! Data files: histograms and raw tables, whole and broken.

use super::dice::Dice;
use super::{text, value};

/// A data file with the column to count and the categories, if they are given.
pub struct Data {
    pub bytes: Vec<u8>,
    pub column: Option<String>,
    pub categories: Option<Vec<String>>,
}

/// A histogram or a raw table, then one mutation or a few, as a rule.
pub fn data(dice: &mut Dice) -> Data {
    let raw = dice.once_in(2);
    let mut text = String::new();
    if dice.once_in(6) {
        text += &"# comment\n".repeat(dice.between(1, 5));
    }
    let columns = if dice.once_in(40) { dice.between(10, 3000) } else { dice.between(1, 4) };
    let own = dice.below(columns);
    let rows = if dice.once_in(100) { dice.between(1000, 20_000) } else { dice.below(12) };
    let rows = rows.min(60_000 / columns);
    let end = *dice.one(&["\n", "\n", "\n", "\r\n", "\r"]);
    match raw {
        true => {
            let header =
                (0..columns).map(|i| if i == own { "kind".into() } else { format!("c{i}") });
            text += &header.collect::<Vec<_>>().join(",");
            for _ in 0..rows {
                text += end;
                text += &(0..columns).map(|_| cell(dice)).collect::<Vec<_>>().join(",");
            }
        }
        false => {
            text += "category,count";
            for i in 0..rows {
                let count =
                    if dice.once_in(30) { cell(dice) } else { dice.below(1000).to_string() };
                let category = if dice.once_in(30) { cell(dice) } else { format!("k{i}") };
                text += &format!("{end}{category},{count}");
            }
        }
    }
    let mut bytes = text.into_bytes();
    for _ in 0..dice.below(3) {
        text::mutate(&mut bytes, dice);
    }
    let mut name = || if dice.once_in(20) { value::text(dice) } else { "kind".into() };
    let column = raw.then(&mut name);
    let categories = dice.once_in(6).then(|| {
        let given = (0..dice.between(1, 6)).map(|i| format!("{}{i}", dice.one(&["k", "a", ""])));
        given.collect()
    });
    Data { bytes, column, categories }
}

/// A cell: a value of a few, as a rule.
fn cell(dice: &mut Dice) -> String {
    match dice.below(24) {
        0 => (*dice.one(&text::NUMBERS)).to_owned(),
        1 => format!("\"{}\"", value::text(dice).replace('"', "\"\"")),
        2 => value::text(dice),
        3 => "\"".to_owned(),
        4 => String::new(),
        _ => format!("{}{}", dice.one(&["k", "a", ""]), dice.below(4)),
    }
}

/// Changes a table of numbers, such as those of a results folder: cells, rows, columns, bytes.
pub fn mutate(bytes: &mut Vec<u8>, dice: &mut Dice) {
    if dice.once_in(3) {
        return text::mutate(bytes, dice);
    }
    let text = String::from_utf8_lossy(bytes).into_owned();
    let mut rows: Vec<Vec<String>> =
        text.lines().map(|line| line.split(',').map(str::to_owned).collect()).collect();
    if rows.is_empty() {
        return;
    }
    let (i, j) = (dice.below(rows.len()), dice.below(rows.len()));
    let width = rows[i].len();
    let column = dice.below(width);
    match dice.below(10) {
        0..=3 => rows[i][column] = cell(dice),
        4 => rows[i][column] = value::number(dice).to_string(),
        5 => rows.swap(i, j),
        6 => drop(rows.remove(i)),
        7 => rows.insert(i, rows[j].clone()),
        8 => rows.iter_mut().for_each(|row| {
            let cell = row.get(column).cloned().unwrap_or_default();
            row.push(cell);
        }),
        _ => rows.iter_mut().filter(|row| column < row.len()).for_each(|row| {
            row.remove(column);
        }),
    }
    let lines: Vec<String> = rows.iter().map(|row| row.join(",") + "\n").collect();
    *bytes = lines.concat().into_bytes();
}
