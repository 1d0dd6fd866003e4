//! Golden files of buffer policies, replayed through the real engine.
//!
//! A file names a policy and holds either worked `cases` with the state after every access, or one long `trace` with
//! an event string for every access and the state at the end. Each case gets a device of its own: the policy by that
//! name, a page-mapped FTL that was written full and has enough spare blocks that garbage collection never runs, and
//! pages of one sector. The accesses go in one by one ([`crate::engine::TestPort::replay_access`]), a probe records what the
//! buffer did, and everything is compared: hit, dropped pages, commands to the FTL, state, totals of the ledger.
//!
//! Parameters of a case go to the policy as they are, except those that shape the device: `capacity` (DRAM frames),
//! `dram_pages` and `nvram_blocks`, `read_pages` and `write_pages` (DRAM and NVRAM frames), `block_pages`.

use std::sync::{Arc, Mutex};

use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::{ConformError, Conformance, GoldenKind, Mismatch};
use crate::buffer::{Access, Frames};
use crate::catalog::BUFFERS;
use crate::engine::{Parts, Settings, Ssd};
use crate::flash::{Clock, ClockTimes, Flash, Geometry, Media, ProgramOrder, TimingModel};
use crate::ftl::{FTLS, Shape};
use crate::ledger::{Cause, Ledger, Op};
use crate::probe::{Command, Probe};
use crate::registry;
use crate::types::{Hint, Lpn, Nanos, Pattern};

/// Most pages of a device, and of a number in a file.
const PAGES_MAX: u64 = 1 << 24;

#[derive(Deserialize)]
struct File {
    schema: u32,
    #[serde(default)]
    cases: Vec<Worked>,
    params: Option<Map<String, Value>>,
    totals: Option<Map<String, Value>>,
    #[serde(default)]
    trace: Vec<Traced>,
    final_state: Option<Value>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Worked {
    name: String,
    /// What it shows, for readers.
    #[serde(rename = "note")]
    _note: Option<IgnoredAny>,
    params: Map<String, Value>,
    accesses: Vec<Event>,
    steps: Vec<Step>,
    totals: Map<String, Value>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Traced {
    a: Event,
    e: String,
}

/// An access, or something else that happens.
#[derive(Clone, Deserialize, Serialize)]
#[serde(tag = "op", deny_unknown_fields)]
enum Event {
    /// A page is read.
    R(Page),
    /// A page is written.
    W(Page),
    /// The FTL reports page writes of garbage collection.
    #[serde(rename = "GC")]
    Gc { pages: u64 },
    /// The buffer has this many frames now.
    #[serde(rename = "CAP")]
    Cap { pages: u32 },
}

#[derive(Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Page {
    lpn: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    req: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    len: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pat: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pc: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    period: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    plen: Option<u32>,
}

/// What happened at one access.
#[derive(Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Step {
    hit: Option<bool>,
    drop: Vec<u32>,
    flash: Vec<Sent>,
    state: Option<Value>,
}

/// A command to the FTL.
#[derive(Clone, PartialEq, Deserialize, Serialize)]
#[serde(tag = "cmd", rename_all = "lowercase", deny_unknown_fields)]
enum Sent {
    Read {
        why: String,
        lpns: Vec<u32>,
    },
    Write {
        lpns: Vec<u32>,
        #[serde(default)]
        padded: Vec<u32>,
    },
}

/// A worked case or a trace.
struct Case {
    name: String,
    params: Map<String, Value>,
    events: Vec<Event>,
    steps: Vec<Step>,
    totals: Map<String, Value>,
    final_state: Option<Value>,
}

/// Replays a golden file.
///
/// # Errors
/// When it is not a golden file of a registered policy, or a case cannot be built: says what is wrong. Differences are
/// no errors but part of the report: the first of every case that has one, because what follows it is a consequence.
pub fn run(policy: &str, file: Value) -> Result<Conformance, ConformError> {
    let file: File = super::parse("", file)?;
    if file.schema != 1 {
        return Err(ConformError::Unsupported(format!("schema {} is not known: this is schema 1", file.schema)));
    }
    let cases = cases(file).map_err(ConformError::Unsupported)?;
    registry::find(BUFFERS, "buffer", policy).map_err(ConformError::Unknown)?;
    let kind = GoldenKind::Policy(policy.to_owned());
    let mut report = Conformance { kind, cases: cases.len(), steps: 0, differences: Vec::new() };
    for case in &cases {
        let within = |e| ConformError::Unsupported(format!("{policy} / {}: {e}", case.name));
        report.steps += case.events.len();
        report.differences.extend(replay_case(policy, case).map_err(within)?);
    }
    Ok(report)
}

/// Both forms of a file as cases.
fn cases(file: File) -> Result<Vec<Case>, String> {
    let mut cases = Vec::new();
    for Worked { name, params, accesses: events, steps, totals, .. } in file.cases {
        if events.len() != steps.len() {
            return Err(format!("case {name}: {} accesses but {} steps", events.len(), steps.len()));
        }
        cases.push(Case { name, params, events, steps, totals, final_state: None });
    }
    if !file.trace.is_empty() {
        let mut steps = Vec::new();
        for (i, traced) in file.trace.iter().enumerate() {
            steps.push(read_event(&traced.e).ok_or_else(|| format!("trace[{i}]: event `{}` is unknown", traced.e))?);
        }
        cases.push(Case {
            name: "long".to_owned(),
            params: file.params.ok_or("a trace without `params`")?,
            events: file.trace.into_iter().map(|traced| traced.a).collect(),
            steps,
            totals: file.totals.ok_or("a trace without `totals`")?,
            final_state: Some(file.final_state.ok_or("a trace without `final_state`")?),
        });
    }
    if cases.is_empty() { Err("neither `cases` nor `trace`".to_owned()) } else { Ok(cases) }
}

/// Reads an event string such as `M d:3,4 r/pad:9 w:8,9/pad:9`.
fn read_event(text: &str) -> Option<Step> {
    let numbers = |list: &str| list.split(',').map(|n| n.parse().ok()).collect::<Option<Vec<u32>>>();
    let mut words = text.split(' ');
    let hit = match words.next()? {
        "H" => Some(true),
        "M" => Some(false),
        "-" => None,
        _ => return None,
    };
    let mut step = Step { hit, ..Step::default() };
    for word in words {
        let (kind, rest) = word.split_once(':')?;
        match kind.split_once('/') {
            None if kind == "d" => step.drop.extend(numbers(rest)?),
            Some(("r", why)) => step.flash.push(Sent::Read { why: why.to_owned(), lpns: numbers(rest)? }),
            None if kind == "w" => {
                let (lpns, padded) = match rest.split_once("/pad:") {
                    Some((lpns, padded)) => (lpns, numbers(padded)?),
                    None => (rest, Vec::new()),
                };
                step.flash.push(Sent::Write { lpns: numbers(lpns)?, padded });
            }
            _ => return None,
        }
    }
    Some(step)
}

/// Records one access; the device holds one end, the replay the other.
#[derive(Clone, Default)]
struct Recorder(Arc<Mutex<Step>>);

impl Probe for Recorder {
    fn on_access(&mut self, _: Lpn, _: bool, hit: bool) {
        self.0.lock().expect("nobody panicked").hit = Some(hit);
    }
    fn on_command(&mut self, command: Command<'_>) {
        let plain = |lpns: &[Lpn]| lpns.iter().map(|lpn| lpn.0).collect::<Vec<_>>();
        self.0.lock().expect("nobody panicked").flash.push(match command {
            Command::Read { why, lpns } => Sent::Read { why: why_name(why).to_owned(), lpns: plain(lpns) },
            Command::Write { lpns, padded } => Sent::Write { lpns: plain(lpns), padded: plain(padded) },
        });
    }
    fn on_drop(&mut self, lpn: Lpn) {
        self.0.lock().expect("nobody panicked").drop.push(lpn.0);
    }
}

/// Cause of a read in the words of the files.
const fn why_name(why: Cause) -> &'static str {
    match why {
        Cause::Host => "miss",
        Cause::Pad => "pad",
        Cause::Prefetch => "prefetch",
        _ => "other",
    }
}

/// The first difference of a case.
fn replay_case(policy: &str, case: &Case) -> Result<Option<Mismatch>, String> {
    let mut device = build_device(policy, case)?;
    let recorder = Recorder::default();
    device.set_probe(Some(Box::new(recorder.clone())));
    let mut commands = 0;
    let mut request = 0;
    let difference = |step, op, expected, got, state: Value| {
        Some(Mismatch { case: case.name.clone(), step, op, expected, got, state: state.to_string() })
    };
    for (i, (event, expected)) in case.events.iter().zip(&case.steps).enumerate() {
        apply(&mut *device, event, &mut request)?;
        let got = std::mem::take(&mut *recorder.0.lock().expect("nobody panicked"));
        let state = device.test_port().golden_state();
        if let Some((what, expected, seen)) = compare(expected, &got, &state) {
            return Ok(difference(Some(i + 1), format!("{what} of {}", json!(event)), expected, seen, state));
        }
        commands += got.flash.iter().filter(|sent| matches!(sent, Sent::Write { .. })).count() as u64;
    }
    device.drain();
    device.test_port().check();
    let ledger = device.ledger();
    if ledger.gc_runs > 0 {
        return Err("garbage collection ran: the device of the replay is too small".to_owned());
    }
    let state = device.test_port().golden_state();
    if let Some(expected) = case.final_state.as_ref().filter(|expected| !same(expected, &state)) {
        return Ok(difference(None, "state".to_owned(), expected.clone(), state.clone(), state));
    }
    let expected = Value::Object(case.totals.clone());
    let totals = totals(&ledger, commands, &case.totals);
    Ok(if same(&expected, &totals) { None } else { difference(None, "totals".to_owned(), expected, totals, state) })
}

/// Does to the device what the event says.
fn apply(device: &mut dyn Ssd, event: &Event, request: &mut u64) -> Result<(), String> {
    let (page, write) = match event {
        Event::R(page) => (page, false),
        Event::W(page) => (page, true),
        Event::Gc { pages } => {
            let flash = device.test_port().flash_mut();
            let ns = flash.clock.service(Op::Program).0;
            (0..*pages).for_each(|_| flash.ledger.add(Op::Program, Cause::Gc, ns));
            return Ok(());
        }
        Event::Cap { pages } => {
            let nvram = device.slots().frames().nvram;
            device.set_frames(Frames { dram: *pages, nvram });
            return Ok(());
        }
    };
    *request = page.req.unwrap_or(*request + 1);
    let pattern = match page.pat.as_deref() {
        None | Some("RND") => Pattern::Random,
        Some("SEQ") => Pattern::Sequential,
        Some("LOOP") => Pattern::Looping,
        Some("CLU") => Pattern::ClusteredHot,
        Some(other) => return Err(format!("pattern `{other}` is none of SEQ, LOOP, CLU, RND")),
    };
    let [pc, run_pages, period] = [page.pc, page.plen, page.period].map(Option::unwrap_or_default);
    let hint = Hint { pattern, pc, run_pages, period, mappings: 0 };
    let request_pages = page.len.unwrap_or(1);
    let access = Access { lpn: Lpn(page.lpn), write, ahead: false, request: *request, request_pages, hint };
    device.test_port().replay_access(&access).map_err(|e| e.to_string())
}

/// What differs first, with both sides.
fn compare(expected: &Step, got: &Step, state: &Value) -> Option<(&'static str, Value, Value)> {
    if expected.hit != got.hit {
        return Some(("hit", json!(expected.hit), json!(got.hit)));
    }
    if expected.drop != got.drop {
        return Some(("drop", json!(expected.drop), json!(got.drop)));
    }
    if expected.flash != got.flash {
        return Some(("flash", json!(expected.flash), json!(got.flash)));
    }
    let expected = expected.state.as_ref().filter(|expected| !same(expected, state))?;
    Some(("state", expected.clone(), state.clone()))
}

/// Equal, with numbers to six digits.
fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => match (a.as_f64(), b.as_f64()) {
            (Some(a), Some(b)) => (a - b).abs() <= 1e-6 * a.abs().max(1.0),
            _ => a == b,
        },
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| same(a, b)))
        }
        _ => a == b,
    }
}

/// Totals in the form of the files, out of the ledger: only those that `wanted` has.
fn totals(ledger: &Ledger, commands: u64, wanted: &Map<String, Value>) -> Value {
    let reads = [Cause::Host, Cause::Pad, Cause::Prefetch].map(|why| (why, ledger.count(Op::Read, why)));
    let reads = reads.into_iter().filter(|(_, pages)| *pages > 0);
    let all = json!({
        "reads": ledger.host_page_reads,
        "writes": ledger.host_page_writes,
        "read_hits": ledger.buffer_read_hits,
        "write_hits": ledger.buffer_write_hits,
        "hits": ledger.buffer_read_hits + ledger.buffer_write_hits,
        "group_hits": ledger.group_hits,
        "group_misses": ledger.group_misses,
        "flash_reads": reads.map(|(why, pages)| (why_name(why).to_owned(), json!(pages))).collect::<Map<_, _>>(),
        "flash_page_writes": ledger.programs_from_above(),
        "padded_pages": ledger.padded_pages,
        "write_commands": commands,
    });
    let known = |key: &String| all.get(key).map(|total| (key.clone(), total.clone()));
    Value::Object(wanted.keys().filter_map(known).collect())
}

/// The policy on a full, page-mapped device without garbage collection.
fn build_device(policy: &str, case: &Case) -> Result<Box<dyn Ssd>, String> {
    let mut params = case.params.clone();
    let mut take = |key: &str| {
        let value = params.remove(key)?;
        let pages = value.as_u64().filter(|pages| *pages <= PAGES_MAX);
        Some(pages.ok_or_else(|| format!("params.{key}: {value} is not a number of pages from 0 to {PAGES_MAX}")))
    };
    let pages_per_block = take("block_pages").unwrap_or(Ok(64))?;
    let mut dram = 0;
    for key in ["capacity", "dram_pages", "read_pages"] {
        dram += take(key).unwrap_or(Ok(0))?;
    }
    let nvram = take("write_pages").unwrap_or(Ok(0))? + take("nvram_blocks").unwrap_or(Ok(0))? * pages_per_block;
    let pages = case.events.iter().filter_map(|event| match event {
        Event::R(page) | Event::W(page) => Some(u64::from(page.lpn) + u64::from(page.plen.unwrap_or(0))),
        _ => None,
    });
    // One block beyond the last page, so that no block of the file is short.
    let last = pages.max().unwrap_or(0);
    let logical_blocks =
        last.checked_div(pages_per_block).ok_or("params.block_pages: a block has at least one page")? + 2;
    let blocks = logical_blocks + 2 * case.events.len() as u64 + 16;
    if blocks * pages_per_block > PAGES_MAX || dram + nvram > PAGES_MAX {
        return Err(format!("params, accesses: a device and a buffer have at most {PAGES_MAX} pages each"));
    }
    // None of them is greater.
    let [pages_per_block, logical_pages, blocks, dram, nvram] =
        [pages_per_block, logical_blocks * pages_per_block, blocks, dram, nvram].map(|pages| pages as u32);
    let frames = Frames { dram, nvram };
    let geometry = Geometry::single_die(blocks, pages_per_block, 512);
    let times = ClockTimes::cells(Nanos::from_us(25), Nanos::from_us(200), Nanos::from_us(1500));
    let order = ProgramOrder::Ascending;
    let flash = Flash::new(geometry, order, Media::None, Clock::new(TimingModel::named("serial"), times, 1, 1));
    let ftl = registry::find(FTLS, "ftl", "page").map_err(|e| e.to_string())?;
    let shape = Shape { geometry, logical_pages, slc_pages: 0, unit_pages: 1, order, seed: 1 };
    let ftl = (ftl.build)(json!({"frontiers": "single"}), &shape).map_err(|e| e.to_string())?;
    let settings = Settings { nvram_frames: frames.nvram, ..Settings::one_at_a_time(logical_pages) };
    let buffer = registry::find(BUFFERS, "buffer", policy).map_err(|e| e.to_string())?;
    let parts = Parts { flash, ftl, frames, settings };
    let mut device = (buffer.build.device)(Value::Object(params), parts).map_err(|e| e.to_string())?;
    device.precondition(true, 0.0, &mut || true);
    Ok(device)
}
