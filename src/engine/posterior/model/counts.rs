//! Count vectors: how many records fall into each category.

/// How many records fall into each of the k categories.
pub type Counts = Vec<u64>;

/// The largest number of records: every count is then exact as a double.
pub const MOST_RECORDS: u64 = 1 << 53;

/// Whether there are few enough records, counted without overflow.
pub fn is_countable(counts: &[u64]) -> bool {
    counts.iter().fold(0, |sum: u64, &x| sum.saturating_add(x)) <= MOST_RECORDS
}

/// The number of compositions of `n` into `k` parts, C(n+k−1, k−1): the size of the candidate set
/// R. `None` if it does not fit 128 bits.
///
/// (icml and arxiv print C(n+1, k−1), which agrees for k = 2 only.)
pub fn compositions(n: u64, k: usize) -> Option<u128> {
    let mut count: u128 = 1;
    for i in 1..k as u128 {
        // C(n+i, i) = C(n+i−1, i−1) (n+i) / i: every intermediate result is a whole number.
        count = count.checked_mul(u128::from(n) + i)? / i;
    }
    Some(count)
}

/// The number of compositions as a float, of any size.
pub fn approximate_compositions(n: u64, k: usize) -> f64 {
    compositions(n, k).map_or_else(
        || (1..k).map(|i| (n as f64 + i as f64) / i as f64).product(),
        |count| count as f64,
    )
}

/// d(x, y) = ½ Σ |x_i − y_i|; half an odd number if the totals differ by an odd number.
pub fn hamming_distance(x: &[u64], y: &[u64]) -> f64 {
    let doubled: u64 = x.iter().zip(y).map(|(a, b)| a.abs_diff(*b)).sum();
    0.5 * doubled as f64
}

/// A vector in one cell of a table: `;` between its elements.
pub fn vector<T: ToString>(values: &[T]) -> String {
    let cells: Vec<String> = values.iter().map(ToString::to_string).collect();
    cells.join(";")
}

/// Every data set that differs from x in one record.
pub fn neighbours(x: &[u64]) -> impl Iterator<Item = Counts> + '_ {
    let k = x.len();
    let pairs = (0..k).flat_map(move |i| (0..k).map(move |j| (i, j)));
    pairs.filter(|&(i, j)| i != j && x[i] > 0).map(|(i, j)| {
        let mut neighbour = x.to_vec();
        neighbour[i] -= 1;
        neighbour[j] += 1;
        neighbour
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compositions_of_small_totals() {
        assert_eq!(compositions(600, 2), Some(601));
        assert_eq!(compositions(600, 4), Some(36_361_101));
        assert_eq!(compositions(0, 5), Some(1));
        assert_eq!(compositions(3, 3), Some(10));
        assert_eq!(compositions(u64::MAX, 9), None);
    }
}
