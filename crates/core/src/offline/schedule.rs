//! Decisions that know the future and the prices, carried out in an honest cache.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::cache::Cache;
use super::history::{History, Kind, NEVER};
use super::prices::LowerBound;
use super::segments::{Segments, WORTHLESS};
use super::{AccessCounts, belady};

/// Outdated entries of the heap for each page in it, before they are cleared away.
const OUTDATED: usize = 3;

/// A schedule that is possible, and comes close to the bound whose prices guide it: the page that leaves is the one whose
/// frame is worth least, by what keeping it would save until its last use less the prices of that time. Belady's MIN
/// instead, when that costs less.
pub fn schedule(history: &History, segments: &Segments, bound: &LowerBound, frames: u32) -> AccessCounts {
    let guided = guided(history, segments, bound, frames);
    let blind = belady(history, frames);
    if blind.cost(segments.costs()) < guided.cost(segments.costs()) { blind } else { guided }
}

fn guided(history: &History, segments: &Segments, bound: &LowerBound, frames: u32) -> AccessCounts {
    let (events, next) = (history.events(), history.next());
    let worths = segments.worths(&bound.prices);
    let mut cache = Cache::new(history, frames);
    // By page number: the time of its last event.
    let mut last = vec![NEVER; history.pages()];
    // Worth, then the time of the next event (of equal worth, the page that is needed last leaves), then that of the last.
    let mut heap: BinaryHeap<Reverse<(i64, Reverse<u32>, u32)>> = BinaryHeap::new();
    for (time, event) in events.iter().enumerate() {
        let page = event.page();
        match event.kind() {
            Kind::Trim => cache.trim(page),
            Kind::Flush => cache.flush(),
            kind => {
                cache.access(page, kind == Kind::Write);
                last[page as usize] = time as u32;
                let worth = worths[time][usize::from(cache.is_dirty(page))];
                if worth == WORTHLESS {
                    cache.evict(page);
                    continue;
                }
                heap.push(Reverse((worth, Reverse(next[time]), time as u32)));
                while !cache.settled() {
                    let Reverse((_, _, time)) = heap.pop().expect("more pages are resident than there are frames");
                    let page = events[time as usize].page();
                    if last[page as usize] == time && cache.is_resident(page) {
                        cache.evict(page);
                    }
                }
                if heap.len() > (OUTDATED + 1) * (cache.used() + 64) {
                    heap.retain(|Reverse((_, _, time))| {
                        let page = events[*time as usize].page();
                        last[page as usize] == *time && cache.is_resident(page)
                    });
                }
            }
        }
    }
    cache.finish()
}
