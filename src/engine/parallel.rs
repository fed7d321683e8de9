//! Work on all threads, with results in order.
//!
//! Every parallel iterator of rayon is some thousand lines of machine code of its own. Here rayon is called at
//! one place, with a closure behind a pointer; what is compiled for each use is a loop.

use std::ops::Range;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;

/// The largest number of pieces into which work is divided.
const MOST_PIECES: usize = 1024;

/// What `one` makes of every item.
pub fn map<I: Sync, T: Send>(items: &[I], one: impl Fn(&I) -> T + Sync) -> Vec<T> {
    map_range(0..items.len(), |place| one(&items[place]))
}

/// What `one` makes of every number.
pub fn map_range<T: Send>(range: Range<usize>, one: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let Range { start, end } = range;
    let length = end.saturating_sub(start).div_ceil(MOST_PIECES).max(1);
    let pieces: Vec<Range<usize>> =
        (start..end).step_by(length).map(|from| from..(from + length).min(end)).collect();
    let done: Vec<Mutex<Vec<T>>> = pieces.iter().map(|_| Mutex::default()).collect();
    for_each(pieces.len(), &|place| {
        let results = pieces[place].clone().map(&one).collect();
        *done[place].lock().unwrap_or_else(PoisonError::into_inner) = results;
    });
    let results = |piece: Mutex<Vec<T>>| piece.into_inner().unwrap_or_else(PoisonError::into_inner);
    let mut all = Vec::with_capacity(end.saturating_sub(start));
    done.into_iter().for_each(|piece| all.extend(results(piece)));
    all
}

/// Does the work of every place.
pub fn for_each(places: usize, work: &(dyn Fn(usize) + Sync)) {
    let one = |place| {
        checkpoint();
        work(place);
    };
    match places {
        0 => {}
        1 => one(0),
        _ => (0..places).into_par_iter().for_each(one),
    }
}

/// What work unwinds with that was cancelled. It is no panic: nothing is printed.
#[derive(Debug)]
pub struct Cancelled;

static IS_CANCELLED: AtomicBool = AtomicBool::new(false);

/// Ends all work at its next checkpoint, or, with `false`, allows work again. Whoever cancels catches
/// [`Cancelled`].
pub fn cancel(cancelled: bool) {
    IS_CANCELLED.store(cancelled, Ordering::Relaxed);
}

/// Unwinds with [`Cancelled`] if work is to end. Long loops that are not parallel call it themselves.
pub fn checkpoint() {
    if IS_CANCELLED.load(Ordering::Relaxed) {
        resume_unwind(Box::new(Cancelled));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_in_order() {
        for count in [0, 1, 7, MOST_PIECES, MOST_PIECES + 1, 5000] {
            let squares: Vec<usize> = (3..3 + count).map(|place| place * place).collect();
            assert_eq!(map_range(3..3 + count, |place| place * place), squares);
            let roots: Vec<usize> = (3..3 + count).collect();
            assert_eq!(map(&roots, |root| root * root), squares);
        }
    }
}
