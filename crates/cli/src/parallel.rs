//! Independent work on several processors.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};

use crate::fail::Failure;
use crate::interrupt;

/// `work` for every item, on this many threads (`None`: one for each processor). Workers take the next item each; `done` is
/// told the results in the order of the items, each as soon as all before it are there.
///
/// # Errors
/// The first error of `work` or of `done` ends everything. At a signal, results that are there already are handed out first,
/// those behind a missing one too.
pub fn each<I: Sync, T: Send>(
    threads: Option<u64>,
    items: &[I],
    work: impl Fn(&I) -> Result<T, Failure> + Sync,
    mut done: impl FnMut(T) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let threads = threads.map_or(processors, |n| n as usize).min(items.len());
    let next = AtomicUsize::new(0);
    let worker = |results: Sender<(usize, Result<T, Failure>)>| {
        while interrupt::check().is_ok() {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(index) else { return };
            // Nobody listens any more after an error.
            _ = results.send((index, work(item)));
        }
    };
    std::thread::scope(|scope| {
        let (sender, receiver) = channel();
        let start = |sender: Sender<_>| scope.spawn(|| worker(sender));
        let workers: Vec<_> = (0..threads).map(|_| start(sender.clone())).collect();
        drop(sender);
        let outcome = in_order(&receiver, items.len(), &mut done);
        for worker in workers {
            if let Err(panic) = worker.join() {
                std::panic::resume_unwind(panic);
            }
        }
        outcome
    })
}

/// Hands out results in the order of their numbers until all senders are gone.
fn in_order<T>(
    results: &Receiver<(usize, Result<T, Failure>)>,
    items: usize,
    done: &mut impl FnMut(T) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let mut waiting = BTreeMap::new();
    let mut next = 0;
    let mut failure = None;
    for (index, result) in results {
        let step = result.and_then(|value| {
            waiting.insert(index, value);
            while let Some(value) = waiting.remove(&next) {
                next += 1;
                done(value)?;
            }
            Ok(())
        });
        if let Err(error) = step {
            interrupt::stop();
            // A worker that was stopped is no reason of its own.
            if failure.as_ref().is_none_or(|known| matches!(known, Failure::Interrupted(_))) {
                failure = Some(error);
            }
        }
    }
    match failure {
        None if next == items => Ok(()),
        None | Some(Failure::Interrupted(_)) => {
            waiting.into_values().try_for_each(done)?;
            Err(Failure::Interrupted(String::new()))
        }
        Some(failure) => Err(failure),
    }
}

/// All results, in the order of the items.
///
/// # Errors
/// As [`each`].
pub fn map<I: Sync, T: Send>(
    threads: Option<u64>,
    items: &[I],
    work: impl Fn(&I) -> Result<T, Failure> + Sync,
) -> Result<Vec<T>, Failure> {
    let mut results = Vec::with_capacity(items.len());
    each(threads, items, work, |result| {
        results.push(result);
        Ok(())
    })?;
    Ok(results)
}
