//! aalru - AALRU: read and write parts that adapt, clusters out, padding by write amplification
//!
//! # Source
//! Yingbiao Yao, Xiaochong Kong, Jie Zhou, Xiaorong Xu, Wei Feng and Zhaoting Liu, "An advanced adaptive least recently
//! used buffer management algorithm for SSD", IEEE Access 7, 2019, section III with equations 1 to 6 and algorithms 1 and
//! 2. Silent points follow the public simulator of its laboratory (SimpleSSDsim, predecessor ADCT) where that answers
//! them.
//!
//! # What it does
//! Clean pages lie in the read buffer RB, dirty ones in the write buffer WB, each a recency list by page. A write hit
//! in RB moves the page to WB. When the buffer is full and RB holds at least tau pages, RB's least recent page is
//! dropped; otherwise the whole block of WB's least recent page is written back as one cluster, completed (padded) if
//! at least Th of its pages are in WB. Pages of RB serve as padding and stay; the rest is read from flash.
//!
//! Every `period` page accesses both limits adapt. With BS frames and the hits of the period (RRH, RWH: reads and
//! writes in RB; WRH, WWH: in WB): `RR = (RWH D_w + RRH D_r) / tau`, `WR = (WWH D_w + WRH D_r) / (BS - tau)`,
//! `tau = BS RR / (WR + RR)`. `Wf`, the write amplification below the buffer in the period, gives
//! `Th = B - (B / beta) Wf`. O(1) per access, O(pages of the block in WB) per write-back.
//!
//! # Deviations and chosen readings
//! Until a first sample `D_r` and `D_w` are the device's own page read and program times: the paper's 32.7 and 101.5 us
//! are those of its device, and the lab code's 0 would starve one side. Without a sample the last value holds; without
//! hits tau holds; without writes Th holds. Equation 5 always uses the measured `D_w`. tau is rounded to whole pages
//! and leaves one page to each side. If the side that should give a page is empty the other one gives it. When the
//! number of frames changes, tau keeps its share. Th starts at B: no padding. For a short last block of the device Th is
//! the same share of its pages.
//! With `keep_written` WB's least recent page leaves all the same, and pages that stay become the most recent ones of RB
//! in the order of their last use (ADCT sorts them in among RB's pages by that use). Pages of a host flush leave always.
//! In parallel or queued operation `D_w` contains waiting, so that `delay` is not a write amplification.
//!
//! # Known ambiguities
//! Those of the parameters `period_unit`, `tau_compare`, `pad_compare`, `th_line`, `wf_source`, and tau and Th at start.
//! `wf_source` matters over a map cache only. `collection` takes the paper at its word: GC_w are the writes of garbage
//! collection, and "when Wf = 1, it means that there is no garbage collection", whereas to `ftl`, after the predecessor ADCT,
//! which counts all writes of the flash, a map cache that writes back keeps Wf above 1 without any, and AALRU pads where
//! padding saves no collection. Measured over `dftl` on an hour of a Linux database server with 8 and 32 MiB of buffer, then on
//! a load of a Windows SQL server with the same, runs settled, nothing collected: `ftl` programs 1.603, 1.535, 1.915 and 1.577
//! pages a page of the host, `collection` 1.581, 1.513, 1.866 and 1.546, CFLRU 1.572, 1.468, 1.864 and 1.505.

mod costs;
mod params;
mod split;

use serde_json::{Value, json};

use super::tools::groups::Groups;
use super::tools::padding::Padding;
use super::{Access, Buffer, BufferShape, Frames, Plan, Sense, Slots, share};
use crate::error::ConfigError;
use crate::list::{Links, List};
use crate::types::Slot;
use costs::Costs;
pub use params::{Params, PeriodUnit, WfSource};
pub use split::Hits;
use split::clamp_tau;

/// AALRU: a read and a write region whose shares follow the cost of misses, with adaptive padding.
#[derive(Debug)]
pub struct Aalru {
    params: Params,
    pages_per_block: u32,
    frames: u32,
    links: Links,
    rb: List,
    wb: List,
    /// The pages of WB by block: the paper's cache block record table.
    record: Groups,
    /// By slot: the page is in WB.
    in_wb: Vec<bool>,
    tau: u32,
    padding: Padding,
    /// Pages of the block that is written back which stay.
    kept: Vec<Slot>,
    hits: Hits,
    costs: Costs,
    /// Accesses of this period.
    ticks: u32,
    last_request: u64,
}

/// Builds the policy.
///
/// # Errors
/// If there are not two frames or a parameter is out of range.
pub fn build(params: Params, shape: &BufferShape) -> Result<Aalru, ConfigError> {
    shape.need_frames("aalru", shape.frames.dram, 2, "one page to read and one to write")?;
    let frames = shape.frames.dram;
    Ok(Aalru {
        pages_per_block: shape.pages_per_block,
        record: Groups::new(shape.logical_pages, shape.pages_per_block),
        frames,
        links: Links::default(),
        rb: List::default(),
        wb: List::default(),
        in_wb: Vec::new(),
        tau: clamp_tau((params.tau_start * f64::from(frames)).floor(), frames, params.tau_min),
        padding: Padding::told(params.padding, params.pad_compare, shape),
        kept: Vec::new(),
        hits: Hits::default(),
        costs: Costs::new(&params, &shape.times),
        ticks: 0,
        last_request: 0,
        params,
    })
}

impl Aalru {
    #[inline]
    fn enter_wb(&mut self, slot: Slot, slots: &Slots) {
        self.links.push_front(&mut self.wb, slot.0);
        self.record.insert(slot, slots);
        self.in_wb[slot.index()] = true;
    }

    /// The period is over: new tau and Th.
    #[cold]
    fn adapt(&mut self, sense: &Sense<'_>) {
        let wf = self.costs.end_period(sense);
        let (hits, tau_min) = (std::mem::take(&mut self.hits), self.params.tau_min);
        self.tau = hits.next_tau(self.tau, self.frames, tau_min, self.costs.read_us(), self.costs.write_us());
        if let Some(wf) = wf {
            self.padding.tell(self.params.th_line.th(wf, self.params.beta, self.pages_per_block));
        }
    }

    /// Writes back the block of WB's least recent page.
    fn write_back(&mut self, oldest: Slot, slots: &Slots, plan: &mut Plan) {
        let block = self.record.of(oldest, slots);
        let young = share(self.params.keep_written, self.wb.len()) as usize;
        let in_block = |slot: &Slot| *slot != oldest && slots.lbn(*slot) == self.record.lbn(block);
        self.kept.clear();
        self.kept.extend(self.links.iter(&self.wb).take(young).map(Slot).filter(in_block));
        let pad = self.padding.pads(self.record.len(block), self.record.block_pages(block));
        for slot in &self.kept {
            self.in_wb[slot.index()] = false;
        }
        let left = self.record.pages(block, slots).filter(|slot| self.in_wb[slot.index()]);
        plan.write_back_and_keep(left, self.kept.iter().copied(), pad);
        for slot in self.record.pages(block, slots) {
            self.links.remove(&mut self.wb, slot.0);
        }
        self.record.take(block);
        for slot in self.kept.iter().rev() {
            self.links.push_front(&mut self.rb, slot.0);
        }
    }
}

impl Buffer for Aalru {
    fn resize(&mut self, frames: Frames) {
        if frames.dram != self.frames {
            let share = f64::from(self.tau) / f64::from(self.frames.max(1));
            self.frames = frames.dram;
            self.tau = clamp_tau(share * f64::from(frames.dram), frames.dram, self.params.tau_min);
        }
    }
    #[inline]
    fn on_hit(&mut self, slot: Slot, access: &Access, slots: &Slots, _: &Sense<'_>) {
        match (self.in_wb[slot.index()], access.write) {
            (false, false) => {
                self.links.move_front(&mut self.rb, slot.0);
                self.hits.rrh += 1;
            }
            (false, true) => {
                self.links.remove(&mut self.rb, slot.0);
                self.enter_wb(slot, slots);
                self.hits.rwh += 1;
            }
            (true, write) => {
                self.links.move_front(&mut self.wb, slot.0);
                *(if write { &mut self.hits.wwh } else { &mut self.hits.wrh }) += 1;
            }
        }
    }
    fn make_room(&mut self, _: Option<&Access>, slots: &Slots, sense: &Sense<'_>, plan: &mut Plan) {
        self.padding.observe(sense.ledger);
        let rb_gives = self.params.tau_compare.reached(f64::from(self.rb.len()), f64::from(self.tau));
        if (rb_gives || self.wb.is_empty())
            && let Some(victim) = self.links.pop_back(&mut self.rb)
        {
            plan.drop_page(Slot(victim));
            return;
        }
        if let Some(oldest) = self.wb.back() {
            self.write_back(Slot(oldest), slots, plan);
        }
    }
    fn on_insert(&mut self, slot: Slot, access: &Access, slots: &Slots) {
        slots.extend_table(&mut self.in_wb, false);
        if access.write {
            self.enter_wb(slot, slots);
        } else {
            self.in_wb[slot.index()] = false;
            self.links.push_front(&mut self.rb, slot.0);
        }
    }
    #[inline]
    fn after_access(&mut self, access: &Access, _: bool, _: &Slots, sense: &Sense<'_>, _: &mut Plan) {
        if self.params.period_unit == PeriodUnit::Pages || access.request != self.last_request {
            self.last_request = access.request;
            self.ticks += 1;
            if self.ticks == self.params.period {
                self.ticks = 0;
                self.adapt(sense);
            }
        }
    }
    fn on_remove(&mut self, slot: Slot, slots: &Slots) {
        if self.in_wb[slot.index()] {
            self.links.remove(&mut self.wb, slot.0);
            self.record.remove(slot, slots);
        } else {
            self.links.remove(&mut self.rb, slot.0);
        }
    }
    fn sees_neighbours(&self) -> bool {
        true
    }
    fn golden_state(&self, slots: &Slots) -> Value {
        let lpns = |list| self.links.iter(list).map(|id| slots.lpn(Slot(id)).0).collect::<Vec<_>>();
        let Hits { rrh, rwh, wrh, wwh } = self.hits;
        json!({
            "RB": lpns(&self.rb),
            "WB": lpns(&self.wb),
            "tau": self.tau,
            "Th": (self.padding.threshold_pages() * 1e6).round() / 1e6,
            "counters": {"RRH": rrh, "RWH": rwh, "WRH": wrh, "WWH": wwh},
        })
    }
}
