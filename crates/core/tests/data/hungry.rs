//! An FTL whose map takes a different part of the shared RAM after every operation.

use nandlab::flash::{Flash, Ticket};
use nandlab::ftl::{Batch, Found, Ftl, PageRead};
use nandlab::ledger::MergeKind;
use nandlab::types::{Lbn, Lpn, Nanos, Ppn};

use super::rig::{Dice, PAGE_BYTES};

/// Wraps an FTL; see the module text.
pub struct Hungry {
    inner: Box<dyn Ftl>,
    dice: Dice,
    extra: u64,
}

impl Hungry {
    pub fn new(inner: Box<dyn Ftl>, seed: u64) -> Self {
        Self { inner, dice: Dice(seed), extra: 0 }
    }
    /// Mostly a few frames more or less, sometimes all there are.
    fn eat(&mut self) {
        if self.dice.once_in(4) {
            let frames = if self.dice.once_in(12) { 8 + self.dice.below(12) } else { self.dice.below(6) };
            self.extra = u64::from(frames) * u64::from(PAGE_BYTES);
        }
    }
}

impl Ftl for Hungry {
    fn read(&mut self, flash: &mut Flash, page: PageRead, after: Ticket) -> Found {
        self.eat();
        self.inner.read(flash, page, after)
    }
    fn write(&mut self, flash: &mut Flash, batch: Batch<'_>, after: Ticket) -> Ticket {
        self.eat();
        self.inner.write(flash, batch, after)
    }
    fn write_block(&mut self, flash: &mut Flash, lbn: Lbn, batch: Batch<'_>, after: Ticket) -> Ticket {
        self.eat();
        self.inner.write_block(flash, lbn, batch, after)
    }
    fn merges(&self) -> Option<MergeKind> {
        self.inner.merges()
    }
    fn completes_blocks(&self) -> bool {
        self.inner.completes_blocks()
    }
    fn trim(&mut self, flash: &mut Flash, lpn: Lpn, after: Ticket) -> Ticket {
        self.eat();
        self.inner.trim(flash, lpn, after)
    }
    fn relocates_disturbed(&self) -> bool {
        self.inner.relocates_disturbed()
    }
    fn keeps_map_on_flash(&self) -> bool {
        self.inner.keeps_map_on_flash()
    }
    fn works_in_idle_time(&self) -> bool {
        self.inner.works_in_idle_time()
    }
    fn idle(&mut self, flash: &mut Flash, until: Nanos) {
        self.inner.idle(flash, until);
    }
    fn settle(&mut self, flash: &mut Flash) {
        self.inner.settle(flash);
    }
    fn fill(&mut self, flash: &mut Flash, lbn: Lbn, batch: Batch<'_>) {
        self.inner.fill(flash, lbn, batch);
    }
    fn filled(&mut self, flash: &mut Flash) {
        self.inner.filled(flash);
    }
    fn map_bytes(&self) -> u64 {
        self.inner.map_bytes() + self.extra
    }
    fn locate(&self, flash: &Flash, lpn: Lpn) -> Ppn {
        self.inner.locate(flash, lpn)
    }
    fn rebuild(&mut self, flash: &mut Flash) {
        self.inner.rebuild(flash);
    }
    fn check(&self, flash: &Flash) {
        self.inner.check(flash);
    }
    fn free_blocks(&self) -> u32 {
        self.inner.free_blocks()
    }
}
