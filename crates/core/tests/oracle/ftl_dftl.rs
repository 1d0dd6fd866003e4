//! DFTL: the map in translation pages on flash, some of its entries in RAM. Specs and the manual page of `dftl`.

use nandlab::ledger::{BlockKind, Cause};

use super::flash::{Addr, Array, Owner, Page};
use super::ftl::{Down, Ftl, Purpose};

#[derive(Clone, Copy, Debug)]
pub struct Choices {
    pub entries_per_tp: usize,
    pub cmt_entries: usize,
    /// Entries of the protected segment.
    pub protected: usize,
    pub reserve: usize,
    pub evict_batch: bool,
    pub write_miss_fetch: bool,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    lpn: u32,
    at: Option<Addr>,
    dirty: bool,
}

pub struct Dftl {
    choices: Choices,
    /// Where each translation page lies.
    directory: Vec<Option<Addr>>,
    /// What the translation pages on flash say.
    stored: Vec<Option<Addr>>,
    /// Cached entries, most recent first.
    probation: Vec<Entry>,
    protected: Vec<Entry>,
    open_data: Option<usize>,
    open_map: Option<usize>,
    /// Full blocks in the order in which they became full, and whether they hold translation pages.
    closed: Vec<(usize, bool)>,
}

impl Dftl {
    pub fn new(choices: Choices, logical_pages: usize) -> Self {
        Self {
            choices,
            directory: vec![None; logical_pages.div_ceil(choices.entries_per_tp)],
            stored: vec![None; logical_pages],
            probation: Vec::new(),
            protected: Vec::new(),
            open_data: None,
            open_map: None,
            closed: Vec::new(),
        }
    }

    fn tp(&self, lpn: u32) -> usize {
        lpn as usize / self.choices.entries_per_tp
    }
    fn entry(&mut self, lpn: u32) -> Option<&mut Entry> {
        self.probation.iter_mut().chain(&mut self.protected).find(|entry| entry.lpn == lpn)
    }

    /// Every access to a mapping: a hit, or an eviction and a fetch.
    fn find(&mut self, array: &mut Array, lpn: u32, purpose: Purpose) -> u64 {
        array.counts.look_ups[purpose as usize] += 1;
        if self.entry(lpn).is_some() {
            array.counts.map_hits += 1;
            self.promote(lpn);
            return array.now;
        }
        array.counts.map_misses += 1;
        let mut done = array.now;
        if self.probation.len() + self.protected.len() == self.choices.cmt_entries {
            done = done.max(self.evict(array));
        }
        if (purpose != Purpose::Write || self.choices.write_miss_fetch)
            && let Some(at) = self.directory[self.tp(lpn)]
        {
            done = array.read(at, Cause::MapMiss, done);
        }
        self.probation.insert(0, Entry { lpn, at: self.stored[lpn as usize], dirty: false });
        done
    }

    /// Segmented LRU: a hit goes to the protected segment, whose last entry goes back if it is full.
    fn promote(&mut self, lpn: u32) {
        if let Some(i) = self.protected.iter().position(|entry| entry.lpn == lpn) {
            let entry = self.protected.remove(i);
            return self.protected.insert(0, entry);
        }
        let i = self.probation.iter().position(|entry| entry.lpn == lpn).expect("a cached entry");
        let entry = self.probation.remove(i);
        if self.choices.protected == 0 {
            return self.probation.insert(0, entry);
        }
        if self.protected.len() == self.choices.protected {
            let last = self.protected.pop().expect("a protected entry");
            self.probation.insert(0, last);
        }
        self.protected.insert(0, entry);
    }

    fn evict(&mut self, array: &mut Array) -> u64 {
        let victim = *self.probation.last().or(self.protected.last()).expect("a cached entry");
        let mut done = array.now;
        if victim.dirty {
            let tp = self.tp(victim.lpn);
            self.room_for_map(array);
            if let Some(at) = self.directory[tp] {
                done = array.read(at, Cause::MapEvict, done);
            }
            // Making room may have moved the page.
            let batch = self.choices.evict_batch;
            let per_tp = self.choices.entries_per_tp;
            for entry in self.probation.iter_mut().chain(&mut self.protected) {
                let goes = entry.lpn == victim.lpn || (batch && entry.lpn as usize / per_tp == tp);
                if goes && entry.dirty {
                    self.stored[entry.lpn as usize] = entry.at;
                    entry.dirty = false;
                }
            }
            done = self.write_tp(array, tp, Cause::MapEvict, done);
        }
        self.probation.retain(|entry| entry.lpn != victim.lpn);
        self.protected.retain(|entry| entry.lpn != victim.lpn);
        done
    }

    /// Programs a page; a block that becomes full is closed.
    fn append(&mut self, array: &mut Array, map: bool, page: Page, cause: Cause, after: u64) -> (Addr, u64) {
        let open = if map { &mut self.open_map } else { &mut self.open_data };
        let block = *open.get_or_insert_with(|| array.take_free());
        let to = (block, array.next(block));
        let done = array.program(to, page, cause, after);
        if array.is_full(block) {
            *open = None;
            self.closed.push((block, map));
        }
        (to, done)
    }

    fn write_tp(&mut self, array: &mut Array, tp: usize, cause: Cause, after: u64) -> u64 {
        if self.open_map.is_none() {
            let compacted = if array.free.len() <= 1 { self.worst_map_block(array) } else { None };
            self.open_map = Some(array.take_free());
            if let Some(victim) = compacted {
                array.counts.gc_runs += 1;
                self.collect_map(array, victim);
            }
        }
        let page = Page { owner: Owner::Map(tp as u32), version: 0, data: Vec::new(), valid: true };
        let (to, done) = self.append(array, true, page, cause, after);
        if let Some(old) = self.directory[tp].replace(to) {
            array.invalidate(old);
        }
        done
    }

    fn room_for_map(&mut self, array: &mut Array) {
        if self.open_map.is_none() {
            self.collect_until(array, self.choices.reserve + 1);
        }
    }

    fn collect_until(&mut self, array: &mut Array, wanted: usize) {
        while array.free.len() < wanted {
            self.collect(array);
        }
    }

    /// The closed translation block with the fewest valid pages, if it gives a page at all.
    fn worst_map_block(&mut self, array: &Array) -> Option<usize> {
        let maps = self.closed.iter().filter(|(_, map)| *map).map(|(block, _)| *block);
        let victim = maps.min_by_key(|block| (array.valid(*block).len(), *block))?;
        if array.valid(victim).len() == array.pages_per_block() {
            return None;
        }
        self.closed.retain(|(block, _)| *block != victim);
        Some(victim)
    }

    /// One victim: the block with the fewest valid pages, data or map, among equals the one full for longest. When blocks
    /// are scarce a translation block, if there is one that gives a page.
    fn collect(&mut self, array: &mut Array) {
        array.counts.gc_runs += 1;
        if array.free.len() < 2
            && let Some(victim) = self.worst_map_block(array)
        {
            return self.collect_map(array, victim);
        }
        let least =
            (0..self.closed.len()).min_by_key(|i| array.valid(self.closed[*i].0).len()).expect("a closed block");
        let (victim, map) = self.closed.remove(least);
        if map {
            self.collect_map(array, victim);
        } else {
            self.collect_data(array, victim);
        }
    }

    fn collect_map(&mut self, array: &mut Array, victim: usize) {
        for from in array.valid(victim) {
            let page = array.page(from).clone();
            let Owner::Map(tp) = page.owner else { panic!("data in a translation block") };
            let read = array.read(from, Cause::MapGc, 0);
            let (to, _) = self.append(array, true, page, Cause::MapGc, read);
            array.invalidate(from);
            self.directory[tp as usize] = Some(to);
        }
        array.erase(victim, BlockKind::Map, Cause::MapGc);
    }

    fn collect_data(&mut self, array: &mut Array, victim: usize) {
        let mut moved = Vec::new();
        for from in array.valid(victim) {
            let page = array.page(from).clone();
            let Owner::Data(lpn) = page.owner else { panic!("a map in a data block") };
            let read = array.read(from, Cause::Gc, 0);
            let (to, _) = self.append(array, false, page, Cause::Gc, read);
            array.invalidate(from);
            match self.entry(lpn) {
                Some(entry) => (entry.at, entry.dirty) = (Some(to), true),
                None => moved.push((lpn, to)),
            }
        }
        // The mappings that are not in RAM: one rewrite for every translation page.
        moved.sort_unstable();
        let per_tp = self.choices.entries_per_tp;
        for part in moved.chunk_by(|a, b| a.0 as usize / per_tp == b.0 as usize / per_tp) {
            for (lpn, to) in part {
                self.stored[*lpn as usize] = Some(*to);
            }
            let tp = part[0].0 as usize / per_tp;
            let Some(at) = self.directory[tp] else { continue };
            let read = array.read(at, Cause::MapUpdate, 0);
            self.write_tp(array, tp, Cause::MapUpdate, read);
        }
        array.erase(victim, BlockKind::Data, Cause::Gc);
    }

    fn room_for_data(&mut self, array: &mut Array) {
        if self.open_data.is_none() {
            self.collect_until(array, self.choices.reserve + 1);
        }
    }

    /// The entry, which is cached, says something new.
    fn set(&mut self, array: &mut Array, lpn: u32, at: Option<Addr>) {
        let entry = self.entry(lpn).expect("an entry that was looked up");
        let old = std::mem::replace(&mut entry.at, at);
        entry.dirty = true;
        if let Some(old) = old {
            array.invalidate(old);
        }
    }
}

impl Ftl for Dftl {
    fn look_up(&mut self, array: &mut Array, lpn: u32) -> (Option<Addr>, u64) {
        let done = self.find(array, lpn, Purpose::Read);
        (self.place(lpn), done)
    }
    fn keeps_map_on_flash(&self) -> bool {
        true
    }
    fn write(&mut self, array: &mut Array, pages: &[Down], after: u64) -> u64 {
        let mut done = after;
        for down in pages {
            let purpose = if down.needs_old { Purpose::Rewrite } else { Purpose::Write };
            let mut ready = self.find(array, down.lpn, purpose).max(after);
            if down.needs_old {
                let old = self.place(down.lpn);
                if let Some(at) = old {
                    ready = array.read(at, Cause::Pad, ready);
                }
                array.old_copies.push(ready);
                if old.is_none() && down.cause == Cause::Pad {
                    done = done.max(ready);
                    continue;
                }
            }
            self.room_for_data(array);
            let (to, end) = self.append(array, false, down.page(), down.cause, ready);
            self.set(array, down.lpn, Some(to));
            done = done.max(end);
        }
        done
    }
    fn write_whole(&mut self, array: &mut Array, _lbn: usize, pages: &[Down], after: u64) -> u64 {
        self.write(array, pages, after)
    }
    fn trim(&mut self, array: &mut Array, lpn: u32) -> u64 {
        let done = self.find(array, lpn, Purpose::Trim);
        self.set(array, lpn, None);
        done
    }
    fn place(&self, lpn: u32) -> Option<Addr> {
        let cached = self.probation.iter().chain(&self.protected).find(|entry| entry.lpn == lpn);
        cached.map_or(self.stored[lpn as usize], |entry| entry.at)
    }
    fn map_bytes(&self) -> u64 {
        8 * self.choices.cmt_entries as u64 + 4 * self.directory.len() as u64
    }
    fn fill(&mut self, array: &mut Array, _lbn: usize, pages: &[Down]) {
        for down in pages {
            self.room_for_data(array);
            let (to, _) = self.append(array, false, down.page(), down.cause, 0);
            self.stored[down.lpn as usize] = Some(to);
        }
    }
    fn filled(&mut self, array: &mut Array) {
        for tp in 0..self.directory.len() {
            self.room_for_map(array);
            self.write_tp(array, tp, Cause::MapEvict, 0);
        }
    }
}
