//! Do the tools make what a slow and plain reading of their manuals makes?
#![allow(clippy::needless_for_each, clippy::cast_possible_wrap, reason = "short rows of a test")]

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use nandlab::types::HostOp;
use nandlab_trace::tools::{
    Applied, Cut, Filter, Merge, Ratio, Remap, Sample, SampleBy, Scale, Span, Split, SplitBy, Tool,
};
use nandlab_trace::{Extra, Options, Records, Timed, TraceRecord, Writer};
use proptest::prelude::*;

/// Small traces with neighbours, gaps, flushes and rows out of order.
fn trace() -> impl Strategy<Value = Vec<TraceRecord>> {
    let ops = prop::sample::select(vec![HostOp::Read, HostOp::Write, HostOp::Trim, HostOp::Flush]);
    let row = (0u64..50, 0u64..200, 0u32..100, 0u32..3, ops).prop_map(|(at, offset, length, device, op)| TraceRecord {
        device,
        ..TraceRecord::plain(1000 + at, op, offset * 100, u64::from(length) * 100)
    });
    prop::collection::vec(row, 1..40)
}

/// Memory that can be written.
#[derive(Clone, Default)]
struct Shared(Arc<Mutex<Vec<u8>>>);

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A remap that is changed.
fn remap(change: impl FnOnce(&mut Remap)) -> Remap {
    let mut remap = Remap::default();
    change(&mut remap);
    remap
}

/// The trace as a reader gives it.
fn rows(trace: &[TraceRecord]) -> Timed {
    let shared = Shared::default();
    let mut writer = Writer::new(Box::new(shared.clone()), &[], Extra::NONE).unwrap();
    trace.iter().for_each(|record| writer.write(record).unwrap());
    writer.finish().unwrap();
    let bytes = std::mem::take(&mut *shared.0.lock().unwrap());
    let options = Options::default();
    Timed::new(Records::from_reader("test", std::io::Cursor::new(bytes), &options).unwrap(), &options)
}

fn apply(trace: &[TraceRecord], tool: impl Tool) -> Vec<TraceRecord> {
    Applied::new(rows(trace), tool, None).map(Result::unwrap).collect()
}

/// Every byte that is touched, in order: (time, op, device, byte / 100).
fn bytes(trace: &[TraceRecord]) -> Vec<(u64, HostOp, u32, u64)> {
    let hundreds = |r: &TraceRecord| (r.offset / 100..(r.offset + u64::from(r.length)) / 100).collect::<Vec<_>>();
    let touched = trace.iter().filter(|r| r.op != HostOp::Flush);
    touched.flat_map(|r| hundreds(r).into_iter().map(|b| (r.at.0, r.op, r.device, b))).collect()
}

#[test]
fn stacking_learns_sizes_from_as_many_requests_as_it_is_told() {
    let row =
        |device: u32, page: u64| TraceRecord { device, ..TraceRecord::plain(1000, HostOp::Write, page * 4096, 4096) };
    let all = [row(0, 2), row(1, 0), row(0, 9), row(1, 0)];
    let base = |limit| {
        let mut tool = Remap::default();
        tool.stack(rows(&all), limit).unwrap();
        apply(&all[..2], tool)[1].offset / 4096
    };
    assert_eq!([Some(2), Some(3), None].map(base), [3, 10, 10]);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn cut_keeps_the_window(t in trace(), from in 0u64..40, span in 1u64..40, skip in 0u64..5, take in 1u64..9) {
        let origin = t[0].at.0;
        let inside = |r: &&TraceRecord| r.at.0 >= origin + from && r.at.0 < origin + from + span;
        let wanted: Vec<_> = t.iter().filter(inside).skip(skip as usize).take(take as usize).copied().collect();
        prop_assert_eq!(apply(&t, Cut::new(from, Some(from + span), skip, Some(take))), wanted);
    }

    #[test]
    fn filter_keeps_what_fits(
        t in trace(), low in prop_oneof![Just(0), 0u64..10_000], high in 10_000u64..20_000, device in 0u32..3,
    ) {
        let filter = Filter {
            ops: vec![HostOp::Write, HostOp::Flush],
            devices: vec![device],
            offset: Some(low..=high),
            time_ns: Some(1005..=1040),
            ..Filter::default()
        };
        let mut wanted = t.clone();
        wanted.retain(|r| r.op == HostOp::Write && r.device == device);
        wanted.retain(|r| r.offset >= low && r.offset <= high && r.at.0 >= 1005 && r.at.0 <= 1040);
        prop_assert_eq!(apply(&t, filter), wanted);
        prop_assert_eq!(apply(&t, Filter::default()), t);
    }

    #[test]
    fn sample_keeps_all_accesses_to_some_units(t in trace(), percent in 1u64..=100, seed in any::<u64>()) {
        let rate = Ratio { numerator: percent, denominator: 100 };
        let sampled = apply(&t, Sample::new(rate, seed, SampleBy::Space(500)).unwrap());
        let unit = |b: &(u64, HostOp, u32, u64)| (b.2, b.3 / 5);
        let kept: BTreeSet<_> = bytes(&sampled).iter().map(unit).collect();
        let wanted: Vec<_> = bytes(&t).into_iter().filter(|b| kept.contains(&unit(b))).collect();
        prop_assert_eq!(bytes(&sampled), wanted);
        // What a lower rate keeps, a higher one keeps too; everything is kept at 1.
        let all = Sample::new(Ratio { numerator: 1, denominator: 1 }, seed, SampleBy::Space(500)).unwrap();
        prop_assert_eq!(apply(&t, all), t);
    }

    #[test]
    fn sample_keeps_whole_devices(t in trace(), seed in any::<u64>()) {
        let half = Ratio { numerator: 1, denominator: 2 };
        let kept = apply(&t, Sample::new(half, seed, SampleBy::Device).unwrap());
        let devices: BTreeSet<u32> = kept.iter().map(|r| r.device).collect();
        let wanted: Vec<_> = t.iter().filter(|r| devices.contains(&r.device)).copied().collect();
        prop_assert_eq!(kept, wanted);
    }

    #[test]
    fn scale_multiplies_times(t in trace(), above in 1u64..9, below in 1u64..9) {
        let origin = t[0].at.0 as i64;
        let scaled = apply(&t, Scale::time(Ratio { numerator: above, denominator: below }));
        for (r, s) in t.iter().zip(&scaled) {
            let gap = (r.at.0 as i64 - origin) * above as i64 / below as i64;
            prop_assert_eq!(s.at.0 as i64, origin + gap);
            prop_assert_eq!(TraceRecord { at: r.at, ..*s }, *r);
        }
        prop_assert_eq!(scaled.len(), t.len());
    }

    #[test]
    fn remap_compacts_and_folds(t in trace(), capacity in 3u64..40) {
        let tool = remap(|tool| { tool.compact = Some(500); tool.modulo = Some(capacity * 100); });
        let mut numbers = BTreeMap::new();
        let mut wanted = Vec::new();
        for (at, op, device, byte) in bytes(&t) {
            let numbers: &mut BTreeMap<u64, u64> = numbers.entry(device).or_default();
            let next = numbers.len() as u64;
            let page = *numbers.entry(byte / 5).or_insert(next);
            wanted.push((at, op, device, (page * 5 + byte % 5) % capacity));
        }
        // Requests of no length get a number for their page too, so leave them out of the comparison.
        let t: Vec<_> = t.into_iter().filter(|r| r.length > 0).collect();
        prop_assert_eq!(bytes(&apply(&t, tool)), wanted);
    }

    #[test]
    fn remap_aligns_and_shifts(t in trace(), shift in 0i64..5000, align in 1u64..2000) {
        let tool = remap(|tool| { tool.shift = shift; tool.align = Some(align); tool.device = Some(9); });
        for (r, a) in t.iter().zip(apply(&t, tool)) {
            prop_assert_eq!(a.device, 9);
            if r.op == HostOp::Flush {
                prop_assert_eq!((a.offset, a.length), (r.offset, r.length));
                continue;
            }
            let (begin, end) = (r.offset + shift as u64, r.offset + shift as u64 + u64::from(r.length));
            prop_assert_eq!(a.offset, begin / align * align);
            let aligned_end = if r.length == 0 { a.offset } else { end.div_ceil(align) * align };
            prop_assert_eq!(a.offset + u64::from(a.length), aligned_end);
        }
    }

    #[test]
    fn remap_stacks_devices(t in trace()) {
        let mut tool = Remap::default();
        tool.stack(rows(&t), None).unwrap();
        let end = |device: u32| {
            let ends = t.iter().filter(|r| r.device == device).map(|r| r.end_lba() * 512);
            ends.max().unwrap_or(0).next_multiple_of(4096)
        };
        for (r, s) in t.iter().zip(apply(&t, tool)) {
            let base: u64 = (0..r.device).map(end).sum();
            let offset = if r.op == HostOp::Flush { r.offset } else { r.offset + base };
            prop_assert_eq!((s.device, s.offset, s.length), (0, offset, r.length));
        }
    }

    #[test]
    fn merge_sorts_by_time(a in trace(), b in trace(), c in trace()) {
        let mut sorted = [a, b, c];
        sorted.iter_mut().for_each(|t| t.sort_by_key(|r| r.at));
        let merged: Vec<_> = Merge::new(sorted.iter().map(|t| rows(t)).collect(), true, false).collect::<Result<_, _>>().unwrap();
        let mut wanted = sorted.concat();
        wanted.sort_by_key(|r| r.at); // stable: of equal times the first trace comes first
        prop_assert_eq!(merged, wanted);
        let apart: Vec<_> = Merge::new(sorted.iter().map(|t| rows(t)).collect(), false, true).collect::<Result<_, _>>().unwrap();
        let devices: BTreeSet<u32> = apart.iter().map(|r| r.device).collect();
        let each = sorted.iter().map(|t| t.iter().map(|r| r.device).collect::<BTreeSet<_>>().len());
        prop_assert_eq!(devices.len(), each.sum::<usize>());
        prop_assert_eq!(apart[0].at.0, 0);
    }

    #[test]
    fn split_loses_nothing(t in trace(), n in 1u64..9) {
        let mut parts: BTreeMap<u64, Vec<TraceRecord>> = BTreeMap::new();
        let mut split = Split::new(SplitBy::Requests(n)).unwrap();
        t.iter().for_each(|r| parts.entry(split.part(r)).or_default().push(*r));
        let wanted: Vec<_> = t.chunks(n as usize).map(<[_]>::to_vec).collect();
        prop_assert_eq!(parts.into_values().collect::<Vec<_>>(), wanted);
        let mut by_time = Split::new(SplitBy::TimeNs(n)).unwrap();
        let numbers: Vec<u64> = t.iter().map(|r| by_time.part(r)).collect();
        prop_assert!(numbers.is_sorted());
        let late = t.iter().zip(&numbers).filter(|(r, part)| r.at.0.saturating_sub(t[0].at.0) / n < **part).count();
        prop_assert_eq!(by_time.out_of_order(), late as u64);
    }
}

#[test]
fn target_rate_is_reached() {
    let t: Vec<TraceRecord> = (0..101).map(|i| TraceRecord::plain(7 + i * i * 1000, HostOp::Read, 0, 512)).collect();
    let mut span = Span::default();
    t.iter().for_each(|r| span.add(r));
    let (above, below) = span.factor(1000).unwrap();
    let scaled = apply(&t, Scale::exactly(above, below));
    // 100 gaps at 1,000 a second take 0.1 s.
    assert_eq!(scaled.last().unwrap().at.0 - scaled[0].at.0, 100_000_000);
    assert!(Span::default().factor(1).is_err());
}

#[test]
fn requests_that_cannot_be_changed_are_refused_with_their_place() {
    let record = |at, offset| TraceRecord::plain(at, HostOp::Read, offset, 512);
    let t = [record(0, 8192), record(9_000_000_000_000_000_000, 4096)];
    let refused = |mut applied: Box<dyn Iterator<Item = Result<TraceRecord, nandlab_trace::TraceError>>>| {
        assert!(applied.next().unwrap().is_ok());
        let error = applied.next().unwrap().unwrap_err().to_string();
        assert!(applied.next().is_none());
        error
    };
    let triple = Scale::time(Ratio::parse("3").unwrap());
    let error = refused(Box::new(Applied::new(rows(&t), triple, None)));
    assert!(error.starts_with("test: line 4: the time 9000000000000000000 ns"), "{error}");
    let down = remap(|tool| {
        tool.shift = -8192;
    });
    let error = refused(Box::new(Applied::new(rows(&t), down, None)));
    assert!(error.contains("line 4: the offset 4096 is moved below 0"), "{error}");
    let up = remap(|tool| {
        tool.shift = i64::MAX;
    });
    let error = Applied::new(rows(&t), up, None).next().unwrap().unwrap_err().to_string();
    assert!(error.contains("line 3: it becomes 512 bytes at"), "{error}");
}

#[test]
fn ratio_is_exact_or_refused() {
    for (text, numerator, denominator) in [("0.25", 25, 100), ("1/3", 1, 3), ("2", 2, 1), ("1.", 1, 1), (".5", 5, 10)] {
        assert_eq!(Ratio::parse(text), Ok(Ratio { numerator, denominator }), "{text}");
    }
    for text in ["", "0", "-1", "1e3", "nan", "1/0", "0/1", "1/2/3", "1.2.3", "1234567890123456789", "+1", " 1"] {
        assert!(Ratio::parse(text).is_err(), "{text}");
    }
}
