//! `nandlab trace lengths` and the hints that follow from it, on a recording.

mod common;

use std::path::Path;

use common::{folder, json, refusal, stdout, temporary};

fn fixture(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../workloads/fixtures/{name}.parquet")).display().to_string()
}

/// The values of a column of a trace, as text.
fn column(trace: &str, name: &str) -> Vec<String> {
    let text = stdout(&["trace", "convert", trace]);
    let mut rows = text.lines().filter(|line| !line.starts_with('#')).map(|line| line.split(',').collect::<Vec<_>>());
    let at = rows.next().unwrap().iter().position(|head| *head == name).unwrap_or_else(|| panic!("no column {name}"));
    rows.map(|row| row[at].to_owned()).collect()
}

#[test]
fn regressions_are_trained_judged_kept_and_used() {
    let folder = folder("lengths");
    let path = |name: &str| folder.join(name).display().to_string();
    let (trace, model, hinted) = (fixture("rocksdb"), path("lengths.toml"), path("hinted.parquet"));
    let report = json(&stdout(&["trace", "lengths", &trace, "-o", &model, "--json", "-"]));
    let right = |name: &str| {
        let rows = report["rows"].as_array().unwrap();
        let row = rows.iter().find(|row| row["predictor"] == name).unwrap();
        row["right_at_beginnings_percent"].as_f64().unwrap()
    };
    assert!(right("regressions") > 2.0 * right("mean"), "RocksDB's runs are of few lengths: {report}");
    // The same regressions are judged alike.
    let again = json(&stdout(&["trace", "lengths", &trace, "--model", &model, "--json", "-"]));
    assert_eq!(again, report);

    stdout(&["trace", "hint", &trace, "--lengths", &model, "-o", &hinted]);
    let mappings = column(&hinted, "mappings");
    let runs = column(&hinted, "pattern");
    let regions = mappings.iter().zip(&runs).filter(|(_, pattern)| matches!(pattern.as_str(), "s" | "l"));
    let regions: Vec<u32> = regions.map(|(mappings, _)| mappings.parse().unwrap()).collect();
    assert!(regions.len() > 1000 && regions.iter().all(|mappings| mappings % 102 == 0 && *mappings <= 1020));
    // A map on flash loads what is said, and so reads other pages than without.
    let misses = |trace: &str| {
        let ftl = "urm-map:mode=demand:map_budget=8KiB:frontiers=single";
        let arguments = [
            "run",
            trace,
            "--device",
            "urm",
            "--buffer",
            "none",
            "--ftl",
            ftl,
            "--set",
            "ram.budget=fixed",
            "--json",
            "-",
        ];
        json(&stdout(&arguments))["flash"]["reads"]["map_miss"].as_u64().unwrap()
    };
    assert_ne!(misses(&hinted), misses(&trace));
}

#[test]
fn controls_change_what_is_told_and_nothing_else() {
    let folder = folder("lengths-controls");
    let trace = fixture("sqlite");
    let told = |name: &str, arguments: &[&str]| {
        let path = folder.join(format!("{name}.parquet")).display().to_string();
        stdout(&[&["trace", "hint", &trace, "-o", &path], arguments].concat());
        let columns = ["offset", "length", "pattern", "run_pages", "pc"];
        columns.map(|name| column(&path, name))
    };
    let plain = told("plain", &[]);
    let patterns = told("patterns", &["--tell", "patterns"]);
    let lengths = told("lengths", &["--tell", "lengths"]);
    let [one, other] = ["1", "2"].map(|seed| told(seed, &["--shuffle", seed]));
    for control in [&patterns, &lengths, &one, &other] {
        assert_eq!(control[..2], plain[..2], "requests are as they were");
    }
    assert!(patterns[2] == plain[2] && patterns[3].iter().all(|pages| pages == "0"));
    assert!(lengths[3] == plain[3] && lengths[2].iter().all(|pattern| pattern == "s"));
    assert!(one[4] != plain[4] && one[4] != other[4]);
}

#[test]
fn mistakes_name_the_file_and_the_fix() {
    let folder = temporary("lengths-errors");
    std::fs::create_dir_all(&folder).unwrap();
    let nonsense = folder.join("nonsense.toml").display().to_string();
    std::fs::write(&nonsense, "version = 1\n").unwrap();
    let (trace, model) = (fixture("sqlite"), folder.join("model.toml").display().to_string());
    stdout(&["trace", "lengths", &trace, "--depth", "3", "-o", &model]);
    for (arguments, words) in [
        (vec!["trace", "hint", &trace, "--lengths", "nowhere.toml"], "nowhere.toml"),
        (vec!["trace", "hint", &trace, "--lengths", &nonsense], "nonsense.toml"),
        (vec!["trace", "lengths", &trace, "--model", &nonsense], "nonsense.toml"),
        (
            vec!["trace", "hint", &trace, "--lengths", &model],
            "by --depth 3 --skip library --mix hash, and these are by",
        ),
        (vec!["trace", "lengths", &trace, "--model", &model, "--depth", "3", "--mix", "sum"], "use --depth 3 --skip"),
        (vec!["trace", "lengths", "make:uniform", "-n", "1000"], "no sequential or looping request"),
        (vec!["trace", "lengths", &trace, "--train", "100"], "train"),
        (vec!["trace", "lengths", &trace, "-o", &trace], "would be written over"),
        (vec!["trace", "lengths", &trace, "-o", "same.toml", "--json", "same.toml"], "both name same.toml"),
        (vec!["trace", "hint", &trace, "--shuffle", "1", "--tell", "lengths"], "--tell"),
    ] {
        let said = refusal(&arguments);
        assert!(said.contains(words), "{arguments:?}: {said}");
    }
}
