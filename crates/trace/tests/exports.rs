//! What is written in the format of another tool reads back as the same requests.

mod common;

use nandlab::types::{HostOp, Nanos};
use nandlab_trace::{Options, Records, TraceRecord, Writer};

/// Requests that every format can say: reads and writes of whole sectors, times in whole microseconds.
fn requests() -> Vec<TraceRecord> {
    let spc = b"0,64,4096,w,1.5\n0,8,1024,r,1.500007\n0,1048576,65536,W,3\n0,64,512,r,3\n";
    let records = Records::from_reader("spc", &spc[..], &common::format("spc")).unwrap();
    records.map(Result::unwrap).collect()
}

fn path(name: &str) -> String {
    std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(name).to_str().unwrap().to_owned()
}

fn export(name: &str, format: &str, records: &[TraceRecord]) -> Result<String, String> {
    let path = path(name);
    let mut writer = Writer::export(&path, format).map_err(|error| error.to_string())?;
    for record in records {
        writer.write(record).map_err(|error| error.to_string())?;
    }
    writer.finish().map_err(|error| error.to_string())?;
    Ok(path)
}

/// As they are, except for times, which count from the first.
fn plain(records: &[TraceRecord]) -> Vec<(u64, HostOp, u64, u32, u32)> {
    let first = records[0].at.0;
    records.iter().map(|r| (r.at.0 - first, r.op, r.offset, r.length, r.device)).collect()
}

#[test]
fn exports_read_back_as_the_same_requests() {
    let records = requests();
    for format in ["fio", "blkparse", "spc", "msr", "mqsim", "ssdsim", "disksim"] {
        for ending in ["", ".gz", ".zst"] {
            let path = export(&format!("export.{format}{ending}"), format, &records).unwrap();
            let read = Records::open(&path, &common::format(format)).unwrap();
            let read: Vec<_> = read.map(Result::unwrap).collect();
            assert_eq!(plain(&read), plain(&records), "{format}{ending}");
        }
        // And detection knows them, except for those that look like another.
        let found = Records::open(&path(&format!("export.{format}")), &Options::default());
        let found = found.map(|found| found.format().to_owned());
        match format {
            "mqsim" => assert_eq!(found.unwrap(), "ssdsim"),
            "disksim" => assert!(found.is_err_and(|error| error.to_string().contains("disksim"))),
            _ => assert_eq!(found.unwrap(), format),
        }
    }
}

#[test]
fn fio_log_keeps_the_numbers_of_devices() {
    let on = |device| TraceRecord { device, ..requests()[0] };
    let records = [on(5), on(1), on(5)];
    let path = export("numbers.fio", "fio", &records).unwrap();
    let devices = |path: &str| -> Result<Vec<u32>, _> {
        Records::open(path, &common::format("fio"))?.map(|row| row.map(|row| row.device)).collect()
    };
    assert_eq!(devices(&path).unwrap(), [5, 1, 5]);
    let mixed = std::fs::read_to_string(&path).unwrap().replace("device1", "data");
    std::fs::write(&path, mixed).unwrap();
    let error = devices(&path).unwrap_err().to_string();
    assert!(error.contains("`deviceN`, as the first file is called"), "{error}");
}

#[test]
fn refused_requests_are_told_by_the_simulator_and_what_leaves_them_out() {
    let requests = requests();
    let empty = TraceRecord { length: 0, ..requests[3] };
    let flush = TraceRecord { op: HostOp::Flush, offset: 0, ..empty };
    for (format, simulator) in [("ssdsim", "SSDsim"), ("mqsim", "MQSim")] {
        let fails = |records: &[TraceRecord]| export("refused.trace", format, records).unwrap_err();
        let order = fails(&[requests[0], requests[2], requests[1]]);
        assert!(order.contains(&format!("{simulator} wants times that never fall")), "{order}");
        let no_length = fails(&[requests[0], empty]);
        assert!(no_length.contains(&format!("{simulator} has no requests of no length")), "{no_length}");
        assert!(fails(&[requests[0], flush]).contains("filter --op R,W"), "a flush is no request of no length");
    }
}

#[test]
fn discards_and_flushes_reach_the_formats_that_have_them() {
    let trim = TraceRecord { op: HostOp::Trim, ..requests()[0] };
    let flush = TraceRecord { op: HostOp::Flush, offset: 0, length: 0, ..trim };
    for format in ["fio", "blkparse"] {
        let path = export(&format!("others.{format}"), format, &[trim, flush]).unwrap();
        let read: Vec<_> = Records::open(&path, &common::format(format)).unwrap().map(Result::unwrap).collect();
        assert_eq!(plain(&read), plain(&[trim, flush]), "{format}");
    }
    for format in ["spc", "msr", "mqsim", "disksim", "oracle-general"] {
        let error = export(&format!("refused.{format}"), format, &[trim]).unwrap_err();
        assert!(error.contains("request 1") && error.contains("nandlab trace filter --op R,W"), "{format}: {error}");
    }
}

#[test]
fn format_refuses_what_it_cannot_say_with_help() {
    let good = requests()[0];
    let odd = TraceRecord { offset: 100, ..good };
    let early = [good, TraceRecord { at: Nanos(0), ..good }];
    let later = [good, TraceRecord { at: Nanos(good.at.0 + 5_000), ..good }, good];
    let apart = [good, TraceRecord { device: 1, ..good }];
    let empty = TraceRecord { length: 0, ..good };
    let fallen = [good, TraceRecord { at: Nanos(good.at.0 + 2_000_000_000), ..good }, good];
    let cases: [(&str, &[TraceRecord], &str); 11] = [
        ("spc", &[odd], "--align 512"),
        ("disksim", &[odd], "--align 512"),
        ("spc", &early, "--sort-window"),
        ("fio", &later, "--sort-window"),
        ("mqsim", &later, "--sort-window"),
        ("oracle-general", &apart, "remap --stack"),
        ("mqsim", &[empty], "--min-length 512"),
        ("fio", &[empty], "--min-length 512"),
        ("msr", &[TraceRecord { device: 70_000, ..good }], "remap --stack"),
        ("blkparse", &[TraceRecord { device: u32::MAX - 1, ..good }], "remap --stack"),
        ("oracle-general", &fallen, "--sort-window"),
    ];
    for (format, records, part) in cases {
        let error = export("limits", format, records).unwrap_err();
        assert!(error.contains(part), "{format}: {error}");
        assert!(!std::path::Path::new(&path("limits")).exists(), "{format}: a half file is left");
    }
    assert!(export("limits", "wpa", &[good]).unwrap_err().contains("allowed are spc, msr"));
}

#[test]
fn loss_of_resolution_and_columns_is_counted() {
    let record = TraceRecord { at: Nanos(1), latency_ns: 5_000, process: 7, ..requests()[0] };
    let late = TraceRecord { at: Nanos(1_500), ..record };
    let lost = |format: &str| {
        let mut writer = Writer::export(&path(&format!("lost.{format}")), format).unwrap();
        for record in [record, late] {
            writer.write(&record).unwrap();
        }
        let lost = writer.lost();
        writer.finish().unwrap();
        lost.into_iter().map(|(kind, n)| format!("{kind} {n}")).collect::<Vec<_>>().join(", ")
    };
    assert_eq!(lost("fio"), "latencies_left_out 2, processes_left_out 2, times_rounded_down 1");
    assert_eq!(lost("blkparse"), "latencies_left_out 2");
    assert_eq!(lost("msr"), "processes_left_out 2, times_rounded_down 1");
    let read = |format: &str| {
        let records = Records::open(&path(&format!("lost.{format}")), &common::format(format)).unwrap();
        records.map(|record| record.map(|record| (record.latency_ns, record.process)).unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(read("msr"), [(5_000, 0); 2]);
    assert_eq!(read("blkparse"), [(0, 7); 2]);
}

#[test]
fn oracle_general_has_a_record_for_every_page_and_knows_the_next() {
    let path = export("export.oracleGeneral", "oracle-general", &requests()).unwrap();
    let bytes = std::fs::read(&path).unwrap();
    let words: Vec<(u32, u64, u32, i64)> = bytes
        .chunks_exact(24)
        .map(|record| {
            let word = |at| u32::from_le_bytes(record[at..at + 4].try_into().unwrap());
            let long = |at| u64::from_le_bytes(record[at..at + 8].try_into().unwrap());
            (word(0), long(4), word(12), long(16).cast_signed())
        })
        .collect();
    assert_eq!(words.len(), 1 + 1 + 16 + 1);
    assert_eq!(words[0], (0, 8, 4096, 19), "asked for again by the last");
    assert_eq!((words[1], words[18]), ((0, 1, 4096, -1), (1, 8, 4096, -1)));
    let options = Options { object_unit: Some(4096), ..Options::default() };
    let records = Records::open(&path, &options).unwrap();
    assert_eq!(records.format(), "oracle-general");
    let read: Vec<_> = records.map(Result::unwrap).collect();
    assert_eq!((read[0].offset, read[2].offset, read.len()), (8 * 4096, 131_072 * 4096, 19));
    // Without a unit each object has pages of its own, in order of appearance.
    let ranges: Vec<_> =
        Records::open(&path, &Options::default()).unwrap().map(|record| record.unwrap().offset / 4096).collect();
    assert_eq!(ranges[..5], [0, 1, 2, 3, 4]);
    assert_eq!(ranges[18], 0);
}

#[test]
fn what_a_format_rounds_or_leaves_out_is_counted() {
    let late = TraceRecord { latency_ns: 150, ..requests()[0] };
    let empty = TraceRecord { length: 0, ..late };
    let lost = |format: &str, records: &[TraceRecord]| {
        let mut writer = Writer::export(&path(&format!("lost.{format}")), format).unwrap();
        for record in records {
            writer.write(record).unwrap();
        }
        let lost = writer.lost();
        writer.finish().unwrap();
        lost
    };
    let msr = lost("msr", &[late, TraceRecord { latency_ns: 200, ..late }]);
    assert_eq!(msr.get("latencies_rounded_down"), Some(&1));
    let oracle = lost("oracle-general", &[late, empty]);
    assert_eq!((oracle.get("requests_left_out"), oracle.get("writes_become_accesses")), (Some(&1), Some(&1)));
}

#[test]
fn msr_has_one_epoch_and_rows_in_any_order() {
    let at = |ns: u64| TraceRecord { at: Nanos(ns), ..requests()[0] };
    let times = |records: &[TraceRecord]| {
        export("epoch.msr", "msr", records).map(|path| {
            let read = Records::open(&path, &Options::default()).unwrap();
            assert_eq!(read.format(), "msr");
            read.map(|row| row.unwrap().at.0).collect::<Vec<_>>()
        })
    };
    let from_1601: u64 = 11_644_473_600_000_000_000;
    // Since 1970, the second before the first; file times; and a time beyond 1917 as one since 1970.
    let dates = [at(1_700_000_000_000_000_000), at(1_699_999_999_000_000_000)];
    assert_eq!(times(&dates).unwrap(), dates.map(|row| row.at.0 + from_1601));
    let files = [at(12_816_637_200_306_162_900), at(12_816_637_200_000_000_000)];
    assert_eq!(times(&files).unwrap(), files.map(|row| row.at.0));
    for (rows, part) in [
        ([at(6_700_000_000_000_000_000), at(10_100_000_000_000_000_000)], "since 1970"),
        ([at(6_900_000_000_000_000_000), at(7_000_000_000_000_000_000)], "since 1970"),
        ([at(12_816_637_200_306_162_900), at(5)], "5 ns since 1601"),
    ] {
        let error = times(&rows).unwrap_err();
        assert!(error.contains(part) && error.contains("1917 to 2185"), "{error}");
    }
}
