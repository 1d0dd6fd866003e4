//! A map that takes a different part of the shared RAM after every operation.

use super::rig::PAGE_BYTES;
use crate::kit::{Dice, Twist};

/// Bytes of the map that come and go.
pub struct Hungry {
    dice: Dice,
    extra: u64,
}

impl Hungry {
    pub fn new(seed: u64) -> Self {
        Self { dice: Dice(seed), extra: 0 }
    }
}

impl Twist for Hungry {
    /// Mostly a few frames more or less, sometimes all there are.
    fn before(&mut self) {
        if self.dice.one_in(4) {
            let frames = if self.dice.one_in(12) { 8 + self.dice.below(12) } else { self.dice.below(6) };
            self.extra = u64::from(frames) * u64::from(PAGE_BYTES);
        }
    }
    fn more_map_bytes(&self) -> u64 {
        self.extra
    }
}
