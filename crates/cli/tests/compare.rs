//! Does `nandlab compare` compare fairly and completely?

mod common;

use common::{TINY, file, json, nandlab, nandlab_reading, refusal, stderr, stdout};

const COMPARE: [&str; 5] = ["compare", "--device", TINY, "--limit", "5000"];

fn with<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&COMPARE[..], more].concat()
}

#[test]
fn results_are_the_same_on_any_number_of_threads() {
    let run = |threads| {
        let output = nandlab(&with(&["--buffers", "all", "--ftls", "all", "--threads", threads, "--json", "-"]));
        assert!(matches!(output.status.code(), Some(0 | 4)), "{}", stderr(&output));
        output.stdout
    };
    let one = run("1");
    assert!(one == run("4") && one == run("2"));
    let rows = json(&String::from_utf8(one).unwrap())["rows"].as_array().unwrap().len();
    let lines = |what| stdout(&["list", what]).lines().count() - 1;
    assert_eq!(rows, lines("buffers") * lines("ftls"));
}

#[test]
fn row_is_the_same_as_a_run() {
    let compared = json(&stdout(&with(&["--buffers", "none,lru", "--ftls", "page", "--json", "-"])));
    let alone = stdout(&["run", "--device", TINY, "--limit", "5000", "--buffer", "lru", "--json", "-", "--no-wall"]);
    assert_eq!(compared["rows"][1]["buffer"], "lru");
    assert_eq!(compared["rows"][1]["report"], json(&alone));
}

#[test]
fn table_is_narrow_and_names_the_best() {
    let text = stdout(&with(&["--buffers", "none,lru", "--ftls", "page:reserve=1,page:reserve=2"]));
    assert!(text.lines().all(|line| line.chars().count() <= 120), "{text}");
    let best = text.lines().find(|line| line.starts_with("best  lru on page:reserve=")).expect(&text);
    assert!(best.contains("hit% w"), "{text}");
    assert!(!text.contains("none on page:reserve=1: hit%"), "{text}");
    let markdown = stdout(&with(&["--buffers", "none,lru", "--ftls", "page", "--markdown"]));
    assert!(
        markdown.contains("| lru | page |") && markdown.contains("best: lru on page: hit% r, hit% w"),
        "{markdown}"
    );
    let csv = stdout(&with(&["--buffers", "none,lru", "--ftls", "page", "--csv"]));
    let columns: Vec<usize> = csv.lines().map(|line| line.split(',').count()).collect();
    assert_eq!(columns, [columns[0]; 3], "{csv}");
}

#[test]
fn default_set_is_compared_and_reported_when_no_names_are_given() {
    let text = stdout(&["compare", "--device", TINY, "--ram", "1MiB", "make:oltp", "--csv"]);
    let pairs: Vec<Vec<&str>> = text.lines().skip(1).map(|line| line.split(',').take(3).collect()).collect();
    assert!((20..=30).contains(&pairs.len()), "{text}");
    for needed in [["lru", "page"], ["hitstat", "fast"], ["aalru", "dftl"]] {
        assert!(pairs.iter().any(|pair| pair[..2] == needed && pair[2] == "ok"), "{needed:?}: {text}");
    }
    let named = stdout(&with(&["--buffers", "lru", "--csv"]));
    assert_eq!(named.lines().count(), 1 + 3, "the FTLs of the telling set: {named}");
}

#[test]
fn input_error_ends_everything_once() {
    let trace = file("beyond.spc", "0,8,4096,w,0.5\n0,80000000,4096,w,1.5\n");
    let output = nandlab(&["compare", &trace, "--device", TINY, "--buffers", "lru,none", "--ftls", "page,fast"]);
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    assert_eq!(stderr(&output).matches("lie beyond the capacity").count(), 1, "{}", stderr(&output));
    assert!(!String::from_utf8_lossy(&output.stdout).contains("failed"));
}

#[test]
fn quiet_leaves_what_was_asked_for() {
    let bytes = |args: &[&str]| stdout(args).len();
    let commands: [&[&str]; 3] = [
        &["compare", "--buffers", "lru", "--ftls", "page"],
        &["curve", "--ram", "64KiB"],
        &["bound", "--ram", "64KiB"],
    ];
    for command in commands {
        let with = |more: &[&str]| bytes(&[command, &["--device", TINY, "-n", "500", "-q"], more].concat());
        assert_eq!(with(&[]), 0, "{command:?}");
        for form in ["--csv", "--markdown"] {
            assert!(with(&[form]) > 0, "{command:?} {form}");
        }
        assert!(with(&["--json", "-"]) > 0, "{command:?}");
    }
    assert_eq!(bytes(&["run", "--device", TINY, "-n", "500", "-q"]), 0);
    assert!(bytes(&["run", "--device", TINY, "-n", "500", "-q", "--json", "-"]) > 0);
    assert!(bytes(&["curve", "--device", TINY, "-n", "500", "-q", "--ram", "64KiB..1MiB", "--plot", "-"]) > 0);
}

#[test]
fn setting_of_the_replay_that_did_nothing_is_told_once() {
    let idle = ["--set", "replay.think_time=1ms"];
    let output = nandlab(&with(&[&["--buffers", "lru,none", "--ftls", "page"][..], &idle].concat()));
    assert_eq!(stderr(&output).matches("replay.think_time did nothing").count(), 1, "{}", stderr(&output));
}

#[test]
fn combination_that_cannot_be_built_is_a_row_with_its_error() {
    let output = nandlab(&with(&["--buffers", "none,lru", "--ftls", "page", "--ram", "1KiB"]));
    assert_eq!(output.status.code(), Some(4));
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("failed") && text.contains("lru on page: ram: 0 page frames"), "{text}");
    let output = nandlab(&with(&["--buffers", "none,lru:window=1", "--ftls", "page", "--json", "-"]));
    assert_eq!(output.status.code(), Some(4));
    let rows = json(&output.stdout)["rows"].clone();
    assert_eq!((&rows[0]["status"], &rows[1]["status"]), (&"ok".into(), &"error".into()));
    assert!(rows[1]["error"].as_str().unwrap().contains("window"), "{rows}");
}

#[test]
fn every_combination_sees_all_of_standard_input() {
    let trace: Vec<String> = (0..500).map(|i| format!("0,{},4096,w,{i}.5", i % 50 * 8)).collect();
    let trace = trace.join("\n");
    let args = ["compare", "-", "--device", TINY, "--buffers", "none,lru", "--ftls", "page", "--json", "-"];
    let output = nandlab_reading(&args, trace.as_bytes());
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let rows = json(&output.stdout)["rows"].clone();
    for row in rows.as_array().unwrap() {
        assert_eq!(row["report"]["requests"]["writes"], 500);
    }
}

#[test]
fn mistake_in_the_device_ends_the_comparison_at_once() {
    let said = refusal(&with(&["--set", "ram.dram=many"]));
    assert!(said.contains("ram.dram"), "{said}");
}
