//! The operating system's randomness.

use std::convert::Infallible;

use engine::mechanism::law::coins::Coins;
use rand::TryRng;
use rand::rngs::SysRng;

/// Bytes fetched at a time: one system call takes as long as hundreds of bytes.
const FETCHED: usize = 16_384;

/// Random bits from the operating system: there is no seed, and nothing can be drawn again. Every byte
/// is used once and then erased.
pub struct Entropy {
    bytes: [u8; FETCHED],
    used: usize,
}

impl Coins for Entropy {
    fn is_secret(&self) -> bool {
        true
    }
}

impl Entropy {
    /// Fetches the first bytes; fails if the system has no randomness.
    pub fn new() -> Result<Self, String> {
        let mut entropy = Self { bytes: [0; FETCHED], used: 0 };
        SysRng.try_fill_bytes(&mut entropy.bytes).map_err(|error| error.to_string())?;
        Ok(entropy)
    }

    /// The next bytes.
    ///
    /// # Panics
    /// If the system no longer gives randomness: there is no other source.
    fn next<const N: usize>(&mut self) -> [u8; N] {
        if self.used + N > FETCHED {
            let fetched = SysRng.try_fill_bytes(&mut self.bytes);
            fetched.expect("the operating system has randomness, as it had before");
            self.used = 0;
        }
        let place = self.used..self.used + N;
        self.used += N;
        let mut taken = [0; N];
        taken.swap_with_slice(&mut self.bytes[place]);
        taken
    }
}

impl TryRng for Entropy {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        Ok(u32::from_le_bytes(self.next()))
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        Ok(u64::from_le_bytes(self.next()))
    }

    fn try_fill_bytes(&mut self, out: &mut [u8]) -> Result<(), Infallible> {
        out.fill_with(|| self.next::<1>()[0]);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::Rng;

    #[test]
    fn bits_differ_and_are_fetched_again() {
        let mut entropy = Entropy::new().unwrap();
        let drawn: std::collections::BTreeSet<u64> =
            (0..1000).map(|_| entropy.next_u64()).collect();
        assert_eq!(drawn.len(), 1000);
        let ones: u32 = drawn.iter().map(|word| word.count_ones()).sum();
        // 64,000 fair bits; the chance of being off by eight standard deviations is 1e-15.
        assert!(ones.abs_diff(32_000) < 8 * 127, "{ones}");
        let mut bytes = [0; 3000];
        entropy.fill_bytes(&mut bytes);
        assert!(bytes.iter().any(|&byte| byte != bytes[0]));
    }

    #[test]
    fn used_bytes_are_erased() {
        let mut entropy = Entropy::new().unwrap();
        for _ in 0..8 {
            entropy.next_u64();
        }
        assert_eq!(entropy.bytes[..64], [0; 64]);
    }
}
