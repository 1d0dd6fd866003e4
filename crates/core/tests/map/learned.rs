//! Do the models of LearnedFTL predict what can be predicted, and never a wrong place?

use nandlab::flash::{Flash, Media};
use nandlab::ftl::{Batch, Ftl, PageWrite, Shape};
use nandlab::ledger::{Cause, Ledger, Op};
use nandlab::types::Lpn;
use serde_json::{Value, json};

use super::device::{Dice, build, fill, flash, host, shape, start};

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
        let mut lab = Self::empty(name, frontiers);
        fill(&mut *lab.ftl, &mut lab.flash, &lab.shape);
        lab
    }

    fn empty(name: &str, frontiers: &str) -> Self {
        let shape = shape(4, 800, 64, 40_000, 512);
        let flash = flash(&shape, Media::None);
        let ftl = build(name, json!({"cmt_entries": 64, "frontiers": frontiers}), &shape);
        Self { shape, flash, ftl, dice: Dice(7) }
    }

    /// Writes in requests of up to 32 pages.
    fn write(&mut self, lpns: impl Iterator<Item = u32>) {
        let pages: Vec<PageWrite> = lpns.map(|lpn| host(lpn, 1)).collect();
        for request in pages.chunks(32) {
            self.ftl.write(&mut self.flash, Batch { pages: request, bytes: &[] }, start());
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
            assert!(self.ftl.read(&mut self.flash, Lpn(lpn), Cause::Host, start()).ppn.is_some());
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
fn are_sequentially_written_pages_predicted() {
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
fn are_strided_writes_predicted() {
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
fn are_pages_between_those_of_another_write_left_to_the_cache() {
    let mut lab = Lab::new("learnedftl", "single");
    lab.write((0..40_000).step_by(2));
    let share = lab.predicted();
    assert!(share < 0.7, "{share}");
}

#[test]
fn does_a_random_overwrite_clear_its_bit() {
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
fn does_a_prediction_save_the_translation_read_that_tpftl_does() {
    let [plain, learned] = ["tpftl", "learnedftl"].map(|name| {
        let mut lab = Lab::new(name, "die");
        lab.write(0..40_000);
        lab.reads(0, 1)
    });
    assert!(plain.map_misses > 19_000 && plain.map_second_hits == 0);
    assert!(learned.map_misses < plain.map_misses / 20, "{} of {}", learned.map_misses, plain.map_misses);
    assert_eq!(learned.count(Op::Read, Cause::Host), plain.count(Op::Read, Cause::Host));
}
