//! fab, fab-rw, bplru, clc and lb-clock.

use serde_json::{Value, json};

use super::grouped::{Buffered, Grouped, Order, Padding, check};
use super::harness::{compare, device, enough_runs};
use super::paged::{take, to_front};

/// All fab readings. Most recently used first.
#[derive(Clone, Default)]
pub struct Fab {
    blocks: Vec<u32>,
    lab: bool,
    reads: bool,
}

impl Order for Fab {
    fn caches_reads(&self) -> bool {
        self.reads
    }
    fn writes_runs(&self) -> bool {
        self.lab
    }
    fn hit(&mut self, lpn: u32, is_write: bool, pages: &Buffered) {
        if is_write || self.lab || self.reads {
            to_front(&mut self.blocks, pages.block(lpn));
        }
    }
    fn insert(&mut self, lpn: u32, pages: &Buffered) {
        to_front(&mut self.blocks, pages.block(lpn));
    }
    fn victim(&mut self, incoming: Option<u32>, pages: &Buffered) -> u32 {
        let requested = incoming.map(|lpn| pages.block(lpn)).filter(|_| self.lab && self.blocks.len() > 1);
        let mut others: Vec<u32> = self.blocks.iter().copied().filter(|block| Some(*block) != requested).collect();
        if !self.lab {
            others.reverse();
        }
        let most = others.iter().map(|block| pages.of(*block).len()).max().unwrap();
        let victim = others.into_iter().find(|block| pages.of(*block).len() == most).unwrap();
        take(&mut self.blocks, victim);
        victim
    }
    fn lost(&mut self, block: u32, pages: &Buffered) {
        if pages.of(block).is_empty() {
            take(&mut self.blocks, block);
        }
    }
    fn state(&self, pages: &Buffered) -> Value {
        json!({"groups": if self.reads { pages.golden_split(&self.blocks) } else { pages.golden_list(&self.blocks) }})
    }
}

#[test]
fn fab_evicts_the_largest_group_and_the_oldest_of_equals() {
    check("fab", 41, |_, _| (json!({}), Fab::default()));
}

#[test]
fn fab_of_the_lab_spares_the_requested_block_and_writes_runs() {
    check("fab", 42, |_, _| (json!({"compat": "lab"}), Fab { lab: true, ..Fab::default() }));
}

#[test]
fn fab_rw_counts_clean_pages_and_drops_them() {
    check("fab-rw", 43, |_, _| (json!({}), Fab { reads: true, ..Fab::default() }));
}

/// When a block leaves out of order.
#[derive(Clone, Copy, PartialEq)]
enum Rule {
    Seq,
    FullFirst,
    Run,
    Never,
}

/// Most recently used first, and the offsets of all writes to each block since its group was made.
struct Bplru {
    rule: Rule,
    lab: bool,
    block_pages: u32,
    blocks: Vec<(u32, Vec<u32>)>,
    /// Blocks of all accesses, the last one at the end.
    accessed: Vec<u32>,
}

impl Bplru {
    fn written(&mut self, lpn: u32, filled: bool, pages: &Buffered) {
        let block = pages.block(lpn);
        let at = self.blocks.iter().position(|group| group.0 == block);
        let mut group = at.map_or((block, vec![]), |at| self.blocks.remove(at));
        group.1.push(lpn % self.block_pages);
        let in_order = group.1.iter().copied().eq(0..pages.all_of(block).len() as u32);
        let streak = self.accessed.iter().rev().take_while(|other| **other == block).count();
        let in_a_row = streak > 1 && streak >= self.block_pages as usize / 2;
        if self.rule == Rule::Seq && filled && in_order || self.rule == Rule::Run && in_a_row {
            self.blocks.push(group);
        } else {
            self.blocks.insert(0, group);
        }
    }
}

impl Order for Bplru {
    fn evicts_for_reads(&self) -> bool {
        self.lab
    }
    fn look(&mut self, lpn: u32, pages: &Buffered) {
        self.accessed.push(pages.block(lpn));
    }
    fn hit(&mut self, lpn: u32, is_write: bool, pages: &Buffered) {
        if is_write {
            self.written(lpn, false, pages);
        }
    }
    fn insert(&mut self, lpn: u32, pages: &Buffered) {
        self.written(lpn, pages.is_full(pages.block(lpn)), pages);
    }
    fn victim(&mut self, incoming: Option<u32>, pages: &Buffered) -> u32 {
        let requested = incoming.map(|lpn| pages.block(lpn)).filter(|_| self.lab && self.blocks.len() > 1);
        let may = |group: &(u32, Vec<u32>)| Some(group.0) != requested;
        let full = |group: &(u32, Vec<u32>)| self.rule == Rule::FullFirst && pages.is_full(group.0);
        let first = self.blocks.iter().rposition(|group| may(group) && full(group));
        let victim = first.or(self.blocks.iter().rposition(may)).unwrap();
        self.blocks.remove(victim).0
    }
    fn lost(&mut self, block: u32, pages: &Buffered) {
        self.blocks.retain(|group| group.0 != block || !pages.of(block).is_empty());
    }
    fn state(&self, pages: &Buffered) -> Value {
        json!({"groups": self.blocks.iter().map(|group| pages.golden(group.0)).collect::<Vec<_>>()})
    }
}

#[test]
fn bplru_compensates_in_all_its_variants() {
    let rules = [(Rule::Seq, "seq"), (Rule::FullFirst, "full_first"), (Rule::Run, "run"), (Rule::Never, "none")];
    for (seed, (rule, name)) in (44..).zip(rules) {
        check("bplru", seed, |random, run| {
            let lab = random.one_in(2);
            let params = json!({"compensation": name, "compat": if lab { "lab" } else { "spec" }});
            (params, Bplru { rule, lab, block_pages: run.block_pages, blocks: vec![], accessed: vec![] })
        });
    }
}

#[test]
fn bplru_of_the_lab_evicts_for_reads_and_pads_from_half_a_block_on() {
    for (seed, lab, rule, share) in [(48, true, Rule::Run, 0.5), (49, false, Rule::Seq, 0.0)] {
        enough_runs(seed, true, |run, random, label| {
            let order = Bplru { rule, lab, block_pages: run.block_pages, blocks: vec![], accessed: vec![] };
            let params = json!({"compat": if lab { "lab" } else { "spec" }});
            let mut reference = Grouped::new(run, Padding::Share(share), order);
            compare(label, &mut *device("bplru", params, run), &mut reference, run, random, 600)
        });
    }
}

/// Both lists most recent first.
struct Clc {
    alpha: f64,
    recent: Vec<u32>,
    cold: Vec<u32>,
}

impl Clc {
    fn settle(&mut self) {
        let clusters = (self.recent.len() + self.cold.len()) as f64;
        let limit = if self.alpha == 0.0 { 0 } else { 1.max((self.alpha * clusters).floor() as usize) };
        while self.recent.len() > limit {
            self.cold.insert(0, self.recent.pop().unwrap());
        }
    }
    fn forget(&mut self, block: u32) {
        self.recent.retain(|other| *other != block);
        self.cold.retain(|other| *other != block);
    }
    fn written(&mut self, block: u32) {
        self.forget(block);
        self.recent.insert(0, block);
        self.settle();
    }
}

impl Order for Clc {
    fn hit(&mut self, lpn: u32, is_write: bool, pages: &Buffered) {
        if is_write {
            self.written(pages.block(lpn));
        }
    }
    fn insert(&mut self, lpn: u32, pages: &Buffered) {
        self.written(pages.block(lpn));
    }
    fn victim(&mut self, _: Option<u32>, pages: &Buffered) -> u32 {
        let most = self.cold.iter().map(|block| pages.of(*block).len()).max();
        let coldest = self.cold.iter().rev().find(|block| Some(pages.of(**block).len()) == most);
        let victim = *coldest.unwrap_or_else(|| self.recent.last().unwrap());
        self.forget(victim);
        self.settle();
        victim
    }
    fn lost(&mut self, block: u32, pages: &Buffered) {
        if pages.of(block).is_empty() {
            self.forget(block);
        }
        self.settle();
    }
    fn state(&self, pages: &Buffered) -> Value {
        json!({"size_independent": pages.golden_list(&self.recent), "size_dependent": pages.golden_list(&self.cold)})
    }
}

#[test]
fn clc_evicts_the_largest_of_the_clusters_that_grew_cold() {
    check("clc", 50, |random, _| {
        let alpha = [0.0, 0.5, 1.0, f64::from(random.below(101)) / 100.0][random.below(4) as usize];
        (json!({"alpha": alpha}), Clc { alpha, recent: vec![], cold: vec![] })
    });
}

/// Blocks and recency bits, clockwise from the hand.
#[derive(Default)]
struct LbClock(Vec<(u32, bool)>);

impl Order for LbClock {
    fn hit(&mut self, lpn: u32, is_write: bool, pages: &Buffered) {
        if is_write {
            self.0.iter_mut().find(|block| block.0 == pages.block(lpn)).unwrap().1 = true;
        }
    }
    fn insert(&mut self, lpn: u32, pages: &Buffered) {
        let block = pages.block(lpn);
        let completes = pages.is_full(block) && pages.all_of(block).last() == Some(&lpn);
        match self.0.iter_mut().find(|other| other.0 == block) {
            Some(found) => found.1 = !completes,
            None => self.0.push((block, false)),
        }
    }
    fn victim(&mut self, _: Option<u32>, pages: &Buffered) -> u32 {
        while self.0[0].1 {
            self.0[0].1 = false;
            self.0.rotate_left(1);
        }
        let size = |block: &(u32, bool)| pages.of(block.0).len();
        let most = self.0.iter().filter(|block| !block.1).map(size).max().unwrap();
        let at = self.0.iter().position(|block| !block.1 && size(block) == most).unwrap();
        self.0.remove(at).0
    }
    fn lost(&mut self, block: u32, pages: &Buffered) {
        self.0.retain(|other| other.0 != block || !pages.of(block).is_empty());
    }
    fn state(&self, pages: &Buffered) -> Value {
        let block = |(block, bit): &(u32, bool)| {
            let mut golden = pages.golden(*block);
            golden["ref"] = json!(u8::from(*bit));
            golden
        };
        json!({"ring_from_hand": self.0.iter().map(block).collect::<Vec<_>>()})
    }
}

#[test]
fn lb_clock_sweeps_first_and_takes_the_largest_without_its_bit() {
    check("lb-clock", 51, |_, _| (json!({}), LbClock::default()));
}
