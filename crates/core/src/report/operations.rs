//! How long flash operations took and what they waited for.

use serde::Serialize;

use super::{Latency, share};
use crate::flash::clock::{ClassWaits, OpClass, Waits};

/// Flash operations of one class. Times of waiting are means per operation that is finished.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, schemars::JsonSchema)]
pub struct ClassOperations {
    /// From when an operation was handed to the flash to its end: waits, command, cells and transfer.
    pub latency: Latency,
    /// Of that: waiting for another operation that must come first (the read of a copy, the erase of the block, a mapping).
    pub dependency_mean_ns: Option<f64>,
    /// Waiting for the die, by the class of what the die did meanwhile.
    pub die_mean_ns: ByClass<Option<f64>>,
    /// On the die, waiting for the channel.
    pub channel_mean_ns: Option<f64>,
    /// On the die, while it worked for other pages of the same command.
    pub company_mean_ns: Option<f64>,
    /// Suspended for reads, what it takes to resume included.
    pub suspended_mean_ns: Option<f64>,
    /// How often operations were suspended.
    pub suspensions: u64,
}

impl ClassOperations {
    fn new(waits: &ClassWaits) -> Self {
        let count = waits.latency.count();
        let die = |class: OpClass| share(waits.die[class as usize].0, count);
        Self {
            latency: Latency::new(&waits.latency),
            dependency_mean_ns: share(waits.dependency.0, count),
            die_mean_ns: ByClass::new(die),
            channel_mean_ns: share(waits.channel.0, count),
            company_mean_ns: share(waits.company.0, count),
            suspended_mean_ns: share(waits.suspended.0, count),
            suspensions: waits.suspensions,
        }
    }
}

/// One for each class of flash operations.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, schemars::JsonSchema)]
pub struct ByClass<T> {
    /// Translation pages read to look up mappings.
    pub map_read: T,
    /// Data pages read for the host, for padding, or ahead of the host.
    pub host_read: T,
    /// Pages from the buffer programmed, padding included.
    pub host_write: T,
    /// Translation pages read and programmed to evict dirty mappings.
    pub map_write: T,
    /// Garbage collection and merges, with the translation pages that they change.
    pub collection: T,
    /// Wear levelling, relocation of disturbed blocks, recovery.
    pub background: T,
}

impl<T> ByClass<T> {
    fn new(of: impl Fn(OpClass) -> T) -> Self {
        Self {
            map_read: of(OpClass::MapRead),
            host_read: of(OpClass::HostRead),
            host_write: of(OpClass::HostWrite),
            map_write: of(OpClass::MapWrite),
            collection: of(OpClass::Collection),
            background: of(OpClass::Background),
        }
    }

    /// The value of a class.
    pub const fn get(&self, class: OpClass) -> &T {
        match class {
            OpClass::MapRead => &self.map_read,
            OpClass::HostRead => &self.host_read,
            OpClass::HostWrite => &self.host_write,
            OpClass::MapWrite => &self.map_write,
            OpClass::Collection => &self.collection,
            OpClass::Background => &self.background,
        }
    }
}

/// Flash operations by class; only timing models with a scheduler count them.
pub type Operations = ByClass<ClassOperations>;

impl Operations {
    pub(super) fn of(waits: &Waits) -> Self {
        Self::new(|class| ClassOperations::new(waits.of(class)))
    }
}
