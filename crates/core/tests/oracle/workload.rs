//! What the host does to a tiny device: hot and cold spots, runs that go on, pieces of pages, requests across blocks.

use nandlab::types::{HostOp, HostRequest, Nanos};

use super::device::Setup;
use super::dice::Dice;

pub struct Workload {
    dice: Dice,
    setup: Setup,
    /// Of a hundred requests: reads; of the others, of a hundred: trims.
    reads: usize,
    trims: usize,
    /// One in that many is a flush (0: none).
    flushes: usize,
    /// Of a hundred, in whole pages.
    aligned: usize,
    /// Of a hundred, within the hot spot.
    hot: usize,
    hot_sectors: usize,
    /// Of a hundred, going on where an earlier one ended.
    onward: usize,
    longest: usize,
    ends: [usize; 3],
    now: u64,
    gap: usize,
}

impl Workload {
    pub fn new(seed: u64, setup: Setup) -> Self {
        let mut dice = Dice::new(seed, "workload");
        let sectors = setup.logical_pages * setup.page_sectors;
        let block = setup.pages_per_block * setup.page_sectors;
        let service: usize = setup.times.service()[1] as usize;
        Self {
            reads: dice.of(&[0, 10, 30, 50, 80]),
            trims: dice.of(&[0, 2, 10, 25]),
            flushes: dice.of(&[0, 0, 20, 100]),
            aligned: dice.of(&[0, 50, 90, 100]),
            hot: dice.of(&[0, 50, 80, 95]),
            hot_sectors: dice.between(setup.page_sectors, (sectors / 3).max(setup.page_sectors)),
            onward: dice.of(&[0, 20, 60]),
            longest: dice.of(&[setup.page_sectors, block / 2, block, 2 * block + 3]),
            ends: [0; 3],
            now: 0,
            gap: dice.of(&[0, service, 4 * service, 20 * service]),
            dice,
            setup,
        }
    }

    fn in_a_hundred(&mut self, share: usize) -> bool {
        self.dice.below(100) < share
    }

    pub fn request(&mut self) -> HostRequest {
        if self.setup.open && self.gap > 0 {
            self.now += self.dice.below(2 * self.gap) as u64;
        }
        let at = Nanos(if self.setup.open { self.now } else { 0 });
        if self.flushes > 0 && self.dice.one_in(self.flushes) {
            return HostRequest::new(at, HostOp::Flush, 0, 0);
        }
        let op = if self.in_a_hundred(self.reads) {
            HostOp::Read
        } else if self.in_a_hundred(self.trims) {
            HostOp::Trim
        } else {
            HostOp::Write
        };
        let all = self.setup.logical_pages * self.setup.page_sectors;
        let stream = self.dice.below(3);
        let mut lba = if self.in_a_hundred(self.onward) {
            self.ends[stream] % all
        } else if self.in_a_hundred(self.hot) {
            self.dice.below(self.hot_sectors)
        } else {
            self.dice.below(all)
        };
        let mut sectors =
            if self.dice.one_in(3) { self.dice.between(1, self.longest) } else { self.dice.between(1, 4) };
        if self.in_a_hundred(self.aligned) {
            let page = self.setup.page_sectors;
            lba = lba / page * page;
            sectors = sectors.div_ceil(page) * page;
        }
        if self.dice.one_in(16) {
            // A whole logical block.
            let block = self.setup.page_sectors * self.setup.pages_per_block;
            (lba, sectors) = (lba / block * block, block);
        }
        sectors = sectors.min(all - lba);
        self.ends[stream] = lba + sectors;
        HostRequest::new(at, op, lba as u64, sectors as u32)
    }
}
