//! tpftl - Demand-based page mapping with a cache of translation-page nodes (TPFTL)
//!
//! # Source
//! You Zhou, Fei Wu, Ping Huang, Xubin He, Changsheng Xie and Jian Zhou, "An efficient page-level FTL to optimize address
//! translation in flash memory", EuroSys 2015, read through the implementation that accompanies LearnedFTL (`tpftl.c`).
//!
//! # What it does
//! As `dftl`, but the mappings in RAM are grouped by their translation page (TP): an LRU list of TP nodes, each with an
//! LRU list of its cached entries. An access makes the entry the most recent one of its node and the node the most
//! recent one of all.
//!
//! A look-up that misses reads the TP once and takes more than one mapping from it. *Request-level prefetching* takes
//! the pages that the same request goes on to. *Selective prefetching* takes as many of the following pages as there
//! are consecutive cached pages directly before; a counter switches it: +1 for every node created, -1 for every node
//! removed; at +3 (many nodes: random accesses) it is switched off, at -3 on, and the counter begins again at 0.
//! Prefetched entries enter at the LRU end of their node. Making room for one may remove a node; it is the last one then.
//!
//! The victim is the least recent clean entry of the least recent node. If all entries of that node are dirty, its
//! least recent one goes: the TP is read and programmed with all of them, and those that stay are clean then (batch
//! update).
//!
//! # Parameters
//! RAM: `6 * cmt_entries + 8 * nodes + 4 * ceil(logical_pages / entries_per_tp)` bytes, or with `cmt_bytes` that size
//! and the directory. There are at most as many nodes as TPs or entries.
//!
//! # Deviations and chosen readings
//! - The paper orders nodes by the average hotness of their entries; here, as in the public code, by the last access.
//! - An entry takes 6 bytes (10-bit offset, 4-byte PPN, flags) and a node 8: from memory of the paper.
//! - A request waits for all evictions that its look-up causes, those for prefetched entries included.
//! - The run of pages that selective prefetching measures ends at the border of the TP.
//! - Prefetching never evicts the entry that was asked for. Nothing is prefetched when making room for that one removed
//!   a node, and the switch is looked at when its own node is there.
//! - A request that the data buffer writes back is a run of consecutive pages of one batch.
//! - Everything below the cache (order of effects, garbage collection with lazy copying, recovery) is as in `dftl`.
//!
//! # Known ambiguities
//! - Whether selective prefetching is on at first, and when it measures: `selective_prefetch`, `selective_run`.

use super::{Ftl, Shape};
use crate::error::ConfigError;
use crate::ftl::cache::tp_cache::node_params;
use crate::ftl::frame::Frame;

node_params! {}

/// Builds the FTL.
///
/// # Errors
/// When a relation between parameters and device is broken.
pub fn build(params: Params, shape: &Shape) -> Result<Box<dyn Ftl>, ConfigError> {
    let common = params.common(params.frontiers);
    let cache = params.cache(shape, common.entries(shape)?)?;
    Ok(Box::new(Frame::new(common.translation(shape, 1)?, cache, shape)))
}
