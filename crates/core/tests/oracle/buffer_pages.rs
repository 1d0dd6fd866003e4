//! The oracle's page buffers: none, FIFO, LRU, CFLRU, and an LRU that reads ahead (of these tests alone).

use super::counts::Counts;
use super::policy::{Access, Policy, Ram, Step};

/// Nothing is kept.
pub struct Nothing;

impl Policy for Nothing {
    fn admits(&self, _write: bool) -> bool {
        false
    }
    fn hit(&mut self, _access: Access, _ram: &Ram) {}
    fn placed(&mut self, _access: Access, _ram: &Ram) {}
    fn make_room(&mut self, _ram: &Ram, _counts: &Counts) -> Vec<Step> {
        Vec::new()
    }
    fn trimmed(&mut self, _lpn: u32, _ram: &Ram) {}
    fn flushed(&mut self, _lpn: u32, _ram: &Ram) -> bool {
        false
    }
}

/// One list, most recent page first.
#[derive(Default)]
pub struct Recency {
    pub list: Vec<u32>,
    /// FIFO: a hit moves nothing.
    pub first_in_first_out: bool,
    /// CFLRU: share of the frames at the least recent end in which clean pages leave first.
    pub clean_first: f64,
    pub window: usize,
    /// Pages that a read miss fetches ahead.
    pub ahead: u32,
}

impl Recency {
    fn remove(&mut self, lpn: u32) {
        self.list.retain(|other| *other != lpn);
    }
}

impl Policy for Recency {
    fn hit(&mut self, access: Access, _ram: &Ram) {
        if !self.first_in_first_out {
            self.remove(access.lpn);
            self.list.insert(0, access.lpn);
        }
    }
    fn placed(&mut self, access: Access, _ram: &Ram) {
        self.list.insert(0, access.lpn);
    }
    fn make_room(&mut self, ram: &Ram, _counts: &Counts) -> Vec<Step> {
        let mut window = self.list.iter().rev().take(self.window);
        let clean = window.find(|lpn| !ram.pages[lpn].dirty);
        let Some(victim) = clean.or(self.list.last()).copied() else { return Vec::new() };
        self.remove(victim);
        vec![Step::evict(victim, ram)]
    }
    fn after(&mut self, access: Access, hit: bool, ram: &Ram, _counts: &Counts) -> Vec<Step> {
        let resident = ram.pages.contains_key(&access.lpn);
        if hit || access.write || self.ahead == 0 || !resident {
            return Vec::new();
        }
        let mut steps = Vec::new();
        let mut used = ram.pages.len();
        let end = (access.lpn + 1 + self.ahead).min(ram.logical_pages as u32);
        for lpn in (access.lpn + 1..end).filter(|lpn| !ram.pages.contains_key(lpn)) {
            if used >= ram.frames {
                // The page that was asked for and those around it stay.
                let spared = |other: &u32| (access.lpn..end).contains(other);
                let Some(victim) = self.list.iter().rev().find(|other| !spared(other)).copied() else { break };
                self.remove(victim);
                steps.push(Step::evict(victim, ram));
                used -= 1;
            }
            steps.push(Step::Fetch(lpn));
            used += 1;
        }
        steps
    }
    fn trimmed(&mut self, lpn: u32, _ram: &Ram) {
        self.remove(lpn);
    }
    fn flushed(&mut self, _lpn: u32, _ram: &Ram) -> bool {
        true
    }
    fn resized(&mut self, frames: usize) {
        self.window = (self.clean_first * frames as f64 + 0.5).floor() as usize;
    }
}
