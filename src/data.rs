//! Data files: a histogram (columns `category` and `count`), or a raw table with one record a row
//! and a named column.

use std::collections::{BTreeMap, HashMap};

use crate::diagnostic::{Diagnostic, Place, suggest};
use crate::source::Source;

/// Counts read from a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Histogram {
    /// The categories, in order.
    pub categories: Vec<String>,
    /// How many records fall into each.
    pub counts: Vec<u64>,
}

/// Reads a histogram or, if `column` is named, counts a raw table. `categories` fixes the order;
/// otherwise a histogram keeps its own and a raw table is sorted.
pub fn read(
    source: &Source,
    column: Option<&str>,
    categories: Option<&[String]>,
) -> Result<Histogram, Diagnostic> {
    let bytes = source.read()?;
    let file = source.to_string();
    let reader = Reader::new(&bytes, &file)?;
    let found = match column {
        Some(column) => reader.count_column(column, categories)?,
        None => reader.histogram()?,
    };
    match categories {
        Some(order) => arrange(found, order, &file),
        None => Ok(found),
    }
}

struct Reader<'a> {
    file: &'a str,
    header: Vec<String>,
    csv: csv::Reader<&'a [u8]>,
}

impl<'a> Reader<'a> {
    fn new(bytes: &'a [u8], file: &'a str) -> Result<Self, Diagnostic> {
        let mut csv = csv::ReaderBuilder::new()
            .comment(Some(b'#'))
            .trim(csv::Trim::All)
            .from_reader(bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes));
        let header = csv.headers().map_err(|error| explain(file, &error))?;
        let header: Vec<String> = header.iter().map(str::to_owned).collect();
        if header.is_empty() {
            let empty = Diagnostic::new("the data file is empty").at(Place::line(file, 1));
            return Err(empty.help("the first row must name the columns"));
        }
        Ok(Self { file, header, csv })
    }

    fn find_column(
        &self,
        name: &str,
        remedy: impl Fn(&str) -> String,
    ) -> Result<usize, Diagnostic> {
        self.header.iter().position(|column| column == name).ok_or_else(|| {
            let hint = suggest(name, self.header.iter().map(String::as_str));
            Diagnostic::new(format!("the data file has no column `{name}`"))
                .at(Place::line(self.file, 1))
                .help(remedy(&hint))
        })
    }

    /// All rows of the named columns, with their line numbers.
    fn rows(&mut self, columns: [usize; 2]) -> Result<Vec<(usize, [String; 2])>, Diagnostic> {
        let mut rows = Vec::new();
        for record in self.csv.records() {
            let record = record.map_err(|error| explain(self.file, &error))?;
            let line = record.position().map_or(0, |position| position.line() as usize);
            let cell = |column: usize| record.get(column).unwrap_or("").to_owned();
            rows.push((line, columns.map(cell)));
        }
        Ok(rows)
    }

    fn histogram(mut self) -> Result<Histogram, Diagnostic> {
        let remedy = |hint: &str| {
            format!(
                "a histogram has the columns `category` and `count`; for a raw table with one \
                 record a row set `column` ({hint})"
            )
        };
        let columns = [self.find_column("category", remedy)?, self.find_column("count", remedy)?];
        let mut histogram = Histogram { categories: Vec::new(), counts: Vec::new() };
        for (line, [category, count]) in self.rows(columns)? {
            let wrong = |cause: String, remedy: &str| {
                Err(Diagnostic::new(cause).at(Place::line(self.file, line)).help(remedy))
            };
            let Ok(count) = count.parse::<u64>() else {
                return wrong(
                    format!("`{count}` is not a count"),
                    "a count is a whole number, 0 or more",
                );
            };
            if histogram.categories.contains(&category) {
                return wrong(
                    format!("category `{category}` occurs a second time"),
                    "give each category one row",
                );
            }
            histogram.categories.push(category);
            histogram.counts.push(count);
        }
        Ok(histogram)
    }

    fn count_column(
        mut self,
        column: &str,
        categories: Option<&[String]>,
    ) -> Result<Histogram, Diagnostic> {
        let index = self.find_column(column, |hint| hint.to_owned())?;
        let mut counts: HashMap<String, u64> = HashMap::new();
        let mut record = csv::StringRecord::new();
        while self.csv.read_record(&mut record).map_err(|error| explain(self.file, &error))? {
            let value = record.get(index).unwrap_or("");
            if categories.is_some_and(|known| !known.iter().any(|c| c == value)) {
                let line = record.position().map_or(0, |position| position.line() as usize);
                return Err(unknown_category(value, categories.unwrap_or(&[]))
                    .at(Place::line(self.file, line)));
            }
            match counts.get_mut(value) {
                Some(count) => *count += 1,
                None => drop(counts.insert(value.to_owned(), 1)),
            }
        }
        let (categories, counts) = sorted(counts).into_iter().unzip();
        Ok(Histogram { categories, counts })
    }
}

/// Numbers in their order, then other values in theirs.
fn sorted(counts: HashMap<String, u64>) -> Vec<(String, u64)> {
    let mut entries: Vec<_> = counts.into_iter().collect();
    let number = |text: &str| text.parse::<f64>().unwrap_or(f64::INFINITY);
    entries.sort_by(|(a, _), (b, _)| number(a).total_cmp(&number(b)).then_with(|| a.cmp(b)));
    entries
}

/// Puts a histogram into the order asked for; a category without records has count 0.
fn arrange(found: Histogram, order: &[String], file: &str) -> Result<Histogram, Diagnostic> {
    let mut counts: BTreeMap<_, _> = found.categories.into_iter().zip(found.counts).collect();
    let arranged = order.iter().map(|category| counts.remove(category).unwrap_or(0)).collect();
    match counts.into_keys().next() {
        Some(left) => Err(unknown_category(&left, order).at(Place::line(file, 1))),
        None => Ok(Histogram { categories: order.to_vec(), counts: arranged }),
    }
}

fn unknown_category(value: &str, known: &[String]) -> Diagnostic {
    Diagnostic::new(format!("`{value}` is not one of the categories"))
        .help(suggest(value, known.iter().map(String::as_str)))
}

fn explain(file: &str, error: &csv::Error) -> Diagnostic {
    let line = error.position().map_or(1, |position| position.line() as usize);
    let (cause, remedy) = match error.kind() {
        csv::ErrorKind::UnequalLengths { expected_len, len, .. } => (
            format!("this row has {len} cells, the header {expected_len}"),
            "give every row the same number of cells; quote a cell that holds a comma",
        ),
        csv::ErrorKind::Utf8 { .. } => {
            ("this row is not valid UTF-8".into(), "save the file as UTF-8")
        }
        _ => (format!("cannot read this row: {error}"), "check the row"),
    };
    Diagnostic::new(cause).at(Place::line(file, line)).help(remedy)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(
        text: &str,
        column: Option<&str>,
        categories: Option<&[String]>,
    ) -> Result<Histogram, String> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("d.csv");
        std::fs::write(&path, text).unwrap();
        let shorten =
            |error: Diagnostic| error.to_string().replace(&path.display().to_string(), "d.csv");
        read(&Source::Disk(path.clone()), column, categories).map_err(shorten)
    }

    fn strings(values: &[&str]) -> Vec<String> {
        values.iter().map(|&v| v.into()).collect()
    }

    #[test]
    fn a_histogram_keeps_its_order_and_skips_comments() {
        let found = parse("# source\ncategory,count\nyes, 500\nno,231\n", None, None).unwrap();
        assert_eq!((found.categories, found.counts), (strings(&["yes", "no"]), vec![500, 231]));
    }

    #[test]
    fn a_raw_table_is_counted_and_sorted() {
        let text = "id,kind\r\n1,10\r\n2,9\r\n3,10\r\n";
        let found = parse(text, Some("kind"), None).unwrap();
        assert_eq!((found.categories, found.counts), (strings(&["9", "10"]), vec![1, 2]));
        let order = strings(&["10", "9", "8"]);
        assert_eq!(parse(text, Some("kind"), Some(&order)).unwrap().counts, vec![2, 1, 0]);
    }

    #[test]
    fn quoted_cells_and_a_byte_order_mark() {
        let text = "\u{feff}category,count\n\"a, b\",1\n\"c\nd\",2\n";
        assert_eq!(parse(text, None, None).unwrap().categories, strings(&["a, b", "c\nd"]));
    }

    #[test]
    fn bad_rows_are_named_with_their_line() {
        let cases = [
            ("category,count\na,1\nb,-2\n", "`-2` is not a count\n  --> d.csv:3"),
            ("category,count\na,1\nb,2.5\n", "`2.5` is not a count\n  --> d.csv:3"),
            ("category,count\na,1\na,2\n", "category `a` occurs a second time\n  --> d.csv:3"),
            ("category,count\na,1\nb\n", "this row has 1 cells, the header 2\n  --> d.csv:3"),
            ("category,cuont\na,1\n", "the data file has no column `count`\n  --> d.csv:1"),
            ("", "the data file is empty\n  --> d.csv:1"),
        ];
        for (text, expected) in cases {
            let error = parse(text, None, None).unwrap_err();
            assert!(error.starts_with(expected) && error.contains("help: "), "{error}");
        }
    }

    #[test]
    fn unknown_columns_and_categories_are_refused() {
        let text = "id,kind\n1,a\n2,c\n";
        let error = parse(text, Some("kinds"), None).unwrap_err();
        assert!(error.contains("no column `kinds`") && error.contains("did you mean `kind`"));
        let error = parse(text, Some("kind"), Some(&strings(&["a", "b"]))).unwrap_err();
        assert!(error.starts_with("`c` is not one of the categories\n  --> d.csv:3"), "{error}");
    }
}
