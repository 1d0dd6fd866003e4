//! The oracle's write buffers of groups: FAB and BPLRU.

use super::counts::Counts;
use super::policy::{Access, Policy, Ram, Step};

/// From how many pages on a victim is completed.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Pads {
    Never,
    Always,
    /// Share of the pages that the block has on the device.
    From(f64),
}

impl Pads {
    pub fn pads(self, pages: usize, block_pages: usize) -> bool {
        let share = match self {
            Self::Never => 1.0,
            Self::Always => 0.0,
            Self::From(share) => share,
        };
        pages < block_pages && pages as f64 >= share * block_pages as f64
    }
}

/// Which group leaves.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Order {
    /// FAB: the largest, among equals the least recent.
    Largest,
    /// BPLRU: the least recent; blocks written completely and in order are the next.
    Sequential,
    /// BPLRU of HitStat's thesis: the least recent full one, else the least recent.
    FullFirst,
    /// The least recent.
    Recency,
}

struct Group {
    lbn: usize,
    pages: Vec<u32>,
    /// The next offset, while all writes came in order.
    in_order: Option<usize>,
}

pub struct Groups {
    /// Most recent first.
    list: Vec<Group>,
    order: Order,
    pads: Pads,
}

impl Groups {
    pub fn new(order: Order, pads: Pads) -> Self {
        Self { list: Vec::new(), order, pads }
    }

    fn written(&mut self, lpn: u32, ram: &Ram) {
        let (lbn, offset) = (ram.lbn(lpn), lpn as usize % ram.pages_per_block);
        let at = self.list.iter().position(|group| group.lbn == lbn);
        let mut group = at.map_or(Group { lbn, pages: Vec::new(), in_order: Some(0) }, |at| self.list.remove(at));
        group.in_order = group.in_order.filter(|next| *next == offset).map(|next| next + 1);
        if !group.pages.contains(&lpn) {
            group.pages.push(lpn);
            group.pages.sort_unstable();
        }
        let complete = group.pages.len() == ram.block_pages(lbn) && group.in_order.is_some();
        if self.order == Order::Sequential && complete {
            self.list.push(group);
        } else {
            self.list.insert(0, group);
        }
    }
    fn remove(&mut self, lpn: u32) {
        for group in &mut self.list {
            group.pages.retain(|page| *page != lpn);
        }
        self.list.retain(|group| !group.pages.is_empty());
    }
}

impl Policy for Groups {
    fn admits(&self, write: bool) -> bool {
        write
    }
    fn hit(&mut self, access: Access, ram: &Ram) {
        if access.write {
            self.written(access.lpn, ram);
        }
    }
    fn placed(&mut self, access: Access, ram: &Ram) {
        self.written(access.lpn, ram);
    }
    fn make_room(&mut self, ram: &Ram, _counts: &Counts) -> Vec<Step> {
        let oldest_first = (0..self.list.len()).rev();
        let full = |i: &usize| self.list[*i].pages.len() == ram.block_pages(self.list[*i].lbn);
        let victim = match self.order {
            Order::Largest => {
                let most = self.list.iter().map(|group| group.pages.len()).max().unwrap_or(0);
                oldest_first.clone().find(|i| self.list[*i].pages.len() == most)
            }
            Order::FullFirst => oldest_first.clone().find(full).or_else(|| oldest_first.clone().next()),
            Order::Sequential | Order::Recency => oldest_first.clone().next(),
        };
        let Some(victim) = victim else { return Vec::new() };
        let group = self.list.remove(victim);
        let pad = self.pads.pads(group.pages.len(), ram.block_pages(group.lbn));
        vec![Step::write(group.pages, pad)]
    }
    fn trimmed(&mut self, lpn: u32, _ram: &Ram) {
        self.remove(lpn);
    }
    fn flushed(&mut self, lpn: u32, _ram: &Ram) -> bool {
        self.remove(lpn);
        false
    }
    fn by_block(&self) -> bool {
        true
    }
}
