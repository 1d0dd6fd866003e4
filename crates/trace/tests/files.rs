//! Are several files one trace, in every way that can be asked for?
mod common;

use std::path::PathBuf;

use common::{drain, plain};
use nandlab_trace::{AddressPolicy, Extra, FileOrder, Options, Records, Trace, TraceError, Volumes, check_up, expand};

/// Writes files into a folder of their own; returns their paths in the order given.
fn files(folder: &str, contents: &[(&str, &str)]) -> Vec<String> {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(folder);
    std::fs::create_dir_all(&folder).unwrap();
    let write = |(name, content): &(&str, &str)| {
        let path = folder.join(name);
        std::fs::write(&path, content).unwrap();
        path.to_str().unwrap().to_owned()
    };
    contents.iter().map(write).collect()
}

fn order(order: FileOrder) -> Options {
    Options { files: Some(order), volumes: Volumes::Merge, ..Options::default() }
}

fn lbas(paths: &[String], options: &Options) -> Vec<u64> {
    let (requests, _) = drain(Trace::open_all(paths, options).unwrap()).unwrap();
    requests.iter().map(|request| request.lba).collect()
}

#[test]
fn patterns_are_expanded_in_natural_order_and_paths_left_as_they_are() {
    let paths = files("glob", &[("x.10", "a"), ("x.9", "a"), ("x.1", "a"), ("y[1]", "a")]);
    let pattern = paths[0].replace("x.10", "x.*");
    let found = expand(&[paths[3].clone(), pattern, "-".to_owned(), "absent".to_owned()]).unwrap();
    assert_eq!(found, [&paths[3], &paths[2], &paths[1], &paths[0], "-", "absent"]);
    let none = paths[0].replace("x.10", "z*");
    assert!(expand(&[none]).unwrap_err().to_string().contains("no file matches"));
    assert!(expand(&["a[".to_owned()]).unwrap_err().to_string().contains("this is not a pattern"));
}

#[test]
fn files_are_read_one_after_the_other_or_merged_or_as_devices() {
    let paths = files(
        "orders",
        &[
            ("a", "0,10,512,w,1\n0,20,512,w,3\n"),
            ("empty", ""),
            ("b", "0,30,512,w,2\n0,40,512,w,3"),
            ("c", "0,50,512,w,0.5\n"),
        ],
    );
    assert_eq!(lbas(&paths, &Options::default()), [10, 20, 30, 40, 50]);
    assert_eq!(lbas(&paths, &order(FileOrder::Sequence)), [10, 20, 30, 40, 50]);
    // Of equal times the first file comes first.
    assert_eq!(lbas(&paths, &order(FileOrder::Merge)), [50, 10, 30, 20, 40]);
    let devices = |paths: &[String], options: &Options| -> Vec<_> {
        Records::open_all(paths, options).unwrap().map(|record| record.map(|r| (r.device, r.lba())).unwrap()).collect()
    };
    let numbered = devices(&paths, &order(FileOrder::Devices));
    assert_eq!(numbered, [(3, 50), (0, 10), (2, 30), (0, 20), (2, 40)]);
    let stacked = Options { volumes: Volumes::Stack, ..order(FileOrder::Devices) };
    assert_eq!(lbas(&paths, &stacked), [24 + 48 + 50, 10, 24 + 30, 20, 24 + 40]);
    let compact = Options { address: AddressPolicy::Compact { unit_sectors: 8 }, ..stacked };
    assert_eq!(lbas(&paths, &compact), [2, 8 + 2, 16 + 6, 24 + 4, 32]);
    let list = Trace::devices(&paths, &order(FileOrder::Devices)).unwrap();
    assert_eq!(list.iter().map(|d| (d.device, d.requests)).collect::<Vec<_>>(), [(0, 2), (2, 2), (3, 1)]);
}

#[test]
fn format_suggests_how_files_are_put_together() {
    let of = |folder: &str, contents: &[(&str, &str)]| {
        Records::open_all(&files(folder, contents), &Options::default()).unwrap().order()
    };
    let row = |disk: u32, host: &str| format!("128200000000000000,{host},{disk},Write,512,512,0\n");
    assert_eq!(of("suggest-msr", &[("a", &row(0, "hm")), ("b", &row(1, "hm"))]), FileOrder::Devices);
    assert_eq!(of("suggest-spc", &[("a", "0,1,512,w,1\n"), ("b", "0,1,512,w,1\n")]), FileOrder::Sequence);
    // Hosts keep their numbers across files.
    let paths = files("hosts", &[("a", &row(0, "hm")), ("b", &row(0, "usr")), ("c", &row(0, "hm"))]);
    let records = Records::open_all(&paths, &order(FileOrder::Sequence)).unwrap();
    assert_eq!(records.map(|r| r.unwrap().device).collect::<Vec<_>>(), [0, 65_536, 0]);
}

#[test]
fn blktrace_files_of_several_cpus_are_merged_without_asking() {
    let paths = expand(&[common::fixture("blktrace.*")]).unwrap();
    let records = Records::open_all(&paths, &Options::default()).unwrap();
    assert_eq!((records.format(), records.order()), ("blktrace", FileOrder::Merge));
    assert_eq!(records.map(|record| record.unwrap().at.0).collect::<Vec<_>>(), [30, 40, 50, 60]);
}

#[test]
fn errors_name_the_file_and_the_line() {
    let paths =
        files("errors", &[("a", "0,10,512,w,1\n"), ("b", "0,30,512,w,2\n0,x,512,w,3\n"), ("c", "1,5,512,w,9\n")]);
    for order in [FileOrder::Sequence, FileOrder::Merge, FileOrder::Devices] {
        let error = drain(Trace::open_all(&paths, &self::order(order)).unwrap()).unwrap_err().to_string();
        assert!(error.contains(&format!("{}: line 2: LBA", paths[1])), "{order:?}: {error}");
        let lenient = Options { skip_bad: Some(1), volumes: Volumes::Reject, ..self::order(order) };
        let result = drain(Trace::open_all(&paths, &lenient).unwrap());
        let error = result.unwrap_err().to_string();
        let (place, devices) = (format!("{}: line 1: device ", paths[2]), order == FileOrder::Devices);
        assert!(error.contains(&place) || devices && error.contains(&paths[1]), "{order:?}: {error}");
        let (_, report) =
            drain(Trace::open_all(&paths, &Options { volumes: Volumes::Merge, ..lenient }).unwrap()).unwrap();
        assert_eq!(report.bad_rows, 1);
        assert!(report.first_bad.unwrap().starts_with(&format!("{}: line 2: LBA", paths[1])));
    }
}

#[test]
fn bad_rows_are_counted_over_all_files() {
    let paths = files("bad", &[("a", "0,1,512,w,1\nx\n"), ("b", "0,1,512,w,1\nx\n")]);
    for order in [FileOrder::Sequence, FileOrder::Merge] {
        let allow = |n| Options { skip_bad: Some(n), format: Some("spc".to_owned()), ..self::order(order) };
        let error = drain(Trace::open_all(&paths, &allow(1)).unwrap()).unwrap_err();
        assert!(matches!(error, TraceError::TooManyBad { allowed: 1, .. }), "{error}");
        assert_eq!(drain(Trace::open_all(&paths, &allow(2)).unwrap()).unwrap().1.bad_rows, 2);
    }
}

#[test]
fn files_that_cannot_be_one_trace_are_refused() {
    let paths =
        files("refused", &[("a.spc", "0,1,512,w,1\n1,1,512,w,1\n"), ("b.lirs", "5\n6\n"), ("e", ""), ("f", "")]);
    let fails = |paths: &[String], options: &Options| match Trace::open_all(paths, options) {
        Ok(trace) => drain(trace).unwrap_err().to_string(),
        Err(error) => error.to_string(),
    };
    let error = fails(&paths[..2], &Options { volumes: Volumes::Merge, ..Options::default() });
    assert!(error.contains("b.lirs: this file is lirs, but the first file of the trace is spc"), "{error}");
    let error = fails(&[paths[0].clone(), paths[0].clone()], &order(FileOrder::Devices));
    assert!(error.contains("line 2: device 1 appears after device 0 in one file"), "{error}");
    assert!(fails(&paths[2..], &Options::default()).contains("holds no data"));
    assert!(fails(&["-".to_owned(), "-".to_owned()], &Options::default()).contains("standard input is named more"));
    assert!(fails(&[paths[0].clone(), "absent".to_owned()], &Options::default()).contains("absent: cannot be opened"));
    assert!(fails(&[], &Options::default()).contains("no trace is named"));
}

#[test]
fn file_that_could_be_two_formats_is_read_as_the_first_one() {
    // Alone, the second could be disksim or flashsim.
    let paths = files("alike", &[("a", "0.5 0 8 8 1\n0.7 0 8 8 80\n"), ("b", "0.9 0 16 8 1\n1.5 0 24 8 0\n")]);
    assert_eq!(lbas(&paths, &Options::default()), [8, 8, 16, 24]);
    let trace = Trace::open_all(&paths, &Options::default()).unwrap();
    assert_eq!((trace.records().format(), trace.records().name()), ("disksim", format!("{}, {}", paths[0], paths[1])));
    let (requests, _) = drain(trace).unwrap();
    assert_eq!(plain(&requests)[3], (1_000_000, 'W', 24, 8));
}

#[test]
fn parts_of_one_volume_are_one_device() {
    let row = |time: u64, disk: u32| format!("12820000000000000{time},hm,{disk},Write,{},512,1\n", time * 512);
    let parts = files("parts", &[("a", &(row(0, 1) + &row(5, 1))), ("b", &(row(2, 1) + &row(7, 1)))]);
    let (requests, report) = drain(Trace::open_all(&parts, &Options::default()).unwrap()).unwrap();
    assert_eq!(requests.iter().map(|request| request.lba).collect::<Vec<_>>(), [0, 2, 5, 7]);
    assert_eq!(report.devices.iter().map(|device| device.device).collect::<Vec<_>>(), [1]);
    // Asked for, each file is a device.
    let options = Options { files: Some(FileOrder::Devices), ..Options::default() };
    assert!(matches!(drain(Trace::open_all(&parts, &options).unwrap()), Err(TraceError::SecondDevice { .. })));
}

#[test]
fn trace_of_one_time_has_no_gaps() {
    for rows in ["0,8,512,w,1.5\n", "0,8,512,w,0\n0,16,512,w,0\n"] {
        let checked = check_up(&files("one-time", &[("a.spc", rows)]), &Options::default(), u64::MAX).unwrap();
        assert!(checked.findings.iter().all(|finding| finding.topic != "order"), "{:?}", checked.findings);
    }
    let gap = files("one-gap", &[("a.spc", "0,8,512,w,0\n0,16,512,w,1000\n")]);
    let checked = check_up(&gap, &Options::default(), u64::MAX).unwrap();
    assert!(checked.findings.iter().any(|finding| finding.text.starts_with("100 % of the time lies in gaps")));
}

#[test]
fn files_that_hold_nothing_are_named() {
    let found = |contents: &[(&str, &str)], order: FileOrder| {
        let checked = check_up(&files("nothing", contents), &self::order(order), u64::MAX).unwrap();
        let text = checked.findings.into_iter().find(|finding| finding.topic == "files").map(|finding| finding.text);
        text.map(|text| text.matches(".spc").count())
    };
    let row = "0,8,512,w,1.5\n";
    for order in [FileOrder::Sequence, FileOrder::Merge, FileOrder::Devices] {
        assert_eq!(found(&[("a.spc", row), ("b.spc", ""), ("c.spc", row)], order), Some(1), "{order:?}");
        assert_eq!(found(&[("a.spc", ""), ("b.spc", row), ("c.spc", "")], order), Some(2), "{order:?}");
        assert_eq!(found(&[("a.spc", row), ("b.spc", row)], order), None, "{order:?}");
    }
}

#[test]
fn end_without_line_break_is_found_where_it_may_be_a_cut() {
    let found = |contents: &[(&str, &str)], order: FileOrder| {
        let checked = check_up(&files("ends", contents), &self::order(order), u64::MAX).unwrap();
        let mut ends = checked.findings.into_iter().filter(|finding| finding.topic == "end");
        let end = ends.next().inspect(|end| assert!(end.warning && end.options.is_empty()));
        assert!(ends.next().is_none());
        end.map(|end| end.text)
    };
    let (whole, cut) = ("0,8,512,w,1.5\n0,16,512,w,2.5\n", "0,8,512,w,1.5\n0,16,512,w,2");
    // What follows the last request may be cut: no request is another for it.
    let sound = [whole, "0,8,512,w,1.5\r\n0,16,512,w,2.5\r\n", "0,8,512,w,1.5\n0,16,512,w,2.5\n  "];
    for sound in sound {
        assert_eq!(found(&[("a.spc", sound)], FileOrder::Sequence), None, "{sound:?}");
    }
    let text = found(&[("a.spc", cut)], FileOrder::Sequence).unwrap();
    assert!(text.starts_with("line 2, the last, does not end with a line break: "), "{text}");
    for order in [FileOrder::Sequence, FileOrder::Merge, FileOrder::Devices] {
        let text = found(&[("a.spc", whole), ("b.spc", cut), ("c.spc", cut)], order).unwrap();
        assert!(text.contains("b.spc: line 2, the last,") && text.contains("(nor does 1 other file)"), "{text}");
        let text = found(&[("b.spc", cut), ("c.spc", cut), ("d.spc", cut)], order).unwrap();
        assert!(text.contains("(nor do 2 other files)"), "{text}");
    }
    // Who does not come to the end does not see it.
    let report = |limit| {
        let options = Options { limit, ..Options::default() };
        drain(Trace::open_all(&files("ends", &[("a.spc", cut)]), &options).unwrap()).unwrap().1
    };
    assert!(report(None).open_end.is_some() && report(Some(1)).open_end.is_none());
}

#[test]
fn files_of_our_own_have_the_columns_that_their_beginnings_name() {
    let header = "# nandlab trace 1\ntime_ns,device,op,offset,length";
    let plain = format!("{header}\n0,0,R,0,512\n");
    let with = format!("{header},latency_ns\n0,0,R,0,512,7\n");
    let paths = files("columns", &[("a.csv", &plain), ("b.csv", &plain), ("c.csv", &with)]);
    let extra = |paths: &[String]| nandlab_trace::Records::open_all(paths, &Options::default()).unwrap().extra();
    assert_eq!(extra(&paths[..2]), Extra::NONE);
    assert_eq!(extra(&paths), Extra::LATENCY);
}
