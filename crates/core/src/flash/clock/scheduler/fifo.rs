//! fifo - First come, first served
//!
//! # Source
//! What every device does that has no scheduler, and the timing model `parallel`: where no operation has to
//! wait for another one on its pages the two give equal times.
//!
//! # What it does
//! A die takes what came first, whatever it is for.

use super::{Head, SchedulerRule};

pub(super) const RULE: SchedulerRule = SchedulerRule { keeps_order: true, prefers_reads: false };

#[inline]
pub(super) const fn key(head: &Head) -> u64 {
    head.order
}
