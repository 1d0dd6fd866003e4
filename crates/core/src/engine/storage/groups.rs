//! Group hits: logical blocks of a request that have a page in the buffer.

use super::Storage;
use crate::buffer::{Access, Slots};
use crate::types::{HostRequest, Lbn};

impl Storage {
    /// HitStat's group hit ratio: at most once per request and group.
    #[inline]
    pub(super) fn count_group(&mut self, access: &Access, slots: &Slots) {
        let lbn = slots.lbn_of(access.lpn);
        if (access.request, lbn) != self.last_group {
            self.last_group = (access.request, lbn);
            if slots.resident_pages(lbn) > 0 {
                self.flash.ledger.group_hits += 1;
            } else {
                self.flash.ledger.group_misses += 1;
            }
        }
    }

    /// The same for a read request, which has not begun yet. On request only: reads are the hottest path.
    #[cold]
    pub(super) fn count_read_groups(&mut self, request: &HostRequest, rest: &[HostRequest], slots: &Slots) {
        let block_sectors = u64::from(self.page_sectors) * u64::from(self.flash.geometry().pages_per_block);
        let mut last = None;
        for piece in std::iter::once(request).chain(rest) {
            let end = piece.lba + u64::from(piece.sectors) - 1;
            for lbn in piece.lba / block_sectors..=end / block_sectors {
                // Two pieces of a request may share a block.
                if last.replace(lbn) == Some(lbn) {
                    continue;
                }
                if slots.resident_pages(Lbn(lbn as u32)) > 0 {
                    self.flash.ledger.group_read_hits += 1;
                } else {
                    self.flash.ledger.group_read_misses += 1;
                }
            }
        }
    }
}
