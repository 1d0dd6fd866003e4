//! What requests meet on their way into the device and out of it: a device that sleeps, its controller, the link.

use super::{Inflight, Pending, RequestKind, Times};
use crate::engine::link::Way;
use crate::flash::{Clock, Ticket};
use crate::types::Nanos;

/// The data of a read that crosses the link when all else is over.
#[derive(Clone, Copy, Debug)]
pub(super) enum Outgoing {
    /// None.
    Nothing,
    /// This many bytes, which take their turn then.
    Bytes(u64),
    /// They have had their turn on the link: when they have crossed.
    Until(Nanos),
}

impl Inflight {
    /// Times are taken from now on, and the device is awake.
    pub fn start_measuring(&mut self, now: Nanos) {
        self.times = Times::default();
        if let Some(sleep) = &mut self.sleep {
            sleep.since = now;
        }
    }

    /// A request is admitted now: when the device looks at it.
    pub fn awake(&mut self, now: Nanos) -> Nanos {
        let is_idle = self.waits_for_nothing();
        let Some(sleep) = &mut self.sleep else { return now };
        sleep.wake(now, if is_idle { self.times.last_completion } else { now })
    }

    /// No request is in the device whose end is not known.
    pub(super) const fn waits_for_nothing(&self) -> bool {
        self.pending.len() == self.free.len()
    }

    /// True if no request is under way now.
    pub fn is_complete(&self, now: Nanos) -> bool {
        self.waits_for_nothing() && self.last_known(now).is_none()
    }

    /// The last completion that is known and still ahead.
    pub fn last_known(&self, now: Nanos) -> Option<Nanos> {
        Some(self.times.last_completion).filter(|at| *at > now)
    }

    /// The device wakes now: when it is awake.
    fn waking(&self, now: Nanos) -> Option<Nanos> {
        self.sleep.as_ref()?.waking(now)
    }

    /// A command is there since `ready`, with this many pages of data: when the controller has carried it out.
    pub fn carry_out(&mut self, is_read: bool, pages: u64, ready: Nanos) -> Nanos {
        match &mut self.controller {
            Some(controller) => controller.carry_out(is_read, pages, ready, &mut self.times.controller_busy),
            None => ready,
        }
    }

    /// Data is ready to cross the link at `ready`; when it has.
    pub fn cross(&mut self, way: Way, ready: Nanos, bytes: u64) -> Nanos {
        match &mut self.link {
            Some(link) => link.carry(way, ready, bytes, &mut self.times.link),
            None => ready,
        }
    }

    /// All else of a request is over at that time: when it completes.
    #[inline]
    pub(super) fn leave_link(&mut self, outgoing: Outgoing, at: Nanos) -> Nanos {
        match outgoing {
            Outgoing::Nothing => at,
            Outgoing::Bytes(bytes) => self.cross(Way::ToHost, at, bytes),
            Outgoing::Until(crossed) => crossed,
        }
    }

    /// [`Inflight::finish`] for a read that sends data over the link once `done` has resolved. Its turn is known then:
    /// whatever is ready earlier goes first, even if its request comes later.
    pub fn finish_over_link(
        &mut self,
        clock: &mut Clock,
        kind: RequestKind,
        arrival: Nanos,
        admitted: Nanos,
        done: Ticket,
        bytes: u64,
    ) {
        let outgoing = match self.waking(clock.now()) {
            // Writes take their turn on the link when they are admitted. So does a read whose data is ready as soon as the device
            // is awake: else younger writes, ready at the same instant, would go before it.
            Some(awake) if done.as_time() == Some(awake) => Outgoing::Until(self.cross(Way::ToHost, awake, bytes)),
            _ => Outgoing::Bytes(bytes),
        };
        self.watch(clock, Pending { kind, arrival, admitted, outgoing }, done);
        // If the data is ready already, it takes its turn before that of the next request.
        self.settle(clock);
    }
}
