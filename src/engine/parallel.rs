//! Work on all threads, with results in order; how much of it is done; and its early end.
//!
//! Every parallel iterator of rayon is some thousand lines of machine code of its own. Here rayon is called at
//! one place, with a closure behind a pointer; what is compiled for each use is a loop.
//!
//! Progress is measured here, and no other code need know of it. Every piece of work has a *width*, the
//! share that it is of the whole: 1 for a command. The places of [`for_each`] divide the width of the work
//! that they are a part of, and what a place has not added to the sum of all that is done when it ends (by
//! places within it), it adds then. Work that is done in several steps divides its width by [`part`] or
//! [`steps`], and a solver that nears its end says how near it is: see [`nearing`].

use std::cell::Cell;
use std::marker::PhantomData;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
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
        let results = steps(pieces[place].clone()).map(&one).collect();
        *done[place].lock().unwrap_or_else(PoisonError::into_inner) = results;
    });
    let results = |piece: Mutex<Vec<T>>| piece.into_inner().unwrap_or_else(PoisonError::into_inner);
    let mut all = Vec::with_capacity(end.saturating_sub(start));
    done.into_iter().for_each(|piece| all.extend(results(piece)));
    all
}

/// Does the work of every place. Each has an equal part of the width.
pub fn for_each(places: usize, work: &(dyn Fn(usize) + Sync)) {
    for_each_weighed(&vec![1.0; places], work);
}

/// As [`for_each`], where the width of a place is in proportion to its weight.
pub fn for_each_weighed(weights: &[f64], work: &(dyn Fn(usize) + Sync)) {
    let (places, sum) = (weights.len(), weights.iter().sum::<f64>());
    let part = |place: usize| if sum > 0.0 { weights[place] / sum } else { 0.0 };
    let one = |place| {
        checkpoint();
        work(place);
    };
    if places < 2 {
        return (0..places).for_each(one);
    }
    let whole = SHARE.get();
    let left = whole.left();
    (0..places).into_par_iter().for_each(|place| {
        // This may be another thread, on which other work waits: what that has added does not change.
        let _part = Part::new(left * part(place), 0.0);
        one(place);
    });
    SHARE.set(Share { added: whole.added + left, ..whole });
}

/// What a piece of work is of the whole, and what it has added to what is done.
#[derive(Clone, Copy)]
struct Share {
    width: f64,
    added: f64,
    /// Work within it adds nothing: it says itself what it has [`reached`].
    is_closed: bool,
}

/// Work that is not measured.
const NONE: Share = Share { width: 0.0, added: 0.0, is_closed: true };

impl Share {
    fn open(width: f64) -> Self {
        Self { width, added: 0.0, is_closed: false }
    }

    /// What is left for work within it.
    fn left(self) -> f64 {
        if self.is_closed { 0.0 } else { (self.width - self.added).max(0.0) }
    }

    /// Adds what is missing to a sum of `wanted`.
    fn reach(&mut self, wanted: f64) {
        if wanted > self.added {
            count(wanted - self.added);
            self.added = wanted;
        }
    }
}

thread_local! {
    /// The share of the work that this thread does now.
    static SHARE: Cell<Share> = const { Cell::new(NONE) };
    /// What this thread has done and not yet counted, and how often somebody had looked when it last counted.
    static UNCOUNTED: Cell<(f64, u64)> = const { Cell::new((0.0, 0)) };
}

/// What is done, in units of one over [`WHOLE`].
static DONE: AtomicU64 = AtomicU64::new(0);

const WHOLE: f64 = (1_u64 << 62) as f64;

/// How often somebody has looked at what is done.
static LOOKS: AtomicU64 = AtomicU64::new(0);

/// A thread keeps less than this share of the whole until somebody looks, so that threads do not wait for each
/// other where they count small pieces.
const FINE: f64 = 1e-6;

/// Counts a share of the whole as done.
fn count(share: f64) {
    let (uncounted, seen) = UNCOUNTED.get();
    let (share, looks) = (share + uncounted, LOOKS.load(Ordering::Relaxed));
    if share < FINE && looks == seen {
        return UNCOUNTED.set((share, seen));
    }
    DONE.fetch_add((share * WHOLE) as u64, Ordering::Relaxed);
    UNCOUNTED.set((0.0, looks));
}

/// The share of the whole that is done.
pub fn done() -> f64 {
    LOOKS.fetch_add(1, Ordering::Relaxed);
    (DONE.load(Ordering::Relaxed) as f64 / WHOLE).min(1.0)
}

/// From here on there is a new whole, which is divided by [`of_whole`].
pub fn begin() {
    DONE.store(0, Ordering::Relaxed);
}

/// A part of the work that a thread does; when it is dropped, all of it counts as done.
#[must_use = "it is over when it is dropped"]
pub struct Part {
    outer: Share,
    width: f64,
    /// What the work around it has added when it is over.
    counted: f64,
    /// It belongs to its thread.
    thread: PhantomData<*const ()>,
}

impl Part {
    fn new(width: f64, counted: f64) -> Self {
        Self { outer: SHARE.replace(Share::open(width)), width, counted, thread: PhantomData }
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        let mut share = SHARE.get();
        share.reach(self.width);
        SHARE.set(Share { added: self.outer.added + self.counted, ..self.outer });
    }
}

/// The next step of the work that this thread does, which is this part of it.
pub fn part(part: f64) -> Part {
    let share = SHARE.get();
    let width = (part * share.width).min(share.left());
    Part::new(width, width)
}

/// The rest of the work that this thread does, if it says itself what it has [`reached`]: a solver whose steps are
/// parallel, and whose number is not known.
pub fn nearing() -> Part {
    let part = part(1.0);
    SHARE.set(Share { is_closed: true, ..SHARE.get() });
    part
}

/// Work that is this share of the whole, whoever does it. What no such work is a part of is not counted: it is
/// preparation.
pub fn of_whole(share: f64) -> Part {
    Part::new(share, 0.0)
}

/// At least this share of the part of this thread is done.
pub fn reached(part: f64) {
    let mut share = SHARE.get();
    share.reach(part.min(1.0) * share.width);
    SHARE.set(share);
}

/// The numbers of a loop on this thread, whose rounds divide the rest of its width.
pub fn steps(range: Range<usize>) -> Steps {
    let part = part(1.0);
    let width = part.width;
    SHARE.set(Share::open(0.0));
    Steps { each: width / range.len().max(1) as f64, begun: 0, added: 0.0, range, part }
}

pub struct Steps {
    range: Range<usize>,
    each: f64,
    begun: usize,
    /// What the rounds have added.
    added: f64,
    part: Part,
}

impl Iterator for Steps {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        checkpoint();
        let next = self.range.next()?;
        let mut all =
            Share { added: self.added + SHARE.get().added, ..Share::open(self.part.width) };
        all.reach(self.begun as f64 * self.each);
        (self.added, self.begun) = (all.added, self.begun + 1);
        SHARE.set(Share::open(self.each));
        Some(next)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.range.size_hint()
    }
}

impl Drop for Steps {
    fn drop(&mut self) {
        // The part, which is dropped next, adds the rest.
        let added = self.added + SHARE.get().added;
        SHARE.set(Share { added, ..Share::open(self.part.width) });
    }
}

/// How far `value` is on its way from `first` down to `last`, by orders of magnitude.
pub fn fallen(first: f64, value: f64, last: f64) -> f64 {
    let way = libm::log(first / value) / libm::log(first / last);
    if way > 0.0 { way.min(1.0) } else { 0.0 }
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

/// What `work` returns; nothing if it was cancelled.
pub fn unless_cancelled<T>(work: impl FnOnce() -> T) -> Option<T> {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(done) => Some(done),
        Err(cause) if cause.is::<Cancelled>() => None,
        Err(cause) => resume_unwind(cause),
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

    /// Everything is counted once, however work is divided, but for what threads keep. (Other tests add to what is
    /// done, too, but none of them has a width.)
    #[test]
    fn what_is_done_adds_up_to_the_whole() {
        let now = || (done() * 1e4).round() / 1e4;
        begin();
        // Preparation is not counted.
        for_each(3, &|_| drop(map_range(0..3000, |number| number)));
        assert_eq!(now(), 0.0);
        {
            let _first = of_whole(0.25);
            for_each(5, &|place| {
                // Of a place some is added by places within it, and the rest at its end.
                let _half = part(0.5);
                for_each(place, &|_| drop(map_range(0..3000, |number| number)));
            });
            assert_eq!(now(), 0.25);
            for_each(7, &|_| ());
        }
        assert_eq!(now(), 0.25);
        let rest = of_whole(0.75);
        {
            let _solver = part(2.0 / 3.0);
            reached(0.5);
            reached(0.25);
            assert_eq!(now(), 0.5);
        }
        assert_eq!(now(), 0.75);
        {
            let _solver = nearing();
            for_each(9, &|_| ());
            assert_eq!(now(), 0.75);
            reached(fallen(1.0, 1e-3, 1e-6));
            assert_eq!(now(), 0.875);
        }
        for_each(9, &|_| ());
        drop(rest);
        assert_eq!(now(), 1.0);
        for work in [
            || for_each_weighed(&[3.0, 0.0, 1.0], &|_| assert!(done() < 1.0)),
            || for_each(2, &|_| drop(map_range(0..1, |_| assert!(done() < 1.0)))),
            || assert_eq!(steps(0..9).find(|&step| step == 2), Some(2)),
            || {
                for step in steps(3..8) {
                    assert!((done() - (step as f64 - 3.0) / 5.0).abs() < 1e-4);
                    let half = part(0.5);
                    for_each(4, &|_| drop(map_range(0..10, |number| number)));
                    drop(half);
                    assert!((done() - (step as f64 - 2.5) / 5.0).abs() < 1e-4);
                }
            },
        ] {
            begin();
            let whole = of_whole(1.0);
            work();
            drop(whole);
            let raw = DONE.load(Ordering::Relaxed) as f64 / WHOLE;
            assert!((raw - 1.0).abs() < 1e-4, "all is counted once: {raw}");
        }
    }

    #[test]
    fn cancelled_work_returns_nothing() {
        assert_eq!(unless_cancelled(|| 1), Some(1));
        let ended: Option<()> = unless_cancelled(|| resume_unwind(Box::new(Cancelled)));
        assert_eq!(ended, None);
    }
}
