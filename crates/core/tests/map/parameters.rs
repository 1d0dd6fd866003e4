//! Which parameters are refused, and how much RAM the others take.

use serde_json::json;

use super::device::{build, refusal, shape};

#[test]
fn parameters_that_cannot_work_are_refused() {
    let device = shape(4, 40, 16, 400, 512);
    let refused = |name, params| refusal(name, params, &device);
    assert!(refused("rftl", json!({"replicas": 4})).contains("ftl.replicas"));
    assert!(refused("dftl", json!({"reserve": 2})).contains("ftl.reserve"));
    assert!(refused("dftl", json!({"reserve": 30})).contains("ftl.reserve"));
    assert!(refused("dftl", json!({"entries_per_tp": 129})).contains("ftl.entries_per_tp"));
    assert!(refused("dftl", json!({"cmt_entries": 8, "cmt_bytes": "64B"})).contains("ftl.cmt_bytes"));
    assert!(refused("dftl", json!({"cmt_entries": 0})).contains("ftl.cmt_entries"));
    assert!(refused("dftl", json!({"cmt_entries": 4, "cmt_protected": 5})).contains("ftl.cmt_protected"));
    assert!(refused("dftl", json!({"cmt_protected": 1.5})).contains("ftl.cmt_protected"));
    assert!(refused("dftl", json!({"cmt_protected": 1, "cmt_order": "clock"})).contains("the order `clock` has no"));
    assert!(refused("dftl", json!({"cmt_size": 4})).contains("cmt_size"));
    assert!(refused("tpftl", json!({"cmt_entries": 0})).contains("ftl.cmt_entries"));
    assert!(refused("tpftl", json!({"cmt_entries": 1, "cmt_bytes": 100})).contains("ftl.cmt_bytes"));
    assert!(refused("tpftl", json!({"cmt_bytes": 13})).contains("14B or more"));
    assert!(refused("tpftl", json!({"selective_threshold": 0})).contains("ftl.selective_threshold"));
    for pieces in [0, 129] {
        assert!(refused("learnedftl", json!({"pieces": pieces})).contains("ftl.pieces"));
    }
    assert!(refused("sftl", json!({"cache_bytes": 19})).contains("20B or more"));
    assert!(refused("cdftl", json!({"cmt_entries": 0})).contains("ftl.cmt_entries"));
    assert!(refused("cdftl", json!({"ctp_pages": 0})).contains("ftl.ctp_pages"));
    assert!(refused("urm-map", json!({"mode": "demand", "map_budget": 100})).contains("ftl.map_budget"));
    assert!(refused("urm-map", json!({"mode": "demand", "load_entries": 5})).contains("ftl.load_entries"));
    assert!(
        refused("urm-map", json!({"map_budget": "64KiB"})).contains("`64KiB` has no effect with `mode = \"resident\"`")
    );
    assert!(refused("urm-map", json!({"load_entries": 102})).contains("102 has no effect"));
    assert!(refused("urm-map", json!({"max_run": 33})).contains("ftl.max_run"));
}

#[test]
fn ram_of_the_map_is_that_of_the_formula() {
    let device = shape(4, 400, 16, 4000, 512);
    let bytes = |name, params| build(name, params, &device).map_bytes();
    assert_eq!(bytes("dftl", json!({"cmt_entries": 100})), 8 * 100 + 4 * 32);
    assert_eq!(bytes("dftl", json!({"cmt_bytes": "32KiB"})), 32768 + 4 * 32);
    assert_eq!(bytes("rftl", json!({"cmt_entries": 100, "replicas": 2})), 8 * 100 + 4 * 3 * 32);
    assert_eq!(bytes("tpftl", json!({"cmt_entries": 100})), 6 * 100 + 4 * 32);
    // Sequentially written, a page of 128 mappings lies in up to 3 blocks on each of 4 dies.
    assert_eq!(bytes("learnedftl", json!({"cmt_entries": 100})), 6 * 100 + (16 + 12 * 12) * 32 + 4 * 32);
    assert_eq!(bytes("learnedftl", json!({"cmt_bytes": 100, "pieces": 5})), (16 + 12 * 5) * 32 + 4 * 32);
    assert_eq!(bytes("sftl", json!({})), 4 * 32);
    assert_eq!(bytes("cdftl", json!({"cmt_entries": 100, "ctp_pages": 3})), 8 * 100 + 512 * 3 + 4 * 32);
    let most = |name, params| build(name, params, &device).map_bytes_most();
    assert_eq!(most("dftl", json!({"cmt_entries": 100})), 8 * 100 + 4 * 32);
    assert_eq!(most("tpftl", json!({"cmt_entries": 100})), 6 * 100 + 8 * 32 + 4 * 32);
    assert_eq!(most("tpftl", json!({"cmt_entries": 20})), 6 * 20 + 8 * 20 + 4 * 32);
    assert_eq!(most("tpftl", json!({"cmt_bytes": 1000})), 1000 + 4 * 32);
    assert_eq!(most("learnedftl", json!({"cmt_bytes": 1000, "pieces": 1})), 1000 + (16 + 12) * 32 + 4 * 32);
    assert_eq!(most("sftl", json!({"cache_bytes": 3000})), 3000 + 4 * 32);
}
