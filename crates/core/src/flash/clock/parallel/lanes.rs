//! The pending events of the parallel model, without a heap.
//!
//! All events of one kind lie the same time ahead when they are made (`t_R`, `t_PROG`, a transfer, ...), and time never
//! goes back: so each kind is a first-in first-out ring, and the next event of all is the earliest of seven heads,
//! however many dies there are.

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
/// Head of the timers, which are kept elsewhere because they have no order.
pub(super) const TIMER: usize = 6;
/// Places by kind, as many as the bits of a kind can name, so that its number need not be checked.
const KINDS: usize = 1 << LANE_BITS;

/// Time of an event that never happens.
pub(super) const NEVER: u64 = u64::MAX;

/// An event is `time << LANE_BITS | lane`, so that the least number is the next event and says of which kind it is.
pub(super) const LANE_BITS: u32 = 3;
const LANE_MASK: u64 = (1 << LANE_BITS) - 1;

#[derive(Clone, Copy, Debug)]
struct Entry {
    /// [`NEVER`] in a place that is free.
    event: u64,
    who: u32,
}

/// The rings. `who` is a die or a channel.
#[derive(Clone, Debug)]
pub(super) struct Lanes {
    /// The least of `first`.
    next: u64,
    /// First event of each kind; the last place is never used.
    first: [u64; KINDS],
    head: [u32; KINDS],
    tail: [u32; KINDS],
    mask: u32,
    /// By place in the ring, then by kind.
    rings: Vec<[Entry; KINDS]>,
}

impl Lanes {
    /// Rings for at most `each` events of a kind at a time.
    pub(super) fn new(each: u32) -> Self {
        let places = each.next_power_of_two();
        Self {
            next: NEVER,
            first: [NEVER; KINDS],
            head: [0; KINDS],
            tail: [0; KINDS],
            mask: places - 1,
            rings: vec![[Entry { event: NEVER, who: 0 }; KINDS]; places as usize],
        }
    }

    #[inline]
    fn place(&mut self, lane: usize, at: u32) -> &mut Entry {
        &mut self.rings[(at & self.mask) as usize][lane]
    }

    /// The next event ([`NEVER`] if there is none): [`time_of`] and [`lane_of`] take it apart.
    #[inline]
    pub(super) fn next(&self) -> u64 {
        self.next
    }

    /// Adds an event, which must not precede those of its kind.
    #[inline]
    pub(super) fn push(&mut self, lane: usize, time: u64, who: u32) {
        let event = time << LANE_BITS | lane as u64;
        let tail = self.tail[lane];
        debug_assert!(tail.wrapping_sub(self.head[lane]) <= self.mask, "more events than resources");
        *self.place(lane, tail) = Entry { event, who };
        self.tail[lane] = tail.wrapping_add(1);
        self.first[lane] = self.first[lane].min(event);
        self.next = self.next.min(event);
    }

    /// Removes the first event of a kind.
    #[inline]
    pub(super) fn pop(&mut self, lane: usize) -> u32 {
        let head = self.head[lane];
        let Entry { who, .. } = std::mem::replace(self.place(lane, head), Entry { event: NEVER, who: 0 });
        self.head[lane] = head.wrapping_add(1);
        self.first[lane] = self.place(lane, head.wrapping_add(1)).event;
        self.refresh();
        who
    }

    /// Sets the time of the next timer, or [`NEVER`].
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
