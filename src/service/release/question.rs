//! What is asked of released counts. It changes nothing that was released, and costs no privacy.

use super::request::Request;
use super::table::MarginRow;

/// With at most this many groups every pair is compared; with more, each one with the first. The later one comes
/// first, since the first one is often the control.
const ALL_PAIRS: usize = 6;

#[derive(Clone, Debug)]
pub struct Question {
    /// The probability of intervals.
    pub level: f64,
    /// The categories of the outcome whose shares are compared between groups.
    pub compared: Vec<usize>,
    /// The columns within whose categories groups are compared.
    pub within: Vec<usize>,
    /// Whether the categories of all other columns count equally in a comparison. Otherwise they count by their
    /// sizes.
    pub equal_weights: bool,
    /// Whether intervals are asked for that hold for all cells at once.
    pub joint: bool,
}

impl Default for Question {
    /// The shares with their intervals at 95 %, and nothing else.
    fn default() -> Self {
        Self {
            level: 0.95,
            compared: Vec::new(),
            within: Vec::new(),
            equal_weights: false,
            joint: false,
        }
    }
}

/// Two groups that are compared: their names and cells.
pub struct Contrast {
    pub names: [String; 2],
    pub cells: [Vec<usize>; 2],
}

impl Question {
    /// The level in per cent, in words.
    pub fn percent(&self) -> String {
        // 100 · 0.07 is 7.000000000000001 in doubles.
        format!("{} %", (1e12 * self.level).round() / 1e10)
    }

    /// The columns over whose combinations a compared share is a mean, in which each has the same weight.
    pub fn averaged(&self, request: &Request) -> Vec<String> {
        let by = request.table.by().iter().enumerate().skip(1);
        by.filter(|(column, _)| self.equal_weights && !self.within.contains(column))
            .map(|(_, column)| column.name.clone())
            .collect()
    }

    /// The groups that are compared: those of the first column over all others, or within the categories of some of
    /// them. Groups of fixed sizes are compared as they are: nothing is known of their shares among all people.
    pub fn contrasts(&self, request: &Request) -> Vec<Contrast> {
        let table = &request.table;
        let by: Vec<usize> = (0..table.by().len()).collect();
        let kept = match request.fixed {
            Some(_) => by,
            None => by
                .into_iter()
                .filter(|column| *column == 0 || self.within.contains(column))
                .collect(),
        };
        let margin = table.margin(kept);
        let is_same = |a: &MarginRow, b: &MarginRow| {
            request.fixed.is_some() || a.categories[1..] == b.categories[1..]
        };
        let mut contrasts = Vec::new();
        let firsts = match request.fixed {
            Some(_) => margin.rows.len(),
            None => table.attributes()[0].categories.len(),
        };
        for (first, row) in margin.rows.iter().enumerate() {
            // Those that agree in all columns but the first one.
            let before = margin.rows[..first].iter().filter(|other| is_same(row, other));
            let most = if firsts <= ALL_PAIRS { usize::MAX } else { 1 };
            for other in before.take(most) {
                let name = |row: &MarginRow| table.margin_name(&margin, row);
                contrasts.push(Contrast {
                    names: [name(row), name(other)],
                    cells: [row.cells.clone(), other.cells.clone()],
                });
            }
        }
        contrasts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_percentages_as_they_were_typed() {
        for (level, words) in [(0.07, "7 %"), (0.95, "95 %"), (0.999, "99.9 %"), (0.29, "29 %")] {
            assert_eq!(Question { level, ..Question::default() }.percent(), words);
        }
    }
}
