//! Golden files of flash time (schema `flash-timing/1`): when each of some operations ends, in both timing models.
//!
//! Every case runs twice in each model: issued as time goes on, and all at time zero with the arrivals as dependencies.

use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{ConformError, Conformance, GoldenKind, parse};
use crate::flash::clock::{Clock, ClockTimes, Release, Ticket, TimingModel};
use crate::ledger::Op;
use crate::types::Nanos;

/// Most channels and dies per channel of a case.
const MOST: u32 = 64;
/// Longest time of a case, microseconds.
const LONGEST_US: u64 = 1 << 40;

#[derive(Deserialize)]
struct File {
    cases: Vec<Case>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    name: String,
    /// What it shows, for readers.
    #[serde(rename = "note")]
    _note: Option<IgnoredAny>,
    params_us: Times,
    ops: Vec<Operation>,
    finish_serial: Option<Vec<u64>>,
    finish_event_fcfs: Option<Vec<u64>>,
    response_event_fcfs: Option<Vec<u64>>,
    /// Of models that this project does not have.
    #[serde(rename = "finish_gap_fill")]
    _gap_fill: Option<IgnoredAny>,
    #[serde(rename = "finish_scalar_busy_until")]
    _scalar: Option<IgnoredAny>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Times {
    cmd: u64,
    transfer: u64,
    read_cell: u64,
    program: u64,
    erase: u64,
}

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Operation {
    id: u64,
    arrival: u64,
    channel: u32,
    die: u32,
    kind: Letter,
}

#[derive(Clone, Copy, Deserialize, Serialize)]
enum Letter {
    R,
    W,
    E,
}

/// Replays all cases. The columns of cheaper models, which this project does not have, are left alone.
pub(super) fn run(file: Value) -> Result<Conformance, ConformError> {
    let File { cases } = parse("", file)?;
    let mut report = Conformance::new(GoldenKind::Timing);
    for (number, case) in cases.iter().enumerate() {
        validate(&format!("cases[{number}]"), case)?;
        report.cases += 1;
        let serial = finish_us(case, TimingModel::named("serial"));
        let parallel = finish_us(case, TimingModel::named("parallel"));
        for (at, op) in case.ops.iter().enumerate() {
            let mut row = report.row(&case.name, at + 1, op);
            let mut compare = |field, told: &Option<Vec<u64>>, got: &dyn Fn(bool) -> u64| {
                for ahead in [false, true].into_iter().filter(|ahead| !ahead || got(false) != got(true)) {
                    let said = if ahead { format!("{field}, issued ahead of time") } else { str::to_owned(field) };
                    if let Some(told) = told {
                        row.exact(&said, told[at], got(ahead));
                    }
                }
            };
            compare("finish_serial", &case.finish_serial, &|ahead| serial[usize::from(ahead)][at]);
            let finish = |ahead| parallel[usize::from(ahead)][at];
            compare("finish_event_fcfs", &case.finish_event_fcfs, &finish);
            compare("response_event_fcfs", &case.response_event_fcfs, &|ahead| finish(ahead) - op.arrival);
        }
    }
    Ok(report)
}

fn validate(place: &str, case: &Case) -> Result<(), ConformError> {
    let refuse = |field: &str, problem: String| Err(ConformError::Shape { place: format!("{place}.{field}"), problem });
    let Times { cmd, transfer, read_cell, program, erase } = case.params_us;
    let longest = [cmd, transfer, read_cell, program, erase].into_iter().max().unwrap_or(0);
    if longest.saturating_mul(3 * case.ops.len() as u64) > LONGEST_US {
        return refuse("params_us", format!("{} operations of {longest} us take too long", case.ops.len()));
    }
    for (at, op) in case.ops.iter().enumerate() {
        let field = format!("ops[{at}]");
        if op.id != at as u64 {
            return refuse(&field, format!("id {} instead of {at}: identifiers count from 0", op.id));
        }
        if op.channel >= MOST || op.die >= MOST {
            return refuse(&field, format!("channel {} die {}: both are below {MOST}", op.channel, op.die));
        }
        if op.arrival > LONGEST_US || at > 0 && op.arrival < case.ops[at - 1].arrival {
            return refuse(&field, format!("arrival {} us: arrivals ascend and stay below 2^40", op.arrival));
        }
    }
    let columns = [
        ("finish_serial", &case.finish_serial),
        ("finish_event_fcfs", &case.finish_event_fcfs),
        ("response_event_fcfs", &case.response_event_fcfs),
    ];
    for (field, column) in columns {
        if let Some(other) = column.as_ref().map(Vec::len).filter(|len| *len != case.ops.len()) {
            return refuse(field, format!("{other} times for {} operations", case.ops.len()));
        }
    }
    if columns.iter().all(|(_, column)| column.is_none()) {
        return refuse("finish_event_fcfs", "missing, and no other column either: nothing to compare".to_owned());
    }
    Ok(())
}

/// Finishing times in microseconds, issued in time and issued ahead.
fn finish_us(case: &Case, model: TimingModel) -> [Vec<u64>; 2] {
    [false, true].map(|ahead| {
        let Times { cmd, transfer, read_cell, program, erase } = case.params_us;
        let times = ClockTimes {
            page_read: Nanos::from_us(read_cell),
            page_program: Nanos::from_us(program),
            block_erase: Nanos::from_us(erase),
            page_transfer: Nanos::from_us(transfer),
            command: Nanos::from_us(cmd),
        };
        let most = |of: fn(&Operation) -> u32| case.ops.iter().map(of).max().unwrap_or(0) + 1;
        let (channels, dies) = (most(|op| op.channel), most(|op| op.die));
        let mut clock = Clock::new(model, times, channels, channels * dies);
        for op in &case.ops {
            let kind = match op.kind {
                Letter::R => Op::Read,
                Letter::W => Op::Program,
                Letter::E => Op::Erase,
            };
            let arrival = Nanos::from_us(op.arrival);
            if !ahead {
                clock.advance(arrival);
            }
            let ticket = clock.issue(op.die * channels + op.channel, kind, Ticket::at(arrival), Release::Done);
            clock.watch(ticket, op.id);
        }
        clock.drain();
        let mut finish = vec![0; case.ops.len()];
        while let Some((id, at)) = clock.take_resolved() {
            finish[id as usize] = at.0 / 1000;
        }
        finish
    })
}
