//! Tables that fit a terminal.

use super::wrap::{break_line, longest_piece, longest_word, visible};

/// Between two columns, and before the first.
const GAP: &str = "  ";

/// Rows of cells; the first `left` columns are aligned left, the others right.
///
/// A table that is too wide breaks its widest cells between words; numbers stay whole. If that is not
/// enough, the columns that are aligned right are shown in several blocks below each other, each with
/// the columns that are aligned left.
pub struct Grid {
    pub(super) left: usize,
    pub(super) rows: Vec<Vec<String>>,
}

impl Grid {
    /// An empty table.
    pub fn new(left: usize) -> Self {
        Self { left, rows: Vec::new() }
    }

    /// Appends a row.
    pub fn row<S: Into<String>>(&mut self, cells: impl IntoIterator<Item = S>) {
        self.rows.push(cells.into_iter().map(Into::into).collect());
    }

    /// The table as it is printed on standard output, two spaces between its columns and before each
    /// line.
    pub fn render(&self) -> String {
        self.render_within(super::width())
    }

    /// The same in lines of at most `width` characters.
    pub fn render_within(&self, width: usize) -> String {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let blocks = self.blocks(columns, width);
        let rendered: Vec<String> =
            blocks.iter().map(|columns| self.block(columns, width)).collect();
        rendered.join("\n")
    }

    /// The width of the table if nothing is broken.
    pub fn natural_width(&self) -> usize {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        (0..columns).map(|column| GAP.len() + self.natural(column)).sum()
    }

    fn natural(&self, column: usize) -> usize {
        self.cells(column).map(visible).max().unwrap_or(0)
    }

    /// The columns of every block.
    fn blocks(&self, columns: usize, width: usize) -> Vec<Vec<usize>> {
        let left = self.left.min(columns);
        let least = |column: usize| GAP.len() + self.least(column, longest_word);
        if (0..columns).map(least).sum::<usize>() <= width || left == columns {
            return vec![(0..columns).collect()];
        }
        // Names that are repeated in every block are not broken, unless they leave little room.
        let whole: usize = (0..left).map(|column| GAP.len() + self.natural(column)).sum();
        let names = if whole <= width / 2 { whole } else { (0..left).map(least).sum() };
        let mut blocks = vec![(0..left).collect::<Vec<usize>>()];
        let mut used = names;
        for column in left..columns {
            let alone = blocks.last().is_some_and(|block| block.len() == left);
            if used + least(column) > width && !alone {
                blocks.push((0..left).collect());
                used = names;
            }
            used += least(column);
            blocks.last_mut().expect("there is a first block").push(column);
        }
        blocks
    }

    pub(super) fn cells(&self, column: usize) -> impl Iterator<Item = &str> {
        self.rows.iter().filter_map(move |row| row.get(column)).map(String::as_str)
    }

    /// Whether a cell is never broken: it is a number, or belongs to one.
    fn is_whole(&self, column: usize, cell: &str) -> bool {
        column >= self.left && cell.contains(|c: char| c.is_ascii_digit())
    }

    /// The least width of a column whose texts are broken into pieces of this length.
    fn least(&self, column: usize, longest: fn(&str) -> usize) -> usize {
        let least = |cell: &str| match self.is_whole(column, cell) {
            true => visible(cell),
            false => longest(cell),
        };
        self.cells(column).map(least).max().unwrap_or(0)
    }

    /// The widths of columns that together fit, if they can.
    fn widths(&self, columns: &[usize], width: usize) -> Vec<usize> {
        let mut widths: Vec<usize> = columns.iter().map(|&column| self.natural(column)).collect();
        let gaps = GAP.len() * columns.len();
        // Formulas are broken only where breaking between them is not enough.
        for longest in [longest_piece, longest_word] {
            let least: Vec<usize> = columns.iter().map(|&c| self.least(c, longest)).collect();
            while gaps + widths.iter().sum::<usize>() > width {
                let wide = (0..widths.len()).filter(|&i| widths[i] > least[i]);
                // Of columns that are equally wide the last one.
                let Some(widest) = wide.max_by_key(|&i| widths[i]) else { break };
                widths[widest] -= 1;
            }
        }
        widths
    }

    fn block(&self, columns: &[usize], width: usize) -> String {
        let widths = self.widths(columns, width);
        let mut text = String::new();
        for row in &self.rows {
            let cells: Vec<Vec<String>> = columns
                .iter()
                .zip(&widths)
                .map(|(&column, &room)| match row.get(column) {
                    Some(cell) if visible(cell) > room && !self.is_whole(column, cell) => {
                        break_line(cell, [room; 2])
                    }
                    Some(cell) => vec![cell.clone()],
                    None => Vec::new(),
                })
                .collect();
            for i in 0..cells.iter().map(Vec::len).max().unwrap_or(0) {
                let mut line = String::new();
                for ((&column, &room), cell) in columns.iter().zip(&widths).zip(&cells) {
                    let cell = cell.get(i).map_or("", String::as_str);
                    let pad = " ".repeat(room.saturating_sub(visible(cell)));
                    let (before, after) =
                        if column < self.left { ("", pad) } else { (&*pad, String::new()) };
                    line += &format!("{GAP}{before}{cell}{after}");
                }
                text += line.trim_end();
                text.push('\n');
            }
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up() {
        let mut grid = Grid::new(1);
        grid.row(["ε", "10", "x"]);
        grid.row(["long", "5"]);
        assert_eq!(grid.render_within(80), "  ε     10  x\n  long   5\n");
    }

    #[test]
    fn text_is_broken_between_words_and_numbers_are_not() {
        let mut grid = Grid::new(2);
        grid.row(["mechanism", "what it draws", "worst error"]);
        grid.row(["ehd", "with weight exp(−ε H / 2)", "0.1234 – 0.5678"]);
        let expected = [
            "  mechanism  what it           worst error",
            "             draws",
            "  ehd        with weight   0.1234 – 0.5678",
            "             exp(−ε H /",
            "             2)",
        ];
        assert_eq!(grid.render_within(42).lines().collect::<Vec<_>>(), expected);
    }

    #[test]
    fn many_columns_become_blocks() {
        let mut grid = Grid::new(1);
        grid.row(["", "a", "b", "c"]);
        grid.row(["n = 100", "0.1111", "0.2222", "0.3333"]);
        let expected = [
            "                a       b",
            "  n = 100  0.1111  0.2222",
            "",
            "                c",
            "  n = 100  0.3333",
        ];
        assert_eq!(grid.render_within(26).lines().collect::<Vec<_>>(), expected);
    }
}
