//! The state of a device before the measurement.

use super::Storage;
use crate::flash::{Media, Ticket};
use crate::ftl::{Batch, PageWrite};
use crate::ledger::Cause;
use crate::types::{Lbn, Lpn};

impl Storage {
    /// Preconditioning: every page once, ascending, then `overwrites * logical_pages` uniform random page writes. False if it
    /// is not to go on, as is asked every few thousand pages.
    pub(in crate::engine) fn fill_device(
        &mut self,
        fill: bool,
        overwrites: f64,
        go_on: &mut dyn FnMut() -> bool,
    ) -> bool {
        use rand::Rng as _;
        let geometry = *self.flash.geometry();
        let zeros = vec![0; if self.flash.media() == Media::Memory { geometry.page_bytes as usize } else { 0 }];
        if fill {
            for lbn in 0..self.settings.logical_pages.div_ceil(geometry.pages_per_block) {
                if !go_on() {
                    return false;
                }
                let lbn = Lbn(lbn);
                self.batch.clear();
                self.stage.clear();
                for offset in 0..self.block_pages(lbn) {
                    self.version += 1;
                    let lpn = geometry.lpn(lbn, offset);
                    self.batch.push(PageWrite::new(lpn, Cause::Host, self.version));
                    self.stage.extend_from_slice(&zeros);
                }
                self.ftl.fill(&mut self.flash, lbn, Batch::new(&self.batch, &self.stage));
                self.flash.clock.drain();
            }
            self.ftl.filled(&mut self.flash);
        }
        let mut rng = rand_pcg::Pcg64Mcg::new(u128::from(self.settings.seed) << 1 | 1);
        let pages = u128::from(self.settings.logical_pages);
        for page in 0..(overwrites * f64::from(self.settings.logical_pages)) as u64 {
            if page % 4096 == 0 && !go_on() {
                return false;
            }
            self.version += 1;
            let lpn = Lpn(((u128::from(rng.next_u64()) * pages) >> 64) as u32);
            let page = PageWrite::new(lpn, Cause::Host, self.version);
            let now = Ticket::reached(self.flash.now());
            self.ftl.write(&mut self.flash, Batch::new(&[page], &zeros), now);
            if self.flash.clock.in_flight() > 1 << 12 {
                self.flash.clock.drain();
            }
        }
        self.written_back = Ticket::reached(self.flash.now());
        true
    }
}
