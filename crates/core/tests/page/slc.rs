//! Does the SLC cache take what it can, fold what it holds, and cost what its cells take?

use nandlab::config::Config;
use nandlab::engine::{Ssd, Times};
use nandlab::ledger::{Cause, Ledger, Op};
use nandlab::types::{HostOp, HostRequest, Nanos};

const READ: u64 = 60_000;
const PROGRAM: u64 = 900_000;
const SLC_READ: u64 = 20_000;
const SLC_PROGRAM: u64 = 150_000;
const ERASE: u64 = 3_000_000;
/// A page over the channel.
const TRANSFER: u64 = 10_000;

/// A TLC device of 4 dies with 40 blocks of 24 pages each, 8 in SLC mode, without buffer.
fn config(settings: &[&str]) -> Config {
    let device = [
        "device.geometry={channels=2, chips_per_channel=2, dies_per_chip=1, planes_per_die=2, blocks_per_plane=20, pages_per_block=24, page_bytes=4096}",
        "device.over_provisioning={logical_pages=2400}",
        "device.timing={model=\"scheduled\", page_read=\"60us\", page_program=\"900us\", block_erase=\"3ms\", page_transfer=\"10us\", command=\"0ns\"}",
        "device.cells={slc_read=\"20us\", slc_program=\"150us\"}",
        "device.endurance.cell=tlc",
        "buffer.name=none",
        "ram.dram=0",
        "ftl={name=\"page\", gc_frontier=\"separate\"}",
        "replay.mode=open",
        "replay.queue_depth=64",
        "precondition=none",
    ];
    crate::kit::lab(device.iter().chain(settings))
}

fn request(op: HostOp, lpn: u32, at: u64) -> HostRequest {
    HostRequest::new(Nanos(at), op, u64::from(lpn) * 8, 8)
}

fn write(lpn: u32, at: u64) -> HostRequest {
    request(HostOp::Write, lpn, at)
}

fn run(device: &mut dyn Ssd, requests: impl Iterator<Item = HostRequest>) {
    let all: Vec<HostRequest> = requests.collect();
    device.run(&all).unwrap();
    device.drain();
}

fn check(device: &dyn Ssd) -> Ledger {
    device.ftl().check(device.flash());
    device.flash().check();
    device.ledger()
}

/// Program time of the host's pages by the ledger, ns each.
fn mean_program(l: &Ledger) -> f64 {
    l.nanos(Op::Program, Cause::Host) as f64 / l.count(Op::Program, Cause::Host) as f64
}

#[test]
fn cache_takes_its_blocks_and_then_lets_pages_pass() {
    // 3 blocks of 8 pages on each of 4 dies take 96 pages.
    for kind in ["static", "dynamic"] {
        let config = config(&[&format!("ftl.slc={kind}"), "ftl.slc_blocks=3"]);
        let mut device = config.build().unwrap();
        run(&mut *device, (0..400).map(|lpn| write(lpn, 0)));
        let ledger = check(&*device);
        assert_eq!(ledger.slc_programs, 96, "{kind}");
        assert_eq!((ledger.slc_pages_folded, ledger.slc_erases), (0, 0), "{kind}: there was no idle time");
        let expected = (96 * (SLC_PROGRAM + TRANSFER) + 304 * (PROGRAM + TRANSFER)) as f64 / 400.0;
        assert!((mean_program(&ledger) - expected).abs() < 1e-6, "{kind}");
    }
}

/// Where the dies of a channel share their blocks they share the cache too, which is as large.
#[test]
fn cache_is_as_large_where_dies_share_blocks() {
    for (kind, ftl) in [("static", "dftl"), ("dynamic", "dftl"), ("static", "sftl"), ("dynamic", "urm-map")] {
        let ftl = format!(
            "ftl={{name=\"{ftl}\", gc_frontier=\"separate\", frontiers=\"die\", slc=\"{kind}\", slc_blocks=3}}"
        );
        let mut device = config(&[&ftl]).build().unwrap();
        run(&mut *device, (0..400).map(|lpn| write(lpn, 0)));
        assert_eq!(check(&*device).slc_programs, 96, "{ftl}");
    }
}

#[test]
fn page_in_the_cache_is_read_and_written_in_its_own_time() {
    let config = config(&["ftl.slc=static", "ftl.slc_blocks=1"]);
    let mut device = config.build().unwrap();
    // The cache holds 32 pages; idle times are too short to fold a block.
    let writes = (0..64).map(|lpn| write(lpn, u64::from(lpn) * 10_000_000));
    let reads = (0..64).map(|lpn| request(HostOp::Read, lpn, (64 + u64::from(lpn)) * 10_000_000));
    let all: Vec<HostRequest> = writes.chain(reads).collect();
    let times: Vec<u64> = all
        .iter()
        .map(|request| {
            let sum = |device: &dyn Ssd| {
                let Times { read_response, write_response, .. } = device.times();
                [read_response, write_response].map(|times| times.mean_ns() * times.count() as f64).iter().sum::<f64>()
            };
            let before = sum(&*device);
            device.run(std::slice::from_ref(request)).unwrap();
            device.drain();
            (sum(&*device) - before).round() as u64
        })
        .collect();
    let (writes, reads) = times.split_at(64);
    for lpn in 0..64_usize {
        let in_cache = lpn < 32;
        assert_eq!(writes[lpn], TRANSFER + if in_cache { SLC_PROGRAM } else { PROGRAM }, "write of page {lpn}");
        assert_eq!(reads[lpn], TRANSFER + if in_cache { SLC_READ } else { READ }, "read of page {lpn}");
    }
}

#[test]
fn idle_time_folds_the_cache() {
    for kind in ["static", "dynamic"] {
        let config = config(&[&format!("ftl.slc={kind}"), "ftl.slc_blocks=3"]);
        let mut device = config.build().unwrap();
        let pause = 10_000_000_000;
        let burst = |from: u32, at: u64| (from..from + 96).map(move |lpn| write(lpn, at));
        run(&mut *device, burst(0, 0).chain(burst(96, pause)).chain(burst(192, 2 * pause)));
        let ledger = check(&*device);
        assert_eq!(ledger.slc_programs, 3 * 96, "{kind}: the cache is empty again when the next burst comes");
        assert_eq!((ledger.slc_pages_folded, ledger.slc_erases), (2 * 96, 24), "{kind}");
        assert_eq!(ledger.count(Op::Program, Cause::Gc), 2 * 96, "{kind}");
        // Folding reads in SLC mode and programs three times as slowly.
        assert_eq!(ledger.nanos(Op::Read, Cause::Gc), 2 * 96 * (SLC_READ + TRANSFER), "{kind}");
        assert_eq!(ledger.nanos(Op::Program, Cause::Gc), 2 * 96 * (PROGRAM + TRANSFER), "{kind}");
        assert_eq!(ledger.nanos(Op::Erase, Cause::Gc), 24 * ERASE, "{kind}");
    }
}

#[test]
fn dynamic_cache_shrinks_as_the_device_fills() {
    // Of 160 blocks 2,400 pages fill 100, 3,300 pages 138. After a pause, as many pages come as 6 blocks on every die take.
    let taken = |settings: &[&str]| {
        let config = config(settings);
        let mut device = config.build().unwrap();
        let pages = config.logical_pages();
        run(&mut *device, (0..pages).map(|lpn| write(lpn, 0)));
        let before = check(&*device);
        let burst: Vec<HostRequest> = (0..192).map(|lpn| write(lpn, 1_000_000_000_000)).collect();
        run(&mut *device, burst.into_iter());
        check(&*device).slc_programs - before.slc_programs
    };
    let full = "device.over_provisioning={logical_pages=3300}";
    assert_eq!(taken(&["ftl.slc=dynamic", "ftl.slc_blocks=6"]), 192);
    assert_eq!(taken(&["ftl.slc=static", "ftl.slc_blocks=4"]), 128);
    let left = taken(&["ftl.slc=dynamic", "ftl.slc_blocks=6", full]);
    assert!((1..=128).contains(&left), "{left}");
}

#[test]
fn cache_that_cannot_be_is_refused() {
    let refused = |settings: &[&str], key: &str| {
        let mut all = vec!["ftl={name=\"page\", gc_frontier=\"separate\"}"];
        all.extend(settings);
        let config = config(&all);
        let error = config.build().err().unwrap_or_else(|| panic!("{settings:?} is accepted"));
        assert_eq!(error.key, key, "{error}");
    };
    refused(&["ftl.slc=dynamic"], "ftl.slc_blocks");
    refused(&["ftl.slc_blocks=2"], "ftl.slc_blocks");
    refused(&["ftl.slc=static", "ftl.slc_blocks=2", "ftl.gc_frontier=shared"], "ftl.slc");
    refused(&["ftl.slc=static", "ftl.slc_blocks=30"], "ftl.reserve");
    refused(&["ftl.slc=static", "ftl.slc_blocks=2", "device.cells={}"], "ftl.slc");
}
