//! What the oracle's device asks its buffer policy, and the RAM that both look at.

use std::collections::BTreeMap;

use serde_json::Value;

use super::counts::Counts;

/// A page in RAM.
#[derive(Clone, Debug)]
pub struct Frame {
    pub dirty: bool,
    /// Which sectors are in RAM, and what they hold.
    pub sectors: Vec<bool>,
    pub data: Vec<u64>,
    pub version: u64,
    /// When flash has delivered it.
    pub ready: u64,
    /// The request that read it ahead, until the host accesses it.
    pub ahead_by: Option<u64>,
    /// When the frame can be used by another page, if this one leaves clean: a flush is writing it until then.
    pub writing: u64,
}

impl Frame {
    pub fn is_complete(&self) -> bool {
        self.sectors.iter().all(|present| *present)
    }
    pub fn weight(&self) -> usize {
        self.sectors.iter().filter(|present| **present).count()
    }
}

pub struct Ram {
    pub frames: usize,
    pub pages: BTreeMap<u32, Frame>,
    pub pages_per_block: usize,
    pub logical_pages: usize,
}

impl Ram {
    pub fn is_full(&self) -> bool {
        self.pages.len() >= self.frames
    }
    pub fn lbn(&self, lpn: u32) -> usize {
        lpn as usize / self.pages_per_block
    }
    /// Pages of the logical block that the device has.
    pub fn block_pages(&self, lbn: usize) -> usize {
        self.pages_per_block.min(self.logical_pages - lbn * self.pages_per_block)
    }
    pub fn holds_block(&self, lbn: usize) -> bool {
        self.pages.keys().any(|lpn| self.lbn(*lpn) == lbn)
    }
}

/// One page access.
#[derive(Clone, Copy, Debug)]
pub struct Access {
    pub lpn: u32,
    pub write: bool,
    /// Number of the host request.
    pub request: u64,
}

/// What the policy wants done.
#[derive(Clone, Debug)]
pub enum Step {
    Drop(u32),
    /// One write-back: pages that leave, pages that stay, and whether the block is completed.
    Write {
        leave: Vec<u32>,
        stay: Vec<u32>,
        pad: bool,
    },
    /// Read ahead of the host.
    Fetch(u32),
}

impl Step {
    /// The page leaves, written back alone if it is dirty.
    pub fn evict(lpn: u32, ram: &Ram) -> Self {
        if ram.pages[&lpn].dirty { Self::write(vec![lpn], false) } else { Self::Drop(lpn) }
    }
    pub fn write(leave: Vec<u32>, pad: bool) -> Self {
        Self::Write { leave, stay: Vec::new(), pad }
    }
}

pub trait Policy {
    fn admits(&self, _write: bool) -> bool {
        true
    }
    /// An access comes; nothing has happened yet.
    fn comes(&mut self, _access: Access, _ram: &Ram) {}
    fn hit(&mut self, access: Access, ram: &Ram);
    /// The page is in RAM now.
    fn placed(&mut self, access: Access, ram: &Ram);
    /// At least one page leaves.
    fn make_room(&mut self, ram: &Ram, counts: &Counts) -> Vec<Step>;
    /// The access is over.
    fn after(&mut self, _access: Access, _hit: bool, _ram: &Ram, _counts: &Counts) -> Vec<Step> {
        Vec::new()
    }
    fn trimmed(&mut self, lpn: u32, ram: &Ram);
    /// The host flushed the page: true if it stays, clean.
    fn flushed(&mut self, lpn: u32, ram: &Ram) -> bool;
    fn resized(&mut self, _frames: usize) {}
    /// A host flush writes the pages of a logical block together.
    fn by_block(&self) -> bool {
        false
    }
    /// Its state in the form of the golden files, if that is compared.
    fn golden(&self) -> Option<Value> {
        None
    }
}
