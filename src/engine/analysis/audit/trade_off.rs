//! How well an observer can tell two adjacent data sets apart: false alarms against misses.
//!
//! An observer knows every record but one, sees the output, and must decide between the data sets x'
//! (the ordinary one, the null hypothesis) and x (the one to be detected, the alternative). By the lemma of Neyman and Pearson the best
//! tests raise the alarm at the outputs with the largest ratios P_x / P_x'. So the outputs in
//! descending order of their ratios give the whole curve.

use super::Audit;
use super::pairs::Scope;
use crate::mechanism::law::Law;
use crate::mechanism::law::pair::{Class, Pair};
use crate::numeric::Sum;
use crate::posterior::model::Counts;
use crate::posterior::setting::Setting;
use crate::refusal::Refusal;

/// The smallest probability of a miss for every probability of a false alarm: a convex, piecewise
/// linear curve.
#[derive(Clone, Debug, PartialEq)]
pub struct TradeOff {
    /// The data set to be detected, the alternative: a miss takes it for the other one.
    pub from: Counts,
    /// The ordinary one, the null hypothesis: a false alarm takes it for the other one.
    pub to: Counts,
    /// Its corners: false alarms (growing from 0 to 1) and misses (falling from 1 to 0).
    pub corners: Vec<(f64, f64)>,
}

impl TradeOff {
    /// The smallest probability of a miss at a probability of a false alarm in [0, 1].
    pub fn misses(&self, false_alarms: f64) -> f64 {
        let after = self.corners.partition_point(|corner| corner.0 < false_alarms);
        let b = self.corners[after];
        match after.checked_sub(1).map(|before| self.corners[before]) {
            Some(a) => a.1 + (b.1 - a.1) * (false_alarms - a.0) / (b.0 - a.0),
            None => b.1,
        }
    }
}

/// The trade-off between two adjacent data sets, `to` being the null hypothesis.
///
/// # Panics
/// If the data sets are not adjacent.
pub fn trade_off(
    law: &dyn Law,
    setting: &Setting,
    from: &[u64],
    to: &[u64],
) -> Result<TradeOff, Refusal> {
    let pair = Pair::between(from, to).expect("adjacent data sets");
    let audit = Audit::new(law, setting, &Scope::Pair(from.to_vec(), to.to_vec()))?;
    let classes = audit.compared(&pair, |comparison| comparison.classes())?;
    Ok(TradeOff { from: from.to_vec(), to: to.to_vec(), corners: corners(classes) })
}

fn corners(mut classes: Vec<Class>) -> Vec<(f64, f64)> {
    classes.sort_by(|a, b| b.ratio.total_cmp(&a.ratio));
    // Misses are summed from the other end, so that small ones keep their digits.
    let mut missed = Sum::default();
    let mut misses: Vec<f64> = (classes.iter().rev())
        .map(|class| {
            missed.add(class.masses[0]);
            missed.value().min(1.0)
        })
        .collect();
    misses.reverse();
    misses.push(0.0);
    let mut alarms = Sum::default();
    let mut corners = vec![(0.0, misses[0])];
    for (i, class) in classes.iter().enumerate() {
        alarms.add(class.masses[1]);
        corners.push((alarms.value().min(1.0), misses[i + 1]));
    }
    if let Some(last) = corners.last_mut() {
        last.0 = 1.0;
    }
    corners
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::audit;
    use crate::mechanism::law::OutputSet;
    use crate::mechanism::{self, Mechanism};
    use crate::posterior::model::Prior;
    use crate::posterior::privacy::Epsilon;

    fn of_size(n: u64, epsilon: f64) -> Setting {
        let prior = Prior::new(vec![1.0, 1.0]).unwrap();
        Setting::new(prior, n, Epsilon::new(epsilon).unwrap())
    }

    /// The largest probability of detection minus that of a false alarm: the total variation distance of the two laws.
    fn advantage(curve: &TradeOff) -> f64 {
        curve.corners.iter().map(|(alarm, miss)| 1.0 - miss - alarm).fold(0.0, f64::max)
    }

    #[test]
    fn the_second_data_set_is_the_null_hypothesis() {
        // One record, ⌊x + Lap(1)⌋ clamped: of 0 comes 1 with probability ½/e, of 1 comes 0 with ½.
        let setting = of_size(1, 1.0);
        let lshist = Mechanism::parse("lshist").unwrap().law(&setting).unwrap();
        let corner = |from: [u64; 2], to: [u64; 2]| {
            trade_off(lshist.as_ref(), &setting, &from, &to).unwrap().corners[1]
        };
        let rare = 0.5 * libm::exp(-1.0);
        for (found, (alarm, miss)) in
            [(corner([1, 0], [0, 1]), (rare, 0.5)), (corner([0, 1], [1, 0]), (0.5, rare))]
        {
            assert!((found.0 - alarm).abs() < 1e-15 && (found.1 - miss).abs() < 1e-15, "{found:?}");
        }
    }

    /// The weights are all alike where x1 = 0, and are not elsewhere: the laws are of two kinds.
    #[test]
    fn laws_of_two_kinds_are_compared() {
        let text = "-epsilon * d * min(x1, 1)";
        let weights = mechanism::own::weights(text, OutputSet::Simplex, Vec::new());
        let setting = of_size(6, 3.0);
        let law = Mechanism::plain(weights.unwrap()).law(&setting).unwrap();
        let best = audit::delta_at(law.as_ref(), &setting, &Scope::All, 0.0).unwrap();
        let curve = trade_off(law.as_ref(), &setting, &best.from, &best.to).unwrap();
        assert!((advantage(&curve) - best.delta).abs() < 1e-14 && best.delta > 0.5);
    }

    #[test]
    fn three_outputs_by_hand() {
        let class = |a: f64, b: f64| Class { ratio: libm::log(a / b), masses: [a, b] };
        let corners = corners(vec![class(0.3, 0.3), class(0.1, 0.5), class(0.6, 0.2)]);
        let by_hand = [(0.0, 1.0), (0.2, 0.4), (0.5, 0.1), (1.0, 0.0)];
        for (ours, (alarm, miss)) in corners.iter().zip(by_hand) {
            assert!((ours.0 - alarm).abs() < 1e-15 && (ours.1 - miss).abs() < 1e-15, "{ours:?}");
        }
        let curve = TradeOff { from: vec![1, 0], to: vec![0, 1], corners };
        assert!((advantage(&curve) - 0.4).abs() < 1e-15);
        assert!((curve.misses(0.1) - 0.7).abs() < 1e-15);
        assert!((curve.misses(0.0) - 1.0).abs() < 1e-15 && curve.misses(1.0).abs() < 1e-15);
    }
}
