//! A device that has nothing to do for a while sleeps, and takes time to wake.

use crate::types::Nanos;

/// When a device sleeps.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SleepTimes {
    /// After so long without a request.
    pub after: Nanos,
    /// From the request that wakes it until it looks at it.
    pub wake: Nanos,
}

/// Whether it sleeps.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sleep {
    times: SleepTimes,
    /// It was awake then, whatever happened before.
    pub(super) since: Nanos,
    /// A request woke it: when it is awake.
    awake: Nanos,
}

impl Sleep {
    pub(super) const fn new(times: SleepTimes) -> Self {
        Self { times, since: Nanos::ZERO, awake: Nanos::ZERO }
    }

    /// It wakes now: when it is awake.
    pub(super) fn waking(&self, now: Nanos) -> Option<Nanos> {
        Some(self.awake).filter(|awake| *awake > now)
    }

    /// A request is admitted now, and no other is under way since that time, if it is past: when the device looks at it.
    pub(super) fn wake(&mut self, now: Nanos, idle_since: Nanos) -> Nanos {
        if self.since.max(idle_since) + self.times.after <= now {
            self.awake = now + self.times.wake;
        }
        self.awake.max(now)
    }
}
