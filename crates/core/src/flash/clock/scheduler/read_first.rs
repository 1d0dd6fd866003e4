//! read-first - By class, map and host reads first
//!
//! # Source
//! Priority scheduling of flash operations as in MQSim (A. Tavakkol, J. Gomez-Luna, M. Sadrosadati, S. Ghose, O. Mutlu,
//! "MQSim: A Framework for Enabling Realistic Studies of Modern Multi-Queue SSD Devices", FAST 2018, section 4), with
//! suspension of programs and erases after G. Wu and X. He, "Reducing SSD Read Latency via NAND Flash Program and Erase
//! Suspension", FAST 2012, section 3.
//!
//! # What it does
//! A die takes the operation of the most urgent class: map read, host read, host write, map write, collection, background.
//! Collection that a write of the host waits for (its block is still to be erased, or a merge belongs to it) is as urgent as
//! that write: of the two the one that came first goes first. `device.scheduler.most_wait` bounds how long anything is
//! overtaken; `suspend` interrupts programs and erases.

use super::{Head, SchedulerRule};

pub(super) const RULE: SchedulerRule = SchedulerRule { keeps_order: false, prefers_reads: true };

#[inline]
pub(super) const fn key(head: &Head) -> u64 {
    (head.rank as u64) << 56 | head.order
}
