//! Do the page-mapped, block-mapped and hybrid FTLs do what papers, theory and NAND demand?

#![allow(clippy::print_stdout, reason = "measured numbers are part of what these tests tell")]

mod hybrid {
    pub mod reference;
}

use nandlab::conform::{self, ConformError, Kind};
use nandlab::error::ConfigError;
use nandlab::flash::{
    Clock, ClockTimes, CutMode, Flash, Geometry, Media, ProgramOrder, Ticket, TimingModel, Tombstone,
};
use nandlab::ftl::{Batch, FTLS, Ftl, PageWrite, Shape};
use nandlab::ledger::{Cause, Op};
use nandlab::registry;
use nandlab::types::{Lbn, Lpn, Nanos, Pbn};
use rand::Rng;
use rand_pcg::Pcg64Mcg;
use serde_json::{Value, json};

const PAGE_BYTES: u32 = 512;

const GOLDEN: &[(&str, &str)] = &[
    ("ftl-page.json", include_str!("golden/ftl-page.json")),
    ("ftl-block.json", include_str!("golden/ftl-block.json")),
    ("ftl-bast.json", include_str!("golden/ftl-bast.json")),
    ("ftl-fast.json", include_str!("golden/ftl-fast.json")),
    ("ftl-superblock.json", include_str!("golden/ftl-superblock.json")),
    ("ftl-last.json", include_str!("golden/ftl-last.json")),
    ("ftl-dftl.json", include_str!("golden/ftl-dftl.json")),
    ("ftl-rftl.json", include_str!("golden/ftl-rftl.json")),
];

/// Parameters worth testing beside the defaults, by FTL.
fn variants(ftl: &str) -> Vec<Value> {
    match ftl {
        "page" => vec![
            json!({}),
            json!({"frontiers": "single"}),
            json!({"frontiers": "single", "victim": "fifo", "alloc": "min_erase"}),
            json!({"frontiers": "single", "victim": "random", "reserve": 2}),
            json!({"frontiers": "single", "victim": {"d_choices": 2}}),
            json!({"frontiers": "single", "victim": {"windowed_greedy": 4}}),
            json!({"frontiers": "single", "victim": "cost_benefit"}),
            json!({"frontiers": "single", "victim": "cost_age_times"}),
            json!({"gc_frontier": "separate", "gc_slice": 2, "stripe": "dcw"}),
            json!({"frontiers": "single", "gc_frontier": "separate", "gc_slice": 1, "wear_threshold": 1}),
            json!({"placement": "round_robin", "streams": 3, "wear_threshold": 2, "alloc": "min_erase"}),
            json!({"frontiers": "single", "streams": 2, "idle_free": 2, "victim": "fifo"}),
            json!({"gc_frontier": "separate", "gc_slice": 3, "streams": 2, "idle_free": 1, "wear_threshold": 1}),
        ],
        "block" => vec![json!({}), json!({"append": true}), json!({"alloc": "min_erase"})],
        "bast" => vec![
            json!({}),
            json!({"max_chain": 4, "victim": "rr_longest", "lookahead": 2, "partial_merge": false}),
            json!({"max_chain": 2, "victim": "random", "log_map": "spare_scan"}),
            json!({"victim": "fifo", "block_write": "pagewise", "map_program": true, "alloc": "min_erase"}),
        ],
        "fast" => vec![
            json!({}),
            json!({"use_sw": false}),
            json!({"sw_switch": "lazy", "block_write": "pagewise", "alloc": "min_erase"}),
            json!({"cond1_rw_check": true}),
        ],
        "superblock" => vec![
            json!({}),
            json!({"superblock_blocks": 2, "update_blocks": 1, "update_blocks_total": 1}),
            json!({"superblock_blocks": 3, "update_blocks": 2, "update_blocks_total": 3, "cache_entries": 5}),
            json!({"superblock_blocks": 1, "update_blocks": 3, "alloc": "min_erase"}),
        ],
        "last" => vec![
            json!({}),
            json!({"seq_blocks": 2, "hot_blocks": 2, "cold_blocks": 3, "threshold": 3, "alloc": "min_erase"}),
            json!({"seq_blocks": 3, "hot_blocks": 1, "threshold": 1}),
        ],
        _ => vec![json!({})],
    }
}

fn shape(pages_per_block: u32, blocks: u32, logical_pages: u32, order: ProgramOrder) -> Shape {
    let geometry = Geometry {
        channels: 1,
        chips_per_channel: 1,
        dies_per_chip: 1,
        planes_per_die: 1,
        blocks_per_plane: blocks,
        pages_per_block,
        page_bytes: PAGE_BYTES,
    };
    Shape { geometry, logical_pages, order, seed: 7 }
}

/// The same device, its blocks spread over two channels of two dies (rounded up).
fn on_four_dies(mut shape: Shape) -> Shape {
    let geometry = &mut shape.geometry;
    geometry.blocks_per_plane = geometry.blocks_per_plane.div_ceil(4);
    geometry.channels = 2;
    geometry.dies_per_chip = 2;
    shape
}

fn build(ftl: &str, params: &Value, shape: &Shape) -> Result<Box<dyn Ftl>, ConfigError> {
    (registry::find(FTLS, "ftl", ftl)?.build)(params.clone(), shape)
}

/// HitStat's times: reads cost nothing, so that elapsed time is erases and programs only.
fn flash(shape: &Shape, media: Media) -> Flash {
    let times = ClockTimes {
        page_read: Nanos::ZERO,
        page_program: Nanos::from_us(800),
        block_erase: Nanos::from_us(1500),
        page_transfer: Nanos::ZERO,
        command: Nanos::ZERO,
    };
    Flash::new(
        shape.geometry,
        shape.order,
        media,
        Clock::new(TimingModel::Serial, times, shape.geometry.channels, shape.geometry.dies()),
    )
}

fn below(rng: &mut Pcg64Mcg, bound: u32) -> u32 {
    ((u128::from(rng.next_u64()) * u128::from(bound)) >> 64) as u32
}

/// How a test device begins.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Start {
    /// As small as possible, nothing written.
    Empty,
    /// As small as possible, every page written once.
    Full,
    /// With more blocks, every page written once, programs in any order.
    Roomy,
}

/// A device with real bytes and a model of what every page must hold.
struct Device {
    name: String,
    params: Value,
    shape: Shape,
    ftl: Box<dyn Ftl>,
    flash: Flash,
    /// By LPN: version, 0 = reads as zeros.
    model: Vec<u64>,
    /// By LPN: the version an operation in flight may have left instead.
    in_flight: Vec<Option<u64>>,
    version: u64,
    rng: Pcg64Mcg,
}

impl Device {
    /// The smallest device that the FTL accepts, with some more blocks when it is to be roomy.
    fn new(name: &str, params: &Value, (pages, logical, dies): (u32, u32, u32), start: Start) -> Option<Self> {
        let order = if start == Start::Roomy { ProgramOrder::Any } else { ProgramOrder::Ascending };
        let shape = |blocks| {
            let shape = shape(pages, blocks, logical, order);
            if dies == 1 { shape } else { on_four_dies(shape) }
        };
        let least = logical.div_ceil(pages);
        for blocks in least..least + 64 {
            if build(name, params, &shape(blocks)).is_ok() {
                let shape = shape(if start == Start::Roomy { blocks + 5 } else { blocks });
                let mut device = Self {
                    name: name.to_owned(),
                    params: params.clone(),
                    ftl: build(name, params, &shape).unwrap(),
                    flash: flash(&shape, Media::Memory),
                    shape,
                    model: vec![0; logical as usize],
                    in_flight: vec![None; logical as usize],
                    version: 0,
                    rng: Pcg64Mcg::new(1),
                };
                if start != Start::Empty {
                    device.fill();
                }
                return Some(device);
            }
        }
        None
    }

    fn now(&self) -> Ticket {
        Ticket::at(self.flash.now())
    }

    fn contents(pages: &[PageWrite]) -> Vec<u8> {
        let mut bytes = vec![0; pages.len() * PAGE_BYTES as usize];
        for (page, bytes) in pages.iter().zip(bytes.chunks_exact_mut(PAGE_BYTES as usize)) {
            bytes[..4].copy_from_slice(&page.lpn.0.to_le_bytes());
            bytes[4..12].copy_from_slice(&page.version.to_le_bytes());
        }
        bytes
    }

    fn fill(&mut self) {
        for lbn in 0..self.shape.logical_blocks() {
            let pages: Vec<PageWrite> = self.pages_of(lbn).map(|lpn| self.renew(lpn)).collect();
            let batch = Batch { pages: &pages, bytes: &Self::contents(&pages) };
            self.ftl.fill(&mut self.flash, Lbn(lbn), batch);
        }
        self.ftl.filled(&mut self.flash);
        self.flash.start_measuring();
        self.acknowledge();
    }

    fn pages_of(&self, lbn: u32) -> impl Iterator<Item = u32> + use<> {
        let pages = self.shape.geometry.pages_per_block;
        lbn * pages..((lbn + 1) * pages).min(self.shape.logical_pages)
    }

    /// A new version of a page, in flight until acknowledged.
    fn renew(&mut self, lpn: u32) -> PageWrite {
        self.version += 1;
        self.in_flight[lpn as usize] = Some(self.version);
        PageWrite { lpn: Lpn(lpn), cause: Cause::Host, version: self.version }
    }

    fn acknowledge(&mut self) {
        for (model, new) in self.model.iter_mut().zip(&mut self.in_flight) {
            *model = new.take().unwrap_or(*model);
        }
    }

    /// One random operation; its effects stay in flight.
    fn operate(&mut self) {
        let logical = self.shape.logical_pages;
        let lpn = if below(&mut self.rng, 4) == 0 { below(&mut self.rng, 6) } else { below(&mut self.rng, logical) };
        let now = self.now();
        match below(&mut self.rng, 100) {
            0..45 => {
                let page = [self.renew(lpn)];
                let batch = Batch { pages: &page, bytes: &Self::contents(&page) };
                self.ftl.write(&mut self.flash, batch, now);
            }
            45..58 => {
                let end = (lpn + 1 + below(&mut self.rng, 7)).min(logical);
                let pages: Vec<PageWrite> = (lpn..end).map(|lpn| self.renew(lpn)).collect();
                let batch = Batch { pages: &pages, bytes: &Self::contents(&pages) };
                self.ftl.write(&mut self.flash, batch, now);
            }
            58..70 => self.write_block(lpn / self.shape.geometry.pages_per_block),
            70..85 => self.read(lpn),
            85..96 => {
                self.version += 1;
                self.in_flight[lpn as usize] = Some(0);
                self.flash.journal(&[Tombstone { lpn: Lpn(lpn), version: self.version }]);
                self.ftl.trim(&mut self.flash, Lpn(lpn), now);
            }
            96..98 => self.ftl.idle(&mut self.flash, Nanos(u64::MAX / 4)),
            _ => self.ftl.settle(&mut self.flash),
        }
    }

    /// Some dirty pages of a logical block, padded to the whole.
    fn write_block(&mut self, lbn: u32) {
        let mut pages = Vec::new();
        let now = self.now();
        for lpn in self.pages_of(lbn) {
            if below(&mut self.rng, 2) == 0 {
                pages.push(self.renew(lpn));
            } else if self.model[lpn as usize] > 0 && !self.ftl.completes_blocks() {
                self.ftl.read(&mut self.flash, Lpn(lpn), Cause::Pad, now);
                pages.push(PageWrite { lpn: Lpn(lpn), cause: Cause::Pad, version: self.model[lpn as usize] });
            }
        }
        let batch = Batch { pages: &pages, bytes: &Self::contents(&pages) };
        self.ftl.write_block(&mut self.flash, Lbn(lbn), batch, now);
    }

    fn found(&mut self, lpn: u32) -> u64 {
        let now = self.now();
        let ppn = self.ftl.read(&mut self.flash, Lpn(lpn), Cause::Host, now).ppn;
        if ppn.is_none() {
            return 0;
        }
        let bytes = self.flash.bytes(ppn);
        assert_eq!(bytes[..4], lpn.to_le_bytes(), "{} {}: page of another lpn", self.name, self.params);
        u64::from_le_bytes(bytes[4..12].try_into().unwrap())
    }

    fn read(&mut self, lpn: u32) {
        let found = self.found(lpn);
        assert_eq!(found, self.model[lpn as usize], "{} {}: lpn {lpn}", self.name, self.params);
    }

    fn check(&self) {
        self.ftl.check(&self.flash);
        self.flash.check();
    }

    /// Power comes back: a new FTL finds everything in the array. Cuts again inside the recovery `again` times.
    fn recover(&mut self, mode: CutMode, again: u64) {
        for step in (0..=again).rev() {
            self.flash.restore();
            self.ftl = build(&self.name, &self.params, &self.shape).unwrap();
            if step > 0 {
                self.flash.arm_cut(step, mode);
            }
            self.ftl.rebuild(&mut self.flash);
        }
        self.check();
        for lpn in 0..self.shape.logical_pages {
            let found = self.found(lpn);
            let (acknowledged, new) = (self.model[lpn as usize], self.in_flight[lpn as usize].take());
            assert!(
                found == acknowledged || Some(found) == new,
                "{} {}: lpn {lpn} holds version {found}, acknowledged {acknowledged}, in flight {new:?}",
                self.name,
                self.params
            );
            self.model[lpn as usize] = found;
        }
    }
}

#[test]
fn does_every_ftl_do_what_the_worked_examples_say() {
    for (file, text) in GOLDEN {
        match conform::run(text) {
            Ok(report) => {
                let all: Vec<String> = report.differences.iter().map(ToString::to_string).collect();
                println!("{file}: {} cases, {} steps, {} differences", report.cases, report.steps, all.len());
                assert!(all.is_empty(), "{file}:\n{}", all.join("\n"));
            }
            Err(ConformError::Unknown(error)) => println!("{file}: skipped, {error}"),
            Err(error) => panic!("{file}: {error}"),
        }
    }
}

#[test]
fn does_the_conformance_runner_notice_a_wrong_number() {
    let (_, text) = GOLDEN[3];
    assert_eq!(conform::read(text).unwrap(), Kind::Ftl("fast".to_owned()));
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
    for text in
        ["{", "{}", r#"{"schema": "ftl-golden/1", "ftl": "tpftl (mapping cache only)", "cases": [{"name": "a"}]}"#]
    {
        assert!(matches!(conform::run(text), Err(ConformError::Malformed(_) | ConformError::Unsupported(_))), "{text}");
    }
    assert!(matches!(conform::run(include_str!("golden/ftl-hitstat-tables.json")), Err(ConformError::Unsupported(_))));
}

#[test]
fn does_every_ftl_return_what_was_written_last() {
    const OPERATIONS: u32 = 110_000;
    let sizes = [(4, 32, 1), (4, 30, 1), (8, 53, 4), (5, 23, 1)];
    for plugin in FTLS {
        let name = plugin.name();
        let variants = variants(&name);
        let starts = [Start::Empty, Start::Full, Start::Roomy];
        let starts: Vec<_> = sizes.iter().flat_map(|size| starts.map(|start| (*size, start))).collect();
        let each = OPERATIONS / (variants.len() * starts.len()) as u32;
        let mut total = 0;
        for params in &variants {
            for (size, start) in &starts {
                let mut device = Device::new(&name, params, *size, *start).expect("64 spare blocks are enough");
                for _ in 0..each {
                    device.operate();
                    device.acknowledge();
                    device.check();
                    total += 1;
                }
                for lpn in 0..device.shape.logical_pages {
                    device.read(lpn);
                }
                let erased: u64 =
                    (0..device.shape.geometry.blocks()).map(|b| u64::from(device.flash.erase_count(Pbn(b)))).sum();
                assert_eq!(erased, device.flash.ledger.erases());
            }
        }
        println!("{name}: {total} operations in {} variants", variants.len());
    }
}

/// Every combination of the options of `page` that change where pages go or when room is made, each with another victim.
fn page_combinations() -> Vec<Value> {
    let victims = ["greedy", "fifo", "random", "cost_benefit", "cost_age_times"];
    let mut all = Vec::new();
    for number in 0..96 {
        let mut params = json!({
            "victim": victims[number % victims.len()],
            "frontiers": if number & 1 == 0 { "single" } else { "die" },
            "placement": if number & 2 == 0 { "lpn" } else { "round_robin" },
            "streams": if number & 4 == 0 { 1 } else { 3 },
            "idle_free": number as u32 >> 3 & 1,
            "alloc": if number & 8 == 0 { "fifo" } else { "min_erase" },
        });
        if number & 16 != 0 {
            params["wear_threshold"] = json!(1 + number % 3);
        }
        if number >= 32 {
            params["gc_frontier"] = json!("separate");
        }
        if number >= 64 {
            params["gc_slice"] = json!(1 + number % 4);
        }
        all.push(params);
    }
    all
}

#[test]
fn does_page_keep_its_data_with_every_combination_of_options() {
    let mut moved = [0; 3];
    for params in page_combinations() {
        for (size, start) in [((4, 29, 1), Start::Full), ((4, 30, 4), Start::Empty), ((4, 30, 4), Start::Roomy)] {
            let mut device = Device::new("page", &params, size, start).expect("64 spare blocks are enough");
            for _ in 0..400 {
                device.operate();
                device.acknowledge();
                device.check();
            }
            (0..device.shape.logical_pages).for_each(|lpn| device.read(lpn));
            let ledger = &device.flash.ledger;
            let count = |op| [Cause::Host, Cause::Gc, Cause::Wear].map(|cause| ledger.count(op, cause));
            assert_eq!(
                ledger.programs(),
                count(Op::Program).iter().sum::<u64>() + ledger.count(Op::Program, Cause::Pad)
            );
            assert_eq!(count(Op::Program)[1..], count(Op::Read)[1..], "a copy is one read and one program");
            assert_eq!(count(Op::Erase)[1] + count(Op::Erase)[2], ledger.erases());
            moved = std::array::from_fn(|i| moved[i] + count(Op::Erase)[i]);
            if params.get("wear_threshold").is_none() {
                assert_eq!(count(Op::Erase)[2], 0, "{params}: levelling that nobody asked for");
            }
        }
    }
    assert!(moved[1] > 20_000 && moved[2] > 1_000, "erases by cause {moved:?}");
}

#[test]
fn does_every_ftl_survive_a_power_cut_at_every_flash_operation() {
    let mut cuts = 0;
    for plugin in FTLS {
        let name = plugin.name();
        for params in &variants(&name) {
            for (seed, start, size) in
                [(1, Start::Full, (4, 16, 1)), (2, Start::Empty, (4, 14, 1)), (3, Start::Roomy, (4, 18, 4))]
            {
                let mut nth = 1;
                'cut: loop {
                    for (turn, mode) in [CutMode::Before, CutMode::After, CutMode::Torn].into_iter().enumerate() {
                        let mut device = Device::new(&name, params, size, start).unwrap();
                        device.rng = Pcg64Mcg::new(seed);
                        device.flash.arm_cut(nth, mode);
                        if !run_until_cut(&mut device, 40) {
                            break 'cut;
                        }
                        device.recover(mode, (nth + turn as u64) % 4);
                        // The run goes on and is cut again, three times.
                        for more in 0..3 {
                            device.flash.arm_cut(1 + (nth * 7 + more * 5) % 23, mode);
                            run_until_cut(&mut device, 40);
                            device.recover(mode, (nth + more) % 3);
                            cuts += 1;
                        }
                        cuts += 1;
                    }
                    nth += 1;
                }
            }
        }
    }
    println!("{cuts} power cuts");
    assert!(cuts > 10_000);
}

/// Operates until the armed cut happens; the operation that it falls on stays in flight.
fn run_until_cut(device: &mut Device, operations: u32) -> bool {
    for _ in 0..operations {
        device.operate();
        if device.flash.is_cut() {
            return true;
        }
        device.acknowledge();
        device.check();
    }
    false
}

/// A device without bytes, filled, for counting.
fn counting(name: &str, params: &Value, pages: u32, blocks: u32, logical: u32) -> (Box<dyn Ftl>, Flash) {
    let shape = shape(pages, blocks, logical, ProgramOrder::Ascending);
    let mut ftl = build(name, params, &shape).unwrap();
    let mut flash = flash(&shape, Media::None);
    for lbn in 0..shape.logical_blocks() {
        let all: Vec<PageWrite> =
            (lbn * pages..((lbn + 1) * pages).min(logical)).map(|lpn| page(lpn, Cause::Host)).collect();
        ftl.fill(&mut flash, Lbn(lbn), Batch { pages: &all, bytes: &[] });
    }
    ftl.filled(&mut flash);
    flash.start_measuring();
    (ftl, flash)
}

fn page(lpn: u32, cause: Cause) -> PageWrite {
    PageWrite { lpn: Lpn(lpn), cause, version: 0 }
}

fn write_uniformly(ftl: &mut Box<dyn Ftl>, flash: &mut Flash, rng: &mut Pcg64Mcg, logical: u32, writes: u64) {
    for _ in 0..writes {
        let one = [page(below(rng, logical), Cause::Host)];
        ftl.write(flash, Batch { pages: &one, bytes: &[] }, Ticket::at(Nanos::ZERO));
    }
}

#[track_caller]
fn close(what: &str, got: f64, expected: f64, relative: f64) {
    let error = got / expected - 1.0;
    println!("{what}: {got:.4} expected {expected:.4} ({:+.2} %)", error * 100.0);
    assert!(error.abs() <= relative, "{what}: {got} instead of {expected} within {relative}");
}

#[test]
fn does_fast_follow_its_closed_form() {
    for (blocks, rw, expected) in [(500, 10, 13.2587), (500, 40, f64::NAN), (300, 4, f64::NAN)] {
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
        close(&format!("{name} associativity"), associativity, n * merged, tolerance);
        if expected.is_finite() {
            close(&format!("{name} against the reference model"), per_write(window.programs()), expected, 0.01);
        }
    }
}

#[test]
fn does_bast_thrash_as_theory_says() {
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
fn is_last_with_everything_sequential_the_original_bast() {
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
            ftl.write(&mut flash, Batch { pages: &run, bytes: &[] }, Ticket::at(Nanos::ZERO));
        }
        let l = flash.ledger;
        (l.ops, l.erases_by_kind, l.merges_switch, l.merges_partial, l.merges_full, l.merges_full_lbns, l.merges_dead)
    });
    assert_eq!(counts[0], counts[1]);
    let (.., switches, partial, full, _, dead) = counts[0];
    assert!(switches > 100 && partial > 100 && full > 100 && dead == 0, "{switches} {partial} {full} {dead}");
}

#[test]
fn does_one_superblock_amplify_like_greedy_page_mapping() {
    let params = json!({"superblock_blocks": 1 << 20, "update_blocks": 1 << 20});
    write_amplification("superblock", &params, "greedy", "0.2", 25, 6);
    write_amplification("superblock", &params, "greedy", "0.28", 25, 6);
}

#[test]
fn does_overwriting_whole_blocks_cost_one_erase_each() {
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
                ftl.write_block(&mut flash, Lbn(lbn), Batch { pages: &all, bytes: &[] }, Ticket::at(Nanos::ZERO));
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
        let batch = Batch { pages: &batch, bytes: &[] };
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
fn do_the_relations_among_hitstats_rows_hold_for_fast_and_bast() {
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
fn do_hitstats_tables_follow_from_their_formulas() {
    let tables: Value = serde_json::from_str(include_str!("golden/ftl-hitstat-tables.json")).unwrap();
    let (n, ce, cw) = (128.0, 1.5, 0.8);
    let mut rows = 0;
    let mut model_rows = 0;
    for (table, is_bast) in [("bast", true), ("fast", false)] {
        for row in tables[table].as_array().unwrap() {
            let number = |key: &str| row[key].as_f64();
            let (erases, writes) = (number("erases").unwrap(), number("page_writes").unwrap());
            let elapsed = erases * 0.0015 + writes * 0.0008;
            assert!((elapsed - number("elapsed_s").unwrap()).abs() < 0.001, "elapsed time of {row}");
            rows += 1;
            let share = if is_bast {
                let Some(r) = number("R_LB") else { continue };
                let u = number("U_LB_percent").unwrap() / 100.0;
                r * u * (ce + n * cw) / ((r + 1.0) * ce + (r * u + 1.0) * n * cw)
            } else {
                let Some(r) = number("R_DB") else { continue };
                1.0 / (r + 1.0)
            };
            model_rows += 1;
            assert!((share - number("Bw_over_N_recomputed").unwrap()).abs() < 6e-5, "{share} in {row}");
            assert!((share - number("Bw_over_N_printed").unwrap()).abs() < 0.0101, "{share} in {row}");
        }
    }
    assert_eq!(rows, 40);
    println!("{rows} rows, {model_rows} with the padding model");
    assert!(model_rows >= 36);
}

#[test]
fn does_padding_save_what_hitstats_figure_8_says() {
    for (name, params) in [
        ("bast", json!({"max_chain": 4, "victim": "rr_longest", "partial_merge": false})),
        ("fast", json!({"use_sw": false})),
    ] {
        let dirty = [page(5, Cause::Host), page(7, Cause::Host)];
        let (mut ftl, mut flash) = counting(name, &params, 4, 9, 16);
        ftl.write(&mut flash, Batch { pages: &dirty, bytes: &[] }, Ticket::at(Nanos::ZERO));
        ftl.settle(&mut flash);
        assert_eq!((flash.ledger.erases(), flash.ledger.programs()), (2, 6), "{name} without padding");
        let padded = [page(4, Cause::Pad), dirty[0], page(6, Cause::Pad), dirty[1]];
        let (mut ftl, mut flash) = counting(name, &params, 4, 9, 16);
        ftl.write_block(&mut flash, Lbn(1), Batch { pages: &padded, bytes: &[] }, Ticket::at(Nanos::ZERO));
        ftl.settle(&mut flash);
        assert_eq!((flash.ledger.erases(), flash.ledger.programs()), (1, 4), "{name} with padding");
        assert_eq!(flash.ledger.count(Op::Program, Cause::Pad), 2);
    }
}

#[test]
fn does_the_padding_model_count_early_reclaims() {
    // A chain of 5 pages in 2 log blocks is freed by a padded write with 2 dirty pages: as if 7 pages had been logged.
    let params = json!({"max_chain": 4, "victim": "rr_longest", "partial_merge": false});
    let (mut ftl, mut flash) = counting("bast", &params, 4, 16, 16);
    let now = Ticket::at(Nanos::ZERO);
    for _ in 0..5 {
        ftl.write(&mut flash, Batch { pages: &[page(1, Cause::Host)], bytes: &[] }, now);
    }
    let padded = [page(0, Cause::Host), page(1, Cause::Host), page(2, Cause::Pad), page(3, Cause::Pad)];
    ftl.write_block(&mut flash, Lbn(0), Batch { pages: &padded, bytes: &[] }, now);
    let l = flash.ledger;
    assert_eq!((l.padding_merges, l.padding_log_blocks, l.padding_data_blocks, l.padding_log_pages), (1, 2, 1, 7));
    assert_eq!((l.merges_full, l.merges_switch, l.erases()), (0, 1, 3));
}

#[test]
fn does_a_batch_of_one_logical_block_cost_one_replacement() {
    let (mut ftl, mut flash) = counting("block", &json!({}), 4, 6, 16);
    let batch: Vec<PageWrite> = [1, 2, 4, 7, 8].map(|lpn| page(lpn, Cause::Host)).to_vec();
    ftl.write(&mut flash, Batch { pages: &batch, bytes: &[] }, Ticket::at(Nanos::ZERO));
    assert_eq!((flash.ledger.merges_replace, flash.ledger.erases(), flash.ledger.programs()), (3, 3, 12));
}

#[test]
fn does_the_log_map_in_spare_areas_cost_one_read_a_page_searched() {
    let params = json!({"max_chain": 2, "log_map": "spare_scan", "log_blocks": 4});
    let (mut ftl, mut flash) = counting("bast", &params, 4, 16, 16);
    let now = Ticket::at(Nanos::ZERO);
    for lpn in [1, 3, 3, 2, 3, 3] {
        ftl.write(&mut flash, Batch { pages: &[page(lpn, Cause::Host)], bytes: &[] }, now);
    }
    let reads = |ftl: &mut Box<dyn Ftl>, flash: &mut Flash, lpn: u32| {
        let start = flash.ledger;
        ftl.read(flash, Lpn(lpn), Cause::Host, now);
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
fn are_impossible_configurations_refused_with_a_hint() {
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
fn does_the_map_take_the_ram_that_the_papers_say() {
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

/// Measured against the closed forms in write-amplification.csv: uniform writes, one frontier for host and collection.
fn write_amplification(ftl: &str, params: &Value, csv_policy: &str, op: &str, warm_up: u64, measured: u64) {
    const PAGES: u32 = 64;
    const BLOCKS: u32 = 1024;
    let row = include_str!("golden/write-amplification.csv")
        .lines()
        .map(|line| line.split(',').collect::<Vec<_>>())
        .find(|r| {
            (r[0], r[1], r[2], r[3], r[4], r[7])
                == (csv_policy, "uniform", "single frontier", "spare/logical", op, "64")
        })
        .expect("the table has the row");
    let (rho, formula): (f64, f64) = (row[5].parse().unwrap(), row[13].parse().unwrap());
    // T = (blocks - reserve) * pages: the reserve is on top.
    let logical = (rho * f64::from(PAGES * BLOCKS)).round() as u32;
    let (mut ftl, mut flash) = counting(ftl, params, PAGES, BLOCKS + 1, logical);
    let mut rng = Pcg64Mcg::new(17);
    write_uniformly(&mut ftl, &mut flash, &mut rng, logical, warm_up * u64::from(logical));
    let start = flash.ledger;
    write_uniformly(&mut ftl, &mut flash, &mut rng, logical, measured * u64::from(logical));
    let window = flash.ledger - start;
    let amplification = window.programs() as f64 / window.count(Op::Program, Cause::Host) as f64;
    close(&format!("{csv_policy} OP {op}"), amplification, formula, 0.01);
}
