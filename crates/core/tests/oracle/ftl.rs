//! What the oracle's FTLs have in common.

use nandlab::ledger::Cause;

use super::flash::{Addr, Array, Owner, Page};

/// A page on its way down.
#[derive(Clone, Debug)]
pub struct Down {
    pub lpn: u32,
    /// Host or padding.
    pub cause: Cause,
    pub version: u64,
    pub data: Vec<u64>,
    /// Some of it is on flash only: the FTL must read the old copy when it writes the page.
    pub needs_old: bool,
}

/// What a mapping is looked up for, in the order of the ledger's table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Purpose {
    Read,
    Write,
    Rewrite,
    Trim,
}

impl Down {
    pub fn page(&self) -> Page {
        Page { owner: Owner::Data(self.lpn), version: self.version, data: self.data.clone(), valid: true }
    }
}

pub trait Ftl {
    /// Where the page is, as the FTL finds it for a read, and when that is known.
    fn look_up(&mut self, array: &mut Array, lpn: u32) -> (Option<Addr>, u64) {
        (self.place(lpn), array.now)
    }
    /// Pages of a write-back, ascending: when the last one is written.
    fn write(&mut self, array: &mut Array, pages: &[Down], after: u64) -> u64;
    /// All pages of a logical block that hold anything.
    fn write_whole(&mut self, array: &mut Array, lbn: usize, pages: &[Down], after: u64) -> u64;
    fn trim(&mut self, array: &mut Array, lpn: u32) -> u64;
    /// The block is completed below: nobody pads above.
    fn completes_blocks(&self) -> bool {
        false
    }
    /// Every page that is read, written or trimmed is looked up; old copies are read in the turn of their page.
    fn keeps_map_on_flash(&self) -> bool {
        false
    }
    fn place(&self, lpn: u32) -> Option<Addr>;
    fn map_bytes(&self) -> u64;
    /// Preconditioning: every page once.
    fn fill(&mut self, array: &mut Array, lbn: usize, pages: &[Down]) {
        self.write_whole(array, lbn, pages, 0);
    }
    fn filled(&mut self, _array: &mut Array) {}
}
