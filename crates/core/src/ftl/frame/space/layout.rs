//! How blocks are laid out, and whether that can always make room.

use serde::{Deserialize, Serialize};

use super::slc::Slc;
use crate::error::ConfigError;
use crate::flash::{Geometry, ProgramOrder};
use crate::ftl::Shape;
use crate::ftl::alloc::Alloc;
use crate::ftl::frame::stripe::Stripe;
use crate::ftl::pace::Pace;
use crate::ftl::placement::Placement;
use crate::ftl::victim::Victim;

/// How many open blocks the host writes to.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Frontiers {
    /// One for the device.
    Single,
    /// One on every die.
    Die,
    /// One on every plane of every die.
    Plane,
}

impl Frontiers {
    /// Lanes: parts of the device with frontiers of their own. Block `b` belongs to lane `b` modulo their number, lane `l` to die
    /// `l` modulo the dies.
    pub const fn lanes(self, geometry: &Geometry) -> u32 {
        match self {
            Self::Single => 1,
            Self::Die => geometry.dies(),
            Self::Plane => geometry.dies() * geometry.planes_per_die,
        }
    }
}

/// Where garbage collection writes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum GcFrontier {
    /// To the frontier of the host.
    Shared,
    /// To a frontier of its own.
    Separate,
}

/// Which blocks form a group: they share a free list, a reserve and collection, which empties one block at a time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sharing {
    /// Those of a channel.
    Channel,
    /// Those of a lane: of a die, or of one of its planes.
    Lane,
}

/// How blocks are allocated and collected.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    /// Which closed block is collected.
    pub victim: Victim,
    /// Which free block is taken.
    pub alloc: Alloc,
    /// Free blocks of a group at which garbage collection starts.
    pub reserve: u32,
    /// One group with one data frontier, or a data frontier on every die.
    pub frontiers: Frontiers,
    /// The groups when every die has a frontier.
    pub sharing: Sharing,
    /// Die of a page when every die has a frontier.
    pub placement: Placement,
    /// Order of the dies.
    pub stripe: Stripe,
    /// Logical pages whose blocks hold no others and are collected together; none: all pages share blocks.
    pub sorted_pages: Option<u32>,
    /// What else keeps the blocks in good order.
    pub upkeep: Upkeep,
}

/// What keeps blocks in good order: parameters of every FTL that maps pages.
#[derive(Clone, Copy, Debug)]
pub struct Upkeep {
    /// Where garbage collection writes.
    pub gc_frontier: GcFrontier,
    /// How fast collection goes.
    pub gc_slice: Pace,
    /// Pages of the host by which it may lag behind; none: any number.
    pub gc_lag: Option<u32>,
    /// Data frontiers of a die by update frequency.
    pub streams: u32,
    /// The host fills a page of the flash (`device.commands.unit_pages`) before the placement is asked again.
    pub whole_units: bool,
    /// Free blocks beyond the reserve that collection in idle time makes.
    pub idle_free: u32,
    /// Spread of erases at which cold pages move; none: no static wear levelling.
    pub wear_threshold: Option<u32>,
    /// Which blocks the SLC cache consists of,
    pub slc: Slc,
    /// and how many of a lane at most.
    pub slc_blocks: u32,
}

impl Upkeep {
    /// Refuses slices whose copies have no block of their own, and an SLC cache that cannot be.
    ///
    /// # Errors
    /// Names the option.
    fn validate(&self, shape: &Shape) -> Result<(), ConfigError> {
        self.validate_slc(shape.slc_pages)?;
        if self.gc_slice.number().fract() != 0.0 {
            let problem = format!("{} is not a number of pages", self.gc_slice.number());
            return Err(ConfigError::new("ftl.gc_slice", problem, "use whole pages, as in 4, or `paced`"));
        }
        if self.gc_slice.has_slices() && self.gc_frontier == GcFrontier::Shared {
            let problem = "between slices the host would fill the block that the copies need";
            return Err(ConfigError::new("ftl.gc_slice", problem, "use gc_frontier = \"separate\" with it"));
        }
        if self.gc_lag.is_some() && !self.gc_slice.has_slices() {
            let problem = "a victim is collected at once, so that there are no slices to lag behind";
            return Err(ConfigError::new(
                "ftl.gc_lag",
                problem,
                "use gc_slice = \"paced\" with it, or leave it out (--set ftl.gc_lag=)",
            ));
        }
        Ok(())
    }

    /// Refuses an SLC cache that cannot be.
    ///
    /// # Errors
    /// Names the option.
    fn validate_slc(&self, slc_pages: u32) -> Result<(), ConfigError> {
        let error = |key: &str, problem: &str, help: &str| Err(ConfigError::new(key, problem, help));
        match (self.slc, self.slc_blocks) {
            (Slc::None, 0) => return Ok(()),
            (Slc::None, _) => return error("ftl.slc_blocks", "there is no SLC cache", "set ftl.slc = \"dynamic\""),
            (_, 0) => return error("ftl.slc_blocks", "a cache without blocks", "use 1 or more, or ftl.slc = \"none\""),
            _ => {}
        }
        if slc_pages == 0 {
            let problem = "the blocks of this device have no SLC mode, or hold no unit of pages in it";
            return error(
                "ftl.slc",
                problem,
                "set device.cells.slc_read and slc_program; blocks need more pages than cells bits",
            );
        }
        if self.gc_frontier == GcFrontier::Shared {
            let problem = "what is folded would go to the host's blocks, back into the cache";
            return error("ftl.slc", problem, "use gc_frontier = \"separate\" with it");
        }
        Ok(())
    }

    /// The first option that ranges of pages with blocks of their own rule out.
    fn shares_blocks(&self) -> Option<&'static str> {
        [
            ("ftl.streams", self.streams > 1),
            ("ftl.wear_threshold", self.wear_threshold.is_some()),
            ("ftl.idle_free", self.idle_free > 0),
            ("ftl.gc_frontier", self.gc_frontier == GcFrontier::Separate),
        ]
        .into_iter()
        .find_map(|(key, given)| given.then_some(key))
    }
}

impl Layout {
    /// Groups, and lanes with data frontiers of their own.
    pub(super) fn counts(&self, geometry: &Geometry) -> (u32, u32) {
        let lanes = self.frontiers.lanes(geometry);
        match (self.frontiers, self.sharing) {
            (Frontiers::Single, _) => (1, 1),
            (_, Sharing::Channel) => (geometry.channels, lanes),
            (_, Sharing::Lane) => (lanes, lanes),
        }
    }

    /// Free blocks beyond the reserve at which slices start: one for the translation frontier, which may need it before the next
    /// slice. Without it the translation pages that a slice rewrites would break the reserve, and the rest of its victim be
    /// collected at once.
    pub(super) fn blocks_ahead(&self, copies: u32) -> u32 {
        u32::from(self.upkeep.gc_slice.has_slices()) * copies.min(1)
    }

    /// Most blocks of the SLC cache of a group.
    pub(super) fn slc_blocks(&self, geometry: &Geometry) -> u32 {
        let (groups, lanes) = self.counts(geometry);
        self.upkeep.slc_blocks.saturating_mul(lanes / groups)
    }

    /// Blocks of a group besides those that are full of pages: open ones of every die and for cold pages, and those of a static
    /// SLC cache.
    pub fn open_blocks(&self, geometry: &Geometry) -> u32 {
        let (groups, lanes) = self.counts(geometry);
        let Upkeep { streams, gc_frontier, wear_threshold, slc, .. } = self.upkeep;
        let separate = u32::from(gc_frontier == GcFrontier::Separate);
        let set_aside = if slc == Slc::Static { self.slc_blocks(geometry) } else { 0 };
        lanes / groups * (streams + separate) + u32::from(wear_threshold.is_some()) + set_aside
    }

    /// True if a page may go to any lane that has room.
    fn is_free(&self, geometry: &Geometry) -> bool {
        !self.placement.rule().by_number && self.counts(geometry).1 > 1
    }

    /// Refuses upkeep that cannot be, and whole units where they would make no difference or pages go to dies by their numbers.
    ///
    /// # Errors
    /// Names the option.
    pub fn validate(&self, shape: &Shape) -> Result<(), ConfigError> {
        self.upkeep.validate(shape)?;
        let error = |problem: &str, help: &str| Err(ConfigError::new("ftl.whole_units", problem, help));
        if self.upkeep.whole_units && self.placement.rule().by_number {
            let problem = format!("placement `{}` tells the die of every page by its number", self.placement.name());
            return error(&problem, "use ftl.placement = \"least_busy\" with it, or leave it out");
        }
        if self.upkeep.whole_units && shape.unit_pages == 1 {
            return error("a unit of this flash is one page", "set device.commands.unit_pages, or leave it out");
        }
        if self.upkeep.whole_units && shape.order == ProgramOrder::Strict {
            let problem =
                "a unit that is programmed before it is full leaves pages without data, and program_order is `strict`";
            return error(problem, "use device.program_order = \"ascending\" with it");
        }
        Ok(())
    }

    /// Refuses more free blocks in idle time than a device without data could have, of which `needed` blocks are never free.
    ///
    /// # Errors
    /// Names the option.
    pub fn need_idle_free(&self, shape: &Shape, needed: u64) -> Result<(), ConfigError> {
        let (groups, idle) = (self.counts(&shape.geometry).0, self.upkeep.idle_free);
        let why = format!("{idle} free ones in each of {groups} group(s) and {needed} that are never free");
        shape.need_blocks("ftl.idle_free", needed + u64::from(idle) * u64::from(groups), &why)
    }

    /// Valid pages of the host that a group can hold and always make room, besides `copies` of its share of the translation
    /// pages.
    pub(super) fn most_data(&self, geometry: &Geometry, map_pages: u32, copies: u32) -> u32 {
        let groups = self.counts(geometry).0;
        let kept = self.kept_free(geometry, copies) + self.open_blocks(geometry);
        // Translation pages have an open block, and collection one to turn over.
        let kept = kept + self.blocks_ahead(copies) + 2 * copies.min(1);
        let room = (geometry.blocks() / groups).saturating_sub(kept) * geometry.pages_per_block;
        room.saturating_sub(copies * map_pages.div_ceil(groups))
    }

    /// Blocks that the valid pages of a region fill, 0 without regions.
    fn region_blocks(&self, geometry: &Geometry) -> u32 {
        let dies = self.counts(geometry).1;
        self.sorted_pages.map_or(0, |pages| pages.div_ceil(dies).div_ceil(geometry.pages_per_block))
    }

    /// Free blocks of a group at which collection starts: with regions, enough to rewrite one; with slices, the block
    /// that a victim fills before it is erased, while translation pages (in that many `copies`) need the others.
    pub(super) fn kept_free(&self, geometry: &Geometry, copies: u32) -> u32 {
        let sliced = u32::from(self.upkeep.gc_slice.has_slices() && copies > 0);
        self.reserve.saturating_add(self.region_blocks(geometry) + sliced)
    }
}

/// Refuses layouts that cannot always make room (`translation` has the argument): `copies` is the number
/// of copies of each of `map_pages` translation pages.
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
    layout.validate(shape)?;
    let is_free = layout.is_free(&shape.geometry);
    let shares = layout.upkeep.shares_blocks().or(is_free.then_some("ftl.placement"));
    if let (Some(_), Some(key)) = (layout.sorted_pages, shares) {
        let problem = "groups keep their pages in blocks of their own and are collected as a whole";
        let help = format!("leave it out (--set {key}= if a device sets it, and all that needs it), or group_tps");
        return Err(ConfigError::new(key, problem, help));
    }
    let geometry = &shape.geometry;
    let pages = u64::from(geometry.pages_per_block);
    let (groups, frontiers) = layout.counts(geometry);
    let together = u64::from(copies.div_ceil(groups));
    let map = u64::from(copies) * u64::from(map_pages.div_ceil(groups));
    let dies = u64::from(frontiers / groups);
    let region = u64::from(layout.region_blocks(geometry));
    let (blocks, open) = match layout.sorted_pages {
        // Every region may end in the middle of a block.
        Some(range) => (u64::from(shape.logical_pages.div_ceil(range)) * dies * region + map.div_ceil(pages), 0),
        None => (
            (u64::from(shape.logical_pages.div_ceil(frontiers)) * dies + map) / pages,
            u64::from(layout.open_blocks(geometry)),
        ),
    };
    let open = open + u64::from(copies.min(1));
    let reserve = u64::from(layout.kept_free(geometry, copies)) + u64::from(layout.blocks_ahead(copies));
    let need = blocks + reserve + open + together.div_ceil(pages).max(1);
    if is_free {
        let uneven =
            format!("placement `{}` fills the groups unevenly: two blocks more in each", layout.placement.name());
        shape.need_blocks("ftl.placement", (need + 2) * u64::from(groups), &uneven)?;
    }
    let why = format!(
        "{groups} group(s) of {blocks} blocks for pages, {reserve} in reserve, {open} open and one to turn over"
    );
    shape.need_blocks("ftl.reserve", need * u64::from(groups), &why)?;
    layout.need_idle_free(shape, (reserve + open) * u64::from(groups))
}
