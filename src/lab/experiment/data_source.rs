//! Where the data of an experiment come from.

use engine::posterior::model::{Counts, Prior};
use engine::rng;

/// The data of an experiment, before a prior says how many categories there are.
#[derive(Clone, Debug, PartialEq)]
pub enum DataSpec {
    /// `[data.balanced]`: each size is divided by proportions, equal ones unless given.
    Balanced {
        /// The numbers of records.
        sizes: Vec<u64>,
        /// What part of them falls into each category.
        proportions: Option<Vec<f64>>,
    },
    /// `[data.counts]`, and what was read by `[data.file]`.
    Counts {
        counts: Vec<Counts>,
        /// The abscissa of each in a figure.
        at: Option<Vec<f64>>,
        at_label: Option<String>,
        /// The name of each.
        labels: Option<Vec<String>>,
    },
    /// `[data.line]`: every data set of two categories, its abscissa the first count.
    Line {
        /// The numbers of records.
        sizes: Vec<u64>,
    },
    /// `[data.shares]`: the first category has a given share of the records, the others the rest in
    /// equal parts; the abscissa is the share.
    Shares {
        /// The numbers of records.
        sizes: Vec<u64>,
        /// The shares of the first category.
        shares: Vec<f64>,
    },
    /// `[data.predictive]`: drawn from the prior's own predictive law.
    Predictive {
        /// The numbers of records.
        sizes: Vec<u64>,
    },
}

/// One data set of an experiment.
pub struct DataSet {
    pub counts: Counts,
    pub label: Option<String>,
    /// Its abscissa in a figure.
    pub at: Option<f64>,
}

impl DataSpec {
    /// How many data sets there are for each prior, as far as one can count.
    pub fn count(&self) -> u64 {
        match self {
            Self::Balanced { sizes, .. } | Self::Predictive { sizes } => sizes.len() as u64,
            Self::Counts { counts, .. } => counts.len() as u64,
            Self::Line { sizes } => {
                sizes.iter().fold(0, |sum, n| n.saturating_add(1).saturating_add(sum))
            }
            Self::Shares { sizes, shares } => {
                (sizes.len() as u64).saturating_mul(shares.len() as u64)
            }
        }
    }

    /// How many records are drawn for each prior.
    pub fn drawn(&self) -> u64 {
        match self {
            Self::Predictive { sizes } => sizes.iter().fold(0, |sum, n| n.saturating_add(sum)),
            _ => 0,
        }
    }

    /// What the abscissas of the data sets are, in words.
    pub fn axis_label(&self) -> &str {
        match self {
            Self::Counts { at_label: Some(label), .. } => label,
            Self::Shares { .. } => "share of the first category",
            Self::Line { .. } => "records in the first category",
            _ => "at",
        }
    }

    /// The data sets for one prior, or the cause and the remedy of a mismatch.
    pub fn data_sets(&self, prior: &Prior, seed: u64) -> Result<Vec<DataSet>, (String, String)> {
        let k = prior.k();
        let fits = |length: usize, what: &str| {
            if length == k {
                return Ok(());
            }
            Err((
                format!("the prior has {k} categories, but {what} {length}"),
                format!("use data with {k} categories, or a prior of length {length}"),
            ))
        };
        let plain = |counts: Counts| DataSet { counts, label: None, at: None };
        match self {
            Self::Balanced { sizes, proportions } => {
                let equal = vec![1.0 / k as f64; k];
                let proportions = proportions.as_ref().unwrap_or(&equal);
                fits(proportions.len(), "the proportions have")?;
                Ok(sizes.iter().map(|&n| plain(split(n, proportions))).collect())
            }
            Self::Counts { counts, at, labels, .. } => (counts.iter().enumerate())
                .map(|(i, counts)| {
                    let label = labels.as_ref().map(|labels| labels[i].clone());
                    let what = match &label {
                        Some(label) => format!("the data set `{label}` with counts {counts:?} has"),
                        None => format!("the counts {counts:?} have"),
                    };
                    fits(counts.len(), &what)?;
                    let at = at.as_ref().map(|at| at[i]);
                    Ok(DataSet { counts: counts.clone(), label, at })
                })
                .collect(),
            Self::Line { sizes } => {
                fits(2, "data along a line have")?;
                let on_line = |n: u64| {
                    (0..=n).map(move |first| DataSet {
                        counts: vec![first, n - first],
                        label: None,
                        at: Some(first as f64),
                    })
                };
                Ok(sizes.iter().copied().flat_map(on_line).collect())
            }
            Self::Shares { sizes, shares } => {
                let of_size = |&n: &u64| {
                    shares.iter().map(move |&share| DataSet {
                        counts: with_share(n, share, k),
                        label: None,
                        at: Some(share),
                    })
                };
                Ok(sizes.iter().flat_map(of_size).collect())
            }
            Self::Predictive { sizes } => Ok(sizes
                .iter()
                .map(|&n| {
                    let name = format!("predictive prior={:?} n={n}", prior.alpha());
                    plain(prior.draw_predictive(n, &mut rng::stream(seed, &name)))
                })
                .collect()),
        }
    }
}

/// floor(n p_i) for all but the last category, the rest to the last. A product that misses a whole
/// number by rounding only (100 · 0.29) counts as that number.
fn split(n: u64, proportions: &[f64]) -> Counts {
    let mut counts: Counts =
        proportions.iter().map(|p| (n as f64 * p + 1e-9).floor() as u64).collect();
    if let Some((last, others)) = counts.split_last_mut() {
        *last = n.saturating_sub(others.iter().sum());
    }
    counts
}

/// n·share, rounded to the nearest (halves upwards), for the first of k categories; the rest in
/// equal parts, one more each for as many of the foremost as need be. A product that misses a half
/// by rounding only counts as that half.
fn with_share(n: u64, share: f64, k: usize) -> Counts {
    let first = ((n as f64 * share + 0.5 + 1e-9).floor() as u64).min(n);
    let (rest, others) = (n - first, k as u64 - 1);
    let part = |i: u64| rest / others + u64::from(i < rest % others);
    std::iter::once(first).chain((0..others).map(part)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_category_has_its_share() {
        assert_eq!(with_share(100, 0.7, 2), [70, 30]);
        assert_eq!(with_share(5, 0.5, 2), [3, 2]);
        assert_eq!(with_share(100, 0.29 + 0.005, 2), [30, 70]);
        assert_eq!(with_share(11, 0.4, 3), [4, 4, 3]);
        assert_eq!(with_share(7, 1.0, 4), [7, 0, 0, 0]);
        assert_eq!(with_share(8, 0.0, 4), [0, 3, 3, 2]);
        assert_eq!(with_share(0, 0.5, 3), [0, 0, 0]);
    }

    #[test]
    fn the_last_category_takes_the_rest() {
        assert_eq!(split(100, &[0.33, 0.33, 0.34]), [33, 33, 34]);
        assert_eq!(split(500, &[1.0 / 3.0; 3]), [166, 166, 168]);
        assert_eq!(split(100, &[0.29, 0.71]), [29, 71]);
        assert_eq!(split(101, &[0.5, 0.5]), [50, 51]);
        assert_eq!(split(0, &[0.5, 0.5]), [0, 0]);
    }
}
