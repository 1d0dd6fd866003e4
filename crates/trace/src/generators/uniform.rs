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
use serde::{Deserialize, Serialize};

use super::random::SplitMix;
use super::shape::{Bounds, Place, Shape};
use super::{Context, Records};

/// See the module text.
#[derive(Clone, Debug, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    shape: Shape,
}

impl Default for Params {
    fn default() -> Self {
        Self { shape: Shape::new("4KiB", 0.5) }
    }
}

struct Uniform(Bounds);

/// Builds the generator.
///
/// # Errors
/// A parameter is out of range.
pub fn build(params: &Params, context: Context) -> Result<Records, ConfigError> {
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
