//! The candidates nearer than distance 1.

use crate::numeric::log_affinity::{log_affinity, log_affinity_table};
use crate::numeric::{LN_NEGLIGIBLE, Table};
use crate::posterior::model::Posterior;
use crate::posterior::simplex::Region;

/// The largest d <= most with `near(d)`; `near` changes from true to false once.
pub fn furthest(most: u64, near: impl Fn(u64) -> bool) -> u64 {
    let (mut low, mut high) = (0, most);
    while low < high {
        let middle = low + (high - low).div_ceil(2);
        if near(middle) { low = middle } else { high = middle - 1 }
    }
    low
}

/// The candidates that can be nearer to `posterior` than distance 1, for a distance whose
/// [`plateau`](super::Distance::plateau) is `power`: what exponential mechanisms weigh one by one.
/// A few more candidates may be among them.
pub fn near(posterior: &Posterior, power: f64) -> Region {
    let n = posterior.n();
    let floor = floor(power);
    let table = |(i, &x): (usize, &u64)| -> Table {
        log_affinity_table(posterior.alpha(i), x, (x, x), n, floor).map(|d| power * d)
    };
    let tables = posterior.counts().iter().enumerate().map(table).collect();
    Region::ball(posterior.counts().to_vec(), tables)
}

/// The same candidates for many records, counted in units of several: `Coarse::step` records each.
pub struct Coarse {
    /// The candidates, in units.
    pub region: Region,
    /// How many records a unit has.
    pub step: f64,
    /// How many counts of each category can be near. Less than a unit is counted as one in the region.
    pub widths: Vec<f64>,
}

impl Coarse {
    /// Such that the tables of all categories have about `entries` entries together.
    pub fn new(posterior: &Posterior, power: f64, entries: f64) -> Self {
        let (n, floor) = (posterior.n(), floor(power));
        let log = |i: usize, x: u64, v: u64| log_affinity(posterior.alpha(i), x, v);
        let reach = |(i, &x): (usize, &u64)| {
            let down = furthest(x, |m| log(i, x, x - m) >= floor);
            (down, furthest(n - x, |d| log(i, x, x + d) >= floor))
        };
        let counts = posterior.counts();
        let reaches: Vec<(u64, u64)> = counts.iter().enumerate().map(reach).collect();
        let widths: Vec<f64> = reaches.iter().map(|(down, up)| (down + up) as f64 + 1.0).collect();
        let step = (widths.iter().sum::<f64>() / entries).ceil().max(1.0) as u64;
        let units: Vec<u64> = counts.iter().map(|x| x / step).collect();
        let table = |(i, (&x, (down, up))): (usize, (&u64, &(u64, u64)))| {
            let (below, above) = (down / step, up / step);
            let at = |unit: u64| (x + unit * step) - below * step;
            let values = (0..=below + above).map(|unit| power * log(i, x, at(unit)));
            Table::new(units[i] - below, values.collect())
        };
        let tables = counts.iter().zip(&reaches).enumerate().map(table).collect();
        Self { region: Region::ball(units.clone(), tables), step: step as f64, widths }
    }
}

/// The log affinity at which the table of one category may end. One unit of slack: rounding must not
/// let the table end inside the ball.
pub(super) fn floor(power: f64) -> f64 {
    (LN_NEGLIGIBLE - 1.0) / power
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::posterior::distance::NAMED;
    use crate::posterior::error_field::Reach;
    use crate::posterior::model::Prior;
    use crate::posterior::simplex::measure;

    #[test]
    fn they_are_what_a_field_walks() {
        let prior = Prior::new(vec![0.5, 1.0, 3.0]).unwrap();
        let posterior = Posterior::new(prior, vec![200, 31, 0]);
        for distance in NAMED {
            let Some(power) = distance.plateau(&posterior) else { continue };
            let ball = distance.field(&posterior, &Reach::ball(&posterior)).ball().unwrap();
            let found = measure(&near(&posterior, power), 1e5).outputs;
            assert_eq!(found, ball.blocks().outputs() as f64, "{}", distance.id());
        }
    }
}
