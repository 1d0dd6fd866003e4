//! Are the figures and pictures of `trace info` and the verdicts of `trace match` right, and do they fit?

mod common;

use common::{file, json, nandlab, refusal, stderr, stdout, temporary};
use nandlab_trace::{Options, stats};

const FIXTURE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../trace/tests/fixtures/spc_volumes.spc");

#[test]
fn printed_figures_are_those_of_the_statistics() {
    let expected = stats(FIXTURE, &Options::default()).unwrap();
    let csv = stdout(&["trace", "info", FIXTURE, "--csv"]);
    let mut lines = csv.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let (heads, cells) = (lines.next().unwrap(), lines.next().unwrap());
    let cell = |name: &str| cells[heads.iter().position(|head| *head == name).unwrap()].parse::<f64>().unwrap();
    let mib = |bytes: u64| bytes as f64 / 1_048_576.0;
    for (name, value) in [
        ("requests", expected.requests as f64),
        ("write_percent", expected.write_percent()),
        ("mean_read_kib", expected.mean_read_kib()),
        ("mean_write_kib", expected.mean_write_kib()),
        ("read_mib", mib(expected.read_bytes)),
        ("written_mib", mib(expected.written_bytes)),
        ("unique_read_mib", mib(4096 * expected.pages_read)),
        ("unique_written_mib", mib(4096 * expected.pages_written)),
        ("duration_s", expected.duration_ns as f64 / 1e9),
        ("active_s", expected.active_ns as f64 / 1e9),
        ("top_gib", mib(expected.top_bytes) / 1024.0),
        ("sequential_percent", expected.sequential_percent()),
        ("unaligned_percent", expected.unaligned_percent()),
        ("out_of_order", expected.out_of_order as f64),
        ("sample_rate", 1.0),
    ] {
        assert_eq!(cell(name), value, "{name}");
    }
    let text = stdout(&["trace", "info", FIXTURE]);
    for part in ["read as spc", "60.00 %", "DEVICES", "LRU PAGE HITS"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let published = json(&stdout(&["trace", "info", FIXTURE, "--json", "-"]));
    assert_eq!((&published["schema"], &published["traces"][0]["requests"]), (&1.into(), &5.into()));
    assert_eq!(published["traces"][0]["devices"].as_array().unwrap().len(), 3);
}

#[test]
fn table_has_one_row_per_trace_and_a_bad_trace_does_not_stop_it() {
    let empty = file("trace-info-empty.spc", "");
    let output = nandlab(&["trace", "info", "--table", FIXTURE, &empty, FIXTURE]);
    assert_eq!(output.status.code(), Some(4));
    assert_eq!(String::from_utf8_lossy(&output.stdout).lines().count(), 3);
    assert!(stderr(&output).contains("trace-info-empty.spc"), "{}", stderr(&output));
    assert!(stdout(&["trace", "info", "--markdown", FIXTURE]).starts_with("| trace | format | requests |"));
}

#[test]
fn meaningless_options_are_refused_with_what_is_allowed() {
    let cases: [(&[&str], &str); 6] = [
        (&["trace", "info", FIXTURE, "--sample-pages", "0"], "above 0 and at most 1"),
        (&["trace", "info", FIXTURE, "--plot", "picture.jpg"], ".svg, .pdf or .png"),
        (&["trace", "info", FIXTURE, FIXTURE, "--plot", "-"], "one trace"),
        (&["trace", "info", FIXTURE, "--plot", "-", "--json", "-"], "standard output"),
        (&["trace", "match", FIXTURE, FIXTURE, "--tolerance", "-1"], "0 or more"),
        (&["trace", "match", "-", "-"], "standard input"),
    ];
    for (args, part) in cases {
        let said = refusal(args);
        assert!(said.contains(part), "{args:?}: {said}");
    }
}

#[test]
fn picture_is_byte_for_byte_the_stored_one() {
    let target = temporary("trace-info.svg");
    let target = target.to_str().unwrap();
    stdout(&["trace", "info", FIXTURE, "--plot", target]);
    let drawn = std::fs::read_to_string(target).unwrap();
    let kept = include_str!("data/spc_volumes.svg");
    assert!(
        drawn == kept,
        "{target} is not tests/data/spc_volumes.svg: look at both; if the new one is right, copy it there"
    );
    assert!(!drawn.contains("<script"));
}

#[test]
fn png_is_a_png() {
    let target = temporary("trace-info.png");
    stdout(&["trace", "info", FIXTURE, "--plot", target.to_str().unwrap()]);
    assert!(std::fs::read(target).unwrap().starts_with(b"\x89PNG\r\n\x1a\n"));
}

#[test]
fn picture_fits_the_terminal() {
    let one = file("trace-info-one.spc", "0,8,4096,w,0.5\n");
    for trace in [FIXTURE, &one] {
        let text = stdout(&["trace", "info", trace, "--format", "spc", "--plot", "-"]);
        assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
        assert!(!text.contains('\x1b'));
        let report = stdout(&["trace", "info", trace, "--format", "spc"]);
        // The first line has the path, and so has the command at the end.
        let is_wide = |line: &&str| line.chars().count() > 100 && !line.starts_with("  nandlab run ");
        let wide = report.lines().skip(1).filter(is_wide).count();
        assert_eq!(wide, 0, "{report}");
    }
    let coloured = stdout(&["trace", "info", FIXTURE, "--plot", "-", "--color", "always"]);
    assert!(coloured.contains("\x1b[38;2;"));
}

#[test]
fn exit_code_says_whether_traces_match() {
    let same = stdout(&["trace", "match", FIXTURE, FIXTURE, "--tolerance", "0"]);
    assert!(same.contains("32 of 32 within"), "{same}");
    let other = file("trace-match.spc", "2,100,4096,w,1.0\n0,50,4096,r,1.1\n");
    let output = nandlab(&["trace", "match", FIXTURE, &other, "--json", "-", "--format", "spc"]);
    assert_eq!(output.status.code(), Some(1));
    let published = json(&output.stdout);
    assert_eq!(published["matches"], false);
    assert_eq!(published["lines"][0]["difference"], -60.0);
}

#[test]
fn name_with_a_bar_stays_in_its_cell_of_markdown() {
    let path = file("a|b.spc", "0,8,4096,w,1.0\n0,16,4096,r,3.0\n");
    let table = stdout(&["trace", "info", &path, "--markdown"]);
    let row = table.lines().last().unwrap();
    assert!(row.contains("a\\|b.spc`") && !row.contains("a|b"), "{row}");
}
