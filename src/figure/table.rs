//! Tables of numbers, for what would be flat lines.

use plotters::style::text_anchor::HPos;

use super::backend::Recording;
use super::page::{Header, Page};
use super::theme::{EDGE, INK, SPINE, TEXT, Theme};
use super::{FigureError, Head};

/// A table: numbers in rows and columns.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TableFigure {
    /// The heads of the columns; the first column holds the names of the rows.
    pub columns: Vec<String>,
    /// The rows, each as long as `columns`.
    pub rows: Vec<Vec<String>>,
}

/// Between two columns.
const APART: f64 = 14.0;
const ROW: f64 = 20.0;

impl TableFigure {
    pub(super) fn draw(&self, head: &Head, theme: Theme) -> Result<Recording, FigureError> {
        let room = theme.page_width() - 2.0 * EDGE;
        let header = Header::new(theme, &head.title, &head.note, EDGE);
        let all: Vec<&Vec<String>> = std::iter::once(&self.columns).chain(&self.rows).collect();
        let natural: Vec<f64> = (0..self.columns.len())
            .map(|column| {
                let cells = all.iter().filter_map(|row| Some(row.get(column)?.as_str()));
                theme.tick.widest(cells) + APART
            })
            .collect();
        let part = (room / natural.iter().sum::<f64>().max(1.0)).min(1.6);
        let widths: Vec<f64> = natural.iter().map(|width| width * part).collect();
        let (left, right) = (EDGE, EDGE + widths.iter().sum::<f64>());
        let top = header.height();
        let foot = top + all.len() as f64 * ROW + 4.0;
        let page = Page::new(theme, foot + EDGE);
        header.draw(&page)?;
        // The rules of a printed table: above, under the heads, below.
        for (y, width) in [(top, 1.2), (top + ROW + 2.0, SPINE), (foot, 1.2)] {
            page.line(&[(left, y), (right, y)], INK, width)?;
        }
        for (number, row) in (0..).zip(&all) {
            let gap = if number > 0 { 3.0 } else { 1.0 };
            let baseline = top + gap + f64::from(number) * ROW + 0.7 * ROW;
            let mut end = left;
            for (column, (cell, width)) in row.iter().zip(&widths).enumerate() {
                end += width;
                let text = theme.tick.shorten(cell, width - 4.0);
                let (x, anchor) = if column == 0 {
                    (end - width + 2.0, HPos::Left)
                } else {
                    (end - 2.0, HPos::Right)
                };
                page.text(&text, page.style(theme.tick, TEXT, anchor), (x, baseline))?;
            }
        }
        Ok(page.finish())
    }
}
