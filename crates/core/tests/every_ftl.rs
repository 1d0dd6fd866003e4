//! Does every FTL keep what it is given, through random operations and power cuts?

#![allow(clippy::print_stdout, reason = "the counts are part of what these tests tell")]

mod campaign;
mod kit;

use campaign::rig::{Device, Size, Start, smallest};
use campaign::streams::Seen;
use campaign::{Counts, variants};
use kit::{Dice, at_once};
use nandlab::config::PluginConfig;
use nandlab::engine::Payload;
use nandlab::ftl::FTLS;
use nandlab::ledger::{Cause, Op};
use nandlab::types::{HostOp, HostRequest, Nanos};

/// The cell of an FTL in the table of crates/core/EVIDENCE.md.
#[track_caller]
fn recorded(ftl: &str, column: &str) -> u64 {
    let page = include_str!("../EVIDENCE.md");
    let cells = |line: &'static str| line.trim_matches('|').split('|').map(str::trim);
    let row = |first: &str| page.lines().find(|line| line.starts_with('|') && cells(line).next() == Some(first));
    let row_of =
        |first: &str| row(first).unwrap_or_else(|| panic!("crates/core/EVIDENCE.md has no row `{first}`: add one"));
    let index = cells(row_of("FTL")).position(|name| name == column).expect("the column");
    let cell = cells(row_of(ftl)).nth(index).expect("as many cells as columns").replace(',', "");
    cell.parse().unwrap_or_else(|_| panic!("crates/core/EVIDENCE.md: `{cell}` of {ftl} is not a number"))
}

/// The page may not claim more than is counted here, nor much less: what is to be written.
fn hold_against_the_page(ftl: &str, column: &str, counted: u64, wrong: &mut Vec<String>) {
    let told = recorded(ftl, column);
    if !(counted * 9 / 10..=counted).contains(&told) {
        wrong.push(format!("crates/core/EVIDENCE.md tells {told} {column} of {ftl}, counted {counted}: write that"));
    }
}

/// Random operations for each FTL, at least.
const OPERATIONS: u32 = 1_000_000;
/// Cut points in all, at least.
const CUT_POINTS: u64 = 100_000;

/// What every FTL went through, and that no stream was run twice.
fn of_each_ftl(run: impl Fn(&str, &mut Seen) -> Counts + Sync) -> (Vec<(String, Counts)>, Seen) {
    let mut all = Seen::default();
    let runs = at_once(FTLS, |plugin| {
        let mut seen = Seen::default();
        let counts = run(&plugin.name(), &mut seen);
        (plugin.name(), counts, seen)
    });
    let counts = runs.into_iter().map(|(name, counts, seen)| {
        all.join(seen);
        (name, counts)
    });
    (counts.collect(), all)
}

#[test]
fn every_ftl_returns_what_was_written_last() {
    let mut wrong = Vec::new();
    let (counts, _) = of_each_ftl(|name, seen| {
        let runs = variants::variants(name).len() * variants::SIZES.len() * campaign::rig::STARTS.len();
        campaign::operate(name, 0, OPERATIONS.div_ceil(runs as u32), seen)
    });
    for (name, counts) in counts {
        println!("{name}: {} operations", counts.operations);
        assert!(counts.operations >= u64::from(OPERATIONS));
        hold_against_the_page(&name, "random operations", counts.operations, &mut wrong);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_ftl_survives_a_power_cut_at_every_flash_operation() {
    let (mut all, mut wrong) = (Counts::default(), Vec::new());
    let (counts, seen) = of_each_ftl(|name, seen| campaign::cut(name, 0, 40, seen));
    for (name, counts) in counts {
        println!("{name}: {counts}");
        assert!(counts.cut_points > 1_000 && counts.recovery_cuts > 500, "{name}: {counts}");
        // Each variant of the parameters adds its cuts, and a new FTL may have only one.
        let least = 100 * variants::variants(&name).len() as u64;
        assert!(counts.lower_pages > 500 && counts.compacted_cuts > least, "{name}: {counts}");
        hold_against_the_page(&name, "cut points", counts.cut_points, &mut wrong);
        hold_against_the_page(&name, "all cuts", counts.cuts(), &mut wrong);
        hold_against_the_page(&name, "after compaction", counts.compacted_cuts, &mut wrong);
        hold_against_the_page(&name, "lower pages down", counts.lower_pages, &mut wrong);
        hold_against_the_page(&name, "lower pages lost", counts.lost_pages, &mut wrong);
        all += counts;
    }
    println!("all: {all}; {} streams, no two equal", seen.streams());
    assert!(all.cut_points >= CUT_POINTS, "{all}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn page_ftl_keeps_its_data_with_every_combination_of_options() {
    let mut moved = [0; 3];
    for params in variants::page_combinations() {
        for (logical_pages, dies, start) in [(29, 1, Start::Full), (30, 4, Start::Empty), (30, 4, Start::Roomy)] {
            let size = Size { pages_per_block: 4, logical_pages, dies };
            let shape = smallest("page", &params, size, start);
            let stream = format!("every combination: {params}, {size:?} {start:?}");
            let mut device = Device::new("page", &params, shape, start, &stream);
            for _ in 0..400 {
                device.operate();
                device.acknowledge();
                device.check();
            }
            (0..device.shape.logical_pages).for_each(|lpn| device.read(lpn));
            let ledger = &device.flash.ledger;
            let count = |op| [Cause::Host, Cause::Gc, Cause::Wear].map(|cause| ledger.count(op, cause));
            assert_eq!(
                ledger.programs(),
                count(Op::Program).iter().sum::<u64>() + ledger.count(Op::Program, Cause::Pad)
            );
            assert_eq!(count(Op::Program)[1..], count(Op::Read)[1..], "a copy is one read and one program");
            assert_eq!(count(Op::Erase)[1] + count(Op::Erase)[2], ledger.erases());
            moved = std::array::from_fn(|i| moved[i] + count(Op::Erase)[i]);
            if params.get("wear_threshold").is_none() {
                assert_eq!(count(Op::Erase)[2], 0, "{params}: levelling that nobody asked for");
            }
        }
    }
    assert!(moved[1] > 20_000 && moved[2] > 1_000, "erases by cause {moved:?}");
}

#[test]
fn evidence_golden_columns_are_true() {
    for plugin in FTLS {
        let name = plugin.name();
        // The file of urm-map has the name of its paper's table.
        let file = if name == "urm-map" { "urm-cmt" } else { &name };
        let path = format!("{}/tests/golden/ftl-{file}.json", env!("CARGO_MANIFEST_DIR"));
        let Ok(text) = std::fs::read_to_string(&path) else {
            assert_eq!((recorded(&name, "golden cases"), recorded(&name, "golden steps")), (0, 0), "{name}: no {path}");
            continue;
        };
        let golden: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        let cases = golden["cases"].as_array().expect("cases");
        let steps = |case: &serde_json::Value| {
            ["steps", "ops"].iter().map(|key| case[*key].as_array().map_or(0, Vec::len) as u64).sum::<u64>()
        };
        assert_eq!(recorded(&name, "golden cases"), cases.len() as u64, "{name}");
        assert_eq!(recorded(&name, "golden steps"), cases.iter().map(steps).sum::<u64>(), "{name}");
    }
}

/// Random reads, writes and trims of a device with this FTL.
fn run_in_a_device(ftl: &str, params: &serde_json::Value) {
    let mut params = params.clone();
    params["name"] = ftl.into();
    // Pages of 4 mappings are for the small devices above, and some budgets just hold one.
    let more = if params.get("map_budget").is_some() { 8 } else { 64 };
    if let Some(entries) = params.get_mut("entries_per_tp") {
        *entries = more.into();
    }
    let settings = [
        "device.geometry={channels=4, chips_per_channel=1, dies_per_chip=1, planes_per_die=2, blocks_per_plane=24, \
         pages_per_block=12, page_bytes=4096}",
        "device.over_provisioning={spare_over_physical=0.4}",
        "device.endurance.cell=tlc",
        "device.timing.model=scheduled",
        "device.commands.unit_pages=2",
        "device.cells={slc_read=\"20us\", slc_program=\"200us\"}",
        "ram.dram=64KiB",
        "precondition=full",
        "replay.mode=fast",
    ];
    let ftl = format!("ftl={}", PluginConfig::typed(&params));
    let config = kit::lab(settings.into_iter().chain([ftl.as_str()]));
    let mut device = config.build().unwrap_or_else(|error| panic!("{ftl}: {error}"));
    let mut dice = Dice::of_case(&[7]);
    for _ in 0..3_000 {
        let op = [HostOp::Write, HostOp::Write, HostOp::Read, HostOp::Trim][dice.below(4) as usize];
        let page = u64::from(dice.below(device.logical_pages()));
        device.submit(&HostRequest::new(Nanos::ZERO, op, page * 8, 8), Payload::None).unwrap();
    }
    device.drain();
    device.test_port().check();
}

#[test]
fn every_ftl_runs_in_a_device_with_every_variant_of_its_parameters() {
    for plugin in FTLS {
        let name = plugin.name();
        for params in variants::variants(&name) {
            run_in_a_device(&name, &params);
        }
    }
}
