//! Latency logs of fio: the fixtures are written by hand, after fio's HOWTO.

mod common;

use nandlab_trace::{Options, Records, TraceError};

type Found = (u64, char, u64, u32, u64);

fn rows(records: Records) -> Result<Vec<Found>, TraceError> {
    let row = |record: Result<nandlab_trace::TraceRecord, TraceError>| {
        let record = record?;
        let op = match record.op {
            nandlab::types::HostOp::Read => 'R',
            nandlab::types::HostOp::Write => 'W',
            nandlab::types::HostOp::Trim => 'T',
            nandlab::types::HostOp::Flush => 'F',
        };
        Ok((record.at.0, op, record.offset, record.length, record.latency_ns))
    };
    records.map(row).collect()
}

fn read(text: &str) -> Result<Vec<Found>, TraceError> {
    rows(Records::from_reader("test", std::io::Cursor::new(text.to_owned()), &Options::default())?)
}

fn fixture(name: &str) -> Vec<Found> {
    rows(Records::open(&common::fixture(name), &Options::default()).unwrap()).unwrap()
}

/// Milliseconds at completion, less the latency; a request that took longer than the job ran began with it.
#[test]
fn request_begins_its_latency_before_its_row() {
    assert_eq!(
        fixture("fio_clat.log"),
        [
            (895_800, 'R', 8_192, 4_096, 104_200),
            (969_000, 'W', 0, 8_192, 31_000),
            (500_000, 'R', 1_049_088, 512, 2_500_000),
            (0, 'T', 4_096, 4_096, 9_000_000),
        ]
    );
}

#[test]
fn request_begins_at_its_issue_time_if_it_has_one() {
    assert_eq!(
        fixture("fio_clat_issued.log"),
        [(4_950_001, 'R', 8_192, 4_096, 104_200), (4_976_000, 'W', 0, 4_096, 80_100)]
    );
    // Logs other than those of completion latencies have a 0 there.
    assert_eq!(read("5, 1000, 0, 512, 0, 0, 0\n").unwrap()[0].0, 4_999_000);
}

/// Before there were priorities: the fifth column is the offset, and 0 and 1 are offsets too where others are not.
#[test]
fn old_log_has_its_offset_in_the_last_column() {
    let found = read("1, 100, 0, 4096, 0\n2, 100, 0, 4096, 4096\n").unwrap();
    assert_eq!(found, [(999_900, 'R', 0, 4_096, 100), (1_999_900, 'R', 4_096, 4_096, 100)]);
}

#[test]
fn log_that_is_of_no_use_says_how_to_make_one() {
    let fails = |text: &str| read(text).unwrap_err().to_string();
    for text in
        ["1, 100, 0, 4096\n2, 90, 1, 4096\n", "1, 100, 0, 4096, 0\n2, 90, 0, 4096, 1\n", "1, 100, 0, 4096, 0x4001\n"]
    {
        assert!(
            fails(text).contains("line 1: offset is missing") && fails(text).contains("log_offset=1"),
            "{}",
            fails(text)
        );
    }
    assert!(fails("500, 100, 0, 0, 0, 0\n").contains("log_avg_msec"));
    assert!(fails("1, 100, 0, 4096, 0, 0\n1, 100, 3, 4096, 0, 0\n").contains("direction `3`"));
    assert!(fails("1, 100, 0, 4096, 0, 0\n1, 100, 0, 4096, 0, 7\n").contains("priority `7`"));
    assert!(fails("1, 100, 0, 4096, 0, 0\n1, 100, 0, 4096, 0, 0, 5, 6\n").contains("column"));
}
