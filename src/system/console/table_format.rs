//! Tables for papers and other programs.

use super::Grid;
use super::wrap::without_colours;

/// In what form a table is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableFormat {
    Markdown,
    /// A `tabular` with the rules of booktabs.
    Latex,
    Csv,
}

impl TableFormat {
    /// Every form.
    pub const ALL: &[Self] = &[Self::Markdown, Self::Latex, Self::Csv];

    pub fn id(self) -> &'static str {
        match self {
            Self::Markdown => "markdown",
            Self::Latex => "latex",
            Self::Csv => "csv",
        }
    }
}

impl Grid {
    /// The table in this form: the first row is its head, and bars are left out.
    pub fn to_table(&self, format: TableFormat) -> String {
        let columns: Vec<usize> = (0..self.columns()).filter(|&c| !self.is_drawn(c)).collect();
        let cell = |row: &Vec<String>, column: usize| {
            without_colours(row.get(column).map_or("", String::as_str)).trim().to_owned()
        };
        let rows: Vec<Vec<String>> =
            self.rows.iter().map(|row| columns.iter().map(|&c| cell(row, c)).collect()).collect();
        let right: Vec<bool> = columns.iter().map(|&column| column >= self.left).collect();
        match format {
            TableFormat::Markdown => markdown(&rows, &right),
            TableFormat::Latex => latex(&rows, &right),
            TableFormat::Csv => rows.iter().map(|row| joined(row, csv_cell, ",", "\n")).collect(),
        }
    }

    fn columns(&self) -> usize {
        self.rows.iter().map(Vec::len).max().unwrap_or(0)
    }

    /// Whether a column shows numbers of another one as bars.
    fn is_drawn(&self, column: usize) -> bool {
        let is_bar = |cell: &str| cell.chars().all(|c| ('▁'..='▏').contains(&c) || c == ' ');
        self.rows.len() > 1
            && self.cells(column).all(is_bar)
            && self.cells(column).any(|c| !c.trim().is_empty())
    }
}

fn joined(row: &[String], cell: fn(&str) -> String, between: &str, end: &str) -> String {
    row.iter().map(|text| cell(text)).collect::<Vec<_>>().join(between) + end
}

fn csv_cell(text: &str) -> String {
    match text.contains(['"', ',', '\n']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text.to_owned(),
    }
}

fn markdown(rows: &[Vec<String>], right: &[bool]) -> String {
    let cell: fn(&str) -> String = |text| text.replace('|', "\\|");
    let mut text = String::new();
    for (place, row) in rows.iter().enumerate() {
        text += &format!("| {}", joined(row, cell, " | ", " |\n"));
        if place == 0 {
            let rule = |&right: &bool| if right { " ---: |" } else { " --- |" };
            text += &format!("|{}\n", right.iter().map(rule).collect::<String>());
        }
    }
    text
}

fn latex(rows: &[Vec<String>], right: &[bool]) -> String {
    let sides: String = right.iter().map(|&right| if right { 'r' } else { 'l' }).collect();
    let mut text = format!("\\begin{{tabular}}{{{sides}}}\n\\toprule\n");
    for (place, row) in rows.iter().enumerate() {
        text += &joined(row, latex_cell, " & ", " \\\\\n");
        text += if place == 0 { "\\midrule\n" } else { "" };
    }
    text + "\\bottomrule\n\\end{tabular}\n"
}

fn latex_cell(text: &str) -> String {
    let letter = |c: char| match c {
        '&' | '%' | '$' | '#' | '_' | '{' | '}' => format!("\\{c}"),
        '\\' => "\\textbackslash{}".to_owned(),
        '~' => "\\textasciitilde{}".to_owned(),
        '^' => "\\textasciicircum{}".to_owned(),
        'ε' => "$\\varepsilon$".to_owned(),
        'δ' => "$\\delta$".to_owned(),
        'γ' => "$\\gamma$".to_owned(),
        'β' => "$\\beta$".to_owned(),
        '×' => "$\\times$".to_owned(),
        '±' => "$\\pm$".to_owned(),
        '≤' => "$\\leq$".to_owned(),
        '≥' => "$\\geq$".to_owned(),
        '−' => "$-$".to_owned(),
        '–' => "--".to_owned(),
        '…' => "\\dots{}".to_owned(),
        other => other.to_string(),
    };
    text.chars().map(letter).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_escaped_and_bars_left_out() {
        let mut grid = Grid::new(1);
        grid.row(["a_b", "", "ε, %"]);
        grid.row(["x|y", "██▌", "1.5"]);
        assert_eq!(grid.to_table(TableFormat::Csv), "a_b,\"ε, %\"\nx|y,1.5\n");
        let markdown = "| a_b | ε, % |\n| --- | ---: |\n| x\\|y | 1.5 |\n";
        assert_eq!(grid.to_table(TableFormat::Markdown), markdown);
        let latex = grid.to_table(TableFormat::Latex);
        assert!(
            latex.contains("{lr}\n\\toprule\na\\_b & $\\varepsilon$, \\% \\\\\n\\midrule"),
            "{latex}"
        );
    }
}
