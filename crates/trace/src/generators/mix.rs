//! mix - Other generators at once, each with its share of the requests
//!
//! # Source
//! Textbook.
//!
//! # What it does
//! Every request is drawn from one of the parts, by weight. Parts go on where they were: a sequential part stays
//! sequential between the requests of the others. Before a request as much time passes as passed before it in its own
//! part. The host's hint says which part a request is of (`pc`: 1, 2, ...).

use nandlab::error::ConfigError;

use super::random::{Alias, SplitMix};
use super::text::weighted;
use super::{Context, RequestStream, make};
use crate::row::TraceRecord;

nandlab::params! {
    pub struct Params {
        /// Generators in parentheses with their weights: `parts=(zipf:theta=0.9)@3,(sequential)@1`. Parts may be mixtures and
        /// presets too, up to 8 deep.
        parts: String = "(zipf)@3,(sequential)@1".to_owned();
    }
}

/// A generator inside another, with its own clock.
pub(super) struct Part {
    records: RequestStream,
    /// Time of its last request.
    last_ns: u64,
}

impl Part {
    /// Its next request at the time `now` of the whole, which goes on by what passed in the part.
    #[inline]
    pub(super) fn next(&mut self, now_ns: &mut u64) -> Option<TraceRecord> {
        let mut record = self.records.next()?;
        *now_ns = now_ns.saturating_add(record.at.0.saturating_sub(self.last_ns));
        self.last_ns = record.at.0;
        record.at.0 = *now_ns;
        Some(record)
    }
}

/// Builds the parts of a list, and gives their numbers.
pub(super) fn parts(text: &str, context: Context) -> Result<(Vec<Part>, Vec<u64>), ConfigError> {
    let mut seeds = SplitMix(context.seed);
    let (mut parts, mut numbers) = (Vec::new(), Vec::new());
    for (spec, number) in weighted("parts", text)? {
        let inner = Context { seed: seeds.next(), depth: context.depth + 1, ..context };
        parts.push(Part { records: make(spec, inner)?.records, last_ns: 0 });
        numbers.push(number);
    }
    Ok((parts, numbers))
}

struct Mix {
    parts: Vec<Part>,
    weights: Alias,
    random: SplitMix,
    now_ns: u64,
}

/// Builds the generator.
///
/// # Errors
/// A part cannot be built, or a weight is missing.
pub fn build(params: &Params, context: Context) -> Result<RequestStream, ConfigError> {
    let (parts, weights) = parts(&params.parts, context)?;
    let weights = Alias::new(weights.into_iter());
    Ok(Box::new(Mix { parts, weights, random: SplitMix(!context.seed), now_ns: 0 }))
}

impl Iterator for Mix {
    type Item = TraceRecord;

    #[inline]
    fn next(&mut self) -> Option<TraceRecord> {
        let part = self.weights.draw(&mut self.random);
        let mut record = self.parts[part as usize].next(&mut self.now_ns)?;
        record.hint.pc = part as u32 + 1;
        Some(record)
    }
}
