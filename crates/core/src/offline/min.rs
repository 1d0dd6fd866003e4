//! MIN (Belady, IBM Systems Journal 5(2), 1966): the most hits that any buffer can have.

use super::Counts;
use super::cache::Cache;
use super::history::{History, Kind, NEVER};
use super::order::Order;

/// Replays Belady's MIN: the page that leaves is the one whose next access lies farthest away, which may be the page just
/// accessed (it then passes by); a page that is never accessed again leaves at once. It is blind to dirt, so that its hits
/// are the most there can be, and its cost is not the least.
///
/// Resident pages are the set of the times of their next accesses: times are unique, so that a set of bits with its
/// maximum is all that is needed.
pub fn belady(history: &History, frames: u32) -> Counts {
    let (events, next) = (history.events(), history.next());
    let mut order = Order::new(events.len());
    let mut cache = Cache::new(history, frames);
    for (time, event) in events.iter().enumerate() {
        let page = event.page();
        match event.kind() {
            Kind::Trim => cache.trim(page),
            Kind::Flush => cache.flush(),
            kind => {
                if cache.access(page, kind == Kind::Write) {
                    order.remove(time as u32);
                }
                let then = next[time];
                if then == NEVER || events[then as usize].kind() == Kind::Trim {
                    cache.evict(page);
                    continue;
                }
                order.insert(then);
                if !cache.settled() {
                    let farthest = order.pop_max().expect("more pages are resident than there are frames");
                    cache.evict(events[farthest as usize].page());
                }
            }
        }
    }
    cache.finish()
}
