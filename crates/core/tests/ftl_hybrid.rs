//! Do the page-mapped, block-mapped and hybrid FTLs do what papers, theory and NAND demand?

#![allow(clippy::print_stdout, reason = "measured numbers are part of what these tests tell")]

mod kit;
mod hybrid {
    pub mod map_block;
    pub mod reference;
}

use kit::point::compare;
use kit::tiny::{build, flash, shape};
use kit::{below, fill};
use nandlab::conform;
use nandlab::flash::{Flash, Media, ProgramOrder, Ticket};
use nandlab::ftl::{Batch, Ftl, PageRead, PageWrite};
use nandlab::ledger::{Cause, Op};
use nandlab::types::{Lbn, Lpn, Nanos};
use rand_pcg::Pcg64Mcg;
use serde_json::{Value, json};

#[test]
fn conformance_runner_notices_a_wrong_number() {
    let text = include_str!("golden/ftl-fast.json");
    let right: Value = serde_json::from_str(text).unwrap();
    let wrong = |pointer: &str, value: Value| {
        let mut file = right.clone();
        *file.pointer_mut(pointer).expect(pointer) = value;
        conform::run(&file.to_string()).unwrap().differences
    };
    let found = wrong("/cases/0/steps/3/delta/erases", json!(2));
    assert_eq!((found.len(), found[0].step, found[0].case.as_str()), (1, Some(4), "worked"));
    for (what, value) in [
        ("counters/copy_programs", json!(16)),
        ("location/4", json!([10, 1])),
        ("erase_counts/0", json!(0)),
        ("free_blocks", json!(3)),
        ("programmed_pages", json!(21)),
        ("valid_data_pages", json!(15)),
        ("reclaim_associativity/0", json!(2)),
    ] {
        let found = wrong(&format!("/cases/0/final/{what}"), value);
        assert_eq!((found.len(), found[0].step), (1, None), "{what}");
    }
}

/// A device without bytes, filled, for counting.
fn counting(name: &str, params: &Value, pages: u32, blocks: u32, logical: u32) -> (Box<dyn Ftl>, Flash) {
    let shape = shape(pages, blocks, logical, ProgramOrder::Ascending);
    let mut ftl = build(name, params, &shape).unwrap();
    let mut flash = flash(&shape, Media::None);
    fill(&mut *ftl, &mut flash, &shape);
    (ftl, flash)
}

fn page(lpn: u32, cause: Cause) -> PageWrite {
    PageWrite::new(Lpn(lpn), cause, 0)
}

fn write_uniformly(ftl: &mut Box<dyn Ftl>, flash: &mut Flash, rng: &mut Pcg64Mcg, logical: u32, writes: u64) {
    for _ in 0..writes {
        let one = [page(below(rng, logical), Cause::Host)];
        ftl.write(flash, Batch::new(&one, &[]), Ticket::at(Nanos::ZERO));
    }
}

#[track_caller]
fn close(what: &str, got: f64, expected: f64, relative: f64) {
    let error = got / expected - 1.0;
    println!("{what}: {got:.4} expected {expected:.4} ({:+.2} %)", error * 100.0);
    assert!(error.abs() <= relative, "{what}: {got} instead of {expected} within {relative}");
}

#[test]
fn pages_of_one_command_are_merged_alone_until_another_joins_them() {
    // Two log blocks of four pages, blocks of four; the settling merges what is logged.
    let cases: [(&[&[u32]], u64, &str); 5] = [
        (&[&[1, 2]], 2, "a flush of two pages and nothing else"),
        (&[&[1], &[2]], 0, "two flushes of a block"),
        (&[&[1], &[1]], 0, "a page that is overwritten in the log"),
        (&[&[1, 2], &[5], &[9, 10]], 5, "one flush of each of three blocks"),
        (&[&[1, 2], &[5], &[6]], 2, "two flushes of the second block"),
    ];
    for (name, params) in [("fast", json!({"rw_blocks": 2, "use_sw": false})), ("bast", json!({"log_blocks": 3}))] {
        for (commands, alone, what) in cases {
            let (mut ftl, mut flash) = counting(name, &params, 4, 12, 16);
            for lpns in commands {
                let pages: Vec<PageWrite> = lpns.iter().map(|lpn| page(*lpn, Cause::Host)).collect();
                ftl.write(&mut flash, Batch::new(&pages, &[]), Ticket::at(Nanos::ZERO));
            }
            ftl.settle(&mut flash);
            let logged = commands.iter().map(|lpns| lpns.len() as u64).sum::<u64>();
            assert_eq!(flash.ledger.log_pages, logged, "{name}: {what}");
            assert_eq!(flash.ledger.log_pages_merged_alone, alone, "{name}: {what}");
        }
    }
    // A padded block takes what was logged with it.
    let (mut ftl, mut flash) = counting("fast", &json!({"rw_blocks": 2}), 4, 12, 16);
    let write = |ftl: &mut Box<dyn Ftl>, flash: &mut Flash, pages: &[PageWrite]| {
        let batch = Batch::new(pages, &[]);
        if pages.len() == 4 {
            ftl.write_block(flash, Lbn(0), batch, Ticket::at(Nanos::ZERO));
        } else {
            ftl.write(flash, batch, Ticket::at(Nanos::ZERO));
        }
    };
    write(&mut ftl, &mut flash, &[page(2, Cause::Host)]);
    write(&mut ftl, &mut flash, &[0, 1, 2, 3].map(|lpn| page(lpn, if lpn == 1 { Cause::Host } else { Cause::Pad })));
    ftl.settle(&mut flash);
    assert_eq!(flash.ledger.log_pages_merged_alone, 0, "padded");
}

#[test]
fn fast_follows_its_closed_form() {
    fast_against_its_closed_form(&[(500, 10, 13.2587), (500, 40, f64::NAN), (300, 4, f64::NAN)]);
}

#[test]
#[ignore = "the nightly matrix, see docs/theory.md"]
fn fast_follows_its_closed_form_along_the_curve() {
    fast_against_its_closed_form(&[3, 5, 10, 15, 20, 30, 40].map(|rw| (500, rw, f64::NAN)));
}

/// Data blocks, RW log blocks and the programs a write of the reference model.
fn fast_against_its_closed_form(points: &[(u32, u32, f64)]) {
    for (blocks, rw, expected) in points.iter().copied() {
        let pages = 16;
        let params = json!({"use_sw": false, "rw_blocks": rw});
        let (mut ftl, mut flash) = counting("fast", &params, pages, blocks + rw + 2, blocks * pages);
        let mut rng = Pcg64Mcg::new(3);
        write_uniformly(&mut ftl, &mut flash, &mut rng, blocks * pages, 20_000);
        let start = flash.ledger;
        let writes = 150_000;
        write_uniformly(&mut ftl, &mut flash, &mut rng, blocks * pages, writes);
        let window = flash.ledger - start;
        let (n, lb, r) = (f64::from(pages), f64::from(blocks), f64::from(rw));
        let k = r * n - (n - 1.0) / 2.0;
        let merged = lb / (lb + k);
        let per_write = |count: u64| count as f64 / writes as f64;
        let tolerance = if rw * 20 > blocks { 0.02 } else { 0.01 };
        let name = format!("FAST LB={blocks} R={rw}");
        close(&format!("{name} programs a write"), per_write(window.programs()), 1.0 + n * merged, tolerance);
        close(&format!("{name} erases a write"), per_write(window.erases()), 1.0 / n + merged, tolerance);
        let associativity = window.merges_full_lbns as f64 / (window.merges_full + window.merges_dead) as f64;
        compare("fast", "associativity", r / lb, n * merged, associativity, tolerance * n * merged);
        if expected.is_finite() {
            close(&format!("{name} against the reference model"), per_write(window.programs()), expected, 0.01);
        }
    }
}

#[test]
fn bast_thrashes_as_theory_says() {
    let (pages, blocks, logs) = (16, 500, 10);
    let params = json!({"log_blocks": logs, "partial_merge": false});
    let (mut ftl, mut flash) = counting("bast", &params, pages, blocks + logs + 2, blocks * pages);
    let mut rng = Pcg64Mcg::new(5);
    write_uniformly(&mut ftl, &mut flash, &mut rng, blocks * pages, 5_000);
    let start = flash.ledger;
    let writes = 100_000;
    write_uniformly(&mut ftl, &mut flash, &mut rng, blocks * pages, writes);
    let window = flash.ledger - start;
    close("BAST programs a write", window.programs() as f64 / writes as f64, 16.69, 0.01);
    close("BAST erases a write", window.erases() as f64 / writes as f64, 1.96, 0.01);
}

#[test]
fn last_with_everything_sequential_is_the_original_bast() {
    let (pages, blocks, logs) = (16, 100, 12);
    let counts = [
        ("bast", json!({"log_blocks": logs})),
        ("last", json!({"threshold": 1, "seq_blocks": logs, "hot_blocks": 1, "cold_blocks": 1})),
    ]
    .map(|(name, params)| {
        let (mut ftl, mut flash) = counting(name, &params, pages, blocks + logs + 4, blocks * pages);
        let mut rng = Pcg64Mcg::new(31);
        for _ in 0..10_000 {
            let hot = below(&mut rng, 2) == 0;
            let lpn = if hot { below(&mut rng, 10 * pages) } else { below(&mut rng, blocks * pages) };
            // Now and then a whole logical block in order, so that every kind of merge happens.
            let run =
                if below(&mut rng, 20) == 0 { lpn / pages * pages..(lpn / pages + 1) * pages } else { lpn..lpn + 1 };
            let run: Vec<PageWrite> = run.map(|lpn| page(lpn, Cause::Host)).collect();
            ftl.write(&mut flash, Batch::new(&run, &[]), Ticket::at(Nanos::ZERO));
        }
        let l = flash.ledger;
        (l.ops, l.erases_by_kind, l.merges_switch, l.merges_partial, l.merges_full, l.merges_full_lbns, l.merges_dead)
    });
    assert_eq!(counts[0], counts[1]);
    let (.., switches, partial, full, _, dead) = counts[0];
    assert!(switches > 100 && partial > 100 && full > 100 && dead == 0, "{switches} {partial} {full} {dead}");
}

#[test]
fn overwriting_whole_blocks_costs_one_erase_each() {
    let (pages, blocks) = (16, 64);
    for (name, params) in [
        ("page", json!({"frontiers": "single"})),
        ("block", json!({})),
        ("bast", json!({})),
        ("bast", json!({"block_write": "pagewise"})),
        ("fast", json!({})),
        ("fast", json!({"block_write": "pagewise"})),
        ("superblock", json!({})),
        ("superblock", json!({"superblock_blocks": 5, "update_blocks": 1, "update_blocks_total": 2})),
        ("last", json!({})),
    ] {
        let (mut ftl, mut flash) = counting(name, &params, pages, blocks + 8, blocks * pages);
        // The page-mapped FTLs first use up their spare blocks.
        for turn in 0..5 {
            if turn == 1 {
                flash.start_measuring();
            }
            for lbn in 0..blocks {
                let all: Vec<PageWrite> = (lbn * pages..(lbn + 1) * pages).map(|lpn| page(lpn, Cause::Host)).collect();
                ftl.write_block(&mut flash, Lbn(lbn), Batch::new(&all, &[]), Ticket::at(Nanos::ZERO));
            }
        }
        let written = u64::from(4 * blocks * pages);
        assert_eq!(flash.ledger.programs(), written, "{name} {params}");
        assert_eq!(flash.ledger.erases(), written / u64::from(pages), "{name} {params}");
    }
}

/// Write-backs of a HitStat buffer: groups of dirty pages, padded from `threshold` (share of a block) on.
fn hitstat_run(name: &str, params: &Value, threshold: f64, groups: u32) -> (Flash, Nanos) {
    let (pages, blocks) = (16, 200);
    let (mut ftl, mut flash) = counting(name, params, pages, blocks + 40, blocks * pages);
    let start = flash.now();
    let mut rng = Pcg64Mcg::new(11);
    for _ in 0..groups {
        let hot = below(&mut rng, 10) < 6;
        let lbn = if hot { below(&mut rng, 20) } else { below(&mut rng, blocks) };
        let share = 1 + below(&mut rng, 16);
        let dirty: Vec<bool> = (0..pages).map(|_| below(&mut rng, 16) < share).collect();
        let count = dirty.iter().filter(|d| **d).count();
        let whole = count == pages as usize || count as f64 >= threshold * f64::from(pages);
        let cause = |offset: u32| if dirty[offset as usize] { Cause::Host } else { Cause::Pad };
        let batch: Vec<PageWrite> = (0..pages)
            .filter(|offset| whole || dirty[*offset as usize])
            .map(|offset| page(lbn * pages + offset, cause(offset)))
            .collect();
        let batch = Batch::new(&batch, &[]);
        let now = Ticket::at(Nanos::ZERO);
        if whole {
            ftl.write_block(&mut flash, Lbn(lbn), batch, now);
        } else {
            ftl.write(&mut flash, batch, now);
        }
    }
    flash.clock.drain();
    let elapsed = flash.now() - start;
    (flash, elapsed)
}

#[test]
fn hitstat_row_relations_hold_for_fast_and_bast() {
    let pages = 16;
    let fast = json!({"use_sw": false, "rw_blocks": 12});
    let bast =
        json!({"log_blocks": 30, "max_chain": 4, "victim": "rr_longest", "lookahead": 50, "partial_merge": false});
    for threshold in [1.01, 0.75, 0.5, 0.33, 0.25, 0.13, 0.0] {
        let runs =
            [("fast", &fast), ("bast", &bast)].map(|(name, params)| (name, hitstat_run(name, params, threshold, 4000)));
        for (name, (flash, elapsed)) in &runs {
            let (programs, erases) = (flash.ledger.programs(), flash.ledger.erases());
            let formula = Nanos(programs * 800_000 + erases * 1_500_000);
            assert_eq!(*elapsed, formula, "elapsed time of {name} at threshold {threshold}");
            if threshold == 0.0 {
                assert_eq!(programs, pages * erases, "{name}: always padding");
            } else if *name == "fast" {
                let full = if programs % pages == 0 { 12 } else { 11 };
                assert_eq!(programs / pages - erases, full, "full RW blocks at threshold {threshold}");
            }
        }
        let rest = |i: usize| runs[i].1.0.ledger.programs() % pages;
        assert_eq!(rest(0), rest(1), "no partial merges, so the remainder is that of the logged pages ({threshold})");
    }
}

#[test]
fn padding_saves_what_hitstats_figure_8_says() {
    for (name, params) in [
        ("bast", json!({"max_chain": 4, "victim": "rr_longest", "partial_merge": false})),
        ("fast", json!({"use_sw": false})),
    ] {
        let dirty = [page(5, Cause::Host), page(7, Cause::Host)];
        let (mut ftl, mut flash) = counting(name, &params, 4, 9, 16);
        ftl.write(&mut flash, Batch::new(&dirty, &[]), Ticket::at(Nanos::ZERO));
        ftl.settle(&mut flash);
        assert_eq!((flash.ledger.erases(), flash.ledger.programs()), (2, 6), "{name} without padding");
        let padded = [page(4, Cause::Pad), dirty[0].clone(), page(6, Cause::Pad), dirty[1].clone()];
        let (mut ftl, mut flash) = counting(name, &params, 4, 9, 16);
        ftl.write_block(&mut flash, Lbn(1), Batch::new(&padded, &[]), Ticket::at(Nanos::ZERO));
        ftl.settle(&mut flash);
        assert_eq!((flash.ledger.erases(), flash.ledger.programs()), (1, 4), "{name} with padding");
        assert_eq!(flash.ledger.count(Op::Program, Cause::Pad), 2);
    }
}

#[test]
fn padding_model_counts_early_reclaims() {
    // A chain of 5 pages in 2 log blocks is freed by a padded write with 2 dirty pages: as if 7 pages had been logged.
    let params = json!({"max_chain": 4, "victim": "rr_longest", "partial_merge": false});
    let (mut ftl, mut flash) = counting("bast", &params, 4, 16, 16);
    let now = Ticket::at(Nanos::ZERO);
    for _ in 0..5 {
        ftl.write(&mut flash, Batch::new(&[page(1, Cause::Host)], &[]), now);
    }
    let padded = [page(0, Cause::Host), page(1, Cause::Host), page(2, Cause::Pad), page(3, Cause::Pad)];
    ftl.write_block(&mut flash, Lbn(0), Batch::new(&padded, &[]), now);
    let l = flash.ledger;
    assert_eq!((l.padding_merges, l.padding_log_blocks, l.padding_data_blocks, l.padding_log_pages), (1, 2, 1, 7));
    assert_eq!((l.merges_full, l.merges_switch, l.erases()), (0, 1, 3));
}

#[test]
fn batch_of_one_logical_block_costs_one_replacement() {
    let (mut ftl, mut flash) = counting("block", &json!({}), 4, 6, 16);
    let batch: Vec<PageWrite> = [1, 2, 4, 7, 8].map(|lpn| page(lpn, Cause::Host)).to_vec();
    ftl.write(&mut flash, Batch::new(&batch, &[]), Ticket::at(Nanos::ZERO));
    assert_eq!((flash.ledger.merges_replace, flash.ledger.erases(), flash.ledger.programs()), (3, 3, 12));
}

#[test]
fn log_map_in_spare_areas_costs_one_read_per_page_searched() {
    let params = json!({"max_chain": 2, "log_map": "spare_scan", "log_blocks": 4});
    let (mut ftl, mut flash) = counting("bast", &params, 4, 16, 16);
    let now = Ticket::at(Nanos::ZERO);
    for lpn in [1, 3, 3, 2, 3, 3] {
        ftl.write(&mut flash, Batch::new(&[page(lpn, Cause::Host)], &[]), now);
    }
    let reads = |ftl: &mut Box<dyn Ftl>, flash: &mut Flash, lpn: u32| {
        let start = flash.ledger;
        ftl.read(flash, PageRead::new(Lpn(lpn), Cause::Host), now);
        let window = flash.ledger - start;
        (window.count(Op::Read, Cause::MapMiss), window.count(Op::Read, Cause::Host))
    };
    assert_eq!(reads(&mut ftl, &mut flash, 3), (0, 1));
    assert_eq!(reads(&mut ftl, &mut flash, 2), (2, 1));
    assert_eq!(reads(&mut ftl, &mut flash, 1), (5, 1));
    assert_eq!(reads(&mut ftl, &mut flash, 0), (6, 1), "not in the log: the whole chain, then the data block");
    assert_eq!(reads(&mut ftl, &mut flash, 4), (0, 1), "no chain");
}

#[test]
fn impossible_configurations_are_refused_with_help() {
    let refuse = |name: &str, params: Value, blocks: u32, order: ProgramOrder, needle: &str| {
        let error = build(name, &params, &shape(4, blocks, 16, order)).err().map(|e| e.to_string()).unwrap_or_default();
        assert!(error.contains(needle), "{name} {params} with {blocks} blocks: `{error}` does not say `{needle}`");
        assert!(error.contains("help:"), "{error}");
    };
    let ascending = ProgramOrder::Ascending;
    refuse("block", json!({}), 5, ascending, "needs 6");
    refuse("bast", json!({"log_blocks": 0}), 12, ascending, "use 1 to 6");
    refuse("bast", json!({"log_blocks": 7}), 12, ascending, "at most 6");
    refuse("bast", json!({"log_blocks": 5, "map_program": true}), 12, ascending, "at most 4");
    refuse("bast", json!({"max_chain": 0}), 12, ascending, "max_chain");
    refuse("bast", json!({"lookahead": 0}), 12, ascending, "lookahead");
    refuse("bast", json!({}), 6, ascending, "leave no log block");
    refuse("fast", json!({"rw_blocks": 0}), 12, ascending, "use 1 to 5");
    refuse("fast", json!({"rw_blocks": 6}), 12, ascending, "at most 5");
    refuse("fast", json!({}), 7, ascending, "leave no log block");
    refuse("fast", json!({"rw_block": 6}), 12, ascending, "unknown field");
    for key in ["superblock_blocks", "update_blocks", "update_blocks_total", "cache_entries"] {
        refuse("superblock", json!({key: 0}), 12, ascending, &format!("ftl.{key}"));
    }
    refuse("superblock", json!({"update_blocks_total": 8}), 12, ascending, "needs 13");
    refuse("superblock", json!({}), 5, ascending, "needs 6");
    refuse("last", json!({"threshold": 0}), 12, ascending, "threshold");
    refuse("last", json!({"seq_blocks": 0}), 12, ascending, "use 1 to 4");
    refuse("last", json!({"hot_blocks": 5}), 12, ascending, "at most 4");
    refuse("last", json!({"cold_blocks": 5}), 12, ascending, "at most 4");
    refuse("last", json!({"cold_blocks": u32::MAX, "hot_blocks": u32::MAX}), 12, ascending, "at most 4");
    refuse("last", json!({}), 8, ascending, "leave no log block");
    for name in ["block", "bast", "fast", "last"] {
        refuse(name, json!({}), 12, ProgramOrder::Strict, "strict");
    }
}

#[test]
fn map_takes_the_ram_that_the_papers_say() {
    // HitStat: 20 GB of 512 KB blocks of 128 pages; one log block costs 128 offsets of 7 bits and 8 bytes.
    let bytes = |name: &str, params: Value, extra: u32| {
        build(name, &params, &shape(128, 1000 + extra, 128_000, ProgramOrder::Ascending)).unwrap().map_bytes()
    };
    assert_eq!(bytes("block", json!({}), 2), 4 * 1000);
    assert_eq!(bytes("bast", json!({"log_blocks": 50}), 100), 4 * 1000 + 50 * (112 + 8));
    assert_eq!(bytes("bast", json!({"log_blocks": 50, "log_map": "spare_scan"}), 100), 4 * 1000 + 50 * 8);
    assert_eq!(bytes("fast", json!({"rw_blocks": 50}), 100), 4 * 1000 + 4 * 128 * 51);
    assert_eq!(bytes("fast", json!({}), 53), 4 * 1000 + 4 * 128 * 51, "all blocks that fit");
    for params in [json!({"seq_blocks": 10, "hot_blocks": 20}), json!({"cold_blocks": 7}), json!({})] {
        assert_eq!(bytes("last", params, 52), 4 * 1000 + 4 * 128 * 50, "all blocks that fit");
    }
    assert_eq!(
        bytes("superblock", json!({"update_blocks": u32::MAX}), 9),
        4 * (1000 + 125 * 0xFFFF_FFFF) + 4 * 128_000
    );
    assert_eq!(
        bytes("superblock", json!({}), 200),
        4 * 1000 / 8 * (8 + 8) + 4 * 128_000,
        "4 (S + K) LB / S and the pages"
    );
    assert_eq!(
        bytes("superblock", json!({"update_blocks": 2, "cache_entries": 100}), 200),
        4 * 1000 / 8 * 10 + 8 * 100
    );
}
