//! Does every metric equal a slow count of what happened?

mod kit;

use std::collections::BTreeMap;

use kit::{Dice, Event, Recorder};
use nandlab::buffer::Access;
use nandlab::catalog::BUFFERS;
use nandlab::config::{Builder, Config};
use nandlab::engine::{INTERVALS, Payload, Ssd};
use nandlab::ledger::Cause;
use nandlab::replay::{Outcome, Replay};
use nandlab::report::{Report, TraceSource};
use nandlab::types::{Hint, HostOp, HostRequest, Lpn, Nanos};

const BLOCK_PAGES: u32 = 16;
const SECTORS: u64 = 8;

fn config(settings: &[&str]) -> Config {
    kit::small(["precondition=full"].iter().chain(settings))
}

fn report(config: &Config, device: &mut dyn Ssd) -> Report {
    device.drain();
    Report::new(config, device, TraceSource::default(), &Outcome::default())
}

/// A request that begins anywhere in a skewed half of the device.
fn random_request(dice: &mut Dice, n: u64, pages: u64, sectors_max: u64) -> HostRequest {
    let page = dice.below64(pages) * dice.below64(pages) / pages;
    let op = if dice.below64(3) == 0 { HostOp::Read } else { HostOp::Write };
    let from = dice.below64(SECTORS);
    let sectors = 1 + dice.below64(sectors_max.min(pages * SECTORS - page * SECTORS - from));
    HostRequest::new(Nanos(n * 1_000_000), op, page * SECTORS + from, sectors as u32)
}

/// Sizes of the flushed groups, and the interval of every flush that has one.
fn flushes(writes: &[(Vec<u32>, Vec<u32>)]) -> (Vec<u32>, Vec<u32>) {
    let mut order: Vec<(u32, u32)> = Vec::new();
    for (lpns, padded) in writes {
        let mut groups = BTreeMap::new();
        for lpn in lpns.iter().filter(|lpn| !padded.contains(lpn)) {
            *groups.entry(lpn / BLOCK_PAGES).or_insert(0) += 1;
        }
        order.extend(groups);
    }
    let before = |at: usize| order[..at].iter().rposition(|(lbn, _)| *lbn == order[at].0);
    let intervals = (0..order.len()).filter_map(|at| before(at).map(|then| (at - then) as u32)).collect();
    (order.into_iter().map(|(_, pages)| pages).collect(), intervals)
}

#[test]
fn flushes_and_padding_are_what_the_commands_say() {
    let (mut compared, mut padding, mut clusters) = (0, 0, 0);
    for plugin in BUFFERS {
        // BAST, because it leaves padding to the buffer; whole pages, so that every padding read is one of a block.
        let name = format!("buffer.name={}", plugin.name());
        let config = config(&[&name, "ftl.name=bast", "ram.partial_write=mask"]);
        let mut device = config.build().unwrap();
        let recorder = Recorder::default();
        device.set_probe(Some(Box::new(recorder.clone())));
        let mut dice = Dice(1);
        for n in 0..4_000 {
            let request = random_request(&mut dice, n, 500, 40);
            let whole = HostRequest { lba: request.lba & !7, sectors: (request.sectors + 7) & !7, ..request };
            device.run(&[whole]).unwrap();
        }
        let report = report(&config, &mut *device);
        let (mut writes, mut pad_reads, mut drops) = (Vec::new(), 0, 0);
        for event in recorder.take() {
            match event {
                Event::Write { lpns, padded } => writes.push((lpns, padded)),
                Event::Read(Cause::Pad, lpns) => pad_reads += lpns.len() as u64,
                Event::Drop(_) => drops += 1,
                Event::Read(..) | Event::Access { .. } => {}
            }
        }
        if report.buffer.write_backs != writes.len() as u64 {
            assert!(report.buffer.write_backs < writes.len() as u64, "{}: some writes bypass it", plugin.name());
            continue;
        }
        compared += 1;
        let (sizes, intervals) = flushes(&writes);
        let found = &report.flushes;
        assert_eq!(found.groups, sizes.len() as u64, "{}", plugin.name());
        for size in 0..=BLOCK_PAGES {
            let slow = sizes.iter().filter(|pages| **pages == size).count() as u64;
            let fast = found.sizes.iter().find(|entry| entry.pages == size).map_or(0, |entry| entry.groups);
            assert_eq!(fast, slow, "{}: groups of {size} pages", plugin.name());
            let large = sizes.iter().filter(|pages| **pages >= size).count() as f64 / sizes.len() as f64;
            assert_eq!(found.share_of_size(size), Some(large), "{}: {size} pages or more", plugin.name());
        }
        assert_eq!(found.again, intervals.len() as u64, "{}", plugin.name());
        for edge in INTERVALS {
            let slow = intervals.iter().filter(|interval| **interval <= edge).count() as f64 / intervals.len() as f64;
            assert_eq!(found.share_of_interval(edge), Some(slow), "{}: up to {edge}", plugin.name());
        }
        let padded = |(_, padded): &&(Vec<u32>, Vec<u32>)| !padded.is_empty();
        let pages: usize = writes.iter().map(|(lpns, padded)| lpns.len() - padded.len()).sum();
        let added: usize = writes.iter().map(|(_, padded)| padded.len()).sum();
        assert_eq!(report.buffer.pages_written_back, pages as u64, "{}", plugin.name());
        assert_eq!(report.padding.padded_pages, added as u64, "{}", plugin.name());
        assert_eq!(report.padding.padded_write_backs, writes.iter().filter(padded).count() as u64);
        assert_eq!(report.padding.padded_from_flash, pad_reads, "{}: all pages were written before", plugin.name());
        assert_eq!(report.padding.padded_per_dirty, Some(added as f64 / pages as f64), "{}", plugin.name());
        assert_eq!(report.buffer.drops, drops, "{}", plugin.name());
        padding += u32::from(added > 0);
        clusters += u32::from(sizes.iter().any(|pages| *pages > 1));
    }
    assert!(compared > 25 && padding >= 3 && clusters >= 8, "{compared} policies, {padding} pad, {clusters} cluster");
}

#[test]
fn hits_are_what_the_frames_before_the_access_say() {
    for plugin in BUFFERS {
        let config = config(&[&format!("buffer.name={}", plugin.name()), "replay.read_groups=true"]);
        let mut device = config.build().unwrap();
        let mut dice = Dice(2);
        // By write: accesses, hits, sectors, sectors hit, groups hit.
        let mut slow = [[0_u64; 5]; 2];
        for n in 0..6_000 {
            let mut request = random_request(&mut dice, n, 300, SECTORS);
            request.sectors = request.sectors.min((SECTORS - request.lba % SECTORS) as u32);
            let lpn = Lpn((request.lba / SECTORS) as u32);
            let hit = u64::from(device.slots().find(lpn).is_some());
            let block = lpn.0 / BLOCK_PAGES * BLOCK_PAGES;
            let in_group = (block..block + BLOCK_PAGES).any(|lpn| device.slots().find(Lpn(lpn)).is_some());
            let sectors = u64::from(request.sectors);
            let counts = &mut slow[usize::from(request.op == HostOp::Write)];
            for (count, more) in counts.iter_mut().zip([1, hit, sectors, sectors * hit, u64::from(in_group)]) {
                *count += more;
            }
            device.run(&[request]).unwrap();
        }
        let report = report(&config, &mut *device);
        let share = |part: u64, whole: u64| Some(part as f64 / whole as f64);
        let [read, write] = slow;
        let hits = &report.hits;
        assert_eq!(hits.page.read, share(read[1], read[0]), "{}", plugin.name());
        assert_eq!(hits.page.write, share(write[1], write[0]), "{}", plugin.name());
        assert_eq!(hits.page.total, share(read[1] + write[1], read[0] + write[0]), "{}", plugin.name());
        assert_eq!(hits.request.read, hits.page.read, "{}: one page a request", plugin.name());
        assert_eq!(hits.request.write, hits.page.write, "{}: one page a request", plugin.name());
        assert_eq!(hits.sector.read, share(read[3], read[2]), "{}", plugin.name());
        assert_eq!(hits.sector.write, share(write[3], write[2]), "{}", plugin.name());
        assert_eq!(hits.group_read, share(read[4], read[0]), "{}", plugin.name());
        assert_eq!(hits.group_write, share(write[4], write[0]), "{}", plugin.name());
    }
}

#[test]
fn hits_of_a_request_of_several_pages_and_groups_match_a_hand_calculation() {
    let config = config(&["buffer.name=lru", "replay.read_groups=true", "ram.partial_write=mask"]);
    let mut device = config.build().unwrap();
    let request = |op, page: u64, pages: u32| HostRequest::new(Nanos(0), op, page * SECTORS, pages * SECTORS as u32);
    // Pages 14 and 15 of group 0; then 14 to 17: two hits of four, group 0 of groups 0 and 1; then all of them.
    for (page, pages) in [(14, 2), (14, 4), (14, 4)] {
        device.run(&[request(HostOp::Write, page, pages)]).unwrap();
    }
    // A read of groups 1 and 2, of which group 1 is there.
    device.run(&[request(HostOp::Read, 16, 17)]).unwrap();
    let hits = report(&config, &mut *device).hits;
    assert_eq!((hits.page.write, hits.request.write), (Some(6.0 / 10.0), Some(1.0 / 3.0)));
    assert_eq!((hits.group_write, hits.group_read), (Some(3.0 / 5.0), Some(1.0 / 2.0)));
    assert_eq!(hits.page.read, Some(2.0 / 17.0));
}

/// A victim of `superblock` is a log block of nobody and rewrites no logical block; one of `dftl` can be a translation block.
#[test]
fn collections_are_told_as_what_they_are() {
    for (ftl, more) in [("superblock", "seed=1"), ("dftl", "ftl.cmt_entries=16")] {
        let config = config(&["buffer.name=none", &format!("ftl.name={ftl}"), more]);
        let mut device = config.build().unwrap();
        let mut dice = Dice(7);
        for n in 0..8_000 {
            device.run(&[random_request(&mut dice, n, 500, 8)]).unwrap();
        }
        let report = report(&config, &mut *device);
        let copied = report.flash.programs.gc + report.flash.programs.map_gc;
        if ftl == "superblock" {
            assert!(report.merges.full > 100, "{:?}", report.merges);
            assert_eq!(report.merges.full_erase_share, None);
        } else {
            assert!(report.flash.programs.map_gc > 100, "{:?}", report.flash.programs);
            let runs = report.flash.erases.total;
            assert_eq!(
                report.mapping.gc_copies_per_run,
                Some(copied as f64 / runs as f64),
                "every erase is of a victim"
            );
        }
    }
}

#[test]
fn metrics_of_formulas_are_those_of_their_parts() {
    let config = config(&["buffer.name=wpa", "ftl.name=fast"]);
    let mut device = config.build().unwrap();
    let mut dice = Dice(4);
    for n in 0..8_000 {
        device.run(&[random_request(&mut dice, n, 500, 30)]).unwrap();
    }
    let report = report(&config, &mut *device);
    let (flash, timing) = (&report.flash, &config.device.timing);
    assert_eq!(flash.accesses, flash.reads.total + flash.programs.total);
    let elapsed = flash.erases.total * timing.block_erase.0 + flash.programs.total * timing.page_program.0;
    assert_eq!(report.elapsed.hitstat_ns, elapsed);
    let bytes = report.requests.sectors_written * 512;
    let rate = report.elapsed.hitstat_bytes_per_second.unwrap();
    assert!((rate - bytes as f64 / (elapsed as f64 / 1e9)).abs() < 1e-6 * rate);
    let dirty = device.slots().iter().filter(|slot| device.slots().is_dirty(*slot)).count() as u64;
    assert_eq!(report.buffer.dirty_at_end, dirty);
    let frames = device.slots().frames().nvram;
    assert!(report.buffer.nvram_writes > 0, "WPA writes to NVRAM");
    let level = report.buffer.nvram_writes as f64 / f64::from(frames);
    assert_eq!(report.buffer.nvram_writes_per_frame, Some(level));
    let all = &report.ledger;
    let merged = all.merges_full_lbns + all.merges_full_log_blocks;
    assert_eq!(report.merges.full_erase_share, Some(merged as f64 / flash.erases.total as f64));
}

#[test]
fn every_write_to_a_frame_is_counted_in_its_medium() {
    let config = config(&["buffer.name=wpa", "ram.dram=4KiB", "ram.nvram=128KiB", "ram.partial_write=mask"]);
    let mut device = config.build().unwrap();
    let steps = [
        // WPA: a read miss goes to NVRAM, a written page to DRAM, whose one frame the next one takes.
        (HostOp::Read, 0, 8, [1, 0], "flash fills an NVRAM frame"),
        (HostOp::Read, 0, 8, [1, 0], "a read hit writes nothing"),
        (HostOp::Write, 0, 8, [2, 0], "a write hit in NVRAM"),
        (HostOp::Write, 16, 8, [2, 1], "a written page goes to DRAM"),
        (HostOp::Write, 17, 4, [3, 2], "and from there to NVRAM; a part of a page needs no fill yet"),
        (HostOp::Read, 17, 8, [3, 3], "the rest of that page comes from flash"),
    ];
    for (n, (op, page, sectors, [nvram, dram], what)) in steps.into_iter().enumerate() {
        device.run(&[HostRequest::new(Nanos(n as u64 * 10_000_000), op, page * SECTORS, sectors)]).unwrap();
        let ledger = device.ledger();
        assert_eq!([ledger.nvram_writes, ledger.dram_writes], [nvram, dram], "step {n}: {what}");
    }
}

#[test]
fn replayed_accesses_are_timed_as_requests_are() {
    // Policies that weigh reads against writes ask for these times between two accesses.
    let config = config(&["buffer.name=lru"]);
    let (mut asked, mut replayed, mut dice) = (config.build().unwrap(), config.build().unwrap(), Dice(3));
    for request in 0..3_000 {
        let (lpn, write) = (Lpn(dice.below64(500) as u32), dice.below64(3) > 0);
        let op = if write { HostOp::Write } else { HostOp::Read };
        let at = asked.flash().now();
        let whole = HostRequest::new(at, op, u64::from(lpn.0) * SECTORS, SECTORS as u32);
        asked.submit(&whole, Payload::None).unwrap();
        let hint = Hint::default();
        replayed
            .test_port()
            .replay_access(&Access { lpn, write, ahead: false, request, request_pages: 1, hint })
            .unwrap();
        let times = |device: &dyn Ssd| (device.ledger().buffer_read_ns, device.ledger().buffer_write_ns);
        assert_eq!(times(&*asked), times(&*replayed), "access {request}");
    }
    let ledger = replayed.ledger();
    assert!(ledger.buffer_read_ns > 0 && ledger.buffer_write_ns > 0);
}

#[test]
fn overload_is_a_share_of_the_requests_that_are_measured() {
    let config = config(&["replay.mode=open"]);
    let device = config.build().unwrap();
    let is_overloaded = |before| {
        let outcome = Outcome { requests: 10_000, before, backlog: 50, ..Outcome::default() };
        Report::new(&config, &*device, TraceSource::default(), &outcome).load.overloaded
    };
    // 50 wait: half a percent of 10,000, one of the last 5,000, more of the last 4,000.
    assert_eq!([0, 5_000, 6_000].map(is_overloaded), [false, false, true]);
}

/// Every write is programmed alone, in SLC mode, with the rest of its unit without data: both wear a block of TLC three times.
#[test]
fn dummy_pages_of_slc_blocks_wear_like_their_data() {
    let settings =
        ["device.geometry.blocks_per_plane=60", "precondition=none", "replay.mode=fast", "replay.queue_depth=1"];
    let builder = settings.iter().try_fold(Builder::preset("nvme-client").unwrap(), |builder, set| builder.set(set));
    let config = builder.and_then(|builder| builder.finish()).unwrap();
    let mut device = config.build().unwrap();
    let mut replay = Replay::new(&config, &*device);
    let pair = |n: u64| {
        [
            HostRequest::new(Nanos(0), HostOp::Write, n * SECTORS, SECTORS as u32),
            HostRequest::new(Nanos(0), HostOp::Flush, 0, 0),
        ]
    };
    let requests: Vec<HostRequest> = (0..500).flat_map(pair).collect();
    replay.feed(&mut *device, &requests).unwrap();
    let outcome = replay.finish(&mut *device);
    let report = Report::new(&config, &*device, TraceSource::default(), &outcome);
    assert_eq!((report.slc.programs, report.slc.share), (500, Some(1.0)));
    assert!(report.write_amplification.dummy_pages >= 500, "{:?}", report.write_amplification);
    let (bytes, wear) = (report.endurance.byte_amplification.unwrap(), report.endurance.wear_amplification.unwrap());
    assert!((wear / bytes - 3.0).abs() < 1e-9, "{bytes} bytes, {wear} of wear");
}
