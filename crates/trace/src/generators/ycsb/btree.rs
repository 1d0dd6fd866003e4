//! A B-tree in pages with a buffer pool and a log.

use nandlab::list::{Links, List};
use nandlab::types::HostOp;

use super::{Engine, Io, Log};

/// Bytes of a page, of which [`FULL`] are used.
const PAGE: u64 = 16 << 10;
/// 69 % of a page.
const FULL: u64 = PAGE * 69 / 100;
/// Bytes of a key and its pointer in an inner page.
const POINTER: u64 = 16;
pub(super) struct Btree {
    record: u64,
    log: Log,
    leaf_records: u64,
    /// First page number of each level, leaves first.
    levels: Vec<u64>,
    /// Whether a page in the pool differs from its place on the device.
    dirty: Vec<bool>,
    /// The pool by recency, and its size in pages.
    links: Links,
    recency: List,
    pool: u32,
    logged: u64,
}

impl Btree {
    pub(super) fn new(records: u64, record: u64, memory: u64) -> Self {
        let leaf_records = FULL / record;
        let (mut levels, mut first, mut count) = (Vec::new(), 0, records.div_ceil(leaf_records));
        loop {
            levels.push(first);
            first += count;
            if count == 1 {
                break;
            }
            count = count.div_ceil(FULL / POINTER);
        }
        let mut links = Links::default();
        links.reserve_ids(first as usize);
        Self {
            record,
            log: Log { bytes: memory, head: 0 },
            leaf_records,
            levels,
            dirty: vec![false; first as usize],
            links,
            recency: List::default(),
            pool: (memory / PAGE) as u32,
            logged: 0,
        }
    }

    /// Where a page lies: behind the log.
    fn offset(&self, page: u32) -> u64 {
        self.log.bytes + u64::from(page) * PAGE
    }

    /// Brings a page to the recent end of the pool.
    fn touch(&mut self, page: u32, io: &mut Io) {
        if self.links.is_linked(page) {
            self.links.move_front(&mut self.recency, page);
            return;
        }
        if self.recency.len() == self.pool
            && let Some(victim) = self.links.pop_back(&mut self.recency)
            && std::mem::take(&mut self.dirty[victim as usize])
        {
            io.push(HostOp::Write, self.offset(victim), PAGE);
        }
        io.push(HostOp::Read, self.offset(page), PAGE);
        self.links.push_front(&mut self.recency, page);
    }

    /// From the root to a leaf.
    fn descend(&mut self, leaf: u64, io: &mut Io) {
        for level in (0..self.levels.len()).rev() {
            let index = (0..level).fold(leaf, |index, _| index / (FULL / POINTER));
            self.touch((self.levels[level] + index) as u32, io);
        }
    }

    fn checkpoint(&mut self, io: &mut Io) {
        for page in 0..self.dirty.len() {
            if std::mem::take(&mut self.dirty[page]) {
                io.push(HostOp::Write, self.offset(page as u32), PAGE);
            }
        }
        self.logged = 0;
    }
}

impl Engine for Btree {
    fn read(&mut self, key: u64, io: &mut Io) {
        self.descend(key / self.leaf_records, io);
    }

    fn write(&mut self, key: u64, io: &mut Io) {
        let leaf = key / self.leaf_records;
        self.descend(leaf, io);
        self.dirty[leaf as usize] = true;
        self.log.append(self.record, io);
        self.logged += self.record.next_multiple_of(512);
        if self.logged >= self.log.bytes {
            self.checkpoint(io);
        }
    }

    fn scan(&mut self, key: u64, records: u64, io: &mut Io) {
        let (first, last) = (key / self.leaf_records, (key + records - 1) / self.leaf_records);
        self.descend(first, io);
        (first + 1..=last).for_each(|leaf| self.touch(leaf as u32, io));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pool_evicts_the_least_recent_page_and_writes_it_if_dirty() {
        // 1,000 records of 4 KiB, 2 in a leaf: 500 leaves under a root (page 500); a pool of 64 pages.
        let mut tree = Btree::new(1000, 4096, 1 << 20);
        assert_eq!((tree.levels.clone(), tree.dirty.len(), tree.pool), (vec![0, 500], 501, 64));
        let mut io = Io::default();
        tree.write(0, &mut io);
        (1..63).for_each(|leaf| tree.read(2 * leaf, &mut io));
        let log = 1 << 20;
        assert_eq!(io.0.drain(..).filter(|(op, ..)| *op == HostOp::Read).count(), 64, "each page once");
        tree.read(200, &mut io);
        let expected = [(HostOp::Write, log, PAGE), (HostOp::Read, log + 100 * PAGE, PAGE)];
        assert_eq!(io.0.drain(..).collect::<Vec<_>>(), expected);
        tree.read(2, &mut io);
        assert!(io.0.is_empty(), "page 1 stayed");
    }

    #[test]
    fn full_log_writes_all_dirty_pages_in_order() {
        let mut tree = Btree::new(1000, 4096, 1 << 20);
        let mut io = Io::default();
        (0..256).for_each(|i| tree.write(i * 7 % 20, &mut io));
        let written: Vec<u64> = io.0.iter().rev().take(10).map(|(_, offset, _)| *offset).collect();
        assert_eq!(written, (0..10).rev().map(|leaf| (1 << 20) + leaf * PAGE).collect::<Vec<_>>());
        assert!(tree.dirty.iter().all(|dirty| !dirty));
    }
}
