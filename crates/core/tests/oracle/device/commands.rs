//! What the oracle's buffer asks of the FTL: reads, write-backs with their padding, what is fetched ahead, flushes.

use nandlab::ledger::Cause;

use super::Device;
use crate::oracle::flash::{Addr, Page};
use crate::oracle::ftl::Down;
use crate::oracle::policy::{Access, Frame, Step};

impl Device {
    /// What flash found goes under the sectors that the host has written.
    pub(super) fn deliver(&mut self, lpn: u32, place: Option<Addr>, end: u64) {
        let found = place.map(|at| self.array.page(at).clone());
        self.array.counts.dram_writes += 1;
        let frame = self.ram.pages.get_mut(&lpn).expect("a resident page");
        for i in 0..frame.data.len() {
            if !frame.sectors[i] {
                frame.data[i] = found.as_ref().map_or(0, |page| page.data[i]);
                frame.sectors[i] = true;
            }
        }
        if !frame.dirty {
            frame.version = found.map_or(frame.version, |page| page.version);
        }
        frame.ready = frame.ready.max(end);
    }

    /// Reads the sectors of a resident page that are not in RAM.
    pub(super) fn complete(&mut self, lpn: u32) -> u64 {
        let (place, end) = self.read_below(lpn, Cause::Pad, self.array.now);
        self.deliver(lpn, place, end);
        end
    }

    pub(super) fn read_below(&mut self, lpn: u32, cause: Cause, after: u64) -> (Option<Addr>, u64) {
        let (place, known) = self.ftl.look_up(&mut self.array, lpn);
        let mut end = after.max(known);
        match place {
            Some(at) => end = self.array.read(at, cause, end),
            None => self.array.counts.unmapped_reads += 1,
        }
        self.array.counts.buffer_read_pages += 1;
        if self.ram.frames > 0 {
            self.buffer_ns.0 += end - self.array.now;
        }
        (place, end)
    }

    /// In order, but what is fetched ahead comes last. Returns when all that is written is over. The first frame that a page
    /// leaves is for whoever waits for that, if a frame is `wanted`; the others can be used when their pages are written.
    pub(super) fn carry_out(&mut self, steps: Vec<Step>, wanted: &mut bool) -> u64 {
        let mut room = self.array.now;
        let mut ahead = Vec::new();
        for step in steps {
            match step {
                Step::Drop(lpn) => {
                    let frame = self.ram.pages.remove(&lpn).expect("a resident page");
                    assert!(!frame.dirty, "a dirty page is dropped");
                    self.array.counts.buffer_drops += 1;
                    room = room.max(frame.writing);
                    self.leave(frame.writing, wanted);
                }
                Step::Write { mut leave, stay, pad } => {
                    leave.sort_unstable();
                    let mut all = leave.clone();
                    all.extend(&stay);
                    let done = self.write_back(&all, pad);
                    room = room.max(done);
                    for lpn in &leave {
                        self.ram.pages.remove(lpn);
                        self.leave(self.array.written[lpn], wanted);
                    }
                    for lpn in &stay {
                        let frame = self.ram.pages.get_mut(lpn).expect("a resident page");
                        (frame.dirty, frame.writing) = (false, self.array.written[lpn]);
                    }
                }
                Step::Fetch(lpn) => ahead.push(lpn),
            }
        }
        for lpn in ahead {
            assert!(!self.ram.is_full() && !self.ram.pages.contains_key(&lpn));
            let begins = self.take_frame();
            let (place, end) = self.read_below(lpn, Cause::Prefetch, begins);
            let sectors = self.setup.page_sectors;
            let (data, present) = (vec![0; sectors], vec![false; sectors]);
            let ahead_by = Some(self.requests);
            let frame = Frame { dirty: false, sectors: present, data, version: 0, ready: 0, ahead_by, writing: 0 };
            self.ram.pages.insert(lpn, frame);
            self.deliver(lpn, place, end);
            self.array.counts.prefetched_pages += 1;
            self.policy.placed(Access { lpn, write: false, request: self.requests }, &self.ram);
        }
        room
    }

    fn leave(&mut self, written: u64, wanted: &mut bool) {
        if !std::mem::take(wanted) && written > self.array.now {
            self.leaving.push(written);
        }
    }

    /// One command: dirty pages, perhaps with the rest of their logical block.
    pub(super) fn write_back(&mut self, lpns: &[u32], pad: bool) -> u64 {
        let now = self.array.now;
        let mut lpns = lpns.to_vec();
        lpns.sort_unstable();
        let lbn = self.ram.lbn(lpns[0]);
        let block_pages = self.ram.block_pages(lbn);
        let in_one_block = self.ram.lbn(lpns[lpns.len() - 1]) == lbn;
        let whole = in_one_block && (pad || lpns.len() == block_pages);
        let (mut after, mut batch) = (now, Vec::new());
        for lpn in &lpns {
            assert!(self.ram.pages[lpn].dirty, "a clean page is written back");
            let partial = !self.ram.pages[lpn].is_complete();
            if partial {
                let (place, end) = self.old_copy(*lpn);
                self.deliver(*lpn, place, end);
            }
            let Frame { version, ref data, ready, .. } = self.ram.pages[lpn];
            after = after.max(ready);
            let needs_old = partial && self.ftl.keeps_map_on_flash();
            batch.push(Down { lpn: *lpn, cause: Cause::Host, version, data: data.clone(), needs_old });
        }
        let mut holes = 0;
        if whole && pad && lpns.len() < block_pages && !self.ftl.completes_blocks() {
            let padded = self.pad(lbn, block_pages, &mut batch);
            after = after.max(padded.0);
            holes = padded.1;
        }
        self.array.until_transfer = self.setup.until_transfer;
        self.array.programmed = 0;
        let done = if whole {
            self.ftl.write_whole(&mut self.array, lbn, &batch, after)
        } else {
            self.ftl.write(&mut self.array, &batch, after)
        };
        self.array.until_transfer = false;
        self.book_old_copies(&batch);
        let written = batch.len() - holes;
        let counts = &mut self.array.counts;
        counts.write_back_commands += 1;
        counts.write_back_pages += lpns.len() as u64;
        counts.padded_pages += (written - lpns.len()) as u64;
        counts.padded_write_backs += u64::from(written > lpns.len());
        counts.buffer_write_pages += written as u64;
        counts.padding_holes += holes as u64;
        counts.flushed_groups += lpns.chunk_by(|a, b| self.ram.lbn(*a) == self.ram.lbn(*b)).count() as u64;
        // Whoever may have the frames back when the pages have left the RAM: they are written when they are programmed.
        let programmed = done.max(self.array.programmed);
        self.buffer_ns.1 += programmed - now;
        self.written_back = self.written_back.max(programmed);
        done
    }

    /// What flash has of a page that goes down. With the map on flash the FTL reads it in the page's turn; here is only
    /// what it will find.
    pub(super) fn old_copy(&mut self, lpn: u32) -> (Option<Addr>, u64) {
        if !self.ftl.keeps_map_on_flash() {
            return self.read_below(lpn, Cause::Pad, self.array.now);
        }
        let place = self.ftl.place(lpn);
        self.array.counts.unmapped_reads += u64::from(place.is_none());
        self.array.counts.buffer_read_pages += 1;
        (place, self.array.now)
    }

    /// The old copies that the FTL read while it wrote these pages.
    pub(super) fn book_old_copies(&mut self, batch: &[Down]) {
        let mut ends = std::mem::take(&mut self.array.old_copies).into_iter();
        for down in batch.iter().filter(|down| down.needs_old) {
            let end = ends.next().expect("every old copy is looked for");
            if self.ram.frames > 0 {
                self.buffer_ns.0 += end - self.array.now;
            }
            if let Some(frame) = self.ram.pages.get_mut(&down.lpn).filter(|_| down.cause == Cause::Host) {
                frame.ready = frame.ready.max(end);
            }
        }
        assert!(ends.next().is_none(), "no old copy is read that nobody needs");
    }

    /// Completes a batch: copies in RAM first, then flash; a page that was never written stays a hole. Returns when the
    /// copies are there, and the holes that only the FTL's look-up will tell.
    pub(super) fn pad(&mut self, lbn: usize, block_pages: usize, batch: &mut Vec<Down>) -> (u64, usize) {
        let (mut after, mut holes) = (self.array.now, 0);
        let needs_old = self.ftl.keeps_map_on_flash();
        for offset in 0..block_pages {
            let lpn = (lbn * self.setup.pages_per_block + offset) as u32;
            if batch.iter().any(|down| down.lpn == lpn) {
                continue;
            }
            if let Some(frame) = self.ram.pages.get(&lpn).filter(|frame| frame.is_complete()) {
                after = after.max(frame.ready);
                let (version, data) = (frame.version, frame.data.clone());
                batch.push(Down { lpn, cause: Cause::Pad, version, data, needs_old: false });
                continue;
            }
            let (place, end) = self.old_copy(lpn);
            after = after.max(end);
            if let Some(at) = place {
                self.array.counts.padded_from_flash += 1;
                let Page { version, ref data, .. } = *self.array.page(at);
                batch.push(Down { lpn, cause: Cause::Pad, version, data: data.clone(), needs_old });
            } else if needs_old {
                holes += 1;
                batch.push(Down { lpn, cause: Cause::Pad, version: 0, data: Vec::new(), needs_old });
            }
        }
        batch.sort_by_key(|down| down.lpn);
        (after, holes)
    }

    /// Everything dirty goes to flash.
    pub fn flush(&mut self) {
        let dirty: Vec<u32> = self.ram.pages.iter().filter(|(_, frame)| frame.dirty).map(|(lpn, _)| *lpn).collect();
        let by_block = self.policy.by_block();
        for unit in dirty
            .chunk_by(|a, b| by_block && self.ram.lbn(*a) == self.ram.lbn(*b))
            .map(<[u32]>::to_vec)
            .collect::<Vec<_>>()
        {
            self.write_back(&unit, false);
            for lpn in unit {
                let done = self.array.written[&lpn];
                let frame = self.ram.pages.get_mut(&lpn).expect("resident");
                (frame.dirty, frame.writing) = (false, done);
                if !self.policy.flushed(lpn, &self.ram) {
                    self.ram.pages.remove(&lpn);
                    if done > self.array.now {
                        self.leaving.push(done);
                    }
                }
            }
        }
    }

    /// A page takes a frame that is not in use: when it can. Frames that nobody waits for go first.
    pub(super) fn take_frame(&mut self) -> u64 {
        let now = self.array.now;
        self.leaving.retain(|at| *at > now);
        let free = self.ram.frames.saturating_sub(self.ram.pages.len());
        while self.leaving.len() > free {
            self.leaving.remove(0);
        }
        if self.leaving.is_empty() || self.leaving.len() < free {
            return now;
        }
        self.array.counts.eviction_waits += 1;
        self.leaving.remove(0)
    }
}
