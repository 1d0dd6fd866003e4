//! none - No data buffer
//!
//! # Source
//! The baseline of every comparison: reads and writes go straight to the FTL.
//!
//! # What it does
//! Nothing is kept. A write is acknowledged when it is programmed; a partial page write reads the page first.
//!
//! # Deviations and chosen readings
//! None.
//!
//! # Known ambiguities
//! None.

use serde_json::{Value, json};

use super::{Access, Admission, Buffer, BufferShape, Fill, Plan, Sense, Slots};
use crate::error::ConfigError;
use crate::types::Slot;

crate::params! { pub struct Params {} }

/// No data buffer: every request goes to the flash below.
#[derive(Debug)]
pub struct NoBuffer;

/// Builds the policy.
///
/// # Errors
/// None.
#[expect(clippy::unnecessary_wraps, reason = "the list calls all policies alike")]
pub fn build(_: Params, _: &BufferShape) -> Result<NoBuffer, ConfigError> {
    Ok(NoBuffer)
}

impl Buffer for NoBuffer {
    fn on_hit(&mut self, _: Slot, _: &Access, _: &Slots, _: &Sense<'_>) {
        unreachable!("nothing is resident")
    }
    fn on_miss(&mut self, _: &Access, _: &Slots, _: &Sense<'_>) -> Admission {
        Admission::Bypass
    }
    fn fill(&self, _: &Slots) -> Option<Fill> {
        None
    }
    fn make_room(&mut self, _: Option<&Access>, _: &Slots, _: &Sense<'_>, _: &mut Plan) {}
    fn on_insert(&mut self, _: Slot, _: &Access, _: &Slots) {
        unreachable!("nothing is admitted")
    }
    fn on_remove(&mut self, _: Slot, _: &Slots) {}
    fn golden_state(&self, _: &Slots) -> Value {
        json!({})
    }
}
