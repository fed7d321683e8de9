//! Dividing an experiment into parts that take about as long.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// To which of `count` parts (from 1) each piece of work belongs, given how long each takes. Depends
/// on nothing else, so that every part knows its own pieces without asking the others.
///
/// The longest piece first, each to the part that has least to do: no part then takes longer than
/// 4/3 of what is possible (Graham, 1969).
#[must_use]
pub fn assign(seconds: &[f64], count: usize) -> Vec<usize> {
    let nanoseconds: Vec<u128> =
        seconds.iter().map(|seconds| 1 + (1e9 * seconds) as u128).collect();
    let mut longest_first: Vec<usize> = (0..seconds.len()).collect();
    longest_first.sort_by_key(|&piece| Reverse(nanoseconds[piece]));
    let mut loads: BinaryHeap<Reverse<(u128, usize)>> =
        (1..=count.max(1)).map(|part| Reverse((0, part))).collect();
    let mut parts = vec![1; seconds.len()];
    for piece in longest_first {
        if let Some(mut least) = loads.peek_mut() {
            parts[piece] = least.0.1;
            least.0.0 += nanoseconds[piece];
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn loads(seconds: &[f64], count: usize) -> Vec<f64> {
        let parts = assign(seconds, count);
        let load = |part| {
            let own = parts.iter().zip(seconds).filter(|(of, _)| **of == part);
            own.map(|(_, seconds)| seconds).sum()
        };
        (1..=count).map(load).collect()
    }

    #[test]
    fn parts_take_about_as_long() {
        let seconds: Vec<f64> = (1..=1000).map(|i| f64::from(i % 37)).collect();
        for count in [1, 2, 3, 8, 100] {
            let loads = loads(&seconds, count);
            let fair = seconds.iter().sum::<f64>() / count as f64;
            assert!(loads.iter().all(|load| (load / fair - 1.0).abs() < 0.05), "{loads:?}");
        }
        // One long piece keeps a part busy.
        assert_eq!(loads(&[1.0, 10.0, 1.0, 1.0], 2), [10.0, 3.0]);
    }

    #[test]
    fn pieces_of_no_length_are_spread_too() {
        let mut counts = [0; 4];
        assign(&[0.0; 10], 4).iter().for_each(|part| counts[part - 1] += 1);
        assert_eq!(counts, [3, 3, 2, 2]);
        assert!(assign(&[], 3).is_empty());
        // More parts than pieces: some have nothing to do.
        assert_eq!(assign(&[1.0], 3), [1]);
    }
}
