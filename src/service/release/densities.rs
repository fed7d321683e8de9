//! The densities of shares, for a figure.

use super::findings::{Estimate, TablePosterior};
use super::posterior::BetaMixture;
use super::question::Question;

/// The density of one share.
#[derive(Clone, Debug, PartialEq)]
pub struct Density {
    /// The group, empty if there is only one.
    pub group: String,
    pub group_number: usize,
    pub category: String,
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

impl TablePosterior<'_> {
    /// The densities of the outcome's share in every group: of the categories that are compared, or of
    /// all. Of two categories only the second is drawn, since each one tells the other.
    pub fn densities(&self, question: &Question) -> Vec<Density> {
        let table = &self.request.table;
        let categories: Vec<usize> = match (question.compared.as_slice(), table.outcomes()) {
            ([], 2) => vec![1],
            ([], all) => (0..all).collect(),
            (compared, _) => compared.to_vec(),
        };
        let before = self.before();
        let mut shares = Vec::new();
        for category in categories {
            for group in 0..table.groups() {
                let cells: Vec<usize> = table.group(group).collect();
                let share = |of: &Self| of.share(&[cells[category]], &cells);
                shares.push((category, group, share(&before), share(self)));
            }
        }
        let range = range(shares.iter().map(|(_, _, _, share)| share));
        let density =
            |(category, group, before, share): (usize, usize, BetaMixture, BetaMixture)| Density {
                group: table.group_name(group),
                group_number: group,
                category: table.outcome().categories[category].clone(),
                prior: curve(&before, (0.0, 1.0)),
                posterior: curve(&share, range),
                estimate: Estimate::of_share(&share, question.level),
            };
        shares.into_iter().map(density).collect()
    }
}

fn curve(share: &BetaMixture, (low, high): (f64, f64)) -> Vec<(f64, f64)> {
    // At 0 and 1 a density may be infinite.
    let step = (high - low) / POINTS as f64;
    let points = (0..POINTS).map(|i| low + (i as f64 + 0.5) * step);
    points.map(|x| (x, share.density(x))).collect()
}

/// From the smallest to the largest value that matters.
fn range<'a>(shares: impl Iterator<Item = &'a BetaMixture>) -> (f64, f64) {
    shares.fold((1.0_f64, 0.0_f64), |(low, high), share| {
        (low.min(share.quantile(LEFT_OUT)), high.max(share.quantile(1.0 - LEFT_OUT)))
    })
}
