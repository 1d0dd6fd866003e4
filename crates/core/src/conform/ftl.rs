//! Replay of golden files for FTLs (schema `ftl-golden/1`).
//!
//! Every case runs on a serial device with real bytes: each page written carries its LPN and version, so that every
//! read is also checked against a model. Invariants of FTL and array are asserted after every operation.

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Map, Value, json};

use super::bench::{Bench, Device, Wrong};
use super::counters::counters;
use super::{ConformError, Conformance, GoldenKind, Mismatch, map_cache, parse, replicas};
use crate::ftl::FTLS;
use crate::ledger::Ledger;
use crate::registry;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    name: String,
    /// What it shows, for readers.
    #[serde(rename = "note")]
    _note: Option<IgnoredAny>,
    device: Device,
    /// Only what the mapping cache does is compared.
    #[serde(default)]
    map_only: bool,
    #[serde(default)]
    params: Map<String, Value>,
    #[serde(default)]
    steps: Vec<Step>,
    #[serde(default)]
    ops: Vec<Value>,
    #[serde(rename = "final", default)]
    end: Map<String, Value>,
}

#[derive(Deserialize)]
struct Step {
    op: Value,
    #[serde(default)]
    delta: Map<String, Value>,
    /// Text for readers.
    #[serde(default)]
    #[expect(dead_code, reason = "keeps the events out of the state")]
    events: Value,
    /// Parts of the state after the step.
    #[serde(flatten)]
    state: Map<String, Value>,
}

/// Replays all cases of a file about the FTL `name`.
///
/// # Errors
/// When the FTL is not in the registry, or a case cannot be built.
pub fn run(name: &str, file: Value) -> Result<Conformance, ConformError> {
    #[derive(Deserialize)]
    struct File {
        cases: Vec<Value>,
    }
    let sections = file.clone();
    let file: File = parse("", file)?;
    let name = name.strip_suffix(map_cache::SUFFIX).unwrap_or(name);
    registry::find(FTLS, "ftl", name).map_err(ConformError::Unknown)?;
    let mut report = Conformance::new(GoldenKind::Ftl(name.to_owned()));
    for (number, mut case) in file.cases.into_iter().enumerate() {
        let place = format!("cases[{number}]");
        if case.get("device").is_none() {
            map_cache::complete(name, &mut case)?;
        }
        let case: Case = parse(&place, case)?;
        run_case(name, &place, &case, &mut report)?;
    }
    if name == "rftl" {
        replicas::run(&sections, &mut report)?;
    }
    Ok(report)
}

fn run_case(name: &str, place: &str, case: &Case, report: &mut Conformance) -> Result<(), ConformError> {
    let config = |error| ConformError::Config { case: case.name.clone(), error };
    let mut bench = Bench::new(name, &case.device, &case.params).map_err(config)?;
    report.cases += 1;
    let counters = |ledger: &Ledger| counters(ledger, case.map_only);
    let mut differ = |bench: &Bench, step, op: String, expected: &Value, got| {
        let (case, expected, state) = (case.name.clone(), expected.clone(), bench.state());
        report.differences.push(Mismatch { case, step, op, expected, got, state });
    };
    let worked = case.steps.iter().map(|step| (&step.op, Some(step)));
    let long = case.ops.iter().map(|op| (op, None));
    for (number, (op, step)) in worked.chain(long).enumerate() {
        let before = bench.flash.ledger;
        let mut found = Vec::new();
        let place = match step {
            Some(_) => format!("{place}.steps[{number}].op"),
            None => format!("{place}.ops[{}]", number - case.steps.len()),
        };
        bench.operate(&place, op, &mut found)?;
        let got = counters(&(bench.flash.ledger - before));
        if let Some(Step { delta, state, .. }) = step {
            wrong_counters(delta, &got, &mut found);
            let states = state.iter().map(|(what, expected)| (what, expected, bench.end_state(what)));
            let other = states.filter(|(_, expected, got)| *expected != got);
            found.extend(other.map(|(what, expected, got)| (what.clone(), expected.clone(), got)));
        }
        for (what, expected, got) in found {
            differ(&bench, Some(number + 1), format!("{op} {what}"), &expected, got);
        }
    }
    for (what, expected) in &case.end {
        let mut found = Vec::new();
        match expected {
            Value::Object(expected) if what == "counters" => {
                wrong_counters(expected, &counters(&bench.flash.ledger), &mut found);
            }
            _ => {
                let got = bench.end_state(what);
                if *expected != got {
                    found.push((what.clone(), expected.clone(), got));
                }
            }
        }
        for (what, expected, got) in found {
            differ(&bench, None, what, &expected, got);
        }
    }
    report.steps += case.steps.len() + case.ops.len();
    Ok(())
}

/// Counters that differ, one by one; absent ones are 0.
fn wrong_counters(expected: &Map<String, Value>, got: &Map<String, Value>, found: &mut Vec<Wrong>) {
    let value = |map: &Map<String, Value>, key: &String| map.get(key).cloned().unwrap_or(json!(0));
    let more = got.keys().filter(|key| !expected.contains_key(*key));
    for key in expected.keys().chain(more) {
        let (expected, got) = (value(expected, key), value(got, key));
        if expected != got {
            found.push((format!("counter {key}"), expected, got));
        }
    }
}
