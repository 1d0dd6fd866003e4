//! The times of single requests, as a replay hands them out: in order, each once, and the same as the histograms have.

use nandlab::config::Config;
use nandlab::engine::{Payload, Times};
use nandlab::histogram::Histogram;
use nandlab::replay::{Replay, RequestTimes};
use nandlab::types::{HostOp, HostRequest, Nanos};

use super::paths::{config as two_dies, read, write};
use crate::kit::{Dice, lab};

/// Feeds requests in batches of a few and collects their times.
fn follow(config: &Config, requests: &[HostRequest], batch: usize) -> (Vec<RequestTimes>, Times, u64) {
    let mut device = config.build().unwrap();
    let mut replay = Replay::new(config, &*device);
    replay.follow(&mut *device);
    let mut times = Vec::new();
    let mut stream = requests;
    while !stream.is_empty() {
        let mut end = batch.min(stream.len());
        while stream[end - 1].more {
            end += 1;
        }
        replay.feed(&mut *device, &stream[..end]).unwrap();
        replay.take_times(&mut *device, |request| times.push(request));
        stream = &stream[end..];
    }
    device.drain();
    replay.take_times(&mut *device, |request| times.push(request));
    let start = replay.finish(&mut *device).start.0;
    (times, device.times().clone(), start)
}

#[test]
fn measurement_that_begins_late_has_the_times_of_a_host_that_paused() {
    for (n, model) in ["serial", "parallel", "scheduled"].into_iter().enumerate() {
        for gap in [1_000_000, 3_000_000] {
            let model = format!("device.timing.model={model}");
            let config = lab([&model, "replay.mode=open", "buffer.name=none"]);
            let (mut dice, mut at) = (Dice::of_case(&[n as u64, gap]), 0);
            // The last request before the measurement is a write, and the first one of it comes while that is programmed.
            let requests: Vec<HostRequest> = (0..900)
                .map(|n| {
                    at += if n == 300 { 50_000 } else { gap / 2 + dice.below64(gap) };
                    let op = dice.pick(&[HostOp::Read, HostOp::Write, HostOp::Write]);
                    let op = if n == 299 { HostOp::Write } else { op };
                    HostRequest::new(Nanos(at), op, dice.below64(1_000) * 8, 8)
                })
                .collect();
            let (before, behind) = requests.split_at(300);
            let mut device = config.build().unwrap();
            let (start, mut replay) = (device.flash().now(), Replay::new(&config, &*device));
            replay.feed(&mut *device, before).unwrap();
            let cut = device.flash().now();
            replay.measure_from_here(&mut *device);
            let pause = device.flash().now() - cut;
            assert!(
                pause > Nanos::ZERO && start + behind[0].at > cut,
                "{model}: something is under way, and nothing waits"
            );
            replay.feed(&mut *device, behind).unwrap();
            let outcome = replay.finish(&mut *device);
            let later = behind.iter().map(|request| HostRequest { at: request.at + pause, ..*request });
            let paused: Vec<HostRequest> = before.iter().copied().chain(later).collect();
            let (rows, ..) = follow(&config, &paused, 64);
            let mut expected = Histogram::default();
            rows[300..].iter().for_each(|row| expected.record(row.response()));
            same(&device.times().response(), &expected, &format!("{model}, a request every {gap} ns"));
            assert_eq!(outcome.last_arrival, rows[899].arrival);
        }
    }
}

/// Flash operations in flight at most, over requests for pages at random, of which each that leaves the buffer has its block
/// merged: two operations for a page of the block.
fn in_flight(model: &str, buffer: &str, requests: u32, pages: u32) -> usize {
    let geometry = "device.geometry={channels=1, chips_per_channel=1, dies_per_chip=1, planes_per_die=1, blocks_per_plane=96, \
                    pages_per_block=4096, page_bytes=4096}";
    let model = format!("device.timing.model={model}");
    let config = lab([geometry, buffer, &model, "ftl.name=block", "replay.mode=fast"]);
    let (mut device, mut dice, mut most) = (config.build().unwrap(), Dice::of_case(&[3]), 0);
    let mut submit = |request| {
        device.submit(&request, Payload::None).unwrap();
        most = most.max(device.flash().clock.in_flight());
    };
    for _ in 0..requests {
        let page = u64::from(dice.below(config.logical_pages() - pages));
        submit(HostRequest::new(Nanos::ZERO, HostOp::Write, page * 8, pages * 8));
    }
    submit(HostRequest::new(Nanos::ZERO, HostOp::Flush, 0, 0));
    most
}

#[test]
fn operations_in_flight_are_bounded_where_pages_have_blocks_merged() {
    // Requests of 24 pages, which wait for merges of some before, a flush of 128 pages, and a request of 400 pages.
    let bound = 1 << 19;
    let (few, some) = ("ram.dram=1MiB", "ram.dram=2MiB");
    for model in ["parallel", "scheduled"] {
        for (buffer, requests, pages) in [(few, 20, 24), (some, 128, 1), (few, 1, 400), ("buffer.name=none", 1, 400)] {
            let most = in_flight(model, buffer, requests, pages);
            assert!(most > bound, "{model}, {buffer}, {pages} pages: nothing to wait for, {most} operations at most");
            assert!(most <= bound + 8192 + 64, "{model}, {buffer}, {pages} pages: {most} operations in flight");
        }
    }
}

#[test]
fn operations_in_flight_are_bounded_for_deep_queues_of_long_requests() {
    // 1,200 requests of 1,024 pages at a time: reads that wait for nothing, and writes through a buffer that evicts as many.
    let geometry = "device.geometry={channels=1, chips_per_channel=1, dies_per_chip=2, planes_per_die=1, blocks_per_plane=1024, \
                    pages_per_block=1024, page_bytes=4096}";
    for (op, ram) in [(HostOp::Read, "buffer.name=none"), (HostOp::Write, "ram.dram=1MiB")] {
        let config = lab([geometry, ram, "precondition=full", "replay.mode=fast", "replay.queue_depth=65536"]);
        let (mut device, mut most) = (config.build().unwrap(), 0);
        for at in 0..1200_u64 {
            device.submit(&HostRequest::new(Nanos::ZERO, op, at * 8192, 8192), Payload::None).unwrap();
            most = most.max(device.flash().clock.in_flight());
        }
        assert!((1 << 19..=(1 << 19) + 2048).contains(&most), "{op:?}: {most} operations in flight");
    }
}

#[test]
fn requests_beyond_the_bound_are_admitted_when_enough_is_over() {
    // One die, on which every operation takes 110 ns and one follows the other: when so many are over is known.
    let settings = [
        "device.geometry={channels=1, chips_per_channel=1, dies_per_chip=1, planes_per_die=1, blocks_per_plane=96, \
         pages_per_block=4096, page_bytes=4096}",
        "device.timing={model=\"parallel\", page_read=\"100ns\", page_program=\"100ns\", block_erase=\"110ns\", \
         page_transfer=\"10ns\", command=\"0ns\"}",
        "ram.dram=1MiB",
        "ram.dram_read=0ns",
        "ram.dram_write=0ns",
        "ftl.name=block",
        "replay.mode=open",
        "replay.queue_depth=65536",
    ];
    let config = lab(settings);
    let (mut dice, pages) = (Dice::of_case(&[4]), 24);
    let requests: Vec<HostRequest> = (0..40)
        .map(|_| u64::from(dice.below(config.logical_pages() - pages)))
        .map(|page| HostRequest::new(Nanos::ZERO, HostOp::Write, page * 8, pages * 8))
        .collect();
    let mut device = config.build().unwrap();
    let before = device.ledger().ops.iter().flatten().sum::<u64>();
    let issued = requests.iter().map(|request| {
        let issued = device.ledger().ops.iter().flatten().sum::<u64>() - before;
        device.submit(request, Payload::None).unwrap();
        issued
    });
    let expected: Vec<u64> = issued.map(|issued| 110 * issued.saturating_sub(1 << 19)).collect();
    let (times, _, start) = follow(&config, &requests, 8);
    let admitted: Vec<u64> = times.iter().map(|time| time.admitted.0 - start).collect();
    assert!(expected.iter().filter(|at| **at > 0).count() > 10, "too few wait: {expected:?}");
    assert_eq!(admitted, expected);
}

#[test]
fn times_of_requests_are_those_worked_out_by_hand() {
    // The first program goes to die 1, the next to die 0. The read of page 1 (die 0) overtakes the write of page 0; that
    // of page 2 (die 1) waits behind it, and so does the trailing read of page 3 behind the second write.
    let requests = [write(0, 0), read(5, 1), read(10, 2), write(40, 4), read(60, 3)];
    let run = |settings: &[&str]| {
        let config = two_dies(&[&["buffer.name=none"], settings].concat());
        let (times, _, start) = follow(&config, &requests, 2);
        let relative = |t: RequestTimes| [t.arrival.0 - start, t.admitted.0 - start, t.finished.0 - start];
        times.into_iter().map(relative).collect::<Vec<_>>()
    };
    let all = [[0, 0, 110], [5, 5, 35], [10, 10, 140], [40, 40, 150], [60, 60, 180]];
    assert_eq!(run(&["replay.mode=open", "replay.queue_depth=8"]), all);
    // Two places: the third waits for the read to complete at 35, the fourth for the write at 110, the fifth for the
    // read at 140.
    let two = [[0, 0, 110], [5, 5, 35], [10, 35, 140], [40, 110, 220], [60, 140, 250]];
    assert_eq!(run(&["replay.mode=open", "replay.queue_depth=2"]), two);
    // Closed loop: arrival is admission.
    let closed = [[0, 0, 110], [0, 0, 30], [30, 30, 140], [110, 110, 220], [140, 140, 250]];
    assert_eq!(run(&["replay.mode=fast", "replay.queue_depth=2"]), closed);
    // One operation at a time: each waits for all before it.
    let serial = [[0, 0, 110], [5, 5, 140], [10, 10, 170], [40, 40, 280], [60, 60, 310]];
    assert_eq!(run(&["replay.mode=open", "device.timing.model=serial"]), serial);
}

/// Requests of up to six pages, every fifth in two pieces.
fn requests(r: &mut Dice, count: usize) -> Vec<HostRequest> {
    let mut at = 0;
    let mut stream = Vec::new();
    for n in 0..count {
        at += r.below64(400_000);
        let op = r.pick(&[HostOp::Read, HostOp::Read, HostOp::Write, HostOp::Write, HostOp::Trim, HostOp::Flush]);
        let sectors = if op == HostOp::Flush { 0 } else { 1 + r.below(48) };
        let first = HostRequest::new(Nanos(at), op, r.below64(56_000), sectors);
        let more = n % 5 == 0 && op != HostOp::Flush;
        stream.push(HostRequest { more, ..first });
        if more {
            stream.push(HostRequest { lba: r.below64(7_000) * 8, sectors: 8, ..first });
        }
    }
    stream
}

fn same(one: &Histogram, other: &Histogram, what: &str) {
    let facts = |h: &Histogram| {
        let percents = [1.0, 50.0, 90.0, 99.0, 99.9].map(|percent| h.percentile(percent));
        (h.count(), h.mean_ns().to_bits(), h.max(), percents)
    };
    assert_eq!(facts(one), facts(other), "{what}");
}

#[test]
fn times_of_requests_add_up_to_the_histograms() {
    let mut overtakes = 0;
    for (case, model) in ["serial", "parallel", "scheduled"].into_iter().enumerate() {
        for mode in ["open", "closed", "fast"] {
            for (buffer, ftl) in [("none", "page"), ("lru", "dftl"), ("bplru", "fast"), ("cflru", "page")] {
                // With a link, every read completes late.
                let link = if ftl == "page" { "sata1" } else { "none" };
                let config = lab(&[
                    format!("device.timing.model={model}"),
                    format!("replay.mode={mode}"),
                    format!("buffer.name={buffer}"),
                    format!("ftl.name={ftl}"),
                    format!("device.host.link={link}"),
                    "device.geometry.blocks_per_plane=32".to_owned(),
                    "device.geometry.pages_per_block=16".to_owned(),
                    "replay.queue_depth=8".to_owned(),
                    "replay.think_time=100us".to_owned(),
                    "ram.dram=256KiB".to_owned(),
                ]);
                let stream = requests(&mut Dice::of_case(&[case as u64]), 1_200);
                let what = format!("{model} {mode} {buffer} {ftl}");
                let (times, totals, _) = follow(&config, &stream, 37);
                assert_eq!(times.len() as u64, HostRequest::count(&stream), "{what}");
                overtakes += times.windows(2).filter(|two| two[1].finished < two[0].finished).count();
                assert!(times.iter().all(|t| t.arrival <= t.admitted && t.admitted <= t.finished), "{what}");
                assert!(times.is_sorted_by_key(|t| t.admitted), "{what}");
                let mut kinds = [(); 3].map(|()| Histogram::default());
                let mut device = Histogram::default();
                let firsts = stream.iter().enumerate().filter(|(i, _)| *i == 0 || !stream[i - 1].more);
                for (times, (_, request)) in times.iter().zip(firsts) {
                    let kind = match request.op {
                        HostOp::Read => 0,
                        HostOp::Write => 1,
                        HostOp::Trim | HostOp::Flush => 2,
                    };
                    kinds[kind].record(times.response());
                    device.record(times.device());
                }
                same(&kinds[0], &totals.read_response, &what);
                same(&kinds[1], &totals.write_response, &what);
                same(&kinds[2], &totals.other_response, &what);
                same(&device, &totals.device(), &what);

                // Nothing else changes: the same run without anybody who follows.
                let mut device = config.build().unwrap();
                let mut replay = Replay::new(&config, &*device);
                replay.feed(&mut *device, &stream).unwrap();
                replay.finish(&mut *device);
                same(&device.times().response(), &totals.response(), &what);
            }
        }
    }
    assert!(overtakes > 500, "{overtakes} requests completed before their predecessor");
}
