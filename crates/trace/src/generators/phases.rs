//! phases - Other generators one after the other, again and again
//!
//! # Source
//! Textbook: the test of everything that adapts.
//!
//! # What it does
//! Each part makes its number of requests, then the next goes on; after the last the first goes on where it was. Time
//! passes as in the part whose turn it is. The host's hint says which part a request is of (`pc`: 1, 2, ...).

use nandlab::error::ConfigError;

use super::mix::{Part, parts};
use super::{Context, RequestStream};
use crate::row::TraceRecord;

nandlab::params! {
    pub struct Params {
        /// Generators in parentheses with the requests of a turn: `parts=(zipf)@50000,(loops)@20000`. Parts may be phases,
        /// mixtures and presets too, up to 8 deep.
        parts: String = "(zipf)@50000,(sequential)@20000,(loops)@50000".to_owned();
    }
}

struct Phases {
    parts: Vec<Part>,
    lengths: Vec<u64>,
    /// Whose turn it is, and its requests so far.
    turn: usize,
    done: u64,
    now_ns: u64,
}

/// Builds the generator.
///
/// # Errors
/// A part cannot be built, or a length is missing.
pub fn build(params: &Params, context: Context) -> Result<RequestStream, ConfigError> {
    let (parts, lengths) = parts(&params.parts, context)?;
    Ok(Box::new(Phases { parts, lengths, turn: 0, done: 0, now_ns: 0 }))
}

impl Iterator for Phases {
    type Item = TraceRecord;

    #[inline]
    fn next(&mut self) -> Option<TraceRecord> {
        if self.done == self.lengths[self.turn] {
            self.done = 0;
            self.turn = (self.turn + 1) % self.parts.len();
        }
        self.done += 1;
        let mut record = self.parts[self.turn].next(&mut self.now_ns)?;
        record.hint.pc = self.turn as u32 + 1;
        Some(record)
    }
}
