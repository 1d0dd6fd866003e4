//! page - Page-level mapping
//!
//! # Source
//! The ideal page-mapped FTL of the field: specs of URM (section 2, 4 B a page), EagleTree, MQSim; victim policies:
//! Desnoyers (FIFO, greedy), Van Houdt (d-choices), Rosenblum and Ousterhout (cost-benefit).
//!
//! # What it does
//! The whole map is in RAM. Pages are appended to an open block (frontier); when it is full and no more than `reserve`
//! blocks are free, garbage collection copies the valid pages of a victim and erases it. With `frontiers = "single"`
//! there is one frontier for the device, with `"die"` one on every die, each with its own blocks, reserve and garbage
//! collection, so that writes run in parallel.
//!
//! # Parameters
//! RAM: 4 bytes a logical page; 5 with more than one stream.
//!
//! # Deviations and chosen readings
//! - Order of one write: make room (which may copy the page about to be overwritten), program, invalidate, map.
//! - With a shared frontier the collector opens a fresh block for its copies and the host goes on in the rest of it.
//! - Effective physical size for the closed forms: `T = (blocks - reserve) * pages_per_block` with a shared frontier.
//! - Streams: copies of a shared frontier stay in the stream of their block, so that a collection opens one block at
//!   most. Counters are volatile: after a power cut every page is cold until it is written again.
//! - Slices: when the host needs a block and the victim is not yet empty, the rest is collected at once.
//! - SLC cache: collecting one of its blocks folds it into blocks of the native kind. A victim policy sees it as a block with few
//!   valid pages; in idle time all closed ones are folded, the oldest first. While the cache is full, or nothing is free beyond
//!   the reserve, the host's pages go past it.
//! - Idle time: a collection starts only if copying a whole block one page after the other would end before the next
//!   request, and takes the block with the fewest valid pages whatever the policy. The engine knows when that request
//!   comes (open loop, or hosts that all think); waits for other dies of the same channel are not foreseen.
//! - Wear levelling happens after an erase, one block each time. Cold pages gather in an open block of their own, so
//!   that blocks which were not fully valid do not waste the worn one. The spread is that of a group.
//!
//! # Known ambiguities
//! - Simulators disagree on when collection starts and on separate frontiers, and few state it: both are parameters.
//! - Cost-age-times is given as in later papers that cite it; how the original steps the age is not modelled.

use super::{Ftl, Shape};
use crate::error::ConfigError;
use crate::flash::{Flash, Ticket};
use crate::ftl::alloc::Alloc;
use crate::ftl::blocks::recover::Winners;
use crate::ftl::frame::heat::MAX_STREAMS;
use crate::ftl::frame::space::{Frontiers, GcFrontier, Layout, Sharing, Slc, Upkeep};
use crate::ftl::frame::stripe::Stripe;
use crate::ftl::frame::translation::{MapCache, Moved, Translation};
use crate::ftl::frame::{Frame, MapPolicy, Wanted};
use crate::ftl::pace::Pace;
use crate::ftl::placement::Placement;
use crate::ftl::victim::Victim;
use crate::sparse::SparseTable;
use crate::types::{Lpn, Ppn};

crate::params! {
    pub struct Params: Copy {
        /// Which closed block is collected.
        victim: Victim = Victim::default();
        /// Which free block is taken.
        alloc: Alloc = Alloc::default();
        /// Free blocks (per frontier group) at which garbage collection starts.
        reserve: u32 = 1, in 1.., "blocks";
        /// How many open blocks the host writes to.
        frontiers: Frontiers = Frontiers::Die;
        /// Where garbage collection writes.
        gc_frontier: GcFrontier = GcFrontier::Shared;
        /// Die of a page with `frontiers = "die"`, plane with `"plane"`.
        placement: Placement = Placement::default();
        /// The die is chosen for a whole unit of pages (`device.commands.unit_pages`): the host's next pages go to the die of
        /// the one before until its unit is full, so that they are programmed together if they come together, or until that die
        /// begins to program it (timing model `scheduled`). Then the rest of the unit stays without data: cells are programmed
        /// once (`write_amplification.dummy_pages`). Needs a placement that chooses, and a `program_order` that may skip pages.
        whole_units: bool = false;
        /// Order in which consecutive pages or writes go over the dies: which of channel, way (chip), die (of the chip)
        /// and, with `frontiers = "plane"`, plane runs fastest.
        stripe: Stripe = Stripe::default();
        /// Host frontiers of a group, by update frequency of the page. Every page has a counter of its writes, halved after as
        /// many page writes as there are logical pages; stream 1 begins at a count of 4, stream 2 at 8, and so on. 2 separate
        /// hot and cold.
        streams: u32 = 1, in 1..=MAX_STREAMS as u32;
        /// How fast collection goes: `whole` (a victim at once), `paced` or at most this many pages before every page that the
        /// host writes, from the moment that only the reserve is free. Slices need `gc_frontier = "separate"`.
        gc_slice: Pace = Pace::default(), in 1.0.., "pages";
        /// How far collection in slices may lag behind the host: pages of the host go to a block in runs of this many, and those
        /// of a run are programmed when all is over that was collected for pages of the group before the previous run began. It
        /// matters where collection yields (timing model `scheduled`): without a bound the host is fast until it needs a block,
        /// and then waits for all that was put off. Best a multiple of `device.commands.unit_pages`.
        gc_lag: Option<u32> = None, in 1.., "pages", absent "any number";
        /// In idle time, collection goes on until this many blocks beyond the reserve are free in every group; 0 is off. On a
        /// full device no more than its spare blocks can be free: with more, blocks that are nearly full are collected.
        idle_free: u32 = 0, "blocks";
        /// Static wear levelling: when the most and the least erased block of a group are further apart, the pages of the
        /// least erased closed block move to the most erased free one (cause `wear`).
        wear_threshold: Option<u32> = None, in 1.., "erases", absent "no static wear levelling (MQSim: 100)";
        /// Which blocks take the host's pages with one bit in a cell (SLC cache), where the device has such a mode
        /// (`device.cells`): none, blocks set aside, or what is free beyond the reserve. Needs `gc_frontier = "separate"`.
        slc: Slc = Slc::None;
        /// Most blocks of the SLC cache on every die (with `frontiers = "plane"` on every plane, with `"single"` in all).
        slc_blocks: u32 = 0, "blocks";
    }
}

/// Builds the FTL.
///
/// # Errors
/// When the logical pages do not fit next to the reserve, or a parameter is out of range.
pub fn build(params: Params, shape: &Shape) -> Result<Box<dyn Ftl>, ConfigError> {
    let Params { victim, alloc, reserve, frontiers, placement, stripe, .. } = params;
    let Params {
        gc_frontier, gc_slice, gc_lag, streams, whole_units, idle_free, wear_threshold, slc, slc_blocks, ..
    } = params;
    let upkeep =
        Upkeep { gc_frontier, gc_slice, gc_lag, streams, whole_units, idle_free, wear_threshold, slc, slc_blocks };
    if stripe.orders_planes() && frontiers != Frontiers::Plane {
        let problem = format!("`{stripe}` orders planes, which have no frontiers of their own");
        return Err(ConfigError::new("ftl.stripe", problem, "use frontiers = \"plane\", or leave out the p"));
    }
    let sharing = Sharing::Lane;
    let layout = Layout { victim, alloc, reserve, frontiers, sharing, placement, stripe, sorted_pages: None, upkeep };
    layout.validate(shape)?;
    validate_capacity(&layout, shape)?;
    let map = Resident(SparseTable::new(shape.logical_pages as usize));
    Ok(Box::new(Frame::new(Translation::new(layout, shape, 1, 0, 0), map, shape)))
}

/// With the map in RAM, a closed block with an invalid page is certain as soon as the open blocks and the reserve stand
/// next to the data.
fn validate_capacity(layout: &Layout, shape: &Shape) -> Result<(), ConfigError> {
    let geometry = shape.geometry;
    let groups = u64::from(layout.frontiers.lanes(&geometry));
    let open = (u64::from(layout.reserve) + u64::from(layout.open_blocks(&geometry))) * groups;
    let uneven = !layout.placement.rule().by_number && groups > 1;
    let data_blocks = if uneven || groups == 1 {
        u64::from(shape.logical_blocks())
    } else {
        let per_group = u64::from(shape.logical_pages).div_ceil(groups);
        per_group.div_ceil(u64::from(geometry.pages_per_block)) * groups
    };
    shape.need_blocks(
        "ftl.reserve",
        data_blocks + open,
        &format!("{data_blocks} of data and {open} of reserve and frontiers in {groups} group(s)"),
    )?;
    if uneven {
        let why = format!("placement `{}` fills the dies unevenly: two blocks more on each", layout.placement.name());
        shape.need_blocks("ftl.placement", data_blocks + open + 2 * groups, &why)?;
    }
    layout.need_idle_free(shape, open)
}

/// The whole map in RAM.
#[derive(Debug)]
struct Resident(SparseTable<Ppn>);

impl MapCache for Resident {
    const RESIDENT: bool = true;

    #[inline]
    fn moved(&mut self, lpn: Lpn, to: Ppn) -> Moved {
        self.0.set(lpn.index(), to);
        Moved::InRam
    }
}

impl MapPolicy for Resident {
    type Entry = Lpn;

    #[inline]
    fn look_up(&mut self, _: &mut Flash, _: &mut Translation, wanted: Wanted, after: Ticket) -> (Lpn, Ticket) {
        (wanted.lpn, after)
    }
    #[inline]
    fn ppn(&self, entry: Lpn) -> Ppn {
        self.0.at(entry.index())
    }
    #[inline]
    fn set(&mut self, entry: Lpn, ppn: Ppn) {
        self.replace(entry, ppn);
    }
    #[inline]
    fn replace(&mut self, entry: Lpn, ppn: Ppn) -> Ppn {
        if ppn.is_some() { self.0.replace(entry.index(), ppn) } else { self.0.take(entry.index()) }
    }
    fn newest(&self, lpn: Lpn) -> Option<Ppn> {
        Some(self.0.at(lpn.index()))
    }
    fn is_empty(&self) -> bool {
        false
    }
    fn restart(&mut self, winners: &Winners) {
        self.0.clear();
        winners.mapped().for_each(|(lpn, ppn)| self.0.set(lpn.index(), ppn));
    }
    fn bytes(&self) -> u64 {
        4 * self.0.len() as u64
    }
    fn check(&self, _: &Translation) {}
}
