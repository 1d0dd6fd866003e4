//! The frame of the FTLs that map pages one by one. The map is in RAM (`page`), or it lies on flash in translation pages
//! (TP) and RAM holds a part of it.
//!
//! [`Frame`] is what they share: the order of effects of a read, a write and a trim, preconditioning and recovery. A
//! [`MapPolicy`] tells what is held in RAM and how a mapping gets there and leaves; that of `page` is the simplest.
//! Translation pages and garbage collection are in `translation`, blocks in [`crate::ftl::frame::space`].
//!
//! One page write: look-up (which may evict and fetch), make room, program, invalidate the old copy, entry dirty. A
//! read: look-up, then one data read. A trim: look-up, then the entry says 'not mapped' and is dirty. A page that needs
//! its old copy to be written (padding, a page of which RAM has a part): look-up, one data read, then as a write; the
//! pages of a batch go through this one after the other. A page that was to pad and is not mapped stays a hole, which
//! only the look-up could tell. So every page that is read, written or trimmed is looked up once.

pub(crate) mod heat;
mod params;
pub mod space;
pub(crate) mod stripe;
pub(crate) mod translation;

use serde_json::{Value, json};

pub(super) use self::params::demand_params;
use self::space::{Frontiers, Layout, Sharing, Upkeep};
use self::stripe::Stripe;
use self::translation::{MapCache, Translation};
use crate::error::ConfigError;
use crate::flash::{Flash, Geometry, Ticket};
use crate::ftl::alloc::Alloc;
use crate::ftl::blocks::recover::{self, Winners};
use crate::ftl::placement::Placement;
use crate::ftl::victim::Victim;
use crate::ftl::{Batch, Found, Ftl, PageRead, Shape, Source};
use crate::ledger::Cause;
use crate::types::{Lbn, Lpn, Nanos, Ppn};

/// What a mapping is looked up for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Purpose {
    /// To read the page.
    Read,
    /// To be overwritten by that of the page's new copy.
    Write,
    /// To read the page and then to be overwritten by that of its new copy.
    Rewrite,
    /// To be overwritten by 'not mapped'.
    Trim,
}

/// A mapping that is looked up.
#[derive(Clone, Copy, Debug)]
pub struct Wanted {
    /// Its page.
    pub lpn: Lpn,
    /// End of the consecutive pages that the same request goes on to.
    pub end: Lpn,
    /// Mappings that the host predicts to be needed from here on; 0 = unknown.
    pub mappings: u16,
    /// What for.
    pub purpose: Purpose,
}

/// The mappings that an FTL holds in RAM.
pub trait MapPolicy: MapCache {
    /// What a look-up found; good until the next one.
    type Entry: Copy;
    /// Finds a mapping, evicting and fetching as needed; the ticket tells when the mapping is known. Counts a hit or a
    /// miss.
    fn look_up(
        &mut self,
        flash: &mut Flash,
        map: &mut Translation,
        wanted: Wanted,
        after: Ticket,
    ) -> (Self::Entry, Ticket);
    /// The mapping that was found; [`Ppn::NONE`] for a page that is not mapped.
    fn ppn(&self, entry: Self::Entry) -> Ppn;
    /// Changes a mapping that was looked up to be overwritten; it is dirty then.
    fn set(&mut self, entry: Self::Entry, ppn: Ppn);
    /// [`MapPolicy::ppn`], then [`MapPolicy::set`].
    #[inline]
    fn replace(&mut self, entry: Self::Entry, ppn: Ppn) -> Ppn {
        let old = self.ppn(entry);
        self.set(entry, ppn);
        old
    }
    /// Evicts what grew too large when the mapping of `keep` was changed; the ticket tells when that is done.
    fn shrink(&mut self, flash: &mut Flash, map: &mut Translation, keep: Lpn, after: Ticket) -> Ticket {
        let _ = (flash, map, keep);
        after
    }
    /// The mapping of a page if RAM tells it, counting nothing.
    fn newest(&self, lpn: Lpn) -> Option<Ppn>;
    /// True if translation pages may be written past this cache: it holds no mapping.
    fn is_empty(&self) -> bool;
    /// After a power cut: forgets everything; a map that is resident takes the winners of the scan.
    fn restart(&mut self, winners: &Winners);
    /// RAM that it takes now, bytes, without the directory of translation pages.
    fn bytes(&self) -> u64;
    /// Most RAM that it can take, bytes; `map` tells the number and size of translation pages.
    fn bytes_most(&self, map: &Translation) -> u64 {
        let _ = map;
        self.bytes()
    }
    /// Checks itself, and clean mappings against flash; panics on a violation. For tests.
    fn check(&self, map: &Translation);
    /// Its state in the form of the golden files. `place` writes a PPN.
    fn golden_state(&self, place: &dyn Fn(Ppn) -> Value) -> Value {
        let _ = place;
        Value::Null
    }
}

/// An FTL that maps pages one by one, with its mappings in RAM and its blocks.
#[derive(Debug)]
pub struct Frame<C> {
    pub(super) map: Translation,
    pub(super) cache: C,
    logical_pages: u32,
}

impl<C: MapPolicy> Frame<C> {
    /// The FTL with this cache, nothing written.
    pub fn new(map: Translation, cache: C, shape: &Shape) -> Self {
        Self { map, cache, logical_pages: shape.logical_pages }
    }

    fn newest(&self, lpn: Lpn) -> Ppn {
        self.cache.newest(lpn).unwrap_or_else(|| self.map.content(lpn))
    }

    #[inline]
    fn look_up(&mut self, flash: &mut Flash, wanted: Wanted, after: Ticket) -> (C::Entry, Ticket) {
        if !C::RESIDENT {
            flash.ledger.look_ups[wanted.purpose as usize] += u64::from(self.map.is_on_flash());
        }
        self.cache.look_up(flash, &mut self.map, wanted, after)
    }

    /// The mapping of a page is about to change: its old copy holds nothing of value.
    #[expect(clippy::inline_always, reason = "as write_page")]
    #[inline(always)]
    fn replace(&mut self, flash: &mut Flash, entry: C::Entry, ppn: Ppn) {
        let old = self.cache.replace(entry, ppn);
        if old.is_some() {
            self.map.space.drop_copy(flash, old);
        }
    }

    /// Writes the page of a batch that has this index; the consecutive pages go on to the one before `end`.
    #[expect(clippy::inline_always, reason = "as in Space: the way of every page that is written")]
    #[inline(always)]
    fn write_page(&mut self, flash: &mut Flash, batch: &Batch<'_>, index: usize, end: Lpn, after: Ticket) -> Ticket {
        let page = &batch.pages[index];
        let needs_old = !C::RESIDENT && page.from == Source::OldCopy;
        let purpose = if needs_old { Purpose::Rewrite } else { Purpose::Write };
        let (entry, mut ready) = self.look_up(flash, Wanted { lpn: page.lpn, end, mappings: 0, purpose }, after);
        if needs_old {
            let old = self.cache.ppn(entry);
            ready = batch.read_old_copy(flash, old, ready);
            if old.is_none() && page.cause == Cause::Pad {
                return ready;
            }
        }
        let (to, ready) = self.map.room_for_data(flash, &mut self.cache, page, after, ready);
        let target = self.map.space.append_new(to);
        let ticket = page.program(flash, target, batch.data(index), ready);
        self.replace(flash, entry, target);
        self.cache.shrink(flash, &mut self.map, page.lpn, ticket)
    }

    #[inline(never)]
    fn write_pages(&mut self, flash: &mut Flash, batch: Batch<'_>, after: Ticket) -> Ticket {
        let mut end = batch.end;
        let mut done = after;
        for (index, page) in batch.pages.iter().enumerate() {
            if !C::RESIDENT && page.lpn >= end {
                end = batch.run_end(index);
            }
            let ticket = self.write_page(flash, &batch, index, end, after);
            done = flash.clock.join(done, ticket);
        }
        done
    }
}

impl<C: MapPolicy> Ftl for Frame<C> {
    fn read(&mut self, flash: &mut Flash, page: PageRead, after: Ticket) -> Found {
        let PageRead { lpn, cause, end, mappings } = page;
        let (entry, ready) = self.look_up(flash, Wanted { lpn, end, mappings, purpose: Purpose::Read }, after);
        let mut ppn = self.cache.ppn(entry);
        let ticket = if ppn.is_some() { flash.read(ppn, cause, ready) } else { ready };
        if flash.ages() {
            self.map.relocate_disturbed(flash, &mut self.cache, after);
            ppn = self.newest(lpn);
        }
        Found { ticket, ppn }
    }

    fn sees_neighbours(&self) -> bool {
        !C::RESIDENT || self.map.space.is_striped()
    }

    fn write(&mut self, flash: &mut Flash, batch: Batch<'_>, after: Ticket) -> Ticket {
        let done = match batch.pages {
            // Most batches; in the loop they cost half as much again.
            [page] => self.write_page(flash, &batch, 0, batch.end.max(Lpn(page.lpn.0 + 1)), after),
            _ => self.write_pages(flash, batch, after),
        };
        if flash.ages() {
            self.map.relocate_disturbed(flash, &mut self.cache, after);
        }
        done
    }

    fn trim(&mut self, flash: &mut Flash, lpn: Lpn, after: Ticket) -> Ticket {
        let wanted = Wanted { lpn, end: Lpn(lpn.0 + 1), mappings: 0, purpose: Purpose::Trim };
        let (entry, ready) = self.look_up(flash, wanted, after);
        self.replace(flash, entry, Ppn::NONE);
        self.cache.shrink(flash, &mut self.map, lpn, ready)
    }

    fn fill(&mut self, flash: &mut Flash, lbn: Lbn, batch: Batch<'_>) {
        if self.cache.is_empty() {
            self.map.fill(flash, &mut self.cache, batch);
        } else {
            self.write_block(flash, lbn, batch, Ticket::at(Nanos::ZERO));
        }
    }

    fn filled(&mut self, flash: &mut Flash) {
        self.map.write_all(flash, &mut self.cache, Cause::MapEvict);
    }

    fn relocates_disturbed(&self) -> bool {
        true
    }

    fn works_in_idle_time(&self) -> bool {
        self.map.works_in_idle_time()
    }

    fn idle(&mut self, flash: &mut Flash, until: Nanos) {
        self.map.collect_in_idle_time(flash, &mut self.cache, until);
    }

    fn keeps_map_on_flash(&self) -> bool {
        self.map.is_on_flash()
    }

    fn map_bytes(&self) -> u64 {
        self.cache.bytes() + self.map.ram_bytes()
    }

    fn map_bytes_most(&self) -> u64 {
        self.cache.bytes_most(&self.map) + self.map.ram_bytes()
    }

    fn locate(&self, _: &Flash, lpn: Lpn) -> Ppn {
        self.newest(lpn)
    }

    fn rebuild(&mut self, flash: &mut Flash) {
        let winners = recover::scan(flash, self.logical_pages);
        self.cache.restart(&winners);
        self.map.rebuild(flash, &mut self.cache, &winners);
    }

    fn check(&self, flash: &Flash) {
        self.cache.check(&self.map);
        self.map.check(flash, |lpn| self.newest(lpn), self.logical_pages);
        for lpn in (0..self.logical_pages).map(Lpn).filter(|lpn| self.cache.newest(*lpn).is_none()) {
            let on_flash = self.map.content(lpn).is_none() || self.map.exists(self.map.tp(lpn));
            assert!(on_flash, "lpn {} is mapped neither in RAM nor on flash", lpn.0);
        }
    }

    fn free_blocks(&self) -> u32 {
        self.map.space.free_blocks()
    }

    fn golden_state(&self, flash: &Flash) -> Value {
        let Geometry { pages_per_block, .. } = *flash.geometry();
        self.cache.golden_state(&|ppn| match ppn {
            Ppn::NONE => Value::Null,
            Ppn(page) => json!([page / pages_per_block, page % pages_per_block]),
        })
    }
}

/// Parameters that all demand-mapped FTLs have.
#[derive(Clone, Copy, Debug)]
pub struct Common {
    /// Mappings of a translation page; default `page_bytes / 4`.
    pub entries_per_tp: Option<u32>,
    /// Free blocks of a group at which garbage collection starts.
    pub reserve: u32,
    /// Which closed block is collected.
    pub victim: Victim,
    /// Which free block is taken.
    pub alloc: Alloc,
    /// One frontier for the device or one on every die.
    pub frontiers: Frontiers,
    /// Die of a page when every die has one.
    pub placement: Placement,
    /// Translation pages whose pages have blocks of their own and are collected together, sorted.
    pub sorted_tps: Option<u32>,
    /// Translation pages that RAM holds while they are written back; 0: look-ups wait for them.
    pub map_write_buffer: u32,
    /// Options that every FTL has which maps pages.
    pub upkeep: Upkeep,
}

impl Common {
    /// Mappings of a translation page.
    ///
    /// # Errors
    /// When a page cannot hold them.
    pub fn entries(&self, shape: &Shape) -> Result<u32, ConfigError> {
        let most = shape.geometry.page_bytes / 4;
        let entries = self.entries_per_tp.unwrap_or(most);
        if entries == 0 || entries > most {
            let problem = format!("{entries} is outside 1 to {most}: an entry takes 4 of the {} bytes", most * 4);
            return Err(ConfigError::new("ftl.entries_per_tp", problem, format!("use {most}, or leave it out")));
        }
        Ok(entries)
    }

    /// Translation pages in that many copies, nothing written.
    ///
    /// # Errors
    /// When a relation between parameters and device is broken.
    pub fn translation(&self, shape: &Shape, copies: u32) -> Result<Translation, ConfigError> {
        let entries = self.entries(shape)?;
        let Self { reserve, victim, alloc, frontiers, placement, .. } = *self;
        let sorted_pages = self.sorted_tps.map(|tps| tps.saturating_mul(entries).min(shape.logical_pages));
        let layout = Layout {
            victim,
            alloc,
            reserve,
            frontiers,
            sharing: if self.upkeep.gc_slice.has_slices() { Sharing::Lane } else { Sharing::Channel },
            placement,
            stripe: Stripe::default(),
            sorted_pages,
            upkeep: self.upkeep,
        };
        space::validate(&layout, shape, shape.logical_pages.div_ceil(entries), copies)?;
        Ok(Translation::new(layout, shape, entries, copies, self.map_write_buffer))
    }
}
