//! Whole units: pages that one command programs ([`unit_pages`]) are given to one die together.
//!
//! Cells are programmed once. What comes when a die has begun to program a part of a unit begins another unit, and the rest
//! of that one stays without data (a drive fills it with dummy data). So a flush that leaves a unit half full costs flash. What
//! collection copies is not treated so, because a drive keeps it in RAM until a unit is full.
//!
//! [`unit_pages`]: crate::flash::CommandConfig::unit_pages

use super::{Frontier, FrontierId, Space};
use crate::divisor::Divisor;
use crate::flash::{Clock, Flash};

/// Units that are being filled.
#[derive(Debug)]
pub(super) struct Units {
    /// Pages of one,
    pages: u32,
    /// and to divide by them.
    by_pages: Divisor,
    /// By stream: the frontier of the host's last page. Empty without whole units.
    filling: Vec<Option<FrontierId>>,
    /// Pages that stay without data because of the host's last page (dummy pages).
    dummies: u32,
}

impl Units {
    pub(super) fn new(pages: u32) -> Self {
        Self { pages, by_pages: Divisor::new(pages), filling: Vec::new(), dummies: 0 }
    }

    /// Nothing is filled; with whole units, by this many streams.
    pub(super) fn forget(&mut self, streams: Option<u32>) {
        self.filling = vec![None; streams.unwrap_or(0) as usize];
        self.dummies = 0;
    }

    /// The host's page of a stream goes to this frontier.
    pub(super) fn fill(&mut self, stream: u32, id: u32) {
        if let Some(filling) = self.filling.get_mut(stream as usize) {
            *filling = Some(FrontierId(id));
        }
    }
}

impl Space {
    /// True if pages of the unit at which a frontier is are written, and the die has begun to program them.
    fn has_begun_unit(&self, id: FrontierId, clock: &Clock) -> bool {
        let Frontier { pbn, next, end, .. } = self.frontiers[id.0 as usize];
        next < end && self.units.by_pages.remainder(next) != 0 && clock.has_begun_writes(self.geometry.first_page(pbn))
    }

    /// With whole units, the frontier of a stream whose unit is not full and not begun.
    pub(super) fn unit_of(&self, stream: u32, clock: &Clock) -> Option<u32> {
        let id = (*self.units.filling.get(stream as usize)?)?;
        let Frontier { next, end, group, .. } = self.frontiers[id.0 as usize];
        let goes_on = next < end && self.units.by_pages.remainder(next) != 0 && self.dies.has_room_in(group);
        (goes_on && !self.has_begun_unit(id, clock)).then_some(id.0)
    }

    /// Before a page of the host: leaves the unit of its frontier if the die has begun to program that.
    pub(super) fn leave_unit(&mut self, flash: &mut Flash, id: FrontierId) {
        self.units.dummies = 0;
        if !self.has_begun_unit(id, &flash.clock) {
            return;
        }
        let frontier = &mut self.frontiers[id.0 as usize];
        let Frontier { pbn, next, end, group, .. } = *frontier;
        let rest = self.units.pages - self.units.by_pages.remainder(next);
        frontier.next = end.min(next + rest);
        self.units.dummies = frontier.next - next;
        let dummies = u64::from(self.units.dummies);
        flash.ledger.dummy_pages += dummies;
        flash.ledger.slc_dummy_pages += if flash.is_slc(pbn) { dummies } else { 0 };
        if frontier.next == end {
            self.close(group, pbn, end != self.geometry.pages_per_block);
        }
    }

    /// Pages that stay without data because of the host's last page (dummy pages).
    #[inline]
    pub const fn dummies(&self) -> u32 {
        self.units.dummies
    }
}
