//! What each path through the device costs, over the registries: buffer hits, FTLs, buffers. Markdown tables.
//!
//! `cargo bench -p nandlab --bench paths [-- <part> [name [requests]]]` with the part `hits` (every access hits), `zipf`
//! (hits and misses, each buffer alone and over the page FTL), `ftls`
//! (each FTL without a buffer; `ftls-uniform`, `ftls-zipf`, `ftls-sequential` or `ftls-reads` is one workload of it) or
//! `mix` (each buffer over the page FTL on a mixed workload), and the name of a buffer or FTL. One part, one name and a
//! number of requests give instruction counts under `valgrind --tool=callgrind`; the count of two numbers of requests
//! subtracted is free of the preparation (`scripts/ftl-instructions.sh`).
#![allow(missing_docs, clippy::print_stdout)]

mod common;

use std::cell::Cell;

use common::cpu_seconds;
use nandlab::catalog::BUFFERS;
use nandlab::config::{Builder, Config};
use nandlab::engine::Ssd;
use nandlab::ftl::FTLS;
use nandlab::ledger::Ledger;
use nandlab::types::{HostOp, HostRequest, Lpn, Nanos};

/// 512 MiB raw in 32 dies; blocks of 512 KiB; a buffer of 16 MiB, and NVRAM for the policies that use it.
const DEVICE: [&str; 4] = [
    "device.geometry={channels=8, chips_per_channel=4, dies_per_chip=1, planes_per_die=1, blocks_per_plane=32, \
     pages_per_block=128, page_bytes=4096}",
    "device.over_provisioning={spare_over_physical=0.2}",
    "ram.dram=16MiB",
    "ram.nvram=16MiB",
];
const PAGE_SECTORS: u64 = 8;
/// Pages that every policy keeps resident: a quarter of the buffer, so that lists of several regions have room.
const RESIDENT: u64 = 1_000;
/// The best of several runs: other users of the machine can only make it slower.
const REPEATS: u32 = 3;
const BATCH: usize = 4096;
/// Requests made at a time: few enough to stay in the processor's caches.
const WORKLOAD: u64 = 1 << 18;

/// A part of the suite: its name and what measures one plug-in.
struct Part {
    name: &'static str,
    title: &'static str,
    columns: &'static str,
    requests: u64,
    plugins: fn() -> Vec<String>,
    row: fn(&str, u64) -> String,
}

const PARTS: [Part; 7] = [
    Part {
        name: "hits",
        title: "Buffer hits: 4 KiB, half of them writes, everything resident",
        columns: "buffer | whole engine, M accesses/s | hit-ratio-only, M accesses/s",
        requests: 2_000_000,
        plugins: || BUFFERS.iter().map(nandlab::registry::Plugin::name).collect(),
        row: hits,
    },
    Part {
        name: "zipf",
        title: "Zipf's law with exponent 1 over a million scattered pages, buffer of 100,000 pages, half of it writes: the \
                policy alone, and over the page FTL",
        columns: "buffer | hit-ratio-only, M accesses/s | whole engine, M accesses/s | M flash operations/s | page hit ratio",
        requests: 4_000_000,
        plugins: || BUFFERS.iter().map(nandlab::registry::Plugin::name).collect(),
        row: zipf,
    },
    Part {
        name: "ftls-uniform",
        title: "FTLs: uniform random page writes on a full device, no buffer, queue depth 32",
        columns: FTL_COLUMNS,
        requests: 100_000,
        plugins: ftls,
        row: |ftl, requests| measure_ftl(ftl, requests, |random, pages| request(HostOp::Write, random.below(pages), 1)),
    },
    Part {
        name: "ftls-zipf",
        title: "FTLs: page writes by Zipf's law with exponent 1, scattered over a full device",
        columns: FTL_COLUMNS,
        requests: 100_000,
        plugins: ftls,
        row: |ftl, requests| measure_ftl(ftl, requests, |random, pages| request(HostOp::Write, random.zipf(pages), 1)),
    },
    Part {
        name: "ftls-sequential",
        title: "FTLs: sequential writes of 8 pages on a full device",
        columns: FTL_COLUMNS,
        requests: 50_000,
        plugins: ftls,
        row: |ftl, requests| {
            let at = Cell::new(0);
            measure_ftl(ftl, requests, |_, pages| request(HostOp::Write, at.replace(at.get() + 8) % (pages / 8 * 8), 8))
        },
    },
    Part {
        name: "ftls-reads",
        title: "FTLs: uniform random page reads, most of which miss the map cache",
        columns: FTL_COLUMNS,
        requests: 100_000,
        plugins: ftls,
        row: |ftl, requests| measure_ftl(ftl, requests, |random, pages| request(HostOp::Read, random.below(pages), 1)),
    },
    Part {
        name: "mix",
        title: "Mixed workload over the page FTL: 60 % writes, three quarters of it to a twelfth of the pages, 4 to 32 KiB",
        columns: "buffer | k requests/s | M page accesses/s | M flash operations/s | page hit ratio",
        requests: 200_000,
        plugins: || BUFFERS.iter().map(nandlab::registry::Plugin::name).collect(),
        row: mix,
    },
];

const FTL_COLUMNS: &str =
    "FTL | k requests/s | M flash operations/s | flash operations a request | WAF | flash operations";

/// Options whose price is of interest, as an FTL and its settings.
const OPTIONS: [&str; 9] = [
    "page frontiers=single",
    "page streams=4",
    "page wear_threshold=4",
    "page gc_frontier=separate gc_slice=4",
    "page idle_free=2",
    "page placement=round_robin",
    "page stripe=wcd",
    "dftl streams=4",
    "learnedftl group_tps=16",
];

/// Every FTL, and those with options.
fn ftls() -> Vec<String> {
    FTLS.iter().map(nandlab::registry::Plugin::name).chain(OPTIONS.map(str::to_owned)).collect()
}

fn main() {
    let (options, arguments): (Vec<String>, Vec<String>) = std::env::args().skip(1).partition(|a| a.starts_with("--"));
    // Without `--bench` this is a test run: does it still work?
    let part_of = if options.iter().any(|o| o == "--bench") { 1 } else { 50 };
    let [part, name] = [0, 1].map(|n| arguments.get(n).map(String::as_str));
    let requests: Option<u64> = arguments.get(2).map(|n| n.parse().expect("a number of requests"));
    for p in PARTS.iter().filter(|p| part.is_none_or(|part| p.name.starts_with(part))) {
        println!("\n### {}\n\n| {} |", p.title, p.columns);
        println!("|-{}|", "|-".repeat(p.columns.matches('|').count()));
        for plugin in (p.plugins)().iter().filter(|plugin| name.is_none_or(|name| name == *plugin)) {
            println!("| {plugin} | {} |", (p.row)(plugin, requests.unwrap_or(p.requests / part_of)));
        }
    }
}

/// Every access hits (except for a policy that keeps nothing).
fn hits(buffer: &str, requests: u64) -> String {
    let warm: Vec<_> = (0..RESIDENT).map(|page| request(HostOp::Write, page, 1)).collect();
    let touch = |random: &mut Lcg| {
        let op = if random.below(2) == 0 { HostOp::Read } else { HostOp::Write };
        request(op, random.below(RESIDENT), 1)
    };
    let config = small(&["precondition=none", &format!("buffer.name={buffer}")]);
    let engine = best(|| {
        let mut device = config.build().expect("the device builds");
        device.run(&warm).expect("inside the device");
        replay(requests, touch, |batch| device.run(batch).expect("inside the device"))
    });
    let alone = best(|| {
        let mut hits = config.build_hits().expect("the policy builds");
        hits.run(&warm).expect("inside the device");
        replay(requests, touch, |batch| hits.run(batch).expect("inside the device"))
    });
    let rate = |seconds: f64| requests as f64 / seconds / 1e6;
    format!("{:.1} | {:.1}", rate(engine), rate(alone))
}

/// 5 GiB raw in 32 dies, a million logical pages, and more RAM than drives have.
const LARGE: [&str; 5] = [
    "device.geometry={channels=8, chips_per_channel=4, dies_per_chip=1, planes_per_die=1, blocks_per_plane=320, \
     pages_per_block=128, page_bytes=4096}",
    "device.over_provisioning={logical_pages=1000000}",
    "ram.dram=409600000",
    "ram.nvram=40960000",
    "precondition=full",
];
/// The whole engine gets a part of the accesses: it is that much slower.
const ENGINE_PART: u64 = 8;
/// Seconds after which a row ends.
const SECONDS_MAX: f64 = 3.0;

/// Hits and misses, in the policy alone and with a device below. Batches are all reads or all writes in turn.
fn zipf(buffer: &str, requests: u64) -> String {
    let name = format!("buffer.name={buffer}");
    let config = config(LARGE.iter().copied().chain([name.as_str()]));
    let mut random = Lcg(1);
    let trace: Vec<Lpn> = (0..requests).map(|_| Lpn(random.zipf(u64::from(config.logical_pages())) as u32)).collect();
    let is_write = |batch: usize| batch % 2 == 1;
    let alone = best(|| {
        let mut hits = config.build_hits().expect("the policy builds");
        let batches: Vec<_> = trace.chunks(BATCH).enumerate().collect();
        seconds_an_access(&batches, |(number, batch)| {
            hits.pages(batch, is_write(*number));
            batch.len()
        })
    });
    let mut ledger = Ledger::default();
    let engine = best(|| {
        let part = &trace[..trace.len() / ENGINE_PART as usize];
        let requests = |(number, batch): (usize, &[Lpn])| -> Vec<HostRequest> {
            let op = if is_write(number) { HostOp::Write } else { HostOp::Read };
            batch.iter().map(|lpn| request(op, u64::from(lpn.0), 1)).collect()
        };
        let batches: Vec<_> = part.chunks(BATCH).enumerate().map(requests).collect();
        let mut device = config.build().expect("the device builds");
        let seconds = seconds_an_access(&batches, |batch| {
            device.run(batch).expect("inside the device");
            batch.len()
        });
        device.drain();
        ledger = device.ledger();
        seconds
    });
    let accesses = (ledger.host_page_reads + ledger.host_page_writes) as f64;
    format!(
        "{:.1} | {:.2} | {:.2} | {:.3}",
        1e-6 / alone,
        1e-6 / engine,
        1e-6 / engine * flash_operations(&ledger) as f64 / accesses,
        (ledger.buffer_read_hits + ledger.buffer_write_hits) as f64 / accesses
    )
}

/// CPU time an access, over all batches or as many as a few seconds allow: some reconstructions look at every page when one
/// leaves. The hit ratio of a row that was cut short is that of fewer accesses to an emptier buffer.
fn seconds_an_access<T>(batches: &[T], mut run: impl FnMut(&T) -> usize) -> f64 {
    let begin = cpu_seconds();
    let mut accesses = 0;
    for batch in batches {
        accesses += run(batch);
        if cpu_seconds() - begin > SECONDS_MAX {
            break;
        }
    }
    (cpu_seconds() - begin) / accesses as f64
}

/// An FTL (and its settings) under a workload of requests; the workload is told the number of pages.
fn measure_ftl(ftl: &str, requests: u64, next: impl Fn(&mut Lcg, u64) -> HostRequest) -> String {
    let mut words = ftl.split(' ');
    let mut settings = vec!["precondition=full".to_owned(), "buffer.name=none".to_owned()];
    settings.extend(words.next().map(|name| format!("ftl.name={name}")));
    settings.extend(words.map(|setting| format!("ftl.{setting}")));
    let config = small(&settings.iter().map(String::as_str).collect::<Vec<_>>());
    let pages = u64::from(config.logical_pages());
    let (seconds, ledger) = measure(&config, requests, |random| next(random, pages));
    let operations = flash_operations(&ledger);
    let waf = if ledger.host_page_writes > 0 { format!("{:.2}", ledger.waf_host()) } else { "-".to_owned() };
    format!(
        "{:.1} | {:.2} | {:.2} | {waf} | {operations}",
        requests as f64 / seconds / 1e3,
        operations as f64 / seconds / 1e6,
        operations as f64 / requests as f64,
    )
}

/// Hot and cold, small and large, reads and writes.
fn mix(buffer: &str, requests: u64) -> String {
    let config = small(&["precondition=full", &format!("buffer.name={buffer}")]);
    let pages = u64::from(config.logical_pages()) - 8;
    let (seconds, ledger) = measure(&config, requests, |random| {
        let op = if random.below(10) < 6 { HostOp::Write } else { HostOp::Read };
        let span = if random.below(4) < 3 { pages / 12 } else { pages };
        let length = if random.below(4) < 3 { 1 } else { 8 };
        request(op, random.below(span), length)
    });
    let accesses = (ledger.host_page_reads + ledger.host_page_writes) as f64;
    format!(
        "{:.1} | {:.2} | {:.2} | {:.3}",
        requests as f64 / seconds / 1e3,
        accesses / seconds / 1e6,
        flash_operations(&ledger) as f64 / seconds / 1e6,
        (ledger.buffer_read_hits + ledger.buffer_write_hits) as f64 / accesses
    )
}

/// The small device with settings.
fn small(settings: &[&str]) -> Config {
    config(DEVICE.iter().chain(settings).copied())
}

fn config<'a>(settings: impl IntoIterator<Item = &'a str>) -> Config {
    let replay = ["replay.mode=fast", "replay.queue_depth=32"];
    let builder = replay
        .into_iter()
        .chain(settings)
        .fold(Builder::preset("lab"), |builder, setting| builder.and_then(|b| b.set(setting)));
    builder.and_then(|b| b.finish()).expect("a valid configuration")
}

fn request(op: HostOp, page: u64, pages: u32) -> HostRequest {
    HostRequest::new(Nanos::ZERO, op, page * PAGE_SECTORS, pages * PAGE_SECTORS as u32)
}

fn flash_operations(ledger: &Ledger) -> u64 {
    ledger.reads() + ledger.programs() + ledger.erases()
}

/// Best CPU time of a replay on a fresh device, and its ledger.
fn measure(config: &Config, requests: u64, next: impl Fn(&mut Lcg) -> HostRequest) -> (f64, Ledger) {
    let mut ledger = Ledger::default();
    let seconds = best(|| {
        let mut device: Box<dyn Ssd> = config.build().expect("the device builds");
        let seconds = replay(requests, &next, |batch| device.run(batch).expect("inside the device"));
        device.drain();
        ledger = device.ledger();
        seconds
    });
    (seconds, ledger)
}

/// The least seconds of several runs; of one where instructions are counted, which repeat by themselves.
fn best(mut run: impl FnMut() -> f64) -> f64 {
    let repeats = if std::env::args().any(|a| a == "--once") { 1 } else { REPEATS };
    (0..repeats).map(|_| run()).fold(f64::INFINITY, f64::min)
}

/// CPU time of a number of requests, in batches. The workload is made before; a longer one than [`WORKLOAD`] repeats.
fn replay(requests: u64, next: impl Fn(&mut Lcg) -> HostRequest, mut run: impl FnMut(&[HostRequest])) -> f64 {
    let mut random = Lcg(1);
    let workload: Vec<_> = (0..requests.min(WORKLOAD)).map(|_| next(&mut random)).collect();
    let begin = cpu_seconds();
    let mut left = requests as usize;
    while left > 0 {
        let now = &workload[..left.min(workload.len())];
        now.chunks(BATCH).for_each(&mut run);
        left -= now.len();
    }
    cpu_seconds() - begin
}

/// Knuth's linear congruential generator.
struct Lcg(u64);

impl Lcg {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((u128::from(self.0) * u128::from(n)) >> 64) as u64
    }
    /// Below `n`: rank `r` with a probability of about `1 / r`, and the ranks scattered.
    fn zipf(&mut self, n: u64) -> u64 {
        let uniform = self.below(1 << 53) as f64 / (1_u64 << 53) as f64;
        (n as f64).powf(uniform) as u64 * 2_654_435_761 % n
    }
}
