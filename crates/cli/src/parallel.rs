//! Independent work on several processors.

use std::sync::atomic::{AtomicUsize, Ordering};

/// `work` for every item, on this many threads (`None`: one for each processor). Workers take the next item each; results
/// lie in the order of the items, whoever finishes first.
pub fn map<I: Sync, T: Send>(threads: Option<u64>, items: &[I], work: impl Fn(&I) -> T + Sync) -> Vec<T> {
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let threads = threads.map_or(processors, |n| n as usize).min(items.len());
    let next = AtomicUsize::new(0);
    let worker = || {
        let mut done = Vec::new();
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(index) else { return done };
            done.push((index, work(item)));
        }
    };
    let mut results: Vec<(usize, T)> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(worker)).collect();
        let join = |worker: std::thread::ScopedJoinHandle<'_, Vec<_>>| match worker.join() {
            Ok(results) => results,
            Err(panic) => std::panic::resume_unwind(panic),
        };
        workers.into_iter().flat_map(join).collect()
    });
    results.sort_by_key(|(index, _)| *index);
    results.into_iter().map(|(_, result)| result).collect()
}
