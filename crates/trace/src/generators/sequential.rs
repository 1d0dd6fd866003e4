//! sequential - Streams of consecutive or strided requests, interleaved
//!
//! # Source
//! Textbook.
//!
//! # What it does
//! The span is divided into as many equal regions as there are streams. Streams take turns; each walks through its
//! region and starts over where the next request would leave it.

use nandlab::error::ConfigError;
use nandlab::types::{Bytes, Pattern};

use super::random::SplitMix;
use super::shape::{Place, Shape};
use super::{Context, RequestStream, wrong};

nandlab::params! {
    pub struct Params {
        /// Number of streams. Every region must have room for the largest request.
        streams: u64 = 1, in 1..=65_536;
        /// Bytes from the beginning of a request to that of the next of its stream; 0 means that a request begins where the
        /// one before ended, moved on to the next multiple of `align`.
        stride: Bytes = Bytes(0);
        ..shape: Shape = Shape::new("64KiB", 0.0);
    }
}

struct Sequential {
    /// Where each stream goes on, from the beginning of its region.
    heads: Vec<u64>,
    turn: usize,
    region: u64,
    stride: u64,
    align: u64,
}

/// Builds the generator.
///
/// # Errors
/// A parameter is out of range.
pub fn build(params: &Params, context: Context) -> Result<RequestStream, ConfigError> {
    let bounds = params.shape.bounds()?;
    let streams = params.streams;
    let region = bounds.span / bounds.align / streams * bounds.align;
    if region < bounds.size_max {
        let problem = format!("regions of {} have no room for requests of {}", Bytes(region), Bytes(bounds.size_max));
        return Err(wrong("streams", problem, "use fewer streams, a larger span or smaller requests"));
    }
    let stride = params.stride.0;
    if !stride.is_multiple_of(bounds.align) || stride > region {
        let help = format!("use 0 or a multiple of align, which is {}, up to {}", Bytes(bounds.align), Bytes(region));
        return Err(wrong("stride", format!("{} cannot be the stride", params.stride), help));
    }
    let place = Sequential { heads: vec![0; streams as usize], turn: 0, region, stride, align: bounds.align };
    Ok(Box::new(params.shape.at(place, context)?))
}

impl Place for Sequential {
    const HINT: Pattern = Pattern::Sequential;
    #[inline]
    fn place(&mut self, _: &mut SplitMix, length: u64) -> u64 {
        let (turn, head) = (self.turn, &mut self.heads[self.turn]);
        if *head + length > self.region {
            *head = 0;
        }
        let place = turn as u64 * self.region + *head;
        *head += if self.stride == 0 { length.next_multiple_of(self.align) } else { self.stride };
        self.turn = if turn + 1 == self.heads.len() { 0 } else { turn + 1 };
        place
    }
}
