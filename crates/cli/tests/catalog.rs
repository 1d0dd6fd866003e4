//! Can everything be found, and is what is printed usable?

mod common;

use common::{TINY, file, json, nandlab, refusal, stderr, stdout};

fn names(family: &str) -> Vec<String> {
    let list = stdout(&["list", family]);
    list.lines().skip(1).map(|line| line.split_whitespace().next().unwrap().to_owned()).collect()
}

#[test]
fn every_name_has_a_title_and_a_manual_page() {
    for family in [
        "buffers",
        "ftls",
        "victims",
        "chain-victims",
        "allocations",
        "placements",
        "paces",
        "paddings",
        "timings",
        "schedulers",
        "cmt-orders",
        "devices",
        "formats",
        "generators",
        "experiments",
        "tools",
    ] {
        let list = stdout(&["list", family]);
        assert!(list.lines().count() > 1, "{family}");
        for name in names(family) {
            let line = list.lines().find(|line| line.split_whitespace().next() == Some(&name)).unwrap();
            assert!(line.len() > name.len() + 4, "`{name}` has no title");
            let page = stdout(&["describe", &name, "--kind", family]);
            assert!(page.lines().count() > 5, "{name}: {page}");
        }
    }
    for name in ["oltp", "metrics"] {
        assert!(stdout(&["describe", name]).lines().count() > 10, "{name}");
    }
}

#[test]
fn manual_page_shows_parameters_with_defaults() {
    let page = stdout(&["describe", "page"]);
    assert!(page.contains("PARAMETERS") && page.contains("reserve = 1") && page.contains("[ftl]"), "{page}");
    let metrics = stdout(&["describe", "metrics"]);
    for field in ["write_amplification.host", "padding.r_db", "hits.sector", "load.overloaded"] {
        assert!(metrics.contains(field), "{field}");
    }
    assert!(stdout(&["describe", "msr"]).contains("Timestamp"));
}

#[test]
fn defaults_of_every_generator_make_requests() {
    for name in names("generators") {
        let page = stdout(&["describe", &name]);
        let Some(line) = page.lines().map(str::trim).find(|line| line.starts_with(&format!("make:{name}"))) else {
            continue;
        };
        assert!(!line.contains("null"), "{line}");
        stdout(&["trace", "make", line.trim_start_matches("make:"), "-n", "2"]);
    }
    assert!(stdout(&["describe", "ycsb"]).contains("Absent by default: `ratio`, `keys`."));
}

#[test]
fn manual_page_of_an_experiment_shows_what_varies_and_what_is_claimed() {
    let page = stdout(&["describe", "wpa", "--kind", "experiments"]);
    for part in ["gaming = make:gaming-console", "CBM = cbm-r", "480 runs", "fig 5: WPA has the highest hit ratio"] {
        assert!(page.contains(part), "{part} in\n{page}");
    }
    assert!(page.contains("`nandlab reproduce wpa -o FOLDER`"), "{page}");
}

#[test]
fn manual_page_of_every_ftl_shows_its_evidence() {
    for name in names("ftls") {
        let page = stdout(&["describe", &name, "--kind", "ftls"]);
        let (_, evidence) = page.split_once("EVIDENCE").expect("a section about evidence");
        for what in ["golden cases: ", "theory: ", "random operations: ", "cut points: "] {
            assert!(evidence.contains(what), "{name}: crates/core/EVIDENCE.md has no row for it\n{page}");
        }
    }
}

#[test]
fn misspelt_name_is_answered_with_the_right_one() {
    for (wrong, right) in
        [("pagee", "page"), ("lur", "lru"), ("msrr", "msr"), ("otlp", "oltp"), ("xp-mont", "xp-month")]
    {
        let said = refusal(&["describe", wrong]);
        assert!(said.contains(&format!("did you mean `{right}`?")), "{said}");
    }
}

#[test]
fn printed_configurations_load_again() {
    let args = ["config", "--ram", "4MiB", "--precondition", "steady:0.5", "--mode", "closed", "--seed", "9"];
    for device in names("devices") {
        let printed = stdout(&[&args[..], &["--device", &device]].concat());
        let path = file(&format!("{device}.toml"), &printed);
        assert_eq!(stdout(&["config", "--device", &path]), printed, "{device}");
    }
    for (family, option) in [("ftls", "--ftl"), ("buffers", "--buffer")] {
        for name in names(family) {
            let printed = stdout(&["config", option, &name]);
            let path = file(&format!("{family}-{name}.toml"), &printed);
            assert_eq!(stdout(&["config", "--device", &path]), printed, "{name}");
        }
    }
}

#[test]
fn printed_configuration_gives_the_same_run() {
    let path = file("same.toml", stdout(&["config", "--device", TINY, "--ftl", "page:reserve=2"]));
    let run = |device: &str, more: &[&str]| {
        stdout(&[&["run", "--device", device, "--limit", "3000", "--json", "-", "--no-wall"], more].concat())
    };
    assert_eq!(run(&path, &[]), run(TINY, &["--ftl", "page:reserve=2"]));
}

#[test]
fn schema_of_configurations_is_a_valid_schema() {
    let schema = json(&stdout(&["config", "--schema"]));
    assert!(schema["properties"]["ram"].is_object());
    for name in names("ftls") {
        assert!(schema["plugins"]["ftl"][&name].is_object(), "{name}");
    }
    for more in [["-d", "lab"], ["-f", "dftl"], ["--set", "seed=1"], ["--size", "1GiB"]] {
        let refused = nandlab(&[&["config", "--schema"][..], &more].concat());
        assert_eq!(refused.status.code(), Some(2), "what is not read is refused: {more:?}");
    }
    assert!(json(&stdout(&["config", "--schema", "--color", "never"]))["properties"].is_object());
}

#[test]
fn completions_exist_for_every_shell() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        assert!(stdout(&["completions", shell]).contains("precondition"), "{shell}");
    }
}

#[test]
fn help_teaches() {
    let help = stdout(&["--help"]);
    for part in ["Examples:", "Exit codes", "compare", "conform"] {
        assert!(help.contains(part), "{part} in\n{help}");
    }
    assert!(stdout(&["run", "--help"]).contains("built-in workload"));
    assert!(stdout(&["--version"]).starts_with("nandlab "));
}

#[test]
fn conform_tells_equal_from_different_from_unreadable() {
    let golden = concat!(env!("CARGO_MANIFEST_DIR"), "/../core/tests/golden/ftl-block.json");
    let text = std::fs::read_to_string(golden).unwrap();
    assert!(stdout(&["conform", golden]).starts_with("ok"));
    let mut file_json = json(&text);
    let count = &mut file_json["cases"][0]["steps"][0]["delta"]["copy_reads"];
    *count = (count.as_u64().unwrap() + 1).into();
    let wrong = file("wrong-golden.json", file_json.to_string());
    file_json["cases"] = serde_json::json!([]);
    let no_case = file_json.to_string();
    let output = nandlab(&["conform", golden, &wrong]);
    let said = String::from_utf8(output.stdout.clone()).unwrap();
    assert_eq!(output.status.code(), Some(1), "{said} {}", stderr(&output));
    assert!(said.contains("DIFFERS") && said.contains("expected") && said.contains("step"), "{said}");
    for content in ["not json", "{}", "{\"schema\": 99}", &no_case] {
        let path = file("unreadable.json", content);
        let said = refusal(&["conform", &path]);
        assert!(said.contains("unreadable.json") && said.contains("help:"), "{content}: {said}");
    }
}

#[test]
fn conform_refuses_impossible_sizes_and_unknown_fields() {
    let golden = |name: &str| format!("{}/../core/tests/golden/{name}.json", env!("CARGO_MANIFEST_DIR"));
    for name in ["ftl-dftl", "ftl-sftl", "ftl-timing", "ftl-urm-cmt"] {
        let mut typo = json(&std::fs::read_to_string(golden(name)).unwrap());
        typo["cases"][0]["finall"] = 1.into();
        let said = refusal(&["conform", &file("typo-golden.json", typo.to_string())]);
        assert!(said.contains("cases[0]") && said.contains("unknown field `finall`"), "{name}: {said}");
    }
    let original = json(&std::fs::read_to_string(golden("policies/lru")).unwrap());
    for (place, value, words) in [
        ("/cases/0/params/block_pages", 0, "a block has at least one page"),
        ("/cases/0/params/block_pages", 1 << 31, "is not a number of pages from 0 to 16777216"),
        ("/cases/0/params/capacity", (1_u64 << 32) + 3, "params.capacity: 4294967299 is not a number of pages"),
        ("/cases/0/accesses/0/lpn", u64::from(u32::MAX), "at most 16777216 pages each"),
        ("/cases/0/more", 1, "unknown field `more`"),
    ] {
        let mut changed = original.clone();
        let (parent, key) = place.rsplit_once('/').unwrap();
        changed.pointer_mut(parent).unwrap()[key] = value.into();
        let output = nandlab(&["conform", &file("impossible-golden.json", changed.to_string())]);
        let said = String::from_utf8(output.stdout.clone()).unwrap() + &stderr(&output);
        assert!(matches!(output.status.code(), Some(1 | 2)), "{place} {value}: {said}");
        assert!(said.contains(words), "{place} {value}: {said}");
    }
}
