//! loops - The same stretch read again and again, then another
//!
//! # Source
//! Textbook: the pattern on which recency fails as soon as the loop is larger than the buffer.
//!
//! # What it does
//! A loop begins at a place drawn evenly. Requests walk through it from beginning to end, `passes` times; then the next
//! loop begins.

use nandlab::error::ConfigError;
use nandlab::types::{Bytes, Pattern};

use super::random::SplitMix;
use super::shape::{Bounds, Place, Shape};
use super::{Context, RequestStream, wrong};

nandlab::params! {
    pub struct Params {
        /// Bytes of a loop, a multiple of `align` with room for the largest request.
        length: Bytes = Bytes::mib(64);
        /// How often a loop is walked through.
        passes: u64 = 8, in 1..=1 << 32;
        ..shape: Shape = Shape::new("4KiB", 0.0);
    }
}

struct Loops {
    bounds: Bounds,
    length: u64,
    passes: u64,
    /// First byte of this loop, position in it, and passes that follow.
    start: u64,
    head: u64,
    left: u64,
}

/// Builds the generator.
///
/// # Errors
/// A parameter is out of range.
pub fn build(params: &Params, context: Context) -> Result<RequestStream, ConfigError> {
    let (bounds, length) = (params.shape.bounds()?, params.length.0);
    if !length.is_multiple_of(bounds.align) || length < bounds.size_max || length > bounds.span {
        let help = format!(
            "use a multiple of align, which is {}, from {} to {}",
            Bytes(bounds.align),
            Bytes(bounds.size_max),
            Bytes(bounds.span)
        );
        return Err(wrong("length", format!("{} cannot be the length of a loop", params.length), help));
    }
    let place = Loops { bounds, length, passes: params.passes, start: 0, head: length, left: 0 };
    Ok(Box::new(params.shape.at(place, context)?))
}

impl Place for Loops {
    const HINT: Pattern = Pattern::Looping;
    #[inline]
    fn place(&mut self, random: &mut SplitMix, length: u64) -> u64 {
        if self.head + length > self.length {
            self.head = 0;
            if self.left == 0 {
                self.left = self.passes;
                self.start = self.bounds.anywhere(random, self.length);
            }
            self.left -= 1;
        }
        let place = self.start + self.head;
        self.head += length.next_multiple_of(self.bounds.align);
        place
    }
}
