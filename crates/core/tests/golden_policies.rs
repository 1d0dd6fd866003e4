//! Do the policies do what the worked examples say?

use nandlab::conform::{Conformance, Mismatch, run};
use serde_json::Value;
use std::fs;
use std::path::PathBuf;

fn golden_files() -> Vec<(PathBuf, Value)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden/policies");
    let mut paths: Vec<PathBuf> = [folder.clone(), folder.join("long")]
        .iter()
        .flat_map(|folder| fs::read_dir(folder).unwrap())
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "json"))
        .collect();
    paths.sort();
    let read = |path: PathBuf| {
        let value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        (path, value)
    };
    paths.into_iter().map(read).collect()
}

fn golden(name: &str) -> Value {
    let found = golden_files().into_iter().find(|(path, _)| path.ends_with(name));
    found.unwrap_or_else(|| panic!("no golden file {name}")).1
}

fn replay(file: &Value) -> Result<Conformance, String> {
    run(&file.to_string()).map_err(|e| e.to_string())
}

#[test]
fn every_registered_policy_does_what_its_examples_say() {
    let files = golden_files();
    assert_eq!(files.len(), 43, "worked examples and long traces");
    let mut replayed = Vec::new();
    let mut wrong = Vec::new();
    for (path, file) in files {
        let policy = file["policy"].as_str().unwrap().replace('-', "_");
        if !nandlab::catalog::BUFFERS.iter().any(|plugin| plugin.module == policy) {
            let error = replay(&file).unwrap_err();
            assert!(error.contains("there is no buffer"), "{} cannot even be read: {error}", path.display());
            continue;
        }
        let report = replay(&file).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        assert!(report.cases > 0 && report.steps > 0);
        wrong.extend(report.differences.iter().map(|d: &Mismatch| format!("{}: {d}", path.display())));
        replayed.push((policy, report.steps));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let steps_of = |policy: &str| -> Vec<usize> {
        replayed.iter().filter(|(name, _)| name == policy).map(|(_, steps)| *steps).collect()
    };
    for policy in ["clru_r", "carf_r", "pr_lru_r", "ref_r", "cbm_r"] {
        assert!(matches!(steps_of(policy)[..], [steps] if steps >= 10), "{policy} has a worked file");
    }
    let pages = ["lru", "fifo", "clock", "cflru", "lru_wsr", "ccf_lru", "ad_lru"];
    for policy in pages.into_iter().chain([
        "fab",
        "fab_rw",
        "bplru",
        "clc",
        "cfdc",
        "lb_clock",
        "vbbms",
        "clock_dnv",
        "aalru",
        "hitstat",
        "wpa",
        "urm",
    ]) {
        let steps = steps_of(policy);
        assert_eq!(steps.len(), 2, "{policy} has a worked file and a long one");
        assert!(
            steps.iter().any(|steps| *steps >= 240) && steps.iter().all(|steps| *steps >= 10),
            "{policy}: {steps:?}"
        );
    }
}

/// Plants an error and expects it to be found at `step` as `what`.
fn plant(name: &str, path: &str, to: &Value, step: Option<usize>, what: &str) {
    let mut file = golden(name);
    assert_eq!(replay(&file).unwrap().differences, []);
    let place = file.pointer_mut(path).unwrap_or_else(|| panic!("{name} has no {path}"));
    assert_ne!(place, to);
    *place = to.clone();
    let differences = replay(&file).unwrap().differences;
    assert_eq!(differences.len(), 1, "{name} {path}");
    let found = &differences[0];
    assert!(found.step == step.map(|s| s + 1) && found.op.starts_with(what), "{name} {path}: {found:?}");
}

#[test]
fn error_in_an_example_is_found() {
    use serde_json::json;
    plant("policies/cflru.json", "/cases/0/steps/4/drop/0", &json!(1), Some(4), "drop");
    plant("policies/cflru.json", "/cases/2/steps/3/state/window", &json!(2), Some(3), "state");
    plant("policies/cflru.json", "/cases/1/steps/0/hit", &json!(true), Some(0), "hit");
    plant("policies/bplru.json", "/cases/0/steps/13/flash/1/padded/0", &json!(9), Some(13), "flash");
    plant("policies/bplru.json", "/cases/0/steps/13/flash/0/why", &json!("miss"), Some(13), "flash");
    plant("policies/bplru.json", "/cases/1/params/pad_min", &json!(0.75), Some(10), "flash");
    plant("policies/fab.json", "/cases/0/steps/14/state/groups/0/pages/0", &json!(3), Some(14), "state");
    plant("policies/fab.json", "/cases/0/totals/flash_reads/miss", &json!(2), None, "totals");
    plant("long/fab.json", "/trace/0/e", &json!("H"), Some(0), "hit");
    plant("long/lru.json", "/final_state/lru/0/dirty", &json!(2), None, "state");
    plant("long/lru.json", "/totals/write_commands", &json!(1), None, "totals");
}

#[test]
fn file_that_cannot_be_replayed_is_refused() {
    use serde_json::json;
    let refuse = |path: &str, to: Value, says: &str| {
        let mut file = golden("policies/cflru.json");
        *file.pointer_mut(path).unwrap() = to;
        let error = replay(&file).unwrap_err();
        assert!(error.contains(says), "{error}");
    };
    refuse("/policy", json!("clfru"), "cflru");
    refuse("/schema", json!(2), "schema 2");
    refuse("/cases/0/params", json!({"capacity": 4, "windw": 1}), "windw");
    refuse("/cases/0/params/window_ratio", json!(1.5), "0 to 1");
    refuse("/cases/0/params/capacity", json!(0), "at least 1");
    refuse("/cases/0/accesses/0", json!({"op": "R", "lpn": 0, "lenght": 2}), "lenght");
    let mut file = golden("long/lru.json");
    file["trace"][3]["e"] = json!("M x:3");
    assert!(replay(&file).unwrap_err().contains("trace[3]"));
}
