//! Which format does content have?
mod common;

use std::fmt::Write as _;

use common::{fixture, read, read_fixture};
use nandlab_trace::{Options, Trace, TraceError};

#[test]
fn format_is_found_by_content_with_a_reason() {
    for (file, expected) in [
        ("spc.spc", "spc"),
        ("msr.csv", "msr"),
        ("msr_indexed.csv", "msr"),
        ("blkreplay.load", "blkreplay"),
        ("disksim.trace", "disksim"),
        ("ssdsim.ascii", "ssdsim"),
        ("diskmon.log", "diskmon"),
        ("heimdall.trace", "heimdall"),
        ("fiu.blkparse", "fiu"),
        ("biotracer.txt", "biotracer"),
        ("pixel.csv", "pixel"),
        ("systor.csv", "systor"),
        ("alibaba.csv", "alibaba"),
        ("tencent.csv", "tencent"),
        ("lirs.trc", "lirs"),
        ("arc.lis", "arc"),
        ("blkparse.txt", "blkparse"),
        ("wpa.csv", "wpa"),
        ("fio_v2.iolog", "fio"),
        ("fio_v3.iolog", "fio"),
        ("fio_clat.log", "fio_lat"),
        ("fio_clat_issued.log", "fio_lat"),
        ("xperf.csv", "xperf"),
        ("hpsrt.srt", "hpsrt"),
        ("vscsi.vscsi", "vscsi"),
        ("blktrace.0", "blktrace"),
        ("spc.spc.gz", "spc"),
        ("spc.spc.bz2", "spc"),
        ("spc.spc.xz", "spc"),
    ] {
        let trace = nandlab_trace::open(&fixture(file), &Options::default()).unwrap();
        assert_eq!(trace.records().format(), expected, "{file}");
        assert!(trace.records().reason().starts_with("because "), "{}", trace.records().reason());
    }
}

#[test]
fn detection_asks_where_no_rule_decides() {
    let Err(TraceError::Ambiguous { candidates, .. }) = read_fixture("disksim_or_flashsim.trace", &Options::default())
    else {
        panic!("disksim or flashsim")
    };
    assert_eq!(candidates.iter().map(|c| c.format).collect::<Vec<_>>(), ["disksim", "flashsim"]);
    // Whole numbers that step by 5: milliseconds or nanoseconds?
    let error = read(b"0 0 8 8 1\n5 0 16 8 0\n10 0 24 8 1\n", &Options::default()).unwrap_err();
    let text = error.to_string();
    assert!(text.contains("disksim") && text.contains("ssdsim") && text.contains("because"), "{text}");
}

/// Rows of nandlab's own text may look like those of another format: with a latency like those of SYSTOR '17.
#[test]
fn text_that_says_what_it_is_is_believed() {
    for (columns, rest) in
        [("", ""), (",latency_ns", ",80000"), (",process", ",7"), (",latency_ns,process", ",80000,7")]
    {
        let mut text = format!("time_ns,device,op,offset,length{columns}\n");
        for row in 0..40 {
            writeln!(text, "{row},0,R,{},4096{rest}", row * 4096).unwrap();
        }
        for text in [format!("# nandlab trace 1\n{text}"), text] {
            let trace = Trace::from_reader("test", std::io::Cursor::new(text.clone()), &Options::default()).unwrap();
            assert_eq!(trace.records().format(), "nandlab", "{text}");
        }
    }
}

#[test]
fn header_that_names_the_columns_wins_over_what_rows_look_like() {
    let text = |header: &str, row: &dyn Fn(u64) -> String| {
        (1..60).fold(format!("{header}\n"), |text, at| text + &row(at) + "\n")
    };
    let alibaba =
        text("device_id,op,length,offset,time_ns", &|at| format!("3,W,4096,{},{}", at * 8192, at * 1_000_000));
    let tencent =
        text("Timestamp,Size,Offset,IOType,VolumeID", &|at| format!("{},8,{},1,5", 1_538_323_200 + at, at * 16));
    let msr = text("Timestamp,Hostname,DiskNumber,Type,Size,Offset,ResponseTime", &|at| {
        format!("{},usr,0,Read,4096,{},400", 128_166_372_003_061_629 + at * 10_000, at * 8192)
    });
    let spc = text("device,offset,length,op,time_ns", &|at| format!("3,{},4096,W,{}", at * 8192, at * 1_000_000));
    for (text, format) in [(alibaba, "alibaba"), (msr, "msr"), (spc, "spc")] {
        let records =
            nandlab_trace::Records::from_reader(format, std::io::Cursor::new(text), &Options::default()).unwrap();
        assert_eq!(records.format(), "columns", "{format}: {}", records.reason());
        let records: Vec<_> = records.map(Result::unwrap).collect();
        assert!(
            records.iter().zip(1..).all(|(record, at)| (record.offset, record.length) == (at * 8192, 4096)),
            "{format}"
        );
        assert_eq!(records[1].at.0 - records[0].at.0, 1_000_000, "{format}");
    }
    // Words that the format does not know, and other ways to write those that it does, change nothing.
    let known = [
        ("alibaba", "device_id, op, offset, length, timestamp (us)", "3,W,4096,512,9"),
        ("tencent", "Timestamp, Offset, Size, IO_Type, Volume_ID,", "1538323201,8,16,1,5"),
        (
            "msr",
            "Timestamp,Host,Disk Number,Type,Offset,Size,Response Time",
            "128166372003061629,usr,0,Read,4096,512,400",
        ),
    ];
    for (format, header, row) in known {
        let text = format!("{header}\n{}", format!("{row}\n").repeat(60));
        let records =
            nandlab_trace::Records::from_reader(format, std::io::Cursor::new(text), &Options::default()).unwrap();
        assert_eq!(records.format(), format, "{}", records.reason());
        assert_eq!(records.map(Result::unwrap).count(), 60, "{format}");
    }
    // What 0 and 1 mean its header does not say.
    let error = read(tencent.as_bytes(), &Options::default()).unwrap_err().to_string();
    assert!(error.contains("line 1: Timestamp"), "{error}");
}
