//! The oracle's device: requests fall through the buffer and the FTL to the flash, one operation at a time.

mod commands;

use nandlab::ledger::Cause;
use nandlab::types::{HostOp, HostRequest};

use super::flash::{Addr, Array, Times};
use super::ftl::{Down, Ftl};
use super::policy::{Access, Frame, Policy, Ram};

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
    pub policy: Box<dyn Policy>,
    requests: u64,
    version: u64,
    /// When the last write-back ends.
    written_back: u64,
    /// When the frames can be used that flushes gave up, the oldest first.
    leaving: Vec<u64>,
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
            leaving: Vec::new(),
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
        self.carry_out(steps, &mut false);
    }

    fn hit(&mut self, part: &Part, flight: &mut Flight) {
        let access = part.access;
        let frame = self.ram.pages.get_mut(&access.lpn).expect("a resident page");
        flight.done = flight.done.max(frame.ready);
        let ahead_by = frame.ahead_by.take();
        let there = access.write || frame.sectors[part.from..part.from + part.count].iter().all(|present| *present);
        match ahead_by {
            Some(request) if request == access.request => self.array.counts.own_prefetch_hits += 1,
            Some(_) => self.array.counts.prefetch_hits += 1,
            None => {}
        }
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
        let (mut room, mut wanted) = (self.array.now, true);
        if self.ram.is_full() {
            self.array.counts.eviction_waits += 1;
            let mut fits = self.evict_until_it_fits(&mut room, &mut wanted);
            if self.setup.shared_ram.is_some() {
                self.share_ram();
                fits = self.evict_until_it_fits(&mut room, &mut wanted);
            }
            if !fits {
                return self.pass_by(part, flight);
            }
        }
        if wanted {
            room = room.max(self.take_frame());
        }
        let partial = part.count < self.setup.page_sectors && !self.setup.masks;
        let sectors = self.setup.page_sectors;
        let (data, present) = (vec![0; sectors], vec![false; sectors]);
        let frame = Frame { dirty: false, sectors: present, data, version: 0, ready: 0, ahead_by: None, writing: 0 };
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

    fn evict_until_it_fits(&mut self, room: &mut u64, wanted: &mut bool) -> bool {
        while self.ram.is_full() {
            if self.ram.pages.is_empty() {
                return false;
            }
            let steps = self.policy.make_room(&self.ram, &self.array.counts);
            if steps.is_empty() {
                return false;
            }
            *room = (*room).max(self.carry_out(steps, wanted));
        }
        true
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

    /// Whole pages only.
    fn trim(&mut self, request: &HostRequest, flight: &mut Flight) {
        self.array.counts.host_trim_requests += 1;
        let per_page = self.setup.page_sectors as u64;
        let end = (request.lba + u64::from(request.sectors)) / per_page;
        for lpn in request.lba.div_ceil(per_page)..end {
            let lpn = lpn as u32;
            if self.ram.pages.contains_key(&lpn) {
                self.policy.trimmed(lpn, &self.ram);
                let frame = self.ram.pages.remove(&lpn).expect("a resident page");
                if frame.writing > self.array.now {
                    self.leaving.push(frame.writing);
                }
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
                self.carry_out(steps, &mut false);
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
