//! learnedftl - TPFTL with linear models that tell mappings without reading them (reconstruction)
//!
//! # Source
//! Shengzhe Wang, Zihang Lin, Suzhen Wu, Hong Jiang, Jie Zhang and Bo Mao, "LearnedFTL: a learning-based page-level FTL
//! for reducing double reads in flash-based SSDs", HPCA 2024. Known here are its abstract and the constants of its public
//! code (`ld-tpftl.h`). What is not known of it was designed here: this is a reconstruction. Do not publish numbers
//! from it under the paper's name.
//!
//! # What it does
//! As `tpftl`, and every translation page (TP) has a piecewise linear model that computes where a page lies, with one
//! bit for each of its pages that tells whether the model is exact for that page. A look-up that the cache cannot answer
//! asks the bit; if it is set, the TP is not read. A bit never lies: it is cleared whenever the mapping changes, and set
//! only in training, which compares every prediction with the mapping.
//!
//! A model is trained when its TP is programmed, because all mappings of the TP are in RAM then: when dirty mappings are
//! written back, when collection rewrites the TP, after preconditioning and at recovery. Pieces are found greedily: a
//! piece goes on as long as one slope is exact for all its pages. If there are more than `pieces`, those of the most
//! pages are kept. A model is replaced in place, and only by one that is exact for more pages.
//!
//! Models learn *virtual* page numbers: logical and physical pages are counted die by die, so that pages written in a
//! row, which go over all dies, lie on a line on every die.
//!
//! # Parameters
//! With groups `victim` chooses nothing, and `gc_frontier`, `gc_slice`, `gc_lag`, `streams`, `idle_free` and `wear_threshold`
//! are refused.
//!
//! RAM: that of `tpftl`, and `ceil(entries_per_tp / 8) + 12 * pieces` bytes for every TP.
//!
//! # Deviations and chosen readings
//! - A group of the paper fills whole superblocks and borrows pages of other groups' blocks when it has no free one. Here
//!   its parts on different dies are collected apart, and no group borrows: collection makes room first.
//! - Which group the paper collects is not known: here the cheapest. Sorted collection writes all mappings it moves, those
//!   in the cache too, which are clean then; a mapping on another die stays as it is.
//! - Pages that were written at different times and lie between each other break each other's pieces until their group
//!   is collected.
//! - The paper also trains at once after a long sequential write. Here the mappings of such a write are in the cache until
//!   they are written back, and that trains the model.
//! - The paper's virtual page numbers run over the dies of a superblock, whose blocks fill in step. Here the frontiers of
//!   dies drift apart, and numbers run die by die; this costs a piece for every die.
//! - A mapping that is predicted for a read does not enter the cache. For a write or a trim it does, as the overwritten
//!   mapping, and nothing is prefetched because nothing was read.
//! - Computing and training take no time. The paper's pieces hold floating-point numbers; here slopes are whole numbers of
//!   1/65536, and predictions are rounded down.
//! - Reports count a look-up that a model answers as a hit; it is counted as a hit of the second level too.
//! - At a power cut the models are lost; recovery rewrites all TPs, which trains them.
//! - Everything below the cache (order of effects, garbage collection with lazy copying, recovery) is as in `dftl`.
//!
//! - Measured over 40,000 pages written at random (512-byte pages, TPs of 128 mappings, a cache of 64 entries, 28 %
//!   spare): on four dies groups of 32 TPs raise the predicted share of reads from 0.12 to 0.89 at a write amplification
//!   of 7.4 instead of 6.8; on one frontier groups of 16 raise it from 0.12 to 0.86 at 4.9 instead of 7.5, because a group
//!   rewrites each of its TPs once for many pages.
//!
//! # Known ambiguities
//! - When a model that lost many bits is worth training, which the public code bounds by a count: here always, at every
//!   program of its TP.

use super::{Ftl, Shape};
use crate::error::ConfigError;
use crate::ftl::cache::models::Models;
use crate::ftl::cache::tp_cache::node_params;
use crate::ftl::frame::{Common, Frame};

/// Pieces of a model in the public code.
const PIECES: u32 = 8;

node_params! {
    /// Room for pieces in the model of a TP: for every block that a sequentially written TP may lie in, at least 8 (the
    /// public code). With frontiers on `D` dies and `N` pages a block these are `D * (ceil(ceil(entries_per_tp / D) / N) + 1)`.
    pieces: Option<u32> = None, in 1.., "pieces", absent "as many as that";
    /// TPs of a group. The pages of a group have blocks of their own on every die; when space runs out, all blocks of a group
    /// on one die are collected together, the valid pages sorted by LPN, and the TPs of the group are rewritten, which
    /// trains their models. The group is taken that gives back most blocks for its copies. A group keeps `ceil(pages on a die
    /// / pages of a block)` blocks of every die more in reserve, and its last block on every die may be part empty: use
    /// groups of several blocks. Without groups, blocks are allocated and collected as for `dftl`: what is predicted is what
    /// the host wrote in order and what collection left in order.
    group_tps: Option<u32> = None, in 1.., "TPs", absent "no groups";
}

/// Builds the FTL.
///
/// # Errors
/// When a relation between parameters and device is broken.
pub fn build(params: Params, shape: &Shape) -> Result<Box<dyn Ftl>, ConfigError> {
    let common = Common { sorted_tps: params.group_tps, ..params.common(params.frontiers) };
    let entries = common.entries(shape)?;
    let lanes = params.frontiers.lanes(&shape.geometry);
    let blocks = lanes * (entries.div_ceil(lanes).div_ceil(shape.geometry.pages_per_block) + 1);
    let pieces = params.pieces.unwrap_or(blocks.max(PIECES));
    if params.pieces.is_some() && pieces > entries {
        let problem = format!("{pieces} is outside 1 to {entries}, the mappings of a translation page");
        return Err(ConfigError::new("ftl.pieces", problem, "leave it out, or use 1 or more"));
    }
    let models = Models::new(shape.geometry, shape.logical_pages, entries, lanes, pieces);
    let cache = params.cache(shape, entries)?.with_models(models);
    Ok(Box::new(Frame::new(common.translation(shape, 1)?, cache, shape)))
}
