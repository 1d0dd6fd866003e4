//! The link between host and device: the data of requests crosses it, first come first served.

use super::controller::ControllerTimes;
use super::sleep::SleepTimes;
use crate::types::Nanos;

/// What a link carries.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LinkSpeed {
    /// Data of the host a second, 1 or more: what is left after line coding and packets.
    pub bytes_per_second: u64,
    /// One transfer at a time, whatever its way; else one each way.
    pub half_duplex: bool,
}

/// What the host interface costs a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct HostTimes {
    /// The link; `None` carries everything in no time.
    pub link: Option<LinkSpeed>,
    /// What carries out commands; `None` does so in no time.
    pub controller: Option<ControllerTimes>,
    /// When the device sleeps; `None`: never.
    pub sleep: Option<SleepTimes>,
    /// Protocol, firmware and controller: what a read takes before its operations start.
    pub read_overhead: Nanos,
    /// The same for a write, a trim or a flush.
    pub write_overhead: Nanos,
}

impl HostTimes {
    /// True if no request notices them.
    pub fn is_free(&self) -> bool {
        *self == Self::default()
    }
}

/// A direction of the link.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Way {
    /// From the host to the device: the data of writes.
    ToDevice,
    /// From the device to the host: the data of reads.
    ToHost,
}

/// What crossed the link, by [`Way`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct LinkUse {
    /// Data of the host.
    pub bytes: [u64; 2],
    /// Time that the link was busy with it.
    pub busy: [Nanos; 2],
}

/// A link: a queue for each way, or one for both.
///
/// Each transfer is handed over at the moment at which it is ready to cross, so that the order of the calls is the order of
/// service. A transfer takes its bytes / the speed, to the nearest nanosecond.
#[derive(Clone, Debug)]
pub(super) struct Link {
    speed: LinkSpeed,
    /// When all that was handed over so far has crossed, and when the last of it was ready, by way; half duplex: in the
    /// first place.
    free: [Nanos; 2],
    latest: [Nanos; 2],
}

impl Link {
    pub(super) const fn new(speed: LinkSpeed) -> Self {
        Self { speed, free: [Nanos::ZERO; 2], latest: [Nanos::ZERO; 2] }
    }

    /// These bytes are ready to cross since `ready`: when they have.
    ///
    /// # Panics
    /// If something that became ready later was handed over before.
    pub(super) fn carry(&mut self, way: Way, ready: Nanos, bytes: u64, used: &mut LinkUse) -> Nanos {
        let queue = if self.speed.half_duplex { 0 } else { way as usize };
        assert!(ready >= self.latest[queue], "the link is handed data of {ready} after data of {}", self.latest[queue]);
        let takes = self.takes(bytes);
        let end = self.free[queue].max(ready) + takes;
        (self.latest[queue], self.free[queue]) = (ready, end);
        used.bytes[way as usize] += bytes;
        used.busy[way as usize] += takes;
        end
    }

    /// Time of a transfer alone.
    fn takes(&self, bytes: u64) -> Nanos {
        let speed = u128::from(self.speed.bytes_per_second);
        Nanos(((u128::from(bytes) * 1_000_000_000 + speed / 2) / speed) as u64)
    }
}
