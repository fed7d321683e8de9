//! Tables of a function of a whole number.

/// Values f(first), f(first + 1), … of a function of a whole number.
#[derive(Clone, Debug)]
pub struct Table {
    first: u64,
    values: Vec<f64>,
}

impl Table {
    /// The function tabulated from `first` on.
    #[inline]
    pub fn new(first: u64, values: Vec<f64>) -> Self {
        Self { first, values }
    }

    /// The smallest tabulated argument.
    #[inline]
    pub fn first(&self) -> u64 {
        self.first
    }

    /// One past the largest tabulated argument.
    #[inline]
    pub fn end(&self) -> u64 {
        self.first + self.values.len() as u64
    }

    /// f(v), if v is tabulated.
    #[inline]
    pub fn get(&self, v: u64) -> Option<f64> {
        let index = v.checked_sub(self.first)?;
        self.values.get(usize::try_from(index).ok()?).copied()
    }

    /// f(start), …, f(start + len − 1), if all are tabulated.
    #[inline]
    pub fn slice(&self, start: u64, len: usize) -> Option<&[f64]> {
        let from = usize::try_from(start.checked_sub(self.first)?).ok()?;
        self.values.get(from..from.checked_add(len)?)
    }

    /// The table continued over a whole range of arguments with one value.
    #[inline]
    pub fn padded(self, (low, high): (u64, u64), value: f64) -> Self {
        let low = low.min(self.first);
        let before = std::iter::repeat_n(value, (self.first - low) as usize);
        let after = std::iter::repeat_n(value, (high + 1).saturating_sub(self.end()) as usize);
        Self::new(low, before.chain(self.values).chain(after).collect())
    }

    /// The same arguments, other values.
    #[inline]
    pub fn map(&self, f: impl Fn(f64) -> f64) -> Self {
        Self::new(self.first, self.values.iter().map(|&v| f(v)).collect())
    }
}
