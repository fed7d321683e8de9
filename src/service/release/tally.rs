//! Counting the records of a file, without keeping them in memory. Messages name lines, never contents: they end up in
//! logs, and logs in mails. If the number of records is private, they name no line either.
//!
//! The `csv` crate reads the file. It accepts what may hide records: text around quotes, a quote that is never closed,
//! and empty lines. [`Strict`] looks at the bytes on their way to it, and refuses these.

use std::collections::{HashMap, VecDeque};
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use csv::ByteRecord;
use sha2::{Digest, Sha256};

use super::table::{Attribute, Table};
use engine::posterior::model::{Counts, MOST_RECORDS};
use engine::refusal::nearest;
use lab::run::store::hexadecimal;
use system::diagnostic::{Diagnostic, Place};
use system::filesystem::open_named;

/// The counts of a file.
pub struct Tally {
    /// How many records fall into each cell.
    pub counts: Counts,
    /// The SHA-256 of the file.
    pub hash: String,
}

/// Counts the records of a file in every cell of a table. `delimiter` is the byte between two cells of a row. A file
/// without records is refused only if the number of records is public.
pub fn count(
    path: &Path,
    table: &Table,
    delimiter: u8,
    private_n: bool,
) -> Result<Tally, Diagnostic> {
    let name = path.display().to_string();
    count_rows(Rows::open(path, &name, delimiter, private_n)?, table)
}

fn count_rows(mut rows: Rows<impl Read>, table: &Table) -> Result<Tally, Diagnostic> {
    let columns: Vec<Column> =
        table.attributes().iter().map(|one| rows.column(one)).collect::<Result<_, _>>()?;
    let mut counts = vec![0; table.cells()];
    while let Some(line) = rows.next()? {
        let mut cell = 0;
        for column in &columns {
            let category = column.category(&rows.row).ok_or_else(|| {
                let cause = match columns.len() {
                    1 => "this record belongs to none of the categories".to_owned(),
                    _ => format!(
                        "this record belongs to none of the categories of `{}`",
                        column.attribute.name
                    ),
                };
                rows.refused(
                    line,
                    cause,
                    "a value must equal a category, except for blanks around it; --other CATEGORY takes all other \
                     values",
                )
            })?;
            cell = cell * column.attribute.categories.len() + category;
        }
        counts[cell] += 1;
    }
    if !rows.private_n {
        rows.refuse_none()?;
    }
    let hash = hexadecimal(&rows.csv.into_inner().hash.finalize());
    Ok(Tally { counts, hash })
}

/// The number of records of a file, whatever they hold.
pub fn count_records(path: &Path, delimiter: u8) -> Result<u64, Diagnostic> {
    let name = path.display().to_string();
    let mut rows = Rows::open(path, &name, delimiter, false)?;
    while rows.next()?.is_some() {}
    rows.refuse_none()?;
    Ok(rows.records)
}

/// Reads a text file, or pipe, of at most `most` bytes.
pub fn read_text(path: &Path, most: u64) -> Result<String, String> {
    let mut bytes = Vec::new();
    let file = open_named(path).map_err(|error| error.to_string())?;
    file.take(most + 1).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    if bytes.len() as u64 > most {
        return Err(format!("it is larger than {most} bytes"));
    }
    let text = String::from_utf8(bytes).ok().filter(|text| !text.contains('\0'));
    text.ok_or_else(|| "it is not text in UTF-8".to_owned())
}

/// The records of a file, one after the other.
struct Rows<'a, R> {
    csv: csv::Reader<Strict<R>>,
    file: &'a str,
    header: ByteRecord,
    /// The present record.
    row: ByteRecord,
    records: u64,
    /// Whether the number of records is private: no message then tells a line, since that of the last record is n + 1.
    private_n: bool,
}

impl<'a> Rows<'a, File> {
    /// Opens a file, and reads its header.
    fn open(
        path: &Path,
        name: &'a str,
        delimiter: u8,
        private_n: bool,
    ) -> Result<Self, Diagnostic> {
        match open_named(path) {
            Ok(file) => Self::new(file, name, delimiter, private_n),
            Err(error) => Err(unreadable(name, &error.to_string())),
        }
    }
}

impl<'a, R: Read> Rows<'a, R> {
    fn new(file: R, name: &'a str, delimiter: u8, private_n: bool) -> Result<Self, Diagnostic> {
        let mut reader = csv::ReaderBuilder::new();
        let reader = reader.has_headers(false).flexible(true).delimiter(delimiter);
        let csv = reader.from_reader(Strict::new(file, delimiter));
        let (header, row) = (ByteRecord::new(), ByteRecord::new());
        let mut rows = Self { csv, file: name, header, row, records: 0, private_n };
        if rows.read()?.is_none() {
            let error = Diagnostic::new(format!("the data file {name} is empty"));
            return Err(error.help("the first row must name the columns"));
        }
        std::mem::swap(&mut rows.header, &mut rows.row);
        Ok(rows)
    }

    /// Refuses what is wrong in a line.
    fn refused(&self, line: usize, cause: impl Into<String>, help: &str) -> Diagnostic {
        let refused = Diagnostic::new(cause);
        match self.private_n {
            false => refused.at(Place::line(self.file, line)).help(help),
            true => refused.help(format!(
                "{help}; the line is not said, because the number of records is private: look for it with another \
                 program"
            )),
        }
    }

    /// Refuses the header, whose line tells nothing of the records.
    fn refused_header(&self, cause: impl Into<String>, help: &str) -> Diagnostic {
        Diagnostic::new(cause).at(Place::line(self.file, 1)).help(help)
    }

    /// Reads a row: its line, or `None` at the end.
    fn read(&mut self) -> Result<Option<usize>, Diagnostic> {
        match self.csv.read_byte_record(&mut self.row) {
            Ok(true) => Ok(self.csv.get_mut().starts.pop_front()),
            Ok(false) => Ok(None),
            Err(error) => Err(match self.csv.get_mut().fault.take() {
                Some(Fault { line, cause, help }) => self.refused(line, cause, help),
                None => unreadable(self.file, &error.to_string()),
            }),
        }
    }

    /// Reads the next record: its line, or `None` at the end.
    fn next(&mut self) -> Result<Option<usize>, Diagnostic> {
        let (found, width) = (self.read()?, self.header.len());
        let Some(line) = found else {
            // Among rows of one cell, an empty line is a record without a value: n is public, and would tell it.
            return match self.csv.get_ref().empty_line.filter(|_| width == 1) {
                Some(line) => Err(self.refused(
                    line,
                    "this line is empty",
                    "in a file of one column it may be a record: write \"\" for a value that is missing, or remove \
                     the line",
                )),
                None => Ok(None),
            };
        };
        if self.row.len() != width {
            let cells = self.row.len();
            let word = if cells == 1 { "cell" } else { "cells" };
            let cause = format!("this record has {cells} {word}, but the header has {width}");
            return Err(self.refused(
                line,
                cause,
                "give every record the same number of cells; quote a cell that holds a comma",
            ));
        }
        self.records += 1;
        match self.records > MOST_RECORDS {
            true => Err(Diagnostic::new("these are more records than dpbi can count")
                .help(format!("use at most {MOST_RECORDS}"))),
            false => Ok(Some(line)),
        }
    }

    fn refuse_none(&self) -> Result<(), Diagnostic> {
        if self.records == 0 {
            let error = Diagnostic::new(format!("the data file {} has no records", self.file));
            return Err(error.help("there is nothing to release"));
        }
        Ok(())
    }

    /// The column of an attribute.
    fn column<'b>(&self, attribute: &'b Attribute) -> Result<Column<'b>, Diagnostic> {
        let wanted = &attribute.name;
        let names: Vec<&[u8]> = self.header.iter().map(<[u8]>::trim_ascii).collect();
        let mut places = (0..names.len()).filter(|&place| names[place] == wanted.as_bytes());
        match (places.next(), places.next()) {
            (Some(place), None) => Ok(Column::new(attribute, place)),
            (Some(_), Some(_)) => {
                let cause = format!("two columns are named `{wanted}`");
                Err(self.refused_header(cause, "rename one of them"))
            }
            (None, _) => {
                // The name is not shown: in a file without a header it would be a value.
                let similar = |name: &&[u8]| {
                    std::str::from_utf8(name).is_ok_and(|name| nearest(wanted, &[name]).is_some())
                };
                let hint = match names.iter().position(similar) {
                    Some(place) => format!("column {} has a similar name; ", place + 1),
                    None => String::new(),
                };
                let columns = match names.len() {
                    1 => "one column".to_owned(),
                    many => format!("{many} columns"),
                };
                let help = format!(
                    "{hint}the first row names the columns, and has {columns} (--delimiter tells what separates them)"
                );
                Err(self.refused_header(format!("the file has no column `{wanted}`"), &help))
            }
        }
    }
}

fn unreadable(file: &str, error: &str) -> Diagnostic {
    Diagnostic::new(format!("cannot read the data {file}: {error}"))
        .help("the data are a CSV file whose first row names the columns")
}

/// A column of the table, as it stands in the file.
struct Column<'a> {
    attribute: &'a Attribute,
    place: usize,
    /// The place of each category.
    categories: HashMap<&'a [u8], usize>,
}

impl<'a> Column<'a> {
    fn new(attribute: &'a Attribute, place: usize) -> Self {
        let categories = attribute.categories.iter().map(String::as_bytes).zip(0..).collect();
        Self { attribute, place, categories }
    }

    /// The category of a record, if it has one.
    fn category(&self, row: &ByteRecord) -> Option<usize> {
        let cell = row.get(self.place)?.trim_ascii();
        self.categories.get(cell).copied().or(self.attribute.other)
    }
}

/// Passes a file on as it is, and stops at bytes that no strict CSV file has.
struct Strict<R> {
    file: R,
    delimiter: u8,
    hash: Sha256,
    state: State,
    line: usize,
    /// The line in which the last quote was opened.
    quote_line: usize,
    after_return: bool,
    /// Bytes of the present row; 0 before it begins.
    length: usize,
    /// The lines of the rows that were passed on and are not yet read.
    starts: VecDeque<usize>,
    /// The first empty line below the header.
    empty_line: Option<usize>,
    has_header: bool,
    /// What stopped it.
    fault: Option<Fault>,
}

/// Where a byte stands within a cell.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Before,
    Plain,
    Quoted,
    /// After a quote that may be the closing one, or the first of two.
    AfterQuote,
    /// After the blanks behind a closing quote.
    Closed,
}

struct Fault {
    line: usize,
    cause: &'static str,
    help: &'static str,
}

/// The most bytes of a row.
const LONGEST_ROW: usize = 1 << 26;

const DOUBLED: &str = "quote a whole cell, and write a quote within quotes twice";

impl<R> Strict<R> {
    fn new(file: R, delimiter: u8) -> Self {
        Self {
            file,
            delimiter,
            hash: Sha256::new(),
            state: State::Before,
            line: 1,
            quote_line: 1,
            after_return: false,
            length: 0,
            starts: VecDeque::new(),
            empty_line: None,
            has_header: false,
            fault: None,
        }
    }

    fn step(&mut self, byte: u8) -> Result<(), Fault> {
        let fault = |line, cause, help| Err(Fault { line, cause, help });
        let ends_line = byte == b'\n' || byte == b'\r';
        // The second half of one line end.
        let is_second = byte == b'\n' && self.after_return;
        self.after_return = byte == b'\r';
        if is_second {
            return Ok(());
        }
        let line = self.line;
        self.line += usize::from(ends_line);
        if ends_line && self.state != State::Quoted {
            if self.length == 0 && self.has_header {
                self.empty_line.get_or_insert(line);
            }
            self.has_header |= self.length > 0;
            (self.state, self.length) = (State::Before, 0);
            return Ok(());
        }
        if self.length == 0 {
            self.starts.push_back(line);
        }
        self.length += 1;
        self.state = match (self.state, byte) {
            (_, 0) => {
                let help = "save the file as CSV in UTF-8 (it may be UTF-16, or not a table)";
                return fault(line, "this is not text in UTF-8", help);
            }
            _ if self.length > LONGEST_ROW => {
                return fault(line, "a row of this file has no end", "is a quote never closed?");
            }
            (State::Quoted, b'"') => State::AfterQuote,
            (State::Quoted, _) => State::Quoted,
            (State::AfterQuote, b'"') => State::Quoted,
            (_, byte) if byte == self.delimiter => State::Before,
            (State::AfterQuote | State::Closed, b' ' | b'\t') => State::Closed,
            (State::AfterQuote | State::Closed, _) => {
                return fault(line, "there is text after the closing quote of a cell", DOUBLED);
            }
            (State::Before, b'"') => {
                self.quote_line = line;
                State::Quoted
            }
            (State::Plain, b'"') => {
                return fault(line, "there is a quote within a cell that is not quoted", DOUBLED);
            }
            (State::Before | State::Plain, _) => State::Plain,
        };
        Ok(())
    }
}

impl<R: Read> Read for Strict<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = loop {
            match self.file.read(buffer) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                read => break read?,
            }
        };
        let mut bytes = &buffer[..length];
        self.hash.update(bytes);
        // The mark at the beginning of a file is not part of its first cell.
        if self.line == 1 && self.length == 0 {
            bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        }
        let mut checked = bytes.iter().try_for_each(|&byte| self.step(byte));
        if length == 0 && self.state == State::Quoted {
            let (line, cause) = (self.quote_line, "this quote is never closed");
            checked = Err(Fault { line, cause, help: DOUBLED });
        }
        checked.map_err(|fault| {
            let error = io::Error::other(fault.cause);
            self.fault = Some(fault);
            error
        })?;
        Ok(length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attribute(name: &str, categories: &[&str], other: Option<usize>) -> Attribute {
        let categories = categories.iter().map(|&category| category.to_owned()).collect();
        Attribute { name: name.to_owned(), categories, other }
    }

    fn table(name: &str, categories: &[&str], other: Option<usize>) -> Table {
        Table::new(vec![attribute(name, categories, other)])
    }

    /// Gives one byte at a time.
    struct Slowly<'a>(&'a [u8]);

    impl Read for Slowly<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let length = buffer.len().min(1);
            self.0.read(&mut buffer[..length])
        }
    }

    /// The counts of a file, which is read as a whole and, but for a mark at its beginning, byte by byte.
    fn tally(text: &[u8], table: &Table) -> Result<Counts, String> {
        fn counted(file: impl Read, table: &Table) -> Result<Counts, String> {
            let rows = Rows::new(file, "d.csv", b',', false);
            let found = rows.and_then(|rows| count_rows(rows, table));
            found.map(|found| found.counts).map_err(|error| error.to_string())
        }
        let whole = counted(text, table);
        if !text.starts_with(b"\xef\xbb\xbf") {
            assert_eq!(counted(Slowly(text), table), whole);
        }
        whole
    }

    #[test]
    fn several_columns_are_counted_at_once() {
        let (arm, outcome) =
            (attribute("arm", &["a", "b"], None), attribute("outcome", &["no", "yes"], Some(0)));
        let crossed = Table::new(vec![arm.clone(), outcome.clone()]);
        let turned = Table::new(vec![outcome, arm]);
        let text = b"outcome,id,arm\nyes,1,b\nno,2,b\n?,3,b\nyes,4,a\n";
        assert_eq!(tally(text, &crossed), Ok(vec![0, 1, 2, 1]));
        assert_eq!(tally(text, &turned), Ok(vec![0, 2, 1, 1]));
        let wrong = tally(b"outcome,arm\nyes,secret\n", &crossed).unwrap_err();
        let words = "this record belongs to none of the categories of `arm`\n  --> d.csv:2";
        assert!(wrong.starts_with(words) && !wrong.contains("secret"), "{wrong}");
        assert!(tally(b"outcome,rm\nyes,b\n", &crossed).unwrap_err().contains("no column `arm`"));
    }

    fn yes_no(text: &[u8]) -> Result<Counts, String> {
        tally(text, &table("answer", &["no", "yes"], None))
    }

    #[test]
    fn every_way_to_write_a_table() {
        let texts: [&[u8]; 11] = [
            b"id,answer\n1,yes\n2,no\n3,yes\n",
            b"id,answer\r\n1,yes\r\n2,no\r\n3,yes",
            b"id,answer\r1,yes\r2,no\r3,yes\r",
            b"\xef\xbb\xbfid,answer\n1,yes\n2,no\n3,yes\n",
            b"\xef\xbb\xbf\"id\",answer\n1,yes\n2,no\n3,yes\n",
            b"\n\nid,answer\n\n1,yes\n\n\n2,no\n3,yes\n\n",
            b"id ,\"answer\" \n1,\tyes \n2 , no\n3,\"yes\"\n",
            b"\"a\nb\",answer\n\"x\r\ny\",yes\n\"p,q\",no\n\"say \"\"no\"\"\",yes\n",
            b"id,answer\n#1,yes\n#2,no\n#3,yes\n",
            b"answer\nyes\nno\nyes\n",
            b"a,answer,b\n\xff\xfe,yes,\n,no,\n\xc3\x28,yes,\n",
        ];
        for text in texts {
            assert_eq!(yes_no(text), Ok(vec![1, 2]), "{}", String::from_utf8_lossy(text));
        }
    }

    #[test]
    fn what_is_wrong_is_said_without_a_value_and_with_its_line() {
        let cases: [(&[u8], &str); 19] = [
            (b"", "the data file d.csv is empty"),
            (b"\xef\xbb\xbf", "the data file d.csv is empty"),
            (b"id,answer\n", "the data file d.csv has no records"),
            (b"id,secret\n1,yes\n", "the file has no column `answer`\n  --> d.csv:1"),
            (b"answer,id,answer\nyes,1,no\n", "two columns are named `answer`\n  --> d.csv:1"),
            (b"id,answer\n1,yes\n2,secret\n", "this record belongs to none"),
            (b"id,answer\n1,Yes\n", "this record belongs to none of the categories\n  --> d.csv:2"),
            (
                b"id,answer\r\n\r\n1,\r\n",
                "this record belongs to none of the categories\n  --> d.csv:3",
            ),
            (
                b"id,answer\n\"\r\n\",yes\n1,\xffsecret\n",
                "this record belongs to none of the categories\n  --> d.csv:4",
            ),
            (
                b"id,answer\r1,yes\r1\r",
                "this record has 1 cell, but the header has 2\n  --> d.csv:3",
            ),
            (b"id,answer\n1,secret,\n", "this record has 3 cells, but the header has 2"),
            (b"id,answer\n\n1,\"secret\nyes\n", "this quote is never closed\n  --> d.csv:3"),
            (
                b"id,answer\n1,\"yes\"secret\n",
                "there is text after the closing quote of a cell\n  --> d.csv:2",
            ),
            (b"id,answer\n1,\"yes\" \"secret\"\n", "there is text after the closing quote"),
            (
                b"id,answer\n1,secret\"yes\"\n",
                "there is a quote within a cell that is not quoted\n  --> d.csv:2",
            ),
            (b"id,answer\n1,yes\n2,s\0ecret\n", "this is not text in UTF-8\n  --> d.csv:3"),
            (b"\xff\xfei\0d\0,\0a\0", "this is not text in UTF-8\n  --> d.csv:1"),
            (b"answer\nyes\n\nno\n", "this line is empty\n  --> d.csv:3"),
            (
                b"answer\nyes\n\"\"\n",
                "this record belongs to none of the categories\n  --> d.csv:3",
            ),
        ];
        for (text, expected) in cases {
            let error = yes_no(text).unwrap_err();
            assert!(error.starts_with(expected), "{error}");
            assert!(error.contains("help: ") && !error.contains("secret"), "{error}");
        }
        let error = yes_no(b"id,anwser\n1,yes\n").unwrap_err();
        let is_hidden = error.contains("column 2 has a similar name") && !error.contains("anwser");
        assert!(is_hidden, "{error}");
    }

    #[test]
    fn a_message_tells_nothing_of_a_private_number_of_records() {
        let columns = table("answer", &["no", "yes"], None);
        let said = |records: usize, bad: &str, private_n: bool| {
            let text = format!("id,answer\n{}{bad}", "1,yes\n".repeat(records));
            let rows = Rows::new(text.as_bytes(), "d.csv", b',', private_n);
            rows.and_then(|rows| count_rows(rows, &columns)).err().unwrap().to_string()
        };
        for bad in ["2,maybe\n", "2\n", "2,\"yes\"x\n", "2,y\"es\"\n", "2,\"yes", "2,\0\n"] {
            assert_eq!(said(3, bad, true), said(12, bad, true));
            assert_ne!(said(3, bad, false), said(12, bad, false));
        }
    }

    #[test]
    fn other_takes_what_is_left() {
        let table = table("kind", &["a", "b", "rest"], Some(2));
        let long = format!("id,kind\n1,a\n2,\n3,\"x\ny\"\n4,rest\n5,{}\n6,b\n", "b".repeat(5000));
        assert_eq!(tally(long.as_bytes(), &table), Ok(vec![1, 1, 4]));
    }

    #[test]
    fn a_category_may_be_long_empty_or_odd() {
        let long = "x".repeat(3000);
        let table = table("kind", &[&long, "", "a,b", "ü"], None);
        let text = format!("kind,z\n{long},1\n,1\n\"a,b\",1\nü,1\n\"\",1\n");
        assert_eq!(tally(text.as_bytes(), &table), Ok(vec![1, 2, 1, 1]));
        let name = Table::new(vec![attribute("ｎame", &["a", "b"], None)]);
        assert_eq!(tally("ｎame,z\na,1\nb,1\n".as_bytes(), &name), Ok(vec![1, 1]));
    }
}
