//! A die that is always idle gets every page that it may hold, and can still make room for one more.

use nandlab::flash::{Flash, Ticket};
use nandlab::ftl::{Batch, Ftl, Shape};
use nandlab::ledger::Cause;
use nandlab::types::{Lpn, Ppn};
use serde_json::{Value, json};

use super::device::{build, host, parallel_flash, shape};
use crate::kit::{Dice, build_ftl};

const LOGICAL_PAGES: u32 = 60;
const BLOCK: u32 = 4;

/// The smallest device of so many dies that the FTL accepts.
fn smallest(name: &str, params: &Value, dies: u32) -> Shape {
    let shapes =
        (LOGICAL_PAGES.div_ceil(BLOCK * dies)..60).map(|blocks| shape(dies, blocks * dies, BLOCK, LOGICAL_PAGES, 2048));
    let accepts = |shape: &Shape| build_ftl(name, params.clone(), shape).is_ok();
    shapes.into_iter().find(accepts).unwrap_or_else(|| panic!("{name} accepts no device"))
}

/// Reads of any page on every other die than this one: it is idle first.
fn keep_others_busy(flash: &mut Flash, idle: u32) {
    let geometry = *flash.geometry();
    for die in (0..geometry.dies()).filter(|die| *die != idle) {
        let on_die = |ppn: &Ppn| geometry.die(geometry.pbn(*ppn)) == die && flash.is_programmed(*ppn);
        if let Some(ppn) = (0..geometry.pages() as u32).map(Ppn).find(on_die) {
            let now = Ticket::at(flash.now());
            (0..40).for_each(|_| _ = flash.read(ppn, Cause::Host, now));
        }
    }
}

fn data_pages_on(ftl: &dyn Ftl, flash: &Flash, die: u32) -> u32 {
    let on_die = |lpn: &u32| {
        let ppn = ftl.locate(flash, Lpn(*lpn));
        ppn.is_some() && flash.geometry().die(flash.geometry().pbn(ppn)) == die
    };
    (0..LOGICAL_PAGES).filter(on_die).count() as u32
}

#[test]
fn die_that_is_always_idle_keeps_room_for_its_translation_pages() {
    // Caches of a few entries: nearly every write evicts one, and a translation page is written.
    let caches = [
        ("dftl", json!({"cmt_entries": 4})),
        ("sftl", json!({"cache_bytes": 40})),
        ("cdftl", json!({"cmt_entries": 4, "ctp_pages": 1})),
        ("tpftl", json!({"cmt_entries": 4})),
        ("learnedftl", json!({"cmt_entries": 4})),
    ];
    for (name, cache) in caches {
        // With one entry a translation page takes as much room as the page that it tells.
        for (entries, slices) in [(1_u32, false), (2, false), (4, false), (2, true), (8, true)] {
            let mut params = cache.clone();
            params["entries_per_tp"] = entries.into();
            params["frontiers"] = "die".into();
            params["placement"] = "least_busy".into();
            if slices {
                params["gc_frontier"] = "separate".into();
                params["gc_slice"] = "paced".into();
            }
            let dies = 4;
            let shape = smallest(name, &params, dies);
            let (mut ftl, mut flash) = (build(name, params.clone(), &shape), parallel_flash(&shape));
            let mut dice = Dice::of_case(&[u64::from(entries)]);
            let mut most = 0;
            for version in 1..4_000 {
                let lpn = if version <= LOGICAL_PAGES { version - 1 } else { dice.below(LOGICAL_PAGES) };
                keep_others_busy(&mut flash, version / 500 % dies);
                let (page, now) = ([host(lpn, u64::from(version))], Ticket::at(flash.now()));
                ftl.write(&mut flash, Batch::new(&page, &[]), now);
                most = most.max(data_pages_on(&*ftl, &flash, version / 500 % dies));
            }
            // Three blocks in reserve, an open one each for the host and the map, one to turn over; slices keep three more: one
            // for their copies, one that the host fills meanwhile and one for the map.
            let kept = if slices { 9 } else { 6 };
            let map_pages = LOGICAL_PAGES.div_ceil(entries).div_ceil(dies);
            let room = (shape.geometry.blocks() / dies - kept) * BLOCK - map_pages;
            assert_eq!(most, room, "{name} {params}: pages of the host on the idle die");
        }
    }
}
