//! The candidates nearer than distance 1.

use crate::base::numeric::log_affinity::log_affinity_table;
use crate::base::numeric::{LN_NEGLIGIBLE, Table};
use crate::posterior::model::Posterior;
use crate::posterior::simplex::Region;

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
    use crate::posterior::simplex::{COUNTED, count};

    #[test]
    fn they_are_what_a_field_walks() {
        let prior = Prior::new(vec![0.5, 1.0, 3.0]).unwrap();
        let posterior = Posterior::new(prior, vec![200, 31, 0]);
        for distance in NAMED {
            let Some(power) = distance.plateau(&posterior) else { continue };
            let ball = distance.field(&posterior, &Reach::ball(&posterior)).ball().unwrap();
            let found = count(&near(&posterior, power), COUNTED);
            assert_eq!(found, ball.blocks().outputs() as f64, "{}", distance.id());
        }
    }
}
