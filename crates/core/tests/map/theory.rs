//! Does it match theory?

use nandlab::flash::{Flash, Media, Ticket};
use nandlab::ftl::blocks::pool::Alloc;
use nandlab::ftl::cache::compressed::{CompressedPage, Format};
use nandlab::ftl::dftl::DftlPreset;
use nandlab::ftl::frame::space::Frontiers;
use nandlab::ftl::urm_map::{Mode, Params, UrmMap};
use nandlab::ftl::{Batch, Ftl, PageRead, Shape};
use nandlab::ledger::{Cause, Ledger, Op};
use nandlab::types::{Bytes, Lpn, Nanos, Ppn};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::point::compare;

use super::device::{build, fill, flash, host, parallel_flash, refusal, shape, start};
use crate::kit::Dice;

/// Inverse of the distribution function of Zipf's law, exact.
struct Zipf {
    cumulative: Vec<f64>,
    /// Where items lie: without it the popular ones would share translation pages.
    place: Vec<u32>,
}

impl Zipf {
    fn new(items: u32, s: f64, dice: &mut Dice) -> Self {
        let mut sum = 0.0;
        let mut cumulative: Vec<f64> = Vec::new();
        for rank in 1..=items {
            sum += f64::from(rank).powf(-s);
            cumulative.push(sum);
        }
        for share in &mut cumulative {
            *share /= sum;
        }
        let mut place: Vec<u32> = (0..items).collect();
        for i in (1..items).rev() {
            place.swap(i as usize, dice.below(i + 1) as usize);
        }
        Self { cumulative, place }
    }
    fn draw(&self, dice: &mut Dice) -> u32 {
        let u = dice.unit();
        self.place[self.cumulative.partition_point(|c| *c <= u).min(self.place.len() - 1)]
    }
}

fn rows(text: &str) -> impl Iterator<Item = Vec<&str>> {
    text.lines().skip(1).map(|line| line.split(',').collect())
}

fn float(text: &str) -> f64 {
    text.parse().expect("a number")
}

/// Hit ratio of the mapping cache under reads, through the whole FTL.
fn hit_ratio(row: &[&str], name: &str, params: Value, warm_up: u32, measured: u32) -> f64 {
    let items: u32 = row[1].parse().expect("items");
    let shape = shape(1, 2 * items / 64 + 20, 64, items, 4096);
    let mut flash = flash(&shape, Media::None);
    let mut ftl = build(name, params, &shape);
    fill(&mut *ftl, &mut flash, &shape);
    let mut dice = Dice(11);
    let zipf = Zipf::new(items, float(row[2]), &mut dice);
    for i in 0..warm_up + measured {
        if i == warm_up {
            flash.start_measuring();
        }
        ftl.read(&mut flash, PageRead::new(Lpn(zipf.draw(&mut dice)), Cause::Host), start());
    }
    ftl.check(&flash);
    let l = flash.ledger;
    assert_eq!(l.count(Op::Read, Cause::MapMiss), l.map_misses);
    assert_eq!(l.count(Op::Read, Cause::Host), u64::from(measured));
    (l.map_hits - l.map_second_hits) as f64 / f64::from(measured)
}

#[test]
fn every_hit_ratio_of_the_table_is_that_of_theory() {
    let table: Vec<_> = rows(include_str!("../golden/cmt-hit-ratio.csv")).collect();
    assert_eq!(table.len(), 60);
    for row in table {
        // A large cache fills slowly: its last entries are the rare ones.
        let entries: u32 = row[3].parse().expect("entries");
        let params = json!({"cmt_entries": entries, "cmt_protected": row[4].parse::<u32>().expect("entries")});
        let ratio = hit_ratio(&row, "dftl", params, 300_000 + 40 * entries, 600_000);
        let figure = format!("map-cache-{}", row[0]);
        compare(&figure, row[2], f64::from(entries) / float(row[1]), float(row[5]), ratio, 0.003);
    }
}

/// With one mapping a translation page, every LRU of pages, nodes or entries is a plain LRU of mappings.
#[test]
fn every_lru_with_single_entries_is_that_of_theory() {
    let entries = 3277;
    let ones = [
        ("tpftl", json!({"cmt_entries": entries, "entries_per_tp": 1})),
        ("sftl", json!({"cache_bytes": 5 * entries, "entries_per_tp": 1})),
        ("cdftl", json!({"cmt_entries": entries, "ctp_pages": 1, "entries_per_tp": 1})),
    ];
    let mut seen = 0;
    for row in rows(include_str!("../golden/cmt-hit-ratio.csv")) {
        if (row[0], row[2], row[3]) == ("lru", "0.9", "3277") {
            for (name, params) in &ones {
                let ratio = hit_ratio(&row, name, params.clone(), 450_000, 600_000);
                assert!((ratio - float(row[5])).abs() < 0.003, "{name} {row:?}: {ratio}");
                seen += 1;
            }
        }
    }
    assert_eq!(seen, 3);
}

/// Translation-page programs per write under uniform writes with batch write-back, without garbage collection.
fn map_writes_per_write(row: &[&str], warm_up: u32, measured: u32) -> f64 {
    let items: u32 = row[0].parse().expect("items");
    let params = json!({"cmt_entries": row[1].parse::<u32>().expect("entries"), "cmt_protected": 0,
        "entries_per_tp": row[2].parse::<u32>().expect("entries"), "evict_batch": true});
    let pages = items + 2 * (warm_up + measured) + 100_000;
    let shape = shape(1, pages / 64, 64, items, 4096);
    let mut flash = flash(&shape, Media::None);
    let mut ftl = build("dftl", params, &shape);
    fill(&mut *ftl, &mut flash, &shape);
    let mut dice = Dice(5);
    for i in 0..warm_up + measured {
        if i == warm_up {
            flash.start_measuring();
        }
        ftl.write(&mut flash, Batch::new(&[host(dice.below(items), 1)], &[]), start());
    }
    assert_eq!(flash.ledger.gc_runs, 0, "collections would dirty clean entries");
    flash.ledger.count(Op::Program, Cause::MapEvict) as f64 / f64::from(measured)
}

/// Rows by entries and entries of a translation page; all without any.
fn batch_write_back(wanted: &[(&str, &str)]) {
    let mut seen = 0;
    for row in rows(include_str!("../golden/cmt-batch-writeback.csv")) {
        if wanted.is_empty() || wanted.contains(&(row[1], row[2])) {
            let rate = map_writes_per_write(&row, 50_000 + 20 * row[1].parse::<u32>().expect("entries"), 700_000);
            // Evictions are rare where a translation page covers much: their number scatters.
            let allowed = float(row[8]) * 0.01 + 3.0 * (float(row[8]) / 700_000.0).sqrt();
            compare("batch-write-back", row[2], float(row[1]), float(row[7]), rate, allowed);
            seen += 1;
        }
    }
    assert_eq!(seen, if wanted.is_empty() { 15 } else { wanted.len() });
}

#[test]
fn batch_write_back_saves_what_theory_says() {
    batch_write_back(&[("512", "64"), ("512", "512"), ("1024", "64"), ("4096", "64")]);
}

#[test]
#[ignore = "minutes: the nightly matrix, see docs/theory.md"]
fn batch_write_back_matches_theory_in_the_whole_table() {
    batch_write_back(&[]);
}

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
    assert_eq!((flashsim.alloc, flashsim.frontiers), (Alloc::MinErase, Frontiers::Single));
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

fn urm(params: &Params) -> (UrmMap, Flash) {
    let shape = shape(1, 200, 64, 8192, 4096);
    (UrmMap::with(params, &shape).expect("valid"), flash(&shape, Media::None))
}

fn write_all(ftl: &mut UrmMap, flash: &mut Flash, lpns: impl Iterator<Item = u32>) {
    for lpn in lpns {
        ftl.write(flash, Batch::new(&[host(lpn, 1)], &[]), start());
    }
}

#[test]
fn compressed_table_ram_is_measured() {
    let headers = 8 * 8;
    let (mut ftl, mut flash) = urm(&Params::default());
    assert_eq!(ftl.map_bytes(), headers);
    write_all(&mut ftl, &mut flash, 0..1024);
    assert_eq!(ftl.map_bytes(), headers + 192, "a sequentially written translation page takes 32 entries");
    write_all(&mut ftl, &mut flash, (1024..2048).step_by(2));
    assert_eq!(ftl.map_bytes(), headers + 192 + 512 * 6, "no two pages are consecutive");
    write_all(&mut ftl, &mut flash, (1025..2048).step_by(2));
    assert_eq!(ftl.map_bytes(), headers + 192 + 4096, "a randomly written translation page stays raw");
    write_all(&mut ftl, &mut flash, 1024..2048);
    assert_eq!(ftl.map_bytes(), headers + 2 * 192, "written again in order, it is compressed again");
    ftl.check(&flash);

    let (mut ftl, mut flash) = urm(&Params { raw_fallback: false, ..Params::default() });
    write_all(&mut ftl, &mut flash, (0..1024).step_by(2).chain((1..1024).step_by(2)));
    assert_eq!(ftl.map_bytes(), headers + 1024 * 6, "without the fallback it is 1.5 times the raw table");
}

#[test]
fn demanded_table_keeps_its_budget_and_loads_what_is_asked() {
    let params = Params { mode: Mode::Demand, map_budget: Bytes(4200), load_entries: Some(102), ..Params::default() };
    let (mut ftl, mut flash) = urm(&params);
    write_all(&mut ftl, &mut flash, 0..8192);
    assert!(ftl.map_bytes() <= 4200 + 8 * 4);
    ftl.check(&flash);
    let misses = |ftl: &mut UrmMap, flash: &mut Flash, pages: std::ops::Range<u32>| {
        let before = flash.ledger;
        for lpn in pages {
            assert!(ftl.read(flash, PageRead::new(Lpn(lpn), Cause::Host), start()).ppn.is_some());
        }
        let window = flash.ledger - before;
        assert_eq!(window.count(Op::Read, Cause::MapMiss), window.map_misses);
        window.map_misses
    };
    write_all(&mut ftl, &mut flash, (0..8192).step_by(2));
    assert_eq!(misses(&mut ftl, &mut flash, 0..1024), 11, "a translation page is loaded in steps of 102");
    ftl.set_load_entries(400);
    assert_eq!(misses(&mut ftl, &mut flash, 2048..3072), 3, "408, 408 and the rest");
    ftl.set_load_entries(5000);
    assert_eq!(misses(&mut ftl, &mut flash, 4100..5120), 1, "the whole page");
    assert!(ftl.map_bytes() <= 4200 + 8 * 4);
    ftl.check(&flash);
}

#[test]
fn parameters_that_cannot_work_are_refused() {
    let device = shape(4, 40, 16, 400, 512);
    let refused = |name, params| refusal(name, params, &device);
    assert!(refused("rftl", json!({"replicas": 4})).contains("ftl.replicas"));
    assert!(refused("dftl", json!({"reserve": 2})).contains("ftl.reserve"));
    assert!(refused("dftl", json!({"reserve": 30})).contains("ftl.reserve"));
    assert!(refused("dftl", json!({"entries_per_tp": 129})).contains("ftl.entries_per_tp"));
    assert!(refused("dftl", json!({"cmt_entries": 8, "cmt_bytes": "64B"})).contains("ftl.cmt_bytes"));
    assert!(refused("dftl", json!({"cmt_entries": 0})).contains("ftl.cmt_entries"));
    assert!(refused("dftl", json!({"cmt_entries": 4, "cmt_protected": 5})).contains("ftl.cmt_protected"));
    assert!(refused("dftl", json!({"cmt_protected": 1.5})).contains("ftl.cmt_protected"));
    assert!(refused("dftl", json!({"cmt_size": 4})).contains("cmt_size"));
    assert!(refused("tpftl", json!({"cmt_entries": 0})).contains("ftl.cmt_entries"));
    assert!(refused("tpftl", json!({"cmt_entries": 1, "cmt_bytes": 100})).contains("ftl.cmt_bytes"));
    assert!(refused("tpftl", json!({"cmt_bytes": 13})).contains("14B or more"));
    assert!(refused("tpftl", json!({"selective_threshold": 0})).contains("ftl.selective_threshold"));
    for pieces in [0, 129] {
        assert!(refused("learnedftl", json!({"pieces": pieces})).contains("ftl.pieces"));
    }
    assert!(refused("sftl", json!({"cache_bytes": 19})).contains("20B or more"));
    assert!(refused("cdftl", json!({"cmt_entries": 0})).contains("ftl.cmt_entries"));
    assert!(refused("cdftl", json!({"ctp_pages": 0})).contains("ftl.ctp_pages"));
    assert!(refused("urm-map", json!({"mode": "demand", "map_budget": 100})).contains("ftl.map_budget"));
    assert!(refused("urm-map", json!({"mode": "demand", "load_entries": 5})).contains("ftl.load_entries"));
    assert!(refused("urm-map", json!({"max_run": 33})).contains("ftl.max_run"));
}

#[test]
fn ram_of_the_map_is_that_of_the_formula() {
    let device = shape(4, 400, 16, 4000, 512);
    let bytes = |name, params| build(name, params, &device).map_bytes();
    assert_eq!(bytes("dftl", json!({"cmt_entries": 100})), 8 * 100 + 4 * 32);
    assert_eq!(bytes("dftl", json!({"cmt_bytes": "32KiB"})), 32768 + 4 * 32);
    assert_eq!(bytes("rftl", json!({"cmt_entries": 100, "replicas": 2})), 8 * 100 + 4 * 3 * 32);
    assert_eq!(bytes("tpftl", json!({"cmt_entries": 100})), 6 * 100 + 4 * 32);
    // Sequentially written, a page of 128 mappings lies in up to 3 blocks on each of 4 dies.
    assert_eq!(bytes("learnedftl", json!({"cmt_entries": 100})), 6 * 100 + (16 + 12 * 12) * 32 + 4 * 32);
    assert_eq!(bytes("learnedftl", json!({"cmt_bytes": 100, "pieces": 5})), (16 + 12 * 5) * 32 + 4 * 32);
    assert_eq!(bytes("sftl", json!({})), 4 * 32);
    assert_eq!(bytes("cdftl", json!({"cmt_entries": 100, "ctp_pages": 3})), 8 * 100 + 512 * 3 + 4 * 32);
    let most = |name, params| build(name, params, &device).map_bytes_most();
    assert_eq!(most("dftl", json!({"cmt_entries": 100})), 8 * 100 + 4 * 32);
    assert_eq!(most("tpftl", json!({"cmt_entries": 100})), 6 * 100 + 8 * 32 + 4 * 32);
    assert_eq!(most("tpftl", json!({"cmt_entries": 20})), 6 * 20 + 8 * 20 + 4 * 32);
    assert_eq!(most("tpftl", json!({"cmt_bytes": 1000})), 1000 + 4 * 32);
    assert_eq!(most("learnedftl", json!({"cmt_bytes": 1000, "pieces": 1})), 1000 + (16 + 12) * 32 + 4 * 32);
    assert_eq!(most("sftl", json!({"cache_bytes": 3000})), 3000 + 4 * 32);
}

/// Places in runs, so that there is something to compress.
fn places() -> impl Strategy<Value = Vec<Ppn>> {
    let piece = (0u32..5000, 1usize..60, 0u32..4);
    proptest::collection::vec(piece, 1..40).prop_map(|pieces| {
        let runs = pieces.into_iter().flat_map(|(first, len, kind)| {
            (0..len as u32).map(move |i| if kind == 0 { Ppn::NONE } else { Ppn(first + i * (kind / 2 + kind % 2)) })
        });
        let mut table: Vec<Ppn> = runs.take(1024).collect();
        table.resize(1024, Ppn::NONE);
        table
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn decompressing_gives_what_was_compressed(table in places(), max_run in 1u32..=32, raw_fallback: bool) {
        let mut page = CompressedPage::new(Format { entries_per_tp: 1024, max_run, raw_fallback });
        page.load(0, &table);
        page.check();
        prop_assert_eq!(&page.decompress(), &table);
        prop_assert!(table.iter().enumerate().all(|(rlpn, ppn)| page.look_up(rlpn as u32) == *ppn));
    }

    #[test]
    fn compressed_page_holds_what_it_was_told(
        table in places(),
        updates in proptest::collection::vec((0u32..1024, 0u32..3000, 1u32..40, 0u32..8), 1..80),
        max_run in 1u32..=32,
        raw_fallback: bool,
    ) {
        let mut page = CompressedPage::new(Format { entries_per_tp: 1024, max_run, raw_fallback });
        let mut plain = table.clone();
        page.load(0, &table);
        for (first, ppn, len, kind) in updates {
            for i in 0..len.min(1024 - first) {
                if kind == 0 {
                    page.unmap(first + i);
                    plain[(first + i) as usize] = Ppn::NONE;
                } else {
                    page.update(first + i, Ppn(ppn + i));
                    plain[(first + i) as usize] = Ppn(ppn + i);
                }
            }
            page.check();
        }
        prop_assert_eq!(page.decompress(), plain);
    }
}
