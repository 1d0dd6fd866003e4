//! Does `nandlab compare` compare fairly and completely?

mod common;

use common::{TINY, json, nandlab, nandlab_reading, stderr, stdout};

const COMPARE: [&str; 5] = ["compare", "--device", TINY, "--limit", "5000"];

fn with<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&COMPARE[..], more].concat()
}

#[test]
fn are_the_results_the_same_on_any_number_of_threads() {
    let run = |threads| {
        let output = nandlab(&with(&["--threads", threads, "--json", "-"]));
        assert!(matches!(output.status.code(), Some(0 | 4)), "{}", stderr(&output));
        output.stdout
    };
    let one = run("1");
    assert!(one == run("4") && one == run("2"));
    let rows = json(&String::from_utf8(one).unwrap())["rows"].as_array().unwrap().len();
    let lines = |what| stdout(&["list", what]).lines().count() - 1;
    assert_eq!(rows, lines("buffers") * lines("ftls"), "all by default");
}

#[test]
fn is_a_row_the_same_as_a_run() {
    let compared = json(&stdout(&with(&["--buffers", "none,lru", "--ftls", "page", "--json", "-"])));
    let alone = stdout(&["run", "--device", TINY, "--limit", "5000", "--buffer", "lru", "--json", "-", "--no-wall"]);
    assert_eq!(compared["rows"][1]["buffer"], "lru");
    assert_eq!(compared["rows"][1]["report"], json(&alone));
}

#[test]
fn is_the_table_narrow_and_the_best_marked() {
    let text = stdout(&with(&["--buffers", "none,lru", "--ftls", "page:reserve=1,page:reserve=2"]));
    assert!(text.contains('*') && text.contains("page:reserve=2"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 120), "{text}");
    let markdown = stdout(&with(&["--buffers", "none,lru", "--ftls", "page", "--markdown"]));
    assert!(markdown.contains("| lru | page |") && markdown.contains("**"), "{markdown}");
    let csv = stdout(&with(&["--buffers", "none,lru", "--ftls", "page", "--csv"]));
    let columns: Vec<usize> = csv.lines().map(|line| line.split(',').count()).collect();
    assert_eq!(columns, [columns[0]; 3], "{csv}");
}

#[test]
fn is_a_combination_that_cannot_be_built_a_row_with_its_error() {
    let output = nandlab(&with(&["--buffers", "none,lru", "--ftls", "page", "--ram", "1KiB"]));
    assert_eq!(output.status.code(), Some(4));
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("failed") && text.contains("lru on page: ram: 0 page frames"), "{text}");
    let output = nandlab(&with(&["--buffers", "none,lru:window=1", "--ftls", "page", "--json", "-"]));
    assert_eq!(output.status.code(), Some(4));
    let rows = json(&String::from_utf8(output.stdout).unwrap())["rows"].clone();
    assert_eq!((&rows[0]["status"], &rows[1]["status"]), (&"ok".into(), &"error".into()));
    assert!(rows[1]["error"].as_str().unwrap().contains("window"), "{rows}");
}

#[test]
fn does_every_combination_see_all_of_standard_input() {
    let trace: Vec<String> = (0..500).map(|i| format!("0,{},4096,w,{i}.5", i % 50 * 8)).collect();
    let trace = trace.join("\n");
    let args = ["compare", "-", "--device", TINY, "--buffers", "none,lru", "--ftls", "page", "--json", "-"];
    let output = nandlab_reading(&args, trace.as_bytes());
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let rows = json(&String::from_utf8(output.stdout).unwrap())["rows"].clone();
    for row in rows.as_array().unwrap() {
        assert_eq!(row["report"]["requests"]["writes"], 500);
    }
}

#[test]
fn does_a_mistake_in_the_device_end_it_at_once() {
    let output = nandlab(&with(&["--set", "ram.dram=many"]));
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("ram.dram"), "{}", stderr(&output));
}
