//! The newest copy of every page, for FTLs that keep the place of every page in RAM.

use crate::flash::{Flash, Ticket};
use crate::ftl::blocks::recover;
use crate::ftl::{Found, PageWrite, Shape};
use crate::ledger::Cause;
use crate::sparse::SparseTable;
use crate::types::{Lpn, Pbn, Ppn};

/// Newest copy by LPN, wherever it is.
#[derive(Debug)]
pub struct Copies {
    newest: SparseTable<Ppn>,
}

impl Copies {
    /// No page has a copy.
    pub fn new(shape: &Shape) -> Self {
        Self { newest: SparseTable::new(shape.logical_pages as usize) }
    }

    /// Pages the host can address.
    #[inline]
    pub fn logical_pages(&self) -> u32 {
        self.newest.len() as u32
    }
    /// Newest copy of a page, or [`Ppn::NONE`].
    #[inline]
    pub fn newest(&self, lpn: Lpn) -> Ppn {
        self.newest.at(lpn.index())
    }

    /// Reads the newest copy.
    #[inline]
    pub fn read(&self, flash: &mut Flash, lpn: Lpn, cause: Cause, after: Ticket) -> Found {
        let ppn = self.newest.at(lpn.index());
        let ticket = if ppn.is_some() { flash.read(ppn, cause, after) } else { after };
        Found { ticket, ppn }
    }

    /// Programs new contents of a page, then invalidates the old copy.
    #[inline]
    pub fn program(&mut self, flash: &mut Flash, to: Ppn, page: &PageWrite, data: &[u8], after: Ticket) -> Ticket {
        let ticket = page.program(flash, to, data, after);
        let old = self.newest.replace(page.lpn.index(), to);
        if old.is_some() {
            flash.invalidate(old);
        }
        ticket
    }

    /// Moves the newest copy of a page, which has one.
    #[inline]
    pub fn shift(&mut self, flash: &mut Flash, lpn: Lpn, to: Ppn, cause: Cause, after: Ticket) -> Ticket {
        let from = self.newest.replace(lpn.index(), to);
        flash.copy(from, to, cause, after)
    }

    /// Forgets the newest copy of a page.
    pub fn trim(&mut self, flash: &mut Flash, lpn: Lpn) {
        let old = self.newest.take(lpn.index());
        if old.is_some() {
            flash.invalidate(old);
        }
    }

    /// After a power cut: finds the newest copies by a scan of the array ([`recover`]) and marks them valid.
    pub fn rebuild(&mut self, flash: &mut Flash) {
        let winners = recover::scan(flash, self.logical_pages());
        for (_, ppn) in winners.mapped() {
            flash.mark_valid(ppn);
        }
        self.newest = winners.data;
    }

    /// Checks that the valid pages of the array are the newest copies.
    ///
    /// # Panics
    /// On the first violation.
    pub fn check(&self, flash: &Flash) {
        let mut mapped = vec![0; flash.geometry().blocks() as usize];
        for (lpn, ppn) in self.newest.stored() {
            assert!(flash.is_valid(ppn), "lpn {lpn} maps to an invalid page");
            assert_eq!(flash.number(ppn) as usize, lpn, "OOB of the page that lpn {lpn} maps to");
            mapped[flash.geometry().pbn(ppn).index()] += 1;
        }
        for (pbn, count) in mapped.iter().enumerate() {
            assert_eq!(flash.valid_pages(Pbn(pbn as u32)), *count, "valid pages of block {pbn}");
        }
    }
}
