//! Data files: a histogram (columns `category` and `count`), or a raw table with one record a row
//! and a named column.

use std::collections::{HashMap, HashSet};

use engine::posterior::model::MOST_RECORDS;
use engine::refusal::suggest;
use system::diagnostic::{Diagnostic, Place};

/// Counts read from a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Histogram {
    /// The categories, in order.
    pub categories: Vec<String>,
    /// How many records fall into each.
    pub counts: Vec<u64>,
}

/// Reads a histogram or, if `column` is named, counts a raw table, from the bytes of `file`.
/// `categories` fixes the order and what may occur; otherwise a histogram keeps its own order and a
/// raw table is sorted.
pub fn parse(
    bytes: &[u8],
    file: &str,
    column: Option<&str>,
    categories: Option<&[String]>,
) -> Result<Histogram, Diagnostic> {
    let reader = Reader::new(bytes, file, categories)?;
    let found = match column {
        Some(column) => reader.count_column(column)?,
        None => reader.histogram()?,
    };
    Ok(match categories {
        Some(order) => arrange(found, order),
        None => found,
    })
}

/// The categories that may occur.
struct Categories<'a> {
    listed: &'a [String],
    known: HashSet<&'a str>,
}

impl<'a> Categories<'a> {
    fn new(listed: &'a [String]) -> Self {
        Self { listed, known: listed.iter().map(String::as_str).collect() }
    }
}

struct Reader<'a> {
    /// Everything after the comments at the top.
    body: &'a [u8],
    /// The number of lines before the body.
    skipped: usize,
    file: &'a str,
    header: Vec<String>,
    categories: Option<Categories<'a>>,
    csv: csv::Reader<&'a [u8]>,
}

impl<'a> Reader<'a> {
    fn new(
        bytes: &'a [u8],
        file: &'a str,
        categories: Option<&'a [String]>,
    ) -> Result<Self, Diagnostic> {
        let mut body = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        let mut skipped = 0;
        // Comments stand at the top only: further down `#1` may well be a value.
        while body.starts_with(b"#") {
            let end = body.iter().position(|&byte| byte == b'\n').map_or(body.len(), |i| i + 1);
            body = &body[end..];
            skipped += 1;
        }
        let csv = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(body);
        let categories = categories.map(Categories::new);
        let mut reader = Self { body, skipped, file, header: Vec::new(), categories, csv };
        let header = reader.csv.headers().cloned().map_err(|error| reader.explain(&error))?;
        reader.header = header.iter().map(str::to_owned).collect();
        if reader.header.is_empty() {
            let empty = Diagnostic::new("the data file is empty").at(reader.place(0));
            return Err(empty.help("the first row must name the columns"));
        }
        Ok(reader)
    }

    /// The line of the record that begins at or after the byte `start` of the body; blank lines
    /// before it are not counted as its own.
    fn place(&self, start: u64) -> Place {
        let start = (start as usize).min(self.body.len());
        let content = self.body[start..].iter().position(|byte| !b"\r\n".contains(byte));
        let before = &self.body[..start + content.unwrap_or(0)];
        let line = before.iter().filter(|&&byte| byte == b'\n').count() + 1;
        Place::line(self.file, self.skipped + line)
    }

    fn record_place(&self, record: &csv::StringRecord) -> Place {
        self.place(record.position().map_or(0, csv::Position::byte))
    }

    fn find_column(
        &self,
        name: &str,
        remedy: impl Fn(&str) -> String,
    ) -> Result<usize, Diagnostic> {
        let mut found = self.header.iter().enumerate().filter(|(_, column)| *column == name);
        match (found.next(), found.next()) {
            (Some((index, _)), None) => Ok(index),
            (Some(_), Some(_)) => {
                Err(Diagnostic::new(format!("the data file has two columns `{name}`"))
                    .at(self.place(0))
                    .help("rename one of them"))
            }
            _ => {
                let hint = suggest(name, self.header.iter().map(String::as_str));
                Err(Diagnostic::new(format!("the data file has no column `{name}`"))
                    .at(self.place(0))
                    .help(remedy(&hint)))
            }
        }
    }

    /// Calls `visit` for every record.
    fn each(
        &mut self,
        mut visit: impl FnMut(&Self, &csv::StringRecord) -> Result<(), Diagnostic>,
    ) -> Result<(), Diagnostic> {
        let mut record = csv::StringRecord::new();
        loop {
            match self.csv.read_record(&mut record) {
                Ok(false) => return Ok(()),
                Ok(true) => visit(self, &record)?,
                Err(error) => return Err(self.explain(&error)),
            }
        }
    }

    /// Complains about a value that is not one of the categories asked for, or that is empty.
    fn check_category(&self, value: &str, record: &csv::StringRecord) -> Result<(), Diagnostic> {
        let wrong = match &self.categories {
            Some(categories) if categories.known.contains(value) => return Ok(()),
            Some(categories) => Diagnostic::new(format!("`{value}` is not one of the categories"))
                .help(suggest(value, categories.listed.iter().map(String::as_str))),
            None if !value.is_empty() => return Ok(()),
            None => Diagnostic::new("this record has no category")
                .help("remove the record, or list the categories with \"\" among them"),
        };
        Err(wrong.at(self.record_place(record)))
    }

    fn histogram(mut self) -> Result<Histogram, Diagnostic> {
        let remedy = |hint: &str| {
            format!(
                "a histogram has the columns `category` and `count`; for a raw table with one \
                 record in each row, set `column` ({hint})"
            )
        };
        let columns = [self.find_column("category", remedy)?, self.find_column("count", remedy)?];
        let mut histogram = Histogram { categories: Vec::new(), counts: Vec::new() };
        let mut known = HashSet::new();
        self.each(|reader, record| {
            let [category, count] = columns.map(|column| record.get(column).unwrap_or(""));
            let wrong = |cause: String, remedy: &str| {
                Err(Diagnostic::new(cause).at(reader.record_place(record)).help(remedy))
            };
            reader.check_category(category, record)?;
            if !known.insert(category.to_owned()) {
                let cause = format!("category `{category}` occurs a second time");
                return wrong(cause, "give each category one row");
            }
            if count.is_empty() || !count.bytes().all(|byte| byte.is_ascii_digit()) {
                let cause = format!("`{count}` is not a count");
                return wrong(cause, "a count is a whole number, 0 or more");
            }
            match count.parse::<u64>() {
                Ok(value) if value <= MOST_RECORDS => histogram.counts.push(value),
                _ => {
                    let cause = format!("the count {count} is too large");
                    return wrong(cause, &format!("dpbi counts up to {MOST_RECORDS}"));
                }
            }
            histogram.categories.push(category.to_owned());
            Ok(())
        })?;
        Ok(histogram)
    }

    fn count_column(mut self, column: &str) -> Result<Histogram, Diagnostic> {
        let index = self.find_column(column, |hint| hint.to_owned())?;
        let mut counts: HashMap<String, u64> = HashMap::new();
        self.each(|reader, record| {
            let value = record.get(index).unwrap_or("");
            reader.check_category(value, record)?;
            match counts.get_mut(value) {
                Some(count) => *count += 1,
                None => drop(counts.insert(value.to_owned(), 1)),
            }
            Ok(())
        })?;
        let (categories, counts) = sorted(counts).into_iter().unzip();
        Ok(Histogram { categories, counts })
    }

    fn explain(&self, error: &csv::Error) -> Diagnostic {
        let (cause, remedy) = match error.kind() {
            csv::ErrorKind::UnequalLengths { expected_len, len, .. } => (
                format!("this row has {len} cells, but the header has {expected_len}"),
                "give every row the same number of cells; quote a cell that holds a comma",
            ),
            csv::ErrorKind::Utf8 { .. } => {
                ("this row is not valid UTF-8".into(), "save the file as UTF-8")
            }
            _ => (format!("cannot read this row: {error}"), "check the row"),
        };
        let start = error.position().map_or(0, csv::Position::byte);
        Diagnostic::new(cause).at(self.place(start)).help(remedy)
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
fn arrange(found: Histogram, order: &[String]) -> Histogram {
    let counts: HashMap<_, _> = found.categories.into_iter().zip(found.counts).collect();
    let count = |category: &String| counts.get(category).copied().unwrap_or(0);
    Histogram { categories: order.to_vec(), counts: order.iter().map(count).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(
        text: &str,
        column: Option<&str>,
        categories: Option<&[String]>,
    ) -> Result<Histogram, String> {
        super::parse(text.as_bytes(), "d.csv", column, categories)
            .map_err(|error| error.to_string())
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
            (
                "category,count\na,1\nb\n",
                "this row has 1 cells, but the header has 2\n  --> d.csv:3",
            ),
            ("category,cuont\na,1\n", "the data file has no column `count`\n  --> d.csv:1"),
            ("", "the data file is empty\n  --> d.csv:1"),
            ("# a\n# b\n\ncategory,count\n\na,1\n\nb,x\n", "`x` is not a count\n  --> d.csv:8"),
            ("# a\ncategory,cuont\n", "the data file has no column `count`\n  --> d.csv:2"),
            (
                "category,count\na,99999999999999999999\n",
                "the count 99999999999999999999 is too large",
            ),
            (
                "category,count,count\na,1,2\n",
                "the data file has two columns `count`\n  --> d.csv:1",
            ),
            ("category,count\n,1\n", "this record has no category\n  --> d.csv:2"),
        ];
        for (text, expected) in cases {
            let error = parse(text, None, None).unwrap_err();
            assert!(error.starts_with(expected) && error.contains("help: "), "{error}");
        }
    }

    #[test]
    fn hashes_below_the_header_are_values() {
        let found = parse("kind\n#1\n#2\n#1\n", Some("kind"), None).unwrap();
        assert_eq!((found.categories, found.counts), (strings(&["#1", "#2"]), vec![2, 1]));
    }

    #[test]
    fn unknown_columns_and_categories_are_refused() {
        let text = "id,kind\n1,a\n2,c\n";
        let error = parse(text, Some("kinds"), None).unwrap_err();
        assert!(error.contains("no column `kinds`") && error.contains("did you mean `kind`"));
        let error = parse(text, Some("kind"), Some(&strings(&["a", "b"]))).unwrap_err();
        assert!(error.starts_with("`c` is not one of the categories\n  --> d.csv:3"), "{error}");
        let histogram = "category,count\na,1\nb,2\nz,3\n";
        let error = parse(histogram, None, Some(&strings(&["a", "b"]))).unwrap_err();
        assert!(error.starts_with("`z` is not one of the categories\n  --> d.csv:4"), "{error}");
    }
}
