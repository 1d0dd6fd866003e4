//! The times of single requests, in the order of the requests, although they become known late and in any order.

use std::collections::VecDeque;

use crate::engine::{LateCompletion, Refused, Ssd};
use crate::types::{HostRequest, Nanos};

/// When a request arrived, was admitted and completed, ns of simulated time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RequestTimes {
    /// It arrived: in closed loop when it was admitted.
    pub arrival: Nanos,
    /// The device admitted it.
    pub admitted: Nanos,
    /// It was complete.
    pub finished: Nanos,
}

impl RequestTimes {
    /// Completion minus arrival.
    pub fn response(&self) -> Nanos {
        self.finished - self.arrival
    }
    /// Completion minus admission.
    pub fn device(&self) -> Nanos {
        self.finished - self.admitted
    }
}

/// A request that was carried out.
#[derive(Clone, Copy, Debug)]
struct Followed {
    arrival: Nanos,
    admitted: Nanos,
    finished: Option<Nanos>,
    /// Its end was not known at once.
    late: bool,
}

/// Carries requests out one by one and brings their times into order.
#[derive(Debug)]
pub(super) struct Follower {
    open: bool,
    /// The requests from the oldest that has not completed on.
    window: VecDeque<Followed>,
    /// Requests that left the window.
    gone: u64,
    /// Numbers of the requests in the window that are late, ascending.
    late: VecDeque<u64>,
    /// Late ones that left the window.
    late_gone: u64,
    scratch: Vec<LateCompletion>,
}

impl Follower {
    pub(super) fn new(open: bool) -> Self {
        Self { open, window: VecDeque::new(), gone: 0, late: VecDeque::new(), late_gone: 0, scratch: Vec::new() }
    }

    /// As [`Ssd::run`].
    pub(super) fn run(&mut self, device: &mut dyn Ssd, requests: &[HostRequest]) -> Result<(), Refused> {
        let mut stream = requests;
        while let Some((pieces, after)) = HostRequest::split_first(stream) {
            let done = device.submit_pieces(pieces)?;
            let arrival = if self.open { pieces[0].at } else { done.admitted };
            let late = done.finished.is_none();
            if late {
                self.late.push_back(self.gone + self.window.len() as u64);
            }
            self.window.push_back(Followed { arrival, admitted: done.admitted, finished: done.finished, late });
            stream = after;
        }
        Ok(())
    }

    /// Learns which late requests have completed.
    pub(super) fn settle(&mut self, device: &mut dyn Ssd) {
        device.take_late(&mut self.scratch);
        for LateCompletion { nth, finished } in self.scratch.drain(..) {
            let number = self.late[(nth - self.late_gone) as usize];
            self.window[(number - self.gone) as usize].finished = Some(finished);
        }
    }

    /// The oldest request, once it is complete.
    pub(super) fn next(&mut self) -> Option<RequestTimes> {
        let Followed { arrival, admitted, finished, late } = *self.window.front()?;
        let times = RequestTimes { arrival, admitted, finished: finished? };
        self.window.pop_front();
        self.gone += 1;
        if late {
            self.late.pop_front();
            self.late_gone += 1;
        }
        Some(times)
    }
}
