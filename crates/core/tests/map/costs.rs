//! What the map on flash costs: operations by cause, and time.

use nandlab::flash::{Media, Ticket};
use nandlab::ftl::alloc::Alloc;
use nandlab::ftl::dftl::DftlPreset;
use nandlab::ftl::frame::space::Frontiers;
use nandlab::ftl::{Batch, PageRead, Shape};
use nandlab::ledger::{Cause, Ledger, Op};
use nandlab::types::{Lpn, Nanos};
use serde_json::{Value, json};

use super::device::{build, fill, flash, host, parallel_flash, shape, start};
use crate::kit::Dice;

/// Random reads and writes on a nearly full device.
fn churn(name: &str, params: Value, shape: &Shape, operations: u32) -> Ledger {
    let mut flash = flash(shape, Media::None);
    let mut ftl = build(name, params, shape);
    fill(&mut *ftl, &mut flash, shape);
    let mut dice = Dice(3);
    for _ in 0..operations {
        let lpn = dice.below(shape.logical_pages);
        if dice.below(3) == 0 {
            ftl.read(&mut flash, PageRead::new(Lpn(lpn), Cause::Host), start());
        } else {
            ftl.write(&mut flash, Batch::new(&[host(lpn, 1)], &[]), start());
        }
    }
    ftl.check(&flash);
    flash.check();
    flash.ledger
}

fn programs_and_reads(ledger: &Ledger, cause: Cause) -> (u64, u64) {
    (ledger.count(Op::Program, cause), ledger.count(Op::Read, cause))
}

#[test]
fn every_translation_operation_has_its_cause() {
    let shape = shape(4, 600, 16, 6000, 512);
    let l = churn("dftl", json!({"cmt_entries": 200}), &shape, 60_000);
    assert!(l.gc_runs > 1000);
    assert_eq!(l.count(Op::Read, Cause::MapMiss), l.map_misses);
    for cause in [Cause::MapEvict, Cause::MapUpdate, Cause::MapGc] {
        let (programs, reads) = programs_and_reads(&l, cause);
        assert!(programs == reads && programs > 0, "{cause:?}: {programs} programs, {reads} reads");
    }
    for replicas in 1..=3 {
        let l = churn("rftl", json!({"cmt_entries": 200, "replicas": replicas}), &shape, 60_000);
        for cause in [Cause::MapEvict, Cause::MapUpdate] {
            let (programs, reads) = programs_and_reads(&l, cause);
            assert!(programs == (1 + replicas) * reads && reads > 0, "{cause:?}: {programs} programs, {reads} reads");
        }
        let (programs, reads) = programs_and_reads(&l, Cause::MapGc);
        assert_eq!(programs, reads);
    }
}

#[test]
fn preset_is_what_its_parameters_say() {
    let shape = shape(1, 600, 16, 6000, 512);
    let run = |params: Value| churn("dftl", params, &shape, 30_000);
    let small = |more: Value| {
        let mut params = json!({"cmt_entries": 200, "frontiers": "single"});
        params.as_object_mut().expect("parameters").extend(more.as_object().expect("parameters").clone());
        run(params)
    };
    let paper = small(json!({}));
    let sets = [
        (
            "paper",
            json!({"cmt_order": "segmented", "evict_batch": false, "write_miss_fetch": true, "victim": "greedy",
            "alloc": "fifo", "gc_marks_dirty": true}),
        ),
        (
            "flashsim",
            json!({"cmt_order": "age", "gc_marks_dirty": false, "victim": "greedy_lowest",
            "alloc": "min_erase"}),
        ),
        ("eagletree", json!({"cmt_order": "clock", "evict_batch": true, "write_miss_fetch": false})),
    ];
    for (preset, params) in sets {
        let preset_run = small(json!({"preset": preset}));
        assert_eq!(preset_run, small(params.clone()), "{preset}");
        assert!(preset == "paper" || preset_run != paper, "{preset} changes nothing");
        // What is given wins over the preset, and each deviation alone makes a difference.
        for (key, value) in params.as_object().expect("parameters") {
            let alone = small(json!({key.as_str(): value}));
            // Which free block is taken shows in no count of this device without hot blocks.
            assert!(preset == "paper" || key == "alloc" || alone != paper, "{key} alone changes nothing");
        }
    }
    let flashsim = DftlPreset::Flashsim.ways();
    assert_eq!((flashsim.alloc, flashsim.frontiers), (Alloc::named("min_erase"), Frontiers::Single));
    let all_paper = json!({"preset": "eagletree", "cmt_order": "segmented", "evict_batch": false,
        "write_miss_fetch": true});
    assert_eq!(small(all_paper), paper);
}

#[test]
fn flashsim_undercounts_translation_writes() {
    let shape = shape(1, 600, 16, 6000, 512);
    let writes = |marks: bool| {
        let l =
            churn("dftl", json!({"cmt_entries": 1000, "frontiers": "single", "gc_marks_dirty": marks}), &shape, 60_000);
        l.count(Op::Program, Cause::MapEvict)
    };
    assert!(writes(false) < writes(true));
}

#[test]
fn replication_multiplies_programs_and_leaves_reads_as_they_are() {
    // Large enough that nothing is collected: the same operations on both.
    let shape = shape(4, 16_000, 16, 6000, 512);
    let dftl = churn("dftl", json!({"cmt_entries": 200}), &shape, 40_000);
    for replicas in 0..=3 {
        let rftl = churn("rftl", json!({"cmt_entries": 200, "replicas": replicas}), &shape, 40_000);
        assert_eq!((dftl.gc_runs, rftl.gc_runs), (0, 0));
        assert_eq!(dftl.reads(), rftl.reads());
        let (programs, reads) = programs_and_reads(&dftl, Cause::MapEvict);
        assert_eq!(programs_and_reads(&rftl, Cause::MapEvict), ((1 + replicas) * programs, reads));
        assert_eq!((dftl.map_hits, dftl.map_misses), (rftl.map_hits, rftl.map_misses));
    }
}

#[test]
fn dies_work_at_the_same_time() {
    let time_us = |frontiers| {
        let shape = shape(4, 2000, 64, 6000, 512);
        let mut flash = parallel_flash(&shape);
        let mut ftl = build("dftl", json!({"frontiers": frontiers, "write_miss_fetch": false}), &shape);
        fill(&mut *ftl, &mut flash, &shape);
        let begin = flash.now();
        // Four writes are in flight; every page is written once.
        for i in 0..6000 {
            let now = Ticket::at(flash.now());
            let ticket = ftl.write(&mut flash, Batch::new(&[host(i, 1)], &[]), now);
            flash.clock.watch(ticket, u64::from(i));
            while i >= 3 && flash.clock.take_resolved().is_none() {
                assert!(flash.clock.step());
            }
        }
        flash.clock.drain();
        (flash.now() - begin).as_us()
    };
    let (die, single) = (time_us("die"), time_us("single"));
    assert!(single > 3.0 * die, "one frontier {single} us, one a die {die} us");
}

/// Mean response of reads whose mappings are not in RAM, microseconds, while writes to mapped hot pages and the erases
/// that they cause occupy the channels.
fn read_us(replicas: u32) -> f64 {
    let shape = shape(4, 600, 16, 6000, 512);
    let mut flash = parallel_flash(&shape);
    let mut ftl = build("rftl", json!({"cmt_entries": 200, "replicas": replicas}), &shape);
    fill(&mut *ftl, &mut flash, &shape);
    let (mut dice, begin, mut arrivals) = (Dice(3), flash.now(), Vec::new());
    for i in 0..20_000 {
        let now = begin + Nanos::from_us(100 * i);
        flash.clock.advance(now);
        if dice.below(2) == 0 {
            let page = host(dice.below(40), 1);
            ftl.write(&mut flash, Batch::new(&[page], &[]), Ticket::at(now));
        } else {
            let lpn = Lpn(40 + dice.below(shape.logical_pages - 40));
            let found = ftl.read(&mut flash, PageRead::new(lpn, Cause::Host), Ticket::at(now));
            flash.clock.watch(found.ticket, arrivals.len() as u64);
            arrivals.push(now);
        }
    }
    flash.clock.drain();
    let mut waited = 0.0;
    while let Some((read, at)) = flash.clock.take_resolved() {
        waited += (at - arrivals[read as usize]).as_us();
    }
    waited / arrivals.len() as f64
}

#[test]
fn replica_shortens_translation_reads_behind_busy_channels() {
    let (none, one, three) = (read_us(0), read_us(1), read_us(3));
    assert!(one < 0.85 * none && three < one, "mean read {none} us, with 1 replica {one} us, with 3 {three} us");
}
