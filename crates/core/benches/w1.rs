//! W1 on G1: the work on which other SSD simulators were measured (docs/benchmarks.md), and buffer hits alone.
//!
//! `cargo bench --bench w1` prints requests per second of wall time, peak memory and the write amplification next to
//! the independent reference. `cargo bench --bench w1 -- w1` (or `hits`) runs one part, for instruction counts under
//! `valgrind --tool=callgrind`.
#![allow(missing_docs, clippy::print_stdout)]
#![allow(clippy::disallowed_methods)] // A benchmark measures wall time and reads its arguments.

use std::time::Instant;

use nandlab::config::Builder;
use nandlab::types::{HostOp, HostRequest, Nanos};

const REQUESTS: usize = 4_000_000;
const FOOTPRINT: u64 = 734_003;

fn main() {
    let only: Option<String> = std::env::args().skip(1).find(|a| !a.starts_with("--"));
    if only.as_deref().is_none_or(|o| o == "w1") {
        w1(2, 1.543, &[]);
    }
    if only.as_deref().is_none_or(|o| o == "w1-spare6") {
        w1(6, 1.628, &[]);
    }
    if only.as_deref().is_none_or(|o| o == "w1-scheduled") {
        w1(2, 1.543, &["device.timing.model=scheduled", "device.scheduler.policy=read_first", "ftl.gc_slice=paced"]);
    }
    if only.as_deref().is_none_or(|o| o == "hits") {
        hits();
    }
}

/// 4 million uniform random 4 KiB writes, closed loop, queue depth 32, from an empty device, no buffer, with these settings.
fn w1(spare: u32, reference: f64, settings: &[&str]) {
    let reserve = format!("ftl.reserve={spare}");
    let mut builder = Builder::preset("g1");
    for setting in [&[reserve.as_str()], settings].concat() {
        builder = builder.and_then(|b| b.set(setting));
    }
    let config = builder.and_then(|b| b.finish());
    let mut device = config.and_then(|c| c.build()).expect("the preset builds");
    let mut state = 88_172_645_463_325_252_u64;
    let mut batch = Vec::with_capacity(4096);
    let start = Instant::now();
    for from in (0..REQUESTS).step_by(4096) {
        batch.clear();
        for _ in from..(from + 4096).min(REQUESTS) {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            batch.push(HostRequest::new(Nanos::ZERO, HostOp::Write, state % FOOTPRINT * 8, 8));
        }
        device.run(&batch).expect("inside the device");
    }
    device.drain();
    let seconds = start.elapsed().as_secs_f64();
    let ledger = device.ledger();
    let completed = device.times().response().count();
    assert_eq!(completed, REQUESTS as u64, "every request completes");
    println!(
        "W1 spare {spare} {settings:?}: {:.2} M requests/s ({:.0} ns), {:.2} M flash operations/s, WAF {:.4} (reference {reference}, {:+.2} %), peak memory {} MiB, mean response {:.0} us",
        REQUESTS as f64 / seconds / 1e6,
        seconds * 1e9 / REQUESTS as f64,
        (ledger.reads() + ledger.programs() + ledger.erases()) as f64 / seconds / 1e6,
        ledger.waf_host(),
        (ledger.waf_host() / reference - 1.0) * 100.0,
        peak_memory_mib(),
        device.times().response().mean_ns() / 1e3,
    );
}

/// Buffer hits only: LRU through the whole engine, everything resident.
fn hits() {
    for pages_per_request in [1u64, 8] {
        let mut device = Builder::preset("g1")
            .and_then(|b| b.set("buffer.name=lru"))
            .and_then(|b| b.set("ram.dram=64MiB"))
            .and_then(|b| b.finish())
            .and_then(|c| c.build())
            .expect("the preset builds");
        let resident = 16_000;
        let warm: Vec<_> = (0..resident).map(|p| HostRequest::new(Nanos::ZERO, HostOp::Write, p * 8, 8)).collect();
        device.run(&warm).expect("inside the device");
        let mut state = 88_172_645_463_325_252_u64;
        let mut batch = Vec::with_capacity(4096);
        let rounds = 2_000 / pages_per_request as usize;
        let mut seconds = 0.0;
        for _ in 0..rounds {
            batch.clear();
            for _ in 0..4096 {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                let op = if state >> 63 == 0 { HostOp::Read } else { HostOp::Write };
                let page = (state >> 8) % (resident - pages_per_request);
                batch.push(HostRequest::new(Nanos::ZERO, op, page * 8, 8 * pages_per_request as u32));
            }
            let start = Instant::now();
            device.run(&batch).expect("inside the device");
            seconds += start.elapsed().as_secs_f64();
        }
        let accesses = rounds as f64 * 4096.0 * pages_per_request as f64;
        println!(
            "LRU hits, {pages_per_request} pages a request: {:.1} M page accesses/s ({:.1} ns)",
            accesses / seconds / 1e6,
            seconds * 1e9 / accesses
        );
    }
}

/// Peak resident memory of this process, from the kernel.
fn peak_memory_mib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|l| l.starts_with("VmHWM")).unwrap_or("0");
    line.split_whitespace().nth(1).and_then(|kib| kib.parse::<u64>().ok()).unwrap_or(0) / 1024
}
