//! Does it match theory?

use nandlab::flash::Media;
use nandlab::ftl::{Batch, PageRead};
use nandlab::ledger::{Cause, Op};
use nandlab::types::Lpn;
use serde_json::{Value, json};

use super::device::{build, fill, flash, host, shape, start};
use crate::kit::point::compare;
use crate::kit::{Dice, at_once};

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
    let entries = |row: &[&str]| row[3].parse::<u32>().expect("entries");
    let ratios = at_once(&table, |row| {
        let params = json!({"cmt_entries": entries(row), "cmt_protected": row[4].parse::<u32>().expect("entries")});
        // A large cache fills slowly: its last entries are the rare ones.
        hit_ratio(row, "dftl", params, 300_000 + 40 * entries(row), 600_000)
    });
    for (row, ratio) in table.iter().zip(ratios) {
        let figure = format!("map-cache-{}", row[0]);
        compare(&figure, row[2], f64::from(entries(row)) / float(row[1]), float(row[5]), ratio, 0.003);
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
