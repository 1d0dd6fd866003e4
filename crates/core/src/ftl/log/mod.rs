//! What the FTLs with log blocks share: data blocks, merges, and logs of one or of any logical block.

pub mod block_log;
pub mod chains;
pub mod copies;
pub mod merge;
pub mod random_log;
pub mod ring;
