//! An FTL around another that says or does one thing differently.

use nandlab::flash::{Flash, Ticket};
use nandlab::ftl::{Batch, Found, Ftl, PageRead};
use nandlab::ledger::MergeKind;
use nandlab::types::{Lbn, Lpn, Nanos, Ppn};
use serde_json::Value;

/// What is different.
pub trait Twist: Send {
    /// Before an operation of the host.
    fn before(&mut self) {}
    /// The FTL has changed or looked up something.
    fn after(&mut self, _ftl: &dyn Ftl, _flash: &Flash) {}
    /// What it says of its merges.
    fn merges(&self, ftl: &dyn Ftl) -> Option<MergeKind> {
        ftl.merges()
    }
    /// Bytes that the map takes besides its own.
    fn more_map_bytes(&self) -> u64 {
        0
    }
}

/// The FTL with its twist.
pub struct Around<T> {
    ftl: Box<dyn Ftl>,
    twist: T,
}

impl<T: Twist> Around<T> {
    pub fn new(ftl: Box<dyn Ftl>, twist: T) -> Self {
        Self { ftl, twist }
    }
    fn carry_out<R>(&mut self, flash: &mut Flash, operation: impl FnOnce(&mut dyn Ftl, &mut Flash) -> R) -> R {
        self.twist.before();
        let result = operation(&mut *self.ftl, flash);
        self.twist.after(&*self.ftl, flash);
        result
    }
}

impl<T: Twist> Ftl for Around<T> {
    fn read(&mut self, flash: &mut Flash, page: PageRead, after: Ticket) -> Found {
        self.carry_out(flash, |ftl, flash| ftl.read(flash, page, after))
    }
    fn write(&mut self, flash: &mut Flash, batch: Batch<'_>, after: Ticket) -> Ticket {
        self.carry_out(flash, |ftl, flash| ftl.write(flash, batch, after))
    }
    fn write_block(&mut self, flash: &mut Flash, lbn: Lbn, batch: Batch<'_>, after: Ticket) -> Ticket {
        self.carry_out(flash, |ftl, flash| ftl.write_block(flash, lbn, batch, after))
    }
    fn completes_blocks(&self) -> bool {
        self.ftl.completes_blocks()
    }
    fn merges(&self) -> Option<MergeKind> {
        self.twist.merges(&*self.ftl)
    }
    fn sees_neighbours(&self) -> bool {
        self.ftl.sees_neighbours()
    }
    fn trim(&mut self, flash: &mut Flash, lpn: Lpn, after: Ticket) -> Ticket {
        self.carry_out(flash, |ftl, flash| ftl.trim(flash, lpn, after))
    }
    fn relocates_disturbed(&self) -> bool {
        self.ftl.relocates_disturbed()
    }
    fn keeps_map_on_flash(&self) -> bool {
        self.ftl.keeps_map_on_flash()
    }
    fn works_in_idle_time(&self) -> bool {
        self.ftl.works_in_idle_time()
    }
    fn idle(&mut self, flash: &mut Flash, until: Nanos) {
        self.ftl.idle(flash, until);
    }
    fn settle(&mut self, flash: &mut Flash) {
        self.ftl.settle(flash);
    }
    fn fill(&mut self, flash: &mut Flash, lbn: Lbn, batch: Batch<'_>) {
        self.ftl.fill(flash, lbn, batch);
        self.twist.after(&*self.ftl, flash);
    }
    fn filled(&mut self, flash: &mut Flash) {
        self.ftl.filled(flash);
    }
    fn map_bytes(&self) -> u64 {
        self.ftl.map_bytes() + self.twist.more_map_bytes()
    }
    fn locate(&self, flash: &Flash, lpn: Lpn) -> Ppn {
        self.ftl.locate(flash, lpn)
    }
    fn rebuild(&mut self, flash: &mut Flash) {
        self.ftl.rebuild(flash);
    }
    fn check(&self, flash: &Flash) {
        self.ftl.check(flash);
    }
    fn free_blocks(&self) -> u32 {
        self.ftl.free_blocks()
    }
    fn golden_state(&self, flash: &Flash) -> Value {
        self.ftl.golden_state(flash)
    }
}
