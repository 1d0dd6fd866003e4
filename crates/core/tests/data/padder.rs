//! A policy of one's own that completes the block of every page that it writes, whatever else of the block is dirty.

use std::collections::VecDeque;

use nandlab::buffer::{Access, Buffer, Plan, Sense, Slots};
use nandlab::engine::{Engine, PartialWrite, Payload, Settings, Ssd};
use nandlab::flash::{Geometry, Media};
use nandlab::types::{HostOp, HostRequest, Nanos, Slot};
use serde_json::{Value, json};

use super::model::Model;
use super::rig::{BLOCK, LOGICAL_PAGES, LOGICAL_SECTORS, PAGE_BYTES, PAGE_SECTORS};
use crate::kit::{Dice, Rig};

/// First in, first out; a dirty page leaves alone, with its block completed.
#[derive(Default)]
struct Padder {
    queue: VecDeque<Slot>,
}

impl Buffer for Padder {
    fn on_hit(&mut self, _: Slot, _: &Access, _: &Slots, _: &Sense<'_>) {}
    fn make_room(&mut self, _: Option<&Access>, slots: &Slots, _: &Sense<'_>, plan: &mut Plan) {
        match self.queue.pop_front() {
            Some(slot) if slots.is_dirty(slot) => plan.write_back([slot], true),
            Some(slot) => plan.drop_page(slot),
            None => {}
        }
    }
    fn on_insert(&mut self, slot: Slot, _: &Access, _: &Slots) {
        self.queue.push_back(slot);
    }
    fn on_remove(&mut self, slot: Slot, _: &Slots) {
        self.queue.retain(|other| *other != slot);
    }
    fn golden_state(&self, _: &Slots) -> Value {
        json!(null)
    }
}

/// A page of which only some sectors were written is completed from flash, not with what its frame lacks.
#[test]
fn padding_completes_pages_that_are_partly_in_ram() {
    let mut rig = Rig::new(Geometry::single_die(40, BLOCK, PAGE_BYTES), LOGICAL_PAGES, 12);
    rig.media = Media::Memory;
    rig.settings = Settings { partial_write: PartialWrite::Mask, ..Settings::one_at_a_time(LOGICAL_PAGES) };
    let mut device = Engine::new(rig.parts(rig.ftl()), Padder::default()).unwrap();
    let (mut model, mut dice) = (Model::new(LOGICAL_PAGES), Dice(3));
    for step in 0..20_000 {
        if step % 40 == 39 {
            device.test_port().cut_power();
            device.test_port().check();
            for lpn in 0..LOGICAL_PAGES {
                let mut bytes = vec![0xEE; PAGE_BYTES as usize];
                let request = HostRequest::new(Nanos(0), HostOp::Read, u64::from(lpn * PAGE_SECTORS), PAGE_SECTORS);
                device.submit(&request, Payload::Read(&mut bytes)).unwrap();
                model.recover(lpn, &bytes);
            }
        }
        let lba = dice.below(LOGICAL_SECTORS);
        let sectors = (1 + dice.below(6)).min(LOGICAL_SECTORS - lba);
        let request = |op| HostRequest::new(Nanos(0), op, u64::from(lba), sectors);
        if dice.one_in(3) {
            let mut bytes = vec![0xEE; sectors as usize * 512];
            device.submit(&request(HostOp::Read), Payload::Read(&mut bytes)).unwrap();
            model.compare(u64::from(lba), &bytes);
        } else {
            let bytes = model.write(u64::from(lba), sectors);
            device.submit(&request(HostOp::Write), Payload::Write(&bytes)).unwrap();
        }
        model.acknowledge(device.slots(), false);
    }
    let ledger = device.ledger();
    assert!(ledger.padded_pages > 1_000 && ledger.padded_from_flash > 100, "{ledger:?}");
}
