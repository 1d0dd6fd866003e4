//! Long runs that have nothing to do with each other, on all processors.

use std::sync::{Mutex, PoisonError};

/// What is made of each of these, in their order.
pub fn at_once<I: Send, R: Send>(items: impl IntoIterator<Item = I>, make: impl Fn(I) -> R + Sync) -> Vec<R> {
    let waiting = Mutex::new(items.into_iter().enumerate().collect::<Vec<_>>().into_iter());
    let next = || waiting.lock().unwrap_or_else(PoisonError::into_inner).next();
    let work = || std::iter::from_fn(next).map(|(place, item)| (place, make(item))).collect::<Vec<_>>();
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    let mut made: Vec<_> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
        workers.into_iter().flat_map(|worker| worker.join().expect("its panic is above")).collect()
    });
    made.sort_by_key(|(place, _)| *place);
    made.into_iter().map(|(_, made)| made).collect()
}
