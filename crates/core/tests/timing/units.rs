//! Are pages that one program can take gathered, sent to one die and programmed by one command?

use std::collections::BTreeMap;

use nandlab::engine::Ssd;
use nandlab::flash::clock::{Call, OpTarget, Operation, Release};
use nandlab::flash::{Clock, Ticket, TimingModel};
use nandlab::ledger::{Cause, Op};
use nandlab::types::{HostOp, HostRequest, Nanos, Ppn};

use super::commands::config;
use super::scheduled_devices::again;
use crate::kit::Dice;

const UNITS: [&str; 3] = ["device.commands.unit_pages=4", "ftl.placement=least_busy", "ftl.whole_units=true"];
const BUFFER: [&str; 5] =
    ["buffer.name=lru", "ram.dram=1MiB", "replay.mode=open", "ram.dram_write=0us", "ram.evict_wait=program"];

fn request(op: HostOp, at_us: u64, lpn: u32) -> HostRequest {
    HostRequest::new(Nanos::from_us(at_us), op, u64::from(lpn) * 8, if op == HostOp::Flush { 0 } else { 8 })
}

fn device(settings: &[&[&str]]) -> Box<dyn Ssd> {
    let mut device = config(&settings.concat()).build().unwrap();
    device.test_port().flash_mut().clock.record();
    device
}

/// Lets the device go on until its flash is idle: the host trims a page that was never written, every microsecond.
fn let_go_on(device: &mut dyn Ssd) {
    let mut at_us = device.flash().now().0 / 1_000;
    while device.flash().clock.in_flight() > 0 {
        at_us += 1;
        device.run(&[request(HostOp::Trim, at_us, 5999)]).unwrap();
    }
}

/// The host's programs, as issued.
fn host_programs(device: &mut dyn Ssd) -> Vec<(Nanos, Operation)> {
    let record = device.test_port().flash_mut().clock.recorded().iter();
    record
        .filter_map(|call| match call.call {
            Call::Operation(operation) if operation.op == Op::Program && operation.target.cause == Cause::Host => {
                Some((call.at, operation))
            }
            _ => None,
        })
        .collect()
}

#[test]
fn whole_units_go_to_one_die_each_while_blocks_are_collected() {
    for settings in [&[] as &[&str], &["ftl.gc_slice=paced"], &["ftl.frontiers=plane", "ftl.gc_slice=4"]] {
        let mut device = device(&[&UNITS, settings]);
        let mut dice = Dice(9);
        let writes: Vec<HostRequest> = (0..30_000).map(|_| request(HostOp::Write, 0, dice.below(6000))).collect();
        device.run(&writes).unwrap();
        device.drain();
        assert!(device.ledger().count(Op::Erase, Cause::Gc) > 100, "blocks are collected");
        let programs = host_programs(&mut *device);
        assert_eq!(programs.len(), 30_000);
        let mut of_die = [0; 2];
        for unit in programs.chunks(4) {
            let first = unit[0].1;
            assert_eq!(first.target.page.0 % 4, 0, "{settings:?}: a unit begins where a page of the flash does");
            for (n, (_, operation)) in unit.iter().enumerate() {
                assert_eq!(operation.target.page.0, first.target.page.0 + n as u32, "{settings:?}");
            }
            of_die[first.die as usize] += 1;
        }
        assert!(of_die.iter().all(|units| *units > 3_000), "{settings:?}: both dies work: {of_die:?}");
    }
}

#[test]
fn streams_fill_units_of_their_own() {
    let mut device = device(&[&UNITS, &["ftl.streams=2"]]);
    let mut dice = Dice(5);
    // A twentieth of the pages takes half of the writes.
    let lpn = |dice: &mut Dice| if dice.one_in(2) { dice.below(300) } else { dice.below(6000) };
    let writes: Vec<HostRequest> = (0..30_000).map(|_| request(HostOp::Write, 0, lpn(&mut dice))).collect();
    device.run(&writes).unwrap();
    device.drain();
    let mut filling: Vec<u32> = Vec::new();
    let mut most = 0;
    for (_, operation) in host_programs(&mut *device) {
        let page = operation.target.page.0;
        match filling.iter().position(|next| *next == page) {
            Some(at) => drop(filling.swap_remove(at)),
            None => assert_eq!(page % 4, 0, "a page that goes on with no unit begins one"),
        }
        if page % 4 != 3 {
            filling.push(page + 1);
        }
        most = most.max(filling.len());
    }
    assert_eq!(most, 2, "one unit of each stream is begun");
}

/// Pages on two dies, four at a time, 10 us apart: with whole units a command each.
#[test]
fn gathered_units_are_one_program_each() {
    let end_us = |settings: &[&str], pages: u32, flush: bool| {
        let mut device = device(&[&BUFFER, settings]);
        let at = |n: u32| u64::from(n / 4 * 10);
        let writes = (0..pages).map(|n| request(HostOp::Write, at(n), n * 7));
        device.run(&writes.collect::<Vec<_>>()).unwrap();
        if flush {
            device.run(&[request(HostOp::Flush, at(pages), 0)]).unwrap();
        }
        device.run(&[request(HostOp::Trim, at(pages), 5999)]).unwrap();
        let_go_on(&mut *device);
        (device.flash().now().0 / 1_000, device.ledger().flushed_gathered, device.ledger().programs())
    };
    let gather = ["ram.flush.gather=unit"];
    let whole = [&UNITS[..], &gather].concat();
    // A command, four transfers of 10 us, a program of 600 us.
    let unit = 1 + 4 * 10 + 600;
    assert_eq!(end_us(&whole, 4, false), (unit, 4, 4));
    assert_eq!(end_us(&whole, 8, false), (10 + unit, 8, 8), "another die");
    assert_eq!(end_us(&whole, 7, false), (unit, 4, 4), "three more wait for a fourth");
    assert_eq!(end_us(&whole, 7, true), (10 + (unit - 10), 4, 7), "or for a flush: a page less crosses");
    assert_eq!(end_us(&whole, 16, false), (10 + 2 * unit, 16, 16), "the second command of a die follows the first");
    // Page by page over both dies every gathering is two halves of units.
    let by_page = [&UNITS[..2], &gather].concat();
    assert_eq!(end_us(&by_page, 8, false), (2 * (unit - 20), 8, 8));
}

/// A unit of every die is there before one is written: then dies begin and end at the same time.
#[test]
fn stripe_is_a_unit_of_every_die() {
    let begins_us = |settings: &[&str], pages: u32| {
        let mut device = device(&[&BUFFER, &UNITS, &["ram.flush.gather=stripe"], settings]);
        let writes = (0..pages).map(|n| request(HostOp::Write, u64::from(n), n * 7));
        device.run(&writes.collect::<Vec<_>>()).unwrap();
        device.run(&[request(HostOp::Trim, u64::from(pages), 5999)]).unwrap();
        let_go_on(&mut *device);
        let programs = host_programs(&mut *device);
        programs.iter().map(|(at, operation)| (at.0 / 1_000, operation.die)).collect::<Vec<_>>()
    };
    assert_eq!(begins_us(&[], 7), [], "seven of eight pages");
    let programs = begins_us(&[], 21);
    let (first, other) = (programs[0].1, 1 - programs[0].1);
    let stripe = |at| [[(at, first); 4], [(at, other); 4]].concat();
    // The second is there when the first is under way, and follows when one die is done.
    assert_eq!(programs[..8], stripe(7));
    assert_eq!(programs.len(), 16);
    let on_first = programs[8..].iter().filter(|(_, die)| *die == first).count();
    assert_eq!(on_first, 4, "{programs:?}");
    // All four planes that work together count.
    let planes = ["ftl.frontiers=plane", "device.commands.planes=any_page"];
    assert_eq!(begins_us(&planes, 31), []);
    assert_eq!(begins_us(&planes, 32).len(), 32);
}

/// Cells are programmed once: what comes later begins a unit, on the die that is idle, and the rest stays without data.
#[test]
fn unit_under_way_is_left_for_an_idle_die() {
    let mut device = device(&[&BUFFER, &UNITS]);
    for (at, lpn) in [(0, 0), (100, 10), (200, 20), (9_000, 30)] {
        device.run(&[request(HostOp::Write, at, lpn), request(HostOp::Flush, at, 0)]).unwrap();
    }
    device.drain();
    let programs: Vec<(u32, u32)> =
        host_programs(&mut *device).iter().map(|(_, operation)| (operation.die, operation.target.page.0 % 8)).collect();
    let (first, other) = (programs[0].0, programs[1].0);
    assert_ne!(first, other, "the second page goes to the die that is idle");
    // Then both work, and the first will be idle first. When all are idle again none goes on with a unit.
    let last = programs[3].0;
    assert_eq!(programs, [(first, 0), (other, 0), (first, 4), (last, if last == first { 0 } else { 4 })]);
    assert_eq!(device.ledger().dummy_pages, 6);
    assert_eq!(device.flash().now().0 / 1_000, 9_000 + 1 + 10 + 600);
}

/// Every page that is programmed went to a unit that its die had not begun, and what is left out is what is counted.
#[test]
fn no_page_joins_a_unit_that_is_begun() {
    let cases: [&[&str]; 6] = [
        &["buffer.name=none"],
        &["ftl.gc_slice=paced", "ftl.gc_lag=6"],
        &["ftl.streams=2", "ram.flush.gather=unit"],
        &["ftl.name=dftl", "ftl.cmt_entries=500"],
        &["ftl.gc_slice=4", "device.scheduler.policy=read_first", "ram.flush.age=2ms"],
        &[
            "ftl.gc_slice=paced",
            "device.scheduler.policy=read_first",
            "device.scheduler.suspend=erase_and_program",
            "device.scheduler.suspend_time=5us",
        ],
    ];
    for (n, settings) in cases.into_iter().enumerate() {
        let buffer: &[&str] = if n == 0 { &["replay.mode=open"] } else { &BUFFER };
        let settings = [buffer, &UNITS, &["ftl.gc_frontier=separate", "precondition=none"], settings].concat();
        let config = config(&settings);
        let mut device = config.build().unwrap();
        device.test_port().flash_mut().clock.record();
        let mut dice = Dice(70 + n as u64);
        let mut at = 0;
        let requests: Vec<HostRequest> = (0..8_000)
            .map(|_| {
                at += u64::from(dice.below(900));
                let op = [HostOp::Write, HostOp::Write, HostOp::Read, HostOp::Flush][dice.below(4) as usize];
                request(op, at, if op == HostOp::Flush { 0 } else { dice.below(6000) })
            })
            .collect();
        device.run(&requests).unwrap();
        device.drain();
        let dummies = device.ledger().dummy_pages;
        let record = device.test_port().flash_mut().clock.recorded();
        let slow = again(record, config.device.clock_shape());
        let pages_per_block = config.device.geometry.pages_per_block;
        let operations = record.iter().filter_map(|call| match call.call {
            Call::Operation(operation) => Some((call.at.0, operation)),
            _ => None,
        });
        // By block: the page that would come next, and the host's last operation there.
        let mut blocks = BTreeMap::<u32, (u32, Option<usize>)>::new();
        let (mut left_out, mut joined) = (0, 0);
        let at_end = |next: u32| u64::from((pages_per_block - next % pages_per_block) % pages_per_block);
        for (id, (at, Operation { op, target, .. })) in operations.enumerate() {
            let block = target.page.0 / pages_per_block;
            if op == Op::Erase {
                left_out += blocks.remove(&block).map_or(0, |(next, _)| at_end(next));
            }
            if op != Op::Program {
                continue;
            }
            let (next, last) = *blocks.get(&block).unwrap_or(&(block * pages_per_block, None));
            left_out += u64::from(target.page.0 - next);
            let is_host = target.cause == Cause::Host;
            if let Some(last) = last.filter(|_| is_host && target.page.0 % 4 != 0) {
                assert_eq!(target.page.0, next, "{settings:?}: pages of a unit follow each other");
                assert!(at <= slow.executed(last).0, "{settings:?}: page {} joins a unit that is begun", target.page.0);
                joined += 1;
            }
            blocks.insert(block, (target.page.0 + 1, is_host.then_some(id)));
        }
        // Of blocks with less than a unit left nobody sees whether they are closed.
        let unknown: u64 = blocks.values().map(|(next, _)| at_end(*next)).filter(|rest| *rest < 4).sum();
        assert!((left_out..=left_out + unknown).contains(&dummies), "{settings:?}: {dummies} {left_out} {unknown}");
        assert!(dummies > 300 && joined > 200, "{settings:?}: {dummies} left out, {joined} joined");
    }
}

/// Of writes that are flushed one by one each takes a unit, and pays for it: collection does not fall behind.
#[test]
fn page_that_leaves_a_unit_pays_for_all_of_it() {
    let collects = ["ftl.gc_frontier=separate", "ftl.gc_slice=paced", "precondition={steady=1}"];
    let mut device = device(&[&BUFFER, &UNITS, &collects]);
    let mut dice = Dice(4);
    for n in 0..3_000 {
        device
            .run(&[request(HostOp::Write, n * 20_000, dice.below(6000)), request(HostOp::Flush, n * 20_000, 0)])
            .unwrap();
    }
    device.drain();
    let (mut copies, mut most) = (0, 0);
    let (mut all, mut pages) = (0, 0);
    for call in device.test_port().flash_mut().clock.recorded() {
        let Call::Operation(operation) = call.call else { continue };
        match (operation.op, operation.target.cause) {
            (Op::Program, Cause::Gc) => copies += 1,
            (Op::Program, Cause::Host) => {
                (all, pages) = (all + copies, pages + 1);
                most = most.max(copies);
                copies = 0;
            }
            _ => {}
        }
    }
    assert!(device.ledger().dummy_pages > 8_000, "{}", device.ledger().dummy_pages);
    assert!(all > 4_000 && pages == 3_000 && most <= 6, "{most} copies before a page, {all} before {pages}");
}

/// Before a die takes what was issued at this instant, it counts as work all the same.
#[test]
fn die_has_the_work_that_it_has_not_begun() {
    let config = config(&UNITS[..1]);
    let mut clock = Clock::of(TimingModel::named("scheduled"), &config.device.clock_shape());
    let target = |page| OpTarget { page: Ppn(page), cause: Cause::Host, cells: Nanos::ZERO, inside: false };
    let tickets =
        [0, 1].map(|page| clock.issue_for(target(page), 0, Op::Program, Ticket::at(Nanos::ZERO), Release::Done));
    assert_eq!(clock.die_work_until(0), Nanos::from_us(2 * (1 + 10 + 600)), "two commands, as far as it knows");
    assert!(!clock.has_begun_writes(Ppn(0)) && clock.next_event() == Some(Nanos::ZERO));
    clock.step();
    assert_eq!(clock.die_work_until(0), Nanos::from_us(1 + 20 + 600));
    assert!(clock.has_begun_writes(Ppn(0)));
    clock.drain();
    assert_eq!(tickets.map(|ticket| clock.time(ticket)), [Some(Nanos::from_us(1 + 20 + 600)); 2]);
    assert_eq!(clock.die_work_until(0), clock.now());
}

/// What is asked for at one instant is one command, although its die is idle.
#[test]
fn pages_of_one_request_share_a_command() {
    let mut device = device(&[&UNITS[..1], &["ftl.frontiers=single", "replay.mode=open", "ftl.placement=lpn"]]);
    let pages = |op, at_us, lpn: u64, pages: u32| HostRequest::new(Nanos::from_us(at_us), op, lpn * 8, pages * 8);
    device.run(&[pages(HostOp::Write, 0, 0, 8)]).unwrap();
    device.drain();
    assert_eq!(device.flash().now().0 / 1_000, 2 * (1 + 4 * 10 + 600));
    device.run(&[pages(HostOp::Read, 10_000, 0, 4)]).unwrap();
    device.run(&[pages(HostOp::Read, 20_000, 1, 2)]).unwrap();
    device.run(&[pages(HostOp::Read, 30_000, 3, 2)]).unwrap();
    device.drain();
    let reads = &device.times().read_response;
    // Two pages of one unit, four of one, one each of two.
    assert_eq!(reads.mean_ns() * 3.0 / 1000.0, f64::from((1 + 60 + 20) + (1 + 60 + 40) + 2 * (1 + 60 + 10)));
}

/// Also by two requests of a closed queue whose places become free at that instant.
#[test]
fn requests_of_one_instant_share_a_command() {
    let closed = ["replay.mode=closed", "replay.queue_depth=2", "replay.think_time=50ms"];
    let mut device = device(&[&UNITS[..1], &["ftl.frontiers=single", "ftl.placement=lpn"], &closed]);
    let pages = |op, lpn: u64, pages: u32| HostRequest::new(Nanos::ZERO, op, lpn * 8, pages * 8);
    device.run(&[pages(HostOp::Write, 0, 8)]).unwrap();
    device.drain();
    let trims = [pages(HostOp::Trim, 20, 1), pages(HostOp::Trim, 21, 1)];
    device.run(&[&trims[..], &[pages(HostOp::Read, 0, 1), pages(HostOp::Read, 1, 1)]].concat()).unwrap();
    device.drain();
    let reads = &device.times().read_response;
    assert_eq!(reads.mean_ns() * 2.0 / 1000.0, f64::from((1 + 60 + 10) + (1 + 60 + 20)));
}

#[test]
fn page_that_has_aged_takes_as_many_along_as_are_gathered() {
    let keys = ["ram.flush.gather=4", "ram.flush.age=1s"];
    let mut device = device(&[&BUFFER, &UNITS, &keys]);
    let writes = [(0, 5), (100, 1), (200, 3)].map(|(at, lpn)| request(HostOp::Write, at, lpn));
    let rest = [(3_000_000, 8), (3_000_000, 9)].map(|(at, lpn)| request(HostOp::Write, at, lpn));
    device.run(&writes).unwrap();
    device.run(&rest).unwrap();
    device.run(&[request(HostOp::Read, 9_000_000, 50)]).unwrap();
    let at: Vec<u64> = host_programs(&mut *device).iter().map(|(at, _)| at.0 / 1_000).collect();
    assert_eq!(at, [1_000_000, 1_000_000, 1_000_000, 4_000_000, 4_000_000]);
    assert_eq!((device.ledger().flushed_by_age, device.ledger().flushed_gathered), (5, 0));
}

#[test]
fn units_without_effect_are_refused() {
    let refused = |settings: &[&str], key: &str| {
        let built = crate::kit::try_preset("lab-drive", settings).and_then(|config| config.build());
        let error = built.err().unwrap_or_else(|| panic!("{settings:?} is accepted"));
        assert_eq!(error.key, key, "{settings:?}: {error}");
    };
    let unit = "device.commands.unit_pages=4";
    refused(&[unit, "ftl.whole_units=true", "ftl.placement=lpn"], "ftl.whole_units");
    refused(&["ftl.whole_units=true", "ftl.placement=least_busy"], "ftl.whole_units");
    refused(&[unit, "ftl.name=dftl", "ftl.whole_units=true", "ftl.placement=lpn"], "ftl.whole_units");
    let whole = [unit, "ftl.whole_units=true", "ftl.placement=least_busy"];
    refused(&[&whole[..], &["device.program_order=strict"]].concat(), "ftl.whole_units");
    refused(&["ram.flush.gather=unit"], "ram.flush.gather");
    refused(&["ram.flush.gather=1"], "ram.flush.gather");
    refused(&["ram.flush.gather=65537"], "ram.flush.gather");
    refused(&["ram.flush.gather=units"], "ram.flush.gather");
    refused(&["ram.dram=1MiB", "ram.flush.gather=300"], "ram.flush.gather");
    refused(&["ram.dram=1MiB", "device.commands.unit_pages=16", "ram.flush.gather=stripe"], "ram.flush.gather");
}
