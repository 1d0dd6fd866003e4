//! Rows that are events: each request comes with its latency, once its completion is read.

use super::Records;
use crate::error::TraceError;
use crate::event::BlockEvent;
use crate::row::TraceRecord;

impl Records {
    /// The next request with its latency, where rows are events.
    pub(super) fn next_paired(&mut self) -> Option<Result<TraceRecord, TraceError>> {
        let issues = self.common.options.event.unwrap_or_default() == BlockEvent::Issue;
        loop {
            let pairing = self.pairing.as_mut().expect("rows are events");
            if let Some((record, locus)) = pairing.next(self.ended) {
                self.waited = Some(locus);
                return Some(Ok(record));
            }
            if self.ended {
                (self.ended, self.done, self.waited) = (false, true, None);
                return self.error.take().map(Err);
            }
            match self.read() {
                Some(Ok(record)) => {
                    let locus = self.read_locus();
                    self.pairing.as_mut().expect("rows are events").take(record, locus, issues);
                }
                Some(Err(error)) => (self.ended, self.error) = (true, Some(error)),
                None => self.ended = true,
            }
        }
    }
}
