//! Are traces of several files, devices and clocks read as asked, and is all of it reported?

mod common;

use common::{TINY, file, json, nandlab, nandlab_reading, refusal, stderr, stdout};

const JSON: [&str; 5] = ["--device", TINY, "--json", "-", "--no-wall"];

fn report(args: &[&str]) -> serde_json::Value {
    json(&stdout(&[&["run"], args, &JSON[..]].concat()))
}

fn fails(args: &[&str]) -> String {
    refusal(&[args, &JSON[..2]].concat())
}

#[test]
fn several_files_are_one_trace_and_all_are_named() {
    let first = file("part.9.spc", "0,8,4096,w,1.0\n0,16,4096,w,3.0\n");
    let second = file("part.10.spc", "0,24,4096,w,2.0\n");
    let pattern = first.replace("part.9", "part.*");
    let sequence = report(&[&pattern]);
    assert_eq!(sequence["trace"]["files"], serde_json::json!([first, second]));
    assert_eq!(sequence["trace"]["name"], format!("{first}, {second}"));
    assert_eq!(sequence["trace"]["files_order"], "sequence");
    assert_eq!(sequence["trace"]["recorded"]["requests"], 3);
    assert_eq!(sequence["trace"]["changed"]["rows_out_of_order"], 1);
    let merged = report(&[&pattern, "--files", "merge"]);
    assert_eq!(merged["trace"]["changed"].get("rows_out_of_order"), None);
    assert_eq!(merged["requests"]["total"], 3);
    let devices = report(&[&second, &first, "--files", "devices", "--volumes", "stack"]);
    assert_eq!(devices["trace"]["changed"]["devices"], 2);
    let piped = nandlab_reading(&[&["run", &first, "-"], &JSON[..]].concat(), b"0,24,4096,w,4.0\n");
    let piped = json(&piped.stdout);
    assert_eq!(piped["trace"]["files"], serde_json::json!([first, "<stdin>"]));
    let text = stdout(&["run", &pattern, "--device", TINY]);
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("2 files, put together by sequence"), "{text}");
    assert!(fails(&["run", &pattern, "--files", "devices"]).contains("--volumes stack"));
    assert!(fails(&["run", &pattern, "--files", "both"]).contains("allowed is sequence"));
    assert!(fails(&["run", &first.replace("part.9", "none.*")]).contains("no file matches"));
    let table = stdout(&["compare", &pattern, "--buffers", "lru", "--ftls", "page", "--device", TINY]);
    assert!(table.starts_with(&format!("{first} and 1 more (spc)")), "{table}");
}

#[test]
fn each_volume_is_simulated_by_itself() {
    let path = file("volumes.spc", "3,8,4096,w,1\n5,8,4096,w,2\n3,8,4096,r,3\n5,16,512,w,4\n5,8,512,r,5\n");
    let all = report(&[&path, "--volumes", "separate"]);
    let volumes = all["volumes"].as_array().unwrap();
    assert_eq!(all["schema"], 3);
    assert_eq!(volumes.iter().map(|v| v["device"].as_u64().unwrap()).collect::<Vec<_>>(), [3, 5]);
    for volume in volumes {
        let alone = report(&[&path, "--volumes", &format!("pick:{}", volume["device"])]);
        assert_eq!(volume["report"], alone);
    }
    let text = stdout(&["run", &path, "--volumes", "separate", "--device", TINY]);
    assert!(text.starts_with("VOLUME 3\n") && text.contains("\nVOLUME 5\n"), "{text}");
    let refused = fails(&["compare", &path, "--volumes", "separate"]);
    assert!(refused.contains("only `nandlab run`") && refused.contains("pick:N"), "{refused}");
    assert!(fails(&["run", "--volumes", "separate"]).contains("no trace is named"));
}

#[test]
fn trace_as_recorded_is_that_of_the_rows_replayed() {
    // Device 5 comes late, writes only, and has a request of no length.
    let path = file(
        "limited.spc",
        "3,8,4096,r,1\n3,8,4096,r,2\n3,8,512,r,3\n5,16,512,w,4\n5,8,0,w,5\n5,8,512,w,6\n5,8,4096,r,7\n",
    );
    let recorded = |more: &[&str]| {
        let trace = report(&[&[path.as_str()], more].concat())["trace"].clone();
        (trace["replayed"].clone(), trace["recorded"]["requests"].clone(), trace["recorded"]["write_percent"].clone())
    };
    let is = |replayed: u64, requests: u64, writes: f64| (replayed.into(), requests.into(), writes.into());
    assert_eq!(recorded(&["--volumes", "pick:5", "-n", "2"]), is(2, 3, 100.0));
    assert_eq!(recorded(&["--volumes", "pick:5"]), is(3, 4, 75.0));
    assert_eq!(recorded(&["--volumes", "merge", "-n", "4"]), is(4, 4, 25.0));
    let separate = report(&[&path, "--volumes", "separate", "-n", "2"]);
    let of = |volume: usize| separate["volumes"][volume]["report"]["trace"]["recorded"]["write_percent"].clone();
    assert_eq!((of(0), of(1)), (0.0.into(), 100.0.into()));
    // The last of the rows is another one when they are sorted.
    let late = file("late.spc", "0,8,512,w,3\n0,8,512,r,1\n0,8,512,r,2\n");
    let sorted = report(&[&late, "-n", "2", "--sort-window", "8"]);
    assert_eq!(sorted["trace"]["recorded"]["write_percent"], 0.0);
}

#[test]
fn times_are_corrected_on_request_and_everything_is_counted() {
    let path = file("times.spc", "0,8,512,w,500\n0,16,512,w,501\n0,24,512,w,0\n0,32,512,w,40\n0,40,512,w,39\n");
    let changed = |more: &[&str]| report(&[&[path.as_str()], more].concat())["trace"]["changed"].clone();
    assert_eq!(changed(&[]), serde_json::json!({"rows_out_of_order": 2, "times_raised": 3}));
    let fixed = changed(&["--rebase", "--sort-window", "4", "--cap-gap", "10s"]);
    let expected = serde_json::json!({"rows_out_of_order": 2, "clock_jumps_removed": 1, "gaps_shortened": 1,
        "gaps_shortened_by_ns": 29_000_000_000u64});
    assert_eq!(fixed, expected);
    assert_eq!(changed(&["--rebase=600s"])["clock_jumps_removed"], serde_json::Value::Null);
    let text = stdout(&["run", &path, "--device", TINY, "--rebase"]);
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("clock jumps removed: 1"), "{text}");
    let converted = stdout(&["trace", "convert", &path, "--rebase", "--cap-gap=10s", "--sort-window", "4", "-n", "4"]);
    let rows = converted.lines().filter(|line| line.starts_with(|letter: char| letter.is_ascii_digit()));
    let times: Vec<_> = rows.map(|line| line.split(',').next().unwrap()).collect();
    assert_eq!(times, ["500000000000", "501000000000", "501000000000", "511000000000"]);
    for wrong in [["--sort-window", "0"], ["--cap-gap", "10"], ["--rebase=soon", "--no-wall"]] {
        assert!(fails(&["run", &path, wrong[0], wrong[1]]).contains("error:"), "{wrong:?}");
    }
    assert!(fails(&["run", "--rebase"]).contains("--rebase says how to read a trace"));
}

#[test]
fn trace_that_may_be_cut_is_warned_of_once() {
    // The first rows are looked at before; what comes after them is known at the end.
    for rows in [3, 70_000] {
        let text = "0,8,512,w,1\n".repeat(rows - 1) + "0,8,512,w,1";
        let said = |text: &str| {
            let path = file("cut.spc", text);
            let output = nandlab(&["run", &path, "--device", TINY, "--mode", "fast", "--json", "-"]);
            assert!(output.status.success(), "{}", stderr(&output));
            let report = json(&output.stdout);
            let end = format!("line {rows}, the last, does not end with a line break");
            (stderr(&output).matches(&end).count(), report["trace"]["warnings"].to_string().matches(&end).count())
        };
        assert_eq!(said(&text), (1, usize::from(rows > 3)));
        assert_eq!(said(&(text + "\n")), (0, 0));
    }
}

#[test]
fn blkparse_event_is_chosen() {
    let rows = "  8,0 1 1 0.5 7 Q W 8 + 8 [a]\n  8,0 1 2 0.6 7 Q W 16 + 8 [a]\n  8,0 1 3 0.7 7 D W 8 + 16 [a]\n";
    let path = file("events.txt", rows);
    assert_eq!(report(&[&path])["requests"]["total"], 1);
    let queued = report(&[&path, "--event", "Q"]);
    assert_eq!(queued["requests"]["total"], 2);
    assert!(queued["trace"]["reason"].as_str().unwrap().ends_with("its events Q (queued) are read"));
    assert!(fails(&["run", &path, "--event", "C"]).contains("--event Q, G, I, D or C"));
    assert!(fails(&["run", &path, "--event", "Z"]).contains("allowed is Q"));
}

#[test]
fn device_that_begins_late_is_warned_of() {
    let path = file("late-device.spc", "3,8,4096,w,1\n3,8,4096,w,2\n5,8,4096,w,259200\n5,16,512,w,259201\n");
    let warned = |volumes: &str| report(&[&path, "--volumes", volumes])["trace"]["warnings"].to_string();
    let late = warned("pick:5");
    assert!(late.contains("comes 259199s after the first row") && late.contains("trace filter --device N"), "{late}");
    assert!(!warned("pick:3").contains("after the first row") && !warned("merge").contains("after the first row"));
}
