//! Counting the records of a file, without keeping them in memory.
//!
//! The file is read once, in pieces, so that memory does not depend on its size. Messages name lines,
//! never contents: they end up in logs, and logs in mails.
//!
//! The data files of configs are read by [`lab::experiment::data_file`] with the `csv` crate. It keeps
//! whole records, accepts text after a closing quote and a quote that is never closed, and skips empty
//! lines. This reader keeps one cell, refuses what is malformed, and never skips a record.

use std::collections::HashMap;
use std::io::{self, Read};
use std::path::Path;

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

/// A cell of the file is kept up to this length, or that of the longest category.
const LONGEST_CELL: usize = 1024;

/// Bytes read at a time.
const PIECE: usize = 1 << 16;

/// Counts the records of a file in every cell of a table. `delimiter` is the byte between two cells. A file without
/// records is refused only if the number of records is public.
pub fn count(
    path: &Path,
    table: &Table,
    delimiter: u8,
    private_n: bool,
) -> Result<Tally, Diagnostic> {
    let name = path.display().to_string();
    let mut counter = Counter::new(&[table], delimiter, &name);
    let hash = read(path, &mut counter)?;
    counter.finish()?;
    if !private_n {
        counter.refuse_none()?;
    }
    Ok(Tally { counts: counter.counts.concat(), hash })
}

/// The number of records of a file, whatever they hold.
pub fn count_records(path: &Path, delimiter: u8) -> Result<u64, Diagnostic> {
    let name = path.display().to_string();
    let mut counter = Counter::new(&[], delimiter, &name);
    read(path, &mut counter)?;
    counter.finish()?;
    counter.refuse_none()?;
    Ok(counter.records)
}

/// Feeds a file to a counter, and returns the SHA-256 of the file.
fn read(path: &Path, counter: &mut Counter) -> Result<String, Diagnostic> {
    let unreadable = |error: io::Error| {
        Diagnostic::new(format!("cannot read the data {}: {error}", path.display()))
            .help("the data are a CSV file whose first row names the columns")
    };
    let mut file = open_named(path).map_err(unreadable)?;
    let mut hash = Sha256::new();
    let mut piece = vec![0; PIECE];
    loop {
        let length = match file.read(&mut piece) {
            Ok(0) => return Ok(hexadecimal(&hash.finalize())),
            Ok(length) => length,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(unreadable(error)),
        };
        hash.update(&piece[..length]);
        counter.feed(&piece[..length])?;
    }
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

/// Where the reader stands within a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Before its first character that is not blank.
    Before,
    /// In a cell without quotes.
    Plain,
    /// Between quotes.
    Quoted,
    /// After a quote that may be the closing one, or the first of two.
    AfterQuote,
}

/// Reads CSV byte by byte. Cells in quotes may hold delimiters, line ends and doubled quotes. Blanks
/// around a cell do not belong to it. Lines end with LF, CRLF or CR. Empty lines are skipped, and so are
/// lines at the top that begin with #. But if there is only one column, an empty line below the header
/// is a record with an empty cell: skipping it would reveal the number of such records, because n is
/// public.
struct Counter<'a> {
    /// The columns of all tables, one table after the other.
    columns: Vec<Column<'a>>,
    /// How many columns each table has.
    widths: Vec<usize>,
    delimiter: u8,
    file: &'a str,
    longest: usize,
    counts: Vec<Counts>,
    records: u64,
    /// The number of cells of a record, and whether each one is kept, once the header has been read.
    header: Option<Vec<bool>>,
    state: State,
    /// The start of the present cell, at most `longest` bytes.
    cell: Vec<u8>,
    /// Whether the cell is longer than that.
    cut: bool,
    /// The cell's number, from 0.
    place: usize,
    /// Whether the record has begun: the line is not empty.
    begun: bool,
    /// Whether the line is a comment at the top.
    comment: bool,
    line: usize,
    /// The line in which the record began.
    first_line: usize,
    /// The line in which the last quote was opened.
    quote_line: usize,
    after_return: bool,
    /// How many bytes of a byte order mark have been read.
    mark: usize,
}

/// A column of a table, as it is found in the file.
struct Column<'a> {
    attribute: &'a Attribute,
    /// The place of each category.
    categories: HashMap<&'a [u8], usize>,
    place: Option<usize>,
    /// Whether another header cell has the same name.
    twice: bool,
    /// The number, from 1, of a header cell that resembles its name.
    similar: Option<usize>,
    /// The category of the present record.
    found: Option<usize>,
}

impl<'a> Column<'a> {
    fn new(attribute: &'a Attribute) -> Self {
        let categories = attribute.categories.iter().enumerate();
        Self {
            attribute,
            categories: categories.map(|(place, name)| (name.as_bytes(), place)).collect(),
            place: None,
            twice: false,
            similar: None,
            found: None,
        }
    }

    /// Compares the column with a header cell.
    fn meet(&mut self, name: &[u8], place: usize) {
        let wanted = &self.attribute.name;
        if name == wanted.as_bytes() {
            self.twice |= self.place.replace(place).is_some();
        } else if let Ok(name) = std::str::from_utf8(name)
            && nearest(wanted, &[name]).is_some()
        {
            self.similar = Some(place + 1);
        }
    }

    /// The category of a cell; `None` for a cell that is too long to be one.
    fn category(&self, cell: Option<&[u8]>) -> Option<usize> {
        let listed = cell.and_then(|cell| self.categories.get(cell)).copied();
        listed.or(self.attribute.other)
    }
}

const MARK: &[u8] = b"\xef\xbb\xbf";

fn is_line_end(byte: u8) -> bool {
    byte == b'\n' || byte == b'\r'
}

fn is_blank(byte: u8) -> bool {
    byte == b' ' || byte == b'\t'
}

impl<'a> Counter<'a> {
    fn new(tables: &[&'a Table], delimiter: u8, file: &'a str) -> Self {
        let columns = tables.iter().flat_map(|table| table.attributes());
        let names = columns.clone().flat_map(|one| one.categories.iter().chain([&one.name]));
        Self {
            longest: names.map(String::len).max().unwrap_or(0).max(LONGEST_CELL),
            columns: columns.map(Column::new).collect(),
            widths: tables.iter().map(|table| table.attributes().len()).collect(),
            delimiter,
            file,
            counts: tables.iter().map(|table| vec![0; table.cells()]).collect(),
            records: 0,
            header: None,
            state: State::Before,
            cell: Vec::new(),
            cut: false,
            place: 0,
            begun: false,
            comment: false,
            line: 1,
            first_line: 1,
            quote_line: 1,
            after_return: false,
            mark: 0,
        }
    }

    fn at(&self, line: usize, cause: impl Into<String>) -> Diagnostic {
        Diagnostic::new(cause).at(Place::line(self.file, line))
    }

    fn feed(&mut self, mut piece: &[u8]) -> Result<(), Diagnostic> {
        while let Some((&byte, rest)) = piece.split_first() {
            self.step(byte)?;
            piece = &rest[self.skippable(rest)..];
        }
        Ok(())
    }

    /// How many of the next bytes can be skipped: those within a cell that is not kept.
    fn skippable(&self, next: &[u8]) -> usize {
        let end = match self.state {
            _ if (self.is_kept() && !self.cut) || self.comment || self.after_return => return 0,
            State::Plain => self.delimiter,
            State::Quoted => b'"',
            State::Before | State::AfterQuote => return 0,
        };
        let matters = |&byte: &u8| byte == end || is_line_end(byte) || byte == 0;
        next.iter().position(matters).unwrap_or(next.len())
    }

    /// Whether the present cell is looked at: it belongs to a column of a table, or to the header.
    fn is_kept(&self) -> bool {
        let kept = |kept: &Vec<bool>| kept.get(self.place).copied().unwrap_or(false);
        self.header.as_ref().is_none_or(kept)
    }

    fn step(&mut self, byte: u8) -> Result<(), Diagnostic> {
        if self.mark < MARK.len() {
            if byte == MARK[self.mark] {
                self.mark += 1;
                return Ok(());
            }
            // It was not a byte order mark: these bytes belong to the first cell.
            let met = std::mem::replace(&mut self.mark, MARK.len());
            MARK[..met].iter().try_for_each(|&byte| self.step(byte))?;
        }
        if byte == 0 || (self.header.is_none() && byte >= 0xfe) {
            let error = self.at(self.line, "this is not text in UTF-8");
            return Err(
                error.help("save the file as CSV in UTF-8 (it may be UTF-16, or not a table)")
            );
        }
        let returned = std::mem::replace(&mut self.after_return, byte == b'\r');
        if returned && byte == b'\n' {
            // The second half of one line end.
            if self.state == State::Quoted {
                self.keep(byte);
            }
            return Ok(());
        }
        if !self.comment {
            return self.step_in_record(byte);
        }
        if is_line_end(byte) {
            self.comment = false;
            self.next_line();
        }
        Ok(())
    }

    /// A byte of the header or of a record.
    fn step_in_record(&mut self, byte: u8) -> Result<(), Diagnostic> {
        let ends_line = is_line_end(byte);
        match self.state {
            State::Quoted if byte == b'"' => self.state = State::AfterQuote,
            State::Quoted => {
                self.keep(byte);
                self.line += usize::from(ends_line);
            }
            State::AfterQuote if byte == b'"' => {
                self.keep(byte);
                self.state = State::Quoted;
            }
            _ if ends_line => {
                self.begun |= self.header.as_ref().is_some_and(|kept| kept.len() == 1);
                self.end_record()?;
                self.next_line();
            }
            _ if byte == self.delimiter => {
                self.begun = true;
                self.end_cell();
            }
            State::Before | State::AfterQuote if is_blank(byte) => {}
            State::Before if byte == b'"' => {
                (self.state, self.begun, self.quote_line) = (State::Quoted, true, self.line);
            }
            State::Before if byte == b'#' && self.header.is_none() && !self.begun => {
                self.comment = true;
            }
            State::Before | State::Plain => {
                (self.state, self.begun) = (State::Plain, true);
                self.keep(byte);
            }
            State::AfterQuote => {
                let error = self.at(self.line, "there is text after the closing quote of a cell");
                return Err(error.help("write a quote within quotes twice"));
            }
        }
        Ok(())
    }

    /// Keeps a byte of a cell that is looked at.
    fn keep(&mut self, byte: u8) {
        match self.is_kept() {
            false => {}
            true if self.cell.len() < self.longest => self.cell.push(byte),
            true => self.cut = true,
        }
    }

    fn next_line(&mut self) {
        self.line += 1;
        self.first_line = self.line;
    }

    fn end_cell(&mut self) {
        // Blanks between quotes are kept.
        if self.state == State::Plain && !self.cut {
            let end = self.cell.iter().rposition(|&byte| !is_blank(byte)).map_or(0, |i| i + 1);
            self.cell.truncate(end);
        }
        let cell = (!self.cut).then_some(self.cell.as_slice());
        match (&self.header, cell) {
            (None, Some(name)) => {
                self.columns.iter_mut().for_each(|column| column.meet(name, self.place));
            }
            (None, None) => {}
            (Some(_), cell) => {
                let here = |column: &&mut Column| column.place == Some(self.place);
                let columns = self.columns.iter_mut().filter(here);
                columns.for_each(|column| column.found = column.category(cell));
            }
        }
        self.place += 1;
        self.cell.clear();
        (self.state, self.cut) = (State::Before, false);
    }

    fn end_record(&mut self) -> Result<(), Diagnostic> {
        if !self.begun {
            return Ok(());
        }
        self.end_cell();
        let cells = std::mem::take(&mut self.place);
        self.begun = false;
        let Some(kept) = &self.header else { return self.end_header(cells) };
        let width = kept.len();
        if cells != width {
            let word = if cells == 1 { "cell" } else { "cells" };
            let cause = format!("this record has {cells} {word}, but the header has {width}");
            return Err(self.at(self.first_line, cause).help(
                "give every record the same number of cells; quote a cell that holds a comma",
            ));
        }
        self.count_record()?;
        self.records += 1;
        match self.records > MOST_RECORDS {
            true => Err(self.at(self.first_line, "these are more records than dpbi can count")),
            false => Ok(()),
        }
    }

    /// Counts the present record in every table.
    fn count_record(&mut self) -> Result<(), Diagnostic> {
        let mut first = 0;
        for (counts, width) in self.counts.iter_mut().zip(&self.widths) {
            let mut cell = 0;
            for column in &mut self.columns[first..first + width] {
                let Some(category) = column.found.take() else {
                    let cause = match width {
                        1 => "this record belongs to none of the categories".to_owned(),
                        _ => format!(
                            "this record belongs to none of the categories of `{}`",
                            column.attribute.name
                        ),
                    };
                    return Err(Diagnostic::new(cause)
                        .at(Place::line(self.file, self.first_line))
                        .help(
                            "a value must equal a category, except for blanks around it; --other \
                             CATEGORY takes all other values",
                        ));
                };
                cell = cell * column.attribute.categories.len() + category;
            }
            counts[cell] += 1;
            first += width;
        }
        Ok(())
    }

    fn end_header(&mut self, cells: usize) -> Result<(), Diagnostic> {
        let mut kept = vec![false; cells];
        for column in &self.columns {
            let wanted = &column.attribute.name;
            match column.place {
                Some(_) if column.twice => {
                    let cause = format!("two columns are named `{wanted}`");
                    return Err(self.at(self.first_line, cause).help("rename one of them"));
                }
                Some(place) => kept[place] = true,
                None => {
                    let hint = match column.similar {
                        // The name is not shown: in a file without a header it would be a value.
                        Some(number) => format!("column {number} has a similar name; "),
                        None => String::new(),
                    };
                    let words = match cells {
                        1 => "one column".to_owned(),
                        _ => format!("{cells} columns"),
                    };
                    let cause = format!("the file has no column `{wanted}`");
                    return Err(self.at(self.first_line, cause).help(format!(
                        "{hint}the first row names the columns, and has {words} (--delimiter tells \
                         what separates them)"
                    )));
                }
            }
        }
        self.header = Some(kept);
        Ok(())
    }

    /// Ends the last record, when all of the file has been read.
    fn finish(&mut self) -> Result<(), Diagnostic> {
        if self.state == State::Quoted {
            let error = self.at(self.quote_line, "this quote is never closed");
            return Err(error.help("write a quote within quotes twice"));
        }
        self.end_record()?;
        if self.header.is_none() {
            let error = Diagnostic::new(format!("the data file {} is empty", self.file));
            return Err(error.help("the first row must name the columns"));
        }
        Ok(())
    }

    fn refuse_none(&self) -> Result<(), Diagnostic> {
        if self.records == 0 {
            let error = Diagnostic::new(format!("the data file {} has no records", self.file));
            return Err(error.help("there is nothing to release"));
        }
        Ok(())
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

    /// Counts of several tables, fed in pieces of one byte and as a whole.
    fn tallies(text: &[u8], tables: &[&Table]) -> Result<Vec<Counts>, String> {
        let fed = |size: usize| {
            let mut counter = Counter::new(tables, b',', "d.csv");
            let fed = text.chunks(size).try_for_each(|piece| counter.feed(piece));
            let fed = fed.and_then(|()| counter.finish()).and_then(|()| counter.refuse_none());
            fed.map(|()| counter.counts).map_err(|error| error.to_string())
        };
        let whole = fed(text.len().max(1));
        assert_eq!(fed(1), whole);
        whole
    }

    fn tally(text: &[u8], table: &Table) -> Result<Counts, String> {
        tallies(text, &[table]).map(|mut counts| counts.remove(0))
    }

    #[test]
    fn several_columns_and_tables_are_counted_at_once() {
        let (arm, outcome) =
            (attribute("arm", &["a", "b"], None), attribute("outcome", &["no", "yes"], Some(0)));
        let crossed = Table::new(vec![arm.clone(), outcome.clone()]);
        let turned = Table::new(vec![outcome, arm.clone()]);
        let text = b"outcome,id,arm\nyes,1,b\nno,2,b\n?,3,b\nyes,4,a\n";
        let found = tallies(text, &[&crossed, &turned, &Table::new(vec![arm])]).unwrap();
        assert_eq!(found, [vec![0, 1, 2, 1], vec![0, 2, 1, 1], vec![1, 3]]);
        let wrong = tally(b"outcome,arm\nyes,secret\n", &crossed).unwrap_err();
        assert!(
            wrong.starts_with(
                "this record belongs to none of the categories of `arm`\n  --> d.csv:2"
            )
        );
        assert!(!wrong.contains("secret"));
        assert!(tally(b"outcome,rm\nyes,b\n", &crossed).unwrap_err().contains("no column `arm`"));
    }

    fn yes_no(text: &[u8]) -> Result<Counts, String> {
        tally(text, &table("answer", &["no", "yes"], None))
    }

    #[test]
    fn every_way_to_write_a_table() {
        let texts: [&[u8]; 12] = [
            b"id,answer\n1,yes\n2,no\n3,yes\n",
            b"id,answer\r\n1,yes\r\n2,no\r\n3,yes",
            b"id,answer\r1,yes\r2,no\r3,yes\r",
            b"\xef\xbb\xbfid,answer\n1,yes\n2,no\n3,yes\n",
            b"# a comment, with \"quotes\n#\nid,answer\n1,yes\n2,no\n3,yes\n",
            b"\n\nid,answer\n\n1,yes\n\n\n2,no\n3,yes\n\n",
            b"id , \"answer\" \n1,\tyes \n2 , no\n3,\"yes\"\n",
            b"\"a\nb\",answer\n\"x\r\ny\",yes\n\"p,q\",no\n\"say \"\"no\"\"\",yes\n",
            b"id,answer\n#1,yes\n#2,no\n#3,yes\n",
            b"answer\nyes\nno\nyes\n",
            b"a,answer,b\n\xff\xfe,yes,\n,no,\n\xc3\x28,yes,\n",
            b"answer,answers\nyes,no\nno,no\nyes,no\n",
        ];
        for text in texts {
            assert_eq!(yes_no(text), Ok(vec![1, 2]), "{}", String::from_utf8_lossy(text));
        }
    }

    #[test]
    fn what_is_wrong_is_said_without_a_value() {
        let cases: [(&[u8], &str); 14] = [
            (b"", "the data file d.csv is empty"),
            (b"\xef\xbb\xbf", "the data file d.csv is empty"),
            (b"# only\n# comments\n", "the data file d.csv is empty"),
            (b"id,answer\n", "the data file d.csv has no records"),
            (b"id,secret\n1,yes\n", "the file has no column `answer`\n  --> d.csv:1"),
            (b"answer,id,answer\nyes,1,no\n", "two columns are named `answer`\n  --> d.csv:1"),
            (b"id,answer\n1,yes\n2,secret\n", "this record belongs to none"),
            (b"id,answer\n1,Yes\n", "this record belongs to none of the categories\n  --> d.csv:2"),
            (b"id,answer\n1,\n", "this record belongs to none"),
            (b"id,answer\n1,\xffsecret\n", "this record belongs to none"),
            (b"id,answer\n1\n", "this record has 1 cell, but the header has 2\n  --> d.csv:2"),
            (b"id,answer\n\n1,\"secret\nyes\n", "this quote is never closed\n  --> d.csv:3"),
            (b"id,answer\n1,\"yes\"secret\n", "there is text after the closing quote"),
            (b"id,answer\n1,yes\n2,s\0ecret\n", "this is not text in UTF-8"),
        ];
        for (text, expected) in cases {
            let error = yes_no(text).unwrap_err();
            assert!(error.starts_with(expected), "{error}");
            assert!(error.contains("help: ") && !error.contains("secret"), "{error}");
        }
        let wide = b"\xff\xfei\0d\0,\0a\0";
        assert!(yes_no(wide).unwrap_err().starts_with("this is not text in UTF-8"));
        let error = yes_no(b"id,anwser\n1,yes\n").unwrap_err();
        assert!(
            error.contains("column 2 has a similar name") && !error.contains("anwser"),
            "{error}"
        );
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
    }

    #[test]
    fn an_empty_line_of_one_column_is_a_record() {
        let table = table("kind", &["a", "b"], Some(1));
        assert_eq!(tally(b"\n kind\na\n\na\n", &table), Ok(vec![2, 1]));
        assert_eq!(tally(b"kind\r\na\r\n\r\n \r\n", &table), Ok(vec![1, 2]));
        let error = yes_no(b"answer\nyes\n\nno\n").unwrap_err();
        assert!(error.contains("none of the categories\n  --> d.csv:3"), "{error}");
    }

    #[test]
    fn a_name_may_begin_like_a_byte_order_mark() {
        let table = table("ｎame", &["a", "b"], None);
        assert_eq!(tally("ｎame,z\na,1\nb,1\n".as_bytes(), &table), Ok(vec![1, 1]));
    }

    #[test]
    fn memory_does_not_grow_with_a_cell() {
        let table = table("kind", &["a"], Some(0));
        let tables = [&table];
        let mut counter = Counter::new(&tables, b',', "d.csv");
        counter.feed(b"kind,b\n").unwrap();
        (0..1000).for_each(|_| counter.feed(&[b'y'; 4096]).unwrap());
        counter.feed(b",").unwrap();
        (0..1000).for_each(|_| counter.feed(&[b'z'; 4096]).unwrap());
        assert!(counter.cell.capacity() <= 2 * LONGEST_CELL);
        counter.finish().unwrap();
        assert_eq!(counter.counts, [[1]]);
    }
}
