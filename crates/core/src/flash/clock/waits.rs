//! How long operations take and what they wait for, by class.

use super::{CLASSES, OpClass};
use crate::histogram::Histogram;
use crate::types::Nanos;

/// What the operations of one class waited for so far. When nothing is in flight all of it belongs to finished ones.
#[derive(Clone, Debug, Default)]
pub struct ClassWaits {
    /// From when an operation was handed to the flash to its end.
    pub latency: Histogram,
    /// Waiting for another operation that must come first: the read of a copy, the erase of the block.
    pub dependency: Nanos,
    /// In the queue of a die, by the class of what the die did meanwhile (with cache registers, of what it took last), and on a
    /// die for its other command, by the class of that.
    pub die: [Nanos; CLASSES],
    /// On a die, waiting for the channel.
    pub channel: Nanos,
    /// On a die, while its channel or its cells worked for other pages of the same command, and waiting for that.
    pub company: Nanos,
    /// Suspended: from the decision until the operation goes on, and what it takes to resume it.
    pub suspended: Nanos,
    /// How often.
    pub suspensions: u64,
}

/// By class: see [`ClassWaits`].
#[derive(Clone, Debug, Default)]
pub struct Waits {
    by_class: [ClassWaits; CLASSES],
}

impl Waits {
    /// What a class waited for.
    pub const fn of(&self, class: OpClass) -> &ClassWaits {
        &self.by_class[class as usize]
    }

    /// Of a class by its number.
    #[inline]
    pub(super) const fn of_number(&mut self, class: usize) -> &mut ClassWaits {
        &mut self.by_class[class]
    }

    #[inline]
    pub(super) const fn of_mut(&mut self, class: OpClass) -> &mut ClassWaits {
        &mut self.by_class[class as usize]
    }
}
