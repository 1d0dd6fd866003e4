//! The oracle's device: requests fall through the buffer and the FTL to the flash, one operation at a time.

use nandlab::ledger::Cause;
use nandlab::types::{HostOp, HostRequest};

use super::flash::{Addr, Array, Page, Times};
use super::ftl::{Down, Ftl};
use super::policy::{Access, Frame, Policy, Ram, Step};

/// What a run can choose.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "the choices of a run")]
pub struct Setup {
    pub pages_per_block: usize,
    pub blocks: usize,
    pub logical_pages: usize,
    pub page_sectors: usize,
    pub times: Times,
    pub frames: usize,
    /// Bytes that map and data share.
    pub shared_ram: Option<u64>,
    /// Every fragment of the map takes a page's worth of RAM in that many parts (0: the map has one size).
    pub fragment_bytes: u64,
    pub masks: bool,
    pub write_miss_fetch: bool,
    pub until_transfer: bool,
    pub open: bool,
    pub think: u64,
    pub depth: usize,
    pub ram_read: u64,
    pub ram_write: u64,
    pub read_groups: bool,
}

pub struct Device {
    pub setup: Setup,
    pub array: Array,
    pub ftl: Box<dyn Ftl>,
    pub ram: Ram,
    policy: Box<dyn Policy>,
    requests: u64,
    version: u64,
    /// When the last write-back ends.
    written_back: u64,
    /// When the places of the queue become free.
    in_queue: Vec<u64>,
    /// Nanoseconds of the buffer's reads and writes of this request; they are booked at the next admission.
    buffer_ns: (u64, u64),
    pub responses: Vec<u64>,
    last_finished: u64,
}

/// What a request gathers.
struct Flight {
    done: u64,
    ram_accesses: u64,
    hits: u64,
    hit_sectors: u64,
    /// What a read found, or what is written: one word for every sector.
    words: Vec<u64>,
}

/// A page and the part of it that a request wants.
struct Part {
    access: Access,
    from: usize,
    count: usize,
    /// First sector inside the request.
    at: usize,
}

impl Device {
    pub fn new(setup: Setup, ftl: Box<dyn Ftl>, mut policy: Box<dyn Policy>) -> Self {
        policy.resized(setup.frames);
        let array = Array::new(setup.blocks, setup.pages_per_block, setup.times);
        let Setup { frames, pages_per_block, logical_pages, .. } = setup;
        Self {
            setup,
            array,
            ftl,
            policy,
            ram: Ram { frames, pages: std::collections::BTreeMap::new(), pages_per_block, logical_pages },
            requests: 0,
            version: 0,
            written_back: 0,
            in_queue: Vec::new(),
            buffer_ns: (0, 0),
            responses: Vec::new(),
            last_finished: 0,
        }
    }

    /// Writes every page once, then forgets what was counted.
    pub fn fill(&mut self) {
        let (pages, per_block) = (self.setup.logical_pages, self.setup.pages_per_block);
        for lbn in 0..pages.div_ceil(per_block) {
            let lpns = lbn * per_block..pages.min((lbn + 1) * per_block);
            let zeros = vec![0; self.setup.page_sectors];
            let mut batch = Vec::new();
            for lpn in lpns {
                self.version += 1;
                batch.push(Down {
                    lpn: lpn as u32,
                    cause: Cause::Host,
                    version: self.version,
                    data: zeros.clone(),
                    needs_old: false,
                });
            }
            self.ftl.fill(&mut self.array, lbn, &batch);
        }
        self.ftl.filled(&mut self.array);
        self.array.now = self.array.now.max(self.array.idle_at);
        self.written_back = self.array.now;
        self.array.counts = super::counts::Counts::default();
    }

    /// One request with what it writes; returns what it reads.
    pub fn submit(&mut self, request: &HostRequest, words: Vec<u64>) -> Vec<u64> {
        let arrival = self.admit(request.at.0);
        let now = self.array.now;
        if self.setup.read_groups && request.op == HostOp::Read && self.ram.frames > 0 {
            self.count_read_groups(request);
        }
        self.array.counts.buffer_read_ns += std::mem::take(&mut self.buffer_ns.0);
        self.array.counts.buffer_write_ns += std::mem::take(&mut self.buffer_ns.1);
        self.requests += 1;
        self.share_ram();
        let mut flight = Flight { done: now, ram_accesses: 0, hits: 0, hit_sectors: 0, words };
        match request.op {
            HostOp::Read | HostOp::Write => self.access_pages(request, &mut flight),
            HostOp::Trim => self.trim(request, &mut flight),
            HostOp::Flush => {
                self.array.counts.host_flush_requests += 1;
                self.flush();
                flight.done = flight.done.max(self.written_back);
            }
        }
        let each = if request.op == HostOp::Write { self.setup.ram_write } else { self.setup.ram_read };
        let finished = flight.done.max(now + each * flight.ram_accesses);
        self.last_finished = finished;
        self.responses.push(finished - arrival);
        self.in_queue.push(if self.setup.open { finished } else { finished + self.setup.think });
        flight.words
    }

    /// Time goes on until the queue has a place; returns the arrival.
    fn admit(&mut self, at: u64) -> u64 {
        let array = &mut self.array;
        if self.setup.open {
            array.now = array.now.max(at);
        }
        self.in_queue.retain(|end| *end > array.now);
        while self.in_queue.len() >= self.setup.depth {
            array.now = *self.in_queue.iter().min().expect("a request");
            self.in_queue.retain(|end| *end > array.now);
        }
        if self.setup.open { at } else { array.now }
    }

    /// Groups that a read touches, as the buffer is when it comes.
    fn count_read_groups(&mut self, request: &HostRequest) {
        let sectors = (self.setup.page_sectors * self.setup.pages_per_block) as u64;
        let last = (request.lba + u64::from(request.sectors) - 1) / sectors;
        for lbn in request.lba / sectors..=last {
            if self.ram.holds_block(lbn as usize) {
                self.array.counts.group_read_hits += 1;
            } else {
                self.array.counts.group_read_misses += 1;
            }
        }
    }

    fn access_pages(&mut self, request: &HostRequest, flight: &mut Flight) {
        let (sectors, per_page) = (request.sectors as usize, self.setup.page_sectors);
        let write = request.op == HostOp::Write;
        let (mut at, mut pages, mut group) = (0, 0, None);
        while at < sectors {
            let lba = request.lba as usize + at;
            let (lpn, from) = ((lba / per_page) as u32, lba % per_page);
            let count = (per_page - from).min(sectors - at);
            let lbn = self.ram.lbn(lpn);
            if write && self.ram.frames > 0 && group != Some(lbn) {
                group = Some(lbn);
                if self.ram.holds_block(lbn) {
                    self.array.counts.group_hits += 1;
                } else {
                    self.array.counts.group_misses += 1;
                }
            }
            let access = Access { lpn, write, request: self.requests };
            self.access_page(&Part { access, from, count, at }, flight);
            at += count;
            pages += 1;
        }
        let counts = &mut self.array.counts;
        let all_hit = u64::from(flight.hits == pages);
        if write {
            counts.host_write_requests += 1;
            counts.host_page_writes += pages;
            counts.host_sector_writes += sectors as u64;
            counts.request_write_hits += all_hit;
            counts.buffer_write_hits += flight.hits;
            counts.sector_write_hits += flight.hit_sectors;
            counts.dram_writes += flight.ram_accesses;
        } else {
            counts.host_read_requests += 1;
            counts.host_page_reads += pages;
            counts.host_sector_reads += sectors as u64;
            counts.request_read_hits += all_hit;
            counts.buffer_read_hits += flight.hits;
            counts.sector_read_hits += flight.hit_sectors;
            counts.dram_reads += flight.ram_accesses;
        }
    }

    fn access_page(&mut self, part: &Part, flight: &mut Flight) {
        let access = part.access;
        let resident = self.ram.pages.contains_key(&access.lpn);
        self.policy.comes(access, &self.ram);
        if resident {
            self.hit(part, flight);
        } else if self.policy.admits(access.write) {
            self.miss(part, flight);
        } else {
            self.pass_by(part, flight);
        }
        let steps = self.policy.after(access, resident, &self.ram, &self.array.counts);
        self.carry_out(steps);
    }

    fn hit(&mut self, part: &Part, flight: &mut Flight) {
        let access = part.access;
        let frame = &self.ram.pages[&access.lpn];
        flight.done = flight.done.max(frame.ready);
        let there = access.write || frame.sectors[part.from..part.from + part.count].iter().all(|present| *present);
        if there {
            flight.hits += 1;
            flight.hit_sectors += part.count as u64;
        } else {
            flight.done = flight.done.max(self.complete(access.lpn));
        }
        self.touch(part, flight);
        self.policy.hit(access, &self.ram);
    }

    /// The host reads or writes a page in RAM.
    fn touch(&mut self, part: &Part, flight: &mut Flight) {
        flight.ram_accesses += 1;
        let frame = self.ram.pages.get_mut(&part.access.lpn).expect("a resident page");
        if part.access.write {
            self.version += 1;
            frame.version = self.version;
            frame.dirty = true;
        }
        for i in 0..part.count {
            let (in_page, in_request) = (part.from + i, part.at + i);
            if part.access.write {
                frame.sectors[in_page] = true;
                frame.data[in_page] = flight.words[in_request];
            } else {
                assert!(frame.sectors[in_page], "a read of a sector that is not there");
                flight.words[in_request] = frame.data[in_page];
            }
        }
    }

    /// Into the buffer, after somebody left it if need be.
    fn miss(&mut self, part: &Part, flight: &mut Flight) {
        let Access { lpn, write, .. } = part.access;
        let mut room = self.array.now;
        if self.ram.is_full() {
            self.array.counts.eviction_waits += 1;
            let mut fits = self.evict_until_it_fits(&mut room);
            if self.setup.shared_ram.is_some() {
                self.share_ram();
                fits = self.evict_until_it_fits(&mut room);
            }
            if !fits {
                return self.pass_by(part, flight);
            }
        }
        let partial = part.count < self.setup.page_sectors && !self.setup.masks;
        let sectors = self.setup.page_sectors;
        let (data, present) = (vec![0; sectors], vec![false; sectors]);
        let frame = Frame { dirty: false, sectors: present, data, version: 0, ready: 0 };
        if !write || partial || self.setup.write_miss_fetch {
            let cause = if write { Cause::Pad } else { Cause::Host };
            let (place, end) = self.read_below(lpn, cause, room);
            self.ram.pages.insert(lpn, frame);
            self.deliver(lpn, place, end);
        } else {
            self.ram.pages.insert(lpn, frame);
        }
        flight.done = flight.done.max(room).max(self.ram.pages[&lpn].ready);
        self.touch(part, flight);
        self.policy.placed(part.access, &self.ram);
    }

    fn evict_until_it_fits(&mut self, room: &mut u64) -> bool {
        while self.ram.is_full() {
            if self.ram.pages.is_empty() {
                return false;
            }
            let steps = self.policy.make_room(&self.ram, &self.array.counts);
            if steps.is_empty() {
                return false;
            }
            *room = (*room).max(self.carry_out(steps));
        }
        true
    }

    /// What flash found goes under the sectors that the host has written.
    fn deliver(&mut self, lpn: u32, place: Option<Addr>, end: u64) {
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
    fn complete(&mut self, lpn: u32) -> u64 {
        let (place, end) = self.read_below(lpn, Cause::Pad, self.array.now);
        self.deliver(lpn, place, end);
        end
    }

    fn read_below(&mut self, lpn: u32, cause: Cause, after: u64) -> (Option<Addr>, u64) {
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

    /// Past the buffer.
    fn pass_by(&mut self, part: &Part, flight: &mut Flight) {
        let (lpn, now) = (part.access.lpn, self.array.now);
        let part_of_request = part.at..part.at + part.count;
        if !part.access.write {
            let (place, end) = self.read_below(lpn, Cause::Host, now);
            flight.done = flight.done.max(end);
            for i in part_of_request {
                flight.words[i] = place.map_or(0, |at| self.array.page(at).data[part.from + i - part.at]);
            }
            return;
        }
        let (mut data, mut after) = (vec![0; self.setup.page_sectors], now);
        let partial = part.count < self.setup.page_sectors;
        if partial {
            let (place, end) = self.old_copy(lpn);
            data = place.map_or(data, |at| self.array.page(at).data.clone());
            after = end;
        }
        data[part.from..part.from + part.count].copy_from_slice(&flight.words[part_of_request]);
        self.version += 1;
        let needs_old = partial && self.ftl.keeps_map_on_flash();
        let down = [Down { lpn, cause: Cause::Host, version: self.version, data, needs_old }];
        let end = self.ftl.write(&mut self.array, &down, after);
        self.book_old_copies(&down);
        self.array.counts.buffer_write_pages += 1;
        flight.done = flight.done.max(end);
    }

    /// In order, but what is fetched ahead comes last. Returns when the frames that became free can be used.
    fn carry_out(&mut self, steps: Vec<Step>) -> u64 {
        let mut room = self.array.now;
        let mut ahead = Vec::new();
        for step in steps {
            match step {
                Step::Drop(lpn) => {
                    let frame = self.ram.pages.remove(&lpn).expect("a resident page");
                    assert!(!frame.dirty, "a dirty page is dropped");
                    self.array.counts.buffer_drops += 1;
                }
                Step::Write { leave, stay, pad } => {
                    let mut all = leave.clone();
                    all.extend(&stay);
                    room = room.max(self.write_back(&all, pad));
                    for lpn in &leave {
                        self.ram.pages.remove(lpn);
                    }
                    for lpn in &stay {
                        self.ram.pages.get_mut(lpn).expect("a resident page").dirty = false;
                    }
                }
                Step::Fetch(lpn) => ahead.push(lpn),
            }
        }
        for lpn in ahead {
            assert!(!self.ram.is_full() && !self.ram.pages.contains_key(&lpn));
            let (place, end) = self.read_below(lpn, Cause::Prefetch, self.array.now);
            let sectors = self.setup.page_sectors;
            let (data, present) = (vec![0; sectors], vec![false; sectors]);
            self.ram.pages.insert(lpn, Frame { dirty: false, sectors: present, data, version: 0, ready: 0 });
            self.deliver(lpn, place, end);
            self.array.counts.prefetched_pages += 1;
            self.policy.placed(Access { lpn, write: false, request: self.requests }, &self.ram);
        }
        room
    }

    /// One command: dirty pages, perhaps with the rest of their logical block.
    fn write_back(&mut self, lpns: &[u32], pad: bool) -> u64 {
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
        self.buffer_ns.1 += done - now;
        self.written_back = self.written_back.max(done);
        done
    }

    /// What flash has of a page that goes down. With the map on flash the FTL reads it in the page's turn; here is only
    /// what it will find.
    fn old_copy(&mut self, lpn: u32) -> (Option<Addr>, u64) {
        if !self.ftl.keeps_map_on_flash() {
            return self.read_below(lpn, Cause::Pad, self.array.now);
        }
        let place = self.ftl.place(lpn);
        self.array.counts.unmapped_reads += u64::from(place.is_none());
        self.array.counts.buffer_read_pages += 1;
        (place, self.array.now)
    }

    /// The old copies that the FTL read while it wrote these pages.
    fn book_old_copies(&mut self, batch: &[Down]) {
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
    fn pad(&mut self, lbn: usize, block_pages: usize, batch: &mut Vec<Down>) -> (u64, usize) {
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
                self.ram.pages.get_mut(&lpn).expect("resident").dirty = false;
                if !self.policy.flushed(lpn, &self.ram) {
                    self.ram.pages.remove(&lpn);
                }
            }
        }
    }

    /// Whole pages only.
    fn trim(&mut self, request: &HostRequest, flight: &mut Flight) {
        self.array.counts.host_trim_requests += 1;
        let per_page = self.setup.page_sectors as u64;
        let end = (request.lba + u64::from(request.sectors)) / per_page;
        for lpn in request.lba.div_ceil(per_page)..end {
            let lpn = lpn as u32;
            if self.ram.pages.contains_key(&lpn) {
                self.policy.trimmed(lpn, &self.ram);
                self.ram.pages.remove(&lpn);
            }
            self.version += 1;
            flight.done = flight.done.max(self.ftl.trim(&mut self.array, lpn));
            self.array.counts.host_page_trims += 1;
        }
    }

    /// Maximal runs of pages that lie one after the other: what a compressed map would have to keep.
    fn fragments(&self) -> u64 {
        let places: Vec<Option<Addr>> = (0..self.setup.logical_pages as u32).map(|lpn| self.ftl.place(lpn)).collect();
        let follows =
            |a: Addr, b: Addr| a.0 * self.setup.pages_per_block + a.1 + 1 == b.0 * self.setup.pages_per_block + b.1;
        let begins = |i: usize| match (i.checked_sub(1).and_then(|before| places[before]), places[i]) {
            (Some(a), Some(b)) => !follows(a, b),
            (None, Some(_)) => true,
            (_, None) => false,
        };
        (0..places.len()).filter(|i| begins(*i)).count() as u64
    }

    /// What the map does not take holds data; evictions may change the map.
    fn share_ram(&mut self) {
        let Some(bytes) = self.setup.shared_ram else { return };
        loop {
            let map = self.ftl.map_bytes() + self.setup.fragment_bytes * self.fragments();
            let frames = bytes.saturating_sub(map) as usize / (512 * self.setup.page_sectors);
            if frames == self.ram.frames {
                return;
            }
            self.ram.frames = frames;
            self.policy.resized(frames);
            while self.ram.pages.len() > self.ram.frames {
                let steps = self.policy.make_room(&self.ram, &self.array.counts);
                self.carry_out(steps);
            }
        }
    }

    /// The run is over: what is still under way is booked.
    pub fn book(&mut self) {
        self.array.counts.buffer_read_ns += std::mem::take(&mut self.buffer_ns.0);
        self.array.counts.buffer_write_ns += std::mem::take(&mut self.buffer_ns.1);
    }
    /// When the last request is done.
    pub fn finished(&self) -> u64 {
        self.last_finished
    }
    /// Version of what the FTL holds of a page.
    pub fn stored(&self, lpn: u32) -> Option<(Addr, u64)> {
        self.ftl.place(lpn).map(|at| (at, self.array.page(at).version))
    }
}
