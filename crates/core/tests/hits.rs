//! Does the hit-ratio-only mode count what a whole device counts?

use nandlab::catalog::BUFFERS;
use nandlab::config::Config;
use nandlab::ledger::Ledger;
use nandlab::types::{Hint, HostOp, HostRequest, Lpn, Nanos, Pattern};

mod kit;

const SECTORS: u64 = 1_200 * 8;
const REQUESTS: usize = 30_000;

/// Policies that steer by the measured costs of the flash, of which there is none in the hit-ratio-only mode.
const STEERED_BY_FLASH: [&str; 1] = ["aalru"];

fn config(buffer: &str) -> Config {
    config_with(buffer, &[])
}

fn config_with(buffer: &str, params: &[&str]) -> Config {
    let geometry = "device.geometry={channels=2, chips_per_channel=1, dies_per_chip=1, planes_per_die=1, \
                    blocks_per_plane=60, pages_per_block=16, page_bytes=4096}";
    let keys = [
        geometry,
        "ram.dram=384KiB",
        "ram.nvram=256KiB",
        "precondition=none",
        "replay.mode=fast",
        &format!("buffer.name={buffer}"),
    ]
    .map(str::to_owned);
    let params = params.iter().map(|param| format!("buffer.{param}"));
    kit::try_lab(keys.into_iter().chain(params)).unwrap_or_else(|error| panic!("{buffer}: {error}"))
}

/// Numbers below what is asked for, the same ones in every run.
fn numbers() -> impl FnMut(u64) -> u64 {
    let mut x = 88_172_645_463_325_252_u64;
    move |below| {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        (x >> 11) % below
    }
}

/// Hot and cold pages, runs of pages, parts of pages, now and then a trim or a flush.
fn requests() -> Vec<HostRequest> {
    let mut draw = numbers();
    let mut requests = Vec::new();
    for _ in 0..REQUESTS {
        let hot = draw(3) > 0;
        let lba = draw(if hot { SECTORS / 12 } else { SECTORS });
        let most = if draw(4) == 0 { 40 } else { 8 };
        let sectors = (1 + draw(most)).min(SECTORS - lba) as u32;
        let op = match draw(200) {
            0..100 => HostOp::Write,
            100..198 => HostOp::Read,
            198 => HostOp::Trim,
            _ => HostOp::Flush,
        };
        let pattern = [Pattern::Sequential, Pattern::Looping, Pattern::ClusteredHot, Pattern::Random];
        let (pc, run_pages, period) = (draw(5) as u32, draw(6) as u32, draw(1_000) as u32);
        let hint = Hint { pattern: pattern[draw(4) as usize], pc, run_pages, period, mappings: 0 };
        requests.push(HostRequest { hint, ..HostRequest::new(Nanos::ZERO, op, lba, sectors) });
    }
    requests
}

fn counts(ledger: &Ledger) -> [(&'static str, u64); 9] {
    [
        ("page reads", ledger.host_page_reads),
        ("page writes", ledger.host_page_writes),
        ("read hits", ledger.buffer_read_hits),
        ("write hits", ledger.buffer_write_hits),
        ("write-back commands", ledger.write_back_commands),
        ("pages written back", ledger.write_back_pages),
        ("drops", ledger.buffer_drops),
        ("prefetches", ledger.prefetched_pages),
        ("pages sent down", ledger.buffer_write_pages - ledger.padded_pages),
    ]
}

#[test]
fn policy_without_a_device_hits_as_in_a_device() {
    let requests = requests();
    for plugin in BUFFERS {
        let config = config(&plugin.name());
        let (mut device, mut alone) = (config.build().unwrap(), config.build_hits().unwrap());
        device.run(&requests).unwrap();
        alone.run(&requests).unwrap();
        let (device, alone) = (device.ledger(), alone.ledger());
        let compared = if STEERED_BY_FLASH.contains(&plugin.module) { 2 } else { 9 };
        assert_eq!(counts(&device)[..compared], counts(&alone)[..compared], "{}", plugin.module);
        if plugin.module != "none" {
            assert!(alone.buffer_write_hits > 1_000 && alone.write_back_pages > 1_000, "{}", plugin.module);
        }
    }
}

#[test]
fn policy_variant_without_a_device_hits_as_in_a_device() {
    let requests = requests();
    // With the costs given, nothing steers aalru but its hits.
    let aalru = ["d_read=1.0", "d_write=4.0", "period=100", "keep_written=0.5"];
    for (policy, params) in [
        ("aalru", &aalru[..]),
        ("bplru", &["compat=lab"]),
        ("fab", &["compat=lab"]),
        ("lirs", &["compat=libcachesim"]),
        ("s3-fifo", &["compat=libcachesim"]),
        ("cfdc", &["writeback=cluster"]),
        ("clock-dnv", &["placement=write_first_D"]),
        ("clock-dnv", &["nvram_unit=page"]),
        ("wpa", &["nvram_unit=page"]),
    ] {
        let (varied, plain) = (config_with(policy, params), config(policy));
        let (mut device, mut alone) = (varied.build().unwrap(), varied.build_hits().unwrap());
        device.run(&requests).unwrap();
        alone.run(&requests).unwrap();
        assert_eq!(counts(&device.ledger()), counts(&alone.ledger()), "{policy} {params:?}");
        let mut usual = plain.build_hits().unwrap();
        usual.run(&requests).unwrap();
        assert_ne!(counts(&usual.ledger()), counts(&alone.ledger()), "{policy} {params:?} changes nothing");
    }
}

/// Policies that count accesses, those of streams that pass by too, to know when to adapt, or how long ago something was.
const COUNT_ACCESSES: [&str; 1] = ["aalru"];

/// Streams above the first half of the device, which are used once and called sequential, among the requests below it.
fn with_streams() -> (Vec<HostRequest>, Vec<HostRequest>) {
    let mut draw = numbers();
    let half = SECTORS / 2;
    let quiet = Hint { pattern: Pattern::Random, pc: 1, ..Hint::default() };
    let others: Vec<HostRequest> = requests()
        .into_iter()
        .filter(|request| request.lba + u64::from(request.sectors) <= half)
        .map(|request| HostRequest { hint: quiet, ..request })
        .collect();
    let mut all = Vec::new();
    let mut at = half;
    for request in &others {
        all.push(*request);
        if draw(3) == 0 {
            let sectors = 8 * (1 + draw(4) as u32);
            at = if at + u64::from(sectors) > SECTORS { half } else { at };
            let hint = Hint { pattern: Pattern::Sequential, pc: 2, run_pages: 0, period: 0, mappings: 0 };
            let op = if draw(2) == 0 { HostOp::Write } else { HostOp::Read };
            all.push(HostRequest { hint, ..HostRequest::new(Nanos::ZERO, op, at, sectors) });
            at += u64::from(sectors);
        }
    }
    (others, all)
}

#[test]
fn bypass_of_sequential_streams_leaves_others_as_if_they_were_alone() {
    let (others, all) = with_streams();
    let run = |policy: &str, bypass: &str, requests: &[HostRequest]| {
        let mut config = config(policy);
        config.ram.bypass = serde_json::from_value(bypass.into()).expect("a name");
        let (mut alone, mut device) = (config.build_hits().unwrap(), config.build().unwrap());
        alone.run(requests).unwrap();
        device.run(requests).unwrap();
        (alone.ledger(), device.ledger())
    };
    let mut counting = Vec::new();
    for plugin in BUFFERS {
        let name = plugin.name();
        let (alone, _) = run(&name, "none", &others);
        let (passed, device) = run(&name, "sequential", &all);
        let (mixed, _) = run(&name, "none", &all);
        let of = |ledger: &Ledger| [ledger.buffer_read_hits, ledger.buffer_write_hits, ledger.write_back_pages];
        if of(&passed) != of(&alone) {
            counting.push(plugin.module);
        }
        if !STEERED_BY_FLASH.contains(&plugin.module) {
            assert_eq!(counts(&passed), counts(&device), "{name}");
        }
        if plugin.module != "none" {
            assert_ne!(of(&mixed), of(&alone), "{name}: the streams change nothing");
            let (reads, _) = run(&name, "sequential_reads", &all);
            assert_ne!(of(&reads), of(&passed), "{name}: writes pass by though only reads should");
        }
    }
    assert_eq!(counting, COUNT_ACCESSES);
}

/// What was only read is read from the flash every time, and what is written is buffered as if nothing were read.
#[test]
fn bypass_of_reads_leaves_the_buffer_to_writes() {
    let half = SECTORS / 2;
    let is_in = |request: &HostRequest, low: u64| {
        let end = request.lba + u64::from(request.sectors);
        if low == 0 { end <= half } else { request.lba >= low }
    };
    let quiet =
        |request: HostRequest| HostRequest { hint: Hint { pattern: Pattern::Random, ..Hint::default() }, ..request };
    // Reads above the middle, all else below it.
    let all: Vec<HostRequest> = requests()
        .into_iter()
        .filter(|request| is_in(request, if request.op == HostOp::Read { half } else { 0 }))
        .map(quiet)
        .collect();
    let others: Vec<HostRequest> = all.iter().filter(|request| request.op != HostOp::Read).copied().collect();
    assert!(others.len() > 1_000 && all.len() > others.len() + 1_000);
    for plugin in BUFFERS.iter().filter(|plugin| !STEERED_BY_FLASH.contains(&plugin.module)) {
        let name = plugin.name();
        let run = |bypass: &str, requests: &[HostRequest]| {
            let mut config = config(&name);
            config.ram.bypass = serde_json::from_value(bypass.into()).expect("a name");
            let mut device = config.build().unwrap();
            device.run(requests).unwrap();
            device.ledger()
        };
        let (alone, beside) = (run("none", &others), run("reads", &all));
        assert_eq!(beside.buffer_read_hits, 0, "{name}: what was read stays");
        let of = |ledger: &Ledger| [ledger.buffer_write_hits, ledger.write_back_pages];
        if !COUNT_ACCESSES.contains(&plugin.module) {
            assert_eq!(of(&beside), of(&alone), "{name}");
        }
    }
}

/// Hits of 200,000 reads: two of three of a hot page, the lower its number the hotter, the others of any.
fn hits(policy: &str, compat: &str, frames: u64, hot: u64, pages: u64) -> u64 {
    let geometry = "device.geometry={channels=1, chips_per_channel=1, dies_per_chip=1, planes_per_die=1, \
                    blocks_per_plane=1000, pages_per_block=128, page_bytes=512}";
    let ram = format!("ram.dram={}", frames * 512);
    let [policy, compat] = [format!("buffer.name={policy}"), format!("buffer.compat={compat}")];
    let mut alone = kit::lab([geometry, &ram, &policy, &compat]).build_hits().unwrap();
    let mut draw = numbers();
    for _ in 0..200_000 {
        let below = if draw(3) > 0 { 1 + draw(hot) } else { pages };
        alone.pages(&[Lpn(draw(below) as u32)], false);
    }
    alone.ledger().buffer_read_hits
}

/// The counts are those of libCacheSim 0.3.5 (S3FIFO, LIRS) on the same accesses. These have no hit of a page that only the
/// queue of LIRS knows, for which libCacheSim has a rule that contradicts the paper.
#[test]
fn libcachesim_variant_hits_as_libcachesim() {
    for (policy, frames, hot, pages, theirs) in [
        ("s3-fifo", 20, 3_000, 10_000, 3_547),
        ("s3-fifo", 57, 3_000, 10_000, 9_040),
        ("s3-fifo", 1_000, 3_000, 10_000, 85_139),
        ("s3-fifo", 250, 400, 100_000, 115_309),
        ("lirs", 20, 3_000, 10_000, 3_020),
        ("lirs", 57, 3_000, 10_000, 7_872),
        ("lirs", 600, 400, 100_000, 132_447),
    ] {
        assert_eq!(hits(policy, "libcachesim", frames, hot, pages), theirs, "{policy} with {frames} frames");
        assert_ne!(hits(policy, "spec", frames, hot, pages), theirs, "{policy} with {frames} frames: no other reading");
    }
}

#[test]
fn single_pages_are_requests_of_one_page() {
    let requests = requests();
    let config = config("lru");
    let (mut by_request, mut by_page) = (config.build_hits().unwrap(), config.build_hits().unwrap());
    for request in requests.iter().filter(|r| matches!(r.op, HostOp::Read | HostOp::Write)) {
        let lpn = request.lba / 8;
        by_request.run(&[HostRequest { lba: lpn * 8, sectors: 8, ..*request }]).unwrap();
        by_page.pages(&[Lpn(lpn as u32)], request.op == HostOp::Write);
    }
    assert_eq!(counts(&by_request.ledger()), counts(&by_page.ledger()));
}

#[test]
fn request_beyond_the_device_is_refused() {
    let mut alone = config("lru").build_hits().unwrap();
    let beyond = HostRequest::new(Nanos::ZERO, HostOp::Read, u64::from(config("lru").logical_pages()) * 8, 1);
    assert!(alone.run(&[beyond]).is_err());
}
