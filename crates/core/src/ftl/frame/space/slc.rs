//! SLC cache: blocks in which every cell holds one bit take what the host writes, because they are programmed faster; later their
//! pages are folded into blocks of the native kind.
//!
//! Source: pseudo-SLC write buffers of TLC drives, static and dynamic, as Micron names them ("Optimized Client Computing With
//! Dynamic Write Acceleration", Micron technical marketing brief, 2014).
//!
//! Chosen readings: collecting a block of the cache is what folds it: its pages go to the collector's blocks. A victim policy
//! sees a block of a dynamic cache as one with few valid pages, so that under pressure the cache is folded where that gains most.
//! Blocks that are set aside for a static cache go back to it, so that folding them gains nothing: they are not victims. In
//! idle time, all closed blocks of the cache are folded, the one closed earliest first. While the cache is full, the host's
//! pages go past it. An erase in SLC mode wears a block like any other.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::Space;
use crate::types::Pbn;

/// Which blocks the SLC cache consists of.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Slc {
    /// There is none.
    #[default]
    None,
    /// Blocks set aside for it: `slc_blocks` for every die, whatever else is free.
    Static,
    /// Whatever is free beyond the reserve, up to `slc_blocks` for every die.
    Dynamic,
}

/// The blocks of a device in SLC mode.
#[derive(Debug)]
pub(super) struct SlcCache {
    kind: Slc,
    /// Most blocks of a group, and the pages of each.
    most: u32,
    pages: u32,
    /// By group: its blocks in SLC mode, and those of them that are closed, in the order of closing. Empty without a cache.
    used: Vec<u32>,
    closed: Vec<VecDeque<Pbn>>,
}

impl SlcCache {
    pub(super) fn new(kind: Slc, most: u32, pages: u32, groups: u32) -> Self {
        let groups = if kind == Slc::None { 0 } else { groups as usize };
        Self { kind, most, pages, used: vec![0; groups], closed: vec![VecDeque::new(); groups] }
    }

    pub(super) fn forget(&mut self) {
        self.used.fill(0);
        self.closed.iter_mut().for_each(VecDeque::clear);
    }

    /// True if its blocks are victims of collection like others.
    #[inline]
    pub(super) const fn is_shared(&self) -> bool {
        matches!(self.kind, Slc::Dynamic)
    }

    #[inline]
    pub(super) const fn is_on(&self) -> bool {
        !matches!(self.kind, Slc::None)
    }

    /// Free blocks of a group that are kept for the cache.
    #[inline]
    pub(super) fn set_aside(&self, group: u32) -> u32 {
        if self.kind == Slc::Static { self.most - self.used[group as usize] } else { 0 }
    }

    /// Pages of the host's next block in SLC mode, if it has that; `beyond` blocks of the group are free beyond the reserve.
    pub(super) fn next_block(&self, group: u32, beyond: u32) -> Option<u32> {
        let is_free = match self.kind {
            Slc::None => false,
            Slc::Static => true,
            Slc::Dynamic => beyond > 1,
        };
        (is_free && self.used[group as usize] < self.most).then_some(self.pages)
    }

    /// A block came into SLC mode.
    pub(super) fn add(&mut self, group: u32) {
        self.used[group as usize] += 1;
    }

    /// A block in SLC mode is full.
    pub(super) fn close(&mut self, group: u32, pbn: Pbn) {
        self.closed[group as usize].push_back(pbn);
    }

    /// A block is about to be erased that was in SLC mode.
    pub(super) fn remove(&mut self, group: u32, pbn: Pbn) {
        self.used[group as usize] -= 1;
        self.closed[group as usize].retain(|closed| *closed != pbn);
    }

    /// Of the closed blocks of a group that no other collection has, the one that has been in the cache longest.
    pub(super) fn oldest(&self, group: u32, is_free: impl Fn(Pbn) -> bool) -> Option<Pbn> {
        self.closed.get(group as usize)?.iter().copied().find(|pbn| is_free(*pbn))
    }

    /// Takes a closed block that is not a victim of collection.
    pub(super) fn take(&mut self, group: u32, pbn: Pbn) -> bool {
        let closed = &mut self.closed[group as usize];
        let before = closed.len();
        closed.retain(|other| *other != pbn);
        closed.len() < before
    }

    /// Blocks of a group in SLC mode. For tests.
    pub(super) fn used(&self, group: usize) -> u32 {
        self.used.get(group).copied().unwrap_or(0)
    }
    /// Those that are closed. For tests.
    pub(super) fn closed(&self) -> impl Iterator<Item = Pbn> + '_ {
        self.closed.iter().flatten().copied()
    }
}

impl Space {
    /// True if there is an SLC cache.
    pub const fn has_slc(&self) -> bool {
        self.slc.is_on()
    }

    /// The closed block of a group that has been in the SLC cache longest and that no other collection has.
    pub fn oldest_slc(&self, group: u32) -> Option<Pbn> {
        let is_free = |pbn| !self.slc.is_shared() || self.pools[group as usize].is_closed(pbn);
        self.slc.oldest(group, is_free)
    }

    /// Takes that block.
    pub fn pick_slc(&mut self, group: u32) -> Option<Pbn> {
        self.oldest_slc(group).filter(|oldest| self.take_closed(*oldest))
    }

    /// True if the SLC cache of a group can be folded: what is set aside for it comes back to it, so that the copies need a block
    /// beyond the reserve.
    pub fn has_room_to_fold(&self, group: u32) -> bool {
        self.slc.is_shared() || self.free(group) > self.reserve
    }

    /// A block is full.
    pub(super) fn close(&mut self, group: u32, pbn: Pbn, slc: bool) {
        if slc {
            self.slc.close(group, pbn);
        }
        if !slc || self.slc.is_shared() {
            self.pools[group as usize].close(pbn);
        }
    }
}
