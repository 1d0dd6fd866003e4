//! Which pages are accessed, and after how long again.

use foldhash::fast::FixedState;
use hashbrown::HashMap;
use hashbrown::hash_map::Entry;

use super::distribution::Distribution;
use crate::generators::random::SplitMix;
use nandlab::stack::{MARKS_MAX, Stack};

/// Not accessed yet.
const NEVER: u32 = u32::MAX;
/// Stacks: reads and writes together, reads alone, writes alone.
const TOGETHER: usize = 0;
const STACKS: usize = 3;

/// How soon pages are accessed again, for one kind of access in one LRU stack.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Reuse {
    /// Page accesses, sampled or not.
    pub accesses: u64,
    /// Page accesses to sampled pages.
    pub sampled: u64,
    /// First accesses to sampled pages: there is nothing to reuse.
    pub cold: u64,
    /// Distinct other pages accessed since the last access to the same page, divided by the sampling rate. An LRU cache
    /// of `n` pages hits exactly the reuses with a distance less than `n`.
    pub distances: Distribution,
    /// Share of pages that are sampled, 0 to 1.
    pub rate: f64,
}

impl Reuse {
    /// Sampled accesses to expect, were the sample ideal.
    fn expected(&self) -> f64 {
        self.accesses as f64 * self.rate
    }
    /// Share of first accesses, 0 to 1; `None` without accesses.
    pub fn cold_ratio(&self) -> Option<f64> {
        (self.accesses > 0).then(|| (self.cold as f64 / self.expected()).min(1.0))
    }
    /// Hit ratio of an LRU cache of that many pages, 0 to 1; `None` without accesses. Exact without sampling if `pages`
    /// has at most 11 significant binary digits. With sampling it has the correction of SHARDS-adj (Waldspurger et al.,
    /// FAST 2015, section 4.3): the accesses by which the sample falls short of the expected number count as hits at
    /// distance 0 (a negative number of them, if there are too many).
    pub fn hit_ratio(&self, pages: u64) -> Option<f64> {
        if self.accesses == 0 {
            return None;
        }
        let short = self.expected() - self.sampled as f64;
        let hits = if pages == 0 { 0.0 } else { self.distances.below(pages) as f64 + short };
        Some((hits / self.expected()).clamp(0.0, 1.0))
    }
    /// Both kinds of access together.
    #[must_use]
    pub fn and(&self, other: &Self) -> Self {
        let mut distances = self.distances.clone();
        distances.merge(&other.distances);
        Self {
            accesses: self.accesses + other.accesses,
            sampled: self.sampled + other.sampled,
            cold: self.cold + other.cold,
            distances,
            rate: self.rate,
        }
    }
}

/// Distinct pages; estimated, if pages were sampled.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Footprint {
    /// Pages that were read.
    pub read: u64,
    /// Pages that were written.
    pub written: u64,
    /// Pages that were read and written.
    pub both: u64,
}

impl Footprint {
    /// Pages that were read or written.
    pub fn all(&self) -> u64 {
        self.read + self.written - self.both
    }
}

/// What is known about accesses to pages of 4 KiB (each page that a read or write touches is one access). `[reads,
/// writes]` where there are two.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Pages {
    /// In one stack of reads and writes, as in a cache that serves both: which of its accesses are reads, which writes.
    pub together: [Reuse; 2],
    /// In a stack of reads alone and a stack of writes alone, as in a cache that serves one of them.
    pub alone: [Reuse; 2],
    /// Time since the last access to the same page, of whatever kind, in ns; 0 where the clock ran backwards.
    pub reuse_time_ns: [Distribution; 2],
    /// Time since the last write to the same page, of writes, in ns.
    pub update_interval_ns: Distribution,
    /// Distinct pages.
    pub footprint: Footprint,
}

#[derive(Clone, Copy)]
struct Page {
    /// Of its last access in each stack.
    positions: [u32; STACKS],
    at: u64,
    written_at: u64,
}

/// The pass over the accesses. It takes 60 to 110 bytes for each distinct (sampled) page.
pub(crate) struct PageTable {
    numbers: HashMap<(u32, u64), u32, FixedState>,
    pages: Vec<Page>,
    stacks: [Stack; STACKS],
    /// A page is sampled if its hash, of 24 bits, is below this.
    threshold: u64,
    found: Pages,
}

/// Bits of the hash by which pages are sampled.
const SAMPLE_BITS: u32 = 24;

impl PageTable {
    /// Samples this share of all pages: above 0 and at most 1.
    pub(crate) fn new(rate: f64) -> Self {
        let range = f64::from(1u32 << SAMPLE_BITS);
        let threshold = (rate * range).round().clamp(1.0, range);
        let mut found = Pages::default();
        for reuse in found.together.iter_mut().chain(&mut found.alone) {
            reuse.rate = threshold / range;
        }
        Self {
            numbers: HashMap::default(),
            pages: Vec::new(),
            stacks: Default::default(),
            threshold: threshold as u64,
            found,
        }
    }

    pub(crate) fn rate(&self) -> f64 {
        self.found.together[0].rate
    }

    /// One access; false if there are too many distinct pages.
    #[inline]
    pub(crate) fn access(&mut self, device: u32, page: u64, write: bool, at: u64) -> bool {
        let kind = usize::from(write);
        self.found.together[kind].accesses += 1;
        self.found.alone[kind].accesses += 1;
        let rate = self.rate();
        if rate < 1.0 && SplitMix(page ^ u64::from(device) << 40).next() >> (64 - SAMPLE_BITS) >= self.threshold {
            return true;
        }
        let number = match self.numbers.entry((device, page)) {
            Entry::Occupied(entry) => *entry.get(),
            Entry::Vacant(_) if self.pages.len() == MARKS_MAX => return false,
            Entry::Vacant(entry) => {
                let number = self.pages.len() as u32;
                self.pages.push(Page { positions: [NEVER; STACKS], at: 0, written_at: 0 });
                *entry.insert(number)
            }
        };
        let seen = self.pages[number as usize];
        if seen.positions[TOGETHER] != NEVER {
            self.found.reuse_time_ns[kind].record(at.saturating_sub(seen.at));
        }
        if write && seen.positions[1 + kind] != NEVER {
            self.found.update_interval_ns.record(at.saturating_sub(seen.written_at));
        }
        for stack in [TOGETHER, 1 + kind] {
            let distance = self.touch(stack, number as usize);
            let reuses = if stack == TOGETHER { &mut self.found.together } else { &mut self.found.alone };
            let reuse = &mut reuses[kind];
            reuse.sampled += 1;
            match distance {
                None => reuse.cold += 1,
                Some(distance) if rate < 1.0 => reuse.distances.record((f64::from(distance) / rate) as u64),
                Some(distance) => reuse.distances.record(u64::from(distance)),
            }
        }
        let page = &mut self.pages[number as usize];
        page.at = at;
        if write {
            page.written_at = at;
        }
        true
    }

    /// Moves a page to the top of a stack; returns how deep it was.
    #[inline]
    fn touch(&mut self, stack: usize, number: usize) -> Option<u32> {
        if self.stacks[stack].is_full() {
            let positions = self.pages.iter_mut().map(|page| &mut page.positions[stack]);
            self.stacks[stack].renumber(positions.filter(|position| **position != NEVER));
        }
        let position = &mut self.pages[number].positions[stack];
        let distance = (*position != NEVER).then(|| self.stacks[stack].pull(*position));
        *position = self.stacks[stack].push();
        distance
    }

    /// The end of the pass.
    pub(crate) fn finish(self) -> Pages {
        let mut footprint = Footprint::default();
        for page in &self.pages {
            let [read, written] = [1, 2].map(|stack| page.positions[stack] != NEVER);
            footprint.read += u64::from(read);
            footprint.written += u64::from(written);
            footprint.both += u64::from(read && written);
        }
        let rate = self.rate();
        if rate < 1.0 {
            let scaled = |pages: u64| (pages as f64 / rate).round() as u64;
            let Footprint { read, written, both } = footprint;
            footprint = Footprint { read: scaled(read), written: scaled(written), both: scaled(both) };
        }
        Pages { footprint, ..self.found }
    }
}

impl Pages {
    /// Sizes of an LRU cache, in pages, at which a hit-ratio curve is drawn: 1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16 and
    /// so on (four between powers of two), up to the first that holds every page.
    pub fn curve_sizes(&self) -> Vec<u64> {
        let all = self.footprint.all().max(1);
        let steps = (0..60).flat_map(|power| (4..8).map(move |quarter| (quarter << power) / 4));
        let mut sizes: Vec<u64> = steps.collect();
        sizes.dedup();
        let last = sizes.partition_point(|size| *size < all);
        sizes.truncate(last + 1);
        sizes
    }
}
