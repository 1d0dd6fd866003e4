//! Whole devices: the record of every flash operation, with what it waits for, goes through the slow simulator, and the
//! times of all requests must come out.

use std::collections::BTreeMap;

use nandlab::catalog::BUFFERS;
use nandlab::config::{Config, ReplayMode};
use nandlab::engine::{Payload, Ssd};
use nandlab::flash::clock::{Call, Clock, ClockTimes, Operation, RecordedCall, Release, Ticket, TimingModel};
use nandlab::ftl::FTLS;
use nandlab::histogram::Histogram;
use nandlab::ledger::{Cause, Op};
use nandlab::types::{HostOp, HostRequest, Nanos};

use super::controller;
use super::link;
use super::sleep;
use super::slow::{After, Slow};
use crate::kit::Dice;

/// Tokens of the engine with this bit stand for a command that the buffer sent down; the rest of it is when.
const WRITE_BACK: u64 = 1 << 63;
const READ_BACK: u64 = 1 << 62;

/// What a device did and said.
pub struct Observed {
    config: Config,
    /// The device.
    pub device: Box<dyn Ssd>,
    requests: Vec<HostRequest>,
    /// When the first request could come.
    pub start: u64,
    admitted: Vec<u64>,
    /// By request: what it waits for; of a read whose data crosses a link, what that waits for.
    pub done: Vec<Ticket>,
    /// By request: calls of the clock up to its end.
    calls: Vec<usize>,
}

/// Runs requests one by one, then lets everything finish.
pub fn observe(config: &Config, requests: Vec<HostRequest>) -> Observed {
    let mut device = config.build().unwrap();
    device.drain();
    let start = device.flash().now().0;
    device.test_port().flash_mut().clock.record();
    let (mut admitted, mut done, mut calls) = (vec![], vec![], vec![]);
    let requests: Vec<HostRequest> =
        requests.into_iter().map(|r| HostRequest { at: Nanos(start) + r.at, ..r }).collect();
    for request in &requests {
        let completion = device.submit(request, Payload::None).unwrap();
        admitted.push(completion.admitted.0);
        done.push(match (completion.finished, device.flash().clock.recorded().last()) {
            (Some(at), _) => Ticket::at(at),
            // What is not known yet is watched, and that is the last thing that the engine does.
            (None, Some(RecordedCall { call: Call::Watch { ticket, .. }, .. })) => *ticket,
            (None, last) => panic!("{last:?}: the completion is unknown, and nobody waits for it"),
        });
        calls.push(device.flash().clock.recorded().len());
    }
    device.drain();
    Observed { config: config.clone(), device, requests, start, admitted, done, calls }
}

/// The operations of a record with their times, and the time of every ticket.
pub struct Timed {
    /// Operations in the order of issue, with begin and end of execution and the time at which the ticket resolves.
    pub operations: Vec<(Operation, [u64; 3])>,
    /// When they were issued.
    pub issued: Vec<u64>,
    tickets: BTreeMap<Ticket, u64>,
}

impl Timed {
    /// When a ticket resolves.
    pub fn of(&self, ticket: Ticket) -> u64 {
        ticket.as_time().map_or_else(|| self.tickets[&ticket], |at| at.0)
    }
}

fn issue_times(record: &[RecordedCall]) -> Vec<u64> {
    record.iter().filter(|r| matches!(r.call, Call::Operation(_))).map(|r| r.at.0).collect()
}

/// The parallel model, word by word.
fn parallel(record: &[RecordedCall], times: ClockTimes, channels: usize, dies: usize, start: u64) -> Timed {
    let mut slow = Slow::new(times, channels, dies);
    slow.advance(start);
    let mut known: BTreeMap<Ticket, After> = BTreeMap::new();
    let mut issued = vec![];
    let after = |known: &BTreeMap<Ticket, After>, ticket: Ticket| match ticket.as_time() {
        Some(at) => After { at: at.0, ..After::default() },
        None => known[&ticket].clone(),
    };
    for RecordedCall { at, call } in record {
        slow.advance(at.0);
        match *call {
            Call::Operation(operation) => {
                let id =
                    slow.issue(operation.die as usize, operation.op, after(&known, operation.after), operation.release);
                known.insert(operation.ticket, After::op(id));
                issued.push(operation);
            }
            Call::Join { a, b, both } => {
                let joined = slow.join(after(&known, a), after(&known, b));
                if both.as_time().is_none() {
                    known.insert(both, joined);
                }
            }
            Call::Programmed { ticket } => {
                known.insert(ticket, std::mem::take(&mut slow.programmed));
            }
            Call::Watch { .. } | Call::Settle => {}
        }
    }
    slow.drain();
    slow.check_invariants();
    let resolved = |id: &usize| slow.ops[*id].resolved.unwrap();
    let end = |id: &usize| slow.ops[*id].finished;
    let time =
        |after: &After| after.ops.iter().map(resolved).chain(after.ends.iter().map(end)).fold(after.at, u64::max);
    let times = |id: usize| [slow.ops[id].left_queue, slow.ops[id].finished, resolved(&id)];
    Timed {
        operations: issued.into_iter().enumerate().map(|(id, operation)| (operation, times(id))).collect(),
        issued: issue_times(record),
        tickets: known.iter().map(|(ticket, after)| (*ticket, time(after))).collect(),
    }
}

/// The serial model: one operation at a time, in the order of issue.
fn serial(record: &[RecordedCall], times: ClockTimes, start: u64) -> Timed {
    let transfer = times.command.0 + times.page_transfer.0;
    let service = |op| match op {
        Op::Read => times.page_read.0 + transfer,
        Op::Program => times.page_program.0 + transfer,
        Op::Erase => times.block_erase.0 + times.command.0,
    };
    let (mut free, mut operations) = (start, vec![]);
    for RecordedCall { at, call } in record {
        let operation = match *call {
            Call::Operation(operation) => operation,
            // Of a read whose data crosses a link then.
            Call::Watch { .. } | Call::Programmed { .. } | Call::Settle => continue,
            Call::Join { .. } => panic!("{call:?}: the tickets of this model are times"),
        };
        let begin = free.max(at.0).max(operation.after.as_time().unwrap().0);
        free = begin + service(operation.op);
        let loaded = operation.release == Release::Transfer && operation.op == Op::Program;
        operations.push((operation, [begin, free, if loaded { begin + transfer } else { free }]));
    }
    Timed { operations, issued: issue_times(record), tickets: BTreeMap::new() }
}

/// The record once more through a clock of its own: the end of every operation.
fn again(record: &[RecordedCall], times: ClockTimes, channels: u32, dies: u32) -> Vec<u64> {
    let mut clock = Clock::new(TimingModel::named("parallel"), times, channels, dies);
    let mut known: BTreeMap<Ticket, Ticket> = BTreeMap::new();
    let mut count = 0;
    for RecordedCall { at, call } in record {
        clock.advance(*at);
        let now = |known: &BTreeMap<Ticket, Ticket>, t: Ticket| t.as_time().map_or_else(|| known[&t], |_| t);
        match *call {
            Call::Operation(o) => {
                let ticket = clock.issue(o.die, o.op, now(&known, o.after), o.release);
                known.insert(o.ticket, ticket);
                clock.watch(ticket, count);
                count += 1;
            }
            Call::Join { a, b, both } => {
                let joined = clock.join(now(&known, a), now(&known, b));
                known.insert(both, joined);
            }
            Call::Programmed { ticket } => {
                known.insert(ticket, clock.take_programmed());
            }
            Call::Watch { .. } | Call::Settle => {}
        }
    }
    super::rig::finish_times(&mut clock, count as usize)
}

impl Observed {
    /// The times of the flash operations by the slow simulator.
    pub fn time(&self) -> Timed {
        let (record, geometry) = (self.device.flash().clock.recorded(), self.device.flash().geometry());
        let times = self.config.device.timing.times();
        if self.config.device.timing.model == TimingModel::named("serial") {
            return serial(record, times, self.start);
        }
        let (channels, dies) = (geometry.channels, geometry.dies());
        let timed = parallel(record, times, channels as usize, dies as usize, self.start);
        let resolved: Vec<u64> = timed.operations.iter().map(|(_, [_, _, at])| *at).collect();
        assert_eq!(again(record, times, channels, dies), resolved);
        timed
    }

    /// When requests are admitted, given when they finish: in order, by arrival, and as places are free.
    fn admissions(&self, finished: &[u64]) -> Vec<u64> {
        let replay = &self.config.replay;
        let open = replay.mode == ReplayMode::Open;
        let think = if replay.mode == ReplayMode::Closed { replay.think_time.0 } else { 0 };
        let (depth, mut now) = (replay.queue_depth as usize, self.start);
        let admit = |i: usize| {
            if open {
                now = now.max(self.requests[i].at.0);
            }
            if i >= depth {
                let mut ends: Vec<u64> = finished[..i].iter().map(|at| at + think).collect();
                ends.sort_unstable();
                now = now.max(ends[i - depth]);
            }
            now
        };
        (0..finished.len()).map(admit).collect()
    }

    /// Compares everything that the device says about time with the slow simulator. Returns its times.
    pub fn check(&self, name: &str) -> Timed {
        let timed = self.time();
        for (operation, [.., resolved]) in &timed.operations {
            let at = operation.ticket.as_time().map_or(*resolved, |at| at.0);
            assert_eq!(at, *resolved, "{name}: {operation:?}");
        }
        let ready: Vec<u64> = self.done.iter().map(|ticket| timed.of(*ticket)).collect();
        let finished = self.cross(&ready, &timed, name);
        assert_eq!(self.admissions(&finished), self.admitted, "{name}: admissions");
        let open = self.config.replay.mode == ReplayMode::Open;
        let mut slow = [Histogram::default(), Histogram::default(), Histogram::default(), Histogram::default()];
        for (i, request) in self.requests.iter().enumerate() {
            let arrival = if open { request.at.0 } else { self.admitted[i] };
            let kind = match request.op {
                HostOp::Read => 0,
                HostOp::Write => 1,
                HostOp::Trim | HostOp::Flush => 2,
            };
            slow[kind].record(Nanos(finished[i] - arrival));
            slow[3].record(Nanos(finished[i] - self.admitted[i]));
        }
        let times = self.device.times();
        let product = [&times.read_response, &times.write_response, &times.other_response, &times.device()];
        for (kind, (product, slow)) in product.into_iter().zip(&slow).enumerate() {
            let all = |h: &Histogram| {
                let percentiles = [0.0, 1.0, 25.0, 50.0, 75.0, 90.0, 99.0, 100.0].map(|p| h.percentile(p));
                (h.count(), h.mean_ns(), h.max(), percentiles)
            };
            assert_eq!(all(product), all(slow), "{name}: response times, kind {kind}");
        }
        assert_eq!(times.last_completion.0, finished.iter().copied().max().unwrap(), "{name}");
        if self.config.device.timing.model == TimingModel::named("parallel") {
            self.check_buffer_times(&timed, name);
        }
        timed
    }

    /// When requests finish that are ready, link aside, at these times; and whether what is done for a request begins after
    /// the controller, its overhead and, for a write, its data.
    fn cross(&self, ready: &[u64], timed: &Timed, name: &str) -> Vec<u64> {
        let (host, mut finished) = (self.config.device.host, ready.to_owned());
        // Whether it slept depends on the end of earlier requests, which waited for the link after it woke.
        let (mut awake, mut crossed) = (self.admitted.clone(), [0, 0]);
        let mut begins = loop {
            let mut begins = awake.clone();
            finished.copy_from_slice(ready);
            if let Some(speed) = host.link.speed() {
                crossed = link::cross(speed, &self.requests, &mut begins, &mut finished);
            }
            let again = sleep::awake(&self.config.device.sleep, self.start, &self.admitted, &finished);
            if again == awake {
                break begins;
            }
            awake = again;
        };
        assert_eq!(self.device.times().link.busy, crossed.map(Nanos), "{name}");
        let page_sectors = u64::from(self.device.flash().geometry().page_sectors());
        let commands: Vec<_> = self.requests.iter().copied().zip(awake).collect();
        let (known, busy) = controller::serve(&self.config.device.controller, page_sectors, &commands);
        assert_eq!(self.device.times().controller_busy, Nanos(busy), "{name}");
        for (begins, known) in begins.iter_mut().zip(known) {
            *begins = known.max(*begins);
        }
        let operations = || timed.operations.iter().zip(&timed.issued);
        let issued = |upto: usize| {
            let calls = &self.device.flash().clock.recorded()[..upto];
            calls.iter().filter(|recorded| matches!(recorded.call, Call::Operation(_))).count()
        };
        let mut from = 0;
        for (i, request) in self.requests.iter().enumerate() {
            let overhead = if request.op == HostOp::Read { host.read_overhead } else { host.write_overhead };
            let begins = begins[i] + overhead.0;
            assert!(finished[i] >= begins, "{name}: request {i} finishes at {}, before it begins", finished[i]);
            let upto = issued(self.calls[i]);
            // What is done in idle time is done before.
            for ((operation, [begin, ..]), at) in operations().take(upto).skip(from) {
                let is_early = *at == self.admitted[i] && *begin < begins;
                assert!(!is_early, "{name}: request {i} begins at {begins}, its {operation:?} at {begin}");
            }
            from = upto;
        }
        finished
    }

    /// `D_r` and `D_w`: every command of the buffer from its issue to its end, late ones too.
    fn check_buffer_times(&self, timed: &Timed, name: &str) {
        let sum = |bit: u64| -> u64 {
            let watched = self.device.flash().clock.recorded().iter().filter_map(|recorded| match recorded.call {
                Call::Watch { ticket, token } if token & bit != 0 => Some(timed.of(ticket) - (token & !bit)),
                _ => None,
            });
            watched.sum()
        };
        let ledger = self.device.ledger();
        let (reads, writes) = (sum(READ_BACK), sum(WRITE_BACK));
        // A page that was never written is no command of the flash, but waits for its frame, whose end may be known at once.
        let waits = ledger.unmapped_reads > 0 && ledger.buffer_read_ns > reads;
        assert!(waits || ledger.buffer_read_ns == reads, "{name}: reads {} ns, {reads}", ledger.buffer_read_ns);
        assert_eq!(ledger.buffer_write_ns, writes, "{name}");
    }
}

/// A device of 2 channels with 2 dies each, small times so that much coincides, and RAM that takes time.
pub fn config(settings: &[String]) -> Config {
    const SMALL: [&str; 10] = [
        "device.geometry={channels=2, chips_per_channel=2, dies_per_chip=1, planes_per_die=1, blocks_per_plane=20, \
         pages_per_block=8, page_bytes=2048}",
        "device.over_provisioning={logical_pages=320}",
        "device.timing={model=\"parallel\", page_read=\"20ns\", page_program=\"100ns\", block_erase=\"500ns\", \
         page_transfer=\"10ns\", command=\"0ns\"}",
        "ram.dram=32KiB",
        "ram.nvram=32KiB",
        "ram.dram_read=1ns",
        "ram.dram_write=2ns",
        "ram.nvram_read=3ns",
        "ram.nvram_write=5ns",
        "precondition=full",
    ];
    crate::kit::lab(SMALL.into_iter().chain(settings.iter().map(String::as_str)))
}

/// Reads, writes, trims and flushes of 1 to 3 pages, skewed, in bursts and pauses.
pub fn requests(seed: u64, count: u64) -> Vec<HostRequest> {
    let (mut r, mut at) = (Dice(seed), 0);
    let mut request = |_| {
        at += if r.percent(10) { r.below64(20_000) } else { r.below64(300) };
        let page = r.below64(300) * r.below64(300) / 300;
        let (lba, sectors) = (page * 4 + r.below64(4), 1 + r.below64(12) as u32);
        let op = match r.below64(40) {
            0 => return HostRequest::new(Nanos(at), HostOp::Flush, 0, 0),
            1 => HostOp::Trim,
            2..15 => HostOp::Read,
            _ => HostOp::Write,
        };
        HostRequest::new(Nanos(at), op, lba, sectors)
    };
    (0..count).map(&mut request).collect()
}

/// How requests arrive, when frames are free, and who may work at a time, by turns.
fn variant(n: u64) -> Vec<String> {
    let mode = ["open", "closed", "fast"][n as usize % 3];
    let mut settings = vec![
        format!("replay.mode={mode}"),
        format!("replay.queue_depth={}", [1, 4, 32][n as usize / 3 % 3]),
        format!("ram.evict_wait={}", ["program", "transfer"][n as usize / 2 % 2]),
        format!("ram.partial_write={}", ["fetch", "mask"][n as usize / 4 % 2]),
        "replay.think_time=700ns".to_owned(),
    ];
    if n.is_multiple_of(5) {
        settings.push("device.timing.command=3ns".to_owned());
    }
    if n.is_multiple_of(4) {
        settings.push("device.timing.model=serial".to_owned());
    }
    settings.extend(super::link::host(n));
    settings
}

fn check_pair(buffer: &str, ftl: &str, n: u64) {
    let mut settings = vec![format!("buffer.name={buffer}"), format!("ftl.name={ftl}"), format!("seed={n}")];
    settings.extend(variant(n));
    observe(&config(&settings), requests(n, 300)).check(&format!("{settings:?}"));
}

#[test]
fn every_ftl_takes_the_time_of_the_slow_simulator() {
    let buffers = ["none", "lru", "bplru", "aalru", "hitstat", "wpa"];
    let mut n = 0;
    for (ftl, buffer) in FTLS.iter().flat_map(|ftl| buffers.map(|buffer| (ftl, buffer))) {
        n += 1;
        check_pair(buffer, &ftl.name(), n);
    }
}

#[test]
fn options_of_collection_take_the_time_of_the_slow_simulator() {
    let variants: [(&str, &[&str]); 6] = [
        ("page", &["ftl.idle_free=3"]),
        ("dftl", &["ftl.idle_free=3", "ftl.cmt_entries=16", "ftl.entries_per_tp=32"]),
        ("page", &["ftl.gc_frontier=separate", "ftl.gc_slice=2", "ftl.gc_lag=1", "ftl.wear_threshold=2"]),
        ("page", &["ftl.frontiers=single"]),
        ("page", &["ftl.placement=round_robin"]),
        ("rftl", &["ftl.cmt_entries=16", "ftl.entries_per_tp=32"]),
    ];
    for (n, (ftl, more)) in (2_000..).zip(variants.iter().flat_map(|variant| [variant; 4])) {
        let mut settings = vec![format!("ftl.name={ftl}"), format!("seed={n}")];
        settings.extend(variant(n));
        settings.extend(more.iter().map(|&setting| setting.to_owned()));
        observe(&config(&settings), requests(n, 400)).check(&format!("{settings:?}"));
    }
}

#[test]
fn every_buffer_takes_the_time_of_the_slow_simulator() {
    let mut n = 1_000;
    for (buffer, ftl) in BUFFERS.iter().flat_map(|buffer| ["page", "fast", "dftl"].map(|ftl| (buffer, ftl))) {
        n += 1;
        check_pair(&buffer.name(), ftl, n);
    }
}

/// The slow simulator takes from the record what waits for what; this is what must wait.
#[test]
fn every_ftl_programs_a_page_after_the_read_of_its_rest() {
    for plugin in FTLS {
        let ftl = plugin.name();
        let mut settings = vec!["buffer.name=none".to_owned(), format!("ftl.name={ftl}")];
        // With a frontier for every die a page stays on its die.
        if (plugin.defaults)().get("frontiers").is_some() {
            settings.push("ftl.frontiers=single".to_owned());
        }
        // The first sector of pages in no order, each when the device is idle.
        let part = |n: u64| HostRequest::new(Nanos(n * 1_000_000), HostOp::Write, n * 89 % 320 * 4, 1);
        let seen = observe(&config(&settings), (0..640).map(part).collect());
        let timed = seen.check(&ftl);
        let mut apart = 0;
        let all = || timed.operations.iter().zip(&timed.issued);
        for ((read, [_, read_at, _]), issued) in
            all().filter(|((o, _), _)| (o.op, o.target.cause) == (Op::Read, Cause::Pad))
        {
            let is_its = |(o, _): &&(Operation, [u64; 3])| (o.op, o.target.cause) == (Op::Program, Cause::Host);
            let mut programs = all().filter(|(_, at)| *at == issued).map(|(timed, _)| timed).filter(is_its);
            let (program, [begin, ..]) = programs.next().expect("the page is programmed");
            assert!(begin >= read_at, "{ftl}: {program:?} begins at {begin}, {read:?} ends at {read_at}");
            apart += u32::from(program.die != read.die);
        }
        let is_free = ftl != "rftl"; // Every page of its stays on its die.
        assert!(apart > 200 || !is_free, "{ftl}: on the die of its read a program waits anyhow; {apart} are elsewhere");
    }
}
