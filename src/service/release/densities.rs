//! The densities of shares, for a figure.

use super::findings::{Both, Estimate, Laws, Posteriors};
use super::posterior::{BetaMixture, CountsLaw};

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
    pub posterior: Both<Vec<(f64, f64)>>,
    /// Its mean and interval.
    pub estimate: Both<Estimate>,
}

/// Points of a curve.
const POINTS: usize = 301;

/// The part of a density at either end that is not drawn.
const LEFT_OUT: f64 = 1e-4;

impl Posteriors<'_> {
    /// The densities of the outcome's share in every group: of the categories that are compared, or of
    /// all. Of two categories only the second is drawn, since each one tells the other.
    pub fn densities(&self) -> Vec<Density> {
        let request = self.request();
        let table = &request.table;
        let categories: Vec<usize> = match (request.compared.as_slice(), table.outcomes()) {
            ([], 2) => vec![1],
            ([], all) => (0..all).collect(),
            (compared, _) => compared.to_vec(),
        };
        let places = (categories.into_iter())
            .flat_map(|category| (0..table.groups()).map(move |group| (category, group)));
        let views = self.views();
        let share = |laws: &Laws, (category, group): (usize, usize)| {
            laws.within_group(group, table.group(group).start + category).ok()
        };
        let both = |place| Both {
            naive: views.naive.as_ref().and_then(|laws| share(laws, place)),
            aware: views.aware.as_ref().and_then(|laws| share(laws, place)),
        };
        let shares: Vec<_> = places.map(|place| (place, both(place))).collect();
        let range = range(shares.iter().map(|(_, share)| share));
        let curve = |share: &BetaMixture, (low, high): (f64, f64)| -> Vec<(f64, f64)> {
            // At 0 and 1 a density may be infinite.
            let step = (high - low) / POINTS as f64;
            let points = (0..POINTS).map(|i| low + (i as f64 + 0.5) * step);
            points.map(|x| (x, share.density(x))).collect()
        };
        let no_records = self.no_records();
        let prior = self.view(&no_records);
        let density = |((category, group), both): ((usize, usize), Both<BetaMixture>)| Density {
            group: table.group_name(group),
            group_number: group,
            category: table.outcome().categories[category].clone(),
            prior: share(&prior, (category, group))
                .map_or(Vec::new(), |share| curve(&share, (0.0, 1.0))),
            posterior: both.map(|share| curve(share, range)),
            estimate: both.map(|share| Estimate::of_share(share, request.level)),
        };
        shares.into_iter().map(density).collect()
    }

    /// What is known before the release.
    fn no_records(&self) -> Vec<CountsLaw> {
        let law = |one: &super::request::Histogram| {
            CountsLaw::exactly(&one.prior, &vec![0; one.prior.k()])
        };
        self.histograms.iter().map(law).collect()
    }
}

/// From the smallest to the largest value that matters.
fn range<'a>(shares: impl Iterator<Item = &'a Both<BetaMixture>>) -> (f64, f64) {
    let known = shares.flat_map(|both| [&both.naive, &both.aware].into_iter().flatten());
    known.fold((1.0_f64, 0.0_f64), |(low, high), share| {
        (low.min(share.quantile(LEFT_OUT)), high.max(share.quantile(1.0 - LEFT_OUT)))
    })
}
