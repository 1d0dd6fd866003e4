//! The device under test, from the registries, with an FTL whose map grows by its fragments and a policy that reads ahead.

use nandlab::buffer::{Access, Buffer, Frames, Plan, Sense, Slots};
use nandlab::catalog::BUFFERS;
use nandlab::engine::{Arrival, Engine, EvictWait, PartialWrite, Parts, RamTimes, Settings, Ssd, WriteAck};
use nandlab::flash::{Clock, ClockTimes, Flash, Geometry, Media, ProgramOrder, TimingModel};
use nandlab::ftl::{FTLS, Ftl, Shape};
use nandlab::ledger::MergeKind;
use nandlab::registry;
use nandlab::types::{Bytes, Lpn, Nanos, Ppn, Slot};
use serde_json::{Value, json};

use super::cases::Case;
use crate::kit::{Around, Twist};

/// Every run of pages that do not lie one after the other takes its bytes of the shared RAM.
struct Fragments {
    logical_pages: u32,
    bytes_each: u64,
    bytes: u64,
}

impl Twist for Fragments {
    fn after(&mut self, ftl: &dyn Ftl, flash: &Flash) {
        let mut before = Ppn::NONE;
        let mut runs = 0;
        for lpn in 0..self.logical_pages {
            let place = ftl.locate(flash, Lpn(lpn));
            runs += u64::from(place.is_some() && (before.is_none() || before.0 + 1 != place.0));
            before = place;
        }
        self.bytes = runs * self.bytes_each;
    }
    fn more_map_bytes(&self) -> u64 {
        self.bytes
    }
}

/// Nothing is known of the merges beforehand.
struct Unknown;

impl Twist for Unknown {
    fn merges(&self, _: &dyn Ftl) -> Option<MergeKind> {
        Some(MergeKind::Measured)
    }
}

/// LRU that fetches the pages after a read miss.
struct Ahead {
    list: Vec<Slot>,
    pages: u32,
    logical_pages: u32,
}

impl Ahead {
    fn remove(&mut self, slot: Slot) {
        self.list.retain(|other| *other != slot);
    }
}

impl Buffer for Ahead {
    fn on_hit(&mut self, slot: Slot, _: &Access, _: &Slots, _: &Sense<'_>) {
        self.remove(slot);
        self.list.insert(0, slot);
    }
    fn make_room(&mut self, _: Option<&Access>, slots: &Slots, _: &Sense<'_>, plan: &mut Plan) {
        if let Some(slot) = self.list.pop() {
            plan.evict(slot, slots);
        }
    }
    fn on_insert(&mut self, slot: Slot, _: &Access, _: &Slots) {
        self.list.insert(0, slot);
    }
    fn after_access(&mut self, access: &Access, hit: bool, slots: &Slots, _: &Sense<'_>, plan: &mut Plan) {
        if hit || access.write || slots.find(access.lpn).is_none() {
            return;
        }
        let mut used = slots.iter().count();
        let end = (access.lpn.0 + 1 + self.pages).min(self.logical_pages);
        for lpn in (access.lpn.0 + 1..end).map(Lpn).filter(|lpn| slots.find(*lpn).is_none()) {
            if used >= slots.frames().dram as usize {
                let leaves = |slot: &&Slot| !(access.lpn.0..end).contains(&slots.lpn(**slot).0);
                let Some(slot) = self.list.iter().rev().find(leaves).copied() else { break };
                self.remove(slot);
                plan.evict(slot, slots);
                used -= 1;
            }
            plan.prefetch(lpn);
            used += 1;
        }
    }
    fn on_remove(&mut self, slot: Slot, _: &Slots) {
        self.remove(slot);
    }
    fn on_clean(&mut self, _: Slot, _: &Slots) -> bool {
        true
    }
    fn golden_state(&self, _: &Slots) -> Value {
        json!(null)
    }
}

/// The product's device of a case, preconditioned. The device says how many bytes of RAM map and data share.
pub fn build(case: &Case) -> Box<dyn Ssd> {
    let setup = &case.setup;
    let geometry =
        Geometry::single_die(setup.blocks as u32, setup.pages_per_block as u32, setup.page_sectors as u32 * 512);
    let t = setup.times;
    let times = ClockTimes {
        page_read: Nanos(t.read),
        page_program: Nanos(t.program),
        block_erase: Nanos(t.erase),
        page_transfer: Nanos(t.transfer),
        command: Nanos(t.command),
    };
    let logical_pages = setup.logical_pages as u32;
    let shape = Shape { geometry, logical_pages, slc_pages: 0, unit_pages: 1, order: ProgramOrder::Ascending, seed: 1 };
    let plugin = registry::find(FTLS, "ftl", case.ftl.name()).expect("an FTL");
    let mut ftl = (plugin.build)(case.ftl.params(), &shape).unwrap_or_else(|error| panic!("{case:?}: {error}"));
    if case.buffer.measures_merges() {
        ftl = Box::new(Around::new(ftl, Unknown));
    }
    if setup.shared_ram.is_some() {
        let bytes_each = setup.fragment_bytes;
        ftl = Box::new(Around::new(ftl, Fragments { logical_pages, bytes_each, bytes: 0 }));
    }
    let settings = Settings {
        arrival: if setup.open { Arrival::Open } else { Arrival::Closed { think: Nanos(setup.think) } },
        queue_depth: setup.depth as u32,
        evict_wait: if setup.until_transfer { EvictWait::Transfer } else { EvictWait::Program },
        partial_write: if setup.masks { PartialWrite::Mask } else { PartialWrite::Fetch },
        write_miss_fetch: setup.write_miss_fetch,
        shared_dram: setup.shared_ram.map(Bytes),
        ram_times: RamTimes {
            dram_read: Nanos(setup.ram_read),
            dram_write: Nanos(setup.ram_write),
            ..RamTimes::default()
        },
        write_ack: WriteAck::Ram,
        read_groups: setup.read_groups,
        ..Settings::one_at_a_time(logical_pages)
    };
    let clock = Clock::new(TimingModel::named("serial"), times, 1, 1);
    let media = if case.media { Media::Memory } else { Media::None };
    let frames = Frames { dram: setup.frames as u32, nvram: 0 };
    let flash = Flash::new(geometry, ProgramOrder::Ascending, media, clock);
    let parts = Parts { flash, ftl, frames, settings };
    let mut device: Box<dyn Ssd> = match case.buffer.plugin() {
        None => {
            let pages = case.buffer.pages_ahead();
            let engine = Engine::new(parts, Ahead { list: Vec::new(), pages, logical_pages });
            Box::new(engine.expect("nothing is flushed ahead"))
        }
        Some((name, params)) => {
            let plugin = registry::find(BUFFERS, "buffer", name).expect("a policy");
            (plugin.build.device)(params, parts).unwrap_or_else(|error| panic!("{case:?}: {error}"))
        }
    };
    if case.filled {
        device.precondition(true, 0.0, &mut || true);
    }
    device
}
