//! The end of a run: dirty pages are paid for, once, and by nobody who waits.

mod kit;

use kit::Dice;
use nandlab::catalog::BUFFERS;
use nandlab::config::{Config, Settle};
use nandlab::engine::Ssd;
use nandlab::replay::Replay;
use nandlab::report::{Report, TraceSource};
use nandlab::types::{HostOp, HostRequest, Lpn, Nanos};

const SECTORS: u64 = 8;

fn config(settings: &[&str]) -> Config {
    kit::small(["precondition=none"].iter().chain(settings))
}

/// Runs requests and settles.
fn run(config: &Config, requests: &[HostRequest]) -> (Report, Box<dyn Ssd>) {
    let mut device = config.build().unwrap();
    let mut replay = Replay::new(config, &*device);
    replay.feed(&mut *device, requests).unwrap();
    let outcome = replay.finish(&mut *device);
    (Report::settled(config, &mut *device, TraceSource::default(), &outcome), device)
}

/// Requests of 1 to 40 sectors on a skewed part of the device, a third of them reads.
fn requests() -> Vec<HostRequest> {
    let mut dice = Dice(1);
    let mut below = |n: u64| dice.below64(n);
    let mut request = |n: u64| {
        let op = if below(3) == 0 { HostOp::Read } else { HostOp::Write };
        HostRequest::new(Nanos(n * 700_000), op, below(60) * below(60) + below(8), 1 + below(40) as u32)
    };
    (0..1_500).map(&mut request).collect()
}

#[test]
fn settling_adds_the_cost_that_it_reports_and_nothing_else() {
    let requests = requests();
    let mut hoarders = 0;
    for (buffer, ftl) in BUFFERS.iter().flat_map(|buffer| ["page", "fast", "dftl"].map(|ftl| (buffer, ftl))) {
        let name = format!("{} on {ftl}", buffer.name());
        let plugins = [format!("buffer.name={}", buffer.name()), format!("ftl.name={ftl}")];
        let settled = |mode: &str| {
            let mode = format!("replay.settle={mode}");
            run(&config(&[&plugins[0], &plugins[1], "device.timing.model=parallel", &mode]), &requests)
        };
        let ((flush, mut device), (charge, _), (none, left)) = (settled("flush"), settled("charge"), settled("none"));
        let dirty = left.slots().iter().filter(|slot| left.slots().is_dirty(*slot)).count() as u64;
        hoarders += u64::from(dirty > 0);
        for (report, mode) in [(&flush, Settle::Flush), (&charge, Settle::Charge), (&none, Settle::None)] {
            assert_eq!((report.settling.mode, report.settling.dirty_pages), (mode, dirty), "{name}");
            assert_eq!(report.response, none.response, "{name}: no request waits for the final flush");
            assert_eq!(report.requests, none.requests, "{name}: the host has not asked for it");
        }
        assert_eq!(flush.settling.cost, charge.settling.cost, "{name}");
        assert_eq!((none.settling.cost, none.ledger, none.elapsed), (None, charge.ledger, charge.elapsed), "{name}");
        assert_eq!((charge.wear.erases, charge.buffer.dirty_at_end), (none.wear.erases, dirty), "{name}");
        let cost = flush.settling.cost.unwrap();
        let added = flush.ledger - none.ledger;
        assert_eq!(
            (cost.reads, cost.programs, cost.erases),
            (added.reads(), added.programs(), added.erases()),
            "{name}"
        );
        assert_eq!((added.write_back_pages, added.padded_pages), (dirty, 0), "{name}");
        assert_eq!(flush.elapsed.hitstat_ns, none.elapsed.hitstat_ns + cost.hitstat_ns, "{name}");
        assert_eq!(flush.elapsed.flash_service_ns, none.elapsed.flash_service_ns + cost.flash_service_ns, "{name}");
        assert_eq!(flush.elapsed.simulated_ns, none.elapsed.simulated_ns + cost.elapsed_ns, "{name}");
        assert_eq!(cost.elapsed_ns > 0, dirty > 0, "{name}");
        assert_eq!((flush.buffer.dirty_at_end, flush.ram), (0, none.ram), "{name}");
        device.test_port().check();
        let written = |lpn: u32| requests.iter().any(|r| r.op == HostOp::Write && touches(r, lpn));
        for lpn in (0..device.logical_pages()).filter(|lpn| written(*lpn)) {
            assert!(device.ftl().locate(device.flash(), Lpn(lpn)).is_some(), "{name}: page {lpn} is not on flash");
        }
    }
    assert!(hoarders > 60, "{hoarders} runs end with dirty pages");
}

/// What is flushed ahead of need goes on until the last request is complete: what is left then is settled, and takes its time.
#[test]
fn settling_finds_what_the_last_request_leaves_to_a_device_that_flushes_ahead() {
    // One page after the other into RAM, which takes 1 us; a program takes 0.3 ms, and there are two dies.
    let write = |page: u64| HostRequest::new(Nanos::ZERO, HostOp::Write, page * SECTORS, 8);
    let requests: Vec<HostRequest> = (0..200).map(write).collect();
    let common = [
        "device.geometry={channels=2, chips_per_channel=1, dies_per_chip=1, planes_per_die=1, blocks_per_plane=64, \
         pages_per_block=16, page_bytes=4096}",
        "device.timing.page_program=200us",
        "device.timing.page_transfer=100us",
        "device.timing.command=0ns",
        "ftl.name=page",
        "buffer.name=lru",
        "replay.mode=closed",
        "ram.dram=1MiB",
        "ram.dram_write=1us",
        "ram.flush.most=4",
        "replay.queue_depth=1",
    ];
    for flush in ["ram.flush.gather=2", "ram.flush.age=10us", "ram.flush.above=0.1"] {
        for model in ["parallel", "scheduled"] {
            let model = format!("device.timing.model={model}");
            let [flush, charge, none] = ["flush", "charge", "none"].map(|mode| {
                let mode = format!("replay.settle={mode}");
                run(&config(&[&common[..], &[flush, &model, &mode]].concat()), &requests).0
            });
            let name = format!("{model}, {:?}", flush.config.ram.flush);
            assert_eq!(
                (none.elapsed.simulated_ns, none.ledger),
                (charge.elapsed.simulated_ns, charge.ledger),
                "{name}"
            );
            assert_eq!(none.elapsed.simulated_ns, 200_000, "{name}: no write waits for flash");
            // Four at a time are flushed ahead, and none is programmed by then.
            let ahead = none.ledger.programs();
            assert!((1..=4).contains(&ahead), "{name}: {ahead} ahead");
            for report in [&flush, &charge, &none] {
                assert_eq!(report.settling.dirty_pages, 200 - ahead, "{name}");
            }
            assert_eq!((flush.ledger.programs(), flush.settling.cost.unwrap().programs), (200, 200 - ahead), "{name}");
            // A hundred programs on each die.
            let simulated = flush.elapsed.simulated_ns;
            assert!((30_000_000..31_000_000).contains(&simulated), "{name}: {simulated}");
        }
    }
}

#[test]
fn final_flush_does_not_wait_for_a_host_that_thinks() {
    let write = |page: u64| HostRequest::new(Nanos::ZERO, HostOp::Write, page * SECTORS, 8);
    let simulated = |think: &str| {
        let think = format!("replay.think_time={think}");
        let settings = ["buffer.name=lru", "replay.mode=closed", "replay.queue_depth=1", &think];
        run(&config(&settings), &[write(3), write(7)]).0.elapsed.simulated_ns
    };
    // It thinks once between the two.
    assert_eq!(simulated("1s"), simulated("0s") + 1_000_000_000);
}

fn touches(request: &HostRequest, lpn: u32) -> bool {
    let (first, end) = (request.lba / SECTORS, (request.lba + u64::from(request.sectors)).div_ceil(SECTORS));
    (first..end).contains(&u64::from(lpn))
}

#[test]
fn final_flush_costs_match_a_hand_calculation() {
    let settings = [
        "buffer.name=lru",
        "ftl.name=page",
        "device.timing={model=\"serial\", page_read=\"25us\", page_program=\"200us\", block_erase=\"1500us\", \
         page_transfer=\"100us\", command=\"0ns\"}",
        "ram.dram_write=1us",
    ];
    // Pages 5, 3 and 9 are written at 0, 10 and 20 us, in 1 us each; nothing is evicted. The last request ends at 21 us, and
    // then three programs of 300 us follow each other.
    let write = |(n, page): (u64, &u64)| HostRequest::new(Nanos::from_us(n * 10), HostOp::Write, page * SECTORS, 8);
    let requests: Vec<HostRequest> = (0..).zip(&[5, 3, 9]).map(write).collect();
    let (report, _) = run(&config(&settings), &requests);
    let cost = report.settling.cost.unwrap();
    assert_eq!((report.settling.dirty_pages, report.settling.dirty_nvram_pages), (3, 0));
    assert_eq!((cost.write_backs, cost.reads, cost.programs, cost.erases), (3, 0, 3, 0));
    assert_eq!((cost.elapsed_ns, cost.flash_service_ns, cost.hitstat_ns), (900_000, 900_000, 600_000));
    assert_eq!(report.elapsed.simulated_ns, 21_000 + 900_000);
    assert_eq!(report.throughput.requests_per_second, Some(3.0 / 921_000.0 * 1e9));
    assert_eq!((report.response.all.mean_ns, report.write_amplification.host), (Some(1_000.0), Some(1.0)));
    assert_eq!((report.requests.flushes, report.flushes.groups), (0, 3));
}

#[test]
fn pages_in_nvram_are_settled_too() {
    let settings = ["buffer.name=wpa", "ftl.name=page", "ram.dram=4KiB"];
    // One DRAM frame: the first of two written pages moves to NVRAM.
    let write = |page: u64| HostRequest::new(Nanos::from_us(page), HostOp::Write, page * SECTORS, 8);
    let (report, device) = run(&config(&settings), &[write(1), write(20)]);
    assert_eq!((report.settling.dirty_pages, report.settling.dirty_nvram_pages), (2, 1));
    assert_eq!(report.settling.cost.unwrap().programs, 2);
    assert!(device.slots().iter().all(|slot| !device.slots().is_dirty(slot)));
}

/// A trace says where is written, and not what: an array that keeps bytes gets zeros, with and without a buffer.
#[test]
fn trace_runs_over_memory_with_any_buffer() {
    for plugin in BUFFERS {
        let name = format!("buffer.name={}", plugin.name());
        let counts = ["device.media=none", "device.media=memory"].map(|media| {
            let (report, _) = run(&config(&[&name, media]), &requests());
            report.ledger
        });
        assert_eq!(counts[0], counts[1], "{name}");
    }
}
