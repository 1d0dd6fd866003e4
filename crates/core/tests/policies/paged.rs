//! A page policy as plainly as it can be written: who is the next victim. All else is the same for all of them.

use std::collections::BTreeMap;

use nandlab::buffer::Frames;
use nandlab::ledger::Cause;
use serde_json::{Value, json};

use super::harness::{Reference, Run, compare, device, enough_runs};
use crate::kit::{Dice, Event};

/// Resident pages: whether they are dirty.
#[derive(Default)]
pub struct Pages(BTreeMap<u32, bool>);

impl Pages {
    pub fn is_dirty(&self, lpn: u32) -> bool {
        self.0[&lpn]
    }
    /// A page in the form of the golden files.
    pub fn golden(&self, lpn: u32) -> Value {
        json!({"lpn": lpn, "dirty": u8::from(self.is_dirty(lpn))})
    }
    pub fn golden_list(&self, lpns: &[u32]) -> Value {
        lpns.iter().map(|lpn| self.golden(*lpn)).collect()
    }
}

/// The order in which pages leave.
pub trait Order {
    /// Reads bypass the buffer.
    fn is_write_buffer(&self) -> bool {
        false
    }
    /// The page was found; a write has set its dirty bit.
    fn hit(&mut self, lpn: u32, is_write: bool, pages: &Pages);
    /// The page was not found and will enter after room was made.
    fn miss(&mut self, _lpn: u32) {}
    /// Takes out the page that leaves: for a missed page, or because there are fewer frames.
    fn victim(&mut self, incoming: Option<u32>, pages: &Pages) -> u32;
    fn insert(&mut self, lpn: u32, is_write: bool, pages: &Pages);
    /// The access is over.
    fn over(&mut self) {}
    /// The host flushed a page that stays.
    fn cleaned(&mut self) {}
    /// The host trimmed a resident page.
    fn remove(&mut self, lpn: u32, pages: &Pages);
    /// There are that many frames now.
    fn resize(&mut self, _frames: u32, _pages: &Pages) {}
    fn state(&self, pages: &Pages) -> Value;
}

/// Takes a page out of a list that holds it.
pub fn take(list: &mut Vec<u32>, lpn: u32) {
    let at = list.iter().position(|page| *page == lpn).expect("the page is in the list");
    list.remove(at);
}

/// Moves or adds a page to the front.
pub fn to_front(list: &mut Vec<u32>, lpn: u32) {
    list.retain(|page| *page != lpn);
    list.insert(0, lpn);
}

/// A share of the frames, rounded half up.
pub fn half_up(ratio: f64, frames: u32) -> usize {
    (ratio * f64::from(frames) + 0.5).floor() as usize
}

/// A share of the frames, rounded down.
pub fn down(ratio: f64, frames: u32) -> usize {
    (ratio * f64::from(frames)).floor() as usize
}

/// A buffer around an order.
struct Paged<O> {
    frames: u32,
    pages: Pages,
    order: O,
}

impl<O: Order> Paged<O> {
    fn evict(&mut self, incoming: Option<u32>, done: &mut Vec<Event>) {
        let lpn = self.order.victim(incoming, &self.pages);
        let dirty = self.pages.0.remove(&lpn).expect("the victim is resident");
        done.push(if dirty { Event::write(&[lpn]) } else { Event::Drop(lpn) });
    }
}

impl<O: Order> Reference for Paged<O> {
    fn access(&mut self, lpn: u32, is_write: bool, done: &mut Vec<Event>) {
        let hit = self.pages.0.contains_key(&lpn);
        if hit {
            *self.pages.0.get_mut(&lpn).unwrap() |= is_write;
            self.order.hit(lpn, is_write, &self.pages);
        } else if !is_write && self.order.is_write_buffer() {
            done.push(Event::Read(Cause::Host, vec![lpn]));
        } else {
            self.order.miss(lpn);
            while self.pages.0.len() >= self.frames as usize {
                self.evict(Some(lpn), done);
            }
            if !is_write {
                done.push(Event::Read(Cause::Host, vec![lpn]));
            }
            self.pages.0.insert(lpn, is_write);
            self.order.insert(lpn, is_write, &self.pages);
        }
        done.push(Event::Access { lpn, write: is_write, hit });
        self.order.over();
    }
    fn trim(&mut self, lpn: u32) {
        if self.pages.0.contains_key(&lpn) {
            self.order.remove(lpn, &self.pages);
            self.pages.0.remove(&lpn);
        }
    }
    fn flush(&mut self, done: &mut Vec<Event>) {
        let dirty: Vec<u32> = self.pages.0.iter().filter(|page| *page.1).map(|page| *page.0).collect();
        for lpn in dirty {
            done.push(Event::write(&[lpn]));
            if self.order.is_write_buffer() {
                self.trim(lpn);
            } else {
                self.pages.0.insert(lpn, false);
                self.order.cleaned();
            }
        }
    }
    fn resize(&mut self, frames: Frames, done: &mut Vec<Event>) {
        self.frames = frames.dram;
        self.order.resize(frames.dram, &self.pages);
        while self.pages.0.len() > frames.dram as usize {
            self.evict(None, done);
        }
    }
    fn state(&self) -> Value {
        self.order.state(&self.pages)
    }
}

/// Compares a policy with its order on random devices; `choose` draws parameters and builds the order.
pub fn check<O: Order>(policy: &str, seed: u64, mut choose: impl FnMut(&mut Dice, &Run) -> (Value, O)) {
    enough_runs(seed, false, |run, random, label| {
        let (params, mut order) = choose(random, run);
        let label = format!("{label}, {params}");
        order.resize(run.frames, &Pages::default());
        let mut reference = Paged { frames: run.frames, pages: Pages::default(), order };
        compare(&label, &mut *device(policy, params, run), &mut reference, run, random, 250)
    });
}
