//! Printed means and boxes beside the exact law.

use super::{Accuracy, fence};
use crate::experiment::Panel;
use crate::experiment::reading::{Quantity, Reading};
use engine::mechanism::law::{BenchField, Distribution, ErrorSummary, OutputLaw};
use table::ReadingRow;

/// Compares all readings of one cell with its law.
pub(super) fn compare(
    kind: &Accuracy,
    panel: &Panel,
    readings: Vec<&Reading>,
    law: &dyn OutputLaw,
    field: BenchField,
    exact: &ErrorSummary,
) -> Vec<ReadingRow> {
    let of_mean = |reading: &&Reading| reading.quantity == Quantity::Mean;
    let (means, boxes): (Vec<&Reading>, Vec<&Reading>) = readings.into_iter().partition(of_mean);
    let mut rows = Vec::new();
    if let Some(summary) = &exact.error {
        rows.extend(means.iter().map(|reading| reading.of_mean(&panel.id, summary)));
    }
    if !boxes.is_empty()
        && let Some(distribution) = Distribution::new(law, field)
    {
        let fence = fence(kind.whiskers);
        let row = |(place, reading): (usize, &&Reading)| {
            // A box that is printed twice is read twice: a whisker belongs to the quartiles that
            // were read before it.
            let before = &boxes[..=place];
            let quartiles = (last(before, Quantity::Q1), last(before, Quantity::Q3));
            reading.of_box(&panel.id, &distribution, quartiles, fence)
        };
        rows.extend(boxes.iter().enumerate().map(row));
    }
    rows
}

fn last(readings: &[&Reading], quantity: Quantity) -> f64 {
    readings.iter().rfind(|r| r.quantity == quantity).map_or(f64::NAN, |reading| reading.value)
}
