//! Logs with several events a request: is the latency that of the recorded device, from issue (D) to completion (C)?

use nandlab::types::HostOp;
use nandlab_trace::{BlockEvent, Options, Records, Trace, TraceReport, Volumes};

/// Time, operation, first sector, sectors, latency.
type Request = (u64, HostOp, u64, u32, u64);

use HostOp::{Flush, Read, Trim, Write};

/// A line of blkparse; the time in ns.
fn line(ns: u64, event: &str, rest: &str) -> String {
    format!("  8,0    1        1     0.{ns:09}   700  {event}   {rest}\n")
}

fn log(rows: &[(u64, &str, &str)]) -> String {
    rows.iter().map(|(ns, event, rest)| line(*ns, event, rest)).collect()
}

fn read(text: &str, event: Option<BlockEvent>) -> (Vec<Request>, TraceReport) {
    let options = Options { event, volumes: Volumes::Merge, ..Options::default() };
    let bytes = text.as_bytes().to_vec();
    let records = Records::from_reader("log", std::io::Cursor::new(bytes.clone()), &options).unwrap();
    let requests = records.map(|record| {
        let record = record.unwrap();
        (record.at.0, record.op, record.lba(), record.sectors(), record.latency_ns)
    });
    let requests = requests.collect();
    let mut trace = Trace::from_reader("log", std::io::Cursor::new(bytes), &options).unwrap();
    for request in trace.by_ref() {
        request.unwrap();
    }
    (requests, trace.report())
}

fn unpaired(report: &TraceReport) -> (u64, u64) {
    (report.without_completion, report.completions_alone)
}

#[test]
fn latency_is_the_time_from_issue_to_completion() {
    // Completions overtake each other, and a range is asked for twice at a time.
    let text = log(&[
        (100, "Q", "R 8 + 8 [a]"),
        (200, "D", "R 8 + 8 [a]"),
        (300, "D", "WS 800 + 16 [a]"),
        (350, "D", "R 8 + 8 [b]"),
        (400, "C", "WS 800 + 16 [0]"),
        (450, "C", "R 8 + 8 [0]"),
        (500, "D", "DS 4096 + 2048 [t]"),
        (550, "D", "FN [f]"),
        (900, "C", "R 8 + 8 [0]"),
        (1_000, "C", "FN 0 [0]"),
        (1_300, "C", "D 4096 + 2048 [0]"),
    ]);
    let (requests, report) = read(&text, None);
    let expected = [
        (200, Read, 8, 8, 250),
        (300, Write, 800, 16, 100),
        (350, Read, 8, 8, 550),
        (500, Trim, 4096, 2048, 800),
        (550, Flush, 0, 0, 450),
    ];
    assert_eq!(requests, expected);
    assert_eq!(unpaired(&report), (0, 0));
    assert_eq!((report.records, report.other_rows, report.requests), (5, 6, 5));
    // Read at its completion, a request is over: no latency, and nothing is missed.
    let (requests, report) = read(&text, Some(BlockEvent::Complete));
    assert_eq!(requests.iter().map(|r| (r.0, r.4)).collect::<Vec<_>>()[..2], [(400, 0), (450, 0)]);
    assert_eq!(unpaired(&report), (0, 0));
}

#[test]
fn merged_and_split_requests_take_the_time_of_the_device() {
    let text = log(&[
        (10, "Q", "W 0 + 8 [a]"),
        (20, "Q", "W 8 + 8 [a]"), // merged with the first
        (30, "M", "W 8 + 8 [a]"),
        (40, "Q", "R 100 + 16 [b]"), // split into two
        (50, "X", "R 100 / 108 [b]"),
        (60, "D", "W 0 + 16 [a]"),
        (70, "D", "R 100 + 8 [b]"),
        (90, "D", "R 108 + 8 [b]"),
        (100, "C", "R 108 + 8 [0]"),
        (160, "C", "W 0 + 16 [0]"),
        (270, "C", "R 100 + 8 [0]"),
    ]);
    let (queued, report) = read(&text, Some(BlockEvent::Queue));
    assert_eq!(queued, [(10, Write, 0, 8, 100), (20, Write, 8, 8, 100), (40, Read, 100, 16, 200)]);
    assert_eq!(unpaired(&report), (0, 0));
    let (issued, report) = read(&text, None);
    assert_eq!(issued, [(60, Write, 0, 16, 100), (70, Read, 100, 8, 200), (90, Read, 108, 8, 10)]);
    assert_eq!(unpaired(&report), (0, 0));
    // The device completes a request in two parts.
    let (issued, report) = read(
        &log(&[(5, "D", "W 0 + 16 [a]"), (9, "C", "W 0 + 8 [0]"), (20, "C", "W 8 + 8 [0]"), (21, "D", "R 0 + 8 [a]")]),
        None,
    );
    assert_eq!(issued, [(5, Write, 0, 16, 15), (21, Read, 0, 8, 0)]);
    assert_eq!(unpaired(&report), (1, 0));
}

#[test]
fn events_without_a_partner_are_counted_and_lose_nothing() {
    let mut text = log(&[
        (5, "C", "R 64 + 8 [0]"), // issued before the log began
        (10, "D", "R 8 + 8 [a]"), // its completion is lost
        (20, "D", "R 16 + 8 [a]"),
        (25, "C", "W 16 + 8 [0]"), // another operation
        (30, "C", "R 16 + 8 [0]"),
        (40, "C", "R 16 + 8 [0]"),  // once more
        (50, "C", "R strange [0]"), // no request at all
    ]);
    text += &line(60, "C", "R 8 + 8 [0]").replace("8,0 ", "8,16"); // another device
    let (requests, report) = read(&text, None);
    assert_eq!(requests, [(10, Read, 8, 8, 0), (20, Read, 16, 8, 10)]);
    assert_eq!(unpaired(&report), (1, 4));
    // A log without completions misses none.
    let (requests, report) = read(&log(&[(10, "D", "R 8 + 8 [a]"), (20, "D", "R 16 + 8 [a]")]), None);
    assert_eq!((requests.len(), requests[0].4, unpaired(&report)), (2, 0, (0, 0)));
}

#[test]
fn requests_that_never_complete_do_not_hold_up_the_others() {
    // More than may wait: the first goes on alone, and the others keep their latencies and their order.
    let mut text = line(1, "D", "W 0 + 8 [a]");
    let many = 70_000;
    for n in 0..many {
        text += &line(10 * n + 10, "D", &format!("R {} + 8 [a]", 8 + 8 * n));
        text += &line(10 * n + 15, "C", &format!("R {} + 8 [0]", 8 + 8 * n));
    }
    let (requests, report) = read(&text, None);
    assert_eq!(requests.len() as u64, many + 1);
    assert_eq!(requests[0], (1, Write, 0, 8, 0));
    assert!(requests[1..].iter().zip(0..).all(|(r, n)| *r == (10 * n + 10, Read, 8 + 8 * n, 8, 5)));
    assert_eq!(unpaired(&report), (1, 0));
}

#[test]
fn error_comes_after_the_requests_before_it() {
    let text =
        log(&[(10, "D", "R 8 + 8 [a]"), (20, "D", "R 16 + 8 [a]"), (30, "C", "R 16 + 8 [0]"), (40, "D", "R x [a]")]);
    let text = text + &line(50, "D", "Z 24 + 8 [a]");
    let records = Records::from_reader("log", std::io::Cursor::new(text.into_bytes()), &Options::default()).unwrap();
    let rows: Vec<_> =
        records.map(|row| row.map(|record| record.latency_ns).map_err(|error| error.to_string())).collect();
    assert_eq!(rows[..2], [Ok(0), Ok(10)]);
    assert!(rows.len() == 3 && rows[2].as_ref().unwrap_err().contains("line 5"), "{rows:?}");
}

/// A record of binary blktrace.
fn record(ns: u64, sector: u64, bytes: u32, action: u32, cpu: u32) -> Vec<u8> {
    let mut r = Vec::new();
    r.extend([0x6561_7407_u32, 1].map(u32::to_le_bytes).as_flattened());
    r.extend([ns, sector].map(u64::to_le_bytes).as_flattened());
    r.extend([bytes, action, 7, 8 << 20, cpu, 0].map(u32::to_le_bytes).as_flattened());
    r
}

#[test]
fn completions_of_another_processor_are_found() {
    let (read, write, flush) = (1 << 16, 2 << 16, 4 << 16);
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let first = [
        record(100, 8, 4096, read | 7, 0),
        record(200, 64, 8192, write | 7, 0),
        record(300, 0, 0, flush | write | 7, 0),
        record(5_000, 8, 4096, read | 7, 0),
    ];
    let second = [
        record(250, 8, 4096, read | 8, 1),
        record(900, 0, 0, flush | write | 8, 1),
        record(1_200, 64, 8192, write | 8, 1),
        record(5_400, 8, 4096, read | 8, 1),
    ];
    std::fs::write(path("sda.blktrace.0"), first.concat()).unwrap();
    std::fs::write(path("sda.blktrace.1"), second.concat()).unwrap();
    let paths = [path("sda.blktrace.0"), path("sda.blktrace.1")];
    let mut records = Records::open_all(&paths, &Options::default()).unwrap();
    let mut rows = Vec::new();
    while let Some(row) = records.next() {
        let row = row.unwrap();
        assert!(records.file().ends_with(".0"), "{}: a request is where it was issued", records.file());
        rows.push((row.at.0, row.op, row.latency_ns, row.process));
    }
    assert_eq!(rows, [(100, Read, 150, 7), (200, Write, 1_000, 7), (300, Flush, 600, 7), (5_000, Read, 400, 7)]);
    assert!(records.extra().latency);
}
