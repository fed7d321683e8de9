//! The table that is released: one histogram over all combinations of the categories of its columns.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A column and its declared categories.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Column")]
pub struct Attribute {
    pub name: String,
    /// The values that are counted, one for each category.
    pub categories: Vec<String>,
    /// The category that takes every other value, if any does.
    #[serde(skip)]
    pub other: Option<usize>,
}

/// The columns of a table: those that divide the records into groups, and the outcome, which is the last
/// one. A cell is a combination of categories. Cells are in order of the first column, then of the second,
/// and so on: the cells of a group stand side by side.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    attributes: Vec<Attribute>,
}

/// The cells that have the same categories of some columns.
#[derive(Clone, Debug, PartialEq)]
pub struct MarginRow {
    /// The categories of the margin's columns.
    pub categories: Vec<usize>,
    pub cells: Vec<usize>,
}

/// A table of fewer columns: all others are added up.
#[derive(Clone, Debug, PartialEq)]
pub struct Margin {
    pub columns: Vec<usize>,
    pub rows: Vec<MarginRow>,
}

impl Table {
    /// The table of these columns, the outcome last.
    ///
    /// # Panics
    /// If there is no column.
    pub fn new(attributes: Vec<Attribute>) -> Self {
        assert!(!attributes.is_empty(), "a table has a column");
        Self { attributes }
    }

    pub fn attributes(&self) -> &[Attribute] {
        &self.attributes
    }

    /// The column whose distribution is asked for.
    pub fn outcome(&self) -> &Attribute {
        &self.attributes[self.attributes.len() - 1]
    }

    /// The columns that divide the records into groups.
    pub fn by(&self) -> &[Attribute] {
        &self.attributes[..self.attributes.len() - 1]
    }

    /// The number of cells; the largest `usize` if there are more.
    pub fn cells(&self) -> usize {
        product(&self.attributes)
    }

    /// The number of groups: one if no column divides the records.
    pub fn groups(&self) -> usize {
        product(self.by())
    }

    /// The number of the outcome's categories.
    pub fn outcomes(&self) -> usize {
        self.outcome().categories.len()
    }

    /// The cells of a group, in order of the outcome.
    pub fn group(&self, group: usize) -> std::ops::Range<usize> {
        let outcomes = self.outcomes();
        group * outcomes..(group + 1) * outcomes
    }

    /// The categories of a cell, one of every column.
    pub fn categories(&self, cell: usize) -> Vec<usize> {
        places(&self.attributes, cell)
    }

    /// The name of a cell: its categories.
    pub fn cell_name(&self, cell: usize) -> String {
        names(&self.attributes, &self.categories(cell))
    }

    /// The name of a group: its categories, empty if there is only one group.
    pub fn group_name(&self, group: usize) -> String {
        names(self.by(), &places(self.by(), group))
    }

    /// What the columns are called together: `outcome by arm`.
    pub fn title(&self) -> String {
        let by: Vec<&str> = self.by().iter().map(|column| column.name.as_str()).collect();
        match by.is_empty() {
            true => self.outcome().name.clone(),
            false => format!("{} by {}", self.outcome().name, by.join(", ")),
        }
    }

    /// Every margin: one for every choice of columns but none and all of them, small ones first.
    pub fn margins(&self) -> Vec<Margin> {
        let columns = self.attributes.len();
        let mut choices: Vec<Vec<usize>> = (1..(1_usize << columns) - 1)
            .map(|choice| (0..columns).filter(|column| choice >> column & 1 == 1).collect())
            .collect();
        choices.sort_by_key(Vec::len);
        choices.into_iter().map(|columns| self.margin(columns)).collect()
    }

    /// The table of these columns alone.
    pub fn margin(&self, columns: Vec<usize>) -> Margin {
        let kept: Vec<Attribute> =
            columns.iter().map(|&column| self.attributes[column].clone()).collect();
        let empty = |row| MarginRow { categories: places(&kept, row), cells: Vec::new() };
        let mut rows: Vec<MarginRow> = (0..product(&kept)).map(empty).collect();
        for cell in 0..self.cells() {
            let all = self.categories(cell);
            let place = columns.iter().fold(0, |place, &column| {
                place * self.attributes[column].categories.len() + all[column]
            });
            rows[place].cells.push(cell);
        }
        Margin { columns, rows }
    }

    /// The name of a margin's row: its categories.
    pub fn margin_name(&self, margin: &Margin, row: &MarginRow) -> String {
        let columns: Vec<Attribute> =
            margin.columns.iter().map(|&column| self.attributes[column].clone()).collect();
        names(&columns, &row.categories)
    }
}

fn product(attributes: &[Attribute]) -> usize {
    attributes.iter().fold(1, |cells, column| cells.saturating_mul(column.categories.len()))
}

/// The categories of a combination, given its place among all.
fn places(attributes: &[Attribute], mut place: usize) -> Vec<usize> {
    let mut categories = vec![0; attributes.len()];
    for (category, column) in categories.iter_mut().zip(attributes).rev() {
        let many = column.categories.len();
        (*category, place) = (place % many, place / many);
    }
    categories
}

fn names(attributes: &[Attribute], categories: &[usize]) -> String {
    let chosen = attributes.iter().zip(categories);
    let names = chosen.map(|(column, &category)| column.categories[category].as_str());
    names.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(name: &str, categories: &[&str]) -> Attribute {
        let categories = categories.iter().map(|&one| one.to_owned()).collect();
        Attribute { name: name.to_owned(), categories, other: None }
    }

    #[test]
    fn cells_groups_and_margins() {
        let table = Table::new(vec![
            column("sex", &["f", "m"]),
            column("arm", &["a", "b", "c"]),
            column("outcome", &["no", "yes"]),
        ]);
        assert_eq!((table.cells(), table.groups(), table.outcomes()), (12, 6, 2));
        assert_eq!(table.title(), "outcome by sex, arm");
        assert_eq!(table.cell_name(7), "m, a, yes");
        assert_eq!(table.group(3), 6..8);
        assert_eq!(table.group_name(3), "m, a");
        let margins = table.margins();
        let sizes: Vec<usize> = margins.iter().map(|margin| margin.rows.len()).collect();
        assert_eq!(sizes, [2, 3, 2, 6, 4, 6]);
        assert_eq!(margins[1].rows[2].cells, [4, 5, 10, 11]);
        assert_eq!(table.margin_name(&margins[3], &margins[3].rows[3]), "m, a");
        for margin in margins {
            assert_eq!(margin.rows.iter().map(|row| row.cells.len()).sum::<usize>(), 12);
        }
        let single = Table::new(vec![column("kind", &["a", "b", "c"])]);
        assert_eq!((single.groups(), single.group(0), single.margins().len()), (1, 0..3, 0));
        assert_eq!(single.group_name(0), "");
    }
}
