//! block - Block-level mapping
//!
//! # Source
//! The block-level NFTL that the thesis of HitStat (You-Chiuan Su, National Chiao Tung University, 2009, section 2.2)
//! compares with.
//!
//! # What it does
//! One data block for every logical block, pages at their own offsets. Writing any set of pages of a logical block
//! takes a free block, programs the new pages and copies the others in ascending order, and erases the old block. A
//! batch is grouped by logical block: several of its pages in one batch are one replacement. Never-written pages stay
//! holes. `write_block` completes the block itself, so nobody above needs to pad.
//!
//! # Parameters
//! RAM: 4 bytes a logical block. Needs two blocks beyond the logical ones: one for the replacement, and one so that a
//! replacement interrupted by a power cut can be finished in a fresh block.
//!
//! # Deviations and chosen readings
//! - Trim invalidates only; the block is kept until it is replaced.
//! - The host's pages are acknowledged when the fresh block is complete; the erase of the old one is not waited for.
//!
//! # Known ambiguities
//! - HitStat does not say whether never-written pages are programmed as zeros; with full preconditioning it is the same.

use super::{Batch, Found, Ftl, PageRead, Shape};
use crate::error::ConfigError;
use crate::flash::{Flash, Ticket};
use crate::ftl::alloc::Alloc;
use crate::ftl::log::merge::Merger;
use crate::ftl::log::report::{Merge, merged};
use crate::types::{Lbn, Lpn, Ppn};

crate::params! {
    pub struct Params: Copy {
        /// Pages that were never written and whose offsets can still be programmed are written into the old block in place.
        append: bool = false;
        /// Which free block is taken.
        alloc: Alloc = Alloc::default();
    }
}

/// Block-level mapping: one data block for each logical block.
#[derive(Debug)]
pub struct Block {
    append: bool,
    blocks: Merger,
}

/// Builds the FTL.
///
/// # Errors
/// When the program order is strict or there are no two blocks beyond the logical ones.
pub fn build(params: Params, shape: &Shape) -> Result<Box<dyn Ftl>, ConfigError> {
    shape.need_skipping("block")?;
    let needed = u64::from(shape.logical_blocks()) + 2;
    shape.need_blocks("device.over_provisioning", needed, "the logical blocks, a replacement and its recovery")?;
    Ok(Box::new(Block { append: params.append, blocks: Merger::new(shape, params.alloc) }))
}

impl Block {
    /// Writes pages of one logical block.
    fn write_group(&mut self, flash: &mut Flash, lbn: Lbn, batch: Batch<'_>, after: Ticket) -> Ticket {
        if self.append && self.blocks.can_append(flash, batch) {
            let mut done = after;
            for (page, data) in batch.iter() {
                let ticket = self.blocks.first_write(flash, page, data, after).expect("the offset can be programmed");
                done = flash.clock.join(done, ticket);
            }
            return done;
        }
        merged(flash, Merge::Replace);
        let (fresh, done) = self.blocks.rewrite(flash, lbn, batch, after);
        self.blocks.replace_data(flash, lbn, fresh, done);
        done
    }
}

impl Ftl for Block {
    fn read(&mut self, flash: &mut Flash, PageRead { lpn, cause, .. }: PageRead, after: Ticket) -> Found {
        self.blocks.copies.read(flash, lpn, cause, after)
    }

    fn write(&mut self, flash: &mut Flash, batch: Batch<'_>, after: Ticket) -> Ticket {
        let mut done = after;
        let mut from = 0;
        while from < batch.pages.len() {
            let lbn = self.blocks.geometry().lbn(batch.pages[from].lpn);
            let same = |page: &&super::PageWrite| self.blocks.geometry().lbn(page.lpn) == lbn;
            let to = from + batch.pages[from..].iter().take_while(same).count();
            let ticket = self.write_group(flash, lbn, batch.part(from, to), after);
            done = flash.clock.join(done, ticket);
            from = to;
        }
        done
    }

    fn write_block(&mut self, flash: &mut Flash, lbn: Lbn, batch: Batch<'_>, after: Ticket) -> Ticket {
        if batch.pages.is_empty() { after } else { self.write_group(flash, lbn, batch, after) }
    }

    fn completes_blocks(&self) -> bool {
        true
    }

    fn trim(&mut self, flash: &mut Flash, lpn: Lpn, after: Ticket) -> Ticket {
        self.blocks.copies.trim(flash, lpn);
        after
    }

    fn map_bytes(&self) -> u64 {
        4 * u64::from(self.blocks.logical_blocks())
    }

    fn locate(&self, _: &Flash, lpn: Lpn) -> Ppn {
        self.blocks.copies.newest(lpn)
    }

    fn rebuild(&mut self, flash: &mut Flash) {
        self.blocks.rebuild(flash);
    }

    fn check(&self, flash: &Flash) {
        self.blocks.check(flash, std::iter::empty());
    }

    fn free_blocks(&self) -> u32 {
        self.blocks.free_count()
    }
}
