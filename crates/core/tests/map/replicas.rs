//! What are replicas of translation pages worth when channels fail?

use std::collections::BTreeSet;

use nandlab::flash::{Flash, Media, PageKind, ReliabilityConfig};
use nandlab::ftl::rftl::placement;
use nandlab::ftl::{Batch, PageRead};
use nandlab::ledger::{Cause, Ledger, Op};
use nandlab::types::{Lpn, Ppn};
use serde_json::{Value, json};

use super::device::{build, fill, flash, host, shape, start};
use crate::kit::Dice;

const CHANNELS: u32 = 4;

/// The translation pages of a device that was written at random, by channel of every current copy.
fn copies(name: &str, params: Value) -> Vec<(u32, u32)> {
    let shape = shape(CHANNELS, 600, 16, 6000, 512);
    let mut flash: Flash = flash(&shape, Media::None);
    let mut ftl = build(name, params, &shape);
    fill(&mut *ftl, &mut flash, &shape);
    let mut dice = Dice(5);
    for _ in 0..20_000 {
        let page = host(dice.below(shape.logical_pages), 1);
        ftl.write(&mut flash, Batch::new(&[page], &[]), start());
    }
    ftl.trim(&mut flash, Lpn(0), start());
    assert!(flash.ledger.gc_runs > 500, "copies were rewritten and moved");
    let geometry = *flash.geometry();
    let valid = (0..geometry.pages() as u32).map(Ppn).filter(|ppn| flash.is_valid(*ppn));
    let map = valid.filter(|ppn| flash.oob(*ppn).kind == PageKind::Map);
    map.map(|ppn| (flash.oob(ppn).number, geometry.channel_of_die(geometry.die(geometry.pbn(ppn))))).collect()
}

/// Translation pages without a copy outside the failed channels.
fn lost(copies: &[(u32, u32)], failed: &BTreeSet<u32>) -> usize {
    let all: BTreeSet<u32> = copies.iter().map(|(tp, _)| *tp).collect();
    let left = copies.iter().filter(|(_, channel)| !failed.contains(channel));
    all.len() - left.map(|(tp, _)| *tp).collect::<BTreeSet<u32>>().len()
}

#[test]
fn every_translation_page_survives_as_many_failed_channels_as_it_has_replicas() {
    for replicas in 0..CHANNELS {
        let params = json!({"cmt_entries": 200, "replicas": replicas});
        let copies = copies("rftl", params);
        assert_eq!(copies.len() as u32, 6000_u32.div_ceil(128) * (1 + replicas));
        for set in 0..1_u32 << CHANNELS {
            let failed: BTreeSet<u32> = (0..CHANNELS).filter(|channel| set >> channel & 1 == 1).collect();
            // Lost are the pages whose consecutive channels all failed.
            let mut first = 0..CHANNELS;
            let dead = first.any(|tp| placement(tp, replicas, CHANNELS).all(|channel| failed.contains(&channel)));
            assert_eq!(lost(&copies, &failed) > 0, dead, "{replicas} replicas, {failed:?} failed");
            assert!(!dead || failed.len() as u32 > replicas);
        }
    }
    let dftl = copies("dftl", json!({"cmt_entries": 200}));
    for channel in 0..CHANNELS {
        let share = lost(&dftl, &BTreeSet::from([channel]));
        assert!((11..=12).contains(&share), "a quarter of 47 translation pages of dftl, not {share}");
    }
}

/// Reads of pages until some of the translation pages that were programmed turned out to be unreadable.
fn read_with_losses(name: &str, params: Value) -> Ledger {
    let shape = shape(CHANNELS, 600, 16, 6000, 512);
    let mut flash: Flash = flash(&shape, Media::None);
    let mut ftl = build(name, params, &shape);
    let config = ReliabilityConfig { map_page_loss: 0.05, ..ReliabilityConfig::default() };
    flash.set_reliability(config, 1000, 9, false).expect("in range");
    fill(&mut *ftl, &mut flash, &shape);
    let mut dice = Dice(5);
    for number in 0..40_000 {
        let lpn = dice.below(shape.logical_pages);
        if number % 2 == 0 {
            ftl.write(&mut flash, Batch::new(&[host(lpn, 1)], &[]), start());
        } else {
            assert!(ftl.read(&mut flash, PageRead::new(Lpn(lpn), Cause::Host), start()).ppn.is_some());
        }
    }
    ftl.check(&flash);
    assert!(flash.ledger.count(Op::Program, Cause::MapGc) > 1000, "translation pages are moved too");
    flash.ledger
}

#[test]
fn replicas_tell_the_mappings_of_unreadable_translation_pages() {
    let losses: Vec<(u64, u64, u64)> = (0..4)
        .map(|replicas| {
            let ledger = read_with_losses("rftl", json!({"cmt_entries": 200, "replicas": replicas}));
            let causes = [Cause::MapMiss, Cause::MapEvict, Cause::MapUpdate];
            let reads = causes.iter().map(|cause| ledger.count(Op::Read, *cause)).sum::<u64>();
            (reads, ledger.map_unreadable, ledger.map_lost)
        })
        .collect();
    println!("reads, unreadable copies, lost: {losses:?}");
    // Every copy is lost with probability 0.05, whatever became of the others; a lost page is read until it is rewritten.
    for (replicas, (reads, unreadable, lost)) in (0..).zip(&losses) {
        let (first, all) = (*unreadable as f64 / *reads as f64, *lost as f64 / *reads as f64);
        assert!((0.03..0.07).contains(&first), "{replicas} replicas: {first} of the reads met an unreadable copy");
        let expected = 0.05_f64.powi(replicas + 1);
        assert!(all < 2.0 * expected + 1e-4, "{replicas} replicas: {all} of the reads were lost, {expected} expected");
    }
    assert_eq!(losses[0].1, losses[0].2, "without replicas every unreadable page is lost");
    assert!(losses[0].2 > 500 && losses[1].2 < losses[0].2 / 5 && losses[3].2 == 0);
    let dftl = read_with_losses("dftl", json!({"cmt_entries": 200}));
    assert!(dftl.map_lost > 500 && dftl.map_lost == dftl.map_unreadable);
}
