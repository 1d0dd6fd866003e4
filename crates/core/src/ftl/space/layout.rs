//! How blocks are laid out, and whether that can always make room.

use super::super::Shape;
use super::super::heat::MAX_STREAMS;
use super::super::page::Frontiers;
use super::super::pool::{Alloc, Victim};
use crate::error::ConfigError;
use crate::flash::Geometry;

/// How blocks are allocated and collected.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    /// Which closed block is collected.
    pub victim: Victim,
    /// Which free block is taken.
    pub alloc: Alloc,
    /// Free blocks of a group at which garbage collection starts.
    pub reserve: u32,
    /// One group with one data frontier, or one group per channel with a data frontier on every die.
    pub frontiers: Frontiers,
    /// Logical pages whose blocks hold no others and are collected together; none: all pages share blocks.
    pub sorted_pages: Option<u32>,
    /// Data frontiers of a die by update frequency.
    pub streams: u32,
    /// Spread of erases at which cold pages move; none: no static wear levelling.
    pub wear_threshold: Option<u32>,
}

impl Layout {
    /// Blocks that the valid pages of a unit fill, 0 without units.
    pub(super) fn unit_blocks(&self, geometry: &Geometry) -> u32 {
        let dies = counts(self.frontiers, geometry).1;
        self.sorted_pages.map_or(0, |pages| pages.div_ceil(dies).div_ceil(geometry.pages_per_block))
    }
}

/// Groups and data frontiers.
pub(super) fn counts(frontiers: Frontiers, geometry: &Geometry) -> (u32, u32) {
    if frontiers == Frontiers::Single { (1, 1) } else { (geometry.channels, geometry.dies()) }
}

/// Refuses layouts that cannot always make room (the argument is in [`super::super::translation`]): `copies` is the number of
/// copies of each of `map_pages` translation pages.
///
/// # Errors
/// Names the relation that is broken.
pub fn validate(layout: &Layout, shape: &Shape, map_pages: u32, copies: u32) -> Result<(), ConfigError> {
    let (floor, why) = if copies > 0 {
        (3, "collecting a data block can take a block for its pages and one for translation pages")
    } else {
        (1, "garbage collection needs a block to copy to")
    };
    if layout.reserve < floor {
        let problem = format!("{} is too few: {why}", layout.reserve);
        return Err(ConfigError::new("ftl.reserve", problem, format!("use {floor} or more")));
    }
    layout.victim.validate()?;
    let refuse = |key: &str, problem: &str, mend: &str| Err(ConfigError::new(key, problem, mend));
    if layout.streams == 0 || layout.streams as usize > MAX_STREAMS {
        let problem = format!("{} is outside 1 to {MAX_STREAMS}", layout.streams);
        return refuse("ftl.streams", &problem, "use 1 for no separation, 2 for hot and cold");
    }
    if layout.wear_threshold == Some(0) {
        return refuse("ftl.wear_threshold", "0 would move a block after every erase", "use 1 or more (MQSim: 100)");
    }
    if layout.sorted_pages.is_some() && (layout.streams > 1 || layout.wear_threshold.is_some()) {
        let key = if layout.streams > 1 { "ftl.streams" } else { "ftl.wear_threshold" };
        return refuse(key, "groups keep their pages in blocks of their own", "leave it out, or group_tps");
    }
    let pages = u64::from(shape.geometry.pages_per_block);
    let (groups, frontiers) = counts(layout.frontiers, &shape.geometry);
    let together = if groups == 1 { u64::from(copies) } else { u64::from(copies.min(1)) };
    let map = u64::from(copies) * u64::from(map_pages.div_ceil(groups));
    let dies = u64::from(frontiers / groups);
    let unit = u64::from(layout.unit_blocks(&shape.geometry));
    let (blocks, open) = match layout.sorted_pages {
        // Every unit may end in the middle of a block.
        Some(range) => (u64::from(shape.logical_pages.div_ceil(range)) * dies * unit + map.div_ceil(pages), 0),
        None => (
            (u64::from(shape.logical_pages.div_ceil(frontiers)) * dies + map) / pages,
            dies * u64::from(layout.streams),
        ),
    };
    let open = open + u64::from(copies.min(1)) + u64::from(layout.wear_threshold.is_some());
    let reserve = u64::from(layout.reserve) + unit;
    let need = blocks + reserve + open + together.div_ceil(pages).max(1);
    let why = format!(
        "{groups} group(s) of {blocks} blocks for pages, {reserve} in reserve, {open} open and one to turn over"
    );
    shape.need_blocks("ftl.reserve", need * u64::from(groups), &why)
}
