//! The row for each request that `nandlab run --latencies` writes: is it what the trace says and what the report says?

mod common;

use std::fmt::Write as _;

use common::{TINY, file, json, nandlab, refusal, stderr, stdout, temporary};

const HEADER: &str = "request,time_ns,op,lba,sectors,pieces,recorded_ns,response_ns,device_ns";

/// Runs with `--latencies` and gives the rows back, without the header.
fn rows(name: &str, args: &[&str]) -> (Vec<Vec<String>>, String) {
    let target = temporary(name).to_str().unwrap().to_owned();
    let text = stdout(&[&["run", "--latencies", &target][..], args].concat());
    let written = std::fs::read_to_string(&target).unwrap();
    let mut lines = written.lines();
    assert_eq!(lines.next(), Some(HEADER));
    assert!(written.ends_with('\n'));
    (lines.map(|line| line.split(',').map(str::to_owned).collect()).collect(), text)
}

fn number(cell: &str) -> u64 {
    cell.parse().unwrap_or_else(|_| panic!("`{cell}` is no number"))
}

/// A trace with latencies of a recorded device; every fourth request has none.
fn recorded(name: &str) -> (String, Vec<[u64; 4]>) {
    let mut text = "time_ns,device,op,offset,length,latency_ns\n".to_owned();
    let mut requests = Vec::new();
    let mut state = 12_345_u64;
    for n in 0..9_000_u64 {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let (lba, sectors) = ((state >> 33) % 28_000, 1 + (state >> 50) % 64);
        let latency = if n % 4 == 3 { 0 } else { 50_000 + (state >> 40) % 1_000_000 };
        let op = if n % 3 == 0 { 'R' } else { 'W' };
        writeln!(text, "{},0,{op},{},{},{latency}", 5_000 + n * 100_000, lba * 512, sectors * 512).unwrap();
        requests.push([n * 100_000, lba, sectors, latency]);
    }
    (file(name, text), requests)
}

#[test]
fn rows_agree_with_the_trace_and_with_the_report() {
    let (trace, requests) = recorded("latencies_trace.csv");
    for (mode, buffer, ftl) in [("open", "lru", "dftl"), ("closed", "none", "page"), ("fast", "bplru", "fast")] {
        let name = format!("latencies_{mode}.csv");
        let args = [
            &trace,
            "--format",
            "nandlab",
            "-d",
            TINY,
            "--mode",
            mode,
            "--buffer",
            buffer,
            "--ftl",
            ftl,
            "--queue-depth",
            "8",
        ];
        let (rows, _) = rows(&name, &[&args[..], &["--settle", "none", "--quiet"]].concat());
        let report = json(&stdout(&[&["run"], &args[..], &["--settle", "none", "--json", "-"]].concat()));
        assert_eq!(rows.len(), requests.len());
        for (n, (row, [time, lba, sectors, latency])) in rows.iter().zip(&requests).enumerate() {
            let op = if n % 3 == 0 { "R" } else { "W" };
            let latency = if *latency == 0 { String::new() } else { latency.to_string() };
            let said = [(n + 1).to_string(), time.to_string(), op.into(), lba.to_string(), sectors.to_string()];
            assert_eq!(row[..5], said);
            assert_eq!(row[5..7], ["1".to_owned(), latency]);
        }
        let agree = |pick: &dyn Fn(&Vec<String>) -> bool, column: usize, said: &serde_json::Value| {
            let times: Vec<u64> = rows.iter().filter(|row| pick(row)).map(|row| number(&row[column])).collect();
            let mean = times.iter().sum::<u64>() as f64 / times.len() as f64;
            assert_eq!(said["count"], times.len(), "{mode}");
            assert_eq!(said["max_ns"], *times.iter().max().unwrap(), "{mode}");
            assert!((said["mean_ns"].as_f64().unwrap() - mean).abs() <= mean * 1e-12, "{mode}: {mean} {said}");
            let mut sorted = times;
            sorted.sort_unstable();
            let p95 = sorted[(sorted.len() * 95).div_ceil(100) - 1] as f64;
            let said = said["p95_ns"].as_f64().unwrap();
            assert!(said >= p95 && said <= p95 * 1.032, "{mode}: p95 {p95} {said}");
        };
        agree(&|_| true, 7, &report["response"]["all"]);
        agree(&|row| row[2] == "R", 7, &report["response"]["reads"]);
        agree(&|row| row[2] == "W", 7, &report["response"]["writes"]);
        agree(&|_| true, 8, &report["device_time"]);
    }
}

#[test]
fn rows_are_those_of_a_small_device_by_hand() {
    // A page read takes 75 + 12 us, a program 750 + 12 us, one after the other; pages of 4 KiB are 8 sectors.
    let trace = file(
        "latencies_by_hand.csv",
        "time_ns,device,op,offset,length,latency_ns\n\
         0,0,R,40960,4096,90000\n\
         10000,0,W,20480,4096,0\n\
         2000000,0,R,16384,8192,123\n\
         9000000,0,F,0,0,7\n",
    );
    let device = ["-d", TINY, "--buffer", "none", "--ftl", "page", "--set", "replay.time_scale=1"];
    let serial = [&trace, "--set", "device.timing.model=serial"];
    let run = |name, more: &[&str]| rows(name, &[&serial[..], &device, more].concat());
    let (rows, text) = run("latencies_by_hand_rows.csv", &[]);
    let rows: Vec<String> = rows.iter().map(|row| row.join(",")).collect();
    let by_hand = [
        "1,0,R,80,8,1,90000,87000,87000",
        "2,10000,W,40,8,1,,839000,839000",
        "3,2000000,R,32,16,1,123,174000,174000",
        "4,9000000,F,0,0,1,7,0,0",
    ];
    assert_eq!(rows, by_hand);
    for part in ["RECORDED", "simulated, response", "simulated, in the device", "90.00 us", "174.0 us"] {
        assert!(text.contains(part), "{part} in\n{text}");
    }
    assert!(text.lines().all(|line| line.chars().count() <= 100), "at most 100 columns:\n{text}");

    // Pages get numbers in order of first use: page 10 is 0, page 5 is 1, and page 4 is 2, so that the third request is
    // in two pieces, and in one row.
    let (rows, text) = run("latencies_pieces.csv", &["--address", "compact:page", "--mode", "fast"]);
    let rows: Vec<String> = rows.iter().map(|row| row.join(",")).collect();
    assert_eq!(rows[0], "1,0,R,0,8,1,90000,87000,87000");
    assert!(rows[1].starts_with("2,10000,W,8,8,1,,"), "{}", rows[1]);
    assert!(rows[2].starts_with("3,2000000,R,16,16,2,123,"), "{}", rows[2]);
    assert_eq!(rows.len(), 4);
    assert!(!text.contains("simulated, in the device"), "{text}");
}

#[test]
fn latencies_of_every_format_that_has_them_reach_the_rows() {
    // Response times in 100 ns; the rows lie on disk 3.
    let fixture = concat!(env!("CARGO_MANIFEST_DIR"), "/../trace/tests/fixtures/msr.csv");
    let (rows, _) = rows("latencies_msr.csv", &[fixture, "--address", "modulo"]);
    let recorded: Vec<&str> = rows.iter().map(|row| row[6].as_str()).collect();
    assert_eq!(recorded, ["81200", "9300", "4000", "4100"]);
}

#[test]
fn trace_without_latencies_leaves_them_out() {
    let (rows, text) = rows("latencies_none.csv", &["make:zipf", "--address", "modulo", "--limit", "5000", "-d", TINY]);
    assert_eq!(rows.len(), 5_000);
    assert!(rows.iter().all(|row| row[6].is_empty()));
    assert!(!text.contains("RECORDED"), "{text}");
}

#[test]
fn target_that_cannot_be_written_fails_before_the_run() {
    for (target, code, help) in
        [("/nowhere/at/all/rows.csv", 1, "help:"), ("/", 1, "help:"), ("rows.xz", 2, ".zst or .gz")]
    {
        let output = nandlab(&["run", "--limit", "2000", "-d", TINY, "--latencies", target]);
        assert_eq!(output.status.code(), Some(code), "{target}: {}", stderr(&output));
        assert!(stderr(&output).contains(target) && stderr(&output).contains(help), "{}", stderr(&output));
        assert!(output.stdout.is_empty());
    }
    if std::path::Path::new("/dev/full").exists() {
        let output = nandlab(&["run", "--limit", "20000", "-d", TINY, "--latencies", "/dev/full"]);
        assert_eq!(output.status.code(), Some(1));
        assert!(stderr(&output).contains("/dev/full") && output.stdout.is_empty(), "{}", stderr(&output));
    }
    for more in [&["--latencies", "-"][..], &["--latencies", "rows.csv", "--volumes", "separate"]] {
        let said = refusal(&[&["run", "--limit", "2000", "-d", TINY][..], more].concat());
        assert!(said.contains("--latencies") && said.contains("help:"), "{said}");
    }
}

#[test]
fn failed_run_leaves_the_old_file() {
    let old = file("latencies_old.csv", "old");
    let trace = file("latencies_bad.csv", "time_ns,device,op,offset,length\n0,0,R,0,4096\n1,0,X,0,4096\n");
    let output = nandlab(&["run", &trace, "-d", TINY, "--latencies", &old]);
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    assert_eq!(std::fs::read_to_string(&old).unwrap(), "old");
}
