//! Independent tasks, several at a time.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;

use crate::failure::{Failure, WorkError};
use rayon::{ThreadPool, ThreadPoolBuilder};

/// The most tasks at a time: with more threads than that, each task has several.
const MOST: usize = 4;

/// Threads in pools, each of which carries out one task at a time.
///
/// Pools share no threads: otherwise a task could wait for a thread that is busy with another task.
pub(super) struct TaskPools(Vec<ThreadPool>);

impl TaskPools {
    /// All `threads`, in up to `most` pools.
    pub(super) fn new(threads: usize, most: usize) -> Result<Self, Failure> {
        let pool = |size| ThreadPoolBuilder::new().num_threads(size).build();
        let pools = sizes(threads, most.min(MOST)).into_iter().map(pool);
        Ok(Self(
            pools
                .collect::<Result<_, _>>()
                .map_err(|error| WorkError::Threads(error.to_string()))?,
        ))
    }

    /// Carries out every task, beginning them in this order, and hands each outcome over on this
    /// thread as soon as it is there. No task is begun after `hand_over` fails.
    pub(super) fn carry_out<T: Sync, R: Send>(
        &self,
        tasks: &[T],
        carry_out: impl Fn(&T) -> R + Sync,
        hand_over: impl FnMut(R) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let (next, failed) = (AtomicUsize::new(0), AtomicBool::new(false));
        let work = |pool: &ThreadPool, outcomes: mpsc::Sender<R>| {
            while let Some(task) = tasks.get(next.fetch_add(1, Ordering::Relaxed)) {
                if failed.load(Ordering::Relaxed) {
                    break;
                }
                if outcomes.send(pool.install(|| carry_out(task))).is_err() {
                    break;
                }
            }
        };
        thread::scope(|scope| {
            let (sender, outcomes) = mpsc::channel();
            for pool in &self.0 {
                let (sender, work) = (sender.clone(), &work);
                scope.spawn(move || work(pool, sender));
            }
            drop(sender);
            let handed_over = outcomes.into_iter().try_for_each(hand_over);
            failed.store(handed_over.is_err(), Ordering::Relaxed);
            handed_over
        })
    }
}

/// The number of threads in each pool, as equal as possible.
fn sizes(threads: usize, pools: usize) -> Vec<usize> {
    let pools = pools.clamp(1, threads.max(1));
    (0..pools).map(|pool| threads / pools + usize::from(pool < threads % pools)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_thread_is_in_a_pool() {
        assert_eq!(sizes(1, 4), [1]);
        assert_eq!(sizes(2, 4), [1, 1]);
        assert_eq!(sizes(2, 1), [2]);
        assert_eq!(sizes(11, 4), [3, 3, 3, 2]);
        assert_eq!(sizes(8, 0), [8]);
    }

    #[test]
    fn every_task_once_until_one_fails() {
        let tasks: Vec<u64> = (0..40).collect();
        for most in [1, 2, 4] {
            let pools = TaskPools::new(4, most).unwrap();
            assert_eq!(pools.0.len(), most);
            let mut seen = Vec::new();
            let keep = |square| {
                seen.push(square);
                Ok(())
            };
            pools.carry_out(&tasks, |task| task * task, keep).unwrap();
            seen.sort_unstable();
            assert_eq!(seen, tasks.iter().map(|task| task * task).collect::<Vec<_>>());
        }
        let fail = |task: u64| {
            if task < 3 { Ok(()) } else { Err(WorkError::Threads(task.to_string()).into()) }
        };
        let pools = TaskPools::new(1, 1).unwrap();
        let failed = pools.carry_out(&tasks, |task| *task, fail);
        assert_eq!(failed.unwrap_err().to_string(), "3");
    }
}
