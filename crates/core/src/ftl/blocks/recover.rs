//! What a full scan of the array tells after a power cut: the newest copy of every page.
//!
//! Rule: per LPN the copy with the largest write version wins, unless a journalled trim is newer than it.
//!
//! Copies of equal version have equal contents, so any of them may win. The one programmed first does: an interrupted
//! garbage collection or merge is thereby rolled back and its target, which holds nothing but second copies, is free
//! again. If the last one won, every cut inside a recovery would pin one more block with
//! half of its copies, and after a few cuts no block would be left to copy to.

use std::cmp::Reverse;

use crate::flash::{Flash, PageKind};
use crate::sparse::SparseTable;
use crate::types::{Lpn, Pbn, Ppn};

/// Winners of the scan.
#[derive(Debug)]
pub struct Winners {
    /// By LPN: the current copy, or [`Ppn::NONE`].
    pub data: SparseTable<Ppn>,
    /// By block: how many winners it holds.
    pub per_block: Vec<u32>,
}

/// Scans every programmed page. Pages of translation blocks are ignored: mappings are rebuilt from data pages.
pub fn scan(flash: &Flash, logical_pages: u32) -> Winners {
    let geometry = *flash.geometry();
    let mut data = SparseTable::<Ppn>::new(logical_pages as usize);
    let stamp = |ppn: Ppn| (flash.oob(ppn).version, Reverse(flash.program_seq(ppn)));
    for page in 0..geometry.pages() as u32 {
        let ppn = Ppn(page);
        if !flash.is_programmed(ppn) {
            continue;
        }
        let oob = flash.oob(ppn);
        if oob.kind != PageKind::Data {
            continue;
        }
        let winner = data.at(oob.number as usize);
        if winner.is_none() || stamp(ppn) > stamp(winner) {
            data.set(oob.number as usize, ppn);
        }
    }
    for stone in flash.tombstones() {
        let winner = data.at(stone.lpn.index());
        if winner.is_some() && flash.oob(winner).version < stone.version {
            data.take(stone.lpn.index());
        }
    }
    let mut per_block = vec![0; geometry.blocks() as usize];
    for (_, ppn) in data.stored() {
        per_block[geometry.pbn(ppn).index()] += 1;
    }
    Winners { data, per_block }
}

impl Winners {
    /// LPNs that have a copy, ascending, with it.
    pub fn mapped(&self) -> impl Iterator<Item = (Lpn, Ppn)> + '_ {
        self.data.stored().map(|(lpn, ppn)| (Lpn(lpn as u32), ppn))
    }
    /// Winners in a block.
    pub fn in_block(&self, pbn: Pbn) -> u32 {
        self.per_block[pbn.index()]
    }
}
