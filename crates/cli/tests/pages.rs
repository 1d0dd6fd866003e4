//! Are the pages of the buffer policies up to date?

mod common;

use std::fs;
use std::path::Path;

use common::{stdout, temporary};

const MEASURED: &str = include_str!("../../lab/measured.csv");

#[test]
fn policy_pages_say_what_the_sources_say() {
    let folder = temporary("policies");
    // The command makes it.
    _ = fs::remove_dir_all(&folder);
    stdout(&["pages", folder.to_str().unwrap(), "--keep"]);
    let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/policies");
    let names = |folder: &Path| {
        let mut names: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        names
    };
    assert_eq!(names(&folder), names(&kept), "run `nandlab pages docs/policies --keep`");
    for name in names(&folder) {
        let [made, kept] = [&folder, &kept].map(|folder| fs::read_to_string(folder.join(&name)).unwrap());
        assert!(made == kept, "docs/policies/{} is old: run `nandlab pages docs/policies --keep`", name.display());
    }
}

#[test]
fn every_policy_is_measured_and_shown_with_its_manual() {
    let list = stdout(&["list", "buffers"]);
    for name in list.lines().skip(1).filter_map(|line| line.split_whitespace().next()) {
        let rows = MEASURED.lines().filter(|line| line.split(',').next() == Some(name)).count();
        assert!(
            rows >= 3,
            "{name} has {rows} rows: run `nandlab pages docs/policies --figures crates/lab/measured.csv`"
        );
        let page = stdout(&["describe", name, "--kind", "buffers"]);
        assert!(page.contains("MEASURED") && page.contains("| make:oltp |"), "{name}: {page}");
    }
}

#[test]
fn row_is_the_same_as_a_run_by_its_recipe() {
    let recipe = "run make:oltp -d lab --buffer lru --address compact -n 80000 --set device.geometry.blocks_per_plane=256 \
                  --set ram.dram=4MiB --set ram.nvram=4MiB --set precondition={steady=1} --set replay.mode=fast --json - -q";
    let report = common::json(&stdout(&recipe.split_whitespace().collect::<Vec<_>>()));
    let row = MEASURED.lines().find(|line| line.starts_with("lru,make:oltp,")).unwrap();
    let percent = |side: &str| format!("{:.2}", 100.0 * report["hits"]["page"][side].as_f64().unwrap());
    let number = |path: &str| report.pointer(path).unwrap().to_string();
    let expected = [
        percent("read"),
        percent("write"),
        number("/buffer/write_backs"),
        number("/buffer/pages_written_back"),
        number("/padding/padded_pages"),
        number("/flash/programs/total"),
        number("/flash/erases/total"),
        format!("{:.3}", report["write_amplification"]["host"].as_f64().unwrap()),
        format!("{:.0}", report["response"]["all"]["mean_ns"].as_f64().unwrap() / 1e3),
    ];
    assert_eq!(row.split(',').skip(2).collect::<Vec<_>>(), expected);
}
