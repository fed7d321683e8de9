//! Counts of operations. Tests compare them with what was forecast; nothing is counted otherwise.

/// What is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// A law that is made.
    Law,
    /// A pair of adjacent data sets that is compared.
    Pair,
    /// An entry of a table.
    Entry,
    /// A row of outputs that is walked.
    Row,
    /// An output that is walked.
    Output,
    /// An output of two adjacent data sets that is compared.
    Compared,
    /// An output on a line whose class is made.
    LineClass,
    /// A term of a sum of logarithms, or of a tail.
    LogTerm,
    /// An entry of a convolution in linear time.
    Convolved,
    /// A product of any other convolution.
    Product,
    /// An output for which another is released.
    Replaced,
    /// A distance that is added up in the search for a good candidate.
    Term,
    /// A row of candidates whose tight weights are added up.
    TightRow,
}

/// Counts so many operations.
#[inline(always)]
pub fn count(operation: Operation, number: usize) {
    #[cfg(test)]
    counted::add(operation, number);
    #[cfg(not(test))]
    let _ = (operation, number);
}

/// The operations of a thread.
#[cfg(test)]
pub mod counted {
    use std::cell::Cell;

    use super::Operation;

    const KINDS: usize = Operation::TightRow as usize + 1;

    thread_local! {
        static COUNTS: Cell<[u64; KINDS]> = const { Cell::new([0; KINDS]) };
    }

    /// The number of operations of each kind.
    #[derive(Clone, Copy, Debug)]
    pub struct Counts([u64; KINDS]);

    impl Counts {
        /// The number of operations of one kind.
        pub fn of(&self, operation: Operation) -> f64 {
            self.0[operation as usize] as f64
        }
    }

    /// Adds to the operations of this thread.
    pub fn add(operation: Operation, number: usize) {
        COUNTS.with(|counts| {
            let mut now = counts.get();
            now[operation as usize] += number as u64;
            counts.set(now);
        });
    }

    /// The operations of some work, which is done on one thread.
    pub fn during<T: Send>(work: impl FnOnce() -> T + Send) -> (T, Counts) {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        pool.install(|| {
            COUNTS.with(|counts| counts.set([0; KINDS]));
            let done = work();
            (done, Counts(COUNTS.with(Cell::get)))
        })
    }
}
