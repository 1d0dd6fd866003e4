//! The formulas, in the words of docs/metrics.md and `nandlab describe metrics`, on lists and plain numbers.

mod time;

use std::collections::BTreeMap;

use nandlab::buffer::Medium;
use nandlab::config::Config;
use nandlab::engine::{INTERVALS, Ssd};
use nandlab::ledger::{Cause, Ledger, Op};
use nandlab::replay::Outcome;
use nandlab::types::Pbn;
use serde_json::{Value, json};

use super::fake::{Fake, count};

const CAUSES: [(&str, Cause); 12] = [
    ("host", Cause::Host),
    ("pad", Cause::Pad),
    ("prefetch", Cause::Prefetch),
    ("gc", Cause::Gc),
    ("merge", Cause::Merge),
    ("map_miss", Cause::MapMiss),
    ("map_evict", Cause::MapEvict),
    ("map_update", Cause::MapUpdate),
    ("map_gc", Cause::MapGc),
    ("wear", Cause::Wear),
    ("refresh", Cause::Refresh),
    ("recover", Cause::Recover),
];
const MAP: [Cause; 4] = [Cause::MapMiss, Cause::MapEvict, Cause::MapUpdate, Cause::MapGc];

/// The value of each field of the report by its formula, by the path of the field.
pub struct Expected {
    pub values: BTreeMap<String, Value>,
}

fn total(l: &Ledger, op: Op) -> u64 {
    CAUSES.iter().map(|(_, cause)| count(l, op, *cause)).sum()
}

/// `part / whole`, or nothing.
fn over(part: f64, whole: f64) -> Value {
    if whole == 0.0 { Value::Null } else { json!(part / whole) }
}

fn ratio(part: u64, whole: u64) -> Value {
    over(part as f64, whole as f64)
}

impl Expected {
    pub fn new(config: &Config, fake: &Fake, outcome: &Outcome) -> Self {
        let mut all = Self { values: BTreeMap::new() };
        all.head(config);
        all.requests(&fake.ledger);
        all.hits(&fake.ledger);
        all.times(config, fake, outcome);
        all.flash(&fake.ledger);
        all.operations(fake);
        all.merges(config, &fake.ledger);
        all.buffer(fake);
        all.flushes(fake);
        all.mapping(&fake.ledger);
        all.slc(&fake.ledger);
        all.ram(config, fake);
        all.wear(fake);
        all.endurance(config, fake, outcome);
        all.urm(config, &fake.ledger);
        all
    }

    fn set(&mut self, section: &str, fields: &[(&str, Value)]) {
        for (name, value) in fields {
            let path = if section.is_empty() { (*name).to_owned() } else { format!("{section}.{name}") };
            assert!(self.values.insert(path, value.clone()).is_none(), "{section}.{name} twice");
        }
    }

    fn head(&mut self, config: &Config) {
        if config.ftl.name == "superblock" {
            self.set("", &[("reconstructions[0]", json!("superblock"))]);
        }
        self.set(
            "",
            &[("schema", json!(3)), ("nandlab", json!(env!("CARGO_PKG_VERSION"))), ("seed", json!(config.seed))],
        );
        let wall =
            [("build_seconds", 1.5), ("run_seconds", 2.5), ("pages_per_second", 3.5), ("requests_per_second", 4.5)];
        self.set("wall", &wall.map(|(name, value)| (name, json!(value))));
    }

    fn requests(&mut self, l: &Ledger) {
        let all = l.host_read_requests + l.host_write_requests + l.host_trim_requests + l.host_flush_requests;
        self.set(
            "requests",
            &[
                ("reads", json!(l.host_read_requests)),
                ("writes", json!(l.host_write_requests)),
                ("trims", json!(l.host_trim_requests)),
                ("flushes", json!(l.host_flush_requests)),
                ("total", json!(all)),
                ("pages_read", json!(l.host_page_reads)),
                ("pages_written", json!(l.host_page_writes)),
                ("pages_trimmed", json!(l.host_page_trims)),
                ("sectors_read", json!(l.host_sector_reads)),
                ("sectors_written", json!(l.host_sector_writes)),
                ("unmapped_reads", json!(l.unmapped_reads)),
            ],
        );
    }

    fn hits(&mut self, l: &Ledger) {
        let kinds = [
            ("page", [l.buffer_read_hits, l.buffer_write_hits], [l.host_page_reads, l.host_page_writes]),
            ("request", [l.request_read_hits, l.request_write_hits], [l.host_read_requests, l.host_write_requests]),
            ("sector", [l.sector_read_hits, l.sector_write_hits], [l.host_sector_reads, l.host_sector_writes]),
        ];
        for (kind, [read_hits, write_hits], [reads, writes]) in kinds {
            let fields = [
                ("read", ratio(read_hits, reads)),
                ("write", ratio(write_hits, writes)),
                ("total", ratio(read_hits + write_hits, reads + writes)),
            ];
            self.set(&format!("hits.{kind}"), &fields);
        }
        let hits = l.buffer_read_hits + l.buffer_write_hits;
        let groups = [
            ("at_arrival", ratio(hits - l.own_prefetch_hits, l.host_page_reads + l.host_page_writes)),
            ("group_write", ratio(l.group_hits, l.group_hits + l.group_misses)),
            ("group_read", ratio(l.group_read_hits, l.group_read_hits + l.group_read_misses)),
        ];
        self.set("hits", &groups);
    }

    fn flash(&mut self, l: &Ledger) {
        for (name, op) in [("reads", Op::Read), ("programs", Op::Program), ("erases", Op::Erase)] {
            let section = format!("flash.{name}");
            self.set(&section, &CAUSES.map(|(name, cause)| (name, json!(count(l, op, cause)))));
            let service: u64 = l.op_ns[op as usize].iter().sum();
            self.set(&section, &[("total", json!(total(l, op))), ("service_ns", json!(service))]);
        }
        let [data, log, map] = l.erases_by_kind;
        self.set("flash.erases_by_kind", &[("data", json!(data)), ("log", json!(log)), ("map", json!(map))]);
        self.set("flash", &[("accesses", json!(total(l, Op::Read) + total(l, Op::Program)))]);
        let above = count(l, Op::Program, Cause::Host) + count(l, Op::Program, Cause::Pad);
        let all = total(l, Op::Program);
        self.set(
            "write_amplification",
            &[
                ("host", ratio(all, l.host_page_writes)),
                ("buffer", ratio(all, above)),
                ("extra", ratio(all - above, above)),
                ("dummy_pages", json!(l.dummy_pages)),
                ("host_with_dummies", ratio(all + l.dummy_pages, l.host_page_writes)),
                ("programs_from_above", json!(above)),
                ("programs_from_below", json!(all - above)),
            ],
        );
    }

    fn merges(&mut self, config: &Config, l: &Ledger) {
        let pages = u64::from(config.device.geometry.pages_per_block);
        let by_full = l.merges_full_lbns + l.merges_full_log_blocks;
        let of_neither = l.merges_full > 0 && by_full == 0;
        self.set(
            "merges",
            &[
                ("switch", json!(l.merges_switch)),
                ("partial", json!(l.merges_partial)),
                ("full", json!(l.merges_full)),
                ("full_logical_blocks", json!(l.merges_full_lbns)),
                ("dead", json!(l.merges_dead)),
                ("replace", json!(l.merges_replace)),
                ("full_erase_share", if of_neither { Value::Null } else { ratio(by_full, total(l, Op::Erase)) }),
                ("log_pages", json!(l.log_pages)),
                ("overhead_pages", json!(l.log_pages_merged_alone)),
                ("overhead_share", ratio(l.log_pages_merged_alone, l.log_pages)),
                ("log_utilisation", ratio(l.log_pages_reclaimed, l.erases_by_kind[1] * pages)),
            ],
        );
        self.set(
            "padding",
            &[
                ("merges", json!(l.padding_merges)),
                ("r_db", ratio(l.padding_data_blocks, l.padding_merges)),
                ("r_lb", ratio(l.padding_log_blocks, l.padding_merges)),
                ("u_lb", ratio(l.padding_log_pages, l.padding_log_blocks * pages)),
                ("padded_pages", json!(l.padded_pages)),
                ("padded_from_flash", json!(l.padded_from_flash)),
                ("padded_per_dirty", ratio(l.padded_pages, l.write_back_pages)),
                ("padded_write_backs", json!(l.padded_write_backs)),
                ("flash_reads", json!(count(l, Op::Read, Cause::Pad))),
            ],
        );
    }

    fn buffer(&mut self, fake: &Fake) {
        let (l, slots) = (&fake.ledger, fake.slots());
        let dirty: Vec<_> = slots.iter().filter(|slot| slots.is_dirty(*slot)).collect();
        let in_nvram = dirty.iter().filter(|slot| slots.medium(**slot) == Medium::Nvram).count();
        assert!(!dirty.is_empty() && in_nvram > 0, "there is something to count");
        self.set(
            "buffer",
            &[
                ("write_backs", json!(l.write_back_commands)),
                ("pages_written_back", json!(l.write_back_pages)),
                ("pages_flushed_by_fill", json!(l.flushed_by_fill)),
                ("pages_flushed_by_age", json!(l.flushed_by_age)),
                ("pages_flushed_gathered", json!(l.flushed_gathered)),
                ("pages_per_write_back", ratio(l.write_back_pages, l.write_back_commands)),
                ("drops", json!(l.buffer_drops)),
                ("dirty_eviction_ratio", ratio(l.write_back_pages, l.write_back_pages + l.buffer_drops)),
                ("eviction_waits", json!(l.eviction_waits)),
                ("prefetched_pages", json!(l.prefetched_pages)),
                ("prefetch_hits", json!(l.prefetch_hits)),
                ("own_prefetch_hits", json!(l.own_prefetch_hits)),
                ("dirty_at_end", json!(dirty.len())),
                ("pages_read", json!(l.buffer_read_pages)),
                ("read_mean_ns", ratio(l.buffer_read_ns, l.buffer_read_pages)),
                ("pages_sent", json!(l.buffer_write_pages)),
                ("write_mean_ns", ratio(l.buffer_write_ns, l.write_back_pages + l.padded_pages)),
                ("dram_reads", json!(l.dram_reads)),
                ("dram_writes", json!(l.dram_writes)),
                ("nvram_reads", json!(l.nvram_reads)),
                ("nvram_writes", json!(l.nvram_writes)),
                ("nvram_writes_per_frame", ratio(l.nvram_writes, slots.frames().nvram.into())),
            ],
        );
        // A report that settles nothing; what the other ways cost is in tests/settle.rs.
        self.set(
            "settling",
            &[
                ("mode", json!("none")),
                ("dirty_pages", json!(dirty.len())),
                ("dirty_nvram_pages", json!(in_nvram)),
                ("cost", Value::Null),
            ],
        );
    }

    fn flushes(&mut self, fake: &Fake) {
        let (by_pages, by_interval) = (fake.flushes().by_pages(), fake.flushes().by_interval());
        let groups: u64 = by_pages.iter().sum();
        let pages: u64 = by_pages.iter().enumerate().map(|(size, n)| size as u64 * n).sum();
        let again: u64 = by_interval.iter().sum();
        assert!(again > 100 && by_pages.iter().filter(|n| **n > 0).count() > 2, "there is something to count");
        let fields = [("groups", json!(groups)), ("pages_mean", ratio(pages, groups)), ("again", json!(again))];
        self.set("flushes", &fields);
        for (i, size) in (0..by_pages.len()).filter(|size| by_pages[*size] > 0).enumerate() {
            let at_most: u64 = by_pages[..=size].iter().sum();
            let fields =
                [("pages", json!(size)), ("groups", json!(by_pages[size])), ("share_at_most", ratio(at_most, groups))];
            self.set(&format!("flushes.sizes[{i}]"), &fields);
        }
        for i in 0..INTERVALS.len() {
            if i > 0 && by_interval[..i].iter().sum::<u64>() == again {
                break;
            }
            let count: u64 = by_interval[..=i].iter().sum();
            let fields = [("at_most", json!(INTERVALS[i])), ("count", json!(count)), ("share", ratio(count, again))];
            self.set(&format!("flushes.intervals[{i}]"), &fields);
        }
    }

    fn mapping(&mut self, l: &Ledger) {
        let sum = |table: &[[u64; 12]; 3], op: Op| -> u64 { MAP.iter().map(|c| table[op as usize][*c as usize]).sum() };
        let look_ups = l.map_hits + l.map_misses;
        self.set(
            "mapping",
            &[
                ("hit_ratio", ratio(l.map_hits, look_ups)),
                ("look_ups.read", json!(l.look_ups[0])),
                ("look_ups.write", json!(l.look_ups[1])),
                ("look_ups.rewrite", json!(l.look_ups[2])),
                ("look_ups.trim", json!(l.look_ups[3])),
                ("misses", json!(l.map_misses)),
                ("unreadable_copies", json!(l.map_unreadable)),
                ("lost", json!(l.map_lost)),
                ("map_writes", json!(sum(&l.ops, Op::Program) + l.map_move_programs)),
                ("map_reads", json!(sum(&l.ops, Op::Read) + l.map_move_reads)),
                (
                    "service_mean_ns",
                    ratio(sum(&l.op_ns, Op::Read) + sum(&l.op_ns, Op::Program) + l.map_move_ns, look_ups),
                ),
                ("gc_runs", json!(l.gc_runs)),
                (
                    "gc_copies_per_run",
                    ratio(count(l, Op::Program, Cause::Gc) + count(l, Op::Program, Cause::MapGc), l.gc_runs),
                ),
            ],
        );
    }

    fn slc(&mut self, l: &Ledger) {
        let sent = count(l, Op::Program, Cause::Host) + count(l, Op::Program, Cause::Pad);
        self.set(
            "slc",
            &[
                ("programs", json!(l.slc_programs)),
                ("share", ratio(l.slc_programs, sent)),
                ("folded_pages", json!(l.slc_pages_folded)),
                ("erases", json!(l.slc_erases)),
            ],
        );
    }

    fn ram(&mut self, config: &Config, fake: &Fake) {
        let (slots, page) = (fake.slots(), u64::from(config.device.geometry.page_bytes));
        let (dram, nvram) = (config.ram.dram.0 / page, config.ram.nvram.0 / page);
        self.set(
            "ram",
            &[
                ("dram_frames", json!(dram)),
                ("nvram_frames", json!(nvram)),
                ("data_bytes", json!((dram + nvram) * page)),
                ("frames_used", json!(slots.iter().count())),
                ("frames_dirty", json!(slots.iter().filter(|slot| slots.is_dirty(*slot)).count())),
                ("map_bytes", json!(fake.ftl().map_bytes())),
            ],
        );
    }

    fn wear(&mut self, fake: &Fake) {
        let flash = fake.flash();
        let counts: Vec<u32> = (0..flash.geometry().blocks()).map(|pbn| flash.erase_count(Pbn(pbn))).collect();
        let n = counts.len() as f64;
        let (min, max) = (*counts.iter().min().unwrap(), *counts.iter().max().unwrap());
        assert!(max > min && max - min < 64, "bins of one erase count each");
        let mean = counts.iter().map(|c| f64::from(*c)).sum::<f64>() / n;
        // Two passes, unlike the report.
        let variance = counts.iter().map(|c| (f64::from(*c) - mean).powi(2)).sum::<f64>() / n;
        self.set(
            "wear",
            &[
                ("blocks", json!(counts.len())),
                ("erases", json!(counts.iter().sum::<u32>())),
                ("retired_blocks", json!(0)),
                ("retired_erases", json!(0)),
                ("min", json!(min)),
                ("mean", json!(mean)),
                ("max", json!(max)),
                ("stddev", json!(variance.sqrt())),
                ("blocks_per_entry", json!(1)),
            ],
        );
        for (i, count) in counts.iter().enumerate() {
            self.values.insert(format!("wear.per_block[{i}]"), json!(count));
        }
        for (i, erases) in (min..=max).enumerate() {
            let blocks = counts.iter().filter(|c| **c == erases).count();
            let fields = [("from", json!(erases)), ("to", json!(erases)), ("blocks", json!(blocks))];
            self.set(&format!("wear.histogram[{i}]"), &fields);
        }
    }

    fn endurance(&mut self, config: &Config, fake: &Fake, outcome: &Outcome) {
        let (l, geometry) = (&fake.ledger, &config.device.geometry);
        let blocks = geometry.channels
            * geometry.chips_per_channel
            * geometry.dies_per_chip
            * geometry.planes_per_die
            * geometry.blocks_per_plane;
        let page = f64::from(geometry.page_bytes);
        let physical = f64::from(blocks) * f64::from(geometry.pages_per_block) * page;
        let logical = f64::from(config.logical_pages()) * page;
        let written = 512.0 * l.host_sector_writes as f64;
        let amplification = over((total(l, Op::Program) + l.dummy_pages) as f64 * page, written);
        let (bits, unit) = (config.device.endurance.cell.bits(), config.device.commands.unit_pages);
        let slc_block = f64::from(geometry.pages_per_block / unit / bits * unit);
        let slc = config.device.cells.slc_program.map_or(0.0, |_| (l.slc_programs + l.slc_dummy_pages) as f64);
        let usual = (total(l, Op::Program) + l.dummy_pages) as f64 - slc;
        let wear = over((usual + slc * f64::from(geometry.pages_per_block) / slc_block) * page, written);
        let counts = || (0..blocks).map(|pbn| f64::from(fake.flash().erase_count(Pbn(pbn))));
        let levelling = counts().sum::<f64>() / f64::from(blocks) / counts().fold(0.0, f64::max);
        self.set(
            "endurance",
            &[
                ("cell", serde_json::to_value(config.device.endurance.cell).unwrap()),
                ("pe_cycles", json!(config.device.endurance.pe_cycles)),
                ("byte_amplification", amplification),
                ("wear_amplification", wear.clone()),
                ("levelling", json!(levelling)),
            ],
        );
        let seconds = (fake.times.last_completion.0 - outcome.start.0.min(fake.times.last_completion.0)) as f64 / 1e9;
        for (name, factor) in [("level", 1.0), ("observed", levelling)] {
            let budget = physical * f64::from(config.device.endurance.pe_cycles) * factor;
            let tbw = wear.as_f64().map(|a| budget / a);
            let from = |tbw: Option<f64>, whole: f64| tbw.map_or(Value::Null, |tbw| over(tbw, whole));
            let fields = [
                ("tbw_bytes", tbw.map_or(Value::Null, |tbw| json!(tbw))),
                ("dwpd", from(tbw, logical * 5.0 * 365.0)),
                ("lifetime_years", from(tbw, written / seconds * 365.0 * 86_400.0)),
            ];
            self.set(&format!("endurance.{name}"), &fields);
        }
    }

    fn urm(&mut self, config: &Config, l: &Ledger) {
        let (read, write) = (config.device.timing.page_read.0 as f64, config.device.timing.page_program.0 as f64);
        let accesses = (l.host_page_reads + l.host_page_writes) as f64;
        let (reads, writes) = (l.host_page_reads as f64 / accesses, l.host_page_writes as f64 / accesses);
        let hit = (l.buffer_read_hits + l.buffer_write_hits) as f64 / accesses;
        let evicted = (l.write_back_pages + l.buffer_drops) as f64;
        let dirty = if evicted == 0.0 { 0.0 } else { l.write_back_pages as f64 / evicted };
        let flush = read + write;
        let known = |value: f64, known: bool| if known { json!(value) } else { Value::Null };
        self.set(
            "urm_model",
            &[
                ("flush_ns", json!(flush)),
                ("read_ns", known((1.0 - hit) * (read + dirty * flush), accesses > 0.0)),
                ("write_ns", known((1.0 - hit) * (1.0 + dirty) * write, accesses > 0.0)),
                (
                    "write_amplification",
                    known((writes + (1.0 - hit) * dirty * reads - hit * writes) / writes, writes > 0.0),
                ),
            ],
        );
    }
}
