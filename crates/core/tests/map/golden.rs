//! Does it do what the worked examples say?

use nandlab::conform;
use nandlab::flash::first_idle_copy;
use nandlab::ftl::compressed::{CompressedPage, ENTRY_BYTES, Format};
use nandlab::ftl::rftl::{PAPER_MODEL, placement};
use nandlab::types::{Nanos, Ppn};
use serde_json::{Value, json};

fn load(text: &str) -> Value {
    serde_json::from_str(text).expect("golden files are JSON")
}

fn number(value: &Value) -> u32 {
    value.as_u64().expect("a number") as u32
}

/// Replays a golden file; every counter, place, erase count and CMT list must agree.
fn replay(text: &str, cases: usize) {
    let report = conform::run(text).expect("the FTL is known");
    assert!(report.differences.is_empty(), "{:#?}", report.differences);
    assert_eq!(report.cases, cases);
}

#[test]
fn does_dftl_do_what_its_worked_examples_say() {
    replay(include_str!("../golden/ftl-dftl.json"), 6);
}

#[test]
fn does_rftl_do_what_its_worked_examples_say() {
    replay(include_str!("../golden/ftl-rftl.json"), 4);
    let golden = load(include_str!("../golden/ftl-rftl.json"));
    for (tp, row) in golden["placement"]["example_C4_r2"].as_array().expect("rows").iter().enumerate() {
        assert_eq!(json!(placement(tp as u32, 2, 4).collect::<Vec<_>>()), *row, "placement of page {tp}");
    }
}

#[test]
fn is_the_copy_read_that_the_paper_chooses() {
    for row in load(include_str!("../golden/ftl-rftl.json"))["copy_choice"].as_array().expect("rows") {
        let channels = row["copy_channels"].as_array().expect("channels");
        let busy =
            |channel: &Value| Nanos(u64::from(number(&row["channel_busy_until_us"][number(channel) as usize])) * 1000);
        let now = Nanos::from_us(u64::from(number(&row["now_us"])));
        let chosen = first_idle_copy(channels.iter().map(busy), now);
        assert_eq!(json!(chosen), row["chosen_copy"], "{row}");
        assert_eq!(channels[chosen], row["chosen_channel"]);
        assert_eq!(busy(&channels[chosen]).max(now), Nanos::from_us(u64::from(number(&row["read_starts_us"]))));
    }
}

#[test]
fn do_the_model_equations_give_the_tabulated_times() {
    let golden = load(include_str!("../golden/ftl-rftl.json"));
    for row in golden["model_equations_us"]["rows"].as_array().expect("rows") {
        let miss = row["miss_ratio"].as_f64().expect("a ratio");
        for (key, value) in row.as_object().expect("a row") {
            let Some((name, share)) = key.rsplit_once('_').filter(|(name, _)| name.starts_with("F_")) else { continue };
            let share: f64 = share.parse().expect("a share");
            let ours = match name {
                "F_base_PGC" => PAPER_MODEL.base_us(miss, share),
                _ => PAPER_MODEL.replicated_us(miss, share),
            };
            assert!((ours - value.as_f64().expect("a time")).abs() < 1e-9, "{key} at {miss}");
        }
    }
}

#[test]
fn does_the_compressed_table_do_what_its_worked_examples_say() {
    for case in load(include_str!("../golden/ftl-urm-cmt.json"))["cases"].as_array().expect("cases") {
        let of = |key: &str| number(&case["params"][key]);
        assert_eq!(of("bytes_per_entry"), ENTRY_BYTES);
        let format = Format { entries_per_tp: of("entries_per_tp"), max_run: of("max_length"), raw_fallback: true };
        let mut page = CompressedPage::new(format);
        let entries = |page: &CompressedPage| {
            json!(page.entries().iter().map(|r| json!([r.start, r.ppn.0, r.len, r.dirty])).collect::<Vec<_>>())
        };
        for step in case["steps"].as_array().into_iter().flatten() {
            page.update(number(&step["op"][1]), Ppn(number(&step["op"][2])));
            assert_eq!(entries(&page), step["entries"], "{} {step}", case["name"]);
            assert_eq!(json!(page.bytes()), step["bytes"]);
            page.check();
        }
        let mut sizes = case["sizes"].as_array().into_iter().flatten().peekable();
        for (i, update) in case["updates"].as_array().into_iter().flatten().enumerate() {
            page.update(number(&update[0]), Ppn(number(&update[1])));
            page.check();
            if sizes.peek().is_some_and(|size| size[0] == json!(i + 1)) {
                let size = json!([i + 1, page.entries().len(), page.bytes()]);
                assert_eq!(Some(&size), sizes.next());
            }
        }
        assert!(sizes.next().is_none());
        if !case["final_entries"].is_null() {
            assert_eq!(entries(&page), case["final_entries"]);
        }
    }
}

#[test]
fn does_tpftl_do_what_its_worked_examples_say() {
    replay(include_str!("../golden/ftl-tpftl.json"), 3);
}

#[test]
fn do_sftl_and_cdftl_do_what_their_worked_examples_say() {
    replay(include_str!("../golden/ftl-sftl.json"), 1);
    replay(include_str!("../golden/ftl-cdftl.json"), 1);
}
