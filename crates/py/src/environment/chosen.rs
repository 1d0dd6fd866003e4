//! The buffer of an environment: whenever a page must leave, it shows the agent some groups of pages and does what the agent
//! says. A group is a page, or what is resident of a logical block.

use std::sync::mpsc::{Receiver, Sender};
use std::sync::{Arc, OnceLock};

use nandlab::buffer::{Access, Buffer, FlashTimes, Plan, Sense, Slots};
use nandlab::ledger::Ledger;
use nandlab::types::{Lbn, Slot};
use rand::Rng;
use rand_pcg::Pcg64Mcg;
use serde_json::{Value, json};

/// What is shown of a group, each from 0 to 1: log2(1 + page accesses since its last one) / 32, the same since it came,
/// log2(accesses of it since then) / 32, its share of dirty pages, what is resident of its logical block, and 1 for the logical
/// block of the page that comes.
pub const FEATURES: usize = 6;

/// A question to the agent.
pub struct Asked {
    /// [`FEATURES`] of each candidate.
    pub features: Vec<f32>,
    /// Of each candidate its page, or its logical block.
    pub groups: Vec<u32>,
    /// Flash time saved so far, ns.
    pub saved: i64,
    /// The page that comes and whether it is written; none if the device makes room ahead of need.
    pub comes: Option<(u32, bool)>,
}

/// What the agent answers.
#[derive(Clone, Copy)]
pub struct Choice {
    /// Which candidate leaves.
    pub candidate: usize,
    /// Complete its logical block when it is written back.
    pub pad: bool,
}

/// What unwinds the stack when the agent left in the middle of a run.
pub struct AgentLeft;

/// The rules of an environment.
#[derive(Clone, Copy)]
pub struct Rules {
    /// Groups that the agent is shown.
    pub candidates: usize,
    /// A group is a logical block, else a page.
    pub by_block: bool,
}

/// Flash time that the accesses of the host would have taken without a buffer, by the plain times of a page read and a page
/// program, less the time that all operations took.
pub fn saved(ledger: &Ledger, times: FlashTimes) -> i64 {
    let plain = ledger.host_page_reads * times.read.0 + ledger.host_page_writes * times.program.0;
    let spent: u64 = ledger.op_ns.iter().flatten().sum();
    plain.cast_signed() - spent.cast_signed()
}

/// What is known of a resident group.
#[derive(Clone, Copy, Default)]
struct Seen {
    /// Where it stands in the list of all.
    place: u32,
    pages: u32,
    came: u64,
    last: u64,
    uses: u64,
}

/// The buffer.
pub struct Chosen {
    rules: Rules,
    to_agent: Sender<Asked>,
    from_agent: Receiver<Choice>,
    times: Arc<OnceLock<FlashTimes>>,
    rng: Pcg64Mcg,
    /// The groups there are, in any order.
    all: Vec<u32>,
    /// By group.
    seen: Vec<Seen>,
    accesses: u64,
    pages_per_block: u32,
}

impl Chosen {
    /// A buffer whose agent is at the other ends.
    pub fn new(
        rules: Rules,
        (to_agent, from_agent): (Sender<Asked>, Receiver<Choice>),
        times: Arc<OnceLock<FlashTimes>>,
        shape: &nandlab::buffer::BufferShape,
    ) -> Self {
        _ = times.set(shape.times);
        let rng = Pcg64Mcg::new(u128::from(shape.seed) << 1 | 1);
        let (all, seen, pages_per_block) = (Vec::new(), Vec::new(), shape.pages_per_block);
        Self { rules, to_agent, from_agent, times, rng, all, seen, accesses: 0, pages_per_block }
    }

    fn group(&self, slot: Slot, slots: &Slots) -> usize {
        if self.rules.by_block { slots.lbn(slot).index() } else { slot.index() }
    }
    fn touch(&mut self, group: usize) {
        self.accesses += 1;
        (self.seen[group].last, self.seen[group].uses) = (self.accesses, self.seen[group].uses + 1);
    }
    /// The group is gone: the last of the list takes its place there.
    fn forget(&mut self, group: usize) {
        let place = self.seen[group].place;
        self.all.swap_remove(place as usize);
        if let Some(moved) = self.all.get(place as usize) {
            self.seen[*moved as usize].place = place;
        }
        self.seen[group] = Seen::default();
    }
    /// A number below `bound`.
    fn below(&mut self, bound: usize) -> usize {
        ((u128::from(self.rng.next_u64()) * bound as u128) >> 64) as usize
    }
    /// Groups at random, none twice before each was there once.
    fn candidates(&mut self) -> Vec<u32> {
        for first in 0..self.rules.candidates.min(self.all.len()) {
            let other = first + self.below(self.all.len() - first);
            self.all.swap(first, other);
            self.seen[self.all[first] as usize].place = first as u32;
            self.seen[self.all[other] as usize].place = other as u32;
        }
        self.all.iter().copied().cycle().take(self.rules.candidates).collect()
    }
    /// The pages of a group.
    fn pages(&self, group: u32, slots: &Slots) -> Vec<Slot> {
        if self.rules.by_block { slots.of_block(Lbn(group)).collect() } else { vec![Slot(group)] }
    }
    /// What a group is to the host: a page or a logical block.
    fn number(&self, group: u32, slots: &Slots) -> u32 {
        if self.rules.by_block { group } else { slots.lpn(Slot(group)).0 }
    }
    fn features(&self, group: u32, comes: Option<Lbn>, slots: &Slots) -> [f32; FEATURES] {
        let (seen, pages) = (self.seen[group as usize], self.pages(group, slots));
        let count = |number: u64| (number as f32).log2() / 32.0;
        let dirty = pages.iter().filter(|slot| slots.is_dirty(**slot)).count();
        let block = slots.lbn(pages[0]);
        [
            count(1 + self.accesses - seen.last),
            count(1 + self.accesses - seen.came),
            count(seen.uses),
            dirty as f32 / pages.len() as f32,
            slots.resident_pages(block) as f32 / self.pages_per_block as f32,
            f32::from(u8::from(comes == Some(block))),
        ]
    }
}

impl Buffer for Chosen {
    fn on_hit(&mut self, slot: Slot, _: &Access, slots: &Slots, _: &Sense<'_>) {
        self.touch(self.group(slot, slots));
    }
    fn make_room(&mut self, access: Option<&Access>, slots: &Slots, sense: &Sense<'_>, plan: &mut Plan) {
        let groups = self.candidates();
        let comes = access.map(|access| slots.lbn_of(access.lpn));
        let times = *self.times.get_or_init(|| sense.times);
        let asked = Asked {
            features: groups.iter().flat_map(|group| self.features(*group, comes, slots)).collect(),
            groups: groups.iter().map(|group| self.number(*group, slots)).collect(),
            saved: saved(sense.ledger, times),
            comes: access.map(|access| (access.lpn.0, access.write)),
        };
        let answer = self.to_agent.send(asked).ok().and_then(|()| self.from_agent.recv().ok());
        let Some(Choice { candidate, pad }) = answer else { std::panic::resume_unwind(Box::new(AgentLeft)) };
        let group = groups[candidate];
        let (dirty, clean): (Vec<_>, Vec<_>) =
            self.pages(group, slots).into_iter().partition(|slot| slots.is_dirty(*slot));
        // Clean pages may serve as padding, so that they leave afterwards.
        match dirty[..] {
            [] => {}
            [page] if !self.rules.by_block => plan.evict(page, slots),
            _ => plan.write_back(dirty, pad),
        }
        for slot in clean {
            plan.drop_page(slot);
        }
        self.forget(group as usize);
    }
    fn on_insert(&mut self, slot: Slot, _: &Access, slots: &Slots) {
        let group = self.group(slot, slots);
        if self.seen.len() <= group {
            self.seen.resize(group + 1, Seen::default());
        }
        if self.seen[group].pages == 0 {
            self.seen[group].place = self.all.len() as u32;
            self.seen[group].came = self.accesses;
            self.all.push(group as u32);
        }
        self.seen[group].pages += 1;
        self.touch(group);
    }
    fn on_remove(&mut self, slot: Slot, slots: &Slots) {
        let group = self.group(slot, slots);
        self.seen[group].pages -= 1;
        if self.seen[group].pages == 0 {
            self.forget(group);
        }
    }
    fn on_clean(&mut self, _: Slot, _: &Slots) -> bool {
        true
    }
    fn sees_neighbours(&self) -> bool {
        true
    }
    fn golden_state(&self, _: &Slots) -> Value {
        json!({})
    }
}
