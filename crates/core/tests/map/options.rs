//! Do the options that demand-mapped FTLs share with `page` do what they are for?

use nandlab::flash::{Flash, Media};
use nandlab::ftl::{Batch, Ftl, Shape};
use nandlab::ledger::{Cause, Op};
use nandlab::types::{Nanos, Pbn};
use serde_json::{Value, json};

use super::device::{Dice, build, fill, flash, host, refusal, shape, start};

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
fn do_streams_keep_copies_of_cold_pages_down() {
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
fn does_static_wear_levelling_bound_the_spread() {
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
fn does_idle_time_leave_free_blocks() {
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

#[test]
fn are_options_that_exclude_each_other_refused() {
    let shape = shape(1, 400, 16, 2000, 512);
    for (params, word) in [
        (json!({"group_tps": 2, "streams": 2}), "ftl.streams"),
        (json!({"group_tps": 2, "wear_threshold": 2}), "ftl.wear_threshold"),
        (json!({"group_tps": 2, "idle_free": 2}), "ftl.idle_free"),
        (json!({"group_tps": 0}), "ftl.group_tps"),
        (json!({"streams": 0}), "ftl.streams"),
        (json!({"streams": 8}), "ftl.streams"),
        (json!({"wear_threshold": 0}), "ftl.wear_threshold"),
    ] {
        let error = refusal("learnedftl", params.clone(), &shape);
        assert!(error.contains(word), "{params}: {error}");
    }
}
