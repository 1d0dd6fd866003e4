//! A log-structured merge-tree: every key's versions are known by level, exactly.

use std::collections::VecDeque;

use nandlab::types::HostOp;

use super::{CHUNK, Engine, Io, Log};

/// Bytes that a read fetches at least.
const BLOCK: u64 = 4096;
/// Files of level 0 that are merged, and the size of level 1 in memtables.
const FILES_0: usize = 4;

/// A set of keys, with counts of ranges.
#[derive(Clone)]
struct KeySet(Vec<u64>);

impl KeySet {
    fn new(keys: u64) -> Self {
        Self(vec![0; keys.div_ceil(64) as usize])
    }
    fn has(&self, key: u64) -> bool {
        self.0[(key / 64) as usize] >> (key % 64) & 1 != 0
    }
    fn insert(&mut self, key: u64) {
        self.0[(key / 64) as usize] |= 1 << (key % 64);
    }
    /// The bits of a word that lie in a range of keys.
    fn word(&self, index: u64, from: u64, to: u64) -> u64 {
        let mut bits = self.0[index as usize];
        if from > index * 64 {
            bits &= u64::MAX << (from - index * 64);
        }
        if to < index * 64 + 64 {
            bits &= !(u64::MAX << (to - index * 64));
        }
        bits
    }
    /// Keys in a range.
    fn count(&self, from: u64, to: u64) -> u64 {
        if from >= to {
            return 0;
        }
        let (first, last) = (from / 64, (to - 1) / 64);
        let ones = u64::from(self.word(first, from, to).count_ones());
        if first == last {
            return ones;
        }
        let whole = &self.0[first as usize + 1..last as usize];
        let between: u64 = whole.iter().map(|word| u64::from(word.count_ones())).sum();
        ones + between + u64::from(self.word(last, from, to).count_ones())
    }
    /// Adds the keys of another set in a range, which loses them.
    fn take(&mut self, other: &mut Self, from: u64, to: u64) {
        for index in from / 64..to.div_ceil(64) {
            let bits = other.word(index, from, to);
            self.0[index as usize] |= bits;
            other.0[index as usize] &= !bits;
        }
    }
    /// The first key at or after `from` such that `count` keys lie before it and not before `from`; `to` if there are fewer.
    fn nth(&self, from: u64, to: u64, mut count: u64) -> u64 {
        for index in from / 64..to.div_ceil(64) {
            let mut bits = self.word(index, from, to);
            let ones = u64::from(bits.count_ones());
            if count >= ones {
                count -= ones;
                continue;
            }
            for _ in 0..count {
                bits &= bits - 1;
            }
            return index * 64 + u64::from(bits.trailing_zeros());
        }
        to
    }
}

/// A sorted file: the keys of its level in a range.
#[derive(Clone, Copy)]
struct File {
    from: u64,
    to: u64,
    records: u64,
    slot: u64,
}

struct Level {
    keys: KeySet,
    /// In order of their keys, which do not overlap.
    files: Vec<File>,
    records: u64,
    records_max: u64,
    /// Where the next file to be merged begins at the earliest.
    cursor: u64,
}

pub(super) struct Lsm {
    keys: u64,
    record: u64,
    log: Log,
    memtable: KeySet,
    memtable_records: u64,
    /// Most records of a memtable and of a file.
    file_records: u64,
    /// Files of level 0, oldest first, each with its keys.
    newest: Vec<(KeySet, File)>,
    levels: Vec<Level>,
    /// Places for files that are free, longest first, and the first that never was used.
    free: VecDeque<u64>,
    unused: u64,
}

impl Lsm {
    pub(super) fn new(keys: u64, record: u64, memory: u64, ratio: u64) -> Self {
        let file_records = (memory / record).min(keys);
        let mut lsm = Self {
            keys,
            record,
            log: Log { bytes: 2 * memory, head: 0 },
            memtable: KeySet::new(keys),
            memtable_records: 0,
            file_records,
            newest: Vec::new(),
            levels: Vec::new(),
            free: VecDeque::new(),
            unused: 0,
        };
        let mut records_max = FILES_0 as u64 * file_records;
        loop {
            let last = records_max >= keys;
            let limit = if last { u64::MAX } else { records_max };
            let keys = KeySet::new(keys);
            lsm.levels.push(Level { keys, files: Vec::new(), records: 0, records_max: limit, cursor: 0 });
            if last {
                break;
            }
            records_max *= ratio;
        }
        let last = lsm.levels.len() - 1;
        (0..keys).for_each(|key| lsm.levels[last].keys.insert(key));
        let files = lsm.cut(last, 0, keys);
        lsm.levels[last].files = files;
        lsm.levels[last].records = keys;
        lsm
    }

    fn slot(&mut self) -> u64 {
        self.free.pop_front().unwrap_or_else(|| {
            self.unused += 1;
            self.unused - 1
        })
    }

    fn offset(&self, slot: u64) -> u64 {
        let slot_bytes = (self.file_records * self.record).next_multiple_of(CHUNK);
        self.log.bytes + slot * slot_bytes
    }

    fn stream(&self, op: HostOp, file: &File, io: &mut Io) {
        io.stream(op, self.offset(file.slot), (file.records * self.record).next_multiple_of(BLOCK));
    }

    /// Divides the keys of a level in a range into files of about equal size.
    fn cut(&mut self, level: usize, from: u64, to: u64) -> Vec<File> {
        let total = self.levels[level].keys.count(from, to);
        let count = total.div_ceil(self.file_records).max(1);
        let mut files = Vec::with_capacity(count as usize);
        let (mut start, mut done) = (from, 0);
        for i in 1..=count {
            let records = total * i / count - done;
            let slot = self.slot();
            let end = if i == count { to } else { self.levels[level].keys.nth(start, to, records) };
            files.push(File { from: start, to: end, records, slot });
            (start, done) = (end, done + records);
        }
        files
    }

    fn flush(&mut self, io: &mut Io) {
        let keys = std::mem::replace(&mut self.memtable, KeySet::new(self.keys));
        let records = std::mem::take(&mut self.memtable_records);
        let file = File { from: 0, to: self.keys, records, slot: self.slot() };
        self.stream(HostOp::Write, &file, io);
        self.newest.push((keys, file));
        if self.newest.len() < FILES_0 {
            return;
        }
        let files = std::mem::take(&mut self.newest);
        let mut merged = KeySet::new(self.keys);
        let mut slots = Vec::new();
        for (mut keys, file) in files {
            self.stream(HostOp::Read, &file, io);
            merged.take(&mut keys, 0, self.keys);
            slots.push(file.slot);
        }
        self.merge(merged, (0, self.keys), 0, slots, io);
        for level in 0..self.levels.len() - 1 {
            while self.levels[level].records > self.levels[level].records_max {
                self.push_down(level, io);
            }
        }
    }

    /// Merges one file of a level, the next by key, into the level below.
    fn push_down(&mut self, level: usize, io: &mut Io) {
        let upper = &mut self.levels[level];
        let index = upper.files.iter().position(|file| file.from >= upper.cursor).unwrap_or(0);
        let file = upper.files.remove(index);
        upper.cursor = file.to;
        upper.records -= file.records;
        let mut moved = KeySet::new(self.keys);
        moved.take(&mut upper.keys, file.from, file.to);
        self.stream(HostOp::Read, &file, io);
        self.merge(moved, (file.from, file.to), level + 1, vec![file.slot], io);
    }

    /// Merges keys that lie in a range, and have been read from files at `slots`, into a level.
    fn merge(&mut self, mut keys: KeySet, (from, to): (u64, u64), level: usize, mut slots: Vec<u64>, io: &mut Io) {
        let files = &self.levels[level].files;
        let first = files.partition_point(|file| file.to <= from);
        let end = files.partition_point(|file| file.from < to);
        let old: Vec<File> = files[first..end].to_vec();
        let (from, to) = old.iter().fold((from, to), |(from, to), file| (from.min(file.from), to.max(file.to)));
        for file in &old {
            self.stream(HostOp::Read, file, io);
            slots.push(file.slot);
        }
        self.levels[level].keys.take(&mut keys, 0, self.keys);
        let new = self.cut(level, from, to);
        for file in &new {
            self.stream(HostOp::Write, file, io);
        }
        let level = &mut self.levels[level];
        level.records += new.iter().map(|file| file.records).sum::<u64>();
        level.records -= old.iter().map(|file| file.records).sum::<u64>();
        level.files.splice(first..end, new);
        // Only now: a merge does not overwrite its own inputs.
        self.free.extend(slots);
    }

    /// Reads the blocks that hold the records of a file in a range of keys.
    fn fetch(&self, keys: &KeySet, file: &File, (from, to): (u64, u64), io: &mut Io) {
        let before = keys.count(file.from, from.max(file.from));
        let records = keys.count(from.max(file.from), to.min(file.to));
        if records > 0 {
            let (first, end) = (before * self.record / BLOCK, ((before + records) * self.record).div_ceil(BLOCK));
            io.stream(HostOp::Read, self.offset(file.slot) + first * BLOCK, (end - first) * BLOCK);
        }
    }
}

impl Engine for Lsm {
    fn read(&mut self, key: u64, io: &mut Io) {
        if self.memtable.has(key) {
            return;
        }
        if let Some((keys, file)) = self.newest.iter().rev().find(|(keys, _)| keys.has(key)) {
            return self.fetch(keys, file, (key, key + 1), io);
        }
        if let Some(level) = self.levels.iter().find(|level| level.keys.has(key)) {
            let index = level.files.partition_point(|file| file.to <= key);
            self.fetch(&level.keys, &level.files[index], (key, key + 1), io);
        }
    }

    fn write(&mut self, key: u64, io: &mut Io) {
        self.log.append(self.record, io);
        if !self.memtable.has(key) {
            self.memtable.insert(key);
            self.memtable_records += 1;
        }
        if self.memtable_records == self.file_records {
            self.flush(io);
        }
    }

    fn scan(&mut self, key: u64, records: u64, io: &mut Io) {
        let range = (key, key + records);
        for (keys, file) in &self.newest {
            self.fetch(keys, file, range, io);
        }
        for level in &self.levels {
            let first = level.files.partition_point(|file| file.to <= range.0);
            let end = level.files.partition_point(|file| file.from < range.1);
            for file in &level.files[first..end] {
                self.fetch(&level.keys, file, range, io);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generators::random::SplitMix;

    #[test]
    fn range_of_keys_is_counted_and_divided_right() {
        let mut keys = KeySet::new(300);
        let members = [0, 3, 63, 64, 127, 128, 250, 299];
        for key in members {
            keys.insert(key);
        }
        for (from, to) in [(0, 300), (1, 64), (64, 64), (63, 129), (129, 299)] {
            let inside: Vec<u64> = members.iter().copied().filter(|key| (from..to).contains(key)).collect();
            assert_eq!(keys.count(from, to), inside.len() as u64, "{from} to {to}");
            for (n, key) in inside.iter().enumerate() {
                assert_eq!(keys.nth(from, to, n as u64), *key);
            }
            assert_eq!(keys.nth(from, to, inside.len() as u64), to);
        }
    }

    #[test]
    fn levels_are_whole_after_many_updates() {
        let (keys, record) = (20_000, 1024);
        let mut lsm = Lsm::new(keys, record, 1 << 20, 4);
        let (mut random, mut io, mut written) = (SplitMix(1), Io::default(), 0);
        for _ in 0..40_000 {
            lsm.write(random.below(keys), &mut io);
            let drained: u64 = io.0.drain(..).filter(|(op, ..)| *op == HostOp::Write).map(|(_, _, n)| n).sum();
            written += drained;
        }
        let last = lsm.levels.len() - 1;
        assert_eq!(last, 2, "1,024 records in a memtable, 4,096 in level 1, 16,384 in level 2, the rest in level 3");
        let mut slots: Vec<u64> =
            lsm.free.iter().copied().chain(lsm.newest.iter().map(|(_, file)| file.slot)).collect();
        for (number, level) in lsm.levels.iter().enumerate() {
            assert!(level.records <= level.records_max);
            assert_eq!(level.records, level.keys.count(0, keys));
            for file in &level.files {
                assert_eq!(file.records, level.keys.count(file.from, file.to), "level {number}");
                assert!(file.records <= lsm.file_records);
            }
            assert!(level.files.windows(2).all(|pair| pair[0].to <= pair[1].from));
            slots.extend(level.files.iter().map(|file| file.slot));
        }
        slots.sort_unstable();
        assert_eq!(slots, (0..lsm.unused).collect::<Vec<_>>(), "every place is free or holds one file");
        assert_eq!(lsm.levels[last].records, keys);
        // Log and flush write everything about once each; merges of three levels several times more.
        assert!((4..30).contains(&(written / (40_000 * record))), "{}", written / (40_000 * record));
    }

    #[test]
    fn record_is_read_from_the_newest_place() {
        let mut lsm = Lsm::new(10_000, 1024, 1 << 20, 10);
        let mut io = Io::default();
        lsm.read(77, &mut io);
        assert_eq!(io.0.drain(..).collect::<Vec<_>>(), [(HostOp::Read, (2 << 20) + 19 * 4096, 4096)]);
        lsm.write(77, &mut io);
        io.0.clear();
        lsm.read(77, &mut io);
        assert!(io.0.is_empty(), "it is in the memtable");
        lsm.scan(78, 4, &mut io);
        assert_eq!(io.0.drain(..).collect::<Vec<_>>(), [(HostOp::Read, (2 << 20) + 19 * 4096, 2 * 4096)]);
    }
}
