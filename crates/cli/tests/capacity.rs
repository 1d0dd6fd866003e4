//! Devices that are grown to a size or to a trace: `--capacity`.

mod common;

use common::{TINY, file, json, nandlab, refusal, stderr, stdout};

const FAR: &str = "0,0,4096,w,0.5\n0,900000000,8192,w,0.75\n0,8,4096,r,1.5\n0,900000008,4096,r,2.5\n";

fn run(path: &str, more: &[&str]) -> serde_json::Value {
    json(&stdout(&[&["run", path, "--device", TINY, "--json", "-", "--no-wall"], more].concat()))
}

#[test]
fn capacity_fit_is_the_smallest_device_with_every_address() {
    let path = file("far.spc", FAR);
    let empty = ["--precondition", "none"];
    let fit = run(&path, &[&empty[..], &["--capacity", "fit"]].concat());
    let blocks = fit["config"]["device"]["geometry"]["blocks_per_plane"].as_u64().unwrap();
    let with = |blocks: u64| {
        let set = format!("device.geometry.blocks_per_plane={blocks}");
        nandlab(&[&["run", &path, "--device", TINY, "--json", "-", "--no-wall", "--set", &set], &empty[..]].concat())
    };
    assert_eq!(json(&with(blocks).stdout), fit, "as if the blocks had been set");
    assert_eq!(with(blocks - 1).status.code(), Some(2), "one block less is too small");
    let end = (900_000_000u64 + 16) * 512;
    assert_eq!(run(&path, &[&empty[..], &["--capacity", &end.to_string()]].concat()), fit, "the same as its size");
    assert_eq!(fit["trace"]["address"], "reject");
    assert!(fit["trace"]["changed"].as_object().unwrap().values().all(|count| count == 0), "{}", fit["trace"]);
}

#[test]
fn capacity_fit_grows_the_devices_of_all_commands() {
    let path = file("far_for_all.spc", FAR);
    let fit = ["--capacity", "fit", "--precondition", "none", "--device", TINY, "--csv"];
    let compare = stdout(&[&["compare", &path, "--buffers", "lru", "--ftls", "page,fast"], &fit[..]].concat());
    assert_eq!(compare.lines().count(), 3, "{compare}");
    let curve = stdout(&[&["curve", &path, "--ftl", "page", "--ram", "64KiB"], &fit[..]].concat());
    assert_eq!(curve.lines().count(), 2, "{curve}");
    let piped = common::nandlab_reading(
        &["run", "-", "--format", "spc", "--device", TINY, "--capacity", "fit", "--precondition", "none", "-q"],
        FAR.as_bytes(),
    );
    assert!(piped.status.success(), "{}", stderr(&piped));
    let config = stdout(&["config", "--capacity", "1TiB"]);
    assert!(config.contains("blocks_per_plane = 74899"), "{config}");
}

#[test]
fn sizes_that_are_shown_are_taken() {
    let grown = stdout(&["config", "--capacity", "30.324GiB"]);
    assert_eq!(grown, stdout(&["config", "--capacity", "32560147071"]));
    let config = stdout(&["config", "--ram", "6.348MiB", "--nvram", "0.1KiB"]);
    assert!(config.contains("dram = \"6656360B\"") && config.contains("nvram = \"102B\""), "{config}");
}

#[test]
fn capacity_is_refused_where_it_means_nothing() {
    let path = file("far_refused.spc", FAR);
    for (more, wanted) in [
        (vec!["run", &path, "--capacity", "fit", "--address", "compact"], "leave one of the two out"),
        (vec!["run", &path, "--capacity", "16TiB"], "--capacity: 16TiB"),
        (vec!["run", &path, "--capacity", "0"], "at least"),
        (vec!["run", &path, "--capacity", "big"], "fit"),
        (vec!["config", "--capacity", "fit"], "give a size"),
        (vec!["curve", &path, "--capacity", "fit"], "add --ftl"),
    ] {
        let said = refusal(&more);
        assert!(said.contains(wanted), "{more:?}: {said}");
    }
}

#[test]
fn suggested_commands_take_what_they_suggest() {
    let path = file("far_suggested.spc", FAR);
    let suggested = |more: &[&str]| {
        let said = stderr(&nandlab(&[more, &[&path]].concat()));
        said.lines().find_map(|line| line.strip_prefix("  try: nandlab ")).unwrap_or_default().to_owned()
    };
    // Without a device there is nothing to grow, and nothing beyond it.
    for command in ["curve", "bound"] {
        assert!(!suggested(&[command, "--address", "reject"]).contains("--capacity"), "{command}");
    }
    // A device that would be mostly empty is not suggested.
    assert!(suggested(&["run", "--device", TINY]).contains("--address compact"));
    let near = file("near.spc", "0,0,4096,w,0.5\n0,40000,4096,w,0.75\n");
    let said = stderr(&nandlab(&["run", "--device", TINY, "-q", "--", &near]));
    let line = said.lines().find_map(|line| line.strip_prefix("  try: nandlab ")).unwrap();
    assert!(line.contains("--capacity fit -- "), "options stand before `--`: {line}");
    let words: Vec<&str> = line.split(' ').collect();
    assert!(nandlab(&words).status.success(), "{line}");
    let beyond = file("beyond_all.spc", "0,90000000000000,4096,w,0.5\n");
    let said = stderr(&nandlab(&["run", &beyond, "--capacity", "fit", "-q"]));
    assert!(said.contains("no device has") && said.contains("--address compact"), "{said}");
}
