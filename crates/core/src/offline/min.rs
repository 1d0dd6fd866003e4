//! MIN (Belady, IBM Systems Journal 5(2), 1966): the most hits that any buffer can have.

use super::AccessCounts;
use super::history::{AHEAD, Event, History, Kind, NEVER};
use super::order::Order;

/// Replays Belady's MIN: the page that leaves is the one whose next access lies farthest away, which may be the page just
/// accessed (it then bypasses the buffer); a page that is never accessed again leaves at once. It is blind to dirt, so
/// that its hits are the most there can be, and its cost is not the least.
///
/// Times of next accesses are unique, so that they can stand for the pages: the resident pages are a set of times with its
/// maximum, the dirty ones among them another set, and an access hits if its own time is in the first. No table of pages is
/// needed.
pub fn belady(history: &History, frames: u32) -> AccessCounts {
    let (events, next) = (history.events(), history.next());
    let mut min = Min {
        frames,
        resident: Order::new(events.len()),
        used: 0,
        dirty: vec![0; events.len().div_ceil(64)],
        written: Vec::new(),
        has_flushes: history.has_flushes(),
        counts: AccessCounts { reads: history.reads(), writes: history.writes(), ..AccessCounts::default() },
    };
    let mut time = 0;
    for (events, next) in events.chunks(AHEAD).zip(next.chunks(AHEAD)) {
        for next in next {
            min.resident.look_ahead(*next);
        }
        for (event, next) in events.iter().zip(next) {
            min.step(time, *event, *next);
            time += 1;
        }
    }
    min.finish()
}

struct Min {
    frames: u32,
    /// Times of the next accesses of all resident pages, and how many they are.
    resident: Order,
    used: u32,
    /// A bit for each time: it stands for a dirty page.
    dirty: Vec<u64>,
    /// Times whose bits were set since the last flush, if there are flushes.
    written: Vec<u32>,
    has_flushes: bool,
    counts: AccessCounts,
}

impl Min {
    /// One event, and the time of the next access to its page.
    #[expect(
        clippy::needless_bitwise_bool,
        reason = "hits and writes are random: a branch on them is often mispredicted"
    )]
    #[inline]
    fn step(&mut self, time: u32, event: Event, next: u32) {
        let Some(write) = event.access() else {
            // A trimmed page left when it was last accessed.
            if event.kind() == Kind::Flush {
                self.flush();
            }
            return;
        };
        let hit = self.resident.remove(time);
        let dirty = self.clean(time) | write;
        self.used += u32::from(!hit);
        let counts = &mut self.counts;
        counts.read_hits += u64::from(hit & !write);
        counts.write_hits += u64::from(hit & write);
        if next == NEVER {
            self.leave(dirty);
            return;
        }
        self.resident.insert(next);
        self.dirty[next as usize / 64] |= u64::from(dirty) << (next % 64);
        if self.has_flushes && dirty {
            self.written.push(next);
        }
        if self.used > self.frames {
            let farthest = self.resident.pop_max().expect("more pages are resident than there are frames");
            let dirty = self.clean(farthest);
            self.leave(dirty);
        }
    }

    /// Takes the bit of a dirty page away: true if it was set.
    #[inline]
    fn clean(&mut self, time: u32) -> bool {
        let word = &mut self.dirty[time as usize / 64];
        let bit = 1 << (time % 64);
        let was_dirty = *word & bit != 0;
        *word &= !bit;
        was_dirty
    }

    #[inline]
    fn leave(&mut self, dirty: bool) {
        self.used -= 1;
        self.counts.pages_out += u64::from(dirty);
    }

    /// All dirty pages are written back, and stay.
    fn flush(&mut self) {
        for time in std::mem::take(&mut self.written) {
            self.counts.pages_out += u64::from(self.clean(time));
        }
    }

    /// The end. Every page left at its last access, and was written back if it was dirty: nothing is left to be written.
    fn finish(self) -> AccessCounts {
        assert_eq!(self.used, 0, "a page stays that is never accessed again");
        AccessCounts { pages_in: self.counts.reads - self.counts.read_hits, ..self.counts }
    }
}
