//! Time of the flash array: tickets and the two timing models.
//!
//! STATE FIRST, TIME AFTER: contents change at once; every flash operation returns a [`Ticket`] that resolves to the
//! time at which it finishes.

use crate::ledger::Op;
use crate::types::Nanos;

/// Promise of a finishing time. See the module text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ticket(pub(crate) u64);

impl Ticket {
    /// A ticket that is already resolved: 'at time `at`'.
    #[inline]
    pub const fn at(at: Nanos) -> Self {
        Self(at.0)
    }
}

/// Timing parameters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ClockTimes {
    /// t_R.
    pub page_read: Nanos,
    /// t_PROG.
    pub page_program: Nanos,
    /// t_BERS.
    pub block_erase: Nanos,
    /// One page over the channel.
    pub page_transfer: Nanos,
    /// Command phase on the channel (0 = none).
    pub command: Nanos,
}
