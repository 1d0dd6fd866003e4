//! Does it do what the worked examples say?

use std::collections::BTreeMap;

use nandlab::flash::{Flash, Media, first_idle_copy};
use nandlab::ftl::compressed::{CompressedPage, ENTRY_BYTES, Format};
use nandlab::ftl::rftl::{PAPER_MODEL, placement};
use nandlab::ftl::{Batch, Ftl, PageWrite};
use nandlab::ledger::{Cause, Ledger, Op};
use nandlab::types::{Lbn, Lpn, Nanos, Pbn, Ppn};
use serde_json::{Value, json};

use super::device::{PAGE_BYTES, build, fill, flash, host, shape, start};

type Counts = BTreeMap<&'static str, u64>;

fn load(text: &str) -> Value {
    serde_json::from_str(text).expect("golden files are JSON")
}

fn number(value: &Value) -> u32 {
    value.as_u64().expect("a number") as u32
}

/// The counters of a golden file, as functions of the ledger.
fn counts(l: &Ledger, seen: &Counts) -> Counts {
    let mut all = seen.clone();
    let rows = [
        ("data_reads", l.count(Op::Read, Cause::Host)),
        ("host_programs", l.count(Op::Program, Cause::Host)),
        ("pad_reads", l.count(Op::Read, Cause::Pad)),
        ("pad_programs", l.count(Op::Program, Cause::Pad)),
        ("copy_reads", l.count(Op::Read, Cause::Gc)),
        ("copy_programs", l.count(Op::Program, Cause::Gc)),
        ("map_reads_miss", l.count(Op::Read, Cause::MapMiss)),
        ("map_reads_rmw", l.count(Op::Read, Cause::MapEvict)),
        ("map_programs_evict", l.count(Op::Program, Cause::MapEvict)),
        ("map_reads_gc", l.count(Op::Read, Cause::MapUpdate)),
        ("map_programs_gc", l.count(Op::Program, Cause::MapUpdate)),
        ("map_copy_reads", l.count(Op::Read, Cause::MapGc)),
        ("map_copy_programs", l.count(Op::Program, Cause::MapGc)),
        ("cmt_hits", l.map_hits),
        ("cmt_misses", l.map_misses),
        ("gc_runs", l.gc_runs),
        ("erases", l.erases()),
        ("erases_data", l.erases_by_kind[0]),
        ("erases_map", l.erases_by_kind[2]),
    ];
    all.extend(rows);
    all.retain(|_, count| *count > 0);
    all
}

fn apply(ftl: &mut dyn Ftl, flash: &mut Flash, op: &[Value], seen: &mut Counts) {
    let n = flash.geometry().pages_per_block;
    match op[0].as_str().expect("an operation") {
        "r" => {
            *seen.entry("host_reads").or_default() += 1;
            let found = ftl.read(flash, Lpn(number(&op[1])), Cause::Host, start());
            *seen.entry("unmapped_reads").or_default() += u64::from(found.ppn.is_none());
        }
        "w" => {
            *seen.entry("host_writes").or_default() += 1;
            ftl.write(flash, Batch { pages: &[host(number(&op[1]), 1)], bytes: &[] }, start());
        }
        "t" => {
            *seen.entry("host_trims").or_default() += 1;
            ftl.trim(flash, Lpn(number(&op[1])), start());
        }
        "wg" => {
            let (lbn, pad) = (number(&op[1]), op[3] == json!(true));
            let dirty: Vec<u32> = op[2].as_array().expect("offsets").iter().map(number).collect();
            *seen.entry("host_writes").or_default() += dirty.len() as u64;
            let mut pages = Vec::new();
            for offset in 0..n {
                let lpn = Lpn(lbn * n + offset);
                if dirty.contains(&offset) {
                    pages.push(host(lpn.0, 1));
                } else if pad && ftl.read(flash, lpn, Cause::Pad, start()).ppn.is_some() {
                    pages.push(PageWrite { lpn, cause: Cause::Pad, version: 1 });
                }
            }
            if pad || dirty.len() as u32 == n {
                ftl.write_block(flash, Lbn(lbn), Batch { pages: &pages, bytes: &[] }, start());
            } else {
                ftl.write(flash, Batch { pages: &pages, bytes: &[] }, start());
            }
        }
        other => panic!("unknown operation {other}"),
    }
}

fn replay(name: &str, case: &Value) {
    let device = &case["device"];
    let of = |key: &str| number(&device[key]);
    let logical = of("logical_pages");
    let shape = shape(1, of("physical_blocks"), of("pages_per_block"), logical, PAGE_BYTES);
    let mut flash = flash(&shape, Media::None);
    let mut ftl = build(name, case["params"].clone(), &shape);
    if device["precondition"] == json!("full") {
        fill(&mut *ftl, &mut flash, &shape);
    }
    let what = format!("{name}/{}", case["name"].as_str().expect("a name"));
    let mut seen = Counts::new();
    for (i, step) in case["steps"].as_array().into_iter().flatten().enumerate() {
        let (ledger, before) = (flash.ledger, seen.clone());
        apply(&mut *ftl, &mut flash, step["op"].as_array().expect("an operation"), &mut seen);
        ftl.check(&flash);
        flash.check();
        let new = seen.iter().map(|(k, v)| (*k, v - before.get(k).unwrap_or(&0))).collect();
        assert_eq!(json!(counts(&(flash.ledger - ledger), &new)), step["delta"], "{what} step {i}: {}", step["op"]);
    }
    for op in case["ops"].as_array().into_iter().flatten() {
        apply(&mut *ftl, &mut flash, op.as_array().expect("an operation"), &mut seen);
        ftl.check(&flash);
    }
    let last = &case["final"];
    assert_eq!(json!(counts(&flash.ledger, &seen)), last["counters"], "{what} counters");
    assert_eq!(ftl.golden_state(&flash)["cmt"], last["cmt"], "{what} cmt");
    assert_eq!(json!(ftl.free_blocks()), last["free_blocks"], "{what} free blocks");
    let place = |lpn| match ftl.locate(&flash, lpn) {
        Ppn::NONE => Value::Null,
        ppn => json!([flash.geometry().pbn(ppn).0, flash.geometry().page_in_block(ppn)]),
    };
    let places: Vec<Value> = (0..logical).map(|l| place(Lpn(l))).collect();
    assert_eq!(json!(places), last["location"], "{what} location");
    let blocks = flash.geometry().blocks();
    let wear: Vec<u32> = (0..blocks).map(|b| flash.erase_count(Pbn(b))).collect();
    assert_eq!(json!(wear), last["erase_counts"], "{what} erase counts");
    let programmed: u32 = (0..blocks).map(|b| flash.next_page(Pbn(b))).sum();
    assert_eq!(json!(programmed), last["programmed_pages"], "{what} programmed pages");
}

#[test]
fn does_dftl_do_what_its_worked_examples_say() {
    for case in load(include_str!("../golden/ftl-dftl.json"))["cases"].as_array().expect("cases") {
        replay("dftl", case);
    }
}

#[test]
fn does_rftl_do_what_its_worked_examples_say() {
    let golden = load(include_str!("../golden/ftl-rftl.json"));
    for case in golden["cases"].as_array().expect("cases") {
        replay("rftl", case);
    }
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
