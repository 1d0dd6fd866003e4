//! Do the policies for times do what their manual says, and count it?
mod common;

use std::fmt::Write;

use common::read;
use nandlab::types::Nanos;
use nandlab_trace::{Options, Records, TimeCounts, Timed, TraceReport};
use proptest::prelude::*;

const SECOND: u64 = 1_000_000_000;

/// A trace with these times in milliseconds; the sector is the number of the row.
fn trace(millis: &[u64]) -> String {
    millis.iter().enumerate().fold(String::new(), |mut text, (i, ms)| {
        writeln!(text, "0,{i},512,w,{}.{:03}", ms / 1_000, ms % 1_000).unwrap();
        text
    })
}

/// Rows (number of the row, time in milliseconds) after the policies.
fn timed(millis: &[u64], options: &Options) -> (Vec<(u64, u64)>, TimeCounts) {
    let records = Records::from_reader("test", std::io::Cursor::new(trace(millis)), options).unwrap();
    let mut timed = Timed::new(records, options);
    let rows = timed.by_ref().map(|record| record.map(|r| (r.lba(), r.at.0 / 1_000_000)).unwrap()).collect();
    (rows, timed.counts())
}

fn rebase(ms: u64) -> Options {
    Options { rebase: Some(Nanos(ms * 1_000_000)), ..Options::default() }
}
fn sort(rows: u64) -> Options {
    Options { sort_window: Some(rows), ..Options::default() }
}
fn cap(ms: u64) -> Options {
    Options { cap_gap: Some(Nanos(ms * 1_000_000)), ..Options::default() }
}

#[test]
fn times_are_unchanged_unless_asked_for() {
    let (rows, counts) = timed(&[5_000, 4_000, 99_000, 3_000], &Options::default());
    assert_eq!(rows, [(0, 5_000), (1, 4_000), (2, 99_000), (3, 3_000)]);
    assert_eq!(counts, TimeCounts { out_of_order: 2, ..TimeCounts::default() });
}

#[test]
fn clock_jumps_are_removed_and_small_disorder_is_left() {
    // A restart, a wild time, and a step back of a second, which is not more than the bound.
    let (rows, counts) = timed(&[5_000, 6_000, 0, 1_500, 9_000_000, 2_000, 1_000, 2_500], &rebase(2_000));
    let times: Vec<u64> = rows.iter().map(|(_, ms)| *ms).collect();
    assert_eq!(times, [5_000, 6_000, 6_000, 7_500, 7_500, 7_500, 6_500, 8_000]);
    assert_eq!((counts.clock_jumps, counts.out_of_order), (3, 3));
    // Exactly the bound is no jump, one millisecond more is.
    assert_eq!(timed(&[0, 2_000], &rebase(2_000)).1.clock_jumps, 0);
    assert_eq!(timed(&[0, 2_001], &rebase(2_000)).1.clock_jumps, 1);
    // Steps back after a jump never lead below zero.
    let (rows, _) = timed(&[0, 90_000, 89_000, 88_000], &rebase(2_000));
    assert_eq!(rows, [(0, 0), (1, 0), (2, 0), (3, 0)]);
}

#[test]
fn rows_are_sorted_as_far_as_the_window_reaches() {
    let (rows, counts) = timed(&[10, 30, 20, 20, 50, 40, 5], &sort(3));
    assert_eq!(rows, [(0, 10), (2, 20), (3, 20), (1, 30), (6, 5), (5, 40), (4, 50)]);
    assert_eq!((counts.out_of_order, counts.late), (3, 1));
    let (rows, counts) = timed(&[10, 30, 20, 20, 50, 40, 5], &sort(7));
    assert_eq!(rows.iter().map(|(_, ms)| *ms).collect::<Vec<_>>(), [5, 10, 20, 20, 30, 40, 50]);
    assert_eq!(counts.late, 0);
}

#[test]
fn sorting_keeps_the_order_of_rows_with_equal_times() {
    let millis: Vec<u64> = (0..40).map(|row| 100 - row / 20).collect();
    let (rows, _) = timed(&millis, &sort(50));
    assert_eq!(rows.iter().map(|(row, _)| *row).collect::<Vec<_>>(), (20..40).chain(0..20).collect::<Vec<_>>());
}

#[test]
fn long_gaps_are_shortened_and_all_that_follows_is_moved() {
    let (rows, counts) = timed(&[0, 100, 1_100, 1_150, 5_000, 4_990, 5_100], &cap(100));
    let times: Vec<u64> = rows.iter().map(|(_, ms)| *ms).collect();
    assert_eq!(times, [0, 100, 200, 250, 350, 340, 450]);
    assert_eq!((counts.gaps_capped, counts.gaps_capped_ns), (2, 4_650_000_000));
}

#[test]
fn row_that_comes_too_late_is_moved_as_one_of_its_time() {
    let (rows, counts) = timed(&[0, 100_000, 200_000, 150_000, 100_500, 50_000, 300_000], &cap(1_000));
    let times: Vec<u64> = rows.iter().map(|(_, ms)| *ms).collect();
    assert_eq!(times, [0, 1_000, 2_000, 1_000, 1_000, 0, 3_000]);
    assert_eq!((counts.gaps_capped, counts.gaps_capped_ns), (3, 297_000_000_000));
}

#[test]
fn time_policies_work_together_and_reach_the_report() {
    let options = Options { sort_window: Some(2), cap_gap: Some(Nanos(SECOND)), ..rebase(60_000) };
    let text = trace(&[100_000, 130_000, 129_000, 0, 500, 400]);
    let (requests, report) = read(text.as_bytes(), &options).unwrap();
    let rows: Vec<_> = requests.iter().map(|r| (r.lba, r.at.0 / 1_000_000)).collect();
    // Rebased: 100 130 129 129 129.5 129.4 s; sorted by two at a time: 100 129 129 129.5 129.4 130; the first gap is cut.
    assert_eq!(rows, [(0, 0), (2, 1_000), (3, 1_000), (4, 1_500), (5, 1_500), (1, 2_000)]);
    let TraceReport { clock_jumps, late, gaps_capped, gaps_capped_ns, out_of_order, clamped, .. } = report;
    assert_eq!((clock_jumps, late, gaps_capped, gaps_capped_ns), (1, 1, 1, 28 * SECOND));
    assert_eq!((out_of_order, clamped), (3, 1));
}

#[test]
fn error_comes_after_the_rows_before_it_and_names_its_line() {
    let text = trace(&[30, 20, 10]) + "0,x,512,w,1\n";
    let records = Records::from_reader("test", std::io::Cursor::new(text), &sort(100)).unwrap();
    let all: Vec<_> = Timed::new(records, &sort(100)).collect();
    assert_eq!(all.len(), 4);
    assert_eq!(all[0].as_ref().unwrap().at, Nanos(10_000_000));
    assert!(all[3].as_ref().unwrap_err().to_string().starts_with("test: line 4: LBA"));
    // A device that is refused is named where it is, not where reading has got to.
    let error = read(b"0,1,512,w,5\n1,1,512,w,4\n0,1,512,w,6\n", &sort(100)).unwrap_err().to_string();
    assert!(error.contains("line 1: device 0 appears after device 1"), "{error}");
}

#[test]
fn windows_out_of_range_are_refused() {
    for rows in [0, (1 << 24) + 1] {
        let error = read(b"0,1,512,w,5\n", &sort(rows)).unwrap_err().to_string();
        assert!(error.contains("sort_window") && error.contains("1 to 16777216"), "{error}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn sorting_loses_nothing_and_sorts_all_that_is_within_the_window(
        millis in proptest::collection::vec(0u64..1_000, 1..60), window in 1u64..70,
    ) {
        let (rows, counts) = timed(&millis, &sort(window));
        let mut numbers: Vec<u64> = rows.iter().map(|(row, _)| *row).collect();
        prop_assert!(rows.iter().all(|(row, ms)| millis[*row as usize] == *ms));
        let falls = {
            let mut latest = 0;
            rows.iter().filter(|(_, ms)| { let late = *ms < latest; latest = latest.max(*ms); late }).count()
        };
        prop_assert_eq!(counts.late, falls as u64);
        if window as usize >= millis.len() {
            prop_assert_eq!(falls, 0);
        }
        numbers.sort_unstable();
        prop_assert_eq!(numbers, (0..millis.len() as u64).collect::<Vec<_>>());
    }
}
