//! aalru - By AALRU's threshold, from the write amplification of the last 8192 page accesses
//!
//! # Source
//! AALRU, equations 4 and 6: the manual page of the buffer `aalru` names the paper.
//!
//! # What it does
//! The more the FTL writes on its own account, the more it pays to hand it whole blocks. A block of `B` pages is completed
//! from `B - (B / 5) Wf` of them on, where `Wf` is the write amplification of the last 8192 page accesses: never while it was
//! 1, always from 5 on. A policy that measures `Wf` itself, in periods of its own, tells the threshold instead (`aalru`).

use super::amplification::Amplification;
use super::{PaddingRule, Start};

pub(super) const RULE: PaddingRule = PaddingRule {
    by_amplification: true,
    start: |setting| Start { share: 1.0, follows: Some(Box::new(Amplification::new(setting.shape.pages_per_block))) },
    ..super::FIXED
};
