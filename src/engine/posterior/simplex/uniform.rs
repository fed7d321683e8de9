//! A composition drawn uniformly.

use rand::Rng;

use crate::rng::uniform_below;

/// Draws one of the C(n+k−1, k−1) compositions of `n` into `out.len()` parts, all equally likely:
/// k−1 bars among n+k−1 places, chosen by Floyd's algorithm, with the gaps as parts.
pub fn uniform_composition(n: u64, out: &mut [u64], rng: &mut (impl Rng + ?Sized)) {
    let bars = out.len() - 1;
    let places = n + bars as u64;
    for i in 0..bars {
        let highest = places - bars as u64 + i as u64;
        let candidate = uniform_below(highest + 1, rng);
        out[i] = if out[..i].contains(&candidate) { highest } else { candidate };
    }
    out[..bars].sort_unstable();
    out[bars] = places;
    for i in (1..=bars).rev() {
        out[i] -= out[i - 1] + 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn every_composition_is_equally_likely() {
        let mut rng = crate::rng::stream(5, "composition");
        let mut seen: BTreeMap<[u64; 3], u32> = BTreeMap::new();
        for _ in 0..30_000 {
            let mut out = [0; 3];
            uniform_composition(3, &mut out, &mut rng);
            *seen.entry(out).or_default() += 1;
        }
        assert_eq!(seen.len(), 10);
        let chi2: f64 = seen.values().map(|&c| (f64::from(c) - 3e3).powi(2) / 3e3).sum();
        assert!(chi2 < 33.7, "{chi2}"); // 9 degrees of freedom, false alarms 1e-4
    }
}
