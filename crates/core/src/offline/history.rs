//! The sequence of page accesses that buffers see.

use std::fmt;

use crate::engine::OutOfRange;
use crate::sparse::SparseTable;
use crate::types::{HostOp, HostRequest, Lpn};

/// Most events of a history: times and page numbers must fit their words.
pub const EVENTS_MAX: usize = 1 << 30;

/// No event follows.
pub(super) const NEVER: u32 = u32::MAX;

/// Events whose table entries are loaded together before they are needed one after the other: these loads do not wait for
/// each other.
pub(super) const AHEAD: usize = 32;

/// Loads what the accesses will need.
#[inline]
pub(super) fn look_ahead(values: impl Iterator<Item = u32>) {
    std::hint::black_box(values.fold(0, |sum, value| sum ^ value));
}

/// What happens to a page, or to all.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    Read,
    Write,
    /// The page holds nothing any more, and leaves the buffer without a write-back.
    Trim,
    /// All dirty pages are written back, and stay.
    Flush,
}

/// A page by its number (of the pages there are, in order of their first access), and what happens to it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Event(u32);

impl Event {
    const fn new(page: u32, kind: Kind) -> Self {
        Self(page << 2 | kind as u32)
    }
    #[inline]
    pub const fn page(self) -> u32 {
        self.0 >> 2
    }
    /// Of an access: is it a write? Without a branch that depends on it.
    #[inline]
    pub const fn access(self) -> Option<bool> {
        if self.0 & 2 == 0 { Some(self.0 & 1 != 0) } else { None }
    }
    #[inline]
    pub const fn kind(self) -> Kind {
        match self.0 & 3 {
            0 => Kind::Read,
            1 => Kind::Write,
            2 => Kind::Trim,
            _ => Kind::Flush,
        }
    }
}

/// Why requests are not a history.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HistoryError {
    /// A request lies beyond the device.
    OutOfRange(OutOfRange),
    /// There are more than [`EVENTS_MAX`] page accesses.
    TooLong,
}

impl fmt::Display for HistoryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OutOfRange(error) => write!(f, "{error}"),
            Self::TooLong => {
                write!(f, "there are more than {EVENTS_MAX} page accesses, too many for a look into the future")
            }
        }
    }
}
impl std::error::Error for HistoryError {}

impl From<OutOfRange> for HistoryError {
    fn from(error: OutOfRange) -> Self {
        Self::OutOfRange(error)
    }
}

/// Page accesses, trims and flushes in their order, as [`Hits`](crate::engine::Hits) carries them out: a write of a part of
/// a page counts as a write of the whole page, a trim takes whole pages only. 4 bytes an event, and 4 a logical page.
#[derive(Debug)]
pub struct History {
    page_sectors: u64,
    has_flushes: bool,
    events: Vec<Event>,
    /// Page numbers by LPN.
    numbers: SparseTable<u32>,
    /// By page number: accessed since its last trim.
    alive: Vec<bool>,
    reads: u64,
    writes: u64,
}

impl History {
    /// No accesses yet, to a device of that many pages. Without `with_flushes` the flushes of the host are left out:
    /// what lies in NVRAM need not be written back.
    pub fn new(logical_pages: u32, page_sectors: u32, with_flushes: bool) -> Self {
        Self {
            page_sectors: u64::from(page_sectors),
            has_flushes: with_flushes,
            events: Vec::new(),
            numbers: SparseTable::new(logical_pages as usize),
            alive: Vec::new(),
            reads: 0,
            writes: 0,
        }
    }

    /// Adds what requests do; their times are ignored.
    ///
    /// # Errors
    /// At the first request beyond the device, and when it becomes too long.
    pub fn extend(&mut self, requests: &[HostRequest]) -> Result<(), HistoryError> {
        let capacity_sectors = self.numbers.len() as u64 * self.page_sectors;
        for HostRequest { lba, sectors, op, .. } in requests {
            let end = lba.checked_add(u64::from(*sectors)).filter(|end| *end <= capacity_sectors);
            let Some(end) = end else {
                return Err(OutOfRange { lba: *lba, sectors: *sectors, capacity_sectors }.into());
            };
            let (first, end) = match op {
                HostOp::Trim => (lba.div_ceil(self.page_sectors), end / self.page_sectors),
                _ => (lba / self.page_sectors, end.div_ceil(self.page_sectors)),
            };
            let most = match op {
                HostOp::Trim => self.pages(),
                _ => end.saturating_sub(first) as usize,
            };
            if self.events.len() + most >= EVENTS_MAX {
                return Err(HistoryError::TooLong);
            }
            match op {
                HostOp::Read | HostOp::Write => {
                    for lpn in first..end {
                        self.access(Lpn(lpn as u32), *op == HostOp::Write);
                    }
                }
                HostOp::Trim => (first..end).for_each(|lpn| self.trim(Lpn(lpn as u32))),
                HostOp::Flush if self.has_flushes => self.events.push(Event::new(0, Kind::Flush)),
                HostOp::Flush => {}
            }
        }
        Ok(())
    }

    /// One page access.
    #[inline]
    fn access(&mut self, lpn: Lpn, write: bool) {
        let mut number = self.numbers.at(lpn.index());
        if number == NEVER {
            number = self.alive.len() as u32;
            self.numbers.set(lpn.index(), number);
            self.alive.push(true);
        }
        self.alive[number as usize] = true;
        self.events.push(Event::new(number, if write { Kind::Write } else { Kind::Read }));
        *(if write { &mut self.writes } else { &mut self.reads }) += 1;
    }

    /// A trim of a page that cannot be in a buffer is none.
    fn trim(&mut self, lpn: Lpn) {
        let number = self.numbers.at(lpn.index());
        if number != NEVER && std::mem::take(&mut self.alive[number as usize]) {
            self.events.push(Event::new(number, Kind::Trim));
        }
    }

    /// Page reads.
    pub const fn reads(&self) -> u64 {
        self.reads
    }
    /// Page writes.
    pub const fn writes(&self) -> u64 {
        self.writes
    }
    /// Page accesses.
    pub const fn accesses(&self) -> u64 {
        self.reads + self.writes
    }
    /// Different pages.
    pub fn pages(&self) -> usize {
        self.alive.len()
    }
    /// Flushes are among the events, if there were any.
    pub(super) const fn has_flushes(&self) -> bool {
        self.has_flushes
    }
    pub(super) fn events(&self) -> &[Event] {
        &self.events
    }

    /// For every access the time (index) of the next access to its page; [`NEVER`] if there is none, or a trim first.
    pub(super) fn next(&self) -> Vec<u32> {
        let mut later = vec![NEVER; self.pages()];
        let mut next = vec![NEVER; self.events.len()];
        let mut time = self.events.len();
        for ahead in self.events.rchunks(AHEAD) {
            look_ahead(ahead.iter().map(|event| later[event.page() as usize]));
            for event in ahead.iter().rev() {
                time -= 1;
                let later = &mut later[event.page() as usize];
                match event.kind() {
                    Kind::Flush => {}
                    Kind::Trim => *later = NEVER,
                    Kind::Read | Kind::Write => next[time] = std::mem::replace(later, time as u32),
                }
            }
        }
        next
    }
}
