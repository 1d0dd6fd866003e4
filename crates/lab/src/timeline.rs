//! Response times over a run: requests in windows of equal number, of which there are never more than a bound.

use nandlab::types::{HostOp, Nanos};

use crate::latencies::ReplayedRequest;

/// Most windows; when there would be more, two become one.
const WINDOWS: usize = 512;

/// The requests of a run in windows: each has as many requests as every other, the last one perhaps fewer. There are 1 to 512
/// windows, from 256 on when there are as many requests.
#[derive(Clone, Debug)]
pub struct Timeline {
    /// Requests of a window.
    width: u64,
    rows: Vec<TimelineRow>,
}

/// A window.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TimelineRow {
    /// Number of its first request, from 1.
    pub first: u64,
    /// Time of that in the trace.
    pub time: Nanos,
    /// Requests.
    pub requests: u64,
    /// Of those, reads.
    pub reads: u64,
    /// Of those, writes.
    pub writes: u64,
    /// Sum of the response times.
    pub response: Nanos,
    /// The longest of them.
    pub response_max: Nanos,
}

impl Default for Timeline {
    /// Nothing yet.
    fn default() -> Self {
        Self { width: 1, rows: Vec::with_capacity(WINDOWS) }
    }
}

impl Timeline {
    /// Adds the next request.
    pub fn add(&mut self, request: &ReplayedRequest) {
        let row = TimelineRow {
            first: request.number,
            time: request.time,
            requests: 1,
            reads: u64::from(request.op == HostOp::Read),
            writes: u64::from(request.op == HostOp::Write),
            response: request.response,
            response_max: request.response,
        };
        match self.rows.last_mut() {
            Some(last) if last.requests < self.width => last.take(&row),
            _ => {
                if self.rows.len() == WINDOWS {
                    self.halve();
                }
                self.rows.push(row);
            }
        }
    }

    /// The windows, in their order.
    pub fn rows(&self) -> &[TimelineRow] {
        &self.rows
    }

    /// Two windows become one.
    fn halve(&mut self) {
        self.width *= 2;
        let pairs = self.rows.chunks(2).map(|pair| {
            let mut row = pair[0];
            row.take(&pair[1]);
            row
        });
        self.rows = pairs.collect();
        self.rows.reserve(WINDOWS);
    }
}

impl TimelineRow {
    fn take(&mut self, later: &Self) {
        self.requests += later.requests;
        self.reads += later.reads;
        self.writes += later.writes;
        self.response += later.response;
        self.response_max = self.response_max.max(later.response_max);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(number: u64) -> ReplayedRequest {
        let op = if number.is_multiple_of(3) { HostOp::Read } else { HostOp::Write };
        let response = Nanos(number * 7919 % 1000);
        let (time, device) = (Nanos(number * 10), response);
        ReplayedRequest { number, time, op, lba: 0, sectors: 8, pieces: 1, recorded: None, response, device }
    }

    #[test]
    fn windows_are_those_of_a_list_cut_into_equal_parts() {
        for total in [0, 1, 511, 512, 513, 1024, 1025, 100_000] {
            let mut timeline = Timeline::default();
            let all: Vec<_> = (1..=total).map(request).collect();
            for request in &all {
                timeline.add(request);
            }
            let width = timeline.rows().first().map_or(1, |row| row.requests);
            assert!(timeline.rows().len() <= WINDOWS && (total < 512 || timeline.rows().len() >= WINDOWS / 2));
            for (row, part) in timeline.rows().iter().zip(all.chunks(width as usize)) {
                assert_eq!((row.first, row.time), (part[0].number, part[0].time), "{total}");
                assert_eq!(row.requests, part.len() as u64);
                assert_eq!(row.reads, part.iter().filter(|request| request.op == HostOp::Read).count() as u64);
                assert_eq!(row.writes, row.requests - row.reads);
                assert_eq!(row.response.0, part.iter().map(|request| request.response.0).sum::<u64>());
                assert_eq!(row.response_max, part.iter().map(|request| request.response).max().unwrap());
            }
            assert_eq!(timeline.rows().iter().map(|row| row.requests).sum::<u64>(), total);
        }
    }
}
