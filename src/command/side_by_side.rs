//! Tasks that have nothing to do with each other, several at a time.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;

use super::Failure;

/// Carries out every task, in this order but up to `workers` at a time, and hands each outcome over on
/// this thread as soon as it is there. No task is begun after `hand_over` fails.
///
/// The threads are not those that share the work within a task: one that waits for others would take
/// up another task meanwhile, and finish its own late.
pub(super) fn side_by_side<T: Sync, R: Send>(
    tasks: &[T],
    workers: usize,
    carry_out: impl Fn(&T) -> R + Sync,
    hand_over: impl FnMut(R) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let next = AtomicUsize::new(0);
    let work = |outcomes: mpsc::Sender<R>| {
        while let Some(task) = tasks.get(next.fetch_add(1, Ordering::Relaxed)) {
            if outcomes.send(carry_out(task)).is_err() {
                break;
            }
        }
    };
    thread::scope(|scope| {
        let (sender, outcomes) = mpsc::channel();
        for _ in 0..workers.min(tasks.len()) {
            let sender = sender.clone();
            scope.spawn(|| work(sender));
        }
        drop(sender);
        outcomes.into_iter().try_for_each(hand_over)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_task_once_until_one_fails() {
        for workers in [1, 2, 7] {
            let tasks: Vec<u64> = (0..40).collect();
            let mut seen = Vec::new();
            side_by_side(
                &tasks,
                workers,
                |task| task * task,
                |square| {
                    seen.push(square);
                    Ok(())
                },
            )
            .unwrap();
            seen.sort_unstable();
            assert_eq!(seen, tasks.iter().map(|task| task * task).collect::<Vec<_>>());

            let begun = AtomicUsize::new(0);
            let count = |_: &u64| begun.fetch_add(1, Ordering::Relaxed);
            let failed = side_by_side(&tasks, 1, count, |_| Err(Failure::Broken("no".into())));
            assert_eq!(failed.unwrap_err().to_string(), "no");
        }
    }
}
