//! Traces of unknown origin, as a new user meets them: each runs, or runs with the command that the message suggests,
//! or the message is right. The fixtures have the form of other tools' documentation, with invented numbers.

mod common;

use common::{TINY, file, json, nandlab, refusal, stderr};

/// Path of a fixture of the readers.
fn fixture(name: &str) -> String {
    format!("{}/../trace/tests/fixtures/{name}", env!("CARGO_MANIFEST_DIR"))
}

/// Runs a line that nandlab suggested, with the small device added; the report.
fn suggested(line: &str) -> serde_json::Value {
    let program = line.strip_prefix("nandlab ").unwrap_or_else(|| panic!("`{line}` is not a command line"));
    let shell = format!("'{}' {program} --json - --no-wall", env!("CARGO_BIN_EXE_nandlab"));
    let output = std::process::Command::new("sh").args(["-c", &shell]).output().expect("there is a shell");
    assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
    json(&output.stdout)
}

/// The line after a marker.
fn after<'a>(text: &'a str, marker: &str) -> Option<&'a str> {
    text.lines().find_map(|line| line.trim_start().strip_prefix(marker)).map(str::trim)
}

/// Fixture, requests of the replay, what the first use says.
const UNKNOWN: [(&str, u64, &str); 13] = [
    ("unknown_fio.iolog", 3, "device 1 appears after device 0"),
    ("unknown_blktrace_queued.txt", 3, "no event D"),
    ("unknown_ycsb.csv", 4, ""),
    ("unknown_alibaba_header.csv", 2, "beyond the capacity"),
    ("unknown_tencent_header.csv", 3, "beyond the capacity"),
    ("unknown_semicolons.csv", 3, ""),
    ("unknown_hex.txt", 4, "1:0.001000 2:1204 3:W 4:0x00100000 5:4096"),
    ("unknown_epoch.csv", 4, ""),
    ("unknown_filetime.csv", 3, ""),
    ("unknown_dates.csv", 3, "--columns time=1:date,op=2,offset=3,size=4"),
    ("unknown_microseconds.trace", 400, "as microseconds they would be"),
    ("systor_blank.csv", 2, "2 rows (50.00 %) do not say what was asked for"),
    ("five.oracleGeneral", 5, ""),
];

#[test]
fn unknown_traces_run_with_the_command_that_the_message_suggests() {
    for (name, requests, says) in UNKNOWN {
        let output = nandlab(&["run", &fixture(name), "--device", TINY, "--no-wall", "--json", "-"]);
        let said = stderr(&output);
        assert!(said.contains(says), "{name}: `{says}` is not in: {said}");
        let report = match after(&said, "try: ") {
            Some(line) => suggested(&line.replace(" --json -", "").replace(" --no-wall", "")),
            None if !output.status.success() => panic!("{name}: {said}"),
            None => json(&output.stdout),
        };
        assert_eq!(report["requests"]["total"], requests, "{name}");
    }
}

/// The error of the first simulation stops the others, and not the search for what would work.
#[test]
fn error_of_one_of_several_simulations_ends_with_a_command_too() {
    let path = fixture("unknown_alibaba_header.csv");
    for command in
        [&["compare", &path, "--buffers", "lru,fifo"][..], &["curve", &path, "--buffers", "lru", "--ftl", "page"]]
    {
        let said = stderr(&nandlab(&[command, &["--device", TINY, "--json", "-"]].concat()));
        assert!(said.contains("beyond the capacity"), "{said}");
        let line = after(&said, "try: ").unwrap_or_else(|| panic!("{command:?}: {said}"));
        let words: Vec<&str> = line.split(' ').skip(1).collect();
        let output = nandlab(&words);
        assert!(output.status.success(), "{line}: {}", stderr(&output));
    }
}

#[test]
fn info_ends_with_a_command_that_runs() {
    // On the default device, which takes its time to be built.
    for (name, requests, _) in [UNKNOWN[0], UNKNOWN[10]] {
        let output = nandlab(&["trace", "info", &fixture(name)]);
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let text = match after(&stderr(&output), "try: ") {
            None => text,
            // Reading itself needs a word; what it suggests is `info` again.
            Some(line) => {
                let shell = line.replacen("nandlab", &format!("'{}'", env!("CARGO_BIN_EXE_nandlab")), 1);
                let output = std::process::Command::new("sh").args(["-c", &shell]).output().expect("there is a shell");
                String::from_utf8_lossy(&output.stdout).into_owned()
            }
        };
        let line = text.lines().skip_while(|line| *line != "TO RUN IT").nth(1).map(str::trim);
        let line = line.unwrap_or_else(|| panic!("{name}: {text}{}", stderr(&output)));
        let report = suggested(line);
        assert_eq!(report["requests"]["total"], requests, "{name}: {line}");
    }
}

#[test]
fn text_that_is_no_trace_is_reported_as_such() {
    let said = refusal(&["run", &fixture("unknown_iostat.txt"), "--device", TINY]);
    assert!(said.contains("I do not recognise this trace") && said.contains("1:nvme0n1 2:12.34"), "{said}");
    assert!(said.contains("nandlab describe columns") && !said.contains("try: "), "{said}");
}

#[test]
fn file_without_the_header_of_the_named_format_is_refused_at_once() {
    let hello = file("hello.txt", "hello world\n");
    let said = refusal(&["run", &hello, "--format", "hpsrt", "--quiet"]);
    assert!(said.contains("hello.txt: byte 0: header") && !said.contains("try: "), "{said}");
    let said = stderr(&nandlab(&["run", &fixture("spc.spc"), "--format", "hpsrt", "--device", TINY]));
    let line = after(&said, "try: ").unwrap_or_else(|| panic!("{said}"));
    assert!(!line.contains("--format"), "{line}");
    suggested(line);
}

#[test]
fn text_that_was_named_binary_is_read_as_what_it_is() {
    let rows = |row: fn(u32) -> String| (0..400).map(row).collect::<String>();
    // Digits make sizes that are believed: no row is bad here, and hardly one there.
    let digits = rows(|n| format!("{} 0 {} 8 {}\n", n * 1_000_000, n * 37 % 900 * 8, n % 2));
    let letters = rows(|n| format!("0,{},4096,w,{n}.5\n", n * 37 % 900 * 8));
    for (name, text) in [("digits.ascii", digits), ("letters.spc", letters)] {
        let said = stderr(&nandlab(&["run", &file(name, text), "--format", "oracle-general", "--device", TINY]));
        let line = after(&said, "try: ").unwrap_or_else(|| panic!("{said}"));
        assert!(!line.contains("--format") && !line.contains("--skip-bad"), "{line}");
        assert_eq!(suggested(line)["requests"]["total"], 400, "{line}");
    }
}

#[test]
fn times_in_another_unit_are_warned_about_and_fixed() {
    let path = fixture("unknown_microseconds.trace");
    let replay = ["run", &path, "--quiet", "--device", TINY];
    let output = nandlab(&replay);
    let said = stderr(&output);
    assert!(said.starts_with("warning: ") && said.contains("--time-unit us"), "{said}");
    let bytes = std::fs::read(&path).unwrap();
    let piped = common::nandlab_reading(&["run", "-", "--json", "-", "--no-wall", "--device", TINY], &bytes);
    assert!(stderr(&piped).contains("--time-unit us"), "a pipe too: {}", stderr(&piped));
    let of_file = nandlab(&["run", &path, "--json", "-", "--no-wall", "--device", TINY]);
    let ledger = |output: &std::process::Output| json(std::str::from_utf8(&output.stdout).unwrap())["ledger"].clone();
    assert_eq!(ledger(&piped), ledger(&of_file), "the look at the pipe took nothing from it");
    let silent = nandlab(&[&replay[..], &["--time-unit", "us"]].concat());
    assert!(silent.status.success() && stderr(&silent).is_empty(), "{}", stderr(&silent));
    let info = nandlab(&["trace", "info", &path, "--time-unit", "us", "--json", "-"]);
    let report = &json(&info.stdout)["traces"][0];
    assert_eq!(report["duration_ns"], 404_187_000u64);
    let fixed = nandlab(&["run", &fixture("spc.spc"), "--time-unit", "us", "--device", TINY]);
    assert!(stderr(&fixed).contains("fixed") && after(&stderr(&fixed), "try: ").is_some(), "{}", stderr(&fixed));
}

#[test]
fn damage_disorder_and_missing_times_are_fixed_by_the_suggested_command() {
    let good = "0,8,4096,w,0.5\n0,16,4096,r,0.75\n".repeat(20);
    let damaged = file("damaged.spc", format!("{good}rubbish\n{good}"));
    let said = stderr(&nandlab(&["run", &damaged, "--device", TINY, "--format", "spc"]));
    let line = after(&said, "try: ").unwrap_or_else(|| panic!("{said}"));
    assert!(line.ends_with("--format spc --skip-bad 1"), "{line}");
    assert_eq!(suggested(line)["requests"]["total"], 80);
    let restarted = file("restarted.spc", "0,8,512,w,500\n0,16,512,w,501\n0,24,512,w,0\n0,32,512,w,40\n");
    let said = stderr(&nandlab(&["run", &restarted, "--device", TINY, "--quiet"]));
    assert!(said.contains("steps back by more than a minute once") && said.contains("(--rebase)"), "{said}");
    let said = stderr(&nandlab(&["run", &fixture("lirs.trc"), "--device", TINY, "--quiet"]));
    assert!(said.contains("all 3 requests are at the same time (--mode closed)"), "{said}");
}

#[test]
fn nothing_is_proposed_where_several_readings_work() {
    // Small steps, written for SSDsim: milliseconds of DiskSim fit as well.
    let row = |at: u64| format!("{} 0 {} 8 {}\n", at * 5, at * 37 % 900 * 8, at % 2);
    let rows: String = (0..200).map(row).collect();
    let path = file("steps.trace", &rows);
    let said = refusal(&["trace", "convert", &path]);
    assert!(
        said.contains("I cannot tell which format") && said.contains("ssdsim") && !said.contains("try: "),
        "{said}"
    );
    let said = stderr(&common::nandlab_reading(&["trace", "convert", "-"], rows.as_bytes()));
    assert!(said.contains("I cannot tell which format") && !said.contains("try: "), "{said}");
}
