//! Independent work on several processors.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};

use crate::error::Error;
use crate::watch::Stop;

/// `work` for every item, on this many threads (`None`: one for each processor). Workers take the next item each; `done` is
/// told the results in the order of the items, each as soon as all before it are there. False if the work was stopped
/// before all was done: then results that are there already are handed out first, those behind a missing one too.
///
/// # Errors
/// The first error of `work` or of `done` ends everything.
pub(crate) fn each<I: Sync, T: Send, E: From<Error>>(
    threads: Option<usize>,
    stop: &Stop,
    items: &[I],
    work: impl Fn(&I) -> Result<T, Error> + Sync,
    mut done: impl FnMut(T) -> Result<(), E>,
) -> Result<bool, E> {
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let threads = threads.unwrap_or(processors).min(items.len());
    let next = AtomicUsize::new(0);
    let worker = |results: Sender<(usize, Result<T, Error>)>| {
        while !stop.is_stopped() {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(index) else { return };
            // Nothing listens any more after an error.
            _ = results.send((index, work(item)));
        }
    };
    std::thread::scope(|scope| {
        let (sender, receiver) = channel();
        let start = |sender: Sender<_>| scope.spawn(|| worker(sender));
        let workers: Vec<_> = (0..threads).map(|_| start(sender.clone())).collect();
        drop(sender);
        let outcome = in_order(&receiver, items.len(), stop, &mut done);
        for worker in workers {
            if let Err(panic) = worker.join() {
                std::panic::resume_unwind(panic);
            }
        }
        outcome
    })
}

/// Hands out results in the order of their numbers until all senders are gone.
fn in_order<T, E: From<Error>>(
    results: &Receiver<(usize, Result<T, Error>)>,
    items: usize,
    stop: &Stop,
    done: &mut impl FnMut(T) -> Result<(), E>,
) -> Result<bool, E> {
    let mut waiting = BTreeMap::new();
    let mut next = 0;
    let mut failure = None;
    for (index, result) in results {
        let step = match result {
            // A worker that was stopped is not a reason of its own.
            Err(Error::Stopped) => continue,
            Err(error) => Err(error.into()),
            Ok(_) if failure.is_some() => continue,
            Ok(value) => {
                waiting.insert(index, value);
                let mut step = Ok(());
                while step.is_ok()
                    && let Some(value) = waiting.remove(&next)
                {
                    next += 1;
                    step = done(value);
                }
                step
            }
        };
        if let Err(error) = step {
            stop.stop();
            failure.get_or_insert(error);
        }
    }
    match failure {
        None if next == items => Ok(true),
        None => {
            waiting.into_values().try_for_each(done)?;
            Ok(false)
        }
        Some(failure) => Err(failure),
    }
}

/// All results, in the order of the items.
///
/// # Errors
/// As [`each`]; [`Error::Stopped`] if it was stopped before all was done.
pub(crate) fn map<I: Sync, T: Send>(
    threads: Option<usize>,
    stop: &Stop,
    items: &[I],
    work: impl Fn(&I) -> Result<T, Error> + Sync,
) -> Result<Vec<T>, Error> {
    let mut results = Vec::with_capacity(items.len());
    let keep = |result| {
        results.push(result);
        Ok::<_, Error>(())
    };
    let complete = each(threads, stop, items, work, keep)?;
    if complete { Ok(results) } else { Err(Error::Stopped) }
}
