//! Pending events without a heap.
//!
//! All events of one kind lie the same time ahead when they are made (`t_R`, `t_PROG`, a transfer, ...), and time never
//! goes back: so each kind is a first-in first-out list, and the next event of all is the earliest of seven heads,
//! however many dies there are. What does not come in this order a model keeps elsewhere, with its timers.

#![expect(clippy::inline_always, reason = "measured: two calls fewer for every operation of the model scheduled")]

/// Kinds of events. At one instant lower ones come first, which matters once: the transfer of a page to program must
/// end before its program does, even if that takes no time.
///
/// End of the command and transfer of a page to program.
pub(super) const LOAD: usize = 0;
/// End of a command phase.
pub(super) const COMMAND: usize = 1;
/// End of the transfer of a page that was read.
pub(super) const TRANSFER: usize = 2;
/// End of a cell phase, `CELL + operation` with the number of [`crate::ledger::Op`].
pub(super) const CELL: usize = 3;
/// Head of what is kept elsewhere because it has no order.
pub(super) const TIMER: usize = 6;
/// Places by kind, as many as the bits of a kind can name, so that its number need not be checked.
const KINDS: usize = 1 << LANE_BITS;

/// Time of an event that never happens.
pub(super) const NEVER: u64 = u64::MAX;

/// An event is `time << LANE_BITS | lane`, so that the least number is the next event and says what kind it is.
pub(super) const LANE_BITS: u32 = 3;
const LANE_MASK: u64 = (1 << LANE_BITS) - 1;

/// Places of a list that are looked at for what comes out of order.
const FEW: usize = 8;

/// What a die or a channel is to do next: a place in the list of its kind.
#[derive(Clone, Copy, Debug)]
struct Link {
    event: u64,
    /// The one after it in its list, or the last link of all.
    next: u32,
    who: u32,
}

/// The lists, first in, first out. `who` is a die.
///
/// A die has at most one cell phase under way and a channel at most one transfer, so each owns one link, and no list needs
/// memory of its own.
#[derive(Clone, Debug)]
pub(super) struct Lanes {
    /// The least of `first`.
    next: u64,
    /// First event of each kind; the last place is never used.
    first: [u64; KINDS],
    /// Its link, and that of the last event of the kind.
    head: [u32; KINDS],
    tail: [u32; KINDS],
    /// By die, then by channel; the last link of all stands behind the end of every list, at a time that never comes.
    links: Vec<Link>,
}

impl Lanes {
    /// No events, for that many dies and channels.
    pub(super) fn new(dies: u32, channels: u32) -> Self {
        let end = dies + channels;
        Self {
            next: NEVER,
            first: [NEVER; KINDS],
            head: [end; KINDS],
            tail: [end; KINDS],
            links: vec![Link { event: NEVER, next: end, who: 0 }; end as usize + 1],
        }
    }

    /// The next event ([`NEVER`] if there is none): [`time_of`] and [`lane_of`] take it apart.
    #[inline]
    pub(super) fn next(&self) -> u64 {
        self.next
    }

    /// Adds an event of die `who`, which must not precede those of its kind, at the link of that die or of its channel.
    #[inline]
    pub(super) fn push(&mut self, lane: usize, time: u64, link: u32, who: u32) {
        let event = time << LANE_BITS | lane as u64;
        let end = self.links.len() as u32 - 1;
        self.links[link as usize] = Link { event, next: end, who };
        let last = std::mem::replace(&mut self.tail[lane], link);
        if self.first[lane] == NEVER {
            self.first[lane] = event;
            self.head[lane] = link;
            self.next = self.next.min(event);
        } else {
            self.links[last as usize].next = link;
        }
    }

    /// The same for an event that may precede others of its kind: false if it does, and it was not added.
    #[inline(always)]
    pub(super) fn push_if_last(&mut self, lane: usize, time: u64, link: u32, who: u32) -> bool {
        let event = time << LANE_BITS | lane as u64;
        if self.first[lane] == NEVER {
            (self.first[lane], self.head[lane]) = (event, link);
            self.next = self.next.min(event);
        } else {
            let last = &mut self.links[self.tail[lane] as usize];
            if last.event > event {
                return false;
            }
            last.next = link;
        }
        self.tail[lane] = link;
        let end = self.links.len() as u32 - 1;
        self.links[link as usize] = Link { event, next: end, who };
        true
    }

    /// Adds an event that precedes the last one of its kind, if its place is among the first few. False if it is not.
    pub(super) fn insert(&mut self, lane: usize, time: u64, link: u32, who: u32) -> bool {
        let event = time << LANE_BITS | lane as u64;
        let (mut before, mut at) = (self.links.len() as u32 - 1, self.head[lane]);
        for place in 0..FEW {
            let Link { event: other, next, .. } = self.links[at as usize];
            if other > event {
                self.links[link as usize] = Link { event, next: at, who };
                if place == 0 {
                    (self.first[lane], self.head[lane]) = (event, link);
                    self.next = self.next.min(event);
                } else {
                    self.links[before as usize].next = link;
                }
                return true;
            }
            (before, at) = (at, next);
        }
        false
    }

    /// Removes an event of a kind before its time. False if this link is not on that list.
    pub(super) fn remove(&mut self, lane: usize, link: u32) -> bool {
        let end = self.links.len() as u32 - 1;
        let (mut before, mut at) = (end, self.head[lane]);
        while at != link {
            if at == end {
                return false;
            }
            (before, at) = (at, self.links[at as usize].next);
        }
        if before == end {
            self.pop(lane);
            return true;
        }
        self.links[before as usize].next = self.links[link as usize].next;
        if self.tail[lane] == link {
            self.tail[lane] = before;
        }
        true
    }

    /// Removes the first event of a kind; whose it was.
    #[inline]
    pub(super) fn pop(&mut self, lane: usize) -> u32 {
        let Link { next, who, .. } = self.links[self.head[lane] as usize];
        self.head[lane] = next;
        self.first[lane] = self.links[next as usize].event;
        self.refresh();
        who
    }

    /// Sets the time of the next event that is kept elsewhere, or [`NEVER`].
    #[inline]
    pub(super) fn set_timer(&mut self, time: u64) {
        self.first[TIMER] = if time == NEVER { NEVER } else { time << LANE_BITS | TIMER as u64 };
        self.refresh();
    }

    /// A tournament, so that the comparisons do not wait for one another.
    #[inline]
    fn refresh(&mut self) {
        let f = &self.first;
        self.next = (f[0].min(f[1]).min(f[2].min(f[3]))).min(f[4].min(f[5]).min(f[6]));
    }
}

/// Time of an event that is not [`NEVER`].
#[inline]
pub(super) const fn time_of(event: u64) -> u64 {
    event >> LANE_BITS
}

/// Kind of an event.
#[inline]
pub(super) const fn lane_of(event: u64) -> usize {
    (event & LANE_MASK) as usize
}
