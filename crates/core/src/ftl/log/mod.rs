//! What the FTLs with log blocks share: data blocks, merges, and logs of one or of any logical block.

pub(crate) mod block_log;
pub(crate) mod chains;
pub(crate) mod copies;
pub(crate) mod merge;
pub(crate) mod random_log;
pub(crate) mod report;
pub(crate) mod ring;
