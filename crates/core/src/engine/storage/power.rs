//! Power failure of a whole device.
//!
//! A cut is armed at a flash operation. The flash takes a snapshot of its cells at that operation and the doomed run goes on;
//! [`Engine::power_cycle`] then throws it away. What lies in NVRAM, or in RAM that capacitors keep, survives as it was when the
//! interrupted request began: every acknowledged write is in it, and a frame is given away only after its page is programmed.

use super::Storage;
use crate::buffer::{Buffer, Medium, Slots};
use crate::engine::{Below, Engine};
use crate::flash::{CutMode, Ticket, Tombstone};
use crate::ftl::PageWrite;
use crate::ledger::Cause;
use crate::types::{Lpn, Nanos, Slot};

/// Dirty pages in RAM that survives, ascending.
#[derive(Clone, Debug, Default)]
pub(in crate::engine) struct NvramSnapshot {
    pages: Vec<NvramPage>,
}

#[derive(Clone, Debug)]
struct NvramPage {
    write: PageWrite,
    bytes: Vec<u8>,
    /// Sectors of `bytes` that hold data; the others are on flash.
    missing: u64,
}

impl Storage {
    /// Renews the snapshot of the NVRAM before a request while a cut is armed and not reached.
    pub(in crate::engine) fn snapshot_nvram(&mut self, slots: &Slots) {
        if self.armed_nvram.is_some() && !self.flash.is_cut() {
            self.armed_nvram = Some(self.nvram_now(slots));
        }
    }

    /// Arms a power cut: see [`Flash::arm_cut`](crate::flash::Flash::arm_cut).
    pub(in crate::engine) fn arm_cut(&mut self, nth: u64, mode: CutMode) {
        self.flash.arm_cut(nth, mode);
        self.armed_nvram = Some(NvramSnapshot::default());
        self.set_observed();
    }

    fn nvram_now(&self, slots: &Slots) -> NvramSnapshot {
        let survives = |slot: Slot| self.keeps_ram() || slots.medium(slot) == Medium::Nvram;
        let dirty = slots.iter().filter(|slot| survives(*slot) && slots.is_dirty(*slot));
        let page = |slot: Slot| NvramPage {
            write: PageWrite::new(slots.lpn(slot), Cause::Recover, self.contents.version(slot)),
            bytes: self.contents.bytes(slot).to_vec(),
            missing: if slots.is_complete(slot) { 0 } else { slots.missing_sectors(slot) },
        };
        let mut pages: Vec<_> = dirty.map(page).collect();
        pages.sort_by_key(|page| page.write.lpn);
        NvramSnapshot { pages }
    }

    /// Power fails: what the NVRAM held.
    fn take_nvram(&mut self, slots: &Slots) -> NvramSnapshot {
        match self.armed_nvram.take() {
            Some(snapshot) if self.flash.is_cut() => snapshot,
            _ => self.nvram_now(slots),
        }
    }

    /// Power comes back: the FTL rebuilds its map and takes what the NVRAM held.
    fn recover(&mut self, nvram: NvramSnapshot, slots: &mut Slots) {
        self.flash.restore();
        if let Some((nth, mode)) = self.recovery_cut.take() {
            self.flash.arm_cut(nth, mode);
            self.armed_nvram = Some(nvram.clone());
        }
        self.set_observed();
        self.inflight.drain(&mut self.flash.clock);
        self.begin_now();
        self.leaving.forget();
        if let Some(flusher) = &mut self.flusher {
            flusher.forget();
            self.inflight.flushed = 0;
        }
        self.ftl.rebuild(&mut self.flash);
        self.written_back = Ticket::at(Nanos::ZERO);
        for NvramPage { mut write, mut bytes, missing } in nvram.pages {
            let known = self.ftl.locate(&self.flash, write.lpn);
            let newer_trim = |trim: &Tombstone| trim.lpn == write.lpn && trim.version > write.version;
            let newer_copy = known.is_some() && self.flash.oob(known).version >= write.version;
            if newer_copy || self.flash.tombstones().iter().any(newer_trim) {
                continue;
            }
            let mut after = Ticket::reached(self.begins);
            if missing != 0 {
                let found;
                (write.from, found) = self.fetch_old(slots, write.lpn);
                after = found.ticket;
            }
            for (sector, to) in bytes.chunks_exact_mut(512).enumerate() {
                if missing >> sector & 1 == 0 {
                    continue;
                }
                if known.is_some() {
                    to.copy_from_slice(&self.flash.bytes(known)[sector * 512..][..512]);
                } else {
                    to.fill(0);
                }
            }
            self.batch.clear();
            self.batch.push(write);
            self.stage = bytes;
            self.send_batch(slots, None, Lpn(0), after);
        }
    }
}

impl<B: Buffer> Engine<B, Storage> {
    /// Power fails and comes back.
    pub(in crate::engine) fn power_cycle(&mut self) {
        let nvram = self.below.take_nvram(&self.slots);
        let resident: Vec<Slot> = self.slots.iter().collect();
        for slot in resident {
            self.buffer.on_remove(slot, &self.slots);
            self.slots.release(slot);
        }
        self.below.recover(nvram, &mut self.slots);
    }
}
