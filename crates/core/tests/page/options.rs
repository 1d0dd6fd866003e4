//! Do the options of the page-mapped FTL do what they promise?

use nandlab::ledger::{Cause, Op};
use nandlab::types::{HostOp, HostRequest, Nanos, Pbn};
use rand_pcg::Pcg64Mcg;
use serde_json::json;

use super::device::{Device, hot_cold};
use crate::kit::below;

#[test]
fn slice_never_copies_more_than_it_may() {
    let logical = 12_800;
    let params = json!({"frontiers": "single", "gc_frontier": "separate", "gc_slice": 4});
    let mut device = Device::new(&params, 64, 262, logical);
    let mut rng = Pcg64Mcg::new(3);
    let (mut most, mut all) = (0, 0);
    for _ in 0..10 * logical {
        let before = device.flash.ledger.count(Op::Program, Cause::Gc);
        device.write(below(&mut rng, logical));
        let copies = device.flash.ledger.count(Op::Program, Cause::Gc) - before;
        most = most.max(copies);
        all += copies;
    }
    assert!(all > 10 * u64::from(logical), "{all} copies: collection was hardly needed");
    assert_eq!(most, 4, "copies before one page of the host");
    // Without slices a whole victim is copied before one page.
    let params = json!({"frontiers": "single", "gc_frontier": "separate"});
    let mut device = Device::new(&params, 64, 262, logical);
    let burst = (0..10 * logical).map(|_| {
        let before = device.flash.ledger.count(Op::Program, Cause::Gc);
        device.write(below(&mut rng, logical));
        device.flash.ledger.count(Op::Program, Cause::Gc) - before
    });
    assert!(burst.max() > Some(30));
}

/// In the steady state a block of the host takes several victims: they too are spread over its pages.
#[test]
fn paced_collection_leaves_nothing_for_the_page_that_needs_a_block() {
    let logical = 14_600;
    let params = json!({"frontiers": "single", "gc_frontier": "separate", "gc_slice": "paced", "reserve": 2});
    let mut device = Device::new(&params, 64, 262, logical);
    let mut rng = Pcg64Mcg::new(3);
    let mut copies = Vec::new();
    for written in 0..10 * logical {
        let before = device.flash.ledger.count(Op::Program, Cause::Gc);
        device.write(below(&mut rng, logical));
        if written > 2 * logical {
            copies.push(device.flash.ledger.count(Op::Program, Cause::Gc) - before);
        }
    }
    let mean = copies.iter().sum::<u64>() as f64 / copies.len() as f64;
    copies.sort_unstable();
    let [p99, most] = [copies[copies.len() * 99 / 100], copies[copies.len() - 1]];
    println!("{mean:.2} copies a page, 99 %: {p99}, most: {most}");
    assert!(mean > 3.0, "{mean} copies a page: one victim a block would do");
    assert!(p99 as f64 <= 3.0 * mean && most <= 64, "{mean} copies a page, 99 %: {p99}, most: {most}");
}

/// A tenth of the pages takes all writes: without static levelling the blocks of the others are never erased.
#[test]
fn static_levelling_bounds_the_spread_of_erases() {
    let logical = 6_400;
    let spread = |wear: serde_json::Value, alloc: &str| {
        let params = json!({"frontiers": "single", "gc_frontier": "separate", "wear_threshold": wear, "alloc": alloc});
        let mut device = Device::new(&params, 64, 128, logical);
        let amplification = device.amplification(30, 30, hot_cold(logical, 1.0, 0.1));
        let erases: Vec<u32> = (0..128).map(|pbn| device.flash.erase_count(Pbn(pbn))).collect();
        let (least, most) = (erases.iter().min().copied(), erases.iter().max().copied());
        let moved = device.flash.ledger.count(Op::Program, Cause::Wear);
        assert_eq!(moved, device.flash.ledger.count(Op::Read, Cause::Wear));
        (most.unwrap_or(0) - least.unwrap_or(0), moved, amplification)
    };
    for alloc in ["fifo", "min_erase"] {
        let (without, none, cheap) = spread(json!(null), alloc);
        let (with, moved, dear) = spread(json!(10), alloc);
        println!(
            "{alloc}: spread {without} without, {with} with threshold 10; {moved} pages moved; {cheap:.3} {dear:.3}"
        );
        assert!(without > 60 && none == 0, "{alloc}: nothing to level: {without}, {none} pages moved");
        assert!(with <= 12, "{alloc}: spread {with} with a threshold of 10");
        assert!(moved > 1_000 && dear < 1.5 * cheap, "{alloc}: {moved} pages moved, amplification {cheap} to {dear}");
    }
}

/// Two dies of 48 blocks of 32 pages, a quarter of which is spare.
const GEOMETRY: &str = "device.geometry={channels=2, chips_per_channel=1, dies_per_chip=1, planes_per_die=1, \
                        blocks_per_plane=48, pages_per_block=32, page_bytes=4096}";
const SPARE: &str = "device.over_provisioning={spare_over_physical=0.25}";

/// Bursts of 40 random writes with 60 ms between them, or none.
fn bursts(idle_free: u32, gap: Nanos, model: &str) -> Box<dyn nandlab::engine::Ssd> {
    let settings = [
        GEOMETRY.to_owned(),
        SPARE.to_owned(),
        "device.timing={page_read=\"50us\", page_program=\"500us\", block_erase=\"2ms\", page_transfer=\"10us\", \
         command=\"0ns\"}"
            .to_owned(),
        format!("device.timing.model={model}"),
        "buffer.name=none".to_owned(),
        "precondition={steady=3.0}".to_owned(),
        "replay.mode=open".to_owned(),
        "replay.queue_depth=64".to_owned(),
        format!("ftl.idle_free={idle_free}"),
    ];
    let mut device = crate::kit::lab(settings).build().unwrap_or_else(|e| panic!("{e}"));
    let mut rng = Pcg64Mcg::new(5);
    let (mut at, pages) = (device.flash().now(), device.logical_pages());
    for number in 0..6_000 {
        if number % 40 == 0 {
            at += gap;
        }
        let page = u64::from(below(&mut rng, pages));
        device.submit(&HostRequest::new(at, HostOp::Write, page * 8, 8), nandlab::engine::Payload::None).unwrap();
    }
    device.drain();
    device.test_port().check();
    device
}

#[test]
fn any_number_of_draws_ends_and_finds_what_greedy_finds() {
    let runs = |victim: &str| {
        let settings =
            [GEOMETRY, SPARE, "buffer.name=none", "precondition={steady=3.0}", &format!("ftl.victim={victim}")];
        let mut device = crate::kit::lab(settings.map(str::to_owned)).build().unwrap_or_else(|e| panic!("{e}"));
        let (mut rng, pages) = (Pcg64Mcg::new(5), device.logical_pages());
        for _ in 0..3_000 {
            let page = u64::from(below(&mut rng, pages));
            let now = device.flash().now();
            device.submit(&HostRequest::new(now, HostOp::Write, page * 8, 8), nandlab::engine::Payload::None).unwrap();
        }
        device.drain();
        device.ledger().gc_runs as f64
    };
    let (greedy, few, all) = (runs("greedy"), runs("{d_choices=2}"), runs("{d_choices=4294967295}"));
    // Blocks with equally few valid pages are taken in another order.
    assert!((all / greedy - 1.0).abs() < 0.05 && few > greedy * 1.2, "{greedy} {few} {all}");
}

#[test]
fn collection_in_idle_time_spares_the_host_its_wait() {
    for model in ["parallel", "serial"] {
        let gap = Nanos::from_us(400_000);
        let (without, with) = (bursts(0, gap, model), bursts(3, gap, model));
        let worst = |d: &dyn nandlab::engine::Ssd| d.times().response().percentile(99.0);
        println!("{model}: 99 % of responses {:?} without, {:?} with", worst(&*without), worst(&*with));
        assert!(worst(&*with).0 * 10 < worst(&*without).0 * 9, "{model}: the host still waits");
        assert!(with.ledger().gc_runs > 100 && without.ledger().gc_runs > 100);
        // The last burst needs no collection while it runs: its blocks were free before.
        assert_eq!(with.times().last_completion.0 / 1_000_000_000, without.times().last_completion.0 / 1_000_000_000);
    }
}

#[test]
fn device_without_idle_time_collects_as_if_the_option_were_off() {
    for model in ["parallel", "serial"] {
        let (off, on) = (bursts(0, Nanos::ZERO, model), bursts(3, Nanos::ZERO, model));
        // Preconditioning ends in an idle device: the first request may find its blocks free.
        let (off, on) = (off.ledger(), on.ledger());
        assert_eq!(off.count(Op::Program, Cause::Host), on.count(Op::Program, Cause::Host));
        assert_eq!(off, on, "{model}");
    }
}

#[test]
fn options_that_cannot_work_are_refused_with_help() {
    let build = |settings: &[&str]| {
        let built = crate::kit::try_lab(settings).and_then(|config| config.build());
        built.err().map(|error| error.to_string()).unwrap_or_default()
    };
    for (settings, words) in [
        (&["ftl.gc_slice=2"] as &[&str], ["ftl.gc_slice", "separate"]),
        (&["ftl.gc_lag=2"], ["ftl.gc_lag", "paced"]),
        (&["ftl.gc_frontier=separate", "ftl.gc_slice=0"], ["ftl.gc_slice", "1 or more"]),
        (&["ftl.gc_frontier=separate", "ftl.gc_slice=1.5"], ["ftl.gc_slice", "whole pages"]),
        (&["device.scheduler.policy=read_first"], ["device.scheduler", "scheduled"]),
        (
            &["device.timing.model=scheduled", "device.scheduler.most_wait=5ms"],
            ["device.scheduler.most_wait", "overtaken"],
        ),
        (
            &["device.timing.model=scheduled", "device.scheduler.suspend=erase"],
            ["device.scheduler.suspend", "read_first"],
        ),
        (
            &["device.timing.model=scheduled", "device.scheduler.resume_time=5us"],
            ["device.scheduler.resume_time", "suspended"],
        ),
        (
            &[
                "device.timing.model=scheduled",
                "device.scheduler={policy=\"read_first\", suspend=\"erase\", most_wait=\"0ns\"}",
            ],
            ["device.scheduler.most_wait", "more than 0"],
        ),
        (
            &["device.timing.model=scheduled", "device.timing.command=0ns", "device.scheduler.channel=commands_first"],
            ["device.scheduler.channel", "device.timing.command"],
        ),
        (&["ftl.streams=0"], ["ftl.streams", "1 to 7"]),
        (&["ftl.streams=8"], ["ftl.streams", "1 to 7"]),
        (&["ftl.reserve=0"], ["ftl.reserve", "1 or more"]),
        (&["ftl.wear_threshold=0"], ["ftl.wear_threshold", "MQSim"]),
        (&["ftl.stripe=cdd"], ["ftl.stripe", "cwd"]),
        (&["ftl.victim={d_choices=0}"], ["ftl.victim", "1 or more"]),
        (&["device.reliability.read_limit=0"], ["read_limit", "1 or more"]),
        (&["device.reliability.read_limit=9", "ftl.name=bast"], ["read_limit", "page"]),
        (&["device.reliability.wear_out=true", "device.endurance.pe_cycles=0"], ["device.endurance.pe_cycles", "1 to"]),
        (&["device.reliability.map_page_loss=0.1"], ["map_page_loss", "rftl"]),
        (&["device.reliability.map_page_loss=2", "ftl.name=dftl"], ["map_page_loss", "0 to 0.5"]),
        (&["device.reliability.factory_bad=0.1"], ["factory_bad", "wear_out"]),
        (&["device.reliability={wear_out=true, endurance_spread=1.0}"], ["endurance_spread", "0 to 0.9"]),
        (&["device.reliability={wear_out=true, factory_bad=0.1}"], ["factory_bad", "spare_blocks_per_die"]),
    ] {
        let error = build(settings);
        assert!(words.iter().all(|word| error.contains(word)), "{settings:?}: {error}");
    }
}

#[test]
fn idle_collection_ends_before_the_time_it_was_given() {
    // All 32 pages of a victim copied one after the other, and the erase: 32 * (60 + 510) + 2000 us.
    let longest = Nanos::from_us(32 * 570 + 2_000);
    let logical = 2_400;
    let params = json!({"frontiers": "single", "idle_free": 4});
    for (given, collects) in
        [(longest - Nanos(1), false), (longest, true), (longest * 2 - Nanos(1), true), (longest * 3, true)]
    {
        let mut device = Device::new(&params, 32, 100, logical);
        let mut rng = Pcg64Mcg::new(4);
        (0..3 * logical).for_each(|_| device.write(below(&mut rng, logical)));
        device.flash.clock.drain();
        let (begin, runs) = (device.flash.now(), device.flash.ledger.gc_runs);
        device.ftl.idle(&mut device.flash, begin + given);
        device.flash.clock.drain();
        assert_eq!(device.flash.ledger.gc_runs > runs, collects, "{given}");
        assert!(device.flash.now() <= begin + given, "{} of {given}", device.flash.now() - begin);
    }
}
