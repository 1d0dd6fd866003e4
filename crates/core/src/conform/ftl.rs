//! Replay of golden files for FTLs (schema `ftl-golden/1`).
//!
//! Every case runs on a serial device with real bytes: each page written carries its LPN and version, so that every
//! read is also checked against a model. Invariants of FTL and array are asserted after every operation.

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{ConformError, Difference, Kind, Report, map_cache};
use crate::error::ConfigError;
use crate::flash::{Clock, ClockTimes, Flash, Geometry, Media, ProgramOrder, Ticket, TimingModel};
use crate::ftl::{Batch, FTLS, Ftl, PageWrite, Shape};
use crate::ledger::{BlockKind, Cause, Ledger, Op};
use crate::registry;
use crate::types::{Lbn, Lpn, Nanos, Ppn};

const PAGE_BYTES: u32 = 512;

#[derive(Deserialize)]
struct Case {
    name: String,
    device: Device,
    /// Only what the mapping cache does is compared.
    #[serde(default)]
    map_only: bool,
    #[serde(default)]
    params: Map<String, Value>,
    #[serde(default)]
    steps: Vec<Step>,
    #[serde(default)]
    ops: Vec<Value>,
    #[serde(rename = "final", default)]
    end: Map<String, Value>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Device {
    program_order: ProgramOrder,
    precondition: Precondition,
    pages_per_block: u32,
    physical_blocks: u32,
    logical_pages: u32,
}

#[derive(Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
enum Precondition {
    Empty,
    Full,
}

#[derive(Deserialize)]
struct Step {
    op: Value,
    #[serde(default)]
    delta: Map<String, Value>,
    /// Text for readers.
    #[serde(default)]
    #[expect(dead_code, reason = "keeps the events out of the state")]
    events: Value,
    /// Parts of the state after the step.
    #[serde(flatten)]
    state: Map<String, Value>,
}

/// One operation of a case.
#[derive(Deserialize)]
#[serde(untagged)]
enum Operation {
    /// `["flush"]`
    Bare((String,)),
    /// `["w", lpn]`, `["r", lpn]`, `["t", lpn]`
    Page((String, u32)),
    /// `["rq", start, pages]`
    Request((String, u32, u32)),
    /// `["rq", "r" or "w", start, pages]`
    Typed((String, String, u32, u32)),
    /// `["wg", lbn, [offsets], pad]`
    Group((String, u32, Vec<u32>, bool)),
}

/// A counter of a golden file as a function of the ledger.
type Counter = (&'static str, fn(&Ledger) -> u64);

const COUNTERS: &[Counter] = &[
    ("host_writes", |l| l.host_page_writes),
    ("host_reads", |l| l.host_page_reads),
    ("host_trims", |l| l.host_page_trims),
    ("unmapped_reads", |l| l.unmapped_reads),
    ("data_reads", |l| l.count(Op::Read, Cause::Host)),
    ("host_programs", |l| l.count(Op::Program, Cause::Host)),
    ("pad_reads", |l| l.count(Op::Read, Cause::Pad)),
    ("pad_programs", |l| l.count(Op::Program, Cause::Pad)),
    ("copy_reads", |l| copies(l, Op::Read)),
    ("copy_programs", |l| copies(l, Op::Program)),
    ("map_reads_miss", |l| l.count(Op::Read, Cause::MapMiss)),
    ("map_reads_rmw", |l| l.count(Op::Read, Cause::MapEvict)),
    ("map_programs_evict", |l| l.count(Op::Program, Cause::MapEvict)),
    ("map_reads_gc", |l| l.count(Op::Read, Cause::MapUpdate)),
    ("map_programs_gc", |l| l.count(Op::Program, Cause::MapUpdate)),
    ("map_copy_reads", |l| l.count(Op::Read, Cause::MapGc)),
    ("map_copy_programs", |l| l.count(Op::Program, Cause::MapGc)),
    ("cmt_hits", |l| l.map_hits - l.map_second_hits),
    ("ctp_hits", |l| l.map_second_hits),
    ("prefetched", |l| l.map_prefetches),
    ("cmt_misses", |l| l.map_misses),
    ("gc_runs", |l| l.gc_runs),
    ("erases", Ledger::erases),
    ("erases_data", |l| l.erases_by_kind[BlockKind::Data as usize]),
    ("erases_log", |l| l.erases_by_kind[BlockKind::Log as usize]),
    ("erases_map", |l| l.erases_by_kind[BlockKind::Map as usize]),
    ("merges_switch", |l| l.merges_switch),
    ("merges_partial", |l| l.merges_partial),
    ("merges_full", |l| l.merges_full),
    ("merges_full_lbns", |l| l.merges_full_lbns),
    ("merges_dead", |l| l.merges_dead),
    ("merges_replace", |l| l.merges_replace),
];

fn copies(ledger: &Ledger, op: Op) -> u64 {
    [Cause::Gc, Cause::Merge, Cause::Wear].iter().map(|cause| ledger.count(op, *cause)).sum()
}

/// Counters that are not 0, by name.
fn counters(ledger: &Ledger, map_only: bool) -> Map<String, Value> {
    let all = COUNTERS.iter().map(|(name, count)| (*name, count(ledger)));
    let told = all.filter(|(name, count)| *count > 0 && !(map_only && map_cache::ignores(name)));
    told.map(|(name, count)| (name.to_owned(), json!(count))).collect()
}

/// Replays all cases of a file about the FTL `name`.
///
/// # Errors
/// When the FTL is not in the registry, or a case cannot be built.
pub fn run(name: &str, file: Value) -> Result<Report, ConformError> {
    #[derive(Deserialize)]
    struct File {
        cases: Vec<Value>,
    }
    let file: File = serde_json::from_value(file)?;
    let name = name.strip_suffix(map_cache::SUFFIX).unwrap_or(name);
    registry::find(FTLS, "ftl", name).map_err(ConformError::Unknown)?;
    let mut report = Report { kind: Kind::Ftl(name.to_owned()), cases: 0, steps: 0, differences: Vec::new() };
    for mut case in file.cases {
        if case.get("device").is_none() {
            map_cache::complete(name, &mut case)?;
        }
        let case: Case = serde_json::from_value(case)?;
        run_case(name, &case, &mut report)?;
    }
    Ok(report)
}

fn run_case(name: &str, case: &Case, report: &mut Report) -> Result<(), ConformError> {
    let mut bench = Bench::new(name, case).map_err(|error| ConformError::Config { case: case.name.clone(), error })?;
    report.cases += 1;
    let counters = |ledger: &Ledger| counters(ledger, case.map_only);
    let worked = case.steps.iter().map(|step| (&step.op, Some(step)));
    let long = case.ops.iter().map(|op| (op, None));
    for (number, (op, step)) in worked.chain(long).enumerate() {
        report.steps += 1;
        let before = bench.flash.ledger;
        let mut found = Vec::new();
        bench.operate(serde_json::from_value(op.clone())?, &mut found)?;
        let got = counters(&(bench.flash.ledger - before));
        if let Some(Step { delta, state, .. }) = step {
            if !same_counters(delta, &got) {
                found.push(("counters".to_owned(), json!(delta), json!(got)));
            }
            let states = state.iter().map(|(what, expected)| (what, expected, bench.end_state(what)));
            let other = states.filter(|(_, expected, got)| *expected != got);
            found.extend(other.map(|(what, expected, got)| (what.clone(), expected.clone(), got)));
        }
        for (what, expected, got) in found {
            report.differences.push(Difference {
                case: case.name.clone(),
                step: Some(number + 1),
                op: format!("{op} {what}"),
                expected,
                got,
                state: bench.state(),
            });
        }
    }
    for (what, expected) in &case.end {
        let got = if what == "counters" { json!(counters(&bench.flash.ledger)) } else { bench.end_state(what) };
        let same = match (expected, &got) {
            (Value::Object(expected), Value::Object(got)) if what == "counters" => same_counters(expected, got),
            _ => *expected == got,
        };
        if !same {
            report.differences.push(Difference {
                case: case.name.clone(),
                step: None,
                op: what.clone(),
                expected: expected.clone(),
                got,
                state: bench.state(),
            });
        }
    }
    Ok(())
}

/// Absent counters are 0.
fn same_counters(expected: &Map<String, Value>, got: &Map<String, Value>) -> bool {
    let value = |map: &Map<String, Value>, key: &String| map.get(key).cloned().unwrap_or(json!(0));
    expected.keys().chain(got.keys()).all(|key| value(expected, key) == value(got, key))
}

/// A device with a model of what every page must hold.
struct Bench {
    ftl: Box<dyn Ftl>,
    flash: Flash,
    /// Version by LPN, 0 = never written or trimmed.
    model: Vec<u64>,
    version: u64,
    /// Blocks of the device as the file has it.
    counted_blocks: u32,
}

impl Bench {
    fn new(name: &str, case: &Case) -> Result<Self, ConfigError> {
        let device = &case.device;
        // Everything runs on one die; copies of a translation page then lie side by side, as the files have it.
        let geometry = Geometry {
            channels: 1,
            chips_per_channel: 1,
            dies_per_chip: 1,
            planes_per_die: 1,
            blocks_per_plane: device.physical_blocks + kept_back(name),
            pages_per_block: device.pages_per_block,
            page_bytes: PAGE_BYTES,
        };
        let times = ClockTimes {
            page_read: Nanos::from_us(25),
            page_program: Nanos::from_us(200),
            block_erase: Nanos::from_us(1500),
            page_transfer: Nanos::ZERO,
            command: Nanos::ZERO,
        };
        let clock = Clock::new(TimingModel::Serial, times, 1, 1);
        let order = device.program_order;
        let shape = Shape { geometry, logical_pages: device.logical_pages, order, seed: 1 };
        let plugin = registry::find(FTLS, "ftl", name)?;
        let ftl = (plugin.build)(parameters(name, &case.params), &shape)?;
        let mut bench = Self {
            ftl,
            flash: Flash::new(geometry, order, Media::Memory, clock),
            model: vec![0; device.logical_pages as usize],
            version: 0,
            counted_blocks: device.physical_blocks,
        };
        if device.precondition == Precondition::Full {
            bench.fill(shape.logical_blocks());
        }
        Ok(bench)
    }

    fn fill(&mut self, logical_blocks: u32) {
        for lbn in 0..logical_blocks {
            let pages: Vec<PageWrite> = self.pages_of(lbn).map(|lpn| self.new_version(lpn)).collect();
            let bytes = contents(&pages);
            self.ftl.fill(&mut self.flash, Lbn(lbn), Batch { pages: &pages, bytes: &bytes });
        }
        self.ftl.filled(&mut self.flash);
        self.flash.start_measuring();
    }

    /// Pages of a logical block.
    fn pages_of(&self, lbn: u32) -> impl Iterator<Item = Lpn> + use<> {
        let pages = self.flash.geometry().pages_per_block;
        (lbn * pages..((lbn + 1) * pages).min(self.model.len() as u32)).map(Lpn)
    }

    fn new_version(&mut self, lpn: Lpn) -> PageWrite {
        self.version += 1;
        self.model[lpn.index()] = self.version;
        PageWrite { lpn, cause: Cause::Host, version: self.version }
    }

    fn now(&self) -> Ticket {
        Ticket::at(self.flash.now())
    }

    /// Carries out one operation; what is wrong with its answers goes to `found` as (what, expected, got).
    fn operate(&mut self, op: Operation, found: &mut Vec<(String, Value, Value)>) -> Result<(), ConformError> {
        match op {
            Operation::Bare((op,)) if op == "flush" => self.ftl.settle(&mut self.flash),
            Operation::Page((op, lpn)) if op == "w" => self.write(&[Lpn(lpn)]),
            Operation::Page((op, lpn)) if op == "r" => self.read_all(lpn..lpn + 1, found),
            Operation::Typed((op, kind, start, pages)) if op == "rq" && kind == "r" => {
                self.read_all(start..start + pages, found);
            }
            Operation::Typed((op, kind, start, pages)) if op == "rq" && kind == "w" => {
                self.write(&(start..start + pages).map(Lpn).collect::<Vec<_>>());
            }
            Operation::Page((op, lpn)) if op == "t" => {
                self.flash.ledger.host_page_trims += 1;
                self.model[lpn as usize] = 0;
                let now = self.now();
                self.ftl.trim(&mut self.flash, Lpn(lpn), now);
            }
            Operation::Request((op, start, pages)) if op == "rq" => {
                self.write(&(start..start + pages).map(Lpn).collect::<Vec<_>>());
            }
            Operation::Group((op, lbn, offsets, pad)) if op == "wg" => self.write_group(lbn, &offsets, pad, found),
            _ => return Err(ConformError::Unsupported("an operation of another kind of FTL file".to_owned())),
        }
        self.ftl.check(&self.flash);
        self.flash.check();
        Ok(())
    }

    /// The host reads pages in one request.
    fn read_all(&mut self, pages: std::ops::Range<u32>, found: &mut Vec<(String, Value, Value)>) {
        for lpn in pages.clone().map(Lpn) {
            self.flash.ledger.host_page_reads += 1;
            self.ftl.announce(Lpn(pages.end));
            if self.read(lpn, Cause::Host, found).is_none() {
                self.flash.ledger.unmapped_reads += 1;
            }
        }
    }

    /// Reads a page and compares it with the model.
    fn read(&mut self, lpn: Lpn, cause: Cause, found: &mut Vec<(String, Value, Value)>) -> Ppn {
        let now = self.now();
        let ppn = self.ftl.read(&mut self.flash, lpn, cause, now).ppn;
        let got = if ppn.is_some() { decode(self.flash.bytes(ppn)) } else { (lpn.0, 0) };
        let expected = (lpn.0, self.model[lpn.index()]);
        if got != expected {
            found.push(("(lpn, version) read".to_owned(), json!(expected), json!(got)));
        }
        ppn
    }

    /// Dirty pages on their way down, without padding.
    fn write(&mut self, lpns: &[Lpn]) {
        self.flash.ledger.host_page_writes += lpns.len() as u64;
        let pages: Vec<PageWrite> = lpns.iter().map(|lpn| self.new_version(*lpn)).collect();
        let now = self.now();
        self.ftl.write(&mut self.flash, Batch { pages: &pages, bytes: &contents(&pages) }, now);
    }

    /// Dirty pages of one logical block, padded by hand unless the FTL does that itself.
    fn write_group(&mut self, lbn: u32, offsets: &[u32], pad: bool, found: &mut Vec<(String, Value, Value)>) {
        let all: Vec<Lpn> = self.pages_of(lbn).collect();
        let dirty: Vec<Lpn> = offsets.iter().map(|offset| all[*offset as usize]).collect();
        if !pad && dirty.len() < all.len() {
            return self.write(&dirty);
        }
        self.flash.ledger.host_page_writes += dirty.len() as u64;
        let mut pages = Vec::new();
        for lpn in all {
            if dirty.contains(&lpn) {
                pages.push(self.new_version(lpn));
            } else if !self.ftl.completes_blocks() && self.model[lpn.index()] > 0 {
                self.read(lpn, Cause::Pad, found);
                pages.push(PageWrite { lpn, cause: Cause::Pad, version: self.model[lpn.index()] });
            }
        }
        let now = self.now();
        self.ftl.write_block(&mut self.flash, Lbn(lbn), Batch { pages: &pages, bytes: &contents(&pages) }, now);
    }

    /// The part `what` of the final state.
    fn end_state(&self, what: &str) -> Value {
        let geometry = self.flash.geometry();
        let pages = || (0..geometry.pages() as u32).map(Ppn);
        let ledger = &self.flash.ledger;
        match what {
            "free_blocks" => json!(self.ftl.free_blocks()),
            "programmed_pages" => json!(pages().filter(|p| self.flash.is_programmed(*p)).count()),
            "valid_data_pages" => {
                let is_data = |p: &Ppn| self.flash.oob(*p).kind == crate::flash::PageKind::Data;
                json!(pages().filter(|p| self.flash.is_valid(*p)).filter(is_data).count())
            }
            "location" => {
                let place = |lpn| match self.ftl.locate(&self.flash, Lpn(lpn)) {
                    Ppn::NONE => Value::Null,
                    ppn => json!([geometry.pbn(ppn).0, geometry.page_in_block(ppn)]),
                };
                (0..self.model.len() as u32).map(place).collect()
            }
            "erase_counts" => {
                (0..self.counted_blocks).map(|b| json!(self.flash.erase_count(crate::types::Pbn(b)))).collect()
            }
            "padding_model" => json!({
                "full_merges": ledger.merges_full,
                "sum_rlb": ledger.merges_full_log_blocks,
                "sum_log_pages": ledger.merges_full_log_pages,
            }),
            other => self.ftl.golden_state(&self.flash)[other].clone(),
        }
    }

    fn state(&self) -> String {
        format!("{} free blocks; so far {}", self.ftl.free_blocks(), json!(counters(&self.flash.ledger, false)))
    }
}

/// Parameters of a golden file in the names of this project.
fn parameters(name: &str, params: &Map<String, Value>) -> Value {
    let names: &[(&str, &str)] = match name {
        "page" => &[("gc", "victim")],
        "superblock" => &[("S", "superblock_blocks"), ("K", "update_blocks"), ("U_total", "update_blocks_total")],
        _ => &[],
    };
    let ours =
        |key: &String| names.iter().find(|(theirs, _)| theirs == key).map_or(key.clone(), |(_, ours)| (*ours).into());
    let mut params: Map<String, Value> = params.iter().map(|(key, value)| (ours(key), value.clone())).collect();
    if name == "page" {
        params.insert("frontiers".to_owned(), json!("single"));
    }
    Value::Object(params)
}

/// Blocks at the end of the array that an FTL keeps outside its free list and that the files do not count.
fn kept_back(name: &str) -> u32 {
    u32::from(name == "superblock")
}

/// Bytes of pages: LPN and version, then zeros.
fn contents(pages: &[PageWrite]) -> Vec<u8> {
    let mut bytes = vec![0; pages.len() * PAGE_BYTES as usize];
    for (page, bytes) in pages.iter().zip(bytes.chunks_exact_mut(PAGE_BYTES as usize)) {
        bytes[..4].copy_from_slice(&page.lpn.0.to_le_bytes());
        bytes[4..12].copy_from_slice(&page.version.to_le_bytes());
    }
    bytes
}

fn decode(bytes: &[u8]) -> (u32, u64) {
    let (lpn, rest) = bytes.split_at(4);
    (u32::from_le_bytes(lpn.try_into().unwrap()), u64::from_le_bytes(rest[..8].try_into().unwrap()))
}
