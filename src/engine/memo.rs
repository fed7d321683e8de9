//! Answers that are found once.

use std::borrow::Borrow;
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::{Mutex, PoisonError};

/// Answers by what was asked. If there are too many, all are forgotten.
pub struct Memo<K, V> {
    most: usize,
    known: Mutex<BTreeMap<K, V>>,
}

/// As many answers as there are.
impl<K: Ord, V: Clone> Default for Memo<K, V> {
    fn default() -> Self {
        Self::new(usize::MAX)
    }
}

impl<K: Ord, V: Clone> Memo<K, V> {
    /// At most so many answers.
    pub const fn new(most: usize) -> Self {
        Self { most, known: Mutex::new(BTreeMap::new()) }
    }

    /// The answer that is known, or else the one that `find` finds.
    pub fn get<Q>(&self, asked: &Q, find: impl FnOnce() -> V) -> V
    where
        K: Borrow<Q>,
        Q: Ord + ToOwned<Owned = K> + ?Sized,
    {
        let Ok(found) = self.try_get(asked, || Ok::<V, Infallible>(find()));
        found
    }

    /// The same, if an answer need not be found.
    pub fn try_get<Q, E>(&self, asked: &Q, find: impl FnOnce() -> Result<V, E>) -> Result<V, E>
    where
        K: Borrow<Q>,
        Q: Ord + ToOwned<Owned = K> + ?Sized,
    {
        let known = || self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = known().get(asked) {
            return Ok(found.clone());
        }
        // Not under the lock: a thread that waits for it might be needed for the work.
        let found = find()?;
        let mut known = known();
        if known.len() >= self.most {
            known.clear();
        }
        known.insert(asked.to_owned(), found.clone());
        Ok(found)
    }
}
