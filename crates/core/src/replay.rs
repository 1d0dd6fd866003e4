//! Replay: how a stream of requests is fed to a device, and what can be said about it at the end.
//!
//! [`Replay`] is the loop of every batch front end. It scales the times of the trace, hands the device whole batches
//! (so that the hot loop stays inside the policy's own code), and keeps what is needed to tell whether an open-loop run
//! was overloaded.

mod follower;

use std::fmt;

use crate::config::{Config, ReplayMode};
use crate::engine::{Refused, Ssd};
use crate::types::{HostRequest, Nanos};
use follower::Follower;
pub use follower::RequestTimes;

/// Simulated times beyond this (18 years) are refused: the clock ends at 2^60 ns.
pub const TIME_MAX: Nanos = Nanos(1 << 59);

/// Why a replay ended early.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ReplayError {
    /// The device refused a request: it lies beyond the device, or the device is worn out.
    Refused {
        /// Its number, from 1.
        request: u64,
        /// What it asked for.
        error: Refused,
    },
    /// Simulated time ran out.
    TooLong {
        /// Number of the request, from 1, at which it did (or the last one of its batch).
        request: u64,
        /// The time.
        at: Nanos,
    },
}

impl fmt::Display for ReplayError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused { request, error } => write!(f, "request {request}: {error}"),
            Self::TooLong { request, at } => {
                let (years, limit) = (at.as_secs() / 31_557_600.0, TIME_MAX.as_secs() / 31_557_600.0);
                write!(
                    f,
                    "request {request}: simulated time reaches {years:.1} years, and it must stay below {limit:.1} \
                     years; lower replay.time_scale or replay.think_time, or use --mode fast, which ignores times"
                )
            }
        }
    }
}
impl std::error::Error for ReplayError {}

/// What only the replay knows about a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Outcome {
    /// Simulated time at which the measurement began.
    pub start: Nanos,
    /// Requests replayed, those before the measurement included.
    pub requests: u64,
    /// Those before the measurement.
    pub before: u64,
    /// Arrival of the last one (open loop), else zero.
    pub last_arrival: Nanos,
    /// Open loop: requests that had arrived, but that the device had not admitted, when the last one arrived.
    pub backlog: u64,
}

/// Feeds a stream of requests to a device, in batches, and keeps what tells whether it was overloaded.
#[derive(Debug)]
pub struct Replay {
    open: bool,
    scale: f64,
    /// Simulated time from which arrivals count.
    origin: Nanos,
    outcome: Outcome,
    admissions: Admissions,
    scaled: Vec<HostRequest>,
    /// Only if the times of single requests are wanted.
    follower: Option<Follower>,
}

impl Replay {
    /// A replay on `device`, whose measurement begins now.
    pub fn new(config: &Config, device: &dyn Ssd) -> Self {
        let origin = device.flash().now();
        Self {
            open: config.replay.mode == ReplayMode::Open,
            scale: config.replay.time_scale,
            origin,
            outcome: Outcome { start: origin, ..Outcome::default() },
            admissions: Admissions::default(),
            scaled: Vec::new(),
            follower: None,
        }
    }

    /// From now on keeps the times of each request, for [`Replay::take_times`]. Nothing was fed yet.
    pub fn follow(&mut self, device: &mut dyn Ssd) {
        assert_eq!(self.outcome.requests, 0, "requests are followed from the first one on");
        device.remember_late();
        self.follower = Some(Follower::new(self.open));
    }

    /// Hands the times of the next requests to `each`, in the order in which they were fed, up to the first that has not
    /// completed. What is held until then is the requests in the device and those behind the oldest of them. After
    /// [`Ssd::drain`] all have completed.
    pub fn take_times(&mut self, device: &mut dyn Ssd, mut each: impl FnMut(RequestTimes)) {
        if let Some(follower) = &mut self.follower {
            follower.settle(device);
            while let Some(times) = follower.next() {
                each(times);
            }
        }
    }

    /// Replays some requests, each with all its pieces ([`HostRequest::more`]).
    ///
    /// # Errors
    /// At the first request that the device refuses, or when simulated time runs out. Those before it were replayed.
    pub fn feed(&mut self, device: &mut dyn Ssd, requests: &[HostRequest]) -> Result<(), ReplayError> {
        let mut rest = requests;
        while !rest.is_empty() {
            let mut end = rest.len().min(self.admissions.until_next());
            while rest[end - 1].more && end < rest.len() {
                end += 1;
            }
            let (batch, later) = rest.split_at(end);
            self.feed_batch(device, batch)?;
            rest = later;
        }
        Ok(())
    }

    fn feed_batch(&mut self, device: &mut dyn Ssd, batch: &[HostRequest]) -> Result<(), ReplayError> {
        let first = self.outcome.requests + 1;
        let before = carried_out(device);
        let ran = if self.open && (self.scale != 1.0 || self.origin > Nanos::ZERO) {
            self.scaled.clear();
            let (start, scale) = (self.origin.0, self.scale);
            let at = |request: &HostRequest| Nanos(start.saturating_add((request.at.0 as f64 * scale).round() as u64));
            self.scaled.extend(batch.iter().map(|request| HostRequest { at: at(request), ..*request }));
            check_times(&self.scaled, first)?;
            carry_out(&mut self.follower, device, &self.scaled)
        } else {
            if self.open {
                check_times(batch, first)?;
            }
            carry_out(&mut self.follower, device, batch)
        };
        let done = carried_out(device) - before;
        self.outcome.requests += done;
        let now = device.flash().now();
        if now > TIME_MAX {
            return Err(ReplayError::TooLong { request: self.outcome.requests, at: now });
        }
        self.admissions.note(self.outcome.requests, now);
        if self.open {
            let fed = if self.scaled.is_empty() { batch } else { &self.scaled };
            // Of a batch that the device broke off, the last request that it carried out.
            let last = if ran.is_ok() { fed.last() } else { fed.iter().filter(|r| !r.more).take(done as usize).last() };
            self.outcome.last_arrival = last.map_or(self.outcome.last_arrival, |request| request.at);
        }
        ran.map_err(|error| ReplayError::Refused { request: first + done, error })
    }

    /// The measurement begins here: what was fed until now brought the device into its state. All of it is finished first; in
    /// open loop the requests behind come later by as much as that takes, as from a host that pauses meanwhile: they wait for
    /// nothing of it, and those that had come and were waiting go on waiting.
    pub fn measure_from_here(&mut self, device: &mut dyn Ssd) {
        let before = device.flash().now();
        device.start_measuring();
        self.outcome.start = device.flash().now();
        self.origin += self.outcome.start - before;
        self.outcome.before = self.outcome.requests;
    }

    /// Lets all requests complete and reports the outcome. Dirty pages stay in the buffer:
    /// [`crate::report::Report::settled`] goes on from here.
    pub fn finish(mut self, device: &mut dyn Ssd) -> Outcome {
        if self.open {
            self.outcome.backlog = self.admissions.after(self.outcome.last_arrival, self.outcome.requests);
        }
        device.drain();
        self.outcome
    }
}

/// Has the device carry out a batch, one by one only if requests are followed.
fn carry_out(follower: &mut Option<Follower>, device: &mut dyn Ssd, batch: &[HostRequest]) -> Result<(), Refused> {
    match follower {
        None => device.run(batch),
        Some(follower) => follower.run(device, batch),
    }
}

/// Requests that a device has carried out.
fn carried_out(device: &dyn Ssd) -> u64 {
    device.ledger().host_requests()
}

fn check_times(batch: &[HostRequest], first: u64) -> Result<(), ReplayError> {
    match batch.iter().position(|request| request.at > TIME_MAX) {
        Some(i) => Err(ReplayError::TooLong { request: first + HostRequest::count(&batch[..i]), at: batch[i].at }),
        None => Ok(()),
    }
}

/// When requests were admitted: a sample of at most 4,096 of them, evenly spread, whatever their number. When it is
/// full, every other one is dropped and the stride doubles, so the backlog is known to 1/2,048 of the requests.
#[derive(Debug)]
struct Admissions {
    /// Requests so far and the admission of the last of them.
    samples: Vec<(u64, Nanos)>,
    stride: u64,
    noted: u64,
}

impl Default for Admissions {
    fn default() -> Self {
        Self { samples: Vec::new(), stride: 1, noted: 0 }
    }
}

impl Admissions {
    const MAX: usize = 4096;
    /// Longest run between two looks at the clock.
    const STRIDE_MAX: u64 = 4096;

    /// Requests until the next sample is due.
    fn until_next(&self) -> usize {
        let step = self.stride.min(Self::STRIDE_MAX);
        (step - self.noted % step) as usize
    }

    fn note(&mut self, requests: u64, admitted: Nanos) {
        self.noted = requests;
        if !requests.is_multiple_of(self.stride) {
            return;
        }
        self.samples.push((requests, admitted));
        if self.samples.len() == Self::MAX {
            self.stride *= 2;
            let stride = self.stride;
            self.samples.retain(|(n, _)| n.is_multiple_of(stride));
        }
    }

    /// Requests of `total` that were admitted after `at`.
    fn after(&self, at: Nanos, total: u64) -> u64 {
        let known = self.samples.partition_point(|(_, admitted)| *admitted <= at);
        let by_then = match known {
            0 => 0,
            n if n == self.samples.len() => return total - self.noted.min(total),
            n => self.samples[n - 1].0,
        };
        total - by_then
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn backlog_is_known_to_one_in_two_thousand_at_any_length() {
        for total in [1u64, 10, 4_096, 5_000, 100_000, 3_000_000] {
            let mut admissions = Admissions::default();
            let mut done = 0;
            while done < total {
                let n = (admissions.until_next() as u64).min(total - done);
                done += n;
                // Requests are admitted every 3 ns, the last one arrives at the time 2 * total.
                admissions.note(done, Nanos(done * 3));
            }
            let exact = total - (2 * total) / 3;
            let got = admissions.after(Nanos(2 * total), total);
            assert!(got.abs_diff(exact) <= total / 2_000 + 1, "{total}: {got} for {exact}");
            assert_eq!(admissions.after(Nanos(3 * total), total), 0, "{total}");
            assert!(admissions.samples.len() < Admissions::MAX);
        }
    }
}
