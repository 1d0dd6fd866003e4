//! The invariants of the array, for tests.

use super::oob::ERASED;
use super::{Cells, Flash, ProgramOrder};
use crate::types::{Pbn, Ppn};

impl Flash {
    /// Checks what the array itself can see of the invariants: page states, counts of valid pages, erases. For tests.
    ///
    /// # Panics
    /// On the first violation.
    pub fn check(&self) {
        let mut programmed_now = 0;
        for b in 0..self.geometry.blocks() {
            let pbn = Pbn(b);
            let first = self.geometry.first_page(pbn);
            let mut valid = 0;
            for offset in 0..self.geometry.pages_per_block {
                let ppn = Ppn(first.0 + offset);
                let erased = self.cells.owner.at(ppn.index()) == ERASED;
                assert!(erased || offset < self.next_page(pbn) || self.order == ProgramOrder::Any);
                assert!(!(erased && self.is_valid(ppn)), "erased page {} is valid", ppn.0);
                programmed_now += u64::from(!erased);
                valid += u32::from(self.is_valid(ppn));
            }
            assert_eq!(valid, self.valid_pages(pbn), "valid count of block {b}");
        }
        let Cells { programmed_pages, erased_pages, .. } = self.cells;
        assert_eq!(programmed_pages, programmed_now + erased_pages, "pages programmed = programmed now + erased");
    }
}
