//! Observers of a device: recorders, time series, plots. All hooks do nothing by default.

use crate::ledger::Cause;
use crate::types::{HostRequest, Lpn, Nanos};

/// A command that the buffer sends to the FTL.
#[derive(Clone, Copy, Debug)]
pub enum Command<'a> {
    /// A read; the cause tells a miss ([`Cause::Host`]) from padding and prefetch.
    Read {
        /// Why.
        why: Cause,
        /// Pages.
        lpns: &'a [Lpn],
    },
    /// A write-back unit or a write-through, ascending.
    Write {
        /// Pages.
        lpns: &'a [Lpn],
        /// Those of them that were not dirty.
        padded: &'a [Lpn],
    },
}

/// An observer of a device: recorders, time series and plots implement the events that they need.
pub trait Probe: Send {
    /// A page access was looked up.
    fn on_access(&mut self, lpn: Lpn, write: bool, hit: bool) {
        let _ = (lpn, write, hit);
    }
    /// The buffer sent a command to the FTL.
    fn on_command(&mut self, command: Command<'_>) {
        let _ = command;
    }
    /// The buffer dropped a clean page.
    fn on_drop(&mut self, lpn: Lpn) {
        let _ = lpn;
    }
    /// A request was admitted.
    fn on_request(&mut self, request: &HostRequest, admitted: Nanos) {
        let _ = (request, admitted);
    }
}
