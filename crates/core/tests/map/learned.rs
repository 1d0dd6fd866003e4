//! Do the models of LearnedFTL predict what can be predicted, and never a wrong place?

use nandlab::flash::{Flash, Media, PageKind};
use nandlab::ftl::{Batch, Ftl, PageRead, PageWrite, Shape};
use nandlab::ledger::{Cause, Ledger, Op};
use nandlab::types::{Lpn, Pbn};
use serde_json::{Value, json};

use super::device::{build, fill, flash, host, shape, start};
use crate::kit::Dice;

/// A device of four channels under an FTL with a cache of 64 entries.
struct Lab {
    shape: Shape,
    flash: Flash,
    ftl: Box<dyn Ftl>,
    dice: Dice,
}

impl Lab {
    /// Every page is written.
    fn new(name: &str, frontiers: &str) -> Self {
        Self::with(name, json!({"frontiers": frontiers}))
    }

    /// The same with these parameters.
    fn with(name: &str, params: Value) -> Self {
        let mut lab = Self::built(name, params);
        fill(&mut *lab.ftl, &mut lab.flash, &lab.shape);
        lab
    }

    fn empty(name: &str, frontiers: &str) -> Self {
        Self::built(name, json!({"frontiers": frontiers}))
    }

    fn built(name: &str, mut params: Value) -> Self {
        let shape = shape(4, 800, 64, 40_000, 512);
        let flash = flash(&shape, Media::None);
        params["cmt_entries"] = json!(64);
        let ftl = build(name, params, &shape);
        Self { shape, flash, ftl, dice: Dice(7) }
    }

    /// Writes in requests of up to 32 pages.
    fn write(&mut self, lpns: impl Iterator<Item = u32>) {
        let pages: Vec<PageWrite> = lpns.map(|lpn| host(lpn, 1)).collect();
        for request in pages.chunks(32) {
            self.ftl.write(&mut self.flash, Batch::new(request, &[]), start());
        }
    }

    fn random_writes(&mut self, count: u32) {
        for _ in 0..count {
            let lpn = self.dice.below(self.shape.logical_pages);
            self.write(std::iter::once(lpn));
        }
    }

    /// The ledger of 20,000 random reads of pages with this remainder.
    fn reads(&mut self, remainder: u32, of: u32) -> Ledger {
        self.ftl.check(&self.flash);
        let before = self.flash.ledger;
        for _ in 0..20_000 {
            let lpn = self.dice.below(self.shape.logical_pages / of) * of + remainder;
            assert!(self.ftl.read(&mut self.flash, PageRead::new(Lpn(lpn), Cause::Host), start()).ppn.is_some());
        }
        let window = self.flash.ledger - before;
        assert_eq!(window.count(Op::Read, Cause::MapMiss), window.map_misses, "a prediction reads nothing");
        assert_eq!(window.map_hits + window.map_misses, 20_000);
        window
    }

    fn predicted(&mut self) -> f64 {
        self.reads(0, 1).map_second_hits as f64 / 20_000.0
    }
}

#[test]
fn sequentially_written_pages_are_predicted() {
    for frontiers in ["single", "die"] {
        let mut lab = Lab::new("learnedftl", frontiers);
        let filled = lab.predicted();
        assert!(filled > 0.95, "{frontiers}: {filled} after preconditioning");
        // Collections leave the blocks of the dies in disorder, and no page where it was.
        lab.random_writes(60_000);
        lab.write(0..40_000);
        lab.write(0..40_000);
        let written = lab.predicted();
        assert!(written > 0.95, "{frontiers}: {written} after sequential writes");
    }
}

#[test]
fn strided_writes_are_predicted() {
    for frontiers in ["single", "die"] {
        for stride in [2, 3, 8] {
            let mut lab = Lab::empty("learnedftl", frontiers);
            for _ in 0..4 {
                lab.write((0..40_000).step_by(stride as usize));
            }
            let share = lab.reads(0, stride).map_second_hits as f64 / 20_000.0;
            assert!(share > 0.95, "{frontiers}, stride {stride}: {share}");
        }
    }
}

/// Two lines through the same translation pages break each other's pieces: the model knows one place a piece.
#[test]
fn pages_between_those_of_another_write_are_left_to_the_cache() {
    let mut lab = Lab::new("learnedftl", "single");
    lab.write((0..40_000).step_by(2));
    let share = lab.predicted();
    assert!(share < 0.7, "{share}");
}

#[test]
fn random_overwrite_clears_its_bit() {
    let mut lab = Lab::new("learnedftl", "die");
    let predicted = |ftl: &dyn Ftl, flash: &Flash| -> Vec<u32> {
        let state: Value = ftl.golden_state(flash);
        let lpns = state["predicted_lpns"].as_array().expect("a list").iter();
        lpns.map(|lpn| lpn.as_u64().expect("a number") as u32).collect()
    };
    assert!(predicted(&*lab.ftl, &lab.flash).len() > 38_000);
    for _ in 0..200 {
        let lpn = lab.dice.below(40_000);
        lab.write(std::iter::once(lpn));
        assert!(!predicted(&*lab.ftl, &lab.flash).contains(&lpn), "lpn {lpn} was just written");
    }
    lab.random_writes(150_000);
    let left = lab.predicted();
    assert!(left < 0.2, "{left} of the pages of a randomly written device");
}

#[test]
fn prediction_saves_the_translation_read_that_tpftl_does() {
    let [plain, learned] = ["tpftl", "learnedftl"].map(|name| {
        let mut lab = Lab::new(name, "die");
        lab.write(0..40_000);
        lab.reads(0, 1)
    });
    assert!(plain.map_misses > 19_000 && plain.map_second_hits == 0);
    assert!(learned.map_misses < plain.map_misses / 20, "{} of {}", learned.map_misses, plain.map_misses);
    assert_eq!(learned.count(Op::Read, Cause::Host), plain.count(Op::Read, Cause::Host));
}

/// Groups pay for predictable places with copies: both sides are measured.
#[test]
#[allow(clippy::print_stdout, reason = "measured numbers are part of what this test tells")]
fn groups_make_random_writes_predictable() {
    let found =
        [("die", None), ("die", Some(32_u32)), ("single", None), ("single", Some(16))].map(|(frontiers, tps)| {
            let mut params = json!({"frontiers": frontiers});
            if let Some(tps) = tps {
                params["group_tps"] = json!(tps);
            }
            let mut lab = Lab::with("learnedftl", params);
            lab.random_writes(150_000);
            let before = lab.flash.ledger;
            lab.random_writes(50_000);
            let window = lab.flash.ledger - before;
            let (wa, share) = (window.programs() as f64 / 50_000.0, lab.predicted());
            println!("{frontiers}, groups of {tps:?}: write amplification {wa:.2}, predicted {share:.3}");
            (wa, share)
        });
    for pair in found.chunks(2) {
        assert!(pair[1].1 > pair[0].1 + 0.2, "groups sort what is written at random: {pair:?}");
    }
}

#[test]
fn collected_group_lies_in_order() {
    let mut lab = Lab::with("learnedftl", json!({"frontiers": "single", "group_tps": 8}));
    lab.random_writes(60_000);
    lab.ftl.check(&lab.flash);
    // Blocks never mix groups: all pages of a block belong to the same 8 * 128 logical pages.
    let geometry = *lab.flash.geometry();
    let mut mixed = 0;
    let mut rising = 0;
    for block in (0..geometry.blocks()).map(Pbn) {
        let pages = (0..geometry.pages_per_block).map(|offset| geometry.page(block, offset));
        let valid = pages.filter(|ppn| lab.flash.is_valid(*ppn) && lab.flash.oob(*ppn).kind == PageKind::Data);
        let lpns: Vec<u32> = valid.map(|ppn| lab.flash.oob(ppn).number).collect();
        mixed += usize::from(lpns.iter().any(|lpn| lpn / 1024 != lpns[0] / 1024));
        rising += usize::from(lpns.len() > 1 && lpns.is_sorted());
    }
    assert_eq!(mixed, 0);
    assert!(rising > 100, "{rising} blocks hold ascending pages");
}
