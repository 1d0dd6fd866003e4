//! MIN (Belady, IBM Systems Journal 5(2), 1966): the most hits that any buffer can have.

use super::Counts;
use super::cache::Cache;
use super::history::{AHEAD, Event, History, Kind, NEVER, look_ahead};
use super::order::Order;

/// Replays Belady's MIN: the page that leaves is the one whose next access lies farthest away, which may be the page just
/// accessed (it then passes by); a page that is never accessed again leaves at once. It is blind to dirt, so that its hits
/// are the most there can be, and its cost is not the least.
///
/// Resident pages are the set of the times of their next accesses: times are unique, so that a set of bits with its
/// maximum is all that is needed.
pub fn belady(history: &History, frames: u32) -> Counts {
    let (events, next) = (history.events(), history.next());
    let mut min = Min { events, order: Order::new(events.len()), cache: Cache::new(history, frames) };
    let mut time = 0;
    for (ahead, next) in events.chunks(AHEAD).zip(next.chunks(AHEAD)) {
        look_ahead(ahead.iter().map(|event| min.cache.state(event.page())));
        for (event, next) in ahead.iter().zip(next) {
            min.step(time, *event, *next);
            time += 1;
        }
    }
    min.cache.finish()
}

struct Min<'a> {
    events: &'a [Event],
    /// Times of the next accesses of all resident pages.
    order: Order,
    cache: Cache,
}

impl Min<'_> {
    /// One event, and the time of the next access to its page.
    #[inline]
    fn step(&mut self, time: u32, event: Event, next: u32) {
        let page = event.page();
        let write = match event.kind() {
            Kind::Trim => return self.cache.trim(page),
            Kind::Flush => return self.cache.flush(),
            kind => kind == Kind::Write,
        };
        if self.cache.access(page, write) {
            self.order.remove(time);
        }
        if next == NEVER {
            return self.cache.evict(page);
        }
        self.order.insert(next);
        if !self.cache.settled() {
            let farthest = self.order.pop_max().expect("more pages are resident than there are frames");
            // Looking the page up waits for memory, and often it is the one just accessed.
            let leaves = if farthest == next { page } else { self.events[farthest as usize].page() };
            self.cache.evict(leaves);
        }
    }
}
