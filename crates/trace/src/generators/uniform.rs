//! uniform - Every place as likely as the next
//!
//! # Source
//! Textbook.
//!
//! # What it does
//! Requests begin at places drawn evenly from all that are aligned and leave room for the request.
//!
//! # Parameters
//! Only those that generators share.

use nandlab::error::ConfigError;
use nandlab::types::Pattern;

use super::random::SplitMix;
use super::shape::{Bounds, Place, Shape};
use super::{Context, RequestStream};

nandlab::params! {
    pub struct Params {
        ..shape: Shape = Shape::new("4KiB", 0.5);
    }
}

struct Uniform(Bounds);

/// Builds the generator.
///
/// # Errors
/// A parameter is out of range.
pub fn build(params: &Params, context: Context) -> Result<RequestStream, ConfigError> {
    let place = Uniform(params.shape.bounds()?);
    Ok(Box::new(params.shape.at(place, context)?))
}

impl Place for Uniform {
    const HINT: Pattern = Pattern::Random;
    #[inline]
    fn place(&mut self, random: &mut SplitMix, length: u64) -> u64 {
        self.0.anywhere(random, length)
    }
}
