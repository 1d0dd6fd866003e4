//! The controller: cores on which commands are carried out one after the other, first come first served.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::types::Nanos;

/// How long a core of the controller is busy with a command.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ControllerTimes {
    /// Commands that are carried out at a time, 1 or more.
    pub cores: u32,
    /// A read.
    pub read: Nanos,
    /// A write, a trim or a flush.
    pub write: Nanos,
    /// Every page of a read or a write, in addition.
    pub page: Nanos,
}

impl ControllerTimes {
    /// Of a read or not, with this many pages of data.
    fn takes(&self, is_read: bool, pages: u64) -> Nanos {
        (if is_read { self.read } else { self.write }) + self.page * pages
    }
}

/// The cores. A command goes to the one that is free first; commands come in the order of the calls, so that this is the order
/// of service.
#[derive(Clone, Debug)]
pub(super) struct Controller {
    times: ControllerTimes,
    /// When each core has carried out what it was given: which core is which makes no difference.
    free: BinaryHeap<Reverse<Nanos>>,
}

impl Controller {
    pub(super) fn new(times: ControllerTimes) -> Self {
        Self { times, free: (0..times.cores).map(|_| Reverse(Nanos::ZERO)).collect() }
    }

    /// A command with this many pages of data is there since `ready`: when it has been carried out. `busy` grows by the time
    /// of the core.
    pub(super) fn carry_out(&mut self, is_read: bool, pages: u64, ready: Nanos, busy: &mut Nanos) -> Nanos {
        let takes = self.times.takes(is_read, pages);
        let Reverse(free) = self.free.pop().expect("there is a core");
        let end = free.max(ready) + takes;
        self.free.push(Reverse(end));
        *busy += takes;
        end
    }
}
