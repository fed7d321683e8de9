//! Moving labels apart.

/// The positions nearest to `wanted` (least squares) that keep their order,
/// are at least `gap` apart and stay within `range`. Where even that cannot
/// be, the gap shrinks until all fit.
///
/// Without the gaps (subtract i × gap from the i-th) this is isotonic
/// regression with bounds, which pooling neighbours and clamping solves.
pub fn spread(wanted: &[f64], gap: f64, range: (f64, f64)) -> Vec<f64> {
    let mut order: Vec<usize> = (0..wanted.len()).collect();
    order.sort_by(|a, b| wanted[*a].total_cmp(&wanted[*b]));
    let last = wanted.len().saturating_sub(1) as f64;
    let room = (range.1 - range.0).max(0.0);
    let gap = if last * gap > room { room / last } else { gap };
    let offset = |rank: usize| rank as f64 * gap;
    let targets = order.iter().enumerate();
    let level = pool(targets.map(|(rank, i)| wanted[*i] - offset(rank)));
    let highest = (range.1 - last * gap).max(range.0);
    let mut placed = vec![0.0; wanted.len()];
    for (rank, (i, value)) in order.iter().zip(level).enumerate() {
        placed[*i] = value.clamp(range.0, highest) + offset(rank);
    }
    placed
}

/// The non-decreasing sequence nearest to the given one.
fn pool(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut blocks: Vec<(f64, usize)> = Vec::new();
    for value in values {
        let mut block = (value, 1);
        while let Some((mean, count)) = blocks.pop_if(|earlier| earlier.0 > block.0) {
            let total = count + block.1;
            let sum = mean * count as f64 + block.0 * block.1 as f64;
            block = (sum / total as f64, total);
        }
        blocks.push(block);
    }
    let runs = blocks.into_iter();
    runs.flat_map(|(mean, count)| std::iter::repeat_n(mean, count)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::Lcg;

    #[test]
    fn labels_never_overlap_nor_leave() {
        let mut random = Lcg::new(11);
        for _ in 0..3000 {
            let count = (random.unit() * 13.0) as usize;
            let clustered = random.unit();
            let wanted: Vec<f64> =
                (0..count).map(|_| 150.0 + (random.unit() - 0.5) * 300.0 * clustered).collect();
            let placed = spread(&wanted, 14.0, (20.0, 280.0));
            let mut sorted = placed.clone();
            sorted.sort_by(f64::total_cmp);
            assert!(sorted.windows(2).all(|pair| pair[1] - pair[0] > 14.0 - 1e-6));
            assert!(sorted.iter().all(|y| (20.0 - 1e-6..=280.0 + 1e-6).contains(y)));
            for i in 0..count {
                for j in 0..count {
                    assert!(wanted[i] >= wanted[j] || placed[i] < placed[j], "order is kept");
                }
            }
        }
    }

    #[test]
    fn labels_move_no_more_than_they_must() {
        assert_eq!(spread(&[50.0, 10.0, 90.0], 14.0, (0.0, 100.0)), [50.0, 10.0, 90.0]);
        assert_eq!(spread(&[50.0, 50.0], 14.0, (0.0, 100.0)), [43.0, 57.0]);
        let crowd = spread(&[5.0; 11], 14.0, (0.0, 100.0));
        assert_eq!((crowd[0], crowd[10]), (0.0, 100.0), "too many are spaced evenly");
    }
}
