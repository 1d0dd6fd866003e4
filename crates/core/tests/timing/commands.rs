//! Do commands that serve several pages, and cells that differ, give the throughputs and times that their figures say?

use nandlab::config::Config;
use nandlab::engine::Ssd;
use nandlab::flash::clock::OpClass;
use nandlab::ledger::{Cause, Op};
use nandlab::types::{HostOp, HostRequest, Nanos};

use crate::kit::Dice;

const READ: f64 = 60e-6;
const PROGRAM: f64 = 600e-6;
const TRANSFER: f64 = 10e-6;
const COMMAND: f64 = 1e-6;

/// Two dies on two channels, without buffer, closed loop.
pub fn config(settings: &[&str]) -> Config {
    let device = [
        "device.geometry={channels=2, chips_per_channel=1, dies_per_chip=1, planes_per_die=4, blocks_per_plane=24, pages_per_block=48, page_bytes=4096}",
        "device.over_provisioning={logical_pages=6000}",
        "device.timing={model=\"scheduled\", page_read=\"60us\", page_program=\"600us\", block_erase=\"3ms\", page_transfer=\"10us\", command=\"1us\"}",
        "buffer.name=none",
        "ram.dram=0",
        "ftl={name=\"page\", gc_frontier=\"separate\", placement=\"round_robin\"}",
        "replay.mode=fast",
        "replay.queue_depth=256",
        "precondition=none",
    ];
    crate::kit::lab(device.iter().chain(settings))
}

fn request(op: HostOp, lpn: u32) -> HostRequest {
    HostRequest::new(Nanos::ZERO, op, u64::from(lpn) * 8, 8)
}

/// Pages a second on one die.
fn rate(device: &mut dyn Ssd, requests: &[HostRequest]) -> f64 {
    let begin = device.flash().now();
    device.run(requests).unwrap();
    device.drain();
    requests.len() as f64 / 2.0 / ((device.flash().now() - begin).0 as f64 / 1e9)
}

/// Sequential writes, then sequential reads of the same pages, against pages a second of a die whose commands are all full.
fn rates(settings: &[&str]) -> [f64; 2] {
    let config = config(settings);
    let mut device = config.build().unwrap();
    [HostOp::Write, HostOp::Read].map(|op| rate(&mut *device, &(0..5_760).map(|n| request(op, n)).collect::<Vec<_>>()))
}

fn close(measured: f64, expected: f64, what: &str) {
    assert!((measured / expected - 1.0).abs() < 0.02, "{what}: {measured} pages/s, expected {expected}");
}

#[test]
fn full_commands_reach_the_rate_of_their_planes_and_units() {
    let expected = |planes: f64, unit: f64, cells: f64| {
        let pages = planes * unit;
        pages / (planes * COMMAND + pages * TRANSFER + cells)
    };
    let cases: [(&[&str], f64, f64); 5] = [
        (&[], 1.0, 1.0),
        (&["device.commands.unit_pages=4"], 1.0, 4.0),
        (&["device.commands.planes=same_page", "ftl.frontiers=plane"], 4.0, 1.0),
        (&["device.commands.planes=any_page", "ftl.frontiers=plane"], 4.0, 1.0),
        (&["device.commands={planes=\"same_page\", unit_pages=2}", "ftl.frontiers=plane"], 4.0, 2.0),
    ];
    for (settings, planes, unit) in cases {
        let [writes, reads] = rates(settings);
        close(writes, expected(planes, unit, PROGRAM), &format!("writes, {settings:?}"));
        close(reads, expected(planes, unit, READ), &format!("reads, {settings:?}"));
    }
}

/// Cache read and cache program: the longer of the time on the channel and of that of the cells.
#[test]
fn cache_registers_reach_the_rate_of_channel_or_cells() {
    const CACHED: &str = "device.commands={cache_read=true, cache_program=true}";
    for transfer in [10, 60, 200, 600, 900] {
        for (planes, settings) in [
            (1.0, &[] as &[&str]),
            (4.0, &["device.commands.planes=any_page", "ftl.frontiers=plane"]),
            (4.0, &["device.commands.unit_pages=4"]),
        ] {
            let commands = if settings.len() == 1 { COMMAND } else { planes * COMMAND };
            let data = planes * f64::from(transfer) * 1e-6;
            let time = format!("device.timing.page_transfer={transfer}us");
            let [writes, reads] = rates(&[&[CACHED, &time], settings].concat());
            let what = format!("transfer {transfer} us, {settings:?}");
            close(writes, planes / PROGRAM.max(commands + data), &format!("writes, {what}"));
            close(reads, planes / (commands + READ.max(data)), &format!("reads, {what}"));
        }
    }
}

/// Pages of one plane only, and planes that work one at a time: nothing goes along.
#[test]
fn commands_of_one_plane_do_not_share() {
    let alone = rates(&[]);
    for settings in [
        &["ftl.frontiers=plane"] as &[&str],
        &["device.commands.planes=any_page", "ftl.stripe=cwdp", "replay.queue_depth=1"],
    ] {
        let [writes, _] = rates(settings);
        assert!(writes <= alone[0] * 1.001, "{settings:?}: {writes}, alone {}", alone[0]);
    }
}

/// Without `same_page`, pages that lie at different places of their blocks work together too.
#[test]
fn pages_at_different_places_need_independent_planes() {
    let random_reads = |planes: &str| {
        let config = config(&[&format!("device.commands.planes={planes}"), "ftl.frontiers=plane"]);
        let mut device = config.build().unwrap();
        rate(&mut *device, &(0..5_760).map(|n| request(HostOp::Write, n)).collect::<Vec<_>>());
        let mut dice = Dice(5);
        let reads: Vec<HostRequest> = (0..20_000).map(|_| request(HostOp::Read, dice.below(5_760))).collect();
        rate(&mut *device, &reads)
    };
    let (one, same, any) = (random_reads("one"), random_reads("same_page"), random_reads("any_page"));
    assert!(any > 1.3 * same && same >= one, "one {one}, same page {same}, any page {any}");
}

#[test]
fn types_of_pages_have_their_times() {
    let types = [
        "device.cells={read_by_type=[\"40us\", \"60us\", \"80us\"], program_by_type=[\"300us\", \"600us\", \"900us\"]}",
        "device.commands.unit_pages=2",
        "replay.queue_depth=1",
    ];
    let config = config(&types);
    let mut device = config.build().unwrap();
    // Each die gets 10 pages: five units, two of the first type, two of the second and one of the third.
    let writes: Vec<HostRequest> = (0..20).map(|n| request(HostOp::Write, n)).collect();
    device.run(&writes).unwrap();
    device.run(&(0..20).map(|n| request(HostOp::Read, n)).collect::<Vec<_>>()).unwrap();
    device.drain();
    let ledger = device.ledger();
    let bus = 20 * 11_000;
    let (programs, reads) = (8 * (300_000 + 600_000) + 4 * 900_000, 8 * (40_000 + 60_000) + 4 * 80_000);
    assert_eq!(ledger.nanos(Op::Program, Cause::Host), bus + programs);
    assert_eq!(ledger.nanos(Op::Read, Cause::Host), bus + reads);
    // At depth 1 nothing waits or goes along: latencies are those times.
    let waits = device.flash().clock.waits().unwrap();
    assert_eq!((waits.of(OpClass::HostRead).latency.mean_ns() * 20.0).round() as u64, bus + reads);
    assert_eq!((waits.of(OpClass::HostWrite).latency.mean_ns() * 20.0).round() as u64, bus + programs);
}

#[test]
fn waits_of_a_warm_up_are_not_those_of_the_measurement() {
    let config = config(&["replay.queue_depth=4"]);
    let mut device = config.build().unwrap();
    let read = |n| request(HostOp::Read, n);
    device.run(&(0..40).map(|n| request(HostOp::Write, n)).collect::<Vec<_>>()).unwrap();
    device.run(&(0..40).map(read).collect::<Vec<_>>()).unwrap();
    device.start_measuring();
    device.run(&(0..7).map(read).collect::<Vec<_>>()).unwrap();
    device.drain();
    let waits = device.flash().clock.waits().unwrap();
    let counts = [OpClass::HostWrite, OpClass::HostRead].map(|class| waits.of(class).latency.count());
    assert_eq!(counts, [0, 7]);
}

#[test]
fn reads_are_tried_again_with_wear_and_age() {
    let mean_read = |cells: &str| {
        let config = config(&[&format!("device.cells={cells}"), "replay.queue_depth=1", "precondition=full"]);
        let mut device = config.build().unwrap();
        let mut dice = Dice(1);
        let reads: Vec<HostRequest> = (0..20_000).map(|_| request(HostOp::Read, dice.below(6_000))).collect();
        device.run(&reads).unwrap();
        device.drain();
        device.ledger().nanos(Op::Read, Cause::Host) as f64 / 20_000.0 / 1e9 - TRANSFER - COMMAND
    };
    let cases = [
        ("{retries_per_1000_cycles=0.5}", 0.0),
        ("{retries_per_1000_cycles=0.5, cycles_before=1000}", 0.5),
        ("{retries_per_1000_cycles=0.5, cycles_before=2500}", 1.25),
        ("{retries_per_day=0.1, days_before=30}", 3.0),
        ("{retries_per_1000_cycles=0.2, cycles_before=3000, retries_per_day=0.01, days_before=90}", 1.5),
    ];
    for (cells, retries) in cases {
        let measured = mean_read(cells) / READ - 1.0;
        assert!((measured - retries).abs() < 0.02, "{cells}: {measured} retries a read, expected {retries}");
    }
}

#[test]
fn age_counts_from_the_first_program_after_the_erase_whichever_page_that_is() {
    // With blocks of the FTL `block`: all that is old is rewritten except for page 0 of each block, which is trimmed.
    let (blocks, pages) = (20, 48);
    let settings = ["device.cells={retries_per_day=0.5, days_before=40}", "replay.queue_depth=1", "precondition=full"];
    let config = config(&[&settings[..], &["ftl={name=\"block\"}"]].concat());
    let mut device = config.build().unwrap();
    let of = |op| move |n: u32| request(op, n);
    let rewritten = || (0..blocks * pages).filter(|n| n % pages > 0);
    device.run(&(0..blocks).map(|block| request(HostOp::Trim, block * pages)).collect::<Vec<_>>()).unwrap();
    device.run(&rewritten().map(of(HostOp::Write)).collect::<Vec<_>>()).unwrap();
    device.drain();
    let before = device.ledger().nanos(Op::Read, Cause::Host);
    device.run(&rewritten().map(of(HostOp::Read)).collect::<Vec<_>>()).unwrap();
    device.drain();
    let read = (device.ledger().nanos(Op::Read, Cause::Host) - before) as f64 / rewritten().count() as f64 / 1e9;
    assert!((read / (READ + TRANSFER + COMMAND) - 1.0).abs() < 0.01, "{read} s for a page that was just written");
}

#[test]
fn nonsense_is_refused_by_its_key() {
    let refused = |settings: &[&str], key: &str| {
        let made = crate::kit::try_preset("modern-tlc", settings);
        let error = made.err().unwrap_or_else(|| panic!("{settings:?} is accepted"));
        assert!(error.key.starts_with(key), "{settings:?}: {error}");
    };
    refused(&["device.commands.unit_pages=0"], "device.commands.unit_pages");
    refused(&["device.commands.unit_pages=5"], "device.commands.unit_pages");
    refused(&["device.geometry.planes_per_die=1", "device.commands.planes=any_page"], "device.commands.planes");
    refused(
        &["device.timing.model=parallel", "device.scheduler.policy=fifo", "device.commands.unit_pages=4"],
        "device.commands",
    );
    refused(
        &["device.timing.model=parallel", "device.scheduler.policy=fifo", "device.cells.slc_read=1us"],
        "device.cells",
    );
    refused(
        &["device.timing.model=parallel", "device.scheduler.policy=fifo", "device.commands.cache_read=true"],
        "device.commands",
    );
    refused(
        &["device.timing.model=parallel", "device.scheduler.policy=fifo", "device.commands.copy_back=true"],
        "device.commands",
    );
    refused(&["device.commands={unit_pages=4, copy_back=true}"], "device.commands.copy_back");
    refused(&["device.cells.slc_read=20us"], "device.cells.slc_read");
    refused(&["device.cells.read_by_type=[\"10us\", \"20us\"]"], "device.cells.read_by_type");
    refused(&["device.cells.cycles_before=100"], "device.cells.cycles_before");
    refused(&["device.cells.days_before=100"], "device.cells.days_before");
    refused(&["device.cells.retries_per_day=-1"], "device.cells.retries_per_day");
}
