//! The buffer of a policy that decides about many requests at once: each page has the score of the last request to it, and
//! the page with the lowest score leaves, of equal scores the one used longest ago.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use nandlab::buffer::{Access, Admission, Buffer, Medium, Plan, Sense, Slots};
use nandlab::engine::Engine;
use nandlab::types::Slot;
use nandlab_lab::OwnBuffer;
use serde_json::{Value, json};

/// The scores of the requests that come next.
#[derive(Default)]
pub struct Ahead {
    /// Number of the first of them.
    pub first: u64,
    /// For each its score; NaN: keep its pages out of the buffer, and the scores of those that are in it.
    pub scores: Vec<f64>,
}

/// A place in the order of leaving: the score, the time of the last access, the slot.
type Rank = (i64, u64, u32);

struct Scored {
    ahead: Arc<Mutex<Ahead>>,
    order: BTreeSet<Rank>,
    ranks: Vec<Rank>,
    accesses: u64,
}

/// The buffer, with the name that reports show.
pub fn own_buffer(name: &str, ahead: Arc<Mutex<Ahead>>) -> OwnBuffer {
    let of = name.to_owned();
    OwnBuffer::new(name, move |parts| {
        let shape = parts.buffer_shape();
        shape.need_frames(&of, shape.frames.total(), 1, "a page")?;
        let (order, ranks) = (BTreeSet::new(), Vec::new());
        Ok(Box::new(Engine::new(parts, Scored { ahead: Arc::clone(&ahead), order, ranks, accesses: 0 })?))
    })
}

/// Numbers in the order of [`f64::total_cmp`], but with one zero.
fn ordered(score: f64) -> i64 {
    // The sum is 0.0 for both zeros, and any other score as it is.
    let bits = (score + 0.0).to_bits().cast_signed();
    bits ^ ((bits >> 63).cast_unsigned() >> 1).cast_signed()
}

impl Scored {
    fn score(&self, request: u64) -> Option<f64> {
        let ahead = self.ahead.lock().unwrap_or_else(PoisonError::into_inner);
        let score = request.checked_sub(ahead.first).and_then(|at| ahead.scores.get(at as usize)).copied();
        score.filter(|score| !score.is_nan())
    }
    fn rank(&mut self, slot: Slot, score: i64) {
        self.accesses += 1;
        let rank = (score, self.accesses, slot.0);
        if self.ranks.len() <= slot.index() {
            self.ranks.resize(slot.index() + 1, rank);
        }
        self.ranks[slot.index()] = rank;
        self.order.insert(rank);
    }
}

impl Buffer for Scored {
    fn on_hit(&mut self, slot: Slot, access: &Access, _: &Slots, _: &Sense<'_>) {
        let before = self.ranks[slot.index()];
        self.order.remove(&before);
        self.rank(slot, self.score(access.request).map_or(before.0, ordered));
    }
    fn on_miss(&mut self, access: &Access, _: &Slots, _: &Sense<'_>) -> Admission {
        if self.score(access.request).is_some() { Admission::Admit(Medium::Dram) } else { Admission::Bypass }
    }
    fn make_room(&mut self, _: Option<&Access>, slots: &Slots, _: &Sense<'_>, plan: &mut Plan) {
        if let Some((.., slot)) = self.order.pop_first() {
            plan.evict(Slot(slot), slots);
        }
    }
    fn on_insert(&mut self, slot: Slot, access: &Access, _: &Slots) {
        self.rank(slot, ordered(self.score(access.request).unwrap_or(f64::NEG_INFINITY)));
    }
    fn on_remove(&mut self, slot: Slot, _: &Slots) {
        self.order.remove(&self.ranks[slot.index()]);
    }
    fn on_clean(&mut self, _: Slot, _: &Slots) -> bool {
        true
    }
    fn golden_state(&self, _: &Slots) -> Value {
        json!({})
    }
}
