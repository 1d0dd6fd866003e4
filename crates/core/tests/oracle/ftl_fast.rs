//! FAST: log blocks that all logical blocks share, and one for sequential writes. Specs and the manual page of `fast`.

use std::collections::VecDeque;

use super::flash::{Addr, Array, Owner};
use super::ftl::{Down, Ftl};
use super::ftl_log::{Blocks, reclaim};

pub struct Fast {
    blocks: Blocks,
    /// Random-write log blocks, oldest first.
    random: VecDeque<usize>,
    /// Sequential log block and the logical block it belongs to.
    sequential: Option<(usize, usize)>,
    rw_blocks: usize,
    use_sw: bool,
    /// A logical block with pages in the random log does not begin a sequential block.
    checks_random: bool,
}

impl Fast {
    pub fn new(
        logical_pages: usize,
        pages_per_block: usize,
        rw_blocks: usize,
        use_sw: bool,
        checks_random: bool,
    ) -> Self {
        let blocks = Blocks::new(logical_pages, pages_per_block);
        Self { blocks, random: VecDeque::new(), sequential: None, rw_blocks, use_sw, checks_random }
    }

    fn write_page(&mut self, array: &mut Array, down: &Down, after: u64) -> u64 {
        if let Some(done) = self.blocks.first_write(array, down, after) {
            return done;
        }
        let (lbn, offset) = (self.blocks.lbn(down.lpn), self.blocks.offset(down.lpn));
        if self.use_sw && offset == 0 && !(self.checks_random && self.is_in_random_log(lbn)) {
            self.close_sequential(array);
            let fresh = array.take_free();
            self.sequential = Some((fresh, lbn));
            return self.append_sequential(array, down, after);
        }
        if let Some((block, owner)) = self.sequential.filter(|(_, owner)| *owner == lbn) {
            let count = array.next(block);
            if offset == count {
                return self.append_sequential(array, down, after);
            }
            if offset > count {
                return self.complete_sequential(array, Some((down, after)));
            }
            if offset > 0 {
                return self.replace_sequential(array, block, owner, down, after);
            }
        }
        self.write_random(array, down, after)
    }

    fn is_in_random_log(&self, lbn: usize) -> bool {
        let first = lbn * self.blocks.pages_per_block;
        let mut places = self.blocks.map[first..first + self.blocks.pages(lbn)].iter().flatten();
        places.any(|place| self.random.contains(&place.0))
    }

    fn append_sequential(&mut self, array: &mut Array, down: &Down, after: u64) -> u64 {
        let (block, lbn) = self.sequential.expect("a sequential block");
        let done = self.blocks.log(array, (block, array.next(block)), down, after);
        if array.next(block) == self.blocks.pages(lbn) {
            self.close_sequential(array);
        }
        done
    }

    /// Switch or partial merge.
    fn close_sequential(&mut self, array: &mut Array) {
        let Some((block, lbn)) = self.sequential else { return };
        if array.next(block) == self.blocks.pages(lbn) {
            array.counts.merges_switch += 1;
            self.sequential = None;
            self.blocks.take_over(array, lbn, block, &[]);
        } else {
            self.complete_sequential(array, None);
        }
    }

    /// Partial merge, perhaps with a new page that takes its slot.
    fn complete_sequential(&mut self, array: &mut Array, new: Option<(&Down, u64)>) -> u64 {
        let (block, lbn) = self.sequential.take().expect("a sequential block");
        array.counts.merges_partial += 1;
        let count = array.next(block);
        let done = self.blocks.copy_rest(array, lbn, block, count, new);
        self.blocks.take_over(array, lbn, block, &[]);
        done
    }

    /// Full merge of the owner of the sequential block with a new page that is already in it.
    fn replace_sequential(&mut self, array: &mut Array, block: usize, lbn: usize, down: &Down, after: u64) -> u64 {
        self.sequential = None;
        array.counts.merges_full += 1;
        array.counts.merges_full_lbns += 1;
        array.counts.merges_full_log_blocks += 1;
        array.counts.merges_full_log_pages += array.programmed(block);
        let fresh = array.take_free();
        let done = self.blocks.copy_rest(array, lbn, fresh, 0, Some((down, after)));
        self.blocks.take_over(array, lbn, fresh, &[block]);
        done
    }

    fn write_random(&mut self, array: &mut Array, down: &Down, after: u64) -> u64 {
        if self.random.back().is_none_or(|last| array.is_full(*last)) {
            if self.random.len() == self.rw_blocks {
                self.reclaim_oldest(array);
            }
            let fresh = array.take_free();
            self.random.push_back(fresh);
        }
        let log = *self.random.back().expect("a log block");
        self.blocks.log(array, (log, array.next(log)), down, after)
    }

    /// Every logical block with a valid page in the oldest log block is merged, in the order of those pages.
    fn reclaim_oldest(&mut self, array: &mut Array) {
        let oldest = self.random.pop_front().expect("a log block");
        if array.valid(oldest).is_empty() {
            array.counts.merges_dead += 1;
            return reclaim(array, oldest);
        }
        let logged = array.programmed(oldest);
        let mut merged = 0;
        while let Some(at) = array.valid(oldest).first().copied() {
            let Owner::Data(lpn) = array.page(at).owner else { panic!("no maps here") };
            let lbn = self.blocks.lbn(lpn);
            if self.sequential.is_some_and(|(_, owner)| owner == lbn) {
                self.close_sequential(array);
                continue;
            }
            let fresh = array.take_free();
            self.blocks.copy_rest(array, lbn, fresh, 0, None);
            self.blocks.take_over(array, lbn, fresh, &[]);
            merged += 1;
        }
        let counts = &mut array.counts;
        counts.merges_full += 1;
        counts.merges_full_lbns += merged;
        counts.merges_full_log_blocks += 1;
        counts.merges_full_log_pages += logged;
        counts.padding_merges += 1;
        counts.padding_data_blocks += merged;
        counts.padding_log_blocks += 1;
        counts.padding_log_pages += logged;
        reclaim(array, oldest);
    }
}

impl Ftl for Fast {
    fn write(&mut self, array: &mut Array, pages: &[Down], after: u64) -> u64 {
        self.blocks.commands += 1;
        pages.iter().fold(after, |done, down| done.max(self.write_page(array, down, after)))
    }
    fn write_whole(&mut self, array: &mut Array, lbn: usize, pages: &[Down], after: u64) -> u64 {
        let (fresh, done) = self.blocks.put_whole(array, pages, after);
        let log = self.sequential.take_if(|(_, owner)| *owner == lbn).map(|(block, _)| block);
        self.blocks.take_over(array, lbn, fresh, log.as_slice());
        done
    }
    fn trim(&mut self, array: &mut Array, lpn: u32) -> u64 {
        if let (Some((block, _)), Some(place)) = (self.sequential, self.blocks.map[lpn as usize])
            && place.0 == block
        {
            self.close_sequential(array);
            self.blocks.trim(array, lpn);
            return array.idle_at;
        }
        self.blocks.trim(array, lpn);
        array.now
    }
    fn place(&self, lpn: u32) -> Option<Addr> {
        self.blocks.map[lpn as usize]
    }
    fn map_bytes(&self) -> u64 {
        let logs = (self.rw_blocks + usize::from(self.use_sw)) as u64;
        4 * self.blocks.data.len() as u64 + 4 * self.blocks.pages_per_block as u64 * logs
    }
}
