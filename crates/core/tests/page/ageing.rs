//! Do blocks wear out, are they replaced, and are blocks that are read too often relocated?

use nandlab::engine::{Payload, Refused};
use nandlab::flash::{ReliabilityConfig, Ticket};
use nandlab::ftl::PageRead;
use nandlab::ledger::{Cause, Op};
use nandlab::replay::{Replay, ReplayError};
use nandlab::types::{HostOp, HostRequest, Lpn, Nanos, Pbn};
use rand_pcg::Pcg64Mcg;
use serde_json::json;

use super::device::Device;
use crate::kit::below;

#[test]
fn block_is_relocated_after_its_limit_of_reads() {
    for params in [json!({}), json!({"gc_frontier": "separate", "gc_slice": 2, "streams": 2, "wear_threshold": 3})] {
        let mut device = Device::new(&params, 16, 40, 400);
        let config = ReliabilityConfig { read_limit: Some(100), ..ReliabilityConfig::default() };
        device.flash.set_reliability(config, 1000, 1, true).unwrap();
        let mut reads = 0;
        for round in 0..3_000 {
            let found = device.ftl.read(&mut device.flash, PageRead::new(Lpn(7), Cause::Host), Ticket::at(Nanos::ZERO));
            assert!(device.flash.is_valid(found.ppn), "the page was moved, and the answer tells where it is now");
            reads += 1;
            if round % 10 == 0 {
                device.write(100 + round % 300);
            }
            device.ftl.check(&device.flash);
            device.flash.check();
        }
        let moves = device.flash.ledger.count(Op::Erase, Cause::Refresh);
        let copies = device.flash.ledger.count(Op::Program, Cause::Refresh);
        assert_eq!(copies, device.flash.ledger.count(Op::Read, Cause::Refresh));
        println!("{reads} reads of one page, {moves} relocations, {copies} pages copied");
        // The page lands in an open block, which cannot be relocated, so some limits pass unused.
        assert!((8..=30).contains(&moves) && copies > moves, "{moves} relocations of {reads} reads");
    }
}

fn worn_out(settings: &[&str]) -> (Box<dyn nandlab::engine::Ssd>, u64, Refused) {
    let device = [
        "device.geometry={channels=2, chips_per_channel=1, dies_per_chip=1, planes_per_die=1, blocks_per_plane=24, \
         pages_per_block=16, page_bytes=4096}",
        "device.over_provisioning={spare_over_physical=0.25}",
        "replay.mode=fast",
        "seed=3",
    ];
    let config = crate::kit::lab(device.iter().chain(settings));
    let mut device = config.build().unwrap_or_else(|e| panic!("{settings:?}: {e}"));
    let mut rng = Pcg64Mcg::new(5);
    let pages = device.logical_pages();
    for number in 0..1_000_000 {
        let page = u64::from(below(&mut rng, pages));
        let request = HostRequest::new(Nanos::ZERO, HostOp::Write, page * 8, 8);
        if let Err(error) = device.submit(&request, Payload::None) {
            device.drain();
            device.test_port().check();
            return (device, number, error);
        }
    }
    panic!("{settings:?}: the device does not wear out");
}

#[test]
fn device_becomes_read_only_when_its_spare_blocks_are_gone() {
    for ftl in ["page", "fast", "dftl"] {
        let ftl = format!("ftl.name={ftl}");
        let of = |reliability: &str| {
            let reliability = format!("device.reliability={reliability}");
            worn_out(&["buffer.name=none", &ftl, "device.endurance.pe_cycles=40", &reliability])
        };
        let (mut device, writes, error) = of("{wear_out=true, spare_blocks_per_die=3}");
        let Refused::ReadOnly { retired, .. } = error else { panic!("{error}") };
        assert!((4..=7).contains(&retired), "{ftl}: one die lost 3 spare blocks and one more, the other at most 3");
        assert!(error.to_string().contains("read-only"), "{error}");
        let trim = HostRequest::new(Nanos::ZERO, HostOp::Trim, 0, 8);
        assert!(matches!(device.submit(&trim, Payload::None), Err(Refused::ReadOnly { .. })));
        let read = HostRequest::new(Nanos::ZERO, HostOp::Read, 0, 8);
        device.submit(&read, Payload::None).expect("reads are still served");
        let flash = device.flash();
        let counts: u64 = (0..48).map(|pbn| u64::from(flash.erase_count(Pbn(pbn)))).sum();
        let ever = counts + flash.retired_erases();
        assert!(flash.retired_erases() >= 40 * u64::from(retired - 1), "{ftl}: {ever} erases");
        // More spare blocks last longer; the spread costs the weakest blocks early; factory-bad blocks use up spares.
        assert!(of("{wear_out=true, spare_blocks_per_die=8}").1 > writes, "{ftl}");
        let spread = of("{wear_out=true, spare_blocks_per_die=3, endurance_spread=0.5}").1;
        assert!(spread < writes, "{ftl}: {spread} writes with a spread of half, {writes} without");
        let (bad, ..) = of("{wear_out=true, spare_blocks_per_die=8, factory_bad=0.08}");
        let left = |die| bad.flash().spare_blocks(die);
        assert!(left(0) + left(1) + bad.flash().retired_blocks() < 17, "{ftl}: some blocks were bad from the start");
        // The same seed gives the same life.
        assert_eq!(of("{wear_out=true, spare_blocks_per_die=3, endurance_spread=0.5}").1, spread, "{ftl}");
    }
}

#[test]
fn worn_out_device_still_writes_its_buffer_back() {
    let (mut device, _, _) = worn_out(&[
        "buffer.name=lru",
        "ram.dram=64KiB",
        "device.endurance.pe_cycles=25",
        "device.reliability={wear_out=true, spare_blocks_per_die=2}",
    ]);
    let dirty = device.slots().iter().filter(|slot| device.slots().is_dirty(*slot)).count();
    assert!(dirty > 0, "nothing was left to write back");
    device.finish();
    assert_eq!(device.slots().iter().filter(|slot| device.slots().is_dirty(*slot)).count(), 0);
    device.test_port().check();
}

#[test]
fn refused_request_has_its_own_number() {
    let settings = [
        "device.geometry={channels=1, chips_per_channel=1, dies_per_chip=1, planes_per_die=1, blocks_per_plane=24, \
         pages_per_block=4, page_bytes=4096}",
        "device.over_provisioning={spare_over_physical=0.25}",
        "device.endurance.pe_cycles=800",
        "device.reliability={wear_out=true}",
        "buffer.name=none",
        "replay.mode=open",
        "seed=3",
    ];
    let config = crate::kit::lab(settings);
    let mut device = config.build().unwrap();
    // Every second request reads what the others write: those are refused.
    let request = |n: u64| {
        let op = if n.is_multiple_of(2) { HostOp::Write } else { HostOp::Read };
        HostRequest::new(Nanos(n), op, 0, 8)
    };
    let requests: Vec<HostRequest> = (1..=100_000).map(request).collect();
    let mut replay = Replay::new(&config, &*device);
    let error = replay.feed(&mut *device, &requests).expect_err("it wears out");
    let ReplayError::Refused { request, error: Refused::ReadOnly { .. } } = error else { panic!("{error}") };
    let before = device.ledger().host_read_requests + device.ledger().host_write_requests;
    assert!(request.is_multiple_of(2) && request == before + 1, "request {request} after {before}");
    assert!(request > 5_000, "request {request}: batches have one request until the 4,096th");
    let outcome = replay.finish(&mut *device);
    assert_eq!(
        (outcome.requests, outcome.last_arrival),
        (before, outcome.start + Nanos(before)),
        "those before it are replayed"
    );
}
