//! Ctrl-C and the like: what was finished is printed, nothing incomplete is left, and the exit code says so.
#![cfg(unix)]

mod common;

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use common::{TINY, command, folder, json};

fn files(folder: &Path) -> Vec<String> {
    std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

/// 200 buffers that are alike.
fn buffers() -> String {
    (1..=200).map(|small| format!("s3-fifo:small=0.{small:03}")).collect::<Vec<_>>().join(",")
}

fn start(args: &[&str]) -> Child {
    command(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

fn signal(child: &Child, name: &str) {
    assert!(Command::new("kill").args([name, &child.id().to_string()]).status().unwrap().success());
}

/// Waits until something holds; what takes a minute never happens.
fn until(what: &str, mut holds: impl FnMut() -> bool) {
    for _ in 0..6000 {
        if holds() {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("{what}");
}

/// What is left of its output, and how it ended.
fn end(mut child: Child) -> (String, String, ExitStatus) {
    let (mut stdout, mut stderr) = (String::new(), String::new());
    if let Some(mut pipe) = child.stdout.take() {
        pipe.read_to_string(&mut stdout).unwrap();
    }
    child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
    (stdout, stderr, child.wait().unwrap())
}

#[test]
fn rows_that_are_done_are_printed_and_written() {
    let folder = folder("interrupted-compare");
    let result = folder.join("result.json");
    let buffers = buffers();
    let args = ["compare", "--device", TINY, "--buffers", &buffers, "--ftls", "page", "-n", "50000", "--threads", "2"];
    let mut child = start(&[&args[..], &["--csv", "--json", result.to_str().unwrap()]].concat());
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    // The heading and one row: then the next ones are at work.
    assert!(lines.next().unwrap().unwrap().starts_with("buffer,ftl,status"));
    assert!(lines.next().unwrap().unwrap().starts_with("s3-fifo:small=0.001,page,ok"));
    signal(&child, "-INT");
    let rows = 1 + lines.map(Result::unwrap).inspect(|line| assert!(line.contains(",page,ok"), "{line}")).count();
    let (_, stderr, status) = end(child);
    assert_eq!(status.code(), Some(130), "{stderr}");
    assert_eq!(stderr, format!("interrupted: {rows} of 200 rows are done\n"));
    assert!(rows < 200);
    assert_eq!(files(&folder), ["result.json"]);
    let result = json(&std::fs::read_to_string(result).unwrap());
    assert_eq!((&result["interrupted"], result["rows"].as_array().unwrap().len()), (&true.into(), rows));
}

#[test]
fn preconditioning_ends_at_once() {
    let args = ["compare", "-d", "sata-qlc", "-b", "lru,fifo", "-f", "page", "-n", "100", "--threads", "1"];
    let child = start(&[&args[..], &["--precondition", "steady:1000"]].concat());
    std::thread::sleep(Duration::from_millis(700));
    signal(&child, "-INT");
    let (_, stderr, status) = end(child);
    // A process that does not end within 5 s is ended, and says nothing.
    assert_eq!((status.code(), stderr.as_str()), (Some(130), "interrupted: 0 of 2 rows are done\n"));
}

#[test]
fn points_of_curves_that_are_done_are_printed() {
    let args = ["curve", "--device", TINY, "--ftl", "page", "--ram", "64KiB..1MiB", "--points", "500", "-n", "20000"];
    let mut child = start(&[&args[..], &["--csv"]].concat());
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(lines.next().unwrap().unwrap().starts_with("buffer,ram_bytes"));
    assert!(lines.next().unwrap().unwrap().starts_with("lru,65536"));
    signal(&child, "-TERM");
    let rows = 1 + lines.count();
    let (_, stderr, status) = end(child);
    assert_eq!(status.code(), Some(143), "{stderr}");
    assert!(
        stderr.starts_with(&format!("interrupted: {rows} of ")) && stderr.ends_with(" points are done\n"),
        "{stderr}"
    );
}

#[test]
fn traces_that_are_measured_are_printed() {
    let names = ["make:oltp"; 1000];
    let child = start(&[&["trace", "info", "--csv", "-n", "20000"], &names[..]].concat());
    std::thread::sleep(Duration::from_millis(700));
    signal(&child, "-INT");
    let (stdout, stderr, status) = end(child);
    assert_eq!(status.code(), Some(130), "{stderr}");
    let rows = stdout.lines().count().saturating_sub(1);
    assert_eq!(stderr, format!("interrupted: {rows} of 1000 traces are done\n"));
}

#[test]
fn incomplete_files_are_not_left_behind() {
    let folder = folder("interrupted-files");
    let target = folder.join("out.txt");
    let target = target.to_str().unwrap();
    for tool in ["make oltp -n 9000000000 -o", "convert make:oltp -n 9000000000 -o", "cut make:oltp -n 9000000000 -o"] {
        let words: Vec<&str> = ["trace"].into_iter().chain(tool.split(' ')).chain([target]).collect();
        let child = start(&words);
        until("the tool begins a file", || !files(&folder).is_empty());
        signal(&child, "-INT");
        let (stdout, stderr, status) = end(child);
        assert_eq!((status.code(), stdout.as_str(), stderr.as_str()), (Some(130), "", "interrupted\n"), "{tool}");
        assert_eq!(files(&folder), Vec::<String>::new(), "{tool}");
    }
}

#[test]
fn second_signal_ends_a_wait_at_once() {
    let folder = folder("interrupted-twice");
    let target = folder.join("out.txt");
    // The writer is there, and silent: the tool waits for rows.
    let mut silent = Command::new("sleep").arg("600").stdout(Stdio::piped()).spawn().unwrap();
    let mut tool =
        command(&["trace", "merge", "-", "make:oltp", "--format", "nandlab", "-o", target.to_str().unwrap()]);
    let child =
        tool.stdin(silent.stdout.take().unwrap()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(300));
    let started = std::fs::metadata(&folder).unwrap().modified().unwrap();
    signal(&child, "-INT");
    std::thread::sleep(Duration::from_millis(100));
    signal(&child, "-INT");
    let (_, _, status) = end(child);
    assert_eq!(status.code(), Some(130));
    assert!(started.elapsed().unwrap() < Duration::from_secs(5), "it was not the second signal that ended it");
    assert_eq!(files(&folder), Vec::<String>::new());
    silent.kill().unwrap();
    silent.wait().unwrap();
}

#[test]
fn closed_reader_ends_the_command_quietly() {
    let buffers = buffers();
    let args = ["compare", "--device", TINY, "--buffers", &buffers, "--ftls", "page", "-n", "20000"];
    let mut child = start(&args);
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(lines.next().unwrap().unwrap().contains("oltp"));
    drop(lines);
    let (_, stderr, status) = end(child);
    assert_eq!((status.code(), stderr.as_str()), (Some(0), ""));
}

#[test]
#[cfg(target_os = "linux")]
fn full_disk_behind_standard_output_is_reported() {
    for args in ["list buffers", "compare --buffers lru --ftls page -n 100", "trace make oltp -n 100", "run -n 100"] {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let words: Vec<&str> = args.split(' ').collect();
        let output = command(&words).stdout(full).stderr(Stdio::piped()).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{args}: {said}");
        assert!(said.contains("No space left"), "{args}: {said}");
        assert_eq!(said.matches("error:").count(), 1, "{args}: {said}");
    }
}

#[test]
fn lost_terminal_leaves_no_file_unless_it_is_ignored() {
    let folder = folder("interrupted-hangup");
    let target = folder.join("out.txt");
    let args = ["trace", "make", "oltp", "-n", "9000000000", "-o", target.to_str().unwrap()];
    // Tests that run under `nohup` start programs that ignore it.
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).unwrap().trim();
    if u64::from_str_radix(ignored, 16).unwrap() & 1 == 0 {
        let child = start(&args);
        until("the tool begins a file", || !files(&folder).is_empty());
        signal(&child, "-HUP");
        let (_, stderr, status) = end(child);
        assert_eq!((status.code(), stderr.as_str()), (Some(129), "interrupted\n"));
        assert_eq!(files(&folder), Vec::<String>::new());
    }
    let mut ignoring = Command::new("nohup");
    ignoring.arg(env!("CARGO_BIN_EXE_nandlab")).args(args).stdin(Stdio::null());
    let child = ignoring.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    until("the tool begins a file", || !files(&folder).is_empty());
    signal(&child, "-HUP");
    std::thread::sleep(Duration::from_millis(200));
    assert_eq!(files(&folder).len(), 1);
    signal(&child, "-TERM");
    assert_eq!(end(child).2.code(), Some(143));
}

#[test]
fn file_that_may_not_grow_is_an_error_of_writing() {
    let folder = folder("interrupted-limit");
    let line = format!("ulimit -f 64; exec '{}' trace make oltp -n 100000 -o out.txt", env!("CARGO_BIN_EXE_nandlab"));
    let output = Command::new("bash").args(["-c", &line]).current_dir(&folder).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("out.txt: cannot be written: File too large"), "{said}");
    assert_eq!(files(&folder), Vec::<String>::new());
}
