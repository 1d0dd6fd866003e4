//! Do FTLs, mapping tables, flash time and formulas do what the golden files say, and would a wrong number be noticed?

#![allow(clippy::print_stdout, reason = "measured numbers are part of what these tests tell")]

use nandlab::conform::{self, ConformError, GoldenKind, run};
use serde_json::{Value, json};
use std::fs;
use std::path::PathBuf;

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden")
}

fn golden(name: &str) -> Value {
    serde_json::from_str(&fs::read_to_string(folder().join(name)).unwrap()).unwrap()
}

#[test]
fn every_golden_file_agrees() {
    let mut names: Vec<String> =
        fs::read_dir(folder()).unwrap().map(|f| f.unwrap().file_name().into_string().unwrap()).collect();
    names.retain(|name| PathBuf::from(name).extension().is_some_and(|extension| extension == "json"));
    names.sort();
    assert_eq!(names.len(), 20, "{names:?}");
    for name in names {
        let report = run(&golden(&name).to_string()).unwrap_or_else(|error| panic!("{name}: {error}"));
        let wrong: Vec<String> = report.differences.iter().map(ToString::to_string).collect();
        println!("{name}: {:?}, {} cases, {} steps", report.kind, report.cases, report.steps);
        assert!(wrong.is_empty(), "{name}:\n{}", wrong.join("\n"));
        let seam = name.starts_with("seam-");
        assert!(report.cases > 0 && (report.steps > 5 || seam && report.steps > 0), "{name}");
    }
}

#[test]
fn files_are_recognised_by_their_schema() {
    for (name, kind) in [
        ("ftl-urm-cmt.json", GoldenKind::CompressedTable),
        ("ftl-timing.json", GoldenKind::Timing),
        ("ftl-hitstat-tables.json", GoldenKind::PaperTables),
        ("formulas.json", GoldenKind::Formulas),
        ("ftl-fast.json", GoldenKind::Ftl("fast".to_owned())),
    ] {
        assert_eq!(conform::read(&golden(name).to_string()).unwrap(), kind);
    }
    let error = run(r#"{"schema": "ftl-golden/9"}"#).unwrap_err().to_string();
    assert!(error.contains("ftl-golden/9") && error.contains("flash-timing/1"), "{error}");
}

/// Pointers to all numbers and truth values below `value`, except below keys that are input.
fn told(value: &Value, input: &[&str], at: String, found: &mut Vec<String>) {
    match value {
        Value::Object(map) => {
            for (key, value) in map.iter().filter(|(key, _)| !input.contains(&key.as_str())) {
                told(value, input, format!("{at}/{key}"), found);
            }
        }
        Value::Array(list) => {
            for (i, value) in list.iter().enumerate() {
                told(value, input, format!("{at}/{i}"), found);
            }
        }
        Value::Number(_) | Value::Bool(_) => found.push(at),
        _ => (),
    }
}

fn changed(value: &Value) -> Value {
    match (value.as_u64(), value) {
        (Some(number), _) => json!(number + 1),
        (_, Value::Bool(truth)) => json!(!truth),
        _ => json!(value.as_f64().expect("a number") * 1.2 + 0.1),
    }
}

#[test]
fn every_wrong_number_is_noticed() {
    // What is input and not told, and columns of models that this project does not have.
    let inputs = [
        "op",
        "ops",
        "updates",
        "params",
        "params_us",
        "device",
        "note",
        "schema",
        "Wf",
        "BS",
        "D_r",
        "D_w",
        "threshold",
        "run_length_entries",
        "channel_busy_until_us",
        "copy_channels",
        "now_us",
    ];
    let cheaper = ["finish_gap_fill", "finish_scalar_busy_until"];
    let mut wrong = Vec::new();
    for (name, silent) in [
        // The table is as large after one more update.
        ("ftl-urm-cmt.json", 8),
        ("ftl-timing.json", 0),
        ("formulas.json", 0),
        // One page more is within the rounding of the printed times.
        ("ftl-hitstat-tables.json", 2),
        ("ftl-rftl.json", 0),
        ("ftl-page.json", 0),
    ] {
        let right = golden(name);
        let mut pointers = Vec::new();
        told(&right, &[&inputs[..], &cheaper[..]].concat(), String::new(), &mut pointers);
        let unnoticed: Vec<&String> = pointers
            .iter()
            .filter(|pointer| {
                let mut file = right.clone();
                let value = file.pointer_mut(pointer).unwrap();
                *value = changed(value);
                run(&file.to_string()).is_ok_and(|report| report.differences.is_empty())
            })
            .collect();
        println!("{name}: {} of {} numbers noticed", pointers.len() - unnoticed.len(), pointers.len());
        if unnoticed.len() != silent {
            wrong.push(format!("{name}: {unnoticed:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn bad_input_names_its_place() {
    let wrong = |name: &str, pointer: &str, value: Value| {
        let mut file = golden(name);
        *file.pointer_mut(pointer).unwrap_or_else(|| panic!("{name} {pointer}")) = value;
        match run(&file.to_string()) {
            Err(error) => error.to_string(),
            Ok(report) => panic!("{name} {pointer}: {} differences instead of an error", report.differences.len()),
        }
    };
    for (name, pointer, value, place) in [
        ("ftl-page.json", "/cases/0/device/pages_per_block", json!(0), "case `"),
        ("ftl-page.json", "/cases/0/device/physical_blocks", json!("many"), "cases[0].device.physical_blocks"),
        ("ftl-page.json", "/cases/0/device/logical_pages", json!(4_000_000), "device.logical_pages"),
        ("ftl-page.json", "/cases/0/steps/2/op", json!(["w", 4_000_000]), "cases[0].steps[2].op"),
        ("ftl-page.json", "/cases/0/steps/2/op", json!(["jump", 1]), "cases[0].steps[2].op"),
        ("ftl-block.json", "/cases/0/steps/1/op", json!(["wg", 1, [9], true]), "cases[0].steps[1].op"),
        ("ftl-block.json", "/cases/0/steps/1/op", json!(["wg", 4_000_000_000u32, [0], true]), "cases[0].steps[1].op"),
        ("ftl-fast.json", "/cases/1/params/rw_blocks", json!(0), "ftl."),
        ("ftl-urm-cmt.json", "/cases/1/steps/2/op/1", json!(5000), "cases[1].steps[2].op"),
        ("ftl-urm-cmt.json", "/cases/1/params/max_length", json!(99), "cases[1].params.max_length"),
        ("ftl-urm-cmt.json", "/cases/1/steps/2/op/0", json!("x"), "cases[1].steps[2].op"),
        ("ftl-timing.json", "/cases/2/ops/3/kind", json!("X"), "cases[2].ops[3].kind"),
        ("ftl-timing.json", "/cases/2/ops/3/die", json!(6400), "cases[2].ops[3]"),
        ("ftl-timing.json", "/cases/2/params_us/erase", json!(u64::MAX), "cases[2].params_us"),
        ("ftl-timing.json", "/cases/2/finish_serial", json!([1]), "cases[2].finish_serial"),
        ("ftl-hitstat-tables.json", "/bast/3/erases", json!("few"), "bast[3].erases"),
        ("ftl-hitstat-tables.json", "/constants/pages_per_block", json!(0), "constants.pages_per_block"),
        ("formulas.json", "/aalru_tau/rows/1/RRH", json!(-1), "aalru_tau.rows[1].RRH"),
        ("ftl-rftl.json", "/copy_choice/2/copy_channels", json!([9]), "copy_choice[2]"),
        ("ftl-rftl.json", "/placement/example_C4_r2/1", json!("x"), "placement.example_C4_r2[1]"),
    ] {
        let error = wrong(name, pointer, value);
        assert!(error.contains(place), "{name} {pointer}: {error}");
    }
    for text in
        ["{", "{}", r#"{"schema": "ftl-golden/1", "ftl": "tpftl (mapping cache only)", "cases": [{"name": "a"}]}"#]
    {
        let error = run(text).unwrap_err();
        assert!(matches!(error, ConformError::Malformed(_) | ConformError::Unsupported(_)), "{text}: {error}");
    }
}
