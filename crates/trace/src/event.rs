//! Which step of a request a log with several events per request is read at.

use crate::error::TraceError;
use crate::pairing::{COMPLETED, ISSUED};
use crate::row::Row;

/// A step on the way of a request through the block layer of Linux, as blktrace names it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum BlockEvent {
    /// `Q`: queued, which is what the host asks for, before merging.
    Queue,
    /// `G`: a request structure was got.
    Get,
    /// `I`: inserted into the scheduler.
    Insert,
    /// `D`: issued to the driver, which is what the device sees.
    #[default]
    Issue,
    /// `C`: completed.
    Complete,
}

impl BlockEvent {
    /// All, in the order in which a request meets them.
    pub const ALL: [Self; 5] = [Self::Queue, Self::Get, Self::Insert, Self::Issue, Self::Complete];

    /// Its letter in the output of blkparse.
    pub const fn letter(self) -> char {
        ['Q', 'G', 'I', 'D', 'C'][self as usize]
    }

    /// The event of a letter.
    ///
    /// # Errors
    /// It is not Q, G, I, D or C.
    pub fn parse(letter: &str) -> Result<Self, TraceError> {
        let found = Self::ALL.into_iter().find(|event| letter.chars().eq([event.letter()]));
        found.ok_or_else(|| TraceError::Option {
            option: "event",
            value: letter.to_owned(),
            allowed: "Q (queued), G (got), I (inserted), D (issued to the driver) or C (completed)".to_owned(),
        })
    }

    pub(crate) fn title(self) -> &'static str {
        ["queued", "request got", "inserted", "issued to the driver", "completed"][self as usize]
    }
}

/// What a row of an event is to the reader.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum EventRole {
    /// It is the request.
    Request,
    /// It tells when a request was issued.
    Issued,
    /// It tells when a request was completed.
    Completed,
}

impl EventRole {
    /// The row of a request with this role.
    #[inline]
    pub(crate) fn play(self, row: Row) -> Row {
        match self {
            Self::Request => row,
            Self::Issued => row.after(ISSUED),
            Self::Completed => row.after(COMPLETED),
        }
    }
}

/// The event that is read, and what else the log holds.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Events {
    pub(crate) chosen: BlockEvent,
    /// Rows of each event so far.
    pub(crate) seen: [u64; 5],
}

impl Events {
    /// Counts a row of `event`, and what it is to the reader: nothing, if it is of no interest.
    #[inline]
    pub(crate) fn role(&mut self, event: BlockEvent) -> Option<EventRole> {
        self.seen[event as usize] += 1;
        match event {
            _ if event == self.chosen => Some(EventRole::Request),
            // Read at its completion, a request is over.
            _ if self.chosen == BlockEvent::Complete => None,
            BlockEvent::Issue => Some(EventRole::Issued),
            BlockEvent::Complete => Some(EventRole::Completed),
            _ => None,
        }
    }

    pub(crate) fn add(&mut self, other: &Self) {
        self.chosen = if other.seen == [0; 5] { self.chosen } else { other.chosen };
        for (sum, n) in self.seen.iter_mut().zip(other.seen) {
            *sum += n;
        }
    }

    /// "Q (12), C (12)".
    pub(crate) fn list(&self) -> String {
        let seen = BlockEvent::ALL.into_iter().filter(|event| self.seen[*event as usize] > 0);
        seen.map(|event| format!("{} ({})", event.letter(), self.seen[event as usize])).collect::<Vec<_>>().join(", ")
    }
}
