//! Text is parsed many lines at a time: can that be seen?
mod common;

use std::io::{Cursor, Read};

use common::{format, read};
use nandlab_trace::{FileOrder, Options, Place, Records, Trace, TraceRecord};

/// Gives at most that many bytes at a time.
struct Pieces(Cursor<Vec<u8>>, usize);

impl Read for Pieces {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        let most = out.len().min(self.1);
        self.0.read(&mut out[..most])
    }
}

/// Each row with its place, and how it ended.
fn rows(bytes: &[u8], piece: usize, options: &Options) -> (Vec<(TraceRecord, Place)>, String) {
    let mut rows = Vec::new();
    let mut records = match Records::from_reader("test", Pieces(Cursor::new(bytes.to_vec()), piece), options) {
        Ok(records) => records,
        Err(error) => return (rows, error.to_string()),
    };
    loop {
        match records.next() {
            Some(Ok(record)) => rows.push((record, records.place())),
            Some(Err(error)) => return (rows, error.to_string()),
            None => return (rows, "the end".to_owned()),
        }
    }
}

/// Good rows, with the row of this number (counted from 1) replaced.
fn trace(count: u64, number: u64, row: &str) -> String {
    let good = |i| format!("0,{},512,w,{i}\n", 8 * i);
    (1..=count).map(|i| if i == number { format!("{row}\n") } else { good(i) }).collect()
}

#[test]
fn pieces_in_which_a_trace_arrives_make_no_difference() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures");
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    for path in paths {
        let bytes = std::fs::read(&path).unwrap();
        for options in
            ["spc", "msr", "disksim", "blkparse", "fio", "nandlab"].map(format).into_iter().chain([Options::default()])
        {
            for skip_bad in [None, Some(1_000)] {
                let options = Options { skip_bad, ..options.clone() };
                let whole = rows(&bytes, usize::MAX, &options);
                for piece in [1, 61] {
                    assert_eq!(whole, rows(&bytes, piece, &options), "{} in pieces of {piece}", path.display());
                }
            }
        }
    }
}

/// Rows before, in and after the first runs, on both sides of their borders.
#[test]
fn every_row_has_its_own_line_wherever_a_run_ends() {
    for number in [1, 2, 255, 256, 257, 258, 512, 513, 600] {
        for (row, bad) in [("", false), ("   ", false), ("# comment", true), ("0,1,512,x,1", true)] {
            let options = Options { skip_bad: Some(1), ..format("spc") };
            let (got, _) = rows(trace(600, number, row).as_bytes(), usize::MAX, &options);
            let expected: Vec<_> = (1..=600).filter(|i| *i != number).map(|i| (8 * i, Place::Line(i))).collect();
            let got: Vec<_> = got.into_iter().map(|(record, place)| (record.lba(), place)).collect();
            assert_eq!(got, expected, "`{row}` in line {number}");
            let report = read(trace(600, number, row).as_bytes(), &options).unwrap().1;
            assert_eq!((report.records, report.bad_rows), (599, u64::from(bad)), "`{row}` in line {number}");
        }
        let (got, end) = rows(trace(600, number, "0,1,512,x,1").as_bytes(), usize::MAX, &format("spc"));
        assert_eq!(got.len() as u64, number - 1);
        assert!(end.contains(&format!("line {number}: Opcode `x`")), "{end}");
    }
}

#[test]
fn bad_row_after_the_limit_is_left_alone() {
    let text = trace(20, 11, "what is this");
    let options = |skip_bad| Options { limit: Some(10), skip_bad, ..format("spc") };
    for skip_bad in [None, Some(1)] {
        let (requests, report) = read(text.as_bytes(), &options(skip_bad)).unwrap();
        assert_eq!((requests.len(), report.records, report.bad_rows, report.other_rows), (10, 10, 0, 0));
    }
    let more = Options { limit: Some(11), ..options(Some(1)) };
    let report = read(text.as_bytes(), &more).unwrap().1;
    assert_eq!((report.records, report.bad_rows), (11, 1));
}

#[test]
fn comment_is_applied_in_its_turn_only() {
    let step = |tool: &str| format!("# {{\"tool\": \"{tool}\", \"version\": \"1\"}}\n");
    let columns = "time_ns,device,op,offset,length\n";
    let text = format!("# nandlab trace 1\n{}{columns}0,0,R,0,512\n1,0,R,0,512\n{}", step("before"), step("after"));
    let mut records = Records::from_reader("test", Cursor::new(text), &Options::default()).unwrap();
    let tool = |records: &Records| records.steps().iter().map(|step| step.tool.clone()).collect::<Vec<_>>();
    for _ in 0..2 {
        records.next().unwrap().unwrap();
        assert_eq!(tool(&records), ["before"]);
    }
    assert!(records.next().is_none());
    assert_eq!(tool(&records), ["after"]);
}

/// The hosts of MSR traces are numbered in order of appearance: in the merged trace, not in the first file.
#[test]
fn hosts_are_numbered_in_the_order_of_the_merged_rows() {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("lines");
    std::fs::create_dir_all(&folder).unwrap();
    let row = |host, time| format!("{},{host},0,Write,0,512,0\n", 128_166_372_000_000_000_u64 + time);
    let files = [("one", row("a", 1) + &row("b", 4)), ("two", row("c", 2) + &row("d", 3))];
    let paths = files.map(|(name, text)| {
        let path = folder.join(name);
        std::fs::write(&path, text).unwrap();
        path.into_os_string().into_string().unwrap()
    });
    let options = Options { files: Some(FileOrder::Merge), ..format("msr") };
    let devices: Vec<_> = Records::open_all(&paths, &options).unwrap().map(|row| row.unwrap().device >> 16).collect();
    assert_eq!(devices, [0, 1, 3, 2]);
    assert_eq!(Trace::devices(&paths, &options).unwrap().len(), 4);
}
