//! A CSV file with a row for every cell of a table: its categories, and what was released for it.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use super::read_text;

/// The most bytes of such a file.
const LARGEST: u64 = 10_000_000;

/// The cells of a file.
#[derive(Debug, PartialEq)]
pub struct Cells {
    /// The categories of every column, in the order in which they appear.
    pub categories: Vec<Vec<String>>,
    /// For every column of numbers what it has for each cell, in order of the first column, then of the second, and
    /// so on.
    pub values: Vec<Vec<f64>>,
}

impl Cells {
    /// Reads the categories of `columns` and the numbers of `counts`; or says what is wrong, with its line.
    pub fn read(path: &Path, columns: &[&str], counts: &[&str]) -> Result<Self, String> {
        Self::parse(&read_text(path, LARGEST)?, columns, counts)
    }

    fn parse(text: &str, columns: &[&str], counts: &[&str]) -> Result<Self, String> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let mut reader = csv::ReaderBuilder::new()
            .trim(csv::Trim::All)
            .comment(Some(b'#'))
            .from_reader(text.as_bytes());
        let header = reader.headers().map_err(|error| error.to_string())?.clone();
        let place = |name: &&str| {
            let named: Vec<&str> = header.iter().collect();
            let found: Vec<usize> = (0..named.len()).filter(|&i| named[i] == *name).collect();
            match found[..] {
                [place] => Ok(place),
                [] => Err(format!("line 1: there is no column `{name}` ({})", named.join(", "))),
                _ => Err(format!("line 1: there are two columns `{name}`")),
            }
        };
        let places: Vec<usize> = columns.iter().map(place).collect::<Result<_, _>>()?;
        let numbers: Vec<usize> = counts.iter().map(place).collect::<Result<_, _>>()?;
        let mut categories: Vec<Vec<String>> = vec![Vec::new(); columns.len()];
        let mut known: Vec<HashMap<String, usize>> = vec![HashMap::new(); columns.len()];
        // By the places of the categories: the numbers and the line.
        let mut rows: BTreeMap<Vec<usize>, (Vec<f64>, u64)> = BTreeMap::new();
        for record in reader.records() {
            let record = record.map_err(|error| error.to_string())?;
            let line = record.position().map_or(0, csv::Position::line);
            let mut cell = Vec::new();
            for ((known, names), &place) in known.iter_mut().zip(&mut categories).zip(&places) {
                let category = record.get(place).unwrap_or_default();
                let next = known.len();
                let number = *known.entry(category.to_owned()).or_insert(next);
                if number == next {
                    names.push(category.to_owned());
                }
                cell.push(number);
            }
            let number = |&place: &usize| {
                let text = record.get(place).unwrap_or_default();
                text.parse::<f64>().map_err(|_| format!("line {line}: `{text}` is not a number"))
            };
            let values: Vec<f64> = numbers.iter().map(number).collect::<Result<_, _>>()?;
            if let Some((_, first)) = rows.get(&cell) {
                return Err(format!("line {line} is about the same cell as line {first}"));
            }
            rows.insert(cell, (values, line));
        }
        let size: usize = categories.iter().map(Vec::len).product();
        if rows.is_empty() || rows.len() < size {
            return Err(format!(
                "it has {} of {size} cells: write a row for every one",
                rows.len()
            ));
        }
        let values = |one: usize| rows.values().map(|row| row.0[one]).collect();
        Ok(Self { values: (0..counts.len()).map(values).collect(), categories })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_put_in_order_and_faults_have_lines() {
        let text =
            "# noisy\narm,answer,count,again\nB,yes,3,1\nA,no, 4,-2\nB,no,5,2.5\nA,yes,6,0\n";
        let found = Cells::parse(text, &["arm", "answer"], &["count", "again"]).unwrap();
        assert_eq!(found.categories, [["B", "A"], ["yes", "no"]]);
        assert_eq!(found.values, [[3.0, 5.0, 6.0, 4.0], [1.0, 2.5, 0.0, -2.0]]);
        for (text, columns, fault) in [
            ("a,c\nx,1\nx,2\n", ["a"].as_slice(), "line 3 is about the same cell as line 2"),
            ("a,c\nx,1\ny,z\n", &["a"], "line 3: `z` is not a number"),
            ("a,b,c\nx,u,1\ny,v,2\n", &["a", "b"], "it has 2 of 4 cells"),
            ("a,c\n", &["a"], "it has 0 of 0 cells"),
            ("a,d\nx,1\n", &["a"], "line 1: there is no column `c` (a, d)"),
        ] {
            let error = Cells::parse(text, columns, &["c"]).unwrap_err();
            assert!(error.starts_with(fault), "{error}");
        }
    }
}
