//! Do the options that demand-mapped FTLs share with `page` do what they are for?

use nandlab::config::{Builder, PluginConfig};
use nandlab::flash::clock::{Call, Operation};
use nandlab::flash::{Flash, Geometry, Media, PageKind, ReliabilityConfig};
use nandlab::ftl::{Batch, Ftl, PageRead, Shape};
use nandlab::ledger::{Cause, Op};
use nandlab::types::{Lpn, Nanos, Pbn, Ppn};
use serde_json::{Value, json};

use super::device::{build, fill, flash, host, refusal, shape, start};
use crate::kit::Dice;

const FTLS: [&str; 5] = ["dftl", "rftl", "tpftl", "sftl", "cdftl"];

fn device(name: &str, params: Value) -> (Shape, Flash, Box<dyn Ftl>) {
    let shape = shape(2, 400, 16, 5000, 512);
    let mut flash = flash(&shape, Media::None);
    let mut ftl = build(name, params, &shape);
    fill(&mut *ftl, &mut flash, &shape);
    (shape, flash, ftl)
}

/// Nine of ten writes go to a tenth of the pages.
fn write_hot_and_cold(ftl: &mut dyn Ftl, flash: &mut Flash, shape: &Shape, writes: u32) {
    let mut dice = Dice(3);
    for _ in 0..writes {
        let hot = dice.below(10) > 0;
        let lpn = if hot { dice.below(shape.logical_pages / 10) } else { dice.below(shape.logical_pages) };
        ftl.write(flash, Batch::new(&[host(lpn, 1)], &[]), start());
    }
    ftl.check(flash);
    flash.check();
}

#[test]
fn wear_levelling_does_not_take_what_collection_gains() {
    // A cold block that moves rewrites half a block of translation pages.
    let small = ["geometry.channels=1", "geometry.chips_per_channel=1", "geometry.blocks_per_plane=200"];
    let small = small.into_iter().chain(["geometry.pages_per_block=8", "geometry.page_bytes=512"]);
    let small: Vec<String> = small.map(|setting| format!("device.{setting}")).collect();
    for (name, threshold) in [("dftl", 1), ("dftl", 2), ("tpftl", 1), ("learnedftl", 1)] {
        let mut builder = Builder::preset("lab").unwrap().plugin("ftl", &PluginConfig::named(name));
        let more =
            ["device.over_provisioning={ spare_over_physical = 0.1 }", "ftl.entries_per_tp=16", "ftl.cmt_entries=1"];
        let more = more.map(str::to_owned).into_iter().chain([format!("ftl.wear_threshold={threshold}")]);
        for setting in small.iter().cloned().chain(more).chain(["precondition={ steady = 4.0 }".to_owned()]) {
            builder = builder.set(&setting).unwrap();
        }
        let device = builder.finish().and_then(|config| config.build()).unwrap();
        assert!(device.ftl().free_blocks() > 0, "{name}, {threshold}");
    }
}

#[test]
fn translation_pages_that_levelling_moves_are_wear_and_not_collection() {
    let mut levelled = 0;
    for name in FTLS.into_iter().filter(|name| *name != "sftl") {
        let params = json!({"wear_threshold": 1, "cmt_entries": 64, "entries_per_tp": 16});
        let (shape, mut flash, mut ftl) = device(name, params);
        flash.clock.record();
        let (mut dice, before, mut programmed) = (Dice(3), flash.ledger, 0);
        let mut calls = 0;
        for _ in 0..9_000 {
            let lpn = dice.below(shape.logical_pages / 10) * (1 + 9 * u32::from(dice.one_in(10)));
            ftl.write(&mut flash, Batch::new(&[host(lpn, 1)], &[]), start());
            // What was programmed for it and is a translation page, whatever the reason.
            for recorded in &flash.clock.recorded()[calls..] {
                let Call::Operation(Operation { op: Op::Program, target, .. }) = recorded.call else { continue };
                programmed += u64::from(flash.oob(target.page).kind == PageKind::Map);
            }
            calls = flash.clock.recorded().len();
        }
        let work = flash.ledger - before;
        let erased = |causes: &[Cause]| causes.iter().map(|cause| work.count(Op::Erase, *cause)).sum::<u64>();
        assert_eq!(erased(&[Cause::Gc, Cause::MapGc]), work.gc_runs, "{name}: each run erases one block");
        let causes = [Cause::MapMiss, Cause::MapEvict, Cause::MapUpdate, Cause::MapGc];
        let of_causes: u64 = causes.iter().map(|cause| work.count(Op::Program, *cause)).sum();
        assert_eq!(of_causes + work.map_move_programs, programmed, "{name}: programs of translation pages");
        assert_eq!(work.map_move_reads, work.map_move_programs, "{name}");
        assert_eq!(work.map_move_ns, work.map_move_programs * (35_000 + 210_000), "{name}");
        levelled += work.map_move_programs;
    }
    assert!(levelled > 100, "{levelled} translation pages were moved");
}

#[test]
fn policy_that_takes_full_blocks_is_overruled_before_collection_runs_away() {
    for (victim, pace) in [("random", "paced"), ("random", "early"), ("fifo", "paced"), ("fifo", "whole")] {
        let params = json!({"victim": victim, "gc_slice": pace, "gc_frontier": "separate", "cmt_entries": 64});
        let (shape, mut flash, mut ftl) = device("dftl", params);
        let mut dice = Dice(3);
        let mut most = 0;
        for _ in 0..10_000 {
            let before = flash.ledger.programs();
            ftl.write(&mut flash, Batch::new(&[host(dice.below(shape.logical_pages), 1)], &[]), start());
            most = most.max(flash.ledger.programs() - before);
        }
        // 16 victims of 16 pages that rewrite a translation page each, and what is taken after them.
        assert!(most < 3_000, "{victim}, {pace}: a page of the host has {most} pages programmed");
    }
}

#[test]
fn streams_keep_copies_of_cold_pages_down() {
    for name in FTLS {
        let [mixed, apart] = [1, 2].map(|streams| {
            let (shape, mut flash, mut ftl) = device(name, json!({"streams": streams}));
            write_hot_and_cold(&mut *ftl, &mut flash, &shape, 60_000);
            flash.ledger.count(Op::Program, Cause::Gc)
        });
        println!("{name}: {mixed} copies, {apart} with two streams");
        assert!(apart < mixed * 9 / 10, "{name}: {apart} copies of {mixed}");
    }
}

#[test]
fn static_wear_levelling_bounds_the_spread() {
    for name in FTLS {
        let [loose, level] = [Value::Null, json!(8)].map(|threshold| {
            let (shape, mut flash, mut ftl) = device(name, json!({"wear_threshold": threshold}));
            write_hot_and_cold(&mut *ftl, &mut flash, &shape, 150_000);
            let counts = (0..shape.geometry.blocks()).map(|pbn| flash.erase_count(Pbn(pbn)));
            let moved = flash.ledger.count(Op::Erase, Cause::Wear);
            (counts.clone().max().unwrap() - counts.min().unwrap(), moved)
        });
        println!("{name}: spread of erases {} without, {} with {} moves", loose.0, level.0, level.1);
        assert!(loose.1 == 0 && level.1 > 10, "{name}: {level:?}");
        assert!(level.0 < loose.0 / 2, "{name}: {level:?} for {loose:?}");
    }
}

#[test]
fn idle_time_leaves_free_blocks() {
    for name in FTLS {
        let (shape, mut flash, mut ftl) = device(name, json!({"idle_free": 6}));
        assert!(ftl.works_in_idle_time());
        write_hot_and_cold(&mut *ftl, &mut flash, &shape, 20_000);
        let (before, runs) = (ftl.free_blocks(), flash.ledger.gc_runs);
        let now = flash.now();
        ftl.idle(&mut flash, now + Nanos::from_us(10));
        assert_eq!(flash.ledger.gc_runs, runs, "{name}: no collection ends in 10 us");
        ftl.idle(&mut flash, now + Nanos::from_us(1 << 40));
        ftl.check(&flash);
        flash.check();
        println!("{name}: {before} free blocks, {} after idle time", ftl.free_blocks());
        assert!(ftl.free_blocks() >= 2 * (3 + 6), "{name}: two channels with 3 in reserve and 6 more");
        let busy = flash.ledger.gc_runs;
        ftl.write(&mut flash, Batch::new(&[host(1, 1)], &[]), start());
        assert_eq!(flash.ledger.gc_runs, busy, "{name}: the host does not wait");
    }
}

/// Copies of collection before each of many random writes, most first.
fn bursts(name: &str, params: Value) -> Vec<u64> {
    let (shape, mut flash, mut ftl) = device(name, params);
    let mut dice = Dice(5);
    let mut write = |flash: &mut Flash| {
        let before = flash.ledger.count(Op::Program, Cause::Gc);
        ftl.write(flash, Batch::new(&[host(dice.below(shape.logical_pages), 1)], &[]), start());
        flash.ledger.count(Op::Program, Cause::Gc) - before
    };
    (0..10_000).for_each(|_| _ = write(&mut flash));
    let mut bursts: Vec<u64> = (0..20_000).map(|_| write(&mut flash)).collect();
    ftl.check(&flash);
    flash.check();
    bursts.sort_unstable_by(|a, b| b.cmp(a));
    bursts
}

#[test]
fn slices_bound_the_copies_before_a_write() {
    for name in FTLS {
        let whole = bursts(name, json!({"gc_frontier": "separate"}));
        let sliced = bursts(name, json!({"gc_frontier": "separate", "gc_slice": 4}));
        let [all_whole, all_sliced] = [&whole, &sliced].map(|bursts| bursts.iter().sum::<u64>());
        let over = sliced.iter().filter(|copies| **copies > 4).count();
        println!("{name}: {all_whole} copies, up to {}; sliced {all_sliced}, {over} times over 4", whole[0]);
        assert!(whole[100] >= 8 && all_sliced > 10_000, "{name}: collection was hardly needed");
        // The blocks ahead of the reserve are for the translation pages that a slice rewrites.
        assert!(over < 40, "{name}: {over} of 20000 writes waited for more than a slice");
        assert!(all_sliced < all_whole * 5 / 4, "{name}: {all_sliced} copies for {all_whole}");
    }
}

/// Valid translation pages on each die of a device of two channels with four dies each, after many random writes.
fn map_pages_by_die(name: &str, gc_slice: &str) -> Vec<u32> {
    let shape = shape(2, 400, 16, 5000, 512);
    let geometry = Geometry { chips_per_channel: 4, blocks_per_plane: 50, ..shape.geometry };
    let shape = Shape { geometry, ..shape };
    let mut flash = flash(&shape, Media::None);
    let mut ftl = build(name, json!({"gc_frontier": "separate", "gc_slice": gc_slice}), &shape);
    fill(&mut *ftl, &mut flash, &shape);
    let mut dice = Dice(6);
    for write in 0..20_000 {
        ftl.write(&mut flash, Batch::new(&[host(dice.below(shape.logical_pages), 1)], &[]), start());
        if write % 100 == 0 {
            ftl.check(&flash);
        }
    }
    let mut by_die = vec![0; geometry.dies() as usize];
    for ppn in (0..geometry.pages() as u32).map(Ppn).filter(|ppn| flash.is_valid(*ppn)) {
        let is_map = flash.oob(ppn).kind == PageKind::Map;
        by_die[(geometry.pbn(ppn).0 % geometry.dies()) as usize] += u32::from(is_map);
    }
    by_die
}

#[test]
fn translation_pages_lie_on_all_dies_with_slices() {
    for name in FTLS {
        let [whole, paced] = ["whole", "paced"].map(|pace| map_pages_by_die(name, pace));
        println!("{name}: translation pages by die {whole:?}, in slices {paced:?}");
        let [in_whole, all] = [&whole, &paced].map(|dies| dies.iter().sum::<u32>());
        assert_eq!(all, in_whole, "{name}: as many translation pages");
        let share = all / paced.len() as u32;
        assert!(paced.iter().all(|pages| (share / 2..=2 * share).contains(pages)), "{name}: {paced:?}");
    }
}

/// Blocks that hold pages written by the host and copies, and those that hold either, after many random writes.
fn mixed_and_pure(name: &str, gc_frontier: &str) -> (usize, usize) {
    let (shape, mut flash, mut ftl) = device(name, json!({"gc_frontier": gc_frontier}));
    let mut dice = Dice(9);
    // By block: its erases when the host last wrote to it, and the pages that it wrote since then.
    let mut written = vec![(0, 0); shape.geometry.blocks() as usize];
    for _ in 0..30_000 {
        let lpn = dice.below(shape.logical_pages);
        ftl.write(&mut flash, Batch::new(&[host(lpn, 1)], &[]), start());
        let pbn = shape.geometry.pbn(ftl.locate(&flash, Lpn(lpn)));
        let (erases, pages) = &mut written[pbn.index()];
        if *erases != flash.erase_count(pbn) {
            (*erases, *pages) = (flash.erase_count(pbn), 0);
        }
        *pages += 1;
    }
    let of_host = |pbn: &Pbn| written[pbn.index()].0 == flash.erase_count(*pbn) && written[pbn.index()].0 > 0;
    let blocks: Vec<Pbn> = (0..shape.geometry.blocks()).map(Pbn).filter(of_host).collect();
    let pure = blocks.iter().filter(|pbn| flash.next_page(**pbn) == written[pbn.index()].1).count();
    (blocks.len() - pure, pure)
}

#[test]
fn separate_frontier_keeps_copies_apart() {
    for name in FTLS {
        let (shared, separate) = (mixed_and_pure(name, "shared"), mixed_and_pure(name, "separate"));
        println!("{name}: {shared:?} mixed and pure blocks of the host with a shared frontier, {separate:?} with two");
        assert!(shared.0 > 50, "{name}: nothing is mixed with a shared frontier: {shared:?}");
        assert!(separate.0 == 0 && separate.1 > 50, "{name}: {separate:?}");
    }
}

#[test]
fn disturbed_blocks_are_relocated() {
    for name in FTLS {
        for params in [json!({}), json!({"gc_frontier": "separate", "gc_slice": 2, "streams": 2, "wear_threshold": 3})]
        {
            let (shape, mut flash, mut ftl) = device(name, params.clone());
            assert!(ftl.relocates_disturbed());
            let config = ReliabilityConfig { read_limit: Some(100), ..ReliabilityConfig::default() };
            flash.set_reliability(config, 1000, 1, true).unwrap();
            for round in 0..5_000 {
                let found = ftl.read(&mut flash, PageRead::new(Lpn(7), Cause::Host), start());
                assert!(flash.is_valid(found.ppn), "the page was moved, and the answer tells where it is now");
                if round % 2 == 0 {
                    let lpn = 100 + 7 * (round / 2) % (shape.logical_pages - 100);
                    ftl.write(&mut flash, Batch::new(&[host(lpn, 1)], &[]), start());
                }
                if round % 50 == 0 {
                    ftl.check(&flash);
                    flash.check();
                }
            }
            let moves = flash.ledger.count(Op::Erase, Cause::Refresh);
            println!("{name} {params}: {moves} relocations");
            assert!((8..=100).contains(&moves), "{name} {params}: {moves} relocations of 5000 reads of one page");
        }
    }
}

#[test]
fn options_that_exclude_each_other_are_refused() {
    let shape = shape(1, 400, 16, 2000, 512);
    for (params, word) in [
        (json!({"group_tps": 2, "streams": 2}), "ftl.streams"),
        (json!({"group_tps": 2, "wear_threshold": 2}), "ftl.wear_threshold"),
        (json!({"group_tps": 2, "idle_free": 2}), "ftl.idle_free"),
        (json!({"group_tps": 2, "gc_frontier": "separate"}), "ftl.gc_frontier"),
        (json!({"gc_slice": 2}), "ftl.gc_slice"),
        (json!({"group_tps": 0}), "ftl.group_tps"),
        (json!({"streams": 0}), "ftl.streams"),
        (json!({"streams": 8}), "ftl.streams"),
        (json!({"wear_threshold": 0}), "ftl.wear_threshold"),
    ] {
        let error = refusal("learnedftl", params.clone(), &shape);
        assert!(error.contains(word), "{params}: {error}");
    }
}
