//! Frames of one write-back are free as its pages are programmed, in whatever order a policy names them.

use nandlab::buffer::{Access, Buffer, Plan, Sense, Slots};
use nandlab::engine::{Arrival, Engine, EvictWait, Settings, Ssd};
use nandlab::flash::{Geometry, TimingModel};
use nandlab::types::{HostOp, Slot};
use serde_json::{Value, json};

use crate::kit::{Rig, submit, times};

const FRAMES: u32 = 4;

/// Writes all its pages back as one command, from the lowest to the highest or the other way round.
struct Everything {
    pages: Vec<Slot>,
    backwards: bool,
}

impl Buffer for Everything {
    fn on_hit(&mut self, _: Slot, _: &Access, _: &Slots, _: &Sense<'_>) {}
    fn make_room(&mut self, _: Option<&Access>, slots: &Slots, _: &Sense<'_>, plan: &mut Plan) {
        self.pages.sort_unstable_by_key(|slot| slots.lpn(*slot));
        if self.backwards {
            self.pages.reverse();
        }
        plan.write_back(self.pages.drain(..), false);
    }
    fn on_insert(&mut self, slot: Slot, _: &Access, _: &Slots) {
        self.pages.push(slot);
    }
    fn on_remove(&mut self, slot: Slot, _: &Slots) {
        self.pages.retain(|other| *other != slot);
    }
    fn golden_state(&self, _: &Slots) -> Value {
        json!(null)
    }
}

/// What so many writes wait, together, that need a frame when all are full, ns.
fn waits(writes: u32, backwards: bool) -> u128 {
    let mut rig = Rig::new(Geometry::single_die(40, 16, 2048), 64, FRAMES);
    rig.timing = TimingModel::named("parallel");
    rig.times = times(25_000, 200_000, 1_500_000, 0);
    rig.settings = Settings {
        arrival: Arrival::Open,
        queue_depth: 64,
        evict_wait: EvictWait::Program,
        ..Settings::one_at_a_time(64)
    };
    let mut device = Engine::new(rig.parts(rig.ftl()), Everything { pages: Vec::new(), backwards }).unwrap();
    (0..FRAMES + writes).for_each(|lpn| submit(&mut device, HostOp::Write, u64::from(lpn) * 4, 4));
    device.drain();
    device.times().write_response.sum_ns()
}

#[test]
fn frames_of_a_write_back_are_free_in_the_order_of_its_programs() {
    for writes in 1..=FRAMES {
        // The first one waits for all that is written for it, each further one for the page whose frame it gets.
        let expected = 800_000 + (2..=u128::from(writes)).map(|page| page * 200_000).sum::<u128>();
        for backwards in [false, true] {
            assert_eq!(waits(writes, backwards), expected, "{writes} writes, backwards: {backwards}");
        }
    }
}
