//! Independent work on several threads.

use std::sync::atomic::{AtomicUsize, Ordering};

/// The processors there are, or the wanted number of threads.
pub fn threads(wanted: Option<u64>) -> usize {
    wanted.map_or_else(|| std::thread::available_parallelism().map_or(1, usize::from), |n| n as usize)
}

/// Does the tasks `0..count`, each on the next thread that is free; the answers lie in the order of the tasks.
pub fn map<T: Send>(count: usize, threads: usize, task: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            if index >= count {
                return done;
            }
            done.push((index, task(index)));
        }
    };
    let mut answers: Vec<(usize, T)> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads.min(count)).map(|_| scope.spawn(work)).collect();
        let join = |worker: std::thread::ScopedJoinHandle<'_, Vec<_>>| match worker.join() {
            Ok(answers) => answers,
            Err(panic) => std::panic::resume_unwind(panic),
        };
        workers.into_iter().flat_map(join).collect()
    });
    answers.sort_by_key(|(index, _)| *index);
    answers.into_iter().map(|(_, answer)| answer).collect()
}
