//! Do the mapping caches do what the worked examples say? All other golden files are replayed in `golden_ftls`.

use nandlab::conform;

/// Replays a golden file; every counter, place, erase count and CMT list must agree.
fn replay(text: &str, cases: usize) {
    let report = conform::run(text).expect("the FTL is known");
    assert!(report.differences.is_empty(), "{:#?}", report.differences);
    assert_eq!(report.cases, cases);
}

#[test]
fn mapping_caches_do_what_their_worked_examples_say() {
    replay(include_str!("../golden/ftl-dftl.json"), 6);
    replay(include_str!("../golden/ftl-rftl.json"), 4);
    replay(include_str!("../golden/ftl-urm-cmt.json"), 6);
    replay(include_str!("../golden/ftl-tpftl.json"), 3);
    replay(include_str!("../golden/ftl-sftl.json"), 1);
    replay(include_str!("../golden/ftl-cdftl.json"), 1);
}
