//! δ between two adjacent data sets whose categories are all alike but two, by symmetry.
//!
//! With many categories there are too many candidates to look at each. Those that differ only in the
//! order of categories that are alike have the same distance from both data sets; one of them stands
//! for all.

use super::Lab;
use engine::numeric::sum::sum;
use engine::numeric::{exp_accurate, expm1, ln};
use engine::posterior::error_field::{Field, Reach};
use engine::posterior::model::Counts;
use engine::posterior::setting::SettingWithData;

/// k categories. The prior of all but the last is `small`; all n records are in the last.
#[derive(Clone, Copy)]
pub struct AlikeCategories {
    pub k: usize,
    pub small: f64,
    pub large: f64,
    pub n: u64,
}

/// Candidates that differ only in the order of their middle counts.
struct Class {
    candidate: Counts,
    members: f64,
}

impl AlikeCategories {
    /// δ at `epsilon` of the mechanism `id`, given this ε and `delta`, between the data set and the one
    /// where a record moves into the first category.
    ///
    /// # Panics
    /// If it is not an exponential mechanism.
    pub fn delta(&self, lab: &Lab, id: &str, epsilon: f64, delta: f64) -> f64 {
        let mut prior = vec![self.small; self.k];
        prior[self.k - 1] = self.large;
        let mut x = vec![0; self.k];
        x[self.k - 1] = self.n;
        let mut moved = x.clone();
        (moved[0], moved[self.k - 1]) = (1, self.n - 1);
        let classes = self.classes();
        let of = |x: &Counts| {
            ln_probabilities(lab, id, &lab.setting(&prior, x, epsilon, Some(delta)), &classes)
        };
        let (p, q) = (of(&x), of(&moved));
        let excess = |p: &[f64], q: &[f64]| {
            let each = classes.iter().zip(p.iter().zip(q));
            sum(each.map(|(class, (p, q))| {
                let lost = p - q - epsilon;
                if lost > 0.0 { -class.members * exp_accurate(*p) * expm1(-lost) } else { 0.0 }
            }))
        };
        excess(&p, &q).max(excess(&q, &p))
    }

    /// All candidates, by the first count and the middle counts in falling order.
    fn classes(&self) -> Vec<Class> {
        let mut classes = Vec::new();
        let places = self.k - 2;
        falling(self.n, self.n, places, &mut Vec::new(), &mut |middle| {
            let left = self.n - middle.iter().sum::<u64>();
            let members = arrangements(middle, places);
            classes.extend((0..=left).map(|first| {
                let mut candidate = vec![0; self.k];
                candidate[0] = first;
                candidate[1..=middle.len()].copy_from_slice(middle);
                candidate[self.k - 1] = left - first;
                Class { candidate, members }
            }));
        });
        classes
    }
}

/// Calls `visit` for all lists of at most `places` positive counts in falling order, the first at most
/// `most` and their sum at most `total`.
fn falling(
    total: u64,
    most: u64,
    places: usize,
    counts: &mut Vec<u64>,
    visit: &mut impl FnMut(&[u64]),
) {
    visit(counts);
    if counts.len() == places {
        return;
    }
    for count in 1..=total.min(most) {
        counts.push(count);
        falling(total - count, count, places, counts, visit);
        counts.pop();
    }
}

/// In how many ways the counts can be put into the places, the other places being empty.
fn arrangements(counts: &[u64], places: usize) -> f64 {
    let (mut ways, mut run) = (1.0, 0.0);
    for (put, count) in counts.iter().enumerate() {
        run = if put > 0 && counts[put - 1] == *count { run + 1.0 } else { 1.0 };
        ways *= (places - put) as f64 / run;
    }
    ways
}

/// ln P of one member of every class.
fn ln_probabilities(lab: &Lab, id: &str, setting: &SettingWithData, classes: &[Class]) -> Vec<f64> {
    let (law, posterior) = (lab.law(setting, id), setting.posterior());
    let at = law.at(posterior).expect("a setting that fits");
    let rate = at.rate().expect("a mechanism that depends on the distance alone");
    let windows = vec![(0, posterior.n()); posterior.k()];
    let field = setting.distance.field(posterior, &Reach { windows, ball: false });
    let scores: Vec<f64> =
        classes.iter().map(|class| -rate * Field::at(&*field, &class.candidate)).collect();
    let masses = classes.iter().zip(&scores);
    let normaliser = sum(masses.map(|(class, score)| class.members * exp_accurate(*score)));
    let ln_normaliser = ln(normaliser);
    scores.into_iter().map(|score| score - ln_normaliser).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::analysis::audit::{self, Scope};
    use engine::posterior::distance::HELLINGER;
    use engine::posterior::model::approximate_compositions;

    #[test]
    fn every_candidate_is_in_one_class() {
        for (k, n) in [(3, 4), (5, 6), (8, 3)] {
            let alike = AlikeCategories { k, small: 1.0, large: 2.0, n };
            let members: f64 = alike.classes().iter().map(|class| class.members).sum();
            assert_eq!(members, approximate_compositions(n, k), "{k} {n}");
        }
    }

    #[test]
    fn symmetry_agrees_with_all_candidates() {
        let lab = Lab::new(HELLINGER);
        let alike = AlikeCategories { k: 5, small: 100.0, large: 1e8, n: 8 };
        let (epsilon, delta) = (12.0, 1e-5);
        let prior = [100.0, 100.0, 100.0, 100.0, 1e8];
        let setting = lab.setting(&prior, &[0, 0, 0, 0, 8], epsilon, Some(delta));
        let pair = Scope::Pair(vec![0, 0, 0, 0, 8], vec![1, 0, 0, 0, 7]);
        let all = audit::delta_at(lab.law(&setting, "mh-beta").as_ref(), &setting, &pair, epsilon);
        let all = all.expect("a pair").delta;
        let ours = alike.delta(&lab, "mh-beta", epsilon, delta);
        assert!(all > 0.0 && (ours / all - 1.0).abs() < 1e-9, "{ours:e} {all:e}");
    }
}
