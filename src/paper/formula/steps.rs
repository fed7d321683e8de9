//! c(t) = H(Beta(α, β), Beta(α + t, β − t)): the distance after t steps (icml §6.1, bounds
//! Theorem 4.5).

use engine::numeric::expm1;
use engine::numeric::log_affinity::log_affinity;
use engine::posterior::error_field::Reach;
use engine::posterior::model::Posterior;
use engine::posterior::setting::SettingWithData;

/// The distance from the setting's posterior to the candidate that has `steps` records more in the
/// first category and as many fewer in the second (the other way round if `steps` is negative).
/// `None` if there are fewer records to move.
///
/// The documents write c(t) for |t| steps in either direction; the two directions agree only for a
/// symmetric posterior.
pub fn distance(setting: &SettingWithData, steps: i64) -> Option<f64> {
    if let Some(ln_affinity) = ln_affinity(setting, steps) {
        return Some(expm1(ln_affinity).abs().sqrt());
    }
    let posterior = setting.posterior();
    let reach = Reach { ball: false, ..Reach::ball(posterior) };
    Some(setting.distance.field(posterior, &reach).at(&moved(posterior, steps)?))
}

/// ln(1 − c²), which distinguishes candidates even if their distances round to 1. `None` also for a
/// distance that is not a function of the Bhattacharyya coefficient.
pub fn ln_affinity(setting: &SettingWithData, steps: i64) -> Option<f64> {
    let posterior = setting.posterior();
    let moved = moved(posterior, steps)?;
    let gap = |i: usize| log_affinity(posterior.alpha(i), posterior.counts()[i], moved[i]);
    Some(setting.distance.power(&setting.prior, setting.n)? * (gap(0) + gap(1)))
}

/// The counts after `steps` steps.
fn moved(posterior: &Posterior, steps: i64) -> Option<[u64; 2]> {
    let [first, second] = *posterior.counts() else { return None };
    Some([first.checked_add_signed(steps)?, second.checked_add_signed(steps.checked_neg()?)?])
}

/// The larger of the distances after `steps` steps in either direction: all candidates of at most
/// `steps` steps lie within it. `None` if one direction has fewer records.
pub fn radius(setting: &SettingWithData, steps: u32) -> Option<f64> {
    let steps = i64::from(steps);
    Some(distance(setting, steps)?.max(distance(setting, -steps)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::claims::Lab;
    use engine::posterior::distance;

    #[test]
    fn the_true_distances_of_table_one() {
        let setting = Lab::new(distance::HELLINGER).setting(&[1.0, 1.0], &[300, 300], 1.0, None);
        let c = |t| super::distance(&setting, t).unwrap();
        // In 40-digit arithmetic at Beta(301, 301); the second is sqrt(1 − sqrt(301/302 · 299/300)).
        assert_eq!(c(0), 0.0);
        assert!((c(1) - 0.028_837_522_457_038_345).abs() < 1e-16 && c(1) == c(-1), "{}", c(1));
        let second = (1.0 - (301.0_f64 / 302.0 * 299.0 / 300.0).sqrt()).sqrt();
        assert!((c(2) / second - 1.0).abs() < 1e-12);
    }

    #[test]
    fn one_step_is_the_local_sensitivity() {
        for &distance in distance::DOCUMENTED {
            let lab = Lab::new(distance);
            for counts in [[5, 5], [1, 30], [0, 7]] {
                let setting = lab.setting(&[1.0, 2.5], &counts, 1.0, None);
                let steps = [1, -1].map(|t| super::distance(&setting, t));
                let largest = steps.into_iter().flatten().fold(0.0, f64::max);
                assert!((largest / setting.sensitivity().local() - 1.0).abs() < 1e-14);
            }
        }
    }

    #[test]
    fn no_more_records_move_than_there_are() {
        let setting = Lab::new(distance::HELLINGER).setting(&[1.0, 1.0], &[3, 5], 1.0, None);
        assert!(super::distance(&setting, -3).is_some() && super::distance(&setting, 5).is_some());
        assert_eq!((super::distance(&setting, -4), super::distance(&setting, 6)), (None, None));
        assert!(radius(&setting, 3).is_some() && radius(&setting, 4).is_none());
    }
}
