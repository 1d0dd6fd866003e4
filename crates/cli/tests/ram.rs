//! Does `nandlab ram` tell what the map takes and leaves?

mod common;

use common::{TINY, json, nandlab, stderr, stdout};

#[test]
fn every_ftl_is_in_the_table_with_the_ram_it_takes() {
    let answer = json(&stdout(&["ram", "--device", TINY, "--ram", "2MiB", "--json", "-"]));
    let rows = answer["rows"].as_array().unwrap();
    assert_eq!(rows.len(), stdout(&["list", "ftls"]).lines().count() - 1, "all by default");
    let number = |row: &serde_json::Value, key: &str| row[key].as_u64().unwrap();
    for row in rows {
        let (now, most) = (number(row, "map_bytes"), number(row, "map_bytes_most"));
        assert!(0 < now && now <= most, "{row}");
        for (map, pages) in [(now, "data_pages"), (most, "data_pages_least")] {
            let left = (2u64 << 20).saturating_sub(map) / answer["page_bytes"].as_u64().unwrap();
            assert_eq!(number(row, pages), left, "{row}");
        }
        if row["ftl"] == "page" {
            assert_eq!(now, answer["full_map_bytes"].as_u64().unwrap());
        }
    }
}

#[test]
fn table_forms_are_all_complete() {
    let with =
        |form: &[&str]| stdout(&[&["ram", "--device", TINY, "--ftls", "page,tpftl:cmt_bytes=1KiB"], form].concat());
    let text = with(&[]);
    assert!(text.contains("a full map takes") && text.contains("tpftl:cmt_bytes=1KiB"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 120), "{text}");
    assert_eq!(with(&["--markdown"]).lines().count(), 4);
    let csv = with(&["--csv"]);
    let columns: Vec<usize> = csv.lines().map(|line| line.split(',').count()).collect();
    assert_eq!(columns, [6; 3], "{csv}");
}

#[test]
fn ftl_that_does_not_fit_is_a_row_with_its_error() {
    let output = nandlab(&["ram", "--device", TINY, "--ftls", "page,dftl:cmt_entries=0"]);
    assert_eq!(output.status.code(), Some(4), "{}", stderr(&output));
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("failed:") && text.contains("ftl.cmt_entries"), "{text}");
    let output = nandlab(&["ram", "--device", TINY, "--set", "ram.drum=1"]);
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
}
