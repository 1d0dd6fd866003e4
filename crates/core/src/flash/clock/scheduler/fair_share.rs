//! fair-share - Every class that waits gets the same share of a die's time
//!
//! # Source
//! Start-time fair queueing: P. Goyal, H. M. Vin, H. Cheng, "Start-Time Fair Queuing: A Scheduling Algorithm for Integrated
//! Services Packet Switching Networks", IEEE/ACM Transactions on Networking 5(5), 1997, section II.
//!
//! # What it does
//! Each die counts the time that it works for each class. It takes the class for which it has worked least, among equals the
//! most urgent. A class that had nothing to do starts from where the class served last stands, so that it does not save up
//! time; when the die had nothing to do, all start over. All weights are one.

use super::{Head, SchedulerRule};

pub(super) const RULE: SchedulerRule = SchedulerRule { keeps_order: false, prefers_reads: false };

#[inline]
pub(super) const fn key(head: &Head) -> u64 {
    head.work
}
