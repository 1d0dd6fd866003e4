//! Is every statistic of a trace what a slow loop over a plain list counts?

mod common;

use std::collections::BTreeSet;
use std::fmt::Write;

use common::format;
use nandlab::types::{HostOp, HostRequest, Nanos};
use nandlab_trace::{
    Distribution, Info, InfoReport, Options, Records, Reuse, SamplePages, Stats, TraceRecord, WINDOWS, compare,
    stats_of,
};
use proptest::prelude::*;

/// Rows of a trace in the form of SPC, which knows several devices: times in us, sectors.
fn spc(rows: &[(u32, u64, u64, bool, u64)]) -> String {
    let mut text = String::new();
    for (device, lba, sectors, write, at) in rows {
        let letter = if *write { 'w' } else { 'r' };
        writeln!(text, "{device},{lba},{},{letter},{}.{:06}", sectors * 512, at / 1_000_000, at % 1_000_000).unwrap();
    }
    text
}

fn records(text: &str) -> Records {
    Records::from_reader("test", std::io::Cursor::new(text.to_owned()), &format("spc")).unwrap()
}
fn info(text: &str, sample: SamplePages) -> Info {
    Info::of(records(text), &Options::default(), sample).unwrap()
}
fn stats(text: &str) -> Stats {
    stats_of(records(text), &Options::default()).unwrap()
}

/// Accesses to pages: device, page, write, time.
fn accesses(all: &[TraceRecord]) -> Vec<((u32, u64), bool, u64)> {
    let pages = |r: &TraceRecord| {
        let (device, write, at) = (r.device, r.op == HostOp::Write, r.at.0);
        let range = if r.length == 0 { 1..1 } else { r.lba() / 8..(r.end_lba() - 1) / 8 + 1 };
        range.map(move |page| ((device, page), write, at))
    };
    all.iter().flat_map(pages).collect()
}

/// An LRU stack as a list: for each access its distance (`None`: the first one) and whether it is a write.
fn stack_distances(accesses: &[((u32, u64), bool, u64)]) -> Vec<(Option<u64>, bool)> {
    let mut stack = Vec::new();
    let step = |(page, write, _): &((u32, u64), bool, u64)| {
        let depth = stack.iter().rev().position(|other| other == page);
        if depth.is_some() {
            stack.retain(|other| other != page);
        }
        stack.push(*page);
        (depth.map(|depth| depth as u64), *write)
    };
    accesses.iter().map(step).collect()
}

fn distribution(values: impl IntoIterator<Item = u64>) -> Distribution {
    let mut all = Distribution::default();
    values.into_iter().for_each(|value| all.record(value));
    all
}

fn same_reuse(found: &Reuse, distances: &[(Option<u64>, bool)], write: bool) {
    let mine: Vec<_> = distances.iter().filter(|(_, w)| *w == write).map(|(distance, _)| *distance).collect();
    assert_eq!((found.accesses, found.sampled), (mine.len() as u64, mine.len() as u64));
    assert_eq!(found.cold, mine.iter().filter(|distance| distance.is_none()).count() as u64);
    assert_eq!(found.distances, distribution(mine.iter().flatten().copied()));
    for size in [0, 1, 2, 3, 7, 100] {
        let hits = mine.iter().flatten().filter(|distance| **distance < size).count();
        let expected = (!mine.is_empty()).then(|| hits as f64 / mine.len() as f64);
        assert_eq!(found.hit_ratio(size), expected, "{size} pages");
    }
}

/// Times since the last access (of those `of` accepts) to the same page.
fn intervals(all: &[((u32, u64), bool, u64)], of: impl Fn(bool) -> bool, now: impl Fn(bool) -> bool) -> Distribution {
    let mut found = Distribution::default();
    for (i, (page, _, at)) in all.iter().enumerate().filter(|(_, (_, write, _))| now(*write)) {
        if let Some((_, _, before)) = all[..i].iter().rev().find(|(other, w, _)| other == page && of(*w)) {
            found.record(at.saturating_sub(*before));
        }
    }
    found
}

fn check(text: &str) {
    let all: Vec<TraceRecord> = records(text).map(Result::unwrap).collect();
    let found = info(text, SamplePages::ALL);
    assert_eq!(found.stats, stats(text));
    for (kind, sizes) in found.sizes.iter().enumerate() {
        let mine = all.iter().filter(|r| r.op == [HostOp::Read, HostOp::Write][kind]);
        assert_eq!(*sizes, distribution(mine.map(|r| u64::from(r.length))));
    }
    let gaps = all.windows(2).map(|pair| pair[1].at.0.saturating_sub(pair[0].at.0));
    assert_eq!(found.inter_arrival_ns, distribution(gaps));
    let times = all.iter().map(|r| r.at.0);
    assert_eq!(found.times_ns, times.clone().min().zip(times.max()).map(|(low, high)| [low, high]));
    for (window, sequential) in WINDOWS.iter().zip(found.sequential) {
        let follows = |i: usize| {
            let before = all[..i].iter().rev().filter(|r| r.device == all[i].device).take(*window);
            before.into_iter().any(|r| r.end_lba() == all[i].lba())
        };
        assert_eq!(sequential, (0..all.len()).filter(|i| follows(*i)).count() as u64, "{window}");
    }
    let accesses = accesses(&all);
    let distances = stack_distances(&accesses);
    let (reads, writes): (Vec<_>, Vec<_>) = accesses.iter().partition(|(_, write, _)| !write);
    for (write, mine) in [(false, reads), (true, writes)] {
        let kind = usize::from(write);
        same_reuse(&found.pages.together[kind], &distances, write);
        same_reuse(&found.pages.alone[kind], &stack_distances(&mine), write);
        assert_eq!(found.pages.reuse_time_ns[kind], intervals(&accesses, |_| true, |w| w == write));
    }
    assert_eq!(found.pages.update_interval_ns, intervals(&accesses, |w| w, |w| w));
    let pages = |write: bool| -> BTreeSet<_> {
        accesses.iter().filter(|(_, w, _)| *w == write).map(|(page, ..)| *page).collect()
    };
    let (read, written) = (pages(false), pages(true));
    let footprint = found.pages.footprint;
    assert_eq!((footprint.read, footprint.written), (read.len() as u64, written.len() as u64));
    assert_eq!(footprint.both, read.intersection(&written).count() as u64);
    assert_eq!(footprint.all(), read.union(&written).count() as u64);
    for (device, counts) in &found.devices {
        let mine: Vec<_> = all.iter().filter(|r| r.device == *device).collect();
        let bytes = |op| mine.iter().filter(|r| r.op == op).map(|r| u64::from(r.sectors()) * 512).sum::<u64>();
        assert_eq!((counts.requests, counts.reads + counts.writes), (mine.len() as u64, mine.len() as u64));
        assert_eq!((counts.read_bytes, counts.written_bytes), (bytes(HostOp::Read), bytes(HostOp::Write)));
        assert_eq!(Some(counts.top_bytes), mine.iter().map(|r| r.end_lba() * 512).max());
    }
    assert_eq!(found.devices.len() as u64, found.stats.devices);
    let sliced: u64 = found.grid.slices(7).iter().map(|slice| slice.reads + slice.writes).sum();
    assert_eq!(sliced, found.stats.reads + found.stats.writes);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_statistic_is_what_a_slow_loop_counts(
        rows in proptest::collection::vec((0u32..3, 0u64..160, 0u64..40, any::<bool>(), 0u64..200_000_000), 1..60),
        in_order in any::<bool>(),
    ) {
        let mut rows = rows;
        if in_order {
            rows.sort_by_key(|row| row.4);
        }
        check(&spc(&rows));
    }
}

/// Hot and cold pages (400 and 20,000, times `scale`), runs, reads and writes.
fn mixed(requests: u64, scale: u64) -> Vec<(u32, u64, u64, bool, u64)> {
    let mut x = 88_172_645_463_325_252_u64;
    let mut draw = |below: u64| {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        (x >> 11) % below
    };
    let row = |i| {
        let page = if draw(3) > 0 { draw(400 * scale) } else { draw(20_000 * scale) };
        (0, page * 8, 8 * (1 + draw(4)), draw(5) < 3, i * 100)
    };
    (0..requests).map(row).collect()
}

#[test]
fn curve_is_the_hit_ratio_of_the_lru_buffer_at_every_size() {
    let rows = mixed(12_000, 1);
    let found = info(&spc(&rows), SamplePages::ALL);
    let geometry = "device.geometry={channels=1, chips_per_channel=1, dies_per_chip=1, planes_per_die=1, \
                    blocks_per_plane=200, pages_per_block=128, page_bytes=4096}";
    let requests: Vec<HostRequest> = rows
        .iter()
        .map(|(_, lba, sectors, write, at)| {
            let op = if *write { HostOp::Write } else { HostOp::Read };
            HostRequest::new(Nanos(*at * 1_000), op, *lba, *sectors as u32)
        })
        .collect();
    for frames in [1u64, 2, 17, 100, 512, 1_999, 8_192] {
        let keys = [geometry, "buffer.name=lru", &format!("ram.dram={}", frames * 4096)];
        let mut hits = common::lab(keys).build_hits().unwrap();
        hits.run(&requests).unwrap();
        let ledger = hits.ledger();
        let [reads, writes] = &found.pages.together;
        assert_eq!((reads.accesses, writes.accesses), (ledger.host_page_reads, ledger.host_page_writes));
        let counted = [ledger.buffer_read_hits, ledger.buffer_write_hits];
        assert_eq!([reads, writes].map(|reuse| reuse.distances.below(frames)), counted, "{frames} frames");
    }
}

#[test]
fn sample_of_the_pages_is_near_the_truth() {
    let text = spc(&mixed(50_000, 10));
    let (exact, sampled) =
        (info(&text, SamplePages::ALL), info(&text, SamplePages::new(0.25).expect("it is a share of the pages")));
    assert_eq!((exact.sample_rate, sampled.sample_rate), (1.0, 0.25));
    let near = |a: f64, b: f64, what: &str| assert!((a - b).abs() < 0.03 * a.max(1.0), "{what}: {a} {b}");
    let (a, b) = (exact.pages.footprint, sampled.pages.footprint);
    for (a, b, what) in [(a.read, b.read, "read"), (a.written, b.written, "written"), (a.both, b.both, "both")] {
        near(a as f64, b as f64, what);
    }
    for size in [1_024, 4_096, 16_384, 65_536] {
        for kind in 0..2 {
            let ratio = |info: &Info| info.pages.together[kind].hit_ratio(size).unwrap();
            near(ratio(&exact), ratio(&sampled), &format!("{size} pages"));
        }
    }
    assert_eq!([0.0, -1.0, 1.1, f64::NAN].map(SamplePages::new), [None; 4]);
}

#[test]
fn trace_matches_itself_and_nothing_else() {
    let rows = mixed(2_000, 1);
    let a = info(&spc(&rows), SamplePages::ALL);
    assert!(compare(&a, &a).iter().all(|line| line.difference == Some(0.0)));
    let slower: Vec<_> = rows.iter().map(|(d, lba, n, write, at)| (*d, *lba, *n, *write, at * 2)).collect();
    let b = info(&spc(&slower), SamplePages::ALL);
    let differing: Vec<String> =
        compare(&a, &b).into_iter().filter(|line| !line.is_within(2.0)).map(|line| line.statistic).collect();
    let expected = [
        "duration, s",
        "active time, s",
        "inter-arrival times, ns",
        "reuse times of reads, ns",
        "reuse times of writes, ns",
        "update intervals, ns",
    ];
    assert_eq!(differing, expected);
    let reads: Vec<_> = rows.iter().map(|(d, lba, n, _, at)| (*d, *lba, *n, false, *at)).collect();
    let lines = compare(&info(&spc(&reads), SamplePages::ALL), &a);
    let sizes = lines.iter().find(|line| line.statistic.starts_with("sizes of writes")).unwrap();
    assert!(sizes.difference.is_none() && !sizes.is_within(100.0), "{sizes:?}");
}

#[test]
fn report_of_one_request_has_no_invented_numbers() {
    let report = InfoReport::from(&info("0,8,4096,w,0.5\n", SamplePages::ALL));
    assert_eq!((report.requests, report.duration_ns, report.over_time.len()), (1, 0, 1));
    assert_eq!((report.cold_percent.reads, report.cold_percent.writes), (None, Some(100.0)));
    assert_eq!((report.inter_arrival_ns.mean, report.size_bytes.reads.p50), (None, None));
    assert_eq!(report.footprint.overwrite_ratio, Some(1.0));
    assert_eq!(report.lru_hits.len(), 1);
    // What would be a division by zero is not there.
    let reads = InfoReport::from(&info("0,8,4096,r,0.5\n", SamplePages::ALL)).footprint;
    assert_eq!((reads.both_percent, reads.overwrite_ratio), (Some(0.0), None));
}

#[test]
fn sample_that_is_too_small_or_too_large_is_corrected() {
    // 1,000 accesses, a tenth of the pages: 100 accesses to expect. 50 reuses are at distance 3, 20 at distance 40.
    let reuse = |sampled: u64| {
        let mut reuse = Reuse { accesses: 1_000, sampled, cold: sampled - 70, rate: 0.1, ..Reuse::default() };
        (0..50).for_each(|_| reuse.distances.record(3));
        (0..20).for_each(|_| reuse.distances.record(40));
        reuse
    };
    let ratios = |sampled| [0, 3, 4, 40, 41].map(|pages| reuse(sampled).hit_ratio(pages).unwrap());
    assert_eq!(ratios(100), [0.0, 0.0, 0.5, 0.5, 0.7], "as many as expected");
    assert_eq!(ratios(90), [0.0, 0.1, 0.6, 0.6, 0.8], "the 10 that are missing are hits");
    assert_eq!(ratios(120), [0.0, 0.0, 0.3, 0.3, 0.5], "20 too many");
}

#[test]
fn gap_of_a_minute_is_active_and_a_longer_one_is_not() {
    let active = |gap_us: u64| {
        let rows = [(0, 0, 8, true, 5), (0, 8, 8, true, 5 + gap_us)];
        stats(&spc(&rows)).active_ns
    };
    let minute = 60_000_000;
    assert_eq!([active(minute - 1), active(minute), active(minute + 1)], [59_999_999_000, 60_000_000_000, 0]);
}

#[test]
fn sequences_are_of_bytes() {
    let stats = |rows: &dyn Fn(u64) -> (u64, u64)| {
        let text = (0..100).fold("# nandlab trace 1\ntime_ns,device,op,offset,length\n".to_owned(), |text, at| {
            let (offset, length) = rows(at);
            text + &format!("{at},0,W,{offset},{length}\n")
        });
        let records = Records::from_reader("test", std::io::Cursor::new(text), &Options::default()).unwrap();
        let info = Info::of(records, &Options::default(), SamplePages::ALL).unwrap();
        (info.stats.sequential, info.stats.unaligned, info.stats.top_bytes)
    };
    assert_eq!(stats(&|at| (at * 100, 100)), (99, 100, 10_000));
    assert_eq!(stats(&|at| (at * 4096 + 100, 3900)), (0, 100, 99 * 4096 + 4000));
    assert_eq!(stats(&|at| (at * 4196 + 4, 4096)), (0, 100, 99 * 4196 + 4100), "gaps of 100 bytes");
}
