//! What golden files tell about RFTL's copies of translation pages, besides their cases.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{ConformError, Conformance, parse};
use crate::flash::first_idle_copy;
use crate::ftl::rftl::{Model, PAPER_MODEL, placement};
use crate::types::Nanos;

#[derive(Deserialize)]
struct Sections {
    #[serde(default)]
    placement: Map<String, Value>,
    #[serde(default)]
    copy_choice: Vec<Choice>,
    model_equations_us: Option<Equations>,
}

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Choice {
    copy_channels: Vec<usize>,
    channel_busy_until_us: Vec<u64>,
    now_us: u64,
    chosen_copy: usize,
    chosen_channel: usize,
    read_starts_us: u64,
}

#[derive(Deserialize)]
struct Equations {
    #[serde(rename = "C")]
    look_up: f64,
    #[serde(rename = "GC")]
    collection: f64,
    #[serde(rename = "R")]
    read: f64,
    #[serde(rename = "W")]
    write: f64,
    rows: Vec<Map<String, Value>>,
}

/// Compares the sections that the file has.
pub(super) fn run(file: &Value, report: &mut Conformance) -> Result<(), ConformError> {
    let Sections { placement, copy_choice, model_equations_us } = parse("", file.clone())?;
    for (name, table) in placement.iter().filter(|(name, _)| name.starts_with("example_")) {
        places(name, table, report)?;
    }
    for (at, told) in copy_choice.iter().enumerate() {
        choice(at, told, report)?;
    }
    model_equations_us.map_or(Ok(()), |equations| times(&equations, report))
}

/// `example_C4_r2`: the channels of all copies of the translation pages 0, 1, ...
fn places(name: &str, table: &Value, report: &mut Conformance) -> Result<(), ConformError> {
    let place = format!("placement.{name}");
    let refuse = |problem: &str| ConformError::Shape { place: place.clone(), problem: problem.to_owned() };
    let numbers = name.strip_prefix("example_C").and_then(|rest| rest.split_once("_r"));
    let numbers = numbers.and_then(|(channels, replicas)| Some((channels.parse().ok()?, replicas.parse().ok()?)));
    let (channels, replicas): (u32, u32) = numbers.ok_or_else(|| refuse("not of the form example_C4_r2"))?;
    if replicas >= channels {
        return Err(refuse("every copy lies on a channel of its own: fewer replicas than channels"));
    }
    let rows: Vec<Vec<u32>> = parse(&place, table.clone())?;
    for (tp, told) in rows.iter().enumerate() {
        let got: Vec<u32> = self::placement(tp as u32, replicas, channels).collect();
        report.row("placement", tp + 1, told).exact(name, told, got);
    }
    Ok(())
}

fn choice(at: usize, told: &Choice, report: &mut Conformance) -> Result<(), ConformError> {
    let busy: Option<Vec<Nanos>> = told
        .copy_channels
        .iter()
        .map(|channel| Some(Nanos(told.channel_busy_until_us.get(*channel)?.checked_mul(1000)?)))
        .collect();
    let now = told.now_us.checked_mul(1000).map(Nanos);
    let (Some(busy), Some(now), false) = (busy, now, told.copy_channels.is_empty()) else {
        let problem = "it needs a copy, and a time for the channel of every copy".to_owned();
        return Err(ConformError::Shape { place: format!("copy_choice[{at}]"), problem });
    };
    let chosen = first_idle_copy(busy.iter().copied(), now);
    let mut row = report.row("copy_choice", at + 1, told);
    row.exact("chosen_copy", told.chosen_copy, chosen);
    row.exact("chosen_channel", told.chosen_channel, told.copy_channels[chosen]);
    row.exact("read_starts_us", told.read_starts_us, busy[chosen].max(now).0 / 1000);
    Ok(())
}

/// Equations 1 and 2; the columns are named `F_base_PGC_0.5` and `F_rftl_P_0.25`.
fn times(equations: &Equations, report: &mut Conformance) -> Result<(), ConformError> {
    let &Equations { look_up: look_up_us, collection: collection_us, read, write, .. } = equations;
    let model = Model { look_up_us, collection_us, page_read_us: read, page_program_us: write };
    let all = |m: &Model| [m.look_up_us, m.collection_us, m.page_read_us, m.page_program_us];
    report.row("model_equations_us", 0, all(&model)).exact("C, GC, R, W of the paper", all(&model), all(&PAPER_MODEL));
    for (at, told) in equations.rows.iter().enumerate() {
        let refuse = |field: &str, problem: &str| ConformError::Shape {
            place: format!("model_equations_us.rows[{at}].{field}"),
            problem: problem.to_owned(),
        };
        let number = |field: &str| told[field].as_f64().ok_or_else(|| refuse(field, "not a number"));
        let missing = || refuse("miss_ratio", "missing");
        let miss = told.get("miss_ratio").ok_or_else(missing).and_then(|_| number("miss_ratio"))?;
        for field in told.keys().filter(|field| *field != "miss_ratio") {
            let share = |prefix: &str| field.strip_prefix(prefix).and_then(|share| share.parse::<f64>().ok());
            let got = match (share("F_base_PGC_"), share("F_rftl_P_")) {
                (Some(collecting), _) => model.base_us(miss, collecting),
                (_, Some(idle)) => model.replicated_us(miss, idle),
                _ => return Err(refuse(field, "neither F_base_PGC_ nor F_rftl_P_ with a share")),
            };
            let expected = number(field)?;
            report.row("model_equations_us", at + 1, told).close(field, expected, got, 1e-6);
            report.steps -= 1;
        }
        report.steps += 1;
    }
    Ok(())
}
