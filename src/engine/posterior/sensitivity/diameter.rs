//! The largest divergence between two posteriors of n records.
//!
//! At equal totals a divergence is a sum of one term t(x_i, c_i) for each category, which is 0 at x_i =
//! c_i and grows as x_i or c_i moves away from the other. Take the pair of the largest sum. Where a
//! category gains (x_i < c_i), x_i is 0: its records would be worth more in the true count of a
//! category that loses. Where one loses, c_i is 0 for the same reason. So the categories fall into two
//! groups: those that hold all true records, and those that hold all released ones. In each group a
//! term depends on one count, and the counts sum to n.

/// The terms of one category by the number v of its records: t(0, v) if all of them are released ones,
/// t(v, 0) if all are true ones. Both begin at v = 0 and end at v = n.
#[derive(Clone, Debug)]
pub(super) struct Terms {
    pub gained: Vec<f64>,
    pub lost: Vec<f64>,
}

/// The most additions for an exact answer: a few tenths of a second.
const MOST_ADDED: f64 = 2e8;

/// The largest sum over all ways to divide the categories into two groups and n records among each.
/// `classes` are the categories, those that are alike together with their number.
///
/// Counts of more than two categories take n² additions for each way to choose them; beyond
/// [`MOST_ADDED`] this is an upper bound, see [`at_most`].
pub(super) fn largest(classes: &[(Terms, usize)]) -> f64 {
    let Some(n) = classes.first().map(|(terms, _)| terms.gained.len() - 1) else { return 0.0 };
    let choices = choices(classes, MOST_ADDED / (1.0 + n as f64));
    let additions = |choice: &Vec<usize>| {
        let chosen: usize = choice.iter().sum();
        let others = classes.iter().map(|class| class.1).sum::<usize>() - chosen;
        let squares = chosen.saturating_sub(2) + others.saturating_sub(2);
        (squares as f64 * n as f64 + 2.0) * n as f64
    };
    let choices = choices.filter(|all| all.iter().map(additions).sum::<f64>() <= MOST_ADDED);
    let Some(choices) = choices else { return at_most(classes) };
    let sum = |choice: &Vec<usize>| {
        let gains = classes.iter().zip(choice).map(|((terms, _), &m)| (&terms.gained[..], m));
        let losses = classes.iter().zip(choice).map(|((terms, all), m)| (&terms.lost[..], all - m));
        Some(best_division(gains)? + best_division(losses)?)
    };
    choices.iter().filter_map(sum).fold(0.0, f64::max)
}

/// How many categories of each class gain, in every way; `None` if there are more ways than `most`.
fn choices(classes: &[(Terms, usize)], most: f64) -> Option<Vec<Vec<usize>>> {
    let number: f64 = classes.iter().map(|class| class.1 as f64 + 1.0).product();
    if number > most {
        return None;
    }
    let start = vec![Vec::new()];
    Some(classes.iter().fold(start, |begun, class| {
        let longer = |choice: Vec<usize>| {
            (0..=class.1).map(move |m| [&choice[..], &[m]].concat()).collect::<Vec<_>>()
        };
        begun.into_iter().flat_map(longer).collect()
    }))
}

/// The largest sum of terms whose counts sum to n; `None` without any category.
fn best_division<'a>(group: impl Iterator<Item = (&'a [f64], usize)>) -> Option<f64> {
    let tables: Vec<&[f64]> = group.flat_map(|(table, m)| std::iter::repeat_n(table, m)).collect();
    let (last, others) = tables.split_last()?;
    let n = last.len() - 1;
    let mut joined: Option<Vec<f64>> = None;
    for table in others {
        joined = Some(match joined {
            None => table.to_vec(),
            Some(joined) => (0..=n).map(|total| best_pair(&joined, table, total)).collect(),
        });
    }
    Some(joined.map_or(last[n], |joined| best_pair(&joined, last, n)))
}

/// The largest a(v) + b(total − v).
fn best_pair(a: &[f64], b: &[f64], total: usize) -> f64 {
    let sums = a[..=total].iter().zip(b[..=total].iter().rev()).map(|(a, b)| a + b);
    sums.fold(0.0, f64::max)
}

/// An upper bound: each of the n gained and of the n lost records adds at most the largest term per
/// record.
fn at_most(classes: &[(Terms, usize)]) -> f64 {
    let per_record = |table: &[f64]| {
        let terms = table.iter().enumerate().skip(1).map(|(v, term)| term / v as f64);
        terms.fold(0.0, f64::max)
    };
    let n = classes.first().map_or(0, |(terms, _)| terms.gained.len() - 1);
    let mut largest = 0.0;
    for (i, (gaining, alike)) in classes.iter().enumerate() {
        for (j, (losing, _)) in classes.iter().enumerate() {
            if i != j || *alike > 1 {
                let worth = per_record(&gaining.gained) + per_record(&losing.lost);
                largest = f64::max(largest, worth);
            }
        }
    }
    n as f64 * largest
}

/// Categories that are alike, counted.
pub(super) fn classes(alpha: &[f64], terms: impl Fn(f64) -> Terms) -> Vec<(Terms, usize)> {
    let mut sorted = alpha.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.chunk_by(|a, b| a == b).map(|alike| (terms(alike[0]), alike.len())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn terms(power: f64, n: u32) -> Terms {
        let table = |power: f64| (0..=n).map(|v| libm::pow(f64::from(v), power)).collect();
        Terms { gained: table(power), lost: table(0.5 * power) }
    }

    #[test]
    fn by_hand() {
        // Convex terms: all nine records in one category each. 81 + 9, not 27 + 27.
        assert_eq!(largest(&[(terms(2.0, 9), 3)]), 90.0);
        // Concave gains are divided among two of three categories, the losses stand in the third.
        let half = Terms { lost: terms(2.0, 8).gained, ..terms(0.5, 8) };
        assert_eq!(largest(&[(half.clone(), 3)]), 68.0);
        assert_eq!(largest(&[(half.clone(), 1), (half, 2)]), 68.0);
        // Two categories: one gains all, one loses all.
        assert_eq!(largest(&[(terms(2.0, 9), 1), (terms(4.0, 9), 1)]), 6561.0 + 9.0);
    }

    #[test]
    fn the_upper_bound_is_one() {
        for power in [0.3, 1.0, 1.7] {
            let classes = [(terms(power, 20), 2), (terms(0.5, 20), 2)];
            assert!(largest(&classes) <= at_most(&classes) * (1.0 + 1e-12), "{power}");
        }
        // Too many categories that differ: 2^40 ways.
        let many: Vec<_> = (0..40).map(|i| (terms(0.5 + 0.01 * f64::from(i), 6), 1)).collect();
        assert_eq!(largest(&many), at_most(&many));
    }
}
