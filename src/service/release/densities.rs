//! The densities of shares, for a figure.

use super::findings::{Estimate, TablePosterior};
use super::posterior::{BetaMixture, Interval};
use super::question::Question;

/// The density of one share.
#[derive(Clone, Debug, PartialEq)]
pub struct Density {
    /// The group, empty if there is only one.
    pub group: String,
    /// The place of its category among those of the first column, whose groups are compared.
    pub arm: usize,
    pub category: String,
    /// Whether an axis must reach as far as it does: not if the release hardly tells anything of it, because its group
    /// has hardly any records.
    pub sets_axis: bool,
    /// The share's density before the release, at the points of the figure.
    pub prior: Vec<(f64, f64)>,
    /// Its density after the release.
    pub posterior: Vec<(f64, f64)>,
    pub estimate: Estimate,
}

/// Points of a curve.
const POINTS: usize = 301;

/// The part of a density at either end that is not drawn.
const LEFT_OUT: f64 = 1e-4;

/// A release hardly tells anything of a share if the probability below every decile of before changes by at most this.
const HARDLY_ANYTHING: f64 = 0.2;

impl TablePosterior<'_> {
    /// The densities of the outcome's share in every group: of the categories that are compared, or of
    /// all. Of two categories only the second is drawn, since each one tells the other. Groups that are compared
    /// within other columns stand beside each other.
    pub fn densities(&self, question: &Question) -> Vec<Density> {
        let table = &self.request.table;
        let categories: Vec<usize> = match (question.compared.as_slice(), table.outcomes()) {
            ([], 2) => vec![1],
            ([], all) => (0..all).collect(),
            (compared, _) => compared.to_vec(),
        };
        let of_group = |group: usize| table.categories(table.group(group).start);
        let mut groups: Vec<usize> = (0..table.groups()).collect();
        if !question.within.is_empty() {
            groups.sort_by_key(|&group| {
                let all = of_group(group);
                let within: Vec<usize> =
                    question.within.iter().map(|&column| all[column]).collect();
                (within, all[1..].to_vec(), all[0])
            });
        }
        let before = self.before();
        let mut shares = Vec::new();
        for category in categories {
            for &group in &groups {
                let cells: Vec<usize> = table.group(group).collect();
                let share = |of: &Self| of.share(&[cells[category]], &cells);
                shares.push((category, group, share(&before), share(self)));
            }
        }
        let told = shares.iter().filter(|(_, _, before, share)| is_told(before, share));
        let told = range(told.map(|(_, _, _, share)| share));
        let density =
            |(category, group, before, share): (usize, usize, BetaMixture, BetaMixture)| {
                let is_told = is_told(&before, &share);
                let estimate = Estimate::of_share(&share, question.level);
                let Interval { low, high } = estimate.interval;
                let is_elsewhere = low > told.1 || high < told.0;
                let range = if is_told { told } else { range(std::iter::once(&share)) };
                Density {
                    group: table.group_name(group),
                    arm: if table.by().is_empty() { 0 } else { of_group(group)[0] },
                    category: table.outcome().categories[category].clone(),
                    sets_axis: is_told || is_elsewhere,
                    prior: curve(&before, (0.0, 1.0)),
                    posterior: curve(&share, range),
                    estimate,
                }
            };
        shares.into_iter().map(density).collect()
    }
}

/// Whether the release tells something of a share.
fn is_told(before: &BetaMixture, share: &BetaMixture) -> bool {
    (1..10)
        .map(|tenth| 0.1 * f64::from(tenth))
        .any(|p| (share.below(before.quantile(p)) - p).abs() > HARDLY_ANYTHING)
}

fn curve(share: &BetaMixture, (low, high): (f64, f64)) -> Vec<(f64, f64)> {
    // At 0 and 1 a density may be infinite.
    let step = (high - low) / POINTS as f64;
    let points = (0..POINTS).map(|i| low + (i as f64 + 0.5) * step);
    points.map(|x| (x, share.density(x))).collect()
}

/// From the smallest to the largest value that matters; from 1 to 0 if there is none.
fn range<'a>(shares: impl Iterator<Item = &'a BetaMixture>) -> (f64, f64) {
    shares.fold((1.0_f64, 0.0_f64), |(low, high), share| {
        (low.min(share.quantile(LEFT_OUT)), high.max(share.quantile(1.0 - LEFT_OUT)))
    })
}

#[cfg(test)]
mod tests {
    use super::super::evidence::{Elsewhere, Evidence};
    use super::super::posterior::PublishedNoise;
    use super::super::request::Request;
    use super::super::table::{Attribute, Table};
    use super::*;
    use engine::posterior::amount::Amount;

    /// Two arms in three wards; ward B treats nobody.
    fn wards() -> Evidence {
        let column = |name: &str, categories: &[&str]| Attribute {
            name: name.to_owned(),
            categories: categories.iter().map(|&one| one.to_owned()).collect(),
            other: None,
        };
        let by = [column("arm", &["control", "treated"]), column("ward", &["A", "B", "C"])];
        let request = Request {
            table: Table::new([&by[..], &[column("answer", &["no", "yes"])]].concat()),
            fixed: None,
            private_n: false,
            prior: vec![1.0; 12],
            epsilon: Amount::ZERO,
            variant: None,
        };
        let values =
            [[140.0, 6.0], [140.0, 5.0], [145.0, 4.0], [139.0, 12.0], [0.0, 0.0], [140.0, 13.0]];
        let n = Some(values.concat().iter().sum::<f64>() as u64);
        let noises = vec![PublishedNoise::geometric(1.0).unwrap()];
        Evidence::Elsewhere(Box::new(Elsewhere {
            request,
            values: vec![values.concat()],
            noises,
            n,
        }))
    }

    #[test]
    fn what_is_compared_stands_together_and_an_empty_group_does_not_set_the_axis() {
        let evidence = wards();
        let posterior = evidence.posterior().unwrap();
        let shown = |within: Vec<usize>| -> Vec<(String, usize)> {
            let question = Question { compared: vec![1], within, ..Question::default() };
            let densities = posterior.densities(&question);
            for one in &densities {
                assert_eq!(one.sets_axis, one.group != "treated, B", "{}", one.group);
            }
            densities.into_iter().map(|one| (one.group, one.arm)).collect()
        };
        let rows = |wards: [&str; 6], arms: [usize; 6]| -> Vec<(String, usize)> {
            let name = |(ward, arm): (&str, usize)| {
                (format!("{}, {ward}", ["control", "treated"][arm]), arm)
            };
            wards.into_iter().zip(arms).map(name).collect()
        };
        assert_eq!(shown(vec![1]), rows(["A", "A", "B", "B", "C", "C"], [0, 1, 0, 1, 0, 1]));
        assert_eq!(shown(Vec::new()), rows(["A", "B", "C", "A", "B", "C"], [0, 0, 0, 1, 1, 1]));
    }
}
