//! Every field of the report against its formula, computed here a second time, on random counts and times.

mod kit;
mod report {
    pub mod expected;
    pub mod fake;
    pub mod schema;
}

use std::collections::BTreeSet;

use kit::Dice;
use nandlab::config::{Config, HostLink};
use nandlab::engine::Ssd;
use nandlab::replay::Outcome;
use nandlab::report::{Report, TraceSource, Wall};
use nandlab::types::{HostOp, HostRequest, Nanos};
use report::expected::Expected;
use report::fake::Fake;
use serde_json::Value;

/// A small device after some thousand requests, so that blocks are worn, frames dirty and groups flushed.
fn used(seed: u64) -> (Config, Box<dyn Ssd>) {
    let settings = [
        "device.geometry={channels=2, chips_per_channel=1, dies_per_chip=1, planes_per_die=1, blocks_per_plane=40, \
         pages_per_block=8, page_bytes=2048}",
        "device.over_provisioning={spare_over_physical=0.25}",
        "buffer.name=wpa",
        if seed == 3 { "ftl.name=superblock" } else { "ftl.name=dftl" },
        "ram.dram=32KiB",
        "ram.nvram=64KiB",
        "replay.mode=fast",
        if seed % 2 == 1 { "device.timing.model=scheduled" } else { "device.timing.model=parallel" },
        &format!("seed={seed}"),
        &format!("device.endurance.pe_cycles={}", 500 + seed),
    ];
    let config = kit::lab(settings);
    let (mut device, mut r) = (config.build().unwrap(), Dice::of_case(&[seed]));
    for _ in 0..2_000 + seed * 50 {
        let op = if r.below64(4) == 0 { HostOp::Read } else { HostOp::Write };
        let page = r.below64(400) * r.below64(400) / 400;
        device.run(&[HostRequest::new(Nanos(0), op, page * 4, 1 + r.below64(16) as u32)]).unwrap();
    }
    device.drain();
    (config, device)
}

/// The leaves of a JSON value by their path; the places of a list are one path each, `[0]`, `[1]` and so on.
fn leaves(value: &Value, path: &str, found: &mut Vec<(String, Value)>) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                leaves(value, &format!("{path}{}{name}", if path.is_empty() { "" } else { "." }), found);
            }
        }
        Value::Array(items) => {
            for (i, value) in items.iter().enumerate() {
                leaves(value, &format!("{path}[{i}]"), found);
            }
        }
        leaf => found.push((path.to_owned(), leaf.clone())),
    }
}

fn is_equal(got: &Value, expected: &Value) -> bool {
    match (got.as_f64(), expected.as_f64()) {
        (Some(got), Some(expected)) if got.fract() != 0.0 || expected.fract() != 0.0 => {
            (got - expected).abs() <= 1e-12 * got.abs().max(expected.abs())
        }
        (Some(got), Some(expected)) => got == expected,
        _ => got == expected,
    }
}

#[test]
fn every_field_is_its_formula() {
    for seed in 0..24 {
        let (mut config, device) = used(seed % 4);
        let mut r = Dice(seed + 100);
        config.replay.mode =
            if seed % 3 == 0 { nandlab::config::ReplayMode::Fast } else { nandlab::config::ReplayMode::Open };
        let link = ["none", "10MiB/s", "20MiB/s half-duplex"][seed as usize / 2 % 3];
        config.device.host.link = HostLink::parse(link).unwrap();
        config.device.controller.cores = 1 + seed as u32 % 3;
        config.device.cells.slc_program = (seed % 5 < 2).then_some(Nanos(200));
        let fake = Fake::new(device, &mut r, seed);
        // The limit of an overloaded run is 1 %: just not, just so, and anything.
        let requests = 1 + r.below64(3_000);
        let backlog = [requests / 100, requests / 100 + 1, r.below64(requests)][seed as usize % 3];
        let start = Nanos(r.below64(5_000));
        let last_arrival = start + Nanos(r.below64(1_000_000));
        let outcome = Outcome { start, requests, before: 0, last_arrival, backlog };
        let mut report = Report::new(&config, &fake, TraceSource::default(), &outcome);
        report.wall =
            Some(Wall { build_seconds: 1.5, run_seconds: 2.5, pages_per_second: 3.5, requests_per_second: 4.5 });
        let report = serde_json::to_value(&report).unwrap();
        let expected = Expected::new(&config, &fake, &outcome).values;
        let mut found = Vec::new();
        leaves(&report, "", &mut found);
        for (path, got) in &found {
            if is_copied(path) {
                continue;
            }
            let expected = expected.get(path).unwrap_or_else(|| panic!("no test computes `{path}`, which is {got}"));
            assert!(is_equal(got, expected), "seed {seed}, {path}: {got} instead of {expected}");
        }
        let paths: BTreeSet<&String> = found.iter().map(|(path, _)| path).collect();
        for path in expected.keys() {
            assert!(paths.contains(path), "seed {seed}: {path} is missing");
        }
        assert_eq!(report["config"], serde_json::to_value(&config).unwrap());
        assert_eq!(report["ledger"], serde_json::to_value(fake.ledger).unwrap());
        assert_eq!(report["trace"], serde_json::to_value(TraceSource::default()).unwrap());
    }
}

/// Sections that are handed through as they are.
fn is_copied(path: &str) -> bool {
    ["config.", "ledger.", "trace."].iter().any(|section| path.starts_with(section))
}

/// Fields that tests/settle.rs computes, as their values need a device that goes on.
const SETTLED: [&str; 7] = [
    "settling.cost.write_backs",
    "settling.cost.reads",
    "settling.cost.programs",
    "settling.cost.erases",
    "settling.cost.elapsed_ns",
    "settling.cost.flash_service_ns",
    "settling.cost.hitstat_ns",
];

#[test]
fn every_field_of_the_schema_has_a_formula() {
    let (config, device) = used(3);
    let fake = Fake::new(device, &mut Dice(1), 1);
    let outcome = Outcome { start: Nanos(0), requests: 1, before: 0, last_arrival: Nanos(0), backlog: 0 };
    let expected = Expected::new(&config, &fake, &outcome).values;
    // Lists: each place has the same fields.
    let computed: BTreeSet<String> = expected.keys().map(|path| report::schema::without_places(path)).collect();
    let promised = report::schema::paths(&Report::schema());
    // What is there only if there is anything to say, and copied from where it is known.
    let given = ["config", "ledger", "trace"];
    for path in promised.iter().filter(|path| !given.contains(&path.split('.').next().unwrap())) {
        assert!(
            computed.contains(path) || SETTLED.contains(&path.as_str()),
            "`{path}` is a field of the report's schema, and no test computes it: add it to tests/report/expected.rs"
        );
    }
    assert!(promised.len() > 200, "{} fields", promised.len());
}

#[test]
fn random_counts_leave_no_counter_out() {
    let (_, device) = used(0);
    let fake = Fake::new(device, &mut Dice(7), 1);
    let mut found = Vec::new();
    leaves(&serde_json::to_value(fake.ledger).unwrap(), "", &mut found);
    for (path, value) in found {
        assert_ne!(value, 0, "{path}: add it to tests/report/fake.rs");
    }
}
